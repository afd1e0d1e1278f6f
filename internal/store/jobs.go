package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/post/message"
	"boon.example/internal/refusal"
	"boon.example/internal/store/db"
)

var insertJob = &db.Query{What: "writing into job",
	Each: `INSERT INTO job (account_id, id, voucher_id, due, claimable_at, attempts, last_words, kind, doubts,
			method, contact, test, trace, about, language, order_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
	Postgres: `INSERT INTO job (account_id, id, voucher_id, due, claimable_at, attempts, last_words, kind, doubts,
			method, contact, test, trace, about, language, order_id)
		SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BYTEA[], $4::BIGINT[], $5::BIGINT[], $6::BIGINT[],
			$7::TEXT[], $8::TEXT[], $9::BIGINT[], $10::BIGINT[], $11::TEXT[], $12::BOOLEAN[], $13::TEXT[], $14::TEXT[],
			$15::TEXT[], $16::BYTEA[])`}

func jobRow(j *ledger.Job) []any {
	due := j.Due.UnixMicro()
	kind, method, about := j.Kind, j.Method, ledger.JobKind("")
	if j.Kind.ToBuyer() || j.Kind == ledger.OrderJob {
		// Release 0.1.0 cannot write these: it tries again, until a newer program has the job.
		kind, method = ledger.RedirectedJob, contact.Printed
	}
	if j.Kind.ToBuyer() {
		about = j.Kind
	}
	return []any{db.KeyOf(j.AccountID), db.KeyOf(j.ID), db.KeyOf(j.VoucherID), due, due, j.Attempts, "", string(kind),
		j.Doubts, int64(method), j.Contact, j.Test, j.Trace, string(about), j.Language, db.OrNull(j.OrderID)}
}

// scanAbout reads the column about into a job, after those of its kind and method.
type scanAbout struct{ job *ledger.Job }

// Scan implements sql.Scanner.
func (s scanAbout) Scan(column any) error {
	var about sql.NullString
	err := about.Scan(column)
	if about.String != "" {
		s.job.Kind, s.job.Method = ledger.JobKind(about.String), 0
	}
	return err
}

// scanOrder reads the column order_id into a job, after those of its kind and method.
type scanOrder struct{ job *ledger.Job }

// Scan implements sql.Scanner.
func (s scanOrder) Scan(column any) error {
	if column == nil {
		return nil
	}
	s.job.Kind, s.job.Method = ledger.OrderJob, 0
	return db.ScanID(&s.job.OrderID).Scan(column)
}

var claimJobs = db.Text{
	SQLite: `UPDATE job SET claimable_at = $1 WHERE (account_id, id) IN (
			SELECT account_id, id FROM job WHERE NOT test AND claimable_at <= $2 ORDER BY claimable_at LIMIT $3)
		RETURNING account_id, id, voucher_id, due, attempts, claimable_at, kind, doubts, method, contact, trace,
			about, language, order_id`,
	Postgres: `UPDATE job SET claimable_at = $1 WHERE (account_id, id) IN (
			SELECT account_id, id FROM job WHERE NOT test AND claimable_at <= $2 ORDER BY claimable_at LIMIT $3 FOR UPDATE SKIP LOCKED)
		RETURNING account_id, id, voucher_id, due, attempts, claimable_at, kind, doubts, method, contact, trace,
			about, language, order_id`,
}

// claimOf is claimJobs for one account.
var claimOf = db.Text{
	SQLite: `UPDATE job SET claimable_at = $1 WHERE account_id = $4 AND id IN (
			SELECT id FROM job WHERE NOT test AND account_id = $4 AND claimable_at <= $2 ORDER BY claimable_at LIMIT $3)
		RETURNING account_id, id, voucher_id, due, attempts, claimable_at, kind, doubts, method, contact, trace,
			about, language, order_id`,
	// An array is made once. What stands in IN may be asked for each row, and then give other rows each time.
	Postgres: `UPDATE job SET claimable_at = $1 WHERE account_id = $4 AND id = ANY (ARRAY(
			SELECT id FROM job WHERE NOT test AND account_id = $4 AND claimable_at <= $2 ORDER BY claimable_at LIMIT $3
			FOR UPDATE SKIP LOCKED))
		RETURNING account_id, id, voucher_id, due, attempts, claimable_at, kind, doubts, method, contact, trace,
			about, language, order_id`,
}

// selectWithJobs goes from one account that has jobs to the next, along an index, for so many accounts, and tells
// whether a job is due.
var selectWithJobs = db.Text{
	SQLite: `WITH RECURSIVE l (n, account_id) AS (
			SELECT 0, $1
			UNION ALL
			SELECT l.n + 1, (SELECT j.account_id FROM job AS j WHERE NOT j.test AND j.account_id > l.account_id
				ORDER BY j.account_id LIMIT 1)
			FROM l WHERE l.n < $3 AND l.account_id IS NOT NULL)
		SELECT l.account_id, EXISTS (SELECT 1 FROM job AS d
			WHERE NOT d.test AND d.account_id = l.account_id AND d.claimable_at <= $2) AS due
		FROM l WHERE l.n > 0 AND l.account_id IS NOT NULL ORDER BY l.n`,
	Postgres: `WITH RECURSIVE l (n, account_id) AS (
			SELECT 0, CAST($1 AS BYTEA)
			UNION ALL
			SELECT l.n + 1, (SELECT j.account_id FROM job AS j WHERE NOT j.test AND j.account_id > l.account_id
				ORDER BY j.account_id LIMIT 1)
			FROM l WHERE l.n < $3 AND l.account_id IS NOT NULL)
		SELECT l.account_id, EXISTS (SELECT 1 FROM job AS d
			WHERE NOT d.test AND d.account_id = l.account_id AND d.claimable_at <= $2) AS due
		FROM l WHERE l.n > 0 AND l.account_id IS NOT NULL ORDER BY l.n`,
}

// maxStep is how many accounts with jobs a claim looks at: that takes a few milliseconds.
const maxStep = 512

// ClaimJobs leases at most n jobs of live accounts that are due at now until the lease ends; no other claimant gets
// them before. Where more are due, accounts take turns: an account with thousands of messages keeps none of the others
// waiting. Of an account, those that have been due the longest come first.
func (s *Store) ClaimJobs(ctx context.Context, now time.Time, lease time.Duration, n int) (jobs []ledger.Job,
	err error) {
	// Most calls find nothing; they should not wait for the writer.
	next, err := s.NextJob(ctx)
	if err != nil || next.IsZero() || next.After(now) || n <= 0 {
		return nil, err
	}
	accounts, err := s.nextWithJobs(ctx, now, n)
	if err != nil {
		return nil, fmt.Errorf("choosing jobs: %w", err)
	}
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		jobs = nil
		claim := func(text db.Text, most int, account ...any) error {
			args := append([]any{now.Add(lease).UnixMicro(), now.UnixMicro(), most}, account...)
			return db.Each(ctx, tx, s.db.Text(text), args, func(rows *sql.Rows) error {
				j, err := scanJob(rows)
				jobs = append(jobs, j)
				return err
			})
		}
		if len(accounts) == 0 {
			return claim(claimJobs, n)
		}
		for i, account := range accounts {
			if err := claim(claimOf, (n-len(jobs)+len(accounts)-i-1)/(len(accounts)-i), db.KeyOf(account)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("claiming jobs: %w", err)
	}
	slices.SortFunc(jobs, func(a, b ledger.Job) int {
		return cmp.Or(a.Due.Compare(b.Due), slices.Compare(a.ID[:], b.ID[:]))
	})
	return jobs, nil
}

func scanJob(rows *sql.Rows) (j ledger.Job, err error) {
	err = rows.Scan(db.ScanID(&j.AccountID), db.ScanID(&j.ID), db.ScanID(&j.VoucherID), db.ScanTime(&j.Due),
		&j.Attempts, db.ScanTime(&j.Lease), &j.Kind, &j.Doubts, &j.Method, &j.Contact, &j.Trace,
		scanAbout{&j}, &j.Language, scanOrder{&j})
	return j, err
}

// nextWithJobs gives the accounts whose turn it is, n at most, where more than n jobs are due; else none, as all are
// claimed.
func (s *Store) nextWithJobs(ctx context.Context, now time.Time, n int) (accounts []guid.ID, err error) {
	due := 0
	const count = `SELECT count(*) FROM (SELECT 1 FROM job WHERE NOT test AND claimable_at <= $1 LIMIT $2) AS d`
	if err := s.db.Get(ctx, count, []any{now.UnixMicro(), n + 1}, &due); err != nil || due <= n {
		return nil, err
	}
	last := s.jobTurn.Load()
	if last == nil {
		last = &guid.ID{}
	}
	looked, at := 0, last
	err = s.db.Retry(ctx, func(ctx context.Context) error {
		looked, at, accounts = 0, last, nil
		args := []any{db.KeyOf(*last), now.UnixMicro(), maxStep}
		return db.Each(ctx, s.db.Readers, s.db.Text(selectWithJobs), args, func(rows *sql.Rows) error {
			var of guid.ID
			var has bool
			err := rows.Scan(db.ScanID(&of), &has)
			if looked++; len(accounts) < n {
				if at = &of; has {
					accounts = append(accounts, of)
				}
			}
			return err
		})
	})
	if looked < maxStep && len(accounts) < n { // the next claim begins with the first account again
		at = &guid.ID{}
	}
	s.jobTurn.Store(at)
	return accounts, err
}

// longestLease is more than that of any job, by clocks that differ.
const longestLease = time.Hour

// FreeJobs ends leases of live accounts' jobs that end later than any: the clock of who took them was ahead, and they
// would wait for that time to come.
func (s *Store) FreeJobs(ctx context.Context, now time.Time) error {
	latest := now.Add(longestLease).UnixMicro()
	// Nearly all calls find nothing; they should not wait for the writer.
	n := 0
	err := s.db.Get(ctx, `SELECT count(*) FROM job WHERE NOT test AND claimable_at > $1 AND claimable_at <> due`,
		[]any{latest}, &n)
	if err == nil && n > 0 {
		err = s.db.Write(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE job SET claimable_at = due
				WHERE NOT test AND claimable_at > $1 AND claimable_at <> due`, latest)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("freeing jobs: %w", err)
	}
	return nil
}

