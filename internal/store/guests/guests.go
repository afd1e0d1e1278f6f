// Package guests keeps the links and the sessions of people who look at their gifts. Every row is sealed for its key,
// so that whoever can write to the database and lacks the key file sees nobody's gifts; tokens are found by a keyed
// hash.
package guests

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/guest"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
	"boon.example/internal/store/db"
)

// Guests keeps them in a database.
type Guests struct{ db *db.DB }

// New works on an open database.
func New(d *db.DB) *Guests { return &Guests{d} }

// The domains in which rows are sealed.
const (
	linkDomain    = "guest link"
	sessionDomain = "guest session"
)

// recordOf binds a document to its row.
func recordOf(account guid.ID, hash []byte) []byte { return append(account[:], hash...) }

// seal makes the document of a row.
func (s *Guests) seal(domain string, v any, account guid.ID, hash []byte) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("writing a %s: %w", domain, err)
	}
	return s.db.Keys.SealOnce(domain, text, recordOf(account, hash)), nil
}

// open reads the document of a row. One that was changed, or moved from another row, is an error.
func (s *Guests) open(domain string, document []byte, account guid.ID, hash []byte, to any) error {
	text, err := s.db.Keys.OpenOnce(domain, document, recordOf(account, hash))
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		return fmt.Errorf("reading a %s: %w", domain, err)
	}
	return nil
}

