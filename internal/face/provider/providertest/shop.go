// Package providertest is a shop that platforms call, for the tests of their protocols: the example merchant on a
// running service, with a second merchant beside it.
package providertest

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/merchant"
	"boon.example/internal/server"
	"boon.example/internal/store"
)

// The records of the shops.
const (
	Pier       = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c11" // in California
	Wharf      = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c12"
	Storefront = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21"
	Corner     = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f2c11" // the other merchant's
	CornerShop = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f2c21"
	promotion  = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c31" // for certain items
)

const (
	key       = "boon_test_demo_only_harbor_coffee_head_office"
	cornerKey = "boon_test_demo_only_corner_bakery_000000000000"
)

// other is the other merchant.
const other = `
  - id: 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f2c01
    name: Corner Bakery
    currency: USD
    timeZone: America/New_York
    language: en
    subscriptions: [{program: 22222222-2222-2222-2222-222222222222, reloadable: true}]
    locations: [{id: ` + Corner + `, name: Corner}]
    storefronts: [{id: ` + CornerShop + `, name: Shop}]
    keys: [{name: office, role: all, secret: ` + cornerKey + `}]
    providers:`

// SetUp is the set-up of both, with their providers, each a list of one indented line or more for YAML.
func SetUp(providers, others string) []byte {
	file := string(examples.HarborCoffee())
	file = strings.Replace(file, "\n    keys:\n", "\n    providers:\n"+providers+"\n    keys:\n", 1)
	return []byte(strings.Replace(file, "\nsystemKeys:", other+"\n"+others+"\nsystemKeys:", 1))
}

// Shop is a service on which a test's platform calls.
type Shop struct {
	testing.TB
	*boontest.Service
	place boontest.Place
	Once  bool // calls that were not done, or of which nothing was known in time, are not repeated
}

// Open opens the shop of a set-up until the test ends.
func Open(t testing.TB, c server.Config, setUp []byte) *Shop {
	t.Helper()
	place := boontest.NewPlace(t)
	place.Apply(t, setUp)
	c.Outbox = true
	return &Shop{TB: t, Service: place.Serve(t, c, new(boontest.Log)), place: place}
}

// Of is the shop for a test within its test.
func (s *Shop) Of(t testing.TB) *Shop {
	return &Shop{TB: t, Service: s.Service, place: s.place, Once: s.Once}
}

// Apply applies another set-up, while the service runs.
func (s *Shop) Apply(setUp []byte) {
	s.Helper()
	s.place.Apply(s.TB, setUp)
}

// Spellings are ways in which people write a code.
func Spellings(code string) []string {
	a, b, c := code[:4], code[4:8], code[8:]
	return []string{code, a + " " + b + " " + c, a + "-" + b + "-" + c, code + " ", a + "\u00a0" + b + "\u202f" + c,
		"\u202a" + a + "\u2011" + b + "\u2013" + c + "\u202c", wide(code)}
}

// wide gives digits as a Japanese keyboard types them.
func wide(digits string) string {
	return strings.Map(func(r rune) rune { return r - '0' + '０' }, digits)
}

// Missed has so many wrong codes be tried by a provider at the Pier; online tells that guests typed them.
func (s *Shop) Missed(config string, online bool, n int) {
	s.Helper()
	s.as(config, func(records *store.Store, account *merchant.Account, p *merchant.Provider) error {
		pier, err := guid.Parse(Pier)
		if err != nil {
			return err
		}
		till := merchant.Till{AccountID: account.ID, KeyID: p.ID, LocationID: pier, LocationCount: len(p.Sites), Shop: online}
		_, _, err = records.CountMisses(s.Context(), till, time.Now(), n)
		return err
	})
}

// NoLookUp makes calls and wants none of them to look a gift up by a code.
func (s *Shop) NoLookUp(what string, calls func()) {
	s.Helper()
	count := func() string {
		all := s.Call(http.MethodGet, "/metrics", "").Body
		_, after, found := strings.Cut(all, "\nboon_store_code_lookups_total ")
		if !found {
			s.Fatalf("no look-ups are counted: %s", all)
		}
		n, _, _ := strings.Cut(after, "\n")
		return n
	}
	before := count()
	calls()
	if after := count(); after != before {
		s.Errorf("%s: there were %s look-ups by code before, and %s after", what, before, after)
	}
}

