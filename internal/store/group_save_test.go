package store

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
)

// TestWhichPartOfAVoucherIsWritten: a change of any field that commands change reaches a statement that writes it. A
// field that is new has to be named here, as one that stays as it was made or as one that changes.
func TestWhichPartOfAVoucherIsWritten(t *testing.T) {
	t.Parallel()
	stays := []string{"ID", "AccountID", "OrderID", "MadeBy", "ProgramID", "LocationID", "Item", "Promotional",
		"PromotionID", "Items", "Currency", "Fixed", "Verification", "TillsOnly", "Tells", "BuyerLanguage", "ValidFrom",
		"ValidUntil", "GraceDays", "CreatedAt"}
	changes := map[string]part{"Balance": balanceOf, "Status": balanceOf, "Seq": balanceOf, "Last": balanceOf,
		"Holds": holdsOf, "Funded": wholeOf, "WrongCodes": wholeOf, "Blocked": wholeOf, "Extended": wholeOf,
		"Replaced": wholeOf, "CustomerID": wholeOf}
	fields := reflect.TypeFor[gift.Voucher]()
	for n := range fields.NumField() {
		name := fields.Field(n).Name
		want, changed := changes[name]
		if !changed {
			if !slices.Contains(stays, name) {
				t.Errorf("Voucher.%s: is it written when a command changes it? See partOf and updateVoucher", name)
			}
			continue
		}
		var before gift.Voucher
		after := before
		set(t, reflect.ValueOf(&after).Elem().Field(n))
		for _, pair := range [][2]*gift.Voucher{{&before, &after}, {&after, &before}} {
			if got := partOf(pair[0], pair[1]); got != want {
				t.Errorf("Voucher.%s changes and part %d is written, not %d", name, got, want)
			}
		}
		after.Holds = []gift.OpenHold{{}} // whoever has holds beside has them written, too
		if got := partOf(&before, &after); got != max(want, holdsOf) {
			t.Errorf("Voucher.%s changes beside a hold, and part %d is written", name, got)
		}
	}
}

// set gives a field another value than its zero.
func set(t *testing.T, field reflect.Value) {
	t.Helper()
	switch value := field.Addr().Interface().(type) {
	case *[]gift.OpenHold:
		*value = []gift.OpenHold{{}}
	case *guid.ID:
		*value = guid.ID{1}
	case *time.Time:
		*value = time.Unix(1, 0)
	default:
		switch {
		case field.CanInt():
			field.SetInt(1)
		case field.Kind() == reflect.String:
			field.SetString("x")
		default:
			t.Fatalf("no value of %s is known here", field.Type())
		}
	}
}
