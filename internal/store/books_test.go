package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"boon.example/internal/books"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
	"boon.example/internal/store/pgtest"
	"boon.example/internal/store/sums"
)

// shopkeeper lets gifts of an account be used over some days, by the rules of package gift.
type shopkeeper struct {
	t       testing.TB
	s       *Store
	account *merchant.Account
	caller  *merchant.Caller
	now     time.Time
	shops   []guid.ID
	gifts   []guid.ID
	made    uint64        // ids of entries
	ahead   time.Duration // of ids
}

func openBooks(t testing.TB, s *Store, zone string) *shopkeeper {
	t.Helper()
	z, err := time.LoadLocation(zone)
	must(t, err)
	account := &merchant.Account{ID: newID(), Name: "Harbor", Currency: dollars, MaxGiftValue: 100_000, Zone: z,
		Subscriptions: []merchant.Subscription{{ProgramID: merchant.BusinessProgram.ID, Reloadable: true}}}
	return &shopkeeper{t: t, s: s, account: account, shops: []guid.ID{newID(), newID()}, now: noon,
		caller: &merchant.Caller{Kind: merchant.AccountKey, Account: account, Permissions: merchant.AllPermissions}}
}

// context is that of the next entry, whose id tells the time of the shop, or a later one.
func (k *shopkeeper) context(shop int) gift.Context {
	id := newID()
	k.made++
	binary.BigEndian.PutUint64(id[:], uint64(k.now.Add(k.ahead).UnixMilli())<<16|0x7000|k.made&0xfff)
	return gift.Context{EntryID: id, Now: k.now, Actor: merchant.Actor{LocationID: k.shops[shop%2], KeyID: k.shops[1]}}
}

func (k *shopkeeper) issue(with func(*gift.Gift)) {
	k.t.Helper()
	g, _ := newGift(k.account.ID)
	g.Seq, g.Last, g.Status = 0, guid.ID{}, 0
	with(&g)
	g, e := g.Begin(k.context(0))
	e.Actor.LocationID = guid.ID{}
	save(k.t, k.s, ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}})
	k.gifts = append(k.gifts, g.ID)
}

// do lets something happen to a gift; what the rules refuse does not.
func (k *shopkeeper) do(n int, what func(gift.Voucher) (gift.Voucher, gift.Entry, error)) {
	k.t.Helper()
	of := ledger.Ref{AccountID: k.account.ID, ID: k.gifts[n]}
	runGroup(k.t, k.s, ledger.Want{Vouchers: []ledger.Ref{of}}, func(st *ledger.State) (c ledger.Changes) {
		if v, e, err := what(*st.Vouchers[of]); err == nil && e.Kind != "" {
			c = ledger.Changes{Vouchers: []gift.Voucher{v}, Entries: []gift.Entry{e}}
		}
		return c
	})
}

// live lets some days pass.
func (k *shopkeeper) live(r *rand.Rand, steps int) {
	k.t.Helper()
	for n := range steps {
		k.now = k.now.Add(time.Duration(r.IntN(int(5 * time.Hour)))).Truncate(time.Microsecond)
		switch {
		case n%4 == 0:
			k.issue(func(g *gift.Gift) {
				if n%12 == 0 {
					g.Card.Purchase.Price = g.Balance - 1
				}
				if n%8 == 0 {
					g.Card.VATTreatment, g.Card.VATRate = merchant.SinglePurpose, "19"
				}
			})
		case n%11 == 0:
			k.issue(func(g *gift.Gift) {
				g.Promotional, g.ProgramID = true, merchant.PromotionalProgram.ID
				g.ValidUntil = k.now.Add(time.Duration(1+r.IntN(60)) * time.Hour).Truncate(time.Millisecond)
				g.GraceDays = n % 3 * 2
			})
		case n%13 == 0:
			k.issue(func(g *gift.Gift) {
				g.Item, g.Funded, g.Balance, g.Card.EquivalentValue = true, 7, 7, 1000
			})
		}
		c, of := k.context(n), r.IntN(len(k.gifts))
		k.do(of, func(v gift.Voucher) (gift.Voucher, gift.Entry, error) {
			some := max(1, v.Balance/3)
			switch n % 5 {
			case 0:
				return v.Extend(gift.Extend{Context: c, Caller: k.caller, Until: v.End().Add(30 * time.Hour)})
			case 1:
				return v.Reload(gift.ReloadRequest{Context: c, Amount: 500, Account: k.account, Price: "3.33"})
			case 2:
				return v.Block(gift.Block{Context: c, Caller: k.caller, ReasonCode: gift.ReasonLost})
			}
			return v.Redeem(gift.Redeem{Context: c, LocationID: c.Actor.LocationID, Amount: some, Account: k.account})
		})
	}
}

