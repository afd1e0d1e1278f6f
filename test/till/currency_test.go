package till

import (
	"fmt"
	"testing"

	"boon.example/client"
)

// currencySetUp is a shop in another currency; its gaps are for an id, the currency and a number in the ids.
var currencySetUp = `  - id: ` + prefix + `%[2]s1
    name: Shop in %[1]s
    currency: %[1]s
    maxGiftValue: 100000
    language: en
    timeZone: ` + noon() + `
    subscriptions: [{program: ` + gifts + `}]
    locations: [{id: ` + prefix + `%[2]s2, name: Main street, jurisdiction: JP}]
    storefronts: [{id: ` + prefix + `%[2]s3, name: Web shop}]
    keys: [{name: test, role: all, secret: boon_live_till_%[1]s_0123456789abcdefghijklm}]
`

// TestCurrencies: the keypad counts in the smallest unit of the currency, of which a yen is one, and a dinar has a
// thousand; a sign before the fraction is typed where there is one.
func TestCurrencies(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	file := fmt.Sprintf(setupFile, "")
	for n, currency := range []string{"JPY", "KWD"} {
		file += fmt.Sprintf(currencySetUp, currency, fmt.Sprint(4+n))
	}
	s.apply(file)
	for n, c := range []struct{ currency, worth, shown, taps, typed, taken, left, leftShown string }{
		{"JPY", "5000", "¥5,000", "3000", "3000", "¥3,000", "2000", "¥2,000"},
		{"KWD", "2.500", "KWD 2.500", "1234", "1.234", "KWD 1.234", "1.266", "KWD 1.266"},
	} {
		api, err := client.New(s.server.URL, "boon_live_till_"+c.currency+"_0123456789abcdefghijklm")
		if err != nil {
			t.Fatal(err)
		}
		paid := paid()
		paid.ExternalStorefrontID = fmt.Sprintf("%s%d3", prefix, 4+n)
		sent, err := api.SendGift(t.Context(), client.SendGiftRequest{
			MonetaryGift:      &client.MonetaryGift{Value: client.MustDecimal(c.worth), DeliveryMethodID: client.Printed},
			SenderDescription: "Ben", PaymentMethodID: client.ExternalTransaction, ExternalPayment: paid,
		})
		if err != nil {
			t.Fatal(err)
		}
		g := &sent.Gifts[0]
		d := newDevice(t, s.server.URL)
		s.pairAt(d, fmt.Sprintf("%s%d2", prefix, 4+n), c.currency, "--account", fmt.Sprintf("%s%d1", prefix, 4+n))
		d.find(g, c.shown)
		d.keys(c.typed)
		d.shows(".entry-figure", c.taken)
		d.keys("\b\b\b\b\b\b")
		d.keypad(c.taps)
		d.shows(".entry-figure", c.taken)
		d.shows("button.take", "Take "+c.taken)
		d.tap("button.take")
		d.shows("h1", "Taken")
		d.shows(".result .figure", c.taken)
		d.shows(".result .words", c.leftShown)
		if left, err := api.Gift(t.Context(), g.VoucherID); err != nil || left.CurrentBalance.String() != c.left {
			t.Errorf("%s is left, want %s, %v", left.CurrentBalance, c.left, err)
		}
		d.tap(".next")
		d.tap(".open-today")
		d.shows(".totals", c.taken)
		d.calm()
	}
}
