package gifts

import (
	"strings"
	"testing"
	"time"

	"boon.example/internal/face/console/desk"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/locale"
	"boon.example/internal/service"
)

// TestEverythingHasWords: every kind of entry and every status is told in every language of the console.
func TestEverythingHasWords(t *testing.T) {
	t.Parallel()
	euro, err := money.ParseCurrency("EUR")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range locale.ConsoleLanguages() {
		r := &desk.Request{Call: &service.Call{}, Locale: locale.For(l), Account: &merchant.Account{Zone: time.UTC}}
		g := &gift.Gift{Voucher: gift.Voucher{ID: guid.ID{1}, Currency: euro, Balance: 5}}
		for _, kind := range gift.Kinds() {
			for _, by := range []money.Amount{-500, 0, 500} {
				h := eventOf(r, g, &gift.Entry{Seq: 2, Kind: kind, Delta: by})
				if h.Text == "" || strings.Contains(h.Text, "%!") {
					t.Errorf("%s: %s is told as %q", l, kind, h.Text)
				}
			}
		}
		for _, status := range gift.Statuses() {
			g.Status = status
			if s := stateOf(r, g); s.Text == "" || strings.Contains(s.Text, "%!") {
				t.Errorf("%s: %s is told as %q", l, status, s.Text)
			}
		}
	}
}
