package intake_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/internal/base/nice"
	"boon.example/internal/boontest"
	"boon.example/internal/event"
	"boon.example/internal/export"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/intake"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/racetest"
	"boon.example/internal/refusal"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

var dollars = money.Currency{Code: "USD", Decimals: 2}

// world is an account with cards of 16 digits of another system.
type world struct {
	*store.Store
	*merchant.Account
	asOf  time.Time
	place boontest.Place
}

func newWorld(t testing.TB) *world {
	t.Helper()
	a := &merchant.Account{ID: guid.ID{1}, Name: "Harbor Coffee", Currency: dollars, Zone: time.UTC,
		MaxGiftValue: 1_000_000, Subscriptions: []merchant.Subscription{{ProgramID: merchant.BusinessProgram.ID}},
		ImportedCodes: []merchant.CodeForm{{Digits: 16}}}
	place := boontest.NewPlace(t)
	return &world{place.Open(t), a, time.Now().UTC().Truncate(time.Second).Add(-12 * time.Hour), place}
}

// cards is a file of cards from first to last, of 10.00 and some cents.
func cards(first, last int) *strings.Reader {
	var b strings.Builder
	b.WriteString("code,balance\n")
	for n := first; n <= last; n++ {
		fmt.Fprintf(&b, "6006000000%06d,%d.%02d\n", n, 10+n/100, n%100)
	}
	return strings.NewReader(b.String())
}

func (w *world) order() *intake.Order {
	return &intake.Order{Account: w.Account, From: merchant.FromOther, AsOf: w.asOf, Count: -1, MadeBy: "Ann",
		TillsOnly: true, Progress: func(string, int, int) {}}
}

// run checks a file and brings it in.
func (w *world) run(ctx context.Context, s intake.Store, o *intake.Order, file *strings.Reader) (*intake.Report,
	*intake.Import, error) {
	r, err := intake.Check(ctx, s, o, file)
	if err != nil {
		return nil, nil, err
	}
	m, err := intake.Bring(ctx, s, o, r, file)
	return r, m, err
}

func (w *world) code(t *testing.T, n int) codes.VoucherCode {
	t.Helper()
	c, err := codes.Read(w.Account, fmt.Sprintf("6006 0000 00%02d %04d", n/10_000, n%10_000))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (w *world) finds(t *testing.T, n int) bool {
	t.Helper()
	_, err := w.GiftByCode(t.Context(), w.code(t, n))
	if err != nil && !errors.Is(err, refusal.NotFound) {
		t.Fatal(err)
	}
	return err == nil
}

func (w *world) verify(t *testing.T) {
	t.Helper()
	report, err := verify.All(t.Context(), w.Store, 1, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Problems {
		t.Error(p)
	}
}

// TestImport: a file is checked without a change, brought in, and taken back.
func TestImport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.order()
	o.Count, o.Total = 300, "3451.50"
	file := cards(1, 300)
	r, err := intake.Check(t.Context(), w, o, file)
	if err != nil || r.Taken != 300 || r.Refused != 0 || r.Total != 345_150 || len(r.Differs) > 0 || r.Refuses(o) {
		t.Fatalf("%+v, %v", r, err)
	}
	if w.finds(t, 1) {
		t.Error("a check has brought a card in")
	}
	m, err := intake.Bring(t.Context(), w, o, r, file)
	if err != nil || m.State != intake.Finished || m.Staged != 300 {
		t.Fatalf("%+v, %v", m, err)
	}
	if !w.finds(t, 1) || !w.finds(t, 300) {
		t.Error("a card is not found")
	}
	c, by, err := intake.ReadCertificate([]byte(m.Told))
	if err != nil || c.Imported != 300 || c.LinesRead != 300 || c.Total != "3451.50" || c.ImportID != m.ID.String() ||
		by.Key != w.Keys().Sign(nil).Key {
		t.Errorf("%+v, %s, %v", c, by.Key, err)
	}
	w.verify(t)

	again, m2, err := w.run(t.Context(), w, w.order(), cards(300, 301))
	if !errors.Is(err, intake.ErrRefused) || m2 != nil || again.Refused != 1 || again.Problems[0].Line != 2 {
		t.Errorf("a card that is here already: %+v, %v", again, err)
	}
	if err := w.UndoImport(t.Context(), m, o.By, func(int) {}); err != nil {
		t.Fatal(err)
	}
	if w.finds(t, 1) {
		t.Error("an import that was undone has cards")
	}
	if _, _, err := w.run(t.Context(), w, w.order(), cards(1, 300)); err != nil || !w.finds(t, 7) {
		t.Errorf("the same cards once more: %v", err)
	}
	w.verify(t)
}

// TestDatesAreReadAsTheWholeFileShows: the last line says that months stand first, and the gifts of the first lines end
// on the days that are meant. Of a file that does not show it, no gift is brought in.
func TestDatesAreReadAsTheWholeFileShows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const head = "code,balance,validUntil\n6006000000000001,10,05/04/2099\n6006000000000002,10,1/2/2099\n"
	r, _, err := w.run(t.Context(), w, w.order(), strings.NewReader(head))
	if !errors.Is(err, intake.ErrRefused) || r.Refused != 2 {
		t.Errorf("dates that could be two days: %+v, %v", r, err)
	}
	const tells = "6006000000000003,10,12/31/2099\n"
	if _, _, err := w.run(t.Context(), w, w.order(), strings.NewReader(head+tells)); err != nil {
		t.Fatal(err)
	}
	for n, want := range []string{"2099-05-04", "2099-01-02", "2099-12-31"} {
		g, err := w.GiftByCode(t.Context(), w.code(t, n+1))
		if got := g.ValidUntil.Add(-time.Second).In(w.Account.TimeZone()).Format(time.DateOnly); err != nil || got != want {
			t.Errorf("card %d ends on %s, want %s (%v)", n+1, got, want, err)
		}
	}
	w.verify(t)
}

