package telemetry

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/sdk/resource"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	figures "go.opentelemetry.io/proto/otlp/metrics/v1"
	about "go.opentelemetry.io/proto/otlp/resource/v1"
)

// reporter sends the figures of a registry to a collector, again and again.
type reporter struct {
	collector *collector
	registry  prometheus.Gatherer
	about     *about.Resource
	begun     time.Time // since when counters count
	every     time.Duration
	tell      func(error)
	stop      context.CancelFunc
	stopped   chan struct{}
}

// newReporter makes a reporter that sends as often and for as long as the environment says, from start on.
func newReporter(registry prometheus.Gatherer, r *resource.Resource, getenv func(string) string, tell func(error)) (
	*reporter, error) {
	c, err := newCollector("metrics", getenv)
	every, within := time.Minute, c.timeout
	var errs [2]error
	for n, v := range []struct {
		name string
		is   *time.Duration
	}{{"OTEL_METRIC_EXPORT_INTERVAL", &every}, {"OTEL_METRIC_EXPORT_TIMEOUT", &within}} {
		if text := getenv(v.name); text != "" {
			*v.is, errs[n] = readMilliseconds(v.name, text)
		}
	}
	if err = errors.Join(err, errs[0], errs[1]); err != nil {
		return nil, err
	}
	c.timeout = min(c.timeout, within)
	return &reporter{collector: c, registry: registry, about: described(r), begun: time.Now(), every: every, tell: tell,
		stopped: make(chan struct{})}, nil
}

// start begins to send. Shutdown must follow.
func (p *reporter) start() {
	ctx, cancel := context.WithCancel(context.Background())
	p.stop = cancel
	go p.run(ctx)
}

func (p *reporter) run(ctx context.Context) {
	defer close(p.stopped)
	tick := time.NewTicker(p.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := p.report(ctx); err != nil && ctx.Err() == nil {
				p.tell(err)
			}
		}
	}
}

// Shutdown sends the last figures.
func (p *reporter) Shutdown(ctx context.Context) error {
	p.stop()
	<-p.stopped
	return errors.Join(p.report(ctx), p.collector.Stop(ctx))
}

// report sends the figures as they are now.
func (p *reporter) report(ctx context.Context) error {
	families, gathered := p.registry.Gather()
	now := time.Now()
	all := make([]*figures.Metric, 0, len(families))
	for _, f := range families {
		if m := p.metric(f, now); m != nil {
			all = append(all, m)
		}
	}
	return errors.Join(gathered, p.collector.send(ctx, &figures.MetricsData{ResourceMetrics: []*figures.ResourceMetrics{{
		Resource: p.about,
		ScopeMetrics: []*figures.ScopeMetrics{{Scope: &common.InstrumentationScope{Name: "boon.example"},
			Metrics: all}}}}}))
}

// metric is a family of Prometheus as OTLP has it; nil: one of a kind that no registry of ours has.
func (p *reporter) metric(f *dto.MetricFamily, now time.Time) *figures.Metric {
	m := &figures.Metric{Name: f.GetName(), Description: f.GetHelp()}
	const cumulative = figures.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
	switch f.GetType() {
	case dto.MetricType_COUNTER:
		m.Data = &figures.Metric_Sum{Sum: &figures.Sum{AggregationTemporality: cumulative, IsMonotonic: true,
			DataPoints: p.numbers(f, now, func(m *dto.Metric) float64 { return m.GetCounter().GetValue() })}}
	case dto.MetricType_GAUGE:
		m.Data = &figures.Metric_Gauge{Gauge: &figures.Gauge{
			DataPoints: p.numbers(f, now, func(m *dto.Metric) float64 { return m.GetGauge().GetValue() })}}
	case dto.MetricType_HISTOGRAM:
		points := make([]*figures.HistogramDataPoint, len(f.Metric))
		for n, one := range f.Metric {
			points[n] = p.histogram(one, now)
		}
		m.Data = &figures.Metric_Histogram{Histogram: &figures.Histogram{AggregationTemporality: cumulative,
			DataPoints: points}}
	case dto.MetricType_SUMMARY:
		points := make([]*figures.SummaryDataPoint, len(f.Metric))
		for n, one := range f.Metric {
			points[n] = p.summary(one, now)
		}
		m.Data = &figures.Metric_Summary{Summary: &figures.Summary{DataPoints: points}}
	default:
		return nil
	}
	return m
}

func (p *reporter) numbers(f *dto.MetricFamily, now time.Time, value func(*dto.Metric) float64) (
	points []*figures.NumberDataPoint) {
	for _, one := range f.Metric {
		points = append(points, &figures.NumberDataPoint{Attributes: labels(one), StartTimeUnixNano: nano(p.begun),
			TimeUnixNano: nano(now), Value: &figures.NumberDataPoint_AsDouble{AsDouble: value(one)}})
	}
	return points
}

// histogram has the count of each bucket alone, where Prometheus counts what is in the buckets below, too, and has no
// bound at infinity.
func (p *reporter) histogram(m *dto.Metric, now time.Time) *figures.HistogramDataPoint {
	h := m.GetHistogram()
	point := &figures.HistogramDataPoint{Attributes: labels(m), StartTimeUnixNano: nano(p.begun), TimeUnixNano: nano(now),
		Count: h.GetSampleCount(), Sum: h.SampleSum}
	below := uint64(0)
	for _, b := range h.Bucket {
		if math.IsInf(b.GetUpperBound(), 1) {
			continue
		}
		point.ExplicitBounds = append(point.ExplicitBounds, b.GetUpperBound())
		point.BucketCounts = append(point.BucketCounts, b.GetCumulativeCount()-below)
		below = b.GetCumulativeCount()
	}
	point.BucketCounts = append(point.BucketCounts, point.Count-below)
	return point
}

func (p *reporter) summary(m *dto.Metric, now time.Time) *figures.SummaryDataPoint {
	s := m.GetSummary()
	point := &figures.SummaryDataPoint{Attributes: labels(m), StartTimeUnixNano: nano(p.begun), TimeUnixNano: nano(now),
		Count: s.GetSampleCount(), Sum: s.GetSampleSum()}
	for _, q := range s.Quantile {
		point.QuantileValues = append(point.QuantileValues,
			&figures.SummaryDataPoint_ValueAtQuantile{Quantile: q.GetQuantile(), Value: q.GetValue()})
	}
	return point
}

func nano(t time.Time) uint64 { return uint64(t.UnixNano()) } //nolint:gosec // after 1970

func labels(m *dto.Metric) []*common.KeyValue {
	all := make([]*common.KeyValue, len(m.Label))
	for n, l := range m.Label {
		all[n] = text(l.GetName(), l.GetValue())
	}
	return all
}

// described is a resource as OTLP has it. All that ours says is text.
func described(r *resource.Resource) *about.Resource {
	all := &about.Resource{}
	for _, a := range r.Attributes() {
		all.Attributes = append(all.Attributes, text(string(a.Key), a.Value.String()))
	}
	return all
}

func text(key, value string) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}}
}
