package server_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/gift"
	"boon.example/internal/retention"
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

// TestAnAccountIsLookedThroughOnceADay: what ended is erased in the first round, what ended since a day later, and
// after a round that failed in the next.
func TestAnAccountIsLookedThroughOnceADay(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	account, err := gift.ParseID(examples.HarborAccount)
	if err != nil {
		t.Fatal(err)
	}
	keeper := &retention.Keeper{Store: s.place().Open(t), Logger: slog.New(slog.DiscardHandler),
		Directory: func() *gift.Directory {
			return &gift.Directory{Accounts: map[gift.ID]*gift.Account{account: {ID: account, PersonalDataDays: 1}}}
		}}
	from := time.Now().Add(48 * time.Hour)
	failing, fail := context.WithCancel(t.Context())
	fail()
	for _, tt := range []struct {
		after  time.Duration
		ctx    context.Context
		erased bool
	}{
		{0, t.Context(), true}, {time.Hour, t.Context(), false}, {24 * time.Hour, t.Context(), true},
		{48 * time.Hour, failing, false}, {49 * time.Hour, t.Context(), true},
	} {
		used := s.sell(`{"value":5,"deliveryMethodID":3,"recipientDescription":"Ana"}`)
		s.must("POST", "/api/integration/redemption/redeem-gift", examples.HarborTillKey,
			fmt.Sprintf(`{"voucherID":%q}`, used.VoucherID), nil)
		keeper.Round(tt.ctx, from.Add(tt.after))
		var shown struct{ RecipientDescription string }
		s.must("GET", giftPath+used.VoucherID, examples.HarborOfficeKey, "", &shown)
		if erased := shown.RecipientDescription == ""; erased != tt.erased {
			t.Errorf("after %s erased: %v, want %v", tt.after, erased, tt.erased)
		}
	}
}