// TestCustomersComeAlong: a card is linked to the customer that its line names, and others to nobody.
func TestCustomersComeAlong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := strings.NewReader("code,balance,customerID\n6006000000000001,10,C-20177\n6006000000000002,10,\n")
	if _, _, err := w.run(t.Context(), w, w.order(), file); err != nil {
		t.Fatal(err)
	}
	for n, want := range []string{"C-20177", ""} {
		if g, err := w.GiftByCode(t.Context(), w.code(t, n+1)); err != nil || g.CustomerID != want {
			t.Errorf("card %d is linked to %q, want %q (%v)", n+1, g.CustomerID, want, err)
		}
	}
	found, err := w.List(t.Context(), gift.Filter{AccountID: w.Account.ID, CustomerID: "C-20177", Limit: 10})
	if err != nil || len(found.Gifts) != 1 {
		t.Errorf("the customer has %d gifts, %v", len(found.Gifts), err)
	}
	w.verify(t)
}

// TestCardsOfAnotherBoonStayForTillsOnly: a card that its line has taken at tills only stays so, though nobody would
// guess its code and no such cards were asked for. An import that was interrupted goes on with it.
func TestCardsOfAnotherBoonStayForTillsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.order()
	o.TillsOnly = false
	at := 0 // how many imports of two cards there were
	for ended := false; !ended; {
		at++
		file := strings.NewReader(fmt.Sprintf("code,balance,tillsOnly\n600600000000%04d,10,true\n600600000050%04d,10,false\n",
			at, at))
		_, _, err := w.run(t.Context(), &killed{w.Store, at, true}, o, file)
		if ended = err == nil; !ended && !errors.Is(err, errKilled) {
			t.Fatalf("step %d: %v", at, err)
		}
		r, err := intake.Check(t.Context(), w, o, file)
		if err != nil {
			t.Fatal(err)
		}
		told := 1
		if r.Begun != nil && r.Begun.State == intake.Finished {
			told = -1 // nobody knows
		}
		if _, err := intake.Bring(t.Context(), w, o, r, file); err != nil || r.TillsOnly != told {
			t.Fatalf("after step %d: %d cards for tills only, want %d; %v", at, r.TillsOnly, told, err)
		}
	}
	for n, want := range map[int]bool{at: true, 500_000 + at: false} {
		g, err := w.GiftByCode(t.Context(), w.code(t, n))
		if err != nil || g.OnlyAtTills() != want {
			t.Errorf("card %d is taken at tills only: %v, want %v (%v)", n, g.OnlyAtTills(), want, err)
		}
		var out bytes.Buffer
		to := export.Gifts(&out, export.Options{Format: export.JSON, Account: w.Account, At: w.asOf})
		if err := errors.Join(to.Write(&g), to.Close()); err != nil {
			t.Fatal(err)
		}
		if said := fmt.Sprintf(`"tillsOnly":%v`, want); !strings.Contains(out.String(), said) {
			t.Errorf("the export does not say %s: %s", said, out.String())
		}
	}
	w.verify(t)
}

// TestItemsAlone: gifts of pieces come to no money. They are brought in all the same, with 0 as the total that is
// expected, and the certificate is there again.
func TestItemsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := strings.NewReader("code,quantity,label\n6006000000000001,3,Latte\n6006000000000002,1,Latte\n")
	for range 2 {
		o := w.order()
		o.Count, o.Total = 2, "0.00"
		r, m, err := w.run(t.Context(), w, o, file)
		if err != nil || m.State != intake.Finished || r.Pieces != 4 || r.Total != 0 {
			t.Fatalf("%+v, %+v, %v", r, m, err)
		}
	}
}

