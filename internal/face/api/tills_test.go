package api_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/face/api/contract"
	"boon.example/internal/face/api/payload"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/pin"
	"boon.example/internal/racetest"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// tills calls an operation about tills or people.
func (w *world) tills(method, path, body string, headers ...string) reply {
	w.Helper()
	if body != "" {
		headers = append(headers, "Content-Type", "application/json")
	}
	r := w.do(method, base+path, body, headers...)
	w.learn()
	return r
}

// learn has the service read the set-up anew.
func (w *world) learn() {
	w.Helper()
	d, err := w.store.Directory(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	w.directory.Store(d)
}

// staff gives the account people.
func (w *world) staff(people ...merchant.Person) {
	w.Helper()
	err := w.store.Configure(w.Context(), func(d *merchant.Directory, _ merchant.Uses) (merchant.Changes, error) {
		a := *d.Accounts[id(harbor)]
		a.People = people
		return merchant.Changes{Accounts: []*merchant.Account{&a}, What: "people"}, nil
	})
	if err != nil {
		w.Fatal(err)
	}
	w.learn()
}

// TestTillsAreMadeAndSwitchedOff: a key with tills makes a link, sees the till that waits, and switches it off; what
// the till may do is no more than the key may itself.
func TestTillsAreMadeAndSwitchedOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.tills("POST", "/tills", `{"name":" Counter 1 ","organizationID":"`+pier+`","may":["reload"],
		"networks":["203.0.113.0/24","203.0.113.0/24","198.51.100.7"]}`).want(201, "name", "Counter 1", "state", "WAITING",
		"organizationID", pier, "may[3]", "reload", "networks[1]", "198.51.100.7/32")
	token, found := strings.CutPrefix(made.at("pairURL"), "https://gifts.example.com/till/pair#")
	till := made.at("keyID")
	if k := w.directory.Load().Keys[merchant.HashKey(token)]; !found || k == nil || k.ID.String() != till ||
		k.Till != merchant.WaitingTill || k.ExpiresAt.Sub(k.CreatedAt) != 15*time.Minute {
		t.Fatalf("the link %s is that of the key %+v", made.at("pairURL"), k)
	}
	w.tills("GET", "/tills", "").want(200, "tills[0].keyID", till, "tills[0].state", "WAITING")
	w.tills("POST", "/tills", `{"name":"Counter 1","organizationID":"`+pier+`"}`).refused(400, refusal.ValidationFailure, "name")
	for range 2 { // it is off for good
		w.tills("DELETE", "/tills/"+till, "").want(200, "state", "OFF")
	}
	if got := string(w.tills("GET", "/tills", "").want(200).body); strings.Contains(got, till) {
		t.Errorf("a till that is off is listed: %s", got)
	}
	w.permit(rotatedKey, "tills", "reload")
	more := w.tills("POST", "/tills", `{"name":"Counter 2","organizationID":"`+pier+`","may":["reload","cash-out"]}`,
		as(rotatedKey)...).refused(403, refusal.NotAuthorized, "may")
	if text := more.at("messages[0].text"); !strings.HasSuffix(text, "may not do itself: cash-out.") {
		t.Errorf("it is refused with %s", text)
	}
	w.tills("POST", "/tills", `{"name":"Counter 2","organizationID":"`+pier+`","may":["reload"]}`, as(rotatedKey)...).
		want(201)
	for _, unseen := range []string{`\u202e\u202c`, `\u200b`, ` \u2066 \u2069`, `\u3164`} {
		w.tills("POST", "/tills", `{"name":"`+unseen+`","organizationID":"`+pier+`"}`).refused(400, refusal.ValidationFailure,
			"name")
	}
	w.tills("POST", "/tills", `{"name":"Counter 3","organizationID":"`+nowhere+`"}`).refused(404, refusal.NotFound,
		"organizationID")
	var trail struct {
		Entries []struct{ Action, KeyID, What string }
	}
	if err := json.Unmarshal(w.get("/audit").want(200).body, &trail); err != nil {
		t.Fatal(err)
	}
	told := fmt.Sprint(trail.Entries)
	for _, what := range []string{"added till Counter 1", "switched off till Counter 1"} {
		if !strings.Contains(told, what) {
			t.Errorf("the audit trail lacks %q: %s", what, told)
		}
	}
	if strings.Contains(told, token) {
		t.Error("the audit trail has the token of a link")
	}
}

