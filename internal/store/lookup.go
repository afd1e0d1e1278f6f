package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
)

// lookupBatcher is a data loader for secrets: one statement answers several look-ups. In a database that is in this
// process, most of a look-up is the beginning and the end of its statement; in one elsewhere, the round trip. No
// look-up waits for others to come: those that come while a statement runs are in the next one. A statement sees all
// that was committed before it began.
type lookupBatcher struct {
	mu      sync.Mutex
	waiting []*pendingLookup
	running int
}

// pendingLookup is a look-up without an answer yet.
type pendingLookup struct {
	ctx  context.Context // its caller's
	kind string
	hash []byte
	done chan struct{}

	// Once done:
	gift gift.Gift
	err  error
}

// maxRunning is how many statements read at once: two, so that one whose pages come from the disk does not hold up the
// others.
const maxRunning = 2

// lookUpSecret finds the gift whose secret has a hash, together with other look-ups, within the dialect's timeout.
func (s *Store) lookUpSecret(ctx context.Context, kind string, hash []byte) (gift.Gift, error) {
	if s.dialect.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.dialect.timeout)
		defer cancel()
	}
	w, l := &pendingLookup{ctx: ctx, kind: kind, hash: hash, done: make(chan struct{})}, &s.secrets
	l.mu.Lock()
	l.waiting = append(l.waiting, w)
	if l.running < maxRunning {
		l.running++
		go s.lookUpAll()
	}
	l.mu.Unlock()
	select {
	case <-w.done:
		return w.gift, w.err
	case <-ctx.Done():
		return gift.Gift{}, ctx.Err()
	}
}

// lookUpAll looks up until nothing is pending.
func (s *Store) lookUpAll() {
	for all := s.secrets.next(s.dialect.maxBatch); len(all) > 0; all = s.secrets.next(s.dialect.maxBatch) {
		err := s.dialect.lookUp(context.Background(), s, all)
		for _, w := range all {
			w.err = cmp.Or(err, w.err)
			close(w.done)
		}
	}
}

// next gives the next look-ups, at most n; none, and the caller runs no longer. Those whose callers have gone are left
// out.
func (l *lookupBatcher) next(n int) (all []*pendingLookup) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = slices.DeleteFunc(l.waiting, func(w *pendingLookup) bool { return w.ctx.Err() != nil })
	n = min(len(l.waiting), n)
	all, l.waiting = l.waiting[:n:n], l.waiting[n:]
	if n == 0 {
		l.running--
	}
	return all
}

// The joins are in the order in which they are made.
var selectBySecret, selectBySecrets = db.ByKeys(`SELECT s.hash, s.kind, `+voucherAndItems+`, `+cardAndTerms+` FROM secret AS s
	CROSS JOIN voucher AS v ON v.account_id = s.account_id AND v.id = s.voucher_id
	CROSS JOIN card AS c ON c.account_id = v.account_id AND c.voucher_id = v.id WHERE s.hash {keys}`, 1)

// lookUpByList answers look-ups, db.RowsPerQuery at most, with one statement. The error is none of theirs alone.
func lookUpByList(ctx context.Context, s *Store, all []*pendingLookup) error {
	text, args := selectBySecret, []any{all[0].hash}
	if len(all) > 1 {
		text = selectBySecrets
		for i := 1; i < db.RowsPerQuery; i++ {
			args = append(args, all[min(i, len(all)-1)].hash)
		}
	}
	found, err := collect(ctx, s, text, args, s.scanLookup)
	answer(all, found)
	return err
}

// scanLookup reads what was found for a hash.
func (s *Store) scanLookup(from db.Scanner) (f pendingLookup, err error) {
	f.gift, f.err, err = s.scanGift(from, &f.hash, &f.kind)
	return f, err
}

// answer hands what was found to the look-ups.
func answer(all []*pendingLookup, found []pendingLookup) {
	for _, w := range all {
		w.err = gift.NotFound
		for i := range found {
			if f := &found[i]; f.kind == w.kind && bytes.Equal(f.hash, w.hash) {
				w.gift, w.err = f.gift, f.err
			}
		}
	}
}

