// Package telemetry sends traces and metrics to a collector that speaks OTLP, as the standard environment variables
// of OpenTelemetry say. Without them it does nothing. A collector that is away or slow costs spans and figures, never
// time.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"

	"boon.example/internal/base/span"
)

// Settings are what the environment asks for.
type Settings struct{ Traces, Metrics bool }

// Where a collector is named, for both or for one.
const (
	endpoint        = "OTEL_EXPORTER_OTLP_ENDPOINT"
	tracesEndpoint  = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	metricsEndpoint = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"
)

// choices are the values of variables that OpenTelemetry would take for others without a word, or not know.
var choices = map[string][]string{
	"OTEL_SDK_DISABLED":                   {"true", "false"},
	"OTEL_TRACES_EXPORTER":                {"otlp", "none"},
	"OTEL_METRICS_EXPORTER":               {"otlp", "none"},
	"OTEL_EXPORTER_OTLP_PROTOCOL":         {protocol},
	"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL":  {protocol},
	"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": {protocol},
	"OTEL_TRACES_SAMPLER": {"always_on", "always_off", "traceidratio", "parentbased_always_on",
		"parentbased_always_off", "parentbased_traceidratio"},
}

const protocol = "http/protobuf"

// Read tells what the environment asks for, and names everything in it that is not understood.
func Read(getenv func(string) string) (s Settings, err error) {
	var wrong []error
	for name, values := range choices {
		if v := getenv(name); v != "" && !slices.Contains(values, strings.ToLower(v)) {
			wrong = append(wrong, fmt.Errorf("%s is one of %s", name, strings.Join(values, ", ")))
		}
	}
	for _, name := range []string{endpoint, tracesEndpoint, metricsEndpoint} {
		u, err := url.Parse(getenv(name))
		if v := getenv(name); v != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
			wrong = append(wrong, fmt.Errorf("%s is the URL of a collector, such as http://127.0.0.1:4318", name))
		}
	}
	slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	if len(wrong) > 0 || strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return Settings{}, errors.Join(wrong...)
	}
	wanted := func(exporter, own string) bool {
		v := strings.ToLower(getenv(exporter))
		return v != "none" && (v == "otlp" || getenv(endpoint)+getenv(own) != "")
	}
	return Settings{Traces: wanted("OTEL_TRACES_EXPORTER", tracesEndpoint),
		Metrics: wanted("OTEL_METRICS_EXPORTER", metricsEndpoint)}, nil
}

// Telemetry is what is sent while a service runs.
type Telemetry struct {
	Tracer *span.Tracer // nil: no traces
	stops  []func(context.Context) error
}

// stopWithin bounds what the last spans and figures may take to leave.
const stopWithin = 5 * time.Second

// Start begins to send. It reads the rest of the standard variables itself, or has OpenTelemetry read them.
func (s Settings) Start(ctx context.Context, version string, metrics prometheus.Gatherer, log *slog.Logger) (*Telemetry,
	error) {
	t := &Telemetry{}
	if !s.Traces && !s.Metrics {
		return t, nil
	}
	quiet := &troubles{log: log}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(quiet.tell))
	otel.SetLogger(logr.FromSlogHandler(log.Handler()))
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "boon"), attribute.String("service.version", version),
		attribute.String("service.instance.id", uuid.NewString())), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	if s.Traces {
		collector, err := newCollector("traces", os.Getenv)
		if err != nil {
			return nil, fmt.Errorf("sending traces: %w", err)
		}
		exporter, err := otlptrace.New(ctx, collector)
		if err != nil {
			return nil, fmt.Errorf("sending traces: %w", err)
		}
		p := trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(about))
		t.Tracer, t.stops = span.NewTracer(p), append(t.stops, p.Shutdown)
	}
	if s.Metrics {
		r, err := newReporter(metrics, about, os.Getenv, quiet.tell)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("sending metrics: %w", err), t.Stop(ctx))
		}
		r.start()
		t.stops = append(t.stops, r.Shutdown)
	}
	return t, nil
}

// Stop sends what is left, as long as that takes no more than five seconds.
func (t *Telemetry) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	errs := make([]error, len(t.stops))
	var stopping sync.WaitGroup
	for n, stop := range t.stops {
		stopping.Go(func() { errs[n] = stop(ctx) })
	}
	stopping.Wait()
	return errors.Join(errs...)
}

// troubles logs that nothing can be sent, once in a while: a collector that is away would fill the log.
type troubles struct {
	log  *slog.Logger
	mu   sync.Mutex
	told time.Time
}

func (q *troubles) tell(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now := time.Now(); now.Sub(q.told) >= time.Minute {
		q.told = now
		q.log.Warn("traces or metrics could not be sent; the service goes on without them", "error", err)
	}
}
