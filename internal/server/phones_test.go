package server_test

import (
	"archive/zip"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/post/pass/passtest"
	"boon.example/internal/server"
)

// apple stands in for Apple, which takes pushes: by HTTP/2, of whoever shows a certificate for passes.
type apple struct {
	*testing.T
	server *httptest.Server

	mu      sync.Mutex
	answers map[string][]int // by token: the next ones; then 200; 0: none
	taken   map[string]int   // by token
	tries   map[string]int
	wrong   []string
}

func newApple(t *testing.T) *apple {
	t.Helper()
	a := &apple{T: t, answers: map[string][]int{}, taken: map[string]int{}, tries: map[string]int{}}
	a.server = httptest.NewUnstartedServer(http.HandlerFunc(a.push))
	a.server.EnableHTTP2 = true
	a.server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	a.server.StartTLS()
	t.Cleanup(a.server.Close)
	return a
}

func (a *apple) push(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	token := strings.TrimPrefix(r.URL.Path, "/3/device/")
	a.mu.Lock()
	if shown := r.TLS.PeerCertificates[0].Subject.CommonName; err != nil || r.ProtoMajor != 2 || r.Method != "POST" ||
		r.Header.Get("Apns-Topic") != passtest.PassType || string(body) != "{}" ||
		shown != "Pass Type ID: "+passtest.PassType {
		a.wrong = append(a.wrong, r.Method+" "+r.Proto+" "+r.Header.Get("Apns-Topic")+" "+string(body)+" by "+shown)
	}
	status := http.StatusOK
	if next := a.answers[token]; len(next) > 0 {
		status, a.answers[token] = next[0], next[1:]
	}
	a.tries[token]++
	if status == http.StatusOK {
		a.taken[token]++
	}
	a.mu.Unlock()
	if status == 0 {
		<-r.Context().Done() // the client gives up
		return
	}
	w.WriteHeader(status)
}

func (a *apple) pushes(token string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.taken[token]
}

// wallet is a service whose merchant has a certificate for passes, and that pushes to a stand-in.
type wallet struct {
	*service
	apple *apple
}

func (a *apple) config() server.Config {
	roots := x509.NewCertPool()
	roots.AddCert(a.server.Certificate())
	return server.Config{PublicURL: "https://gifts.example.com", Outbox: true, OutboxAnyway: true,
		PushAddress: a.server.URL, PushRoots: roots}
}

func newWallet(t *testing.T) *wallet {
	t.Helper()
	w := &wallet{apple: newApple(t)}
	w.service = start(t, w.apple.config())
	w.applyWallet(examples.HarborCoffee())
	w.learned()
	t.Cleanup(func() {
		w.apple.mu.Lock()
		defer w.apple.mu.Unlock()
		for _, wrong := range w.apple.wrong {
			t.Errorf("Apple was sent %s", wrong)
		}
	})
	return w
}

// applyWallet gives a merchant a certificate for passes.
func (w *wallet) applyWallet(file []byte) {
	w.Helper()
	f := passtest.New(w.T, time.Now().AddDate(0, 3, 0))
	indented := func(pem []byte) string {
		return "          " + strings.ReplaceAll(string(pem), "\n", "\n          ") + "\n"
	}
	w.apply([]byte(strings.Replace(string(file), "    keys:\n", "    wallet:\n      apple:\n"+
		"        certificate: |\n"+indented(f.Certificate)+"        key: |\n"+indented(f.Key)+"    keys:\n", 1)))
}

// phone is one with the pass of a gift.
type phone struct {
	*wallet
	device, token string
	serial, proof string
	tag           string
}

// add adds the pass of a gift to the wallet of a phone, and registers it.
func (w *wallet) add(g soldGift, device, token string) *phone {
	w.Helper()
	p := w.download(g, device, token)
	if status := p.register(); status != http.StatusCreated {
		w.Fatalf("it registers: %d", status)
	}
	w.eventually(func() bool { return w.apple.pushes(token) > 0 })
	return p
}

