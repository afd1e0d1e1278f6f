package api_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/books/report"
	"boon.example/internal/face/api/reports"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/store"
)

// manyPrograms closes yesterday with sums of so many programs, in a cube and on a line of it.
func (w *world) manyPrograms(n int, cube books.Cube, line string, month int) (day books.Day) {
	w.Helper()
	account := w.directory.Load().Accounts[id(harbor)]
	day = books.DayOf(w.now().AddDate(0, 0, -1), account.Zone)
	if _, err := w.store.CloseDay(w.Context(), account, day, w.now()); err != nil {
		w.Fatal(err)
	}
	db := w.tables()
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		w.Fatal(err)
	}
	add, err := tx.Prepare(`INSERT INTO book_sum (account_id, cube, day, line, program_id, promotional, item, currency,
			decimals, sold, place, key_id, month, vat, vat_rate, entries, pieces, money)
		VALUES ($1, $2, $3, $4, $5, $6, $6, 'USD', 2, $7, $7, $7, $8, '', '', 1, 0, 100)`)
	if err != nil {
		w.Fatal(err)
	}
	none := make([]byte, 16)
	for i := range n {
		var program guid.ID
		binary.BigEndian.PutUint32(program[:], uint32(i+1))
		if _, err := add.Exec(account.ID[:], string(cube), day.Number, line, program[:], false, none, month); err != nil {
			w.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		w.Fatal(err)
	}
	return day
}

// TestReportsTakeTheMemoryOfTheirRows: a report over many programs is told where its rows are few, and refused where
// they are too many; the service goes on. As many rows as a report may have are told.
func TestReportsTakeTheMemoryOfTheirRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.permit(harborKey, "reports", "send")
	w.send(ofMoney("1")) // so that there is a chain
	day := w.manyPrograms(reports.MaxRows, books.Stock, string(books.Open), 202601)
	at := "&at=" + fmt.Sprintf("%d-%02d-%02d", day.Number/10_000, day.Number/100%100, day.Number%100)
	var told struct{ Rows []json.RawMessage }
	if err := json.Unmarshal([]byte(w.report("liability?groupBy=program"+at)), &told); err != nil ||
		len(told.Rows) != reports.MaxRows {
		t.Errorf("%d rows, want %d: %v", len(told.Rows), reports.MaxRows, err)
	}
	account := w.directory.Load().Accounts[id(harbor)]
	db := w.tables()
	defer db.Close()
	if _, err := db.Exec(`DELETE FROM book_sum`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`DELETE FROM book_day WHERE account_id = $1`, account.ID[:]); err != nil {
		t.Fatal(err)
	}
	const many = 50_000
	w.manyPrograms(many, books.Stock, string(books.Open), 202601)
	for range 3 { // what a refused report took is given back
		refused := w.get("/reports/liability?groupBy=program"+at).want(400, "code", "VALIDATION_FAILURE")
		if !strings.Contains(string(refused.body), fmt.Sprintf("at most %d rows", reports.MaxRows)) {
			t.Errorf("%s", refused.body)
		}
	}
	if all := w.report("liability?groupBy=currency" + at); !strings.Contains(all, `"owed":50000.00`) {
		t.Errorf("all programs together are %s", all)
	}
}

// TestJournalsTakeTheMemoryOfTheirPostings: a journal of as many sums as may be is made, and one of more is refused for
// good, with what to do; the service goes on.
func TestJournalsTakeTheMemoryOfTheirPostings(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{reports.MaxJournal: 200, reports.MaxJournal + 1: 400, 32_000: 400, 33_000: 400} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.keeper(merchant.Books{Accounts: ledgerAccounts})
			w.send(ofMoney("1")) // so that there is a chain
			day := report.DayText(w.manyPrograms(n, books.Places, string(books.LineIssued), 0).Number)
			for range 2 { // what a refused one took is given back
				got := w.get("/reports/journal?from=" + day + "&to=" + day).want(want)
				if want == 400 && !strings.Contains(string(got.body), "Ask for fewer days") {
					t.Errorf("%s", got.body)
				}
			}
		})
	}
}

// TestReportsOfBooksThatAreBehind: while old days are being closed, as after an upgrade, a report that would read too
// many entries is refused for a while, and one of closed days is made.
func TestReportsOfBooksThatAreBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.permit(harborKey, "reports", "send")
	w.keeper(merchant.Books{Accounts: ledgerAccounts})
	for range 3 {
		w.send(ofMoney("3"))
	}
	w.pass(72 * time.Hour)
	w.store.MostOfOld = 2
	all := make([]string, 0, len(reports.Kinds)+1)
	for n := range reports.Kinds {
		all = append(all, reports.Kinds[n].Name)
	}
	for _, name := range append(all, "journal") {
		refused := w.get("/reports/"+name+"?"+askReports).want(503, "code", "UNAVAILABLE")
		if refused.header.Get("Retry-After") == "" || !strings.Contains(string(refused.body), "still being closed") {
			t.Errorf("%s: %v %s", name, refused.header, refused.body)
		}
	}
	closeDays(t, w.store, w.directory.Load().Accounts[id(harbor)], w.now().Add(-24*time.Hour))
	if owed := w.report("liability"); !strings.Contains(owed, `"owed":9.00`) {
		t.Errorf("once days are closed, %s", owed)
	}
}

// closeDays closes all days of an account up to an instant.
func closeDays(t *testing.T, s *store.Store, account *merchant.Account, until time.Time) {
	t.Helper()
	for {
		day, ok, err := s.NextDay(t.Context(), account)
		if err != nil {
			t.Fatal(err)
		}
		if !ok || day.Until.After(until) {
			return
		}
		if _, err := s.CloseDay(t.Context(), account, day, until); err != nil {
			t.Fatal(err)
		}
	}
}