// TestTillsHaveTheBoundsOfTheirMaker: a till that a key makes has the daily limits of the key, and works from within
// the key's networks; a network outside is refused by name.
func TestTillsHaveTheBoundsOfTheirMaker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	home, office := netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")
	limits := merchant.Limits{RedeemedPerDay: 5000, GiftsPerDay: 7}
	bounded := func() {
		t.Helper()
		err := w.store.Configure(t.Context(), func(d *merchant.Directory, _ merchant.Uses) (merchant.Changes, error) {
			k := *d.Keys[merchant.HashKey(rotatedKey)]
			k.Permissions, k.Limits, k.Networks = merchant.MayTills, limits, merchant.Networks{home, office}
			return merchant.Changes{Keys: []*merchant.Key{&k}, What: "bounds"}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		w.learn()
	}
	bounded()
	for _, one := range []struct {
		networks string
		want     merchant.Networks // nil: refused
	}{
		{`[]`, merchant.Networks{home, office}},
		{`["10.1.0.0/16","127.0.0.1"]`, merchant.Networks{netip.MustParsePrefix("10.1.0.0/16"),
			netip.MustParsePrefix("127.0.0.1/32")}},
		{`["10.0.0.0/7"]`, nil}, {`["2001:db8::/32"]`, nil}, {`["127.0.0.1","203.0.113.0/24"]`, nil},
	} {
		made := w.tills("POST", "/tills", `{"name":"Till `+guid.ID(uuid.Must(uuid.NewV7())).String()+`","organizationID":"`+pier+
			`","networks":`+one.networks+`}`, as(rotatedKey)...)
		if one.want == nil {
			text := made.refused(403, refusal.NotAuthorized, "networks").at("messages[0].text")
			if !strings.Contains(text, "Its own networks are 127.0.0.0/8 10.0.0.0/8") {
				t.Errorf("%s is refused with %s", one.networks, text)
			}
			continue
		}
		k := w.directory.Load().Key(id(made.want(201).at("keyID")))
		if k == nil || k.Limits != limits || !slices.Equal(k.Networks.Sorted(), one.want.Sorted()) {
			t.Errorf("%s: the till's key is %+v", one.networks, k)
		}
	}
}

// TestNewTillsOfADay: an account makes so many tills in a day, as each has guesses of its own. Who asks too often for a
// change of tills, PINs or webhooks is told that it is about these.
func TestNewTillsOfADay(t *testing.T) {
	t.Parallel()
	w, began := newWorld(t), time.Now()
	most := merchant.NewTills + merchant.NewTillsPerLocation*len(w.directory.Load().Accounts[id(harbor)].Locations)
	for n := range most {
		made := w.tills("POST", "/tills", fmt.Sprintf(`{"name":"Counter %d","organizationID":"`+pier+`"}`, n)).want(201)
		w.tills("DELETE", "/tills/"+made.at("keyID"), "").want(200)
		w.pass(time.Minute)
	}
	one := `{"name":"One more","organizationID":"` + pier + `"}`
	limited := w.tills("POST", "/tills", one).refused(429, refusal.RateLimited)
	rest := 24*time.Hour - time.Duration(most)*time.Minute
	least := rest - time.Since(began) // the clock of the service goes on by itself, too
	wait, err := time.ParseDuration(limited.header.Get("Retry-After") + "s")
	if err != nil || wait < least || wait > rest {
		t.Errorf("after %d tills it is to be tried again after %v, not from %v to %v", most, wait, least, rest)
	}
	w.pass(rest)
	w.tills("POST", "/tills", one).want(201)
	var often reply
	for range 60 {
		often = w.tills("DELETE", "/tills/"+nowhere, "")
	}
	text := often.refused(429, refusal.RateLimited).at("messages[0].text")
	if !strings.HasPrefix(text, "The tills, PINs, webhooks and imports") {
		t.Errorf("who changed tills too often is told %q", text)
	}
}

// TestPINsAreSet: a PIN that a key sets is for the first sign-in; it is drawn unless the call says it, and shown once.
func TestPINsAreSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.staff(merchant.Person{Name: "Ana", May: merchant.MayReverse}, merchant.Person{Name: "Ben",
		Locations: []guid.ID{id(wharf)}})
	w.tills("GET", "/people", "").want(200, "people[0].name", "Ana", "people[0].pinState", "NONE", "people[0].may[0]",
		"reverse", "people[1].organizationIDs[0]", wharf)
	drawn := w.tills("POST", "/people/set-pin", `{"name":"Ana"}`).want(200, "pinState", "FIRST").at("pin")
	ana := func() merchant.Person { return w.directory.Load().Accounts[id(harbor)].People[0] }
	if len(drawn) != 6 || !pin.Is(ana().PIN, drawn) || !ana().FirstPIN {
		t.Errorf("the PIN drawn is %q of %+v", drawn, ana())
	}
	said := w.tills("POST", "/people/set-pin", `{"name":"Ana","pin":"4711"}`).want(200, "pin", "null")
	if !pin.Is(ana().PIN, "4711") || strings.Contains(string(said.body), "4711") {
		t.Errorf("the PIN said is not that of %+v, or %s tells it", ana(), said.body)
	}
	if body := string(w.tills("GET", "/people", "").want(200, "people[0].pinState", "FIRST").body); strings.Contains(body,
		"argon2") {
		t.Errorf("the list has hashes: %s", body)
	}
	w.tills("POST", "/people/set-pin", `{"name":"Zoe"}`).refused(404, refusal.NotFound, "name")
	w.permit(pierKey, "tills") // it manages who works at the pier only
	w.tills("POST", "/people/set-pin", `{"name":"Ben"}`, as(pierKey)...).refused(404, refusal.NotFound, "name")
	w.tills("POST", "/people/set-pin", `{"name":"Ana"}`, as(pierKey)...).refused(404, refusal.NotFound, "name")
	if body := string(w.tills("GET", "/people", "", as(pierKey)...).want(200).body); strings.Contains(body, "Ana") {
		t.Errorf("a key of the pier sees who works everywhere: %s", body)
	}
}

