package report

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/guid"
	"boon.example/internal/money"
)

// sales are two months of sales, worked out by hand. Of September 100.00 were sold, 80.00 of that in the end, as a gift
// of 20.00 was cancelled: 50.00 were redeemed, 10.00 of it came back, 5.00 were paid out, 3.00 expired. 32.00 are owed.
func sales() books.Sums {
	sums := books.Sums{}
	add := func(line books.Line, month int, cents money.Amount) {
		k := key(books.Months, string(line))
		k.Month, k.Sold = month, pier
		sums.Add(k, of(cents, 1))
	}
	stock := func(state books.State, month int, cents money.Amount) {
		k := key(books.Stock, string(state))
		k.Month, k.Sold = month, pier
		sums.Add(k, of(cents, 0))
	}
	add(books.LineIssued, 202609, 10000)
	add(books.LineCancelled, 202609, -2000)
	add(books.LineRedeemed, 202609, -5000)
	add(books.LineGivenBack, 202609, 1000)
	add(books.LineCashedOut, 202609, -500)
	add(books.LineExpired, 202609, -300)
	stock(books.Open, 202609, 3000)
	stock(books.Blocked, 202609, 200)
	stock(books.Expired, 202609, 300)
	add(books.LineActivated, 202610, 1000)
	stock(books.Open, 202610, 1000)
	return sums
}

func promotional(sums books.Sums) books.Sums {
	for _, k := range []books.Key{key(books.Months, "ISSUED"), key(books.Stock, "OPEN")} {
		k.Promotional, k.Month = true, 202610
		sums.Add(k, of(700, 1))
	}
	return sums
}

func items(sums books.Sums) books.Sums {
	for line, pieces := range map[books.Line]money.Amount{books.LineIssued: 3, books.LineRedeemed: -1} {
		k := key(books.Months, string(line))
		k.Item, k.Month = true, 202610
		sums.Add(k, books.Sum{Value: books.Value{Pieces: pieces, Money: pieces * 300}})
	}
	k := key(books.Stock, "OPEN")
	k.Item, k.Month = true, 202610
	sums.Add(k, books.Sum{Value: books.Value{Pieces: 2, Money: 600}})
	return sums
}

func TestAgeing(t *testing.T) {
	t.Parallel()
	const want = `currency isPromoType isItemType unit month sold redeemed cashedOut expired owed redeemedShare
USD 0 0 MONEY 2026-09 80.00 40.00 5.00 3.00 32.00 5625
USD 0 0 MONEY 2026-10 10.00 0.00 0.00 0.00 10.00 0
USD 0 1 MONEY 2026-10 9.00 3.00 0.00 0.00 6.00 3333
USD 0 1 PIECES 2026-10 3 1 0 0 2 3333
USD 1 0 MONEY 2026-10 7.00 0.00 0.00 0.00 7.00 0 `
	if got := text(Ageing(items(promotional(sales())))); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	// A gift was sold in one month and cancelled: nothing was sold in the end, so there is no share.
	gone := books.Sums{}
	for line, cents := range map[books.Line]money.Amount{books.LineIssued: 500, books.LineCancelled: -499} {
		gone.Add(key(books.Months, string(line)), of(cents, 1))
	}
	gone.Add(key(books.Months, string(books.LineExpired)), of(-1, 0))
	table := Ageing(gone)
	if last := table.Rows[0].Cells[len(table.Columns)-1]; !last.Known() || last.N != 0 {
		t.Errorf("of one cent that expired, the share is %+v", last)
	}
	gone.Add(key(books.Months, string(books.LineCancelled)), of(-1, 0))
	if table = Ageing(gone); table.Rows[0].Cells[len(table.Columns)-1].Known() {
		t.Errorf("of nothing, there is a share: %s", text(table))
	}
}

