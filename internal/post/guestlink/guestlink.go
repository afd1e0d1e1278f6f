// Package guestlink sends people who ask for their gifts a link to them, by e-mail or SMS.
//
// Whoever asks is answered before anybody looks whether the contact has gifts: so the answer, and the time that it
// takes, tell nothing. What was asked for is a row. Here each row is judged: a link of a contact that has gifts is
// sent, any other is deleted. A link may be sent twice, when a process ends between the gateway's answer and its own
// note.
package guestlink

import (
	"context"
	"embed"
	"errors"
	"log/slog"
	"strings"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guest"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
	"boon.example/internal/post/letter"
	"boon.example/internal/post/locale"
	"boon.example/internal/post/mail"
	"boon.example/internal/post/message"
)

// Every is the time between two looks for links: somebody waits for theirs.
const Every = time.Second

// Store keeps the links that are still to be judged or sent, and finds gifts.
type Store interface {
	// ClaimGuestLink leases the link that is due for the longest time: nobody else gets it before until.
	ClaimGuestLink(ctx context.Context, now, until time.Time) (l guest.Link, is bool, err error)
	// MaySendGuestLink reports whether a link is one of the first guest.LinksADay of its contact.
	MaySendGuestLink(context.Context, *guest.Link) (bool, error)
	// SentGuestLink notes that a link was sent.
	SentGuestLink(context.Context, *guest.Link) error
	// PostponeGuestLink gives a link back, to be sent later.
	PostponeGuestLink(ctx context.Context, l *guest.Link, due time.Time) error
	// ForgetGuestLink deletes a link that is not sent.
	ForgetGuestLink(context.Context, *guest.Link) error
	// GuestGifts gives a page of gifts, the newest first.
	GuestGifts(context.Context, gift.Filter) (gift.Page, error)
}

// Carrier takes a message to the world. Its errors are those of package message.
type Carrier interface {
	Carry(context.Context, message.Message) error
}

// Sender sends the links.
type Sender struct {
	Store      Store
	Email, SMS Carrier // nil: there is none
	Test       Carrier // of test accounts
	Directory  func() *merchant.Directory
	PublicURL  string
	// Allow counts a message to a contact, and reports whether it is within the daily limits of its account.
	Allow func(ctx context.Context, account guid.ID, m contact.Method, to string) (bool, error)
	Log   *slog.Logger
}

// firstPause is how long a link pauses after an attempt that failed: each time twice as long.
const firstPause = 10 * time.Second

// Batch judges one link that is due, and sends it.
func (s *Sender) Batch(ctx context.Context) (done int, more bool, err error) {
	now := time.Now()
	l, is, err := s.Store.ClaimGuestLink(ctx, now, now.Add(2*mail.SendTimeout))
	if err != nil || !is {
		return 0, false, err
	}
	carrier, m, err := s.judge(ctx, &l, now)
	if err != nil {
		return 0, true, err
	}
	if carrier == nil {
		return 1, true, s.Store.ForgetGuestLink(ctx, &l)
	}
	sending, cancel := context.WithTimeout(ctx, mail.SendTimeout)
	defer cancel()
	if err := carrier.Carry(sending, m); err != nil {
		return 0, true, s.later(ctx, &l, err)
	}
	return 1, true, s.Store.SentGuestLink(ctx, &l)
}

