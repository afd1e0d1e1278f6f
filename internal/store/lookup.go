package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"sync"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// gathering is where look-ups of secrets meet, so that one statement answers several: in a database that is in this process, most of a
// look-up is the beginning and the end of its statement. Nobody waits for others to come. Who comes while a statement runs is in the
// next one; and a statement sees all that was committed before it began.
type gathering struct {
	mu      sync.Mutex
	waiting []*sought
	running int
}

// sought is a gift that somebody waits for.
type sought struct {
	kind string
	hash []byte
	done chan struct{}

	// Once done:
	gift gift.Gift
	err  error
}

// maxRunning is how many statements read at once: two, so that one whose pages come from the disk does not hold up everybody.
const maxRunning = 2

// The joins are in the order in which they are made.
var selectBySecret, selectBySecrets = byKeys(`SELECT s.hash, s.kind, `+voucherColumns+`, `+cardColumns+` FROM secret AS s
	CROSS JOIN voucher AS v ON v.account_id = s.account_id AND v.id = s.voucher_id
	CROSS JOIN card AS c ON c.account_id = v.account_id AND c.voucher_id = v.id WHERE s.hash {keys}`, 1)

// findTogether finds the gift whose secret has a hash, in one statement with those that others look for.
func findTogether(ctx context.Context, s *Store, kind string, hash []byte) (gift.Gift, error) {
	w, l := &sought{kind: kind, hash: hash, done: make(chan struct{})}, &s.secrets
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
	for all := s.secrets.next(); len(all) > 0; all = s.secrets.next() {
		err := s.find(all)
		for _, w := range all {
			w.err = cmp.Or(err, w.err)
			close(w.done)
		}
	}
}

// next gives those who are looked up next; none, and the caller runs no longer.
func (l *gathering) next() (all []*sought) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.waiting), perStatement)
	all, l.waiting = l.waiting[:n:n], l.waiting[n:]
	if n == 0 {
		l.running--
	}
	return all
}

// find answers those who are looked up, all with one statement. The error is none of theirs alone.
func (s *Store) find(all []*sought) error {
	text, args := selectBySecret, []any{all[0].hash}
	if len(all) > 1 {
		text = selectBySecrets
		for i := 1; i < perStatement; i++ {
			args = append(args, all[min(i, len(all)-1)].hash)
		}
	}
	found, err := collect(context.Background(), s, text, args, func(from scanner) (f sought, err error) {
		f.gift, f.err, err = s.scanGift(from, &f.hash, &f.kind)
		return f, err
	})
	for _, w := range all {
		w.err = gift.NotFound
		for i := range found {
			if f := &found[i]; f.kind == w.kind && bytes.Equal(f.hash, w.hash) {
				w.gift, w.err = f.gift, f.err
			}
		}
	}
	return err
}

// findInSteps finds the gift whose secret has a hash: first whose it is, then the gift. Where accounts are spread over machines, the first
// step asks the one that has the hash, the second the one that has the account.
func findInSteps(ctx context.Context, s *Store, kind string, hash []byte) (gift.Gift, error) {
	const selectOwner = `SELECT s.account_id, s.voucher_id FROM secret AS s WHERE s.hash = $1 AND s.kind = $2`
	owners, err := collect(ctx, s, selectOwner, []any{hash, kind}, func(from scanner) (r ledger.Ref, err error) {
		err = from.Scan(scanID{&r.AccountID}, scanID{&r.ID})
		return r, err
	})
	switch {
	case err != nil:
		return gift.Gift{}, fmt.Errorf("looking up a secret: %w", err)
	case len(owners) == 0:
		return gift.Gift{}, gift.NotFound
	}
	return s.Gift(ctx, owners[0].AccountID, owners[0].ID)
}
