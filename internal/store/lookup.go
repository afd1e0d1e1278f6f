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
)

// gathering is where look-ups of secrets meet, so that one statement answers several: in a database that is in this process, most of a
// look-up is the beginning and the end of its statement; in one elsewhere, the way there and back. Nobody waits for others to come. Who
// comes while a statement runs is in the next one; and a statement sees all that was committed before it began.
type gathering struct {
	mu      sync.Mutex
	waiting []*sought
	running int
}

// sought is a gift that somebody waits for.
type sought struct {
	ctx  context.Context // its caller's
	kind string
	hash []byte
	done chan struct{}

	// Once done:
	gift gift.Gift
	err  error
}

// maxRunning is how many statements read at once: two, so that one whose pages come from the disk does not hold up everybody.
const maxRunning = 2

// find finds the gift whose secret has a hash, together with those that others look for. Who waits for a statement that hangs has the dialect's
// patience from when it came.
func (s *Store) find(ctx context.Context, kind string, hash []byte) (gift.Gift, error) {
	if s.dialect.patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.dialect.patience)
		defer cancel()
	}
	w, l := &sought{ctx: ctx, kind: kind, hash: hash, done: make(chan struct{})}, &s.secrets
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

// lookUpAll looks up until nobody waits.
func (s *Store) lookUpAll() {
	for all := s.secrets.next(s.dialect.together); len(all) > 0; all = s.secrets.next(s.dialect.together) {
		err := s.dialect.find(context.Background(), s, all)
		for _, w := range all {
			w.err = cmp.Or(err, w.err)
			close(w.done)
		}
	}
}

// next gives those who are looked up next, at most n; none, and the caller runs no longer. Who has gone is not looked up.
func (l *gathering) next(n int) (all []*sought) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = slices.DeleteFunc(l.waiting, func(w *sought) bool { return w.ctx.Err() != nil })
	n = min(len(l.waiting), n)
	all, l.waiting = l.waiting[:n:n], l.waiting[n:]
	if n == 0 {
		l.running--
	}
	return all
}

// The joins are in the order in which they are made.
var selectBySecret, selectBySecrets = byKeys(`SELECT s.hash, s.kind, `+voucherAndItems+`, `+cardAndTerms+` FROM secret AS s
	CROSS JOIN voucher AS v ON v.account_id = s.account_id AND v.id = s.voucher_id
	CROSS JOIN card AS c ON c.account_id = v.account_id AND c.voucher_id = v.id WHERE s.hash {keys}`, 1)

// findJoined answers those who are looked up, perStatement at most, all with one statement. The error is none of theirs alone.
func findJoined(ctx context.Context, s *Store, all []*sought) error {
	text, args := selectBySecret, []any{all[0].hash}
	if len(all) > 1 {
		text = selectBySecrets
		for i := 1; i < perStatement; i++ {
			args = append(args, all[min(i, len(all)-1)].hash)
		}
	}
	found, err := collect(ctx, s, text, args, s.scanSought)
	answer(all, found)
	return err
}

// scanSought reads what was found for a hash.
func (s *Store) scanSought(from scanner) (f sought, err error) {
	f.gift, f.err, err = s.scanGift(from, &f.hash, &f.kind)
	return f, err
}

// answer hands what was found to those who look for it.
func answer(all []*sought, found []sought) {
	for _, w := range all {
		w.err = gift.NotFound
		for i := range found {
			if f := &found[i]; f.kind == w.kind && bytes.Equal(f.hash, w.hash) {
				w.gift, w.err = f.gift, f.err
			}
		}
	}
}

// selectSought is selectBySecrets with an array of hashes. What is in it in brackets is found by a whole key: see finding.
var selectSought = &statement{what: "looking up secrets", piped: `SELECT found.* FROM unnest($1::BYTEA[]) AS wanted (k)
	CROSS JOIN LATERAL (SELECT s.hash, s.kind, g.* FROM secret AS s
		CROSS JOIN LATERAL (` + selectGift + ` WHERE v.account_id = s.account_id AND v.id = s.voucher_id OFFSET 0) AS g
		WHERE s.hash = wanted.k OFFSET 0) AS found`}

// findPipelined answers those who are looked up in one round trip; in two where accounts are spread over machines.
func findPipelined(ctx context.Context, s *Store, all []*sought) error {
	if s.spread {
		return findInSteps(ctx, s, all)
	}
	w := work{statement: selectSought, rows: make([][]any, len(all))}
	for i := range all {
		w.rows[i] = []any{all[i].hash}
	}
	return s.ask(ctx, func(ctx context.Context) error {
		var found []sought
		w.take = func(from scanner) error {
			f, err := s.scanSought(from)
			found = append(found, f)
			return err
		}
		err := s.readPipelined(ctx, func(run runner) error { return run(ctx, []work{w}) })
		answer(all, found)
		return err
	})
}

var (
	selectOwners = finding("owners", `SELECT s.hash, s.kind, s.account_id, s.voucher_id FROM secret AS s WHERE s.hash {keys}`, "B", false)
	selectGifts  = finding("gifts", selectGift+` WHERE v.account_id = $1 AND v.id {keys}`, "B", true)
)

// findInSteps answers those who are looked up in two round trips: the first asks the machines that have the hashes whose gifts they are, the
// second those that have the accounts. The error is none of theirs alone.
func findInSteps(ctx context.Context, s *Store, all []*sought) error {
	return s.ask(ctx, func(ctx context.Context) error {
		return s.readPipelined(ctx, func(run runner) error {
			owned, err := findOwners(ctx, run, all)
			if err != nil {
				return fmt.Errorf("looking up secrets: %w", err)
			}
			refs := slices.Collect(maps.Keys(owned))
			err = run(ctx, byRef(selectGifts, refs, func(from scanner) error {
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

// findOwners tells who looks for which gift. Those who look for none have their answer.
func findOwners(ctx context.Context, run runner, all []*sought) (map[ledger.Ref][]*sought, error) {
	byHash := make(map[string][]*sought, len(all))
	owners := work{statement: selectOwners}
	for _, w := range all {
		w.err = gift.NotFound
		if byHash[string(w.hash)] == nil {
			owners.rows = append(owners.rows, []any{w.hash})
		}
		byHash[string(w.hash)] = append(byHash[string(w.hash)], w)
	}
	owned := make(map[ledger.Ref][]*sought, len(all))
	owners.take = func(from scanner) error {
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
	return owned, run(ctx, []work{owners})
}
