package store

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"boon.example/internal/books"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/store/pgtest"
)

// statements is a tracer that collects every statement it sees, and counts round trips.
type statements struct {
	mu    sync.Mutex
	seen  map[string]bool
	trips int
	sent  int // statements
}

func (s *statements) note(queries ...*pgx.QueuedQuery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trips++
	s.sent += len(queries)
	for _, q := range queries {
		s.seen[strings.Join(strings.Fields(q.SQL), " ")] = true
	}
}

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	s.note(&pgx.QueuedQuery{SQL: d.SQL})
	return ctx
}

func (*statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s *statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceBatchStartData) context.Context {
	s.note(d.Batch.QueuedQueries...)
	return ctx
}

func (*statements) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (*statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// withoutAccount are the only statements that may touch a table of many rows without naming the account: each with its
// reason.
var withoutAccount = map[string]string{
	`SELECT found.* FROM unnest($1::BYTEA[]) AS w (key) CROSS JOIN LATERAL ( SELECT s.hash, s.kind, s.replaced, g.* FROM secret AS s`: "whose secret is it?",
	`SELECT found.* FROM unnest($1::BYTEA[]) AS w (key) CROSS JOIN LATERAL ( SELECT s.hash FROM secret AS s WHERE s.hash`:             "is a new code taken anywhere?",
	`UPDATE job SET claimable_at = $1 WHERE (account_id, id) IN`:                                                                      "jobs are claimed for all accounts",
	`SELECT to_regclass('pg_dist_partition')`:                                                                                         "is the database spread over machines?",
	`UPDATE job SET claimable_at = due WHERE NOT test AND claimable_at`:                                                               "as above",
	`SELECT count(*) FROM (SELECT 1 FROM job`:                                                                                         "are more due than are claimed?",
	`WITH RECURSIVE l (n, account_id) AS`:                                                                                             "which accounts have messages?",
	`LOCK TABLE book_day`:                                                                                                             "days and imports of all accounts take turns",
	`SELECT count(*) FROM job`:                                                                                                        "how many messages wait?",
	`SELECT v.account_id, v.id FROM voucher AS v WHERE v.holds_end <= $1`:                                                             "holds expire in all accounts",
	`SELECT count(*), min(claimable_at) FROM job`:                                                                                     "how many are overdue?",
	`SELECT min(claimable_at) FROM job`:                                                                                               "when is the next job due?",
	`SELECT CAST(coalesce(sum(vouchers), 0) AS BIGINT) FROM tally`: "how many gifts are there? One row " +
		"for each account",
	`SELECT v.account_id, v.currency, v.decimals, v.promotional, CAST(sum(v.loaded)`: "an operator watches all accounts",
	`SELECT o.id, o.message FROM outbox`:                                             "the outbox is for development",
	`INSERT INTO sheet`: "a link to a sheet is found by its " +
		"token, and whose it is is sealed",
	`SELECT s.until, s.owner FROM sheet AS s WHERE s.hash = $1`:                  "as above",
	`SELECT owner FROM sheet WHERE hash`:                                         "the test's own",
	`UPDATE sheet SET owner`:                                                     "the test's own",
	`DELETE FROM sheet WHERE`:                                                    "as above",
	`SELECT v.account_id, v.id FROM voucher AS v WHERE v.order_id =`:             "whose order is it? An operator asks",
	`INSERT INTO outbox`:                                                         "the outbox is for development",
	`SELECT o.id FROM outbox AS o WHERE o.made_at < $1`:                          "as above",
	`DELETE FROM outbox WHERE id = $1`:                                           "as above",
	`SELECT full_at, taken_at FROM anonymous_bucket WHERE address_hash`:          "a client without a key has no account",
	`UPDATE anonymous_bucket SET full_at = $1, taken_at = $2 WHERE address_hash`: "a client without a key has no account",
	`DELETE FROM anonymous_bucket WHERE full_at`:                                 "a client without a key has no account",
	`INSERT INTO anonymous_bucket`:                                               "a client without a key has no account",
	`SELECT account_id, id, url, types, description, enabled, why_off, created_at, changed_at, start, secret, old_secret, old_until, replay FROM webhook`:                "the set-up is read and hashed whole",
	`SELECT account_id, id, url, types, description, why_off, created_at, changed_at, start, secret, old_secret, old_until, replay FROM webhook ORDER BY account_id, id`: "the set-up is hashed whole",
	`SELECT account_id, id FROM webhook WHERE NOT enabled`:                  "the set-up is hashed whole",
	`DELETE FROM webhook_lease WHERE owner`:                                 "a process gives back all that it has",
	`SELECT account_id FROM webhook_lease WHERE owner`:                      "a process delivers for many accounts",
	`DELETE FROM pass_lease WHERE owner`:                                    "as above",
	`SELECT account_id FROM pass_lease WHERE owner`:                         "as above",
	`SELECT coalesce(max(t.position), 0) FROM event`:                        "events of all accounts are noticed together",
	`SELECT t.position, t.account_id FROM event AS t WHERE t.position > $1`: "as above",
	`SELECT config FROM account`:                                            "the set-up is read whole",
	`INSERT INTO key_use`: "a row for each key, written every " +
		"few minutes",
	`SELECT key_id, used_at FROM key_use`: "the operator's list of keys",
	`SELECT id, kind, account_id, name, hint, hash, locations, created_at, expires_at, revoked_at, permissions, limits, accounts, programs FROM api_key`:                              "the set-up is hashed whole",
	`SELECT id, kind, account_id, name, hint, hash, locations, created_at, expires_at, revoked_at, permissions, limits, accounts, programs, till, networks, test, agent FROM api_key`: "the set-up is read whole",
	`SELECT id, till FROM api_key WHERE till <> 0`:           "the set-up is hashed whole",
	`SELECT id FROM api_key WHERE test`:                      "the set-up is hashed whole",
	`SELECT id, agent FROM api_key WHERE agent <> ''`:        "the set-up is hashed whole",
	`SELECT id, networks FROM api_key WHERE networks <> ''`:  "the set-up is hashed whole",
	`SELECT id, config, version FROM account ORDER BY id`:    "the set-up is hashed whole",
	`SELECT number, mac FROM setup_change`:                   "the log of the set-up is the installation's",
	`SELECT number, version, made_at, made_by, what, before`: "the log of the set-up is the installation's",
	`SELECT c.writer FROM chain`: "a hash chain is one writer's, of whatever account its " +
		"entries are",
	`SELECT c.n, c.mac FROM chain AS c WHERE c.writer = $1`: "as above",
	`INSERT INTO chain`:                                                   "as above",
	`SELECT CASE WHEN is_called`:                                          "up to where may anybody read?",
	`SELECT pg_current_xact_id`:                                           "as above",
	`SELECT pg_snapshot_xmin`:                                             "as above",
	`INSERT INTO setup_change`:                                            "the log of the set-up is the installation's",
	`INSERT INTO account (id, config, version)`:                           "its key is the account",
	`INSERT INTO api_key`:                                                 "a key of a system has no account",
	`SELECT document FROM staff_invitation`:                               "a token is shown before anybody knows whose it is",
	`DELETE FROM staff_invitation WHERE`:                                  "as above",
	`SELECT document, seen_at FROM staff_session WHERE hash`:              "as above",
	`DELETE FROM staff_session WHERE`:                                     "as above",
	`UPDATE staff_session SET seen_at`:                                    "as above",
	`SELECT n.id, n.due, n.document FROM staff_notice`:                    "mails to the staff of all accounts are sent together",
	`SELECT count(*) FROM staff_notice`:                                   "as above",
	`INSERT INTO staff_notice`:                                            "as above",
	`UPDATE staff_notice SET`:                                             "as above",
	`DELETE FROM staff_notice WHERE`:                                      "as above",
	`SELECT count(*) FROM (SELECT 1 FROM guest_link AS l WHERE l.due`:     "links of guests of all accounts are sent together",
	`SELECT l.account_id, l.hash, l.due, l.document FROM guest_link`:      "as above",
	`SELECT count(*) FROM guest_link AS l WHERE l.due`:                    "as above",
	`SELECT count(*) FROM (SELECT 1 FROM guest_link AS l WHERE l.made_at`: "what is old is forgotten together",
	`DELETE FROM guest_link WHERE made_at`:                                "as above",
	`SELECT count(*) FROM (SELECT 1 FROM guest_session`:                   "as above",
	`DELETE FROM guest_session WHERE until`:                               "as above",
	`SELECT l.account_id, l.id FROM send_list AS l WHERE l.due_at`:        "which lists are due, of whatever account?",
	`SELECT count(*) FROM send_list AS l WHERE l.until`:                   "lists of all accounts are forgotten together",
	`DELETE FROM send_list WHERE until`:                                   "as above",
	`SELECT found.* FROM unnest($1::BYTEA[]) AS w (key) CROSS JOIN LATERAL ( SELECT a.version FROM account`: "as above",
}

// small are the tables with a row or two, and what a server tells of its sessions.
var small = regexp.MustCompile(`\b(pg_stat_activity|schema_version|forgotten|key_check|setup_version|information_schema\.\w+|copy_progress)\b`)

// named tells that a statement names the account of every row that it touches.
var named = regexp.MustCompile(`\baccount_id = \$\d|unnest\(\$1::BYTEA\[\], .*\baccount_id = w\.account_id\b|^INSERT INTO \w+ \((\w+, )*account_id\b`)

// ofNoAccount are the tests of the suite whose statements need not name the account: they break rules by statements of
// their own, or read everything, of all accounts.
var ofNoAccount = []string{"constraints bite", "followers miss nothing", "verification codes are sealed",
	"verify walks and finds", "swapped secrets open nothing", "verify finds long answers", "verify finds lost events",
	"verify knows what is forgotten", "what was given back is kept", "what was loaded is kept",
	"what was cashed out is kept", "what was erased is gone", "an erasure hides nothing",
	"an erasure reads no messages of others", "a gift that goes on is not erased",
	"a number of 0.1.0 is found and erased", "messages are sealed", "PINs and addresses are sealed",
	"an erasure that was cut off is repeated", "what comes meanwhile is erased", "answers are changed by two at once",
	"ends of gifts are told of once", "an import is there at once, or not", "undoing an import goes on",
	"an import that is used is not undone", "an import opens closed days", "a day is not closed beside an import",
	"breakage is booked once", "codes of other systems find their gifts", "planted staff lets nobody in",
	"who may come in is logged", "verify finds gifts of other imports", "older states of imports are noticed",
	"the set-up is changed beside tills", "activation codes sell cards", "customers of gifts are kept"}

// namingAccounts runs the suite on PostgreSQL and reads every statement: where accounts are spread over machines, a
// statement that names its account asks one of them, one that does not asks all. And it is what keeps a statement
// within its account: a new one that names none fails here. The texts are those of every database, but only this
// driver tells all of them.
func namingAccounts(t *testing.T) {
	all, tests := &statements{seen: map[string]bool{}}, suiteTests()
	var ran atomic.Int32
	traced := func(t testing.TB) (*Store, func() *Store) { return openServerForTest(t, all) }
	for name, test := range tests {
		tests[name] = func(t *testing.T, open opener) {
			ran.Add(1)
			if !slices.Contains(ofNoAccount, name) {
				open = traced
			}
			test(t, open)
		}
	}
	t.Cleanup(func() { all.nameTheAccount(t, int(ran.Load()) == len(tests)) }) // when all of them are over
	runSuite(t, tests, openPostgresForTest)
}

// nameTheAccount looks at what was seen; whole: of the whole suite.
func (s *statements) nameTheAccount(t *testing.T, whole bool) {
	if os.Getenv("PGBOUNCER") != "" {
		return // the texts are the same as without
	}
	used := map[string]bool{}
	for text := range s.seen {
		if strings.HasPrefix(text, "SELECT * FROM ") && !strings.Contains(text, "$") || // the tests' own dump
			slices.Contains([]string{"BEGIN", "COMMIT", "ROLLBACK", "begin", "commit", "rollback", "-- ping", ";", ""},
				strings.ToLower(text)) ||
			// the steps of the schema
			strings.HasPrefix(text, "-- Serves programs from schema ") || strings.HasPrefix(text, "DO $$ ") ||
			strings.HasPrefix(text, "begin ") || strings.HasPrefix(text, "SET LOCAL ") ||
			strings.HasPrefix(text, "SELECT set_config(") || small.MatchString(text) || strings.HasPrefix(text, "show ") {
			continue
		}
		excused := false
		for start := range withoutAccount {
			if strings.HasPrefix(text, start) {
				excused, used[start] = true, true
			}
		}
		if !excused && !named.MatchString(text) {
			t.Errorf("a statement does not name its account: %s", text)
		}
	}
	for start := range withoutAccount {
		if whole && !used[start] {
			t.Errorf("no statement begins with %q any more: it needs no exception", start)
		}
	}
	if whole && len(s.seen) < 50 {
		t.Errorf("only %d statements were seen", len(s.seen))
	}
}

var (
	recursive = regexp.MustCompile(`^WITH RECURSIVE (\w+) AS`)
	reads     = regexp.MustCompile(`\b(?:FROM|JOIN) (\w+)(?: AS (\w+))?`)
)

// withoutFilter are the tables of a recursive statement that no condition of their own limits to account $1.
func withoutFilter(text string) (found []string) {
	name := recursive.FindStringSubmatch(text)[1]
	used := map[string]int{}
	for _, table := range reads.FindAllStringSubmatch(text, -1) {
		if used[table[2]]++; table[1] != name && strings.Count(text, table[2]+".account_id = $1") < used[table[2]] {
			found = append(found, table[1])
		}
	}
	return found
}

// TestRecursionsNameTheAccount: Citus plans a recursion only where each of its tables is filtered by what it is
// distributed by. (It was not run on Citus.) What verify, the auditor and the look-ups send is looked at, so that no
// recursion is left out.
func TestRecursionsNameTheAccount(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // as above
	all := &statements{seen: map[string]bool{}}
	s, _ := openServerForTest(t, all)
	for range 3 { // accounts on one page
		gifts := issue(t, s, newID(), 2)
		redeem(t, s, &gifts[0].Voucher, 1)
		redeem(t, s, &gifts[0].Voucher, 1)
		entries, err := s.History(t.Context(), gifts[0].AccountID, gifts[0].ID, 0, 10)
		must(t, err)
		if len(entries) != 3 {
			t.Errorf("a history of %d entries, want 3", len(entries))
		}
		till := merchant.Till{AccountID: gifts[0].AccountID, KeyID: newID(), LocationID: newID()}
		_, _, err = s.CountMisses(t.Context(), till, noon, 1)
		must(t, err)
		must(t, s.RewardTill(t.Context(), till, gifts[0].ID, noon))
		shop := &merchant.Account{ID: gifts[0].AccountID}
		asked := &books.Asked{Account: shop, Until: time.Now().Add(time.Hour), Cubes: books.Cubes()}
		must(t, s.EachMoved(t.Context(), asked, func(int, books.Key, books.Sum) error { return nil }))
	}
	if r := verifyClean(t, s); r.Entries != 12 {
		t.Errorf("verify read %d entries, want 12", r.Entries)
	}
	seen := 0
	for text := range all.seen {
		if recursive.MatchString(text) {
			seen++
			if found := withoutFilter(text); len(found) > 0 {
				t.Errorf("%v without a filter: %s", found, text)
			}
		}
	}
	const ofJobs = 1 // the table job is not distributed: see selectWithJobs
	if seen != countRecursions(t)-ofJobs {
		t.Errorf("%d recursive statements were seen, and the source has %d", seen, countRecursions(t))
	}
	if len(withoutFilter(`WITH RECURSIVE e AS (SELECT e.id FROM voucher AS v JOIN entry AS e ON e.account_id = v.account_id WHERE v.account_id = $1)`)) != 1 {
		t.Error("a table without a filter is not found")
	}
}

// countRecursions counts the recursive statements of the store and its parts; each is written for both databases.
func countRecursions(t *testing.T) (n int) {
	t.Helper()
	for _, pattern := range []string{"*.go", "*/*.go"} {
		files, err := filepath.Glob(pattern)
		must(t, err)
		for _, f := range files {
			if !strings.HasSuffix(f, "_test.go") {
				text, err := os.ReadFile(f)
				must(t, err)
				n += strings.Count(string(text), "Postgres: `WITH RECURSIVE")
				ofCitus := strings.Count(string(text), "Citus: `WITH RECURSIVE")
				if rest := strings.Count(string(text), "WITH RECURSIVE") - ofCitus - 2*strings.Count(string(text),
					"Postgres: `WITH RECURSIVE"); rest != 0 {
					t.Errorf("%s has %d recursive statements that are not written for each database", f, rest)
				}
			}
		}
	}
	return n
}

// TestRoundTrips counts how often a call goes to the server and back: what a lone caller waits for.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // the embedded database is no trip away
	all := &statements{seen: map[string]bool{}}
	s, _ := openServerForTest(t, all)
	g := issue(t, s, newID(), 1)[0]
	trips := func(name string, want int, call func()) {
		t.Helper()
		call() // statements are prepared once for each connection
		all.trips = 0
		if call(); all.trips != want {
			t.Errorf("%s makes %d round trips, want %d", name, all.trips, want)
		}
	}
	s.db.Writer.SetMaxOpenConns(1)
	s.db.Readers.SetMaxOpenConns(1)
	trips("a redemption", 2, func() { redeem(t, s, &g.Voucher, 1) })
	trips("an issue", 1, func() { issue(t, s, g.AccountID, 1) })
	trips("a look-up by code", 1, func() {
		_, err := s.GiftByCode(t.Context(), g.Card.Code)
		must(t, err)
	})
	trips("a look-up by id", 1, func() {
		_, err := s.Gift(t.Context(), g.AccountID, g.ID)
		must(t, err)
	})
}

