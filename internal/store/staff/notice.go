package staff

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/staff"
	"boon.example/internal/store/db"
)

func (s *Staff) saveNotice(ctx context.Context, tx *sql.Tx, n *staff.Notice) error {
	document, err := s.seal(noticeDomain, n, n.ID[:])
	if err != nil {
		return err
	}
	return run(ctx, tx, `INSERT INTO staff_notice (id, due, document) VALUES ($1, $2, $3)`, db.KeyOf(n.ID),
		db.Micros(n.At), document)
}

// ClaimNotice leases the mail that is due for the longest time: nobody else gets it before until. No mail is due where
// there is none. One that cannot be read is an error, and is leased too, so that it stops no other.
func (s *Staff) ClaimNotice(ctx context.Context, now, until time.Time) (n staff.Notice, is bool, err error) {
	for {
		var id guid.ID
		var due time.Time
		var document []byte
		err := s.db.Get(ctx, `SELECT n.id, n.due, n.document FROM staff_notice AS n WHERE n.due <= $1
			ORDER BY n.due, n.id LIMIT 1`, []any{db.Micros(now)}, db.ScanID(&id), db.ScanTime(&due), &document)
		if errors.Is(err, sql.ErrNoRows) {
			return n, false, nil
		}
		if err != nil {
			return n, false, fmt.Errorf("looking for a notice to the staff: %w", err)
		}
		if is, err = s.leaseNotice(ctx, id, due, until); err != nil {
			return n, false, err
		}
		if is {
			err = s.open(noticeDomain, document, id[:], &n)
			return n, err == nil, err
		}
	}
}

// leaseNotice reports whether the mail was still due as it was read.
func (s *Staff) leaseNotice(ctx context.Context, id guid.ID, due, until time.Time) (is bool, err error) {
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `UPDATE staff_notice SET due = $1 WHERE id = $2 AND due = $3`, db.Micros(until),
			db.KeyOf(id), db.Micros(due))
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		is = n == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("leasing a notice to the staff: %w", err)
	}
	return is, nil
}

// PostponeNotice gives a mail back, to be due later, with the number of its attempts.
func (s *Staff) PostponeNotice(ctx context.Context, n staff.Notice, due time.Time) error {
	document, err := s.seal(noticeDomain, n, n.ID[:])
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		return run(ctx, tx, `UPDATE staff_notice SET due = $1, document = $2 WHERE id = $3`, db.Micros(due), document,
			db.KeyOf(n.ID))
	})
}

// CountNotices counts the mails that are still to be sent.
func (s *Staff) CountNotices(ctx context.Context) (n int, err error) {
	err = s.db.Get(ctx, `SELECT count(*) FROM staff_notice AS n`, nil, &n)
	return n, err
}

// ForgetNotice deletes a mail that was sent, or is given up.
func (s *Staff) ForgetNotice(ctx context.Context, id guid.ID) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		return run(ctx, tx, `DELETE FROM staff_notice WHERE id = $1`, db.KeyOf(id))
	})
}
