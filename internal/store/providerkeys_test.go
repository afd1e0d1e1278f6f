package store

import (
	"fmt"
	"testing"

	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
)

// testProviderKeys: keys of one provider are found by how they begin, in the order of their bytes, each once, and none
// of another provider, of another account or of the account itself.
func testProviderKeys(t *testing.T, open opener) {
	s, _ := open(t)
	account, provider := newID(), newID()
	var all []ledger.Request
	keep := func(account guid.ID, operation operation.Name, key string) string {
		all = append(all, ledger.Request{RequestKey: ledger.RequestKey{AccountID: account, Operation: operation, Key: key},
			Answer: ledger.Answer{Code: ledger.OK, Body: []byte("{}")}, At: noon})
		return key
	}
	of := func(key string) string { return ledger.ProviderKey(provider, key) }
	var want []string
	for _, end := range []string{"A", "B", "a", "b:2", "ö"} { // as bytes, not as words
		want = append(want, keep(account, operation.RedeemGift, of("order:"+end)))
	}
	keep(account, operation.ReverseRedemption, want[0])
	for _, other := range []string{"order", "order9:A", "orders:A", "Order:A", "ordeR:A"} {
		keep(account, operation.RedeemGift, of(other))
	}
	keep(account, operation.RedeemGift, "order:A")
	keep(account, operation.RedeemGift, ledger.ProviderKey(newID(), "order:A"))
	keep(newID(), operation.RedeemGift, of("order:A"))
	save(t, s, ledger.Changes{Requests: all})
	for most := 1; most < len(want)+2; most++ {
		got, err := s.ProviderKeys(t.Context(), account, of("order:"), most)
		must(t, err)
		diff(t, fmt.Sprint(got), fmt.Sprint(want[:min(most, len(want))]))
	}
}
