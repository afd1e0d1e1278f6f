package api_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/face/api"
	"boon.example/internal/face/api/contract"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/racetest"
	"boon.example/internal/refusal"
	"boon.example/internal/store/pgtest"
)

// permit gives a key of the set-up other permissions, from now on.
func (w *world) permit(key string, may ...string) {
	w.Helper()
	changed := *w.directory.Load().Keys[merchant.HashKey(key)]
	changed.Permissions = 0
	for _, name := range may {
		p, known := merchant.PermissionByName(name)
		if !known {
			w.Fatalf("there is no permission %s", name)
		}
		changed.Permissions |= p
	}
	w.addKeys(&changed)
}

// addKeys adds keys to the set-up, or changes them.
func (w *world) addKeys(keys ...*merchant.Key) {
	w.Helper()
	err := w.store.Configure(w.Context(), func(*merchant.Directory, merchant.Uses) (merchant.Changes,
		error) {
		return merchant.Changes{Keys: keys}, nil
	})
	if err != nil {
		w.Fatal(err)
	}
	d, err := w.store.Directory(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	w.directory.Store(d)
}

// Each operation is refused to a key that has every permission but one that it needs, and not to one that has what it
// needs alone.
func TestEachOperationNeedsItsPermission(t *testing.T) {
	racetest.SkipShort(t, "calls one after the other")
	t.Parallel()
	pgtest.Once(t)
	s := newStage(t)
	operations, err := contract.Routes(theFile)
	if err != nil {
		t.Fatal(err)
	}
	routes := api.Routes()
	for _, op := range operations {
		n := slices.IndexFunc(routes, func(r api.Route) bool { return r.Method == op.Method && r.Pattern == op.Path })
		if n < 0 || api.NeededBy(routes[n]) == 0 {
			continue
		}
		names := api.NeededBy(routes[n]).Names()
		by := "id"
		if op.OperationID == "validateGift" {
			by = "code"
		}
		if op.OperationID == "reverseRedemption" {
			by = "redemption"
		}
		if op.OperationID == "transferBalance" {
			by = "from"
		}
		k := s.make("anywhere", "claimed")
		if op.OperationID == "captureHold" || op.OperationID == "releaseHold" {
			by, k = "hold", s.make("anywhere", "held")
		}
		if op.OperationID == "reverseActivation" {
			by, k = "activation", s.make("anywhere", "activated")
		}
		if op.OperationID == "reverseReload" {
			by, k = "reload", s.make("anywhere", "reloaded")
		}
		for _, name := range names {
			s.permit(rotatedKey, slices.DeleteFunc(merchant.PermissionNames(),
				func(other string) bool { return other == name })...)
			refused := s.ask(op, by, k, rotatedKey, pier).refused(http.StatusForbidden, refusal.NotAuthorized)
			if text := refused.at("messages[0].text"); !strings.HasSuffix(text, "it lacks the permission "+name+".") {
				t.Errorf("%s: %s", op.OperationID, text)
			}
		}
		s.permit(rotatedKey, names...)
		if r := s.ask(op, by, k, rotatedKey, pier); r.status >= 300 && r.at("code") == string(refusal.NotAuthorized) {
			t.Errorf("%s with %s: %s", op.OperationID, names, r.body)
		}
	}
}

// What became of a call is told to keys that may make such a call themselves.
func TestRequestsNeedThePermissionOfTheirOperation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("25"), once("k")...)
	w.redeem(g, "5", once("k")...).want(200)
	w.permit(rotatedKey, "redeem", "reverse", "look-up", "codes")
	told := w.get("/requests/k", as(rotatedKey)...).want(200, "requests[0].operation", "redeem-gift")
	if strings.Contains(string(told.body), g.code) {
		t.Errorf("a till is told of a sale: %s", told.body)
	}
	refused := w.get("/requests/k?operation=send-gift", as(rotatedKey)...).refused(http.StatusForbidden,
		refusal.NotAuthorized)
	if text := refused.at("messages[0].text"); !strings.Contains(text, "the permission send") {
		t.Error(text)
	}
	w.permit(rotatedKey, "look-up", "codes", "cancel")
	w.get("/requests/k", as(rotatedKey)...).refused(http.StatusNotFound, refusal.NotFound, "key")
	if routes := api.Routes(); len(routes) < 11 {
		t.Errorf("%d routes", len(routes))
	}
}

