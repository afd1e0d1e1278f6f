package api

import (
	"context"
	"net/http"

	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/refusal"
)

// Admission bounds how many calls are handled at the same time. A call asks when its body has been read, so that a slow
// sender takes no place, and has left when its answer is written.
type Admission interface {
	// Enter waits for the call's turn and reports whether it came; if so, Leave must follow. Who has a deadline waits no
	// longer than it takes. Parties (an account, a system key, the network of guests) take turns.
	Enter(ctx context.Context, party guid.ID, p Priority) bool
	Leave(party guid.ID, p Priority)
}

// Priority says which calls go first when not all can be handled.
type Priority int

// The priorities, from the first to go.
const (
	PriorityRedeem   Priority = iota // redeem and reverse: a customer waits, and has been told what the gift is worth
	PriorityValidate                 // validate: a customer waits
	PriorityWrite                    // sends and changes gifts
	PriorityRead                     // changes nothing: look-ups, pages, documentation
	Priorities                       // how many there are
)

// String is the priority's name in metrics.
func (p Priority) String() string { return [...]string{"redeem", "validate", "write", "read"}[p] }

// errOverloaded refuses a call that was not admitted.
var errOverloaded = refusal.New(refusal.Unavailable,
	"The service is overloaded and has not begun this call. Repeat the "+
		"request in a moment with the same Idempotency-Key.")

// Overloaded answers a request that is not the interface's own and was not admitted.
func (a *API) Overloaded(w http.ResponseWriter, r *http.Request) {
	a.handler(func(*call) (ledger.Answer, error) { return ledger.Answer{}, errOverloaded }).ServeHTTP(w, r)
}

// unbounded admits every call.
type unbounded struct{}

func (unbounded) Enter(context.Context, guid.ID, Priority) bool { return true }
func (unbounded) Leave(guid.ID, Priority)                       {}