// TestInTheOrderOfTheFile: gifts and their entries have ids in the order of the file, also of an import that was
// stopped and went on. Else each row would be written on a page of its own.
func TestInTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 330 // a group of 100, one that is larger, and the last one
	if _, _, err := w.run(t.Context(), &killed{w.Store, 3, true}, w.order(), cards(1, n)); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	if _, _, err := w.run(t.Context(), w, w.order(), cards(1, n)); err != nil {
		t.Fatal(err)
	}
	var before gift.Gift
	for number := 1; number <= n; number++ {
		g, err := w.GiftByCode(t.Context(), w.code(t, number))
		if err != nil || before.ID.Compare(g.ID) >= 0 || before.Last.Compare(g.Last) >= 0 {
			t.Fatalf("line %d: the gift is %s after %s, its entry %s after %s; %v", number, g.ID, before.ID, g.Last,
				before.Last, err)
		}
		before = g
	}
}

// TestWhatWasExpected: another number of gifts, another total, and a refused line each change nothing.
func TestWhatWasExpected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		change func(*intake.Order)
		file   string
	}{
		"count":        {func(o *intake.Order) { o.Count = 4 }, "code,balance\n6006000000000001,1\n"},
		"total":        {func(o *intake.Order) { o.Total = "1.01" }, "code,balance\n6006000000000001,1\n"},
		"no amount":    {func(o *intake.Order) { o.Total = "a lot" }, "code,balance\n6006000000000001,1\n"},
		"refused line": {func(*intake.Order) {}, "code,balance\n6006000000000001,1\n6006000000000002,-1\n"},
		"in a row": {func(o *intake.Order) { o.TillsOnly = false },
			"code,balance\n6006000000000001,1\n6006000000000002,1\n"},
		"nothing": {func(o *intake.Order) { o.LeaveOut = true }, "code,balance\n6006000000000002,-1\n"},
	} {
		o := w.order()
		c.change(o)
		if r, m, err := w.run(t.Context(), w, o, strings.NewReader(c.file)); !errors.Is(err, intake.ErrRefused) || m != nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if all, err := w.Imports(t.Context(), w.ID); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
	o := w.order()
	o.LeaveOut = true
	r, m, err := w.run(t.Context(), w, o, strings.NewReader("code,balance\n6006000000000001,1\n6006000000000002,-1\n"))
	if err != nil || m.Staged != 1 || r.Refused != 1 || w.finds(t, 2) {
		t.Errorf("%+v, %v", r, err)
	}
}

// killed is a store whose process dies at a call that changes something: before it, or after it is committed.
type killed struct {
	*store.Store
	calls int // that are left
	after bool
}

var errKilled = errors.New("the process was killed")

func (k *killed) at(do func() error) error {
	k.calls--
	if k.calls < 0 || k.calls == 0 && !k.after {
		return errKilled
	}
	err := do()
	if k.calls == 0 && err == nil {
		err = errKilled
	}
	return err
}

func (k *killed) Group(ctx context.Context, want ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	return k.at(func() error { return k.Store.Group(ctx, want, decide) })
}

func (k *killed) BeginImport(ctx context.Context, m *intake.Import, by event.TrailEntry) error {
	return k.at(func() error { return k.Store.BeginImport(ctx, m, by) })
}

// Imports says nothing to the dead.
func (k *killed) Imports(ctx context.Context, account guid.ID) ([]intake.Import, error) {
	if k.calls <= 0 {
		return nil, errKilled
	}
	return k.Store.Imports(ctx, account)
}

// ConfirmImport says nothing to the dead.
func (k *killed) ConfirmImport(ctx context.Context, account, id guid.ID) (*intake.Import, error) {
	if k.calls <= 0 {
		return nil, errKilled
	}
	return k.Store.ConfirmImport(ctx, account, id)
}

func (k *killed) FinishImport(ctx context.Context, m *intake.Import, by event.TrailEntry) error {
	return k.at(func() error { return k.Store.FinishImport(ctx, m, by) })
}

