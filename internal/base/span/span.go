// Package span tells of what is done for a request, for whoever records traces: as spans of OpenTelemetry, each under
// the one that it was begun in. Where nobody records, or not this request, it does next to nothing.
//
// No span holds a code, a token, a contact, a key or anything else that a caller wrote: names and attributes are from
// closed sets, or ids that this program made.
package span

import (
	"context"
	"net/http"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// scope names this program among those whose spans meet.
const scope = "boon.example"

// Tracer begins the spans that have none of ours above them. nil: nobody records.
type Tracer struct {
	tracer trace.Tracer

	mu     sync.Mutex
	causes map[[16]byte]string // of the newest events, by what they were caused: as Header has it
	order  [maxCauses][16]byte // their ids, the oldest at next
	next   int
}

// maxCauses is how many events are remembered with their causes. They are told of within a second; one that is told of
// later may have a span without a parent.
const maxCauses = 16_384

// NewTracer gives the spans to a provider.
func NewTracer(p trace.TracerProvider) *Tracer {
	return &Tracer{tracer: p.Tracer(scope), causes: map[[16]byte]string{}}
}

// Request begins the span of a request, under that of its caller if it sent a traceparent. What else a caller may send
// along (tracestate, baggage) is text of its own, and left out.
func (t *Tracer) Request(r *http.Request) (context.Context, trace.Span) {
	if t == nil {
		return r.Context(), noop.Span{}
	}
	ctx := r.Context()
	if header := r.Header.Get("Traceparent"); header != "" {
		ctx = under(ctx, header)
	}
	return t.tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
}

// Later begins the span of what was asked for by a request that is over, by what Header said of it.
func (t *Tracer) Later(ctx context.Context, header, name string, attributes ...attribute.KeyValue) (context.Context,
	trace.Span) {
	if t == nil || header == "" {
		return ctx, noop.Span{}
	}
	return t.tracer.Start(under(ctx, header), name, trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(attributes...))
}

// Caused remembers by which request an event was caused, by what Header said of it.
func (t *Tracer) Caused(event [16]byte, header string) {
	if t == nil || header == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.causes, t.order[t.next])
	t.order[t.next], t.causes[event] = event, header
	t.next = (t.next + 1) % maxCauses
}

// Call begins the span of a call that tells somebody of an event: under the request that caused it, where this process
// handled that and it was recorded.
func (t *Tracer) Call(ctx context.Context, event [16]byte, name string, attributes ...attribute.KeyValue) (
	context.Context, trace.Span) {
	if t == nil {
		return ctx, noop.Span{}
	}
	t.mu.Lock()
	header := t.causes[event]
	t.mu.Unlock()
	if header != "" {
		ctx = under(ctx, header)
	}
	return t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
}

// under makes what a traceparent names the parent of spans; one that is not well formed is no parent.
func under(ctx context.Context, header string) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": header})
}

// Header is the traceparent of a request that is recorded, for Later; else "".
func Header(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsSampled() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"]
}

// Inject passes the traceparent on to who is called.
func Inject(ctx context.Context, h http.Header) {
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(h))
}

// Start begins a span under that of the context, if that is recorded.
func Start(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, noop.Span{}
	}
	return parent.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithAttributes(attributes...))
}

// Group begins the span of what is done for several requests together: under the first that is recorded, with links to
// and from all others that are. What it gives is not cancelled with any of them.
func Group(name string, requests []context.Context) (context.Context, trace.Span) {
	ctx := context.Background()
	var first trace.Span
	var others []trace.Span
	var links []trace.Link
	for _, r := range requests {
		switch s := trace.SpanFromContext(r); {
		case !s.IsRecording():
		case first == nil:
			first = s
		default:
			others, links = append(others, s), append(links, trace.Link{SpanContext: s.SpanContext()})
		}
	}
	if first == nil {
		return ctx, noop.Span{}
	}
	ctx, group := first.TracerProvider().Tracer(scope).Start(trace.ContextWithSpan(ctx, first), name,
		trace.WithLinks(links...), trace.WithAttributes(attribute.Int("boon.commands", len(requests))))
	for _, s := range others {
		s.AddLink(trace.Link{SpanContext: group.SpanContext()})
	}
	return ctx, group
}

// End ends a span. Of an error it tells that there was one: its text may hold anything.
func End(s trace.Span, err error) {
	if err != nil {
		s.SetStatus(codes.Error, "")
	}
	s.End()
}
