package card

import (
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

var dollars = money.Currency{Code: "USD", Decimals: 2}

func TestReceipt(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 12, 31, 20, 0, 0, 0, time.UTC)
	a := &merchant.Account{Name: "Harbor Coffee", Currency: dollars, Zone: time.UTC}
	for _, tt := range []struct {
		language merchant.Language
		v        gift.Voucher
		e        gift.Entry
		want     string
	}{
		{"", gift.Voucher{Currency: dollars, Balance: 1550}, gift.Entry{Kind: gift.Redemption, Delta: -1000},
			"Harbor Coffee|•••• 5026|Taken                     $10.00|Left                      $15.50"},
		{merchant.German, gift.Voucher{Item: true, Balance: 2, ValidUntil: until}, gift.Entry{Kind: gift.CashOut, Delta: -1},
			"Harbor Coffee|•••• 5026|Bar ausgezahlt               1 x|Restguthaben                 2 x|" +
				"Gültig bis     31. Dezember 2026"},
		{"", gift.Voucher{Currency: dollars, ValidUntil: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)},
			gift.Entry{Kind: gift.Redemption, Delta: -1000}, "Harbor Coffee|•••• 5026|Taken                     $10.00|" +
				"Left                       $0.00|Valid until    December 31, 2026"},
		{merchant.Japanese, gift.Voucher{Currency: money.Currency{Code: "JPY"}, Balance: 1500},
			gift.Entry{Kind: gift.Reload, Delta: 500}, "Harbor Coffee|•••• 5026|チャージ                    ¥500|" +
				"カード残高                ¥1,500"},
	} {
		a.Language = tt.language
		got := Receipt(a, "5026", &tt.v, &tt.e)
		t.Log(strings.Join(got, "\n"))
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%s: %q, want %q", tt.language, strings.Join(got, "|"), tt.want)
		}
		for _, line := range got[2:] {
			if w := uniseg.StringWidth(line); w != ReceiptColumns {
				t.Errorf("%q has %d columns", line, w)
			}
		}
		if len(got) != 4 && tt.v.ValidUntil.IsZero() || len(got) != 5 && !tt.v.ValidUntil.IsZero() {
			t.Errorf("%q has %d lines", got, len(got))
		}
	}
}

// TestReceiptsFit: whatever the merchant is called and whatever the amounts are, a receipt fits the paper, whole
// letters and whole numbers stand on it, and nothing on it moves what stands beside it.
func TestReceiptsFit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("漢字カé́👩‍👩‍👧🇯🇵ﷺ\u202e\u0301\n\x1b ")))).
			Draw(t, "name")
		language := rapid.SampledFrom(merchant.Languages()).Draw(t, "language")
		a := &merchant.Account{Name: name, Currency: dollars, Language: language, Zone: time.UTC}
		balance := money.Amount(rapid.Int64Range(0, 999_999_999_999).Draw(t, "balance"))
		v := gift.Voucher{Currency: dollars, Balance: balance, Item: rapid.Bool().Draw(t, "item"),
			ValidUntil: time.Date(2999, 12, 31, 0, 0, 0, 0, time.UTC)}
		kind := rapid.SampledFrom([]gift.Kind{gift.Redemption, gift.CashOut, gift.Reload, gift.Activation}).Draw(t, "kind")
		lines := Receipt(a, "1234", &v, &gift.Entry{Kind: kind, Delta: -balance})
		if len(lines) > MaxReceiptLines {
			t.Errorf("%d lines", len(lines))
		}
		for _, line := range lines {
			if w := uniseg.StringWidth(line); w > ReceiptColumns {
				t.Errorf("%q has %d columns", line, w)
			}
			if strings.ContainsAny(line, "\n\r\x1b\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") {
				t.Errorf("%q is no line", line)
			}
		}
		if v.Item {
			return
		}
		whole := strings.NewReplacer(",", "", ".", "", "\u00a0", "", "\u202f", "", "’", "").Replace(lines[3])
		if !strings.Contains(whole, strings.TrimLeft(dollars.Format(balance), "0.")) && balance%100 != 0 {
			digits := strings.ReplaceAll(dollars.Format(balance), ".", "")
			if !strings.Contains(whole, digits) {
				t.Errorf("%q does not tell %s", lines[3], dollars.Format(balance))
			}
		}
	})
}
