package server

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/store"
)

// TestSumsAreFew: however many accounts there are, so many sums are told of one by one, the largest, and the others
// together; nothing is lost or told twice.
func TestSumsAreFew(t *testing.T) {
	t.Parallel()
	dollar := money.Currency{Code: "USD", Decimals: 2}
	d := &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{}}
	var read []store.Value
	for n := range 20 {
		id := guid.ID{byte(n)}
		d.Accounts[id] = &merchant.Account{ID: id, Name: "Shop", Test: n == 19}
		issued := money.Amount(1_00 * (n + 1))
		read = append(read, store.Value{AccountID: id, Currency: dollar, Issued: issued, Outstanding: issued},
			store.Value{AccountID: id, Currency: dollar, Promotional: true, Issued: 1, Redeemed: 1})
	}
	sums := sumsOf(read, d, 4)
	if len(sums) != 6 {
		t.Fatalf("%d sums, want 4 and 2 of the others: %v", len(sums), sums)
	}
	total := 0.0
	for n, s := range sums {
		total += s.outstanding
		if own := n < 4; own != (s.account != "") || own != (s.name == "Shop") || own && s.issued != float64(19-n) {
			t.Errorf("sum %d is %v", n, s)
		}
	}
	if total != 19*20/2 {
		t.Errorf("%v are outstanding together", total)
	}
}

// TestSummingUpIsCheap: a statement that takes long comes so much more rarely, whether it fails or not.
func TestSummingUpIsCheap(t *testing.T) {
	t.Parallel()
	for _, fails := range []error{nil, errors.New("the store is away")} {
		synctest.Test(t, func(t *testing.T) {
			var busy time.Duration
			v := &values{directory: func() *merchant.Directory { return &merchant.Directory{} },
				read: func(context.Context, time.Time) ([]store.Value, error) {
					busy += 10 * time.Second
					time.Sleep(10 * time.Second)
					return nil, fails
				}}
			begun := time.Now()
			for time.Since(begun) < 10*time.Hour {
				if err := v.sum(t.Context()); err != nil && !errors.Is(err, fails) {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
			}
			if share := time.Since(begun) / busy; share < sumShare || share > sumShare+10 {
				t.Errorf("a %dth of the time was for the sums", share)
			}
		})
	}
}

// TestSumsHaveNoNameTwice: two accounts of the same name do not end the metrics.
func TestSumsHaveNoNameTwice(t *testing.T) {
	t.Parallel()
	d := &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{{1}: {Name: "Shop"}, {2}: {Name: "Shop"}}}
	sums := sumsOf([]store.Value{{AccountID: guid.ID{1}}, {AccountID: guid.ID{2}}}, d, mostSums)
	if len(sums) != 2 || slices.ContainsFunc(sums, func(s sum) bool { return s.account == "" }) {
		t.Errorf("%v", sums)
	}
}
