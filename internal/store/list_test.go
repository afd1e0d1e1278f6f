package store

import (
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
	"boon.example/internal/store/pgtest"
)

// listFilters are those that a list may have, alone and two by two.
func listFilters(account guid.ID) map[string]gift.Filter {
	one := map[string]func(*gift.Filter){
		"status":     func(f *gift.Filter) { f.Status = gift.Delivered },
		"rare":       func(f *gift.Filter) { f.Status = gift.PurchaseFailed },
		"program":    func(f *gift.Filter) { f.ProgramID = merchant.DistributionProgram.ID },
		"promotion":  func(f *gift.Filter) { f.PromotionID = newID() },
		"location":   func(f *gift.Filter) { f.LocationID = newID() },
		"order":      func(f *gift.Filter) { f.OrderID = newID() },
		"reference":  func(f *gift.Filter) { f.Reference = "none" },
		"storefront": func(f *gift.Filter) { f.StorefrontID = newID() },
		"last four":  func(f *gift.Filter) { f.LastFour = "0000" },
		"contact":    func(f *gift.Filter) { f.Contacts = []string{"a@b.c", "c@b.a"} },
		"customer":   func(f *gift.Filter) { f.CustomerID = "C-1" },
		"buyer":      func(f *gift.Filter) { f.Buyer = "none@example.com" },
		"words":      func(f *gift.Filter) { f.Words = []string{"ana", "lee"} },
		"locations":  func(f *gift.Filter) { f.Locations = []guid.ID{newID(), newID()} },
		"created":    func(f *gift.Filter) { f.CreatedFrom, f.CreatedTo = noon, noon.AddDate(1, 0, 0) },
	}
	all := map[string]gift.Filter{}
	for a, first := range one {
		for b, second := range one {
			f := gift.Filter{AccountID: account, Before: idAt(noon.AddDate(50, 0, 0)), Limit: 50}
			first(&f)
			second(&f)
			all[a+", "+b] = f
		}
	}
	return all
}

func changeFilters(account guid.ID) map[string]gift.ChangeFilter {
	f := gift.ChangeFilter{AccountID: account, Before: idAt(noon.AddDate(50, 0, 0)), Limit: 50}
	key, till, place, kind, time, seen := f, f, f, f, f, f
	till.KeyID, till.Till = newID(), true
	key.KeyID, place.LocationID, kind.Kind, seen.Locations = newID(), newID(), gift.Cancellation, []guid.ID{newID()}
	time.From, time.To = noon, noon.AddDate(1, 0, 0)
	return map[string]gift.ChangeFilter{"none": f, "key": key, "till": till, "location": place, "kind": kind, "time": time,
		"locations": seen}
}

