package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/face/api/contract"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// takesMember tells of which operations of the OpenAPI file the body may have a member, also in a part of it.
func takesMember(t *testing.T, name string) map[string]bool {
	t.Helper()
	var file struct {
		Paths map[string]map[string]struct {
			OperationID string
			RequestBody struct {
				Content map[string]struct{ Schema json.RawMessage }
			}
		}
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal(theFile, &file); err != nil {
		t.Fatal(err)
	}
	var has func(schema json.RawMessage) bool
	has = func(schema json.RawMessage) bool {
		var s struct {
			Ref                 string `json:"$ref"`
			Properties          map[string]json.RawMessage
			AllOf, AnyOf, OneOf []json.RawMessage
			Items               json.RawMessage
		}
		if err := json.Unmarshal(schema, &s); err != nil {
			t.Fatal(err)
		}
		if s.Ref != "" {
			return has(file.Components.Schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]])
		}
		parts := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, slices.Collect(maps.Values(s.Properties)))
		if s.Items != nil {
			parts = append(parts, s.Items)
		}
		return s.Properties[name] != nil || slices.ContainsFunc(parts, has)
	}
	takes := map[string]bool{}
	for _, methods := range file.Paths {
		for _, op := range methods {
			if body := op.RequestBody.Content["application/json"].Schema; body != nil && has(body) {
				takes[op.OperationID] = true
			}
		}
	}
	return takes
}

// undoneByKey are the operations that undo by an Idempotency-Key beside which a code may stand: the state of a gift to
// which that can be done, the way in which it is named, and the members besides.
var undoneByKey = map[string]struct{ state, by, more string }{
	"reverseRedemption": {"claimed", "redemption's key", ""},
	"releaseHold":       {"held", "hold's key", ""},
	"reverseActivation": {"activated", "activation's key", ""},
	"reverseReload":     {"reloaded", "reload's key", ""},
}

// TestALimitedCallerLooksNoCodeUp: whoever has no attempt left causes no look-up by a code, with any operation that
// takes one, with or without an Idempotency-Key. So the time of an answer tells nothing of a code. What was done with a
// gift is undone all the same by its key and code; who tries other codes beside the key has as few attempts.
func TestALimitedCallerLooksNoCodeUp(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(c *config) { c.Records = c.Records.(unlimited).Records })
	byCode, byKey := takesMember(t, "voucherCode"), takesMember(t, "idempotencyKey")
	if len(byCode) < 10 || len(byKey) != len(undoneByKey) {
		t.Fatalf("codes are taken by %v, keys by %v", byCode, byKey)
	}
	for n := range merchant.GuessBurst {
		s.validate(n, as(pierKey)...).refused(404, refusal.NotFound)
	}
	codes := []known{s.make("anywhere", "delivered"), s.make(corner, "delivered"), s.make(nowhere, "")}
	operations, err := contract.Routes(theFile)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	ask := func(op contract.Route, body string, headers ...string) reply {
		t.Helper()
		before := s.store.CodeLookUps()
		asked++
		answer := s.do(op.Method, op.Path, body, append(as(pierKey), headers...)...)
		if n := s.store.CodeLookUps() - before; n != 0 {
			t.Errorf("%s looks a code up %d times: %s", op.OperationID, n, body)
		}
		return answer
	}
	for _, op := range operations {
		switch undo, byKey := undoneByKey[op.OperationID]; {
		case !byCode[op.OperationID]:
			continue
		case byKey:
			k := s.make("anywhere", undo.state)
			with := func(code string) string {
				return `{` + k.name(undo.by) + `,"voucherCode":"` + code + `"` + undo.more + `}`
			}
			for _, other := range codes {
				ask(op, with(other.code)).refused(http.StatusTooManyRequests, refusal.RateLimited)
			}
			ask(op, with(k.code)).want(200)
		default:
			for n, k := range codes {
				_, body := s.request(op, "code", k, pierKey, pier)
				for _, key := range []string{"", "limited", "limited"} {
					var headers []string
					if key != "" {
						headers = once(fmt.Sprint(key, op.OperationID, n))
					}
					ask(op, body, headers...).refused(http.StatusTooManyRequests, refusal.RateLimited)
				}
			}
		}
	}
	if asked < 79 {
		t.Errorf("only %d calls were made", asked)
	}
	s.tryUsed(t, ask, operations)
}

