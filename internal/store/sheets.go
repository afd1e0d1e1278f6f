package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/refusal"
	"boon.example/internal/sealed"
	"boon.example/internal/store/db"
)

// A link to the printed sheet of an order is found by the hash of its token. Whose order it is stands sealed beside
// it, bound to that hash, so that a row that was swapped leads nowhere.

var insertSheet = &db.Query{What: "writing into sheet",
	Each: `INSERT INTO sheet (hash, order_id, until, owner) VALUES ($1, $2, $3, $4)`,
	Postgres: `INSERT INTO sheet (hash, order_id, until, owner)
		SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BIGINT[], $4::BYTEA[])`}

func boundToSheet(hash []byte) []byte { return append([]byte("sheet\x00"), hash...) }

func (s *Store) sheetRow(l *ledger.Sheet) []any {
	hash := s.db.Keys.SheetHash(l.Token)
	return []any{hash, db.KeyOf(l.OrderID), db.Micros(l.Until),
		s.db.Keys.Seal(db.JoinIDs([]guid.ID{l.AccountID, l.OrderID}), boundToSheet(hash))}
}

const selectSheet = `SELECT s.until, s.owner FROM sheet AS s WHERE s.hash = $1`

// OrderBySheet finds the order that a link to a printed sheet is for. It is refusal.NotFound once the link has died.
func (s *Store) OrderBySheet(ctx context.Context, t codes.Token) (account, order guid.ID, err error) {
	if err := s.db.Follow(ctx); err != nil {
		return account, order, fmt.Errorf("finding a sheet: %w", err)
	}
	for _, hash := range s.db.Keys.SheetHashes(t) {
		var until time.Time
		var owner []byte
		err := s.db.Get(ctx, selectSheet, []any{hash}, db.ScanTime(&until), &owner)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err == nil {
			owner, err = s.db.Keys.Open(owner, boundToSheet(hash))
		}
		switch ids := db.SplitIDs(owner); {
		case errors.Is(err, sealed.ErrTampered):
			return account, order, fmt.Errorf("finding a sheet: %w: %w", refusal.UnexpectedError, err)
		case err != nil:
			return account, order, fmt.Errorf("finding a sheet: %w", err)
		case time.Now().Before(until) && len(ids) == 2:
			return ids[0], ids[1], nil
		}
	}
	return account, order, fmt.Errorf("finding a sheet: %w", refusal.NotFound)
}

// selectPrinted finds a printed gift of an order. As a join, it could begin with all cards.
const selectPrinted = `SELECT v.account_id, v.id FROM voucher AS v WHERE v.order_id = $1
	AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
		WHERE m.account_id = v.account_id AND m.id = v.import_id AND m.state = 'FINISHED'))
	AND (SELECT c.method FROM card AS c WHERE c.account_id = v.account_id AND c.voucher_id = v.id) = 3 LIMIT 1`

// RenewSheet makes a new link to the printed sheet of an order, and revokes those that there are; with revoke, it
// makes none. To a stock of cards it makes none: their codes leave by an export, which is noted and leaves out what was
// sold.
func (s *Store) RenewSheet(ctx context.Context, order guid.ID, now time.Time, revoke bool) (link ledger.Sheet,
	err error) {
	link = ledger.Sheet{OrderID: order, Until: now.Add(ledger.SheetLives)}
	if link.Token, err = codes.NewToken(rand.Reader); err != nil {
		return link, err
	}
	var printed guid.ID
	err = s.db.Get(ctx, selectPrinted, []any{db.KeyOf(order)}, db.ScanID(&link.AccountID), db.ScanID(&printed))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return link, fmt.Errorf("there is no order %s with printed gifts", order)
	case err != nil:
		return link, fmt.Errorf("finding the printed gifts of order %s: %w", order, err)
	}
	history, err := s.History(ctx, link.AccountID, printed, 0, 1)
	switch {
	case err != nil:
		return link, err
	case len(history) > 0 && history[0].Status == gift.NotActivated && !revoke:
		return link, fmt.Errorf("order %s is %w: boon stock export writes the codes of those that are not sold", order,
			errStock)
	}
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM sheet WHERE order_id = $1`, db.KeyOf(order)); err != nil || revoke {
			return err
		}
		_, err := tx.ExecContext(ctx, insertSheet.Each, s.sheetRow(&link)...)
		return err
	})
	if err != nil {
		return link, fmt.Errorf("making a link to a sheet: %w", err)
	}
	return link, nil
}

var errStock = errors.New("a stock of cards")

// ForgetSheets deletes links that died before an instant.
func (s *Store) ForgetSheets(ctx context.Context, before time.Time) error {
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM sheet WHERE until < $1`, before.UnixMicro())
		return err
	})
	if err != nil {
		return fmt.Errorf("forgetting links to sheets: %w", err)
	}
	return nil
}
