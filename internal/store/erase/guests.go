package erase

import (
	"context"
	"database/sql"
	"fmt"

	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/store/db"
)

// Guests ends the sessions in which a person looks at their gifts, and erases the links to "my gifts" that were asked
// for with the contact, also out of the outbox. It tells how many sessions and links there were. They belong to no
// gift, and so are found by keyed hashes of the contact alone, in each spelling and under each key of the file.
func (e *Eraser) Guests(ctx context.Context, ask Request) (n int, err error) {
	of := map[string]bool{contact.Key(ask.Contact): true}
	for _, spelling := range contact.Spellings(ask.Contact) {
		of[contact.Key(spelling)] = true
	}
	var contacts [][]byte
	for key := range of {
		contacts = append(contacts, e.db.Keys.ContactHashes(ask.Account.ID, key)...)
	}
	account := db.KeyOf(ask.Account.ID)
	sent, err := e.outbox(ctx, ask, guid.ID{})
	if err != nil {
		return 0, fmt.Errorf("looking for links of guests: %w", err)
	}
	err = e.write(ctx, ask.DryRun, func(tx *sql.Tx) error {
		n = 0
		for _, of := range contacts {
			var links, sessions int
			err := tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM guest_link AS l WHERE l.account_id = $1 AND l.contact = $2),
				(SELECT count(*) FROM guest_session AS t WHERE t.account_id = $1 AND t.contact = $2)`, account, of).Scan(&links,
				&sessions)
			if err != nil {
				return err
			}
			if n += links + sessions; links+sessions == 0 || ask.DryRun {
				continue
			}
			for _, statement := range []string{`DELETE FROM guest_link WHERE account_id = $1 AND contact = $2`,
				`DELETE FROM guest_session WHERE account_id = $1 AND contact = $2`} {
				if _, err := tx.ExecContext(ctx, statement, account, of); err != nil {
					return err
				}
			}
		}
		for _, m := range sent {
			if ask.DryRun {
				break
			}
			if _, err := tx.ExecContext(ctx, `DELETE FROM outbox WHERE id = $1`, db.KeyOf(m)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("erasing links and sessions of a guest: %w", err)
	}
	return n, nil
}
