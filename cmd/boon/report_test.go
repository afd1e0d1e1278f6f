package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/books"
	"boon.example/internal/guid"
	"boon.example/internal/store"
)

// TestReport: reports are told to people, and one that was kept is made again; one that was changed is found out.
func TestReport(t *testing.T) {
	t.Parallel()
	to := []string{"--url", served(t).String(), "--key", "boon_live_scripts_of_tests_harbor_coffee_head_office"}
	boon := func(args ...string) (int, string, string) { return typed(t, append(args, to...)...) }
	if code, out, log := boon("report", "liability"); code != exitOK || !strings.Contains(out, "nothing to report") {
		t.Fatalf("exit code %d, %s%s", code, out, log)
	}
	if code, _, log := boon("gift", "send", "--value", "20", "--print", "Ana", "--purchase", "WEB-1",
		"--first-name", "Carla", "--last-name", "Diaz", "--customer", "carla@example.com", "--storefront",
		examples.HarborStorefront); code != exitOK {
		t.Fatal(log)
	}
	for flag, args := range map[string][]string{
		"--at: ": {"liability", "--at", "2099-12-31"}, "--post: ": {"breakage", "--post", "2099-12", "--rate", "5"},
	} {
		code, _, log := boon(append([]string{"report"}, args...)...)
		if code != exitFailed || !strings.Contains(log, "  "+flag) {
			t.Errorf("%v: exit code %d, %s", args, code, log)
		}
	}
	for want, args := range map[string][]string{
		"20.00": {"liability", "--group-by", "program,month"}, "OPENING": {"roll-forward", "--from", "2026-01-01"},
		"There is nothing to report.": {"redemptions", "--from", "2026-01-01", "--group-by", "organization"},
		"REDEEMEDSHARE":               {"ageing"}, "BOOKINGS\nNone.": {"breakage", "--rate", "7.5"},
		"nothing to report": {"dormant", "--months", "36"},
	} {
		if code, out, log := boon(append([]string{"report"}, args...)...); code != exitOK || !strings.Contains(out, want) {
			t.Errorf("%v: exit code %d, %s%s", args, code, out, log)
		}
	}
	code, out, log := boon("report", "liability", "--json")
	if code != exitOK {
		t.Fatal(log)
	}
	file := filepath.Join(t.TempDir(), "liability.json")
	for text, want := range map[string]string{
		out: "is what the service says today",
		strings.Replace(out, `"owed":20.00`, `"owed":19.00`, 1): "the file was changed",
		"{}": "FILE is no report",
		strings.Replace(out, "{", `{"report":{"owed":19.00},`, 1): "FILE is no report",
		strings.Replace(out, "{", `{"Report":{"owed":19.00},`, 1): "FILE is no report",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, log := boon("report", "verify", file)
		if (code == exitOK) != strings.Contains(want, "today") || !strings.Contains(out+log, want) {
			t.Errorf("exit code %d, %s%s, want %s", code, out, log, want)
		}
	}
	if code, _, log := boon("report", "liability", "--at", "2026-02-30"); code != exitFailed ||
		!strings.Contains(log, "There is no such day") {
		t.Errorf("a day that does not exist: exit code %d, %s", code, log)
	}
	for _, args := range [][]string{{"breakage", "--rate", "7.5"}, {"dormant", "--months", "36"}, {"ageing"}} {
		code, out, log := boon(append(append([]string{"report"}, args...), "--json")...)
		if err := os.WriteFile(file, []byte(out), 0o600); code != exitOK || err != nil {
			t.Fatal(log, err)
		}
		if code, out, log := boon("report", "verify", file); code != exitOK {
			t.Errorf("%v: exit code %d, %s%s", args, code, out, log)
		}
	}
	for want, args := range map[string][]string{"is not over yet": {"--post", "2999-01"},
		"leave --at out": {"--post", "2026-01", "--at", "2026-01-31"}, "does not name": {"--post", "2026-01"}} {
		code, out, log := boon(append([]string{"report", "breakage", "--rate", "7.5"}, args...)...)
		if code == exitOK || !strings.Contains(log, want) {
			t.Errorf("%v: exit code %d, %s%s, want %s", args, code, out, log, want)
		}
	}
	settled(t, boon)
	journals(t, boon)
}

