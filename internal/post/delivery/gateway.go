package delivery

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"boon.example/internal/base/fair"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
	"boon.example/internal/post/message"
	"boon.example/internal/post/print"
)

// Gateway hands a gift's message over to whoever carries it: a mail server, an SMS provider, the outbox.
type Gateway interface {
	// Send hands over the message of a job about a gift, or about several that go to the same address where it is a
	// ledger.OrderJob. It returns nil when the message was accepted, and soon after ctx ends. The
	// same job may be sent twice; its ID must travel with the message, so that the receiver can tell. An error that is a
	// *Refusal is for good, *Doubt means an unknown outcome, *Paused that nothing was tried; any other is for now, and the
	// job will be tried again. Send is called from several goroutines.
	Send(ctx context.Context, gifts []gift.Gift, job ledger.Job) error
}

// Carrier takes rendered messages to the world. Its errors are those of a Gateway.
type Carrier interface {
	Carry(context.Context, message.Message) error
}

// Paused tells that the gateway was not asked, because it has not worked lately. The attempt does not count.
type Paused struct {
	Words string        // of the last failure
	After time.Duration // when it may be asked again
	First bool          // this message is the one that asks then; the others may come later
}

func (p *Paused) Error() string { return "The gateway is not being asked for a while: " + p.Words }

// panicked is the error of a gateway that panicked.
type panicked struct {
	value any
	stack []byte
}

func (*panicked) Error() string { return "The message could not be made because of an internal error." }

// maxWords bounds what is kept of a gateway's words.
const maxWords = 500

// words is what goes into the history and the log of a failed attempt: one line, bounded, without the gift's secrets
// and its recipient's address, which gateways like to repeat.
func words(err error, g *gift.Gift) string {
	said := message.Reason(err)
	hidden := []string{
		g.Card.Code.Reveal(), g.Card.Code.String(), g.Card.Code.Grouped(), g.Card.Code.String(), g.Card.Token.Reveal(),
		g.Card.Token.String(),
	}
	for i := 0; i < len(hidden); i += 2 {
		if hidden[i] != "" {
			said = strings.ReplaceAll(said, hidden[i], hidden[i+1])
		}
	}
	return card.Clip(card.Line(withoutContact(withoutContact(said, g.Card.Contact), g.Card.Address())), maxWords)
}

// withoutContact takes a contact out of a text: in whatever letter case, and as mail to it travels.
func withoutContact(said, contact string) string {
	if contact == "" {
		return said
	}
	forms := regexp.QuoteMeta(contact)
	if at := strings.LastIndexByte(contact, '@') + 1; at > 0 {
		if ascii, err := idna.Lookup.ToASCII(contact[at:]); err == nil {
			forms += "|" + regexp.QuoteMeta(contact[:at]+ascii)
		}
	}
	return regexp.MustCompile("(?i)"+forms).ReplaceAllLiteralString(said, "the recipient")
}

// Gateways renders messages and gives each to the carrier of its method.
type Gateways struct {
	Email, SMS Carrier // nil: there is none
	Test       Carrier // of test accounts' messages, by whatever method
	PublicURL  string  // the base of the gift pages' addresses
	Directory  func() *merchant.Directory
	// Asset finds a picture of a design; refusal.NotFound when there is none. nil: mails have no pictures.
	Asset func(context.Context, merchant.AssetHash) (merchant.Asset, error)
	// Entry finds an entry of an account's histories; refusal.NotFound when there is none. nil: notices tell nothing of
	// what was used.
	Entry func(ctx context.Context, account, entry guid.ID) (gift.Entry, error)
	// Gifts selects gifts: those of an order, for an outbox that shows what was attached to its message.
	Gifts func(context.Context, gift.Filter) ([]gift.Gift, error)
	// Fonts print the cards of orders, and Printer shares out who prints at a time; nil: no order goes to its buyer.
	Fonts   *print.Fonts
	Printer *fair.Places

	cache pictureCache
}

// Send implements Gateway.
func (s *Gateways) Send(ctx context.Context, gifts []gift.Gift, job ledger.Job) error {
	g := gifts[0]
	account := s.Directory().Accounts[g.AccountID]
	if account == nil {
		return fmt.Errorf("account %s of gift %s is not in the set-up", g.AccountID, g.ID)
	}
	carrier := s.Email
	switch {
	case account.Test:
		carrier = s.Test
	case g.Card.Method == contact.SMS:
		carrier = s.SMS
	}
	if carrier == nil {
		return fmt.Errorf("This service has no gateway for %s at present.", g.Card.Method)
	}
	if b, ok := carrier.(*Breaker); ok {
		if err := b.mustWait(time.Now()); err != nil {
			return err
		}
	}
	var pictures Pictures
	if g.Card.Method == contact.Email {
		var err error
		view := card.New(&g, account, job.Now())
		if pictures, err = s.pictures(ctx, &view); err != nil {
			return err
		}
	}
	m, err := s.render(ctx, gifts, account, job, pictures)
	if err != nil {
		return err
	}
	if account.Test {
		return simulate(ctx, carrier, m, job)
	}
	return carrier.Carry(ctx, m)
}

// render writes the message of a job.
func (s *Gateways) render(ctx context.Context, gifts []gift.Gift, a *merchant.Account, job ledger.Job,
	p Pictures) (message.Message, error) {
	g := &gifts[0]
	switch job.Kind {
	case ledger.OrderJob:
		return s.renderOrder(ctx, gifts, a, job, p)
	case ledger.GiftJob:
		return Render(g, a, s.PublicURL, job.ID, p, job.Now())
	case ledger.RedirectedJob:
		return RenderRedirected(g, a, job.ID, p, job.Now())
	case ledger.ArrivedJob, ledger.UsedJob:
		return RenderForBuyer(job, g, a, p)
	}
	var used []gift.Entry
	if s.Entry != nil {
		e, err := s.Entry(ctx, job.AccountID, job.ID)
		if err != nil {
			return message.Message{}, err
		}
		used = append(used, e)
	}
	return RenderBalance(g, a, used, s.PublicURL, job.ID, p, job.Now())
}

// OutboxCarrier keeps messages in an outbox instead of sending them; a repeat is kept once.
type OutboxCarrier struct{ Outbox }

// Carry implements Carrier. Of pictures it keeps which they are, not their bytes, which are the same in every message
// of a design; so of files, whose bytes are many.
func (o OutboxCarrier) Carry(ctx context.Context, m message.Message) error {
	m.Pictures, m.Attachments = slices.Clone(m.Pictures), slices.Clone(m.Attachments)
	for i := range m.Pictures {
		m.Pictures[i].Bytes = nil
	}
	for i := range m.Attachments {
		m.Attachments[i].Bytes = nil
	}
	return o.KeepMessage(ctx, m)
}
