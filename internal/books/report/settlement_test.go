package report

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// entityOf is whom locations of the tests belong to: market and wharf to one company, pier to nobody else.
func entityOf(location guid.ID) Entity {
	if location == wharf || location == market {
		return Entity{Company: "Market Ltd"}
	}
	return Entity{Location: location}
}

var market = guid.ID{0: 0x13}

func on(day int) time.Time { return time.Date(2026, 11, day, 12, 0, 0, 0, time.UTC) }

// entry is number n of a history.
func entry(n byte, day int, kind gift.Kind, delta money.Amount, place guid.ID, reverses byte) gift.Entry {
	e := gift.Entry{ID: guid.ID{15: n}, Kind: kind, Delta: delta, At: on(day), Actor: merchant.Actor{LocationID: place}}
	if reverses > 0 {
		e.Reverses = guid.ID{15: reverses}
	}
	return e
}

// TestSettlementByHand: three entities sold and took value. A card was loaded at two places: 10.00 at the pier, then
// 20.00 at the wharf. 5.00 were used at the market; 22.00 at the pier, 5.00 of which the pier had sold. Then the pier
// gave 4.00 back, which is the wharf's, as that was used last, and later the head office gave 2.00 back for the pier.
// Of 8.00 that were sold online the pier took 3.00.
func TestSettlementByHand(t *testing.T) {
	t.Parallel()
	sums := func(from, until int) books.Sums {
		sums := books.Sums{}
		web := entry(1, 1, gift.Issued, 0, guid.ID{}, 0)
		web.Balance = 800
		for _, one := range []struct {
			terms   books.Terms
			history []gift.Entry
		}{
			{books.Terms{Currency: usd}, []gift.Entry{entry(1, 1, gift.Activation, 1000, pier, 0),
				entry(2, 2, gift.Reload, 2000, wharf, 0), entry(3, 3, gift.Redemption, -500, market, 0),
				entry(4, 4, gift.Redemption, -2200, pier, 0), entry(5, 5, gift.Reversal, 400, pier, 4),
				entry(6, 20, gift.Reversal, 200, guid.ID{}, 4)}},
			{books.Terms{Currency: usd}, []gift.Entry{web, entry(2, 6, gift.Redemption, -300, pier, 0)}},
			{books.Terms{Currency: usd, Promotional: true}, []gift.Entry{web, entry(2, 6, gift.Redemption, -100, market, 0)}},
			{books.Terms{Currency: yen}, []gift.Entry{web, entry(2, 6, gift.CashOut, -800, pier, 0)}},
		} {
			f := &books.Folder{Month: func(time.Time) int { return 202611 }}
			err := f.Fold(&one.terms, one.history, on(30), func(m books.Movement) {
				if !m.At.Before(on(from)) && m.At.Before(on(until)) {
					sums.Move(&one.terms, &m)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		return sums
	}
	for _, test := range []struct {
		from, until            int
		matrix, debts, payment string
	}{
		{1, 10, `JPY 0 0 MONEY  11 0 0 800 0 800
USD 0 0 MONEY  11 3.00 0.00 0.00 0.00 3.00
USD 1 0 MONEY  13 1.00 0.00 0.00 0.00 1.00
USD 0 0 MONEY 11 11 5.00 0.00 0.00 0.00 5.00
USD 0 0 MONEY 11 13 5.00 0.00 0.00 0.00 5.00
USD 0 0 MONEY 12 11 17.00 4.00 0.00 0.00 13.00`,
			`JPY 0    11 800
USD 0    11 3.00
USD 0 Market Ltd   11 8.00
USD 1   Market Ltd  1.00`,
			`JPY 0    11 800
USD 0 Market Ltd   11 8.00
USD 0    11 3.00
USD 1   Market Ltd  1.00`},
		{10, 30, `USD 0 0 MONEY 12 11 0.00 2.00 0.00 0.00 -2.00`, `USD 0  11 Market Ltd  2.00`, `USD 0  11 Market Ltd  2.00`},
	} {
		table := Settlement(sums(test.from, test.until), entityOf)
		lines := func(t Table) string {
			_, rows, _ := strings.Cut(text(t), "\n")
			return strings.TrimSuffix(rows, " ")
		}
		compare := func(what, got, want string) {
			if got != want {
				t.Errorf("%d to %d, %s:\n%s\nwant\n%s", test.from, test.until, what, got, want)
			}
		}
		compare("matrix", lines(table), test.matrix)
		compare("debts", lines(table.Parts[0].Table), test.debts)
		compare("payments", lines(table.Parts[1].Table), test.payment)
	}
}

// TestPayments: payments make everybody even. Debts that are made of k groups which are even within need k payments
// fewer than there are entities, as far as the fewest are looked for; else one fewer.
func TestPayments(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 39))
	for size := range 24 {
		for range 8 {
			groups, entities := 1+random.IntN(5), size+2
			owed := map[[2]Entity]money.Amount{}
			entity := func(n int) Entity { return Entity{Company: fmt.Sprint(n)} }
			for range 3 * entities {
				n := random.IntN(entities)
				other := (n + groups*random.IntN(entities)) % entities
				if other%groups == n%groups {
					owed[[2]Entity{entity(n), entity(other)}] += money.Amount(1 + random.IntN(9))
				}
			}
			debts := Debts(owed)
			left, parted := map[Entity]money.Amount{}, map[string]bool{}
			for _, d := range debts {
				left[d.From] -= d.Amount
				left[d.To] += d.Amount
			}
			open := 0
			for n := range entities {
				if left[entity(n)] != 0 {
					open++
					parted[fmt.Sprint(n%groups)] = true
				}
			}
			payments := Payments(debts)
			for _, p := range payments {
				if p.Amount <= 0 || p.From == p.To {
					t.Errorf("a payment is %v", p)
				}
				left[p.From] += p.Amount
				left[p.To] -= p.Amount
			}
			for e, amount := range left {
				if amount != 0 {
					t.Errorf("after all payments, %v is owed %d", e, amount)
				}
			}
			most := max(0, open-1)
			if open <= fewest {
				most = open - len(parted)
			}
			if len(payments) > most {
				t.Errorf("%d entities in %d groups pay %d times", open, len(parted), len(payments))
			}
		}
	}
}

// TestPaymentsAreTheFewest where paying the largest first would take one more.
func TestPaymentsAreTheFewest(t *testing.T) {
	t.Parallel()
	of := func(company string) Entity { return Entity{Company: company} }
	payments := Payments([]Debt{{of("a"), of("c"), 3}, {of("a"), of("d"), 3}, {of("b"), of("e"), 5}})
	if len(payments) != 3 {
		t.Errorf("paid with %v", payments)
	}
}
