package store

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/message"
	"boon.example/internal/sealed"
	"boon.example/internal/sendlist"
	"boon.example/internal/store/db"
	"boon.example/internal/store/pgtest"
	"boon.example/internal/store/tables"
	"boon.example/internal/store/transfer"
)

// fillStore puts rows into every table: two accounts of n gifts each, with redemptions, reversals and spent keys, and
// one of a single gift that has everything.
func fillStore(t *testing.T, s *Store, n int) []gift.Gift {
	t.Helper()
	must(t, s.NotePending(t.Context(), noon))
	a, k := filled[merchant.Account](t), filled[merchant.Key](t)
	k.Kind, k.AccountID = merchant.AccountKey, a.ID
	system := merchant.Key{ID: newID(), Kind: merchant.SystemKey, Name: "partner", Hash: merchant.HashKey("partner"),
		CreatedAt: noon}
	configure(t, s, merchant.Changes{Accounts: []*merchant.Account{&a}, Keys: []*merchant.Key{&k, &system},
		Assets: []merchant.Asset{{AccountID: a.ID, Hash: merchant.HashAsset([]byte("picture")), Kind: merchant.PNG,
			Bytes: []byte("picture")}}})
	gifts := append(issue(t, s, a.ID, n), issue(t, s, newID(), n)...)
	addJobs(t, s, gifts[:3])
	whole, first := newGift(newID())
	whole.Items = []merchant.Item{{ID: "LATTE", Name: "Latte"}, {ID: "MOCHA"}}
	whole.Item, whole.Promotional, whole.LocationID, whole.Card.DesignID, whole.Card.Scheduled = true, true, newID(),
		newID(), true
	save(t, s, ledger.Changes{Gifts: []gift.Gift{whole}, Entries: []gift.Entry{first},
		Sheets: []ledger.Sheet{{AccountID: whole.AccountID, OrderID: whole.OrderID, Token: newToken(), Until: noon}}})
	for i := range gifts {
		g := &gifts[i]
		taken := redeem(t, s, &g.Voucher, money.Amount(1+i))
		redeem(t, s, &g.Voucher, 2)
		key := ledger.RequestKey{AccountID: g.AccountID, Operation: operation.RedeemGift, Key: fmt.Sprintf("Key-%d ~é", i)}
		spent := ledger.RequestKey{AccountID: g.AccountID, Operation: operation.RedeemGift, Key: fmt.Sprintf("key_%d", i)}
		sent := ledger.Request{RequestKey: ledger.RequestKey{AccountID: g.AccountID, Operation: operation.SendGift,
			Key: fmt.Sprintf("sent %d", i)},
			Answer: ledger.Answer{Code: ledger.Created, Body: []byte("{}")}, At: noon}
		if i%2 == 0 {
			sent.Answer.Body, sent.Locations = longAnswer(2000+i), []guid.ID{newID()}
		}
		save(t, s, ledger.Changes{Requests: []ledger.Request{{RequestKey: key,
			Answer: ledger.Answer{Code: ledger.OK,
				Body: []byte(taken.ID.String())}, EntryID: taken.ID, At: noon}, {RequestKey: spent, Spent: true, At: noon}, sent}})
		giveBack(t, s, g, taken)
		must(t, s.NoteKeyUses(t.Context(), map[guid.ID]time.Time{k.ID: noon}))
		_, _, err := s.TakeAnonymous(t.Context(), fmt.Sprintf("network %d", i), noon)
		must(t, err)
		_, _, err = s.CountMisses(t.Context(), merchant.Till{AccountID: g.AccountID, KeyID: k.ID}, noon, 1)
		must(t, err)
		mailed := merchant.CountKey{AccountID: g.AccountID, Kind: merchant.ContactCount, Owner: k.ID,
			Contact: "ann@example.com"}
		save(t, s, ledger.Changes{Counts: map[merchant.CountKey]merchant.Count{mailed: {Day: 20261122, Messages: 1}}})
	}
	_, err := s.BeginShift(t.Context(), a.ID, newID(), noon)
	must(t, err)
	fillStaff(t, s, a.ID)
	l := linkAt(t, s, a.ID, "ana@example.com", noon)
	must(t, s.SignInGuest(t.Context(), l, "a session", noon))
	must(t, s.KeepSendList(t.Context(), sendListOf(a.ID), &sendlist.Content{Rows: []sendlist.Row{{Line: 2}}}))
	saveToSell(t, s, gifts[0].AccountID, 2)
	sendAgain(t, s, &gifts[0])
	saveOrder(t, s, gifts[0].AccountID, 2, "One per guest.", "Not on Sundays.")
	saveOrder(t, s, gifts[len(gifts)-1].AccountID, 2, "One per guest.", "Not on Sundays.")
	_, err = s.MoveForgotten(t.Context(), func(time.Time, time.Time) time.Time { return noon }, noon, noon)
	must(t, err)
	must(t, s.KeepMessage(t.Context(), filled[message.Message](t)))
	fillWebhooks(t, s, a.ID)
	fillPasses(t, s, a.ID, gifts[0].ID)
	stageGifts(t, s, beginImport(t, s, a.ID, noon.AddDate(0, 0, -1)), 2)
	fillBooks(t, s, gifts[len(gifts)-1].AccountID)
	must(t, bookBreakage(t, s, a.ID, 202611))
	run(t, s, `INSERT INTO erasure (account_id, entry_id, before, after, made_at, mac) VALUES ($1, $1, $1, $1, 1, $2)`,
		a.ID[:], make([]byte, 17))
	return gifts
}

