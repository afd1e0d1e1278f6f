package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/refusal"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// swaps are what somebody who can write to the database, but has no key file, may try so that one gift's code opens
// another. Each exchanges something between two gifts.
var swaps = map[string]func(context.Context, *sql.Tx, *gift.Gift, *gift.Gift) error{
	"codes": func(ctx context.Context, tx *sql.Tx, a, b *gift.Gift) error {
		return swapHashes(ctx, tx, record.CodeSecret, a, b)
	},
	"tokens": func(ctx context.Context, tx *sql.Tx, a, b *gift.Gift) error {
		return swapHashes(ctx, tx, record.TokenSecret, a, b)
	},
	"sealed secrets": func(ctx context.Context, tx *sql.Tx, a, b *gift.Gift) error {
		return swapColumns(ctx, tx, []string{"secrets"}, a, b)
	},
	"messages": func(ctx context.Context, tx *sql.Tx, a, b *gift.Gift) error {
		return swapColumns(ctx, tx, []string{"sealed_message"}, a, b)
	},
	"whole cards": func(ctx context.Context, tx *sql.Tx, a, b *gift.Gift) error {
		rows, err := tx.QueryContext(ctx, `SELECT * FROM card WHERE account_id = $1 AND voucher_id = $2`,
			db.KeyOf(a.AccountID), db.KeyOf(a.ID))
		if err != nil {
			return err
		}
		columns, err := rows.Columns()
		if err := errors.Join(err, rows.Close()); err != nil {
			return err
		}
		columns = slices.DeleteFunc(columns, func(c string) bool { return c == "account_id" || c == "voucher_id" })
		return swapColumns(ctx, tx, columns, a, b)
	},
	"all that is found": func(ctx context.Context, tx *sql.Tx, a, b *gift.Gift) error {
		return errors.Join(swapHashes(ctx, tx, record.CodeSecret, a, b), swapHashes(ctx, tx, record.TokenSecret, a, b),
			swapColumns(ctx, tx, []string{"secrets"}, a, b))
	},
}

func swapHashes(ctx context.Context, tx *sql.Tx, kind string, a, b *gift.Gift) error {
	var hashes [2][]byte
	for i, g := range []*gift.Gift{a, b} {
		const take = `DELETE FROM secret WHERE account_id = $1 AND voucher_id = $2 AND kind = $3 RETURNING hash`
		if err := tx.QueryRowContext(ctx, take, db.KeyOf(g.AccountID), db.KeyOf(g.ID), kind).Scan(&hashes[i]); err != nil {
			return err
		}
	}
	for i, g := range []*gift.Gift{b, a} {
		const put = `INSERT INTO secret (hash, kind, account_id, voucher_id) VALUES ($1, $2, $3, $4)`
		if _, err := tx.ExecContext(ctx, put, hashes[i], kind, db.KeyOf(g.AccountID), db.KeyOf(g.ID)); err != nil {
			return err
		}
	}
	return nil
}

func swapColumns(ctx context.Context, tx *sql.Tx, columns []string, a, b *gift.Gift) error {
	set := make([]string, len(columns))
	values, to := make([]any, len(columns)), make([]any, len(columns))
	for i, c := range columns {
		set[i], to[i] = fmt.Sprintf("%s = $%d", c, i+3), &values[i]
	}
	var rows [2][]any
	for i, g := range []*gift.Gift{a, b} {
		read := `SELECT ` + strings.Join(columns, ", ") + ` FROM card WHERE account_id = $1 AND voucher_id = $2`
		if err := tx.QueryRowContext(ctx, read, db.KeyOf(g.AccountID), db.KeyOf(g.ID)).Scan(to...); err != nil {
			return err
		}
		rows[i] = slices.Clone(values)
	}
	for i, g := range []*gift.Gift{b, a} {
		write := `UPDATE card SET ` + strings.Join(set, ", ") + ` WHERE account_id = $1 AND voucher_id = $2`
		if _, err := tx.ExecContext(ctx, write, append([]any{db.KeyOf(g.AccountID), db.KeyOf(g.ID)},
			rows[i]...)...); err != nil {
			return err
		}
	}
	return nil
}

// testSwapped: whatever is swapped, no look-up gives another gift than that of the code or token, what was swapped
// gives none, and verify names both gifts.
func testSwapped(t *testing.T, open opener) {
	s, _ := open(t)
	for name, swap := range swaps {
		for _, of := range []string{"one account", "two accounts", "one id in two accounts"} {
			t.Run(name+" of "+of, func(t *testing.T) {
				a, b := twoGifts(t, s, of)
				ctx := t.Context()
				exchange := func() {
					must(t, s.db.Write(ctx, func(tx *sql.Tx) error { return swap(ctx, tx, &a, &b) }))
				}
				exchange()
				if opened := lookUps(t, s, &a, &b); opened == 4 {
					t.Error("every look-up finds a gift")
				}
				report, err := verify.All(t.Context(), s, 2, func(int64, int64) {})
				must(t, err)
				for _, g := range []*gift.Gift{&a, &b} {
					if found := strings.Join(report.Problems, "\n"); !strings.Contains(found, g.ID.String()) {
						t.Errorf("verify does not name gift %s: %q", g.ID, found)
					}
				}
				exchange() // back
				if opened := lookUps(t, s, &a, &b); opened != 4 {
					t.Errorf("when all is as it was, %d of 4 look-ups find a gift", opened)
				}
			})
		}
	}
	verifyClean(t, s)
}

func twoGifts(t *testing.T, s *Store, of string) (a, b gift.Gift) {
	t.Helper()
	var entries [2]gift.Entry
	a, entries[0] = newGift(newID())
	b, entries[1] = newGift(map[bool]guid.ID{true: a.AccountID, false: newID()}[of == "one account"])
	if of == "one id in two accounts" {
		b.ID, entries[1].VoucherID = a.ID, a.ID
	}
	save(t, s, ledger.Changes{Gifts: []gift.Gift{a, b}, Entries: entries[:]})
	return a, b
}

// lookUps looks two gifts up, each by its code and its token, and counts how many find it. None may find anything else.
func lookUps(t *testing.T, s *Store, gifts ...*gift.Gift) (opened int) {
	t.Helper()
	for _, g := range gifts {
		byCode, codeErr := s.GiftByCode(t.Context(), g.Card.Code)
		byToken, tokenErr := s.GiftByToken(t.Context(), g.Card.Token)
		for i, is := range []gift.Gift{byCode, byToken} {
			switch err := []error{codeErr, tokenErr}[i]; {
			case err == nil && (is.AccountID != g.AccountID || is.ID != g.ID || is.Card != g.Card):
				t.Errorf("gift %s of account %s was found in place of %s of %s", is.ID, is.AccountID, g.ID, g.AccountID)
			case err == nil:
				opened++
			case !errors.Is(err, refusal.UnexpectedError) || !reflect.DeepEqual(is, gift.Gift{}):
				t.Errorf("gift %s: %v, want UNEXPECTED_ERROR and no gift", g.ID, err)
			}
		}
	}
	return opened
}
