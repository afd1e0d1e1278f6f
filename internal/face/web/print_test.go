package web

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/internal/base/fair"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// pages counts the pages of a PDF, and gives the size that they have.
func pages(body string) (n int, box string) {
	_, box, _ = strings.Cut(body, "/MediaBox [")
	box, _, _ = strings.Cut(box, "]")
	return strings.Count(body, "/Type /Page\n"), box
}

func TestPrintGift(t *testing.T) {
	t.Parallel()
	s := newFakeStore(t, aGift(t))
	for query, want := range map[string]string{
		"": "0 0 612.00 792.00", "?paper=letter": "0 0 612.00 792.00", "?paper=a4": "0 0 595.28 841.89",
		"?paper=napkin": "0 0 612.00 792.00", "?fold=half": "0 0 792.00 612.00",
		"?paper=a4&fold=half": "0 0 841.89 595.28", "?paper=a4&fold=quarter": "0 0 595.28 841.89",
		"?fold=plane": "0 0 612.00 792.00",
	} {
		status, header, body := s.get(t, "/g/"+token+"/print.pdf"+query)
		if n, box := pages(body); status != 200 || header.Get("Content-Type") != "application/pdf" || n != 1 || box != want {
			t.Errorf("%q: status %d, type %q, %d pages of %s, want 1 of %s", query, status, header.Get("Content-Type"), n, box,
				want)
		}
	}
	if _, _, body := s.get(t, "/g/"+token); !strings.Contains(body, `href="/g/`+token+`/print.pdf"`) ||
		!strings.Contains(body, `href="/g/`+token+`/print.pdf?fold=half"`) || strings.Contains(body, "paper=") {
		t.Error("the page does not link its PDF, on the paper of the place alone")
	}
	if status, _, body := s.get(t, "/g/"+strings.Repeat("0", 22)+"/print.pdf"); status != 404 ||
		strings.Contains(body, "%PDF") {
		t.Errorf("an unknown gift's PDF: %d", status)
	}
}

func TestPrintOrder(t *testing.T) {
	t.Parallel()
	var gifts []gift.Gift
	for i := range 12 {
		g := aGift(t)
		g.OrderID, g.Card.RecipientIndex, g.Card.Method = guid.ID{8}, i, contact.Printed
		if i == 11 {
			g.Card.Method = contact.Email
		}
		other, err := codes.ParseToken(fmt.Sprintf("%022d", i))
		if err != nil {
			t.Fatal(err)
		}
		g.Card.Token = other
		gifts = append(gifts, g)
	}
	s := &fakeStore{gifts: map[string]gift.Gift{}}
	for _, g := range gifts {
		s.gifts[g.Card.Token.Reveal()] = g
	}
	status, header, body := s.get(t, "/orders/"+sheetToken+"/print.pdf")
	if n, _ := pages(body); status != 200 || n != 2 || header.Get("Cache-Control") != "no-store" ||
		header.Get("X-Robots-Tag") == "" {
		t.Errorf("status %d, %d pages, want 2 for the 11 printed gifts; headers %v", status, n, header)
	}
	if strings.Contains(body, gifts[11].Card.Token.Reveal()) {
		t.Error("a gift that was sent by e-mail is on the sheet")
	}
	replaced := gifts[0] // whose new code is not for whoever has the link
	replaced.Replaced = 2
	s.gifts[replaced.Card.Token.Reveal()] = replaced
	if _, _, less := s.get(t, "/orders/"+sheetToken+"/print.pdf"); less == body {
		t.Error("a card that was replaced is on the sheet")
	}
	s.gifts[replaced.Card.Token.Reveal()] = gifts[0]
	_, _, again := s.get(t, "/orders/"+sheetToken+"/print.pdf")
	if again != body {
		t.Error("printing again makes another file")
	}
	for _, path := range []string{"/orders/" + sheetToken + "x/print.pdf", "/orders/" + guid.ID{8}.String() + "/print.pdf",
		"/orders/" + sheetToken, "/orders/"} {
		if status, _, _ := s.get(t, path); status != http.StatusNotFound {
			t.Errorf("GET %s: %d, want 404", path, status)
		}
	}
	if status, _, _ := (&fakeStore{}).get(t, "/orders/"+sheetToken+"/print.pdf"); status != http.StatusNotFound {
		t.Error("an order without printed gifts has a sheet")
	}
}

