package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"boon.example/internal/face/api"
	"boon.example/internal/face/api/contract"
	"boon.example/internal/face/api/manage"
	"boon.example/internal/face/web"
	"boon.example/internal/guid"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/print"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
	"boon.example/internal/store/storetest"
)

// world is a service of its own: a real store in a temporary folder, the engine over it, and the interface on real
// HTTP.
type world struct {
	testing.TB
	dir       string
	database  string
	store     *store.Store
	engine    *engine.Engine
	server    *httptest.Server
	config    config
	directory atomic.Pointer[merchant.Directory]
	skew      atomic.Int64 // of the service's clock
	wakes     atomic.Int32
	took      atomic.Int64 // by the service for the last call, without the judge of the contract
	mu        sync.Mutex
	events    []service.Event
}

var theFile = api.OpenAPI(service.Version, "https://gifts.example.com")

// contracts reads the OpenAPI file once for all tests.
var contracts struct {
	once    sync.Once
	checker *contract.Checker
}

// checked puts the contract around the interface: every call of every test is held against the OpenAPI file.
func checked(t testing.TB, h http.Handler) http.Handler {
	contracts.once.Do(func() {
		contracts.checker = contract.New(t, theFile).WithOlder(
			api.OpenAPI30(service.Version, "https://gifts.example.com"))
	})
	return contracts.checker.For(t).Handler(h)
}

func id(s string) guid.ID {
	id, err := guid.Parse(s)
	if err != nil {
		panic(s)
	}
	return id
}

// The records of the set-up that the tests run on.
const (
	harbor           = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01"
	pier             = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c11"
	wharf            = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c12"
	shop             = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21"
	counter          = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c22"
	spring           = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c31" // eligible items
	bareSpring       = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c32" // no defaults
	design           = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c41"
	corner           = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f2c01" // an account with one location
	cornerPlace      = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f2c11"
	cornerShop       = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f2c21"
	cornerPromotion  = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f2c31"
	cornerDesign     = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f2c41"
	homeless         = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f3c01" // an account without any
	careful          = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f4c01" // requires an Idempotency-Key; yen
	carefulShop      = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f4c21"
	carefulPlace     = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f4c11"
	carefulPromotion = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f4c31"
	gulf             = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f5c01" // dinars, of 1,000 fils
	gulfPlace        = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f5c11"
	gulfShop         = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f5c21"
	gulfPromotion    = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f5c31"
	sandbox          = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f6c01" // a test account
	zeroGUID         = "00000000-0000-0000-0000-000000000000"
	nowhere          = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f9c99"
)

// The keys of the set-up.
const (
	harborKey   = "boon_test_harbor-all-locations-0000000"
	rotatedKey  = "boon_test_harbor-all-locations-1111111"
	pierKey     = "boon_test_harbor-pier-only-000000000000"
	wharfKey    = "boon_test_harbor-wharf-only-00000000000"
	cornerKey   = "boon_test_corner-000000000000000000000"
	homelessKey = "boon_test_homeless-0000000000000000000"
	carefulKey  = "boon_test_careful-00000000000000000000"
	gulfKey     = "boon_test_gulf-0000000000000000000000000"
	systemKey   = "boon_test_system-000000000000000000000"
	partnerKey  = "boon_test_partner-00000000000000000000" // another integrator
	expiredKey  = "boon_test_expired-00000000000000000000"
	revokedKey  = "boon_test_revoked-00000000000000000000"
	sandboxKey  = "boon_test_sandbox-00000000000000000000"
)

var (
	dollars = money.Currency{Code: "USD", Decimals: 2}
	yen     = money.Currency{Code: "JPY"}
	dinars  = money.Currency{Code: "KWD", Decimals: 3}
)

