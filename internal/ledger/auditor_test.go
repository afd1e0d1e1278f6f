package ledger_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/ledger/verify"
)

// TestLongHistoriesAreNotReadByTheAuditor: it tells of them, reads the others, and still notices when what was
// answered is not there.
func TestLongHistoriesAreNotReadByTheAuditor(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	short, long := b.gift(100), b.gift(100)
	for range 5 {
		if _, err := b.redeem(t.Context(), long, 1, ""); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var log lockedBuffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	a := &verify.Auditor{Store: b.store, Logger: logger, Longest: 3, Pace: 1_000_000, Rest: time.Hour}
	a.Changed(ledger.Changes{Vouchers: []gift.Voucher{
		{AccountID: b.caller.Account.ID, ID: short, Seq: 1, Last: b.last(short)},
		{AccountID: b.caller.Account.ID, ID: long, Seq: 7, Last: newID()}, // one more than there is
	}})
	ended := make(chan struct{})
	go func() { defer close(ended); a.Run(ctx) }()
	for a.Audited.LastRound.Load() == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	<-ended
	// Each gift is checked as one that was changed, and in the round.
	if seen, passed := a.Audited.Gifts.Load(), a.Audited.TooLong.Load(); seen != 2 || passed != 2 {
		t.Errorf("%d gifts audited and %d left out, want 2 and 2", seen, passed)
	}
	if said := log.String(); a.Audited.Problems.Load() != 1 || !strings.Contains(said, long.String()) {
		t.Errorf("it says %s, want that an entry of %s is not there", said, long)
	}
}

// last is the newest entry of a gift.
func (b *bench) last(id guid.ID) guid.ID {
	b.Helper()
	g, err := b.store.Gift(b.Context(), b.caller.Account.ID, id)
	if err != nil {
		b.Fatal(err)
	}
	return g.Last
}

// lockedBuffer is a log that can be read while it is written.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
