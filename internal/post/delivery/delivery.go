// Package delivery brings gifts to their recipients after the commit that made them: e-mail, SMS, and the outbox that
// stands in for both during development.
//
// Each message is a job row that was written in the same transaction as its gift. A worker takes it with a lease, sends
// under a timeout, and writes "done" and what it means for the voucher in one transaction through the engine. A message
// may go out twice when the process dies between the two; its Message-ID is the job's, so that the receiver can tell.
package delivery

import (
	"context"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/post/message"
)

// Jobs is what the worker needs of the store beside the engine.
type Jobs interface {
	// ClaimJobs leases at most n jobs that are due at now until the lease ends; no other claimant gets them before.
	ClaimJobs(ctx context.Context, now time.Time, lease time.Duration, n int) ([]ledger.Job, error)
	// PostponeJob gives a leased job back, to be due again later, with its Attempts, its Doubts and the gateway's last
	// words; or ledger.ErrTakenBack.
	PostponeJob(ctx context.Context, job ledger.Job, words string) error
	// NextJob is when the next job is due or its lease ends; zero: there is none.
	NextJob(ctx context.Context) (time.Time, error)
	// GiftOf gives the gift that a leased job is about, with the address that it has now; or ledger.ErrTakenBack, when the
	// job is not the caller's any more: the gift was sent again another way, or the lease has ended.
	GiftOf(ctx context.Context, job ledger.Job) (gift.Gift, error)
	// OrderOf gives the gifts that a leased ledger.OrderJob is to bring; accepted tells that its message was accepted
	// before. Or it is ledger.ErrTakenBack.
	OrderOf(ctx context.Context, job ledger.Job) (gifts []gift.Gift, accepted bool, err error)
}

// Outbox keeps messages instead of sending them. What it keeps holds codes and tokens: it must be sealed at rest.
type Outbox interface {
	// KeepMessage stores a message; storing the same ID again changes nothing.
	KeepMessage(context.Context, message.Message) error
	// Messages gives at most limit messages, the newest first: those that are older than the one named; zero: all.
	Messages(ctx context.Context, before guid.ID, limit int) ([]message.Message, error)
}