// TestAListReadsSoMuchAndNoMore: what fits no gift, or nearly none, is given up after so many, and the next page goes
// on. In 3,000 gifts of one kind, those that a filter asks for are the oldest.
func TestAListReadsSoMuchAndNoMore(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			account := newID()
			var c ledger.Changes
			for n := range 3000 {
				g, e := newGift(account)
				g.Card.Purchase.Reference, g.Card.Recipient, g.Card.Contact = "R", "Ana", "ana@example.com"
				if n == 0 {
					g.ProgramID = merchant.DistributionProgram.ID
				}
				c.Gifts, c.Entries = append(c.Gifts, g), append(c.Entries, e)
				if len(c.Gifts) == 1000 {
					save(t, s, c)
					c = ledger.Changes{}
				}
			}
			for what, f := range map[string]gift.Filter{
				"nothing":            {},
				"the program":        {ProgramID: merchant.DistributionProgram.ID},
				"a reference of all": {Reference: "R", ProgramID: merchant.DistributionProgram.ID},
				"a word of all":      {Words: []string{"ANA"}, ProgramID: merchant.DistributionProgram.ID},
				"an address of all": {Contacts: []string{contact.Fold("ana@example.com")},
					ProgramID: merchant.DistributionProgram.ID},
				"two that exclude": {Reference: "R", Words: []string{"ANA"}, StorefrontID: newID()},
				"a status of none": {Status: gift.PurchaseFailed},
				"a word of none":   {Words: []string{"ZOE"}},
			} {
				f.AccountID, f.Limit = account, 10
				found, pages := 0, 0
				for ; pages == 0 || !f.Before.IsZero(); pages++ {
					page, err := s.List(t.Context(), f)
					if err != nil {
						t.Fatal(err)
					}
					if page.Read > gift.MaxRead || len(page.Gifts) > 10 {
						t.Errorf("%s: %d gifts were looked at for a page of %d", what, page.Read, len(page.Gifts))
					}
					if found += len(page.Gifts); what == "nothing" {
						if page.Read > 11 {
							t.Errorf("a list of all looks at %d gifts for ten", page.Read)
						}
						if pages > 3 {
							break
						}
					}
					f.Before = page.Next
				}
				none := strings.Contains(what, "none") || strings.Contains(what, "exclude")
				if want := map[bool]int{true: 0, false: 1}[none]; what != "nothing" && (found != want || pages > 2 ||
					strings.Contains(what, "of none") && pages > 1) {
					t.Errorf("%s: %d gifts on %d pages, want %d", what, found, pages, want)
				}
			}
		})
	}
}

// TestListsFollowAnIndex: on SQLite, what is looked at is found by a key, in the order of the list, and each gift that
// is looked at by its id.
func TestListsFollowAnIndex(t *testing.T) {
	t.Parallel()
	s, _ := openSQLiteForTest(t)
	account := newID()
	check := func(name, text string, args []any) {
		t.Helper()
		var plan string
		must(t, db.Each(t.Context(), s.db.Readers, `EXPLAIN QUERY PLAN `+text, args, func(rows *sql.Rows) error {
			var step string
			err := rows.Scan(new(int), new(int), new(int), &step)
			plan += step + "\n"
			bad := strings.HasPrefix(step, "SCAN") && step != "SCAN k" && step != "SCAN s" && step != "SCAN u" ||
				strings.HasSuffix(step, "(account_id=?)") ||
				strings.Contains(step, "TEMP B-TREE") && !strings.Contains(name, "order") && !strings.Contains(text, "UNION")
			if bad {
				t.Errorf("%s: %s\n\t%s", name, text, step)
			}
			return err
		}))
		if name == "key" && !strings.Contains(plan, "(account_id=? AND id>? AND id<?)") {
			t.Errorf("what a key did today is found among all that the account ever did: %s", plan)
		}
		if name == "till" && !strings.Contains(plan, "entry_of_till (account_id=? AND key_id=? AND id>? AND id<?)") {
			t.Errorf("what a till did today is found among what others did: %s", plan)
		}
	}
	for name, f := range listFilters(account) {
		text, args := s.Candidates(f, f.Before, 100)
		check(name, text, args)
	}
	for name, f := range changeFilters(account) {
		text, args := s.Changes(f, f.Before, 100)
		check(name, text, args)
	}
}

var (
	badForLists = regexp.MustCompile(`Seq Scan|Bitmap|(Hash|Merge) |Materialize|Sort`)
	// of a list whose parts were limited before they are put together
	badForParts = regexp.MustCompile(`Seq Scan|Bitmap|Materialize`)
	ofDay       = regexp.MustCompile(`using entry_pkey .*\n +Index Cond: .*id >= .*id < `)
	ofTill      = regexp.MustCompile(`using entry_of_till .*\n +Index Cond: .*key_id = .*id >= .*id < `)
)

