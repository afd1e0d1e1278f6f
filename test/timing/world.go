package main

import (
	"bufio"
	"bytes"
	"crypto/rsa"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"boon.example/test/rig"
)

const (
	ours   = "0199a000-0000-7000-8000-000000010001"
	here   = "0199a000-0000-7000-8000-000000010002"
	there  = "0199a000-0000-7000-8000-000000010003"
	web    = "0199a000-0000-7000-8000-000000010004"
	theirs = "0199a000-0000-7000-8000-000000020001"

	shopKey    = "boon_live_timing_shop_0123456789abcdef0123456789abcdef"
	tillKey    = "boon_live_timing_till_0123456789abcdef0123456789abcdef"
	guesserKey = "boon_live_timing_guesser_0123456789abcdef0123456789abcd"
	revokedKey = "boon_live_timing_revoked_0123456789abcdef0123456789abcd"
	otherKey   = "boon_live_timing_other_0123456789abcdef0123456789abcdef"
)

// setup has a key for every few look-ups by code, since a key has only so many misses.
func setup(spare int, wixKey, saleorShop string) string {
	var keys strings.Builder
	for n := range spare {
		fmt.Fprintf(&keys, ",\n            {name: spare %d, role: till, secret: %s, locations: [%s]}", n, spareKey(n), here)
	}
	return strings.NewReplacer("{spare}", keys.String(), "{wixKey}", fmt.Sprintf("%q", wixKey),
		"{saleorShop}", fmt.Sprintf("%q", saleorShop)).Replace(setupFile)
}

func spareKey(n int) string { return fmt.Sprintf("boon_live_timing_spare_%032x", n*7_919+1<<40) }

const setupFile = `accounts:
  - {id: ` + ours + `, name: Ours, currency: USD, timeZone: UTC, language: en, subscriptions: [{program: 22222222-2222-2222-2222-222222222222, reloadable: true}],
     locations: [{id: ` + here + `, name: Here}, {id: ` + there + `, name: There}], storefronts: [{id: ` + web + `, name: Web}],
     providers: [{id: ` + toastID + `, name: Toast, platform: toast, storefront: ` + web + `, secret: ` + toastSecret + `, sites: [{name: ` + here + `, location: ` + here + `}],
                  permissions: [validate, redeem, reverse, activate, reload, cash-out]},
                 {id: ` + wixID + `, name: Wix, platform: wix, app: ` + wixApp + `, publicKey: {wixKey}, permissions: [validate, redeem, reverse],
                  sites: [{name: ` + here + `, location: ` + here + `}]},
                 {id: ` + vtexID + `, name: VTEX, platform: vtex, app: ` + vtexApp + `, secret: ` + vtexSecret + `, permissions: [validate, redeem, reverse],
                  sites: [{name: web, location: ` + here + `}]},
                 {id: ` + saleorID + `, name: Saleor, platform: saleor, app: {saleorShop}, permissions: [validate, redeem, reverse],
                  sites: [{name: web, location: ` + here + `}]}],
     keys: [{name: shop, role: all, secret: ` + shopKey + `}, {name: till, role: all, secret: ` + tillKey + `, locations: [` + here + `]},
            {name: guesser, role: all, secret: ` + guesserKey + `, locations: [` + here + `]}, {name: gone, role: all, secret: ` + revokedKey + `}{spare}]}
  - {id: ` + theirs + `, name: Theirs, currency: USD, timeZone: UTC, language: en, subscriptions: [{program: 22222222-2222-2222-2222-222222222222}],
     locations: [{id: 0199a000-0000-7000-8000-000000020002, name: Away}], storefronts: [{id: 0199a000-0000-7000-8000-000000020004, name: Web}],
     keys: [{name: other, role: all, secret: ` + otherKey + `}]}
`

// sold is a gift that was sold.
type sold struct{ VoucherID, VoucherCode string }

// world is a running service, and what is asked about.
type world struct {
	server *rig.Server
	client *rig.Client
	conn   map[string]*line // by key
	calls  uint32           // without a good key, each from an address of its own
	pairs  int              // of look-ups by code
	wixKey *rsa.PrivateKey
	saleor *saleorShop

	good, elsewhere, other sold
	number, otherNumber    string // activation codes of cards that are not sold
}

