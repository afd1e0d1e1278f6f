package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"boon.example/internal/base/jwks"
	"boon.example/internal/base/nice"
	"boon.example/internal/base/openid"
	"boon.example/internal/face/agent"
	"boon.example/internal/face/api"
	"boon.example/internal/face/api/manage"
	"boon.example/internal/face/console"
	consolesetup "boon.example/internal/face/console/setup"
	"boon.example/internal/face/console/signin"
	"boon.example/internal/face/provider"
	"boon.example/internal/face/provider/saleor"
	"boon.example/internal/face/provider/toast"
	"boon.example/internal/face/provider/vtex"
	"boon.example/internal/face/provider/wix"
	"boon.example/internal/face/till"
	"boon.example/internal/face/web"
	"boon.example/internal/guid"
	"boon.example/internal/post/print"
	"boon.example/internal/post/webhook"
	"boon.example/internal/store"
)

// faces puts what the service serves side by side. Each face says itself which calls need a place, and how urgent they
// are.
func (a *app) faces() http.Handler {
	pages := web.Config{PublicURL: a.PublicURL, Gifts: a.store, Directory: a.directory.Load, Log: a.Logger,
		Fonts: a.Fonts, Printer: a.printer, Order: a.store.OrderBySheet, Clock: a.store.Clock, Away: a.store.Away,
		Phones: a.store, Proofs: a.store.Keys(), Registered: a.phones.Registered,
		Guests: a.store, Email: a.carriers.email != nil, SMS: a.carriers.sms != nil,
		SameOrigin: func(next http.Handler) http.Handler {
			return a.service.SameOrigin("A page of another origin may do nothing here.", next)
		},
		ClientAddress: a.Proxies.Client, Fail: a.service.Fail, Admit: a.service.Page}
	if a.Outbox {
		pages.Messages = newOutbox(a.store, a.gateways())
	}
	a.api = api.New(api.Config{Service: a.service, Records: a.store, Cursors: a.store.Keys(),
		Email: a.carriers.email != nil, SMS: a.carriers.sms != nil, CatchUp: a.catchUp, Sheets: pages.Sheets,
		Printable: cmp.Or(a.Fonts, print.BuiltIn()).Prints, Hooks: hookStore{a.store, a}, HooksAllow: a.WebhooksAllow,
		Imports: a.imports()})
	mux := http.NewServeMux()
	a.api.Register(mux)
	site := web.Handler(pages)
	mux.Handle("/", site)
	if a.Outbox && !a.OutboxAnyway { // it has every code in it
		own := a.direct(a.atLoopback(site.ServeHTTP))
		mux.Handle("/outbox", own)
		mux.Handle("/outbox/", own)
	}
	a.operator(mux)
	a.tills(mux)
	a.console(mux)
	a.platforms(mux)
	mux.Handle(agent.Path, agent.Handler(agent.Config{Service: a.service, Operations: a.api.Operations(),
		OpenAPI: func() []byte { return api.OpenAPI(a.Version, a.PublicURL) }}))
	return a.service.Front(mux, api.Root, provider.Path)
}

// imports has gifts of other systems be written beside the calls.
func (a *app) imports() manage.ImportConfig {
	return manage.ImportConfig{Store: a.store, Folder: a.Data,
		Background: func(run func(context.Context)) {
			a.background.Go(func() { run(nice.LongBackground(a.running, a.admission.Busy)) })
		},
		Failed: func(account, importID guid.ID, err error) {
			a.Logger.Error("an import stopped", "account", account, "import", importID, "error", err)
		}}
}

// operator adds what the operator asks, and the reports of gateways. These are always answered.
func (a *app) operator(mux *http.ServeMux) {
	a.hooks(mux)
	alive := strings.Join(strings.Fields("alive "+a.Version+" "+a.Commit), " ")
	mux.Handle("/healthz", a.reads(func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, alive) }))
	mux.Handle("/readyz", a.reads(a.ready))
	if a.AdminListen == "" && !a.beyond { // it tells too much of the service for other machines
		mux.Handle("/metrics", a.reads(a.direct(a.metrics.handler().ServeHTTP)))
	}
}

// forwarded are the headers by which a proxy says that it passes a request on.
var forwarded = []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Forwarded", "Via"}

// direct is for this machine only: what a proxy passes on is not there, as it may be anybody's.
func (a *app) direct(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if slices.ContainsFunc(forwarded, func(name string) bool { return len(r.Header.Values(name)) > 0 }) {
			a.fail(w, r, http.StatusNotFound)
			return
		}
		next(w, r)
	}
}

// atLoopback is for pages of this machine only: what asks for another host's is not there, as a name of anybody's may
// lead a browser here.
func (a *app) atLoopback(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = strings.Trim(r.Host, "[]")
		}
		if !isLoopback(host) {
			a.fail(w, r, http.StatusNotFound)
			return
		}
		next(w, r)
	}
}

// platforms adds the protocols of platforms.
func (a *app) platforms(mux *http.ServeMux) {
	mux.Handle(provider.Path+"toast/{provider}", toast.Handler(a.service))
	mux.Handle(provider.Path+"wix/{provider}/v1/{method}", wix.Handler(a.service))
	mux.Handle(provider.Path+"vtex/{provider}/{path...}", vtex.Handler(a.service))
	mux.Handle(provider.Path+"vtex/{provider}", vtex.Handler(a.service)) // else the mux leads here from there, and back
	guard := &webhook.Guard{Allow: a.WebhooksAllow}
	mux.Handle(provider.Path+"saleor/{provider}/{call}", saleor.Handler(a.service, jwks.New(guard.Client())))
}

// tills adds the tills.
func (a *app) tills(mux *http.ServeMux) {
	tills := till.Handler(till.Config{PublicURL: a.PublicURL, Service: a.service, Operations: a.api.Operations(),
		Store: a.store, Directory: a.directory.Load, Refresh: a.readSetup, Keys: a.store.Keys(), Day: a.TillDay,
		PINLimited: a.pinLimited})
	mux.Handle(till.Path, tills)
	mux.Handle(till.Path+"/", tills)
}

// console adds the console.
func (a *app) console(mux *http.ServeMux) {
	pages := console.Handler(console.Config{PublicURL: a.PublicURL, Service: a.service, Operations: a.api.Operations(),
		Store: a.store, Directory: a.directory.Load, Keys: a.store.Keys(), Reading: a.api.Reading(), Beginner: beginner{a},
		Email: a.carriers.email != nil, SMS: a.carriers.sms != nil, Provider: a.provider(), Log: a.Logger,
		Setup: consolesetup.Config{Store: a.store, Directory: a.directory.Load, Refresh: a.seeSetup,
			WebhooksAllow: a.WebhooksAllow, Sample: a.sample}})
	mux.Handle(console.Path, pages)
	mux.Handle(console.Path+"/", pages)
}

// provider is the OpenID Connect provider that staff sign in with; nil: there is none.
func (a *app) provider() *openid.Provider {
	if a.OpenID == nil {
		return nil
	}
	c := *a.OpenID
	c.Redirect = signin.ProviderLink(a.PublicURL)
	return openid.New(c)
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
	a.service.Fail(w, r, status)
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
