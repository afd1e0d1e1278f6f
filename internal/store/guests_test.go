package store

import (
	"errors"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guest"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/store/erase"
)

// linkAt keeps a link that a contact of an account asks for.
func linkAt(t *testing.T, s *Store, account guid.ID, to string, at time.Time) *guest.Link {
	t.Helper()
	l := guest.Ask(&merchant.Account{ID: account}, contact.Email, to, merchant.English, at)
	must(t, s.AskForGuestLink(t.Context(), l))
	return l
}

// testGuestsComeInOnce: a link begins one session, in its account and in its time, and looking at it uses nothing up.
func testGuestsComeInOnce(t *testing.T, open opener) {
	s, again := open(t)
	account, other := newID(), newID()
	l := linkAt(t, s, account, "ana@example.com", noon)
	s = again()
	for range 2 {
		is, err := s.GuestLink(t.Context(), account, l.Token, noon)
		must(t, err)
		diff(t, is, *l)
	}
	notFound := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, refusal.NotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := s.GuestLink(t.Context(), other, l.Token, noon)
	notFound("a link of another account", err)
	_, err = s.GuestLink(t.Context(), account, l.Token, noon.Add(guest.LinkFor))
	notFound("a link that is over", err)
	notFound("a link that is over signs in", s.SignInGuest(t.Context(), l, "late", noon.Add(guest.LinkFor)))
	first, second := guest.NewToken(), guest.NewToken()
	must(t, s.SignInGuest(t.Context(), l, first, noon))
	notFound("a link that was used signs in", s.SignInGuest(t.Context(), l, second, noon))
	_, err = s.GuestLink(t.Context(), account, l.Token, noon)
	notFound("a link that was used", err)
	in, err := s.GuestSession(t.Context(), account, first, noon)
	must(t, err)
	diff(t, in, guest.Session{AccountID: account, Method: contact.Email, Contact: "ana@example.com", At: noon})
	for what, of := range map[string]struct {
		account guid.ID
		token   string
		at      time.Time
	}{"of another account": {other, first, noon}, "with the token of a link": {account, l.Token, noon},
		"that never began": {account, second, noon}, "that is over": {account, first, noon.Add(guest.SessionFor)}} {
		_, err := s.GuestSession(t.Context(), of.account, of.token, of.at)
		notFound("a session "+what, err)
	}
	l = linkAt(t, s, account, "ana@example.com", noon)
	must(t, s.SignInGuest(t.Context(), l, second, noon))
	unused := linkAt(t, s, account, "ANA@example.com", noon)
	must(t, s.SignOutGuest(t.Context(), &in, first, false))
	_, err = s.GuestSession(t.Context(), account, first, noon)
	notFound("a session that was ended", err)
	_, err = s.GuestSession(t.Context(), account, second, noon)
	must(t, err)
	must(t, s.SignOutGuest(t.Context(), &in, first, true))
	_, err = s.GuestSession(t.Context(), account, second, noon)
	notFound("a session that was ended everywhere", err)
	_, err = s.GuestLink(t.Context(), account, unused.Token, noon)
	notFound("a link that was ended everywhere", err)
}

// testGuestLinksAreCounted: links wait in turn, three of a contact may be sent within a day, and no more than
// guest.MaxWaiting wait.
func testGuestLinksAreCounted(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	var links []*guest.Link
	for n := range guest.LinksADay + 1 {
		links = append(links, linkAt(t, s, account, "ana@example.com", noon.Add(time.Duration(n)*time.Second)))
	}
	elsewhere := linkAt(t, s, newID(), "ana@example.com", noon.Add(time.Hour))
	tomorrow := linkAt(t, s, account, "ana@example.com", noon.Add(guest.CountedFor+time.Minute))
	now := noon.Add(2 * guest.CountedFor)
	for n, want := range append(links, elsewhere, tomorrow) {
		got, is, err := s.ClaimGuestLink(t.Context(), now, now.Add(time.Minute))
		must(t, err)
		if !is || got.Token != want.Token {
			t.Fatalf("link %d is %+v, want %+v", n, got, want)
		}
		may, err := s.MaySendGuestLink(t.Context(), &got)
		must(t, err)
		if may != (n != guest.LinksADay) {
			t.Errorf("link %d may be sent: %t", n, may)
		}
		must(t, s.SentGuestLink(t.Context(), &got))
	}
	if _, is, err := s.ClaimGuestLink(t.Context(), now, now); is || err != nil {
		t.Errorf("a link that was sent is due: %v", err)
	}
	l := linkAt(t, s, account, "leo@example.com", noon)
	l.Attempts = 1
	must(t, s.PostponeGuestLink(t.Context(), l, now.Add(time.Hour)))
	if _, is, err := s.ClaimGuestLink(t.Context(), now, now); is || err != nil {
		t.Errorf("a link that was postponed is due: %v", err)
	}
	got, _, err := s.ClaimGuestLink(t.Context(), now.Add(time.Hour), now.Add(2*time.Hour))
	must(t, err)
	diff(t, got, *l)
	must(t, s.ForgetGuestLink(t.Context(), l))
	if n, err := s.CountGuestLinks(t.Context()); n != 0 || err != nil {
		t.Errorf("%d links wait, %v", n, err)
	}
	for n := range guest.MaxWaiting + 1 {
		l := guest.Ask(&merchant.Account{ID: account}, contact.Email, "zoe@example.com", merchant.English, noon)
		err := s.AskForGuestLink(t.Context(), l)
		if last := n == guest.MaxWaiting; last != errors.Is(err, refusal.RateLimited) || !last && err != nil {
			t.Fatalf("link %d that waits: %v", n+1, err)
		}
	}
}

