package server

import (
	"strings"
	"testing"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/pass/passtest"
)

// TestKeysThatExpire: the report names a key that ends soon. A till that waits for its device is none: its link ends in
// minutes, and nobody can call with it.
func TestKeysThatExpire(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	key := func(name string, till merchant.TillKey, ends time.Duration) *merchant.Key {
		return &merchant.Key{Name: name, Till: till, AccountID: guid.ID{1}, ExpiresAt: now.Add(ends)}
	}
	d := &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{{1}: {Name: "Harbor", Zone: time.UTC}},
		Keys: map[merchant.KeyHash]*merchant.Key{{1}: key("Counter 1", merchant.WaitingTill, merchant.PairWithin)}}
	told := func() string {
		var r Report
		r.setup(d, now)
		return strings.Join(r.Wrong, "\n")
	}
	if text := told(); strings.Contains(text, "expires") || !strings.Contains(text, "no API key works") {
		t.Errorf("of a till that waits for its device: %s", text)
	}
	d.Keys[merchant.KeyHash{2}] = key("web shop", merchant.NoTill, time.Hour)
	if text := told(); !strings.Contains(text, "key web shop expires at 2026-11-22T13:00:00Z") ||
		strings.Contains(text, "Counter 1") || strings.Contains(text, "no API key works") {
		t.Errorf("of a key that ends within the hour: %s", text)
	}
}

// TestPassesThatEnd: the report tells of a certificate for passes 30 days before it ends, and of a key that does not
// open or is another one's. It says nothing of one that is good, and nothing where there is none.
func TestPassesThatEnd(t *testing.T) {
	t.Parallel()
	ends := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	f := passtest.New(t, ends)
	for _, test := range []struct {
		name             string
		certificate, key string
		before           time.Duration // its end
		told             string
	}{
		{"none", "", "", 0, ""},
		{"good for long", string(f.Certificate), string(f.Key), 31 * 24 * time.Hour, ""},
		{"ending", string(f.Certificate), string(f.Key), 29 * 24 * time.Hour, "ends at 2026-11-22T12:00:00Z"},
		{"ended", string(f.Certificate), string(f.Key), -time.Hour, "ended at 2026-11-22T12:00:00Z"},
		{"with a sealed key", string(f.Certificate), "sealed:AAAA", 31 * 24 * time.Hour, "cannot sign passes"},
		{"with another key", string(f.Certificate), passtest.Other(t), 31 * 24 * time.Hour, "not that of the certificate"},
	} {
		var r Report
		a := &merchant.Account{Name: "Harbor", Wallet: merchant.Wallet{Apple: merchant.AppleWallet{
			Certificate: test.certificate, Key: test.key}}}
		r.passes(a, ends.Add(-test.before))
		if told := strings.Join(r.Wrong, "\n"); (told == "") != (test.told == "") || !strings.Contains(told, test.told) {
			t.Errorf("of a certificate that is %s: %q", test.name, told)
		}
		if calls := len(r.Hosts) > 0; calls != (test.certificate != "") {
			t.Errorf("with a certificate that is %s, hosts are called: %v", test.name, r.Hosts)
		}
	}
	var r Report
	for range 2 { // accounts
		r.passes(&merchant.Account{Wallet: merchant.Wallet{Google: merchant.GoogleWallet{Issuer: "33"}}}, ends)
	}
	if len(r.Hosts) != 2 || r.Hosts[0].Address != "walletobjects.googleapis.com:443" {
		t.Errorf("for Google Wallet, hosts are called: %v", r.Hosts)
	}
}
