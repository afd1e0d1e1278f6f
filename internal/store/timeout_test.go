package store

import (
	"math"
	"testing"
	"time"

	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/store/db"
	"boon.example/internal/store/pgtest"
)

// TestShortTimeouts: a service gives up on a row that others keep locked; a command done for it.
func TestShortTimeouts(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // the embedded database has no rows that others lock
	o := Options{Dir: t.TempDir(), Database: pgtest.Fresh(t)}
	background, err := Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { must(t, background.Close()) })
	o.ShortTimeouts = true
	serving, err := Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { must(t, serving.Close()) })

	holder, err := background.db.Writer.BeginTx(t.Context(), nil)
	must(t, err)
	_, err = holder.ExecContext(t.Context(), `SELECT version FROM setup_version WHERE one = 1 FOR NO KEY UPDATE`)
	must(t, err)
	configure := func(s *Store) error {
		return s.Configure(t.Context(), func(*merchant.Directory, merchant.Uses) (merchant.Changes, error) {
			return merchant.Changes{Accounts: []*merchant.Account{{ID: newID(), Name: "late", Currency: dollars,
				Zone: time.UTC}}}, nil
		})
	}
	if err := configure(serving); err == nil || !serving.Away(err) {
		t.Errorf("with short timeouts: %v, want what tells a guest to come later", err)
	}
	done := make(chan error, 1)
	go func() { done <- configure(background) }()
	select {
	case err := <-done:
		t.Errorf("a command: %v before the lock was given back", err)
	case <-time.After(db.CallTimeout + time.Second):
	}
	must(t, holder.Rollback())
	must(t, <-done)
}

// TestALargeOrderBesideTills: an order that takes longer than a till waits is saved all the same, keeps no till of its
// account waiting, and goes beyond no limit with what was counted meanwhile.
func TestALargeOrderBesideTills(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // the embedded database has one writer, whom all wait for
	s, err := Open(t.Context(), Options{Dir: t.TempDir(), Database: pgtest.Fresh(t), ShortTimeouts: true})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	account := newID()
	v := issue(t, s, account, 1)[0].Voucher
	_, err = s.db.Writer.ExecContext(t.Context(), `
		CREATE FUNCTION slowly() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.3); RETURN NEW; END';
		CREATE TRIGGER slowly AFTER INSERT ON card FOR EACH ROW EXECUTE FUNCTION slowly()`)
	must(t, err)
	sent := merchant.CountKey{AccountID: account, Kind: merchant.SentCount, Owner: account}
	location := newID()
	count := func(n merchant.Count) error {
		n.Day = 1
		c := ledger.Changes{Counts: map[merchant.CountKey]merchant.Count{sent: n}}
		return s.Group(t.Context(), ledger.Want{Counts: []merchant.CountKey{sent}},
			func(*ledger.State) ledger.Changes { return c })
	}
	order := func(counted bool, began func()) (limited bool) {
		const gifts = 10 // so that they take longer than a commit otherwise may
		var c ledger.Changes
		for range gifts {
			g, e := newGift(account)
			e.Actor.LocationID = location
			c.Gifts, c.Entries = append(c.Gifts, g), append(c.Entries, e)
		}
		want := ledger.Want{Heavy: true}
		if counted {
			want.Counts = []merchant.CountKey{sent}
			c.Counts = map[merchant.CountKey]merchant.Count{sent: {Day: 1, Gifts: gifts}}
			c.Most = map[merchant.CountKey]merchant.Count{sent: {Amount: math.MaxInt64, Gifts: 20}}
		}
		if err := s.Group(t.Context(), want, func(loaded *ledger.State) ledger.Changes {
			if limited = loaded.Counts[sent].Gifts+gifts > 20; limited {
				return ledger.Changes{}
			}
			began()
			return c
		}); err != nil {
			t.Error(err)
		}
		return limited
	}

	done, sales := make(chan bool), 0
	go func() {
		order(true, func() {})
		close(done)
	}()
	for saving := false; !saving; {
		must(t, s.db.Readers.QueryRowContext(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event = 'PgSleep')`).Scan(&saving))
	}
	for saved := false; !saved; sales++ {
		_, err := redeemBy(t.Context(), s, merchant.Actor{LocationID: location}, &v, 1)
		must(t, err)
		must(t, count(merchant.Count{Amount: 1}))
		select {
		case <-done:
			saved = true
		case <-time.After(50 * time.Millisecond):
		}
	}
	n := merchant.Count{}
	runGroup(t, s, ledger.Want{Counts: []merchant.CountKey{sent}}, func(loaded *ledger.State) ledger.Changes {
		n = loaded.Counts[sent]
		return ledger.Changes{}
	})
	diff(t, n, merchant.Count{Day: 1, Amount: money.Amount(sales), Gifts: 10})
	if sales < 5 {
		t.Errorf("%d sales beside the order", sales)
	}
	if limited := order(true, func() { must(t, count(merchant.Count{Gifts: 1})) }); !limited {
		t.Error("an order goes beyond a limit that was reached meanwhile")
	}
	order(false, func() {}) // which is sent with its COMMIT
	saved, err := s.CountVouchers(t.Context())
	must(t, err)
	if saved != 21 {
		t.Errorf("%d gifts are saved, want 21", saved)
	}
}