func giveBack(t *testing.T, s *Store, g *gift.Gift, taken gift.Entry) {
	t.Helper()
	redemption := ledger.Ref{AccountID: g.AccountID, ID: taken.ID}
	runGroup(t, s, ledger.Want{Undoable: []ledger.Ref{redemption}}, func(st *ledger.State) ledger.Changes {
		after, e, err := st.Vouchers[ref(&g.Voucher)].Reverse(*st.Undoable[redemption],
			gift.Reverse{Context: gift.Context{EntryID: newID(), Now: noon}, Caller: &merchant.Caller{}})
		must(t, err)
		return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
	})
}

// sendAgain sends a gift again, as the engine does.
func sendAgain(t *testing.T, s *Store, g *gift.Gift) {
	t.Helper()
	at := ref(&g.Voucher)
	runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{at}, Deliveries: []ledger.Ref{at}},
		func(st *ledger.State) ledger.Changes {
			before := st.Deliveries[at].Delivery
			after, way, e, due, err := st.Vouchers[at].Resend(before, gift.Resend{Context: gift.Context{EntryID: newID(),
				Now: noon},
				Caller: &merchant.Caller{}, Method: contact.SMS, Contact: "4155550132"})
			must(t, err)
			return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e},
				Jobs:            []ledger.Job{{ID: e.ID, AccountID: g.AccountID, VoucherID: g.ID, Due: due}},
				DeliveryChanges: []ledger.DeliveryChange{{AccountID: g.AccountID, VoucherID: g.ID, Delivery: way}},
				Resends: []ledger.Resent{{AccountID: g.AccountID, VoucherID: g.ID, Seq: e.Seq, ID: e.ID, At: e.At,
					Method: before.Method, Contact: before.Contact}}}
		})
}

func untold(string, int64, int64) {}

// sourceFolder makes a filled data folder that nobody has open.
func sourceFolder(t *testing.T, n int) (dir string, rows map[string][]string, gifts []gift.Gift) {
	t.Helper()
	dir = t.TempDir()
	s := openDir(t, dir)
	gifts = fillStore(t, s, n)
	rows = dump(t, s)
	for _, table := range tables.Copied() {
		if len(rows[table.Name]) == 0 {
			t.Fatalf("there is nothing in %s to copy", table.Name)
		}
	}
	must(t, s.Close())
	return dir, rows, gifts
}

// checkCopied shows that the destination is what the source was, and batches.
func checkCopied(t *testing.T, to string, rows map[string][]string, gifts []gift.Gift) {
	t.Helper()
	s := openDir(t, to)
	diff(t, dump(t, s), rows)
	verifyClean(t, s)
	for _, g := range gifts[:2] {
		found, err := s.GiftByCode(t.Context(), g.Card.Code)
		must(t, err)
		if found.ID != g.ID {
			t.Errorf("code of %s leads to %s", g.ID, found.ID)
		}
		redeem(t, s, &g.Voucher, 1)
	}
}

