package store

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/money"
	"boon.example/internal/store/db"
)

// raw is an entry that is written past the rules.
type raw struct {
	kind        gift.Kind
	delta, held money.Amount
	undoes      int // the number of the entry that it undoes; 0: none
}

// takes reports whether the database takes some entries after the first of a gift, the second of which holds something.
// Nothing of it stays.
func takes(t *testing.T, s *Store, g *gift.Gift, entries ...raw) error {
	t.Helper()
	tx, err := s.db.Writer.BeginTx(t.Context(), nil)
	must(t, err)
	defer tx.Rollback() //nolint:errcheck // it was only tried
	ids, balance := []guid.ID{g.Last}, g.Balance
	for n, e := range append([]raw{{kind: gift.HoldMade, held: 5}}, entries...) {
		id := newID()
		var reverses, hold, until any
		if e.undoes > 0 {
			reverses = db.KeyOf(ids[e.undoes-1])
		}
		if e.held < 0 {
			hold = db.KeyOf(ids[1])
		}
		if e.held > 0 || e.kind == gift.Extended {
			until = 2
		}
		balance += e.delta
		// CANCELLED, which fits every balance, and before a reinstatement
		_, err := tx.ExecContext(t.Context(), `INSERT INTO entry (account_id, voucher_id, id, seq, previous, kind, delta, balance,
			status, made_at, reverses, hold_id, held, held_until, reference, reason, request_id, writer, n)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 7, 1, $9, $10, $11, $12, '', '', '', $1, $4)`,
			db.KeyOf(g.AccountID), db.KeyOf(g.ID), db.KeyOf(id), n+2, db.KeyOf(ids[n]), string(e.kind), int64(e.delta),
			int64(balance), reverses, hold, int64(e.held), until)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	return nil
}

// by is an amount by which an entry of a kind may change the balance.
func by(kind gift.Kind) money.Amount {
	for _, delta := range []money.Amount{0, -1} {
		if kind.Balance().Allows(delta) {
			return delta
		}
	}
	return 1
}

// undone is a kind that an entry of another one undoes; "": it undoes none.
func undone(by gift.Kind) gift.Kind {
	for _, kind := range gift.Kinds() {
		if kind.Undoable() && kind.UndoneBy() == by {
			return kind
		}
	}
	return ""
}

// testSchemaKnowsKinds: the database takes an entry of a kind if what it does to the balance and to what is held is
// what the table of kinds says, and no other.
func testSchemaKnowsKinds(t *testing.T, open opener) {
	s, _ := open(t)
	g := issue(t, s, newID(), 1)
	for _, kind := range append(gift.Kinds(), "GIFT") {
		if kind.Begins() { // which no other entry is before
			continue
		}
		for delta := money.Amount(-1); delta <= 1; delta++ {
			for held := money.Amount(-1); held <= 1; held++ {
				entries := []raw{{kind: kind, delta: delta, held: held}}
				if of := undone(kind); of != "" {
					entries = []raw{{kind: of, delta: by(of)}, {kind: kind, delta: delta, held: held, undoes: 3}}
				}
				want := kind.Balance().Allows(delta) && kind.Held().Allows(held)
				if err := takes(t, s, &g[0], entries...); (err == nil) != want || err != nil && !s.db.Rejected(err) {
					t.Errorf("a %s that adds %d to the balance and %d to what is held: %v; the table allows it: %v", kind, delta,
						held, err, want)
				}
			}
		}
	}
}

// testSchemaKnowsUndoings: the database lets an entry undo one of the kinds that the table of kinds says, and no other.
func testSchemaKnowsUndoings(t *testing.T, open opener) {
	s, _ := open(t)
	g := issue(t, s, newID(), 1)
	tried := 0
	for _, undoing := range gift.Kinds() {
		for _, kind := range gift.Kinds() {
			if !undoing.Undoes() || kind.Begins() || kind.Undoes() || !kind.Held().Allows(0) {
				continue
			}
			tried++
			want := kind.Undoable() && kind.UndoneBy() == undoing
			err := takes(t, s, &g[0], raw{kind: kind, delta: by(kind)}, raw{kind: undoing, delta: by(undoing), undoes: 3})
			if (err == nil) != want || err != nil && !s.db.Rejected(err) {
				t.Errorf("a %s undoes a %s: %v; the table says so: %v", undoing, kind, err, want)
			}
		}
	}
	if tried < 50 {
		t.Errorf("%d pairs were tried", tried)
	}
}

// TestForgettableIsOfTheTable: the records that are deleted after a while are those of the operations that the table
// says, in its order.
func TestForgettableIsOfTheTable(t *testing.T) {
	t.Parallel()
	var is, want []string
	for _, m := range regexp.MustCompile(`operation = '([a-z-]+)'`).FindAllStringSubmatch(selectForgettable, -1) {
		is = append(is, m[1])
	}
	for _, o := range operation.All() {
		if o.Replay() == operation.ForAMonth {
			want = append(want, fmt.Sprint(o))
		}
	}
	if !slices.Equal(is, want) {
		t.Errorf("records of %q are deleted; the table says %q", is, want)
	}
}
