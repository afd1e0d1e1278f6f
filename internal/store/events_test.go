package store

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/store/db"
	"boon.example/internal/store/feed"
	"boon.example/internal/store/pgtest"
)

// follow reads the events of an account from a place on, page by page, until nothing more is there.
func follow(t *testing.T, s *Store, q event.Query) (all []event.Event, end merchant.EventPlace) {
	t.Helper()
	for {
		page, err := s.Events(t.Context(), q)
		must(t, err)
		all = append(all, page.Events...)
		if len(page.Events) > q.Limit {
			t.Errorf("a page of %d events, at most %d were wanted", len(page.Events), q.Limit)
		}
		if q.After = page.Next; !page.More {
			return all, q.After
		}
	}
}

// settled follows until n events were read: while a transaction that has nothing to do with them is open anywhere on a
// server, they are not shown for a second.
func settled(t *testing.T, s *Store, q event.Query, n int) (all []event.Event, end merchant.EventPlace) {
	t.Helper()
	for range 3_000 {
		if all, end = follow(t, s, q); len(all) >= n {
			return all, end
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%d events, want %d", len(all), n)
	return nil, end
}

// TestFeedWaitsForItsOwnDatabase: a transaction that is left open in another database of the server holds no event up,
// one in this database does.
func TestFeedWaitsForItsOwnDatabase(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // the embedded database has one writer
	writes := func(database string) *sql.Tx {
		pool, err := sql.Open("pgx", database)
		must(t, err)
		t.Cleanup(func() { pool.Close() })
		tx, err := pool.Begin()
		must(t, err)
		t.Cleanup(func() { tx.Rollback() })
		_, err = tx.Exec(`SELECT pg_current_xact_id()`)
		must(t, err)
		return tx
	}
	o := Options{Dir: t.TempDir(), Database: pgtest.Fresh(t)}
	s, err := Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	writes(pgtest.Fresh(t))
	account := newID()
	q := event.Query{AccountID: account, Limit: 100}
	issue(t, s, account, 1)
	settled(t, s, q, 1)
	own := writes(o.Database)
	issue(t, s, account, 1)
	for begun := time.Now(); time.Since(begun) < 2*time.Second; { // a role may end what is open for three
		if all, _ := follow(t, s, q); len(all) != 1 {
			t.Fatalf("%d events beside an open transaction of this database, want 1", len(all))
		}
		time.Sleep(10 * time.Millisecond)
	}
	must(t, own.Commit())
	settled(t, s, q, 2)
}

func typesOf(events []event.Event) (all []gift.EventType) {
	for i := range events {
		all = append(all, events[i].Type)
	}
	return all
}

// testEvents: entries come as events in the order of their commits, with their gifts, in pages of any size; types and
// locations select, and the place moves on past what they leave out.
func testEvents(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	gifts := issue(t, s, account, 3)
	issue(t, s, newID(), 1) // another account's
	var want []guid.ID
	for _, n := range []int{2, 0, 2, 1} {
		want = append(want, redeem(t, s, &gifts[n].Voucher, 5).ID)
	}
	all, end := settled(t, s, event.Query{AccountID: account, Limit: 100}, 7)
	if types := typesOf(all); !slices.Equal(types, append(slices.Repeat([]gift.EventType{gift.EventCreated}, 3),
		slices.Repeat([]gift.EventType{gift.EventRedeemed}, 4)...)) {
		t.Fatalf("types %v", types)
	}
	for i, e := range all[3:] {
		if e.ID != want[i] || e.Entry.ID != want[i] || e.Gift == nil || e.Gift.ID != e.Entry.VoucherID ||
			e.AccountID != account || !e.At.Equal(noon) || e.Sequence() != e.Entry.Seq {
			t.Errorf("event %d is %+v", i, e)
		}
	}
	for limit := 1; limit < 9; limit++ {
		again, there := follow(t, s, event.Query{AccountID: account, Limit: limit})
		if !slices.EqualFunc(all, again, func(a, b event.Event) bool { return a.ID == b.ID }) || there != end {
			t.Errorf("in pages of %d: %d events, end %v, want %v", limit, len(again), there, end)
		}
	}
	for i := range all {
		rest, _ := follow(t, s, event.Query{AccountID: account, Limit: 2, After: all[i].Place})
		if len(rest) != len(all)-i-1 {
			t.Errorf("%d events after number %d", len(rest), i)
		}
	}
	if at, err := s.EventsEnd(t.Context(), account); err != nil || at != end {
		t.Errorf("the end is %v, %v, want %v", at, err, end)
	}
	some, there := follow(t, s, event.Query{AccountID: account, Limit: 2,
		Types: []gift.EventType{gift.EventCreated, gift.EventHeld}})
	if len(some) != 3 || there != end {
		t.Errorf("%d gifts made, end %v, want %v", len(some), there, end)
	}
	none, there := follow(t, s, event.Query{AccountID: account, Limit: 2, Locations: []guid.ID{newID()}})
	if len(none) != 0 || there != end {
		t.Errorf("%d events elsewhere, end %v, want %v", len(none), there, end)
	}
	for _, wrong := range []merchant.EventPlace{{Position: end.Position, Part: 1},
		{Position: end.Position, Part: 7, Mark: end.Mark},
		{Position: end.Position + 1, Part: 1, Mark: end.Mark}} {
		_, err := s.Events(t.Context(), event.Query{AccountID: account, Limit: 2, After: wrong})
		if !errors.Is(err, refusal.NotFound) {
			t.Errorf("the place %v: %v", wrong, err)
		}
	}
}

// testEventsOfACommit: of the entries of a gift that one commit made, the events come in the order of its history.
func testEventsOfACommit(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	g := issue(t, s, account, 1)[0]
	runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{ref(&g.Voucher)}}, func(st *ledger.State) (c ledger.Changes) {
		v := *st.Vouchers[ref(&g.Voucher)]
		for range 5 {
			after, e, err := v.Redeem(gift.Redeem{Context: gift.Context{EntryID: newID(), Now: noon}, Amount: 1})
			must(t, err)
			v, c.Entries = after, append(c.Entries, e)
		}
		c.Vouchers = []gift.Voucher{v}
		return c
	})
	all, _ := settled(t, s, event.Query{AccountID: account, Limit: 2}, 6)
	for n := range all {
		if all[n].Sequence() != n+1 {
			t.Errorf("event %d is number %d of its gift", n+1, all[n].Sequence())
		}
	}
}

