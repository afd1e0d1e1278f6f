package order

import (
	"testing"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

func TestAccountRecords(t *testing.T) {
	t.Parallel()
	a := harborCoffee(t)
	if a.Location(shop).Name != "Pier 39" || a.Location(id(99)) != nil || a.Promotion(bare).Name != "Bare" ||
		a.Promotion(guid.ID{}) != nil ||
		a.Storefront(storefront) == nil || a.Storefront(shop) != nil || a.Design(blue) == nil || a.Design(guid.ID{}) != nil ||
		a.Subscription(merchant.BusinessProgram.ID) == nil || a.Subscription(merchant.DistributionProgram.ID) != nil {
		t.Error("a record is not found, or found where it is not")
	}
	if a.DesignFor(shop) != green || a.DesignFor(kiosk) != blue || a.DesignFor(guid.ID{}) != blue {
		t.Error("a gift gets a wrong design")
	}
	a.DefaultDesign = guid.ID{}
	if !a.DesignFor(kiosk).IsZero() {
		t.Error("without any default, the design is the built-in one")
	}
}
