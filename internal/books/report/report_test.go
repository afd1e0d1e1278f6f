package report

import (
	"fmt"
	"strings"
	"testing"

	"boon.example/internal/books"
	"boon.example/internal/guid"
	"boon.example/internal/money"
)

// text is a table for a test.
func text(t Table) string {
	var b strings.Builder
	for n, c := range t.Columns {
		fmt.Fprintf(&b, "%s%s", strings.Repeat(" ", min(n, 1)), c.Name)
	}
	for _, r := range t.Rows {
		b.WriteString("\n")
		for n, c := range r.Cells {
			switch t.Columns[n].Kind {
			case Text:
				fmt.Fprintf(&b, "%s ", c.Text)
			case ID:
				fmt.Fprintf(&b, "%.2s ", c.Text)
			case Amount:
				fmt.Fprintf(&b, "%s ", r.Unit.Format(money.Amount(c.N)))
			default:
				fmt.Fprintf(&b, "%d ", c.N)
			}
		}
	}
	return strings.ReplaceAll(b.String(), " \n", "\n")
}

var (
	usd      = money.Currency{Code: "USD", Decimals: 2}
	yen      = money.Currency{Code: "JPY"}
	pier     = guid.ID{0: 0x11}
	wharf    = guid.ID{0: 0x12}
	business = guid.ID{0: 0x22}
)

func key(cube books.Cube, line string) books.Key {
	return books.Key{Cube: cube, Line: line, ProgramID: business, Currency: usd}
}

func of(cents money.Amount, count int64) books.Sum {
	return books.Sum{Count: count, Value: books.Value{Money: cents}}
}

func TestLiability(t *testing.T) {
	t.Parallel()
	sums := books.Sums{}
	at := func(k books.Key, sold guid.ID, month int) books.Key {
		k.Sold, k.Month = sold, month
		return k
	}
	sums.Add(at(key(books.Stock, "OPEN"), pier, 202610), of(1000, 0))
	sums.Add(at(key(books.Stock, "OPEN"), pier, 202611), of(250, 0))
	sums.Add(at(key(books.Stock, "BLOCKED"), pier, 202611), of(50, 0))
	sums.Add(at(key(books.Stock, "EXPIRED"), guid.ID{}, 202609), of(9, 0))
	pieces := at(key(books.Stock, "OPEN"), wharf, 202611)
	pieces.Item, pieces.Currency = true, yen
	sums.Add(pieces, books.Sum{Value: books.Value{Pieces: 3, Money: 1000}})
	for _, test := range []struct {
		groups []Group
		want   string
	}{
		{nil, `currency isPromoType isItemType unit open blocked owed expired
JPY 0 1 MONEY 1000 0 1000 0
JPY 0 1 PIECES 3 0 3 0
USD 0 0 MONEY 12.50 0.50 13.00 0.09 `},
		{[]Group{ByOrganization, ByMonth, ByCurrency, ByMonth}, `currency isPromoType isItemType unit organizationID month open blocked owed expired
USD 0 0 MONEY  2026-09 0.00 0.00 0.00 0.09
USD 0 0 MONEY 11 2026-10 10.00 0.00 10.00 0.00
USD 0 0 MONEY 11 2026-11 2.50 0.50 3.00 0.00
JPY 0 1 MONEY 12 2026-11 1000 0 1000 0
JPY 0 1 PIECES 12 2026-11 3 0 3 0 `},
	} {
		if got := text(Liability(sums, test.groups)); got != test.want {
			t.Errorf("%v:\n%s\nwant\n%s", test.groups, got, test.want)
		}
	}
}

func TestRollForward(t *testing.T) {
	t.Parallel()
	opening, period := books.Sums{}, books.Sums{}
	opening.Add(key(books.Stock, "OPEN"), of(1000, 0))
	opening.Add(key(books.Stock, "EXPIRED"), of(77, 0))
	sold := of(500, 1)
	sold.Bonus = 100
	period.Add(key(books.Places, "ISSUED"), sold)
	period.Add(key(books.Places, "REDEEMED"), of(-300, 2))
	period.Add(key(books.Places, "EXPIRED"), of(-100, 0))
	period.Add(key(books.Months, "ISSUED"), of(500, 1))
	period.Add(key(books.Stock, "OPEN"), of(100, 0))
	period.Add(key(books.Stock, "EXPIRED"), of(100, 0))
	const want = `currency isPromoType isItemType unit opening issued activated reloaded imported transferred adjustedUp givenBack ` +
		`cashGivenBack redeemed cashedOut adjustedDown cancelled expired closing bonus
USD 0 0 MONEY 10.00 5.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 -3.00 0.00 0.00 0.00 -1.00 11.00 1.00 `
	if got := text(RollForward(opening, period)); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	for _, line := range books.Lines() {
		if lineNames[line] == "" {
			t.Errorf("line %s has no name", line)
		}
	}
}

func TestRedemptions(t *testing.T) {
	t.Parallel()
	at := func(line books.Line, place guid.ID) books.Key {
		k := key(books.Keys, string(line))
		k.Place = place
		return k
	}
	days := map[int]books.Sums{
		20261130: {at(books.LineRedeemed, pier): of(-900, 3), at(books.LineRedeemed, wharf): of(-100, 1)},
		20261201: {at(books.LineGivenBack, pier): of(400, 1), at(books.LineCashedOut, pier): of(-50, 1)},
	}
	for _, test := range []struct {
		groups []Group
		want   string
	}{
		{nil, `USD 0 0 MONEY 4 10.00 1 4.00 6.00 1 0.50 0 0.00 `},
		{[]Group{ByDay, ByOrganization}, `USD 0 0 MONEY 2026-11-30 11 3 9.00 0 0.00 9.00 0 0.00 0 0.00
USD 0 0 MONEY 2026-11-30 12 1 1.00 0 0.00 1.00 0 0.00 0 0.00
USD 0 0 MONEY 2026-12-01 11 0 0.00 1 4.00 -4.00 1 0.50 0 0.00 `},
	} {
		_, got, _ := strings.Cut(text(Redemptions(days, test.groups)), "\n")
		if got != test.want {
			t.Errorf("%v:\n%s\nwant\n%s", test.groups, got, test.want)
		}
	}
}