// Code, token and link of a gift that is looked up, or sent again, are for keys only that may see codes, also in
// answers that were made for another key. What made a gift tells them to whoever may make gifts.
func TestCodesNeedAPermission(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(mailed("ann@example.com", `,"message":"\"voucherCode\":\"1\""`), once("sale")...)
	w.post("resend-gift", `{"voucherID":"`+g.id+`"}`, once("again")...).want(200, "voucherCode", g.code)
	w.permit(rotatedKey, "look-up", "resend", "send")
	masked := func(r reply, path string) {
		t.Helper()
		r.want(200, path+"voucherCode", "null", path+"voucherPublicToken", "null", path+"giftURL", "null", path+"lastFour",
			g.code[8:],
			path+"message", `"voucherCode":"1"`)
		for _, secret := range []string{g.code, g.token} {
			if strings.Contains(string(r.body), secret) {
				t.Errorf("%s is shown in %s", secret, r.body)
			}
		}
	}
	masked(w.get("/gifting/gifts/"+g.id, as(rotatedKey)...), "")
	masked(w.get("/gifting/gifts", as(rotatedKey)...), "gifts[0].")
	masked(w.post("resend-gift", `{"voucherID":"`+g.id+`"}`, append(as(rotatedKey), once("again")...)...), "")
	masked(w.get("/requests/again", as(rotatedKey)...), "requests[0].answer.")
	masked(w.post("resend-gift", `{"voucherID":"`+g.id+`"}`, append(as(rotatedKey), once("once more")...)...), "")
	w.get("/requests/sale", as(rotatedKey)...).want(200, "requests[0].answer.gifts[0].voucherCode", g.code)
	w.send(ofMoney("1"), as(rotatedKey)...)
	history := w.get("/gifting/gifts/"+g.id+"/history", as(rotatedKey)...).want(200)
	if strings.Contains(string(history.body), g.code) || strings.Contains(string(history.body), g.token) {
		t.Errorf("the history tells: %s", history.body)
	}
	w.permit(rotatedKey, "look-up", "codes")
	w.get("/gifting/gifts/"+g.id, as(rotatedKey)...).want(200, "voucherCode", g.code, "voucherPublicToken", g.token)
}

// TestTheFileListsThePermissions: where it says what a key may do.
func TestTheFileListsThePermissions(t *testing.T) {
	t.Parallel()
	var file struct{ Info struct{ Description string } }
	if err := json.Unmarshal(theFile, &file); err != nil {
		t.Fatal(err)
	}
	for _, name := range merchant.PermissionNames() {
		if !strings.Contains(file.Info.Description, "`"+name+"`") {
			t.Errorf("the OpenAPI file lists no permission %s", name)
		}
	}
}

