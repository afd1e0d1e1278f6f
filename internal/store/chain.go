package store

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"boon.example/internal/chain"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// writers are the hash chains that this process continues and that no group is using. A group takes one, and gives it
// back when it is certain what became of its transaction; a chain whose last commit failed, or may have, is not
// continued.
type writers struct {
	mu   sync.Mutex
	free []*chain.Writer
}

// take gives the writer that was used last, so that few chains go on while few are needed; or a new one.
func (w *writers) take(s *Store) *chain.Writer {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.free); n > 0 {
		last := w.free[n-1]
		w.free = w.free[:n-1]
		return last
	}
	return chain.NewWriter(s.db.Keys.Authenticator(), gift.ID(uuid.Must(uuid.NewV7())))
}

func (w *writers) giveBack(one *chain.Writer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free = append(w.free, one)
}

// lastID is after every other, so that the newest is found by a key.
var lastID = bytes.Repeat([]byte{0xff}, len(gift.ID{}))

// notedHeads is how many chains, the newest, a genesis tells the heads of.
const notedHeads = 64

var (
	selectWriters = &db.Query{What: "reading chains",
		One: `SELECT c.writer FROM chain AS c WHERE c.n = 0 AND c.writer <= $1 ORDER BY c.writer DESC LIMIT $2`}
	selectHead = &db.Query{What: "reading heads",
		One: `SELECT c.n, c.mac FROM chain AS c WHERE c.writer = $1 ORDER BY c.n DESC LIMIT 1`}
	insertChain = db.InsertRows("chain", record.ChainColumns, "BNBB", "")
)

// chainEntries makes the row that links entries to the group's chain, and gives the place of the first of them.
func (g *group) chainEntries(ctx context.Context, c *ledger.Changes) (w db.Batch, first chain.Place, err error) {
	w.Query = insertChain
	if len(c.Entries) == 0 {
		return w, first, nil
	}
	g.writer = g.writers.take(g.Store)
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
	row, first := g.writer.Group(c.Entries, func(e *gift.Entry) (*gift.Voucher, gift.ID) {
		v := issued[ledger.Ref{AccountID: e.AccountID, ID: e.VoucherID}]
		if v == nil || e.Seq > 1 {
			return nil, gift.ID{}
		}
		return &v.Voucher, g.prepared.gifts[record.RefOf(&v.Voucher)].items
	})
	w.Rows = append(w.Rows, chainRow(row))
	return w, first, nil
}

// releaseWriter gives the group's chain back, unless what became of its transaction is not certain: then a new one
// begins.
func (g *group) releaseWriter(err error) {
	switch {
	case g.writer == nil:
		return
	case err == nil:
		g.writer.Committed()
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
		h := &heads[i]
		batches[i] = db.Batch{Query: selectHead, Rows: [][]any{{db.KeyOf(h.Writer)}}, Scan: func(from db.Scanner) error {
			return from.Scan(&h.N, db.ScanMAC(&h.MAC))
		}}
	}
	if err != nil {
		return nil, err
	}
	return heads, g.run(ctx, batches)
}