func setUp() merchant.Changes {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		panic(err)
	}
	all := []merchant.Subscription{{ProgramID: merchant.BusinessProgram.ID, Reloadable: true},
		{ProgramID: merchant.PromotionalProgram.ID}}
	account := func(text, name string, c money.Currency, locations ...merchant.Location) *merchant.Account {
		limit, err := c.Parse("10000")
		if err != nil {
			panic(err)
		}
		return &merchant.Account{ID: id(text), Name: name, Currency: c, Zone: zone, MaxGiftValue: limit,
			Subscriptions: all, Locations: locations}
	}
	h := account(harbor, "Harbor Coffee", dollars,
		merchant.Location{ID: id(pier), Name: "Pier 39", Jurisdiction: "US-CA", PointOfSale: "POS-1", POSRedemption: true},
		merchant.Location{ID: id(wharf), Name: "Long Wharf", PointOfSale: "POS-2"})
	h.Subscriptions = append(h.Subscriptions[:2:2], merchant.Subscription{ProgramID: merchant.DistributionProgram.ID,
		Locations: []guid.ID{id(pier)}})
	h.Storefronts = []merchant.Storefront{{ID: id(shop), Name: "Web shop"}, {ID: id(counter), Name: "Front counter"}}
	h.Designs = []merchant.Design{{ID: id(design), Name: "Harbor", AccentColor: "#0b5fff", Headline: "Enjoy"}}
	h.Promotions = []merchant.Promotion{
		{ID: id(spring), Name: "Spring", ValidStarting: time.Now().Add(-time.Hour), ValidForDays: 30, Terms: "One per guest.",
			TermsIn: merchant.Translations{merchant.German: "Einmal pro Gast.", merchant.French: strings.Repeat("é",
				4000)},
			EligibleItems: []merchant.Item{{ID: "LATTE"}, {ID: "MOCHA", Name: "Mocha"}}},
		{ID: id(bareSpring), Name: "Bare"}}
	c := account(corner, "Corner", dollars, merchant.Location{ID: id(cornerPlace), Name: "Corner"})
	c.Storefronts = []merchant.Storefront{{ID: id(cornerShop), Name: "Counter"}}
	c.Designs = []merchant.Design{{ID: id(cornerDesign), Name: "Corner"}}
	c.Promotions = []merchant.Promotion{{ID: id(cornerPromotion), Name: "Bare"}}
	y := account(careful, "Careful", yen, merchant.Location{ID: id(carefulPlace), Name: "Tokyo"})
	everywhere := append(all[:2:2], merchant.Subscription{ProgramID: merchant.DistributionProgram.ID})
	y.Subscriptions = everywhere
	y.Promotions = []merchant.Promotion{{ID: id(carefulPromotion), Name: "Summer"}}
	y.RequireIdempotencyKey = true
	y.Storefronts = []merchant.Storefront{{ID: id(carefulShop), Name: "Counter"}}
	k := account(gulf, "Gulf", dinars, merchant.Location{ID: id(gulfPlace), Name: "Souk"})
	k.Subscriptions = everywhere
	k.Storefronts = []merchant.Storefront{{ID: id(gulfShop), Name: "Counter"}}
	k.Promotions = []merchant.Promotion{{ID: id(gulfPromotion), Name: "Autumn"}}
	test := account(sandbox, "Sandbox", dollars)
	test.Test = true
	return merchant.Changes{Accounts: []*merchant.Account{h, c, account(homeless, "Homeless", dollars), y, k, test},
		Keys: keys()}
}

func keys() []*merchant.Key {
	n := 0
	key := func(text, account string, locations ...guid.ID) *merchant.Key {
		n++
		k := &merchant.Key{ID: id(fmt.Sprintf("00000000-0000-7000-8000-0000000000%02d", n)), Kind: merchant.AccountKey,
			Name: text[10:],
			Hint: merchant.KeyHint(text), Hash: merchant.HashKey(text), Locations: locations,
			CreatedAt:   time.Now().Add(-time.Hour),
			Permissions: merchant.AllPermissions}
		if account == "" {
			k.Kind, k.Programs = merchant.SystemKey, merchant.ProgramIDs()
			k.Accounts = []guid.ID{id(harbor), id(corner), id(homeless), id(careful), id(gulf)}
		} else {
			k.AccountID = id(account)
		}
		return k
	}
	expired, revoked := key(expiredKey, harbor), key(revokedKey, harbor)
	expired.ExpiresAt = time.Now().Add(-time.Minute)
	revoked.RevokedAt = time.Now().Add(-time.Minute)
	all := []*merchant.Key{
		key(harborKey, harbor), key(rotatedKey, harbor), key(pierKey, harbor, id(pier)), key(wharfKey, harbor, id(wharf)),
		key(cornerKey, corner), key(homelessKey, homeless), key(carefulKey, careful), key(gulfKey, gulf), key(systemKey, ""),
		expired, revoked, key(partnerKey, ""),
	}
	testing := key(sandboxKey, sandbox)
	testing.Test = true
	return append(all, testing)
}