// fillBooks closes a day of an account that is in no set-up.
func fillBooks(t *testing.T, s *Store, account guid.ID) {
	t.Helper()
	day := books.Day{Number: 20260301, From: noon.Add(-time.Hour), Until: time.Now().Add(time.Hour)}
	_, err := s.CloseDay(t.Context(), &merchant.Account{ID: account}, day, noon)
	must(t, err)
}

// closeAll closes all days up to an instant.
func (k *shopkeeper) closeAll(s *Store, until time.Time) (n int) {
	k.t.Helper()
	for {
		day, ok, err := s.NextDay(k.t.Context(), k.account)
		must(k.t, err)
		if !ok || day.Until.After(until) {
			return n
		}
		_, err = s.CloseDay(k.t.Context(), k.account, day, until)
		must(k.t, err)
		n++
	}
}

func (k *shopkeeper) moved(from, until time.Time) books.Sums {
	k.t.Helper()
	all := books.Sums{}
	asked := &books.Asked{Account: k.account, From: from, Until: until, Cubes: books.Cubes()}
	must(k.t, k.s.EachMoved(k.t.Context(), asked, func(_ int, key books.Key, s books.Sum) error {
		all.Add(key, s)
		return nil
	}))
	return all
}

// movedByDay is moved in one cube, for each day.
func (k *shopkeeper) movedByDay(from, until time.Time, cube books.Cube) map[int]books.Sums {
	k.t.Helper()
	days := map[int]books.Sums{}
	asked := &books.Asked{Account: k.account, From: from, Until: until, Cubes: []books.Cube{cube}, ByDay: true}
	must(k.t, k.s.EachMoved(k.t.Context(), asked, func(day int, key books.Key, s books.Sum) error {
		if days[day] == nil {
			days[day] = books.Sums{}
		}
		days[day].Add(key, s)
		return nil
	}))
	return days
}

// sumUp sums up the beginning of the open day up to an instant, and tells in how many steps.
func (k *shopkeeper) sumUp(until, wrong time.Time) (steps int) {
	k.t.Helper()
	position, err := k.s.Drawn(k.t.Context())
	must(k.t, err)
	for more := true; more; steps++ {
		more, err = k.s.SumUp(k.t.Context(), k.account, until.Add(sums.LeastLag), position, wrong)
		must(k.t, err)
	}
	return steps - 1
}

// testOpenDays: what moved in any time is the same while the beginning of the open day is summed up in memory, also
// after an import appeared in it.
func testOpenDays(t *testing.T, open opener) {
	s, _ := open(t)
	k := openBooks(t, s, "America/New_York")
	configure(t, s, merchant.Changes{Accounts: []*merchant.Account{k.account}})
	begun := k.now
	k.live(rand.New(rand.NewPCG(2, 5)), 120)
	k.closeAll(s, begun.AddDate(0, 0, 3))
	days, err := s.ClosedDays(t.Context(), k.account.ID)
	must(t, err)
	day := days[len(days)-1].Next(k.account.Zone)
	type period struct{ from, until time.Time }
	var periods []period
	for _, until := range []time.Time{day.From.Add(time.Hour), day.From.Add(8 * time.Hour), day.Until.Add(-1), k.now} {
		for _, from := range []time.Time{{}, begun.Add(9 * time.Hour), day.From, day.From.Add(30 * time.Minute)} {
			periods = append(periods, period{from, until})
		}
	}
	want := map[period]books.Sums{}
	read := func() {
		for _, p := range periods {
			want[p] = k.moved(p.from, p.until)
		}
	}
	compare := func(when string) {
		t.Helper()
		for p, want := range want {
			if got := k.moved(p.from, p.until); !maps.Equal(got, want) {
				t.Fatalf("%s: in %v moved %v, by the entries %v", when, p, got, want)
			}
		}
	}
	read()
	steps := k.sumUp(day.Until, time.Time{})
	if steps > 0 || len(want[periods[0]]) == 0 {
		t.Fatalf("%d steps, or nothing moved", steps)
	}
	compare("with too few entries to sum up")
	s.Step, steps = 2, 0
	for _, until := range []time.Time{day.From.Add(5 * time.Hour), day.From.Add(6 * time.Hour), day.Until} {
		steps += k.sumUp(until, time.Time{})
		compare("summed up to " + until.String())
	}
	if steps < 3 {
		t.Errorf("the open day is summed up in %d steps", steps)
	}
	m := beginImport(t, s, k.account.ID, day.From.Add(time.Hour))
	stageGifts(t, s, m, 3)
	must(t, s.FinishImport(t.Context(), m, event.TrailEntry{}))
	got := k.moved(time.Time{}, k.now)
	s.Books = sums.New(s.db) // a process that knows nothing
	read()
	if all := want[period{until: k.now}]; !maps.Equal(got, all) {
		t.Errorf("with gifts of an import there moved %v, by the entries %v", got, all)
	}
	s.Step = 2
	k.sumUp(day.Until, time.Time{})
	compare("with an import, summed up again")
	k.closeAll(s, k.now)
	compare("once all days are closed")
}