// selectByHashes is selectBySecrets with an array of hashes. What is in it in brackets is found by a whole key: see
// db.SelectByKeys.
var selectByHashes = &db.Query{What: "looking up secrets", Arrays: `SELECT found.* FROM unnest($1::BYTEA[]) AS wanted (k)
	CROSS JOIN LATERAL (SELECT s.hash, s.kind, g.* FROM secret AS s
		CROSS JOIN LATERAL (` + selectGift + ` WHERE v.account_id = s.account_id AND v.id = s.voucher_id OFFSET 0) AS g
		WHERE s.hash = wanted.k OFFSET 0) AS found`}

// lookUpByArray answers look-ups in one round trip; in two where accounts are spread over machines.
func lookUpByArray(ctx context.Context, s *Store, all []*pendingLookup) error {
	if s.spread {
		return lookUpInSteps(ctx, s, all)
	}
	w := db.Batch{Query: selectByHashes, Rows: make([][]any, len(all))}
	for i := range all {
		w.Rows[i] = []any{all[i].hash}
	}
	return s.retry(ctx, func(ctx context.Context) error {
		var found []pendingLookup
		w.Scan = func(from db.Scanner) error {
			f, err := s.scanLookup(from)
			found = append(found, f)
			return err
		}
		err := s.readPostgres(ctx, func(run db.Runner) error { return run(ctx, []db.Batch{w}) })
		answer(all, found)
		return err
	})
}

var (
	selectOwners = db.SelectByKeys("owners",
		`SELECT s.hash, s.kind, s.account_id, s.voucher_id FROM secret AS s WHERE s.hash {keys}`, "B", false)
	selectGifts = db.SelectByKeys("gifts", selectGift+` WHERE v.account_id = $1 AND v.id {keys}`, "B", true)
)

// lookUpInSteps answers look-ups in two round trips: the first asks the machines that have the hashes whose gifts they
// are, the second those that have the accounts. The error is none of theirs alone.
func lookUpInSteps(ctx context.Context, s *Store, all []*pendingLookup) error {
	return s.retry(ctx, func(ctx context.Context) error {
		return s.readPostgres(ctx, func(run db.Runner) error {
			owned, err := lookUpOwners(ctx, run, all)
			if err != nil {
				return fmt.Errorf("looking up secrets: %w", err)
			}
			refs := slices.Collect(maps.Keys(owned))
			err = run(ctx, byRef(selectGifts, refs, func(from db.Scanner) error {
				g, closed, err := s.scanGift(from)
				for _, w := range owned[refOf(&g.Voucher)] {
					w.gift, w.err = g, closed
				}
				return err
			}))
			if err != nil {
				return fmt.Errorf("reading gifts: %w", err)
			}
			return nil
		})
	})
}

// lookUpOwners tells which look-ups are for which gift. Those for none have their answer.
func lookUpOwners(ctx context.Context, run db.Runner, all []*pendingLookup) (map[ledger.Ref][]*pendingLookup, error) {
	byHash := make(map[string][]*pendingLookup, len(all))
	owners := db.Batch{Query: selectOwners}
	for _, w := range all {
		w.err = gift.NotFound
		if byHash[string(w.hash)] == nil {
			owners.Rows = append(owners.Rows, []any{w.hash})
		}
		byHash[string(w.hash)] = append(byHash[string(w.hash)], w)
	}
	owned := make(map[ledger.Ref][]*pendingLookup, len(all))
	owners.Scan = func(from db.Scanner) error {
		var hash []byte
		var kind string
		var ref ledger.Ref
		err := from.Scan(&hash, &kind, scanID{&ref.AccountID}, scanID{&ref.ID})
		for _, w := range byHash[string(hash)] {
			if w.kind == kind {
				owned[ref] = append(owned[ref], w)
			}
		}
		return err
	}
	return owned, run(ctx, []db.Batch{owners})
}
