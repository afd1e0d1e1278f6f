package web

import (
	"cmp"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/locale"
)

// as asks for a page as a browser of some language does.
func (s *fakeStore) as(t *testing.T, accept, path string) (*http.Response, string) {
	t.Helper()
	return as(t, s.handler(true), accept, http.MethodGet, path)
}

func as(t *testing.T, h http.Handler, accept, method, path string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	if accept != "" {
		r.Header.Set("Accept-Language", accept)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), w.Body.String()
}

// TestLanguageOfPages: a link on the page counts most, then the browser, then the gift, then its account.
func TestLanguageOfPages(t *testing.T) {
	t.Parallel()
	french, german := aGift(t), *account
	german.Language = merchant.German
	french.Card.Language = "fr-CA"
	for _, tc := range []struct {
		gift          gift.Gift
		accept, query string
		want          merchant.Language
	}{
		{french, "", "", merchant.French}, {french, "ja,de;q=0.5", "", merchant.Japanese}, {french, "ja", "?lang=es",
			merchant.Spanish},
		{french, "pt-BR", "", merchant.French}, {french, "ja", "?lang=pt", merchant.Japanese}, {aGift(t), "", "",
			merchant.German},
		{aGift(t), "xx", "?lang=%00&lang=es", merchant.German}, {aGift(t), "", "?lang=en", merchant.English},
	} {
		answer, body := newStoreOf(t, &german, tc.gift).as(t, tc.accept, "/g/"+token+tc.query)
		if !strings.HasPrefix(body, `<!doctype html>`+"\n"+`<html lang="`+string(tc.want)+`" dir="ltr">`) ||
			answer.Header.Get("Content-Language") != string(tc.want) ||
			!slices.Contains(answer.Header.Values("Vary"), "Accept-Language") {
			t.Errorf("%q %q: %.60q, headers %v, want %s", tc.accept, tc.query, body, answer.Header, tc.want)
		}
		for _, l := range merchant.Languages() {
			link := `<a href="?lang=` + string(l) + `" lang="` + string(l) + `" hreflang="` + string(l) + `">` +
				locale.For(l).Text("language.name") + `</a>`
			if strings.Contains(body, link) != (l != tc.want) {
				t.Errorf("the page in %s and its link to %s:\n%s", tc.want, l, body)
			}
		}
	}
	// of a card that was replaced, only the account is known
	s := newStoreOf(t, &german, french)
	s.replaced = time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)
	if _, body := s.as(t, "", "/g/"+token); !strings.Contains(body, "am 3. März 2026 ersetzt") {
		t.Errorf("the page of a card that was replaced: %s", visible(t, body))
	}
}

