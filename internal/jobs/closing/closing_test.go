package closing_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	_ "github.com/jackc/pgx/v5/stdlib"

	"boon.example/internal/books"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/jobs/closing"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

// round does a round of the job and tells how many days it closed.
func round(t *testing.T, batch func(context.Context) (int, bool, error)) (closed int) {
	t.Helper()
	for {
		n, more, err := batch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if closed += n; !more {
			return closed
		}
	}
}

// someday does rounds until one closes days: other transactions of the server may be open for a while.
func someday(t *testing.T, batch func(context.Context) (int, bool, error)) (closed int) {
	t.Helper()
	for closed == 0 {
		closed = round(t, batch)
	}
	return closed
}

// opened is a store with the account whose days are closed.
func opened(t *testing.T, database string) (*store.Store, *merchant.Account) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Database: database})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, &merchant.Account{ID: guid.ID(uuid.New()), Currency: money.Currency{Code: "USD", Decimals: 2},
		Zone: time.UTC}
}

// issue makes a gift at an instant.
func issue(t *testing.T, s *store.Store, account *merchant.Account, at time.Time) {
	t.Helper()
	issueBy(t, s, account, at, at)
}

// issueBy makes a gift at an instant, with an id that was drawn at another one.
func issueBy(t *testing.T, s *store.Store, account *merchant.Account, at, drawn time.Time) {
	t.Helper()
	code, err := codes.NewVoucherCode(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	token, err := codes.NewToken(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	g := gift.Gift{Voucher: gift.Voucher{ID: guid.ID(uuid.Must(uuid.NewV7())), AccountID: account.ID,
		OrderID: guid.ID(uuid.New()), ProgramID: merchant.BusinessProgram.ID, Currency: account.Currency, Funded: 500,
		Balance: 500, CreatedAt: at}, Card: gift.Card{Code: code, Token: token, Method: contact.Printed}}
	entry := gift.IDsFrom(drawn.Add(time.Minute)) // the id of that instant
	copy(entry[8:], g.OrderID[8:])
	g, e := g.Begin(gift.Context{EntryID: entry, Now: at, RequestID: "r"})
	err = s.Group(t.Context(), ledger.Want{}, func(*ledger.State) ledger.Changes {
		return ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDaysAreClosed: a day is closed once it has ended for a while, and all transactions that may have written into it
// are over.
func TestDaysAreClosed(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	s, account := opened(t, database)
	now := time.Date(2026, 3, 4, 0, 9, 0, 0, time.UTC)
	issue(t, s, account, now.AddDate(0, 0, -2).Add(12*time.Hour)) // on the second of March
	c := &closing.Closer{Store: s, Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return now }, Directory: func() *merchant.Directory {
			return &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{account.ID: account}}
		}}
	batch := c.Batches()
	if n := round(t, batch); n != 0 {
		t.Fatalf("the first round closed %d days", n)
	}
	if n := someday(t, batch); n != 1 {
		t.Fatalf("nine minutes after the third of March, %d days are closed, want the second", n)
	}
	now = now.Add(2 * time.Minute)
	release := openTransaction(t, database)
	if n := round(t, batch); n != 0 { // it notes what the next one closes, or waits for others on the server
		t.Fatalf("a round closed %d days that had not ended long enough at the one before", n)
	}
	if n := round(t, batch); database != "" && n != 0 {
		t.Fatalf("while a transaction was open that might still write, %d days were closed", n)
	} else if database == "" && n != 1 {
		t.Fatalf("%d days were closed, want one", n)
	}
	release()
	if database != "" {
		someday(t, batch)
	}
	days, err := s.ClosedDays(t.Context(), account.ID)
	if err != nil || len(days) != 2 || days[0].Number != 20260302 || days[1].Number != 20260303 {
		t.Errorf("%v are closed: %v", days, err)
	}
}

// TestOldDaysAreClosedFirst: a process that finds an open history, as after an upgrade, closes it in its first round,
// but for the last days, and its log tells how far it has come.
func TestOldDaysAreClosedFirst(t *testing.T) {
	t.Parallel()
	s, account := opened(t, pgtest.Database(t))
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	issue(t, s, account, now.AddDate(0, 0, -10))
	var log bytes.Buffer
	closer := func() func(context.Context) (int, bool, error) {
		c := &closing.Closer{Store: s, Logger: slog.New(slog.NewTextHandler(&log, nil)), Now: func() time.Time { return now },
			Directory: func() *merchant.Directory {
				return &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{account.ID: account}}
			}}
		return c.Batches()
	}
	closed := 0
	for closed == 0 { // each time a process that has just begun; others on the server may be busy
		closed = round(t, closer())
	}
	if closed != 8 {
		t.Errorf("the first round closed %d days, want those from 10 to 17 March", closed)
	}
	if !strings.Contains(log.String(), "old days are being closed in the books") || !strings.Contains(log.String(),
		"left=7") {
		t.Errorf("the log says %s", &log)
	}
}

// TestLateEntriesAreFound: an entry that came into a closed day, as by a clock that was set back, fails the check and
// is named, until the day is closed again, whatever its id.
func TestLateEntriesAreFound(t *testing.T) {
	t.Parallel()
	s, account := opened(t, pgtest.Database(t))
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	issue(t, s, account, noon)
	for range 2 {
		day, ok, err := s.NextDay(t.Context(), account)
		if err != nil || !ok {
			t.Fatal(err)
		}
		if _, err := s.CloseDay(t.Context(), account, day, noon.AddDate(0, 0, 3)); err != nil {
			t.Fatal(err)
		}
	}
	c := &closing.Checker{Checks: s, Directory: func() *merchant.Directory {
		return &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{account.ID: account}}
	}}
	check := func() error {
		_, _, err := c.Batches()(t.Context())
		return err
	}
	if err := check(); err != nil {
		t.Fatalf("before anything came late: %v", err)
	}
	for _, drawn := range []time.Time{noon, noon.Add(24 * time.Hour)} {
		issueBy(t, s, account, noon, drawn)
		if err := check(); err == nil || !strings.Contains(err.Error(), "closed day 20260302 are not what its entries say") {
			t.Errorf("an entry that came late is told as %v", err)
		}
		days, err := s.ClosedDays(t.Context(), account.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.CloseDayAgain(t.Context(), account, days[0], noon.AddDate(0, 0, 3)); err != nil {
			t.Fatal(err)
		}
		if err := check(); err != nil {
			t.Errorf("once the day is closed again: %v", err)
		}
	}
}

// TestAClockThatIsSetBack: what was made after a clock was set back, before the instant up to which the open day had
// been summed up, is in reports.
func TestAClockThatIsSetBack(t *testing.T) {
	t.Parallel()
	s, account := opened(t, pgtest.Database(t))
	s.Step = 1
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	issue(t, s, account, now.AddDate(0, 0, -4))
	sold := []time.Time{now.AddDate(0, 0, -4)}
	c := &closing.Closer{Store: s, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
		Directory: func() *merchant.Directory {
			return &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{account.ID: account}}
		}}
	batch := c.Batches()
	for closed := 0; closed < 4; { // the tenth is open; others on the server may be busy
		closed += someday(t, batch)
	}
	sums := (&closing.Summer{OpenDays: s, Now: c.Now, Directory: c.Directory}).Batches()
	said := now // the latest time that the clock has said: ids do not go back
	sell := func() {
		t.Helper()
		for range 40 {
			if now.After(said) {
				said = now
			}
			issueBy(t, s, account, now, said)
			sold = append(sold, now)
			now = now.Add(time.Minute)
			round(t, sums)
			want := 0
			for _, at := range sold {
				if at.Before(now) {
					want++
				}
			}
			if n := issued(t, s, account, now); n != want {
				t.Errorf("at %s the books have %d gifts, want %d", now, n, want)
			}
		}
	}
	sell()
	now = now.Add(-30 * time.Minute)
	round(t, sums)
	sell()
}

// summed notes of which accounts SumUp was asked.
type summed struct {
	*store.Store
	accounts []guid.ID
}

func (s *summed) SumUp(ctx context.Context, a *merchant.Account, noted time.Time, position int64,
	wrong time.Time) (bool, error) {
	s.accounts = append(s.accounts, a.ID)
	return s.Store.SumUp(ctx, a, noted, position, wrong)
}

// TestWhoAsksIsSummedUpSooner: each minute the open days of all accounts are summed up, and meanwhile those that
// somebody asked about.
func TestWhoAsksIsSummedUpSooner(t *testing.T) {
	t.Parallel()
	s, account := opened(t, pgtest.Database(t))
	quiet := &merchant.Account{ID: guid.ID(uuid.New()), Currency: account.Currency, Zone: time.UTC}
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	issue(t, s, account, now)
	issue(t, s, quiet, now)
	under := &summed{Store: s}
	batch := (&closing.Summer{OpenDays: under, Now: func() time.Time { return now },
		Directory: func() *merchant.Directory {
			return &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{account.ID: account, quiet.ID: quiet}}
		}}).Batches()
	// after does a round after a while, and gives how many accounts had a turn; others on the server may be busy.
	after := func(d time.Duration, want int) {
		t.Helper()
		now = now.Add(d)
		for under.accounts = nil; ; {
			if round(t, batch); len(under.accounts) >= want {
				break
			}
		}
		if len(under.accounts) != want || want == 1 && under.accounts[0] != account.ID {
			t.Errorf("%d accounts had a turn, want %d", len(under.accounts), want)
		}
	}
	after(0, 2)
	after(closing.SumEvery, 0)
	issued(t, s, account, now.Add(time.Hour))
	after(closing.SumEvery, 1)
	after(closing.SumEvery, 1)
	after(closing.Every, 2)
	after(-time.Hour, 0)
	after(closing.SumEvery, 2)
}

