package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"boon.example/internal/base/span"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
)

// Group implements engine.Store: it loads what a group of commands needs, has them decided, saves what was decided and
// commits, in one transaction.
//
// # Why it is hard
//
// The same code runs on SQLite, where a transaction has the only write lock, and on PostgreSQL, where several lanes and
// several processes write at once. There, what was read may have changed before it is locked, two groups may want each
// other's rows, and a commit may fail in a way that does not tell whether it happened. A voucher must never be decided
// on a balance that is not the newest, and two groups must never wait for each other in a circle.
//
// # The steps
//
// prepare seals codes and makes rows before the transaction, while others write. load locks and reads. decide is the
// engine's, in memory, between two round trips. save writes, in batches that PostgreSQL gets together with the COMMIT
// where nothing has to come back from them. On a conflict, db.Retry runs load, decide and save again.
//
// # Invariants
//
//  1. Vouchers are locked before everything that may change with them is read. What load reads after them (records,
//     reversals, cash-outs, cards) is as young as the locks. Read earlier, they could be as they
//     were before another writer's commit.
//  2. Some vouchers are not known before something else is read: an undo names a redemption, or the key that it was
//     made with. What an undo needs of an entry never changes, so entries can be read before the lock; how much of them
//     was undone is read after it. Records can appear in between. So load reads them again after the lock, and where
//     there is one more, the group is decided anew (db.ErrOvertaken); otherwise a repeat would be refused for what its
//     own first call did. With one writer nothing can appear.
//  3. Locks are taken in one order: vouchers first, in the order of their ids; then the counts that limit calls; then
//     what save writes, each kind in the order of its key. So groups wait for each other, but never in a circle. The
//     tally of an account is its one row, and whoever has written it keeps the others waiting until the commit: that is
//     why it is written last.
//  4. A voucher is written only over the one that was loaded: UPDATE names the number of the entry that the voucher had
//     then (seq). If there is another number, nothing is changed (db.ErrMissed), whatever went wrong with the locks.
//  5. decide may run more than once, so what this process remembers of the database changes only after the commit:
//     Store.used, Store.kept, and the head of the hash chain.
//  6. A code is new until an index says otherwise. Drawn codes are looked up only under earlier keys, as the index of
//     hashes refuses a code that is taken under the key in use. If the database rejects the rows, the codes are looked
//     up and the group is decided once more, so that the command that drew a taken code learns of it and draws another.
//  7. The first use of a record of the set-up excludes a change of the set-up until the commit, and is refused if its
//     account was changed after the group was judged (checkSetup). Whoever removes the record afterwards finds the use.
//  8. A chain goes on only where its last commit is certain. If save was done and the transaction failed, the outcome
//     of the commit may be unknown: the chain is left, and the next group begins a new one (releaseWriter).
//  9. An answer that is given again is written to as well (saveReplays): only a commit that writes waits for a standby,
//     and so shows that the record has arrived there.
//  10. A heavy group locks no count of what is sent before it saves, so that it keeps no light one waiting while it is
//     decided. It adds to the counts near its end, and is decided anew if others have reached a limit meanwhile
//     (runWithin).
//  11. The transaction does not end because a caller has gone: its context is only limited by the timeout of the
//     database.
//  12. On SQLite a group that undoes nothing is decided as if its requests were new, since nearly all are, and their
//     records are not read. The table of records refuses one that is there already: the group is then decided once
//     more, on what was read. A request that leaves no record, as a refusal that may be repeated does, is looked for
//     before anything is saved (confirmNew). So a group is committed only if none of its requests had been answered
//     before, or if that was known.
//
// # What shows it
//
// These are tests of this package; those in small letters run on every database, in TestStore. testTwoWriters shows the
// locks (1); testOvertaken the records that appear (2); ledger.TestTransfersBothWaysAtOnce their order (3);
// testStaleVoucher the number of the entry (4); TestCodesStayUniqueAcrossKeys, TestOneCodeTwiceInAGroup and
// ledger.TestACodeInUseIsDrawnAnew the codes (6); testUsesStay the set-up (7); TestChainsHold the chains, also after
// commits that took effect and said that they failed (8); TestUnconfirmedCommit the standby (9);
// TestALargeOrderBesideTills heavy groups (10); testGroupOutlivesItsCaller the caller (11); testKnownRequests the
// records that are not read (12); testGroupIsAtomic that a group is saved as a whole; TestFullDisk the disk without
// room.
//
// # What an error says
//
// No error: the changes are on stable storage. ledger.ErrUnknown: they may be or may not be. Every other error: nothing
// was changed. ErrRejected says that the changes broke a constraint, or that a row was not as it was loaded;
// ErrInTheWay beside it, that another writer may be the cause, or that what the group uses first may not be in the
// set-up any more, so that a repeat may succeed; ErrFull, that the disk has no room.
func (s *Store) Group(ctx context.Context, want ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	ctx = context.WithoutCancel(ctx) // a commit is not abandoned because somebody hung up
	p := s.prepare(&want)
	looked := len(want.Gifts) == 0
	retry := s.db.Retry
	if want.Heavy {
		retry = s.db.RetryLong
		s.db.WritesMuch()
	}
	err := retry(ctx, func(ctx context.Context) error {
		assumed := s.assumesNew(&want)
		err := s.tryGroup(ctx, want, p, assumed, decide)
		if assumed && err != nil && (errors.Is(err, errKnown) || s.db.Rejected(err)) {
			s.readFirst.Store(readAfterKnown)
			err = s.tryGroup(ctx, want, p, false, decide)
		}
		if err != nil && !looked && s.db.Rejected(err) {
			p.lookForCodes(s, want.Gifts)
			looked = true
			err = s.tryGroup(ctx, want, p, false, decide)
		}
		if err != nil && s.db.Rejected(err) && strings.Contains(err.Error(), importNotFinished) {
			err = s.tryGroup(ctx, want, p, false, decide) // what is loaded anew has no such gift
		}
		return err
	})
	s.noteRoom(err)
	switch {
	case err != nil && !errors.Is(err, db.ErrUnknownOutcome) && s.db.Full(err):
		return fmt.Errorf("%w: %w", ledger.ErrFull, err)
	case errors.Is(err, db.ErrMissed), errors.Is(err, errOtherSetup),
		err != nil && s.db.Rejected(err) && s.db.Passing(err):
		return fmt.Errorf("%w: %w: %w", ledger.ErrRejected, ledger.ErrInTheWay, err)
	case err != nil && s.db.Rejected(err):
		return fmt.Errorf("%w: %w", ledger.ErrRejected, err)
	case errors.Is(err, db.ErrUnknownOutcome):
		return fmt.Errorf("%w: %w", ledger.ErrUnknown, err)
	}
	return err
}

