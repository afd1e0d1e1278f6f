package record

import (
	"errors"

	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/sealed"
	"boon.example/internal/store/db"
)

// An activation code stands in a table of its own, where no look-up by a code or a token comes: it finds a card of its
// account when that is sold, and nothing else.

// InsertActivation writes rows that ActivationRow made.
var InsertActivation = &db.Query{What: "writing into activation_code",
	Each: `INSERT INTO activation_code (account_id, hash, voucher_id, sealed) VALUES ($1, $2, $3, $4)`,
	Postgres: `INSERT INTO activation_code (account_id, hash, voucher_id, sealed)
		SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BYTEA[], $4::BYTEA[])`}

// ActivationRow is what a card is sold by, in the order of InsertActivation.
func ActivationRow(keys *sealed.Keys, g *gift.Gift) []any {
	return []any{db.KeyOf(g.AccountID), keys.ActivationHash(g.AccountID, g.Card.Activation), db.KeyOf(g.ID),
		keys.Seal([]byte(g.Card.Activation.Reveal()), boundToActivation(g.AccountID, g.ID))}
}

// boundToActivation binds a sealed activation code to its card, so that that of one opens nowhere else.
func boundToActivation(account, voucher guid.ID) []byte {
	return append(db.Bound("activation", account), voucher[:]...)
}

// OpenActivation reads the activation code that ActivationRow sealed.
func OpenActivation(keys *sealed.Keys, account, voucher guid.ID, kept []byte) (codes.ActivationCode, error) {
	plain, err := keys.Open(kept, boundToActivation(account, voucher))
	if err != nil {
		return codes.ActivationCode{}, err
	}
	code, err := codes.ReadActivationCode(string(plain))
	if err != nil {
		return codes.ActivationCode{}, errors.New("the sealed activation code is none")
	}
	return code, nil
}