// testFirstDay: the first day of an account, before which none is closed, is summed up as others are: a stock that was
// made today is not read gift by gift.
func testFirstDay(t *testing.T, open opener) {
	s, _ := open(t)
	s.Step = 5
	k := openBooks(t, s, "UTC")
	k.sell(k.now.Add(30 * time.Minute))
	begun, until := k.now.AddDate(0, 0, -90), k.now
	type read struct{ all, before, from books.Sums }
	moved := func() read {
		return read{k.moved(time.Time{}, until), k.moved(time.Time{}, begun), k.moved(begun, until)}
	}
	want := moved()
	if steps := k.sumUp(until, time.Time{}); steps < 3 {
		t.Errorf("the first day is summed up in %d steps", steps)
	}
	if got := moved(); !reflect.DeepEqual(got, want) {
		t.Errorf("there moved %v, by the entries %v", got, want)
	}
	few := &books.Asked{Account: k.account, Until: until, Cubes: books.Cubes(), Most: 10}
	tell := func(int, books.Key, books.Sum) error { return nil }
	if err := s.EachMoved(t.Context(), few, tell); err != nil {
		t.Errorf("where the day is summed up: %v", err)
	}
	s.ForgetOpenDays()
	if err := s.EachMoved(t.Context(), few, tell); !errors.As(err, new(*books.Behind)) {
		t.Errorf("more entries than are allowed were read, and the error is %v", err)
	}
}

// testOvertakenDays: an entry that is dated in a part of the open day that was summed up before is in reports at once,
// and the part is summed up again with it.
func testOvertakenDays(t *testing.T, open opener) {
	s, _ := open(t)
	s.Step = 5
	k := openBooks(t, s, "UTC")
	k.sell(k.now.Add(30 * time.Minute))
	until := k.now
	k.sumUp(until, time.Time{})
	k.now = until.Add(-25 * time.Minute) // by a clock that is behind
	k.issue(func(*gift.Gift) {})
	few := &books.Asked{Account: k.account, Until: until, Cubes: books.Cubes(), Most: 10}
	summedUp := func() bool {
		err := s.EachMoved(t.Context(), few, func(int, books.Key, books.Sum) error { return nil })
		return err == nil
	}
	got := k.moved(time.Time{}, until)
	if summedUp() {
		t.Error("sums that lack an entry are told")
	}
	k.sumUp(until, time.Time{})
	if !summedUp() {
		t.Error("the day is not summed up again")
	}
	again := k.moved(time.Time{}, until)
	s.Books = sums.New(s.db)
	if want := k.moved(time.Time{}, until); !maps.Equal(got, want) || !maps.Equal(again, want) {
		t.Errorf("there moved %v, then %v, by the entries %v", got, again, want)
	}
}

