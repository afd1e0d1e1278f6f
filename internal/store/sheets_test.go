package store

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/ledger"
	"boon.example/internal/refusal"
)

// testSheets: a link leads to its order until it dies or is revoked, and nowhere else, whatever was swapped.
func testSheets(t *testing.T, open opener) {
	s, again := open(t)
	gifts := issue(t, s, newID(), 2)
	link := func(g *gift.Gift, until time.Time) ledger.Sheet {
		return ledger.Sheet{AccountID: g.AccountID, OrderID: g.OrderID, Token: newToken(), Until: until}
	}
	now := time.Now()
	one, two, dead := link(&gifts[0], now.Add(time.Hour)), link(&gifts[1], now.Add(time.Hour)),
		link(&gifts[0], now.Add(-time.Second))
	save(t, s, ledger.Changes{Sheets: []ledger.Sheet{one, two, dead}})
	leads := func(l ledger.Sheet, there bool) {
		t.Helper()
		account, order, err := again().OrderBySheet(t.Context(), l.Token)
		switch {
		case there && (err != nil || account != l.AccountID || order != l.OrderID):
			t.Errorf("a link leads to order %s of %s, %v", order, account, err)
		case !there && !errors.Is(err, refusal.NotFound):
			t.Errorf("a link that is dead leads to order %s, %v", order, err)
		}
	}
	leads(one, true)
	leads(two, true)
	leads(dead, false)
	leads(link(&gifts[0], now), false)
	must(t, s.ForgetSheets(t.Context(), now))
	leads(one, true)

	fresh, err := s.RenewSheet(t.Context(), gifts[0].OrderID, now, false)
	must(t, err)
	if lives := fresh.Until.Sub(now); lives != 24*time.Hour || fresh.Token == one.Token {
		t.Errorf("a new link lives %v", lives)
	}
	leads(fresh, true)
	leads(one, false)
	leads(two, true)
	_, err = s.RenewSheet(t.Context(), gifts[0].OrderID, now, true)
	must(t, err)
	leads(fresh, false)
	leads(two, true)
	if _, err := s.RenewSheet(t.Context(), newID(), now, false); err == nil {
		t.Error("an order that does not exist has a sheet")
	}

	card, made := newGift(gifts[0].AccountID)
	card.Status, card.Funded, card.Balance, made.Status, made.Balance = gift.NotActivated, 0, 0, gift.NotActivated, 0
	save(t, s, ledger.Changes{Gifts: []gift.Gift{card}, Entries: []gift.Entry{made}})
	if l, err := s.RenewSheet(t.Context(), card.OrderID, now, false); !errors.Is(err, errStock) {
		t.Errorf("a stock has the link %+v, %v", l, err)
	}
	_, err = s.RenewSheet(t.Context(), card.OrderID, now, true) // one of an earlier version
	must(t, err)

	save(t, s, ledger.Changes{Sheets: []ledger.Sheet{one}})
	ctx := t.Context()
	must(t, s.db.Write(ctx, func(tx *sql.Tx) error { return swapOwners(ctx, tx, s, one.Token, two.Token) }))
	for _, l := range []ledger.Sheet{one, two} {
		if _, order, err := s.OrderBySheet(t.Context(), l.Token); !errors.Is(err, refusal.UnexpectedError) {
			t.Errorf("what was swapped leads to order %s, %v", order, err)
		}
	}
}

func swapOwners(ctx context.Context, tx *sql.Tx, s *Store, a, b codes.Token) error {
	hashes := [][]byte{s.db.Keys.SheetHash(a), s.db.Keys.SheetHash(b)}
	var owners [2][]byte
	for i := range hashes {
		if err := tx.QueryRowContext(ctx, `SELECT owner FROM sheet WHERE hash = $1`, hashes[i]).Scan(&owners[i]); err != nil {
			return err
		}
	}
	for i := range hashes {
		if _, err := tx.ExecContext(ctx, `UPDATE sheet SET owner = $1 WHERE hash = $2`, owners[1-i], hashes[i]); err != nil {
			return err
		}
	}
	return nil
}
