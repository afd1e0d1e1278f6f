package telemetry

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/sdk/resource"
	figures "go.opentelemetry.io/proto/otlp/metrics/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for _, pair := range slices.Backward(pairs) {
			if n, v, _ := strings.Cut(pair, "="); n == name {
				return v
			}
		}
		return ""
	}
}

// transport is a collector without a network.
type transport func(*http.Request) (int, http.Header, string)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) {
	status, header, body := f(r)
	return &http.Response{StatusCode: status, Status: strconv.Itoa(status), Header: header,
		Body: io.NopCloser(strings.NewReader(body))}, r.Context().Err()
}

// TestVariablesOfOneSignal: what is said for a signal goes before what is said for both.
func TestVariablesOfOneSignal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		env               []string
		url, key, foreign string
		gzip              bool
		timeout           time.Duration
	}{
		{nil, "http://localhost:4318/v1/traces", "", "", false, 10 * time.Second},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=https://a.example/otlp/", "OTEL_EXPORTER_OTLP_HEADERS=api-key=a%20b, x=y==",
			"OTEL_EXPORTER_OTLP_COMPRESSION=gzip", "OTEL_EXPORTER_OTLP_TIMEOUT=2000"},
			"https://a.example/otlp/v1/traces", "a b", "y==", true, 2 * time.Second},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=https://a.example", "OTEL_EXPORTER_OTLP_HEADERS=api-key=a",
			"OTEL_EXPORTER_OTLP_COMPRESSION=gzip", "OTEL_EXPORTER_OTLP_TIMEOUT=2000",
			"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://b.example/in", "OTEL_EXPORTER_OTLP_TRACES_HEADERS=api-key=b",
			"OTEL_EXPORTER_OTLP_TRACES_COMPRESSION=none", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT=1",
			"OTEL_EXPORTER_OTLP_METRICS_HEADERS=api-key=c"},
			"https://b.example/in", "b", "", false, time.Millisecond},
	} {
		c, err := newCollector("traces", environment(tt.env...))
		if err != nil || c.url != tt.url || c.headers.Get("Api-Key") != tt.key || c.headers.Get("X") != tt.foreign ||
			c.gzip != tt.gzip || c.timeout != tt.timeout {
			t.Errorf("%q: %+v, %v", tt.env, c, err)
		}
	}
}

// TestWrongVariablesAreNamed: all at once, and no password of a header with them.
func TestWrongVariablesAreNamed(t *testing.T) {
	t.Parallel()
	_, err := newCollector("metrics", environment("OTEL_EXPORTER_OTLP_HEADERS=secret-without-a-name",
		"OTEL_EXPORTER_OTLP_METRICS_TIMEOUT=soon", "OTEL_EXPORTER_OTLP_COMPRESSION=zstd",
		"OTEL_EXPORTER_OTLP_CERTIFICATE=/nowhere/ca.pem", "OTEL_EXPORTER_OTLP_METRICS_CLIENT_KEY=/nowhere/key.pem"))
	for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS is a list", "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT is a number",
		"OTEL_EXPORTER_OTLP_COMPRESSION is gzip or none", "OTEL_EXPORTER_OTLP_CERTIFICATE: open /nowhere/ca.pem",
		"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_METRICS_CLIENT_KEY"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q is not in: %v", name, err)
		}
	}
	if err != nil && strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	if _, err := newReporter(prometheus.NewRegistry(), resource.Empty(), environment("OTEL_METRIC_EXPORT_INTERVAL=0",
		"OTEL_METRIC_EXPORT_TIMEOUT=x"), nil); err == nil || !strings.Contains(err.Error(), "OTEL_METRIC_EXPORT_INTERVAL") ||
		!strings.Contains(err.Error(), "OTEL_METRIC_EXPORT_TIMEOUT") {
		t.Error(err)
	}
}