// testLateIDs: entries whose ids tell a later time than they were made at, as when a clock was set back, are in the
// beginning of the open day and in closed days.
func testLateIDs(t *testing.T, open opener) {
	s, _ := open(t)
	s.Step = 5
	for ahead, wrong := range map[time.Duration]bool{books.Skew - time.Second: false, time.Hour: true} {
		k := openBooks(t, s, "UTC")
		k.issue(func(*gift.Gift) {})
		k.closeAll(s, k.now.AddDate(0, 0, 1))
		k.ahead = ahead
		midnight := k.now.Truncate(24*time.Hour).AddDate(0, 0, 2)
		k.now = midnight.Add(-time.Hour)
		k.sell(midnight.Add(-30 * time.Minute))
		want, said := k.moved(time.Time{}, k.now), time.Time{}
		if wrong {
			said = k.now.Add(ahead)
		}
		if steps := k.sumUp(k.now.Add(-12*time.Minute), said); steps < 3 {
			t.Errorf("the open day is summed up in %d steps", steps)
		}
		if got := k.moved(time.Time{}, k.now); !maps.Equal(got, want) {
			t.Errorf("%s ahead: with its beginning summed up there moved %v, by the entries %v", ahead, got, want)
		}
		k.sell(midnight.Add(time.Minute))
		s.ForgetOpenDays()
		want = k.moved(time.Time{}, k.now)
		k.closeAll(s, k.now)
		if got := k.moved(time.Time{}, k.now); !wrong && !maps.Equal(got, want) {
			t.Errorf("once the day is closed there moved %v, by the entries %v", got, want)
		}
		days, err := s.ClosedDays(t.Context(), k.account.ID)
		must(t, err)
		var problems []string
		must(t, s.CheckDays(t.Context(), k.account, 1, func(p string) { problems = append(problems, p) }))
		if wrong != (len(problems) == 1) {
			t.Errorf("%s ahead: verify finds %q", ahead, problems)
		}
		must(t, s.CloseDayAgain(t.Context(), k.account, days[len(days)-1], k.now))
		if got := k.moved(time.Time{}, k.now); !maps.Equal(got, want) {
			t.Errorf("%s ahead: once the day is closed again there moved %v, by the entries %v", ahead, got, want)
		}
	}
}

// testOpenDaysWentBack: of a database that went back to an earlier state, nothing that was summed up in memory is told.
func testOpenDaysWentBack(t *testing.T, open opener) {
	s, _ := open(t)
	s.Step = 5
	k := openBooks(t, s, "UTC")
	k.issue(func(*gift.Gift) {})
	k.closeAll(s, k.now.AddDate(0, 0, 1))
	k.now = k.now.AddDate(0, 0, 1)
	k.sell(k.now.Add(time.Hour))
	until := k.now
	if k.sumUp(until, time.Time{}) == 0 {
		t.Error("nothing is summed up")
	}
	k.now = until.Add(-50 * time.Minute)
	k.sell(k.now.Add(time.Minute)) // as the database had something else then
	s.wentBack(WentBack{})
	got := k.moved(time.Time{}, until)
	s.Books = sums.New(s.db)
	if want := k.moved(time.Time{}, until); !maps.Equal(got, want) {
		t.Errorf("there moved %v, by the entries %v", got, want)
	}
}

// testDaysOfImportsAreClosedAgain: a step of the schema opens the closed days of accounts that imported gifts, which an
// earlier build may have closed with other months, and of no other account.
func testDaysOfImportsAreClosedAgain(t *testing.T, open opener) {
	s, _ := open(t)
	var all []*shopkeeper
	for range 2 {
		k := openBooks(t, s, "UTC")
		configure(t, s, merchant.Changes{Accounts: []*merchant.Account{k.account}})
		k.issue(func(*gift.Gift) {})
		all = append(all, k)
	}
	m := beginImport(t, s, all[0].account.ID, noon)
	stageGifts(t, s, m, 1)
	must(t, s.FinishImport(t.Context(), m, event.TrailEntry{}))
	for _, k := range all {
		k.closeAll(s, noon.AddDate(0, 0, 2))
	}
	database := "sqlite"
	if s.db.File == "" {
		database = "postgres"
	}
	step, err := db.Migrations.ReadFile("migrations/0019_months_of_imports." + database + ".sql")
	must(t, err)
	_, err = s.db.Writer.ExecContext(t.Context(), string(step))
	must(t, err)
	for n, k := range all {
		days, err := s.ClosedDays(t.Context(), k.account.ID)
		must(t, err)
		rows := 0
		must(t, s.db.Readers.QueryRowContext(t.Context(), `SELECT count(*) FROM book_sum AS s WHERE s.account_id = $1`,
			k.account.ID[:]).Scan(&rows))
		if (len(days) > 0) != (n == 1) || (rows > 0) != (n == 1) {
			t.Errorf("account %d of 2 has the closed days %v, and %d sums", n+1, days, rows)
		}
		k.closeAll(s, noon.AddDate(0, 0, 2))
		must(t, s.CheckDays(t.Context(), k.account, 9, func(p string) { t.Error(p) }))
	}
}

