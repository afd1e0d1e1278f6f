package web

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"boon.example/internal/guest"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// noGuests is where nobody asked for a link and nobody is signed in.
type noGuests struct{ Guests }

func (noGuests) GuestLink(context.Context, guid.ID, string, time.Time) (l guest.Link, err error) {
	return l, refusal.NotFound
}

// watched is a body that says, when it is read, whether its request has its turn.
type watched struct {
	io.Reader
	admitted     *bool
	read, inTurn bool
}

func (b *watched) Read(p []byte) (int, error) {
	b.read, b.inTurn = true, b.inTurn || *b.admitted
	return b.Reader.Read(p)
}

func (b *watched) Close() error { return nil }

// TestFormsAreReadBeforeTheirTurn: whoever sends the form of a guest byte by byte keeps nobody else waiting, as a
// request has its turn once its form is here.
func TestFormsAreReadBeforeTheirTurn(t *testing.T) {
	t.Parallel()
	account, admitted := &merchant.Account{ID: guid.ID{7}, Name: "Harbor Coffee"}, false
	pages := Handler(Config{PublicURL: base, Guests: noGuests{}, Directory: func() *merchant.Directory {
		return &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{account.ID: account}}
	}, Admit: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			admitted = true
			next.ServeHTTP(w, r)
		})
	}})
	home := guest.Path + "/" + account.ID.String()
	for path, status := range map[string]int{
		home:                         http.StatusBadRequest,
		home + guest.LinkPath + "/x": http.StatusNotFound,
		home + "/open":               http.StatusSeeOther,
		home + "/out":                http.StatusSeeOther,
	} {
		admitted = false
		body := &watched{Reader: strings.NewReader("contact=nobody"), admitted: &admitted}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, body)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, r)
		if w.Code != status || !admitted || !body.read || body.inTurn {
			t.Errorf("%s: %d, admitted: %t, read: %t, when it was its turn: %t", path, w.Code, admitted, body.read, body.inTurn)
		}
	}
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, home,
		strings.NewReader("contact="+strings.Repeat("a", maxSent))))
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a form of more than %d bytes is answered %d", maxSent, w.Code)
	}
}