// TestKilledAtEachStep: wherever an import is killed, no card is there, or all are; the same order once more brings it
// to its end, with each card once; and it can be undone in place of that.
func TestKilledAtEachStep(t *testing.T) {
	racetest.SkipShort(t, "imports one after the other")
	t.Parallel()
	w, first := newWorld(t), 1
	const n = 230 // a group of 100, one that is larger, and the last one
	for _, after := range []bool{false, true} {
		for step, ended := 1, false; !ended; step++ {
			file, last := cards(first, first+n-1), first+n-1
			_, m, err := w.run(t.Context(), &killed{w.Store, step, after}, w.order(), file)
			if ended = err == nil; !ended && !errors.Is(err, errKilled) {
				t.Fatalf("step %d: %v", step, err)
			}
			there := w.finds(t, first)
			if there != w.finds(t, last) || there && !ended && !after {
				t.Errorf("step %d: the first card is there: %v, the last: %v", step, there, w.finds(t, last))
			}
			undo := step%2 == 0 && m != nil && !there
			switch {
			case there:
				_, again, err := w.run(t.Context(), w, w.order(), file)
				if err != nil || again.ID != m.ID || again.State != intake.Finished || again.Told == "" {
					t.Errorf("step %d: the certificate of what is finished: %+v, %v", step, again, err)
				}
				if !ended && m.State != intake.Unknown {
					t.Errorf("step %d: whoever was killed says that the import is %s", step, m.State)
				}
			case undo:
				if err := w.UndoImport(t.Context(), m, w.order().By, func(int) {}); err != nil {
					t.Errorf("step %d: %v", step, err)
				}
				fallthrough
			default:
				r, again, err := w.run(t.Context(), w, w.order(), file)
				if err != nil || again.Staged != n || r.Taken != n || m != nil && (again.ID == m.ID) == undo {
					t.Errorf("step %d: %+v, %d taken, %v", step, again, r.Taken, err)
				}
			}
			if !w.finds(t, first) || !w.finds(t, last) {
				t.Errorf("step %d: a card is not there", step)
			}
			first += n
		}
	}
	w.verify(t)
	if counted, err := w.CountVouchers(t.Context()); err != nil || counted != int64(first-1) {
		t.Errorf("%d gifts, want %d; %v", counted, first-1, err)
	}
}

// TestCertificatesShowWhatWasChanged: a certificate of which any member is another one, or that has one more, is not
// taken.
func TestCertificatesShowWhatWasChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, m, err := w.run(t.Context(), w, w.order(), cards(1, 3))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := intake.ReadCertificate([]byte(strings.Join(strings.Fields(m.Told), " "))); err != nil {
		t.Errorf("with other spaces: %v", err)
	}
	tried := 0
	for line := range strings.Lines(m.Told) {
		name, value, ok := strings.Cut(line, ": ")
		if !ok || strings.HasPrefix(value, "[") {
			continue
		}
		other := strings.Replace(value, "1", "2", 1)
		if other == value {
			other = strings.Replace(value, "0", "3", 1)
		}
		if other == value {
			other = strings.Replace(value, "o", "a", 1)
		}
		if other == value {
			continue
		}
		tried++
		if _, _, err := intake.ReadCertificate([]byte(strings.Replace(m.Told, line, name+": "+other, 1))); err == nil {
			t.Errorf("%s was changed to %s", line, other)
		}
	}
	if tried < 12 {
		t.Errorf("%d members were changed", tried)
	}
	more := strings.Replace(m.Told, "{", `{"more": 1, `, 1)
	// The right number stands in the file as well, and another one is what people see.
	twice := strings.Replace(m.Told, "{", `{"giftsImported": 99, `, 1)
	large := strings.Replace(m.Told, "{", `{"GiftsImported": 99, `, 1)
	last := strings.Replace(m.Told, "\n}", `, "giftsimported": 3}`, 1)
	for _, text := range []string{more, twice, large, last, m.Told + m.Told, "", "{}", "[]", `{"certificate": "boon import 1"}`} {
		if _, _, err := intake.ReadCertificate([]byte(text)); err == nil {
			t.Errorf("%q is taken for a certificate", text)
		}
	}
}

// unheard is a store whose answer to finishing an import is lost, and whose writes are in doubt for a while.
type unheard struct {
	*store.Store
	commits  bool // the import is finished all the same
	doubtful int  // so many answers to what became of it are lost, too
}

func (u *unheard) FinishImport(ctx context.Context, m *intake.Import, by event.TrailEntry) error {
	if u.commits {
		if err := u.Store.FinishImport(ctx, m, by); err != nil {
			return err
		}
	}
	return ledger.ErrUnknown
}

func (u *unheard) ConfirmImport(ctx context.Context, account, id guid.ID) (*intake.Import, error) {
	if u.doubtful--; u.doubtful >= 0 {
		return nil, ledger.ErrUnknown
	}
	return u.Store.ConfirmImport(ctx, account, id)
}

