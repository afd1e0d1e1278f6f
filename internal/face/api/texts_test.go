package api_test

import (
	"crypto/rand"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"boon.example/internal/face/api"

	"boon.example/internal/store/pgtest"
)

// texts is a service that tells over which text it makes the fingerprint of a request.
type texts struct {
	*world
	last *atomic.Pointer[string]
}

func newTexts(t *testing.T) texts {
	last := new(atomic.Pointer[string])
	return texts{newWorld(t, func(c *config) {
		made := c.Fingerprint
		c.Fingerprint = func(text []byte) [32]byte {
			said := string(text)
			last.Store(&said)
			return made(text)
		}
	}), last}
}

// of is the text of a request; "": the request was refused before it had one.
func (w texts) of(operation, body string) string {
	w.last.Store(nil)
	w.post(operation, body, once(rand.Text())...)
	if text := w.last.Load(); text != nil {
		return *text
	}
	return ""
}

// TestTextsStay: a call that an earlier version recorded must be known again, so the text behind a fingerprint stays.
// The file has requests of plain operations, each with its text in the next line; TestFingerprintsStay has the others.
// go generate adds the examples of the OpenAPI file that are not in the file, and changes nothing of it.
func TestTextsStay(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	kept, err := os.ReadFile(api.TextsThatStay)
	if err != nil {
		t.Fatal(err)
	}
	w, has := newTexts(t), map[string]bool{}
	for record := range strings.SplitSeq(strings.TrimSpace(string(kept)), "\n\n") {
		request, text, _ := strings.Cut(record, "\n")
		has[request] = true
		operation, body, _ := strings.Cut(request, " ")
		if now := w.of(operation, body); now != text {
			t.Errorf("the text of %s became\n%s", request, now)
		}
	}
	for _, operation := range plainOperations() {
		for _, body := range exampleRequests(operation, nowhere) {
			request := operation + " " + body
			if text := w.of(operation, body); !has[request] && text != "" && api.Updating() {
				has[request] = true
				kept = append(kept, "\n"+request+"\n"+text+"\n"...)
			} else if !has[request] {
				t.Errorf("%s lacks the text of %s: go generate ./internal/face/api", api.TextsThatStay, request)
			}
		}
	}
	if api.Updating() {
		if err := os.WriteFile(api.TextsThatStay, kept, 0o644); err != nil { //nolint:gosec // a file of the repository
			t.Fatal(err)
		}
	}
}