// issued is how many gifts the books have that were made before an instant.
func issued(t *testing.T, s *store.Store, account *merchant.Account, until time.Time) (n int) {
	t.Helper()
	asked := &books.Asked{Account: account, Until: until, Cubes: []books.Cube{books.Places}}
	err := s.EachMoved(t.Context(), asked, func(_ int, k books.Key, sum books.Sum) error {
		if k.Line == string(books.LineIssued) {
			n += int(sum.Count)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// overtaken is a store in which an import appears while the first day is worked out.
type overtaken struct {
	*store.Store
	once bool
}

func (o *overtaken) CloseDay(ctx context.Context, a *merchant.Account, d books.Day, now time.Time) (bool, error) {
	if !o.once {
		o.once = true
		return false, nil
	}
	return o.Store.CloseDay(ctx, a, d, now)
}

// TestWhatIsOvertakenIsNotClosed: a day that was not closed, as an import appeared meanwhile, does not count as closed,
// and a later round closes it.
func TestWhatIsOvertakenIsNotClosed(t *testing.T) {
	t.Parallel()
	s, account := opened(t, pgtest.Database(t))
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
	issue(t, s, account, now.AddDate(0, 0, -10))
	under := &overtaken{Store: s}
	c := &closing.Closer{Store: under, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
		Directory: func() *merchant.Directory {
			return &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{account.ID: account}}
		}}
	batch := c.Batches()
	for !under.once { // others on the server may be busy
		if n := round(t, batch); n != 0 {
			t.Fatalf("a round tells that it closed %d days, and closed none", n)
		}
	}
	if n := someday(t, batch); n != 10 {
		t.Errorf("then %d days are closed, want those from 10 to 19 March", n)
	}
}

// openTransaction begins a transaction on the server that has drawn a position and ends at release.
func openTransaction(t *testing.T, database string) (release func()) {
	t.Helper()
	if database == "" {
		return func() {}
	}
	d, err := sql.Open("pgx", database)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := d.BeginTx(t.Context(), nil)
	if err == nil {
		_, err = tx.ExecContext(t.Context(), `SELECT pg_current_xact_id(), nextval('event_position')`)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() { tx.Rollback(); d.Close() }
}

// TestTestAccountsByTheirClock: the days of a test account are closed by its clock.
func TestTestAccountsByTheirClock(t *testing.T) {
	t.Parallel()
	s, account := opened(t, pgtest.Database(t))
	account.Test = true
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	issue(t, s, account, now)
	under := &clocks{Store: s}
	c := &closing.Closer{Store: under, Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return now }, Directory: func() *merchant.Directory {
			return &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{account.ID: account}}
		}}
	batch := c.Batches()
	round(t, batch)
	under.ahead = 10 * 24 * time.Hour
	if n := round(t, batch); n != 0 {
		t.Fatalf("%d days were closed by a clock that was advanced since the round before", n)
	}
	want := 10
	for n := 0; want > 0; want -= n {
		if n = someday(t, batch); n > want {
			t.Fatalf("%d days were closed, want %d", n, want)
		}
	}
}

// clocks is a store whose test accounts have a clock that is ahead.
type clocks struct {
	*store.Store
	ahead time.Duration
}

func (c *clocks) Clock(context.Context, guid.ID) (merchant.Clock, error) {
	return merchant.Clock{Ahead: c.ahead}, nil
}
