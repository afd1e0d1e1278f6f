// Package staff keeps who comes in to the console. Every row is sealed for its key, so that whoever can write to the
// database and lacks the key file can let nobody in; tokens are found by a keyed hash. Who may come in changes in one
// transaction with an entry of the set-up's log and of the account's audit trail.
package staff

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
	"boon.example/internal/staff"
	"boon.example/internal/store/db"
	"boon.example/internal/store/setup"
)

// Staff keeps it in a database.
type Staff struct {
	db    *db.DB
	setup *setup.Setup
}

// New works on an open database.
func New(d *db.DB, s *setup.Setup) *Staff { return &Staff{d, s} }

// The domains in which rows are sealed.
const (
	memberDomain     = "staff member"
	invitationDomain = "staff invitation"
	sessionDomain    = "staff session"
	noticeDomain     = "staff notice"
)

// seal makes the document of a row.
func (s *Staff) seal(domain string, v any, record []byte) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("writing a %s: %w", domain, err)
	}
	return s.db.Keys.SealOnce(domain, text, record), nil
}

// open reads the document of a row. One that was changed, or moved from another row, is an error.
func (s *Staff) open(domain string, document, record []byte, to any) error {
	text, err := s.db.Keys.OpenOnce(domain, document, record)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		return fmt.Errorf("reading a %s: %w", domain, err)
	}
	return nil
}

func memberRecord(account, id guid.ID) []byte { return db.JoinIDs([]guid.ID{account, id}) }

const selectMembers = `SELECT m.id, m.document FROM staff_member AS m WHERE m.account_id = $1 ORDER BY m.id`

// Members are the staff of an account, in the order in which they were invited.
func (s *Staff) Members(ctx context.Context, account guid.ID) (all []staff.Member, err error) {
	err = s.db.Retry(ctx, func(ctx context.Context) error {
		all, err = s.members(ctx, s.db.Readers, account)
		return err
	})
	return all, err
}