// GiftOf gives the gift that a leased job is about. A job that was finished, taken back or leased to somebody else
// meanwhile is ledger.ErrTakenBack.
func (s *Store) GiftOf(ctx context.Context, job ledger.Job) (gift.Gift, error) {
	g, err := s.Gift(ctx, job.AccountID, job.VoucherID)
	if err != nil {
		return g, err
	}
	// The job is looked at after the gift: should the address change in between, the job is gone, and what was read is
	// not used.
	if err = s.held(ctx, job); err != nil {
		return gift.Gift{}, fmt.Errorf("looking at job %s: %w", job.ID, err)
	}
	return g, nil
}

// selectOwed gives the gifts of an order that go to their buyer and that no message of theirs has brought: those that
// this job is to bring, and with true those that it brought already. A gift that was sent again since has another job.
const selectOwed = `SELECT o.voucher_id, o.delivered_by, o.resend FROM (
		SELECT c.voucher_id, c.delivered_by, (SELECT r.id FROM resend AS r
			WHERE r.account_id = c.account_id AND r.voucher_id = c.voucher_id ORDER BY r.seq DESC LIMIT 1) AS resend
		FROM voucher AS v JOIN card AS c ON c.account_id = v.account_id AND c.voucher_id = v.id
		WHERE v.account_id = $1 AND v.order_id = $2 AND v.import_id IS NULL AND c.attachment <> '') AS o
	WHERE o.resend IS NULL OR o.resend <= $3`

