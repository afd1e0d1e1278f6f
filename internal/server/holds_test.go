package server_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
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
	account, err := gift.ParseID(examples.HarborAccount)
	if err != nil {
		t.Fatal(err)
	}
	voucher, err := gift.ParseID(g.VoucherID)
	if err != nil {
		t.Fatal(err)
	}
	s.withStore(func(db *store.Store) error {
		engine := ledger.Start(db, ledger.Options{})
		defer engine.Stop()
		_, err := engine.Do(t.Context(), ledger.Call{AccountID: account, Operation: ledger.HoldGift,
			Render: func(ledger.Result, error) ledger.Answer { return ledger.Answer{} }},
			&ledger.Hold{VoucherID: voucher, Hold: gift.Hold{Lasts: time.Second}})
		return err
	})
	history := func(kind string) bool {
		_, body, _ := s.call("GET", "/api/integration/gifting/gifts/"+g.VoucherID+"/history", examples.HarborWebShopKey, "")
		return bytes.Contains(body, []byte(`"kind":"`+kind+`"`))
	}
	if !history("HOLD") {
		t.Error("nothing is held")
	}
	s.eventually(func() bool { return history("HOLD_EXPIRED") })
	if strings.Contains(s.logs.String(), "could not be entered") {
		t.Errorf("it says %s", s.logs)
	}
}