// TestWhoeverDoesNotHearTheEndAsks: an import whose last commit is there though it failed is finished. While a failover
// may lose the commit, or the commit is not there yet, nobody knows, also whoever gives the order again.
func TestWhoeverDoesNotHearTheEndAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u := &unheard{Store: w.Store, commits: true}
	_, m, err := w.run(t.Context(), u, w.order(), cards(1, 3))
	if err != nil || m.State != intake.Finished || m.Told == "" {
		t.Errorf("%+v, %v", m, err)
	}
	u.doubtful = 3
	for n := range 4 {
		_, m, err = w.run(t.Context(), u, w.order(), cards(4, 6))
		if n < 3 && (!errors.Is(err, ledger.ErrUnknown) || m.State != intake.Unknown) {
			t.Errorf("told %d times that it may be lost: %+v, %v", n, m, err)
		}
	}
	if err != nil || m.State != intake.Finished || m.Told == "" {
		t.Errorf("%+v, %v", m, err)
	}
	u.commits = false
	_, m, err = w.run(t.Context(), u, w.order(), cards(7, 9))
	if !errors.Is(err, ledger.ErrUnknown) || m.State != intake.Unknown {
		t.Errorf("not finished yet: %+v, %v", m, err)
	}
	_, again, err := w.run(t.Context(), w, w.order(), cards(7, 9))
	if err != nil || again.ID != m.ID || again.State != intake.Finished {
		t.Errorf("%+v, %v", again, err)
	}
}

// TestTheFileChangesMeanwhile: what is written from another file than was checked is not finished, whatever of it is
// another one, and a certificate of it is not made.
func TestTheFileChangesMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n, c := range []struct{ was, is string }{
		{"1,10\n%[1]s2,20\n", "1,10\n%[1]s2,2000\n"},
		{"1,10\n%[1]s2,20\n", "1,20\n%[1]s2,10\n"},
		{"1,10\n%[1]s2,20\n", "1,10\n%[1]s3,20\n"},
		{"1,10\n%[1]s2,20\n", "1,10\n%[1]s2,20\n\n"},
		{"1,10\n%[1]s2,20\n", "1,10\n"},
	} {
		o, start := w.order(), fmt.Sprintf("60060000%07d", n)
		was := fmt.Sprintf("code,balance\n%[1]s"+c.was, start)
		r, err := intake.Check(t.Context(), w, o, strings.NewReader(was))
		if err != nil {
			t.Fatal(err)
		}
		m, err := intake.Bring(t.Context(), w, o, r, strings.NewReader(fmt.Sprintf("code,balance\n%[1]s"+c.is, start)))
		if !errors.Is(err, intake.ErrChanged) || m == nil || m.State != intake.Staged || m.Told != "" {
			t.Fatalf("%q became %q: %+v, %v", c.was, c.is, m, err)
		}
		if err := w.UndoImport(t.Context(), m, o.By, func(int) {}); err != nil {
			t.Fatal(err)
		}
		if _, m, err = w.run(t.Context(), w, o, strings.NewReader(was)); err != nil || m.State != intake.Finished {
			t.Errorf("%q, after the other was undone: %+v, %v", c.was, m, err)
		}
	}
	w.verify(t)
}

// TestGoesOnWithAnotherSetUp: what a stopped import has written is found by codes. A line that is taken only since the
// set-up was changed is written, too. Where the file comes to other gifts than were written, nothing goes on.
func TestGoesOnWithAnotherSetUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var text strings.Builder
	text.WriteString("code,balance,organization\n")
	for n := range 230 {
		place := ""
		if n == 3 || n == 7 {
			place = []string{"Pier 39", "Pier 40"}[n/7]
		}
		fmt.Fprintf(&text, "6006000000%06d,10,%s\n", n, place)
	}
	w.Locations = []merchant.Location{{ID: guid.ID{2}, Name: "Pier 39"}}
	o := w.order()
	o.LeaveOut = true
	file := strings.NewReader(text.String())
	r, m, err := w.run(t.Context(), &killed{w.Store, 2, true}, o, file)
	if !errors.Is(err, errKilled) || r.Refused != 1 || m == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	w.Locations[0].ID = guid.ID{3}
	if r, _, err := w.run(t.Context(), w, o, file); !errors.Is(err, intake.ErrRefused) || len(r.Differs) != 1 ||
		!strings.Contains(r.Differs[0].String(), m.ID.String()) {
		t.Errorf("a place was replaced by another one: %+v, %v", r, err)
	}
	w.Locations = []merchant.Location{{ID: guid.ID{2}, Name: "Pier 39"}, {ID: guid.ID{4}, Name: "Pier 40"}}
	r, again, err := w.run(t.Context(), w, o, file)
	if err != nil || again.ID != m.ID || again.Staged != 230 || r.Refused != 0 {
		t.Fatalf("%+v, %+v, %v", r, again, err)
	}
	for n := range 230 {
		if !w.finds(t, n) {
			t.Errorf("card %d is not there", n)
		}
	}
	w.verify(t)
}

// altered is a store that gives a gift that was brought otherwise than it is, in one field.
type altered struct {
	*store.Store
	field int // of intake.Taken
}