// download gives the pass of a gift to a phone, which does not register it yet.
func (w *wallet) download(g soldGift, device, token string) *phone {
	w.Helper()
	status, made, err := w.call("GET", "/g/"+g.VoucherPublicToken+"/pass.pkpass", "", "")
	if err != nil || status != http.StatusOK {
		w.Fatalf("the pass: %d, %v: %s", status, err, made)
	}
	var said struct{ WebServiceURL, AuthenticationToken, SerialNumber string }
	if err := json.Unmarshal(passDocument(w.T, made), &said); err != nil {
		w.Fatal(err)
	}
	if said.WebServiceURL != "https://gifts.example.com/wallet/apple" || said.SerialNumber != g.VoucherID ||
		len(said.AuthenticationToken) < 16 {
		w.Fatalf("the pass says %+v", said)
	}
	return &phone{wallet: w, device: device, token: token, serial: said.SerialNumber, proof: said.AuthenticationToken}
}

func passDocument(t *testing.T, pkpass []byte) []byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(pkpass), int64(len(pkpass)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := z.Open("pass.json")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (p *phone) registration() string {
	return "/wallet/apple/v1/devices/" + p.device + "/registrations/" + passtest.PassType
}

func (p *phone) ask(method, path, body string, header ...string) (status int, answer http.Header, content []byte) {
	p.Helper()
	r, err := http.NewRequest(method, p.url+path, strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	r.Header.Set("Authorization", "ApplePass "+p.proof)
	for n := 0; n < len(header); n += 2 {
		r.Header.Set(header[n], header[n+1])
	}
	resp, err := client.Do(r)
	if err != nil {
		p.Fatal(err)
	}
	defer resp.Body.Close()
	if content, err = io.ReadAll(resp.Body); err != nil {
		p.Fatal(err)
	}
	return resp.StatusCode, resp.Header, content
}

func (p *phone) register() int {
	p.Helper()
	status, _, _ := p.ask("POST", p.registration()+"/"+p.serial, `{"pushToken":"`+p.token+`"}`)
	return status
}

// changes asks which passes changed since it last did.
func (p *phone) changes() (serials []string) {
	p.Helper()
	query := ""
	if p.tag != "" {
		query = "?passesUpdatedSince=" + p.tag
	}
	status, _, content := p.ask("GET", p.registration()+query, "")
	if status == http.StatusNoContent {
		return nil
	}
	var said struct {
		SerialNumbers []string
		LastUpdated   string
	}
	if err := json.Unmarshal(content, &said); status != http.StatusOK || err != nil {
		p.Fatalf("which passes changed: %d %s, %v", status, content, err)
	}
	p.tag = said.LastUpdated
	return said.SerialNumbers
}

// pass asks for the pass as it is now.
func (p *phone) pass(header ...string) (status int, answer http.Header, document string) {
	p.Helper()
	status, answer, content := p.ask("GET", "/wallet/apple/v1/passes/"+passtest.PassType+"/"+p.serial, "", header...)
	if status == http.StatusOK {
		document = string(passDocument(p.T, content))
	}
	return status, answer, document
}

func (w *wallet) redeem(g soldGift, amount string) {
	w.Helper()
	w.must("POST", redeemPath, examples.HarborTillKey, `{"voucherCode":"`+g.VoucherCode+`","amount":`+amount+`}`, nil)
}

const twenty = `{"value":20.00,"deliveryMethodID":3}`

// TestPhonesAreToldOfChanges: a phone that registered is told when its gift was used, learns which pass changed, gets
// the pass as it is now, and gets none that it has; it is told no more once it unregistered.
func TestPhonesAreToldOfChanges(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	g := w.sell(twenty)
	p, other := w.add(g, "library-1", "aa01d0d0caca0bebe"), w.add(g, "library-2", "aa02d0d0caca0bebe")
	if status := p.register(); status != http.StatusOK {
		t.Errorf("it registers again: %d", status)
	}
	if serials := p.changes(); !slices.Equal(serials, []string{g.VoucherID}) {
		t.Errorf("without a tag these passes changed: %v", serials)
	}
	before := p.apple.pushes(p.token)
	w.redeem(g, "5")
	w.eventually(func() bool { return p.apple.pushes(p.token) > before && p.apple.pushes(other.token) > 1 })
	var serials []string // the pushes may have been those of a phone that has just registered
	w.eventually(func() bool { serials = p.changes(); return serials != nil })
	if !slices.Equal(serials, []string{g.VoucherID}) {
		t.Errorf("after a redemption these passes changed: %v", serials)
	}
	status, answer, said := p.pass()
	if status != 200 || !strings.Contains(said, `"value":15.00`) || !strings.Contains(said, p.proof) {
		t.Errorf("the pass is answered with %d, %v: %s", status, answer, said)
	}
	if changed := answer.Get("Last-Modified"); changed == "" {
		t.Error("the pass has no mark")
	} else if status, _, _ := p.pass("If-Modified-Since", changed); status != http.StatusNotModified {
		t.Errorf("the pass that the phone has is answered with %d", status)
	}
	if serials := p.changes(); serials != nil {
		t.Errorf("these passes changed though nothing did: %v", serials)
	}
	if status, _, _ := p.ask("DELETE", p.registration()+"/"+p.serial, ""); status != http.StatusOK {
		t.Errorf("it unregisters: %d", status)
	}
	before, beside := p.apple.pushes(p.token), p.apple.pushes(other.token)
	w.redeem(g, "1")
	w.eventually(func() bool { return p.apple.pushes(other.token) > beside })
	if p.apple.pushes(p.token) != before || p.changes() != nil {
		t.Error("a phone that unregistered is told")
	}
	if status, _, _ := p.ask("POST", "/wallet/apple/v1/log", `{"logs":["`+g.VoucherCode+`"]}`); status != 200 {
		t.Errorf("the log of a phone is answered with %d", status)
	}
	w.measures("boon_pass_pushes_waiting 0", "boon_pass_push_behind_seconds 0")
	for _, secret := range []string{p.proof, p.token, p.device, g.VoucherPublicToken} {
		if strings.Contains(w.logs.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}

// TestPassesOfAnotherDesign: a design that changes is in the pass that a phone is told of when its gift is used next,
// and in each pass that somebody gets from then on.
func TestPassesOfAnotherDesign(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	const before, after = `"backgroundColor":"rgb(122, 31, 61)"`, `"backgroundColor":"rgb(10, 125, 50)"`
	g := w.sell(twenty)
	p := w.add(g, "library", "ab01")
	p.changes()
	if _, _, said := p.pass(); !strings.Contains(said, before) {
		t.Fatalf("the pass says %s", said)
	}
	w.applyWallet([]byte(strings.Replace(string(examples.HarborCoffee()), "#7a1f3d", "#0a7d32", 1)))
	w.eventually(func() bool {
		_, _, said := w.download(g, "another", "ab02").pass()
		return strings.Contains(said, after)
	})
	told := w.apple.pushes(p.token)
	w.redeem(g, "5")
	w.eventually(func() bool { return w.apple.pushes(p.token) > told && p.changes() != nil })
	if _, _, said := p.pass(); !strings.Contains(said, after) || !strings.Contains(said, `"value":15.00`) {
		t.Errorf("after a use the pass says %s", said)
	}
}

// TestUsedBeforeThePhoneRegisters: a phone that has other passes, and so a tag, learns of what happened to a gift after
// it got the pass and before it registered.
func TestUsedBeforeThePhoneRegisters(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	has := w.add(w.sell(twenty), "library-3", "aa03d0d0caca0bebe")
	if serials := has.changes(); len(serials) != 1 {
		t.Fatalf("of one pass it learns of %v", serials)
	}
	g, last := w.sell(twenty), w.sell(twenty)
	p, witness := w.download(g, "library-3", "aa03d0d0caca0bebe"), w.add(last, "witness", "aa04d0d0caca0bebe")
	told := w.apple.pushes(witness.token)
	w.redeem(g, "5")
	w.redeem(last, "1")
	w.eventually(func() bool { return w.apple.pushes(witness.token) > told }) // whoever tells phones is past both
	if status := p.register(); status != http.StatusCreated {
		t.Fatalf("it registers: %d", status)
	}
	p.tag = has.tag
	if serials := p.changes(); !slices.Contains(serials, g.VoucherID) { // it may learn once more of what it has
		t.Errorf("the phone learns of %v", serials)
	}
}

// TestPassesOfOldCardsAreDead: when a card is replaced, or sent to somebody else, the phone with its pass is told once,
// and learns that and nothing else; it cannot register any more, and what happens to the gift is not told to it.
func TestPassesOfOldCardsAreDead(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	past := func(token string) { // waits until whoever tells phones is past all that happened until now
		witness := w.sell(twenty)
		beside := w.add(witness, "witness-"+token, "cc"+token)
		beside.changes()
		w.redeem(witness, "1")
		w.eventually(func() bool { return beside.changes() != nil })
	}
	for name, replace := range map[string]func(g soldGift){
		"replaced": func(g soldGift) {
			w.must("POST", "/api/integration/gifting/replace-gift", examples.HarborOfficeKey,
				`{"voucherID":"`+g.VoucherID+`","reason":"lost"}`, nil)
		},
		"sent to somebody else": func(g soldGift) {
			w.must("POST", "/api/integration/gifting/resend-gift", examples.HarborOfficeKey,
				`{"voucherID":"`+g.VoucherID+`","deliveryMethodID":1,"recipientContact":"other@example.com"}`, nil)
		},
	} {
		g := w.sell(`{"value":20.00,"senderDescription":"Aunt Carla","deliveryMethodID":1,"recipientContact":"ana@example.com"}`)
		token := map[bool]string{true: "bb01", false: "bb02"}[name == "replaced"]
		w.eventually(func() bool { // a card whose message is being sent is not replaced
			var is struct{ Status string }
			w.must("GET", giftPath+g.VoucherID, examples.HarborOfficeKey, "", &is)
			return is.Status == "DELIVERED"
		})
		old := w.add(g, "library-"+token, token)
		old.changes()
		before := w.apple.pushes(old.token)
		replace(g)
		w.eventually(func() bool { return w.apple.pushes(old.token) > before })
		past(token + "01")
		if serials := old.changes(); len(serials) != 1 {
			t.Errorf("%s: the phone learns of %v", name, serials)
		}
		_, _, said := old.pass()
		for _, secret := range []string{"20.00", "Aunt Carla", "barcodes", "/g/", g.VoucherCode, "expirationDate"} {
			if strings.Contains(said, secret) {
				t.Errorf("%s: the old pass has %q: %s", name, secret, said)
			}
		}
		if !strings.Contains(said, `"voided":true`) || !strings.Contains(said, "This card was replaced") ||
			!strings.Contains(said, old.proof) {
			t.Errorf("%s: the old pass says %s", name, said)
		}
		if status := old.register(); status != http.StatusUnauthorized {
			t.Errorf("%s: the old pass registers: %d", name, status)
		}
		var now soldGift
		w.must("GET", giftPath+g.VoucherID, examples.HarborOfficeKey, "", &now)
		w.must("POST", "/api/integration/gifting/adjust-gift", examples.HarborOfficeKey,
			`{"voucherID":"`+g.VoucherID+`","amount":-1.00,"reasonCode":"SUPPORT","reason":"a test"}`, nil)
		past(token + "02")
		if serials := old.changes(); serials != nil {
			t.Errorf("%s: the phone learns of what happened later: %v", name, serials)
		}
		next := w.download(now, old.device, token) // the phone gets the pass of the next card before it throws the old away
		if status := next.register(); status != http.StatusOK {
			t.Errorf("%s: the pass of the next card registers: %d", name, status)
		}
		if status, _, _ := old.ask("DELETE", old.registration()+"/"+old.serial, ""); status != http.StatusOK {
			t.Errorf("%s: the old pass cannot be thrown away: %d", name, status)
		}
		if serials := next.changes(); len(serials) != 1 {
			t.Errorf("%s: the old pass ends that the phone is told of the next: %v", name, serials)
		}
	}
}

// TestApplesAnswers: a phone that is gone is forgotten; a push that Apple does not take for now is sent again; and
// while Apple is silent, tills go on.
func TestApplesAnswers(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	g := w.sell(twenty)
	gone, busy := w.add(g, "gone", "dd01"), w.add(g, "busy", "dd02")
	next := func(token string, answers ...int) {
		w.apple.mu.Lock()
		defer w.apple.mu.Unlock()
		w.apple.answers[token] = answers
	}
	next(gone.token, http.StatusGone)
	next(busy.token, http.StatusTooManyRequests, http.StatusInternalServerError)
	before := w.apple.pushes(busy.token)
	w.redeem(g, "1")
	w.eventually(func() bool { return w.apple.pushes(busy.token) > before && gone.changes() == nil })
	next(busy.token, 0)
	w.redeem(g, "1")
	w.eventually(func() bool {
		w.apple.mu.Lock()
		defer w.apple.mu.Unlock()
		return len(w.apple.answers[busy.token]) == 0
	})
	w.redeem(g, "1") // while Apple is silent
	if serials := busy.changes(); len(serials) != 1 {
		t.Errorf("the phone asks by itself, and learns of %v", serials)
	}
}

// TestPhonesAreToldByAnotherInstance: what happens while one instance goes is told by the other.
func TestPhonesAreToldByAnotherInstance(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	if w.database == "" {
		t.Skip("one process has the embedded database")
	}
	g := w.sell(twenty)
	p := w.add(g, "library", "ee01")
	other := &wallet{service: w.beside(w.apple.config()), apple: w.apple}
	before := w.apple.pushes(p.token)
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	other.redeem(g, "1")
	other.eventually(func() bool { return w.apple.pushes(p.token) > before })
}

// keepsEverything fails the test where asking for addresses, as programs do that open every link, changes a row of the
// database; leases and places of followers move by themselves.
func (s *service) keepsEverything(paths ...string) {
	s.Helper()
	before := s.settled()
	direct := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, path := range paths {
		resp, err := direct.Get(s.url + path)
		if err != nil {
			s.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode >= 500 {
			s.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
	for table, rows := range s.rows() {
		if strings.HasSuffix(table, "_lease") || strings.HasSuffix(table, "_place") || table == "anonymous_bucket" {
			continue
		}
		if !slices.Equal(rows, before[table]) {
			s.Errorf("%s: %d rows before, %d after", table, len(before[table]), len(rows))
		}
	}
}

// TestLooksOfGuestsChangeNothing: whoever opens the addresses that a gift's page links, as often as they like, changes
// nothing: neither a pass, nor a link to Google, nor a page of my gifts.
func TestLooksOfGuestsChangeNothing(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	g := w.sell(twenty)
	p := w.add(g, "library-1", "aa01d0d0caca0bebe")
	page := "/g/" + g.VoucherPublicToken
	w.keepsEverything(page, page+"?lang=de", page+"/pass.pkpass", page+"/pass.pkpass?lang=ja", page+"/google",
		page+"/print.pdf", page+"/print.pdf?fold=half", harborMy, harborMy+"?list=bought", harborMy+"/sent",
		p.registration(), "/wallet/apple/v1/passes/"+passtest.PassType+"/"+g.VoucherID)

	s, at := newGoogleWallet(t)
	g = s.sell(twenty)
	s.eventually(func() bool { return s.save(g) != "" })
	writes := func() int { at.mu.Lock(); defer at.mu.Unlock(); return len(at.kept) }
	before := writes()
	page = "/g/" + g.VoucherPublicToken
	s.keepsEverything(page, page+"/google", page+"/google?lang=de")
	if after := writes(); after != before {
		t.Errorf("Google had %d objects, and has %d", before, after)
	}
}