// OrderOf gives the gifts that a leased OrderJob is to bring, by their place in the order. accepted tells that its
// message was accepted before: of some gift is recorded that it came. A job that was finished or leased to somebody
// else meanwhile is ledger.ErrTakenBack.
func (s *Store) OrderOf(ctx context.Context, job ledger.Job) (gifts []gift.Gift, accepted bool, err error) {
	gifts, err = s.Gifts(ctx, gift.Filter{AccountID: job.AccountID, OrderID: job.OrderID, Limit: gift.MaxRecipients})
	if err != nil {
		return nil, false, err
	}
	// What is owed is looked at after the gifts, and the job last. So a gift that was sent to somebody else in between,
	// with a code of that person's, is not among them.
	owed := map[guid.ID]bool{}
	err = s.db.Retry(ctx, func(ctx context.Context) error {
		clear(owed)
		args := []any{db.KeyOf(job.AccountID), db.KeyOf(job.OrderID), db.KeyOf(job.ID)}
		return db.Each(ctx, s.db.Readers, selectOwed, args, func(rows *sql.Rows) error {
			var id, by, resend guid.ID
			err := rows.Scan(db.ScanID(&id), db.ScanID(&by), db.ScanID(&resend))
			owed[id] = by.IsZero() || slices.Compare(by[:], resend[:]) < 0
			accepted = accepted || by == job.ID
			return err
		})
	})
	if err == nil {
		err = s.held(ctx, job)
	}
	if err != nil {
		return nil, false, fmt.Errorf("looking at the order of job %s: %w", job.ID, err)
	}
	gifts = slices.DeleteFunc(gifts, func(g gift.Gift) bool { return !owed[g.ID] || g.Card.Attachment == "" })
	slices.SortFunc(gifts, func(a, b gift.Gift) int { return cmp.Compare(a.Card.RecipientIndex, b.Card.RecipientIndex) })
	return gifts, accepted, nil
}

