package gift

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/money"
)

// TestTheTableIsWhole: each kind of entry and each type of event of an entry that has a name in Go has its row, and
// only one; no column of a row is empty that must say something.
func TestTheTableIsWhole(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "table.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string][]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if of, ok := spec.Type.(*ast.Ident); ok {
				value := spec.Values[0]
				if text, ok := value.(*ast.BasicLit); ok {
					named[of.Name] = append(named[of.Name], strings.Trim(text.Value, `"`))
				}
			}
		}
		return true
	})
	rows := map[string][]string{}
	whole := func(row any, mayBeEmpty ...string) {
		v := reflect.ValueOf(row)
		for n := range v.NumField() {
			if name := v.Type().Field(n).Name; v.Field(n).IsZero() && !slices.Contains(mayBeEmpty, name) {
				t.Errorf("%+v says nothing of %s", row, name)
			}
		}
	}
	for _, r := range kinds {
		whole(r, "undoneBy")
		rows["Kind"] = append(rows["Kind"], string(r.kind))
		rows["EventType"] = append(rows["EventType"], string(r.event))
		if r.undoneBy != "" && r.undoneBy.row().kind == "" {
			t.Errorf("%s is undone by %s, which is no kind", r.kind, r.undoneBy)
		}
	}
	slices.Sort(rows["EventType"])
	rows["EventType"] = append(slices.Compact(rows["EventType"]), string(EventHoldCaptured)) // a transfer has it twice
	for _, of := range []string{"Kind", "EventType"} {
		slices.Sort(rows[of])
		slices.Sort(named[of])
		if !slices.Equal(rows[of], named[of]) {
			t.Errorf("rows of %s: %q\nnames: %q", of, rows[of], named[of])
		}
	}
}

// step is one entry, and what its gift was before it and is after it.
type step struct {
	before, after Voucher
	entry         Entry
}

// everyStep gives what the rules do to a gift in every status, and what stands in the histories of every kind.
func everyStep(t *testing.T) (steps []step) {
	for _, s := range Statuses() {
		for _, c := range commands() {
			before := voucherIn(s)
			if after, e, changed, _ := c.do(before); changed {
				steps = append(steps, step{before, after, e})
			}
		}
	}
	for _, b := range booksOfEveryKind(t) {
		before := Voucher{}
		for _, e := range b.history {
			after := Voucher{Status: e.Status, Balance: e.Balance}
			steps = append(steps, step{before, after, e})
			before = after
		}
	}
	return steps
}

// outOfUse reports whether nothing is owed for a gift, whatever is left of it.
func (v *Voucher) outOfUse() bool { return v.Status == Cancelled || v.Status == PurchaseFailed }

// owed is what a merchant owes for a gift.
func (v *Voucher) owed() money.Amount {
	if v.outOfUse() {
		return 0
	}
	return v.Balance
}

// TestKindsDoWhatTheTableSays: whatever the rules enter does to the balance, to what is held and to what is owed what
// the table says of its kind; and it names the entry that it undoes, if its kind undoes one.
func TestKindsDoWhatTheTableSays(t *testing.T) {
	t.Parallel()
	var balance, held, owed signs
	for _, s := range everyStep(t) {
		e, kind := s.entry, s.entry.Kind
		balance.note(kind, e.Delta)
		held.note(kind, e.Held)
		if !s.before.outOfUse() || !s.after.outOfUse() { // else nothing is owed for it, whatever is done
			owed.note(kind, s.after.owed()-s.before.owed())
		}
	}
	for name, b := range booksOfEveryKind(t) {
		for _, e := range b.history {
			if e.Kind.Undoes() == e.Reverses.IsZero() {
				t.Errorf("%s: a %s undoes %s", name, e.Kind, e.Reverses)
			}
		}
	}
	for _, r := range kinds {
		for what, saw := range map[string]struct {
			is   signs
			says Effect
		}{"the balance": {balance, r.balance}, "what is held": {held, r.held}, "what is owed": {owed, r.owed}} {
			for by := money.Amount(-1); by <= 1; by++ {
				if did := saw.is[signed{r.kind, by}]; did != saw.says.Allows(by) {
					t.Errorf("a %s may change %s by %d, says the table: %v; it was seen: %v", r.kind, what, by, !did, did)
				}
			}
		}
		if (r.line == NoLine) != (r.owed == Stays) {
			t.Errorf("a %s is counted on the line %s", r.kind, r.line)
		}
	}
}

// signs tell whether an amount was seen to shrink (-1), to stay (0) and to grow (1) by entries of each kind.
type signs map[signed]bool

type signed struct {
	kind Kind
	by   money.Amount
}

func (s *signs) note(k Kind, by money.Amount) {
	if *s == nil {
		*s = signs{}
	}
	(*s)[signed{k, min(max(by, -1), 1)}] = true
}

// TestBlockedAsTheTableSays: the rules refuse of a blocked gift what the table says, and do all else.
func TestBlockedAsTheTableSays(t *testing.T) {
	t.Parallel()
	done := map[Kind]bool{}
	for _, s := range Statuses() {
		for _, c := range commands() {
			v := voucherIn(s)
			v.Blocked = ReasonLost
			_, e, changed, _ := c.do(v)
			if !changed {
				continue
			}
			if done[e.Kind] = true; !e.allowedWhenBlocked() {
				t.Errorf("%s of a blocked gift: a %s", c.name, e.Kind)
			}
		}
	}
	for _, kind := range Kinds() {
		if kind.Begins() { // no gift is blocked before
			continue
		}
		if may := kind.WhileBlocked() != Never; may != done[kind] {
			t.Errorf("a %s of a blocked gift: the table says %v, the rules say %v", kind, may, done[kind])
		}
	}
}
