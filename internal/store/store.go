// Package store keeps everything in a database: gifts, their ledger, the set-up, idempotency records, jobs and the counts of
// wrong codes. It implements what ledger, api, delivery and setup ask of a database, and makes no decision of its own: which
// change is right is for package gift to say. Its constraints and triggers refuse what can never be right.
//
// It is written for two databases from one SQL text; see dialect. It knows no HTTP. Codes and tokens enter it in the
// clear and are sealed before they reach a file.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/sealed"
)

// Options say where the data is.
type Options struct {
	// Dir is the data folder: the database and, beside it, the key file. A new one gets both.
	Dir string
	// Database is a postgres://… URL; empty: the embedded database in Dir.
	Database string
	// MustExist refuses a folder without a database, for programs that only look.
	MustExist bool

	alone   bool // refuse what another process has open
	copying bool // let a half copied database pass
}

// Store is an open database. It is safe for concurrent use, also beside other processes that have the same folder open.
type Store struct {
	dialect dialect
	keys    *sealed.Keys
	file    string
	writer  *sql.DB // every transaction that writes
	readers *sql.DB
	hot     map[string]*sql.Stmt // prepared on writer, by text
	lookUps map[string]*sql.Stmt // prepared on readers, by text
	used    usedRecords
	setup   atomic.Pointer[gift.Directory] // as last read
}

// querier is what can be asked: a database or a transaction.
type querier interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// Open opens the store of a data folder and brings its schema up to date. It refuses, with a sentence for the operator, a
// database without its key file, one whose key file is another's, and one that a newer program made.
func Open(ctx context.Context, o Options) (*Store, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("opening the data folder: %w", err)
	}
	if o.Database != "" {
		return nil, errors.New("PostgreSQL is not in this build yet")
	}
	s := &Store{dialect: sqliteDialect, file: filepath.Join(dir, DatabaseName)}
	if s.keys, err = openFolder(dir, s.file, o.MustExist); err != nil {
		return nil, err
	}
	if o.alone {
		if err := aloneOnSQLite(ctx, s.file); err != nil {
			return nil, err
		}
	}
	if s.writer, s.readers, err = openSQLite(s.file); err != nil {
		return nil, err
	}
	if err := s.begin(ctx, o.copying); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openFolder gives the keys of a data folder. In a new one it makes the key file first and the database file after it: a
// database without its key file is therefore never one that is just being made.
func openFolder(dir, database string, mustExist bool) (*sealed.Keys, error) {
	_, err := os.Stat(database)
	exists := err == nil
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("opening the data folder: %w", err)
	case !exists && mustExist:
		return nil, fmt.Errorf("there is no database in the data folder %s; name the folder that `boon serve` or `boon apply` made", dir)
	case !exists:
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("making the data folder: %w", err)
		}
	}
	file := filepath.Join(dir, sealed.FileName)
	keys, err := sealed.Load(file)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
	case exists:
		return nil, fmt.Errorf("the database %s is there, but its key file %s is missing; without it no voucher code can be read or "+
			"found: restore it from its backup (it is kept apart from the database's), with mode 0600", database, file)
	default:
		if keys, err = sealed.Create(file); errors.Is(err, fs.ErrExist) {
			keys, err = sealed.Load(file) // another process was first
		}
	}
	if err != nil {
		return nil, err
	}
	if !exists {
		if err := createFile(database); err != nil {
			return nil, fmt.Errorf("making the database: %w", err)
		}
	}
	return keys, nil
}

// begin makes an opened database ready: schema, keys, prepared statements.
func (s *Store) begin(ctx context.Context, copying bool) error {
	if !copying {
		if err := s.refuseHalfCopied(ctx); err != nil {
			return err
		}
	}
	steps, err := migrations(migrationFiles, &s.dialect)
	if err != nil {
		return err
	}
	if err := s.migrate(ctx, steps); err != nil {
		return err
	}
	if err := s.checkKeys(ctx); err != nil {
		return err
	}
	if s.hot, err = s.prepare(ctx, s.writer, s.hotTexts()); err != nil {
		return err
	}
	s.lookUps, err = s.prepare(ctx, s.readers, lookUpTexts)
	return err
}

