// Package imported keeps the imports that bring gifts of another system in, and tells which codes are taken. The gifts
// themselves are written by the groups of the engine, as all gifts are.
package imported

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/intake"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
	"boon.example/internal/store/feed"
	"boon.example/internal/store/record"
	"boon.example/internal/store/setup"
	"boon.example/internal/store/sums"
)

// Imports bring gifts of another system in: they are written in groups as all gifts are, and are there for nobody until
// one transaction finishes the import. See docs/adr/0045.
//
// # Invariants
//
//  1. A gift that was brought names its import for ever. Only gifts of a FINISHED import are there. Every statement
//     that finds gifts for others than verify, erase, copies and backups asks for that, where a gift names an import
//     (TestNoStatementForgetsImports). Guards of the database keep others from changing such a gift.
//  2. How many gifts are written (staged) changes in the transaction that writes them, from a number that the writer
//     names. So of two that go on with one import, one fails; and whoever goes on after a kill knows how many there
//     are.
//  3. A state has one way: STAGED, FINISHED, UNDOING, UNDONE; STAGED may be undone, too. Each step is one row.
//  4. The first use of a gift of an import and the undoing of the import change the same row. So an import is undone
//     before anything happens to its gifts, or not at all.
//  5. The tally counts gifts that are there. It changes with the state.
//  6. The days of the books that an import reaches into are open again when its gifts appear or disappear: the
//     transaction that flips the state takes away their sums, and the job closes them anew. A day that was worked out
//     while a state flipped is not closed (sums.CloseDraft compares the flips).
//  7. What became of an import is told only after a commit that writes to its row (ConfirmImport): a commit that a
//     failover may lose is read by everybody, and only a commit that writes waits for a standby.
//  8. Each step is told in the log of the set-up, in the transaction that takes it. Whoever writes past Boon to the
//     database, without the key file, cannot write there: boon verify holds each state against the newest step.
//  9. Codes and tokens of an undone import are free once UNDOING is over. What it wrote stays in the ledger, unseen.
//  10. Different files of an account may be brought in at once, by any instances. Each import has a row of its own, and
//     changes no other one's. A code that stands in two files goes to the import that writes it first, as the hash of a
//     code is there once; the other import then does not finish (intake.ErrChanged), goes on once the first one is
//     undone, or is undone itself. Imports that finish at once do so one after the other, as each step locks the set-up
//     (step). So the tally counts each of them, and each certificate tells of the gifts of its own import.
//     intake.TestTwoFilesAtOnce shows it on both databases.

// Register keeps the imports.
type Register struct {
	db    *db.DB
	setup *setup.Setup // for the audit trail
}

// New works on an open database.
func New(d *db.DB, s *setup.Setup) *Register { return &Register{d, s} }

const importColumns = `account_id, id, state, file, asked, as_of, staged, used, made_by, started_at, told,
	planned, stopped, alive_at`

func scanImport(from db.Scanner) (m intake.Import, err error) {
	var file []byte
	var stopped string
	err = from.Scan(db.ScanID(&m.AccountID), db.ScanID(&m.ID), &m.State, &file, &m.Asked, db.ScanTime(&m.AsOf), &m.Staged,
		&m.Used, &m.MadeBy, db.ScanTime(&m.StartedAt), &m.Told, &m.Planned, &stopped,
		db.ScanTime(&m.AliveAt))
	copy(m.File[:], file)
	m.Failed = stopped != ""
	return m, err
}

// Imports gives those of an account, the newest first.
func (s *Register) Imports(ctx context.Context, account guid.ID) ([]intake.Import, error) {
	const query = `SELECT account_id, id, state, file, asked, as_of, staged, used, made_by, started_at, told,
			planned, stopped, alive_at
		FROM gift_import WHERE account_id = $1 ORDER BY id DESC`
	all, err := db.Collect(ctx, s.db, query, []any{db.KeyOf(account)}, scanImport)
	if err != nil {
		return nil, fmt.Errorf("reading the imports of account %s: %w", account, err)
	}
	return all, nil
}

// CommitTime is how long others wait for a commit: see intake.Store.
func (s *Register) CommitTime() time.Duration { return s.db.CommitTime() }

