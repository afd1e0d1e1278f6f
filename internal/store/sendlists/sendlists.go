// Package sendlists keeps lists of people who are sent gifts. Every row is sealed for its key, so that whoever can
// write to the database and lacks the key file can have nothing sent.
package sendlists

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/refusal"
	"boon.example/internal/sendlist"
	"boon.example/internal/store/db"
)

// Lists keeps them in a database.
type Lists struct{ db *db.DB }

// New works on an open database.
func New(d *db.DB) *Lists { return &Lists{d} }

// The domains in which rows are sealed.
const (
	listDomain    = "send list"
	contentDomain = "content of a send list"
)

// lease is how long whoever claims a list has it alone: longer than an order takes.
const lease = 2 * time.Minute

func recordOf(account, id guid.ID) []byte { return db.JoinIDs([]guid.ID{account, id}) }

// seal makes a document of a row.
func (s *Lists) seal(domain string, v any, account, id guid.ID) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("writing a %s: %w", domain, err)
	}
	return s.db.Keys.SealOnce(domain, text, recordOf(account, id)), nil
}

// open reads a document of a row. One that was changed, or moved from another row, is an error.
func (s *Lists) open(domain string, document []byte, account, id guid.ID, to any) error {
	text, err := s.db.Keys.OpenOnce(domain, document, recordOf(account, id))
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		return fmt.Errorf("reading a %s: %w", domain, err)
	}
	return nil
}

// KeepSendList keeps a list with its content, if there is none of its id in the account. Of lists that are not over, an
// account has sendlist.MaxWaiting at most; one more is refusal.RateLimited.
func (s *Lists) KeepSendList(ctx context.Context, l *sendlist.List, c *sendlist.Content) error {
	document, err := s.seal(listDomain, l, l.AccountID, l.ID)
	if err != nil {
		return err
	}
	content, err := s.seal(contentDomain, c, l.AccountID, l.ID)
	if err != nil {
		return err
	}
	account, id := db.KeyOf(l.AccountID), db.KeyOf(l.ID)
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		var same, waiting int
		err := tx.QueryRowContext(ctx, `SELECT count(*) FROM send_list AS l WHERE l.account_id = $1 AND l.id = $2`, account,
			id).Scan(&same)
		if err != nil || same > 0 {
			return err
		}
		err = tx.QueryRowContext(ctx, `SELECT count(*) FROM send_list AS l WHERE l.account_id = $1 AND l.content IS NOT NULL`,
			account).Scan(&waiting)
		if err != nil {
			return err
		}
		if waiting >= sendlist.MaxWaiting {
			return refusal.RateLimited
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO send_list (account_id, id, made_at, due_at, until, document, content)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, account, id, db.Micros(l.MadeAt), due(l, l.MadeAt),
			db.Micros(l.MadeAt.Add(sendlist.WaitsFor)), document, content)
		return err
	})
	if err != nil && !errors.Is(err, refusal.RateLimited) {
		return fmt.Errorf("keeping list %s: %w", l.ID, err)
	}
	return err
}

// due is when there is something to do for a list; nil: not by itself.
func due(l *sendlist.List, from time.Time) any {
	if !l.Works() {
		return nil
	}
	return db.Micros(from)
}

// SendList finds a list of an account; refusal.NotFound where there is none.
func (s *Lists) SendList(ctx context.Context, account, id guid.ID) (l sendlist.List, err error) {
	var document []byte
	err = s.db.Get(ctx, `SELECT l.document FROM send_list AS l WHERE l.account_id = $1 AND l.id = $2`,
		[]any{db.KeyOf(account), db.KeyOf(id)}, &document)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return l, refusal.NotFound
	case err == nil:
		err = s.open(listDomain, document, account, id, &l)
	}
	if err != nil {
		return l, fmt.Errorf("reading list %s: %w", id, err)
	}
	return l, nil
}

// SendLists are the lists of an account, the newest first.
func (s *Lists) SendLists(ctx context.Context, account guid.ID) ([]sendlist.List, error) {
	const query = `SELECT l.id, l.document FROM send_list AS l WHERE l.account_id = $1 ORDER BY l.made_at DESC, l.id`
	all, err := db.Collect(ctx, s.db, query, []any{db.KeyOf(account)}, func(from db.Scanner) (l sendlist.List, err error) {
		var id guid.ID
		var document []byte
		if err := from.Scan(db.ScanID(&id), &document); err != nil {
			return l, err
		}
		return l, s.open(listDomain, document, account, id, &l)
	})
	if err != nil {
		return nil, fmt.Errorf("reading the lists of account %s: %w", account, err)
	}
	return all, nil
}

// SendListsTo counts the lists of an account whose content names a contact: as that of a row, or of whoever pays. until
// is when the last of them is deleted.
func (s *Lists) SendListsTo(ctx context.Context, account guid.ID, is func(contact string) bool) (lists int,
	until time.Time, err error) {
	const query = `SELECT l.id, l.until, l.content FROM send_list AS l WHERE l.account_id = $1 AND l.content IS NOT NULL`
	all, err := db.Collect(ctx, s.db, query, []any{db.KeyOf(account)}, func(from db.Scanner) (at time.Time, err error) {
		var id guid.ID
		var content []byte
		if err := from.Scan(db.ScanID(&id), db.ScanTime(&at), &content); err != nil {
			return at, err
		}
		var c sendlist.Content
		if err := s.open(contentDomain, content, account, id, &c); err != nil {
			return at, err
		}
		if !c.Names(is) {
			at = time.Time{}
		}
		return at, nil
	})
	if err != nil {
		return 0, until, fmt.Errorf("searching the lists of account %s: %w", account, err)
	}
	for _, at := range all {
		if !at.IsZero() {
			lists++
		}
		if at.After(until) {
			until = at
		}
	}
	return lists, until, nil
}

