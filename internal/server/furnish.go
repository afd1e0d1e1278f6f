package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"boon.example/internal/api"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/store"
	"boon.example/internal/web"
)

// furnish starts everything behind the listener.
func furnish(ctx context.Context, c Config, s *store.Store) (*house, error) {
	h := &house{Config: c, store: s, metrics: newMetrics(), connections: newConnections(connectionsFor(descriptors()))}
	if err := h.readSetup(ctx); err != nil {
		return nil, err
	}
	h.admission = newAdmission(maxInFlight, func(p api.Priority) { h.metrics.refused.WithLabelValues(p.String()).Inc() })
	h.auditor = h.newAuditor()
	var under ledger.Store = s
	if c.Under != nil {
		under = c.Under(s)
	}
	h.engine = ledger.Start(under, ledger.Options{Lanes: s.Writers(), Observe: h.committed})
	h.metrics.watch(h.admission, h.engine, s)
	h.metrics.gauge("boon_connections_open", "Open connections of clients.", func() float64 { return float64(h.connections.count()) })
	h.metrics.gauge("boon_connections_max", "How many may be before the oldest idle ones are closed.", func() float64 { return float64(h.connections.max) })

	h.post = newPost(c, s)
	worker := h.worker()
	h.metrics.watchPost(&h.post, s)
	pages := web.Config{PublicURL: c.PublicURL, Gifts: s, Directory: h.directory.Load, Log: c.Logger,
		Order: s.OrderBySheet, Away: s.Away, ClientAddress: c.Proxies.Client}
	if c.Outbox {
		pages.Messages = newOutbox(s, h.gateways())
	}
	pages.Fail = func(w http.ResponseWriter, r *http.Request, status int) { h.api.Fail(w, r, status) }
	h.api = api.New(api.Config{
		Engine: h.engine, Records: s, Directory: h.directory.Load, Fingerprint: s.Keys().Fingerprint, Fingerprinted: s.Keys().Fingerprinted,
		PublicURL: c.PublicURL, Email: h.post.email != nil, SMS: h.post.sms != nil, Wake: worker.Wake, Note: note,
		Patience: s.Patience(), ClientAddress: c.Proxies.Client, GuessAlarm: h.guessAlarm,
		Admission: h.admission, Elsewhere: h.routes(web.Handler(pages)),
	})
	h.handler = h.observe(h.admitted(h.api))

	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	h.stopBackground = cancel
	h.background.Go(func() { h.refreshSetup(running) })
	h.background.Go(func() { h.forget(running) })
	h.background.Go(func() { h.keepKeyUses(running) })
	h.background.Go(func() { h.watchFiles(running) })
	h.background.Go(func() { h.auditor.Run(running) })
	if h.post.email != nil || h.post.sms != nil {
		h.background.Go(func() { worker.Run(running) })
	}
	return h, nil
}

// close stops the jobs, then the engine that their outcomes go through.
func (h *house) close() {
	h.stopBackground()
	h.background.Wait()
	h.post.close()
	h.engine.Stop()
}

// routes puts the operator's addresses and the gateways' reports beside the pages. The interface, which stands before them, sends on what is
// not its own.
func (h *house) routes(pages http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", pages)
	h.hooks(mux)
	mux.Handle("/healthz", h.reads(func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "alive") }))
	mux.Handle("/readyz", h.reads(h.ready))
	if h.AdminListen == "" && !h.beyond { // what it tells of the service is not for everybody
		mux.Handle("/metrics", h.reads(h.metrics.handler().ServeHTTP))
	}
	return mux
}

func (h *house) adminMux() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", h.reads(h.metrics.handler().ServeHTTP))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { h.fail(w, r, http.StatusNotFound) })
	return mux
}

// fail answers with a problem document.
func (h *house) fail(w http.ResponseWriter, r *http.Request, status int) {
	web.SetHeaders(w.Header())
	h.api.Fail(w, r, status)
}

// reads refuses every method but GET and HEAD.
func (h *house) reads(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			h.fail(w, r, http.StatusMethodNotAllowed)
			return
		}
		next(w, r)
	})
}

// ready tells a load balancer whether to send calls here.
func (h *house) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	if h.stopping.Load() {
		say(w, http.StatusServiceUnavailable, "stopping")
		return
	}
	if err := h.store.Ping(ctx); err != nil {
		h.Logger.Warn("not ready", "error", err)
		w.Header().Set("Retry-After", "1")
		say(w, http.StatusServiceUnavailable, "the store cannot be reached")
		return
	}
	say(w, http.StatusOK, "ready")
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	fmt.Fprintln(w, text)
}

// readSetup takes a new snapshot of the set-up, if it has changed.
func (h *house) readSetup(ctx context.Context) error {
	d, err := h.store.Directory(ctx)
	if err != nil {
		return fmt.Errorf("reading the set-up: %w", err)
	}
	h.directory.Store(d)
	return nil
}

// refreshSetup keeps the snapshot young. While the store cannot be read, the last one stands.
func (h *house) refreshSetup(ctx context.Context) {
	tick := time.NewTicker(setupAge)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := h.readSetup(ctx); err != nil && ctx.Err() == nil {
			h.Logger.Error("the set-up could not be read; the last one stands", "error", err)
		}
	}
}

// FilesEvery is how often the files of the embedded store are looked at: what is wrong with them is noticed within a minute.
const FilesEvery = 15 * time.Second

// watchFiles says loudly, and again and again, when the files of the database were taken away from under the service.
func (h *house) watchFiles(ctx context.Context) {
	tick := time.NewTicker(cmp.Or(h.FilesEvery, FilesEvery))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := h.store.CheckFiles(ctx); err != nil && ctx.Err() == nil {
			h.Logger.Error("THE DATABASE IS NO LONGER WHAT THIS SERVICE OPENED", "error", err)
		}
	}
}

// record has the engine write the outcome of a delivery.
func (h *house) record(ctx context.Context, d ledger.Deliver) error {
	_, err := h.engine.Do(ctx, ledger.Call{
		AccountID: d.Job.AccountID, Operation: "deliver", Account: h.directory.Load().Accounts[d.Job.AccountID],
		Render: func(ledger.Result, error) ledger.Answer { return ledger.Answer{} },
	}, &d)
	return err
}

// mayNotify asks whether a notice is within the daily limits of its account.
func (h *house) mayNotify(ctx context.Context, j ledger.Job, g *gift.Gift) (bool, error) {
	_, err := h.engine.Do(ctx, ledger.Call{
		AccountID: j.AccountID, Operation: "notice", Account: h.directory.Load().Accounts[j.AccountID],
		Render: func(ledger.Result, error) ledger.Answer { return ledger.Answer{} },
	}, &ledger.Notice{Account: j.AccountID, Method: g.Card.Method, Contact: g.Card.Contact})
	if errors.Is(err, gift.RateLimited) {
		return false, nil
	}
	return err == nil, err
}
