// Package event has what happened in an account, as others are told of it: events in the order of their commits, how
// far webhooks have come in them, and the audit trail. It is pure. What happened to one gift is an entry of package
// gift.
package event

import (
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// The types of events that have no entry.
const (
	Expiring        gift.EventType = "gift.expiring" // ExpiringBefore the end of its validity
	Expired         gift.EventType = "gift.expired"
	Probed          gift.EventType = "gift.probed" // a card that is not sold yet was asked for by its code
	KeyCreated      gift.EventType = "key.created"
	KeyRevoked      gift.EventType = "key.revoked"
	GuessingLimited gift.EventType = "guessing.limited" // GuessAlarm was reached
	PINLimited      gift.EventType = "till.pin_limited" // somebody's PIN is paused after too many wrong ones
	WebhookCreated  gift.EventType = "webhook.created"
	WebhookChanged  gift.EventType = "webhook.changed" // by a caller, or switched off by the service
	WebhookDeleted  gift.EventType = "webhook.deleted"
	ImportStarted   gift.EventType = "import.started"  // gifts of another system are being brought in
	ImportFinished  gift.EventType = "import.finished" // they are there
	ImportUndone    gift.EventType = "import.undone"   // they are not there any more
	WentBack        gift.EventType = "store.went_back" // the database is in an earlier state again
)

// ExpiringBefore is how long before the end of a gift's validity Expiring tells of it.
const ExpiringBefore = 7 * 24 * time.Hour

// ProbedEvery is how often Probed tells of the same card.
const ProbedEvery = 24 * time.Hour

// Kept is how long events can be read. The histories of gifts stay for ever.
const Kept = 90 * 24 * time.Hour

// Types lists them all.
func Types() []gift.EventType {
	all := []gift.EventType{gift.EventHoldCaptured, Expiring, Expired, Probed, KeyCreated, KeyRevoked, GuessingLimited,
		PINLimited, WebhookCreated, WebhookChanged, WebhookDeleted, ImportStarted, ImportFinished, ImportUndone, WentBack}
	for _, kind := range gift.Kinds() {
		if t := kind.EventType(); !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	slices.Sort(all)
	return all
}

// Event is one thing that happened in an account. Events are read in the order of the commits that made them.
type Event struct {
	ID        guid.ID // of its entry, if it has one; the same at every reading
	Type      gift.EventType
	AccountID guid.ID
	At        time.Time
	Entry     *gift.Entry // nil: it has none
	Gift      *gift.Gift  // as it is when the event is read; nil: it is about no gift
	Note      Note
	Place     merchant.EventPlace // of this event: what comes after it is read from here
}

// Sequence is the number of the event's entry in the history of its gift; 0: it has none.
func (e *Event) Sequence() int {
	if e.Entry == nil {
		return 0
	}
	return e.Entry.Seq
}

// Note is what an event without an entry tells.
type Note struct {
	GiftID    guid.ID
	KeyID     guid.ID
	WebhookID guid.ID
	Host      string // of that webhook; the rest of its address may be secret
	ImportID  guid.ID
}

// OfSetup are the events of a change of a set-up.
func OfSetup(before *merchant.Directory, c *merchant.Changes, now time.Time) []Event {
	return append(keyEvents(before, c.Keys, now), webhookEvents(before, c.Webhooks, now)...)
}

// webhookEvents are those of endpoints. That events are to be sent to one once more is no change of it.
func webhookEvents(before *merchant.Directory, changed []*merchant.Webhook, now time.Time) (events []Event) {
	for _, w := range changed {
		was, t := before.Webhook(w.AccountID, w.ID), WebhookChanged
		switch {
		case w.Deleted:
			t = WebhookDeleted
		case was == nil:
			t = WebhookCreated
		case was.Replay != w.Replay:
			continue
		}
		events = append(events, Event{Type: t, AccountID: w.AccountID, At: now,
			Note: Note{WebhookID: w.ID, Host: w.Host()}})
	}
	return events
}

// keyEvents are those of API keys. Keys of systems belong to no account, and have none.
func keyEvents(before *merchant.Directory, changed []*merchant.Key, now time.Time) (events []Event) {
	known := make(map[guid.ID]*merchant.Key, len(before.Keys))
	for _, k := range before.Keys {
		known[k.ID] = k
	}
	for _, k := range changed {
		add := func(t gift.EventType) {
			events = append(events, Event{Type: t, AccountID: k.AccountID, At: now, Note: Note{KeyID: k.ID}})
		}
		was := known[k.ID]
		if k.AccountID.IsZero() {
			continue
		}
		if was == nil {
			add(KeyCreated)
		}
		if !k.RevokedAt.IsZero() && (was == nil || was.RevokedAt.IsZero()) {
			add(KeyRevoked)
		}
	}
	return events
}

// After makes the place after an event, which is number part, from 1, of those at a position.
func After(position int64, part int, event guid.ID) (p merchant.EventPlace) {
	p.Position, p.Part = position, part
	copy(p.Mark[:], event[len(event)-len(p.Mark):])
	return p
}

// ParsePlace reads what Bytes made.
func ParsePlace(b [16]byte) merchant.EventPlace {
	return merchant.EventPlace{Position: int64(binary.BigEndian.Uint64(b[:])), Part: int(binary.BigEndian.Uint32(b[8:])),
		Mark: [4]byte(b[12:])}
}

// Query selects events of one account.
type Query struct {
	AccountID guid.ID
	Types     []gift.EventType // empty: all
	Locations []guid.ID        // only those of gifts and entries that TellsOf says; empty: all
	From, To  time.Time        // only what was made from then on, and before then; zero: whenever
	After     merchant.EventPlace
	Limit     int
}

// Wants reports whether the query selects a type.
func (q *Query) Wants(t gift.EventType) bool { return len(q.Types) == 0 || slices.Contains(q.Types, t) }

// Within reports whether an instant is in the time that the query selects.
func (q *Query) Within(at time.Time) bool {
	return !at.Before(q.From) && (q.To.IsZero() || at.Before(q.To))
}

// TellsOf reports whether whoever is limited to some locations may be told of an event: its gift is good at one of
// them only, or it happened there.
func (e *Event) TellsOf(locations []guid.ID) bool {
	return len(locations) == 0 ||
		e.Gift != nil && slices.Contains(locations, e.Gift.LocationID) ||
		e.Entry != nil && slices.Contains(locations, e.Entry.Actor.LocationID)
}

// Page is a part of the events of an account, the oldest first.
type Page struct {
	Events []Event
	Next   merchant.EventPlace // after all that was looked at, also where nothing was selected
	More   bool                // there is more to look at already
	// Forgotten: the store does not know any more what comes after the place.
	Forgotten bool
}

// TooManyWaiting refuses a call that would wait for events.
func TooManyWaiting() *refusal.Error {
	refused := refusal.New(refusal.RateLimited, "Too many calls wait for events. Ask again later, or without wait.")
	refused.RetryAfter = time.Second
	return refused
}

// LostPlace refuses a place of a later state of the database than the one that it was put back to.
func LostPlace() *refusal.Error {
	return refusal.At(refusal.NotFound, "after",
		"This cursor is of a later state of the database than there is: the database was "+
			"put back to an earlier state after the cursor was given, as by a restore. What was read since then may be gone. "+
			"Begin without a cursor, and compare with the gifts themselves.")
}

// NoSuchPlace refuses a place of which the store does not know any more what comes after it.
func NoSuchPlace() *refusal.Error {
	return refusal.At(refusal.NotFound, "after",
		"What comes after this cursor is not kept any more: events are kept for 90 days. "+
			"Begin without a cursor, and compare with the gifts themselves.")
}

// CoveredTypes are the types of events that gift.redeemed or gift.*, or more of the like, cover; nil: none is named.
func CoveredTypes(types []string) (covered []gift.EventType) {
	for _, kind := range Types() {
		if slices.ContainsFunc(types, func(t string) bool { return typeCovers(t, string(kind)) }) {
			covered = append(covered, kind)
		}
	}
	return covered
}

// typeCovers reports whether gift.redeemed, or gift.*, covers a type of events.
func typeCovers(t, kind string) bool {
	family, all := strings.CutSuffix(t, "*")
	return t == kind || all && strings.HasPrefix(kind, family)
}

// CheckTypes says what is wrong with the types that an endpoint asks for, and where.
func CheckTypes(types []string) (at int, err error) {
	known := Types()
	for i, t := range types {
		covers := func(kind gift.EventType) bool { return typeCovers(t, string(kind)) }
		switch {
		case strings.Contains(t, "*") && !strings.HasSuffix(t, ".*"), !slices.ContainsFunc(known, covers):
			return i, phrase.New("There is no such type of event; gift.redeemed is one, and gift.* is all of gifts.")
		case slices.Contains(types[:i], t):
			return i, phrase.New("This type stands in the list already.")
		}
	}
	return 0, nil
}