// held fails with ledger.ErrTakenBack unless a job is leased as it was claimed.
func (s *Store) held(ctx context.Context, job ledger.Job) error {
	held := false
	const holds = `SELECT count(*) = 1 FROM job WHERE account_id = $1 AND id = $2 AND claimable_at = $3`
	err := s.db.Get(ctx, holds, []any{db.KeyOf(job.AccountID), db.KeyOf(job.ID), job.Lease.UnixMicro()}, &held)
	if err == nil && !held {
		err = ledger.ErrTakenBack
	}
	return err
}

// PostponeJob gives a leased job back, to be due again at job.Due, with its Attempts, its Doubts and the gateway's
// last words. A job that was finished, taken back or leased to somebody else meanwhile is ledger.ErrTakenBack.
func (s *Store) PostponeJob(ctx context.Context, job ledger.Job, words string) error {
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		due := job.Due.UnixMicro()
		result, err := tx.ExecContext(ctx, `UPDATE job SET due = $1, claimable_at = $1, attempts = $2, last_words = $3, doubts = $4
			WHERE account_id = $5 AND id = $6 AND claimable_at = $7`,
			due, job.Attempts, words, job.Doubts, db.KeyOf(job.AccountID), db.KeyOf(job.ID), job.Lease.UnixMicro())
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return cmp.Or(err, ledger.ErrTakenBack)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("postponing job %s: %w", job.ID, err)
	}
	return nil
}

// NextJob is when the next job of a live account is due or its lease ends; zero: there is none.
func (s *Store) NextJob(ctx context.Context) (next time.Time, err error) {
	err = s.db.Get(ctx, `SELECT min(claimable_at) FROM job WHERE NOT test`, nil, db.ScanTime(&next))
	if err != nil {
		return next, fmt.Errorf("looking for the next job: %w", err)
	}
	return next, nil
}

// Backlog is the messages of live accounts that are still to be sent.
type Backlog struct {
	Waiting int64     // all of them, those that are scheduled for later too
	Overdue int64     // that are due, and that nobody has taken
	Oldest  time.Time // since when the oldest of those could have been taken; zero: there is none
}

// Backlog counts them.
func (s *Store) Backlog(ctx context.Context, now time.Time) (b Backlog, err error) {
	err = s.db.Retry(ctx, func(ctx context.Context) error {
		if err := s.db.Readers.QueryRowContext(ctx, `SELECT count(*) FROM job WHERE NOT test`).Scan(&b.Waiting); err != nil {
			return err
		}
		return s.db.Readers.QueryRowContext(ctx, `SELECT count(*), min(claimable_at) FROM job WHERE NOT test AND claimable_at <= $1`,
			now.UnixMicro()).Scan(&b.Overdue, db.ScanTime(&b.Oldest))
	})
	if err != nil {
		return b, fmt.Errorf("counting jobs: %w", err)
	}
	return b, nil
}

