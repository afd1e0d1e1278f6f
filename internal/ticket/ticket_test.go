package ticket

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

var usd = money.Currency{Code: "USD", Decimals: 2}

func number(s money.Number) money.Decimal {
	d, err := money.ParseDecimal(s)
	if err != nil {
		panic(string(s) + ": " + err.Error())
	}
	return d
}

func pointer(s money.Number) *money.Decimal { d := number(s); return &d }

// line is of a ticket as readStandard makes them; price "" is none, total "" is price × quantity.
func line(id string, price, quantity, total money.Number) Line {
	l := Line{ItemID: id, Quantity: number(quantity)}
	if price != "" {
		l.UnitPrice = pointer(price)
	}
	if total != "" {
		l.Total = number(total)
	} else {
		l.Total = l.UnitPrice.Mul(l.Quantity)
	}
	return l
}

func on(grand money.Number, lines ...Line) *Ticket {
	t := &Ticket{Currency: usd, Lines: lines}
	if grand != "" {
		t.Totals.Grand = pointer(grand)
	}
	return t
}

func goodFor(ids ...string) (items []merchant.Item) {
	for _, id := range ids {
		items = append(items, merchant.Item{ID: id})
	}
	return items
}

func ofMoney(balance money.Amount) *gift.Voucher {
	return &gift.Voucher{Currency: usd, Funded: 5000, Balance: balance}
}

func pieces(balance money.Amount) *gift.Voucher {
	return &gift.Voucher{Currency: usd, Item: true, Funded: 9, Balance: balance}
}

const (
	notGood     = "This gift is not good for this item."
	nothing     = "There is nothing to pay on this line."
	byWeight    = "This line is sold by weight or measure; an item gift pays for pieces only."
	nothingLeft = "There is nothing left to pay for this item."
	noID        = "This line has no itemID, so it cannot be told whether this gift is good for it."
)

