package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"boon.example/internal/base/span"
	"boon.example/internal/chain"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/store/db"
	"boon.example/internal/store/feed"
	"boon.example/internal/store/record"
)

// Group implements ledger.Store: it loads what a group of commands needs, has them decided, saves what was decided and
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
//     reversals, cash-outs, cards) is as young as the locks.
//  2. Some vouchers are not known before something else is read: an undo names a redemption, or the key that it was
//     made with. What an undo needs of an entry never changes, so entries can be read before the lock; how much of them
//     was undone is read after it. Records can appear in between. So load reads them again after the lock, and where
//     there is one more, the group is decided anew (db.ErrOvertaken). With one writer nothing can appear.
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
	}
	err := retry(ctx, func(ctx context.Context) error {
		err := s.tryGroup(ctx, want, p, decide)
		if err != nil && !looked && s.db.Rejected(err) {
			p.lookForCodes(s, want.Gifts)
			looked = true
			err = s.tryGroup(ctx, want, p, decide)
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

func (s *Store) tryGroup(ctx context.Context, want ledger.Want, p *prepared,
	decide func(*ledger.State) ledger.Changes) error {
	g := group{Store: s, prepared: p, setup: want.Setup, keptRead: map[ledger.CountKey]merchant.Count{}}
	var counted map[ledger.CountKey]merchant.Count
	var commit trace.Span = noop.Span{}
	err := s.transact(ctx, func(run db.Runner) error {
		g.run = run
		if err := stage(ctx, "load", func(ctx context.Context) error { return g.load(ctx, want) }); err != nil {
			return fmt.Errorf("loading a group: %w", err)
		}
		c := decide(&g.state)
		counted = c.Counts
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
	loaded    map[ledger.Ref]gift.Voucher // what a change of each is measured against
	newlyUsed []ledger.Ref
	keptRead  map[ledger.CountKey]merchant.Count // counts of what is kept, that were read
	writer    *chainWriter                       // whose hash chain goes on; nil: nothing was entered
	saved     bool                               // all that is left is the commit
}

// The statements of a group.
var (
	selectVouchers = &db.Query{What: "reading vouchers", Scoped: true,
		SQLite: `SELECT v.account_id, v.id, v.order_id, v.program_id, v.location_id, v.item, v.promotional,
				v.promotion_id, v.currency, v.decimals, v.loaded, v.balance, v.status, v.seq, v.last,
				v.valid_from, v.valid_until, v.created_at, v.made_by, v.holds, v.fixed, v.verification,
				v.wrong_codes, v.blocked, v.extended, v.replaced,
				(SELECT i.items
					FROM item_list AS i WHERE i.account_id = v.account_id AND i.id = v.items_id) AS items
			FROM json_each($2) AS w CROSS JOIN voucher AS v
			WHERE v.account_id = $1 AND v.id = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
				SELECT v.account_id, v.id, v.order_id, v.program_id, v.location_id, v.item, v.promotional,
					v.promotion_id, v.currency, v.decimals, v.loaded, v.balance, v.status, v.seq, v.last,
					v.valid_from, v.valid_until, v.created_at, v.made_by, v.holds, v.fixed, v.verification,
					v.wrong_codes, v.blocked, v.extended, v.replaced,
					(SELECT i.items
						FROM item_list AS i WHERE i.account_id = v.account_id AND i.id = v.items_id) AS items
				FROM voucher AS v
				WHERE v.account_id = w.account_id AND v.id = w.key FOR NO KEY UPDATE OFFSET 0) AS found`,
		Citus: `SELECT v.account_id, v.id, v.order_id, v.program_id, v.location_id, v.item, v.promotional,
				v.promotion_id, v.currency, v.decimals, v.loaded, v.balance, v.status, v.seq, v.last,
				v.valid_from, v.valid_until, v.created_at, v.made_by, v.holds, v.fixed, v.verification,
				v.wrong_codes, v.blocked, v.extended, v.replaced,
				(SELECT i.items FROM item_list AS i WHERE i.account_id = $1 AND i.id = v.items_id) AS items
			FROM voucher AS v
			WHERE v.account_id = $1 AND v.id = ANY($2::BYTEA[])`}
	// lockVouchers is for Citus, which locks no row of a query with a sub-select. It locks them in their order.
	lockVouchers = &db.Query{What: "locking vouchers", Scoped: true,
		Citus: `SELECT v.id
			FROM voucher AS v
			WHERE v.account_id = $1 AND v.id = ANY($2::BYTEA[]) ORDER BY v.id FOR NO KEY UPDATE`}
	selectRequests = &db.Query{What: "reading requests", Scoped: true,
		SQLite: `SELECT r.account_id, r.key, r.operation, r.fingerprint, r.code, r.answer, r.sealed, r.entry_id,
				r.spent, r.locations, r.made_at, r.size
			FROM json_each($2) AS w CROSS JOIN request AS r
			WHERE r.account_id = $1 AND r.key = CAST(unhex(w.value) AS TEXT)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::TEXT[]) AS w (account_id, key) CROSS JOIN LATERAL (
				SELECT r.account_id, r.key, r.operation, r.fingerprint, r.code, r.answer, r.sealed, r.entry_id,
					r.spent, r.locations, r.made_at, r.size
				FROM request AS r
				WHERE r.account_id = w.account_id AND r.key = w.key OFFSET 0) AS found`,
		Citus: `SELECT r.account_id, r.key, r.operation, r.fingerprint, r.code, r.answer, r.sealed, r.entry_id,
				r.spent, r.locations, r.made_at, r.size
			FROM request AS r
			WHERE r.account_id = $1 AND r.key = ANY($2::TEXT[])`}
	selectUndoable = &db.Query{What: "reading what can be undone", Scoped: true,
		SQLite: `SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status,
				e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference,
				e.reason, e.request_id, e.details, e.held_after, e.address, e.till
			FROM json_each($2) AS w CROSS JOIN entry AS e
			WHERE e.account_id = $1 AND e.id = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
				SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance,
					e.status, e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until,
					e.reference, e.reason, e.request_id, e.details, e.held_after, e.address, e.till
				FROM entry AS e
				WHERE e.account_id = w.account_id AND e.id = w.key OFFSET 0) AS found`,
		Citus: `SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status,
				e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference,
				e.reason, e.request_id, e.details, e.held_after, e.address, e.till
			FROM entry AS e
			WHERE e.account_id = $1 AND e.id = ANY($2::BYTEA[])`}
	selectReversed = &db.Query{What: "reading reversals", Scoped: true,
		SQLite: `SELECT g.redemption_id, g.amount, g.parts
			FROM json_each($2) AS w CROSS JOIN given_back AS g
			WHERE g.account_id = $1 AND g.redemption_id = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
				SELECT g.redemption_id, g.amount, g.parts
				FROM given_back AS g
				WHERE g.account_id = w.account_id AND g.redemption_id = w.key OFFSET 0) AS found`,
		Citus: `SELECT g.redemption_id, g.amount, g.parts
			FROM given_back AS g
			WHERE g.account_id = $1 AND g.redemption_id = ANY($2::BYTEA[])`}
	selectCashOuts = &db.Query{What: "reading cash-outs", Scoped: true,
		Each: `SELECT e.account_id, e.voucher_id, e.id, e.seq FROM entry AS e
		WHERE e.account_id = $1 AND e.voucher_id = $2 AND e.kind = 'CASH_OUT' AND (SELECT g.parts FROM given_back AS g
			WHERE g.account_id = $1 AND g.redemption_id = e.id) IS NULL`}
	selectMissed = &db.Query{What: "reading wrong verification codes", Scoped: true,
		Each: `SELECT count(*) FROM entry AS e
			WHERE e.account_id = $1 AND e.voucher_id = $2 AND e.kind = 'WRONG_VERIFICATION_CODE' AND e.seq > $3`}
	selectDeliveredBy = &db.Query{What: "reading delivered by", Scoped: true,
		SQLite: `SELECT c.account_id, c.voucher_id, c.delivered_by
			FROM json_each($2) AS w CROSS JOIN card AS c
			WHERE c.account_id = $1 AND c.voucher_id = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
				SELECT c.account_id, c.voucher_id, c.delivered_by
				FROM card AS c
				WHERE c.account_id = w.account_id AND c.voucher_id = w.key OFFSET 0) AS found`,
		Citus: `SELECT c.account_id, c.voucher_id, c.delivered_by
			FROM card AS c
			WHERE c.account_id = $1 AND c.voucher_id = ANY($2::BYTEA[])`}
	selectCancelled = &db.Query{What: "reading cancellations", Scoped: true,
		Each: `SELECT e.account_id, e.voucher_id,
			(SELECT p.status FROM entry AS p WHERE p.account_id = e.account_id AND p.id = e.previous)
		FROM entry AS e WHERE e.account_id = $1 AND e.voucher_id = $2 AND e.kind = 'CANCELLATION' ORDER BY e.id DESC LIMIT 1`}
	selectTransferred = &db.Query{What: "reading transfers", Scoped: true,
		Each: `SELECT e.account_id, e.voucher_id FROM entry AS e
		WHERE e.account_id = $1 AND e.voucher_id = $2 AND e.kind IN ('TRANSFER_OUT', 'TRANSFER_IN') LIMIT 1`}
	selectCodes = &db.Query{What: "reading codes",
		Each:   `SELECT s.hash FROM secret AS s WHERE s.hash = $1`,
		SQLite: `SELECT s.hash FROM json_each($1) AS w CROSS JOIN secret AS s WHERE s.hash = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[]) AS w (key) CROSS JOIN LATERAL (
				SELECT s.hash
				FROM secret AS s
				WHERE s.hash = w.key OFFSET 0) AS found`}

	// updateBalance writes what redemptions change, updateHolds what holds do, and updateVoucher all that can change: a
	// column that is written has SQLite write its indexes, though it stays the same.
	updateBalance = &db.Query{What: "writing balances", Scoped: true, Exact: true,
		Each: `UPDATE voucher AS t SET balance = $2, status = $3, seq = $4, last = $5
			WHERE t.account_id = $1 AND t.id = $6 AND t.seq = $7`,
		Postgres: `WITH hit AS (
				UPDATE voucher AS t SET balance = w.balance, status = w.status, seq = w.seq, last = w.last
				FROM (SELECT * FROM unnest($1::BYTEA[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], $5::BYTEA[],
					$6::BYTEA[], $7::BIGINT[])
					AS r (account_id, balance, status, seq, last, id, was_seq) OFFSET 0) AS w
				WHERE t.account_id = w.account_id AND t.id = w.id AND t.seq = w.was_seq RETURNING 1
			) SELECT 1 / (count(*) = cardinality($2::BIGINT[]))::INT FROM hit`}
	updateHolds = &db.Query{What: "writing holds", Scoped: true, Exact: true,
		Each: `UPDATE voucher AS t SET balance = $2, status = $3, seq = $4, last = $5, held = $6, holds_end = $7,
				holds = $8
			WHERE t.account_id = $1 AND t.id = $9 AND t.seq = $10`,
		Postgres: `WITH hit AS (
				UPDATE voucher AS t SET balance = w.balance, status = w.status, seq = w.seq, last = w.last,
					held = w.held, holds_end = w.holds_end, holds = w.holds
				FROM (SELECT * FROM unnest($1::BYTEA[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], $5::BYTEA[],
					$6::BIGINT[], $7::BIGINT[], $8::TEXT[], $9::BYTEA[], $10::BIGINT[])
					AS r (account_id, balance, status, seq, last, held, holds_end, holds, id,
						was_seq) OFFSET 0) AS w
				WHERE t.account_id = w.account_id AND t.id = w.id AND t.seq = w.was_seq RETURNING 1
			) SELECT 1 / (count(*) = cardinality($2::BIGINT[]))::INT FROM hit`}
	updateVoucher = &db.Query{What: "writing vouchers", Scoped: true, Exact: true,
		Each: `UPDATE voucher AS t SET balance = $2, status = $3, seq = $4, last = $5, held = $6, holds_end = $7,
				holds = $8, loaded = $9, wrong_codes = $10, blocked = $11, extended = $12, replaced = $13
			WHERE t.account_id = $1 AND t.id = $14 AND t.seq = $15`,
		Postgres: `WITH hit AS (
				UPDATE voucher AS t SET balance = w.balance, status = w.status, seq = w.seq, last = w.last,
					held = w.held, holds_end = w.holds_end, holds = w.holds, loaded = w.loaded,
					wrong_codes = w.wrong_codes, blocked = w.blocked, extended = w.extended,
					replaced = w.replaced
				FROM (SELECT * FROM unnest($1::BYTEA[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], $5::BYTEA[],
					$6::BIGINT[], $7::BIGINT[], $8::TEXT[], $9::BIGINT[], $10::BIGINT[], $11::TEXT[],
					$12::BIGINT[], $13::BIGINT[], $14::BYTEA[], $15::BIGINT[])
					AS r (account_id, balance, status, seq, last, held, holds_end, holds, loaded, wrong_codes,
						blocked, extended, replaced, id, was_seq) OFFSET 0) AS w
				WHERE t.account_id = w.account_id AND t.id = w.id AND t.seq = w.was_seq RETURNING 1
			) SELECT 1 / (count(*) = cardinality($2::BIGINT[]))::INT FROM hit`}
	updateReplays = &db.Query{What: "noting replays", Scoped: true, Exact: true,
		Each: `UPDATE request AS t SET replays = t.replays + 1 WHERE t.account_id = $1 AND t.key = $2 AND t.operation = $3`,
		Postgres: `WITH hit AS (
				UPDATE request AS t SET replays = t.replays + 1
				FROM (SELECT * FROM unnest($1::BYTEA[], $2::TEXT[], $3::TEXT[])
					AS r (account_id, key, operation) OFFSET 0) AS w
				WHERE t.account_id = w.account_id AND t.key = w.key AND t.operation = w.operation RETURNING 1
			) SELECT 1 / (count(*) = cardinality($2::TEXT[]))::INT FROM hit`}
	updateCard = &db.Query{What: "noting deliveries", Scoped: true, Exact: true,
		Each: `UPDATE card AS t SET delivered_at = $2, delivered_by = $3
			WHERE t.account_id = $1 AND t.voucher_id = $4`,
		Postgres: `WITH hit AS (
				UPDATE card AS t SET delivered_at = w.delivered_at, delivered_by = w.delivered_by
				FROM (SELECT * FROM unnest($1::BYTEA[], $2::BIGINT[], $3::BYTEA[], $4::BYTEA[])
					AS r (account_id, delivered_at, delivered_by, voucher_id) OFFSET 0) AS w
				WHERE t.account_id = w.account_id AND t.voucher_id = w.voucher_id RETURNING 1
			) SELECT 1 / (count(*) = cardinality($2::BIGINT[]))::INT FROM hit`}
	updateSold = &db.Query{What: "noting purchases", Scoped: true, Exact: true,
		Each: `UPDATE card AS t SET reference = $2, first_name = $3, last_name = $4, email_address = $5,
				storefront_id = $6, delivered_at = $7
			WHERE t.account_id = $1 AND t.voucher_id = $8`,
		Postgres: `WITH hit AS (
				UPDATE card AS t SET reference = w.reference, first_name = w.first_name,
					last_name = w.last_name, email_address = w.email_address, storefront_id = w.storefront_id,
					delivered_at = w.delivered_at
				FROM (SELECT * FROM unnest($1::BYTEA[], $2::TEXT[], $3::TEXT[], $4::TEXT[], $5::TEXT[],
					$6::BYTEA[], $7::BIGINT[], $8::BYTEA[])
					AS r (account_id, reference, first_name, last_name, email_address, storefront_id,
						delivered_at, voucher_id) OFFSET 0) AS w
				WHERE t.account_id = w.account_id AND t.voucher_id = w.voucher_id RETURNING 1
			) SELECT 1 / (count(*) = cardinality($2::TEXT[]))::INT FROM hit`}
	deleteJobs = &db.Query{What: "finishing jobs", Scoped: true,
		Each: `DELETE FROM job AS t WHERE t.account_id = $1 AND t.id = $2`,
		Postgres: `DELETE FROM job AS t USING (SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[]) AS r (account_id, id) OFFSET 0) AS w
			WHERE t.account_id = w.account_id AND t.id = w.id`}
	addTally = &db.Query{What: "writing into tally",
		Each: `INSERT INTO tally (account_id, vouchers)
			VALUES ($1, $2) ON CONFLICT (account_id) DO UPDATE SET vouchers = tally.vouchers + excluded.vouchers`,
		Postgres: `INSERT INTO tally (account_id, vouchers)
			SELECT * FROM unnest($1::BYTEA[], $2::BIGINT[])
			ON CONFLICT (account_id) DO UPDATE SET vouchers = tally.vouchers + excluded.vouchers`}
	// insertGivenBack is for a database whose guards cannot do it.
	insertGivenBack = &db.Query{What: "writing into given_back",
		Each: `INSERT INTO given_back (account_id, redemption_id, amount, parts)
			VALUES ($1, $2, $3, $4)
			ON CONFLICT (account_id, redemption_id) DO UPDATE SET amount = given_back.amount + excluded.amount,
				parts = given_back.parts + excluded.parts`,
		Postgres: `INSERT INTO given_back (account_id, redemption_id, amount, parts)
			SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BIGINT[], $4::BIGINT[])
			ON CONFLICT (account_id, redemption_id) DO UPDATE SET amount = given_back.amount + excluded.amount,
				parts = given_back.parts + excluded.parts`}
	// lockSetup keeps the set-up from being changed; it keeps no other group waiting.
	lockSetup = &db.Query{What: "locking the set-up",
		Each:     `SELECT s.version FROM setup_version AS s WHERE s.one = $1`,
		Postgres: `SELECT s.version FROM setup_version AS s WHERE s.one = ANY($1::BIGINT[]) FOR SHARE`,
		Citus:    `SELECT s.version FROM setup_version AS s WHERE s.one = ANY($1::BIGINT[]) FOR SHARE`}
	selectAccountVersions = &db.Query{What: "reading when accounts were changed",
		Each:   `SELECT a.version FROM account AS a WHERE a.id = $1`,
		SQLite: `SELECT a.version FROM json_each($1) AS w CROSS JOIN account AS a WHERE a.id = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[]) AS w (key) CROSS JOIN LATERAL (
				SELECT a.version
				FROM account AS a
				WHERE a.id = w.key OFFSET 0) AS found`}
	insertUsed = &db.Query{What: "writing into used_record",
		Each: `INSERT INTO used_record (account_id, record_id)
			VALUES ($1, $2) ON CONFLICT (account_id, record_id) DO NOTHING`,
		Postgres: `INSERT INTO used_record (account_id, record_id)
			SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[]) ON CONFLICT (account_id, record_id) DO NOTHING`}
)

var groupQueries = []*db.Query{lockSetup, selectAccountVersions, selectVouchers, selectRequests, selectUndoable,
	selectReversed, selectCashOuts, selectMissed, selectDeliveredBy, selectCancelled, selectTransferred, selectCodes,
	updateVoucher, updateHolds, updateBalance, selectHoldEnds,
	record.SelectHolds, updateReplays, updateCard, updateSold, deleteJobs, selectDeliveries, selectJobs,
	selectResends, insertResend, updateDelivery, updateJob, addTally, insertGivenBack, insertUsed, feed.Insert,
	record.InsertTerms, record.InsertItems, record.InsertVoucher, record.InsertCard, record.InsertSecret,
	record.InsertSearch, record.InsertEntry, record.InsertRequest, record.InsertAnswer, record.SelectPlaces,
	insertJob, selectClocks, selectWriters, selectHead, insertChain, insertSheet, selectCounts, lockCounts,
	insertCounts, addCounts, deleteSecrets, markSecrets, updateSecrets}

// load reads what want names. Vouchers are locked first, in the order of their ids, so that groups of several writers
// wait for each other and never in a circle; what is read after them is as young as their lock.
func (g *group) load(ctx context.Context, want ledger.Want) error {
	g.loaded = make(map[ledger.Ref]gift.Voucher, len(want.Vouchers))
	g.state = ledger.State{
		Requests:    make(map[ledger.RequestKey]*ledger.Request),
		Undoable:    make(map[ledger.Ref]*gift.Undoable),
		Holds:       make(map[ledger.Ref]*gift.Held),
		Vouchers:    make(map[ledger.Ref]*gift.Voucher, len(want.Vouchers)),
		Codes:       make(map[gift.VoucherCode]bool),
		DeliveredBy: make(map[ledger.Ref]guid.ID),
		Resends:     make(map[ledger.Ref][]ledger.Resent),
		Deliveries:  make(map[ledger.Ref]*ledger.Delivery),
		Before:      make(map[ledger.Ref]gift.Status),
		Transferred: make(map[ledger.Ref]bool),
		CashOuts:    make(map[ledger.Ref]gift.CashOuts),
		Counts:      make(map[ledger.CountKey]merchant.Count),
	}
	vouchers, requests := want.Vouchers, want.Requests
	byKey := len(want.Undo) > 0
	if byKey || len(want.Undoable)+len(want.Holds) > 0 {
		undone, err := g.loadUndone(ctx, want)
		if err != nil {
			return err
		}
		vouchers = slices.Concat(vouchers, undone)
		if byKey && g.db.Writers() == 1 {
			requests = nil // nothing was written since
		}
	}
	known := len(g.state.Requests)
	batches := g.wantVouchers(vouchers)
	batches = append(batches, g.wantCounts(want.Counts, want.Heavy)...)
	batches = append(batches, g.wantRequests(requests)...)
	batches = append(batches, g.wantReversed()...)
	batches = append(batches, g.wantCashOuts()...)
	batches = append(batches, g.wantMissed()...)
	batches = append(batches, g.wantDeliveredBy(want.DeliveredBy)...)
	batches = append(batches, g.wantResends(want.Resends)...)
	batches = append(batches, g.wantDeliveries(want.Deliveries)...)
	batches = append(batches, g.wantCancelled(want.Cancelled)...)
	batches = append(batches, g.wantTransferred(want.Transferred)...)
	batches = append(batches, g.wantCodes()...)
	batches = append(batches, g.wantClocks(want.Clocks)...)
	if err := g.run(ctx, batches); err != nil {
		return err
	}
	if err := g.run(ctx, append(g.wantPlaces(), g.wantHoldEnds()...)); err != nil {
		return err
	}
	// A request of the group that was answered between its record being looked for and its voucher being locked may not
	// be decided a second time, not even to be refused without a record, on what the first time left.
	if byKey && len(g.state.Requests) > known {
		return fmt.Errorf("%w: a request was answered meanwhile", db.ErrOvertaken)
	}
	return nil
}

// loadUndone reads what is to be undone, and the holds that are to be captured, and gives their vouchers. Where
// something is named by the key that it was made with, the requests of the whole group are read on the way.
func (g *group) loadUndone(ctx context.Context, want ledger.Want) (vouchers []ledger.Ref, err error) {
	if len(want.Undo) > 0 {
		if err := g.run(ctx, g.wantRequests(slices.Concat(want.Requests, want.Undo))); err != nil {
			return nil, err
		}
	}
	entries, holds := slices.Clone(want.Undoable), slices.Clone(want.Holds)
	for _, k := range want.Undo {
		if r := g.state.Requests[k]; r != nil && !r.EntryID.IsZero() {
			into := &entries
			if k.Operation == gift.HoldGift {
				into = &holds
			}
			*into = append(*into, ledger.Ref{AccountID: k.AccountID, ID: r.EntryID})
		}
	}
	of := func(e *gift.Entry) ledger.Ref {
		vouchers = append(vouchers, ledger.Ref{AccountID: e.AccountID, ID: e.VoucherID})
		return ledger.Ref{AccountID: e.AccountID, ID: e.ID}
	}
	err = g.run(ctx, append(record.ByRef(selectUndoable, entries, func(from db.Scanner) error {
		u := new(gift.Undoable)
		err := from.Scan(record.EntryFields(&u.Entry)...)
		if u.Entry.Kind.Undoable() {
			g.state.Undoable[of(&u.Entry)] = u
		}
		return err
	}), record.ByRef(record.SelectHolds, holds, func(from db.Scanner) error {
		h := new(gift.Held)
		err := from.Scan(record.HoldFields(&h.Entry)...)
		g.state.Holds[of(&h.Entry)] = h
		return err
	})...))
	return vouchers, err
}

func (g *group) wantRequests(wanted []ledger.RequestKey) (batches []db.Batch) {
	wanted = record.DistinctKeys(wanted)
	scan := func(from db.Scanner) error {
		r, _, err := record.ScanRequest(g.db.Keys, from)
		if err != nil {
			return err
		}
		// The key may have served other operations too, and those may be wanted or not.
		if _, is := slices.BinarySearchFunc(wanted, r.RequestKey, record.CompareKeys); is {
			g.state.Requests[r.RequestKey] = &r
		}
		return nil
	}
	return record.ByAccount(wanted, func(k ledger.RequestKey) guid.ID { return k.AccountID },
		func(account guid.ID, of []ledger.RequestKey) db.Batch {
			w := db.Batch{Query: selectRequests, Account: account, Scan: scan, Shared: true}
			for i := range of {
				if i == 0 || of[i].Key != of[i-1].Key {
					w.Rows = append(w.Rows, []any{of[i].Key})
				}
			}
			return w
		})
}

// wantPlaces wants the locations that long answers tell of.
func (g *group) wantPlaces() (batches []db.Batch) {
	for _, r := range g.state.Requests {
		if r.Answer.Long.Size == 0 {
			continue
		}
		batches = append(batches, db.Batch{Query: record.SelectPlaces, Account: r.AccountID,
			Rows: [][]any{{r.Key, string(r.Operation)}}, Scan: func(from db.Scanner) error {
				var locations []byte
				err := from.Scan(&locations)
				r.Locations = db.SplitIDs(locations)
				return err
			}})
	}
	return batches
}

func (g *group) wantVouchers(wanted []ledger.Ref) (batches []db.Batch) {
	if g.db.Spread {
		batches = record.ByRef(lockVouchers, wanted, func(from db.Scanner) error { return from.Scan(new([]byte)) })
	}
	return append(batches, record.ByRef(selectVouchers, wanted, func(from db.Scanner) error {
		v := new(gift.Voucher)
		if err := from.Scan(record.VoucherFields(g.db.Keys, v)...); err != nil {
			return err
		}
		ref := ledger.Ref{AccountID: v.AccountID, ID: v.ID}
		g.state.Vouchers[ref] = v
		g.loaded[ref] = *v
		return nil
	})...)
}

// wantReversed wants to know how much was undone of what is loaded.
func (g *group) wantReversed() []db.Batch {
	return record.ByRef(selectReversed, slices.Collect(maps.Keys(g.state.Undoable)), func(from db.Scanner) error {
		var id guid.ID
		var sum money.Amount
		var parts int
		if err := from.Scan(db.ScanID(&id), &sum, &parts); err != nil {
			return err
		}
		for ref, of := range g.state.Undoable { // one, or a few when accounts share an id
			if ref.ID == id {
				of.Reversed, of.Parts = sum, parts
			}
		}
		return nil
	})
}

// wantCashOuts wants to know which cash-outs stand of the gifts whose redemptions are to be given back. A cash-out is
// taken back as a whole.
func (g *group) wantCashOuts() []db.Batch {
	var vouchers []ledger.Ref
	for ref, of := range g.state.Undoable {
		if of.Entry.Kind == gift.Redemption {
			vouchers = append(vouchers, ledger.Ref{AccountID: ref.AccountID, ID: of.Entry.VoucherID})
		}
	}
	return record.ByRef(selectCashOuts, vouchers, func(from db.Scanner) error {
		var ref ledger.Ref
		var id guid.ID
		var seq int
		if err := from.Scan(db.ScanID(&ref.AccountID), db.ScanID(&ref.ID), db.ScanID(&id), &seq); err != nil {
			return err
		}
		if g.state.CashOuts[ref] == nil {
			g.state.CashOuts[ref] = gift.CashOuts{}
		}
		g.state.CashOuts[ref][id] = seq
		return nil
	})
}

// wantMissed wants to know how many verification codes were mistyped since the activations that are to be taken back.
func (g *group) wantMissed() (batches []db.Batch) {
	for ref, of := range g.state.Undoable {
		if of.Entry.Kind == gift.Activation {
			batches = append(batches, db.Batch{Query: selectMissed, Account: ref.AccountID,
				Rows: [][]any{{db.KeyOf(of.Entry.VoucherID), of.Entry.Seq}},
				Scan: func(from db.Scanner) error { return from.Scan(&of.Missed) }})
		}
	}
	return batches
}

// wantHoldEnds wants to know what became of the loaded holds that are open no more.
func (g *group) wantHoldEnds() []db.Batch {
	var ended []ledger.Ref
	for ref, held := range g.state.Holds {
		v := g.state.Vouchers[ledger.Ref{AccountID: ref.AccountID, ID: held.Entry.VoucherID}]
		if v != nil && !slices.ContainsFunc(v.Holds, func(h gift.OpenHold) bool { return h.ID == ref.ID }) {
			ended = append(ended, ref)
		}
	}
	return record.ByRef(selectHoldEnds, ended, func(from db.Scanner) error {
		var e gift.Entry
		err := from.Scan(record.EntryFields(&e)...)
		held := g.state.Holds[ledger.Ref{AccountID: e.AccountID, ID: e.HoldID}]
		if held != nil && slices.Compare(held.Last.ID[:], e.ID[:]) < 0 {
			held.Last = e
		}
		return err
	})
}

// wantDeliveredBy wants to know which jobs delivered gifts. Whoever writes a card has locked its voucher.
func (g *group) wantDeliveredBy(wanted []ledger.Ref) []db.Batch {
	return record.ByRef(selectDeliveredBy, wanted, func(from db.Scanner) error {
		var ref ledger.Ref
		var job guid.ID
		err := from.Scan(db.ScanID(&ref.AccountID), db.ScanID(&ref.ID), db.ScanID(&job))
		g.state.DeliveredBy[ref] = job
		return err
	})
}

// wantCancelled wants to know what gifts were before they were taken out of use.
func (g *group) wantCancelled(wanted []ledger.Ref) []db.Batch {
	return record.ByRef(selectCancelled, wanted, func(from db.Scanner) error {
		var ref ledger.Ref
		var before gift.Status
		err := from.Scan(db.ScanID(&ref.AccountID), db.ScanID(&ref.ID), &before)
		g.state.Before[ref] = before
		return err
	})
}

// wantTransferred wants to know whether value was moved between gifts and others.
func (g *group) wantTransferred(wanted []ledger.Ref) []db.Batch {
	return record.ByRef(selectTransferred, wanted, func(from db.Scanner) error {
		var ref ledger.Ref
		err := from.Scan(db.ScanID(&ref.AccountID), db.ScanID(&ref.ID))
		g.state.Transferred[ref] = true
		return err
	})
}

func (g *group) wantCodes() []db.Batch {
	byHash := make(map[string]gift.VoucherCode, len(g.prepared.codes))
	w := db.Batch{Query: selectCodes, Scan: func(from db.Scanner) error {
		var hash []byte
		err := from.Scan(&hash)
		g.state.Codes[byHash[string(hash)]] = true
		return err
	}}
	for code, hashes := range g.prepared.codes {
		for _, hash := range hashes {
			byHash[string(hash)] = code
			w.Rows = append(w.Rows, []any{hash})
		}
	}
	if len(w.Rows) == 0 {
		return nil
	}
	slices.SortFunc(w.Rows, func(a, b []any) int { return bytes.Compare(a[0].([]byte), b[0].([]byte)) })
	return []db.Batch{w}
}

// save writes what was decided: locked rows first, then the rest, each in the order of its key. Last is what others of
// the account write, too, such as the tally, its one row: who has written that keeps them waiting until the commit.
func (g *group) save(ctx context.Context, c *ledger.Changes) error {
	used := g.saveUsed(c)
	if err := g.checkSetup(ctx); err != nil {
		return err
	}
	g.prepared.complete(g.Store, c.Gifts)
	row, first, err := g.chainEntries(ctx, c)
	if err != nil {
		return err
	}
	batches, err := g.saveVouchers(c.Vouchers)
	if err != nil {
		return err
	}
	batches = append(batches, g.saveGifts(c.Gifts)...)
	batches = append(batches, g.saveSearch(c))
	batches = append(batches, g.saveRekeyed(c.Rekeyed)...)
	batches = append(batches, saveSold(c.Sold)...)
	slices.SortStableFunc(c.Requests, func(a, b ledger.Request) int {
		return record.CompareKeys(a.RequestKey,
			b.RequestKey)
	})
	requests, answers := record.RequestRows(g.db.Keys, c.Requests, g.prepared.answers)
	batches = append(batches, row, entryRows(c.Entries, first), g.saveEvents(c.Entries), requests, answers)
	batches = append(batches, g.saveGivenBack(c.Entries), record.RowsOf(insertJob, c.Jobs, jobRow),
		record.RowsOf(insertSheet, c.Sheets,
			g.sheetRow))
	batches = append(batches, saveReplays(c.Replays)...)
	batches = append(batches, saveResends(c)...)
	batches = append(batches, saveRescheduled(c.Rescheduled)...)
	batches = append(batches, saveDone(c.Done)...)
	batches = append(batches, g.saveCounts(c.Counts))
	if len(c.Most) > 0 {
		if err := g.runWithin(ctx, withRows(batches), c.Most); err != nil {
			return err
		}
		batches = nil
	}
	batches = append(batches, used, saveTally(c.Gifts))
	return g.run(ctx, withRows(batches))
}

func withRows(batches []db.Batch) []db.Batch {
	return slices.DeleteFunc(batches, func(w db.Batch) bool { return len(w.Rows) == 0 })
}

func (g *group) saveGifts(gifts []gift.Gift) []db.Batch {
	terms, vouchers := db.Batch{Query: record.InsertTerms}, db.Batch{Query: record.InsertVoucher}
	cards, secrets := db.Batch{Query: record.InsertCard}, db.Batch{Query: record.InsertSecret}
	for i := range gifts {
		r := g.prepared.gifts[record.RefOf(&gifts[i].Voucher)]
		if r.terms != nil {
			terms.Rows = append(terms.Rows, r.terms)
		}
		vouchers.Rows, cards.Rows = append(vouchers.Rows, r.voucher), append(cards.Rows, r.card)
		secrets.Rows = append(secrets.Rows, r.code, r.token)
	}
	slices.SortFunc(terms.Rows, func(a, b []any) int { return bytes.Compare(a[1].([]byte), b[1].([]byte)) })
	slices.SortFunc(secrets.Rows, func(a, b []any) int { return bytes.Compare(a[0].([]byte), b[0].([]byte)) })
	return []db.Batch{terms, record.SaveItems(gifts), vouchers, cards, secrets}
}

// saveVouchers writes vouchers that were loaded and are still as they were then.
func (g *group) saveVouchers(changed []gift.Voucher) ([]db.Batch, error) {
	for i := range changed {
		if _, ok := g.loaded[record.RefOf(&changed[i])]; !ok {
			return nil, fmt.Errorf("voucher %s was changed without having been loaded", changed[i].ID)
		}
	}
	changed = slices.Clone(changed)
	slices.SortFunc(changed, func(a, b gift.Voucher) int { return record.CompareRefs(record.RefOf(&a), record.RefOf(&b)) })
	update := func(q *db.Query, changed []gift.Voucher, row func(*gift.Voucher, int) []any) []db.Batch {
		return record.ByAccount(changed, func(v gift.Voucher) guid.ID { return v.AccountID },
			func(account guid.ID, of []gift.Voucher) db.Batch {
				w := record.RowsOf(q, of, func(v *gift.Voucher) []any { return row(v, g.loaded[record.RefOf(v)].Seq) })
				w.Account = account
				return w
			})
	}
	const balance, holds, all = 0, 1, 2
	var by [all + 1][]gift.Voucher // what of them changed
	for _, v := range changed {
		before, what := g.loaded[record.RefOf(&v)], balance
		if v.Holds != nil || before.Holds != nil {
			what = holds
		}
		if v.Loaded != before.Loaded || v.WrongCodes != before.WrongCodes || v.Blocked != before.Blocked ||
			!v.Extended.Equal(before.Extended) || v.Replaced != before.Replaced {
			what = all
		}
		by[what] = append(by[what], v)
	}
	return slices.Concat(update(updateBalance, by[balance], func(v *gift.Voucher, seq int) []any {
		return []any{int64(v.Balance), int64(v.Status), v.Seq, db.KeyOf(v.Last), db.KeyOf(v.ID), seq}
	}), update(updateHolds, by[holds], func(v *gift.Voucher, seq int) []any {
		held, end, list := record.HoldColumns(v.Holds)
		return []any{int64(v.Balance), int64(v.Status), v.Seq, db.KeyOf(v.Last), held, end, list, db.KeyOf(v.ID), seq}
	}), update(updateVoucher, by[all], func(v *gift.Voucher, seq int) []any {
		held, end, list := record.HoldColumns(v.Holds)
		return []any{int64(v.Balance), int64(v.Status), v.Seq, db.KeyOf(v.Last), held, end, list, int64(v.Loaded),
			v.WrongCodes, string(v.Blocked), db.Micros(v.Extended), v.Replaced, db.KeyOf(v.ID), seq}
	})), nil
}

// saveGivenBack notes what was undone, where no guard on entries does.
func (g *group) saveGivenBack(entries []gift.Entry) db.Batch {
	w := db.Batch{Query: insertGivenBack}
	for i := range entries {
		if e := &entries[i]; g.db.Spread && !e.Reverses.IsZero() {
			w.Rows = append(w.Rows, []any{db.KeyOf(e.AccountID), db.KeyOf(e.Reverses), int64(max(e.Delta, -e.Delta)), 1})
		}
	}
	return w
}

// saveEvents notes which entries the commit makes, where no guard on entries does.
func (g *group) saveEvents(entries []gift.Entry) db.Batch {
	if g.db.File == "" && !g.db.Spread {
		return db.Batch{}
	}
	return db.Batch{Query: feed.Insert, Rows: feed.Rows(entries)}
}

// saveReplays writes to every record whose answer is given again: only a commit that writes waits for a standby, and
// so shows that the record itself has arrived there.
func saveReplays(replayed []ledger.RequestKey) []db.Batch {
	return record.ByAccount(record.DistinctKeys(replayed), func(k ledger.RequestKey) guid.ID { return k.AccountID },
		func(account guid.ID, of []ledger.RequestKey) db.Batch {
			w := record.RowsOf(updateReplays, of, func(k *ledger.RequestKey) []any { return []any{k.Key, string(k.Operation)} })
			w.Account = account
			return w
		})
}

// saveDone finishes jobs. One that is gone was finished by another worker, after a lease had run out.
func saveDone(done []ledger.Done) []db.Batch {
	jobs := make([]ledger.Ref, len(done))
	delivered := map[ledger.Ref]ledger.Done{}
	for i, d := range done {
		jobs[i] = ledger.Ref{AccountID: d.AccountID, ID: d.JobID}
		if !d.DeliveredAt.IsZero() {
			delivered[ledger.Ref{AccountID: d.AccountID, ID: d.VoucherID}] = d
		}
	}
	cards := slices.SortedFunc(maps.Keys(delivered), record.CompareRefs)
	return append(record.ByRef(deleteJobs, jobs, nil),
		record.ByAccount(cards, func(r ledger.Ref) guid.ID { return r.AccountID },
			func(account guid.ID, of []ledger.Ref) db.Batch {
				w := record.RowsOf(updateCard, of, func(r *ledger.Ref) []any {
					d := delivered[*r]
					return []any{db.Micros(d.DeliveredAt), db.KeyOf(d.JobID), db.KeyOf(r.ID)}
				})
				w.Account = account
				return w
			})...)
}

// saveSold writes what cards say of their purchase; the newest of each card stands.
func saveSold(sold []ledger.Sold) []db.Batch {
	newest := map[ledger.Ref]ledger.Sold{}
	for _, c := range sold {
		newest[ledger.Ref{AccountID: c.AccountID, ID: c.VoucherID}] = c
	}
	return record.ByAccount(slices.SortedFunc(maps.Keys(newest), record.CompareRefs),
		func(r ledger.Ref) guid.ID { return r.AccountID }, func(account guid.ID, of []ledger.Ref) db.Batch {
			w := record.RowsOf(updateSold, of, func(r *ledger.Ref) []any {
				c := newest[*r]
				p := &c.Purchase
				return []any{p.Reference, p.FirstName, p.LastName, p.EmailAddress, db.OrNull(p.StorefrontID), db.Micros(c.At),
					db.KeyOf(r.ID)}
			})
			w.Account = account
			return w
		})
}

// saveTally adds new gifts to the number of their account's.
func saveTally(gifts []gift.Gift) db.Batch {
	added := map[guid.ID]int{}
	for i := range gifts {
		added[gifts[i].AccountID]++
	}
	accounts := slices.SortedFunc(maps.Keys(added), func(a, b guid.ID) int { return slices.Compare(a[:], b[:]) })
	return record.RowsOf(addTally, accounts, func(a *guid.ID) []any { return []any{db.KeyOf(*a), added[*a]} })
}

// saveUsed notes which records of the set-up are in use now.
func (g *group) saveUsed(c *ledger.Changes) db.Batch {
	note := func(account, record guid.ID) {
		ref := ledger.Ref{AccountID: account, ID: record}
		if !record.IsZero() && !g.used.has(ref) && !slices.Contains(g.newlyUsed, ref) {
			g.newlyUsed = append(g.newlyUsed, ref)
		}
	}
	for i := range c.Gifts {
		v := &c.Gifts[i]
		for _, record := range []guid.ID{v.ProgramID, v.LocationID, v.PromotionID, v.Card.DesignID,
			v.Card.Purchase.StorefrontID} {
			note(v.AccountID, record)
		}
	}
	for i := range c.Entries {
		note(c.Entries[i].AccountID, c.Entries[i].Actor.LocationID)
		note(c.Entries[i].AccountID, c.Entries[i].Purchase.StorefrontID)
	}
	slices.SortFunc(g.newlyUsed, record.CompareRefs)
	return record.RowsOf(insertUsed, g.newlyUsed, func(r *ledger.Ref) []any {
		return []any{db.KeyOf(r.AccountID), db.KeyOf(r.ID)}
	})
}

// errOtherSetup tells that a group was judged by an account as it was before its last change.
var errOtherSetup = errors.New("the set-up was changed meanwhile")

// checkSetup refuses the first use of records of an account that was changed after the group was judged: they may have
// been removed, or the currency be another. Until the commit nobody changes the set-up; who does then finds the use.
func (g *group) checkSetup(ctx context.Context) error {
	if g.setup == 0 || len(g.newlyUsed) == 0 {
		return nil
	}
	var newest int64
	accounts := db.Batch{Query: selectAccountVersions, Scan: func(from db.Scanner) error {
		var version int64
		err := from.Scan(&version)
		newest = max(newest, version)
		return err
	}}
	for n, r := range g.newlyUsed {
		if n == 0 || r.AccountID != g.newlyUsed[n-1].AccountID {
			accounts.Rows = append(accounts.Rows, []any{db.KeyOf(r.AccountID)})
		}
	}
	err := g.run(ctx, []db.Batch{{Query: lockSetup, Rows: [][]any{{1}}}, accounts})
	if err == nil && newest > g.setup {
		err = errOtherSetup
	}
	return err
}

// usedRecords remembers which records are known to be noted as used, so that they are not written with every
// redemption. Nothing is ever taken out of the table behind it.
type usedRecords struct {
	mu    sync.Mutex
	known map[ledger.Ref]bool
}

func (u *usedRecords) has(r ledger.Ref) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.known[r]
}

// commit adds what is in the database now.
func (u *usedRecords) commit(refs []ledger.Ref) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.known == nil {
		u.known = map[ledger.Ref]bool{}
	}
	for _, r := range refs {
		u.known[r] = true
	}
}

// forget reads it all anew.
func (u *usedRecords) forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.known = nil
}

func entryRows(entries []gift.Entry, first chain.Place) db.Batch {
	w := db.Batch{Query: record.InsertEntry, Rows: make([][]any, len(entries))}
	for i := range entries {
		w.Rows[i] = record.EntryRow(&entries[i], chain.Place{Writer: first.Writer, N: first.N + int64(i)})
	}
	return w
}

// saveSearch notes what new gifts are found by, and those that got a rare status, another code or another address.
// What they were found by before finds them still.
func (g *group) saveSearch(c *ledger.Changes) db.Batch {
	w := db.Batch{Query: record.InsertSearch}
	add := func(account, voucher guid.ID, text string) {
		w.Rows = append(w.Rows, []any{db.KeyOf(account), g.db.Keys.SearchHash(account, text), db.KeyOf(voucher)})
	}
	for i := range c.Gifts {
		w.Rows = append(w.Rows, g.prepared.gifts[record.RefOf(&c.Gifts[i].Voucher)].search...)
	}
	for i := range c.Vouchers {
		if v := &c.Vouchers[i]; record.Rare[v.Status] {
			add(v.AccountID, v.ID, record.ByStatus+v.Status.String())
		}
	}
	for _, r := range c.Rekeyed {
		add(r.AccountID, r.VoucherID, record.ByLastFour+r.Code.LastFour())
	}
	for _, r := range c.DeliveryChanges {
		if r.Delivery.Contact != "" {
			add(r.AccountID, r.VoucherID, record.ByContact+contact.Fold(r.Delivery.Contact))
		}
	}
	slices.SortFunc(w.Rows, func(a, b []any) int { return bytes.Compare(a[1].([]byte), b[1].([]byte)) })
	return w
}
