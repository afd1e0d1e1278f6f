package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"boon.example/internal/api"
	"boon.example/internal/api/contract"
	"boon.example/internal/gift"
)

// The seeds of the random requests. They are fixed: what is right today is right tomorrow, and the faults below are found on each of them.
var seeds = []int{1, 2, 3, 4, 5, 6}

// randomly is a handler that random requests are thrown at.
type randomly struct {
	*world
	handler http.Handler
	judge   *contract.Checker
	known   contract.Known
	stocked int
	slowest time.Duration
	answers map[string]map[int]int // by operation and status
}

func newRandomly(t *testing.T) *randomly {
	var caller atomic.Int64
	w := newWorld(t, func(c *api.Config) {
		c.ClientAddress = func(*http.Request) netip.Addr {
			n := caller.Add(1)
			return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
		}
	})
	f := &randomly{world: w, handler: api.New(w.config), judge: contracts.checker.For(t), known: contract.Known{}, answers: map[string]map[int]int{}}
	add := func(name string, values ...any) { f.known[name] = append(f.known[name], values...) }
	add("uuid", pier, harbor, shop, design, nowhere, strings.ToUpper(pier))
	add("organizationID", pier, pier, wharf, nil, cornerPlace)
	add("accountID", harbor, harbor, nil)
	add("programID", gift.BusinessProgram.ID.String(), gift.PromotionalProgram.ID.String(), nil)
	add("promotionID", spring, spring, bareSpring)
	add("externalStorefrontID", shop)
	add("voucherDesignID", design, "")
	add("deliveryTimezoneId", "America/New_York", "Eastern Standard Time", nil)
	add("recipientContact", nil, "ann@example.com", "415-555-0132")
	add("externalTransactionCustomerEmailAddress", "ann@example.com")
	add("externalTransactionReferenceNumber", "R-1", "none")
	add("pointOfSaleSystemOrganizationIdentifier", nil, "POS-1", "POS-2")
	add("Authorization", harborKey, harborKey, harborKey, "Bearer "+pierKey, cornerKey, systemKey)
	add("file", "docs.css")
	add("always", "deliveryMethodID")
	add("deliveryMethodID", json.Number("3"), json.Number("3"), json.Number("1"))
	add("deliveryDate", nil, yearsFrom(w.now(), 1))
	add("hasScheduledDelivery", nil, false)
	add("validStarting", "2026-03-01T00:00:00Z")
	add("senderDescription", nil, "Ann")
	add("targetProgramID", nil)
	add("targetTypeCode", nil)
	add("ticketData", nil)
	return f
}

// stock makes gifts to ask about: those from before may be used up.
func (f *randomly) stock() {
	f.Helper()
	f.stocked++
	add := func(name string, values ...any) { f.known[name] = append(f.known[name], values...) }
	for _, name := range []string{"voucherID", "voucherCode", "voucherPublicToken", "redemptionID", "orderID", "idempotencyKey", "key", "Idempotency-Key"} {
		f.known[name] = nil
	}
	for range 3 {
		waiting := f.send(`{"monetaryGift":{"value":5,"deliveryMethodID":1,"recipientContact":"ann@example.com","hasScheduledDelivery":true,"deliveryDate":"` +
			yearsFrom(f.now(), 1) + `"},` + purchase + `}`)
		add("voucherID", waiting.id)
	}
	for n := range 6 {
		g := f.send(money("1000", []string{"", `,"organizationID":"` + pier + `"`, `,"organizationID":"` + wharf + `"`}[n%3]), once(fmt.Sprint("send-", f.stocked, n))...)
		place := []string{pier, pier, wharf}[n%3]
		r := f.post("redeem-gift", `{"voucherID":"`+g.id+`","amount":5,"organizationID":"`+place+`"}`, once(fmt.Sprint("sale-", f.stocked, n))...).want(200)
		add("voucherID", g.id)
		add("voucherCode", g.code)
		add("voucherPublicToken", g.token)
		add("redemptionID", r.at("redemptionID"))
		add("orderID", g.order)
		add("idempotencyKey", fmt.Sprint("sale-", f.stocked, n))
		add("key", fmt.Sprint("send-", f.stocked, n))
		add("Idempotency-Key", fmt.Sprint("random-", f.stocked, n))
	}
}

// ask makes one request of the handler and says everything that is wrong with it.
func (f *randomly) ask(h http.Handler, operation string, q contract.Request) (problems []error) {
	r, err := http.NewRequestWithContext(f.Context(), q.Method, "http://gifts.example.com"+q.Target, bytes.NewReader(q.Body))
	if err != nil {
		return nil // no client could send it
	}
	r.Header, r.RequestURI, r.RemoteAddr = q.Header, q.Target, "192.0.2.1:1234"
	answer, took, problems := serve(h, r)
	if answer.Code == http.StatusServiceUnavailable { // perhaps the machine stood still for seconds; it does not do so twice
		r.Body = io.NopCloser(bytes.NewReader(q.Body))
		answer, took, problems = serve(h, r)
	}
	f.slowest = max(f.slowest, took)
	f.pass(4 * time.Minute)
	if f.answers[operation] == nil {
		f.answers[operation] = map[int]int{}
	}
	f.answers[operation][answer.Code]++
	if answer.Code >= 500 {
		problems = append(problems, errors.New("the answer is a failure of the server"))
	}
	if took > 15*time.Second {
		problems = append(problems, fmt.Errorf("it took %v", took))
	}
	body, _ := io.ReadAll(answer.Result().Body)
	problems = append(problems, f.judge.Judge(r, q.Body, answer.Code, answer.Header(), body)...)
	for n, problem := range problems {
		problems[n] = fmt.Errorf("%s %s %v %.300q answered %d %.300q: %w", q.Method, q.Target, q.Header, q.Body, answer.Code, body, problem)
	}
	return problems
}