// TestCollectorOverTLS: the collector's certificate is held to the file, and the collector is sent what the environment
// says, packed.
func TestCollectorOverTLS(t *testing.T) {
	t.Parallel()
	got := make(chan *spans.TracesData, 1)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil || r.Header.Get("Content-Encoding") != "gzip" || r.Header.Get("Api-Key") != "k" ||
			r.Header.Get("Content-Type") != "application/x-protobuf" || len(r.TLS.PeerCertificates) != 1 {
			t.Errorf("%v %v", err, r.Header)
			return
		}
		text, err := io.ReadAll(unpacked)
		var m spans.TracesData
		if err := proto.Unmarshal(text, &m); err != nil {
			t.Error(err)
		}
		if err != nil {
			t.Error(err)
		}
		got <- &m
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	s.StartTLS()
	defer s.Close()
	ca, key := filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(t.TempDir(), "key.pem")
	write := func(name, kind string, der []byte) {
		if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(ca, "CERTIFICATE", s.Certificate().Raw)
	write(key, "PRIVATE KEY", privateKey(t, s.TLS.Certificates[0]))
	env := []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + s.URL, "OTEL_EXPORTER_OTLP_HEADERS=api-key=k",
		"OTEL_EXPORTER_OTLP_COMPRESSION=gzip", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE=" + ca,
		"OTEL_EXPORTER_OTLP_CLIENT_KEY=" + key}
	message := []*spans.ResourceSpans{{SchemaUrl: "here"}}
	unknown, err := newCollector("traces", environment(env...))
	if err != nil {
		t.Fatal(err)
	}
	if err := unknown.UploadTraces(t.Context(), message); err == nil {
		t.Error("a collector of unknown authority was sent spans")
	}
	c, err := newCollector("traces", environment(append(env, "OTEL_EXPORTER_OTLP_CERTIFICATE="+ca)...))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.UploadTraces(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	if m := <-got; len(m.ResourceSpans) != 1 || m.ResourceSpans[0].SchemaUrl != "here" {
		t.Errorf("%v has come", m)
	}
}

// TestCollectorThatCannotTakeIt: a message is sent again where that may help, after the pause that the collector asks
// for, until the timeout is over; what was rejected is told.
func TestCollectorThatCannotTakeIt(t *testing.T) {
	t.Parallel()
	partial := protowire.AppendTag(nil, 1, protowire.VarintType)
	partial = protowire.AppendVarint(partial, 3)
	partial = protowire.AppendTag(partial, 2, protowire.BytesType)
	partial = protowire.AppendString(partial, "too old")
	rejecting := string(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial))
	type answer struct {
		status int
		after  string
		body   string
	}
	for name, tt := range map[string]struct {
		answers  []answer
		attempts int64
		took     time.Duration
		says     string
	}{
		"taken":         {[]answer{{200, "", ""}}, 1, 0, ""},
		"busy, twice":   {[]answer{{503, "", ""}, {429, "", ""}, {200, "", ""}}, 3, 3 * time.Second, ""},
		"asks for time": {[]answer{{503, "4", ""}, {200, "", ""}}, 2, 4 * time.Second, ""},
		"for too much":  {[]answer{{503, "3600", ""}}, 1, 10 * time.Second, "503"},
		"refuses":       {[]answer{{400, "", ""}}, 1, 0, "400"},
		"busy for good": {[]answer{{502, "", ""}, {504, "", ""}, {502, "", ""}, {502, "", ""}}, 4, 10 * time.Second, "502"},
		"takes a part":  {[]answer{{200, "", rejecting}}, 1, 0, `rejected 3 spans or figures: "too old"`},
		"says nonsense": {[]answer{{200, "", "\x0a\xff"}}, 1, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var attempts atomic.Int64
				c, err := newCollector("traces", environment())
				if err != nil {
					t.Fatal(err)
				}
				c.client.Transport = transport(func(*http.Request) (int, http.Header, string) {
					a := tt.answers[attempts.Add(1)-1]
					return a.status, http.Header{"Retry-After": {a.after}}, a.body
				})
				begun := time.Now()
				err = c.UploadTraces(context.Background(), []*spans.ResourceSpans{{}})
				if got := attempts.Load(); got != tt.attempts || time.Since(begun) != tt.took ||
					(err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
					t.Errorf("%d attempts in %s: %v", got, time.Since(begun), err)
				}
			})
		})
	}
}

// TestFigures: every kind of metric that a registry of Prometheus has arrives with its value.
func TestFigures(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "calls_total", Help: "Calls."}, []string{"kind"})
	counter.WithLabelValues("a").Add(2)
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "open"})
	gauge.Set(-1.5)
	histogram := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "seconds", Buckets: []float64{1, 2}})
	summary := prometheus.NewSummary(prometheus.SummaryOpts{Name: "pause", Objectives: map[float64]float64{0.5: 0.01}})
	for _, v := range []float64{0.5, 1.5, 1.75, 9} {
		histogram.Observe(v)
		summary.Observe(v)
	}
	registry.MustRegister(counter, gauge, histogram, summary)
	synctest.Test(t, func(t *testing.T) {
		p, err := newReporter(registry, resource.Empty(), environment("OTEL_METRIC_EXPORT_INTERVAL=5000"), nil)
		if err != nil {
			t.Fatal(err)
		}
		messages := make(chan *figures.MetricsData, 10)
		p.collector.client.Transport = transport(func(r *http.Request) (int, http.Header, string) {
			text, err := io.ReadAll(r.Body)
			var m figures.MetricsData
			if err := proto.Unmarshal(text, &m); err != nil || r.URL.Path != "/v1/metrics" {
				t.Error(r.URL, err)
			}
			if err != nil {
				t.Error(err)
			}
			messages <- &m
			return http.StatusOK, nil, ""
		})
		p.start()
		time.Sleep(11 * time.Second)
		if err := p.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if len(messages) != 3 {
			t.Fatalf("%d messages have come in 11 seconds and at the stop, want 3", len(messages))
		}
		of := map[string]*figures.Metric{}
		for _, m := range (<-messages).ResourceMetrics[0].ScopeMetrics[0].Metrics {
			of[m.Name] = m
		}
		c, g := of["calls_total"].GetSum(), of["open"].GetGauge()
		if c == nil || !c.IsMonotonic || c.DataPoints[0].GetAsDouble() != 2 ||
			c.DataPoints[0].Attributes[0].Key != "kind" || of["calls_total"].Description != "Calls." {
			t.Errorf("the counter is %v", of["calls_total"])
		}
		if g == nil || g.DataPoints[0].GetAsDouble() != -1.5 {
			t.Errorf("the gauge is %v", of["open"])
		}
		if h := of["seconds"].GetHistogram(); h == nil || !slices.Equal(h.DataPoints[0].BucketCounts, []uint64{1, 2, 1}) ||
			!slices.Equal(h.DataPoints[0].ExplicitBounds, []float64{1, 2}) || h.DataPoints[0].GetSum() != 12.75 ||
			h.DataPoints[0].Count != 4 {
			t.Errorf("the histogram is %v", h)
		}
		if s := of["pause"].GetSummary(); s == nil || s.DataPoints[0].Count != 4 || s.DataPoints[0].Sum != 12.75 ||
			s.DataPoints[0].QuantileValues[0].Quantile != 0.5 {
			t.Errorf("the summary is %v", s)
		}
	})
}

func privateKey(t *testing.T, of tls.Certificate) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(of.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return der
}
