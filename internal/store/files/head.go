package files

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"boon.example/internal/chain"
	"boon.example/internal/sealed"
)

// A log that was cut, or deleted while nothing had the database open, leaves a database that is whole and older: SQLite
// cannot know that there was more. So the newest row of the hash chains is noted in a file beside the database, and a
// database without that row is refused.
//
// The note must never be newer than the database: after a power cut, a database that is all there would be refused. It
// is therefore written after the commit has returned, which is after the log was synced, and never before or beside it.
// It is not synced itself: a power cut may take it back to an older head, which the database has as well, or leave it
// half written, which its checksum tells. Then it tells less, and never wrong. A process that is killed leaves it
// whole, as the system has what was written. Two processes that write one database write over each other's notes: each
// is true.

// HeadSuffix is what is appended to a database's name for the name of that file.
const HeadSuffix = "-head"

// headFormat is the note: writer, number and MAC, each of one length, so that one note covers another.
const headFormat = "%s %019d %x"

// HeadNote notes how far the hash chains have come. It is safe for concurrent use.
type HeadNote struct {
	Database string // the database file

	mu   sync.Mutex
	file *os.File
}

// Write notes the head of a chain after its row was committed. What cannot be written is left out: the last note
// stands, and is true.
func (n *HeadNote) Write(h chain.Head) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.file == nil {
		f, err := os.OpenFile(n.Database+HeadSuffix, os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return
		}
		n.file = f
	}
	text := fmt.Sprintf(headFormat, h.Writer, h.N, h.MAC)
	_, _ = fmt.Fprintf(writerAt{n.file}, "%s %08x\n", text, crc32.ChecksumIEEE([]byte(text)))
}

// writerAt writes at the beginning of a file, whatever was written before, in one call.
type writerAt struct{ *os.File }

func (w writerAt) Write(b []byte) (int, error) { return w.WriteAt(b, 0) }

// Close closes the file.
func (n *HeadNote) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.file == nil {
		return nil
	}
	return n.file.Close()
}

// readHead reads the note of a database file; false: there is none, or it was half written when the power went.
func readHead(file string) (h chain.Head, noted bool) {
	line, err := os.ReadFile(file + HeadSuffix)
	text, sum, ok := cutLast(strings.TrimSuffix(string(line), "\n"))
	if err != nil || !ok || sum != fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(text))) {
		return h, false
	}
	heads, err := chain.ReadCheckpoint(strings.NewReader(text))
	if err != nil || len(heads) != 1 {
		return h, false
	}
	return heads[0], true
}

func cutLast(line string) (before, after string, found bool) {
	i := strings.LastIndexByte(line, ' ')
	if i < 0 {
		return line, "", false
	}
	return line[:i], line[i+1:], true
}

// CheckHead refuses a database file that lacks the row that was noted. It reads the database with its log, and leaves
// both as they are, so that a log can be put back. What else is wrong with the database is told by who opens it.
func CheckHead(ctx context.Context, file string) error {
	return LookAgain(func() (again bool, err error) {
		h, noted := readHead(file) // before the database, which goes on
		if !noted || hasHead(ctx, file, h) {
			return false, nil
		}
		return true, fmt.Errorf("the database %s lacks what was committed last (entry %d of chain %s): its log %s was "+
			"deleted or cut, or an older database was put in its place. Put back the log, or the database that was there; "+
			"to put a backup there, run `boon restore FILE --data %s`. If what is missing is lost, remove %s, run `boon "+
			"verify`, with --since and the last checkpoint, and count on redemptions that this database does not know of",
			file, h.N, h.Writer, file+LogSuffix, filepath.Dir(file), file+HeadSuffix)
	})
}

// hasHead tells whether a database has a row of its hash chains, or cannot be asked.
func hasHead(ctx context.Context, file string, h chain.Head) bool {
	how := "mode=ro&_pragma=busy_timeout(5000)"
	if _, err := os.Stat(file + LogSuffix); errors.Is(err, fs.ErrNotExist) {
		how = "mode=ro&immutable=1" // else SQLite makes a log
	}
	dsn := url.URL{Scheme: "file", Path: file, RawQuery: how}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return true
	}
	defer db.Close()
	var mac []byte
	const row = `SELECT c.mac FROM chain AS c WHERE c.writer = ? AND c.n = ?`
	err = db.QueryRowContext(ctx, row, h.Writer[:], h.N).Scan(&mac)
	if err != nil {
		return !errors.Is(err, sql.ErrNoRows) && !strings.Contains(err.Error(), "no such table")
	}
	return len(mac) == len(sealed.MAC{}) && sealed.MAC(mac) == h.MAC
}