func (s altered) TakenCodes(ctx context.Context, account guid.ID, codes []codes.VoucherCode) (
	map[codes.VoucherCode]intake.Taken, error) {
	taken, err := s.Store.TakenCodes(ctx, account, codes)
	for code, by := range taken {
		switch at := reflect.ValueOf(&by).Elem().Field(s.field); at.Interface().(type) {
		case bool:
			at.SetBool(!at.Bool())
		case guid.ID:
			at.Set(reflect.ValueOf(guid.ID{99}))
		case time.Time:
			at.Set(reflect.ValueOf(time.Unix(99, 0)))
		case money.Amount:
			at.SetInt(at.Int() + 1)
		default:
			at.SetString(at.String() + "9")
		}
		taken[code] = by
	}
	return taken, err
}

// TestGoesOnOnlyWithTheSameGifts: where one thing of a gift that is written is not as the line would have it now, an
// import does not go on; neither after any change of the set-up that makes another gift of the line.
func TestGoesOnOnlyWithTheSameGifts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Locations = []merchant.Location{{ID: guid.ID{2}, Name: "Pier 39"}}
	text := "code,balance,organization,pin,validUntil\n" +
		"6006000000000001,10,Pier 39,4711,2090-01-01\n6006000000000002,20,,,\n"
	o, file := w.order(), strings.NewReader(text)
	if _, _, err := w.run(t.Context(), &killed{w.Store, 2, true}, o, file); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	check := func(s intake.Store) *intake.Report {
		t.Helper()
		r, err := intake.Check(t.Context(), s, o, file)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[intake.Taken]()) {
		if r := check(altered{w.Store, field.Index[0]}); !r.Refuses(o) {
			t.Errorf("a gift of another %s is taken for that of the line", field.Name)
		}
	}
	was := *w.Account
	for name, change := range map[string]func(*merchant.Account){
		"VAT": func(a *merchant.Account) { a.Subscriptions[0].VATTreatment = merchant.MultiPurpose },
		"VAT rate": func(a *merchant.Account) {
			a.Subscriptions[0].VATTreatment, a.Subscriptions[0].VATRate = merchant.SinglePurpose, "19"
		},
		"design":          func(a *merchant.Account) { a.DefaultDesign = guid.ID{7} },
		"location design": func(a *merchant.Account) { a.Locations[0].DefaultDesign = guid.ID{7} },
		"location":        func(a *merchant.Account) { a.Locations[0].ID = guid.ID{3} },
		"time zone":       func(a *merchant.Account) { a.Zone = time.FixedZone("Pago", -11*3600) },
	} {
		a := was
		a.Subscriptions, a.Locations = slices.Clone(was.Subscriptions), slices.Clone(was.Locations)
		change(&a)
		o.Account = &a
		if r := check(w); len(r.Differs) != 1 || !strings.Contains(r.Differs[0].String(), "another set-up") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	o.Account = w.Account
	if r := check(w); r.Refuses(o) {
		t.Errorf("the same set-up: %+v", r)
	}
}

// beside is a store beside which somebody does something at the first look for codes, or before the first group.
type beside struct {
	*store.Store
	do, before func()
}

func (b *beside) Group(ctx context.Context, want ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	if do := b.before; do != nil {
		b.before = nil
		do()
	}
	return b.Store.Group(ctx, want, decide)
}

func (b *beside) TakenCodes(ctx context.Context, account guid.ID, codes []codes.VoucherCode) (
	map[codes.VoucherCode]intake.Taken, error) {
	if do := b.do; do != nil {
		b.do = nil
		do()
	}
	return b.Store.TakenCodes(ctx, account, codes)
}

// TestAnotherProcessGoesOn: nobody is told to undo an import that another process brings in at the moment, wherever
// that is noticed.
func TestAnotherProcessGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n, c := range []struct{ finishes, late bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		o, first := w.order(), 10*n+1
		file := cards(first, first+2)
		if _, _, err := w.run(t.Context(), &killed{w.Store, 1, true}, o, file); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		r, err := intake.Check(t.Context(), w, o, file)
		if err != nil || r.Refuses(o) {
			t.Fatalf("%+v, %v", r, err)
		}
		s := &beside{Store: w.Store}
		another := func() {
			var of intake.Store = w
			if !c.finishes {
				of = &killed{w.Store, 1, true} // it goes on later
			}
			if _, _, err := w.run(t.Context(), of, w.order(), cards(first, first+2)); (err == nil) != c.finishes {
				t.Fatal(err)
			}
		}
		if s.do = another; c.late {
			s.do, s.before = nil, another
		}
		m, err := intake.Bring(t.Context(), s, o, r, file)
		if !errors.Is(err, intake.ErrMoved) || errors.Is(err, intake.ErrChanged) {
			t.Errorf("%+v: %+v, %v", c, m, err)
		}
		if _, m, err := w.run(t.Context(), w, o, file); err != nil || m.State != intake.Finished {
			t.Errorf("once more: %+v, %v", m, err)
		}
	}
	o, file := w.order(), cards(101, 103)
	if _, _, err := w.run(t.Context(), &killed{w.Store, 1, true}, o, file); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	r, err := intake.Check(t.Context(), &beside{Store: w.Store, do: func() {
		if _, _, err := w.run(t.Context(), w, w.order(), cards(101, 103)); err != nil {
			t.Fatal(err)
		}
	}}, o, file)
	if err != nil || len(r.Differs) != 1 || !strings.HasPrefix(r.Differs[0].String(), "Another process goes on") {
		t.Errorf("%+v, %v", r, err)
	}
}

