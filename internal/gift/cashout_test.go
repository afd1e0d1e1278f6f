package gift

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// cashLaw has rules of every kind.
var cashLaw = CashOutLaw{
	{Jurisdiction: "US-CA", Name: "California", Currency: usd, Limit: 1000},
	{Jurisdiction: "US-CA", Name: "California", Currency: usd, Limit: 1500, From: 20260401},
	{Jurisdiction: "US-CO", Name: "Colorado", Currency: usd, Limit: 500, OrEqual: true},
	{Jurisdiction: "US-WA", Name: "Washington", Currency: usd, Limit: 500, Used: true},
	{Jurisdiction: "US-MT", Name: "Montana", Currency: usd, Limit: 500, WorthMore: 500},
	{Jurisdiction: "JP", Name: "Japan", Currency: jpy, Limit: 100},
}

func inJurisdiction(j string) *merchant.Account {
	return &merchant.Account{ID: id(1), Zone: time.UTC, Locations: []merchant.Location{{ID: shop, Jurisdiction: j}}}
}

func TestPayOut(t *testing.T) {
	type ask = CashOutRequest
	t.Parallel()
	before := time.Date(2026, 3, 31, 23, 59, 59, 0, time.UTC)
	for _, tt := range []struct {
		name            string
		jurisdiction    string
		loaded, balance money.Amount
		change          func(*Voucher, *ask)
		code            refusal.Code
		message         string
	}{
		{"below", "US-CA", 5000, 1499, nil, "", ""},
		{"at the limit", "US-CA", 5000, 1500, nil, refusal.NotSupported,
			"In California a gift can be cashed out when below 15.00 USD is left; of this one, 15.00 USD is."},
		{"below what held before", "US-CA", 5000, 999, func(_ *Voucher, p *ask) { p.Now = before }, "", ""},
		{"at what held before", "US-CA", 5000, 1000, func(_ *Voucher, p *ask) { p.Now = before },
			refusal.NotSupported, "below 10.00 USD"},
		{"on the day", "US-CA", 5000, 1499, func(_ *Voucher, p *ask) { p.Now = before.Add(time.Second) }, "", ""},
		{"on the day elsewhere, which is the day before here", "US-CA", 5000, 1499, func(_ *Voucher, p *ask) {
			p.Now, p.Account.Zone = before.Add(time.Second), mustZone(t, "America/Los_Angeles")
		}, refusal.NotSupported, "below 10.00 USD"},
		{"unused", "US-CA", 1499, 1499, nil, "", ""},
		{"at most", "US-CO", 5000, 500, nil, "", ""},
		{"above at most", "US-CO", 5000, 501, nil, refusal.NotSupported,
			"In Colorado a gift can be cashed out when at most 5.00 USD"},
		{"used", "US-WA", 5000, 499, nil, "", ""},
		{"not used", "US-WA", 499, 499, nil, refusal.NotSupported, "this one was not used yet"},
		{"worth more", "US-MT", 501, 499, nil, "", ""},
		{"not worth more", "US-MT", 500, 499, nil, refusal.NotSupported, "left of one of more than 5.00 USD"},
		{"another currency", "JP", 5000, 99, nil, refusal.NotSupported, "In Japan the law is about gifts in JPY."},
		{"no law", "US-NY", 5000, 1, nil, refusal.NotSupported, "no law of the location's jurisdiction is known"},
		{"no jurisdiction", "", 5000, 1, nil, refusal.NotSupported, "no law of the location's jurisdiction is known"},
		{"no table", "US-CA", 5000, 1, func(_ *Voucher, p *ask) { p.Law = nil }, refusal.NotSupported, "no law"},
		{"promotional", "US-CA", 5000, 1, func(v *Voucher, _ *ask) { v.Promotional = true }, refusal.NotSupported,
			"promotional"},
		{"an item", "US-CA", 5, 1, func(v *Voucher, _ *ask) { v.Item = true }, refusal.NotSupported,
			"an item gift"},
		{"empty", "US-CA", 5000, 0, func(v *Voucher, _ *ask) { v.Status = Redeemed }, refusal.AlreadyRedeemed, "in full"},
		{"pending", "US-CA", 5000, 1, func(v *Voucher, _ *ask) { v.Status = Pending }, refusal.RedemptionNotAllowed,
			"delivered"},
		{"blocked", "US-CA", 5000, 1, func(v *Voucher, _ *ask) { v.Blocked = "LOST" }, refusal.RedemptionNotAllowed,
			"blocked"},
		{"elsewhere", "US-CA", 5000, 1, func(v *Voucher, _ *ask) { v.LocationID = id(3) }, refusal.NotAuthorized,
			"another location"},
		{"verified", "US-CA", 5000, 1, func(v *Voucher, p *ask) { v.Verification, p.Verification = "1234", "1234" }, "",
			""},
		{"without the code", "US-CA", 5000, 1, func(v *Voucher, _ *ask) { v.Verification = "1234" },
			refusal.ValidationFailure,
			"verification code"},
		{"with a wrong code", "US-CA", 5000, 1, func(v *Voucher, p *ask) {
			v.Verification, p.Verification = "1234",
				"4321"
		},
			refusal.RedemptionNotAllowed, "The verification code is wrong."},
		{"held", "US-CA", 5000, 1000, func(v *Voucher, _ *ask) {
			v.Holds = []OpenHold{{ID: id(6), Left: 1,
				Until: now.Add(1)}}
		},
			refusal.RedemptionNotAllowed, "while something is held: 0.01 USD is held until"},
	} {
		v := voucherIn(Claimed)
		v.Funded, v.Balance = tt.loaded, tt.balance
		p := CashOutRequest{Context: context(), Law: cashLaw, Account: inJurisdiction(tt.jurisdiction)}
		if tt.change != nil {
			tt.change(&v, &p)
		}
		after, e, err := v.CashOut(p)
		if got := v.CashOutAllowed(p.Law, p.Account, &p.Account.Locations[0], p.Now); got != (err == nil ||
			v.Verification != "") {
			t.Errorf("%s: the payload tells %v", tt.name, got)
		}
		if codeOf(t, err) != tt.code {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if err != nil {
			if !strings.Contains(err.Error(), tt.message) || !reflect.DeepEqual(after, v) {
				t.Errorf("%s: %v does not say %q, or %+v changed", tt.name, err, tt.message, after)
			}
			continue
		}
		if after.Balance != 0 || after.Status != Redeemed || after.Funded != tt.loaded || e.Kind != CashOut ||
			e.Delta != -tt.balance {
			t.Errorf("%s: %+v by %+v", tt.name, after, e)
		}
	}
	v := voucherIn(Claimed)
	if v.CashOutAllowed(cashLaw, inJurisdiction("US-CA"), nil, now) {
		t.Error("allowed nowhere in particular")
	}
}

// TestNoGiftIsPaidOutBitByBit: whatever is redeemed, cashed out and given back in whatever order, no more than the law
// allows at once is out in cash, and once the cash is back, all of the gift can be given back.
func TestNoGiftIsPaidOutBitByBit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v, entries := voucherIn(Claimed), byte(10)
		v.Funded, v.Balance = 100_00, 100_00
		var taken []Undoable
		cash, standing := money.Amount(0), CashOuts{}
		enter := func(after Voucher, e Entry, err error) bool {
			if err != nil {
				return false
			}
			v = after
			standing.Enter(&e)
			if e.Kind == CashOut || e.TakesCashBack() {
				cash -= e.Delta
			}
			return true
		}
		next := func() Context {
			entries++
			return Context{EntryID: id(entries), Now: now, Actor: merchant.Actor{LocationID: shop}}
		}
		cashier := &merchant.Caller{Kind: merchant.AccountKey, Account: everywhere.Account,
			Permissions: merchant.MayReverse | merchant.MayCashOut}
		reverse := func(k *Undoable, amount money.Amount) {
			k.CashedOut = standing.Since(k.Entry.Seq)
			after, e, err := v.Reverse(*k, Reverse{Context: next(), Caller: cashier, Amount: amount})
			if enter(after, e, err) {
				k.Reversed, k.Parts = k.Reversed+e.Delta, k.Parts+1
			}
		}
		for range rapid.IntRange(1, 100).Draw(t, "commands") {
			switch rapid.IntRange(0, 3).Draw(t, "command") {
			case 0:
				after, e, err := v.Redeem(Redeem{Context: next(), LocationID: shop,
					Amount: money.Amount(rapid.Int64Range(1, 100_00).Draw(t, "amount")), AllowPartial: rapid.Bool().Draw(t,
						"partial")})
				if enter(after, e, err) {
					taken = append(taken, Undoable{Entry: e})
				}
			case 1:
				after, e, err := v.CashOut(CashOutRequest{Context: next(), Law: cashLaw, Account: inJurisdiction("US-CA")})
				if enter(after, e, err) {
					taken = append(taken, Undoable{Entry: e})
				}
			default:
				if len(taken) > 0 {
					reverse(&taken[rapid.IntRange(0, len(taken)-1).Draw(t, "which")],
						money.Amount(rapid.Int64Range(0, 50_00).Draw(t, "back")))
				}
			}
			if cash >= 15_00 {
				t.Fatalf("%d is out in cash", cash)
			}
		}
		for _, kind := range []Kind{CashOut, Redemption} {
			for n := range taken {
				if taken[n].Entry.Kind == kind {
					reverse(&taken[n], 0)
				}
			}
		}
		if v.Balance != v.Funded || cash != 0 {
			t.Fatalf("of %d, %d is back, and %d out in cash", v.Funded, v.Balance, cash)
		}
	})
}

// TestCashOutAllowedWordsNothing: every validation asks, and the sentence of a refusal is told to nobody then.
func TestCashOutAllowedWordsNothing(t *testing.T) {
	account := inJurisdiction("US-CA")
	v := Voucher{AccountID: id(1), Currency: usd, Funded: 5000, Balance: 5000, Status: Delivered}
	if objects := testing.AllocsPerRun(100, func() {
		if v.CashOutAllowed(cashLaw, account, &account.Locations[0], time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)) {
			t.Fatal("a whole gift can be cashed out")
		}
	}); objects > 3 {
		t.Errorf("asking takes %v objects", objects)
	}
}