// AskForGuestLink keeps a link to be judged: SendGuestLink and ForgetGuestLink say how it goes on. It does the same for
// every contact. Where guest.MaxWaiting links wait, it is refusal.RateLimited.
func (s *Guests) AskForGuestLink(ctx context.Context, l *guest.Link) error {
	hash := s.db.Keys.GuestHash(l.Token)
	document, err := s.seal(linkDomain, l, l.AccountID, hash)
	if err != nil {
		return err
	}
	of := s.db.Keys.ContactHash(l.AccountID, contact.Key(l.Contact))
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		var waiting int
		err := tx.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM guest_link AS l WHERE l.due IS NOT NULL
			LIMIT $1) AS waiting`, guest.MaxWaiting).Scan(&waiting)
		if err != nil {
			return err
		}
		if waiting >= guest.MaxWaiting {
			return refusal.RateLimited
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO guest_link (account_id, hash, contact, made_at, due, until, document)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, db.KeyOf(l.AccountID), hash, of, db.Micros(l.At), db.Micros(l.At),
			db.Micros(l.At.Add(guest.LinkFor)), document)
		return err
	})
	if err != nil && !errors.Is(err, refusal.RateLimited) {
		return fmt.Errorf("keeping a guest link: %w", err)
	}
	return err
}

// ClaimGuestLink leases the link that is due for the longest time: nobody else gets it before until. A row that cannot
// be read is an error, and is leased too, so that it stops no other.
func (s *Guests) ClaimGuestLink(ctx context.Context, now, until time.Time) (l guest.Link, is bool, err error) {
	for {
		var account guid.ID
		var hash, document []byte
		var due time.Time
		err := s.db.Get(ctx, `SELECT l.account_id, l.hash, l.due, l.document FROM guest_link AS l WHERE l.due <= $1
			ORDER BY l.due LIMIT 1`, []any{db.Micros(now)}, db.ScanID(&account), &hash, db.ScanTime(&due), &document)
		if errors.Is(err, sql.ErrNoRows) {
			return l, false, nil
		}
		if err != nil {
			return l, false, fmt.Errorf("looking for a guest link: %w", err)
		}
		err = s.db.Write(ctx, func(tx *sql.Tx) error {
			result, err := tx.ExecContext(ctx, `UPDATE guest_link SET due = $1
				WHERE account_id = $2 AND hash = $3 AND due = $4`, db.Micros(until), db.KeyOf(account), hash, db.Micros(due))
			if err != nil {
				return err
			}
			n, err := result.RowsAffected()
			is = n == 1
			return err
		})
		if err != nil {
			return l, false, fmt.Errorf("leasing a guest link: %w", err)
		}
		if is {
			err = s.open(linkDomain, document, account, hash, &l)
			return l, err == nil, err
		}
	}
}

// MaySendGuestLink reports whether a link is one of the first guest.LinksADay of its contact within guest.CountedFor.
// Links that wait count like those that were sent, so that two processes which send at once send no more.
func (s *Guests) MaySendGuestLink(ctx context.Context, l *guest.Link) (may bool, err error) {
	of, own := s.db.Keys.ContactHash(l.AccountID, contact.Key(l.Contact)), s.db.Keys.GuestHash(l.Token)
	var earlier int
	err = s.db.Get(ctx, `SELECT count(*) FROM guest_link AS l WHERE l.account_id = $1 AND l.contact = $2
		AND l.made_at > $3 AND (l.made_at < $4 OR l.made_at = $4 AND l.hash < $5)`, []any{db.KeyOf(l.AccountID), of,
		db.Micros(l.At.Add(-guest.CountedFor)), db.Micros(l.At), own}, &earlier)
	if err != nil {
		return false, fmt.Errorf("counting guest links: %w", err)
	}
	return earlier < guest.LinksADay, nil
}

// change changes the row of a link, whichever key its hash was made with, and reports whether there was one.
func (s *Guests) change(ctx context.Context, l *guest.Link, what string, fn func(*sql.Tx, []byte) (sql.Result, error)) (
	is bool, err error) {
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		is = false
		for _, hash := range s.db.Keys.GuestHashes(l.Token) {
			result, err := fn(tx, hash)
			if err != nil {
				return err
			}
			if n, err := result.RowsAffected(); err != nil || n > 0 {
				is = true
				return err
			}
		}
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("%s a guest link: %w", what, err)
	}
	return is, nil
}

// SentGuestLink notes that a link was sent: it counts for a day.
func (s *Guests) SentGuestLink(ctx context.Context, l *guest.Link) error {
	_, err := s.change(ctx, l, "noting that somebody was sent", func(tx *sql.Tx, hash []byte) (sql.Result, error) {
		return tx.ExecContext(ctx, `UPDATE guest_link SET due = NULL WHERE account_id = $1 AND hash = $2`,
			db.KeyOf(l.AccountID), hash)
	})
	return err
}

// PostponeGuestLink gives a link back, to be sent later.
func (s *Guests) PostponeGuestLink(ctx context.Context, l *guest.Link, due time.Time) error {
	_, err := s.change(ctx, l, "postponing", func(tx *sql.Tx, hash []byte) (sql.Result, error) {
		document, err := s.seal(linkDomain, l, l.AccountID, hash)
		if err != nil {
			return nil, err
		}
		return tx.ExecContext(ctx, `UPDATE guest_link SET due = $3, document = $4 WHERE account_id = $1 AND hash = $2`,
			db.KeyOf(l.AccountID), hash, db.Micros(due), document)
	})
	return err
}

// ForgetGuestLink deletes a link that is not sent.
func (s *Guests) ForgetGuestLink(ctx context.Context, l *guest.Link) error {
	_, err := s.change(ctx, l, "deleting", func(tx *sql.Tx, hash []byte) (sql.Result, error) {
		return tx.ExecContext(ctx, `DELETE FROM guest_link WHERE account_id = $1 AND hash = $2`, db.KeyOf(l.AccountID), hash)
	})
	return err
}

// GuestLink finds a link of an account that signs in; refusal.NotFound where there is none, or none any more. It
// changes nothing.
func (s *Guests) GuestLink(ctx context.Context, account guid.ID, token string, now time.Time) (l guest.Link,
	err error) {
	const query = `SELECT l.document FROM guest_link AS l WHERE l.account_id = $1 AND l.hash = $2 AND l.until > $3`
	err = s.find(ctx, linkDomain, query, account, token, now, &l)
	if err == nil && !l.Works(now) {
		err = refusal.NotFound
	}
	return l, err
}

// GuestSession finds a session of an account; refusal.NotFound where there is none that works.
func (s *Guests) GuestSession(ctx context.Context, account guid.ID, token string, now time.Time) (found guest.Session,
	err error) {
	const query = `SELECT t.document FROM guest_session AS t WHERE t.account_id = $1 AND t.hash = $2 AND t.until > $3`
	err = s.find(ctx, sessionDomain, query, account, token, now, &found)
	if err == nil && !found.Works(now) {
		err = refusal.NotFound
	}
	return found, err
}

// find reads a row by a token, whichever key its hash was made with.
func (s *Guests) find(ctx context.Context, domain, query string, account guid.ID, token string, now time.Time,
	to any) error {
	if err := s.db.Follow(ctx); err != nil {
		return fmt.Errorf("finding a %s: %w", domain, err)
	}
	for _, hash := range s.db.Keys.GuestHashes(token) {
		var document []byte
		err := s.db.Get(ctx, query, []any{db.KeyOf(account), hash, db.Micros(now)}, &document)
		if err == nil {
			err = s.open(domain, document, account, hash, to)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return refusal.NotFound
}

// SignInGuest uses a link up and begins a session under another token, in one transaction; refusal.NotFound where the
// link does not sign in, as somebody else used it. Sessions that are over go.
func (s *Guests) SignInGuest(ctx context.Context, l *guest.Link, token string, now time.Time) error {
	hash := s.db.Keys.GuestHash(token)
	begun := guest.Session{AccountID: l.AccountID, Method: l.Method, Contact: l.Contact, At: now}
	document, err := s.seal(sessionDomain, &begun, l.AccountID, hash)
	if err != nil {
		return err
	}
	of := s.db.Keys.ContactHash(l.AccountID, contact.Key(l.Contact))
	used, err := s.change(ctx, l, "using", func(tx *sql.Tx, link []byte) (sql.Result, error) {
		result, err := tx.ExecContext(ctx, `UPDATE guest_link SET until = 0 WHERE account_id = $1 AND hash = $2
			AND until > $3`, db.KeyOf(l.AccountID), link, db.Micros(now))
		if err != nil {
			return nil, err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return result, err
		}
		return result, errors.Join(run(ctx, tx, `DELETE FROM guest_session WHERE until < $1`, db.Micros(now)),
			run(ctx, tx, `INSERT INTO guest_session (account_id, hash, contact, until, document)
				VALUES ($1, $2, $3, $4, $5)`, db.KeyOf(l.AccountID), hash, of, db.Micros(now.Add(guest.SessionFor)), document))
	})
	if err == nil && !used {
		err = refusal.NotFound
	}
	return err
}

func run(ctx context.Context, tx *sql.Tx, statement string, args ...any) error {
	_, err := tx.ExecContext(ctx, statement, args...)
	return err
}

// SignOutGuest ends a session; everywhere: all sessions of its contact in the account, and the links to it.
func (s *Guests) SignOutGuest(ctx context.Context, of *guest.Session, token string, everywhere bool) error {
	account := db.KeyOf(of.AccountID)
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		for _, hash := range s.db.Keys.GuestHashes(token) {
			if err := run(ctx, tx, `DELETE FROM guest_session WHERE account_id = $1 AND hash = $2`, account, hash); err != nil {
				return err
			}
		}
		if !everywhere {
			return nil
		}
		for _, hash := range s.db.Keys.ContactHashes(of.AccountID, contact.Key(of.Contact)) {
			err := errors.Join(run(ctx, tx, `DELETE FROM guest_session WHERE account_id = $1 AND contact = $2`, account, hash),
				run(ctx, tx, `UPDATE guest_link SET until = 0 WHERE account_id = $1 AND contact = $2`, account, hash))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("signing a guest out: %w", err)
	}
	return nil
}

// CountGuestLinks counts the links that are still to be judged or sent.
func (s *Guests) CountGuestLinks(ctx context.Context) (n int, err error) {
	err = s.db.Get(ctx, `SELECT count(*) FROM guest_link AS l WHERE l.due IS NOT NULL`, nil, &n)
	return n, err
}

// ForgetGuests deletes links that count no more, and sessions that are over.
func (s *Guests) ForgetGuests(ctx context.Context, now time.Time) error {
	old := db.Micros(now.Add(-guest.CountedFor))
	_, err := s.db.Delete(ctx, `SELECT count(*) FROM (SELECT 1 FROM guest_link AS l WHERE l.made_at < $1 LIMIT 1) AS one`,
		[]any{old}, `DELETE FROM guest_link WHERE made_at < $1`, old)
	if err == nil {
		_, err = s.db.Delete(ctx, `SELECT count(*) FROM (SELECT 1 FROM guest_session AS t WHERE t.until < $1 LIMIT 1) AS one`,
			[]any{db.Micros(now)}, `DELETE FROM guest_session WHERE until < $1`, db.Micros(now))
	}
	if err != nil {
		return fmt.Errorf("forgetting guests: %w", err)
	}
	return nil
}
