// Package jwks fetches the public keys by which a host signs (JSON Web Key Sets, RFC 7517), and keeps them for a while.
package jwks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	fresh    = time.Hour        // for which a set is not asked for again
	stale    = 24 * time.Hour   // for which it is good while its host is away
	restFor  = 10 * time.Second // between two tries
	within   = 4 * time.Second  // for one
	maxBytes = 64 << 10
	maxHosts = 10_000 // then what is known of all is forgotten, and asked again
)

// ErrAway means that a host did not give its keys, and none are known that are still good.
var ErrAway = errors.New("the host does not give its public keys")

// Keys are those of any number of hosts. It is safe for concurrent use.
type Keys struct {
	client *http.Client

	mu    sync.Mutex
	hosts map[string]*host
}

// host is what is known of the keys at one address.
type host struct {
	mu           sync.Mutex
	set          jose.JSONWebKeySet
	asked, known time.Time // when it was asked last, and when it told
}

// New makes keys that a client fetches. Which addresses may be called is the client's to say.
func New(client *http.Client) *Keys { return &Keys{client: client, hosts: map[string]*host{}} }

// Find gives the key of an address by its id; false: there is none. A key that is not known has the address be asked
// again, but not more often than every ten seconds: whoever sends ids that nobody has makes no calls with them.
func (k *Keys) Find(ctx context.Context, address, id string, now time.Time) (jose.JSONWebKey, bool, error) {
	k.mu.Lock()
	h := k.hosts[address]
	if h == nil {
		if len(k.hosts) >= maxHosts {
			clear(k.hosts)
		}
		h = new(host)
		k.hosts[address] = h
	}
	k.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	found := h.set.Key(id)
	if (len(found) == 0 || now.Sub(h.known) > fresh) && now.Sub(h.asked) > restFor {
		h.asked = now
		if set, err := k.fetch(ctx, address); err == nil {
			h.set, h.known = set, now
			found = set.Key(id)
		} else if h.known.IsZero() {
			return jose.JSONWebKey{}, false, fmt.Errorf("%w: %w", ErrAway, err)
		}
	}
	switch {
	case h.known.IsZero() || now.Sub(h.known) > stale:
		return jose.JSONWebKey{}, false, ErrAway
	case len(found) == 0:
		return jose.JSONWebKey{}, false, nil
	}
	return found[0], true, nil
}

func (k *Keys) fetch(ctx context.Context, address string) (set jose.JSONWebKeySet, _ error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within) // the keys serve whoever comes later, too
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return set, err
	}
	answer, err := k.client.Do(r)
	if err != nil {
		return set, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return set, fmt.Errorf("asking for public keys: status %d", answer.StatusCode)
	}
	return set, json.NewDecoder(io.LimitReader(answer.Body, maxBytes)).Decode(&set)
}