// Away has the store serve no call any more, as one that a later program has changed, until back is called.
func (s *Shop) Away() (back func()) {
	s.Helper()
	once := *s
	once.Once = true
	until := func(status int) {
		for deadline := time.Now().Add(time.Minute); once.Call(http.MethodGet, "/readyz", "").Status != status; {
			if time.Now().After(deadline) {
				s.Fatalf("/readyz is not answered %d", status)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	s.exec(`INSERT INTO schema_version (version, name, serves, applied_at) VALUES (1000, 'future', 999, 0)`)
	until(http.StatusServiceUnavailable)
	return func() {
		s.exec(`DELETE FROM schema_version WHERE version = 1000`)
		until(http.StatusOK)
	}
}

// exec runs a statement on the database, past the service.
func (s *Shop) exec(text string) {
	s.Helper()
	driver, source := "sqlite", "file:"+filepath.Join(s.Data, store.DatabaseName)+"?_pragma=busy_timeout(5000)"
	if s.Database != "" {
		driver, source = "pgx", s.Database
	}
	database, err := sql.Open(driver, source)
	if err != nil {
		s.Fatal(err)
	}
	defer database.Close()
	if _, err := database.ExecContext(s.Context(), text); err != nil {
		s.Fatalf("%s: %v", text, err)
	}
}

// Kept has so many calls of a provider that moved nothing be kept today.
func (s *Shop) Kept(config string, n int64) {
	s.Helper()
	s.as(config, func(records *store.Store, account *merchant.Account, p *merchant.Provider) error {
		day, _ := merchant.Day(time.Now(), account.Zone)
		count := merchant.CountKey{AccountID: account.ID, Kind: merchant.KeptCount, Owner: p.ID}
		return records.Group(s.Context(), ledger.Want{}, func(*ledger.State) ledger.Changes {
			return ledger.Changes{Counts: map[merchant.CountKey]merchant.Count{count: {Day: day, Kept: n}}}
		})
	})
}

// as does something to the records of a provider.
func (s *Shop) as(config string, do func(*store.Store, *merchant.Account, *merchant.Provider) error) {
	s.Helper()
	s.place.Use(s.TB, func(records *store.Store) error {
		d, err := records.Directory(s.Context())
		if err != nil {
			return err
		}
		id, err := guid.Parse(config)
		if err != nil {
			return err
		}
		for _, platform := range merchant.Platforms() {
			if account, p := d.Provider(platform, id); p != nil {
				return do(records, account, p)
			}
		}
		return gift.NoSuchGift()
	})
}

// Verify holds the records of the shop against its histories.
func (s *Shop) Verify() {
	s.Helper()
	s.place.Use(s.TB, func(records *store.Store) error {
		report, err := verify.All(s.Context(), records, 2, func(_, _ int64) {})
		for _, problem := range report.Problems {
			s.Error(problem)
		}
		return err
	})
}

// Answer is what a call came to.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// client has its own connections, so that none is kept by another test's service.
var client = &http.Client{}

// Call sends a request, and repeats one that was not admitted, or of which a platform was not told in time what became
// of it, as a real client does. It waits for as long as the test may take: a platform is told within half a second, and
// on a machine that is busy enough no number of repeats is sure to be.
func (s *Shop) Call(method, path, body string, headers ...string) Answer {
	s.Helper()
	for {
		req, err := http.NewRequestWithContext(s.Context(), method, s.URL+path, strings.NewReader(body))
		if err != nil {
			s.Fatal(err)
		}
		for n := 0; n < len(headers); n += 2 {
			req.Header.Add(headers[n], headers[n+1])
		}
		resp, err := client.Do(req)
		if err != nil {
			s.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			s.Fatal(err)
		}
		unknown := resp.StatusCode == http.StatusInternalServerError && len(text) == 0
		if (resp.StatusCode == http.StatusServiceUnavailable || unknown) && !s.Once {
			time.Sleep(500 * time.Millisecond)
			continue
		}
		return Answer{resp.StatusCode, resp.Header, string(text)}
	}
}

// API calls the interface with the merchant's key and wants success. A path that begins with a letter is a POST's.
func (s *Shop) API(path, body string) map[string]any {
	s.Helper()
	return s.api(key, path, body)
}

func (s *Shop) api(key, path, body string) map[string]any {
	s.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	a := s.Call(method, "/api/integration/"+path, body, "Authorization", key, "Content-Type", "application/json")
	if a.Status >= 300 {
		s.Fatalf("%s %s: %d %s", path, body, a.Status, a.Body)
	}
	var answer map[string]any
	if err := json.Unmarshal([]byte(a.Body), &answer); err != nil && strings.HasPrefix(a.Body, "{") {
		s.Fatal(err)
	}
	answer["text"] = a.Body
	return answer
}

// Card is a gift.
type Card struct{ ID, Code, Verification string }

// Gift sells a gift of money.
func (s *Shop) Gift(value string) Card {
	s.Helper()
	return s.gift(key, Storefront, value)
}

// OthersGift is one of the other merchant.
func (s *Shop) OthersGift(value string) Card {
	s.Helper()
	return s.gift(cornerKey, CornerShop, value)
}

func (s *Shop) gift(key, storefront, value string) Card {
	s.Helper()
	a := s.api(key, "gifting/send-gift", `{"paymentMethodID":2,"monetaryGift":{"value":`+value+
		`,"deliveryMethodID":3},"externalTransactionReferenceNumber":"R","externalTransactionCustomerFirstName":"A",`+
		`"externalTransactionCustomerLastName":"B","externalTransactionCustomerEmailAddress":"a@example.com",`+
		`"externalStorefrontID":"`+storefront+`"}`)
	return issued(a)
}

// issued is the first gift of an answer.
func issued(a map[string]any) Card {
	g := a["gifts"].([]any)[0].(map[string]any)
	return Card{ID: g["voucherID"].(string), Code: g["voucherCode"].(string)}
}

// ItemsOnly makes a promotion's gift that is good for certain items only.
func (s *Shop) ItemsOnly() Card {
	s.Helper()
	a := s.API("gifting/send-gift", `{"paymentMethodID":4,"monetaryGift":{"value":10,"deliveryMethodID":3},`+
		`"promotionID":"`+promotion+`","promotionalTerms":"One.","validForDays":365,"validStarting":"`+
		time.Now().UTC().Add(-time.Hour).Format(time.RFC3339)+`"}`)
	return issued(a)
}

// Stock makes cards that are not active yet; members are more of create-stock, each with a comma before it.
func (s *Shop) Stock(n int, members string) (cards []Card) {
	s.Helper()
	a := s.API("gifting/create-stock", fmt.Sprintf(`{"count":%d%s}`, n, members))
	file := s.Call(http.MethodGet, "/api/integration/gifting/orders/"+a["orderID"].(string)+"/stock?format=csv", "",
		"Authorization", key)
	rows, err := csv.NewReader(bytes.NewReader([]byte(file.Body))).ReadAll()
	if err != nil || len(rows) != n+1 {
		s.Fatalf("the codes of the stock: %v, %s", err, file.Body)
	}
	for _, row := range rows[1:] {
		cards = append(cards, Card{Code: row[0], Verification: row[2]})
	}
	return cards
}

// History is what happened to a gift, as the interface tells it.
func (s *Shop) History(id string) string {
	s.Helper()
	return s.API("gifting/gifts/"+id+"/history", "")["text"].(string)
}

// Events are those of a gift in their order, each with who caused it.
func (s *Shop) Events(id string) (types []string) {
	s.Helper()
	for cursor := ""; ; {
		a := s.API("events?type=gift.*&limit=200&after="+cursor, "")
		events := a["events"].([]any)
		for _, one := range events {
			e := one.(map[string]any)
			data := e["data"].(map[string]any)
			by, changed := data["entry"].(map[string]any)
			if !changed {
				by = data["key"].(map[string]any)
			}
			if data["gift"].(map[string]any)["voucherID"] == id {
				types = append(types, fmt.Sprint(e["type"], " ", by["keyName"]))
			}
		}
		if cursor = a["nextCursor"].(string); len(events) == 0 {
			return types
		}
	}
}

// WantEvents wants these of a gift, after those of how it was made.
func (s *Shop) WantEvents(id string, made int, want ...string) {
	s.Helper()
	all := s.Events(id)
	if got := all[min(made, len(all)):]; !slices.Equal(got, want) {
		s.Errorf("the events are %q, want %q", got, want)
	}
}
