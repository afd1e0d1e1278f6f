package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/store/pgtest"
	"boon.example/internal/store/storetest/template"
)

// opener opens a fresh, empty store of the database under test; again opens another handle on the same data.
type opener func(t testing.TB) (s *Store, again func() *Store)

// emptyStore is what package storetest copies, which imports this one.
var emptyStore = template.New(func(ctx context.Context, dir string) error {
	s, err := Open(ctx, Options{Dir: dir})
	if err == nil {
		err = s.Close()
	}
	return err
})

func openSQLiteForTest(t testing.TB) (*Store, func() *Store) {
	dir := t.TempDir()
	emptyStore.Copy(t, dir)
	open := func() *Store {
		s, err := Open(t.Context(), Options{Dir: dir, GiftCache: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	return open(), open
}

// openPostgresForTest opens a database of the test's own.
func openPostgresForTest(t testing.TB) (*Store, func() *Store) { return openServerForTest(t, nil) }

func openServerForTest(t testing.TB, tracer pgx.QueryTracer) (*Store, func() *Store) {
	dir, database := t.TempDir(), pgtest.Fresh(t)
	open := func() *Store {
		s, err := Open(t.Context(), Options{Dir: dir, Database: database, Tracer: tracer})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	return open(), open
}

// databases are those that can be tested here: the embedded one unless make check has only the other one tested, and
// PostgreSQL where there is a server.
func databases() map[string]opener {
	all := map[string]opener{}
	if pgtest.Embedded() {
		all["sqlite"] = openSQLiteForTest
	}
	if pgtest.Available() {
		all["postgres"] = openPostgresForTest
	}
	return all
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newID() guid.ID { return guid.ID(uuid.Must(uuid.NewV7())) }

func newCode() codes.VoucherCode {
	c, err := codes.NewVoucherCode(rand.Reader)
	if err != nil {
		panic(err)
	}
	return c
}

func newToken() codes.Token {
	t, err := codes.NewToken(rand.Reader)
	if err != nil {
		panic(err)
	}
	return t
}

var dollars = money.Currency{Code: "USD", Decimals: 2}

// newGift is a printed gift of 100.00 that has just been made, with the first entry of its history.
func newGift(account guid.ID) (gift.Gift, gift.Entry) {
	g := gift.Gift{
		Voucher: gift.Voucher{ID: newID(), AccountID: account, OrderID: newID(), ProgramID: merchant.BusinessProgram.ID,
			Currency: dollars, Funded: 10_000, Balance: 10_000, CreatedAt: noon},
		Card: gift.Card{Code: newCode(), Token: newToken(), Sender: "Ann", Recipient: "Bob", Method: contact.Printed,
			Message:      "Happy birthday",
			DeliveryZone: "UTC",
			Purchase:     gift.Purchase{Reference: "R-1", FirstName: "Ann", LastName: "Lee", EmailAddress: "ann@example.com"}},
	}
	return g.Begin(gift.Context{EntryID: newID(), Now: noon, RequestID: "request-1"})
}

func runGroup(t testing.TB, s *Store, want ledger.Want, decide func(*ledger.State) ledger.Changes) {
	t.Helper()
	if err := s.Group(t.Context(), want, decide); err != nil {
		t.Fatal(err)
	}
}

func save(t testing.TB, s *Store, c ledger.Changes) {
	t.Helper()
	runGroup(t, s, ledger.Want{}, func(*ledger.State) ledger.Changes { return c })
}

// issue saves n new gifts of an account.
func issue(t testing.TB, s *Store, account guid.ID, n int) []gift.Gift {
	t.Helper()
	gifts, err := tryIssue(t.Context(), s, account, n)
	if err != nil {
		t.Fatal(err)
	}
	return gifts
}

func tryIssue(ctx context.Context, s *Store, account guid.ID, n int) ([]gift.Gift, error) {
	var c ledger.Changes
	for range n {
		g, e := newGift(account)
		c.Gifts, c.Entries = append(c.Gifts, g), append(c.Entries, e)
	}
	return c.Gifts, s.Group(ctx, ledger.Want{}, func(*ledger.State) ledger.Changes { return c })
}

func ref(v *gift.Voucher) ledger.Ref { return ledger.Ref{AccountID: v.AccountID, ID: v.ID} }

// redeem takes amount from a voucher and gives the redemption.
func redeem(t testing.TB, s *Store, v *gift.Voucher, amount money.Amount) gift.Entry {
	t.Helper()
	e, err := tryRedeem(t.Context(), s, v, amount)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func tryRedeem(ctx context.Context, s *Store, v *gift.Voucher, amount money.Amount) (gift.Entry, error) {
	return redeemBy(ctx, s, merchant.Actor{}, v, amount)
}

func redeemBy(ctx context.Context, s *Store, by merchant.Actor, v *gift.Voucher, amount money.Amount) (e gift.Entry,
	refused error) {
	err := s.Group(ctx, ledger.Want{Vouchers: []ledger.Ref{ref(v)}}, func(st *ledger.State) (c ledger.Changes) {
		var after gift.Voucher
		after, e, refused = st.Vouchers[ref(v)].Redeem(gift.Redeem{Context: gift.Context{EntryID: newID(), Now: noon,
			Actor: by}, LocationID: by.LocationID, Amount: amount})
		if refused == nil {
			c = ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
		}
		return c
	})
	return e, cmp.Or(err, refused)
}

// BenchmarkGroup measures groups of 256 redemptions of different vouchers, each under an Idempotency-Key of its own.
func BenchmarkGroup(b *testing.B) {
	for name, open := range databases() {
		for _, vouchers := range []int{256, 50_000} {
			b.Run(fmt.Sprintf("%s/vouchers=%d", name, vouchers), func(b *testing.B) { benchmarkGroup(b, open, vouchers) })
		}
	}
}

func benchmarkGroup(b *testing.B, open opener, vouchers int) {
	const size = 256
	s, _ := open(b)
	account, till, place := newID(), newID(), newID()
	var all []gift.Gift
	for len(all) < vouchers {
		all = append(all, issue(b, s, account, 256)...)
	}
	answer := ledger.Answer{Code: ledger.OK, Body: make([]byte, 330)}
	next := 0
	b.ResetTimer()
	for range b.N {
		var w ledger.Want
		for range size {
			w.Vouchers = append(w.Vouchers, ref(&all[next].Voucher))
			w.Requests = append(w.Requests, ledger.RequestKey{AccountID: account, Operation: operation.RedeemGift,
				Key: uuid.NewString()})
			next = (next + 7919) % len(all)
		}
		runGroup(b, s, w, func(st *ledger.State) (c ledger.Changes) {
			for i, r := range w.Vouchers {
				after, e, err := st.Vouchers[r].Redeem(gift.Redeem{
					Context: gift.Context{EntryID: newID(), Now: noon, RequestID: w.Requests[i].Key, Actor: merchant.Actor{KeyID: till,
						LocationID: place}}, Amount: 1})
				if err != nil {
					b.Fatal(err)
				}
				c.Vouchers, c.Entries = append(c.Vouchers, after), append(c.Entries, e)
				c.Requests = append(c.Requests, ledger.Request{RequestKey: w.Requests[i], Answer: answer, EntryID: e.ID, At: noon})
			}
			return c
		})
	}
	b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "redemptions/s")
}

// BenchmarkGiftByCode measures the look-up of validate-gift.
func BenchmarkGiftByCode(b *testing.B) {
	s, _ := openSQLiteForTest(b)
	gifts := issue(b, s, newID(), 5_000)
	for n := 0; b.Loop(); n++ {
		if _, err := s.GiftByCode(b.Context(), gifts[n%len(gifts)].Card.Code); err != nil {
			b.Fatal(err)
		}
	}
}
