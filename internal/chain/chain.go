// Package chain links everything that is entered into hash chains, with a key that is not in the database, so that a
// row that was changed, removed, inserted or moved past the program is found.
//
// There is one chain for each writer: a process has one for each transaction that it has under way, and begins new
// ones at each start. A commit adds one row to its writer's chain. The row holds a digest of each entry of the group,
// and its MAC covers these and the MAC of the row before. An entry names its place: the writer, and its number among
// all that the writer entered. The first row of a chain, its genesis, holds how far other chains had come, so that an
// old chain cannot lose its newest rows unnoticed. The changes of the set-up have a chain of their own.
//
// The package is pure: rows and entries are read and written by package store.
package chain

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/sealed"
)

// Place is where an entry stands in the chain of a writer; the first has the number 1.
type Place struct {
	Writer guid.ID
	N      int64
}

// Row is a row of a chain.
type Row struct {
	Place          // of the last entry of the group; the genesis has the number 0
	Content []byte // the digests of the group's entries in their order; of a genesis, the heads of other chains
	MAC     sealed.MAC
}

// authenticated is what the MAC of a row covers.
func (r *Row) authenticated(before sealed.MAC) []byte {
	b := make([]byte, 0, 1+len(before)+len(r.Writer)+8+len(r.Content))
	b = append(append(b, groupDomain), before[:]...)
	b = appendNumber(append(b, r.Writer[:]...), r.N)
	return append(b, r.Content...)
}

// Head is how far a chain has come: the place and the MAC of its newest row. The set-up's chain has the zero ID.
type Head struct {
	Place
	MAC sealed.MAC
}

const headSize = len(guid.ID{}) + 8 + len(sealed.MAC{})

// heads reads the content of a genesis.
func heads(content []byte) (all []Head) {
	for ; len(content) >= headSize; content = content[headSize:] {
		var h Head
		rest := content[copy(h.Writer[:], content):]
		h.N = int64(binary.BigEndian.Uint64(rest))
		copy(h.MAC[:], rest[8:])
		all = append(all, h)
	}
	return all
}

// Writer continues one chain. It is not safe for concurrent use.
type Writer struct {
	auth     *sealed.Authenticator
	digester digester
	head     Head // as far as it is committed, for certain
	next     Head // as it will be when what is under way is committed
	begun    bool
}

// NewWriter makes a writer of a chain that has no row yet. The id must be a new one, and ids must be in the order of
// time.
func NewWriter(auth *sealed.Authenticator, id guid.ID) *Writer {
	at := Head{Place: Place{Writer: id}}
	return &Writer{auth: auth, head: at, next: at}
}

// Begun tells whether the chain has its genesis.
func (w *Writer) Begun() bool { return w.begun }

// Head is how far the chain has come for certain.
func (w *Writer) Head() Head { return w.head }

// Genesis makes the first row of the chain. others are how far other chains have come.
func (w *Writer) Genesis(others []Head) Row {
	content := make([]byte, 0, len(others)*headSize) // never nil: a database takes nil for NULL
	for _, h := range others {
		content = appendNumber(append(content, h.Writer[:]...), h.N)
		content = append(content, h.MAC[:]...)
	}
	return w.add(Row{Place: w.next.Place, Content: content})
}

// Group makes the row of a group's entries, which take the places from first on. Terms gives the voucher of a gift's
// first entry, and the key of its list of items.
func (w *Writer) Group(entries []gift.Entry, terms func(*gift.Entry) (*gift.Voucher, guid.ID)) (r Row, first Place) {
	first = Place{w.next.Writer, w.next.N + 1}
	r.Place, r.Content = w.next.Place, make([]byte, 0, len(entries)*digestSize)
	for i := range entries {
		r.N++
		v, items := terms(&entries[i])
		d := w.digester.digest(r.Place, &entries[i], v, items)
		r.Content = append(r.Content, d[:]...)
	}
	return w.add(r), first
}

func (w *Writer) add(r Row) Row {
	r.MAC = w.auth.MAC(r.authenticated(w.next.MAC))
	w.next = Head{r.Place, r.MAC}
	return r
}

// Committed tells the writer that its new rows are in the database.
func (w *Writer) Committed() { w.head, w.begun = w.next, true }

// RolledBack tells the writer that its new rows are not in the database, and never will be.
func (w *Writer) RolledBack() { w.next = w.head }

// SetupChange is a row of the chain of the set-up.
type SetupChange struct {
	Number  int64  // without a gap
	Kind    string // of the caller's
	Version int64  // of the set-up, after it
	At      time.Time
	By      string // the operating system's user
	What    string // in words, a line for each change; never a secret
	// Before and After are hashes of the whole set-up.
	Before, After [32]byte
	MAC           sealed.MAC
}

// authenticated is what the MAC of a change covers.
func (c *SetupChange) authenticated(before sealed.MAC) []byte {
	b := appendNumber(append([]byte{setupDomain}, before[:]...), c.Number)
	b = appendText(b, c.Kind)
	b = appendNumber(b, c.Version)
	b = appendTime(b, c.At)
	b = appendText(b, c.By)
	b = appendText(b, c.What)
	b = append(b, c.Before[:]...)
	return append(b, c.After[:]...)
}

// Authenticate gives a change its MAC. before is that of the change before it; of the first, the zero MAC.
func (c *SetupChange) Authenticate(auth *sealed.Authenticator, before sealed.MAC) {
	c.MAC = auth.MAC(c.authenticated(before))
}

// Check tells whether a change was written with a key of the key file, after the change that has the MAC before. The
// error is ErrTampered or ErrUnknownKey.
func (c *SetupChange) Check(auth *sealed.Authenticator, before sealed.MAC) error {
	return auth.Check(c.MAC, c.authenticated(before))
}

// setupName is the set-up's chain in a checkpoint.
const setupName = "setup"

// WriteCheckpoint writes heads as text, a line for each.
func WriteCheckpoint(to io.Writer, all []Head) error {
	for _, h := range all {
		name := h.Writer.String()
		if h.Writer.IsZero() {
			name = setupName
		}
		if _, err := fmt.Fprintf(to, "%s %d %x\n", name, h.N, h.MAC); err != nil {
			return err
		}
	}
	return nil
}

// ReadCheckpoint reads what WriteCheckpoint wrote.
func ReadCheckpoint(from io.Reader) (all []Head, err error) {
	lines := bufio.NewScanner(from)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Split(lines.Text(), " ")
		var h Head
		ok := len(fields) == 3
		if ok && fields[0] != setupName {
			h.Writer, err = guid.Parse(fields[0])
			ok = err == nil
		}
		if ok {
			h.N, err = strconv.ParseInt(fields[1], 10, 64)
			mac, hexErr := hex.DecodeString(fields[2])
			ok = err == nil && hexErr == nil && copy(h.MAC[:], mac) == len(mac) && len(mac) == len(h.MAC)
		}
		if !ok {
			return nil, fmt.Errorf("line %d is not one that boon verify --checkpoint wrote", n)
		}
		all = append(all, h)
	}
	return all, lines.Err()
}