// importNotFinished is what a guard of the database says where an import was taken back after its gift was loaded.
const importNotFinished = "the import of the gift is not finished"

// readAfterKnown is how many groups read their records first, after one that had a known request: where many
// requests are repeats, few groups are decided twice.
const readAfterKnown = 64

// errKnown tells that a request of a group that was decided as new has a record.
var errKnown = errors.New("a request of the group was answered before")

// assumesNew tells whether a group is decided as if its requests were new: invariant 12.
func (s *Store) assumesNew(want *ledger.Want) bool {
	undoes := len(want.Undo)+len(want.Undoable)+len(want.Holds) > 0
	if s.db.Writers() > 1 || len(want.Requests) == 0 || want.Heavy || undoes {
		return false
	}
	return s.readFirst.Load() <= 0 || s.readFirst.Add(-1) < 0
}

// confirmNew looks for the records of those requests that leave none: what leaves one is refused if it is known.
func (g *group) confirmNew(ctx context.Context, wanted []ledger.RequestKey, recorded []ledger.Request) error {
	left := make(map[ledger.RequestKey]bool, len(recorded))
	for i := range recorded {
		left[recorded[i].RequestKey] = true
	}
	others := slices.DeleteFunc(slices.Clone(wanted), func(k ledger.RequestKey) bool { return left[k] })
	if len(others) == 0 {
		return nil
	}
	if err := g.run(ctx, g.wantRequests(others)); err != nil {
		return err
	}
	for _, k := range others {
		if g.state.Requests[k] != nil {
			return errKnown
		}
	}
	return nil
}

func (s *Store) tryGroup(ctx context.Context, want ledger.Want, p *prepared, assumed bool,
	decide func(*ledger.State) ledger.Changes) error {
	g := group{Store: s, prepared: p, setup: want.Setup, assumed: assumed,
		keptRead: map[merchant.CountKey]merchant.Count{}}
	var counted map[merchant.CountKey]merchant.Count
	var commit trace.Span = noop.Span{}
	err := s.transact(ctx, func(run db.Runner) error {
		g.run = run
		if err := stage(ctx, "load", func(ctx context.Context) error { return g.load(ctx, want) }); err != nil {
			return fmt.Errorf("loading a group: %w", err)
		}
		c := decide(&g.state)
		counted = c.Counts
		if assumed {
			if err := g.confirmNew(ctx, want.Requests, c.Requests); err != nil {
				return err
			}
		}
		if err := stage(ctx, "save", func(ctx context.Context) error { return g.save(ctx, &c) }); err != nil {
			return fmt.Errorf("saving a group: %w", err)
		}
		g.saved = true
		_, commit = span.Start(ctx, "commit")
		return nil
	})
	span.End(commit, err)
	g.releaseWriter(err)
	if err == nil {
		s.used.commit(g.newlyUsed)
		s.kept.commit(g.keptRead, counted)
	}
	return err
}

// stage does a part of a group, in a span of its own.
func stage(ctx context.Context, name string, do func(context.Context) error) error {
	ctx, s := span.Start(ctx, name)
	err := do(ctx)
	span.End(s, err)
	return err
}

// group is one call of Group in its transaction.
type group struct {
	*Store
	run       db.Runner
	prepared  *prepared
	setup     int64 // the version by which it was judged; 0: by none
	state     ledger.State
	loaded    map[ledger.Ref]*gift.Voucher // what a change of each is measured against
	newlyUsed []ledger.Ref
	keptRead  map[merchant.CountKey]merchant.Count // counts of what is kept, that were read
	writer    *chainWriter                         // whose hash chain goes on; nil: nothing was entered
	assumed   bool                                 // its requests are taken for new: invariant 12
	saved     bool                                 // all that is left is the commit
	looks     bool                                 // it changes nothing and locks nothing: see Look
}