func (s *Store) prepare(ctx context.Context, db *sql.DB, texts []string) (map[string]*sql.Stmt, error) {
	prepared := make(map[string]*sql.Stmt, len(texts))
	for _, text := range texts {
		stmt, err := db.PrepareContext(ctx, s.dialect.prepared(text))
		if err != nil {
			return nil, fmt.Errorf("preparing a statement: %w", err)
		}
		prepared[text] = stmt
	}
	return prepared, nil
}

// checkKeys refuses keys that are not this database's. A new database notes whose it is.
func (s *Store) checkKeys(ctx context.Context) error {
	const text = "boon"
	bound := bound("key check", gift.ID{})
	var noted []byte
	const query = `SELECT value FROM key_check WHERE one = 1`
	err := s.readers.QueryRowContext(ctx, query).Scan(&noted)
	if errors.Is(err, sql.ErrNoRows) {
		err = s.write(ctx, func(tx *sql.Tx) error {
			const note = `INSERT INTO key_check (one, value) VALUES (1, $1) ON CONFLICT (one) DO NOTHING`
			if _, err := tx.ExecContext(ctx, note, s.keys.Seal([]byte(text), bound)); err != nil {
				return err
			}
			return tx.QueryRowContext(ctx, query).Scan(&noted)
		})
	}
	if err != nil {
		return fmt.Errorf("checking the keys: %w", err)
	}
	if plain, err := s.keys.Open(noted, bound); err != nil || string(plain) != text {
		return fmt.Errorf("the key file %s is not the one that the database %s was made with; restore the right one from its backup",
			filepath.Join(filepath.Dir(s.file), sealed.FileName), s.file)
	}
	return nil
}

// bound is what a sealed value is bound to: its purpose and its record.
func bound(purpose string, record gift.ID) []byte {
	return append([]byte(purpose+"\x00"), record[:]...)
}

// Close closes the database. Whoever uses the store must have stopped.
func (s *Store) Close() error {
	if err := errors.Join(s.readers.Close(), s.writer.Close()); err != nil { // with their statements
		return fmt.Errorf("closing the database: %w", err)
	}
	return nil
}

// Keys are the keys that seal the store's secrets, for the fingerprints of requests.
func (s *Store) Keys() *sealed.Keys { return s.keys }

// Ping tells whether the database can be reached and has the schema that this program needs.
func (s *Store) Ping(ctx context.Context) error {
	_, err := s.schemaVersion(ctx, s.readers)
	return err
}

// Sizes are figures of the store that cost next to nothing to read.
type Sizes struct {
	Vouchers int64
	Database int64 // bytes
	Log      int64 // bytes of the write-ahead log
}

// Sizes reads them.
func (s *Store) Sizes(ctx context.Context) (z Sizes, err error) {
	if z.Vouchers, err = s.CountVouchers(ctx); err != nil {
		return z, err
	}
	for name, size := range map[string]*int64{s.file: &z.Database, s.file + "-wal": &z.Log} {
		info, err := os.Stat(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return z, fmt.Errorf("measuring the database: %w", err)
		}
		if err == nil {
			*size = info.Size()
		}
	}
	return z, nil
}

// CountVouchers is the number of all vouchers.
func (s *Store) CountVouchers(ctx context.Context) (n int64, err error) {
	if err := s.readers.QueryRowContext(ctx, `SELECT coalesce(sum(vouchers), 0) FROM tally`).Scan(&n); err != nil {
		return 0, fmt.Errorf("counting vouchers: %w", err)
	}
	return n, nil
}

// write runs fn in a transaction that locks what it reads against other writers, and commits. A caller that gives up while
// waiting for its turn is let go; once the transaction has begun, it is seen through.
func (s *Store) write(ctx context.Context, fn func(*sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return fmt.Errorf("waiting to write: %w", err)
	}
	defer conn.Close()
	tx, err := conn.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return fmt.Errorf("beginning to write: %w", err)
	}
	defer tx.Rollback() // does nothing after a commit
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		if s.dialect.outcomeUnknown(err) {
			return fmt.Errorf("committing: %w: %w", ledger.ErrUnknown, err)
		}
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

// read runs fn in a transaction in which everything is seen as it is at one moment.
func (s *Store) read(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := s.readers.BeginTx(ctx, s.dialect.snapshot)
	if err != nil {
		return fmt.Errorf("beginning to read: %w", err)
	}
	defer tx.Rollback()
	return fn(tx)
}
