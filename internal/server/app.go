package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"boon.example/internal/base/admission"
	"boon.example/internal/base/connections"
	"boon.example/internal/base/fair"
	"boon.example/internal/base/telemetry"
	"boon.example/internal/contact"
	"boon.example/internal/face/api"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/jobs"
	"boon.example/internal/jobs/expiry"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/merchant"
	"boon.example/internal/post/delivery"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/store"
)

// app is a running service.
type app struct {
	Config
	store     *store.Store
	engine    *engine.Engine
	metrics   *metrics
	admission *admission.Control
	auditor   *verify.Auditor
	expiry    *expiry.Notifier
	directory atomic.Pointer[merchant.Directory]
	restored  atomic.Pointer[store.Restored]
	refused   atomic.Bool // the set-up in the database is not taken: it was changed past boon
	reading   sync.Mutex  // of the set-up: who began earlier does not put an older one in the place of a newer
	service   *service.Service
	api       *api.API
	handler   http.Handler
	carriers  carriers
	printer   *fair.Places     // of orders, one at a time
	tests     *delivery.Worker // for test accounts
	phones    phones           // that have passes
	telemetry *telemetry.Telemetry
	stopping  atomic.Bool

	connections *connections.Connections
	keyUses     keyUses

	jobs           *jobs.Runner
	background     sync.WaitGroup  // what else runs beside the requests
	running        context.Context // what else runs ends with it
	stopBackground context.CancelFunc
}

// newApp starts everything behind the listener.
func newApp(ctx context.Context, c Config, s *store.Store) (*app, error) {
	a := &app{Config: c, store: s, metrics: newMetrics(), printer: fair.New(1),
		connections: connections.New(connections.For(connections.Descriptors()), c.Proxies)}
	err := a.readSetup(ctx)
	if err != nil {
		return nil, err
	}
	a.admission = admission.New(admission.MaxInFlight, a.metrics.refusal)
	if err := a.watchVerification(ctx); err != nil {
		return nil, err
	}
	a.auditor = a.newAuditor()
	a.expiry = &expiry.Notifier{Store: s, Directory: a.directory.Load}
	if a.telemetry, err = c.Telemetry.Start(ctx, c.Version, a.metrics.registry, c.Logger); err != nil {
		return nil, err
	}
	var under engine.Store = s
	if c.Under != nil {
		under = c.Under(s)
	}
	a.engine = engine.Start(under, engine.Options{Lanes: s.Writers(), Observe: a.committed, Tracer: a.telemetry.Tracer})
	a.metrics.build(c.Version, c.Commit)
	a.metrics.certificate(c.Certificate)
	a.metrics.watch(a.admission, a.engine, s)
	a.gauges()
	a.carriers = newCarriers(c, s)
	worker, tests := a.worker(a.store, senders), a.worker(store.TestJobs{Store: a.store}, testSenders)
	a.tests = tests
	a.metrics.watchCarriers(&a.carriers, s)
	a.service = service.New(service.Config{
		Engine: a.engine, Records: s, Directory: a.directory.Load, Fingerprint: s.Keys().Fingerprint,
		Fingerprinted: s.Keys().Fingerprinted, PublicURL: c.PublicURL, Note: note, CashOutLaw: c.CashOutLaw,
		Wake: func(test bool) {
			if test {
				tests.Wake()
			} else {
				worker.Wake()
			}
		},
		StoreTimeout: s.CallerTimeout(), ClientAddress: c.Proxies.Client, GuessAlarm: a.guessAlarm,
		Admission: a.admission, Overloaded: a.overloaded,
	})
	a.phones = a.newPhones()
	a.handler = a.observe(a.faces())
	if c.Around != nil {
		a.handler = c.Around(a.handler)
	}

	a.start(ctx, worker)
	return a, nil
}

// gauges shows whether the set-up is taken, and how many connections there are.
func (a *app) gauges() {
	a.metrics.gauge("boon_setup_refused", "1: the set-up in the database was changed past boon and is not taken; the log "+
		"says what.", func() float64 {
		if a.refused.Load() {
			return 1
		}
		return 0
	})
	open := a.connections
	a.metrics.gauge("boon_connections_open", "Connections of clients.", func() float64 { return float64(open.Count()) })
	a.metrics.gauge("boon_connections_max", "How many may be open.", func() float64 { return float64(open.Max()) })
	open.OnRoom(a.metrics.counter("boon_connections_closed_total",
		"Connections that were closed to make room for others."))
}

// close stops what runs beside the requests, then the engine that the outcomes go through.
func (a *app) close() {
	a.stopBackground()
	a.background.Wait()
	a.jobs.Stop()
	a.carriers.close()
	a.engine.Stop()
	if err := a.telemetry.Stop(context.Background()); err != nil {
		a.Logger.Warn("the last traces or metrics could not be sent", "error", err)
	}
}

// readSetup takes a new snapshot of the set-up, if it has changed.
func (a *app) readSetup(ctx context.Context) error {
	a.reading.Lock()
	defer a.reading.Unlock()
	d, err := a.store.Directory(ctx)
	a.refused.Store(errors.Is(err, store.ErrPastBoon))
	if a.refused.Load() {
		return fmt.Errorf("THE SET-UP IN THE DATABASE WAS CHANGED PAST BOON and is not taken: %w", err)
	}
	if err != nil {
		return fmt.Errorf("reading the set-up: %w", err)
	}
	a.directory.Store(d)
	return nil
}

// seeSetup is readSetup for whoever has changed the set-up already. Where it fails, the service looks again by itself.
func (a *app) seeSetup(ctx context.Context) {
	if err := a.readSetup(ctx); err != nil {
		a.Logger.Warn("a change of the set-up was saved, and is not seen yet", "error", err)
	}
}

// record has the engine write the outcome of a delivery.
func (a *app) record(ctx context.Context, d ledger.Deliver) error {
	return a.do(ctx, d.Job.AccountID, "deliver", &d)
}

// mayNotify asks whether a notice is within the daily limits of its account.
func (a *app) mayNotify(ctx context.Context, j ledger.Job, g *gift.Gift) (bool, error) {
	return a.mayMessage(ctx, j.AccountID, g.Card.Method, g.Card.Contact)
}

// mayMessage counts a message, and tells whether it is within the daily limits of its account.
func (a *app) mayMessage(ctx context.Context, account guid.ID, method contact.Method, to string) (bool, error) {
	err := a.do(ctx, account, "notice", &ledger.Notice{Account: account, Method: method, Contact: to})
	if errors.Is(err, refusal.RateLimited) {
		return false, nil
	}
	return err == nil, err
}

// do runs a command that no caller waits for.
func (a *app) do(ctx context.Context, account guid.ID, operation operation.Name, cmd ledger.Command) error {
	_, err := a.engine.Do(ctx, ledger.Call{
		AccountID: account, Operation: operation, Account: a.directory.Load().Accounts[account],
		Render: func(ledger.Result, error) ledger.Answer { return ledger.Answer{} },
	}, cmd)
	return err
}