// TestTillsAreChecked: every problem of a request about tills and people is told at once.
func TestTillsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for body, paths := range map[string][]string{
		`{}`: {"name", "organizationID"},
		`{"name":7,"organizationID":"x","may":["send","reload","sell"],"networks":["somewhere"],"more":1}`: {"name",
			"organizationID", "may[0]", "may[2]", "networks[0]", "more"},
	} {
		w.tills("POST", "/tills", body).refused(400, refusal.ValidationFailure, paths...)
	}
	for body, paths := range map[string][]string{
		`{}`: {"name"}, `{"name":"Ana","pin":"1234"}`: {"pin"}, `{"name":"","pin":"12","x":1}`: {"name", "pin", "x"},
	} {
		w.tills("POST", "/people/set-pin", body).refused(400, refusal.ValidationFailure, paths...)
	}
	w.tills("DELETE", "/tills/x", "").refused(400, refusal.ValidationFailure, "keyID")
	for range 60 {
		w.tills("POST", "/tills", `{"name":"","organizationID":"`+pier+`"}`).refused(400, refusal.ValidationFailure, "name")
	}
	for range 60 { // each is a change of the set-up, for all that the limit knows
		w.tills("DELETE", "/tills/"+nowhere, "").refused(404, refusal.NotFound, "keyID")
	}
	w.tills("DELETE", "/tills/"+nowhere, "").refused(429, refusal.RateLimited)
	w.tills("POST", "/people/set-pin", `{"name":"Ana"}`).refused(429, refusal.RateLimited)
	w.tills("POST", "/tills", `{"name":"Counter","organizationID":"`+pier+`"}`).refused(429, refusal.RateLimited)
}