// BeginImport begins an import. It is told as an event and in the audit trail. Of two that begin the same file at once,
// as two instances may, one fails with intake.ErrMoved.
func (s *Register) BeginImport(ctx context.Context, m *intake.Import, by event.TrailEntry) error {
	const same = `SELECT count(*) FROM gift_import
		WHERE account_id = $1 AND file = $2 AND asked = $3 AND state IN ('STAGED', 'FINISHED')`
	err := s.step(ctx, m.ID, intake.Staged, func(tx *sql.Tx) error {
		var begun int
		err := tx.QueryRowContext(ctx, same, db.KeyOf(m.AccountID), m.File[:], m.Asked).Scan(&begun)
		if err == nil && begun > 0 {
			err = intake.ErrMoved
		}
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO gift_import (account_id, id, state, file, asked, as_of, made_by, started_at,
				planned, alive_at)
			VALUES ($1, $2, 'STAGED', $3, $4, $5, $6, $7, $8, $9)`, db.KeyOf(m.AccountID), db.KeyOf(m.ID), m.File[:], m.Asked,
			db.Micros(m.AsOf), m.MadeBy, db.Micros(m.StartedAt), m.Planned,
			db.Micros(time.Now()))
		if err != nil {
			return err
		}
		return s.tellImport(ctx, tx, m, event.ImportStarted, by)
	})
	if err != nil {
		return fmt.Errorf("beginning import %s: %w", m.ID, err)
	}
	return nil
}

// errNoStep tells that somebody has taken a step before.
var errNoStep = errors.New("the import is there already")

// step has do take a step of an import, and tells it in the log of the set-up.
func (s *Register) step(ctx context.Context, id guid.ID, to intake.State, do func(*sql.Tx) error) error {
	return s.setup.LogAfter(ctx, func(tx *sql.Tx) (string, error) {
		switch err := do(tx); {
		case errors.Is(err, errNoStep):
			return "", nil
		case err != nil:
			return "", err
		}
		return said(id, to), nil
	})
}

// said is how the log of the set-up tells that an import has come to a state.
func said(id guid.ID, is intake.State) string { return stepWords + id.String() + " is " + string(is) }

const stepWords = "import "

// Said reads what the log of the set-up has to say last of each import.
func Said(ctx context.Context, q db.Querier) (all map[guid.ID]string, err error) {
	all = map[guid.ID]string{}
	err = db.Each(ctx, q, `SELECT id, state FROM gift_import`, nil, func(rows *sql.Rows) error {
		var id guid.ID
		var is intake.State
		err := rows.Scan(db.ScanID(&id), &is)
		all[id] = said(id, is)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the states of imports: %w", err)
	}
	return all, nil
}

// StepOf is the import that an entry of the log of the set-up tells of, if it tells of one.
func StepOf(what string) (id guid.ID, ok bool) {
	rest, ok := strings.CutPrefix(what, stepWords)
	text, _, is := strings.Cut(rest, " is ")
	if !ok || !is {
		return id, false
	}
	id, err := guid.Parse(text)
	return id, err == nil
}

// tellImport writes what became of an import, as an event and in the audit trail.
func (s *Register) tellImport(ctx context.Context, tx *sql.Tx, m *intake.Import, what gift.EventType,
	by event.TrailEntry) error {
	err := feed.AddNow(ctx, tx, event.Event{Type: what, AccountID: m.AccountID, At: time.Now().UTC(),
		Note: event.Note{ImportID: m.ID, KeyID: by.Actor.KeyID}})
	if err != nil {
		return err
	}
	by.AccountID, by.Action = m.AccountID, what
	return s.setup.AddTrailWithin(ctx, tx, by)
}

// FinishImport has the gifts of an import be there from now on, and keeps what its certificate says. Of two that do it
// at once, or where other gifts are written than m says, one fails with intake.ErrMoved.
func (s *Register) FinishImport(ctx context.Context, m *intake.Import, by event.TrailEntry) error {
	err := s.step(ctx, m.ID, intake.Finished, func(tx *sql.Tx) error {
		err := s.flip(ctx, tx, m, `UPDATE gift_import SET state = 'FINISHED', flips = flips + 1, told = $3, stopped = ''
			WHERE account_id = $1 AND id = $2 AND state = 'STAGED' AND staged = $4`, m.Told, m.Staged)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, record.AddTally.Each, db.KeyOf(m.AccountID), m.Staged); err != nil {
			return err
		}
		return s.tellImport(ctx, tx, m, event.ImportFinished, by)
	})
	if errors.Is(err, db.ErrUnknownOutcome) {
		err = fmt.Errorf("%w: %w", ledger.ErrUnknown, err)
	}
	if err != nil {
		return fmt.Errorf("finishing import %s: %w", m.ID, err)
	}
	m.State = intake.Finished
	return nil
}

// NoteFailed keeps whether writing the gifts of an import failed, and nobody goes on.
func (s *Register) NoteFailed(ctx context.Context, m *intake.Import, failed bool) error {
	why := ""
	if failed {
		why = string(intake.WritingFailed)
	}
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE gift_import SET stopped = $3, alive_at = $4
			WHERE account_id = $1 AND id = $2 AND state = 'STAGED'`, db.KeyOf(m.AccountID), db.KeyOf(m.ID), why,
			db.Micros(time.Now()))
		return err
	})
	if err != nil {
		return fmt.Errorf("noting whether writing import %s failed: %w", m.ID, err)
	}
	return nil
}

