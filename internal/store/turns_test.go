package store

import (
	"database/sql"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/post/delivery"
	"boon.example/internal/store/db"
)

// TestMessagesTakeTurns: while thousands of messages of one account have been due for long, the newer ones of other
// accounts are among the next that are sent, those of live accounts and of test accounts alike.
func TestMessagesTakeTurns(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			for _, test := range []bool{false, true} {
				var jobs delivery.Jobs = s
				if test {
					jobs = TestJobs{Store: s}
				}
				flood := newID()
				want := waitingMessages(t, s, flood, 2_000, test, 0)
				for n := range 20 {
					want = append(want, waitingMessages(t, s, newID(), 2, test, time.Duration(n+1)*time.Second)...)
				}
				const senders = 16
				turn := map[guid.ID]int{} // of each account, the first claim that had one of its messages
				got := 0
				for claim := 1; got < 2_040; claim++ {
					claimed, err := jobs.ClaimJobs(t.Context(), noon.Add(time.Hour), time.Minute, senders)
					if err != nil || len(claimed) == 0 || len(claimed) > senders {
						t.Fatalf("claim %d has %d messages, %v", claim, len(claimed), err)
					}
					for _, j := range claimed {
						if turn[j.AccountID] == 0 {
							turn[j.AccountID] = claim
						}
					}
					got += len(claimed)
					if claim == 3 && len(turn) != 21 {
						t.Fatalf("after %d claims, %d of 21 accounts had a turn (test accounts: %v)", claim, len(turn), test)
					}
				}
				if len(want) != got {
					t.Errorf("%d messages were claimed, of %d", got, len(want))
				}
			}
		})
	}
}

// waitingMessages makes messages of an account that have been due since some time after noon.
func waitingMessages(t *testing.T, s *Store, account guid.ID, n int, test bool, after time.Duration) []ledger.Job {
	t.Helper()
	g := issue(t, s, account, 1)[0]
	if test {
		configure(t, s, merchant.Changes{Accounts: []*merchant.Account{{ID: account, Name: account.String(),
			Currency: dollars,
			Zone:     time.UTC, MaxGiftValue: 1, Test: true}}})
	}
	var all []ledger.Job
	for range n {
		all = append(all, ledger.Job{AccountID: account, ID: newID(), VoucherID: g.ID, Due: noon.Add(after), Test: test})
	}
	for some := range slices.Chunk(all, 500) {
		save(t, s, ledger.Changes{Jobs: some})
	}
	return all
}

// TestTurnsOfMessagesUseAnIndex: whose turn it is, and what an account's messages are, is found along an index.
func TestTurnsOfMessagesUseAnIndex(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			for _, text := range []db.Text{selectWithJobs, claimOf} {
				plan := explain(t, s, s.db.Text(text))
				if !strings.Contains(plan, "job_turn") || strings.Contains(plan, "SCAN j") ||
					strings.Contains(plan, "Seq Scan on job") {
					t.Errorf("%s\n%s", s.db.Text(text), plan)
				}
			}
		})
	}
}

// explain is how the database would run a text, whatever its arguments are.
func explain(t *testing.T, s *Store, text string) string {
	t.Helper()
	if s.db.File == "" {
		return strings.Join(planOf(t, s.db.Writer, text), "\n")
	}
	var all []string
	must(t, db.Each(t.Context(), s.db.Readers, `EXPLAIN QUERY PLAN `+text, arguments(text), func(rows *sql.Rows) error {
		var line string
		err := rows.Scan(new(int), new(int), new(int), &line)
		all = append(all, line)
		return err
	}))
	return strings.Join(all, "\n")
}
