package api_test

import (
	"database/sql"
	"net/http"
	"path"
	"path/filepath"
	"testing"

	"boon.example/internal/face/api/contract"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/merchant"
	"boon.example/internal/racetest"
	"boon.example/internal/store"
	"boon.example/internal/store/tables"
)

// boundedElsewhere are the operations that leave rows for ever, move no value, and are no call that is kept under
// merchant.MaxKeptPerDay: what bounds them.
var boundedElsewhere = map[string]string{
	"sendGift":      "giftsPerDay: TestDailyLimits",
	"createStock":   "giftsPerDay: TestDailyLimits",
	"resendGift":    "ten a day of a gift, and messagesPerDay: TestResendIsLimited, TestResendsCount",
	"cancelGift":    "a gift is cancelled once, until reinstate-gift, which has a limit",
	"pairTill":      "tills of a day: TestNewTillsOfADay",
	"revokeTill":    "a till is switched off once",
	"setPIN":        "changes of the set-up: TestNewTillsOfADay",
	"createWebhook": "changes of the set-up: TestTheLimitOnChangesOfWebhooks",
	"changeWebhook": "changes of the set-up: TestTheLimitOnChangesOfWebhooks",
	"deleteWebhook": "changes of the set-up: TestTheLimitOnChangesOfWebhooks",
	"rotateWebhook": "changes of the set-up: TestTheLimitOnChangesOfWebhooks",
	"replayWebhook": "changes of the set-up, and merchant.AttemptsKept",
	"bookBreakage":  "one booking of a month: TestBreakageIsBooked",
}

// TestWhatIsKeptHasALimit: once a key has had as many calls kept as it may, no operation of it leaves a row for ever,
// unless it moves value or another limit bounds it.
func TestWhatIsKeptHasALimit(t *testing.T) {
	racetest.SkipShort(t, "calls one after the other")
	t.Parallel()
	s := newStage(t)
	operations, err := contract.Routes(theFile)
	if err != nil {
		t.Fatal(err)
	}
	each := func(call func(op contract.Route, r row, by string)) {
		for _, op := range operations {
			_, elsewhere := boundedElsewhere[op.OperationID]
			for _, r := range rowsOf(op) {
				if elsewhere || r.open {
					continue
				}
				if r.by == "webhook" { // of these, the others only look
					r.by = ""
				}
				for _, by := range ways(r.by) {
					call(op, r, by)
				}
			}
		}
	}
	answered := map[string]int{}
	each(func(op contract.Route, r row, by string) { // what is told once an hour is told now
		answered[op.OperationID+by] = s.ask(op, by, s.make("anywhere", s.stateFor(op, r)), harborKey, pier).status
	})
	s.kept(harborKey, merchant.MaxKeptPerDay)
	limited := 0
	each(func(op contract.Route, r row, by string) {
		k := s.make("anywhere", s.stateFor(op, r))
		before := s.sizes(t)
		a := s.ask(op, by, k, harborKey, pier)
		if was := answered[op.OperationID+by]; a.status == http.StatusTooManyRequests && was == http.StatusOK {
			limited++
		} else if a.status != was {
			t.Errorf("%s by %s is answered %d %s after %d", op.OperationID, by, a.status, a.body, was)
		}
		makes := operation.Name(path.Base(op.Path)).Makes()
		if op.Method == http.MethodPost && (makes.Balance() != gift.Stays || makes.Held() != gift.Stays) {
			return
		}
		for table, n := range s.sizes(t) {
			if n > before[table] {
				t.Errorf("%s by %s leaves rows in %s, without a limit", op.OperationID, by, table)
			}
		}
	})
	if len(answered) < 60 || limited < 8 {
		t.Errorf("of %d ways to call, %d have a limit", len(answered), limited)
	}
}

// stateFor is a state of a gift in which an operation does something.
func (s *stage) stateFor(op contract.Route, r row) string {
	switch op.OperationID {
	case "exportStock", "activateGift":
		return "not activated"
	case "reinstateGift":
		return "cancelled"
	case "extendGift":
		return "not yet valid"
	case "rescheduleGift":
		return "pending"
	}
	return r.usual()
}

// sizes is how many rows each table has, but for those of counts.
func (w *world) sizes(t *testing.T) map[string]int {
	t.Helper()
	driver, source := "sqlite", filepath.Join(w.dir, store.DatabaseName)
	if w.database != "" {
		driver, source = "pgx", w.database
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all := map[string]int{}
	for _, table := range tables.All {
		var n int
		if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM `+table.Name).Scan(&n); err != nil {
			t.Fatalf("%s: %v", table.Name, err)
		}
		all[table.Name] = n
	}
	delete(all, "day_count") // has a row for each key and day
	return all
}
