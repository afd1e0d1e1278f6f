package main

import (
	"crypto/rand"
	"maps"
	mrand "math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/books"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
	"boon.example/test/rig"
)

// TestKilledWhileDaysAreClosed: a process that finds an open history is killed again and again while it closes the days
// of it, and PostgreSQL is killed in between. In the end all days are closed, and the books are what the entries say.
func TestKilledWhileDaysAreClosed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"embedded", "PostgreSQL"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var database *pgtest.Server
			url := ""
			if name == "PostgreSQL" {
				pgtest.Need(t)
				var err error
				database, err = pgtest.Start()
				check(t, err)
				t.Cleanup(func() { check(t, database.Close()) })
				url = database.URL
			}
			data := filepath.Join(t.TempDir(), "data")
			boon, err := rig.Install(shipped, data, url)
			check(t, err)
			s, err := store.Open(t.Context(), store.Options{Dir: data, Database: url})
			check(t, err)
			t.Cleanup(func() { s.Close() })
			killWhileClosing(t, &shopBooks{t: t, store: s}, boon, database)
		})
	}
}

// shopBooks are the books of an account of the rig.
type shopBooks struct {
	t       *testing.T
	store   *store.Store
	account *merchant.Account
	gifts   []guid.ID
}

const closedDays = 90 // of the history

func killWhileClosing(t *testing.T, b *shopBooks, boon *rig.Installation, database *pgtest.Server) {
	t.Helper()
	d, err := b.store.Directory(t.Context())
	check(t, err)
	id, err := guid.Parse(rig.Accounts()[0].ID)
	check(t, err)
	b.account = d.Accounts[id]
	now := time.Now()
	for age := closedDays + 3; age > 3; age-- {
		b.day(now.AddDate(0, 0, -age))
	}
	want := b.moved(now)
	lot := mrand.New(mrand.NewPCG(39, 3))
	kills, databaseKills, closed := 0, 0, 0
	for begun := time.Now(); closed < closedDays; {
		if time.Since(begun) > 5*time.Minute {
			t.Fatalf("after five minutes and %d kills %d days are closed", kills, closed)
		}
		server := serve(t, boon)
		most := closed + 1 + lot.IntN(closedDays/8)
		for closed < min(most, closedDays) && time.Since(begun) < 5*time.Minute {
			time.Sleep(time.Millisecond)
			if days, err := b.store.ClosedDays(t.Context(), b.account.ID); err == nil {
				closed = len(days)
			}
		}
		if database != nil && kills%3 == 1 {
			check(t, database.Kill())
			check(t, database.Run())
			databaseKills++
		}
		server.Kill()
		kills++
	}
	check(t, boon.Verify())
	if got := b.moved(now); !maps.Equal(got, want) {
		t.Errorf("after %d kills the books say %v, the entries %v", kills, got, want)
	}
	if kills < 4 || database != nil && databaseKills == 0 {
		t.Errorf("there were only %d kills, and %d of PostgreSQL", kills, databaseKills)
	}
	t.Logf("%d kills, and %d of PostgreSQL, while %d days were closed", kills, databaseKills, closed)
}

// day lets two gifts be sold on a day, and some be redeemed.
func (b *shopBooks) day(at time.Time) {
	b.t.Helper()
	at = at.UTC().Truncate(24 * time.Hour).Add(9 * time.Hour)
	actor := merchant.Actor{LocationID: b.account.Locations[0].ID}
	context := func() gift.Context {
		at = at.Add(time.Minute)
		id, tail := gift.IDsFrom(at.Add(time.Millisecond)), uuid.New() // the ids of that instant
		copy(id[8:], tail[8:])
		return gift.Context{EntryID: id, Now: at, Actor: actor, RequestID: "r"}
	}
	for range 2 {
		code, err := codes.NewVoucherCode(rand.Reader)
		check(b.t, err)
		token, err := codes.NewToken(rand.Reader)
		check(b.t, err)
		c := context()
		g := gift.Gift{Voucher: gift.Voucher{ID: guid.ID(uuid.New()), AccountID: b.account.ID, OrderID: guid.ID(uuid.New()),
			ProgramID: merchant.BusinessProgram.ID, Currency: b.account.Currency, Funded: 5_000, Balance: 5_000,
			CreatedAt: at}, Card: gift.Card{Code: code, Token: token, Method: contact.Printed}}
		g, e := g.Begin(c)
		b.keep(ledger.Want{}, func(*ledger.State) ledger.Changes {
			return ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}}
		})
		b.gifts = append(b.gifts, g.ID)
	}
	for n := 0; n < len(b.gifts); n += 7 {
		of := ledger.Ref{AccountID: b.account.ID, ID: b.gifts[n]}
		c := context()
		b.keep(ledger.Want{Vouchers: []ledger.Ref{of}}, func(st *ledger.State) (done ledger.Changes) {
			v, e, err := st.Vouchers[of].Redeem(gift.Redeem{Context: c, Amount: 11, Account: b.account})
			if err == nil {
				done = ledger.Changes{Vouchers: []gift.Voucher{v}, Entries: []gift.Entry{e}}
			}
			return done
		})
	}
}

func (b *shopBooks) keep(want ledger.Want, decide func(*ledger.State) ledger.Changes) {
	b.t.Helper()
	check(b.t, b.store.Group(b.t.Context(), want, decide))
}

// moved is what moved up to an instant.
func (b *shopBooks) moved(until time.Time) books.Sums {
	b.t.Helper()
	all := books.Sums{}
	asked := &books.Asked{Account: b.account, Until: until, Cubes: books.Cubes()}
	check(b.t, b.store.EachMoved(b.t.Context(), asked, func(_ int, k books.Key, s books.Sum) error {
		all.Add(k, s)
		return nil
	}))
	return all
}
