package gift

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// EventType is what an event tells: of a gift, an API key, or a webhook.
type EventType string

// The types of events that have no entry.
const (
	EventExpiring        EventType = "gift.expiring" // ExpiringBefore the end of its validity
	EventExpired         EventType = "gift.expired"
	EventKeyCreated      EventType = "key.created"
	EventKeyRevoked      EventType = "key.revoked"
	EventGuessingLimited EventType = "guessing.limited" // GuessAlarm was reached
	EventPINLimited      EventType = "till.pin_limited" // somebody's PIN rests after too many wrong ones
	EventWebhookCreated  EventType = "webhook.created"
	EventWebhookChanged  EventType = "webhook.changed" // by a caller, or switched off by the service
	EventWebhookDeleted  EventType = "webhook.deleted"
	EventWentBack        EventType = "store.went_back" // the database is in an earlier state again
)

// ExpiringBefore is how long before the end of a gift's validity EventExpiring tells of it.
const ExpiringBefore = 7 * 24 * time.Hour

// EventsKept is how long events can be read. The histories of gifts stay for ever.
const EventsKept = 90 * 24 * time.Hour

// EventTypes lists them all.
func EventTypes() []EventType {
	all := []EventType{EventHoldCaptured, EventExpiring, EventExpired, EventKeyCreated, EventKeyRevoked,
		EventGuessingLimited, EventPINLimited, EventWebhookCreated, EventWebhookChanged, EventWebhookDeleted,
		EventWentBack}
	for _, kind := range Kinds() {
		if t := kind.EventType(); !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	slices.Sort(all)
	return all
}

// EventType is what the entry is as an event.
func (e *Entry) EventType() EventType {
	if e.Kind == Redemption && !e.HoldID.IsZero() {
		return EventHoldCaptured
	}
	return e.Kind.EventType()
}

// Event is one thing that happened in an account. Events are read in the order of the commits that made them.
type Event struct {
	ID        guid.ID // of its entry, if it has one; the same at every reading
	Type      EventType
	AccountID guid.ID
	At        time.Time
	Entry     *Entry // nil: it has none
	Gift      *Gift  // as it is when the event is read; nil: it is about no gift
	Note      EventNote
	Place     merchant.EventPlace // of this event: what comes after it is read from here
}

// Sequence is the number of the event's entry in the history of its gift; 0: it has none.
func (e *Event) Sequence() int {
	if e.Entry == nil {
		return 0
	}
	return e.Entry.Seq
}

// TellsOfItsEnd reports whether the end of a voucher's validity is an event: it is in use, and something is left.
func (v *Voucher) TellsOfItsEnd() bool { return v.Balance > 0 && v.Status.Receivable() }

// EventNote is what an event without an entry tells.
type EventNote struct {
	GiftID    guid.ID
	KeyID     guid.ID
	WebhookID guid.ID
	Host      string // of that webhook; the rest of its address may be secret
}

// SetupEvents are the events of a change of a set-up.
func SetupEvents(before *merchant.Directory, c *merchant.Changes, now time.Time) []Event {
	return append(keyEvents(before, c.Keys, now), webhookEvents(before, c.Webhooks, now)...)
}

// webhookEvents are those of endpoints. That events are to be sent to one once more is no change of it.
func webhookEvents(before *merchant.Directory, changed []*merchant.Webhook, now time.Time) (events []Event) {
	for _, w := range changed {
		was, t := before.Webhook(w.AccountID, w.ID), EventWebhookChanged
		switch {
		case w.Deleted:
			t = EventWebhookDeleted
		case was == nil:
			t = EventWebhookCreated
		case was.Replay != w.Replay:
			continue
		}
		events = append(events, Event{Type: t, AccountID: w.AccountID, At: now,
			Note: EventNote{WebhookID: w.ID, Host: w.Host()}})
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
		add := func(t EventType) {
			events = append(events, Event{Type: t, AccountID: k.AccountID, At: now, Note: EventNote{KeyID: k.ID}})
		}
		was := known[k.ID]
		if k.AccountID.IsZero() {
			continue
		}
		if was == nil {
			add(EventKeyCreated)
		}
		if !k.RevokedAt.IsZero() && (was == nil || was.RevokedAt.IsZero()) {
			add(EventKeyRevoked)
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

// ParseEventPlace reads what Bytes made.
func ParseEventPlace(b [16]byte) merchant.EventPlace {
	return merchant.EventPlace{Position: int64(binary.BigEndian.Uint64(b[:])), Part: int(binary.BigEndian.Uint32(b[8:])),
		Mark: [4]byte(b[12:])}
}

// EventQuery selects events of one account.
type EventQuery struct {
	AccountID guid.ID
	Types     []EventType // empty: all
	Locations []guid.ID   // only those of gifts and entries that TellsOf says; empty: all
	From, To  time.Time   // only what was made from then on, and before then; zero: whenever
	After     merchant.EventPlace
	Limit     int
}

// Wants reports whether the query selects a type.
func (q *EventQuery) Wants(t EventType) bool { return len(q.Types) == 0 || slices.Contains(q.Types, t) }

// Within reports whether an instant is in the time that the query selects.
func (q *EventQuery) Within(at time.Time) bool {
	return !at.Before(q.From) && (q.To.IsZero() || at.Before(q.To))
}

// TellsOf reports whether whoever is limited to some locations may be told of an event: its gift is good at one of
// them only, or it happened there.
func (e *Event) TellsOf(locations []guid.ID) bool {
	return len(locations) == 0 ||
		e.Gift != nil && slices.Contains(locations, e.Gift.LocationID) ||
		e.Entry != nil && slices.Contains(locations, e.Entry.Actor.LocationID)
}

// EventPage is a part of the events of an account, the oldest first.
type EventPage struct {
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
func CoveredTypes(types []string) (covered []EventType) {
	for _, kind := range EventTypes() {
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

// CheckWebhookTypes says what is wrong with the types that an endpoint asks for, and where.
func CheckWebhookTypes(types []string) (at int, err error) {
	known := EventTypes()
	for i, t := range types {
		covers := func(kind EventType) bool { return typeCovers(t, string(kind)) }
		switch {
		case strings.Contains(t, "*") && !strings.HasSuffix(t, ".*"), !slices.ContainsFunc(known, covers):
			return i, errors.New("There is no such type of event; gift.redeemed is one, and gift.* is all of gifts.")
		case slices.Contains(types[:i], t):
			return i, errors.New("This type stands in the list already.")
		}
	}
	return 0, nil
}