// TestNothingStaysEnglish: no page for guests has a text in English when it is asked for in another language, in any
// state.
func TestNothingStaysEnglish(t *testing.T) {
	t.Parallel()
	used := aGift(t)
	used.Status, used.Balance, used.Seq, used.Card.Terms = gift.Claimed, 1275, 4, "TERMS"
	used.Items = []merchant.Item{{ID: "LATTE"}}
	used.Holds = []gift.OpenHold{{Left: 300, Until: time.Now().Add(time.Hour)}}
	used.ValidFrom, used.ValidUntil = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	history := []gift.Entry{{Kind: gift.Redemption, Delta: -1}, {Kind: gift.Reversal, Delta: 1},
		{Kind: gift.TransferOut, Delta: -1}, {Kind: gift.TransferIn, Delta: 1}}
	many := *account
	many.Locations = make([]merchant.Location, 20)
	for i := range many.Locations {
		many.Locations[i].Name = "Pier 39"
	}
	stores := map[string]*fakeStore{
		"used": newStoreOf(t, &many, used), "replaced": newFakeStore(t, used), "failed": newFakeStore(t, used),
	}
	stores["used"].history, stores["replaced"].replaced, stores["failed"].err = history, time.Now(), errors.New("x")
	for name, change := range map[string]func(*gift.Gift){
		"pending":   func(g *gift.Gift) { g.Status, g.Card.Recipient = gift.Pending, "" },
		"scheduled": func(g *gift.Gift) { g.Status, g.Card.DeliveryDate = gift.Pending, time.Now().Add(time.Hour) },
		"not yet":   func(g *gift.Gift) { g.ValidFrom = time.Now().Add(time.Hour) },
		"redeemed":  func(g *gift.Gift) { g.Status, g.Balance = gift.Redeemed, 0 },
		"expired":   func(g *gift.Gift) { g.ValidUntil = time.Now().Add(-time.Hour) },
		"cancelled": func(g *gift.Gift) { g.Status = gift.Cancelled },
		"unpaid":    func(g *gift.Gift) { g.Status = gift.PurchaseFailed },
		"blocked":   func(g *gift.Gift) { g.Blocked = "X" },
		"unsold":    func(g *gift.Gift) { g.Status, g.Funded, g.Balance = gift.NotActivated, 0, 0 },
	} {
		g := aGift(t)
		g.Card.DesignID = guid.ID{} // the headline is ours
		change(&g)
		stores[name] = newFakeStore(t, g)
	}
	// what is the same in every language
	const same = "Harbor Coffee|Ben|Anna|Enjoy|Happy birthday!|See you on Friday.|4829 1507 3364|Pier 39|Ferry Building|" +
		"LATTE|TERMS|website|light dark|noindex, nofollow|#ffcc00|#144f46|#f5f3ee|#141412|" +
		"width=device-width, initial-scale=1|telephone=no, date=no, address=no, email=no, " +
		"url=no|English|Deutsch|Français|Español|日本語| · |, "
	compare := func(name, method, path string, h http.Handler, status int) {
		answer, english := as(t, h, "en", method, path)
		if answer.StatusCode != status {
			t.Errorf("%s: status %d, want %d", name, answer.StatusCode, status)
		}
		known := texts(t, english)
		for _, l := range merchant.Languages()[1:] {
			_, body := as(t, h, string(l), method, path)
			for _, text := range texts(t, body) {
				if slices.Contains(known, text) && !slices.Contains(strings.Split(same, "|"), text) &&
					strings.ContainsAny(text, "abcdefghijklmnopqrstuvwxyz") {
					t.Errorf("%s in %s: %q", name, l, text)
				}
			}
		}
	}
	for name, s := range stores {
		status := map[string]int{"replaced": http.StatusGone, "failed": http.StatusInternalServerError}
		compare(name, http.MethodGet, "/g/"+token, s.handler(false), cmp.Or(status[name], http.StatusOK))
	}
	h := newFakeStore(t).handler(false)
	compare("no gift", http.MethodGet, "/g/x", h, http.StatusNotFound)
	compare("method", http.MethodPost, "/g/"+token, h, http.StatusMethodNotAllowed)
	compare("PDF", http.MethodGet, "/g/"+token+PrintPath, stores["failed"].handler(false), http.StatusInternalServerError)
	for range merchant.AnonymousBurst {
		request(t, h, http.MethodGet, "/g/x")
	}
	compare("too many", http.MethodGet, "/g/x", h, http.StatusTooManyRequests)
}

// texts lists the texts of a page, those of attributes that are read aloud or shown among them.
func texts(t *testing.T, page string) (all []string) {
	t.Helper()
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return all
		case html.TextToken:
			if text := strings.TrimRight(z.Token().Data, "\n"); text != "" {
				all = append(all, text)
			}
		case html.StartTagToken:
			for _, a := range z.Token().Attr {
				if a.Key == "aria-label" || a.Key == "alt" || a.Key == "title" || strings.HasPrefix(a.Key, "data-") ||
					a.Key == "content" {
					all = append(all, a.Val)
				}
			}
		}
	}
}

// TestPaperOfAnotherLanguage: a PDF is in the language of its gift; from a page in another one, in that of the page.
func TestPaperOfAnotherLanguage(t *testing.T) {
	t.Parallel()
	s := newFakeStore(t, aGift(t))
	address := "/g/" + token + PrintPath
	_, own := s.as(t, "en", "/g/"+token)
	_, other := s.as(t, "de", "/g/"+token)
	if !strings.Contains(own, `href="`+address+`"`) || !strings.Contains(other, `href="`+address+`?lang=de"`) {
		t.Errorf("the links to the PDF:\n%s\n%s", own, other)
	}
	_, want := s.as(t, "", address)
	if _, got := s.as(t, "de", address); got != want {
		t.Error("the PDF goes by the browser's language")
	}
	if _, got := s.as(t, "", address+"?lang=de"); got == want || !strings.HasPrefix(got, "%PDF") {
		t.Error("the PDF is not in the language that is asked for")
	}
}
