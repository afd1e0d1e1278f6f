package ticket

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"boon.example/internal/gift"
)

var usd = gift.Currency{Code: "USD", Decimals: 2}

func amount(a gift.Amount) *gift.Amount { return &a }

func TestLimitsDoNotOverflow(t *testing.T) {
	t.Parallel()
	if MaxAmount > math.MaxInt64/MaxQuantity || MaxAmount > math.MaxInt64/MaxLines {
		t.Error("a product or a sum within the limits can overflow")
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const notGood, nothing, noID = "This gift is not good for this item.", "There is nothing to pay on this line.",
		"This line has no itemID, so it cannot be told whether this gift is good for it."
	ticket := &Ticket{Lines: []Line{
		{ItemID: "LATTE", Quantity: 2, Total: 900},
		{ItemID: "SANDWICH", Quantity: 1, Total: 1250},
		{ItemID: "MOCHA", Quantity: 1, Total: 0},
		{ItemID: "", Quantity: 1, Total: 300},
		{ItemID: "MOCHA", Quantity: 0, Total: 500},
		{ItemID: "latte", Quantity: 1, Total: 450},
	}}
	paid := &Ticket{Lines: ticket.Lines, Totals: Totals{Grand: amount(700)}}
	money := func(balance gift.Amount) *gift.Voucher {
		return &gift.Voucher{Currency: usd, Original: 5000, Balance: balance}
	}
	items := func(balance gift.Amount) *gift.Voucher {
		return &gift.Voucher{Currency: usd, Item: true, Original: 9, Balance: balance}
	}
	coffee := []string{"LATTE", "MOCHA"}
	coffeeLeftOut := []LeftOut{{1, notGood}, {2, nothing}, {3, noID}, {5, notGood}}
	tests := []struct {
		name    string
		ticket  *Ticket
		items   []string
		voucher *gift.Voucher
		want    Verdict
	}{
		{"any item", ticket, nil, money(5000), Verdict{[]Share{{0, 900}, {1, 1250}, {3, 300}, {4, 500}, {5, 450}}, []LeftOut{{2, nothing}}, gift.Eligibility{Most: 3400}}},
		{"coffee", ticket, coffee, money(5000), Verdict{[]Share{{0, 900}, {4, 500}}, coffeeLeftOut, gift.Eligibility{Required: true, Most: 1400}}},
		{"the balance binds", ticket, coffee, money(1399), Verdict{[]Share{{0, 900}, {4, 500}}, coffeeLeftOut, gift.Eligibility{Required: true, Most: 1399}}},
		{"the grand total binds", paid, coffee, money(5000), Verdict{[]Share{{0, 900}, {4, 500}}, coffeeLeftOut, gift.Eligibility{Required: true, Most: 700}}},
		{"pieces", paid, coffee, items(9), Verdict{[]Share{{0, 2}, {2, 1}}, []LeftOut{{1, notGood}, {3, noID}, {4, nothing}, {5, notGood}},
			gift.Eligibility{Required: true, Most: 3}}},
		{"pieces, balance", ticket, coffee, items(1), Verdict{[]Share{{0, 2}, {2, 1}}, []LeftOut{{1, notGood}, {3, noID}, {4, nothing}, {5, notGood}},
			gift.Eligibility{Required: true, Most: 1}}},
		{"nothing fits", &Ticket{Lines: ticket.Lines[1:2]}, coffee, money(5000), Verdict{nil, []LeftOut{{0, notGood}}, gift.Eligibility{Required: true}}},
		{"no lines", &Ticket{}, coffee, money(5000), Verdict{Eligibility: gift.Eligibility{Required: true}}},
		{"an empty id names nothing", &Ticket{Lines: ticket.Lines[3:4]}, []string{""}, money(5000), Verdict{nil, []LeftOut{{0, noID}}, gift.Eligibility{Required: true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, Judge(tt.ticket, tt.items, tt.voucher)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestJudgeProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom([]string{"", "A", "B", "C"})
		line := rapid.Custom(func(t *rapid.T) Line {
			return Line{ItemID: id.Draw(t, "id"), Quantity: rapid.Int64Range(0, 5).Draw(t, "quantity"), Total: gift.Amount(rapid.Int64Range(0, 500).Draw(t, "total"))}
		})
		tk := &Ticket{Lines: rapid.SliceOfN(line, 0, 12).Draw(t, "lines")}
		if rapid.Bool().Draw(t, "grand") {
			tk.Totals.Grand = amount(gift.Amount(rapid.Int64Range(0, 2000).Draw(t, "grandTotal")))
		}
		v := &gift.Voucher{Item: rapid.Bool().Draw(t, "item"), Balance: gift.Amount(rapid.Int64Range(0, 1500).Draw(t, "balance"))}
		items := rapid.SliceOfN(id, 0, 3).Draw(t, "items")
		got := Judge(tk, items, v)

		seen := make([]int, len(tk.Lines))
		var sum gift.Amount
		for _, s := range got.Eligible {
			seen[s.Index]++
			sum += s.Amount
			if s.Amount <= 0 {
				t.Fatalf("line %d is eligible with %d", s.Index, s.Amount)
			}
		}
		for _, l := range got.LeftOut {
			seen[l.Index]++
			if l.Reason == "" {
				t.Fatalf("line %d is left out without a reason", l.Index)
			}
		}
		for n, times := range seen {
			if times != 1 {
				t.Fatalf("line %d is in the verdict %d times", n, times)
			}
		}
		if got.Most < 0 || got.Most > v.Balance || got.Most > sum || got.Required != (len(items) > 0) {
			t.Fatalf("balance %d, eligible lines %d: %+v", v.Balance, sum, got.Eligibility)
		}
		if g := tk.Totals.Grand; !v.Item && g != nil && got.Most > *g {
			t.Fatalf("grand total %d: %+v", *g, got.Eligibility)
		}
		if g := tk.Totals.Grand; (v.Item || g == nil || *g >= sum) && got.Most != min(sum, v.Balance) {
			t.Fatalf("balance %d, eligible lines %d, nothing else binds: %+v", v.Balance, sum, got.Eligibility)
		}
	})
}
