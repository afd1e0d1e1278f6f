package delivery

import (
	"fmt"
	"testing"
	"time"

	"boon.example/internal/guid"
)

// TestOneAccountsSlowMessagesHoldUpNoOther: however many messages one account sends, to one slow domain or to many,
// those of another account find a sender at once, to the same domains too.
func TestOneAccountsSlowMessagesHoldUpNoOther(t *testing.T) {
	t.Parallel()
	const senders = 16
	for _, domains := range []int{1, 1_000} {
		t.Run(fmt.Sprint(domains), func(t *testing.T) {
			t.Parallel()
			l, now := lanes{perLane: senders / 4, slowest: slowShare * senders, spare: senders}, time.Now()
			domain := func(n int) string { return fmt.Sprintf("slow-%d.example", n%domains) }
			flood := laneName{account: guid.ID{1}}
			var under []*place
			for round := range 100 {
				var began []*place
				for n := range senders {
					flood.to = domain(round*senders + n)
					if p, _ := l.enter(flood, now); p != nil {
						began = append(began, p)
					}
				}
				for _, p := range began {
					if !l.slow(p) {
						t.Fatal("a slow message of the account keeps its sender")
					}
				}
				under = append(under, began...)
			}
			for n := range 4 {
				p, _ := l.enter(laneName{guid.ID{2}, domain(n)}, now)
				if p == nil {
					t.Fatalf("message %d of another account stands aside", n)
				}
				under = append(under, p)
			}
			for _, p := range under {
				l.leave(p, now)
			}
			if l.under != 0 || len(l.of) != 0 {
				t.Errorf("%d slow messages are left, of %v", l.under, l.of)
			}
		})
	}
}