// A key that was spent by a reversal belongs to the location where that was done: elsewhere it is treated like any
// record of another location.
func TestSpentKeysBelongToALocation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("25"))
	undo := func(key string, headers ...string) reply {
		return w.post("reverse-redemption", `{"idempotencyKey":"`+key+`"}`, headers...)
	}
	take := func(key, place, with string) reply {
		return w.post("redeem-gift", `{"voucherID":"`+g.id+`","amount":1,"organizationID":"`+place+`"}`,
			append(once(key), as(with)...)...)
	}
	undo("late", as(pierKey)...).refused(404, refusal.NotFound, "idempotencyKey")
	take("late", wharf, wharfKey).refused(403, refusal.NotAuthorized)
	undo("late", as(wharfKey)...).refused(403, refusal.NotAuthorized)
	w.get("/requests/late", as(wharfKey)...).refused(404, refusal.NotFound, "key")
	undo("late", as(pierKey)...).refused(404, refusal.NotFound, "idempotencyKey")
	w.get("/requests/late", as(pierKey)...).want(200, "requests[0].state", "spent")
	take("late", pier, pierKey).refused(409, refusal.RedemptionNotAllowed)
	take("late", pier, harborKey).refused(409, refusal.RedemptionNotAllowed)
	// One that is enabled everywhere spends it everywhere.
	undo("head office").refused(404, refusal.NotFound, "idempotencyKey")
	take("head office", wharf, wharfKey).refused(409, refusal.RedemptionNotAllowed)
	take("head office", pier, pierKey).refused(409, refusal.RedemptionNotAllowed)
	// One that is enabled at two does so at both.
	both := *w.directory.Load().Keys[merchant.HashKey(rotatedKey)]
	both.Locations = []guid.ID{id(pier), id(wharf)}
	w.addKeys(&both)
	undo("of both", as(rotatedKey)...).refused(404, refusal.NotFound, "idempotencyKey")
	take("of both", wharf, wharfKey).refused(409, refusal.RedemptionNotAllowed)
	take("of both", pier, pierKey).refused(409, refusal.RedemptionNotAllowed)
	w.get("/gifting/gifts/"+g.id).want(200, "currentBalance", "25.00")
}

// What was done with gifts that are good everywhere is not told to a key that is limited to a location, nor is it
// given again.
func TestRequestsOfTheWholeAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("25"), once("sent")...)
	atPier := w.send(ofMoney("25", member("organizationID", pier)), once("sent to the pier")...)
	w.post("resend-gift", `{"voucherID":"`+g.id+`"}`, once("resent")...).want(200)
	cancel := `{"externalTransactionReferenceNumber":"R-1","cause":"CANCELLED"}` // both gifts
	w.post("cancel-gift", cancel, once("cancelled")...).want(200, "vouchers[1].status", "CANCELLED")
	for _, key := range []string{"sent", "resent", "cancelled"} {
		w.get("/requests/"+key, as(pierKey)...).refused(404, refusal.NotFound, "key")
		w.get("/requests/"+key, as(rotatedKey)...).want(200)
	}
	w.post("cancel-gift", cancel, append(once("cancelled"), as(pierKey)...)...).refused(403, refusal.NotAuthorized)
	w.get("/requests/sent%20to%20the%20pier", as(pierKey)...).want(200, "requests[0].answer.gifts[0].voucherCode",
		atPier.code)
}

// A key is judged by what holds when the whole call has arrived: one that is revoked, has expired or lost a
// permission while the body was on its way does nothing more.
func TestAKeyIsJudgedAgainAfterTheBody(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]struct {
		meanwhile func(*world, *merchant.Key)
		status    int
		code      refusal.Code
	}{
		"revoked": {func(w *world, k *merchant.Key) { k.RevokedAt = w.now() }, 401, refusal.Unauthenticated},
		"expired": {func(w *world, k *merchant.Key) {
			k.ExpiresAt = w.now().Add(time.Minute)
			w.pass(time.Minute)
		}, 401, refusal.Unauthenticated},
		"lost its permission": {func(_ *world, k *merchant.Key) { k.Permissions = merchant.MayValidate }, 403,
			refusal.NotAuthorized},
		"moved": {func(_ *world, k *merchant.Key) { k.Locations = []guid.ID{id(wharf)} }, 403,
			refusal.NotAuthorized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arrived := make(chan struct{}, 1)
			w := newWorld(t)
			g := w.send(ofMoney("25"))
			config := w.config
			config.Directory = func() *merchant.Directory {
				select {
				case arrived <- struct{}{}:
				default:
				}
				return w.directory.Load()
			}
			server := httptest.NewServer(config.handler()) // the judge of the contract would wait for the whole body
			t.Cleanup(server.Close)
			body, writer := io.Pipe()
			go func() {
				writer.Write([]byte(`{"voucherID":"` + g.id + `",`))
				<-arrived // the key is being judged
				time.Sleep(50 * time.Millisecond)
				k := *w.directory.Load().Keys[merchant.HashKey(rotatedKey)]
				change.meanwhile(w, &k)
				w.addKeys(&k)
				writer.Write([]byte(`"organizationID":"` + pier + `","amount":1}`))
				writer.Close()
			}()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, "POST", server.URL+paths["redeem-gift"], body)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", rotatedKey)
			answer, err := server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			got, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			reply{t, answer.StatusCode, answer.Header, got}.refused(change.status, change.code)
			w.get("/gifting/gifts/"+g.id).want(200, "currentBalance", "25.00")
		})
	}
}

