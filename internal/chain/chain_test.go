package chain

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/sealed"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func id(n byte) guid.ID { return guid.ID(bytes.Repeat([]byte{n}, 16)) }

// fixedKeys are the same in each run.
func fixedKeys(t *testing.T) *sealed.Keys {
	t.Helper()
	file := filepath.Join(t.TempDir(), sealed.FileName)
	part := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	text := fmt.Appendf(nil, `{"format":1,"current":3,"keys":[{"id":3,"lookup":%q,"seal":%[1]q,"fingerprint":%[1]q}]}`,
		part)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	keys, err := sealed.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// entry is one that has something in every column, and the voucher of a first entry.
func entry(seq int) (gift.Entry, *gift.Voucher) {
	return gift.Entry{ID: id(1), AccountID: id(2), VoucherID: id(3), Seq: seq, Previous: id(4), Kind: gift.Issued,
			Delta: -5, Balance: 6,
			Status: gift.Claimed, At: noon, Actor: merchant.Actor{KeyID: id(7), LocationID: id(8)}, Reverses: id(9),
			Reference: "reference",
			Reason:    "reason", RequestID: "request"},
		&gift.Voucher{ID: id(3), AccountID: id(2), OrderID: id(10), ProgramID: id(11), LocationID: id(12), Item: true,
			PromotionID: id(13),
			Currency:    money.Currency{Code: "USD", Decimals: 2}, Funded: 14, ValidFrom: noon,
			CreatedAt: noon.Add(time.Second),
			MadeBy:    "maker"}
}

func noTerms(*gift.Entry) (*gift.Voucher, guid.ID) { return nil, guid.ID{} }

// TestFormat: what is chained today is checked by the programs of later years.
func TestFormat(t *testing.T) {
	t.Parallel()
	auth := fixedKeys(t).Authenticator()
	first, v := entry(1)
	second, _ := entry(2)
	w := NewWriter(auth, id(20))
	genesis := w.Genesis([]Head{{Place{id(19), 4}, sealed.MAC{3, 1}}})
	row, at := w.Group([]gift.Entry{first, second}, func(e *gift.Entry) (*gift.Voucher, guid.ID) { return v, id(15) })
	change := SetupChange{Number: 5, Version: 6, At: noon, By: "somebody", What: "something", Before: [32]byte{1},
		After: [32]byte{2}}
	change.Authenticate(auth, row.MAC)
	if at != (Place{id(20), 1}) || row.Place != (Place{id(20), 2}) {
		t.Errorf("the group begins at %v and ends at %v", at, row.Place)
	}
	const want = "1313131313131313131313131313131300000000000000040301000000000000000000000000000000\n" +
		"036781d3c0005d3d02b38e1b7c61023609\n" +
		"a80187fdee7a2a9db8a7341e381cd1697e4741c2cf31a47bc20b86be62fc0db1\n" +
		"03cf47e762750ce1fd1a02046332fa9cf9\n" +
		"03d56fb7cca4acda6c505a5f70699ccca3"
	if got := fmt.Sprintf("%x\n%x\n%x\n%x\n%x", genesis.Content, genesis.MAC, row.Content, row.MAC,
		change.MAC); got != want {
		t.Errorf("it is now\n%s\nwant\n%s", got, want)
	}
}

// books are chains as a database has them.
type books struct {
	t       *testing.T
	keys    *sealed.Keys
	rows    []Row
	entries []gift.Entry
	places  []Place
}

func (b *books) writer(n byte) *Writer { return NewWriter(b.keys.Authenticator(), id(n)) }

// begin begins a chain that knows all others.
func (b *books) begin(n byte) *Writer {
	w := b.writer(n)
	heads := map[guid.ID]Head{}
	for _, r := range b.rows {
		heads[r.Writer] = Head{r.Place, r.MAC}
	}
	var all []Head
	for _, h := range heads {
		all = append(all, h)
	}
	b.rows = append(b.rows, w.Genesis(all))
	return w
}

// enter commits a group of n entries.
func (b *books) enter(w *Writer, n int) {
	var group []gift.Entry
	for range n {
		e, _ := entry(2)
		e.ID = guid.ID{byte(len(b.entries) + len(group)), 1}
		group = append(group, e)
	}
	row, first := w.Group(group, noTerms)
	w.Committed()
	b.rows, b.entries = append(b.rows, row), append(b.entries, group...)
	for i := range group {
		b.places = append(b.places, Place{first.Writer, first.N + int64(i)})
	}
}

// check gives all problems, and a checkpoint.
func (b *books) check(since ...Head) (problems []string, checkpoint []Head) {
	c := NewCheck(b.keys.Authenticator(), func(p string) { problems = append(problems, p) })
	for _, h := range since {
		c.Expect(h)
	}
	digests := map[Digest]bool{}
	for _, r := range b.rows {
		if r.N == 0 {
			c.Genesis(r)
		}
		for d := range slices.Chunk(r.Content, digestSize) {
			if len(d) == digestSize {
				digests[Digest(d)] = true
			}
		}
	}
	for _, r := range b.rows {
		c.Row(r)
	}
	c.Rows()
	for i := range b.entries {
		c.Entry(b.places[i], &b.entries[i], digests[DigestOf(b.places[i], &b.entries[i], nil, guid.ID{})])
	}
	c.Missing()
	return problems, c.Checkpoint()
}

func newBooks(t *testing.T) *books {
	b := &books{t: t, keys: fixedKeys(t)}
	one := b.begin(1)
	b.enter(one, 2)
	b.enter(one, 1)
	two := b.begin(2)
	b.enter(two, 3)
	b.enter(two, 1)
	return b
}

// TestProblems: each problem is told once, in words that name the place.
func TestProblems(t *testing.T) {
	t.Parallel()
	one, two := id(1).String(), id(2).String()
	for name, c := range map[string]struct {
		damage func(*books)
		want   []string
	}{
		"nothing": {func(b *books) {}, nil},
		"another text": {func(b *books) { b.entries[1].Reason = "another" }, []string{"gift " + id(3).String() +
			" is not as it was written", "1 entries are missing that are in a group of chain " + one + ": from its entry 2 on"}},
		"entries that are gone": {func(b *books) {
			b.entries, b.places = slices.Delete(b.entries, 3, 5), slices.Delete(b.places, 3, 5)
		}, []string{"2 entries are missing that are in a group of chain " + two + ": from its entry 1 on"}},
		"another digest": {func(b *books) { b.rows[4].Content[0]++ }, []string{"the group of chain " + two +
			" that ends with its entry 3 is not as it was written", "is not as it was written", "1 entries are missing"}},
		"a row that is gone": {func(b *books) { b.rows = slices.Delete(b.rows, 4, 5) },
			[]string{"groups are missing from chain " + two + ": between its entries 0 and 4", "was never", "was never",
				"was never"}},
		"no genesis": {func(b *books) { b.rows = slices.Delete(b.rows, 3, 4) },
			[]string{"chain " + two + " has lost its genesis"}},
		"another genesis": {func(b *books) { b.rows[3].Content[30]++ }, []string{"chain " + one, "the group of chain " +
			two + " that ends with its entry 0 is not as it was written"}},
		"a tail that is gone": {func(b *books) {
			b.rows, b.entries, b.places = slices.Delete(b.rows, 2, 3), slices.Delete(b.entries, 2, 3), slices.Delete(b.places, 2,
				3)
		}, []string{"chain " + one + " had come to its entry 3, and ends with its entry 2"}},
		"a chain that is gone": {func(b *books) { b.rows, b.entries, b.places = b.rows[3:], b.entries[3:], b.places[3:] },
			[]string{"chain " + one + " had come to its entry 3, and ends with its entry 0"}},
		"an unknown key": {func(b *books) { b.rows[2].MAC[0] = 9 },
			[]string{"chain " + one + " that ends with its entry 3 is not as it was written", "chain " + one +
				" is not what it was"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBooks(t)
			c.damage(b)
			found, _ := b.check()
			if len(found) != len(c.want) {
				t.Fatalf("found %q, want %d problems", found, len(c.want))
			}
			for i, want := range c.want {
				if !strings.Contains(found[i], want) {
					t.Errorf("found %q, want %q", found[i], want)
				}
			}
		})
	}
}

// TestCheckpoint: it has what no genesis knows, comes back from its text, and finds what is gone from the end.
func TestCheckpoint(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	_, heads := b.check()
	if len(heads) != 2 || heads[0].Place != (Place{id(2), 4}) || !heads[1].Writer.IsZero() {
		t.Fatalf("the checkpoint is %v, want the second chain, and the set-up's", heads)
	}
	var text bytes.Buffer
	if err := WriteCheckpoint(&text, heads); err != nil {
		t.Fatal(err)
	}
	again, err := ReadCheckpoint(bytes.NewReader(text.Bytes()))
	if err != nil || !slices.Equal(again, heads) {
		t.Fatalf("%s is read as %v, %v", &text, again, err)
	}
	if found, _ := b.check(heads...); len(found) > 0 {
		t.Errorf("all is there, and there is found: %q", found)
	}
	for _, broken := range []string{"x", "setup 1", "setup x " + strings.Repeat("00", 17), "setup 1 00", text.String() +
		"\n"} {
		if _, err := ReadCheckpoint(strings.NewReader(broken)); err == nil {
			t.Errorf("%q is taken", broken)
		}
	}
	b.rows, b.entries, b.places = b.rows[:5], b.entries[:6], b.places[:6]
	if found, _ := b.check(); len(found) > 0 {
		t.Errorf("a lost end is found without a checkpoint: %q", found)
	}
	if found, _ := b.check(heads...); len(found) != 1 ||
		!strings.Contains(found[0], "had come to its entry 4, and ends with its entry 3") {
		t.Errorf("a lost end: %q", found)
	}
}

// TestRolledBack: what was not committed leaves no gap, and what goes on while it is checked is no problem.
func TestRolledBack(t *testing.T) {
	t.Parallel()
	b := &books{t: t, keys: fixedKeys(t)}
	w := b.begin(1)
	b.enter(w, 1)
	e, _ := entry(2)
	w.Group([]gift.Entry{e, e}, noTerms)
	w.RolledBack()
	b.enter(w, 1)
	rows := b.rows
	b.enter(w, 1)
	if found, _ := b.check(); len(found) > 0 {
		t.Errorf("found %q", found)
	}
	if !w.Begun() || b.writer(2).Begun() {
		t.Error("a chain has begun once its genesis is committed, and not before")
	}
	c := NewCheck(b.keys.Authenticator(), func(p string) { t.Error(p) })
	for _, r := range rows {
		c.Row(r)
	}
	c.Rows()
	for i := range b.entries { // one is newer than the rows
		c.Entry(b.places[i], &b.entries[i], true)
	}
	c.Missing()
}

// TestSetup: the set-up's chain is followed to what the set-up is.
func TestSetup(t *testing.T) {
	t.Parallel()
	auth := fixedKeys(t).Authenticator()
	var log []SetupChange
	before := sealed.MAC{}
	for n := range 3 {
		c := SetupChange{Number: int64(n + 1), Version: int64(n), At: noon, By: "somebody", What: "something",
			Before: [32]byte{byte(n)}, After: [32]byte{byte(n + 1)}}
		c.Authenticate(auth, before)
		log, before = append(log, c), c.MAC
	}
	for want, damage := range map[string]func([]SetupChange) ([]SetupChange, byte, int64){
		"": func(l []SetupChange) ([]SetupChange, byte, int64) { return l, 3, 2 },
		"changes 2 to 2 are missing": func(l []SetupChange) ([]SetupChange, byte, int64) {
			return slices.Delete(l, 1,
				2), 3, 2
		},
		"change 2 of the set-up is not as": func(l []SetupChange) ([]SetupChange, byte, int64) {
			l[1].By = "x"
			return l, 3,
				2
		},
		"past boon, since its last change":  func(l []SetupChange) ([]SetupChange, byte, int64) { return l, 4, 2 },
		"past boon, since its last change:": func(l []SetupChange) ([]SetupChange, byte, int64) { return l, 3, 3 },
		"past boon, before its change 3": func(l []SetupChange) ([]SetupChange, byte, int64) {
			l[2].Before = [32]byte{9}
			l[2].Authenticate(auth, l[1].MAC)
			return l, 3, 2
		},
		"are what change 3 of the set-up says, and tills": func(l []SetupChange) ([]SetupChange, byte, int64) {
			return l, 13, 2
		},
		"had 3 changes, and has 2": func(l []SetupChange) ([]SetupChange, byte, int64) { return l[:2], 2, 1 },
	} {
		var found []string
		c := NewCheck(auth, func(p string) { found = append(found, p) })
		if strings.Contains(want, "had 3") {
			c.Expect(Head{Place{N: 3}, log[2].MAC})
		}
		l, hash, version := damage(slices.Clone(log))
		for _, change := range l {
			c.SetupChange(change)
		}
		c.Setup([32]byte{hash}, [32]byte{hash - 10}, version)
		if all := strings.Join(found, "\n"); !strings.Contains(all, want) || (want == "") != (len(found) == 0) {
			t.Errorf("found %q, want %q", found, want)
		}
	}
}

// TestEntriesBetweenRows: entries come while a chain goes on, as they do to the auditor beside a service.
func TestEntriesBetweenRows(t *testing.T) {
	t.Parallel()
	b := &books{t: t, keys: fixedKeys(t)}
	w := b.begin(20)
	var problems []string
	check := NewCheck(b.keys.Authenticator(), func(problem string) { problems = append(problems, problem) })
	rows, entries := 0, 0
	for range 4 {
		b.enter(w, 50)
		for ; rows < len(b.rows); rows++ {
			check.Row(b.rows[rows])
		}
		for ; entries < len(b.entries)-30; entries++ { // the last ones come later, or never
			check.Entry(b.places[entries], &b.entries[entries], true)
		}
	}
	check.Rows()
	check.Missing()
	if len(problems) != 1 || !strings.HasPrefix(problems[0], "30 entries are missing") {
		t.Errorf("found %q, want the 30 that never came", problems)
	}
}

// TestWhenAGiftWasIssuedIsChained: when another system issued an imported gift is part of what is chained, apart from
// whoever was at a till.
func TestWhenAGiftWasIssuedIsChained(t *testing.T) {
	t.Parallel()
	e, v := entry(1)
	e.Kind = gift.Imported
	digests := map[Digest]string{}
	for name, change := range map[string]func(*gift.Entry){"nothing": func(*gift.Entry) {},
		"a day": func(e *gift.Entry) { e.IssuedOn = noon }, "another": func(e *gift.Entry) { e.IssuedOn = noon.Add(1000) },
		"a person": func(e *gift.Entry) { e.Actor.Person = "Ann" },
		"both":     func(e *gift.Entry) { e.Actor.Person, e.IssuedOn = "Ann", noon }} {
		changed := e
		change(&changed)
		d := DigestOf(Place{}, &changed, v, guid.ID{})
		if same, known := digests[d]; known {
			t.Errorf("an entry with %s has the digest of that with %s", name, same)
		}
		digests[d] = name
	}
}
