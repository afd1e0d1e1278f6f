package api_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/store/pgtest"
)

// mistake is one thing wrong with a request, and the path at which the answer must tell it.
type mistake struct {
	path string
	do   func(body map[string]any, key *string)
}

// TestEveryProblemIsToldAtOnce makes every mistake that the OpenAPI file forbids at the top of a body, at every
// operation, and then every pair of them: an answer to two mistakes tells of both, and so does one to a bad
// Idempotency-Key and a mistake. A caller who mends what was told is not refused again for what could have been told.
func TestEveryProblemIsToldAtOnce(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	w := newWorld(t)
	var file struct {
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(theFile, &file); err != nil {
		t.Fatal(err)
	}
	a := &agreement{world: w, schemas: file.Components.Schemas}
	pairs := 0
	for operation, good := range goodBodies(w) {
		mistakes := a.mistakes(operation, good.schema, good.body)
		for _, m := range mistakes { // a mistake that is none, or is told elsewhere, is no part of a pair
			if told := w.told(operation, good.body, m); !slices.Contains(told, m.path) {
				t.Errorf("%s: what is wrong at %s is told at %q", operation, m.path, told)
			}
		}
		for i, one := range mistakes {
			for _, other := range mistakes[:i] {
				pairs++
				told := w.told(operation, good.body, one, other)
				if !slices.Contains(told, one.path) || !slices.Contains(told, other.path) {
					t.Errorf("%s: of what is wrong at %s and %s, told is %q", operation, one.path, other.path, told)
				}
			}
		}
	}
	if pairs < 1000 {
		t.Errorf("%d pairs were made", pairs)
	}
	t.Logf("%d pairs", pairs)
}

// goodBody is a request that is wrong in nothing.
type goodBody struct {
	schema string
	body   map[string]any
}

// goodBodies has one for every operation that keeps an Idempotency-Key.
func goodBodies(w *world) map[string]goodBody {
	g := w.send(ofMoney("50"))
	at := `"organizationID":"` + pier + `"`
	bodies := map[string]goodBody{}
	for _, b := range []struct{ operation, schema, body string }{
		{"send-gift", "SendGift", `{"monetaryGift":{"value":5,"deliveryMethodID":3},` + purchase + `}`},
		{"redeem-gift", "RedeemGift", `{"voucherID":"` + g.id + `",` + at + `,"amount":0.01}`},
		{"redeem-gifts", "RedeemGifts", `{"gifts":[{"voucherID":"` + g.id + `","amount":0.01}],` + at + `}`},
		{"hold-gift", "HoldGift", `{"voucherID":"` + g.id + `",` + at + `,"amount":0.01}`},
		{"capture-hold", "CaptureHold", `{"holdID":"` + nowhere + `"}`},
		{"release-hold", "ReleaseHold", `{"holdID":"` + nowhere + `"}`},
		{"reverse-redemption", "ReverseRedemption", `{"redemptionID":"` + nowhere + `"}`},
		{"reload-gift", "ReloadGift", `{"voucherID":"` + g.id + `",` + at + `,"amount":1,` + paidAt(shop) + `}`},
		{"cash-out-gift", "CashOutGift", `{"voucherID":"` + g.id + `",` + at + `}`},
		{"reverse-reload", "ReverseReload", `{"reloadID":"` + nowhere + `"}`},
		{"cancel-gift", "CancelGift", `{"voucherID":"` + nowhere + `","cause":"CANCELLED"}`},
		{"reinstate-gift", "ReinstateGift", `{"orderID":"` + nowhere + `"}`},
		{"resend-gift", "ResendGift", `{"voucherID":"` + nowhere + `"}`},
		{"replace-gift", "ReplaceGift", `{"voucherID":"` + nowhere + `","reason":"lost"}`},
		{"transfer-balance", "TransferBalance", `{"fromVoucherID":"` + g.id + `","toVoucherID":"` + nowhere + `"}`},
		{"adjust-gift", "AdjustGift", `{"voucherID":"` + g.id + `","amount":1,"reasonCode":"FRAUD","reason":"why"}`},
		{"extend-gift", "ExtendGift", `{"voucherID":"` + nowhere + `","validUntil":"2040-01-01T00:00:00Z"}`},
		{"reschedule-gift", "RescheduleGift", `{"voucherID":"` + nowhere + `","deliveryDate":"2031-01-01T00:00"}`},
		{"create-stock", "CreateStock", `{"count":1,"value":5}`},
		{"activate-gift", "ActivateGift", `{"voucherID":"` + nowhere + `",` + at + `,"amount":5,` + purchase + `}`},
		{"reverse-activation", "ReverseActivation", `{"activationID":"` + nowhere + `"}`},
		{"validate-gift", "ValidateGift", `{"voucherCode":"` + g.code + `",` + at + `}`},
	} {
		var body map[string]any
		d := json.NewDecoder(strings.NewReader(b.body))
		d.UseNumber()
		if err := d.Decode(&body); err != nil {
			w.Fatalf("%s: %v", b.body, err)
		}
		bodies[b.operation] = goodBody{b.schema, body}
	}
	for _, plain := range plainOperations() {
		if bodies[plain].body == nil {
			bodies[plain] = goodBody{theRequests()[plain].schema, maps.Clone(theRequests()[plain].examples[0])}
			bodies[plain].body["voucherID"] = nowhere
		}
	}
	for operation := range paths {
		if _, is := bodies[operation]; !is {
			w.Errorf("%s has no good body", operation)
		}
	}
	return bodies
}

// mistakes are, of every member of a body, a value of a wrong type; the absence of each that must be there; one that
// does not exist; a location of nobody; and three bad keys.
func (a *agreement) mistakes(operation, schema string, body map[string]any) (all []mistake) {
	s := a.schemas[schema].(map[string]any)
	members := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		all = append(all, mistake{name, func(body map[string]any, _ *string) { body[name] = neverRight }})
	}
	all = append(all, mistake{"nonsense", func(body map[string]any, _ *string) { body["nonsense"] = "x" }})
	if _, located := body["organizationID"]; located {
		all = append(all, mistake{"organizationID", func(body map[string]any, _ *string) {
			body["organizationID"] = nowhere
		}})
	}
	required, _ := s["required"].([]any)
	for _, name := range required {
		all = append(all, mistake{name.(string), func(body map[string]any, _ *string) { delete(body, name.(string)) }})
	}
	if operation != "validate-gift" { // which ignores it
		for _, key := range []string{"", strings.Repeat("k", 256), "k\u00e9"} {
			all = append(all, mistake{"Idempotency-Key", func(_ map[string]any, to *string) { *to = key }})
		}
	}
	return all
}

// neverRight is a value that no member takes.
var neverRight = []any{[]any{}}

// told makes a call with some mistakes, which must be refused, and gives the paths of the messages.
func (w *world) told(operation string, good map[string]any, mistakes ...mistake) (paths []string) {
	w.Helper()
	body, key := maps.Clone(good), "good"
	for _, m := range mistakes {
		m.do(body, &key)
	}
	text, err := json.Marshal(body)
	if err != nil {
		w.Fatal(err)
	}
	r := w.post(operation, string(text), once(key)...)
	var problem struct {
		Messages []struct{ Path string }
	}
	if err := json.Unmarshal(r.body, &problem); err != nil || r.status/100 != 4 {
		w.Fatalf("%s: answered %d %s to %s", operation, r.status, r.body, text)
	}
	for _, m := range problem.Messages {
		path, _, _ := strings.Cut(strings.TrimPrefix(m.Path, "$."), ".")
		path, _, _ = strings.Cut(path, "[")
		paths = append(paths, path)
	}
	return paths
}
