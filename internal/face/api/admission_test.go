package api_test

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"boon.example/internal/base/admission"
	"boon.example/internal/face/api"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/store/pgtest"
)

// gate admits calls, or none, and notes what it was asked.
type gate struct {
	closed bool
	left   chan struct{} // told of every call that leaves; may be nil
	mu     sync.Mutex
	asked  []string
}

func (g *gate) note(what string, p admission.Priority) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, what+" "+p.String())
}

func (g *gate) Enter(_ context.Context, _ admission.Party, p admission.Priority) bool {
	g.note("enter", p)
	return !g.closed
}

func (g *gate) Leave(_ admission.Party, p admission.Priority) {
	g.note("leave", p)
	select {
	case g.left <- struct{}{}:
	default:
	}
}

func (*gate) Busy() bool { return false }

func (g *gate) forget() (asked []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	asked, g.asked = g.asked, nil
	return asked
}

// TestAdmission: every operation is handled within its admission, whatever comes of it; who shows no key does not come
// so far.
func TestAdmission(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	g := &gate{}
	w := newWorld(t, func(c *config) { c.Admission = g })
	w.post("redeem-gift", "{}", as("boon_test_wrong")...).refused(401, refusal.Unauthenticated, "")
	if asked := g.forget(); len(asked) > 0 {
		t.Errorf("without a key: %v", asked)
	}
	for _, r := range api.Routes() {
		path := strings.NewReplacer("{voucherID}", harbor, "{key}", "k").Replace(r.Pattern)
		answer := w.do(r.Method, path, "{}")
		if asked, want := g.forget(), []string{"enter " + r.Priority.String(),
			"leave " + r.Priority.String()}; !slices.Equal(asked, want) {
			t.Errorf("%s: %v, want %v (%d)", path, asked, want, answer.status)
		}
	}
}

// TestOrdersThatWaitKeepNoPlace: a large order may be held back for half a minute, and other calls have its place
// meanwhile.
func TestOrdersThatWaitKeepNoPlace(t *testing.T) {
	t.Parallel()
	g := &gate{left: make(chan struct{}, 1)}
	w := newWorld(t, func(c *config) { c.Admission = g })
	release := sync.OnceFunc(w.hold())
	defer release()
	done := make(chan reply)
	go func() { done <- w.post("send-gift", order(17), once("large")...) }()
	select {
	case <-g.left:
	case <-done:
		t.Fatal("it was answered before the store could be written to")
	}
	release()
	(<-done).want(201)
}

// TestOverload: a call that is not admitted is answered as the OpenAPI file says, and has changed nothing.
func TestOverload(t *testing.T) {
	t.Parallel()
	g := &gate{}
	w := newWorld(t, func(c *config) { c.Admission = g })
	sold := w.send(ofMoney("25"))
	g.closed = true
	for _, r := range api.Routes() {
		path := strings.NewReplacer("{voucherID}", harbor, "{key}", "k").Replace(r.Pattern)
		body := redeemBody(sold, "1")
		got := w.do(r.Method, path, body, "X-Request-ID", "till-4", "Idempotency-Key", "k")
		got.refused(503, refusal.Unavailable)
		if got.header.Get("Retry-After") != "1" || got.at("requestID") != "till-4" {
			t.Errorf("%s %s: %v %s", r.Method, path, got.header, got.body)
		}
	}
	w.mu.Lock()
	for _, e := range w.events[len(w.events)-len(api.Routes()):] {
		if !e.Overloaded {
			t.Errorf("an event does not say that the call was not admitted: %+v", e)
		}
	}
	w.mu.Unlock()
	g.closed = false
	w.redeem(sold, "25", "Idempotency-Key", "k").want(200, "currentBalance", "0.00")
}

// TestOverloadBesideOperations: what is not an operation is refused in the same words.
func TestOverloadBesideOperations(t *testing.T) {
	t.Parallel()
	refusing := config{Config: service.Config{PublicURL: "https://gifts.example.com",
		Admission: &gate{closed: true}}}.handler()
	server := httptest.NewServer(checked(t, refusing))
	defer server.Close()
	w := &world{TB: t, server: server}
	for _, path := range []string{"/openapi.json", "/openapi-3.0.json", "/docs", "/docs/errors",
		"/docs/assets/docs.css", "/docs/tickets", "/docs/reference/redeemGift"} {
		w.do("GET", path, "").refused(503, refusal.Unavailable)
	}
}
