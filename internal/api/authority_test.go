package api_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"boon.example/internal/api"
	"boon.example/internal/gift"
)

// verdict is what a call must be answered.
type verdict struct {
	status int
	code   gift.Code
}

var (
	done           = verdict{200, ""}
	notAuthorized  = verdict{403, gift.NotAuthorized}
	notFound       = verdict{404, gift.NotFound}
	malformed      = verdict{400, gift.ValidationFailure}
	unsupported    = verdict{422, gift.NotSupported}
	unknownKey     = verdict{401, gift.Unauthenticated}
	everyPlace     = []string{"", pier, wharf, cornerPlace}
	everyKey       = []string{harborKey, pierKey, cornerKey, systemKey, expiredKey, revokedKey, "", "boon_test_nobody"}
	giftsOfHarbor  = []string{"anywhere", "pier", "wharf"}
	everyKindOfOne = append(giftsOfHarbor[:3:3], "corner")
)

// mayAct is the part that all operations share: whether the key works at all.
func mayAct(key string) (verdict, bool) {
	switch key {
	case harborKey, pierKey, cornerKey:
		return verdict{}, true
	case systemKey:
		return unsupported, false
	}
	return unknownKey, false
}

// where is the location that a till's call means: one that it names must be its account's and its key's; else the key's only one,
// else the account's only one.
func where(key, place string) (string, verdict) {
	own := map[string][]string{harborKey: {pier, wharf}, pierKey: {pier, wharf}, cornerKey: {cornerPlace}}[key]
	switch {
	case place != "" && !strings.Contains(fmt.Sprint(own), place):
		return "", notFound
	case key == pierKey && place == wharf:
		return "", notAuthorized
	case place != "":
		return place, done
	case key == pierKey:
		return pier, done
	case key == cornerKey:
		return cornerPlace, done
	}
	return "", malformed
}

// atTheTill is the verdict on a validation or redemption of a gift by code or token.
func atTheTill(key, place, kind string) verdict {
	if v, ok := mayAct(key); !ok {
		return v
	}
	at, v := where(key, place)
	switch {
	case v != done:
		return v
	case (kind == "corner") != (key == cornerKey):
		return notAuthorized
	case kind == "pier" && at != pier, kind == "wharf" && at != wharf:
		return notAuthorized
	}
	return done
}

// seen tells whether a key may see and manage a gift.
func seen(key, kind string) bool {
	return (kind == "corner") == (key == cornerKey) && !(key == pierKey && kind == "wharf")
}

// stage is a service with the gifts of the table on it.
type stage struct {
	*world
	gifts map[string]made
	calls int
}

// TestAuthority holds every kind of key against every operation, place and kind of gift, as the interface says by hand above and
// in the cases below, and demands that nobody's answer shows anything of another account.
func TestAuthority(t *testing.T) {
	t.Parallel()
	var caller atomic.Int64 // each call comes from an address of its own: strangers are not what is tested here
	w := newWorld(t, func(c *api.Config) {
		c.ClientAddress = func(*http.Request) netip.Addr {
			n := caller.Add(1)
			return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
		}
	})
	s := &stage{world: w, gifts: map[string]made{}}
	for _, kind := range everyKindOfOne {
		s.gifts[kind] = s.make(kind)
	}
	t.Run("validate and redeem", func(t *testing.T) { s.tills(t) })
	t.Run("reverse", func(t *testing.T) { s.reversals(t) })
	t.Run("cancel", func(t *testing.T) { s.cancellations(t) })
	t.Run("send", func(t *testing.T) { s.sending(t) })
	t.Run("look", func(t *testing.T) { s.looks(t) })
	t.Run("what became of it", func(t *testing.T) { s.requests(t) })
	if s.calls < 300 {
		t.Errorf("only %d calls were made", s.calls)
	}
}

func (s *stage) make(kind string) made {
	switch kind {
	case "corner":
		return s.send(`{"monetaryGift":{"value":500,"deliveryMethodID":3},`+purchaseAt(cornerShop)+`}`, as(cornerKey)...)
	case "pier":
		return s.send(money("500", `,"organizationID":"`+pier+`"`))
	case "wharf":
		return s.send(money("500", `,"organizationID":"`+wharf+`"`))
	}
	return s.send(money("500"))
}