// config is that of the interface and of the service below it.
type config struct {
	service.Config
	apiConfig
	Records api.Records
}

type apiConfig = api.Config

// api makes the interface.
func (c config) api() *api.API {
	c.Config.Records, c.apiConfig.Records = c.Records, c.Records
	c.Service = service.New(c.Config)
	return api.New(c.apiConfig)
}

// handler serves the interface alone.
func (c config) handler() http.Handler {
	mux, a := http.NewServeMux(), c.api()
	a.Register(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { a.Fail(w, r, http.StatusNotFound) })
	return a.Front(mux, api.Root, "")
}

// newWorld makes a world; change, if any, alters the configuration before the interface is made.
func newWorld(t testing.TB, change ...func(*config)) *world {
	t.Helper()
	return newWorldOn(t, store.Options{}, change...)
}

// newWorldOn is newWorld on a store that is opened in another way.
func newWorldOn(t testing.TB, o store.Options, change ...func(*config)) *world {
	t.Helper()
	w := &world{TB: t, dir: t.TempDir(), database: pgtest.Database(t)}
	if w.database == "" {
		storetest.Copy(t, w.dir)
	}
	o.Dir, o.Database, o.GiftCache = w.dir, w.database, 1<<20
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Configure(t.Context(), func(*merchant.Directory, merchant.Uses) (merchant.Changes, error) {
		return setUp(),
			nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.run(s, change...)
	return w
}

// run starts the service over a store.
func (w *world) run(s *store.Store, change ...func(*config)) {
	w.Helper()
	directory, err := s.Directory(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	w.directory.Store(directory)
	w.store = s
	started := engine.Start(s, engine.Options{Now: w.now, KeyTimeout: 200 * time.Millisecond})
	w.engine = started
	var beside sync.WaitGroup
	running, stop := context.WithCancel(context.WithoutCancel(w.Context()))
	w.config = config{Config: service.Config{
		Engine: started, Directory: w.directory.Load, Fingerprint: s.Keys().Fingerprint,
		Fingerprinted: s.Keys().Fingerprinted, PublicURL: "https://gifts.example.com",
		Wake: func(bool) { w.wakes.Add(1) }, Now: w.now, Note: w.note,
	}, Records: s, apiConfig: api.Config{
		Cursors: s.Keys(), Email: true, SMS: true,
		Sheets:    (&web.Config{PublicURL: "https://gifts.example.com", Gifts: s}).Sheets,
		Printable: print.BuiltIn().Prints, Hooks: s,
		Imports: manage.ImportConfig{Store: s, Folder: w.dir,
			Background: func(run func(context.Context)) { beside.Go(func() { run(running) }) },
			Failed:     func(_, importID guid.ID, err error) { w.Errorf("import %s: %v", importID, err) }},
	}}
	for _, f := range change {
		f(&w.config)
	}
	server := httptest.NewServer(checked(w.TB, w.timed(w.config.handler())))
	w.server = server
	w.Cleanup(func() {
		server.Close()
		stop()
		beside.Wait()
		started.Stop()
		s.Close()
	})
}

func (w *world) timed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		h.ServeHTTP(answer, r)
		w.took.Store(int64(time.Since(begun)))
	})
}

func (w *world) now() time.Time { return time.Now().Add(time.Duration(w.skew.Load())) }

func (w *world) pass(d time.Duration) { w.skew.Add(int64(d)) }

