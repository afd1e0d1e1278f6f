package api

import (
	"context"

	"boon.example/internal/event"
	"boon.example/internal/face/api/manage"
	"boon.example/internal/face/api/reports"
	"boon.example/internal/gift"
	"boon.example/internal/service"
)

// Records is what the interface reads beside the engine. What is not there is refusal.NotFound. Everything else that
// fails is an internal error.
type Records interface {
	service.Records
	manage.Records
	reports.Records
	// List gives a page of gifts, and Activity one of the changes of all gifts of an account: the newest first, and with
	// gift.MaxRead looked at for either.
	List(context.Context, gift.Filter) (gift.Page, error)
	Activity(context.Context, gift.ChangeFilter) (gift.ChangePage, error)
	// AddTrail writes into the audit trail.
	AddTrail(context.Context, event.TrailEntry) error
}
