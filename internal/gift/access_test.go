package gift

import (
	"testing"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

func TestMayUse(t *testing.T) {
	t.Parallel()
	some := &merchant.Caller{Locations: []guid.ID{shop}}
	for _, tt := range []struct {
		caller *merchant.Caller
		at     guid.ID
		want   bool
	}{{everywhere, guid.ID{}, true}, {everywhere, shop, true}, {some, guid.ID{}, false}, {some, shop, true}, {some, kiosk,
		false}} {
		if got := (&Voucher{LocationID: tt.at}).UsableBy(tt.caller); got != tt.want {
			t.Errorf("enabled at %v, gift at %s: %v", tt.caller.Locations, tt.at, got)
		}
	}
}

func TestGiftsOfAnIntegrator(t *testing.T) {
	t.Parallel()
	system := &merchant.Caller{Kind: merchant.SystemKey, Name: "site"}
	if own, others := (&Voucher{MadeBy: "site"}), (&Voucher{MadeBy: "sites"}); !own.UsableBy(system) ||
		others.UsableBy(system) || (&Voucher{}).UsableBy(system) {
		t.Error("a system key may use gifts of others, or not its own")
	}
	own := Voucher{MadeBy: "site", Status: Delivered, Balance: 5, Funded: 5}
	if _, _, _, err := own.Cancel(Cancel{Caller: system, To: Cancelled}); codeOf(t, err) != refusal.NotAuthorized {
		t.Errorf("a system key cancels: %v", err)
	}
	if _, _, changed, err := own.Cancel(Cancel{Caller: system, To: PurchaseFailed}); err != nil || !changed {
		t.Errorf("a system key reports a failed purchase: %v", err)
	}
}