// counted counts look-ups.
type counted struct {
	feed.Gifts
	n int
}

func (c *counted) GiftsByRef(ctx context.Context, refs []ledger.Ref) ([]gift.Gift, error) {
	c.n++
	return c.Gifts.GiftsByRef(ctx, refs)
}

// testSmallPages: who asks for one event of a location of which there are few does not have each of the others looked
// up by itself.
func testSmallPages(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	gifts := issue(t, s, account, 1)
	for range 60 {
		redeem(t, s, &gifts[0].Voucher, 1)
	}
	settled(t, s, event.Query{AccountID: account, Limit: 100}, 61)
	c := &counted{Gifts: s.Reader}
	page, err := feed.New(s.db, c).Events(t.Context(), event.Query{AccountID: account, Limit: 1,
		Locations: []guid.ID{newID()}})
	must(t, err)
	if len(page.Events) > 0 || c.n > 8 {
		t.Errorf("%d events, after %d look-ups for 61", len(page.Events), c.n)
	}
}

// slow makes transactions of a store take their time before they commit, after all was written, and some of them fail.
func slow(s *Store) {
	transact := s.transact
	s.transact = func(ctx context.Context, fn func(db.Runner) error) error {
		return transact(ctx, func(run db.Runner) error {
			err := fn(run)
			if err == nil && s.db.File == "" { // what was written is on its way
				err = run(ctx, []db.Batch{{Query: &db.Query{What: "waiting", Each: `SELECT 1`}, Rows: [][]any{{}},
					Scan: func(from db.Scanner) error { return from.Scan(new(int)) }}})
			}
			time.Sleep(rand.N(4 * time.Millisecond))
			if err == nil && rand.N(8) == 0 {
				err = errFault
			}
			return err
		})
	}
}

var errFault = errors.New("a fault")