// TestBreakage: 20 percent of 80.00 are never redeemed, 16.00; 64.00 are expected to be redeemed, and 45.00 were. So
// 45 ÷ 64 of 16.00 count, 11.25, of which 3.00 have expired.
func TestBreakage(t *testing.T) {
	t.Parallel()
	const head = "currency isPromoType isItemType unit programID month sold redeemed cashedOut expired owed escheat " +
		"estimate\n"
	const want = head + `USD 0 0 MONEY 22 2026-09 80.00 40.00 5.00 3.00 32.00 0 8.25
USD 0 0 MONEY 22 2026-10 10.00 0.00 0.00 0.00 10.00 0 0.00
USD 0 1 MONEY 22 2026-10 9.00 3.00 0.00 0.00 6.00 0 0.75 `
	sums := items(promotional(sales()))
	never := func(guid.ID) bool { return false }
	if got := text(Breakage(sums, 2000, never)); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	const none = head + `USD 0 0 MONEY 22 2026-09 80.00 40.00 5.00 3.00 32.00 1 0.00
USD 0 0 MONEY 22 2026-10 10.00 0.00 0.00 0.00 10.00 1 0.00
USD 0 1 MONEY 22 2026-10 9.00 3.00 0.00 0.00 6.00 1 0.00 `
	if got := text(Breakage(sums, 2000, func(program guid.ID) bool { return program == business })); got != none {
		t.Errorf("where it goes to the state:\n%s\nwant\n%s", got, none)
	}
	for _, test := range []struct{ sold, redeemed, expired, owed, rate, want int64 }{
		{10_000, 9_000, 0, 1_000, 1_000, 1_000},        // all that is expected was redeemed
		{10_000, 9_500, 0, 500, 1_000, 500},            // more than that: what is owed is the most
		{10_000, 4_500, 0, 5_500, 1_000, 500},          // half of it
		{10_000, 0, 0, 10_000, 9_999, 0},               // nothing was redeemed
		{10_000, 1, 0, 9_999, 9_999, 9_999},            // one cent of one that is expected
		{100, 1, 0, 99, 1_000, 0},                      // a part of a cent is none
		{10_000, 9_000, 1_000, 0, 1_000, 0},            // all breakage has expired
		{10_000, 4_500, 800, 4_700, 1_000, 0},          // more has expired than counts
		{1 << 60, 1 << 59, 0, 1 << 59, 5_000, 1 << 59}, // no overflow
	} {
		if got := estimate([]int64{test.sold, test.redeemed, 0, test.expired, test.owed}, test.rate); got != test.want {
			t.Errorf("of %+v, %d are estimated", test, got)
		}
	}
}

// TestBooked: beside the estimates stands what was booked, and what a booking would add is what books.Book says.
func TestBooked(t *testing.T) {
	t.Parallel()
	gone := guid.ID{0: 0x33}
	at := time.Date(2026, 10, 2, 9, 30, 0, 0, time.UTC)
	booked := []books.Booked{
		{Month: 202608, ProgramID: gone, Currency: yen, Rate: 750, Amount: 40, At: at.AddDate(0, -1, 0), KeyID: pier},
		{Month: 202609, ProgramID: business, Currency: usd, Rate: 2000, Amount: 1000, At: at, KeyID: wharf},
		{Month: 202610, ProgramID: business, Currency: usd, Rate: 1000, Amount: -50, At: at.AddDate(0, 1, 0), KeyID: wharf},
	}
	breakage := Breakage(items(sales()), 2000, func(guid.ID) bool { return false }) // 9.00, of business
	parts := Booked(&breakage, booked)
	const totals = `programID currency estimate booked toBook
22 USD 9.00 9.50 -0.50
33 JPY 0 40 -40 `
	if got := text(parts[0].Table); got != totals || parts[0].Name != "totals" || parts[0].Withheld {
		t.Errorf("\n%s\nwant\n%s", got, totals)
	}
	const bookings = `month programID currency rate amount bookedAt keyID
2026-08 33 JPY 750 40 1788341400000000 11
2026-09 22 USD 2000 10.00 1790933400000000 12
2026-10 22 USD 1000 -0.50 1793611800000000 12 `
	if got := text(parts[1].Table); got != bookings || parts[1].Name != "bookings" || parts[1].Withheld {
		t.Errorf("\n%s\nwant\n%s", got, bookings)
	}
	var would []string
	for _, b := range books.Book(booked, Estimates(&breakage), books.Booked{}) {
		would = append(would, fmt.Sprintf("%.2s %s", b.ProgramID, b.Currency.Format(b.Amount)))
	}
	if want := []string{"22 -0.50", "33 -40"}; !slices.Equal(would, want) {
		t.Errorf("a booking would add %q", would)
	}
	if nothing := Booked(&Table{}, nil); len(nothing[0].Rows)+len(nothing[1].Rows) > 0 {
		t.Errorf("of nothing, it says %+v", nothing)
	}
}

func TestDormant(t *testing.T) {
	t.Parallel()
	idle := books.Sums{}
	add := func(state books.State, sold guid.ID, month int, gifts int64, cents money.Amount) {
		k := key(books.Idle, string(state))
		k.Sold, k.Month = sold, month
		idle.Add(k, of(cents, gifts))
	}
	add(books.Open, pier, 202310, 2, 2500)
	add(books.Blocked, pier, 202311, 1, 100)
	add(books.Open, pier, 202312, 4, 900) // it was used since
	add(books.Expired, pier, 202310, 8, 800)
	add(books.Open, wharf, 202201, 1, 50)
	add(books.Open, guid.ID{}, 202301, 1, 7)
	k := key(books.Stock, "OPEN")
	k.Month = 202001
	idle.Add(k, of(1, 0))
	where := map[guid.ID]string{pier: "US-CA", wharf: "US-NY", {}: "US"}
	const want = `currency isPromoType isItemType unit jurisdiction gifts owed
USD 0 0 MONEY US 1 0.07
USD 0 0 MONEY US-CA 3 26.00
USD 0 0 MONEY US-NY 1 0.50 `
	if got := text(Dormant(idle, 202311, func(id guid.ID) string { return where[id] })); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
}
