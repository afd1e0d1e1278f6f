package delivery

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"boon.example/internal/card"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// Gateway hands a gift's message over to whoever carries it: a mail server, an SMS provider, the outbox.
type Gateway interface {
	// Send hands over the message of a job. It returns nil when the message was accepted, and soon after ctx ends. The same job
	// may be sent twice; its ID must travel with the message, so that the receiver can tell. An error that is a *Refusal is for
	// good; any other is for now, and the job will be tried again. Send is called from several goroutines.
	Send(ctx context.Context, g gift.Gift, job ledger.Job) error
}

// Refusal is a gateway's answer that another attempt cannot change: no such address, no such number.
type Refusal struct {
	Words string // the gateway's own
}

// Error gives the gateway's words.
func (r *Refusal) Error() string { return r.Words }

// panicked is what a gateway that panicked is taken to have said.
type panicked struct {
	value any
	stack []byte
}

func (*panicked) Error() string { return "The message could not be made because of an internal error." }

// maxWords bounds what is kept of a gateway's words.
const maxWords = 500

// words is what goes into the history and the log of a failed attempt: one line, bounded, without the gift's secrets and its
// recipient's address, which gateways like to repeat.
func words(err error, g *gift.Gift) string {
	said := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		said = "The gateway did not answer in time."
	}
	hidden := []string{
		g.Card.Code.Reveal(), g.Card.Code.String(), g.Card.Code.Grouped(), g.Card.Code.String(), g.Card.Token.Reveal(), g.Card.Token.String(),
		g.Card.Contact, "the recipient",
	}
	for i := 0; i < len(hidden); i += 2 {
		if hidden[i] != "" {
			said = strings.ReplaceAll(said, hidden[i], hidden[i+1])
		}
	}
	return card.Clip(card.Line(said), maxWords)
}

// OutboxGateway renders messages and keeps them in an outbox instead of sending them.
type OutboxGateway struct {
	Outbox    Outbox
	PublicURL string // the base of the gift pages' addresses
	Directory func() *gift.Directory
}

// Send keeps the message, under the job's ID, so that a repeat is kept once.
func (o *OutboxGateway) Send(ctx context.Context, g gift.Gift, job ledger.Job) error {
	account := o.Directory().Accounts[g.AccountID]
	if account == nil {
		return fmt.Errorf("account %s of gift %s is not in the set-up", g.AccountID, g.ID)
	}
	m, err := Render(&g, account, o.PublicURL, job.ID)
	if err != nil {
		return err
	}
	return o.Outbox.KeepMessage(ctx, m)
}
