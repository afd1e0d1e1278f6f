package api

import (
	"context"

	"boon.example/internal/event"
	"boon.example/internal/face/api/manage"
	"boon.example/internal/face/api/reports"
	"boon.example/internal/service"
)

// Records is what the interface reads beside the engine. What is not there is refusal.NotFound. Everything else that
// fails is an internal error.
type Records interface {
	service.Records
	manage.Records
	reports.Records
	// AddTrail writes into the audit trail.
	AddTrail(context.Context, event.TrailEntry) error
}
