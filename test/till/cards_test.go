package till

import (
	"bytes"
	"encoding/csv"
	"testing"

	"boon.example/client"
)

// TestProtectedCard: a card with a verification code is taken only with the right one, for which the till asks.
func TestProtectedCard(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	stock, err := s.api.CreateStock(t.Context(), client.CreateStockRequest{Count: 1, Value: client.MustDecimal("20"),
		VerificationCodes: true})
	if err != nil {
		t.Fatal(err)
	}
	file, err := s.api.ExportStock(t.Context(), stock.OrderID, client.StockCSV)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("the export has %d rows, %v", len(rows), err)
	}
	code, right := rows[1][0], rows[1][2]
	wrong := "0000"
	if right == wrong {
		wrong = "0001"
	}
	d := s.till("Counter 1", s.server.URL)
	g := &client.SentGift{Voucher: client.Voucher{VoucherCode: code}}
	d.find(g, "$0.00")
	d.shows(".reasons", "has not been sold yet")
	d.tap(".back")
	sold, err := s.api.ActivateGift(t.Context(), client.ActivateGiftRequest{VoucherCode: code, OrganizationID: pier,
		ExternalPayment: paid()})
	if err != nil {
		t.Fatal(err)
	}
	g.VoucherID = sold.VoucherID
	d.find(g, "$20.00")
	d.keypad("500")
	d.tap("button.take")
	d.shows("dialog h2", "The card's verification code")
	d.audit("the question for the verification code")
	d.keys(wrong + "\r")
	d.shows("h1", "Not taken")
	d.shows(".result .words", "The verification code is wrong.")
	s.holds(g, "20.00")
	d.tap(".look")
	d.at("gift")
	d.keypad("500")
	d.tap("button.take")
	d.shows("dialog h2", "The card's verification code")
	d.keys(right + "\r")
	d.shows("h1", "Taken")
	s.holds(g, "15.00")
	d.calm()
}

// TestCoveredCards: cards are sold by the number beside their covered codes, of fixed worth, of things and of what is
// paid; what was sold is told so, and undone. Where the account has codes of other systems with as many digits, these
// are found all the same.
func TestCoveredCards(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	numbers := func(r client.CreateStockRequest) (all []string) {
		r.ActivationCodes = true
		stock, err := s.api.CreateStock(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		file, err := s.api.ExportStock(t.Context(), stock.OrderID, client.StockCSV)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows[1:] {
			all = append(all, row[7])
		}
		return all
	}
	fixed := numbers(client.CreateStockRequest{Count: 2, Value: client.MustDecimal("20")})
	d := s.till("Counter 1", s.server.URL, "--may", "activate")
	d.at("home") // it knows now what it may do
	d.scanner(fixed[0])
	d.at("gift")
	d.shows(".worth .figure", "$20.00")
	d.shows(".worth .facts", "···· "+fixed[0][12:])
	d.audit("a covered card")
	d.tap("button.take")
	d.shows("h1", "Sold")
	d.tap(".next")
	d.scanner(fixed[0])
	d.shows(".home .error", "sold")
	d.scanner("1000000000000000")
	d.shows(".home .error", "There is no gift")
	d.scanner("]C1" + fixed[1])
	d.shows(".worth .figure", "$20.00")
	d.tap("button.take")
	d.shows("h1", "Sold")
	d.tap(".undo")
	d.shows("h1", "Sale taken back")
	d.tap(".next")

	d.scanner(numbers(client.CreateStockRequest{Count: 1, Label: "Latte", Quantity: 10})[0])
	d.shows(".worth .figure", "10")
	d.tap("button.take")
	d.shows("h1", "Sold")
	d.tap(".next")

	d.scanner(numbers(client.CreateStockRequest{Count: 1})[0])
	d.shows(".worth .figure", "New card")
	d.keypad("3000")
	d.tap("button.take")
	d.shows("h1", "Sold")
	d.shows(".result .figure", "$30.00")
	d.tap(".next")
	d.calm()
}

// TestCashOut: what is left is paid in cash where the law lets a guest ask for it, the till may, and somebody said yes;
// it is taken back at once, from the list of the day, or by its key where nobody learned whether it was paid.
func TestCashOut(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	g := s.sell("4.20")
	d := s.till("Counter 1", s.server.URL)
	d.find(g, "$4.20")
	if d.text(".do-cash") != "" {
		t.Error("a till that may not pay out offers it")
	}
	l := newLine(t, s.server.URL)
	d = s.till("Counter 2", l.URL, "--may", "cash-out")
	held, err := s.api.HoldGift(t.Context(), client.HoldGiftRequest{RedeemGiftRequest: client.RedeemGiftRequest{
		VoucherID: g.VoucherID, OrganizationID: pier, Amount: client.MustDecimal("1.20")}})
	if err != nil {
		t.Fatal(err)
	}
	d.find(g, "$3.00") // what is held is another sale's, and nothing is paid out meanwhile
	d.shows(".worth .facts", "$1.20")
	if d.text(".do-cash") != "" {
		t.Error("a gift of which something is held is paid out")
	}
	d.tap(".back")
	if _, err := s.api.ReleaseHold(t.Context(), client.ReleaseHoldRequest{HoldID: held.HoldID}); err != nil {
		t.Fatal(err)
	}
	d.find(g, "$4.20")
	d.tap(".do-cash")
	d.shows("dialog h2", "Pay $4.20 in cash?")
	d.tap("dialog .secondary")
	s.holds(g, "4.20")
	d.tap(".do-cash")
	d.tap("dialog .primary")
	d.shows("h1", "Pay it in cash")
	d.shows(".result .figure", "$4.20")
	s.holds(g, "0.00")
	d.tap(".undo")
	d.shows("h1", "Take the cash back")
	s.holds(g, "4.20")
	d.tap(".next")

	d.find(g, "$4.20")
	d.tap(".do-cash")
	l.cut.Store(after) // it is paid out, and nobody learns of it: called off, nothing is
	d.tap("dialog .primary")
	d.shows("h1", "Not known yet")
	d.tap(".stop")
	l.cut.Store(whole)
	d.shows("h1", "Do not pay out")
	s.holds(g, "4.20")
	d.tap(".next")

	d.find(g, "$4.20")
	d.tap(".do-cash")
	d.tap("dialog .primary")
	d.shows("h1", "Pay it in cash")
	d.tap(".next")
	d.tap(".open-today")
	d.shows(".entries .undone", "Undone")
	d.tap(`.entries .do button[aria-label*="4.20"]`)
	d.shows("dialog h2", "Take $4.20 in cash back?")
	d.tap("dialog .primary")
	d.shows("h1", "Take the cash back")
	s.holds(g, "4.20")
	d.tap(".next")
	d.shows(".entries", "Cash taken back")
	d.shows(".totals", "$0.00")
	d.calm()
}