// judge says by whom a link is sent; nil: it is not. Nothing that it logs names the contact.
func (s *Sender) judge(ctx context.Context, l *guest.Link, now time.Time) (c Carrier, m message.Message, err error) {
	a := s.Directory().Accounts[l.AccountID]
	if a == nil || !l.Works(now) {
		return nil, m, nil
	}
	is, err := s.known(ctx, l)
	if err != nil || !is {
		return nil, m, err
	}
	log := s.Log.With("link", l.ID.String(), "account", a.ID.String())
	may, err := s.Store.MaySendGuestLink(ctx, l)
	if err != nil {
		return nil, m, err
	}
	if !may {
		log.Info("a link to somebody's gifts is not sent: the contact was sent as many as it gets a day")
		return nil, m, nil
	}
	if c = s.carrier(a, l.Method); c == nil {
		log.Warn("a link to somebody's gifts is not sent: there is no gateway", "method", l.Method.String())
		return nil, m, nil
	}
	if l.Attempts == 0 {
		within, err := s.Allow(ctx, a.ID, l.Method, l.Contact)
		if err != nil {
			return nil, m, err
		}
		if !within {
			log.Warn("a link to somebody's gifts is not sent: the account has sent as many messages as it may a day")
			return nil, m, nil
		}
	}
	m, err = Render(l, a, s.PublicURL)
	return c, m, err
}

// carrier is how messages of an account leave; nil: they do not.
func (s *Sender) carrier(a *merchant.Account, m contact.Method) Carrier {
	switch {
	case a.Test:
		return s.Test
	case m == contact.SMS:
		return s.SMS
	}
	return s.Email
}

// known reports whether a contact has gifts, or bought some.
func (s *Sender) known(ctx context.Context, l *guest.Link) (bool, error) {
	of := guest.Session{AccountID: l.AccountID, Method: l.Method, Contact: l.Contact}
	for _, list := range []guest.List{guest.Received, guest.Bought} {
		var before guid.ID
		for more := true; more; more = !before.IsZero() {
			page, err := s.Store.GuestGifts(ctx, of.Filter(list, before))
			if err != nil {
				return false, err
			}
			for i := range page.Gifts {
				if of.Has(list, &page.Gifts[i]) {
					return true, nil
				}
			}
			before = page.Next
		}
	}
	return false, nil
}

// later has a link be sent again, or gives it up. A gateway likes to repeat the contact, so that its words stay out of
// the log.
func (s *Sender) later(ctx context.Context, l *guest.Link, failed error) error {
	log := s.Log.With("link", l.ID.String(), "account", l.AccountID.String())
	if _, refused := errors.AsType[*message.Refusal](failed); refused {
		log.Warn("a link to somebody's gifts was refused for good")
		return s.Store.ForgetGuestLink(ctx, l)
	}
	now := time.Now()
	next := now.Add(firstPause << min(l.Attempts, 10))
	if !l.Works(next) {
		log.Warn("a link to somebody's gifts was given up: no gateway took it in time")
		return s.Store.ForgetGuestLink(ctx, l)
	}
	l.Attempts++
	log.Warn("a link to somebody's gifts was not taken, and is tried again", "again_in", next.Sub(now).String())
	return s.Store.PostponeGuestLink(ctx, l, next)
}

//go:embed templates
var files embed.FS

var words = letter.New(files, "link")

// shown is what the templates see.
type shown struct {
	*locale.Locale

	Subject, Merchant, URL string
}

// maxName is the most characters of the name of a merchant in an SMS.
const maxName = 30

// Render writes the message that brings a link, in the language in which it was asked for.
func Render(l *guest.Link, a *merchant.Account, publicURL string) (message.Message, error) {
	in := locale.For(l.Language)
	s := shown{Locale: in, Merchant: card.Line(card.Merchant(a)), URL: URL(publicURL, l)}
	m := message.Message{ID: l.ID, AccountID: a.ID, Method: l.Method, Language: in.Language(), To: l.Contact, At: l.At}
	if l.Method == contact.SMS {
		m.Text = in.Text("my.sms", card.Clip(s.Merchant, maxName)) + " " + s.URL
		return m, nil
	}
	s.Subject = letter.Subject(in.Text("my.title", s.Merchant))
	m.FromName, m.Subject = s.Merchant, s.Subject
	return m, words.Write(&m, s)
}

// URL is the address of a link.
func URL(publicURL string, l *guest.Link) string {
	return strings.TrimRight(publicURL, "/") + guest.Path + "/" + l.AccountID.String() + guest.LinkPath + "/" + l.Token
}
