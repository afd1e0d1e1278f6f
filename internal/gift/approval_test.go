package gift

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// TestPartialApproval: up to an amount, what is there is taken or held; where nothing is, that is no error, and nothing
// is entered. What speaks against the gift itself is one still.
func TestPartialApproval(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*Voucher, *Redeem)
		code   refusal.Code
		take   money.Amount
	}{
		{"within", func(_ *Voucher, r *Redeem) { r.Amount = 250 }, "", 250},
		{"all that is there", func(_ *Voucher, r *Redeem) { r.Amount = 1000 }, "", 1000},
		{"above", func(_ *Voucher, r *Redeem) { r.Amount = 1001 }, "", 1000},
		{"whatever there is", func(*Voucher, *Redeem) {}, "", 1000},
		{"of what is not held", func(v *Voucher, r *Redeem) {
			r.Amount, v.Holds = 500, []OpenHold{{ID: id(7), Left: 600, Until: now.Add(1)}}
		}, "", 400},
		{"when all is held", func(v *Voucher, r *Redeem) {
			r.Amount, v.Holds = 500, []OpenHold{{ID: id(7), Left: 1000, Until: now.Add(1)}}
		}, "", 0},
		{"empty", func(v *Voucher, r *Redeem) { r.Amount, v.Balance, v.Status = 500, 0, Redeemed }, "", 0},
		{"whatever there is in an empty one", func(v *Voucher, _ *Redeem) { v.Balance, v.Status = 0, Redeemed }, "", 0},
		{"the ticket binds", func(_ *Voucher, r *Redeem) { r.Amount, r.Eligibility = 500, &Eligibility{Most: 300} }, "", 300},
		{"nothing to pay", func(_ *Voucher, r *Redeem) { r.Amount, r.Eligibility = 500, &Eligibility{} }, "", 0},
		{"negative", func(_ *Voucher, r *Redeem) { r.Amount = -1 }, refusal.ValidationFailure, 0},
		{"empty and expired", func(v *Voucher, r *Redeem) {
			r.Amount, v.Balance, v.Status, v.ValidUntil = 500, 0, Redeemed, now
		}, refusal.RedemptionNotAllowed, 0},
		{"empty and blocked", func(v *Voucher, r *Redeem) {
			r.Amount, v.Balance, v.Status, v.Blocked = 500, 0, Redeemed, "LOST"
		}, refusal.RedemptionNotAllowed, 0},
		{"cancelled", func(v *Voucher, r *Redeem) { r.Amount, v.Status = 500, Cancelled }, refusal.RedemptionNotAllowed, 0},
		{"not activated", func(v *Voucher, r *Redeem) { r.Amount, v.Balance, v.Status = 500, 0, NotActivated },
			refusal.RedemptionNotAllowed, 0},
		{"elsewhere", func(v *Voucher, r *Redeem) { r.Amount, v.LocationID = 500, id(0x22) }, refusal.NotAuthorized, 0},
		{"nothing eligible", func(_ *Voucher, r *Redeem) { r.Amount, r.Eligibility = 500, &Eligibility{NoneEligible: true} },
			refusal.ItemEligibilityFailure, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := voucherIn(Delivered)
			r := Redeem{Context: context(), LocationID: shop, UpTo: true}
			tt.change(&v, &r)
			after, e, err := v.Redeem(r)
			if codeOf(t, err) != tt.code || -e.Delta != tt.take || after.Balance != v.Balance-tt.take {
				t.Errorf("redeemed %d of %d: %v", -e.Delta, v.Balance, err)
			}
			if tt.take == 0 && (e != Entry{} || !reflect.DeepEqual(after, v)) {
				t.Errorf("nothing was taken, and this entered: %+v", e)
			}
			kept, e, err := v.Hold(Hold{r, time.Hour})
			if codeOf(t, err) != tt.code || e.Held != tt.take || kept.Available(now) != v.Available(now)-tt.take {
				t.Errorf("held %d of %d: %v", e.Held, v.Balance, err)
			}
			if tt.take == 0 && (e != Entry{} || !reflect.DeepEqual(kept, v)) {
				t.Errorf("nothing is held, and this entered: %+v", e)
			}
		})
	}
}

// TestPartialApprovalIsTheLesser: of what is asked for and what is available, and else what a plain redemption of as
// much is.
func TestPartialApprovalIsTheLesser(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := voucherIn(Claimed)
		v.Balance = money.Amount(rapid.Int64Range(0, 1000).Draw(t, "balance"))
		if v.Balance == 0 {
			v.Status = Redeemed
		}
		if held := money.Amount(rapid.Int64Range(0, int64(v.Balance)).Draw(t, "held")); held > 0 {
			seconds := rapid.IntRange(-60, 60).Draw(t, "seconds")
			v.Holds = []OpenHold{{ID: id(7), Left: held, Until: now.Add(time.Duration(seconds) * time.Second)}}
		}
		r := Redeem{Context: context(), LocationID: shop, Amount: money.Amount(rapid.Int64Range(1, 1500).Draw(t, "amount"))}
		upTo, take := r, min(r.Amount, v.Available(now))
		upTo.UpTo, upTo.AllowPartial = true, rapid.Bool().Draw(t, "allowPartial")
		after, e, err := v.Redeem(upTo)
		if err != nil || -e.Delta != take {
			t.Fatalf("%d of %d, of which %d is available: %d, %v", r.Amount, v.Balance, v.Available(now), -e.Delta, err)
		}
		r.Amount = take
		if plain, same, err := v.Redeem(r); take > 0 && (err != nil || same != e || !reflect.DeepEqual(plain, after)) {
			t.Fatalf("as much, plainly: %+v, %v; up to: %+v", same, err, e)
		}
		if take == 0 && (e != Entry{} || !reflect.DeepEqual(after, v)) {
			t.Fatalf("nothing was taken, and this entered: %+v", e)
		}
	})
}