// TestAThiefWithATillsKey: what the example's till may do, it does at the pier; it makes, finds, cancels and
// redirects nothing.
func TestAThiefWithATillsKey(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(api.ServerOfTheExample(t))
	t.Cleanup(server.Close)
	w := &world{TB: t, server: server}
	till := as(examples.HarborTillKey)
	order := strings.ReplaceAll(ofMoney("25", member("organizationID", examples.HarborPier39)), shop,
		examples.HarborStorefront)
	g := w.send(order, as(examples.HarborWebShopKey)...)
	lacks := func(r reply, permission string) {
		t.Helper()
		if text := r.want(403, "code", "NOT_AUTHORIZED").at("messages[0].text"); !strings.Contains(text, "the permission "+
			permission) {
			t.Error(text)
		}
		for _, secret := range []string{g.code, g.token, g.id} {
			if strings.Contains(string(r.body), secret) {
				t.Errorf("it tells %s: %s", secret, r.body)
			}
		}
	}
	lacks(w.post("send-gift", order, till...), "send")
	lacks(w.post("create-stock", `{"count":1}`, till...), "stock")
	lacks(w.post("activate-gift", activateBody(g, "5"), till...), "activate")
	lacks(w.get("/gifting/gifts?limit=200", till...), "look-up")
	lacks(w.get("/gifting/gifts/"+g.id, till...), "look-up")
	lacks(w.get("/gifting/gifts/"+g.id+"/history", till...), "look-up")
	lacks(w.post("cancel-gift", `{"voucherID":"`+g.id+`","cause":"CANCELLED"}`, till...), "cancel")
	lacks(w.post("reinstate-gift", `{"voucherID":"`+g.id+`"}`, till...), "cancel")
	lacks(w.post("resend-gift", `{"voucherID":"`+g.id+`","deliveryMethodID":1,"recipientContact":"thief@example.com"}`,
		till...), "resend")
	lacks(w.post("block-gift", `{"voucherID":"`+g.id+`","reasonCode":"LOST"}`, till...), "block")
	lacks(w.post("unblock-gift", `{"voucherID":"`+g.id+`"}`, till...), "block")
	lacks(w.post("adjust-gift", `{"voucherID":"`+g.id+`","amount":1,"reasonCode":"MISTAKE","reason":"why"}`, till...),
		"adjust")
	lacks(w.post("extend-gift", `{"voucherID":"`+g.id+`","validUntil":"2040-01-01T00:00:00Z"}`, till...), "extend")
	lacks(w.post("reschedule-gift", `{"voucherID":"`+g.id+`","deliveryDate":"2027-01-01T00:00:00Z"}`, till...), "resend")
	w.get("/gifting/gifts/"+g.id, as(examples.HarborWebShopKey)...).want(200, "status", "DELIVERED", "currentBalance",
		"25.00", "voucherCode", "null")
	w.post("validate-gift", `{"voucherCode":"`+g.code+`"}`, till...).want(200, "isRedeemable", "true")
	w.post("redeem-gift", `{"voucherCode":"`+g.code+`","amount":1}`, till...).want(200, "organizationID",
		examples.HarborPier39)
}