func (w *world) note(_ context.Context, e service.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
	if e.Err != nil {
		w.Logf("%s: %v", e.Code, e.Err)
	}
}

// reply is an answer.
type reply struct {
	testing.TB
	status int
	header http.Header
	body   []byte
}

const base = "/api/integration"

// do makes a request; headers are pairs of name and value.
func (w *world) do(method, path, body string, headers ...string) reply {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), method, w.server.URL+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	for n := 0; n < len(headers); n += 2 {
		r.Header.Add(headers[n], headers[n+1])
	}
	if _, ok := r.Header["Authorization"]; !ok {
		r.Header.Set("Authorization", harborKey)
	}
	answer, err := w.server.Client().Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		w.Fatal(err)
	}
	return reply{w.TB, answer.StatusCode, answer.Header, got}
}

// post calls an operation.
func (w *world) post(operation, body string, headers ...string) reply {
	w.Helper()
	if operation == "clock" {
		return w.do("POST", "/api/test/clock", body, append(as(sandboxKey), "Content-Type", "application/json")...)
	}
	if operation == "book" {
		return w.do("POST", base+"/reports/breakage/book", body, append(headers, "Content-Type", "application/json")...)
	}
	return w.do("POST", paths[operation], body, append(headers, "Content-Type", "application/json")...)
}

func (w *world) get(path string, headers ...string) reply {
	w.Helper()
	return w.do("GET", base+path, "", headers...)
}

func as(key string) []string { return []string{"Authorization", key} }

func once(key string) []string { return []string{"Idempotency-Key", key} }