func TestCopy(t *testing.T) {
	t.Parallel()
	from, rows, gifts := sourceFolder(t, 10)
	to := filepath.Join(t.TempDir(), "new")
	var doings []string
	r, err := transfer.Copy(t.Context(), Options{Dir: from}, Options{Dir: to}, func(doing string, done, total int64) {
		if !slices.Contains(doings, doing) {
			doings = append(doings, doing)
		}
		if done > total {
			t.Errorf("%s %d of %d", doing, done, total)
		}
	})
	must(t, err)
	var want int64
	for _, table := range rows {
		want += int64(len(table))
	}
	if r.Rows != want || len(r.Differences) > 0 || len(r.Accounts) != 3 ||
		!slices.Equal(doings, []string{"copying", "comparing"}) {
		t.Errorf("%+v, %v; want %d rows and 3 accounts", r, doings, want)
	}
	var sum transfer.Totals
	for _, a := range r.Accounts {
		if w := a.From; w != a.To || w.Balance != w.Funded+w.Delta {
			t.Errorf("%+v", a)
		}
		sum = sum.Plus(a.To)
	}
	if sum.Vouchers != 29 || sum.Funded != 270_000 || sum.Entries != 90 || sum.Requests != 60 || sum.Jobs != 4 {
		t.Errorf("all accounts together: %+v", sum)
	}
	info, err := os.Stat(filepath.Join(to, sealed.FileName))
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the key file has mode %v", info.Mode())
	}
	checkCopied(t, to, rows, gifts)
}

// cutOff copies until a number of rows was copied or compared, and expects what is left to be refused.
func cutOff(t *testing.T, from, to Options, doing string, rows int64) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	_, err := transfer.CopyInBatches(ctx, from, to, 7, func(now string, done, _ int64) {
		if now == doing && done >= rows {
			stop()
		}
	})
	if err == nil {
		t.Fatal("it was not cut off")
	}
	if s, err := Open(t.Context(), to); err == nil || !strings.Contains(err.Error(), "did not end") {
		t.Errorf("what is half copied opens as %v, %v", s, err)
	}
	if _, err := transfer.Copy(t.Context(), from, to, untold); err == nil ||
		!strings.Contains(err.Error(), "did not end") {
		t.Errorf("what is half copied is copied into: %v", err)
	}
}

// TestCopyIsCutOff: of a copy that was cut off, nothing opens the destination; in an empty one it is made again.
func TestCopyIsCutOff(t *testing.T) {
	t.Parallel()
	from, rows, gifts := sourceFolder(t, 6)
	for _, cut := range []struct {
		doing string
		rows  int64
	}{{"copying", 0}, {"copying", 1}, {"copying", 100}, {"comparing", 0}} {
		to := filepath.Join(t.TempDir(), "new")
		cutOff(t, Options{Dir: from}, Options{Dir: to}, cut.doing, cut.rows)
		if _, err := transfer.Backup(t.Context(), Options{Dir: to}, t.TempDir(), noon, func(int64, int64) {}); err == nil {
			t.Error("what is half copied is backed up")
		}
		must(t, os.Remove(filepath.Join(to, DatabaseName))) // as the refusal says
		_, err := transfer.Copy(t.Context(), Options{Dir: from}, Options{Dir: to}, untold)
		must(t, err)
		checkCopied(t, to, rows, gifts)
	}
}