// sell sells a gift every 40 seconds.
func (k *shopkeeper) sell(until time.Time) {
	k.t.Helper()
	for ; k.now.Before(until); k.now = k.now.Add(40 * time.Second) {
		k.issue(func(*gift.Gift) {})
	}
}

// testBooks: what moved in any time is the same before its days are closed, while some are, and when all are.
func testBooks(t *testing.T, open opener) {
	s, _ := open(t)
	for _, zone := range []string{"America/Los_Angeles", "Pacific/Auckland"} { // clocks change in the time of the test
		r := rand.New(rand.NewPCG(3, 9))
		k := openBooks(t, s, zone)
		if _, ok, err := s.NextDay(t.Context(), k.account); ok || err != nil {
			t.Fatalf("an account without an entry has a day to close: %v", err)
		}
		begun := k.now
		k.live(r, 120)
		type period struct{ from, until time.Time }
		open := map[period]books.Sums{}
		for range 12 {
			from := begun.Add(time.Duration(r.Int64N(int64(k.now.Sub(begun)))))
			p := period{from, from.Add(time.Duration(r.Int64N(int64(k.now.Sub(from)))))}
			open[p], open[period{until: p.until}] = k.moved(p.from, p.until), k.moved(time.Time{}, p.until)
		}
		for _, upTo := range []time.Time{begun.AddDate(0, 0, 3), begun.AddDate(0, 0, 4), k.now} {
			k.closeAll(s, upTo)
			for p, want := range open {
				if got := k.moved(p.from, p.until); !maps.Equal(got, want) {
					t.Fatalf("%s: in %v moved %v once days are closed up to %v; by the entries %v", zone, p, got, upTo, want)
				}
			}
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(k.moved(time.Time{}, k.now))), func(k books.Key) bool {
			return k.Line == string(books.LineRedeemed) && k.VAT == books.VAT{Treatment: merchant.SinglePurpose, Rate: "19"}
		}) {
			t.Errorf("the closed days know nothing of the VAT of what was redeemed")
		}
		days := k.movedByDay(begun, k.now, books.Keys)
		together := books.Sums{}
		for _, of := range days {
			together.AddAll(of)
		}
		all := k.moved(begun, k.now)
		maps.DeleteFunc(all, func(key books.Key, _ books.Sum) bool { return key.Cube != books.Keys })
		if !maps.Equal(together, all) || len(days) < 5 {
			t.Errorf("%d days come to %v, together %v", len(days), together, all)
		}
	}
}

// testBehind: where days are not closed long after their end, what would read too many entries is refused, and what
// reads closed days or few entries is told.
func testBehind(t *testing.T, open opener) {
	s, _ := open(t)
	k := openBooks(t, s, "UTC")
	begun := k.now
	k.live(rand.New(rand.NewPCG(6, 2)), 90)
	s.MostOfOld = 20
	ask := func(from, until time.Time) error {
		asked := &books.Asked{Account: k.account, From: from, Until: until, Cubes: books.Cubes()}
		return k.s.EachMoved(t.Context(), asked, func(int, books.Key, books.Sum) error { return nil })
	}
	var behind *books.Behind
	if err := ask(time.Time{}, k.now); !errors.As(err, &behind) || behind.Closed != 0 {
		t.Errorf("a history of which no day is closed is read: %v", err)
	}
	must(t, ask(k.now.Add(-24*time.Hour), k.now)) // a day that is open is read whatever it has
	k.closeAll(s, begun.AddDate(0, 0, 3))
	days, err := s.ClosedDays(t.Context(), k.account.ID)
	must(t, err)
	last := days[len(days)-1]
	if err := ask(time.Time{}, k.now); !errors.As(err, &behind) || behind.Closed != last.Number {
		t.Errorf("with days closed up to %d, all days are read: %v", last.Number, err)
	}
	must(t, ask(time.Time{}, last.Until))
	k.closeAll(s, k.now)
	must(t, ask(time.Time{}, k.now))
}

