package server_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/server"
	"boon.example/internal/store"
)

// TestOldRecordsAreForgotten: a service deletes the records of calls that moved no value, more than go into one batch, when
// they are older than it was told to keep them; those of redemptions stay.
func TestOldRecordsAreForgotten(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	account, err := gift.ParseID(examples.HarborAccount)
	if err != nil {
		t.Fatal(err)
	}
	beside, err := store.Open(t.Context(), store.Options{Dir: s.data, Database: s.database})
	if err != nil {
		t.Fatal(err)
	}
	defer beside.Close()
	const days = 24 * time.Hour
	var c ledger.Changes
	put := func(operation ledger.Operation, key string, age time.Duration) {
		c.Requests = append(c.Requests, ledger.Request{
			RequestKey: ledger.RequestKey{AccountID: account, Operation: operation, Key: key}, At: time.Now().Add(-age)})
	}
	for n := range 450 {
		put(ledger.SendGift, fmt.Sprintf("old-%d", n), 41*days)
	}
	put(ledger.SendGift, "young", 39*days)
	put(ledger.RedeemGift, "redeemed", 400*days)
	if err := beside.Group(t.Context(), ledger.Want{}, func(*ledger.State) ledger.Changes { return c }); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- server.Run(ctx, server.Config{Listen: "127.0.0.1:0", Data: s.data, Database: s.database, KeepRequests: 40 * days})
	}()
	deadline := time.Now().Add(10 * time.Second)
	for left := -1; left != 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("old-%d is still there", left-1)
		}
		left = 0
		for n := range 450 {
			found, err := beside.Requests(t.Context(), account, ledger.SendGift, fmt.Sprintf("old-%d", n))
			if err != nil {
				t.Fatal(err)
			}
			if len(found) > 0 {
				left = n + 1
				break
			}
		}
	}
	for _, key := range []string{"young", "redeemed"} {
		if found, err := beside.Requests(t.Context(), account, "", key); err != nil || len(found) != 1 {
			t.Errorf("%s: %d records, %v; want it kept", key, len(found), err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestRecordsAreNotForgottenTooSoon(t *testing.T) {
	t.Parallel()
	if err := server.Run(t.Context(), server.Config{Data: t.TempDir(), KeepRequests: 29 * 24 * time.Hour}); err == nil {
		t.Error("29 days were accepted")
	}
}
