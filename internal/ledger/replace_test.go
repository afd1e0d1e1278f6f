package ledger_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// TestReplacedBeforeItIsTaken: what was found by a code is neither redeemed, held nor changed once its card is
// replaced, however late the replacement came; by its id it is.
func TestReplacedBeforeItIsTaken(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	id, first := b.gift(1000), 0
	b.replace(id)
	load := func(v gift.Voucher, c gift.Context) (gift.Voucher, gift.Entry, error) {
		return v.Redeem(gift.Redeem{Context: c, Amount: 1})
	}
	second := 2
	for _, tt := range []struct {
		seen    *int
		refused bool
	}{{&first, true}, {&second, false}, {nil, false}} {
		for _, cmd := range []ledger.Command{
			&ledger.Redeem{VoucherID: id, Redeem: gift.Redeem{Amount: 1}},
			&ledger.Hold{VoucherID: id, Hold: gift.Hold{Redeem: gift.Redeem{Amount: 1}}},
			&ledger.Change{VoucherID: id, Rule: load},
		} {
			c := b.call(operation.RedeemGift, "")
			c.Seen = tt.seen
			_, err := b.engine.Do(t.Context(), c, cmd)
			today := "This card was replaced on " + time.Now().UTC().Format("2 January 2006")
			if tt.refused != errors.Is(err, refusal.RedemptionNotAllowed) || tt.refused && !strings.Contains(err.Error(),
				today) ||
				!tt.refused && err != nil {
				t.Errorf("%T, %+v: %v", cmd, tt, err)
			}
		}
	}
	b.verify()
}

// replace replaces the card of a gift and gives the new one.
func (b *bench) replace(id guid.ID) (card ledger.Secrets) {
	b.Helper()
	c := b.call(operation.ReplaceGift, "")
	c.Render = func(r ledger.Result, _ error) ledger.Answer {
		card = r.Secrets
		return ledger.Answer{Code: ledger.OK, Body: []byte("replaced")}
	}
	_, err := b.engine.Do(b.Context(), c, &ledger.Replace{VoucherID: id, Replace: gift.Replace{Caller: b.caller}})
	if err != nil {
		b.Errorf("replacing: %v", err)
	}
	return card
}

// TestReplacedWhileItIsTaken replaces a gift again and again while others redeem it by whatever card they find it by:
// none takes anything by a card that an earlier entry replaced.
func TestReplacedWhileItIsTaken(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{Lanes: 4})
	id, stop := b.gift(1_000_000), make(chan struct{})
	var tills sync.WaitGroup
	for range 8 {
		tills.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				g, err := b.store.Gift(t.Context(), b.caller.Account.ID, id)
				if err != nil {
					t.Error(err)
					return
				}
				seen := g.Replaced
				c := b.call(operation.RedeemGift, "")
				c.Seen = &seen
				c.Render = func(r ledger.Result, _ error) ledger.Answer {
					if len(r.Entries) == 1 && r.Vouchers[0].Replaced != seen {
						t.Errorf("redeemed by card %d after it was replaced by entry %d", seen, r.Vouchers[0].Replaced)
					}
					return ledger.Answer{Code: ledger.OK, Body: []byte("taken")}
				}
				_, err = b.engine.Do(t.Context(), c, &ledger.Redeem{VoucherID: id, Redeem: gift.Redeem{Amount: 1}})
				if err != nil && !errors.Is(err, refusal.RedemptionNotAllowed) {
					t.Error(err)
				}
			}
		})
	}
	for range 50 {
		card := b.replace(id)
		if g, err := b.store.GiftByCode(t.Context(), card.Code); err != nil || g.ID != id {
			t.Errorf("the new card leads to %s, %v", g.ID, err)
		}
	}
	close(stop)
	tills.Wait()
	b.verify()
}

// TestADeliveryThatIsRefusedReplacesNothing: limits, and a message that is on its way.
func TestADeliveryThatIsRefusedReplacesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	g := b.mailed(1, time.Now())[0]
	b.caller.Account.Limits = merchant.Limits{MessagesPerContactPerDay: 1}
	ask := func(to string) error {
		c := b.call(operation.ReplaceGift, "")
		c.Caller, c.Account = b.caller, b.caller.Account
		cmd := &ledger.Replace{VoucherID: g.ID, Replace: gift.Replace{Caller: b.caller}}
		if to != "" {
			cmd.Deliver = &gift.Resend{Caller: b.caller, Method: contact.Email, Contact: to}
		}
		_, err := b.engine.Do(t.Context(), c, cmd)
		return err
	}
	if err := ask("ben@example.com"); err != nil {
		t.Fatal(err)
	}
	if err := ask("ben@example.com"); !errors.Is(err, refusal.RateLimited) {
		t.Errorf("a second message to one contact: %v", err)
	}
	if jobs, err := b.store.ClaimJobs(t.Context(), time.Now().Add(time.Second), time.Minute, 10); err != nil ||
		len(jobs) != 1 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	if err := ask(""); !errors.Is(err, refusal.RedemptionNotAllowed) {
		t.Errorf("while its message is being sent: %v", err)
	}
	after, err := b.store.Gift(t.Context(), g.AccountID, g.ID)
	if err != nil || after.Seq != 3 || after.Replaced != 2 {
		t.Errorf("it has %d entries, replaced by %d, %v", after.Seq, after.Replaced, err)
	}
	b.verify()
}
