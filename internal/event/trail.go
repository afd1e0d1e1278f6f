package event

import (
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// The actions of an audit trail that are no change of a gift; those have the EventType of their entry.
const (
	SetupChanged  gift.EventType = "setup.changed"
	CodesExported gift.EventType = "codes.exported"
	// GiftsExported: gifts or entries left without codes.
	GiftsExported gift.EventType = "gifts.exported"
	CodesRead     gift.EventType = "codes.read"    // a key looked up codes of gifts; once an hour for each key
	SheetRevoked  gift.EventType = "sheet.revoked" // links to the printed sheet of an order were
	PersonErased  gift.EventType = "person.erased" // names, contacts and messages were taken out of gifts
	ClockAdvanced gift.EventType = "clock.advanced"
	// DayClosedAgain: a closed day of the books was worked out again.
	DayClosedAgain gift.EventType = "books.closed_again"
	BreakageBooked gift.EventType = "books.breakage" // a person booked breakage
	TillSignedIn   gift.EventType = "till.signed_in"
	StaffChanged   gift.EventType = "staff.changed"   // who may come in to the console, or how
	StaffSignedIn  gift.EventType = "staff.signed_in" // to the console
)

// What an audit trail says of what is done at the command line.
const (
	SaidErased    phrase.Kept = "erases what %d gifts of account %-s say of a person"
	SaidNoSheet   phrase.Kept = "no link to the printed sheet of order %s of account %-s any more"
	SaidNewSheet  phrase.Kept = "a new link to the printed sheet of order %s of account %-s"
	SaidAgain     phrase.Kept = "the closed day %s of account %-s is worked out again"
	SaidExported  phrase.Kept = "the %v of account %-q (%-s) leave as %s, without codes"
	SaidWithCodes phrase.Kept = "the gifts of account %-q (%-s) leave as %s, with their codes"
)

// TrailEntry is one thing that somebody did in an account: who, from where, and what to which gift or setting.
type TrailEntry struct {
	ID        guid.ID // of a change of a gift, its entry's
	AccountID guid.ID
	At        time.Time
	Actor     merchant.Actor // KeyID zero: somebody at the command line
	User      string         // the operating system's who was there; "": it was an API key
	Action    gift.EventType
	VoucherID guid.ID // zero: it was no gift
	RequestID string
	What      string // in words; "": the history of the gift says it
}

// TrailFilter selects entries of the audit trail of an account; zero members select all.
type TrailFilter struct {
	AccountID guid.ID
	From      time.Time
	To        time.Time // exclusive
	KeyID     guid.ID   // of who did it: an API key's, or a member's of the staff
	Person    string    // the name of who did it: of the staff, or at a till
	Before    guid.ID   // see ChangeFilter
	Limit     int
}

// Selects reports whether an entry was done by whom the filter names.
func (f *TrailFilter) Selects(e *TrailEntry) bool {
	return (f.KeyID.IsZero() || f.KeyID == e.Actor.KeyID) && (f.Person == "" || f.Person == e.Actor.Person)
}

// TrailPage is a part of an audit trail, the newest first.
type TrailPage struct {
	Entries []TrailEntry
	Next    guid.ID
}