// journals holds that a journal of each format is proved by the file beside it, or by its own last line, and that one
// that was changed is found out.
func journals(t *testing.T, boon func(...string) (int, string, string)) {
	t.Helper()
	dir := t.TempDir()
	for _, format := range []string{"csv", "xero", "quickbooks", "hledger"} {
		file := filepath.Join(dir, format)
		day := time.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly)
		code, out, log := boon("report", "journal", "--from", day, "--to", day, "--format", format, "--out", file)
		if code != exitOK || !strings.Contains(out, "SHA-256") {
			t.Fatalf("%s: exit code %d, %s%s", format, code, out, log)
		}
		verify := func(good bool, says string) {
			t.Helper()
			if code, out, log := boon("report", "verify", file); (code == exitOK) != good || !strings.Contains(out+log, says) {
				t.Errorf("%s: exit code %d, %s%s, want %s", format, code, out, log, says)
			}
		}
		verify(true, "is what the service says today")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		changed := append([]byte("x"), text...)
		if err := os.WriteFile(file, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		verify(false, "the file was changed")
		if err := errors.Join(os.WriteFile(file, text, 0o600), os.Remove(file+".proof.json")); err != nil {
			t.Fatal(err)
		}
		if format == "hledger" { // its last line proves it
			verify(true, "is what the service says today")
		} else {
			verify(false, "no journal with FILE.proof.json")
		}
	}
}

// settled holds what people are told of who owes whom.
func settled(t *testing.T, boon func(...string) (int, string, string)) {
	t.Helper()
	if code, out, log := boon("report", "settlement", "--from", "2026-01-01"); code != exitOK ||
		!strings.Contains(out, "nothing to report") {
		t.Errorf("exit code %d, %s%s", code, out, log)
	}
	_, made, log := boon("gift", "send", "--value", "20", "--print", "Ben", "--purchase", "WEB-2", "--first-name", "Carla",
		"--last-name", "Diaz", "--customer", "carla@example.com", "--storefront", examples.HarborStorefront, "--json")
	var sent struct{ Gifts []struct{ VoucherID string } }
	if err := json.Unmarshal([]byte(made), &sent); err != nil || len(sent.Gifts) != 1 {
		t.Fatalf("sent was %s%s (%v)", made, log, err)
	}
	code, out, log := boon("gift", "redeem", sent.Gifts[0].VoucherID, "--amount", "3", "--location",
		examples.HarborPier39, "--dry-run", "--json") // of which the report below knows nothing
	if code != exitOK || !strings.Contains(out, `"dryRun":true`) || !strings.Contains(log, "nothing is done") {
		t.Fatalf("exit code %d, %s%s", code, out, log)
	}
	if code, _, log := boon("gift", "redeem", sent.Gifts[0].VoucherID, "--amount", "4", "--location",
		examples.HarborPier39); code != exitOK {
		t.Fatal(log)
	}
	code, out, log = boon("report", "settlement", "--from", "2026-01-01")
	_, payments, _ := strings.Cut(out, "\nPAYMENTS\n")
	if code != exitOK || !strings.Contains(out, "\nDEBTS\n") || !strings.Contains(payments, "4.00") ||
		!strings.Contains(payments, "Pier 39") {
		t.Errorf("exit code %d, %s%s", code, out, log)
	}
}

// TestBooksCloseAgain: a day is worked out again where it is closed, and nowhere else.
func TestBooksCloseAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := applyExample(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	id, err := guid.Parse(examples.HarborAccount)
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Directory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	day := books.DayOf(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), time.UTC)
	if _, err := s.CloseDay(t.Context(), d.Accounts[id], day, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := func(account, day string) (int, string, string) {
		return typed(t, "books", "close-again", "--data", dir, account, day)
	}
	for says, args := range map[string][2]string{"is not a closed day": {examples.HarborAccount, "2026-11-02"},
		"DAY must be a day": {examples.HarborAccount, "2026-02-30"}, "ACCOUNT must be": {"harbor", "2026-11-01"}} {
		if code, _, log := again(args[0], args[1]); code == exitOK || !strings.Contains(log, says) {
			t.Errorf("%v: exit code %d, %s", args, code, log)
		}
	}
	if code, out, log := again(examples.HarborAccount, "2026-11-01"); code != exitOK ||
		!strings.Contains(out, "2026-11-01 was worked out again") {
		t.Errorf("exit code %d, %s%s", code, out, log)
	}
}
