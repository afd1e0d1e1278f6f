package api

import (
	"context"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/service"
)

// Records is what the interface reads beside the engine. What is not there is refusal.NotFound. Everything else that
// fails is an internal error.
type Records interface {
	service.Records
	// Gifts selects at most Filter.Limit gifts, the newest first.
	Gifts(context.Context, gift.Filter) ([]gift.Gift, error)
	// List gives a page of gifts, and Activity one of the changes of all gifts of an account: the newest first, and with
	// gift.MaxRead looked at for either.
	List(context.Context, gift.Filter) (gift.Page, error)
	Activity(context.Context, gift.ChangeFilter) (gift.ChangePage, error)
	// Await gives a page of the events of an account, in the order of the commits that made them. One without events
	// waits for some, as long as wait and the context allow; idle is told before. EventsEnd is the place after the
	// newest.
	Await(ctx context.Context, q event.Query, wait time.Duration, idle func()) (event.Page, error)
	EventsEnd(ctx context.Context, account guid.ID) (merchant.EventPlace, error)
	// LogExport notes durably, in a log that is chained and in the audit trail, that codes leave.
	LogExport(context.Context, event.TrailEntry) error
	// AddTrail writes into the audit trail.
	AddTrail(context.Context, event.TrailEntry) error
	// Trail gives a page of the audit trail of an account, the newest first.
	Trail(context.Context, event.TrailFilter) (event.TrailPage, error)
	// AdvanceClock moves the clock of a test account to where move says, or gives the error of move.
	AdvanceClock(ctx context.Context, account guid.ID,
		move func(merchant.Clock) (merchant.Clock, event.TrailEntry, error)) (merchant.Clock, error)
}