// testFollowers: many writers on several instances, slow commits, failing ones, and connections that are cut: whoever
// follows, on whichever instance, gets every entry that is in the database, once, those of each gift in order.
func testFollowers(t *testing.T, open opener) {
	s, again := open(t)
	other := again()
	account := newID()
	gifts := issue(t, s, account, 5)
	slow(s)
	slow(other)
	done := make(chan struct{})
	var writers, readers sync.WaitGroup
	for n := range 6 {
		writers.Go(func() {
			for i := range 25 {
				g := &gifts[rand.N(len(gifts))]
				_, err := tryRedeem(t.Context(), []*Store{s, other}[n%2], &g.Voucher, 1)
				if i == 12 && n == 0 && s.db.File == "" {
					_, err = s.db.Readers.ExecContext(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
						WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'`)
				}
				_ = err // the database tells what was done
			}
		})
	}
	read := make([][]event.Event, 4)
	for n := range read {
		readers.Go(func() {
			q := event.Query{AccountID: account, Limit: 1 + rand.N(7)}
			failed, idle := 0, 0
			for last := false; ; {
				page, err := []*Store{s, other}[n/2].Events(t.Context(), q)
				if err != nil {
					if failed++; failed > 1_000 || errors.Is(err, refusal.NotFound) { // not because a connection was cut
						t.Error(err)
						return
					}
					continue
				}
				read[n] = append(read[n], page.Events...)
				q.After = page.Next
				if last && !page.More && (len(read[n]) >= countEntries(t, s, gifts) || idle > 3_000) {
					return
				}
				select {
				case <-done:
					last = true
					idle++
					time.Sleep(10 * time.Millisecond)
				case <-time.After(time.Millisecond):
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	total := countEntries(t, s, gifts)
	if total < 50 {
		t.Errorf("only %d entries were made", total)
	}
	for n, events := range read {
		next := map[guid.ID]int{}
		for i := range events {
			e := events[i].Entry
			if next[e.VoucherID]++; e.Seq != next[e.VoucherID] {
				t.Errorf("reader %d: entry %d of a gift comes as number %d", n, e.Seq, next[e.VoucherID])
			}
		}
		if len(events) != total {
			t.Errorf("reader %d: %d events, want %d", n, len(events), total)
		}
		if !slices.EqualFunc(events, read[0], func(a, b event.Event) bool { return a.ID == b.ID }) {
			t.Errorf("readers %d and 0 had them in another order", n)
		}
	}
}

func countEntries(t *testing.T, s *Store, gifts []gift.Gift) (n int) {
	for i := range gifts {
		g, err := s.Gift(t.Context(), gifts[i].AccountID, gifts[i].ID)
		if err != nil {
			return 1 << 30 // cut; it is asked again
		}
		n += g.Seq
	}
	return n
}

// testForgetEvents: the oldest go, a few at a time, and a place before those that are left is refused. The newest
// stays, so that whoever has read all goes on from there.
func testForgetEvents(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	g := issue(t, s, account, 1)[0]
	for range 4 {
		redeem(t, s, &g.Voucher, 1)
	}
	all, end := settled(t, s, event.Query{AccountID: account, Limit: 9}, 5)
	for _, step := range []struct {
		before time.Time
		limit  int
		n      int64
	}{{noon, 9, 0}, {noon.Add(1), 2, 0}, {noon.Add(time.Second), 2, 2}, {noon.Add(time.Second), 9, 2},
		{noon.Add(time.Second), 9, 0}} {
		if n, err := s.ForgetEvents(t.Context(), account, step.before, step.before, step.limit); err != nil || n != step.n {
			t.Errorf("before %v: %d, %v, want %d", step.before, n, err, step.n)
		}
	}
	_, err := s.Events(t.Context(), event.Query{AccountID: account, Limit: 9, After: all[2].Place})
	if !errors.Is(err, refusal.NotFound) {
		t.Errorf("a place that is not kept: %v", err)
	}
	rest, _ := follow(t, s, event.Query{AccountID: account, Limit: 9})
	redeem(t, s, &g.Voucher, 1)
	next, _ := settled(t, s, event.Query{AccountID: account, Limit: 9, After: end}, 1)
	if len(rest) != 1 || rest[0].ID != all[4].ID || len(next) != 1 || next[0].Sequence() != 6 {
		t.Errorf("%d events are left, %d are new", len(rest), len(next))
	}
}

// testForgetEventsBehind: what a clock wrote that was ahead stays until its time, and keeps nothing else.
func testForgetEventsBehind(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	for range 3 {
		g, e := newGift(account)
		e.At = noon.AddDate(1, 0, 0)
		save(t, s, ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}})
	}
	for range 3 {
		issue(t, s, account, 1)
	}
	before, now := noon.AddDate(0, 0, 1), noon.AddDate(0, 3, 0)
	for _, want := range []int64{2, 0} {
		if n, err := s.ForgetEvents(t.Context(), account, before, now, 2); err != nil || n != want {
			t.Errorf("%d events were forgotten, %v, want %d", n, err, want)
		}
	}
}

// testVerifyEvents: an entry that is no event, and an event that is none, are found.
func testVerifyEvents(t *testing.T, open opener) {
	s, _ := open(t)
	g := issue(t, s, newID(), 1)[0]
	for day := range 4 {
		runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{ref(&g.Voucher)}}, func(st *ledger.State) ledger.Changes {
			at := gift.Context{EntryID: newID(), Now: noon.AddDate(0, 0, day)}
			after, e, err := st.Vouchers[ref(&g.Voucher)].Redeem(gift.Redeem{Context: at, Amount: 1})
			must(t, err)
			return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
		})
	}
	diff(t, problems(t, s), map[string]int{})
	var position int64
	must(t, s.db.Get(t.Context(), `SELECT max(position) - 1 FROM event WHERE account_id = $1`,
		[]any{db.KeyOf(g.AccountID)}, &position))
	spoil(t, s, `DELETE FROM event WHERE position = $1`, position)
	diff(t, problems(t, s), map[string]int{"events": 1})
	for _, wrong := range [][]any{
		{" REDEMPTION ", g.ID[:], ""},          // no entry
		{" HOLD REDEMPTION ", g.Last[:], ""},   // of another kind
		{" gift.expired ", []byte{}, "{"},      // nothing that can be read
		{" gift.redeemed? ", []byte{}, "{}"},   // no type
		{" key.created ", []byte{}, `{"id":"`}, // cut
	} {
		position += 10
		spoil(t, s, `INSERT INTO event (position, account_id, made_at, kinds, entries, body) VALUES ($1, $2, 0, $3, $4, $5)`,
			append([]any{position, db.KeyOf(g.AccountID)}, wrong...)...)
	}
	diff(t, problems(t, s), map[string]int{"events": 6})
}

// testVerifyForgotten: what was forgotten is no finding where the oldest event that is kept is of another clock than
// the entries, as in test accounts; what is lost of the 90 days since is one.
func testVerifyForgotten(t *testing.T, open opener) {
	s, _ := open(t)
	account, now := newID(), time.Now()
	made := now.Add(-125 * 24 * time.Hour)
	for day := range 3 { // by a clock that is 30 days ahead
		g, e := newGift(account)
		g.CreatedAt, e.At = made.AddDate(0, 0, 30+day), made.AddDate(0, 0, 30+day)
		save(t, s, ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}})
	}
	must(t, s.db.Write(t.Context(), func(tx *sql.Tx) error {
		return feed.Add(t.Context(), tx, event.Event{Type: event.KeyRevoked, AccountID: account, At: made,
			Note: event.Note{KeyID: newID()}})
	}))
	diff(t, problems(t, s), map[string]int{})
	toNow := func(time.Time, time.Time) time.Time { return now }
	_, err := s.MoveForgotten(t.Context(), toNow, now.AddDate(0, 0, -30), now)
	must(t, err)
	n, err := s.ForgetEvents(t.Context(), account, now.Add(-event.Kept), now, 200)
	if must(t, err); n != 3 {
		t.Fatalf("%d events were forgotten, want 3", n)
	}
	diff(t, problems(t, s), map[string]int{})
	g, e := newGift(account)
	g.CreatedAt, e.At = now.AddDate(0, 0, -88), now.AddDate(0, 0, -88)
	save(t, s, ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}})
	diff(t, problems(t, s), map[string]int{})
	spoil(t, s, `DELETE FROM event WHERE account_id = $1 AND entries <> $2`, db.KeyOf(account), []byte{})
	diff(t, problems(t, s), map[string]int{"events": 1})
}

