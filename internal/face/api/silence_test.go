package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"boon.example/internal/face/api/contract"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// pair is one call made twice: about something that exists, but not for this key, and about something that does not
// exist.
type pair struct {
	call, key    string
	method, path string
	hidden, none string // the body, or for a look-up the end of the path
	code         refusal.Code
}

// hiddenThings lists what a key might learn of by comparing answers: of another account and, for the key of the pier,
// of the wharf. What changes a gift is asked for by every row of authority that says that the gift is hidden.
func (s *stage) hiddenThings() (all []pair) {
	operations, err := contract.Routes(theFile)
	if err != nil {
		s.Fatal(err)
	}
	of := func(whose, key, good string) {
		for _, op := range operations {
			for _, r := range rowsOf(op) {
				if hides := map[string]verdict{"another account": r.foreign, "another location": r.elsewhere}[whose]; hides !=
					notFound || op.Method != http.MethodPost {
					continue
				}
				k, none := s.make(good, r.usual()), s.make(nowhere, "")
				for _, by := range ways(r.by) {
					place := ""
					if r.at == mustBe {
						place = pier
					}
					_, hidden := s.request(op, by, k, key, place)
					address, body := s.request(op, by, none, key, place)
					all = append(all, pair{op.OperationID + " by " + by + " of " + whose, key, op.Method, address, hidden, body,
						refusal.NotFound})
				}
			}
		}
		k, none := s.make(good, "claimed"), s.make(nowhere, "")
		for _, end := range []string{"", "/history"} {
			all = append(all, pair{"look up" + end + " " + whose, key, "GET", base + "/gifting/gifts/", k.id + end, none.id +
				end, refusal.NotFound})
		}
		all = append(all, pair{"requests of " + whose, key, "GET", base + "/requests/", k.key, "none", refusal.NotFound},
			pair{"list by reference of " + whose, key, "GET", base + "/gifting/gifts", "?externalTransactionReferenceNumber=" +
				k.reference,
				"?externalTransactionReferenceNumber=none", ""})
	}
	of("another account", harborKey, corner)
	of("another account", pierKey, corner)
	of("another location", pierKey, wharf)

	code, token := s.make(nowhere, "").name("code"), s.make(nowhere, "").name("token")
	for _, by := range []string{code, token} {
		for _, operation := range []string{"validate-gift", "redeem-gift"} {
			all = append(all, pair{operation + " at a place", harborKey, "POST", paths[operation],
				"{" + by + member("organizationID", cornerPlace) + "}", "{" + by + member("organizationID", nowhere) + "}",
				refusal.NotFound})
		}
	}
	set := func(what, member, foreign, of string, code refusal.Code) {
		send := func(value string) string { return strings.Replace(of, "HERE", `,"`+member+`":"`+value+`"`, 1) }
		all = append(all, pair{"send for " + what, harborKey, "POST", paths["send-gift"], send(foreign), send(nowhere), code})
	}
	printed := `{"monetaryGift":{"value":1,"deliveryMethodID":3HERE},` + purchase + `}`
	set("an account", "accountID", corner, printed, refusal.NotAuthorized)
	set("a location", "organizationID", cornerPlace, printed, refusal.ValidationFailure)
	set("a design", "voucherDesignID", cornerDesign, printed, refusal.ValidationFailure)
	set("a storefront", "externalStorefrontID", cornerShop,
		`{"monetaryGift":{"value":1,"deliveryMethodID":3}`+"HERE,"+strings.TrimSuffix(purchase, `,"externalStorefrontID":"`+
			shop+`"`)+`}`, refusal.ValidationFailure)
	set("a promotion", "promotionID", cornerPromotion,
		`{"monetaryGift":{"value":1,"deliveryMethodID":3},"paymentMethodID":4HERE}`, refusal.ValidationFailure)
	for _, of := range []string{"organizationID=", "promotionID="} {
		foreign := map[string]string{"organizationID=": cornerPlace, "promotionID=": cornerPromotion}[of]
		all = append(all, pair{"list by " + of, harborKey, "GET", base + "/gifting/gifts", "?" + of + foreign, "?" + of +
			nowhere, ""})
	}
	return all
}

// seen is all that a caller, and whoever reads the log, sees of a call.
type seen struct {
	Status int
	Header http.Header
	Body   string
	Event  service.Event
}

func (s *stage) see(p pair, what, key string) seen {
	s.Helper()
	headers := append(as(p.key), "X-Request-ID", "the-same")
	if key != "" {
		headers = append(headers, once(key)...)
	}
	r := reply{}
	if p.method == "GET" {
		r = s.do(p.method, p.path+what, "", headers...)
	} else {
		r = s.do(p.method, p.path, what, headers...)
	}
	r.header.Del("Date")
	s.mu.Lock()
	defer s.mu.Unlock()
	event := s.events[len(s.events)-1]
	event.LocationID = guid.ID{} // as the request names it: the caller knew it before
	return seen{r.status, r.header, string(r.body), event}
}

// TestWhatIsNotForAKeyIsAsIfItWereNotThere: byte for byte the same answer, headers included, and the same line in the
// log. Under an Idempotency-Key too, when the call is repeated, and when that is asked about.
func TestWhatIsNotForAKeyIsAsIfItWereNotThere(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	all := s.hiddenThings()
	if len(all) < 3*len(operation.All()) {
		t.Errorf("%d calls for %d operations", len(all), len(operation.All()))
	}
	for n, p := range all {
		for _, key := range []string{"", "first", "first"} {
			if p.method == "GET" && key != "" {
				continue
			}
			keys := [2]string{}
			if key != "" {
				keys = [2]string{fmt.Sprintf("h%d", n), fmt.Sprintf("n%d", n)}
			}
			hidden, none := s.see(p, p.hidden, keys[0]), s.see(p, p.none, keys[1])
			if diff := cmp.Diff(none, hidden); diff != "" {
				t.Errorf("%s, as %s, tells one from the other (-not there +hidden):\n%s", p.call, p.key, diff)
			}
			if hidden.Event.Code != p.code {
				t.Errorf("%s is answered %q, want %q: %s", p.call, hidden.Event.Code, p.code, hidden.Body)
			}
		}
		if p.method == "POST" {
			ask := pair{key: p.key, method: "GET", path: base + "/requests/"}
			hidden, none := s.see(ask, fmt.Sprintf("h%d", n), ""), s.see(ask, fmt.Sprintf("n%d", n), "")
			same := strings.NewReplacer(fmt.Sprintf(`"h%d"`, n), `"n"`, fmt.Sprintf(`"n%d"`, n), `"n"`)
			if hidden.Status != none.Status || hidden.Status == 200 && !sameButTime(same.Replace(hidden.Body),
				same.Replace(none.Body)) {
				t.Errorf("what became of %s tells one from the other: %s and %s", p.call, hidden.Body, none.Body)
			}
		}
	}
}

// sameButTime compares two answers in which only an instant may differ.
func sameButTime(a, b string) bool {
	i, j := strings.Index(a, `"finishedAt"`), strings.Index(b, `"finishedAt"`)
	return i >= 0 && j >= 0 && a[:i] == b[:j]
}
