package server_test

import (
	"slices"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/event"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/server"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

// TestDatabaseThatWentBack: an older copy of the data folder of PostgreSQL is put back under two instances. Each goes
// on with new hash chains, so that boon verify finds nothing, and tells of it in log, metric, events and audit trail.
func TestDatabaseThatWentBack(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // it says whether this machine has PostgreSQL
	database, err := pgtest.Start("fsync=off")
	noError(t, err)
	t.Cleanup(func() { noError(t, database.Close()) })
	s := &service{T: t, data: t.TempDir(), database: database.URL, logs: &boontest.Log{}}
	s.apply(examples.HarborCoffee())
	s.run(server.Config{})
	instances := []*service{s, s.beside(server.Config{})}

	g := s.sell(`{"value":500,"deliveryMethodID":3}`)
	work := func(calls int) {
		t.Helper()
		for n := range 2 * calls {
			instances[n%2].must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+g.VoucherID+`","amount":0.01}`, nil)
		}
	}
	balance := func() string {
		t.Helper()
		var now soldGift
		s.must("GET", giftPath+g.VoucherID, examples.HarborWebShopKey, "", &now)
		return now.CurrentBalance.String()
	}
	work(3)
	noError(t, database.Stop())
	noError(t, database.Copy())
	noError(t, database.Run())
	work(4)
	if is := balance(); is != "499.86" {
		t.Fatalf("the balance is %s, want 499.86", is)
	}
	noError(t, database.Stop())
	noError(t, database.PutBack())
	noError(t, database.Run())
	work(5)
	if is := balance(); is != "499.84" { // 6 redemptions that came back, and 10
		t.Errorf("the balance is %s, want 499.84", is)
	}

	s.withStore(func(beside *store.Store) error {
		report, err := verify.All(t.Context(), beside, 2, func(int64, int64) {})
		for _, p := range report.Problems {
			t.Error(p)
		}
		return err
	})
	for _, at := range instances {
		at.eventually(func() bool {
			_, metrics, err := at.call("GET", "/metrics", "", "")
			return err == nil && metric(metrics, "boon_store_went_back_total") >= 1
		})
	}
	if n := strings.Count(s.logs.String(), "THE DATABASE WENT BACK"); n < len(instances) {
		t.Errorf("the logs of %d instances say it %d times", len(instances), n)
	}
	type entry struct{ Action, What string }
	var events struct{ Events []struct{ Type string } }
	s.eventually(func() bool {
		var trail struct{ Entries []entry }
		s.must("GET", "/api/integration/events?type="+string(event.WentBack), examples.HarborOfficeKey, "", &events)
		s.must("GET", "/api/integration/audit", examples.HarborOfficeKey, "", &trail)
		return len(events.Events) == 1 && slices.ContainsFunc(trail.Entries, func(e entry) bool {
			return e.Action == string(event.WentBack) && strings.Contains(e.What, "went back to an earlier state")
		})
	})
}

// noError fails the test on an error.
func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
