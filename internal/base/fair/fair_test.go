package fair

import (
	"context"
	"testing"
	"testing/synctest"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// TestTurnsAreFair: while one account has a hundred calls waiting, the first call of another one is the next, and so
// is the first call of another till of that account before the rest of the first till's.
func TestTurnsAreFair(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		places := New(2)
		order := make(chan string, 200)
		call := func(name string, account, till byte) {
			c := &merchant.Caller{Account: &merchant.Account{ID: guid.ID{account}}, KeyID: guid.ID{0xff, till}}
			go func() {
				done, err := places.Take(t.Context(), c.Account.ID, c.KeyID)
				if err != nil {
					t.Error(err)
					return
				}
				order <- name
				done()
			}()
			synctest.Wait()
		}
		busy := &merchant.Caller{Account: &merchant.Account{ID: guid.ID{1}}, KeyID: guid.ID{0xff, 1}}
		var held []func()
		for range 2 {
			done, err := places.Take(t.Context(), busy.Account.ID, busy.KeyID)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, done)
		}
		for range 100 {
			call("flood", 1, 1)
		}
		call("own", 1, 2)
		call("other", 2, 3)
		call("third", 3, 4)
		held[0]()
		synctest.Wait()
		var got []string
		for range 3 {
			got = append(got, <-order)
		}
		if got[0] != "other" || got[1] != "third" || got[2] != "own" {
			t.Errorf("the first three were %v", got)
		}
		held[1]()
		synctest.Wait()
		if len(order) != 100 || places.free != 2 {
			t.Errorf("%d of 100 calls had a turn, and %d places are free", len(order), places.free)
		}
	})
}

// TestTurnsThatWereGivenUp: who hangs up while waiting, or as the place comes, keeps nobody from it.
func TestTurnsThatWereGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		places := New(1)
		c := &merchant.Caller{Account: &merchant.Account{ID: guid.ID{1}}, KeyID: guid.ID{2}}
		for range 100 {
			done, err := places.Take(t.Context(), c.Account.ID, c.KeyID)
			if err != nil {
				t.Fatal(err)
			}
			ctx, giveUp := context.WithCancel(t.Context())
			go func() {
				if done, err := places.Take(ctx, c.Account.ID, c.KeyID); err == nil {
					done()
				}
			}()
			synctest.Wait()
			go giveUp()
			done()
			synctest.Wait()
			if places.free != 1 || len(places.waiting) != 0 {
				t.Fatalf("%d places are free, and %d wait", places.free, len(places.waiting))
			}
		}
	})
}

// TestAnAccountHasItsShareOfPlaces: where accounts leave places to others, another one finds one at once, however long
// many accounts keep all that they can take.
func TestAnAccountHasItsShareOfPlaces(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ places, left, first, accounts int }{{4, 1, 2, 3}, {16, 1, 8, 5}, {384, 8, 43, 37}} {
		synctest.Test(t, func(t *testing.T) {
			places := NewShared(tt.places, tt.left)
			ctx, giveUp := context.WithCancel(t.Context())
			var held []func()
			takeAll := func(account byte) (taken int) {
				before := len(held)
				for range tt.places {
					go func() {
						if done, err := places.Take(ctx, guid.ID{account}, guid.ID{}); err == nil {
							held = append(held, done)
						}
					}()
					synctest.Wait()
				}
				return len(held) - before
			}
			if n := takeAll(1); n != tt.first {
				t.Errorf("of %d places the first account has %d, want %d", tt.places, n, tt.first)
			}
			for account := 2; account <= tt.accounts; account++ {
				if takeAll(byte(account)) == 0 {
					t.Fatalf("of %d places account %d has none", tt.places, account)
				}
			}
			giveUp()
			synctest.Wait()
			for len(held) > 0 {
				done := held[0]
				held = held[1:]
				done()
				synctest.Wait()
			}
			if places.Free() != tt.places || len(places.held) != 0 || len(places.waiting) != 0 {
				t.Errorf("%d places are free, and %v are held", places.Free(), places.held)
			}
		})
	}
}
