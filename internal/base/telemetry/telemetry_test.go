package telemetry_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlpmetrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	otlptrace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"boon.example/examples"
	"boon.example/internal/base/telemetry"
	"boon.example/internal/boontest"
	"boon.example/internal/server"
	"boon.example/internal/store/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// collector receives OTLP as a real one does.
type collector struct {
	testing.TB
	mu      sync.Mutex
	spans   []*otlptrace.Span
	figures []string // the names of metrics
	raw     bytes.Buffer
}

func newCollector(t *testing.T) *collector {
	c := &collector{}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.listen(t))
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
	return c
}

// listen gives its address.
func (c *collector) listen(t testing.TB) string {
	c.TB = t
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	return s.URL
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		var err error
		if body, err = gzip.NewReader(r.Body); err != nil {
			c.Error(err)
			return
		}
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return // the program stopped
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(text)
	switch r.URL.Path {
	case "/v1/traces":
		var m otlptrace.TracesData // the bytes of an ExportTraceServiceRequest
		if err := proto.Unmarshal(text, &m); err != nil {
			c.Error(err)
		}
		for _, of := range m.ResourceSpans {
			if attribute(of.Resource.Attributes, "service.name") != "boon" ||
				attribute(of.Resource.Attributes, "service.version") != "v1.2.3" {
				c.Errorf("the resource is %v", of.Resource)
			}
			for _, scope := range of.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
	case "/v1/metrics":
		var m otlpmetrics.MetricsData
		if err := proto.Unmarshal(text, &m); err != nil {
			c.Error(err)
		}
		for _, of := range m.ResourceMetrics {
			for _, scope := range of.ScopeMetrics {
				for _, figure := range scope.Metrics {
					c.figures = append(c.figures, figure.Name)
				}
			}
		}
	default:
		c.Errorf("%s %s", r.Method, r.URL.Path)
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// named are the spans of a name, once there are n of them.
func (c *collector) named(name string, n int) (found []*otlptrace.Span) {
	c.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		found = nil
		c.mu.Lock()
		for _, s := range c.spans {
			if s.Name == name {
				found = append(found, s)
			}
		}
		c.mu.Unlock()
		if len(found) >= n {
			return found
		}
		if time.Now().After(end) {
			c.Fatalf("%d spans %q have come, want %d", len(found), name, n)
		}
	}
}

func attribute(of []*common.KeyValue, key string) string {
	for _, a := range of {
		if a.Key == key {
			switch v := a.Value.Value.(type) {
			case *common.AnyValue_StringValue:
				return v.StringValue
			case *common.AnyValue_IntValue:
				return fmt.Sprint(v.IntValue)
			}
		}
	}
	return ""
}

const (
	shop    = "Bearer " + examples.HarborWebShopKey
	till    = "Bearer " + examples.HarborTillKey
	office  = "Bearer " + examples.HarborOfficeKey
	send    = "/api/integration/gifting/send-gift"
	redeem  = "/api/integration/redemption/redeem-gift"
	traceID = "0af7651916cd43dd8448eb211c80319c"
	callers = "00-" + traceID + "-b7ad6b7169203331-01"
)

// order is one of a gift.
func order(gift string) string {
	return `{"monetaryGift":{"value":25,` + gift + `},"paymentMethodID":2,"externalTransactionReferenceNumber":"W-58381",
		"externalTransactionCustomerFirstName":"Carla","externalTransactionCustomerLastName":"Diaz",
		"externalTransactionCustomerEmailAddress":"carla@example.com","externalStorefrontID":"` +
		examples.HarborStorefront + `"}`
}

// call makes a request as a client that traces does, and repeats it while it is told to.
func call(t testing.TB, s *boontest.Service, path, key, body string, header http.Header) (int, []byte) {
	t.Helper()
	for {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if header != nil {
			r.Header = header.Clone()
		}
		r.Header.Set("Authorization", key)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != http.StatusServiceUnavailable {
			return answer.StatusCode, text
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// serve starts a service with what the environment asks for.
func serve(t *testing.T) *boontest.Service {
	t.Helper()
	settings, err := telemetry.Read(os.Getenv)
	if err != nil || !settings.Traces || !settings.Metrics {
		t.Fatalf("the environment asks for %+v, %v", settings, err)
	}
	return boontest.Example(t, server.Config{Telemetry: settings, Version: "v1.2.3", Outbox: true})
}

// TestOneTrace follows an order from its caller's span to the message that brings the gift, and finds nothing in what
// is sent that a caller wrote.
func TestOneTrace(t *testing.T) {
	c := newCollector(t)
	s := serve(t)
	const contact, recipient, greeting = "grace.hopper@example.com", "Gracemarie Hopperton", "Amazing greetings to you"
	const key = "order-of-the-hostile-1734"
	status, text := call(t, s, send, shop, order(fmt.Sprintf(`"deliveryMethodID":1,"recipientDescription":%q,"recipientContact":%q,
		"message":%q`, recipient, contact, greeting)),
		http.Header{"Traceparent": {callers}, "Tracestate": {"vendor=tracestate-of-the-caller"},
			"Baggage": {"user=baggage-of-the-caller"}, "Idempotency-Key": {key},
			"X-Request-Id": {"request-id-of-the-caller"}})
	var sent struct {
		Gifts []struct{ VoucherCode, VoucherPublicToken string }
	}
	if err := json.Unmarshal(text, &sent); err != nil || status != http.StatusCreated {
		t.Fatalf("send-gift: %d %s", status, text)
	}
	code, token := sent.Gifts[0].VoucherCode, sent.Gifts[0].VoucherPublicToken
	c.named("job", 1) // it has arrived
	if status, text := call(t, s, redeem, till, `{"voucherCode":"`+code+`","amount":1}`,
		http.Header{"Traceparent": {callers}, "Idempotency-Key": {key + "-2"}}); status != http.StatusOK {
		t.Fatalf("redeem-gift: %d %s", status, text)
	}
	c.named("POST "+redeem, 1)
	request := c.named("POST "+send, 1)[0]
	if hex.EncodeToString(request.TraceId) != traceID || hex.EncodeToString(request.ParentSpanId) != "b7ad6b7169203331" ||
		attribute(request.Attributes, "http.response.status_code") != "201" ||
		attribute(request.Attributes, "http.route") != send || request.TraceState != "" {
		t.Errorf("the request's span is %v", request)
	}
	child := func(name string, of *otlptrace.Span) *otlptrace.Span {
		t.Helper()
		for _, s := range c.named(name, 1) {
			if bytes.Equal(s.ParentSpanId, of.SpanId) && bytes.Equal(s.TraceId, of.TraceId) {
				return s
			}
		}
		t.Fatalf("no span %q is under %q", name, of.Name)
		return nil
	}
	group := child("group", request)
	for _, stage := range []string{"load", "save", "commit"} {
		child(stage, group)
	}
	gateway := child("gateway", child("job", request))
	if attribute(gateway.Attributes, "boon.method") != "e-mail" {
		t.Errorf("the gateway's span is %v", gateway)
	}
	if !strings.Contains(s.Log.String(), `"trace":"`+traceID+`"`) {
		t.Error("the log does not lead to the trace")
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(c.figures, " "), "boon_requests_total") {
		t.Errorf("these metrics have come: %v", c.figures)
	}
	for _, secret := range []string{contact, "hopper", recipient, greeting, key, "of-the-caller", "W-58381", "carla",
		examples.HarborWebShopKey, "harbor", code, token, "web shop", "pier 39"} {
		if secret == "" || bytes.Contains(bytes.ToLower(c.raw.Bytes()), bytes.ToLower([]byte(secret))) {
			t.Errorf("what was sent to the collector holds %q", secret)
		}
	}
}

// TestTraceOfAWebhook follows a gift from its caller's span to the webhook that is told of it, and to the one that is
// told that the message which a job sent has arrived.
func TestTraceOfAWebhook(t *testing.T) {
	c := newCollector(t)
	heard := make(chan http.Header, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard <- r.Header.Clone()
		if r.URL.Path == "/away" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(receiver.Close)
	settings, err := telemetry.Read(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	s := boontest.Example(t, server.Config{Telemetry: settings, Version: "v1.2.3", Outbox: true,
		WebhooksAllow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	for path, kind := range map[string]string{"/hidden-path": "gift.created", "/away": "gift.delivered"} {
		body := fmt.Sprintf(`{"url":"%s%s","types":[%q]}`, receiver.URL, path, kind)
		if status, text := call(t, s, "/api/integration/webhooks", office, body, nil); status != http.StatusCreated {
			t.Fatalf("%d %s", status, text)
		}
	}
	status, text := call(t, s, send, shop, order(`"deliveryMethodID":3`), http.Header{"Traceparent": {callers}})
	if status != http.StatusCreated {
		t.Fatalf("%d %s", status, text)
	}
	status, text = call(t, s, send, shop, order(`"deliveryMethodID":1,"recipientContact":"grace.hopper@example.com"`),
		http.Header{"Traceparent": {callers}})
	if status != http.StatusCreated {
		t.Fatalf("%d %s", status, text)
	}
	calls := map[string]*otlptrace.Span{}
	for _, s := range c.named("webhook", 3) {
		if hex.EncodeToString(s.TraceId) != traceID || s.Kind != otlptrace.Span_SPAN_KIND_CLIENT {
			t.Errorf("the span of a call is %v", s)
		}
		calls[hex.EncodeToString(s.SpanId)] = s
	}
	parents := map[string]string{}
	for _, name := range []string{"POST " + send, "job"} {
		for _, s := range c.named(name, 1) {
			parents[string(s.SpanId)] = name
		}
	}
	for range 3 {
		h := <-heard
		parts := strings.Split(h.Get("Traceparent"), "-")
		if len(parts) != 4 || parts[1] != traceID || parts[3] != "01" || calls[parts[2]] == nil {
			t.Errorf("a webhook was sent the traceparent %q", h.Get("Traceparent"))
			continue
		}
		s := calls[parts[2]]
		want := [2]string{"POST " + send, "200"}
		if attribute(s.Attributes, "boon.event") == "gift.delivered" {
			want = [2]string{"job", "500"}
		}
		if parents[string(s.ParentSpanId)] != want[0] || attribute(s.Attributes, "http.response.status_code") != want[1] ||
			(s.Status.GetCode() == otlptrace.Status_STATUS_CODE_ERROR) != (want[1] == "500") {
			t.Errorf("it is under %q, want %q: %v", parents[string(s.ParentSpanId)], want[0], s)
		}
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hidden-path", receiver.URL, "whsec_", "hopper"} {
		if bytes.Contains(c.raw.Bytes(), []byte(secret)) {
			t.Errorf("what was sent to the collector holds %q", secret)
		}
	}
}

// TestHostileTraceparents: whatever a caller sends, it is served, and its span has no parent that is not well formed.
func TestHostileTraceparents(t *testing.T) {
	c := newCollector(t)
	s := serve(t)
	for n, header := range []string{strings.Repeat("0", 12<<10), "00-" + strings.Repeat("f", 9000) + "-1-01",
		"00-" + strings.Repeat("0", 32) + "-b7ad6b7169203331-01", "ff-" + traceID + "-b7ad6b7169203331-01",
		"00-" + strings.ToUpper(traceID) + "-b7ad6b7169203331-01", "00-" + traceID + "-b7ad6b7169203331-01-more", "", "-",
		"é"} {
		if status, text := call(t, s, redeem, till, `{}`, http.Header{"Traceparent": {header, callers}}); status != 400 {
			t.Errorf("%.40q: %d %s", header, status, text)
		}
		for _, s := range c.named("POST "+redeem, n+1) {
			if len(s.ParentSpanId) != 0 {
				t.Errorf("%.40q became the parent of a span", header)
			}
		}
	}
	call(t, s, redeem, till, `{}`, http.Header{"Traceparent": {strings.TrimSuffix(callers, "1") + "0"}})
	call(t, s, redeem, till, `{}`, nil)
	for _, s := range c.named("POST "+redeem, 10) {
		if hex.EncodeToString(s.TraceId) == traceID {
			t.Error("a caller that does not record was recorded under its trace")
		}
	}
	if r, err := http.NewRequest("BREW", s.URL+"/healthz", nil); err == nil {
		if answer, err := http.DefaultClient.Do(r); err == nil {
			answer.Body.Close()
		}
	}
	c.named("_OTHER /healthz", 1)
}

// TestGroupsOfRequests: calls that share a transaction are linked with it.
func TestGroupsOfRequests(t *testing.T) {
	c := newCollector(t)
	s := serve(t)
	const calls = 24
	var all sync.WaitGroup
	for range calls {
		all.Go(func() {
			status, text := call(t, s, send, shop, order(`"deliveryMethodID":3`), nil)
			if status != http.StatusCreated {
				t.Errorf("%d %s", status, text)
			}
		})
	}
	all.Wait()
	requests := c.named("POST "+send, calls)
	groups := map[string]*otlptrace.Span{}
	served := map[string]bool{}
	for _, g := range c.named("group", 1) {
		groups[string(g.SpanId)] = g
		served[string(g.ParentSpanId)] = true
	}
	for _, r := range requests {
		for _, l := range r.Links {
			if g := groups[string(l.SpanId)]; g != nil {
				served[string(r.SpanId)] = true
				back := false
				for _, b := range g.Links {
					back = back || bytes.Equal(b.SpanId, r.SpanId)
				}
				if !back {
					t.Error("a request is linked with a group that is not linked with it")
				}
			}
		}
		if !served[string(r.SpanId)] {
			t.Errorf("request %x is neither above a group nor linked with one", r.SpanId)
		}
	}
}

// TestACollectorThatStalls: one that takes connections and never answers, or is not there, costs no call and no stop
// more than its five seconds.
func TestACollectorThatStalls(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	away, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	away.Close()
	for name, address := range map[string]string{"stalls": silent.Addr().String(), "is away": away.Addr().String()} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+address)
			t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
			t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "4")
			t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2")
			s := serve(t)
			for range 30 { // more than are kept
				if status, text := call(t, s, redeem, till, `{}`, nil); status != 400 {
					t.Fatalf("%d %s", status, text)
				}
			}
			begun := time.Now()
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
			if took := time.Since(begun); took > time.Minute {
				t.Errorf("the stop took %s", took)
			}
		})
	}
	silent.Close()
}

func TestRead(t *testing.T) {
	t.Parallel()
	const at = "http://127.0.0.1:4318"
	for _, tt := range []struct {
		env  string
		want telemetry.Settings
		says string
	}{
		{"", telemetry.Settings{}, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at, telemetry.Settings{Traces: true, Metrics: true}, ""},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=" + at, telemetry.Settings{Traces: true}, ""},
		{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=" + at, telemetry.Settings{Metrics: true}, ""},
		{"OTEL_TRACES_EXPORTER=otlp", telemetry.Settings{Traces: true}, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_METRICS_EXPORTER=none", telemetry.Settings{Traces: true}, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + at + " OTEL_SDK_DISABLED=true", telemetry.Settings{}, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=127.0.0.1:4318", telemetry.Settings{}, "OTEL_EXPORTER_OTLP_ENDPOINT is the URL"},
		{"OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_TRACES_SAMPLER=sometimes", telemetry.Settings{},
			"OTEL_EXPORTER_OTLP_PROTOCOL is one of http/protobuf\nOTEL_TRACES_SAMPLER is one of always_on, "},
		{"OTEL_TRACES_EXPORTER=zipkin", telemetry.Settings{}, "OTEL_TRACES_EXPORTER is one of otlp, none"},
	} {
		got, err := telemetry.Read(func(name string) string {
			for _, pair := range strings.Fields(tt.env) {
				if n, v, _ := strings.Cut(pair, "="); n == name {
					return v
				}
			}
			return ""
		})
		if got != tt.want || (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q asks for %+v, %v", tt.env, got, err)
		}
	}
}
