package store

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
)

func testForget(t *testing.T, open opener) {
	s, _ := open(t)
	account, other := newID(), newID()
	keep := noon.Add(-30 * 24 * time.Hour)
	put := func(r ledger.Request) { save(t, s, ledger.Changes{Requests: []ledger.Request{r}}) }
	for n := range 5 {
		for _, operation := range []operation.Name{operation.SendGift, operation.ReinstateGift, operation.RedeemGift,
			operation.ReverseRedemption, operation.CancelGift,
			operation.ResendGift, operation.RescheduleGift, operation.BlockGift, operation.UnblockGift, operation.ExtendGift,
			operation.AdjustGift} {
			key := ledger.RequestKey{AccountID: account, Operation: operation, Key: fmt.Sprint(n)}
			put(ledger.Request{RequestKey: key, At: keep.Add(time.Duration(n-2) * time.Second)}) // two of each are old enough
		}
	}
	put(ledger.Request{RequestKey: ledger.RequestKey{AccountID: other, Operation: operation.SendGift, Key: "0"},
		At: keep.Add(-time.Hour)})
	put(ledger.Request{RequestKey: ledger.RequestKey{AccountID: account, Operation: operation.RedeemGift, Key: "spent"},
		Spent: true, At: keep.Add(-time.Hour)})

	for _, want := range []int64{4, 4, 4, 4, 0} {
		if n, err := s.ForgetRequests(t.Context(), account, keep, 4); err != nil || n != want {
			t.Errorf("%d records were forgotten, %v; want %d", n, err, want)
		}
	}
	got := map[string]int{}
	for n := range 5 {
		found, err := s.Requests(t.Context(), account, "", fmt.Sprint(n))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range found {
			got[string(r.Operation)]++
		}
	}
	diff(t, got, map[string]int{"send-gift": 3, "reinstate-gift": 3, "cancel-gift": 3, "resend-gift": 3,
		"reschedule-gift": 3, "block-gift": 3, "unblock-gift": 3, "extend-gift": 3, "redeem-gift": 5, "reverse-redemption": 5,
		"adjust-gift": 5})
	for _, key := range []ledger.RequestKey{{AccountID: other, Key: "0"}, {AccountID: account, Key: "spent"}} {
		if found, err := s.Requests(t.Context(), key.AccountID, "", key.Key); err != nil || len(found) != 1 {
			t.Errorf("%s: %d records, %v; want it kept", key.Key, len(found), err)
		}
	}
}

// TestForgetUsesItsIndex: records of redemptions are kept for ever, and looking through all of them would take ever
// longer.
func TestForgetUsesItsIndex(t *testing.T) {
	t.Parallel()
	s, _ := openSQLiteForTest(t)
	for _, text := range []string{selectOldest, selectForgettable, deleteRequests} {
		var plans []string
		must(t, db.Each(t.Context(), s.db.Readers, `EXPLAIN QUERY PLAN `+text, arguments(text), func(rows *sql.Rows) error {
			var plan string
			err := rows.Scan(new(int), new(int), new(int), &plan)
			plans = append(plans, plan)
			return err
		}))
		if !strings.Contains(strings.Join(plans, "\n"), "request_forgettable") {
			t.Errorf("the plan is %q for %s", plans, text)
		}
	}
}
