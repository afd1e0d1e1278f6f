package server

import (
	"crypto/sha256"
	"net/http"
	"strings"
	"sync"

	"boon.example/internal/api"
	"boon.example/internal/clientip"
	"boon.example/internal/guid"
	"boon.example/internal/provider"
	"boon.example/internal/till"
	"boon.example/internal/web"
)

// admitted admits requests for pages: the interface admits its own calls itself, and the operator's addresses always
// answer. A request for a PDF waits for a printer, and keeps no place meanwhile; nor does a report of a gateway or what
// a till posts, since anybody may send one slowly, and what it proves is known only when all of it has come.
func (a *app) admitted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case path == "/healthz", path == "/readyz", path == "/metrics", strings.HasPrefix(path, "/api/"),
			strings.HasSuffix(path, web.PrintPath), strings.HasPrefix(path, "/hooks/"),
			strings.HasPrefix(path, provider.Path),
			strings.HasPrefix(path, till.Path+"/api/"), r.Method == http.MethodPost && strings.HasPrefix(path, till.Path+"/"):
			next.ServeHTTP(w, r)
			return
		}
		party := a.guests(r)
		if !a.admission.Enter(r.Context(), party, api.PriorityRead) {
			a.overloaded(w, r)
			return
		}
		leave := sync.OnceFunc(func() { a.admission.Leave(party, api.PriorityRead) })
		defer leave()
		next.ServeHTTP(&leavingWriter{w, leave}, r)
	})
}

// guests are those of one network, who take turns with accounts and with other networks.
func (a *app) guests(r *http.Request) (party guid.ID) {
	sum := sha256.Sum256([]byte(clientip.Network(a.Proxies.Client(r))))
	copy(party[:], sum[:])
	return party
}

// leavingWriter ends a call's time in flight when its answer begins: how long that takes is up to the caller.
type leavingWriter struct {
	http.ResponseWriter
	leave func()
}

func (w *leavingWriter) Write(b []byte) (int, error) {
	w.leave()
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *leavingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// overloaded answers a request that was not admitted: a program in the words of the interface, a person in plain ones.
func (a *app) overloaded(w http.ResponseWriter, r *http.Request) {
	if !web.AsksForHTML(r) {
		a.api.Overloaded(w, r)
		return
	}
	note(r.Context(), api.Event{Overloaded: true})
	w.Header().Set("Retry-After", "1")
	w.Header().Set("Refresh", "2") // the browser asks again by itself
	writeText(w, http.StatusServiceUnavailable, "Many people are here at the moment. Please try again in a few seconds.")
}