// brought is what became of a file.
type brought struct {
	*intake.Import
	err error
}

// atOnce has each file be brought in by an instance of its own, at the same time.
func (w *world) atOnce(t *testing.T, instances []*store.Store, files ...*strings.Reader) []brought {
	t.Helper()
	all := make([]brought, len(files))
	var ended sync.WaitGroup
	for n, file := range files {
		ended.Go(func() { _, all[n].Import, all[n].err = w.run(t.Context(), instances[n], w.order(), file) })
	}
	ended.Wait()
	return all
}

// told is what the certificate of a finished import says: how many gifts it has. 0: it has none.
func (b *brought) told(t *testing.T) int {
	t.Helper()
	if b.err != nil {
		if b.Import != nil && b.Told != "" {
			t.Errorf("%v, and there is a certificate: %s", b.err, b.Told)
		}
		return 0
	}
	c, _, err := intake.ReadCertificate([]byte(b.Told))
	if err != nil || c.ImportID != b.ID.String() || c.Imported != b.Staged {
		t.Errorf("the certificate of import %s of %d gifts: %+v, %v", b.ID, b.Staged, c, err)
	}
	return c.Imported
}

// TestTwoFilesAtOnce: two instances bring different files of an account in at the same time. Each import has its own
// certificate, and the tally counts each once. A card that stands in both files is brought in once; the import that
// came too late shows no card, and goes on where the other one is taken back.
func TestTwoFilesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	instances := []*store.Store{w.Store, w.place.Open(t)}
	const n = 40 // several groups
	counted := 0
	for round := range 4 {
		first := 1000 * round
		apart := w.atOnce(t, instances, cards(first+1, first+n), cards(first+n+1, first+2*n))
		if apart[0].err != nil || apart[1].err != nil || apart[0].told(t) != n || apart[1].told(t) != n {
			t.Errorf("files without a card in common: %+v", apart)
		}
		counted += 2 * n

		first += 500
		both := w.atOnce(t, instances, cards(first+1, first+n), cards(first+n, first+2*n)) // one card in common
		late := 0
		if both[0].err == nil {
			late = 1
		}
		if both[late].told(t)+both[1-late].told(t) != n+1-late || !errors.Is(both[late].err, intake.ErrChanged) &&
			!errors.Is(both[late].err, intake.ErrRefused) {
			t.Fatalf("files with a card in common: %+v", both)
		}
		if w.finds(t, first+1) == (late == 0) || w.finds(t, first+2*n) == (late == 1) || !w.finds(t, first+n) {
			t.Error("a card of the import that came too late is there, or one of the other is not")
		}
		if err := w.UndoImport(t.Context(), both[1-late].Import, w.order().By, func(int) {}); err != nil {
			t.Fatal(err)
		}
		files := []*strings.Reader{cards(first+1, first+n), cards(first+n, first+2*n)}
		_, m, err := w.run(t.Context(), instances[1-late], w.order(), files[late])
		if again := (brought{m, err}); again.told(t) != n+late || both[late].Import != nil && m.ID != both[late].ID {
			t.Errorf("once the other import was taken back: %+v, %v", m, err)
		}
		counted += n + late
	}
	if is, err := w.CountVouchers(t.Context()); err != nil || is != int64(counted) {
		t.Errorf("%d gifts are counted, want %d; %v", is, counted, err)
	}
	w.verify(t)
}

