// Package notice tells members of the staff by e-mail that somebody signed in under their name on a new device.
//
// The mail is a row that was written in the transaction in which the session began: no sign-in waits for a mail server,
// and no mail is lost with a process. A mail may be sent twice, when a process ends between the mail server's answer
// and its own note; its Message-ID is then the same.
package notice

import (
	"context"
	"embed"
	"errors"
	"log/slog"
	"strings"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
	"boon.example/internal/post/letter"
	"boon.example/internal/post/locale"
	"boon.example/internal/post/mail"
	"boon.example/internal/post/message"
	"boon.example/internal/staff"
)

// Every is the time between two looks for mails.
const Every = 3 * time.Second

// Store keeps the mails that are still to be sent.
type Store interface {
	// ClaimNotice leases the mail that is due for the longest time: nobody else gets it before until.
	ClaimNotice(ctx context.Context, now, until time.Time) (n staff.Notice, is bool, err error)
	// PostponeNotice gives a mail back, to be due later, with the number of its attempts.
	PostponeNotice(ctx context.Context, n staff.Notice, due time.Time) error
	// ForgetNotice deletes a mail that was sent, or is given up.
	ForgetNotice(ctx context.Context, id guid.ID) error
}

// Carrier takes a mail to the world. Its errors are those of package message.
type Carrier interface {
	Carry(context.Context, message.Message) error
}

// Sender sends the mails.
type Sender struct {
	Store     Store
	Email     Carrier // nil: there is none
	Test      Carrier // of test accounts
	Directory func() *merchant.Directory
	PublicURL string
	RetryFor  time.Duration // how long a mail is tried
	Log       *slog.Logger
}

// How long a mail waits after an attempt that failed: each time twice as long.
const (
	firstPause   = 30 * time.Second
	longestPause = time.Hour
)

// Batch sends one mail that is due. The next one waits, so that a mail server that stalls is asked by one at a time.
func (s *Sender) Batch(ctx context.Context) (done int, more bool, err error) {
	now := time.Now()
	n, is, err := s.Store.ClaimNotice(ctx, now, now.Add(2*mail.SendTimeout))
	if err != nil || !is {
		return 0, false, err
	}
	if err := s.send(ctx, &n); err != nil {
		return 0, true, s.later(ctx, n, err)
	}
	return 1, true, s.Store.ForgetNotice(ctx, n.ID)
}

// errNobody means that the mail has no way any more.
var errNobody = &message.Refusal{Words: "there is no account or no mail server for it"}

// send makes one attempt.
func (s *Sender) send(ctx context.Context, n *staff.Notice) error {
	a := s.Directory().Accounts[n.AccountID]
	if a == nil {
		return errNobody
	}
	carrier := s.Email
	if a.Test {
		carrier = s.Test
	}
	if carrier == nil {
		return errNobody
	}
	m, err := Render(n, a, s.PublicURL)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, mail.SendTimeout)
	defer cancel()
	return carrier.Carry(ctx, m)
}

// later has a mail be tried again, or gives it up. A mail server likes to repeat the address, so that its words stay
// out of the log.
func (s *Sender) later(ctx context.Context, n staff.Notice, failed error) error {
	log := s.Log.With("notice", n.ID.String(), "account", n.AccountID.String())
	if _, refused := errors.AsType[*message.Refusal](failed); refused {
		log.Warn("a mail about a sign-in was refused for good")
		return s.Store.ForgetNotice(ctx, n.ID)
	}
	now := time.Now()
	if now.Sub(n.At) > s.RetryFor {
		log.Warn("a mail about a sign-in was given up: no mail server took it in time")
		return s.Store.ForgetNotice(ctx, n.ID)
	}
	pause := min(firstPause<<min(n.Attempts, 10), longestPause)
	n.Attempts++
	log.Warn("a mail about a sign-in was not taken, and is tried again", "again_in", pause.String())
	return s.Store.PostponeNotice(ctx, n, now.Add(pause))
}

//go:embed templates
var files embed.FS

var words = letter.New(files, "device")

// device is what the templates see.
type device struct {
	*locale.Locale

	Subject, Name, Merchant, When, Device, Address, URL string
}

// Render writes a mail in the language of the member.
func Render(n *staff.Notice, a *merchant.Account, publicURL string) (message.Message, error) {
	l := locale.For(n.Language).In(a.Country)
	shown := device{Locale: l, Name: card.Line(n.Name), Merchant: card.Line(card.Merchant(a)), Address: n.Address,
		Device: n.Device, When: l.Moment(n.At.In(a.Zone)),
		URL: strings.TrimRight(publicURL, "/") + "/console/" + a.ID.String() + "/you"}
	if shown.Device == "" {
		shown.Device = l.Text("console.notice.unknown")
	}
	shown.Subject = letter.Subject(l.Text("console.notice.subject", shown.Merchant))
	m := message.Message{ID: n.ID, AccountID: n.AccountID, Method: contact.Email, Language: l.Language(), To: n.Email,
		ToName: shown.Name, FromName: shown.Merchant, Subject: shown.Subject, At: n.At}
	return m, words.Write(&m, shown)
}
