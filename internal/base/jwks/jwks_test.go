package jwks_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"boon.example/internal/base/jwks"
)

// TestKeys: a key is found while its host tells it, and for a day after; a key that nobody has makes one call in ten
// seconds.
func TestKeys(t *testing.T) {
	t.Parallel()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	var away atomic.Bool
	var told atomic.Pointer[[]string]
	told.Store(&[]string{"first"})
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		if away.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		var set jose.JSONWebKeySet
		for _, id := range *told.Load() {
			set.Keys = append(set.Keys, jose.JSONWebKey{Key: &private.PublicKey, KeyID: id, Algorithm: "RS256", Use: "sig"})
		}
		_ = json.NewEncoder(w).Encode(set) // a cut answer fails the test
	}))
	t.Cleanup(host.Close)
	keys, begun := jwks.New(host.Client()), time.Now()
	for _, step := range []struct {
		what  string
		after time.Duration
		ids   []string // nil: the host is away
		id    string
		found bool
		away  bool
		calls int64
	}{
		{"away from the start", 0, nil, "first", false, true, 1},
		{"asked again too soon", time.Second, []string{"first"}, "first", false, true, 1},
		{"there", 11 * time.Second, []string{"first"}, "first", true, false, 2},
		{"kept", 12 * time.Second, []string{"first"}, "first", true, false, 2},
		{"an unknown id asks once", 30 * time.Second, []string{"first"}, "nobody", false, false, 3},
		{"and not again", 31 * time.Second, []string{"first"}, "nobody", false, false, 3},
		{"a new key", time.Minute, []string{"first", "second"}, "second", true, false, 4},
		{"a key that was taken away", 2 * time.Hour, []string{"second"}, "first", false, false, 5},
		{"away for hours", 20 * time.Hour, nil, "second", true, false, 6},
		{"away for more than a day", 27 * time.Hour, nil, "second", false, true, 7},
		{"back", 28 * time.Hour, []string{"second"}, "second", true, false, 8},
	} {
		away.Store(step.ids == nil)
		told.Store(&step.ids)
		_, found, err := keys.Find(context.Background(), host.URL, step.id, begun.Add(step.after))
		if found != step.found || errors.Is(err, jwks.ErrAway) != step.away || calls.Load() != step.calls {
			t.Errorf("%s: found %v, %v, after %d calls", step.what, found, err, calls.Load())
		}
	}
}