// TestAuthorityOverTills: nobody manages the tills and people of another account, those of a location at which the
// key is not enabled, or any without the permission. An API key is no till.
func TestAuthorityOverTills(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.tills("POST", "/tills", `{"name":"Wharf","organizationID":"`+wharf+`"}`).want(201).at("keyID")
	w.permit(rotatedKey, "look-up", "codes")
	operations, err := contract.Routes(theFile)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, op := range operations {
		if !strings.Contains(op.Path, "/tills") && !strings.Contains(op.Path, "/people") {
			continue
		}
		seen++
		body := map[string]string{"pairTill": `{"name":"Thief","organizationID":"` + wharf + `"}`,
			"setPIN": `{"name":"Ana"}`}[op.OperationID]
		ask := func(till, key string) reply {
			headers := as(key)
			if body != "" {
				headers = append(headers, "Content-Type", "application/json")
			}
			return w.do(op.Method, strings.Replace(op.Path, "{keyID}", till, 1), body, headers...)
		}
		ask(own, systemKey).refused(422, refusal.NotSupported)
		ask(own, rotatedKey).refused(403, refusal.NotAuthorized)
		for _, dead := range deadKeys[1:] {
			ask(own, dead).refused(401, refusal.Unauthenticated)
			w.pass(6 * time.Second)
		}
		switch op.OperationID {
		case "pairTill":
			ask(own, cornerKey).refused(404, refusal.NotFound, "organizationID")
		case "revokeTill":
			ask(own, cornerKey).refused(404, refusal.NotFound, "keyID")
			apiKey := w.directory.Load().Keys[merchant.HashKey(pierKey)].ID.String()
			ask(apiKey, harborKey).refused(404, refusal.NotFound, "keyID")
		case "setPIN":
			ask(own, cornerKey).refused(404, refusal.NotFound, "name")
		default:
			if got := string(ask(own, cornerKey).want(200).body); strings.Contains(got, own) {
				t.Errorf("%s tells of another account's: %s", op.OperationID, got)
			}
		}
	}
	if seen != 5 {
		t.Errorf("%d operations", seen)
	}
	w.permit(pierKey, "tills")
	w.tills("POST", "/tills", `{"name":"Thief","organizationID":"`+wharf+`"}`, as(pierKey)...).refused(403,
		refusal.NotAuthorized, "organizationID")
	w.tills("DELETE", "/tills/"+own, "", as(pierKey)...).refused(404, refusal.NotFound, "keyID")
	if got := string(w.tills("GET", "/tills", "", as(pierKey)...).want(200).body); strings.Contains(got, own) {
		t.Errorf("a key of the pier sees a till of the wharf: %s", got)
	}
	w.tills("GET", "/tills", "").want(200, "tills[0].state", "WAITING")
}

// TestEveryAnswerWithCodesIsCounted: whatever operation shows codes to a key because it may see them, the log and the
// metric are told how many.
func TestEveryAnswerWithCodesIsCounted(t *testing.T) {
	racetest.SkipShort(t, "calls one after the other")
	t.Parallel()
	s := newStage(t)
	operations, err := contract.Routes(theFile)
	if err != nil {
		t.Fatal(err)
	}
	counted := map[string]bool{}
	for _, op := range operations {
		for _, r := range rowsOf(op) {
			if r.open || op.OperationID == "validateGift" || op.OperationID == "sendGift" { // which show them to everybody
				continue
			}
			for _, by := range ways(cmp.Or(r.by, "id")) {
				a := s.ask(op, by, s.make("anywhere", s.stateFor(op, r)), harborKey, pier)
				shown := payload.CodesIn(a.body)
				if shown == 0 {
					continue
				}
				if counted[op.OperationID] = true; s.logged(a).Codes != shown {
					t.Errorf("%s by %s shows %d codes, and %d are counted", op.OperationID, by, shown, s.logged(a).Codes)
				}
			}
		}
	}
	if len(counted) < 6 {
		t.Errorf("only %v show codes", slices.Sorted(maps.Keys(counted)))
	}
}