// tryUsed: codes beside the key of a call are compared as often as codes are looked up, and no more.
func (s *stage) tryUsed(t *testing.T, ask func(contract.Route, string, ...string) reply, operations []contract.Route) {
	for _, op := range operations {
		if op.OperationID != "reverseRedemption" {
			continue
		}
		k := s.make("anywhere", "claimed")
		for n := range merchant.GuessBurst {
			code := fmt.Sprintf("%s%04d%s", k.code[:4], n, k.code[8:])
			if code != k.code {
				ask(op, `{`+k.name("redemption's key")+`,"voucherCode":"`+code+`"}`).refused(429, refusal.RateLimited)
			}
		}
		whole := `{` + k.name("redemption's key") + `,"voucherCode":"` + k.code + `"}`
		ask(op, whole).refused(http.StatusTooManyRequests, refusal.RateLimited)
		ask(op, `{`+k.name("redemption's key")+`}`).want(200) // without a code it is undone all the same
	}
}

// dependsOnTheGift are the members of which only the gift tells whether they may be left out.
var dependsOnTheGift = map[string]bool{"activateGift amount": true}

// TestNoGuessIsCountedForAMalformedRequest: what is wrong with a request whatever gift it is about is told before a
// code is looked up, and counts as no guess, with every operation that takes a code: a member that is missing, of
// another type, or none of the operation's.
func TestNoGuessIsCountedForAMalformedRequest(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	byCode := takesMember(t, "voucherCode")
	operations, err := contract.Routes(theFile)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, op := range operations {
		if !byCode[op.OperationID] {
			continue
		}
		state, by := "delivered", "code"
		if undo, byKey := undoneByKey[op.OperationID]; byKey {
			state, by = undo.state, undo.by
		}
		if op.OperationID == "activateGift" {
			state = "not activated"
		}
		good, none := s.make("anywhere", state), s.make(nowhere, "")
		_, body := s.request(op, by, good, harborKey, pier)
		var members map[string]any
		if err := json.Unmarshal([]byte(body), &members); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(body, good.code) {
			members["voucherCode"] = good.code
		}
		for _, wrong := range malformations(members) {
			if dependsOnTheGift[op.OperationID+" "+wrong.missing] {
				continue
			}
			if s.sends(op, wrong.members, good, good).status != http.StatusBadRequest { // it may be left out
				continue
			}
			asked++
			before := s.store.CodeLookUps()
			s.sends(op, wrong.members, good, none).want(http.StatusBadRequest)
			if n := s.store.CodeLookUps() - before; n != 0 {
				t.Errorf("%s looks a code up %d times for %v", op.OperationID, n, wrong.members)
			}
		}
	}
	if asked < 119 {
		t.Errorf("only %d requests were malformed", asked)
	}
}

// malformation is a request without a member, or with a wrong one.
type malformation struct {
	missing string
	members map[string]any
}

func malformations(members map[string]any) (all []malformation) {
	with := func(missing, name string, value any) {
		changed := maps.Clone(members)
		delete(changed, missing)
		if name != "" {
			changed[name] = value
		}
		all = append(all, malformation{missing, changed})
	}
	for name, value := range members {
		if name == "voucherCode" {
			continue
		}
		with(name, "", nil)
		with("", name, map[string]any{})
		with("", name, []any{true})
		if list, ok := value.([]any); ok {
			for _, part := range malformations(list[0].(map[string]any)) {
				with("", name, []any{part.members})
			}
		}
	}
	with("", "vouchercode", 1)
	with("", "reference", true)
	with("", "pointOfSaleSystemOrganizationIdentifier", 5)
	return all
}

// sends makes a call with some members, with the code of one gift in place of that of another.
func (s *stage) sends(op contract.Route, members map[string]any, of, with known) reply {
	s.Helper()
	body, err := json.Marshal(members)
	if err != nil {
		s.Fatal(err)
	}
	return s.do(op.Method, op.Path, strings.ReplaceAll(string(body), of.code, with.code), as(harborKey)...)
}