// newWorld starts a service with gifts of two accounts on a database of PostgreSQL, or on the embedded one ("").
func newWorld(dir, binary, database string, calls int) (w *world, err error) {
	wixKey, public, err := newWixKey()
	if err != nil {
		return nil, err
	}
	shop, err := openSaleorShop()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			shop.server.Close()
		}
	}()
	file := filepath.Join(dir, "setup.yaml")
	err = os.WriteFile(file, []byte(setup(lookUps*(calls+warming)/pairsPerKey+1, public, shop.server.URL)), 0o600)
	if err != nil {
		return nil, err
	}
	boon := &rig.Installation{Binary: binary, Flags: []string{"--data", filepath.Join(dir, "data")}}
	if database != "" {
		boon.Flags = append(boon.Flags, "--database", database)
	}
	for _, command := range [][]string{{"apply", file, "--webhooks-allow", loopback}, {"key", "revoke", "gone"},
		{"key-file", "rotate"}, {"key-file", "rotate", "--use"}} {
		if _, err := boon.Run(command...); err != nil {
			return nil, err
		}
	}
	w = &world{client: rig.NewClient(1, 10*time.Second), conn: map[string]*line{}, wixKey: wixKey, saleor: shop}
	if w.server, err = boon.Start("127.0.0.1:0", "--webhooks-allow", loopback, "--outbox"); err != nil {
		return nil, err
	}
	for gift, from := range map[*sold][3]string{&w.good: {shopKey, web, here}, &w.elsewhere: {shopKey, web, there},
		&w.other: {otherKey, "0199a000-0000-7000-8000-000000020004", ""}} {
		if *gift, err = w.sell(from[0], from[1], from[2]); err != nil {
			w.server.Kill()
			return nil, err
		}
	}
	for number, from := range map[*string]string{&w.number: shopKey, &w.otherNumber: otherKey} {
		if *number, err = w.cardToSell(from); err != nil {
			w.server.Kill()
			return nil, err
		}
	}
	if err := w.sendTo(guest); err != nil {
		w.server.Kill()
		return nil, err
	}
	return w, nil
}

// cardToSell makes a card of a stock, and gives its activation code.
func (w *world) cardToSell(key string) (number string, _ error) {
	made, err := w.client.Post(w.server.URL+rig.Stock, key, "", `{"count":1,"value":5,"activationCodes":true}`)
	if err != nil {
		return "", err
	}
	var order struct{ OrderID string }
	if err := json.Unmarshal(made.Body, &order); err != nil {
		return "", fmt.Errorf("create-stock: %d %s %w", made.Status, made.Body, err)
	}
	list, err := w.client.Get(w.server.URL+"/api/integration/gifting/orders/"+order.OrderID+"/stock?format=csv", key)
	if err != nil {
		return "", err
	}
	rows, err := csv.NewReader(bytes.NewReader(list.Body)).ReadAll()
	const column = 7 // activationCode
	if err != nil || len(rows) != 2 || len(rows[1]) <= column {
		return "", fmt.Errorf("the codes of a stock: %d %s %w", list.Status, list.Body, err)
	}
	return rows[1][column], nil
}

// loopback are the networks of this machine, where the shop of Saleor is.
const loopback = "127.0.0.0/8"

// stop ends what newWorld started.
func (w *world) stop() {
	w.server.Kill()
	w.saleor.server.Close()
}

func (w *world) sell(key, storefront, location string) (s sold, err error) {
	delivery := `"deliveryMethodID":3`
	if location != "" {
		delivery += fmt.Sprintf(`,"organizationID":%q`, location)
	}
	return w.sellAs(key, storefront, delivery)
}

func (w *world) sellAs(key, storefront, delivery string) (s sold, err error) {
	a, err := w.client.Post(w.server.URL+rig.SendGift, key, "", fmt.Sprintf(`{"monetaryGift":{"value":100,%s},"paymentMethodID":2,
		"externalTransactionReferenceNumber":"r","externalTransactionCustomerFirstName":"A","externalTransactionCustomerLastName":"B",
		"externalTransactionCustomerEmailAddress":%q,"externalStorefrontID":%q}`, delivery, buyer, storefront))
	if err != nil {
		return s, err
	}
	var order struct{ Gifts []sold }
	if err := json.Unmarshal(a.Body, &order); err != nil || len(order.Gifts) != 1 {
		return s, fmt.Errorf("send-gift: %d %s %w", a.Status, a.Body, err)
	}
	return order.Gifts[0], nil
}

// question is a call, and the code of its answer.
type question struct {
	key, method, path, body, code string
	headers                       string // more of them, a line each
	says                          string // in place of code: what is in the answer, of a platform's
	leads                         string // in place of code: where the answer to the form of a page leads
}