// testClosing: a day is closed once, whoever closes it at the same time and whoever is cut off.
func testClosing(t *testing.T, open opener) {
	s, again := open(t)
	k := openBooks(t, s, "America/New_York")
	k.live(rand.New(rand.NewPCG(5, 1)), 60)
	want := k.moved(time.Time{}, k.now)
	instances := []*Store{s, again()}
	var all sync.WaitGroup
	for n := range 6 {
		all.Go(func() {
			for range 40 {
				day, ok, err := instances[n%2].NextDay(t.Context(), k.account)
				if err != nil || !ok || day.Until.After(k.now) {
					return
				}
				ctx, cancel := context.WithTimeout(t.Context(), rand.N(8*time.Millisecond))
				_, _ = instances[n%2].CloseDay(ctx, k.account, day, k.now) // it may be cut off
				cancel()
			}
		})
	}
	all.Wait()
	k.closeAll(s, k.now)
	if got := k.moved(time.Time{}, k.now); !maps.Equal(got, want) {
		t.Errorf("there moved %v once the days are closed, before %v", got, want)
	}
	if days, err := s.ClosedDays(t.Context(), k.account.ID); err != nil || len(days) < 4 {
		t.Errorf("%v are closed: %v", days, err)
	}
}

// testClosedDays: verify names a day whose sums were changed, and closing it again mends them.
func testClosedDays(t *testing.T, open opener) {
	s, _ := open(t)
	k := openBooks(t, s, "UTC")
	k.live(rand.New(rand.NewPCG(8, 1)), 50)
	k.closeAll(s, k.now)
	newest := math.MaxInt
	check := func() (problems []string) {
		must(t, sums.New(s.db).CheckDays(t.Context(), k.account, newest, func(p string) { problems = append(problems, p) }))
		return problems
	}
	if found := check(); len(found) > 0 {
		t.Fatalf("right after closing: %v", found)
	}
	days, err := s.ClosedDays(t.Context(), k.account.ID)
	must(t, err)
	damage := []string{`UPDATE book_sum SET money = money + 1 WHERE account_id = $1 AND day = $2`,
		`DELETE FROM book_sum WHERE account_id = $1 AND day = $2 AND cube = 'KEYS'`}
	for n, statement := range damage {
		day := days[1+n]
		_, err := s.db.Writer.ExecContext(t.Context(), statement, k.account.ID[:], day.Number)
		must(t, err)
		found := check()
		if len(found) != 1 || !strings.Contains(found[0], "closed day 202603") {
			t.Errorf("after %s verify finds %v", statement, found)
		}
		for newest = range len(days) - 1 - n { // of which the day is none
			if found := check(); len(found) > 0 {
				t.Errorf("of the newest %d days verify finds %v", newest, found)
			}
		}
		newest = math.MaxInt
		must(t, s.CloseDayAgain(t.Context(), k.account, day, k.now))
		if found := check(); len(found) > 0 {
			t.Errorf("once the day is closed again: %v", found)
		}
	}
	if err := s.CloseDayAgain(t.Context(), k.account, books.Day{Number: 20200101, From: noon, Until: noon.Add(1)},
		k.now); err == nil {
		t.Error("a day was closed again that was never closed")
	}
}