// KeepMessage stores a message, sealed; storing the same ID again changes nothing. When it does so is by the machine's
// clock: that of a test account may be years ahead.
func (s *Store) KeepMessage(ctx context.Context, m message.Message) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("keeping message %s: %w", m.ID, err)
	}
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO outbox (id, made_at, message, account_id, voucher_id)
			VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING`, db.KeyOf(m.ID), time.Now().UnixMicro(),
			s.db.Keys.Seal(text, db.Bound("outbox", m.ID)), db.KeyOf(m.AccountID), db.KeyOf(m.GiftID))
		return err
	})
	if err != nil {
		return fmt.Errorf("keeping message %s: %w", m.ID, err)
	}
	return nil
}

// ForgetMessages deletes at most limit messages that were stored before an instant, and tells how many there were.
func (s *Store) ForgetMessages(ctx context.Context, before time.Time, limit int) (n int64, err error) {
	// Most calls find nothing; they should not wait for the writer.
	ids, err := db.Collect(ctx, s.db, `SELECT o.id FROM outbox AS o WHERE o.made_at < $1 ORDER BY o.made_at LIMIT $2`,
		[]any{before.UnixMicro(), limit}, func(from db.Scanner) (id guid.ID, err error) {
			err = from.Scan(db.ScanID(&id))
			return id, err
		})
	if err == nil && len(ids) > 0 {
		err = s.db.Write(ctx, func(tx *sql.Tx) (err error) {
			for i := 0; i < len(ids) && err == nil; i++ {
				_, err = tx.ExecContext(ctx, `DELETE FROM outbox WHERE id = $1`, db.KeyOf(ids[i]))
			}
			return err
		})
	}
	if err != nil {
		return 0, fmt.Errorf("forgetting old messages of the outbox: %w", err)
	}
	return int64(len(ids)), nil
}

// Messages gives at most limit messages, the newest first: those that are older than the one named; zero: all.
func (s *Store) Messages(ctx context.Context, before guid.ID, limit int) ([]message.Message, error) {
	if before.IsZero() {
		return s.selectMessages(ctx, `SELECT o.id, o.message
			FROM outbox AS o ORDER BY o.made_at DESC, o.id DESC LIMIT $1`, limit)
	}
	return s.selectMessages(ctx, `SELECT o.id, o.message
		FROM outbox AS o
		WHERE (o.made_at, o.id) < (SELECT b.made_at, b.id FROM outbox AS b WHERE b.id = $1)
		ORDER BY o.made_at DESC, o.id DESC LIMIT $2`, db.KeyOf(before), limit)
}

// Message finds one message; refusal.NotFound when there is none.
func (s *Store) Message(ctx context.Context, id guid.ID) (message.Message, error) {
	found, err := s.selectMessages(ctx, `SELECT o.id, o.message FROM outbox AS o WHERE o.id = $1`, db.KeyOf(id))
	if err != nil || len(found) == 0 {
		return message.Message{}, cmp.Or(err, error(refusal.NotFound))
	}
	return found[0], nil
}

func (s *Store) selectMessages(ctx context.Context, query string, args ...any) ([]message.Message, error) {
	messages, err := db.Collect(ctx, s.db, query, args, func(from db.Scanner) (m message.Message, err error) {
		var key guid.ID
		var sealed []byte
		if err := from.Scan(db.ScanID(&key), &sealed); err != nil {
			return m, err
		}
		text, err := s.db.Keys.Open(sealed, db.Bound("outbox", key))
		if err != nil {
			return m, fmt.Errorf("message %s: %w", key, err)
		}
		if err := json.Unmarshal(text, &m); err != nil {
			return m, errors.New("a message is damaged")
		}
		return m, nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the outbox: %w", err)
	}
	return messages, nil
}
