package api_test

import (
	"net/http"
	"net/netip"
	"testing"

	"boon.example/internal/base/clientip"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// limitTo has a key work from some networks only, from now on.
func (w *world) limitTo(key string, networks ...string) {
	w.Helper()
	changed := *w.directory.Load().Keys[merchant.HashKey(key)]
	changed.Networks = nil
	for _, n := range networks {
		changed.Networks = append(changed.Networks, netip.MustParsePrefix(n))
	}
	w.addKeys(&changed)
}

// A key that is limited to networks is refused from everywhere else, by the address that a trusted proxy names.
func TestKeysOfNetworks(t *testing.T) {
	t.Parallel()
	trusted, err := clientip.ParseProxies("127.0.0.0/8, 10.0.0.0/8")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(c *config) { c.ClientAddress = trusted.Client })
	g := w.send(ofMoney("25"))
	body := `{"voucherID":"` + g.id + `","organizationID":"` + pier + `","amount":1}`
	redeem := func(forwarded ...string) reply {
		w.Helper()
		headers := append(as(rotatedKey), once("k-"+forwarded[0])...)
		for _, f := range forwarded {
			headers = append(headers, "X-Forwarded-For", f)
		}
		return w.post("redeem-gift", body, headers...)
	}
	w.limitTo(rotatedKey, "203.0.113.0/24", "2001:db8:1::/48")
	for _, from := range []string{"203.0.113.9", "::ffff:203.0.113.10", "[2001:db8:1::7]:4711", "203.0.113.1, 10.0.0.7",
		"198.51.100.7, 203.0.113.2"} {
		redeem(from).want(http.StatusOK)
	}
	for from, named := range map[string]string{"198.51.100.7": "198.51.100.7", "2001:db8:2::7": "2001:db8:2::7",
		"203.0.113.9, 198.51.100.7": "198.51.100.7", "::203.0.113.9": "::cb00:7109", "203.0.113.9, 10.0.0.7, x": "127.0.0.1",
		"0.0.0.0": "0.0.0.0", "203.0.113.9\t,": "127.0.0.1"} {
		r := redeem(from).refused(http.StatusForbidden, refusal.NotAuthorized)
		if text := r.at("messages[0].text"); text != "This key may not be used from "+named+"." {
			t.Errorf("from %q: %s", from, text)
		}
	}
	// What is refused is not kept: from the office the same call is made.
	w.post("redeem-gift", body, append(as(rotatedKey), "Idempotency-Key", "k-198.51.100.7", "X-Forwarded-For",
		"203.0.113.9")...).want(http.StatusOK)
	w.get("/gifting/gifts/"+g.id, "X-Forwarded-For", "198.51.100.7").want(http.StatusOK, "currentBalance", "19.00")
	for _, path := range []string{"/gifting/gifts/" + g.id, "/requests/k-203.0.113.9", "/gifting/activity"} {
		w.get(path, append(as(rotatedKey), "X-Forwarded-For", "198.51.100.7")...).refused(http.StatusForbidden,
			refusal.NotAuthorized)
	}
	w.limitTo(sandboxKey, "203.0.113.0/24")
	outside := append(as(sandboxKey), "X-Forwarded-For", "198.51.100.7")
	w.do("GET", "/api/test/clock", "", outside...).refused(http.StatusForbidden, refusal.NotAuthorized)
	w.do("POST", "/api/test/clock", `{"advance":"P1D"}`, outside...).refused(http.StatusForbidden, refusal.NotAuthorized)
	// The table is of the key: another of the account is used from anywhere, and no network means everywhere.
	w.limitTo(rotatedKey)
	redeem("198.51.100.8").want(http.StatusOK)

	// Nobody is believed who is not trusted.
	alone := newWorld(t)
	other := alone.send(ofMoney("25"))
	alone.limitTo(rotatedKey, "203.0.113.0/24")
	asked := `{"voucherCode":"` + other.code + `","organizationID":"` + pier + `"}`
	alone.post("validate-gift", asked, append(as(rotatedKey), "X-Forwarded-For", "203.0.113.9", "X-Real-IP", "203.0.113.9",
		"Forwarded", "for=203.0.113.9")...).refused(http.StatusForbidden, refusal.NotAuthorized)
	alone.limitTo(rotatedKey, "127.0.0.0/8", "::1/128")
	alone.post("validate-gift", asked, append(as(rotatedKey), "X-Forwarded-For", "198.51.100.7")...).want(http.StatusOK)
}
