package sdk_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// line is one before a service. It hands calls on; those that trouble is told of get no answer.
type line struct {
	*httptest.Server
	t       *testing.T
	folder  string // of the samples, where they keep their keys
	trouble func(r *http.Request, body []byte) (hold, lose bool)

	mu     sync.Mutex
	tries  map[string][]string // the keys of the attempts at an address, in their order; not those that undo
	unkept map[string]bool     // the addresses that were called with a key that was in no file
	undone map[string]int      // what the service said to the undoing of a key
}

func newLine(t *testing.T, to, folder string, trouble func(*http.Request, []byte) (hold, lose bool)) *line {
	t.Helper()
	address, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	l := &line{t: t, folder: folder, trouble: trouble, tries: map[string][]string{}, unkept: map[string]bool{},
		undone: map[string]int{}}
	on := httputil.NewSingleHostReverseProxy(address)
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { l.carry(on, w, r) }))
	t.Cleanup(l.Close)
	return l
}

func (l *line) carry(on http.Handler, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller has hung up
	}
	l.mu.Lock()
	key := r.Header.Get("Idempotency-Key")
	if undoes(body) == "" {
		l.tries[r.URL.Path] = append(l.tries[r.URL.Path], key)
		if !l.kept(key) {
			l.unkept[r.URL.Path] = true
		}
	}
	hold, lose := l.trouble(r, body)
	l.mu.Unlock()
	if hold {
		<-r.Context().Done() // until the caller hangs up
		return
	}
	said := httptest.NewRecorder()
	r.Body = io.NopCloser(bytes.NewReader(body))
	on.ServeHTTP(said, r)
	if lose {
		panic(http.ErrAbortHandler)
	}
	l.mu.Lock()
	if original := undoes(body); original != "" {
		l.undone[original] = said.Code
	}
	l.mu.Unlock()
	for name, values := range said.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(said.Code)
	_, _ = w.Write(said.Body.Bytes())
}

// kept tells whether a file of the samples has a key.
func (l *line) kept(key string) bool {
	files, _ := filepath.Glob(l.folder + "/*.key") // the pattern is sound
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.TrimSpace(string(text)) == key
	})
}

// undoes is the key of the call that a body undoes; "": it undoes none by its key.
func undoes(body []byte) string {
	var members struct{ IdempotencyKey string }
	_ = json.Unmarshal(body, &members) // a body that is none undoes nothing
	return members.IdempotencyKey
}

// keyed are the addresses of the operations that take an Idempotency-Key, by operation.
func keyed(t *testing.T) map[string]string {
	t.Helper()
	var file struct {
		Paths map[string]map[string]struct {
			OperationID string
			Parameters  []struct {
				Ref string `json:"$ref"`
			}
		}
	}
	if err := json.Unmarshal([]byte(read(t, "../../internal/face/api/openapi.json")), &file); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for at, methods := range file.Paths {
		for _, o := range methods {
			for _, p := range o.Parameters {
				if strings.Contains(p.Ref, "IdempotencyKey") {
					all[o.OperationID] = at
				}
			}
		}
	}
	if len(all) < 20 {
		t.Fatalf("%d operations take a key", len(all))
	}
	return all
}

// losesAnswers has every sample that changes something lose its answers. It keeps its key before the first attempt,
// makes three with it, and what a guest waits for is then undone by it.
func (p *played) losesAnswers(t *testing.T, address string, operations map[string]string) {
	folder := t.TempDir()
	l := newLine(t, address, folder, func(_ *http.Request, body []byte) (hold, lose bool) {
		return false, undoes(body) == ""
	})
	p.play(t, folder, l.URL, slices.Collect(maps.Keys(operations)))
	for id, at := range operations {
		tries := l.tries[at]
		if len(tries) < 3 || len(slices.Compact(slices.Clone(tries))) > 1 || l.unkept[at] {
			t.Errorf("%s: tries under the keys %q, which it has not kept: %t", id, tries, l.unkept[at])
			continue
		}
		switch path.Base(at) {
		case "redeem-gift", "capture-hold", "cash-out-gift", "hold-gift", "reload-gift", "activate-gift":
			if said := l.undone[tries[0]]; said != http.StatusOK && said != http.StatusNotFound {
				t.Errorf("%s is not undone: %d", id, said)
			}
		}
	}
}

// waitsForEver: a sample waits for no answer that does not come. It hangs up, and then repeats the call.
func (p *played) waitsForEver(t *testing.T, address string) {
	operations := []string{"redeemGift", "validateGift", "getGift"}
	held, folder := map[string]bool{}, t.TempDir()
	l := newLine(t, address, folder, func(r *http.Request, _ []byte) (hold, lose bool) {
		hold = !held[r.URL.Path]
		held[r.URL.Path] = true
		return hold, false
	})
	p.play(t, folder, l.URL, operations)
	for at, tries := range l.tries {
		if len(tries) < 2 || tries[0] != tries[1] {
			t.Errorf("%s: tries %q", at, tries)
		}
	}
	if len(l.tries) != len(operations) {
		t.Errorf("calls of %v", l.tries)
	}
}