func TestCopyRefuses(t *testing.T) {
	t.Parallel()
	from, _, _ := sourceFolder(t, 2)
	elsewhere := t.TempDir()
	must(t, openDir(t, elsewhere).Close())
	for name, test := range map[string]struct {
		spoil func(t *testing.T, from, to string)
		want  string
	}{
		"a source in use": {func(t *testing.T, from, _ string) { openDir(t, from) }, "is in use"},
		"a destination in use": {func(t *testing.T, from, to string) {
			copyKey(t, from, to)
			openDir(t, to)
		}, "is in use"},
		"a destination with data": {func(t *testing.T, from, to string) {
			copyKey(t, from, to)
			s := openDir(t, to)
			issue(t, s, newID(), 1)
			must(t, s.Close())
		}, "holds data already"},
		"a destination with a set-up": {func(t *testing.T, from, to string) {
			copyKey(t, from, to)
			s := openDir(t, to)
			a := filled[merchant.Account](t)
			configure(t, s, merchant.Changes{Accounts: []*merchant.Account{&a}})
			must(t, s.Close())
		}, "holds data already"},
		"other keys": {func(t *testing.T, _, to string) { must(t, openDir(t, to).Close()) }, "a key file of its own"},
		"no source": {func(t *testing.T, from, _ string) { must(t, os.Remove(filepath.Join(from, DatabaseName))) },
			"no database"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, to := t.TempDir(), t.TempDir()
			for _, file := range []string{DatabaseName, sealed.FileName} {
				content, err := os.ReadFile(filepath.Join(from, file))
				must(t, err)
				must(t, os.WriteFile(filepath.Join(dir, file), content, 0o600))
			}
			test.spoil(t, dir, to)
			if _, err := transfer.Copy(t.Context(), Options{Dir: dir}, Options{Dir: to}, untold); err == nil ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
	if _, err := transfer.Copy(t.Context(), Options{Dir: from}, Options{Dir: from + "/."}, untold); err == nil ||
		!strings.Contains(err.Error(), "are the same") {
		t.Errorf("onto itself: %v", err)
	}
}

func copyKey(t *testing.T, from, to string) {
	t.Helper()
	must(t, os.MkdirAll(to, 0o700))
	copyFile(t, filepath.Join(from, sealed.FileName), filepath.Join(to, sealed.FileName))
}

// TestCopyNotices: what is not the same on both sides when it was copied is found, and the destination cannot be
// opened.
func TestCopyNotices(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ change, want string }{
		"a column": {`UPDATE card SET message = 'other'`, "rows of card are not the same"},
		"a row":    {`DELETE FROM used_record`, "rows in used_record, the destination has 0"},
		"a sum":    {`UPDATE voucher SET balance = balance - 1 WHERE balance > 0`, "does not add up"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, _, _ := sourceFolder(t, 4)
			to, changed := t.TempDir(), false
			r, err := transfer.CopyInBatches(t.Context(), Options{Dir: from}, Options{Dir: to}, 4,
				func(doing string, done, _ int64) {
					if doing != "comparing" || changed {
						return
					}
					changed = true
					db, err := sql.Open("sqlite", db.SQLiteDSN(filepath.Join(to, DatabaseName)))
					must(t, err)
					_, err = db.Exec(test.change)
					must(t, err)
					must(t, db.Close())
				})
			must(t, err)
			if !strings.Contains(strings.Join(r.Differences, "\n"), test.want) {
				t.Errorf("found %q, want %q", r.Differences, test.want)
			}
			if _, err := Open(t.Context(), Options{Dir: to}); err == nil || !strings.Contains(err.Error(), "did not end") {
				t.Errorf("what differs opens: %v", err)
			}
		})
	}
}

func eachPair(t *testing.T, s *Store, query string, fn func(a, b string)) {
	t.Helper()
	must(t, db.Each(t.Context(), s.db.Readers, query, nil, func(rows *sql.Rows) error {
		var a, b string
		err := rows.Scan(&a, &b)
		fn(a, b)
		return err
	}))
}

// TestCopyThereAndBack takes an installation to PostgreSQL, once cut off on the way, and back into a folder.
func TestCopyThereAndBack(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // there is no server; the embedded database is copied by the tests above
	from, rows, gifts := sourceFolder(t, 10)
	cutOff(t, Options{Dir: from}, Options{Dir: from, Database: pgtest.Fresh(t)}, "copying", 100)
	server, back := Options{Dir: from, Database: pgtest.Fresh(t)}, Options{Dir: t.TempDir()}
	for _, ends := range [][2]Options{{{Dir: from}, server}, {server, back}} {
		r, err := transfer.Copy(t.Context(), ends[0], ends[1], untold)
		must(t, err)
		if len(r.Differences) > 0 || len(r.Accounts) != 3 {
			t.Errorf("%+v", r)
		}
	}
	checkCopied(t, back.Dir, rows, gifts)
	s, err := Open(t.Context(), server)
	must(t, err)
	defer s.Close()
	verifyClean(t, s)
	for _, ends := range [][2]Options{{{Dir: from}, server}, {server, {Dir: t.TempDir()}}} {
		if _, err := transfer.Copy(t.Context(), ends[0], ends[1], untold); err == nil ||
			!strings.Contains(err.Error(), "is in use") {
			t.Errorf("beside an open store: %v", err)
		}
	}
}