// TestAccountsShareStatements: a group of the gifts of many accounts takes as many statements as one of a single
// account.
func TestAccountsShareStatements(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // in the other database a statement costs no round trip
	all := &statements{seen: map[string]bool{}}
	s, _ := openServerForTest(t, all)
	const size = 20
	one, many := issue(t, s, newID(), size), []gift.Gift(nil)
	for range size {
		many = append(many, issue(t, s, newID(), 1)...)
	}
	redeem := func(gifts []gift.Gift) (sent int) {
		before := all.sent
		redeemTogether(t, s, gifts, 1)
		return all.sent - before
	}
	redeem(one[:1]) // what is looked up once
	if of, from := redeem(many), redeem(one); of != from {
		t.Errorf("%d statements for gifts of %d accounts, %d for those of one", of, size, from)
	}
	for i := range many {
		g, err := s.Gift(t.Context(), many[i].AccountID, many[i].ID)
		must(t, err)
		if want := many[i].Balance - 1; g.Balance != want {
			t.Errorf("gift %d has %d left, want %d", i, g.Balance, want)
		}
	}
}

// redeemTogether redeems some of each gift in one group, under a key each, which is looked for first.
func redeemTogether(t *testing.T, s *Store, gifts []gift.Gift, amount money.Amount) {
	t.Helper()
	var want ledger.Want
	for i := range gifts {
		want.Vouchers = append(want.Vouchers, ref(&gifts[i].Voucher))
		want.Requests = append(want.Requests, ledger.RequestKey{AccountID: gifts[i].AccountID,
			Operation: operation.RedeemGift,
			Key:       gifts[i].ID.String()})
	}
	must(t, s.Group(t.Context(), want, func(st *ledger.State) (c ledger.Changes) {
		for _, v := range st.Vouchers {
			after, e, err := v.Redeem(gift.Redeem{Context: gift.Context{EntryID: newID(), Now: noon}, Amount: amount})
			if err != nil {
				t.Error(err)
				continue
			}
			c.Vouchers, c.Entries = append(c.Vouchers, after), append(c.Entries, e)
		}
		return c
	}))
}