// serve has a request answered; a panic is a problem.
func serve(h http.Handler, r *http.Request) (answer *httptest.ResponseRecorder, took time.Duration, problems []error) {
	answer = httptest.NewRecorder()
	begun := time.Now()
	defer func() {
		took = time.Since(begun)
		if p := recover(); p != nil {
			problems = append(problems, fmt.Errorf("panic: %v", p))
		}
	}()
	h.ServeHTTP(answer, r)
	return answer, 0, nil
}

// throw makes n requests to each operation of the interface whose method is among methods, until there are so many problems.
func (f *randomly) throw(h http.Handler, methods string, seed, n, most int) (problems []error) {
	f.Helper()
	operations, err := contract.Routes(theFile)
	if err != nil {
		f.Fatal(err)
	}
	for _, op := range operations {
		if op.OperationID == "getHealth" || op.OperationID == "getReadiness" || !strings.Contains(methods, op.Method) {
			continue // the server's
		}
		requests, err := contract.Requests(theFile, op.OperationID, f.known)
		if err != nil {
			f.Fatal(err)
		}
		for i := range n {
			if i%40 == 0 && (i == 0 || strings.HasSuffix(op.OperationID, "Gift") || op.OperationID == "reverseRedemption") {
				f.stock()
			}
			problems = append(problems, f.ask(h, op.OperationID, requests.Example(seed*10_000+i))...)
			if len(problems) >= most {
				return problems
			}
		}
	}
	return problems
}

// TestRandomRequestsKeepTheContract: whatever is asked, in every operation, no answer is outside the OpenAPI file, none is a failure of the server,
// and none takes for ever.
func TestRandomRequestsKeepTheContract(t *testing.T) {
	t.Parallel()
	f := newRandomly(t)
	each := 80
	if testing.Short() {
		each = 20
	}
	for _, seed := range seeds {
		for _, problem := range f.throw(f.handler, "GET POST", seed, each, 6) {
			t.Errorf("seed %d: %v", seed, problem)
		}
	}
	for op, by := range f.answers {
		t.Logf("%-20s %v", op, by)
		if testing.Short() {
			continue
		}
		if by[200]+by[201] == 0 || strings.HasSuffix(op, "Gift") && by[400] == 0 {
			t.Errorf("%s was not both done and refused; the requests are not good enough: %v", op, by)
		}
	}
	t.Logf("the slowest took %v", f.slowest)
}

// faulty is the interface with a fault that shows for some requests only.
type faulty struct {
	http.Handler
	name  string
	wants func(sent []byte, status int, body []byte) bool
	spoil func(status int, header http.Header, body []byte) (int, []byte)
}

func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sent, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(sent))
	kept := httptest.NewRecorder()
	f.Handler.ServeHTTP(kept, r)
	status, body := kept.Code, kept.Body.Bytes()
	maps.Copy(w.Header(), kept.Header())
	if f.wants(sent, status, body) {
		status, body = f.spoil(status, w.Header(), body)
	}
	w.WriteHeader(status)
	w.Write(body)
}

// TestRandomRequestsFindFaults is the control: each of these faults is found on every seed.
func TestRandomRequestsFindFaults(t *testing.T) {
	t.Parallel()
	f := newRandomly(t)
	holds := func(what string) func([]byte, int, []byte) bool {
		return func(sent []byte, _ int, _ []byte) bool { return bytes.Contains(sent, []byte(what)) }
	}
	answers := func(status int, what string) func([]byte, int, []byte) bool {
		return func(_ []byte, s int, body []byte) bool { return s == status && bytes.Contains(body, []byte(what)) }
	}
	for _, fault := range []*faulty{
		{name: "a letter beyond the basic plane is a failure", wants: holds("👩"),
			spoil: func(_ int, _ http.Header, b []byte) (int, []byte) { return 500, b }},
		{name: "an undocumented member beside a reason", wants: holds(`"reason"`),
			spoil: func(s int, _ http.Header, b []byte) (int, []byte) { return s, append([]byte(`{"debug":1,`), b[1:]...) }},
		{name: "unknown members are let through", wants: answers(400, "There is no such member"),
			spoil: func(int, http.Header, []byte) (int, []byte) { return 200, []byte(`{}`) }},
		{name: "a conflict without a code", wants: answers(409, ""),
			spoil: func(s int, _ http.Header, b []byte) (int, []byte) {
				return s, bytes.Replace(b, []byte(`"code"`), []byte(`"cod"`), 1)
			}},
		{name: "a balance in quotes", wants: answers(200, `"currentBalance"`),
			spoil: func(s int, _ http.Header, b []byte) (int, []byte) {
				return s, bytes.Replace(b, []byte(`"currentBalance":`), []byte(`"currentBalance":"9","was":`), 1)
			}},
		{name: "a panic on a byte order mark", wants: holds("\ufeff"), spoil: func(int, http.Header, []byte) (int, []byte) { panic("BOM") }},
	} {
		fault.Handler = f.handler
		for _, seed := range seeds {
			if len(f.throw(fault, "POST", seed, 120, 1)) == 0 {
				t.Errorf("seed %d does not find: %s", seed, fault.name)
			}
		}
	}
}