func (s *Staff) members(ctx context.Context, q db.Querier, account guid.ID) (all []staff.Member, err error) {
	err = db.Each(ctx, q, selectMembers, []any{db.KeyOf(account)}, func(rows *sql.Rows) error {
		var id guid.ID
		var document []byte
		var m staff.Member
		if err := rows.Scan(db.ScanID(&id), &document); err != nil {
			return err
		}
		err := s.open(memberDomain, document, memberRecord(account, id), &m)
		all = append(all, m)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the staff of account %s: %w", account, err)
	}
	return all, nil
}

// Invitation finds an invitation by its token; refusal.NotFound where there is none, or none any more.
func (s *Staff) Invitation(ctx context.Context, token string, now time.Time) (i staff.Invitation, err error) {
	const query = `SELECT document FROM staff_invitation WHERE hash = $1`
	err = s.find(ctx, invitationDomain, query, token, func(hash []byte, get func(...any) error) error {
		var document []byte
		if err := get(&document); err != nil {
			return err
		}
		return s.open(invitationDomain, document, hash, &i)
	})
	if err == nil && !now.Before(i.Until) {
		err = refusal.NotFound
	}
	return i, err
}

// Session finds a session by its token; refusal.NotFound where there is none that works.
func (s *Staff) Session(ctx context.Context, token string, now time.Time) (found staff.Session, err error) {
	const query = `SELECT document, seen_at FROM staff_session WHERE hash = $1`
	err = s.find(ctx, sessionDomain, query, token, func(hash []byte, get func(...any) error) error {
		var document []byte
		if err := get(&document, db.ScanTime(&found.SeenAt)); err != nil {
			return err
		}
		found.Key = hash
		return s.open(sessionDomain, document, hash, &found)
	})
	if err == nil && !found.Works(now) {
		err = refusal.NotFound
	}
	return found, err
}

// find reads a row by a token, whichever key its hash was made with.
func (s *Staff) find(ctx context.Context, what, query, token string,
	read func(hash []byte, get func(...any) error) error) error {
	if err := s.db.Follow(ctx); err != nil {
		return fmt.Errorf("finding a %s: %w", what, err)
	}
	for _, hash := range s.db.Keys.StaffHashes(token) {
		err := read(hash, func(to ...any) error { return s.db.Get(ctx, query, []any{hash}, to...) })
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return refusal.NotFound
}

// Sessions are those of an account that work, the one that was used last first.
func (s *Staff) Sessions(ctx context.Context, account guid.ID, now time.Time) ([]staff.Session, error) {
	const query = `SELECT t.hash, t.document, t.seen_at FROM staff_session AS t WHERE t.account_id = $1
		ORDER BY t.seen_at DESC, t.hash`
	all, err := db.Collect(ctx, s.db, query, []any{db.KeyOf(account)},
		func(from db.Scanner) (t staff.Session, err error) {
			var document []byte
			if err := from.Scan(&t.Key, &document, db.ScanTime(&t.SeenAt)); err != nil {
				return t, err
			}
			return t, s.open(sessionDomain, document, t.Key, &t)
		})
	if err != nil {
		return nil, fmt.Errorf("reading the sessions of account %s: %w", account, err)
	}
	working := all[:0]
	for _, t := range all {
		if t.Works(now) {
			working = append(working, t)
		}
	}
	return working, nil
}

// Seen notes that a session was used.
func (s *Staff) Seen(ctx context.Context, key []byte, now time.Time) error {
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE staff_session SET seen_at = $1 WHERE hash = $2`, db.Micros(now), key)
		return err
	})
	if err != nil {
		return fmt.Errorf("noting that a session is used: %w", err)
	}
	return nil
}

// ChangeStaff changes the staff of an account in one transaction, alone among all changes of staff and set-up: change
// is given the members as they are, and says what is to be saved. Its error is given back as it is, and then nothing is
// changed. It may be asked again. An invitation that is to be used up and is none any more is refusal.NotFound.
func (s *Staff) ChangeStaff(ctx context.Context, account guid.ID,
	change func(members []staff.Member) (staff.Changes, error)) error {
	return s.setup.LogAfter(ctx, func(tx *sql.Tx) (string, error) {
		members, err := s.members(ctx, tx, account)
		if err != nil {
			return "", err
		}
		c, err := change(members)
		if err != nil {
			return "", err
		}
		if err := s.save(ctx, tx, account, &c); err != nil {
			return "", err
		}
		return s.say(ctx, tx, account, &c)
	})
}

// say writes the audit trail, and gives what the log of the set-up is to say.
func (s *Staff) say(ctx context.Context, tx *sql.Tx, account guid.ID, c *staff.Changes) (string, error) {
	if c.Trail.What == "" || account.IsZero() {
		return "", nil
	}
	e := event.TrailEntry{AccountID: account, Actor: c.Trail.By, Action: event.StaffChanged,
		RequestID: c.Trail.RequestID, What: c.Trail.What}
	if c.Trail.SignIn {
		e.Action = event.StaffSignedIn
		return "", s.setup.AddTrailWithin(ctx, tx, e)
	}
	return "account " + account.String() + ": " + c.Trail.What, s.setup.AddTrailWithin(ctx, tx, e)
}

func (s *Staff) save(ctx context.Context, tx *sql.Tx, account guid.ID, c *staff.Changes) error {
	if c.Use != "" {
		if err := s.use(ctx, tx, c.Use); err != nil {
			return err
		}
	}
	for _, m := range c.Save {
		if err := s.saveMember(ctx, tx, &m); err != nil {
			return err
		}
	}
	keep := append([]byte{}, c.Keep...) // never NULL, which is equal to nothing
	for _, id := range append(c.EndSessions, c.Remove...) {
		if err := run(ctx, tx, `DELETE FROM staff_session WHERE account_id = $1 AND staff_id = $2 AND hash <> $3`,
			db.KeyOf(account), db.KeyOf(id), keep); err != nil {
			return err
		}
	}
	for _, id := range slices.Concat(c.Uninvite, c.Remove) {
		if err := endInvitations(ctx, tx, account, id); err != nil {
			return err
		}
	}
	for _, id := range c.Remove {
		if err := run(ctx, tx, `DELETE FROM staff_member WHERE account_id = $1 AND id = $2`, db.KeyOf(account),
			db.KeyOf(id)); err != nil {
			return err
		}
	}
	for _, key := range c.End {
		if err := run(ctx, tx, `DELETE FROM staff_session WHERE hash = $1`, key); err != nil {
			return err
		}
	}
	return s.begin(ctx, tx, c)
}

// begin writes what a change begins: sessions, mails about them, and an invitation.
func (s *Staff) begin(ctx context.Context, tx *sql.Tx, c *staff.Changes) error {
	for _, b := range c.Begin {
		if err := s.saveSession(ctx, tx, &b); err != nil {
			return err
		}
	}
	for _, n := range c.Notices {
		if err := s.saveNotice(ctx, tx, &n); err != nil {
			return err
		}
	}
	if c.Invite == nil {
		return nil
	}
	i, hash := c.Invite.Invitation, s.db.Keys.StaffHash(c.Invite.Token)
	if err := endInvitations(ctx, tx, i.AccountID, i.StaffID); err != nil {
		return err
	}
	document, err := s.seal(invitationDomain, i, hash)
	if err != nil {
		return err
	}
	return run(ctx, tx, `INSERT INTO staff_invitation (hash, account_id, staff_id, until, document)
		VALUES ($1, $2, $3, $4, $5)`, hash, db.KeyOf(i.AccountID), db.KeyOf(i.StaffID), db.Micros(i.Until), document)
}

// use takes an invitation away; refusal.NotFound where somebody else did.
func (s *Staff) use(ctx context.Context, tx *sql.Tx, token string) error {
	for _, hash := range s.db.Keys.StaffHashes(token) {
		result, err := tx.ExecContext(ctx, `DELETE FROM staff_invitation WHERE hash = $1`, hash)
		if err != nil {
			return fmt.Errorf("using an invitation: %w", err)
		}
		if n, err := result.RowsAffected(); err != nil || n == 1 {
			return err
		}
	}
	return refusal.NotFound
}

func (s *Staff) saveMember(ctx context.Context, tx *sql.Tx, m *staff.Member) error {
	document, err := s.seal(memberDomain, m, memberRecord(m.AccountID, m.ID))
	if err != nil {
		return err
	}
	return run(ctx, tx, `INSERT INTO staff_member (account_id, id, document) VALUES ($1, $2, $3)
		ON CONFLICT (account_id, id) DO UPDATE SET document = excluded.document`, db.KeyOf(m.AccountID), db.KeyOf(m.ID),
		document)
}

// saveSession writes a session that begins, and deletes those that are over, of whomever.
func (s *Staff) saveSession(ctx context.Context, tx *sql.Tx, b *staff.Begun) error {
	t, hash := &b.Session, s.db.Keys.StaffHash(b.Token)
	document, err := s.seal(sessionDomain, t, hash)
	if err != nil {
		return err
	}
	if err := run(ctx, tx, `DELETE FROM staff_session WHERE until < $1`, db.Micros(t.BegunAt)); err != nil {
		return err
	}
	if err := run(ctx, tx, `DELETE FROM staff_invitation WHERE until < $1`, db.Micros(t.BegunAt)); err != nil {
		return err
	}
	return run(ctx, tx, `INSERT INTO staff_session (hash, account_id, staff_id, seen_at, until, document)
		VALUES ($1, $2, $3, $4, $5, $6)`, hash, db.KeyOf(t.AccountID), db.KeyOf(t.StaffID), db.Micros(t.SeenAt),
		db.Micros(t.Ends()), document)
}

func endInvitations(ctx context.Context, tx *sql.Tx, account, member guid.ID) error {
	return run(ctx, tx, `DELETE FROM staff_invitation WHERE account_id = $1 AND staff_id = $2`, db.KeyOf(account),
		db.KeyOf(member))
}

func run(ctx context.Context, tx *sql.Tx, statement string, args ...any) error {
	if _, err := tx.ExecContext(ctx, statement, args...); err != nil {
		return fmt.Errorf("writing the staff: %w", err)
	}
	return nil
}