// testEventsOfOneClock: what changes in the set-up of a test account, or is tried there in vain, is dated by its clock,
// as entries are; in a live account it is by the machine's.
func testEventsOfOneClock(t *testing.T, open opener) {
	s, _ := open(t)
	const ahead = 30 * 24 * time.Hour
	for _, test := range []bool{true, false} {
		account := &merchant.Account{ID: newID(), Name: "A", Test: test, Currency: money.Currency{Code: "USD", Decimals: 2},
			Zone: noon.Location()}
		till := merchant.Till{AccountID: account.ID, KeyID: newID(), LocationID: newID()}
		must(t, s.Configure(t.Context(), func(*merchant.Directory, merchant.Uses) (merchant.Changes, error) {
			return merchant.Changes{Accounts: []*merchant.Account{account}, What: "added"}, nil
		}))
		want := time.Duration(0)
		if test {
			want = ahead
			_, err := s.AdvanceClock(t.Context(), account.ID, func(merchant.Clock) (merchant.Clock, event.TrailEntry, error) {
				return merchant.Clock{Ahead: ahead}, event.TrailEntry{AccountID: account.ID, Action: event.ClockAdvanced}, nil
			})
			must(t, err)
		}
		must(t, s.Configure(t.Context(), func(*merchant.Directory, merchant.Uses) (merchant.Changes, error) {
			key := &merchant.Key{ID: till.KeyID, Kind: merchant.AccountKey, AccountID: account.ID, Name: "till", CreatedAt: noon,
				Test: test}
			copy(key.Hash[:], till.KeyID[:])
			return merchant.Changes{Keys: []*merchant.Key{key}, What: "added"}, nil
		}))
		fillWebhooks(t, s, account.ID)
		_, _, err := s.CountMisses(t.Context(), till, time.Now(), merchant.GuessAlarm)
		must(t, err)
		events, _ := settled(t, s, event.Query{AccountID: account.ID, Limit: 9}, 3)
		for _, e := range events {
			if is := time.Until(e.At); is > want || is < want-time.Hour {
				t.Errorf("%s of an account whose clock is %s ahead is dated %s from now", e.Type, want, is)
			}
		}
		if len(events) != 3 {
			t.Errorf("%d events, want those of a key, a webhook, and guesses", len(events))
		}
	}
}

