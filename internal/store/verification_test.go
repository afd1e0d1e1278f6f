package store

import (
	"bytes"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
)

// testVerificationCodes: a card's verification code is kept sealed, for this card and no other.
func testVerificationCodes(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	var cards [2]gift.Gift
	var c ledger.Changes
	for n, code := range []string{"0471", "9238"} {
		g, e := newGift(account)
		g.Verification = code
		cards[n], c.Gifts, c.Entries = g, append(c.Gifts, g), append(c.Entries, e)
	}
	save(t, s, c)
	stored := func(g gift.Gift) (column []byte) {
		must(t, s.db.Writer.QueryRowContext(t.Context(), `SELECT verification FROM voucher WHERE account_id = $1 AND id = $2`,
			db.KeyOf(account), db.KeyOf(g.ID)).Scan(&column))
		return column
	}
	code := func(g gift.Gift) string {
		read, err := s.Gift(t.Context(), account, g.ID)
		must(t, err)
		return read.Verification
	}
	for _, g := range cards {
		if column := stored(g); bytes.Contains(column, []byte(g.Verification)) || len(column) < 16 {
			t.Errorf("the code %s is stored as %q", g.Verification, column)
		}
		if got := code(g); got != g.Verification {
			t.Errorf("the code %s came back as %q", g.Verification, got)
		}
	}
	unguarded(t, s)
	run(t, s, `UPDATE voucher SET verification = $3 WHERE account_id = $1 AND id = $2`, db.KeyOf(account),
		db.KeyOf(cards[1].ID), stored(cards[0]))
	if got := code(cards[1]); got == "0471" || got == "9238" || got == "" {
		t.Errorf("with another card's code it is verified by %q", got)
	}
}
