package db

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"modernc.org/sqlite"
)

// SQLiteCode is SQLite's code of an error, without what an extended one adds; 0 when the error is not SQLite's.
func SQLiteCode(err error) int {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return 0
	}
	return e.Code() & 0xff
}

// Anonymous makes $1, $2, $3 into ?, ?, ? where they stand in that order. To SQLite, $1 is a name, and the driver
// looks up each name in a list: with hundreds of them in one statement, that took longer than the statement.
func Anonymous(query string) string {
	parts := strings.Split(query, "$")
	for i, p := range parts[1:] {
		rest, ok := strings.CutPrefix(p, strconv.Itoa(i+1))
		if !ok || rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return query
		}
		parts[i+1] = rest
	}
	return strings.Join(parts, "?")
}

// The pragmas of every connection. busy_timeout comes first: the others can meet a lock already.
var sqlitePragmas = []string{
	"busy_timeout(5000)",        // milliseconds; other processes of ours may be writing
	"journal_mode(WAL)",         // readers never wait for the writer
	"synchronous(FULL)",         // a commit is on stable storage when it returns
	"foreign_keys(1)",           //
	"recursive_triggers(1)",     // so that REPLACE cannot slip past a DELETE trigger
	"trusted_schema(0)",         //
	"cache_size(-16384)",        // KiB
	"temp_store(MEMORY)",        //
	"wal_autocheckpoint(32000)", // pages, 128 MiB: should the checkpointer not come to it
	"journal_size_limit(134217728)",
}

// SQLiteDSN names a database file with everything that a connection needs. database/sql opens connections when it
// pleases, so that a PRAGMA by Exec would reach one of them only.
func SQLiteDSN(file string, more ...string) string {
	q := url.Values{"_pragma": append(sqlitePragmas[:len(sqlitePragmas):len(sqlitePragmas)], more...), "_dqs": {"0"},
		"_error_rc": {"1"}}
	q.Set("_txlock", "immediate")
	return (&url.URL{Scheme: "file", Path: file, RawQuery: q.Encode()}).String()
}

// OpenSQLite opens the writer and the readers of a data folder's database.
func OpenSQLite(file string) (writer, readers *sql.DB, err error) {
	if writer, err = sql.Open("sqlite", SQLiteDSN(file)); err != nil {
		return nil, nil, fmt.Errorf("opening the database %s: %w", file, err)
	}
	writer.SetMaxOpenConns(1)
	writer.SetMaxIdleConns(1)
	// Every commit makes a reader forget its pages: a larger cache would only be memory.
	if readers, err = sql.Open("sqlite", SQLiteDSN(file, "query_only(1)", "cache_size(-2048)")); err != nil {
		writer.Close()
		return nil, nil, fmt.Errorf("opening the database %s: %w", file, err)
	}
	const pool = 8
	readers.SetMaxOpenConns(pool)
	readers.SetMaxIdleConns(pool)
	return writer, readers, nil
}
