// Package boontest gives tests what most of them begin with: a store of the test's own on the database that pgtest
// names, the example merchant, and a running service.
package boontest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/face/api"
	"boon.example/internal/face/api/contract"
	"boon.example/internal/server"
	"boon.example/internal/service"
	"boon.example/internal/setup"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
	"boon.example/internal/store/storetest"
)

// Place is where a store lies.
type Place struct{ Data, Database string }

// NewPlace is a place with a new store, which is gone when the test ends.
func NewPlace(t testing.TB) Place {
	t.Helper()
	p := Place{t.TempDir(), pgtest.Database(t)}
	if p.Database == "" {
		storetest.Copy(t, p.Data)
	}
	return p
}

// example is a store with the example merchant.
var example = storetest.NewTemplate(func(ctx context.Context, dir string) error {
	s, err := store.Open(ctx, store.Options{Dir: dir})
	if err == nil {
		err = errors.Join(apply(ctx, s, examples.HarborCoffee()), s.Close())
	}
	return err
})

// ExamplePlace is a place with the example merchant.
func ExamplePlace(t testing.TB) Place {
	t.Helper()
	p := Place{t.TempDir(), pgtest.Database(t)}
	if p.Database == "" {
		example.Copy(t, p.Data)
	} else {
		p.Apply(t, examples.HarborCoffee())
	}
	return p
}

// Open opens the store until the test ends.
func (p Place) Open(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: p.Data, Database: p.Database, GiftCache: 1 << 20})
	if err != nil {
		t.Fatalf("opening the store: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Use uses the store as another process would.
func (p Place) Use(t testing.TB, use func(*store.Store) error) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: p.Data, Database: p.Database})
	if err != nil {
		t.Fatalf("opening the store: %v", err)
	}
	defer s.Close()
	if err := use(s); err != nil {
		t.Fatal(err)
	}
}

// Apply applies a set-up file as another process would.
func (p Place) Apply(t testing.TB, file []byte) {
	t.Helper()
	p.Use(t, func(s *store.Store) error { return apply(t.Context(), s, file) })
}

func apply(ctx context.Context, s *store.Store, file []byte) error {
	f, err := setup.ParseDemo("setup.yaml", file)
	if err == nil {
		_, err = f.Apply(ctx, s, time.Now(), rand.Reader)
	}
	return err
}

// Service is one that runs until the test ends or Stop is called.
type Service struct {
	Place
	URL, Address string
	Log          *Log
	Stop         func() error // and wait
}

// Example is a service over a place of its own, with the example merchant.
func Example(t testing.TB, c server.Config) *Service {
	t.Helper()
	return ExamplePlace(t).Serve(t, c, new(Log))
}

// Serve runs a service on what is in the place.
func (p Place) Serve(t testing.TB, c server.Config, log *Log) *Service {
	t.Helper()
	c.Listen, c.Data, c.Database = "127.0.0.1:0", p.Data, p.Database
	if c.Logger == nil {
		c.Logger = slog.New(slog.NewJSONHandler(log, nil))
	}
	ready, ended := make(chan string, 1), make(chan error, 1)
	c.Ready = func(address string) { ready <- address }
	if c.Around == nil {
		c.Around = held(t, c.WebhooksAllow != nil)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { ended <- server.Run(ctx, c) }()
	s := &Service{Place: p, Log: log, Stop: sync.OnceValue(func() error {
		cancel()
		return <-ended
	})}
	select {
	case s.Address = <-ready:
	case err := <-ended:
		cancel()
		t.Fatalf("the server did not start: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("the service ended with %v", err)
		}
	})
	s.URL = "http://" + s.Address
	if c.Certificate != nil {
		s.URL = "https://" + s.Address
	}
	return s
}

// documents are both OpenAPI files, read once for all tests.
var documents struct {
	once    sync.Once
	checker *contract.Checker
}

// held holds the calls of the interface that go through a service against both OpenAPI files, but for bodies that come
// in pieces or are too long, which the service reads in its own way, and webhooks that an operator lets be plain HTTP.
func held(t testing.TB, plainHooks bool) func(http.Handler) http.Handler {
	documents.once.Do(func() {
		const address = "https://gifts.example.com"
		newer, older := api.OpenAPI(service.Version, address), api.OpenAPI30(service.Version, address)
		documents.checker = contract.New(t, newer).WithOlder(older)
	})
	checker := documents.checker.For(t)
	return func(served http.Handler) http.Handler {
		checked := checker.Handler(served)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			odd := r.ContentLength < 0 || r.ContentLength > 1<<20 || r.Header.Get("Expect") != "" ||
				plainHooks && strings.Contains(r.URL.Path, "/webhooks")
			if !odd && strings.HasPrefix(r.URL.Path, "/api/") && checker.Knows(r) {
				checked.ServeHTTP(w, r)
			} else {
				served.ServeHTTP(w, r)
			}
		})
	}
}

// Log collects what is logged.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
