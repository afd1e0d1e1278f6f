// Package manage has the operations by which an account is managed, beside those on gifts: webhooks, tills and the
// people at them, events, the audit trail, exports, codes of stocks that leave, imports, and the clocks of test
// accounts. Package api says at which address each of them is, and what it asks of a key.
package manage

import (
	"context"
	"sync"
	"time"

	"boon.example/internal/base/fair"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// Records is what the operations read beside the set-up. What is not there is refusal.NotFound.
type Records interface {
	// Gifts selects at most Filter.Limit gifts, the newest first.
	Gifts(context.Context, gift.Filter) ([]gift.Gift, error)
	// History gives at most limit entries of a voucher after the one numbered seq, the oldest first.
	History(ctx context.Context, account, voucher guid.ID, seq, limit int) ([]gift.Entry, error)
	// List gives a page of gifts, and Activity one of the changes of all gifts of an account: the newest first, and with
	// gift.MaxRead looked at for either.
	List(context.Context, gift.Filter) (gift.Page, error)
	Activity(context.Context, gift.ChangeFilter) (gift.ChangePage, error)
	// Await gives a page of the events of an account, in the order of the commits that made them. One without events
	// waits for some, as long as wait and the context allow; idle is told before. EventsEnd is the place after the
	// newest.
	Await(ctx context.Context, q event.Query, wait time.Duration, idle func()) (event.Page, error)
	EventsEnd(ctx context.Context, account guid.ID) (merchant.EventPlace, error)
	// ActivationCodes gives those of the cards of a stock that are on hand, by the ids of the cards; none, where they
	// have none.
	ActivationCodes(ctx context.Context, account, order guid.ID) (map[guid.ID]codes.ActivationCode, error)
	// LogExport notes durably, in a log that is chained and in the audit trail, that codes leave.
	LogExport(context.Context, event.TrailEntry) error
	// Trail gives a page of the audit trail of an account, the newest first.
	Trail(context.Context, event.TrailFilter) (event.TrailPage, error)
	// AdvanceClock moves the clock of a test account to where move says, or gives the error of move.
	AdvanceClock(ctx context.Context, account guid.ID,
		move func(merchant.Clock) (merchant.Clock, event.TrailEntry, error)) (merchant.Clock, error)
}

// Config is what the operations need.
type Config struct {
	Records Records
	Cursors Cursors

	// CatchUp does what is due in a test account by its clock, as far as there is time for it, and tells how much is left.
	CatchUp func(ctx context.Context, account *merchant.Account, within time.Duration) (left int, _ error)
	// Sheets prints cards of a stock as a PDF; nil: it cannot.
	Sheets func(ctx context.Context, account *merchant.Account, cards []gift.Gift) ([]byte, error)

	Hooks      Hooks
	HooksAllow merchant.WebhookNetworks
	Imports    ImportConfig
}

// Operations has what the calls of all accounts share.
type Operations struct {
	Config
	changes changeLimiter
	prints  *fair.Places // for stocks that are printed
	pins    *fair.Places // for the hashes of PINs
	imports *importing

	exported sync.Map // of exportOf: when the audit trail was told of it
}

// New makes the operations.
func New(c Config) *Operations {
	return &Operations{Config: c, prints: fair.New(1), pins: fair.New(1), imports: newImporting()}
}

// Call is a call of one of the operations, which are functions of it.
type Call struct {
	*service.Call
	*Operations
}

// decode reads the body of a call.
func decode[T any](c *Call, read func(*wire.Object) T) (request T, problems *wire.Problems) {
	request, problems, _ = service.Decode(c.Call, read)
	return request, problems
}