// testTotalsOfMonths: what closed months come to is told from memory as it is in the database, in any part of the time:
// also once another day is closed, and once another process closed a day again.
func testTotalsOfMonths(t *testing.T, open opener) {
	s, again := open(t)
	k := openBooks(t, s, "Pacific/Auckland")
	configure(t, s, merchant.Changes{Accounts: []*merchant.Account{k.account}})
	r := rand.New(rand.NewPCG(9, 1))
	for range 4 { // months
		k.live(r, 25)
		k.now = k.now.AddDate(0, 0, 20)
	}
	end := k.now
	want := k.moved(time.Time{}, end) // by entries
	k.closeAll(s, end.AddDate(0, 0, -3))
	reader := *k
	reader.s = again()
	reader.s.MostTotals = 0 // keeps nothing
	same := func(when string) {
		t.Helper()
		if got := k.moved(time.Time{}, end); !maps.Equal(got, want) {
			t.Fatalf("%s there moved %v, want %v", when, got, want)
		}
		for range 12 {
			from := noon.Add(time.Duration(r.Int64N(int64(end.Sub(noon)))))
			until := from.Add(time.Duration(r.Int64N(int64(end.Sub(from)) + 1)))
			if got, want := k.moved(from, until), reader.moved(from, until); !maps.Equal(got, want) {
				t.Fatalf("%s there moved %v from %v to %v, want %v", when, got, from, until, want)
			}
		}
	}
	same("as it is read")
	same("from memory")
	days, err := s.ClosedDays(t.Context(), k.account.ID)
	must(t, err)
	if months := days.Months(); len(months) < 3 {
		t.Fatalf("there are no months: %v", months)
	}
	k.closeAll(s, end)
	same("once more days are closed")
	const wrong = `UPDATE book_sum SET money = money + 1 WHERE account_id = $1 AND day = $2`
	for n := range 3 {
		_, err = s.db.Writer.ExecContext(t.Context(), wrong, k.account.ID[:], days[n].Number)
		must(t, err)
	}
	if got := k.moved(time.Time{}, end); !maps.Equal(got, want) {
		t.Error("what closed months come to is not told from memory")
	}
	if s.ForgetOpenDays(); maps.Equal(k.moved(time.Time{}, end), want) {
		t.Fatal("the sums were not changed")
	}
	for n := range 3 { // by a clock that says what it said when they were closed
		must(t, reader.s.CloseDayAgain(t.Context(), k.account, days[n], end.AddDate(0, 0, -3)))
	}
	same("once another process closed days again")
	for range 2 { // imports that open days, which are closed again: the second time by a clock that says the same
		m := beginImport(t, s, k.account.ID, noon.AddDate(0, 0, 2))
		stageGifts(t, s, m, 1)
		must(t, s.FinishImport(t.Context(), m, event.TrailEntry{}))
		k.closeAll(s, end)
		before := want
		if want = reader.moved(time.Time{}, end); maps.Equal(want, before) {
			t.Fatal("nothing was imported")
		}
		same("once an import opened days and they were closed again")
	}
	for _, most := range []int{40, 200, 2_000} { // a month or some of them have no room
		s.MostTotals = most
		s.ForgetOpenDays()
		same(fmt.Sprintf("with room for %d sums", most))
		same(fmt.Sprintf("with room for %d sums, again", most))
	}
}

