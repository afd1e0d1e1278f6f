package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"boon.example/test/rig"
	"boon.example/test/storm"
)

// TestSecretsAtRest uses a service as tills do, kills it again and again, rotates its keys, and takes a backup. Then
// neither the database, its log, the backup nor what was logged holds a code, a token, a verification code, an API key,
// the secret of a webhook or a key of the key file, nor the database a person's contact once it was erased; nor do
// events, calls of webhooks, what these answered, spans and metrics, which hold no address either.
func TestSecretsAtRest(t *testing.T) {
	t.Parallel()
	data, backups := filepath.Join(t.TempDir(), "data"), t.TempDir()
	i, err := rig.Install(shipped, data, "")
	check(t, err)
	out := hear(t)
	i.Env = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + out.url, "OTEL_EXPORTER_OTLP_COMPRESSION=none",
		"OTEL_BSP_SCHEDULE_DELAY=50", "OTEL_METRIC_EXPORT_INTERVAL=200"}
	u := &usage{T: t, account: rig.Accounts()[0], client: rig.NewClient(1, 20*time.Second)}
	u.secrets = append(u.secrets, u.account.Keys...)
	var logs strings.Builder
	for round := range 4 {
		s, err := i.Start("127.0.0.1:0", "--outbox", "--webhooks-allow", "127.0.0.0/8")
		check(t, err)
		if u.url = s.URL; round == 0 {
			u.hook(out.url + "/hook")
		}
		for n := range 5 {
			u.oneGift(fmt.Sprintf("%d-%d", round, n))
		}
		u.cards(fmt.Sprintf("%d-cards", round))
		if round == 1 || round == 2 { // one step of a rotation after the other, while it serves and with a kill between them
			_, err := i.Run(append([]string{"key-file", "rotate"}, [][]string{nil, {"--use"}}[round-1]...)...)
			check(t, err)
			u.oneGift(fmt.Sprintf("%d-rotated", round))
		}
		if round == 3 {
			_, err := i.Run("backup", "--to", backups)
			check(t, err)
			found := searched(t, data, u.secrets) // with its write-ahead log
			found.report(t)
			u.told(out)
		}
		s.Kill()
		logs.WriteString(s.Logs())
	}
	check(t, i.Verify())
	forgotten(t, i, data)

	keys, err := keyParts(filepath.Join(data, "boon.key"))
	check(t, err)
	if len(keys) != 6 {
		t.Errorf("%d parts of keys, want 6", len(keys))
	}
	u.secrets = append(u.secrets, keys...)
	searched(t, data, append(u.secrets, "Shop 1")).report(t, "Shop 1")
	searched(t, backups, append(u.secrets, "Shop 1")).report(t, "Shop 1")
	said := findings{}
	said.search("what was told to others", []byte(out.text.String()+logs.String()),
		newSecrets(append(u.secrets, contacts...)))
	said.report(t)
	in := findings{}
	in.search("the log", []byte(logs.String()), newSecrets(append(u.secrets, rig.Redeem)))
	in.report(t, rig.Redeem)
	if found := standing(t, logs.String(), u.digits); len(found) > 0 {
		t.Errorf("verification codes are in the log: %q", found)
	}
	known := `{"msg":"x","request":{"body":"of 01a20578-4321-76b6-9d84-6be3cb730a70, {\"verificationCode\":\"4321\"}"}}`
	if found := standing(t, known, []string{"4321", "1"}); len(found) != 1 {
		t.Errorf("of a verification code that is in a line, %q is found", found)
	}
}

// forgotten erases the people of all gifts. What was found of them before is in no file any more, and the books hold.
func forgotten(t *testing.T, i *rig.Installation, data string) {
	t.Helper()
	searched(t, data, contacts).report(t, contacts...)
	for _, contact := range contacts {
		_, err := i.Run("erase", "--contact", contact, "--force", "--vacuum")
		check(t, err)
	}
	searched(t, data, contacts).report(t)
	check(t, i.Verify())
}

