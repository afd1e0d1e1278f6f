package format

import (
	"os"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
)

// TestListedGiftCards: what the merchant says is a gift card is none of the goods, and comes off what is due, where
// the till sends its own tickets, too.
func TestListedGiftCards(t *testing.T) {
	t.Parallel()
	const card, latte = `{"itemID":"GC25","quantity":1,"itemTotalPrice":25}`, `{"itemID":"LATTE","itemTotalPrice":4.5}`
	v := &gift.Voucher{Currency: usd, Funded: 100_00, Balance: 100_00}
	for _, tt := range []struct {
		lines, totals string
		cards         []string
		most          money.Amount
	}{
		{card + "," + latte, `"grandTotal":30`, nil, 30_00},
		{card + "," + latte, `"grandTotal":30`, []string{"GC25"}, 5_00},
		{card + "," + latte, ``, []string{"GC25"}, 4_50},
		{card + "," + latte, `"grandTotal":30`, []string{"gc25", ""}, 30_00}, // compared as they are
		{latte + `,{"itemTotalPrice":2}`, `"grandTotal":7`, []string{"GC25"}, 7_00},
		{card, `"grandTotal":25`, []string{"GC25"}, 0},
		{card, `"grandTotal":10`, []string{"GC25"}, 0}, // 15 were paid already
		{card + "," + card + `,{"itemID":"GC25","quantity":-1,"itemTotalPrice":-25},` + latte, `"grandTotal":29.5`,
			[]string{"GC25"}, 4_50},
		{`{"itemID":"GC25","quantity":-1,"itemTotalPrice":25},` + latte, `"grandTotal":4.5`, []string{"GC25"}, 4_50},
	} {
		got, problems := read(Standard, `{"lineItems":[`+tt.lines+`],"totals":{`+tt.totals+`}}`, Options{GiftCards: tt.cards}, usd)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		verdict := ticket.EligibilityOf(got, nil, v)
		if verdict.Most != tt.most {
			t.Errorf("%s of %s less %q: %d can be paid, want %d", tt.totals, tt.lines, tt.cards, verdict.Most, tt.most)
		}
		for _, s := range verdict.Eligible {
			if id := got.Lines[s.Index].ItemID; len(tt.cards) > 0 && id == tt.cards[0] {
				t.Errorf("%s is paid of %s", id, tt.lines)
			}
		}
	}
	// the discount on an order comes off goods, and off no gift card
	got, problems := read(Clover, cloverOrderOf(`{"item":{"id":"GC"},"price":2500},{"item":{"id":"A"},"price":1000}`,
		`,"total":3300,"discounts":[{"amount":-200}]`), Options{GiftCards: []string{"GC"}}, usd)
	want := []string{"GC||1 × 25 = 25" + giftCard, "A||1 × 10 = 8", "8 0 2 0 8"}
	if len(problems) > 0 || strings.Join(told(got), "\n") != strings.Join(want, "\n") {
		t.Errorf("%v\n%s", problems, strings.Join(told(got), "\n"))
	}
}

// TestWrongFormat: an order that is sent as another platform's is refused, and its own format is named.
func TestWrongFormat(t *testing.T) {
	t.Parallel()
	own := map[string]string{"square": Square, "toast": Toast, "clover": Clover, "shopify": Shopify,
		"shopify_cart": Shopify, "shopify_graphql": Shopify, "lightspeedx": LightspeedX}
	for file, right := range own {
		text, err := os.ReadFile("testdata/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range Names() {
			if name == right {
				continue
			}
			for _, order := range []string{string(text), opened(t, string(text))} {
				_, problems := read(name, order, Options{}, usd)
				if want := `ticketData.format: This ticket looks like one of the format "` + right + `".`; len(problems) == 0 ||
					!slices.Contains(problems, want) {
					t.Errorf("%s as %s: %.500q", file, name, problems)
				}
			}
		}
	}
}