// TestATransactionThatStandsStillKeepsNothing: on PostgreSQL, what was dated before a process stood still within a
// transaction is not committed; what it then does is decided anew. Closing days relies on that.
func TestATransactionThatStandsStillKeepsNothing(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	database := pgtest.Fresh(t)
	with := "?"
	if strings.Contains(database, "?") {
		with = "&"
	}
	s, err := Open(t.Context(), Options{Dir: t.TempDir(),
		Database: database + with + "idle_in_transaction_session_timeout=100"})
	must(t, err)
	defer s.Close()
	other, err := sql.Open("pgx", database)
	must(t, err)
	defer other.Close()
	g := issue(t, s, newID(), 1)[0]
	of := ledger.Ref{AccountID: g.AccountID, ID: g.ID}
	runs := 0
	err = s.Group(t.Context(), ledger.Want{Vouchers: []ledger.Ref{of}}, func(st *ledger.State) (c ledger.Changes) {
		runs++
		for open := 1; runs == 1 && open > 0; { // stands still until the server has had enough
			must(t, other.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity
				WHERE datname = current_database() AND state LIKE 'idle in transaction%'`).Scan(&open))
		}
		v, e, err := st.Vouchers[of].Redeem(gift.Redeem{Context: gift.Context{EntryID: newID(),
			Now: noon.Add(time.Duration(runs) * time.Minute)}, Amount: 1, Account: &merchant.Account{ID: g.AccountID}})
		must(t, err)
		return ledger.Changes{Vouchers: []gift.Voucher{v}, Entries: []gift.Entry{e}}
	})
	history, read := s.History(t.Context(), g.AccountID, g.ID, 0, 10)
	must(t, read)
	for _, e := range history {
		if e.Kind == gift.Redemption && e.At.Equal(noon.Add(time.Minute)) {
			t.Errorf("what was dated before is kept: %v, after %d runs, with %v", e, runs, err)
		}
	}
}

// TestReportsOutliveALostConnection: on PostgreSQL, a connection that is lost while the sums of closed days are read
// fails no report.
func TestReportsOutliveALostConnection(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	s, err := Open(t.Context(), Options{Dir: t.TempDir(), Database: pgtest.Fresh(t)})
	must(t, err)
	defer s.Close()
	k := openBooks(t, s, "UTC")
	k.live(rand.New(rand.NewPCG(7, 7)), 30)
	k.closeAll(s, k.now)
	want := k.moved(time.Time{}, k.now)
	s.ForgetOpenDays() // or nothing is read
	lock, err := s.db.Writer.BeginTx(t.Context(), nil)
	must(t, err)
	_, err = lock.ExecContext(t.Context(), `LOCK TABLE book_sum IN ACCESS EXCLUSIVE MODE`)
	must(t, err)
	go func() { // once the report waits for the sums, its connection is lost
		for cut := 0; cut == 0; {
			err := s.db.Readers.QueryRowContext(t.Context(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
				WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%book_sum%'`).Scan(&cut)
			if err != nil {
				t.Error(err)
				break
			}
		}
		_ = lock.Rollback()
	}()
	if got := k.moved(time.Time{}, k.now); !maps.Equal(got, want) {
		t.Errorf("there moved %v, want %v", got, want)
	}
}

// listed counts how often closed days are read, and how many.
type listed struct {
	pgx.QueryTracer
	times, days atomic.Int64
}

type listing struct{} // marks the context of a query that reads closed days

func (l *listed) TraceQueryStart(ctx context.Context, c *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	if strings.HasPrefix(d.SQL, "SELECT d.day, ") {
		l.times.Add(1)
		ctx = context.WithValue(ctx, listing{}, true)
	}
	return l.QueryTracer.TraceQueryStart(ctx, c, d)
}

func (l *listed) TraceQueryEnd(ctx context.Context, c *pgx.Conn, d pgx.TraceQueryEndData) {
	if ctx.Value(listing{}) != nil {
		l.days.Add(d.CommandTag.RowsAffected())
	}
	l.QueryTracer.TraceQueryEnd(ctx, c, d)
}

// TestClosingReadsADayOnce: days are closed without reading all days before each one again, also while others close
// some of them, and once an import has opened days again.
func TestClosingReadsADayOnce(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // the embedded database traces nothing
	traced := &listed{QueryTracer: &statements{seen: map[string]bool{}}}
	s, again := openServerForTest(t, traced)
	k := openBooks(t, s, "UTC")
	configure(t, s, merchant.Changes{Accounts: []*merchant.Account{k.account}})
	k.live(rand.New(rand.NewPCG(8, 1)), 50)
	closeTo := func(until time.Time) {
		before := traced.days.Load()
		n := k.closeAll(s, until)
		// each once as the newest one and once with what is known; and what others closed, or was opened again
		if read := traced.days.Load() - before; n < 40 || read > int64(3*n) {
			t.Errorf("to close %d days, %d were read", n, read)
		}
	}
	closeTo(noon.AddDate(0, 0, 50))
	other := *k
	other.s = again()
	other.closeAll(other.s, noon.AddDate(0, 0, 53))
	closeTo(noon.AddDate(0, 0, 100))
	m := beginImport(t, s, k.account.ID, noon.AddDate(0, 0, 10))
	stageGifts(t, s, m, 1)
	must(t, s.FinishImport(t.Context(), m, event.TrailEntry{}))
	closeTo(noon.AddDate(0, 0, 100))
	verifyClean(t, s)
}

// TestCheckListsDaysOnce: closed days are checked without listing all of them for each one. An account with an import
// of long ago has ten thousands of them.
func TestCheckListsDaysOnce(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // the embedded database traces nothing
	traced := &listed{QueryTracer: &statements{seen: map[string]bool{}}}
	s, _ := openServerForTest(t, traced)
	k := openBooks(t, s, "UTC")
	k.live(rand.New(rand.NewPCG(8, 1)), 50)
	k.closeAll(s, k.now)
	before := traced.times.Load()
	must(t, s.CheckDays(t.Context(), k.account, math.MaxInt, func(p string) { t.Error(p) }))
	if n := traced.times.Load() - before; n != 1 {
		t.Errorf("the days were listed %d times", n)
	}
	if days, err := s.ClosedDays(t.Context(), k.account.ID); err != nil || len(days) < 4 {
		t.Errorf("%v are closed: %v", days, err)
	}
}
