// Package gifts has the operations on gifts, but for those that only read: to send, redeem, hold and reload them, to
// take that back, and to care for them. Package api says at which address each of them is, and what it asks of a key.
//
// A request becomes a typed value, with all that is wrong with it collected (package wire). The rules are those of
// package gift, and what changes a balance or a status goes through the engine of package ledger.
package gifts

import (
	"context"
	"sync"

	"boon.example/internal/base/fair"
	"boon.example/internal/face/api/payload"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/service"
	"boon.example/internal/ticket"
)

// Records is what the operations read beside the set-up. What is not there is refusal.NotFound.
type Records interface {
	service.Records
	// Gifts selects at most Filter.Limit gifts, the newest first.
	Gifts(context.Context, gift.Filter) ([]gift.Gift, error)
}

// Config is what the operations need.
type Config struct {
	Records Records

	Email bool // whether e-mail can be delivered, by a gateway or into the outbox
	SMS   bool // whether text messages can
	// Printable tells whether all that can be seen of a text can be printed; nil: everything can.
	Printable func(text string) bool
}

// Operations has what the calls of all accounts share.
type Operations struct {
	Config
	unanswered fair.Share // for calls of test accounts that are kept waiting on purpose
	tickets    sync.Pool  // of *ticket.Memory, of validations: what the engine is asked may look at its ticket for longer
}

// New makes the operations.
func New(c Config) *Operations {
	o := &Operations{Config: c}
	o.tickets.New = func() any { return new(ticket.Memory) }
	return o
}

// Call is a call of one of the operations, which are functions of it.
type Call struct {
	*service.Call
	*Operations
	Operation operation.Name // under which it keeps idempotency records; "": it keeps none
	Receipt   bool           // its answer is to have a receipt
	unread    bool           // its body is no JSON object
}

// Handler does what a call asks for.
type Handler func(*Call) (ledger.Answer, error)

// LookUp is a view of gifts that are looked up: their secrets are for keys only that may see codes.
func LookUp(c *service.Call) payload.View {
	return payload.View{Account: c.Account, Now: c.Now, Law: c.CashOutLaw(), Pages: c.PublicURL(),
		Masked: !c.Caller.May(merchant.MaySeeCodes)}
}