// A system key sends for the accounts and in the programs that it was given, and may look up, report as failed and
// ask about what its integrator made; all else does not exist for it.
func TestSystemKeysMayWhatTheyMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	site := *w.directory.Load().Keys[merchant.HashKey(systemKey)]
	site.Accounts, site.Programs = []guid.ID{id(harbor)}, []guid.ID{merchant.BusinessProgram.ID}
	second := site // another key of the same integrator, as while it changes over
	second.ID, second.Hash = id("00000000-0000-7000-8000-000000000300"),
		merchant.HashKey("boon_test_second-key-of-the-site-00000")
	w.addKeys(&site, &second)
	after := as("boon_test_second-key-of-the-site-00000")
	order := ofMoney("5", member("accountID", harbor))
	own := w.send(order, append(as(systemKey), once("site-1")...)...)
	others := w.send(order, append(as(partnerKey), once("site-1")...)...)
	merchants := w.send(ofMoney("5"))
	send := func(more string) reply { return w.post("send-gift", ofMoney("5", more), as(systemKey)...) }
	for _, account := range []string{corner, nowhere} {
		send(member("accountID", account)).refused(403, refusal.NotAuthorized, "monetaryGift.accountID")
	}
	send("").refused(400, refusal.ValidationFailure, "monetaryGift.accountID")
	send(member("accountID", harbor)+member("programID", merchant.DistributionProgram.ID.String())+
		member("organizationID", pier)).
		refused(403, refusal.NotAuthorized, "monetaryGift.programID")
	for _, key := range [][]string{as(systemKey), after} {
		w.get("/gifting/gifts/"+own.id, key...).want(200, "voucherID", own.id, "voucherCode", "null", "giftURL", "null")
		w.get("/gifting/gifts/"+own.id+"/history?accountID="+harbor, key...).want(200, "entries[0].kind", "ISSUED")
		if got := w.get("/gifting/gifts", key...).ids(); len(got) != 1 || got[0] != own.id {
			t.Errorf("it sees %v", got)
		}
		w.get("/requests/site-1", key...).want(200, "requests[0].key", "site-1", "requests[0].answer.gifts[0].voucherCode",
			own.code)
		w.get("/requests/site-1?operation=redeem-gift", key...).want(400)
		for _, g := range []made{others, merchants} {
			w.get("/gifting/gifts/"+g.id, key...).refused(404, refusal.NotFound, "voucherID")
			w.get("/gifting/gifts/"+g.id+"/history", key...).refused(404, refusal.NotFound, "voucherID")
			w.post("cancel-gift", `{"voucherID":"`+g.id+`","cause":"PURCHASE_FAILED"}`, key...).refused(404, refusal.NotFound,
				"voucherID")
			w.post("cancel-gift", `{"orderID":"`+g.order+`","cause":"PURCHASE_FAILED"}`, key...).refused(404, refusal.NotFound)
		}
		w.get("/gifting/gifts?accountID="+corner, key...).refused(403, refusal.NotAuthorized, "accountID")
		w.post("cancel-gift", `{"voucherID":"`+own.id+`","cause":"CANCELLED"}`, key...).refused(403, refusal.NotAuthorized,
			"cause")
		w.post("redeem-gift", `{"voucherID":"`+own.id+`"}`, key...).refused(422, refusal.NotSupported)
		w.post("reinstate-gift", `{"voucherID":"`+own.id+`"}`, key...).refused(422, refusal.NotSupported)
		w.post("resend-gift", `{"voucherID":"`+own.id+`"}`, key...).refused(422, refusal.NotSupported)
	}
	// By the reference, which others use as well, it means its own purchase.
	w.post("cancel-gift", `{"externalTransactionReferenceNumber":"R-1","cause":"PURCHASE_FAILED","accountID":"`+harbor+
		`"}`, append(after, once("failed")...)...).
		want(200, "vouchers[0].voucherID", own.id, "vouchers[0].status", "PURCHASE_FAILED")
	w.get("/requests/failed", as(systemKey)...).want(200, "requests[0].operation", "cancel-gift")
	w.get("/requests/failed", as(harborKey)...).refused(404, refusal.NotFound, "key")
	w.get("/gifting/gifts/"+merchants.id).want(200, "status", "DELIVERED")
	w.get("/gifting/gifts?accountID="+corner).refused(403, refusal.NotAuthorized, "accountID")
	w.get("/gifting/gifts/" + own.id + "?accountID=" + harbor).want(200)
}