// comparison is of two kinds of calls.
type comparison struct {
	name          string
	first, second question
	open          string // what is known to be told, and to whom; "": nothing may be
}

// note says why time may tell the two apart, "" when it must not.
func (c *comparison) note() string {
	if c.first.code != c.second.code {
		return "answered differently, as the interface demands"
	}
	return c.open
}

func validate(key, code, answer string) question {
	return question{key: key, method: http.MethodPost, path: rig.Validate, code: answer,
		body: fmt.Sprintf(`{"voucherCode":%q}`, code)}
}

// unknown is a code that nobody has.
func (w *world) unknown(n int) string {
	for _, code := range []string{"100000000001", "100000000002", "100000000003", "100000000004"}[n:] {
		if code != w.good.VoucherCode && code != w.elsewhere.VoucherCode && code != w.other.VoucherCode {
			return code
		}
	}
	return ""
}

// comparisons are what time might tell. The last ones are asked by who has guessed too often.
func (w *world) comparisons() []comparison {
	look := func(key string) question {
		return question{key: key, method: http.MethodGet, path: rig.Gifts + w.good.VoucherID, code: "UNAUTHENTICATED"}
	}
	id := func(id string) question {
		return question{key: tillKey, method: http.MethodGet, path: rig.Gifts + id, code: "NOT_FOUND"}
	}
	const nobody = "boon_live_timing_nobody_0123456789abcdef0123456789abcde"
	all := []comparison{
		{"a revoked key, an unknown key", look(revokedKey), look(nobody), ""},
		{"a good key but for its last letter, an unknown key", look(tillKey[:len(tillKey)-1] + "0"), look(nobody), ""},
		{"a gift of another account, no gift (by id)", id(w.other.VoucherID), id("0199a000-0000-7000-8000-00000000ffff"), ""},
		{"a gift for another location, no gift (by id)", id(w.elsewhere.VoucherID),
			id("0199a000-0000-7000-8000-00000000ffff"),
			"open: told to a key of its account that has its id"},
		{"a code for another location, another account's code", validate(tillKey, w.elsewhere.VoucherCode, "NOT_AUTHORIZED"),
			validate(tillKey, w.other.VoucherCode, "NOT_AUTHORIZED"),
			"answered in other words, as a gift of the account is no guess"},
		{"another account's code, an unknown code", validate(tillKey, w.other.VoucherCode, "NOT_AUTHORIZED"),
			validate(tillKey, w.unknown(0), "NOT_FOUND"), ""},
		{"a good code, an unknown code", validate(tillKey, w.good.VoucherCode, "OK"), validate(tillKey, w.unknown(0),
			"NOT_FOUND"), ""},
	}
	for _, ask := range w.ways() {
		name, good, other, none := ask.name+", guessed too often: ", w.good.VoucherCode, w.other.VoucherCode, w.unknown(1)
		all = append(all, comparison{name + "a good code, an unknown one", ask.of(good), ask.of(none), ""},
			comparison{name + "another account's, an unknown one", ask.of(other), ask.of(none), ""})
	}
	for who, known := range map[string]string{"who has a gift": guest, "who bought one": buyer} {
		all = append(all, comparison{"a link to my gifts: an address " + who + ", one of nobody", askForLink(known),
			askForLink("nobody@example.com"), ""})
	}
	const sale, none = "activate-gift by activation code, guessed too often: ", "1000000000000001"
	return append(all, comparison{sale + "a good one, an unknown one", sellBy(w.number), sellBy(none), ""},
		comparison{sale + "another account's, an unknown one", sellBy(w.otherNumber), sellBy(none), ""})
}

// Those who have and who bought gifts of the account.
const (
	guest = "ana@example.com"
	buyer = "a@example.com"
)

// askForLink asks for a link to all gifts of an address.
func askForLink(to string) question {
	return question{method: http.MethodPost, path: "/my/" + ours, body: "contact=" + url.QueryEscape(to),
		leads: "/my/" + ours + "/sent?lang=en"}
}

// maxLinks is how often either address is asked for in a comparison: so many links that are not judged yet are kept.
const maxLinks = 400

// sendTo sends a gift by e-mail, and waits until it is there.
func (w *world) sendTo(to string) error {
	gift, err := w.sellAs(shopKey, web, fmt.Sprintf(`"deliveryMethodID":1,"recipientContact":%q`, to))
	for begun := time.Now(); err == nil && time.Since(begun) < time.Minute; time.Sleep(50 * time.Millisecond) {
		var a *rig.Answer
		if a, err = w.client.Get(w.server.URL+rig.Gifts+gift.VoucherID, shopKey); err != nil ||
			strings.Contains(string(a.Body), `"DELIVERED"`) {
			return err
		}
	}
	return errors.Join(err, fmt.Errorf("a gift to %s was not delivered within a minute", to))
}