// NoteAlive keeps that somebody is at an import: its gifts are written, or it is taken back.
func (s *Register) NoteAlive(ctx context.Context, m *intake.Import) error {
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE gift_import SET alive_at = $3
			WHERE account_id = $1 AND id = $2 AND state IN ('STAGED', 'UNDOING')`, db.KeyOf(m.AccountID), db.KeyOf(m.ID),
			db.Micros(time.Now()))
		return err
	})
	if err != nil {
		return fmt.Errorf("noting that somebody is at import %s: %w", m.ID, err)
	}
	return nil
}

// confirmImport changes nothing, and is a write.
const confirmImport = `UPDATE gift_import SET planned = planned WHERE account_id = $1 AND id = $2`

// ConfirmImport gives an import as it is, once that is on stable storage and with the standby that confirms commits.
// Where that is not certain, it fails.
func (s *Register) ConfirmImport(ctx context.Context, account, id guid.ID) (*intake.Import, error) {
	var m intake.Import
	err := s.db.Write(ctx, func(tx *sql.Tx) (err error) {
		m, err = scanImport(tx.QueryRowContext(ctx, confirmImport+` RETURNING `+importColumns, db.KeyOf(account), db.KeyOf(id)))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("asking what became of import %s: %w", id, err)
	}
	return &m, nil
}

// flip changes the state of an import, and opens the days that it reaches into.
func (s *Register) flip(ctx context.Context, tx *sql.Tx, m *intake.Import, update string, args ...any) error {
	if err := sums.Hold(ctx, s.db, tx); err != nil {
		return err
	}
	if err := change(ctx, tx, m, update, args...); err != nil {
		return err
	}
	return sums.Reopen(ctx, tx, m.AccountID, m.AsOf)
}

// change changes the row of an import, unless somebody else was faster.
func change(ctx context.Context, tx *sql.Tx, m *intake.Import, update string, args ...any) error {
	done, err := tx.ExecContext(ctx, update, append([]any{db.KeyOf(m.AccountID), db.KeyOf(m.ID)}, args...)...)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		return errors.Join(intake.ErrMoved, err)
	}
	return nil
}

// UndoImport has the gifts of an import be there no more, and makes their codes free. It fails with intake.ErrUsed
// where something happened to one of them. Whoever does it again goes on where it stopped.
func (s *Register) UndoImport(ctx context.Context, m *intake.Import, by event.TrailEntry, done func(freed int)) error {
	if err := s.HideImport(ctx, m); err != nil {
		return err
	}
	if err := s.freeCodes(ctx, m, done); err != nil {
		return fmt.Errorf("undoing import %s: %w", m.ID, err)
	}
	err := s.step(ctx, m.ID, intake.Undone, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `UPDATE gift_import SET state = 'UNDONE'
			WHERE account_id = $1 AND id = $2 AND state = 'UNDOING'`, db.KeyOf(m.AccountID), db.KeyOf(m.ID))
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		if err == nil && n == 0 { // somebody else has, or this did, and was not told
			_, err = tx.ExecContext(ctx, confirmImport, db.KeyOf(m.AccountID), db.KeyOf(m.ID))
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return errNoStep
		}
		return s.tellImport(ctx, tx, m, event.ImportUndone, by)
	})
	if err != nil {
		return fmt.Errorf("undoing import %s: %w", m.ID, err)
	}
	m.State = intake.Undone
	return nil
}

// HideImport takes the first step of UndoImport, unless it was taken: the gifts are there no more.
func (s *Register) HideImport(ctx context.Context, m *intake.Import) error {
	err := s.step(ctx, m.ID, intake.Undoing, func(tx *sql.Tx) error {
		const query = `SELECT ` + importColumns + ` FROM gift_import WHERE account_id = $1 AND id = $2`
		is, err := scanImport(tx.QueryRowContext(ctx, query, db.KeyOf(m.AccountID), db.KeyOf(m.ID)))
		switch {
		case err != nil:
			return err
		case is.State == intake.Undoing, is.State == intake.Undone:
			return errNoStep
		case is.Used:
			return intake.ErrUsed
		case is.State == intake.Staged: // its gifts were never there, and in no day of the books
			return change(ctx, tx, m, `UPDATE gift_import SET state = 'UNDOING', alive_at = $3, stopped = ''
				WHERE account_id = $1 AND id = $2 AND state = 'STAGED'`, db.Micros(time.Now()))
		case s.db.Spread:
			return intake.ErrNoUndo
		}
		err = s.flip(ctx, tx, m, `UPDATE gift_import SET state = 'UNDOING', flips = flips + 1, alive_at = $3
			WHERE account_id = $1 AND id = $2 AND state = 'FINISHED' AND NOT used`, db.Micros(time.Now()))
		if err == nil {
			_, err = tx.ExecContext(ctx, `UPDATE tally SET vouchers = vouchers - $2 WHERE account_id = $1`,
				db.KeyOf(m.AccountID), is.Staged)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("undoing import %s: %w", m.ID, err)
	}
	return nil
}

// freed is how many gifts are looked at in one transaction.
const freed = 1_000

// freeCodes takes away what codes and tokens are found by, of all gifts of an import, and has Google be told of those
// that it has a pass of.
func (s *Register) freeCodes(ctx context.Context, m *intake.Import, done func(int)) error {
	const query = `SELECT v.id, (SELECT count(*) FROM google_object AS p
			WHERE p.account_id = v.account_id AND p.voucher_id = v.id)
		FROM voucher AS v WHERE v.import_id = $2 AND v.account_id = $1 AND v.id > $3 ORDER BY v.id LIMIT $4`
	type brought struct {
		id      guid.ID
		objects int // of Google
	}
	for after, n := (guid.ID{}), freed; n == freed; {
		page, err := db.Collect(ctx, s.db, query, []any{db.KeyOf(m.AccountID), db.KeyOf(m.ID), db.KeyOf(after), freed},
			func(from db.Scanner) (b brought, err error) { return b, from.Scan(db.ScanID(&b.id), &b.objects) })
		if err != nil {
			return err
		}
		if n = len(page); n == 0 {
			break
		}
		w, again := db.Batch{Query: record.DeleteSecrets, Account: m.AccountID},
			db.Batch{Query: record.AgainGoogle, Account: m.AccountID}
		for _, b := range page {
			w.Rows = append(w.Rows, []any{db.KeyOf(b.id)})
			if b.objects > 0 {
				again.Rows = append(again.Rows, []any{db.KeyOf(b.id)})
			}
		}
		err = s.db.Retry(ctx, func(ctx context.Context) error {
			return s.db.Transact(ctx, func(run db.Runner) error { return run(ctx, []db.Batch{w, again}) })
		})
		if errors.Is(err, db.ErrUnknownOutcome) {
			n = freed // the same page once more
			continue
		}
		if err != nil {
			return err
		}
		after = page[n-1].id
		done(n)
	}
	return nil
}

// TakenCodes gives the gifts that some codes lead to, or led to: of the account, where another system gave them out,
// else in the whole installation.
func (s *Register) TakenCodes(ctx context.Context, account guid.ID, wanted []codes.VoucherCode) (
	map[codes.VoucherCode]intake.Taken, error) {
	type of struct {
		code codes.VoucherCode
		own  bool // it matters only where it leads to a gift of the account
	}
	codesOf := map[string]of{}
	w := db.Batch{Query: selectLed}
	for _, c := range wanted {
		for _, hash := range s.db.Keys.CodeHashes(c.Typed(account)) {
			codesOf[string(hash)] = of{c, c.IsImported()}
			w.Rows = append(w.Rows, []any{hash})
		}
	}
	taken := map[codes.VoucherCode]intake.Taken{}
	led := map[guid.ID][]codes.VoucherCode{}
	w.Scan = func(from db.Scanner) error {
		var hash []byte
		var owner, voucher guid.ID
		err := from.Scan(&hash, db.ScanID(&owner), db.ScanID(&voucher))
		found := codesOf[string(hash)]
		if owner == account || !found.own {
			taken[found.code] = intake.Taken{}
		}
		if owner == account {
			led[voucher] = append(led[voucher], found.code)
		}
		return err
	}
	err := s.db.Retry(ctx, func(ctx context.Context) error { return s.db.Read(ctx, []db.Batch{w}) })
	if err == nil && len(led) > 0 {
		err = s.takers(ctx, account, led, taken)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for codes: %w", err)
	}
	return taken, nil
}

// takers adds to codes that are taken what the gifts are that they lead to, where an import brought them.
func (s *Register) takers(ctx context.Context, account guid.ID, led map[guid.ID][]codes.VoucherCode,
	taken map[codes.VoucherCode]intake.Taken) error {
	refs := make([]ledger.Ref, 0, len(led))
	for voucher := range led {
		refs = append(refs, ledger.Ref{AccountID: account, ID: voucher})
	}
	return s.db.Retry(ctx, func(ctx context.Context) error {
		return s.db.Read(ctx, record.ByRef(selectBrought, refs, func(from db.Scanner) error {
			v := gift.Voucher{AccountID: account}
			var by intake.Taken
			err := from.Scan(db.ScanID(&v.ID), db.ScanID(&by.ImportID), &by.Item, &by.Balance, db.ScanID(&by.ProgramID),
				db.ScanID(&by.LocationID), db.ScanTime(&by.ValidFrom), db.ScanTime(&by.ValidUntil),
				record.ScanVerification(s.db.Keys, &v), db.ScanID(&by.DesignID), &by.Zone, &by.VATTreatment, &by.VATRate)
			by.PIN, by.TillsOnly = v.Verification, v.TillsOnly
			if by.ImportID.IsZero() {
				return err
			}
			for _, c := range led[v.ID] {
				taken[c] = by
			}
			return err
		}))
	})
}

var (
	selectLed = &db.Query{What: "reading what codes lead to",
		Each: `SELECT s.hash, s.account_id, s.voucher_id FROM secret AS s WHERE s.hash = $1`,
		SQLite: `SELECT s.hash, s.account_id, s.voucher_id
			FROM json_each($1) AS w CROSS JOIN secret AS s WHERE s.hash = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[]) AS w (key) CROSS JOIN LATERAL (
				SELECT s.hash, s.account_id, s.voucher_id
				FROM secret AS s
				WHERE s.hash = w.key OFFSET 0) AS found`}
	selectBrought = &db.Query{What: "reading imports of gifts", Scoped: true,
		SQLite: `SELECT v.id, v.import_id, v.item, v.balance, v.program_id, v.location_id, v.valid_from, v.valid_until,
				v.verification, c.design_id, c.delivery_zone, c.vat_treatment, c.vat_rate
			FROM json_each($2) AS w CROSS JOIN voucher AS v
			CROSS JOIN card AS c
			WHERE v.account_id = $1 AND v.id = unhex(w.value) AND c.account_id = v.account_id AND c.voucher_id = v.id`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
				SELECT v.id, v.import_id, v.item, v.balance, v.program_id, v.location_id, v.valid_from, v.valid_until,
					v.verification, c.design_id, c.delivery_zone, c.vat_treatment, c.vat_rate
				FROM voucher AS v
				JOIN card AS c ON c.account_id = v.account_id AND c.voucher_id = v.id
				WHERE v.account_id = w.account_id AND v.id = w.key OFFSET 0) AS found`,
		Citus: `SELECT v.id, v.import_id, v.item, v.balance, v.program_id, v.location_id, v.valid_from, v.valid_until,
				v.verification, c.design_id, c.delivery_zone, c.vat_treatment, c.vat_rate
			FROM voucher AS v
			JOIN card AS c ON c.account_id = v.account_id AND c.voucher_id = v.id
			WHERE v.account_id = $1 AND v.id = ANY($2::BYTEA[])`}
)
