package server_test

import (
	"fmt"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/server"
)

// TestNamesOfOldGifts: an account that keeps personal data for 30 days has none of gifts that ended longer ago, by its
// own clock; those that can be used keep theirs, and its trail tells of it.
func TestNamesOfOldGifts(t *testing.T) {
	t.Parallel()
	s := startTesting(t, server.Config{})
	live, _, _ := strings.Cut(string(examples.HarborCoffee()), "\nsystemKeys:")
	kept := strings.Replace(sandbox, "    mode: test\n", "    mode: test\n    retention: {personalDataDays: 30}\n", 1)
	s.apply([]byte(live + kept))
	used := s.sandboxGift(`{"value":5,"deliveryMethodID":3,"recipientDescription":"Ana","message":"Hi"}`)
	open := s.sandboxGift(`{"value":5,"deliveryMethodID":3,"recipientDescription":"Ben"}`)
	s.must("POST", "/api/integration/redemption/redeem-gift", sandboxKey, fmt.Sprintf(`{"voucherID":%q}`, used.VoucherID), nil)
	names := func(gift soldGift) (g struct{ SenderDescription, RecipientDescription, Message string }) {
		s.must("GET", giftPath+gift.VoucherID, sandboxKey, "", &g)
		return g
	}
	s.advance("P29D")
	if g := names(used); g.RecipientDescription != "Ana" || g.Message != "Hi" {
		t.Errorf("after 29 days: %+v", g)
	}
	s.eventually(func() bool { // the set-up may not have been read yet
		s.advance("P2D")
		return names(used).RecipientDescription == ""
	})
	if g := names(used); g.Message != "" || g.SenderDescription != "Sandbox" {
		t.Errorf("after 31 days: %+v", g)
	}
	if g := names(open); g.RecipientDescription != "Ben" {
		t.Errorf("one that can be used: %+v", g)
	}
	var trail struct {
		Entries []struct{ Action, What string }
	}
	s.must("GET", "/api/integration/audit", sandboxKey, "", &trail)
	told := 0
	for _, e := range trail.Entries {
		if e.Action == "person.erased" {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%+v", trail)
	}
}
