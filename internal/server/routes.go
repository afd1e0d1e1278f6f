package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"boon.example/internal/provider"
	"boon.example/internal/provider/toast"
	"boon.example/internal/provider/vtex"
	"boon.example/internal/provider/wix"
	"boon.example/internal/store"
	"boon.example/internal/till"
	"boon.example/internal/web"
)

// routes puts the operator's addresses and the gateways' reports beside the pages. The interface, which stands before
// them, sends on what is not its own.
func (a *app) routes(pages http.Handler) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("/", pages)
	a.hooks(mux)
	alive := strings.Join(strings.Fields("alive "+a.Version+" "+a.Commit), " ")
	mux.Handle("/healthz", a.reads(func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, alive) }))
	mux.Handle("/readyz", a.reads(a.ready))
	if a.AdminListen == "" && !a.beyond { // it tells too much of the service for other machines
		mux.Handle("/metrics", a.reads(a.metrics.handler().ServeHTTP))
	}
	return mux
}

// platforms puts the protocols of platforms beside the pages. What they ask goes through the interface's desk.
func (a *app) platforms(mux *http.ServeMux) {
	mux.Handle(provider.Path+"toast/{provider}", toast.Handler(a.api))
	mux.Handle(provider.Path+"wix/{provider}/v1/{method}", wix.Handler(a.api))
	mux.Handle(provider.Path+"vtex/{provider}/{path...}", vtex.Handler(a.api))
	mux.Handle(provider.Path+"vtex/{provider}", vtex.Handler(a.api)) // else the mux leads here from there, and back
}

// tills puts the tills beside the pages. What they ask goes through the interface.
func (a *app) tills(mux *http.ServeMux) {
	tills := till.Handler(till.Config{PublicURL: a.PublicURL, API: a.api, Store: a.store, Directory: a.directory.Load,
		Refresh: a.readSetup, Keys: a.store.Keys(), Day: a.TillDay, PINLimited: a.pinLimited})
	mux.Handle(till.Path, tills)
	mux.Handle(till.Path+"/", tills)
}

func (a *app) adminMux() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", a.reads(a.metrics.handler().ServeHTTP))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { a.fail(w, r, http.StatusNotFound) })
	return mux
}

// fail answers with a problem document.
func (a *app) fail(w http.ResponseWriter, r *http.Request, status int) {
	web.SetHeaders(w.Header())
	a.api.Fail(w, r, status)
}

// reads refuses every method but GET and HEAD.
func (a *app) reads(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			a.fail(w, r, http.StatusMethodNotAllowed)
			return
		}
		next(w, r)
	})
}

// ready tells a load balancer whether to send calls here.
func (a *app) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	if a.stopping.Load() {
		writeText(w, http.StatusServiceUnavailable, "stopping")
		return
	}
	if err := a.store.Ping(ctx); err != nil {
		a.Logger.Warn("not ready", "error", err)
		w.Header().Set("Retry-After", "1")
		why := "the store cannot be reached"
		if errors.Is(err, store.ErrUnserved) {
			why = "the schema of the database does not serve this program; the log says more"
		}
		writeText(w, http.StatusServiceUnavailable, why)
		return
	}
	text := "ready"
	if s := a.restored.Load().String(); s != "" {
		text += "; " + s
	}
	writeText(w, http.StatusOK, text)
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	fmt.Fprintln(w, text)
}
