package api_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/setup"
)

type deed struct {
	ID, Action, KeyID, KeyName, Person, User, Address, VoucherID, What, RequestID string
	At                                                                            time.Time
}

// trail reads the audit trail page by page.
func (w *world) trail(q url.Values, headers ...string) (all []deed) {
	w.Helper()
	for {
		var page struct {
			Entries    []deed
			NextCursor *string
		}
		r := w.get("/audit?"+q.Encode(), headers...).want(200)
		if err := json.Unmarshal(r.body, &page); err != nil {
			w.Fatal(err)
		}
		all = append(all, page.Entries...)
		if page.NextCursor == nil {
			return all
		}
		q.Set("cursor", *page.NextCursor)
	}
}

// TestAuditTrail: who did what to which gift or setting, from where and when, in pages of any size. Nobody else's, what
// nobody did is not in it, and no secret.
func TestAuditTrail(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *config) {
		c.ClientAddress = func(*http.Request) netip.Addr { return netip.MustParseAddr("2001:db8::7") }
	})
	begun := w.now().Add(-time.Second)
	w.send(strings.ReplaceAll(ofMoney("9"), shop, cornerShop), as(cornerKey)...)
	before := len(w.trail(url.Values{}))
	g := w.send(mailed("ana@example.com"))
	sold := w.send(ofMoney("9"))
	w.redeem(sold, "1").want(200)
	w.post("block-gift", `{"voucherID":"`+g.id+`","reasonCode":"LOST"}`).want(200)
	hook := w.hook()
	stock := w.stock(`"count":2`)
	w.get("/gifting/orders/" + stock[0].order + "/stock?format=csv").want(200)
	key, _, err := setup.CreateKey(t.Context(), w.store, setup.KeyRequest{Name: "till-2", Account: id(harbor),
		Permissions: merchant.MayRedeem}, time.Now(), strings.NewReader(strings.Repeat("random", 99)))
	if err != nil {
		t.Fatal(err)
	}
	all := w.trail(url.Values{})
	all = all[:len(all)-before]
	slices.Reverse(all)
	var got []string
	for _, d := range all {
		got = append(got, d.Action)
		byKey := d.KeyName != "" && d.KeyID != "" && d.Address == "2001:db8::7" && d.RequestID != "" && d.User == ""
		if d.Action == "setup.changed" && strings.Contains(d.What, key.Name) {
			byKey = d.KeyID == "" && d.Address == "" && d.RequestID == ""
		}
		ofGift := strings.HasPrefix(d.Action, "gift.")
		if !byKey || ofGift != (d.VoucherID != "") || ofGift == (d.What != "") || d.At.Before(begun) {
			t.Errorf("%+v", d)
		}
	}
	want := []string{"gift.created", "gift.created", "gift.redeemed", "gift.blocked", "setup.changed", "gift.created",
		"gift.created", "codes.read", "codes.exported", "setup.changed"}
	if !slices.Equal(got, want) || all[2].VoucherID != sold.id || !strings.Contains(all[4].What, hook) ||
		!strings.Contains(all[8].What, stock[0].order) {
		t.Errorf("%v: %+v, want %v", got, all, want)
	}
	for _, limit := range []string{"1", "2", "3"} {
		again := w.trail(url.Values{"limit": {limit}})
		again = again[:len(again)-before]
		slices.Reverse(again)
		if !slices.Equal(again, all) {
			t.Errorf("in pages of %s: %+v", limit, again)
		}
	}
	at := func(n int) string { return all[n].At.Format(time.RFC3339Nano) }
	if some := w.trail(url.Values{"from": {at(1)}, "to": {at(7)}}); !slices.ContainsFunc(some,
		func(d deed) bool { return d.ID == all[4].ID }) || slices.ContainsFunc(some,
		func(d deed) bool { return d.ID == all[7].ID || d.ID == all[0].ID && d.At != all[1].At }) {
		t.Errorf("from the second to the eighth: %+v", some)
	}
	body := string(w.get("/audit?limit=200").want(200).body)
	for _, secret := range []string{g.code, g.token, stock[1].code, "ana@example.com", "boon_test"} {
		if strings.Contains(body, secret) {
			t.Errorf("%q is in %s", secret, body)
		}
	}
	for _, d := range w.trail(url.Values{}, as(cornerKey)...) {
		if slices.ContainsFunc(all, func(of deed) bool { return of.ID == d.ID }) || strings.Contains(d.What, "Harbor") {
			t.Errorf("another account sees %+v", d)
		}
	}
	w.get("/audit", as(pierKey)...).refused(403, refusal.NotAuthorized)
	w.get("/audit?cursor="+w.get("/gifting/gifts?limit=1").at("nextCursor")).refused(400, refusal.ValidationFailure,
		"cursor")
	w.get("/audit?keyID=none").refused(400, refusal.ValidationFailure, "keyID")
	for _, d := range w.trail(url.Values{"keyID": {all[0].KeyID}}) {
		if d.KeyID != all[0].KeyID {
			t.Errorf("of the key %s: %+v", all[0].KeyID, d)
		}
	}
	if nobody := w.trail(url.Values{"person": {"Nobody"}}); len(nobody) > 0 {
		t.Errorf("nobody did %+v", nobody)
	}
	w.get("/audit?from=yesterday").refused(400, refusal.ValidationFailure, "from")
}