// logged is what the log is told of a call, which may come later than its answer.
func (s *stage) logged(a reply) service.Event {
	s.Helper()
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		for _, e := range s.events {
			if e.RequestID == a.header.Get("X-Request-ID") {
				s.mu.Unlock()
				return e
			}
		}
		s.mu.Unlock()
	}
	s.Fatalf("the log is not told of the call %v", a.header)
	return service.Event{}
}

// TestReadingCodesLeavesATrace: a key that looks up gifts with their codes stands in the audit trail once an hour,
// and each such call says how many it saw; a key without codes leaves none.
func TestReadingCodesLeavesATrace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("5"))
	read := func() int {
		w.Helper()
		return strings.Count(string(w.get("/audit?limit=200").want(200).body), `"action":"codes.read"`)
	}
	w.permit(rotatedKey, "look-up")
	w.get("/gifting/gifts/"+g.id, as(rotatedKey)...).want(200)
	w.get("/gifting/gifts", as(rotatedKey)...).want(200)
	if n := read(); n != 0 {
		t.Errorf("a key without codes read codes %d times", n)
	}
	for range 2 {
		w.get("/gifting/gifts/" + g.id).want(200)
		w.get("/gifting/gifts").want(200)
	}
	w.get("/gifting/gifts/"+nowhere).refused(404, refusal.NotFound)
	if n := read(); n != 1 {
		t.Errorf("the audit trail tells %d times of a key that read codes", n)
	}
	w.mu.Lock()
	shown := 0
	for _, e := range w.events {
		shown += e.Codes
	}
	w.mu.Unlock()
	if shown != 4 {
		t.Errorf("%d codes were shown, by what the log is told", shown)
	}
	w.pass(time.Hour)
	w.get("/gifting/gifts").want(200)
	if n := read(); n != 2 {
		t.Errorf("an hour later the audit trail tells %d times", n)
	}
}

// TestAnswersThatAreReadAgainLeaveATrace: whoever asks what became of a call, and is told codes, is noted as somebody
// who looks gifts up.
func TestAnswersThatAreReadAgainLeaveATrace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sent := w.send(ofMoney("5"), "Idempotency-Key", "order 1")
	w.redeem(sent, "1", "Idempotency-Key", "sale 1").want(200)
	trail := func() int {
		w.Helper()
		return strings.Count(string(w.get("/audit").want(200).body), `"action":"codes.read"`)
	}
	shown := func() (n int) {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, e := range w.events {
			n += e.Codes
		}
		return n
	}
	w.get("/requests/sale%201").want(200)
	w.get("/requests/nothing").refused(404, refusal.NotFound)
	if trail() != 0 || shown() != 0 {
		t.Errorf("an answer without codes, and none: %d in the trail, %d in the log", trail(), shown())
	}
	w.permit(rotatedKey, "send") // which may not see codes elsewhere
	w.get("/requests/order%201", as(rotatedKey)...).want(200)
	if trail() != 1 || shown() != 1 {
		t.Errorf("an answer with a code: %d in the trail, %d in the log", trail(), shown())
	}
}

// TestNoNameForgesALine: the log of the set-up and the audit trail tell a change on each line. A name with a line break
// would write one of its own.
func TestNoNameForgesALine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, end := range []string{`\n`, `\r`, `\u2028`, `\u0085`, `\u001b[2K`} {
		forged := `"Counter 1` + end + `account Harbor Coffee: set the PIN of Ana"`
		w.tills("POST", "/tills", `{"name":`+forged+`,"organizationID":"`+pier+`"}`).refused(400, refusal.ValidationFailure,
			"name")
		w.tills("POST", "/people/set-pin", `{"name":`+forged+`}`).refused(400, refusal.ValidationFailure, "name")
	}
	if trail := string(w.get("/audit").want(200).body); strings.Contains(trail, "set the PIN") {
		t.Errorf("the audit trail tells what nobody did: %s", trail)
	}
}