// ChangeSendList changes a list in one transaction, alone among all changes of it: change is given the list as it is.
// Its error is given back as it is, and then nothing is changed. It may be asked again. A list that is over keeps no
// content. Where there is something to do for the list, it is due from an instant on. There is none: refusal.NotFound.
func (s *Lists) ChangeSendList(ctx context.Context, account, id guid.ID, from time.Time,
	change func(*sendlist.List) error) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		l, err := s.locked(ctx, tx, account, id)
		if err != nil {
			return err
		}
		if err := change(&l); err != nil {
			return err
		}
		document, err := s.seal(listDomain, &l, account, id)
		if err != nil {
			return err
		}
		until := l.MadeAt.Add(sendlist.WaitsFor)
		if !l.ConfirmedAt.IsZero() {
			until = l.ConfirmedAt.Add(sendlist.KeptFor)
		}
		_, err = tx.ExecContext(ctx, `UPDATE send_list SET document = $3, due_at = $4, until = $5
			WHERE account_id = $1 AND id = $2`,
			db.KeyOf(account), db.KeyOf(id), document, due(&l, from), db.Micros(until))
		if err == nil && l.Over() {
			_, err = tx.ExecContext(ctx, `UPDATE send_list SET content = NULL WHERE account_id = $1 AND id = $2`,
				db.KeyOf(account), db.KeyOf(id))
		}
		if err != nil {
			return fmt.Errorf("changing list %s: %w", id, err)
		}
		return nil
	})
}

// locked reads a list in a transaction that changes it: nobody else changes it until that ends.
func (s *Lists) locked(ctx context.Context, tx *sql.Tx, account, id guid.ID) (l sendlist.List,
	err error) {
	var document []byte
	err = tx.QueryRowContext(ctx, `UPDATE send_list SET until = until WHERE account_id = $1 AND id = $2
		RETURNING document`, db.KeyOf(account), db.KeyOf(id)).Scan(&document)
	if errors.Is(err, sql.ErrNoRows) {
		return l, refusal.NotFound
	}
	if err == nil {
		err = s.open(listDomain, document, account, id, &l)
	}
	if err != nil {
		return l, fmt.Errorf("reading list %s: %w", id, err)
	}
	return l, nil
}

// DeleteSendList throws a list away that nobody confirmed; refusal.NotFound where there is none.
func (s *Lists) DeleteSendList(ctx context.Context, account, id guid.ID) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		l, err := s.locked(ctx, tx, account, id)
		switch {
		case err != nil:
			return err
		case !l.ConfirmedAt.IsZero():
			return refusal.NotFound
		}
		if _, err = tx.ExecContext(ctx, `DELETE FROM send_list WHERE account_id = $1 AND id = $2`, db.KeyOf(account),
			db.KeyOf(id)); err != nil {
			return fmt.Errorf("throwing list %s away: %w", id, err)
		}
		return nil
	})
}

// DueSendLists are lists for which there is something to do, in turns: the one that waits longest comes first.
func (s *Lists) DueSendLists(ctx context.Context, now time.Time) ([]sendlist.Ref, error) {
	const query = `SELECT l.account_id, l.id FROM send_list AS l WHERE l.due_at <= $1 ORDER BY l.due_at, l.id LIMIT 100`
	all, err := db.Collect(ctx, s.db, query, []any{db.Micros(now)}, func(from db.Scanner) (r sendlist.Ref, err error) {
		return r, from.Scan(db.ScanID(&r.AccountID), db.ScanID(&r.ID))
	})
	if err != nil {
		return nil, fmt.Errorf("finding lists that are due: %w", err)
	}
	return all, nil
}

// ClaimSendList gives a list that is due to one process for a while; refusal.NotFound: another one has it, or it is due
// no more.
func (s *Lists) ClaimSendList(ctx context.Context, of sendlist.Ref, now time.Time) (l sendlist.List,
	c sendlist.Content, err error) {
	var document, content []byte
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `UPDATE send_list SET due_at = $4 WHERE account_id = $1 AND id = $2 AND due_at <= $3
			RETURNING document, content`, db.KeyOf(of.AccountID), db.KeyOf(of.ID), db.Micros(now),
			db.Micros(now.Add(lease))).Scan(&document, &content)
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return l, c, refusal.NotFound
	case err == nil:
		err = errors.Join(s.open(listDomain, document, of.AccountID, of.ID, &l),
			s.open(contentDomain, content, of.AccountID, of.ID, &c))
	}
	if err != nil {
		return l, c, fmt.Errorf("claiming list %s: %w", of.ID, err)
	}
	return l, c, nil
}

// ForgetSendLists deletes lists whose time is over.
func (s *Lists) ForgetSendLists(ctx context.Context, now time.Time) error {
	const over = `SELECT count(*) FROM send_list AS l WHERE l.until < $1`
	_, err := s.db.Delete(ctx, over, []any{db.Micros(now)}, `DELETE FROM send_list WHERE until < $1`, db.Micros(now))
	if err != nil {
		return fmt.Errorf("forgetting lists: %w", err)
	}
	return nil
}