// testGuestsAreForgotten: links go after a day and sessions when they are over; what is of one person is erased, and
// nothing else.
func testGuestsAreForgotten(t *testing.T, open opener) {
	s, _ := open(t)
	a := &merchant.Account{ID: newID()}
	ana, leo := linkAt(t, s, a.ID, "ana@example.com", noon), linkAt(t, s, a.ID, "leo@example.com", noon)
	must(t, s.SignInGuest(t.Context(), ana, "of ana", noon))
	must(t, s.SignInGuest(t.Context(), leo, "of leo", noon))
	works := func(token string) bool {
		_, err := s.GuestSession(t.Context(), a.ID, token, noon)
		if err != nil && !errors.Is(err, refusal.NotFound) {
			t.Error(err)
		}
		return err == nil
	}
	ask := erase.Request{Account: a, Contact: "Ana@example.com", DryRun: true}
	for _, ask.DryRun = range []bool{true, false} {
		if n, err := s.Eraser.Guests(t.Context(), ask); n != 2 || err != nil {
			t.Errorf("%d rows of a guest, %v", n, err)
		}
		if works("of ana") != ask.DryRun || !works("of leo") {
			t.Errorf("after erasing (rehearsed: %t) the sessions are wrong", ask.DryRun)
		}
	}
	must(t, s.ForgetGuests(t.Context(), noon.Add(guest.CountedFor)))
	if n, err := s.CountGuestLinks(t.Context()); n != 1 || err != nil {
		t.Errorf("%d links after a day, %v", n, err)
	}
	must(t, s.ForgetGuests(t.Context(), noon.Add(guest.CountedFor+time.Microsecond)))
	if n, err := s.CountGuestLinks(t.Context()); n != 0 || err != nil || !works("of leo") {
		t.Errorf("%d links after more than a day, %v", n, err)
	}
	must(t, s.ForgetGuests(t.Context(), noon.Add(guest.SessionFor+time.Microsecond)))
	if works("of leo") {
		t.Error("a session that is over is kept")
	}
}

// testGiftsOfBuyers: gifts are found by the e-mail address of who paid, the newest first, whatever its letters' case.
// Beyond A to Z the case counts, in both databases alike.
func testGiftsOfBuyers(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	var c ledger.Changes
	var want []guid.ID
	for n, buyer := range []string{"Ann@Example.COM", "leo@example.com", "ann@example.com", "",
		"\u00c9MILE@example.com"} {
		g, e := newGift(account)
		if g.Card.Purchase.EmailAddress = buyer; n == 0 || n == 2 {
			want = append([]guid.ID{g.ID}, want...)
		}
		c.Gifts, c.Entries = append(c.Gifts, g), append(c.Entries, e)
	}
	save(t, s, c)
	found := func(f gift.Filter) (ids []guid.ID) {
		f.Limit = guest.PageSize
		page, err := s.GuestGifts(t.Context(), f)
		must(t, err)
		for _, g := range page.Gifts {
			ids = append(ids, g.ID)
		}
		return ids
	}
	diff(t, found(gift.Filter{AccountID: account, Buyer: "ann@example.com"}), want)
	diff(t, found(gift.Filter{AccountID: account, Buyer: "ann@example.com", Reference: "R-1"}), want)
	diff(t, found(gift.Filter{AccountID: account, Buyer: "ann@example.com", Before: want[0]}), want[1:])
	for _, none := range []gift.Filter{{AccountID: newID(), Buyer: "ann@example.com"},
		{AccountID: account, Buyer: "\u00e9mile@example.com"},
		{AccountID: account, Buyer: "zoe@example.com", Reference: "R-1"}} {
		if ids := found(none); len(ids) > 0 {
			t.Errorf("%+v finds %v", none, ids)
		}
	}
}
