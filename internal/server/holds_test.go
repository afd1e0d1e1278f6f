package server_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/server"
	"boon.example/internal/store"
)

// TestHoldsAreEnteredWhenTheyAreOver: also those of gifts that nobody touches again.
func TestHoldsAreEnteredWhenTheyAreOver(t *testing.T) {
	t.Parallel()
	if server.HoldsEvery > time.Minute {
		t.Errorf("holds are looked at every %v only", server.HoldsEvery)
	}
	s := start(t, server.Config{HoldsEvery: 50 * time.Millisecond})
	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	s.hold(time.Second, g)
	if !s.entered(g, "HOLD") {
		t.Error("nothing is held")
	}
	s.eventually(func() bool { return s.entered(g, "HOLD_EXPIRED") })
	if strings.Contains(s.logs.String(), "could not be entered") {
		t.Errorf("it says %s", s.logs)
	}
}

// hold holds all of some gifts.
func (s *service) hold(lasts time.Duration, gifts ...soldGift) {
	s.Helper()
	s.withStore(func(db *store.Store) (failed error) {
		started := engine.Start(db, engine.Options{})
		defer started.Stop()
		for _, g := range gifts {
			account, err := guid.Parse(examples.HarborAccount)
			failed = errors.Join(failed, err)
			voucher, err := guid.Parse(g.VoucherID)
			failed = errors.Join(failed, err)
			_, err = started.Do(s.Context(), ledger.Call{AccountID: account, Operation: operation.HoldGift,
				Render: func(ledger.Result, error) ledger.Answer { return ledger.Answer{} }},
				&ledger.Hold{VoucherID: voucher, Hold: gift.Hold{Lasts: lasts}})
			failed = errors.Join(failed, err)
		}
		return failed
	})
}

// entered tells whether the history of a gift has an entry of a kind.
func (s *service) entered(g soldGift, kind string) bool {
	_, body, _ := s.call("GET", giftPath+g.VoucherID+"/history", examples.HarborWebShopKey, "")
	return bytes.Contains(body, []byte(`"kind":"`+kind+`"`))
}

// TestHoldsThatCannotBeEntered: however many there are, the holds of other gifts are entered.
func TestHoldsThatCannotBeEntered(t *testing.T) {
	t.Parallel()
	s := &service{T: t, data: t.TempDir(), logs: &boontest.Log{}}
	s.apply(examples.HarborCoffee())
	s.run(server.Config{HoldsEvery: time.Hour})
	var damaged []soldGift
	for range 70 {
		damaged = append(damaged, s.sell(`{"value":50,"deliveryMethodID":3}`))
	}
	whole := s.sell(`{"value":60,"deliveryMethodID":3}`)
	s.hold(time.Millisecond, damaged...)
	s.hold(time.Second, whole)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.damage(`UPDATE voucher SET holds = '{' WHERE balance = 5000`)
	s.run(server.Config{HoldsEvery: 50 * time.Millisecond})
	s.eventually(func() bool { return s.entered(whole, "HOLD_EXPIRED") })
	if !strings.Contains(s.logs.String(), "could not be entered") {
		t.Error("the log does not say that some could not be entered")
	}
}
