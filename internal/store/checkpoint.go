package store

import (
	"context"
	"database/sql"
	"time"
)

// A checkpoint copies the write-ahead log back into the database file. Left to the writer, it holds up every redemption of a group for
// as long as it takes; so it runs beside the writer, on a connection of its own, and the writer's turn is taken only for the little
// that was written meanwhile, after which the log begins anew.
const (
	checkpointAt    = 2000                  // pages in the log, 8 MiB: the shorter each copy, the shorter who commits meanwhile waits for the disk
	checkpointPause = 20 * time.Millisecond // between two looks at the log
)

// checkpointer runs checkpoints until it is stopped.
type checkpointer struct {
	beside *sql.DB // one connection
	writer *sql.DB
	wake   chan struct{} // something was committed
	ended  chan struct{}
	stop   context.CancelFunc
}

func startCheckpointer(file string, writer *sql.DB) (*checkpointer, error) {
	beside, err := sql.Open("sqlite", sqliteDSN(file))
	if err != nil {
		return nil, err
	}
	beside.SetMaxOpenConns(1)
	ctx, stop := context.WithCancel(context.Background())
	c := &checkpointer{beside, writer, make(chan struct{}, 1), make(chan struct{}), stop}
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
		// What fails here is tried again after the next commit; should it fail for long, SQLite's own checkpoint in the writer's
		// turn takes over.
		if waiting, err := c.pages(ctx, c.beside, "NOOP"); err == nil && waiting >= checkpointAt {
			if _, err := c.pages(ctx, c.beside, "PASSIVE"); err == nil {
				_, _ = c.pages(ctx, c.writer, "PASSIVE")
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(checkpointPause):
		}
	}
}

// pages runs a checkpoint of a mode, and tells how many pages of the log it left.
func (c *checkpointer) pages(ctx context.Context, db *sql.DB, mode string) (left int, err error) {
	var busy, log, done int
	err = db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(`+mode+`)`).Scan(&busy, &log, &done)
	return log - done, err
}