// expect judges one answer: the verdict, and that nothing of another account shows.
func (s *stage) expect(t *testing.T, r reply, key string, want verdict, call string) {
	t.Helper()
	s.calls++
	s.pass(4 * time.Minute) // no till runs out of attempts
	status := r.status
	if status == 201 {
		status = 200
	}
	code := ""
	if status >= 400 {
		code = r.at("code")
	}
	if status != want.status || code != string(want.code) {
		t.Errorf("%s as %q: %d %s, want %d %s: %s", call, key, r.status, code, want.status, want.code, r.body)
	}
	foreign := map[string][]string{cornerKey: giftsOfHarbor}[key]
	secrets := []string{harbor, "Harbor", shop, "Pier 39"}
	if key != cornerKey {
		foreign, secrets = []string{"corner"}, []string{corner, "Corner", cornerShop}
	}
	if key == systemKey && want == done {
		foreign = nil // it sends for the account it names, and is told
	}
	for _, kind := range foreign {
		g := s.gifts[kind]
		secrets = append(secrets, g.id, g.code, g.token, g.order)
	}
	for _, secret := range secrets {
		if strings.Contains(string(r.body), secret) && !(key == systemKey && want == done) {
			t.Errorf("%s as %q shows %s, which is another account's: %s", call, key, secret, r.body)
		}
	}
}

func member(name, value string) string {
	if value == "" {
		return ""
	}
	return `,"` + name + `":"` + value + `"`
}

func (s *stage) tills(t *testing.T) {
	for _, key := range everyKey {
		for _, place := range everyPlace {
			for _, kind := range everyKindOfOne {
				g, at := s.gifts[kind], member("organizationID", place)
				by := map[string]string{"voucherCode": g.code, "voucherPublicToken": g.token, "voucherID": g.id}
				for name, value := range by {
					want := atTheTill(key, place, kind)
					if name == "voucherID" && want == notAuthorized && (kind == "corner") != (key == cornerKey) {
						if _, v := where(key, place); v == done {
							want = notFound // an id says nothing outside its account
						}
					}
					body := `{"` + name + `":"` + value + `"` + at
					call := fmt.Sprintf("%s of a gift for %s at %q", name, kind, place)
					s.expect(t, s.post("redeem-gift", body+`,"amount":0.01}`, as(key)...), key, want, "redeem by "+call)
					if name != "voucherID" {
						s.expect(t, s.post("validate-gift", body+`}`, as(key)...), key, want, "validate by "+call)
					}
				}
			}
		}
	}
}

// reversals: a redemption is given back by a key that is enabled where it was made.
func (s *stage) reversals(t *testing.T) {
	for _, key := range everyKey {
		for _, place := range everyPlace {
			for _, made := range []string{pier, wharf, cornerPlace} {
				owner, kind := harborKey, "anywhere"
				if made == cornerPlace {
					owner, kind = cornerKey, "corner"
				}
				r := s.post("redeem-gift", `{"voucherID":"`+s.gifts[kind].id+`","amount":1,"organizationID":"`+made+`"}`,
					append(as(owner), once("r"+fmt.Sprint(s.calls))...)...).want(200)
				want, ok := mayAct(key)
				if _, at := where(key, place); ok {
					switch want = done; {
					case place != "" && at != done:
						want = at
					case (made == cornerPlace) != (key == cornerKey):
						want = notFound
					case key == pierKey && made == wharf && s.calls%2 == 1:
						want = notAuthorized // by Idempotency-Key: NOT_FOUND would say that nothing was taken
					case key == pierKey && made == wharf:
						want = notFound
					}
				}
				call := fmt.Sprintf("reverse at %q what was redeemed at %s", place, made)
				by := `{"redemptionID":"` + r.at("redemptionID") + `"`
				if s.calls%2 == 1 && (made == cornerPlace) == (key == cornerKey) { // by key, too; in another account the key would only be spent
					by = `{"idempotencyKey":"r` + fmt.Sprint(s.calls) + `"`
				}
				s.expect(t, s.post("reverse-redemption", by+member("organizationID", place)+`}`, as(key)...), key, want, call)
			}
		}
	}
}

func (s *stage) cancellations(t *testing.T) {
	for _, key := range everyKey {
		for _, kind := range everyKindOfOne {
			g := s.make(kind)
			for _, name := range []string{"voucherID", "orderID"} {
				want, ok := mayAct(key)
				switch {
				case !ok:
				case (kind == "corner") != (key == cornerKey):
					want = notFound
				case !seen(key, kind):
					want = notFound
				case name == "orderID": // cancelled by its id a moment ago
					want = verdict{409, gift.RedemptionNotAllowed}
				default:
					want = done
				}
				body := `{"` + name + `":"` + map[string]string{"voucherID": g.id, "orderID": g.order}[name] + `","cause":"CANCELLED"}`
				s.expect(t, s.post("cancel-gift", body, as(key)...), key, want, "cancel a gift for "+kind+" by "+name)
			}
		}
	}
}