// TestPrintWithoutItsPicture: a gift whose picture is gone is printed without it, as it is mailed.
func TestPrintWithoutItsPicture(t *testing.T) {
	t.Parallel()
	g := aGift(t)
	g.OrderID, g.Card.Method = guid.ID{8}, contact.Printed
	a := *account
	a.Designs = []merchant.Design{{ID: guid.ID{4}, Logo: merchant.HashAsset([]byte("l")),
		Picture: merchant.HashAsset([]byte("p"))}}
	s := &fakeStore{gifts: map[string]gift.Gift{token: g}, account: &a}
	for _, path := range []string{"/g/" + token + PrintPath, "/orders/" + sheetToken + PrintPath} {
		if status, _, body := s.get(t, path); status != 200 || !strings.HasPrefix(body, "%PDF") {
			t.Errorf("%s: %d %.50s", path, status, body)
		}
	}
}

// TestSlowReadersKeepNoPrinter: a PDF that is being sent keeps no other from being made, and who waits for a printer
// for too long is told so.
func TestSlowReadersKeepNoPrinter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore(t, aGift(t))
		a := *account
		a.Designs = []merchant.Design{{ID: guid.ID{4}, Picture: merchant.HashAsset([]byte("p"))}}
		s.account = &a
		h := s.handler(false)
		read := make(chan struct{})
		for range 2 * printers {
			go h.ServeHTTP(slowReader{httptest.NewRecorder(), read}, httptest.NewRequestWithContext(t.Context(),
				http.MethodGet, "/g/"+token+PrintPath, nil))
		}
		synctest.Wait()
		begun := time.Now()
		if status, _, _ := request(t, h, http.MethodGet, "/g/"+token+PrintPath); status != 200 || time.Since(begun) > 0 {
			t.Errorf("beside slow readers: %d after %s", status, time.Since(begun))
		}
		close(read)
		s.slow = time.Minute
		for range printers {
			go h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet,
				"/g/"+token+PrintPath, nil))
		}
		synctest.Wait()
		begun = time.Now()
		status, header, body := request(t, h, http.MethodGet, "/g/"+token+PrintPath)
		if status != 503 || header.Get("Retry-After") == "" || strings.Contains(body, "%PDF") ||
			time.Since(begun) != printTimeout {
			t.Errorf("beside slow PDFs: %d %v after %s", status, header, time.Since(begun))
		}
		if strings.Contains(s.log.String(), "a page failed") {
			t.Error("a PDF that waited in vain is logged as a failure")
		}
		time.Sleep(s.slow)
	})
}

// TestOrdersKeepNoGuestWaiting: a guest's own PDF waits for none of an order, however many there are.
func TestOrdersKeepNoGuestWaiting(t *testing.T) {
	t.Parallel()
	s := &site{Config: Config{}, printing: fair.New(printers), sheets: fair.New(sheetPrinters)}
	for range sheetPrinters {
		if _, err := s.sheets.Take(t.Context(), guid.ID{1}, guid.ID{8}); err != nil {
			t.Fatal(err)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	if _, err := printer(r, s.printing, guid.ID{1}, guid.ID{9}); err != nil {
		t.Errorf("beside an order that is printed: %v", err)
	}
}

// TestGuestsOfOneMerchantKeepNoOthersWaiting: while a hundred PDFs of one account's gifts are asked for, that of
// another account's gift is the next to be made.
func TestGuestsOfOneMerchantKeepNoOthersWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		flood, other := aGift(t), aGift(t)
		var err error
		if other.Card.Token, err = codes.NewToken(rand.Reader); err != nil {
			t.Fatal(err)
		}
		other.AccountID = guid.ID{77}
		s := newFakeStore(t, flood)
		s.gifts[other.Card.Token.Reveal()] = other
		a := *account
		a.Designs = []merchant.Design{{ID: guid.ID{4}, Picture: merchant.HashAsset([]byte("p"))}}
		b := a
		b.ID = other.AccountID
		s.account, s.others, s.slow = &a, []*merchant.Account{&b}, time.Second
		h := s.handler(false)
		for range 100 {
			go h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet,
				"/g/"+token+PrintPath, nil))
		}
		synctest.Wait()
		begun := time.Now()
		status, _, _ := request(t, h, http.MethodGet, "/g/"+other.Card.Token.Reveal()+PrintPath)
		if took := time.Since(begun); status != 200 || took > 2*s.slow {
			t.Errorf("%d after %s, and one turn takes %s", status, took, s.slow)
		}
		time.Sleep(100 * s.slow)
	})
}

// slowReader takes an answer when it is told to.
type slowReader struct {
	*httptest.ResponseRecorder
	read chan struct{}
}

func (r slowReader) Write(b []byte) (int, error) {
	<-r.read
	return r.ResponseRecorder.Write(b)
}