// TestWhatIsNotLiveMoneyIsNotImported: of an export of Boon, gifts that are cancelled, blocked, held or promotional are
// refused, and one that is not valid yet stays so.
func TestWhatIsNotLiveMoneyIsNotImported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	later := time.Now().UTC().Truncate(time.Second).AddDate(0, 1, 0)
	gifts := map[string]func(*gift.Gift){"good": func(*gift.Gift) {},
		"not yet":   func(g *gift.Gift) { g.ValidFrom = later },
		"cancelled": func(g *gift.Gift) { g.Status = gift.Cancelled }, "blocked": func(g *gift.Gift) { g.Blocked = "LOST" },
		"pending": func(g *gift.Gift) { g.Status = gift.Pending }, "promotional": func(g *gift.Gift) { g.Promotional = true },
		"held": func(g *gift.Gift) { g.Holds = []gift.OpenHold{{Left: 100, Until: later}} }}
	var text bytes.Buffer
	out := export.Gifts(&text, export.Options{Format: export.CSV, Account: w.Account, Codes: true, At: time.Now()})
	n := 0
	for name, change := range gifts {
		code, err := codes.ParseImported(w.Account, fmt.Sprintf("6006000000%06d", n))
		if err != nil {
			t.Fatal(err)
		}
		n++
		g := gift.Gift{Voucher: gift.Voucher{ID: guid.ID{9, byte(n)}, AccountID: w.ID, Currency: dollars, Funded: 1000,
			Balance: 1000,
			Status:  gift.Claimed, ProgramID: merchant.BusinessProgram.ID},
			Card: gift.Card{Code: code, Purchase: gift.Purchase{Reference: name}}}
		change(&g)
		if err := out.Write(&g); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	o := w.order()
	o.LeaveOut = true
	r, _, err := w.run(t.Context(), w, o, strings.NewReader(text.String()))
	if err != nil || r.Taken != 2 || r.Refused != 5 {
		t.Fatalf("%+v, %v", r, err)
	}
	page, err := w.List(t.Context(), gift.Filter{AccountID: w.ID, Limit: 10})
	if err != nil || len(page.Gifts) != 2 {
		t.Fatalf("%d gifts, %v", len(page.Gifts), err)
	}
	for i := range page.Gifts {
		g := &page.Gifts[i]
		name := g.Card.Purchase.Reference
		if name != "good" && name != "not yet" || g.ValidFrom.Equal(later) != (name == "not yet") {
			t.Errorf("%s is imported, valid from %s", name, g.ValidFrom)
		}
	}
}

// beats counts how often somebody says to be at an import.
type beats struct {
	intake.Store
	n atomic.Int32
}

func (b *beats) NoteAlive(context.Context, *intake.Import) error {
	b.n.Add(1)
	return errors.New("the database is away")
}

// TestWhoeverIsAtAnImportSaysSo: at once, and then so often that nobody takes the import for abandoned, until it ends.
func TestWhoeverIsAtAnImportSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b beats
		end := intake.Tend(t.Context(), &b, &intake.Import{})
		synctest.Wait()
		if n := b.n.Load(); n != 1 {
			t.Errorf("it is said %d times at once", n)
		}
		for range 10 {
			before := b.n.Load()
			time.Sleep(time.Minute)
			synctest.Wait()
			if n := b.n.Load() - before; n < 2 || n > 10 {
				t.Errorf("in a minute it is said %d times", n)
			}
		}
		end()
		before := b.n.Load()
		time.Sleep(time.Hour)
		if b.n.Load() != before {
			t.Error("it is said after the end")
		}
	})
}

// TestCheckingMakesRoomForTills: whoever checks a file looks again and again whether a till calls, at any step of it.
func TestCheckingMakesRoomForTills(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := 0
	ctx := nice.Background(t.Context(), func() bool { asked++; return false })
	const lines = 20_000
	if r, err := intake.Check(ctx, w, w.order(), cards(1, lines)); err != nil || r.Taken != lines {
		t.Fatalf("%+v, %v", r, err)
	}
	if asked < lines/1000 { // each thousand takes some stretches of half a millisecond
		t.Errorf("%d lines were looked at without a look at tills, but for %d", lines, asked)
	}
}

// most is a store that notes how many codes were looked for at once.
type most struct {
	*store.Store
	codes int
}

func (m *most) TakenCodes(ctx context.Context, account guid.ID, codes []codes.VoucherCode) (
	map[codes.VoucherCode]intake.Taken, error) {
	m.codes = max(m.codes, len(codes))
	return m.Store.TakenCodes(ctx, account, codes)
}

// TestFewCodesAtOnceBesideTills: the store finds codes in one step, so while tills call, a step has few of them.
func TestFewCodesAtOnceBesideTills(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const lines = 2_000
	for _, c := range []struct {
		tills       bool
		least, most int
	}{{true, 10, 100}, {false, 500, 1_000}} {
		s := &most{Store: w.Store}
		ctx := nice.Background(t.Context(), func() bool { return c.tills })
		if r, err := intake.Check(ctx, s, w.order(), cards(1, lines)); err != nil || r.Taken != lines {
			t.Fatalf("%+v, %v", r, err)
		}
		if s.codes < c.least || s.codes > c.most {
			t.Errorf("while tills call (%t), %d codes are looked for at once", c.tills, s.codes)
		}
	}
}
