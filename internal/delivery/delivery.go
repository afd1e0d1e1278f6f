// Package delivery brings gifts to their recipients after the commit that made them: e-mail, SMS, and the outbox that stands
// in for both during development.
//
// Each message is a job row that was written in the same transaction as its gift. A worker takes it with a lease, sends
// under a timeout, and writes "done" and what it means for the voucher in one transaction through the engine. A message
// may go out twice when the process dies between the two; its Message-ID is the job's, so that the receiver can tell.
package delivery

import (
	"context"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// Jobs is what the worker needs of the store beside the engine.
type Jobs interface {
	// ClaimJobs leases at most n jobs that are due at now until the lease ends; no other claimant gets them before.
	ClaimJobs(ctx context.Context, now time.Time, lease time.Duration, n int) ([]ledger.Job, error)
	// PostponeJob gives a leased job back, to be due again later, with its Attempts, its Doubts and the gateway's last words, unless
	// its Lease is no longer the job's.
	PostponeJob(ctx context.Context, job ledger.Job, words string) error
	// NextJob is when the next job is due or its lease ends; zero: there is none.
	NextJob(ctx context.Context) (time.Time, error)
	// Gift finds the gift that a job is about.
	Gift(ctx context.Context, account, voucher gift.ID) (gift.Gift, error)
}

// Message is one rendered message, as the outbox keeps it.
type Message struct {
	ID        gift.ID // the job's
	GiftID    gift.ID
	AccountID gift.ID
	Method    gift.Method
	To        string
	ToName    string // e-mail only, as are the next; names and subject are one plain line each, of any characters
	FromName  string
	Subject   string
	Text      string
	HTML      string    // e-mail only; it shows QR as cid:QRContentID
	QR        []byte    // e-mail only: a PNG; nil: none
	Pictures  []Picture // e-mail only: what else its HTML shows
	At        time.Time
}

// QRContentID is the Content-ID under which a mail's HTML shows its QR code.
const QRContentID = "qr@gift"

// Outbox keeps messages instead of sending them. What it keeps holds codes and tokens: it must be sealed at rest.
type Outbox interface {
	// KeepMessage stores a message; storing the same ID again changes nothing.
	KeepMessage(context.Context, Message) error
	// Messages gives at most limit messages, the newest first: those that are older than the one named; zero: all.
	Messages(ctx context.Context, before gift.ID, limit int) ([]Message, error)
}
