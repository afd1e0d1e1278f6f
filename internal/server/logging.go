package server

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"boon.example/internal/base/clientip"
	"boon.example/internal/base/span"
	"boon.example/internal/face/web"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/service"
)

// eventKey is under which the request's service.Event travels from observe to note.
type eventKey struct{}

// note is how the interface tells what a request came to.
func note(ctx context.Context, e service.Event) {
	if noted, ok := ctx.Value(eventKey{}).(*service.Event); ok {
		*noted = e
	}
}

// observe names each request, writes one log line for it and counts it. Neither ever holds a path or a query: they
// may be secrets; the route is the pattern that matched.
func (a *app) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun, event := time.Now(), &service.Event{RequestID: service.Identify(w, r)}
		ctx, traced := a.telemetry.Tracer.Request(r)
		r = r.WithContext(context.WithValue(ctx, eventKey{}, event))
		answer := &statusWriter{ResponseWriter: w}
		defer func() {
			p := recover()
			if p != nil && p != http.ErrAbortHandler {
				a.Logger.Error("panic", "route", route(r), "panic", p)
				if answer.status == 0 {
					a.fail(answer, r, http.StatusInternalServerError)
				}
			}
			if !event.Overloaded { // a line in the log would cost more than all the rest of a refusal
				took := time.Since(begun)
				if !event.Rehearsed { // nobody is to be woken for it
					a.metrics.request(route(r), answer.code(), took)
				}
				a.metrics.codes.Add(float64(event.Codes))
				a.log(r, answer.code(), took, event)
			}
			tell(traced, r, answer.code(), event)
			if !event.KeyID.IsZero() {
				a.keyUses.note(event.KeyID, begun)
			}
			if p == http.ErrAbortHandler {
				panic(p)
			}
		}()
		if a.stopping.Load() {
			w.Header().Set("Connection", "close")
		}
		if r.TLS != nil && !isLoopback(a.publicHost()) {
			w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(answer, r)
	})
}

// tell ends the span of a request.
func tell(s trace.Span, r *http.Request, status int, e *service.Event) {
	if s.IsRecording() {
		method := r.Method
		if !slices.Contains(methods, method) {
			method = "_OTHER" // what a caller made up
		}
		s.SetName(method + " " + route(r))
		s.SetAttributes(attribute.String("http.request.method", method), attribute.String("http.route", route(r)),
			attribute.Int("http.response.status_code", status), attribute.String("boon.code", string(e.Code)))
		if !e.AccountID.IsZero() {
			s.SetAttributes(attribute.String("boon.account", e.AccountID.String()))
		}
	}
	span.End(s, e.Err)
}

// methods are those that something is served for.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
	http.MethodDelete}

func (a *app) log(r *http.Request, status int, took time.Duration, e *service.Event) {
	level := slog.LevelInfo
	attrs := append(make([]slog.Attr, 0, 12),
		slog.String("route", route(r)), slog.Int("status", status),
		slog.Float64("ms", float64(took.Microseconds())/1000), slog.String("requestID", e.RequestID),
		slog.String("network", clientip.Network(a.Proxies.Client(r))))
	text := func(name, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(name, value))
		}
	}
	id := func(name string, id guid.ID) {
		if !id.IsZero() {
			text(name, id.String())
		}
	}
	id("account", e.AccountID)
	id("location", e.LocationID)
	id("key", e.KeyID)
	text("keyName", e.KeyName)
	if s := trace.SpanContextFromContext(r.Context()); s.IsSampled() {
		attrs = append(attrs, slog.String("trace", s.TraceID().String()))
	}
	text("person", e.Person)
	if e.DryRun {
		attrs = append(attrs, slog.Bool("dryRun", true))
	}
	if e.Codes > 0 {
		attrs = append(attrs, slog.Int("codes", e.Codes))
	}
	text("code", string(e.Code))
	if e.Rehearsed {
		attrs = append(attrs, slog.Bool("rehearsed", true))
	}
	if text("warning", e.Warning); e.Warning != "" {
		level = slog.LevelWarn
	}
	if e.Err != nil {
		level = slog.LevelError
		text("error", e.Err.Error())
	}
	a.Logger.LogAttrs(r.Context(), level, "request", attrs...)
}

// guessAlarm counts and logs that an API key seems to be used for guessing voucher codes.
func (a *app) guessAlarm(ctx context.Context, at merchant.Till) {
	a.metrics.guessing.Inc()
	name := a.directory.Load().KeyName(at.KeyID)
	a.Logger.WarnContext(ctx, "somebody may be guessing voucher codes: an API key tried too many wrong ones",
		"key", name, "keyID", at.KeyID.String(), "account", at.AccountID.String(), "location", at.LocationID.String())
}

// pinLimited counts and logs that somebody's PIN is paused, at a till or at all of an account's.
func (a *app) pinLimited(ctx context.Context, at merchant.Till) {
	a.metrics.pins.Inc()
	where := "at this till"
	if at.LocationID.IsZero() {
		where = "at all tills of the account"
	}
	a.Logger.WarnContext(ctx, "somebody may be guessing a PIN: it is paused after too many wrong ones", "where", where,
		"key", a.directory.Load().KeyName(at.KeyID), "keyID", at.KeyID.String(), "account", at.AccountID.String())
}

// route is the pattern that matched, one of a closed set.
func route(r *http.Request) string {
	return cmp.Or(r.Pattern, "none")
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		// neither a page nor the interface: the mux itself, with a redirect
		if h := w.Header(); h.Get("X-Content-Type-Options") == "" {
			web.SetHeaders(h)
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *statusWriter) code() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}
