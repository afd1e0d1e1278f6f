package storm

import (
	"path"
	"slices"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
)

// noStorm are operations that make value and that no till of a storm calls, and why.
var noStorm = map[operation.Name]string{
	operation.CreateStock: "the cards are made before the storm",
	operation.RedeemGifts: "tills of a storm have one gift each; TestSalesRace of internal/face/api races it",
}

// movesNothing reports whether an operation leaves a gift's balance, what is held of it and what is owed for it as they
// are: a storm may do without such an operation, for its books could not tell.
func movesNothing(o operation.Name) bool {
	_, owed := o.Makes().Books()
	return o.Makes().Balance() == gift.Stays && o.Makes().Held() == gift.Stays && owed == gift.Stays
}

// TestEveryOperationIsInTheStorm holds the calls of a storm to the table of operations: each operation that moves value
// is called, by its own path, also what undoes it, and such a call is acknowledged by the entry that the table names.
func TestEveryOperationIsInTheStorm(t *testing.T) {
	t.Parallel()
	called := map[operation.Name][]gift.Kind{}
	for k, o := range operations {
		if o.does == "" {
			continue
		}
		called[o.does] = append(called[o.does], o.entry)
		if path.Base(o.path) != string(o.does) {
			t.Errorf("%s is called at %s", o.does, o.path)
		}
		makes := o.does.Makes()
		if o.entry != makes && kind(k) != receive && (o.entry != "" || makes.Balance() != gift.Stays) {
			t.Errorf("%s makes a %s, and is acknowledged by %q", o.does, makes, o.entry)
		}
		if words[k] == "" {
			t.Errorf("the report has no words for %s", o.does)
		}
	}
	if !slices.Contains(called[operation.TransferBalance], gift.TransferIn) {
		t.Error("nobody sees a transfer as the gift that receives it")
	}
	for _, o := range operation.All() {
		if why := noStorm[o]; len(called[o]) == 0 && !movesNothing(o) && why == "" {
			t.Errorf("%s moves value, and no till of a storm calls it", o)
		}
		if undo := o.UndoneBy(); undo != "" && len(called[o]) > 0 && len(called[undo]) == 0 {
			t.Errorf("%s is called, and %s never undoes it", o, undo)
		}
	}
}