// TestListPlans: the same on PostgreSQL, with and without figures.
func TestListPlans(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // the plans are PostgreSQL's
	s, _ := openPostgresForTest(t)
	account := newID()
	check := func(t *testing.T) {
		for name, f := range listFilters(account) {
			text, _ := s.Candidates(f, f.Before, 100)
			checkListPlan(t, s, name, text)
		}
		for name, f := range changeFilters(account) {
			text, _ := s.Changes(f, f.Before, 100)
			checkListPlan(t, s, name, text)
		}
	}
	t.Run("without figures", check)
	issue(t, s, account, 500)
	t.Run("with many gifts that no figures tell of", check)
	_, err := s.db.Writer.Exec(`ANALYZE`)
	must(t, err)
	t.Run("with figures", check)
}

func checkListPlan(t *testing.T, s *Store, name, text string) {
	t.Helper()
	plan := planOf(t, s.db.Readers, text)
	if name == "key" && !ofDay.MatchString(strings.Join(plan, "\n")) {
		t.Errorf("what a key did today is found among all that the account ever did: %s", plan)
	}
	if name == "till" && !ofTill.MatchString(strings.Join(plan, "\n")) {
		t.Errorf("what a till did today is found among what others did: %s", plan)
	}
	bad := badForLists
	if strings.Contains(text, "UNION") {
		bad = badForParts
	}
	for _, line := range plan {
		if bad.MatchString(line) && !strings.Contains(name, "order") { // the gifts of an order are a thousand at most
			t.Errorf("%s: %s\n\t%s", name, text, strings.Join(plan, "\n\t"))
			return
		}
	}
	if !slices.ContainsFunc(plan, func(line string) bool { return strings.Contains(line, "Backward") }) &&
		!strings.Contains(name, "order") {
		t.Errorf("%s: %s is not read in the order of the list", name, strings.Join(plan, "\n\t"))
	}
}

// testActivity lists the changes of an account, whatever gift they are of.
func testActivity(t *testing.T, open opener) {
	s, _ := open(t)
	gifts := issue(t, s, newID(), 3)
	issue(t, s, newID(), 2) // of another account
	taken := redeem(t, s, &gifts[1].Voucher, 1)
	f := gift.ChangeFilter{AccountID: gifts[0].AccountID, Limit: 3}
	var got []string
	for more := true; more; more = !f.Before.IsZero() {
		page, err := s.Activity(t.Context(), f)
		must(t, err)
		for _, c := range page.Changes {
			got = append(got, fmt.Sprintln(c.Kind, c.VoucherID == gifts[1].ID, c.Unit.Code))
		}
		f.Before = page.Next
		issue(t, s, f.AccountID, 1) // newer than every page to come
	}
	diff(t, got, []string{"REDEMPTION true USD\n", "ISSUED false USD\n", "ISSUED true USD\n", "ISSUED false USD\n"})
	for _, f := range []gift.ChangeFilter{{Kind: gift.Redemption}, {LocationID: taken.Actor.LocationID,
		Kind: gift.Redemption}, {KeyID: taken.Actor.KeyID, Kind: gift.Redemption}} {
		f.AccountID, f.Limit = gifts[0].AccountID, 10
		page, err := s.Activity(t.Context(), f)
		if err != nil || len(page.Changes) != 1 || page.Changes[0].ID != taken.ID {
			t.Errorf("%+v gives %+v, %v", f, page.Changes, err)
		}
	}
	counter := merchant.Actor{KeyID: newID(), Till: true}
	sold, err := redeemBy(t.Context(), s, counter, &gifts[2].Voucher, 1)
	must(t, err)
	f = gift.ChangeFilter{AccountID: gifts[0].AccountID, KeyID: counter.KeyID, Till: true, Limit: 10}
	page, err := s.Activity(t.Context(), f)
	if err != nil || len(page.Changes) != 1 || page.Changes[0].ID != sold.ID || page.Changes[0].Actor != counter {
		t.Errorf("a till did %+v, %v", page.Changes, err)
	}
	f = gift.ChangeFilter{AccountID: gifts[0].AccountID, Limit: 10, To: noon.Add(-time.Hour)}
	if page, err := s.Activity(t.Context(), f); err != nil || len(page.Changes) != 0 {
		t.Errorf("before everything: %+v, %v", page.Changes, err)
	}
}
