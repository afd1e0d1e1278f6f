package ledger_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"boon.example/internal/ledger/engine"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/store"
)

// unread is a store of which a part cannot be read, and another one has a problem.
type unread struct{ *store.Store }

func (u unread) Check(found func(string)) verify.Check { return unreadCheck{u.Store.Check(found)} }

type unreadCheck struct{ verify.Check }

var errNoPage = errors.New("there is no such page")

func (c unreadCheck) Parts() []verify.Part {
	return append([]verify.Part{{Name: "a part that cannot be read",
		Run: func(context.Context, func(string), func(int64)) error { return errNoPage }}},
		append(c.Check.Parts(), verify.Part{Name: "the last part",
			Run: func(_ context.Context, found func(string), _ func(int64)) error { found("a problem"); return nil }})...)
}

// TestVerifyKeepsWhatItFound: where a part of the store cannot be read, what the others find is told beside that.
func TestVerifyKeepsWhatItFound(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	b.gift(50)
	for _, readers := range []int{1, 3} {
		r, err := verify.All(t.Context(), unread{b.store}, readers, func(_, _ int64) {})
		if !errors.Is(err, errNoPage) || !slices.Equal(r.Problems, []string{"a problem"}) || r.Vouchers != 1 {
			t.Errorf("with %d readers: %v; %d gifts, and %q", readers, err, r.Vouchers, r.Problems)
		}
	}
}