func (s *stage) sending(t *testing.T) {
	for _, key := range everyKey {
		for _, place := range everyPlace {
			for _, account := range []string{"", harbor, corner} {
				paid := purchase
				if key == cornerKey || key == systemKey && account == corner {
					paid = purchaseAt(cornerShop)
				}
				body := `{"monetaryGift":{"value":1,"deliveryMethodID":3` + member("organizationID", place) + member("accountID", account) + `},` + paid + `}`
				want := done
				home := map[string]string{harborKey: harbor, pierKey: harbor, cornerKey: corner, systemKey: account}[key]
				switch {
				case home == "" && key == systemKey:
					want = malformed
				case home == "":
					want = unknownKey
				case account != "" && account != home:
					want = notAuthorized
				case place != "" && (place == cornerPlace) != (home == corner):
					want = malformed
				case key == pierKey && place == wharf:
					want = notAuthorized
				}
				s.expect(t, s.post("send-gift", body, as(key)...), key, want, fmt.Sprintf("send for %q at %q", account, place))
			}
		}
	}
}

func (s *stage) looks(t *testing.T) {
	for _, key := range everyKey {
		for _, kind := range everyKindOfOne {
			want, ok := mayAct(key)
			if ok {
				if want = notFound; seen(key, kind) {
					want = done
				}
			}
			path := "/gifting/gifts/" + s.gifts[kind].id
			s.expect(t, s.get(path, as(key)...), key, want, "show a gift for "+kind)
			s.expect(t, s.get(path+"/history", as(key)...), key, want, "the history of a gift for "+kind)
			if want, ok = mayAct(key); ok {
				want = done
			}
			for _, query := range []string{"", "&organizationID=" + wharf, "&organizationID=" + cornerPlace, "&externalTransactionReferenceNumber=R-1"} {
				r := s.get("/gifting/gifts?limit=200"+query, as(key)...)
				s.expect(t, r, key, want, "list gifts"+query)
				if key == pierKey && strings.Contains(string(r.body), wharf) {
					t.Errorf("a key of the pier is shown gifts of the wharf%s: %s", query, r.body)
				}
			}
		}
	}
}

// requests: a stored answer is given, on a repeat and on asking, to keys only that are enabled for every location of which it tells.
func (s *stage) requests(t *testing.T) {
	atWharf := member("organizationID", wharf)
	redeem := `{"voucherCode":"` + s.gifts["anywhere"].code + `","amount":1` + atWharf + `}`
	taken := s.post("redeem-gift", redeem, append(as(wharfKey), once("of the wharf")...)...).want(200).at("redemptionID")
	cancelled := s.make("wharf")
	bodies := []struct{ operation, body string }{
		{"redeem-gift", redeem},
		{"validate-gift", `{"voucherCode":"` + s.gifts["wharf"].code + `"` + atWharf + `}`},
		{"send-gift", money("3", atWharf)},
		{"cancel-gift", `{"voucherID":"` + cancelled.id + `","cause":"CANCELLED"}`},
		{"reverse-redemption", `{"redemptionID":"` + taken + `"}`},
	}
	for _, b := range bodies {
		maker := harborKey // so that where nothing is named, the request itself is the same for every key
		first := s.post(b.operation, b.body, append(as(maker), once("of the wharf")...)...)
		if first.status >= 300 {
			t.Fatalf("%s: %s", b.operation, first.body)
		}
		s.post(b.operation, b.body, append(as(rotatedKey), once("of the wharf")...)...).again(first)
		again := s.post(b.operation, b.body, append(as(pierKey), once("of the wharf")...)...)
		want := notAuthorized
		if b.operation == "reverse-redemption" { // there the pier's key says where, too: another request
			want = verdict{422, gift.IdempotencyMismatch}
		}
		s.expect(t, again, pierKey, want, "repeat of "+b.operation)
	}
	refused := `{"voucherCode":"` + s.gifts["anywhere"].code + `","amount":9000` + atWharf + `}`
	s.post("redeem-gift", refused, append(as(wharfKey), once("refused at the wharf")...)...).refused(409, gift.InsufficientBalance)
	for _, key := range []string{"of%20the%20wharf", "refused%20at%20the%20wharf"} {
		s.get("/requests/"+key, as(wharfKey)...).want(200)
		s.expect(t, s.get("/requests/"+key, as(harborKey)...), harborKey, done, "what became of "+key)
		for _, stranger := range []string{pierKey, cornerKey} {
			s.expect(t, s.get("/requests/"+key, as(stranger)...), stranger, notFound, "what became of "+key)
		}
		s.expect(t, s.get("/requests/"+key, as(systemKey)...), systemKey, unsupported, "what became of "+key)
	}
}
