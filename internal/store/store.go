// Package store keeps everything in a database: gifts, their ledger, the set-up, idempotency records, jobs and the
// counts of wrong codes. It implements what ledger, api, delivery and setup ask of a database, and makes no decision
// of its own: which change is right is for package gift to say. Its constraints and triggers refuse what can never be
// right.
//
// It is written for two databases; package db knows what differs. It knows no HTTP. Codes and tokens enter it in the
// clear and are sealed before they reach a file.
package store

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/sealed"
	"boon.example/internal/store/breakage"
	"boon.example/internal/store/check"
	"boon.example/internal/store/db"
	"boon.example/internal/store/erase"
	"boon.example/internal/store/feed"
	"boon.example/internal/store/guests"
	"boon.example/internal/store/hooks"
	"boon.example/internal/store/imported"
	"boon.example/internal/store/lookup"
	"boon.example/internal/store/misses"
	"boon.example/internal/store/passes"
	"boon.example/internal/store/sendlists"
	"boon.example/internal/store/setup"
	"boon.example/internal/store/staff"
	"boon.example/internal/store/sums"
)

// Options say where the data is.
type Options = db.Options

// KeyFile is where a key file is.
type KeyFile = sealed.Place

// DatabaseName is what the database file of a data folder is called.
const DatabaseName = db.DatabaseName

// What Open refuses with MustExist and with KeepSchema, and what an open store fails with while its schema does not
// serve this program; the error says more.
var (
	ErrNoStore   = db.ErrNoStore
	ErrOldSchema = db.ErrOldSchema
	ErrUnserved  = db.ErrUnserved
)

// ErrPastBoon is what Directory and Configure fail with where the set-up was changed past boon: see setup.ErrPastBoon.
var ErrPastBoon = setup.ErrPastBoon

// Restored is what is known of a database that was restored before it was verified.
type Restored = check.State

// Store is an open database. It is safe for concurrent use, also beside other processes that have the same one open.
type Store struct {
	*setup.Setup       // accounts, keys and pictures
	*lookup.Reader     // gifts and entries
	*feed.Feed         // events in the order of commits
	check.Verifier     // what boon verify looks at
	*hooks.Hooks       // what becomes of webhooks
	*passes.Passes     // which phones have passes
	*misses.Misses     // what is tried in vain
	*sums.Books        // what is owed, by closed days
	*staff.Staff       // who comes in to the console
	*breakage.Breakage // what was booked as breakage
	*sendlists.Lists   // lists of people who are sent gifts
	*guests.Guests     // people who look at their gifts
	*imported.Register // imports that bring gifts of another system in
	Eraser             *erase.Eraser

	db *db.DB
	// transact runs a group's batches in a transaction; a test puts faults into it.
	transact func(context.Context, func(db.Runner) error) error
	kept     keptCounts
	used     usedRecords
	writers  writers
	back     chan WentBack
	jobTurn  atomic.Pointer[guid.ID] // the account that had the last turn where more jobs were due than were claimed
	full     atomic.Bool             // the last group found no room on the disk
	// readFirst is how many groups are still to read the records of their requests before they are decided.
	readFirst atomic.Int64
}

// Open opens the store of a data folder or of a database server and brings its schema up to date: see db.Open.
func Open(ctx context.Context, o Options) (*Store, error) {
	o.Claimed = setup.LogBeginning
	d, err := db.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	if err = placeNew(ctx, d); err == nil {
		err = d.PrepareWrites(ctx, writeTexts(d))
	}
	if err == nil {
		err = d.PrepareReads(ctx, readTexts(d))
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	reader := lookup.New(d)
	reader.Remember()
	sets := setup.New(d)
	return &Store{Setup: sets, Staff: staff.New(d, sets), Breakage: breakage.New(d, sets),
		Lists: sendlists.New(d), Guests: guests.New(d), Register: imported.New(d, sets), Reader: reader,
		Feed: feed.New(d, reader), Hooks: hooks.New(d), Passes: passes.New(d),
		Misses: misses.New(d), Books: sums.New(d), Eraser: erase.New(d, reader), Verifier: check.NewVerifier(d), db: d,
		transact: d.Transact, back: make(chan WentBack, 1)}, nil
}

// writeTexts are the writing statements that are worth preparing once.
func writeTexts(d *db.DB) []string {
	return d.Texts(slices.Concat(hooks.Queries(), passes.Queries(), sums.Queries(), groupQueries)...)
}

// readTexts are the reading statements that are worth preparing once.
func readTexts(d *db.DB) []string {
	return slices.Concat(lookup.Statements(d), feed.Statements(d), check.Statements(d), sums.Statements(d),
		passes.Statements(d))
}

// Close closes the database. What uses the store must have stopped.
func (s *Store) Close() error { return s.db.Close() }

// Made tells whether there was no database before this store was opened.
func (s *Store) Made() bool { return s.db.Made }

// Place is where the database is, for people; no password is in it.
func (s *Store) Place() string { return s.db.Place }

// Keys are the keys that seal the store's secrets, for the fingerprints of requests.
func (s *Store) Keys() *sealed.Keys { return s.db.Keys }

// KeyFile is where the key file of the store is.
func (s *Store) KeyFile() string { return s.db.KeyFile.Path }

// Writers is how many groups may be under way at once: see db.DB.
func (s *Store) Writers() int { return s.db.Writers() }

// CallerTimeout is how long a caller should wait for this store before it is told that the store is away; 0: as long
// as it takes, as the store is in this process.
func (s *Store) CallerTimeout() time.Duration { return s.db.CallerTimeout() }

// Away tells from an error that the database could not be reached in time, that its schema does not serve this program
// any more, that this instance lacks a key for what is in it, or that its set-up was changed past boon.
func (s *Store) Away(err error) bool { return s.db.Away(err) || errors.Is(err, ErrPastBoon) }

// Ping tells whether the database can be reached and the store can work with it: see db.DB.
func (s *Store) Ping(ctx context.Context) error { return s.db.Ping(ctx) }

// CheckFiles finds out whether the files of the embedded database are still the ones that this service opened: see
// db.DB.
func (s *Store) CheckFiles(ctx context.Context) error { return s.db.CheckFiles(ctx) }

// noteRoom remembers whether a group found room on the disk.
func (s *Store) noteRoom(err error) {
	switch {
	case err == nil:
		if s.full.Load() { // most find it so: it is not written each time
			s.full.Store(false)
		}
	case s.db.Full(err):
		s.full.Store(true)
	}
}

// Full tells that the last transaction of the engine found no room on the disk of the database. One that finds room
// ends it.
func (s *Store) Full() bool { return s.full.Load() }

// Risks are sentences for the operator about settings of the database with which it may lose what it has committed.
func (s *Store) Risks(ctx context.Context) ([]string, error) { return s.db.Risks(ctx) }

// Sizes are figures of the store that cost next to nothing to read.
type Sizes struct {
	Vouchers int64
	Database int64 // bytes
	Log      int64 // bytes of the write-ahead log
}

// Sizes reads them.
func (s *Store) Sizes(ctx context.Context) (z Sizes, err error) {
	if z.Vouchers, err = s.CountVouchers(ctx); err != nil {
		return z, err
	}
	z.Database, z.Log, err = s.db.Size(ctx)
	return z, err
}