// at gives the member at a path such as gifts[0].voucherCode, as text: strings without quotes, all else as it is in
// the JSON.
func (r reply) at(path string) string {
	r.Helper()
	value := json.RawMessage(r.body)
	for _, step := range strings.FieldsFunc(strings.ReplaceAll(path, "[", ".["), func(c rune) bool {
		return c == '.' ||
			c == ']'
	}) {
		if index, ok := strings.CutPrefix(step, "["); ok {
			n, _ := strconv.Atoi(index)
			var list []json.RawMessage
			if err := json.Unmarshal(value, &list); err != nil || n >= len(list) {
				r.Fatalf("no %s in %s", path, r.body)
			}
			value = list[n]
			continue
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(value, &members); err != nil || members[step] == nil {
			r.Fatalf("no %s in %s", path, r.body)
		}
		value = members[step]
	}
	var text string
	if json.Unmarshal(value, &text) == nil && !bytes.Equal(value, []byte("null")) {
		return text
	}
	return string(value)
}

// has tells how many elements a list has.
func (r reply) has(list string, n int) reply {
	r.Helper()
	var elements []json.RawMessage
	if err := json.Unmarshal([]byte(r.at(list)), &elements); err != nil || len(elements) != n {
		r.Errorf("%s has %d elements, want %d, in %s", list, len(elements), n, r.body)
	}
	return r
}

// want checks the status and members of an answer: pairs of path and value.
func (r reply) want(status int, members ...string) reply {
	r.Helper()
	if r.status != status {
		r.Fatalf("answered %d, want %d: %s", r.status, status, r.body)
	}
	for n := 0; n < len(members); n += 2 {
		if got := r.at(members[n]); got != members[n+1] {
			r.Errorf("%s is %s, want %s, in %s", members[n], got, members[n+1], r.body)
		}
	}
	return r
}

// refused checks the problem document of a failure. Each of paths must be that of a message.
func (r reply) refused(status int, code refusal.Code, paths ...string) reply {
	r.Helper()
	r.want(status, "code", string(code), "status", strconv.Itoa(status), "type", "https://gifts.example.com/docs/errors#"+
		string(code),
		"requestID", r.at("requestID"))
	if got := r.header.Get("Content-Type"); got != "application/problem+json" {
		r.Errorf("Content-Type is %q", got)
	}
	var problem struct {
		Title    string
		Messages []struct{ Path, Text string }
	}
	if err := json.Unmarshal(r.body, &problem); err != nil || problem.Title == "" || len(problem.Messages) == 0 {
		r.Errorf("no title or no messages in %s", r.body)
	}
	given := map[string]bool{}
	for _, m := range problem.Messages {
		given[m.Path] = true
		if m.Text == "" || !strings.HasSuffix(m.Text, ".") && !strings.HasSuffix(m.Text, "?") {
			r.Errorf("not a sentence: %q", m.Text)
		}
		for _, odd := range []string{"jsontext", "sql", "%s", "%!"} {
			if strings.Contains(m.Text, odd) {
				r.Errorf("not our words: %q", m.Text)
			}
		}
	}
	for _, p := range paths {
		if !given[p] {
			r.Errorf("no message with path %q in %s", p, r.body)
		}
	}
	return r
}

// Requests that work, with places to be filled.
const (
	purchase = `"paymentMethodID":2,"externalTransactionReferenceNumber":"R-1",` +
		`"externalTransactionCustomerFirstName":"Ann",` +
		`"externalTransactionCustomerLastName":"Lee","externalTransactionCustomerEmailAddress":"ann@example.com",` +
		`"externalStorefrontID":"` + shop + `"`
	promotion = `"paymentMethodID":4,"promotionID":"` + spring + `"`
)

// money is a request for one printed gift.
func ofMoney(value string, more ...string) string {
	return `{"monetaryGift":{"value":` + value + `,"deliveryMethodID":3` + strings.Join(more, "") + `},` + purchase + `}`
}

// mailed is a request for one gift by e-mail.
func mailed(to string, more ...string) string {
	return `{"monetaryGift":{"value":5,"deliveryMethodID":1,"recipientContact":"` + to + `"` + strings.Join(more, "") +
		`},` + purchase + `}`
}

// made is a gift that was sent.
type made struct{ id, code, token, order string }

// send makes a gift.
func (w *world) send(body string, headers ...string) made {
	w.Helper()
	r := w.post("send-gift", body, headers...).want(201)
	return made{r.at("gifts[0].voucherID"), r.at("gifts[0].voucherCode"), r.at("gifts[0].voucherPublicToken"),
		r.at("orderID")}
}

// stock makes cards, of these members, and finds them.
func (w *world) stock(members string, headers ...string) (cards []made) {
	w.Helper()
	order := w.post("create-stock", "{"+members+"}", headers...).want(201).at("orderID")
	for cursor := ""; cursor != "null"; {
		page := w.get("/gifting/gifts?limit=200&orderID="+order+cursor, headers...).want(200)
		var gifts []struct{ VoucherID, VoucherCode, VoucherPublicToken string }
		if err := json.Unmarshal([]byte(page.at("gifts")), &gifts); err != nil {
			w.Fatal(err)
		}
		for _, g := range gifts {
			cards = append(cards, made{g.VoucherID, g.VoucherCode, g.VoucherPublicToken, order})
		}
		if cursor = page.at("nextCursor"); cursor != "null" {
			cursor = "&cursor=" + cursor
		}
	}
	return cards
}

// activateBody asks to activate a card at the pier, for an amount; "": for its fixed worth.
func activateBody(g made, amount string) string {
	if amount != "" {
		amount = `,"amount":` + amount
	}
	return `{"voucherID":"` + g.id + `","organizationID":"` + pier + `"` + amount + `,` + purchase + `}`
}

// holdGift asks to hold an amount of a gift at the pier; "" for all of it.
func (w *world) holdGift(g made, amount string, headers ...string) reply {
	w.Helper()
	return w.post("hold-gift", redeemBody(g, amount), headers...)
}

// redeem asks for an amount of a gift at the pier; "" for all of it.
func (w *world) redeem(g made, amount string, headers ...string) reply {
	w.Helper()
	return w.post("redeem-gift", redeemBody(g, amount), headers...)
}

func redeemBody(g made, amount string) string {
	if amount != "" {
		amount = `,"amount":` + amount
	}
	return `{"voucherID":"` + g.id + `","organizationID":"` + pier + `"` + amount + `}`
}