// ids are of requests and traces, and have four digits in a row by chance.
var ids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{32}\b`)

// standing gives the lines in whose texts some digits stand by themselves.
func standing(t *testing.T, logs string, digits []string) (found []string) {
	t.Helper()
	number := regexp.MustCompile(`[0-9]+`)
	var in func(value any) bool
	in = func(value any) bool {
		switch value := value.(type) {
		case string:
			return slices.ContainsFunc(number.FindAllString(ids.ReplaceAllString(value, ""), -1),
				func(n string) bool { return slices.Contains(digits, n) })
		case map[string]any:
			delete(value, "time")
			return slices.ContainsFunc(slices.Collect(maps.Values(value)), in)
		case []any:
			return slices.ContainsFunc(value, in)
		}
		return false
	}
	for line := range strings.Lines(logs) {
		var said map[string]any
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if in(said) {
			found = append(found, line)
		}
	}
	return found
}

// contacts are addresses of people: a database has them, and tells nobody.
var contacts = []string{"ana@example.com", "a@example.com"}

// heard is what a webhook and a collector were told. The webhook answers with what it got, so that attempts hold that.
// It refuses every 25th call, as more is kept of a refusal than of a success.
type heard struct {
	url   string
	calls atomic.Int64 // of the webhook
	mu    sync.Mutex
	text  bytes.Buffer
}

func hear(t *testing.T) *heard {
	h := &heard{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // it was killed
		}
		if r.URL.Path == "/hook" {
			if h.calls.Add(1)%25 == 0 {
				w.WriteHeader(http.StatusInternalServerError)
			}
			_, _ = w.Write(body)
		}
		h.add(fmt.Sprintf("%s %v %s\n", r.URL, r.Header, body))
	}))
	t.Cleanup(s.Close)
	h.url = s.URL
	return h
}

func (h *heard) add(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.WriteString(text)
}

// has counts a text.
func (h *heard) has(text string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Count(h.text.String(), text)
}

// hook adds a webhook for everything.
func (u *usage) hook(url string) {
	u.Helper()
	a := u.post("/api/integration/webhooks", "", `{"url":"`+url+`"}`, http.StatusCreated)
	var made struct{ WebhookID, Secret string }
	check(u.T, json.Unmarshal(a.Body, &made))
	u.webhook, u.secrets = made.WebhookID, append(u.secrets, strings.TrimPrefix(made.Secret, "whsec_"))
}

// told waits until what happens is told, and adds what a key is shown of that: events, attempts and metrics.
func (u *usage) told(out *heard) {
	u.Helper()
	for begun := time.Now(); out.has("/hook") < 100 || out.has("/v1/traces") == 0 || out.has("/v1/metrics") == 0 ||
		out.has("ATTEMPTS ") == 0; time.Sleep(100 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			u.Fatalf("%d calls of the webhook, %d of traces, %d of metrics, %d lists of attempts that name a gift",
				out.has("/hook"), out.has("/v1/traces"), out.has("/v1/metrics"), out.has("ATTEMPTS "))
		}
		a, err := u.client.Get(u.url+"/api/integration/webhooks/"+u.webhook+"/attempts?limit=200", u.account.Keys[1])
		check(u.T, err)
		if bytes.Contains(a.Body, []byte("voucherID")) { // as a refusal of the webhook does
			out.add("ATTEMPTS " + string(a.Body))
		}
	}
	for next := ""; ; {
		a, err := u.client.Get(u.url+"/api/integration/events?limit=200"+next, u.account.Keys[1])
		check(u.T, err)
		var page struct {
			NextCursor string
			HasMore    bool
		}
		check(u.T, json.Unmarshal(a.Body, &page))
		out.add(string(a.Body))
		if next = "&after=" + page.NextCursor; !page.HasMore {
			break
		}
	}
	a, err := u.client.Get(u.url+"/metrics", "")
	check(u.T, err)
	out.add(string(a.Body))
	for _, text := range []string{`"gift.redeemed"`, "boon_requests_total", "POST " + rig.Redeem} {
		if out.has(text) == 0 {
			u.Errorf("nothing was told of %s", text)
		}
	}
}

// usage uses everything that sees a secret, and remembers the secrets.
type usage struct {
	*testing.T
	account rig.Account
	client  *rig.Client
	url     string
	webhook string
	secrets []string
	digits  []string // verification codes that were shown
}

func (u *usage) post(path, key, body string, want int) *rig.Answer {
	u.Helper()
	a, err := u.client.Repeat(u.url+path, u.account.Keys[1], key, body)
	check(u.T, err)
	if a.Status != want {
		u.Fatalf("%s: %d %s, want %d", path, a.Status, a.Body, want)
	}
	return a
}

// oneGift sells a gift, looks at it by code and by token, redeems of it by both, repeats that, opens its page, and
// guesses once.
func (u *usage) oneGift(name string) {
	u.Helper()
	body := fmt.Sprintf(`{"monetaryGift":{"value":5,"deliveryMethodID":1,"recipientContact":"ana@example.com"},"paymentMethodID":2,
		"externalTransactionReferenceNumber":%q,"externalTransactionCustomerFirstName":"A","externalTransactionCustomerLastName":"B",
		"externalTransactionCustomerEmailAddress":"a@example.com","externalStorefrontID":%q}`, name, u.account.Storefront)
	sold := u.post(rig.SendGift, "sell-"+name, body, http.StatusCreated)
	var got struct {
		Gifts []struct{ VoucherID, VoucherCode, VoucherPublicToken string }
	}
	check(u.T, json.Unmarshal(sold.Body, &got))
	code, token := got.Gifts[0].VoucherCode, got.Gifts[0].VoucherPublicToken
	if len(code) != 12 || token == "" {
		u.Fatalf("no code or token in %s", sold.Body)
	}
	wrong := code[:11] + string('0'+(code[11]-'0'+5)%10)
	u.secrets = append(u.secrets, token, wrong)
	u.secrets = append(u.secrets, storm.Spellings(code)...)
	u.post(rig.Validate, "look-"+name, `{"voucherCode":"`+code+`"}`, http.StatusOK)
	u.delivered(got.Gifts[0].VoucherID)
	for _, by := range []string{`"voucherCode":"` + code + `"`, `"voucherPublicToken":"` + token + `"`} {
		redemption := `{` + by + `,"amount":1}`
		key := fmt.Sprintf("redeem-%s-%d", name, len(by))
		u.post(rig.Redeem, key, redemption, http.StatusOK)
		if again := u.post(rig.Redeem, key, redemption, http.StatusOK); !again.Replayed {
			u.Errorf("a repeat was not told to be one: %s", again.Body)
		}
	}
	u.post(rig.Validate, "", `{"voucherCode":"`+wrong+`"}`, http.StatusNotFound)
	for _, path := range []string{"/g/" + token, "/g/" + strings.Repeat("a", 22), rig.Gifts + "?secret=" + code} {
		_, err := u.client.Get(u.url+path, u.account.Keys[1])
		check(u.T, err)
	}
	if repeated := u.post(rig.SendGift, "sell-"+name, body, http.StatusCreated); !bytes.Equal(repeated.Body, sold.Body) {
		u.Errorf("a sale was repeated as %s, first %s", repeated.Body, sold.Body)
	}
}

// cards makes cards with verification codes, and shows right and wrong ones in every call that asks for them.
func (u *usage) cards(name string) {
	u.Helper()
	made := u.post(rig.Stock, "make-"+name, `{"count":5,"value":9,"verificationCodes":true,"activationCodes":true}`, http.StatusCreated)
	var order struct{ OrderID string }
	check(u.T, json.Unmarshal(made.Body, &order))
	lines, err := u.client.Export(u.url+rig.Orders+order.OrderID+"/stock?format=csv", u.account.Keys[1])
	check(u.T, err)
	for _, line := range lines {
		code, right := line[0], line[2]
		wrong := right[:3] + string('0'+(right[3]-'0'+5)%10)
		u.digits = append(u.digits, right, wrong)
		u.secrets = append(append(u.secrets, storm.Shown(right), storm.Shown(wrong)), storm.Spellings(code)...)
		number := line[7]
		u.secrets = append(u.secrets, number, number[:4]+" "+number[4:8]+" "+number[8:12]+" "+number[12:])
		u.post(rig.Activate, "sell-"+name+code[8:], fmt.Sprintf(`{"activationCode":%q,"externalTransactionReferenceNumber":"r",
			"externalTransactionCustomerFirstName":"A","externalTransactionCustomerLastName":"B",
			"externalTransactionCustomerEmailAddress":"a@example.com","externalStorefrontID":%q}`, number, u.account.Storefront),
			http.StatusOK)
		for _, path := range []string{rig.Redeem, rig.Hold, rig.CashOut} {
			amount := `,"amount":1`
			if path == rig.CashOut {
				amount = ""
			}
			key, body := path[len(path)-5:]+"-"+name+code[8:], `{"voucherCode":"`+code+`"`+amount+","
			u.post(path, "wrong-"+key, body+storm.Shown(wrong)+"}", http.StatusConflict)
			want := http.StatusOK
			if path == rig.CashOut {
				want = http.StatusConflict // while something is held
			}
			u.post(path, "right-"+key, body+storm.Shown(right)+"}", want)
		}
	}
}

// delivered waits until a gift has been sent to the outbox.
func (u *usage) delivered(id string) {
	u.Helper()
	var g struct{ Status string }
	for begun := time.Now(); g.Status != "DELIVERED"; time.Sleep(10 * time.Millisecond) {
		check(u.T, u.client.Read(u.url+rig.Gifts+id, u.account.Keys[1], &g))
		if time.Since(begun) > time.Minute {
			u.Fatalf("gift %s is %s after a minute", id, g.Status)
		}
	}
}

// searched looks through a folder.
func searched(t *testing.T, dir string, texts []string) findings {
	t.Helper()
	found := findings{}
	_, err := found.searchFolder(dir, newSecrets(texts))
	check(t, err)
	return found
}

// report complains of everything that was found, and of what is no secret and was not: then the search finds nothing.
func (f findings) report(t *testing.T, known ...string) {
	t.Helper()
	for _, text := range known {
		if f[text] == nil {
			t.Errorf("%q was not found: the search finds nothing", text)
		}
		delete(f, text)
	}
	for text, places := range f {
		t.Errorf("%.5s… is in %v", text, places)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
