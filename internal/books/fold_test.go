package books_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/money"
)

// said are movements on lines, without the stock, in short: line, amount, where it was sold and in which month.
func said(t *testing.T, terms books.Terms, history []gift.Entry, until time.Time) (all []string) {
	t.Helper()
	month := func(at time.Time) int { return books.Days(nil).Month(at, time.UTC) }
	f := &books.Folder{Month: month, Read: func(guid.ID) (books.Terms, []gift.Entry, error) {
		return books.Terms{ID: id(8)}, giver(), nil
	}}
	err := f.Fold(&terms, history, until, func(m books.Movement) {
		if m.Line == "" {
			return
		}
		text := fmt.Sprintf("%s %d", m.Line, m.Money)
		if m.Bonus != 0 {
			text += fmt.Sprintf(" [%d]", m.Bonus)
		}
		if terms.Item {
			text += fmt.Sprintf(" (%d)", m.Pieces)
		}
		sold := "online"
		if !m.Sold.IsZero() {
			sold = fmt.Sprintf("%x", m.Sold[0])
		}
		all = append(all, fmt.Sprintf("%s of %s %d", text, sold, m.Month))
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// on is a day of 2026, at noon.
func on(month, day int) time.Time {
	return time.Date(2026, time.Month(month), day, 12, 0, 0, 0, time.UTC)
}

// at makes an entry at a shop.
func at(when time.Time, n byte, kind gift.Kind, delta money.Amount, shop byte) gift.Entry {
	e := gift.Entry{ID: id(n), Kind: kind, Delta: delta, At: when}
	if shop != 0 {
		e.Actor.LocationID = id(shop)
	}
	return e
}

func issued(when time.Time, worth money.Amount) gift.Entry {
	e := at(when, 1, gift.Issued, 0, 0)
	e.Balance = worth
	return e
}

// paid is an entry of value that was paid for with a price.
func paid(price money.Amount, e gift.Entry) gift.Entry {
	e.Purchase.Price = price
	return e
}

func undoing(e gift.Entry, n byte) gift.Entry {
	e.Reverses = id(n)
	return e
}

// giver is the history of a gift that gave 500 to another one, 200 of which shop 22 had sold.
func giver() []gift.Entry {
	out := at(on(3, 2), 0x41, gift.TransferOut, -500, 0)
	return []gift.Entry{issued(on(1, 1), 300), at(on(2, 1), 0x40, gift.Reload, 900, 0x22), out}
}

func TestMovementsByHand(t *testing.T) {
	t.Parallel()
	received := at(on(3, 2), 2, gift.TransferIn, 500, 0)
	received.Counterpart, received.CounterpartGift = id(0x41), id(8)
	extended := at(on(7, 1), 3, gift.Extended, 0, 0)
	extended.Until = on(8, 1)
	for _, test := range []struct {
		name    string
		terms   books.Terms
		history []gift.Entry
		want    string
	}{
		{"what was sold first is used first, and given back to where it came from", books.Terms{}, []gift.Entry{
			issued(on(1, 5), 1000), at(on(2, 5), 2, gift.Reload, 500, 0x22), at(on(3, 5), 3, gift.Redemption, -1200, 0x23),
			undoing(at(on(4, 5), 4, gift.Reversal, 300, 0x23), 3), at(on(4, 6), 5, gift.Redemption, -150, 0x23),
			undoing(at(on(4, 7), 6, gift.Reversal, 900, 0x23), 3)},
			`ISSUED 1000 of online 202601; RELOADED 500 of 22 202602
			REDEEMED -1000 of online 202601; REDEEMED -200 of 22 202602
			GIVEN_BACK 100 of online 202601; GIVEN_BACK 200 of 22 202602
			REDEEMED -100 of online 202601; REDEEMED -50 of 22 202602
			GIVEN_BACK 900 of online 202601`},
		{"a reload that is taken back was of its own place", books.Terms{}, []gift.Entry{
			issued(on(1, 5), 1000), at(on(2, 5), 2, gift.Reload, 500, 0x22), at(on(2, 6), 3, gift.Reload, 400, 0x23),
			undoing(at(on(2, 7), 4, gift.ReloadReversal, -500, 0x22), 2)},
			`ISSUED 1000 of online 202601; RELOADED 500 of 22 202602; RELOADED 400 of 23 202602
			RELOADED -500 of 22 202602`},
		{"a chargeback after the close: nothing is owed for what is given back to a gift that was cancelled",
			books.Terms{}, []gift.Entry{issued(on(1, 5), 1000), at(on(1, 6), 2, gift.Redemption, -400, 0x22),
				at(on(2, 1), 3, gift.Blocked, 0, 0), at(on(2, 2), 4, gift.Cancellation, 0, 0),
				undoing(at(on(2, 3), 5, gift.Reversal, 400, 0x22), 2), at(on(2, 4), 6, gift.Reinstatement, 0, 0)},
			`ISSUED 1000 of online 202601; REDEEMED -400 of online 202601; CANCELLED -600 of online 202601
			GIVEN_BACK 400 of online 202601; CANCELLED -400 of online 202601; CANCELLED 1000 of online 202601`},
		{"value expires by itself, and comes back when the gift is extended",
			books.Terms{Promotional: true, ValidUntil: on(6, 1)},
			[]gift.Entry{issued(on(1, 5), 1000), at(on(5, 1), 2, gift.Redemption, -400, 0x22),
				undoing(at(on(6, 5), 4, gift.Reversal, 100, 0x22), 2), extended},
			`ISSUED 1000 of online 202601; REDEEMED -400 of online 202601; EXPIRED -600 of online 202601
			GIVEN_BACK 100 of online 202601; EXPIRED -100 of online 202601; EXPIRED 700 of online 202601
			EXPIRED -700 of online 202601`},
		{"what tills still take in the days of grace is owed",
			books.Terms{Promotional: true, ValidUntil: on(6, 1), GraceDays: 30},
			[]gift.Entry{issued(on(1, 5), 1000), at(on(6, 20), 2, gift.Redemption, -400, 0x22), extended},
			`ISSUED 1000 of online 202601; REDEEMED -400 of online 202601; EXPIRED -600 of online 202601
			EXPIRED 600 of online 202601; EXPIRED -600 of online 202601`},
		{"a card is sold where it is activated", books.Terms{}, []gift.Entry{issued(on(1, 5), 0),
			at(on(2, 5), 2, gift.Activation, 700, 0x21), undoing(at(on(2, 5), 3, gift.ActivationReversal, -700, 0x21), 2),
			at(on(3, 5), 4, gift.Activation, 900, 0x22), at(on(3, 6), 5, gift.CashOut, -900, 0x22),
			undoing(at(on(3, 7), 6, gift.Reversal, 900, 0x22), 5)},
			`ACTIVATED 700 of 21 202602; ACTIVATED -700 of 21 202602; ACTIVATED 900 of 22 202603; CASHED_OUT -900 of 22 202603
			CASH_GIVEN_BACK 900 of 22 202603`},
		{"the last piece has what the others leave", books.Terms{Item: true, Worth: gift.ItemWorth{Money: 1000, Pieces: 3}},
			[]gift.Entry{issued(on(1, 5), 3), at(on(1, 6), 2, gift.Redemption, -2, 0x22),
				at(on(1, 7), 3, gift.Redemption, -1, 0x22), undoing(at(on(1, 8), 4, gift.Reversal, 1, 0x22), 3)},
			`ISSUED 1000 (3) of online 202601; REDEEMED -666 (-2) of online 202601; REDEEMED -334 (-1) of online 202601
			GIVEN_BACK 334 (1) of online 202601`},
		{"pieces without a worth have no money", books.Terms{Item: true},
			[]gift.Entry{issued(on(1, 5), 3), at(on(1, 6), 2, gift.Redemption, -2, 0x22)},
			`ISSUED 0 (3) of online 202601; REDEEMED 0 (-2) of online 202601`},
		{"what nobody paid for goes with the sale, and a share of it with what is cancelled", books.Terms{}, []gift.Entry{
			paid(5000, issued(on(1, 5), 6000)), at(on(1, 6), 2, gift.Redemption, -2000, 0x22),
			at(on(2, 1), 3, gift.Cancellation, 0, 0), undoing(at(on(2, 2), 4, gift.Reversal, 500, 0x22), 2),
			at(on(2, 3), 5, gift.Reinstatement, 0, 0)},
			`ISSUED 6000 [1000] of online 202601; REDEEMED -2000 of online 202601; CANCELLED -4000 [-666] of online 202601
			GIVEN_BACK 500 of online 202601; CANCELLED -500 [-84] of online 202601; CANCELLED 4500 [750] of online 202601`},
		{"a purchase that is taken back was as large as when it was made", books.Terms{}, []gift.Entry{issued(on(1, 5), 0),
			paid(500, at(on(2, 5), 2, gift.Activation, 700, 0x21)),
			undoing(at(on(2, 5), 3, gift.ActivationReversal, -700, 0x21), 2),
			paid(900, at(on(3, 5), 4, gift.Activation, 900, 0x22)), paid(40, at(on(3, 6), 5, gift.Reload, 100, 0x22)),
			at(on(3, 7), 6, gift.Reload, 50, 0x23), at(on(3, 8), 7, gift.Redemption, -910, 0x23),
			undoing(at(on(3, 9), 8, gift.ReloadReversal, -100, 0x22), 5)},
			`ACTIVATED 700 [200] of 21 202602; ACTIVATED -700 [-200] of 21 202602; ACTIVATED 900 of 22 202603
			RELOADED 100 [60] of 22 202603; RELOADED 50 of 23 202603
			REDEEMED -900 of 22 202603; REDEEMED -10 of 22 202603
			RELOADED -90 [-60] of 22 202603; RELOADED -10 of 23 202603`},
		{"the bonus of pieces is of what they are worth together", books.Terms{Item: true,
			Worth: gift.ItemWorth{Money: 1000, Pieces: 3}},
			[]gift.Entry{paid(700, issued(on(1, 5), 3)), at(on(1, 6), 2, gift.Redemption, -1, 0x22),
				at(on(1, 7), 3, gift.Cancellation, 0, 0)},
			`ISSUED 1000 [300] (3) of online 202601; REDEEMED -333 (-1) of online 202601
			CANCELLED -667 [-200] (-2) of online 202601`},
		{"what is transferred stays sold where and when it was", books.Terms{},
			[]gift.Entry{issued(on(3, 1), 100), received, at(on(3, 5), 3, gift.Redemption, -500, 0x23)},
			`ISSUED 100 of online 202603; TRANSFERRED 300 of online 202601; TRANSFERRED 200 of 22 202602
			REDEEMED -100 of online 202603; REDEEMED -300 of online 202601; REDEEMED -100 of 22 202602`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var want []string
			for _, one := range strings.FieldsFunc(test.want, func(r rune) bool { return r == ';' || r == '\n' }) {
				want = append(want, strings.TrimSpace(one))
			}
			if got := said(t, test.terms, test.history, on(12, 31)); !slices.Equal(got, want) {
				t.Errorf("these moved:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// TestEveryKindHasALine: the books know every line that a kind of entry may have.
func TestEveryKindHasALine(t *testing.T) {
	t.Parallel()
	for _, k := range gift.Kinds() {
		line, _ := k.Books()
		known := line == gift.NoLine || slices.Contains(books.Lines(), books.Line(line)) ||
			line == gift.LineAdjusted && slices.Contains(books.Lines(), books.LineAdjustedUp)
		if !known {
			t.Errorf("an entry of kind %s is on line %q, which the books do not have", k, line)
		}
	}
}