// testEventsOfTwoClocks: events of the set-up that are dated by the machine's clock among entries dated ahead hide none
// of these from whoever looks for a time.
func testEventsOfTwoClocks(t *testing.T, open opener) {
	s, _ := open(t)
	ahead := noon.AddDate(0, 0, 30)
	const n = 12
	for at := range n {
		account := newID()
		for i := range n {
			if i == at {
				must(t, s.db.Write(t.Context(), func(tx *sql.Tx) error {
					return feed.Add(t.Context(), tx, event.Event{Type: event.WebhookChanged, AccountID: account, At: noon,
						Note: event.Note{WebhookID: newID()}})
				}))
				continue
			}
			g, e := newGift(account)
			e.At = ahead.Add(time.Duration(i) * time.Hour)
			save(t, s, ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}})
		}
		settled(t, s, event.Query{AccountID: account, Limit: n}, n)
		for first := range n { // of the hours that are asked for
			from, to := ahead.Add(time.Duration(first)*time.Hour), ahead.Add(time.Duration(first+2)*time.Hour)
			after, err := s.EventsBefore(t.Context(), account, from)
			must(t, err)
			until, err := s.EventsUntil(t.Context(), account, to)
			must(t, err)
			made, _ := follow(t, s, event.Query{AccountID: account, After: after, Limit: n, From: from, To: to})
			made = slices.DeleteFunc(made, func(e event.Event) bool { return until.Before(e.Place) })
			want := 2
			if first+1 == n {
				want--
			}
			if at == first || at == first+1 {
				want--
			}
			if len(made) != want {
				t.Errorf("with another clock's at place %d: %d events of hours %d and %d, want %d", at, len(made), first, first+1,
					want)
			}
		}
	}
}

// testLostPlaces: a cursor of a later state of the database than the one that it was put back to is told from one whose
// events are not kept any more.
func testLostPlaces(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	issue(t, s, account, 1)
	issue(t, s, account, 1)
	_, end := settled(t, s, event.Query{AccountID: account, Limit: 9}, 2)
	for what, place := range map[string]merchant.EventPlace{
		"of a later commit":                 event.After(end.Position+1000, 1, newID()),
		"of another commit at the position": event.After(end.Position, 1, newID()),
	} {
		_, err := s.Events(t.Context(), event.Query{AccountID: account, Limit: 9, After: place})
		if !errors.Is(err, refusal.NotFound) || !strings.Contains(err.Error(), "put back to an earlier state") {
			t.Errorf("a place %s: %v", what, err)
		}
	}
	_, err := s.Events(t.Context(), event.Query{AccountID: newID(), Limit: 9, After: end})
	if !errors.Is(err, refusal.NotFound) || !strings.Contains(err.Error(), "put back to an earlier state") {
		t.Errorf("a place in an account without events: %v", err)
	}
	_, err = s.Events(t.Context(), event.Query{AccountID: account, Limit: 9, After: merchant.EventPlace{Part: 1}})
	if !errors.Is(err, refusal.NotFound) || !strings.Contains(err.Error(), "kept for 90 days") {
		t.Errorf("a place before all that is kept: %v", err)
	}
}
