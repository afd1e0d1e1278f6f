package store

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"boon.example/internal/chain"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// writers are the hash chains that this process continues and that no group is using. A group takes one, and gives it
// back when it is certain what became of its transaction; a chain whose last commit failed, or may have, is not
// continued.
type writers struct {
	mu   sync.Mutex
	free []*chainWriter
}

// chainWriter is a writer with the last epoch of the database in which its chain was what the database has of it.
type chainWriter struct {
	*chain.Writer
	epoch int64
}

// get gives the writer that was used last, so that few chains go on while few are needed; or a new one.
func (w *writers) get(s *Store) *chainWriter {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.free); n > 0 {
		last := w.free[n-1]
		w.free = w.free[:n-1]
		return last
	}
	return &chainWriter{Writer: chain.NewWriter(s.db.Keys.Authenticator(), guid.ID(uuid.Must(uuid.NewV7())))}
}

func (w *writers) giveBack(one *chainWriter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free = append(w.free, one)
}

// forget begins new chains from now on.
func (w *writers) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free = nil
}

// lastID is after every other, so that the newest is found by a key.
var lastID = bytes.Repeat([]byte{0xff}, len(guid.ID{}))

// notedHeads is how many chains, the newest, a genesis tells the heads of.
const notedHeads = 64

var (
	selectWriters = &db.Query{What: "reading chains",
		Each: `SELECT c.writer FROM chain AS c WHERE c.n = 0 AND c.writer <= $1 ORDER BY c.writer DESC LIMIT $2`}
	selectHead = &db.Query{What: "reading heads",
		Each: `SELECT c.n, c.mac FROM chain AS c WHERE c.writer = $1 ORDER BY c.n DESC LIMIT 1`}
	insertChain = &db.Query{What: "writing into chain",
		Each: `INSERT INTO chain (writer, n, content, mac) VALUES ($1, $2, $3, $4)`,
		Postgres: `INSERT INTO chain (writer, n, content, mac)
			SELECT * FROM unnest($1::BYTEA[], $2::BIGINT[], $3::BYTEA[], $4::BYTEA[])`}
)

// chainEntries makes the row that links entries to the group's chain, and gives the place of the first of them.
func (g *group) chainEntries(ctx context.Context, c *ledger.Changes) (w db.Batch, first chain.Place, err error) {
	w.Query = insertChain
	if len(c.Entries) == 0 {
		return w, first, nil
	}
	if err := g.takeWriter(ctx); err != nil {
		return w, first, err
	}
	if !g.writer.Begun() {
		heads, err := g.readHeads(ctx)
		if err != nil {
			return w, first, fmt.Errorf("beginning a hash chain: %w", err)
		}
		w.Rows = append(w.Rows, chainRow(g.writer.Genesis(heads)))
	}
	issued := make(map[ledger.Ref]*gift.Gift, len(c.Gifts))
	for i := range c.Gifts {
		issued[record.RefOf(&c.Gifts[i].Voucher)] = &c.Gifts[i]
	}
	row, first := g.writer.Group(c.Entries, func(e *gift.Entry) (*gift.Voucher, guid.ID) {
		v := issued[ledger.Ref{AccountID: e.AccountID, ID: e.VoucherID}]
		if v == nil || e.Seq > 1 {
			return nil, guid.ID{}
		}
		return &v.Voucher, g.prepared.gifts[record.RefOf(&v.Voucher)].items
	})
	w.Rows = append(w.Rows, chainRow(row))
	return w, first, nil
}

// takeWriter takes a chain that goes on where the database has its end. A chain of which the database has another end,
// or none, is one that the database has lost rows of: a backup was put back, or a standby that lacked them took over.
// To go on with it would leave a gap for ever. What this process knew of the database is forgotten then, and the group
// is decided anew.
func (g *group) takeWriter(ctx context.Context) error {
	w := g.writers.get(g.Store)
	epoch := g.db.Epoch()
	if w.Begun() && w.epoch != epoch {
		is := chain.Head{Place: chain.Place{Writer: w.Head().Writer}}
		err := g.run(ctx, []db.Batch{headOf(&is)})
		if err != nil {
			g.writers.giveBack(w)
			return fmt.Errorf("comparing a hash chain with the database: %w", err)
		}
		if is != w.Head() {
			g.wentBack(WentBack{Chain: is.Writer, Had: w.Head().N, Has: is.N})
			return fmt.Errorf("%w: the database went back to an earlier state", db.ErrOvertaken)
		}
	}
	w.epoch = epoch
	g.writer = w
	return nil
}

// WentBack tells that the database is in an earlier state again than this process left it in.
type WentBack struct {
	Chain guid.ID // a hash chain of this process
	Had   int64   // how many entries it had
	Has   int64   // how many of them the database has now
}

// String says it in words.
func (b WentBack) String() string {
	return fmt.Sprintf("the database went back to an earlier state: this instance had written %d entries into its hash "+
		"chain %s, and the database has %d of them", b.Had, b.Chain, b.Has)
}

// WentBack tells when the database is found to have gone back to an earlier state, as when a backup was put back under
// the service. What is found while that was not taken yet is told with it.
func (s *Store) WentBack() <-chan WentBack { return s.back }

func (s *Store) wentBack(b WentBack) {
	s.writers.forget()
	s.used.forget()
	s.ForgetOpenDays()
	select {
	case s.back <- b:
	default:
	}
}

// releaseWriter gives the group's chain back, unless what became of its transaction is not certain: then a new one
// begins.
func (g *group) releaseWriter(err error) {
	switch {
	case g.writer == nil:
		return
	case err == nil:
		g.writer.Committed()
		g.db.NoteHead(g.writer.Head())
	case g.saved: // the commit failed, or may have
		return
	default:
		g.writer.RolledBack()
	}
	g.writers.giveBack(g.writer)
}

func chainRow(r chain.Row) []any { return []any{db.KeyOf(r.Writer), r.N, r.Content, r.MAC[:]} }

// readHeads tells how far the newest chains have come.
func (g *group) readHeads(ctx context.Context) (heads []chain.Head, err error) {
	err = g.run(ctx, []db.Batch{{Query: selectWriters, Rows: [][]any{{lastID, notedHeads}},
		Scan: func(from db.Scanner) error {
			var h chain.Head
			err := from.Scan(db.ScanID(&h.Writer))
			heads = append(heads, h)
			return err
		}}})
	batches := make([]db.Batch, len(heads))
	for i := range heads {
		batches[i] = headOf(&heads[i])
	}
	if err != nil {
		return nil, err
	}
	return heads, g.run(ctx, batches)
}

// headOf reads how far the chain of a head has come; one without rows leaves it as it is.
func headOf(h *chain.Head) db.Batch {
	return db.Batch{Query: selectHead, Rows: [][]any{{db.KeyOf(h.Writer)}}, Scan: func(from db.Scanner) error {
		return from.Scan(&h.N, db.ScanMAC(&h.MAC))
	}}
}