// sellBy sells a card by its activation code, with the key that has guessed too often.
func sellBy(number string) question {
	return question{key: guesserKey, method: http.MethodPost, path: redemption + "activate-gift",
		body: fmt.Sprintf(`{"activationCode":%q,%s}`, number, paid), code: "RATE_LIMITED"}
}

const (
	warming     = 50 // calls of each kind that are not measured
	lookUps     = 3  // comparisons in which codes are looked up that count as misses
	pairsPerKey = 4  // of such look-ups: they cost a key four misses each at most, and it has twenty
)

// measure makes the calls of both kinds in an order that is drawn, and gives how long each took, in milliseconds.
func (w *world) measure(c comparison, calls int, seed uint64) (first, second []float64, err error) {
	draw := rand.New(rand.NewPCG(seed, 2))
	if c.first.leads != "" {
		calls = min(calls, maxLinks)
	}
	for n := -warming; n < calls; n++ {
		order := []*[]float64{&first, &second}
		if draw.IntN(2) == 0 {
			order[0], order[1] = order[1], order[0]
		}
		till := tillKey
		if c.first.path == rig.Validate && c.first.key == tillKey {
			till = spareKey(w.pairs / pairsPerKey)
			w.pairs++
		}
		for _, kind := range order {
			q := c.first
			if kind == &second {
				q = c.second
			}
			if q.key == tillKey {
				q.key = till
			}
			took, err := w.ask(q)
			if err != nil {
				return nil, nil, err
			}
			if n >= 0 {
				*kind = append(*kind, float64(took.Nanoseconds())/1e6)
			}
		}
	}
	return first, second, nil
}

// line is an open connection.
type line struct {
	net.Conn
	read *bufio.Reader
}

// dial opens a connection from a loopback address of its own.
func (w *world) dial(from net.IP) (*line, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}, Timeout: 10 * time.Second}
	c, err := d.Dial("tcp", w.server.Address)
	if err != nil {
		return nil, err
	}
	return &line{c, bufio.NewReader(c)}, nil
}

// ask makes a call over an open connection, and tells the time from its first byte to the last of its answer. Who has
// no good key, or asks for a link, may call ten times a minute from an address, so each of those calls comes from
// another /24.
func (w *world) ask(q question) (took time.Duration, err error) {
	use := q.key
	if strings.HasPrefix(use, "boon_live_timing_spare_") {
		use = tillKey
	}
	l := w.conn[use]
	if q.code == "UNAUTHENTICATED" || q.leads != "" {
		w.calls++
		l, err = w.dial(net.IPv4(127, byte(1+w.calls>>8), byte(w.calls), 1))
		if err == nil {
			defer l.Close()
		}
	} else if l == nil {
		l, err = w.dial(net.IPv4(127, 0, 0, 1))
		w.conn[use] = l
	}
	if err != nil {
		return 0, err
	}
	content := "application/json"
	if q.leads != "" {
		content = "application/x-www-form-urlencoded"
	}
	request := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\nContent-Type: %s\r\n"+
		"Content-Length: %d\r\n%s\r\n%s", q.method, q.path, w.server.Address, q.key, content, len(q.body), q.headers, q.body)
	begun := time.Now()
	if _, err := l.Write([]byte(request)); err != nil {
		return 0, err
	}
	resp, err := http.ReadResponse(l.read, nil)
	if err != nil {
		return 0, err
	}
	body, err := io.ReadAll(resp.Body)
	took = time.Since(begun)
	switch err = errors.Join(err, resp.Body.Close()); {
	case err != nil:
		return took, err
	case resp.Header.Get("Location") != q.leads:
		return took, fmt.Errorf("%s %s was answered %d and leads to %q, want %q", q.method, q.path, resp.StatusCode,
			resp.Header.Get("Location"), q.leads)
	case !strings.Contains(string(body), q.says):
		return took, fmt.Errorf("%s %s was answered %d %s, want %s", q.method, q.path, resp.StatusCode, body, q.says)
	case q.code == "":
		return took, nil
	}
	if code := (&rig.Answer{Status: resp.StatusCode, Body: body}).Code(); code != q.code {
		return took, fmt.Errorf("%s %s was answered %s, want %s: %s", q.method, q.path, code, q.code,
			strings.TrimSpace(string(body)))
	}
	return took, nil
}
