package ledger_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// TestLongHistoriesAreNotReadByTheAuditor: it tells of them, reads the others, and still notices when what was answered is not there.
func TestLongHistoriesAreNotReadByTheAuditor(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, ledger.Options{})
	short, long := b.gift(100), b.gift(100)
	for range 5 {
		if _, err := b.redeem(t.Context(), long, 1, ""); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	seen, passed, faults := 0, 0, []string{}
	a := &ledger.Auditor{
		Shelf: b.store, Longest: 3, Pace: 1_000_000, Rest: time.Hour,
		Seen: func(n int) { seen += n }, Long: func(n int) { passed += n },
		Fault: func(finding string) { faults = append(faults, finding) },
		Away:  func(err error) { t.Error(err) },
		Round: stop,
	}
	a.Changed(ledger.Changes{Vouchers: []gift.Voucher{
		{AccountID: b.caller.Account.ID, ID: short, Seq: 1, Last: b.last(short)},
		{AccountID: b.caller.Account.ID, ID: long, Seq: 7, Last: newID()}, // one more than there is
	}})
	a.Run(ctx)
	if seen != 2 || passed != 2 { // each as one that was changed, and in the round
		t.Errorf("%d gifts looked over and %d passed over, want 2 and 2", seen, passed)
	}
	if len(faults) != 1 || !strings.Contains(faults[0], long.String()) {
		t.Errorf("found %q, want that an entry of %s is not there", faults, long)
	}
}

// last is the newest entry of a gift.
func (b *bench) last(id gift.ID) gift.ID {
	b.Helper()
	g, err := b.store.Gift(b.Context(), b.caller.Account.ID, id)
	if err != nil {
		b.Fatal(err)
	}
	return g.Last
}
