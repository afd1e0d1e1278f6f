package telemetry

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// collector sends one signal, traces or metrics, to where the environment says: a message of OTLP in a POST. The
// exporters of OpenTelemetry do the same, and bring gRPC with them (docs/adr/0033-what-the-program-is-made-of.md).
type collector struct {
	url     string
	headers http.Header
	gzip    bool
	timeout time.Duration // of one message, repetitions included
	client  *http.Client
}

// defaultTimeout is how long OpenTelemetry lets the sending of a message take.
const defaultTimeout = 10 * time.Second

// newCollector reads the variables of a signal, which go before those of both signals. It names everything that it does
// not understand.
func newCollector(signal string, getenv func(string) string) (*collector, error) {
	own := "OTEL_EXPORTER_OTLP_" + strings.ToUpper(signal) + "_"
	variable := func(name string) (string, string) {
		if v := getenv(own + name); v != "" {
			return own + name, v
		}
		return "OTEL_EXPORTER_OTLP_" + name, getenv("OTEL_EXPORTER_OTLP_" + name)
	}
	c := &collector{url: collectorURL(getenv(own+"ENDPOINT"), getenv(endpoint), signal), timeout: defaultTimeout}
	var errs [4]error
	name, text := variable("HEADERS")
	c.headers, errs[0] = readHeaders(name, text)
	if name, text = variable("TIMEOUT"); text != "" {
		c.timeout, errs[1] = readMilliseconds(name, text)
	}
	switch name, text = variable("COMPRESSION"); strings.ToLower(text) {
	case "", "none":
	case "gzip":
		c.gzip = true
	default:
		errs[2] = fmt.Errorf("%s is gzip or none", name)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one
	transport.TLSClientConfig, errs[3] = readTLS(variable)
	c.client = &http.Client{Transport: transport}
	return c, errors.Join(errs[:]...)
}

// collectorURL is where a signal goes: to its own endpoint as it stands, or to a path below the endpoint of both.
func collectorURL(own, both, signal string) string {
	if own != "" {
		return own
	}
	return strings.TrimSuffix(cmp.Or(both, "http://localhost:4318"), "/") + "/v1/" + signal
}

// readHeaders reads name=value pairs with commas between them; values are escaped as in a URL.
func readHeaders(name, text string) (http.Header, error) {
	headers := http.Header{}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, is := strings.Cut(strings.TrimSpace(pair), "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		switch key = strings.TrimSpace(key); {
		case key == "" && !is:
		case key == "" || !is || err != nil:
			// The text is left out: it may be a password.
			return nil, fmt.Errorf("%s is a list of name=value with commas between them", name)
		default:
			headers.Set(key, value)
		}
	}
	return headers, nil
}

func readMilliseconds(name, text string) (time.Duration, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 || n > int(time.Hour/time.Millisecond) {
		return 0, fmt.Errorf("%s is a number of milliseconds, from 1 to an hour's", name)
	}
	return time.Duration(n) * time.Millisecond, nil
}

// readTLS reads whom the collector's certificate has to be from, and the certificate that the collector is shown.
func readTLS(variable func(string) (name, value string)) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	var errs [2]error
	if name, file := variable("CERTIFICATE"); file != "" {
		text, err := os.ReadFile(file)
		config.RootCAs = x509.NewCertPool()
		if err == nil && !config.RootCAs.AppendCertsFromPEM(text) {
			err = fmt.Errorf("%s is no certificate as PEM", file)
		}
		if err != nil {
			errs[0] = fmt.Errorf("%s: %w", name, err)
		}
	}
	certificate, cert := variable("CLIENT_CERTIFICATE")
	key, private := variable("CLIENT_KEY")
	if cert != "" || private != "" {
		pair, err := tls.LoadX509KeyPair(cert, private)
		config.Certificates = []tls.Certificate{pair}
		if err != nil {
			errs[1] = fmt.Errorf("%s and %s: %w", certificate, key, err)
		}
	}
	return config, errors.Join(errs[:]...)
}

// Start is part of otlptrace.Client.
func (c *collector) Start(context.Context) error { return nil }

// Stop is part of otlptrace.Client. Whoever sends ends it by its context.
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces is part of otlptrace.Client. TracesData has the bytes of an ExportTraceServiceRequest.
func (c *collector) UploadTraces(ctx context.Context, of []*spans.ResourceSpans) error {
	return c.send(ctx, &spans.TracesData{ResourceSpans: of})
}

// firstPause is how long a collector that cannot take a message is left alone; then twice as long, and so on.
const firstPause = time.Second

// send sends a message, and sends it again where the collector could not take it, until the timeout is over.
func (c *collector) send(ctx context.Context, m proto.Message) error {
	body, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	if c.gzip {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(body); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		body = packed.Bytes()
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	for pause := firstPause; ; pause *= 2 {
		wait, err := c.post(ctx, body)
		if wait == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(max(pause, *wait)):
		}
	}
}

// post sends a message once. wait is how long the collector asks for before the next attempt; nil: there shall be none.
func (c *collector) post(ctx context.Context, body []byte) (wait *time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = c.headers.Clone()
	r.Header.Set("Content-Type", "application/x-protobuf")
	if c.gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	answer, err := c.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	const limit = 64 << 10 // an answer is a sentence
	text, err := io.ReadAll(io.LimitReader(answer.Body, limit))
	switch {
	case answer.StatusCode/100 == 2:
		return nil, errors.Join(err, rejected(text))
	case answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == http.StatusBadGateway ||
		answer.StatusCode == http.StatusServiceUnavailable || answer.StatusCode == http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After")) // a date is 0: the next pause
		return new(time.Duration(min(max(seconds, 0), 3600)) * time.Second), fmt.Errorf("the collector answers %s",
			answer.Status)
	default:
		return nil, fmt.Errorf("the collector answers %s", answer.Status)
	}
}

// rejected tells what a collector that took a message says that it did not take of it: the partial_success of both
// Export…ServiceResponse, number 1, which has a count and a sentence.
func rejected(answer []byte) error {
	number, kind, n := protowire.ConsumeTag(answer)
	if n < 0 || number != 1 || kind != protowire.BytesType {
		return nil
	}
	partial, _ := protowire.ConsumeBytes(answer[n:])
	var count uint64
	var sentence []byte
	for len(partial) > 0 {
		number, kind, n := protowire.ConsumeTag(partial)
		if n < 0 {
			break
		}
		partial = partial[n:]
		switch {
		case number == 1 && kind == protowire.VarintType:
			count, n = protowire.ConsumeVarint(partial)
		case number == 2 && kind == protowire.BytesType:
			sentence, n = protowire.ConsumeBytes(partial)
		default:
			n = protowire.ConsumeFieldValue(number, kind, partial)
		}
		if n < 0 {
			break
		}
		partial = partial[n:]
	}
	if count == 0 && len(sentence) == 0 {
		return nil
	}
	return fmt.Errorf("the collector rejected %d spans or figures: %q", count, sentence)
}