func TestLimitsDoNotOverflow(t *testing.T) {
	t.Parallel()
	if MaxAmount > math.MaxInt64/MaxLines {
		t.Error("a sum within the limits can overflow")
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	lines := []Line{
		line("LATTE", "", "2", "9"), line("SANDWICH", "", "1", "12.50"), line("MOCHA", "", "1", "0"),
		line("", "", "1", "3"), line("MOCHA", "", "0", "5"), line("latte", "", "1", "4.50"),
	}
	weighed := line("MOCHA", "", "1", "3")
	weighed.Weighed = true
	coffee := goodFor("LATTE", "MOCHA")
	coffeeLeftOut := []LeftOut{{1, notGood}, {2, nothing}, {3, noID}, {5, notGood}}
	most := func(a money.Amount) gift.Eligibility { return gift.Eligibility{Most: a} }
	none := gift.Eligibility{NoneEligible: true}
	tests := []struct {
		name    string
		ticket  *Ticket
		items   []merchant.Item
		voucher *gift.Voucher
		want    Eligibility
	}{
		{"any item", on("", lines...), nil, ofMoney(5000), Eligibility{[]Share{{0, 900}, {1, 1250}, {3, 300}, {4, 500},
			{5, 450}}, []LeftOut{{2, nothing}}, most(3400)}},
		{"any item, the grand total binds", on("9", lines...), nil, ofMoney(5000),
			Eligibility{[]Share{{0, 900}, {1, 1250}, {3, 300}, {4, 500}, {5, 450}}, []LeftOut{{2, nothing}}, most(900)}},
		{"any item, with tax", on("11.16", lines[0]), nil, ofMoney(5000), Eligibility{[]Share{{0, 900}}, nil, most(1116)}},
		{"any item, no lines", on("11.16"), nil, ofMoney(5000), Eligibility{Eligibility: most(1116)}},
		{"any item, nothing at all", on(""), nil, ofMoney(5000), Eligibility{}},
		{"any item, a ticket that pays back", on("-3", lines[0]), nil, ofMoney(5000), Eligibility{[]Share{{0, 900}}, nil,
			most(0)}},
		{"any item, a coupon", on("", lines[0], line("", "", "1", "-2")), nil, ofMoney(5000),
			Eligibility{[]Share{{0, 900}, {1, -200}}, nil, most(700)}},
		{"coffee", on("", lines...), coffee, ofMoney(5000), Eligibility{[]Share{{0, 900}, {4, 500}}, coffeeLeftOut,
			most(1400)}},
		{"the balance binds", on("", lines...), coffee, ofMoney(1399), Eligibility{[]Share{{0, 900}, {4, 500}}, coffeeLeftOut,
			most(1399)}},
		{"the grand total binds", on("7", lines...), coffee, ofMoney(5000), Eligibility{[]Share{{0, 900}, {4, 500}},
			coffeeLeftOut, most(700)}},
		{"a grand total of nothing", on("0", lines[0]), coffee, ofMoney(5000), Eligibility{[]Share{{0, 900}}, nil, most(0)}},
		{"pieces", on("7", lines...), coffee, pieces(9), Eligibility{[]Share{{0, 2}},
			[]LeftOut{{1, notGood}, {2, nothing}, {3, noID}, {4, nothing}, {5, notGood}}, most(2)}},
		{"pieces, a free one taken back", on("", lines[0], line("LATTE", "", "-1", "0")), coffee, pieces(9),
			Eligibility{[]Share{{0, 2}}, []LeftOut{{1, nothing}}, most(2)}},
		{"pieces, and nothing by weight", on("", lines[0], weighed), coffee, pieces(9), Eligibility{[]Share{{0, 2}},
			[]LeftOut{{1, byWeight}}, most(2)}},
		{"pieces, and no part of one", on("", lines[0], line("LATTE", "", "0.5", "2"), line("MOCHA", "", "1.75", "9"),
			line("LATTE", "4.50", "-0.5", "")), coffee, pieces(9), Eligibility{[]Share{{0, 2}},
			[]LeftOut{{1, byWeight}, {2, byWeight}, {3, byWeight}}, most(2)}},
		{"money, a part of a piece too", on("", lines[0], line("LATTE", "", "0.5", "2")), coffee, ofMoney(5000),
			Eligibility{[]Share{{0, 900}, {1, 200}}, nil, most(1100)}},
		{"money, by weight too", on("", lines[0], weighed), coffee, ofMoney(5000), Eligibility{[]Share{{0, 900}, {1, 300}},
			nil,
			most(1200)}},
		{"pieces, balance", on("", lines[0]), coffee, pieces(1), Eligibility{[]Share{{0, 2}}, nil, most(1)}},
		{"pieces of anything", on("0", lines[:2]...), nil, pieces(9), Eligibility{[]Share{{0, 2}, {1, 1}}, nil, most(3)}},
		{"nothing fits", on("", lines[1]), coffee, ofMoney(5000), Eligibility{nil, []LeftOut{{0, notGood}}, none}},
		{"no lines", on(""), coffee, ofMoney(5000), Eligibility{Eligibility: none}},
		{"an empty id names nothing", on("", lines[3]), goodFor(""), ofMoney(5000), Eligibility{nil, []LeftOut{{0, noID}},
			none}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, EligibilityOf(tt.ticket, tt.items, tt.voucher)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNumbersAsTillsWriteThem: voids, coupons, prices finer than the currency, and the sums of floats.
func TestNumbersAsTillsWriteThem(t *testing.T) {
	t.Parallel()
	latte := goodFor("LATTE", "MOCHA")
	two, mocha := line("LATTE", "4.50", "2", ""), line("MOCHA", "5", "1", "")
	tests := []struct {
		name   string
		ticket *Ticket
		money  money.Amount
		pieces money.Amount
		none   bool // no line is eligible, for either gift
	}{
		{"a void by quantity", on("", two, line("LATTE", "4.50", "-1", "")), 450, 1, false},
		{"a void by price", on("", two, line("LATTE", "-4.50", "1", "")), 450, 1, false},
		{"a void by both", on("", two, line("LATTE", "-4.50", "-1", "")), 450, 1, false},
		{"a void whose total has no sign", on("", two, line("LATTE", "", "-1", "4.50")), 450, 1, false},
		{"a coupon", on("", two, line("LATTE", "", "1", "-1.25")), 775, 2, false},
		{"a void of everything", on("", two, line("LATTE", "4.50", "-2", "")), 0, 0, true},
		{"a void of more", on("", two, line("LATTE", "4.50", "-3", ""), mocha), 500, 1, false},
		{"a coupon on something else", on("", two, line("BAGEL", "", "-1", "-20"), line("", "", "1", "-3")), 900, 2, false},
		{"a price finer than cents", on("", line("LATTE", "1.3333", "3", "")), 400, 3, false},
		{"rounded once", on("", line("LATTE", "", "1", "0.334"), line("LATTE", "", "1", "0.334"),
			line("MOCHA", "", "1", "0.334")), 100, 3, false},
		{"half a cent", on("", line("LATTE", "", "1", "0.125")), 13, 1, false},
		{"the sum of floats", on("", line("LATTE", "0.30000000000000004", "1", ""),
			line("LATTE", "", "1", "8.700000000000001")), 900, 2, false},
		{"what floats leave", on("", two, line("LATTE", "", "0", "1.1368683772161603e-13")), 900, 2, false},
		{"a weight", on("", line("LATTE", "9.99", "0.345", "")), 345, 0, false},
		{"half a piece", on("", line("LATTE", "9", "0.5", ""), line("LATTE", "4.50", "1.00", "")), 900, 1, false},
		{"two halves", on("", line("LATTE", "9", "0.5", ""), line("LATTE", "9", "0.5", "")), 900, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := EligibilityOf(tt.ticket, latte, ofMoney(5000)); got.Most != tt.money || got.NoneEligible != tt.none {
				t.Errorf("money: %+v, want %d", got, tt.money)
			}
			if got := EligibilityOf(tt.ticket, latte, pieces(9)); got.Most != tt.pieces || got.NoneEligible != (tt.none ||
				tt.pieces == 0) {
				t.Errorf("pieces: %+v, want %d", got, tt.pieces)
			}
		})
	}
}

func TestJudgeProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom([]string{"", "A", "B", "C"})
		amount := rapid.Custom(func(t *rapid.T) money.Decimal {
			return money.DecimalOf(rapid.Int64Range(-500, 500).Draw(t, "mills")).Mul(number("1e-3"))
		})
		line := rapid.Custom(func(t *rapid.T) Line {
			return Line{ItemID: id.Draw(t, "id"), Quantity: money.DecimalOf(rapid.Int64Range(-2, 5).Draw(t, "quantity")),
				Total: amount.Draw(t, "total")}
		})
		tk := &Ticket{Currency: usd, Lines: rapid.SliceOfN(line, 0, 12).Draw(t, "lines")}
		if rapid.Bool().Draw(t, "grand") {
			d := amount.Draw(t, "grandTotal")
			tk.Totals.Grand = &d
		}
		v := &gift.Voucher{Currency: usd, Item: rapid.Bool().Draw(t, "item"),
			Balance: money.Amount(rapid.Int64Range(0, 150).Draw(t, "balance"))}
		items := goodFor(rapid.SliceOfN(id, 0, 3).Draw(t, "items")...)
		got := EligibilityOf(tk, items, v)

		seen := make([]int, len(tk.Lines))
		var positive money.Amount
		for _, s := range got.Eligible {
			seen[s.Index]++
			positive += max(0, s.Amount)
			if s.Amount == 0 {
				t.Fatalf("line %d is eligible with nothing", s.Index)
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
		if got.Most < 0 || got.Most > v.Balance || got.NoneEligible && (got.Most > 0 || len(items) == 0) {
			t.Fatalf("balance %d: %+v", v.Balance, got.Eligibility)
		}
		if len(items) > 0 && got.Most > positive+money.Amount(len(tk.Lines)) { // each line may be rounded down
			t.Fatalf("eligible lines of %d: %+v", positive, got.Eligibility)
		}
		if g := tk.Totals.Grand; !v.Item && g != nil && got.Most > max(0, g.Round(usd)) {
			t.Fatalf("grand total %d: %+v", g.Round(usd), got.Eligibility)
		}
	})
}
