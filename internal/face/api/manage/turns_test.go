package manage

import (
	"testing"
	"testing/synctest"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/service"
)

// TestNewPINsTakeTurns: while one account sets many PINs, whose hashes take a while each, the first one of another
// account is the next.
func TestNewPINsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := New(Config{})
		callOf := func(account byte) *Call {
			c := &service.Call{Account: &merchant.Account{ID: guid.ID{account}},
				Caller: &merchant.Caller{KeyID: guid.ID{0xff, account}}}
			c.Proceed(t.Context())
			return &Call{Call: c, Operations: o}
		}
		hashed, err := o.pins.Take(t.Context(), guid.ID{1}, guid.ID{}) // one is being made
		if err != nil {
			t.Fatal(err)
		}
		order := make(chan byte, 7)
		for _, account := range []byte{1, 1, 1, 1, 1, 1, 2} {
			go func() {
				if _, err := callOf(account).hashPIN("4711"); err != nil {
					t.Error(err)
				}
				order <- account
			}()
			synctest.Wait()
		}
		hashed()
		if first := <-order; first != 2 {
			t.Errorf("the next PIN was one of account %d", first)
		}
		for range 6 {
			<-order
		}
	})
}
