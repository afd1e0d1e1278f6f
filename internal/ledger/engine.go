package ledger

import "context"

// Engine runs commands. See the package comment.
type Engine struct{}

// Do runs one command and gives the answer once it is durable. A refusal that was decided on a gift's state is an answer too.
// An error is what was not decided: a *gift.Error (IDEMPOTENCY_MISMATCH, REQUEST_IN_PROGRESS, UNAVAILABLE, or that of Refused),
// or an internal one. A caller that gives up gets UNAVAILABLE; what it asked for may still happen, once.
func (e *Engine) Do(ctx context.Context, c Call, cmd Command) (Answer, error) { panic("in the making") }

// Running reports whether a call with this key is under way in this process.
func (e *Engine) Running(k RequestKey) bool { panic("in the making") }
