package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/merchant"
	"boon.example/internal/racetest"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

// leftBehind are the columns of an export that belong to the Boon that wrote it, and no other can have.
var leftBehind = []string{"issuedAt", "voucherID", "orderID", "held", "sender"}

// TestThereAndBack: what one Boon exports, another imports, and exports the same again: codes, balances, validity,
// restrictions, recipients and PINs.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		thereAndBack(t, func() []string { return nil })
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		pgtest.Need(t)
		thereAndBack(t, func() []string { return []string{"--database", pgtest.Fresh(t)} })
	})
}

// thereAndBack takes gifts from one Boon to another one; in says with which flags a new database is named.
func thereAndBack(t *testing.T, in func() []string) {
	t.Helper()
	gifts := 100_000 // in make torture
	switch {
	case testing.Short():
		gifts = 2_000
	case racetest.Enabled(): // it takes ten times as long for each, and finds nothing in more of them
		gifts = 10_000
	}
	dir := t.TempDir()
	setup, err := os.ReadFile(filepath.Join(exampleFiles(t), "harbor-coffee.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const currency, account = "    currency: USD\n", "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01"
	setup = bytes.Replace(setup, []byte(currency), []byte(currency+"    importedCodes: [{digits: 16}]\n"), 1)
	file := filepath.Join(dir, "setup.yaml")
	if err := os.WriteFile(file, setup, 0o600); err != nil {
		t.Fatal(err)
	}
	first := filepath.Join(dir, "first.csv")
	if err := os.WriteFile(first, cardsOf(t, gifts), 0o600); err != nil {
		t.Fatal(err)
	}
	done := func(args ...string) {
		t.Helper()
		if code, out, log := typed(t, args...); code != exitOK {
			t.Fatalf("boon %v: exit %d, %s%s", args, code, out, log)
		}
	}
	last := first
	var exports []string
	for _, place := range []string{"there", "back"} {
		where := append(in(), "--data", filepath.Join(dir, place))
		boon := func(args ...string) { t.Helper(); done(append(args, where...)...) }
		boon("apply", file)
		importing := []string{"import", last, "--account", account, "--expect-count", strconv.Itoa(gifts),
			"--tills-only", "--certificate", filepath.Join(dir, place+".json")}
		if place == "back" {
			if code, out, _ := typed(t, append(importing, where...)...); code != exitFailed ||
				strings.Count(out, ", status: ")+strings.Count(out, ", blocked: ")+strings.Count(out, ", held: ") != ended {
				t.Errorf("gifts that were ended are imported: exit %d, %.500s", code, out)
			}
			importing[5] = strconv.Itoa(gifts - ended)
			importing = append(importing, "--leave-out-refused")
		}
		boon(importing...)
		if place == "there" {
			endSome(t, filepath.Join(dir, place), where[:len(where)-2])
		}
		last = filepath.Join(dir, place+".csv")
		boon("export", "gifts", "--account", account, "--with-codes", "--out", last)
		boon("verify")
		exports = append(exports, last)
	}
	there, back := exported(t, exports[0]), exported(t, exports[1])
	if len(there) != gifts || len(back) != gifts-ended {
		t.Fatalf("%d gifts there, %d back, want %d", len(there), len(back), gifts)
	}
	for code, row := range there {
		if back[code] == nil && (row["status"] == "CANCELLED" || row["blocked"] != "" || row["held"] != "0.00") {
			continue
		}
		for column, text := range row {
			if back[code][column] != text && !slices.Contains(leftBehind, column) {
				t.Fatalf("%s of %s was %q there and is %q back", column, code, text, back[code][column])
			}
		}
	}
}

// ended is how many gifts endSome ends.
const ended = 3

// endSome cancels a gift, blocks one, and holds a part of one, as tills and the office do.
func endSome(t *testing.T, dir string, where []string) {
	t.Helper()
	o := store.Options{Dir: dir}
	if len(where) > 0 {
		o.Database = where[1]
	}
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	d, err := s.Directory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	account, err := guid.Parse("7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01")
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.List(t.Context(), gift.Filter{AccountID: account, Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	gifts := slices.DeleteFunc(page.Gifts, func(g gift.Gift) bool { return g.Item || g.Verification != "" })
	e := engine.Start(s, engine.Options{})
	defer e.Stop()
	place := d.Accounts[account].Locations[0].ID
	if !gifts[2].LocationID.IsZero() {
		place = gifts[2].LocationID
	}
	by := gift.Context{Actor: merchant.Actor{LocationID: place}}
	office := &merchant.Caller{Kind: merchant.AccountKey, Account: d.Accounts[account],
		Permissions: merchant.AllPermissions}
	block := func(v gift.Voucher, c gift.Context) (gift.Voucher, gift.Entry, error) {
		return v.Block(gift.Block{Context: c, Caller: office, ReasonCode: gift.ReasonLost})
	}
	for operation, c := range map[operation.Name]ledger.Command{
		operation.CancelGift: &ledger.Cancel{Cancel: gift.Cancel{Context: by, Caller: office, To: gift.Cancelled},
			VoucherIDs: []guid.ID{gifts[0].ID}},
		operation.BlockGift: &ledger.Change{VoucherID: gifts[1].ID, Rule: block},
		operation.HoldGift: &ledger.Hold{VoucherID: gifts[2].ID, Hold: gift.Hold{Lasts: time.Hour,
			Redeem: gift.Redeem{Context: by, LocationID: place, Amount: 1}}},
	} {
		_, err := e.Do(t.Context(), ledger.Call{AccountID: account, Operation: operation, Key: "one",
			Render: func(r ledger.Result, err error) ledger.Answer {
				if err != nil {
					t.Errorf("%T: %v", c, err)
					return ledger.Answer{Code: ledger.OK}
				}
				return ledger.Answer{Code: ledger.OK, Body: []byte(r.Entries[0].ID.String())}
			}}, c)
		if err != nil {
			t.Fatalf("%T: %v", c, err)
		}
	}
}

// cardsOf is a file of another system with money and items, with and without what a gift may have.
func cardsOf(t *testing.T, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	write := func(cells ...string) {
		if err := w.Write(cells); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"=1+1", "'=1", "Ana \"A\" Lee", "O'Neill", "'=HYPERLINK(\"x\")", "''=HYPERLINK(\"x\")", "Ana;'=A(1)"}
	write("code", "balance", "quantity", "label", "organization", "validUntil", "recipient", "contact", "reference", "pin")
	for i := range n {
		row := []string{fmt.Sprintf("00%014d", 7_919*i), fmt.Sprintf("%d.%02d", 1+i%90, i%100), "", "", "", "", "", "", "",
			""}
		if i%10 == 1 {
			row[1], row[2], row[3] = "", strconv.Itoa(1+i%7), "Latte, large"
		}
		if i%3 == 0 {
			row[4] = "Pier 39"
		}
		if i%4 == 0 {
			row[5] = "2031-06-30"
		}
		if i%5 == 0 {
			row[6], row[7] = names[i%len(names)], fmt.Sprintf("ana%d@example.com", i)
		}
		if i%6 == 0 {
			row[8], row[9] = fmt.Sprintf("R-%d", i), fmt.Sprintf("%04d", i%10_000)
		}
		write(row...)
	}
	w.Flush()
	return b.Bytes()
}

// exported reads an export, by the codes of its gifts.
func exported(t *testing.T, file string) map[string]map[string]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]string{}
	for _, row := range rows[1:] {
		gift := map[string]string{}
		for n, cell := range row {
			gift[rows[0][n]] = cell
		}
		all[gift["code"]] = gift
	}
	return all
}
