package event

import (
	"slices"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// WebhookState is how far an endpoint has come.
type WebhookState struct {
	AccountID, WebhookID guid.ID

	After        merchant.EventPlace // what comes before it was delivered, given up, is not wanted, or is aside
	Aside        []WebhookAside
	FailingSince time.Time // since when there was no success; zero: the last attempt was one

	Replay      guid.ID // the one that was begun last
	ReplayAfter merchant.EventPlace
	Replayed    bool // it is done
}

// WebhookAside is an event that failed and is to be tried again.
type WebhookAside struct {
	Event    guid.ID
	Type     gift.EventType
	Before   merchant.EventPlace // it is the next one after that, or one of the next, of its type
	Attempts int
	Due      time.Time
}

// Clone copies a state.
func (s WebhookState) Clone() WebhookState {
	s.Aside = slices.Clone(s.Aside)
	return s
}

// WebhookAttempt is one call of an endpoint.
type WebhookAttempt struct {
	ID, AccountID, WebhookID guid.ID

	Event  guid.ID
	Type   gift.EventType
	At     time.Time
	Took   time.Duration
	Status int    // of the answer; 0: there was none
	Words  string // why there was none
	Answer []byte // its beginning
}

// WebhookAttempts selects the attempts of an endpoint, the newest first.
type WebhookAttempts struct {
	AccountID, WebhookID guid.ID

	Before guid.ID // zero: from the newest
	Limit  int
}
