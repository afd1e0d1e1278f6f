package feed

import (
	"database/sql"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/store/db"
	"boon.example/internal/store/lookup"
)

// TestThoseWhoWaitReadInTurns: when many followers of one account are woken at once, and each reads a page, the first
// one of another account is the next.
func TestThoseWhoWaitReadInTurns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d, err := db.Open(t.Context(), db.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		f := New(d, lookup.New(d))
		f.watch.running = true
		var busy []func()
		for range rereads { // all places are taken, by somebody else
			done, err := f.watch.reading.Take(t.Context(), account(9), guid.ID{})
			if err != nil {
				t.Fatal(err)
			}
			busy = append(busy, done)
		}
		accounts := []guid.ID{account(1), account(1), account(1), account(1), account(1), account(1), account(2)}
		read := make(chan guid.ID, len(accounts))
		for _, id := range accounts {
			go func() {
				page, err := f.Await(t.Context(), event.Query{AccountID: id, Limit: 1}, time.Hour, func() {})
				if err != nil || len(page.Events) != 1 {
					t.Errorf("%d events, %v", len(page.Events), err)
				}
				read <- id
			}()
			synctest.Wait() // it waits, and came after the others
		}
		err = d.Write(t.Context(), func(tx *sql.Tx) error {
			for _, id := range accounts[5:] {
				if err := AddNow(t.Context(), tx, event.Event{Type: event.GuessingLimited, AccountID: id, At: time.Now(),
					Note: event.Note{KeyID: guid.ID{1}}}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for one := range f.watch.waiting {
			if one.query.AccountID == account(1) {
				one.woken <- struct{}{}
			}
		}
		synctest.Wait()
		f.watch.wake(func(one *waiter) bool { return one.query.AccountID == account(2) })
		synctest.Wait() // it came last
		busy[0]()       // and is the first to read, however its goroutine is scheduled then
		if first := []guid.ID{<-read, <-read, <-read}; !slices.Contains(first, account(2)) {
			t.Error("the other account has to wait for many followers of the first")
		}
		for range accounts[3:] {
			<-read
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}
