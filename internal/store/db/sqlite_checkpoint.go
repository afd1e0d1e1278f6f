package db

import (
	"context"
	"database/sql"
	"sync/atomic"
	"time"
)

// A checkpoint copies the write-ahead log back into the database file. Left to the writer, it holds up every
// redemption of a group for as long as it takes. So it runs beside the writer, on a connection of its own and little
// by little. Only that the log may begin anew, which it does when all of it is copied, takes the writer's turn, now
// and then and for the little that was written meanwhile.
//
// While a disk writes the copied pages, commits wait for it as well, each for as long as the disk has to do before. So
// few pages are copied at once: 2,000 of them kept commits waiting for 8 ms, and 250 for 4 ms. Beside work that writes
// much for long, such as an import, there is always something to copy, so that many commits wait as long: there the
// parts are smaller still. Elsewhere small parts would only cost, as a page that is written again and again is copied
// as often: 28 % of the processor time of a till's redemption.
const (
	copyAt     = 250                   // pages that wait to be copied, 1 MiB
	copyPause  = 20 * time.Millisecond // between two looks at the log
	smallAt    = 32                    // likewise, beside work that writes much
	smallPause = 2 * time.Millisecond
	smallFor   = time.Second // after the last of such work
	beginAt    = 8000        // pages in the log, 32 MiB
)

// checkpointer runs checkpoints until it is stopped.
type checkpointer struct {
	beside *sql.DB // one connection
	writer *sql.DB
	wake   chan struct{} // something was committed
	ended  chan struct{}
	stop   context.CancelFunc
	small  atomic.Int64 // until when the parts are small, in milliseconds since 1970
}

func startCheckpointer(file string, writer *sql.DB) (*checkpointer, error) {
	beside, err := sql.Open("sqlite", SQLiteDSN(file))
	if err != nil {
		return nil, err
	}
	beside.SetMaxOpenConns(1)
	ctx, stop := context.WithCancel(context.Background())
	c := &checkpointer{beside, writer, make(chan struct{}, 1), make(chan struct{}), stop, atomic.Int64{}}
	go c.run(ctx)
	return c, nil
}

// committed tells that the log has grown.
func (c *checkpointer) committed() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// close ends the checkpoint that is under way, and starts no other.
func (c *checkpointer) close() error {
	c.stop()
	<-c.ended
	return c.beside.Close()
}

func (c *checkpointer) run(ctx context.Context) {
	defer close(c.ended)
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		}
		// What fails here is tried again after the next commit; should it fail for long, SQLite's own checkpoint in
		// the writer's turn takes over.
		part, pause := c.part()
		if log, left, err := c.pages(ctx, c.beside, "NOOP"); err == nil && left >= part {
			if _, _, err = c.pages(ctx, c.beside, "PASSIVE"); err == nil && log >= beginAt {
				if _, _, err = c.pages(ctx, c.beside, "PASSIVE"); err == nil {
					_, _, _ = c.pages(ctx, c.writer, "PASSIVE")
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// part is how many pages wait before they are copied, and the pause between two looks.
func (c *checkpointer) part() (pages int, pause time.Duration) {
	if time.Now().UnixMilli() < c.small.Load() {
		return smallAt, smallPause
	}
	return copyAt, copyPause
}

// keepSmall has the parts be small for a while.
func (c *checkpointer) keepSmall() { c.small.Store(time.Now().Add(smallFor).UnixMilli()) }

// pages runs a checkpoint of a mode, and tells how many pages the log has, and how many of these it left to be copied.
func (c *checkpointer) pages(ctx context.Context, on *sql.DB, mode string) (log, left int, err error) {
	var busy, done int
	err = on.QueryRowContext(ctx, `PRAGMA wal_checkpoint(`+mode+`)`).Scan(&busy, &log, &done)
	return log, log - done, err
}
