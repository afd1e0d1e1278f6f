// Package intake brings gifts of another system in: it judges a file, writes its gifts a group at a time beside tills
// that go on, and has all of them be there at once. Whoever is killed begins again, and goes on where it stopped. It
// knows neither SQL nor HTTP.
package intake

import (
	"context"
	"errors"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/event"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/imports"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/sealed"
)

// State is how far an import has come.
type State string

// The states.
const (
	Unknown  State = ""         // whoever finished it did not hear what became of that
	Staged   State = "STAGED"   // its gifts are being written
	Finished State = "FINISHED" // they are there
	Undoing  State = "UNDOING"  // they are not there any more, and their codes are made free
	Undone   State = "UNDONE"
)

// Taken is the gift that a code leads to, or led to. Only of one that an import brought to the account, the rest is
// told.
type Taken struct {
	ImportID              guid.ID // zero: no import of the account brought it
	Item                  bool
	Balance               money.Amount
	ProgramID, LocationID guid.ID
	ValidFrom, ValidUntil time.Time
	PIN                   string
	TillsOnly             bool
	DesignID              guid.ID
	Zone                  string
	VATTreatment          merchant.VATTreatment
	VATRate               money.Number
}

// is reports whether a gift that nobody has used is as a line would have it, with the set-up as it is.
func (t *Taken) is(l *imports.Line, a *merchant.Account) bool {
	treatment, rate := a.VAT(l.ProgramID, guid.ID{})
	return t.Item == l.Item && t.Balance == l.Balance && t.ProgramID == l.ProgramID && t.LocationID == l.LocationID &&
		t.ValidFrom.Equal(l.ValidFrom) && t.ValidUntil.Equal(l.ValidUntil) && t.PIN == l.PIN &&
		t.DesignID == a.DesignFor(l.LocationID) && t.Zone == zoneOf(a).String() &&
		t.VATTreatment == treatment && t.VATRate == rate
}

// Import is what is kept of an import.
type Import struct {
	AccountID guid.ID
	ID        guid.ID
	State     State
	File      [32]byte  // the SHA-256 of what is read
	Asked     string    // how it is read
	AsOf      time.Time // when its gifts begin in the books
	Staged    int       // how many of them are written
	Planned   int       // how many will be; 0: that was not kept
	Used      bool      // something happened to one of them
	MadeBy    string
	StartedAt time.Time
	Told      string    // its certificate; "": it is not finished
	AliveAt   time.Time // when whoever writes its gifts or takes it back said last that they are at it
	Failed    bool      // writing its gifts failed, and nobody goes on
}

// Stop is why nobody goes on with an import that is not over.
type Stop string

// What there is.
const (
	GoesOn        Stop = "" // or it is over
	WritingFailed Stop = "WRITING_FAILED"
	WriterEnded   Stop = "WRITER_ENDED"
	UndoerEnded   Stop = "UNDOER_ENDED"
)

// How often whoever is at an import says so, and for how long others believe it: clocks of two machines differ, and a
// database may be away for a while.
const (
	beat    = 15 * time.Second
	silence = 2 * time.Minute
)

// Stopped tells why nobody goes on with an import. Whoever was at it and has said nothing for long was killed.
func (m *Import) Stopped(now time.Time) Stop {
	silent := now.Sub(m.AliveAt) > silence
	switch {
	case m.State == Staged && m.Failed:
		return WritingFailed
	case m.State == Staged && silent:
		return WriterEnded
	case m.State == Undoing && silent:
		return UndoerEnded
	}
	return GoesOn
}

// Tend keeps saying that somebody is at an import, until it is ended.
func Tend(ctx context.Context, s Store, m *Import) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	at := Import{AccountID: m.AccountID, ID: m.ID} // the other fields change meanwhile
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		next := time.NewTicker(beat)
		defer next.Stop()
		for {
			_ = s.NoteAlive(ctx, &at) // the next one may succeed
			select {
			case <-next.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-ended }
}

var (
	// ErrUsed tells that an import cannot be undone, as gifts of it were used.
	ErrUsed = errors.New("gifts of the import were used")
	// ErrMoved tells that an import is not in the state, or not as far, as it was thought to be.
	ErrMoved = errors.New("somebody else goes on with the import")
	// ErrChanged tells that the gifts that are written of an import are not those that were checked: the import does not
	// go on, and can be undone.
	ErrChanged = errors.New("the file or the gifts of the account changed while the file was read")
	// ErrNoUndo tells that the database cannot undo a finished import.
	ErrNoUndo = errors.New("an import that is finished cannot be undone in a database that Citus spreads over machines")
)

// Store keeps imports and their gifts.
type Store interface {
	// Group writes gifts: see engine.Store.
	Group(ctx context.Context, want ledger.Want, decide func(*ledger.State) ledger.Changes) error
	// CommitTime is how long commits take of late where everybody else waits for what a group writes; 0: nobody does.
	CommitTime() time.Duration
	// Imports gives those of an account, the newest first.
	Imports(ctx context.Context, account guid.ID) ([]Import, error)
	// BeginImport keeps a new one, and tells of it. Where somebody has begun the same file, it fails with ErrMoved.
	BeginImport(ctx context.Context, m *Import, by event.TrailEntry) error
	// FinishImport has its gifts be there from now on, all at once, and keeps what its certificate says. Where others
	// are written than m says, it fails with ErrMoved; where the import may be finished or not, with ledger.ErrUnknown.
	FinishImport(ctx context.Context, m *Import, by event.TrailEntry) error
	// ConfirmImport gives an import as it is, once no failover loses that. Where that is not certain, it fails.
	ConfirmImport(ctx context.Context, account, id guid.ID) (*Import, error)
	// NoteFailed keeps whether writing the gifts of an import failed, and nobody goes on.
	NoteFailed(ctx context.Context, m *Import, failed bool) error
	// NoteAlive keeps that somebody is at an import: its gifts are written, or it is taken back.
	NoteAlive(ctx context.Context, m *Import) error
	// TakenCodes gives the gifts that some codes lead to, or led to.
	TakenCodes(ctx context.Context, account guid.ID, codes []codes.VoucherCode) (map[codes.VoucherCode]Taken, error)
	// Heads gives how far the newest hash chains have come.
	Heads(ctx context.Context) ([]books.Head, error)
	Keys() *sealed.Keys
}