func TestAssets(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	a := merchant.Asset{AccountID: account.ID, Hash: merchant.HashAsset(b.Bytes()), Kind: merchant.PNG, Bytes: b.Bytes()}
	s := newFakeStore(t, aGift(t))
	s.assets = []merchant.Asset{a}
	status, header, body := s.get(t, "/assets/"+a.Hash.String())
	if status != 200 || body != b.String() || header.Get("Content-Type") != "image/png" ||
		header.Get("X-Content-Type-Options") != "nosniff" ||
		header.Get("Cache-Control") != forEver || header.Get("Cross-Origin-Resource-Policy") != "cross-origin" {
		t.Errorf("status %d, headers %v", status, header)
	}
	for _, name := range []string{"", "x", strings.ToUpper(a.Hash.String()), merchant.HashAsset(nil).String(),
		strings.Repeat("0", 64)} {
		if status, header, _ := s.get(t, "/assets/"+name); status != 404 || header.Get("Cache-Control") != "no-store" {
			t.Errorf("GET /assets/%s: %d, %v", name, status, header)
		}
	}
}

// TestMisses: an address that asks for gifts that there are not is told to wait, and opens one that there is all the
// same; other addresses are not concerned.
func TestMisses(t *testing.T) {
	t.Parallel()
	h := newFakeStore(t, aGift(t)).handler(false)
	from := func(address, path string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.RemoteAddr = address
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	const guesser, neighbour, other = "[2001:db8::1]:1", "[2001:db8:0:ff::2]:1", "[2001:db8:0:100::1]:1"
	for i := range merchant.AnonymousBurst {
		if w := from(guesser, fmt.Sprintf("/g/%022d", i)); w.Code != http.StatusNotFound {
			t.Fatalf("miss %d: %d", i, w.Code)
		}
	}
	for _, path := range []string{"/g/" + strings.Repeat("1", 22), "/g/short", "/g/" + strings.Repeat("1", 22) +
		"/print.pdf", "/orders/x/print.pdf"} {
		if w := from(neighbour, path); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d, Retry-After %q", path, w.Code, w.Header().Get("Retry-After"))
		}
	}
	if w := from(guesser, "/g/"+token); w.Code != http.StatusOK {
		t.Errorf("a gift that there is: %d", w.Code)
	}
	if w := from(other, "/g/"+strings.Repeat("1", 22)); w.Code != http.StatusNotFound {
		t.Errorf("another network: %d", w.Code)
	}
	m := misses{}
	now := time.Now()
	for range merchant.AnonymousBurst {
		m.count("a", now)
	}
	if wait := m.count("a", now); wait != merchant.AnonymousRefill || m.count("a", now.Add(wait)) != 0 {
		t.Errorf("a wait of %v", wait)
	}
}

// TestUses: the page tells what was taken and given back, where and when, the newest first.
func TestUses(t *testing.T) {
	t.Parallel()
	g := aGift(t)
	g.Status, g.Balance, g.Seq = gift.Claimed, 2000, 6
	s := newFakeStore(t, g)
	at := time.Date(2026, 3, 2, 15, 30, 0, 0, time.UTC)
	place := merchant.Actor{LocationID: guid.ID{2}, KeyID: guid.ID{66}}
	s.history = []gift.Entry{
		{Seq: 1, Kind: gift.Issued, At: at}, {Seq: 2, Kind: gift.Redemption, Delta: -1250, At: at.Add(time.Hour),
			Actor: place, Reference: "check 4711"},
		{Seq: 3, Kind: gift.Reversal, Delta: 1250, At: at.Add(2 * time.Hour), Reason: "wrong table"},
		{Seq: 4, Kind: gift.Redemption, Delta: -500, At: at.Add(3 * time.Hour), Actor: place},
		{Seq: 5, Kind: gift.TransferOut, Delta: -300, At: at.Add(4 * time.Hour)},
		{Seq: 6, Kind: gift.TransferIn, Delta: 200, At: at.Add(4 * time.Hour)},
	}
	_, _, body := s.get(t, "/g/"+token)
	const want = "Used so far From another card: $2.00 March 2, 2026, 7:30 PM (UTC) To another card: $3.00 " +
		"March 2, 2026, 7:30 PM (UTC) $5.00 Pier 39 · March 2, 2026, 6:30 PM (UTC) Given back: $12.50 March 2, 2026, " +
		"5:30 PM (UTC) $12.50 Pier 39 · March 2, 2026, 4:30 PM (UTC) Good to know"
	if seen := visible(t, body); !strings.Contains(seen, want) {
		t.Errorf("the page shows\n%s\nwant\n%s", seen, want)
	}
	for _, hidden := range []string{"4711", "wrong table", guid.ID{66}.String()} {
		if strings.Contains(body, hidden) {
			t.Errorf("the page tells %q, which is the merchant's own", hidden)
		}
	}
	if _, _, body := newFakeStore(t, aGift(t)).get(t, "/g/"+token); strings.Contains(body, "Used so far") {
		t.Error("a gift that was never used has a list of uses")
	}
}
