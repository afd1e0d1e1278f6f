// Package server puts the parts together: the store, the engine, the delivery worker, and one mux over the JSON
// interface and the pages, with a log line, metrics and limits around every request, and a graceful stop.
//
// It decides nothing about gifts.
package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"time"

	"boon.example/internal/base/certificate"
	"boon.example/internal/base/clientip"
	"boon.example/internal/base/openid"
	"boon.example/internal/base/telemetry"
	"boon.example/internal/gift"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/post/mail"
	"boon.example/internal/post/pass/google"
	"boon.example/internal/post/print"
	"boon.example/internal/post/sms"
	"boon.example/internal/service"
	"boon.example/internal/store"
)

// Config is what a server needs to know. The zero value of every member but Data is usable.
type Config struct {
	Listen       string         // host:port; port 0 picks one. Default 127.0.0.1:8080
	AdminListen  string         // where /metrics is served; "": beside everything else, or beyond loopback nowhere
	Data         string         // folder of the key file and of the embedded store
	KeyFile      store.KeyFile  // where the key file is instead; the zero value: in Data
	Database     string         // URL of a PostgreSQL database, in place of the embedded store
	GiftCache    int64          // bytes of gifts in memory, see store.Options; 0: the constant of that name; below: none
	PublicURL    string         // how recipients reach the service; default http://LISTEN
	SMTP         *mail.Server   // where e-mail goes; nil: nowhere
	SMS          *sms.Account   // where text messages go; nil: nowhere
	OpenID       *openid.Config // the provider that staff sign in with; nil: none
	RetryFor     time.Duration  // how long a message that is refused for now is tried again; 0: a day
	Outbox       bool           // keep e-mail and SMS for /outbox instead of sending them
	OutboxAnyway bool           // even if others than this machine can open it
	Version      string         // of the program, for the log and /healthz
	Commit       string         // it was built from
	// KeepRequests is how long idempotency records of calls that moved no value are kept; at least, and by
	// default, the constant of that name.
	KeepRequests time.Duration
	Notes        []string            // of the settings, worth knowing at the start
	Certificate  *certificate.Source // what it shows to clients, by TLS; nil: it speaks plain HTTP
	Proxies      clientip.Proxies    // whose X-Forwarded-For is believed
	FilesEvery   time.Duration       // how often the files of the embedded store are looked at; 0: that constant
	HoldsEvery   time.Duration       // how often holds that are over are entered; 0: the constant of that name
	Fonts        *print.Fonts        // what is printed with; nil: the built-in ones
	CashOutLaw   gift.CashOutLaw     // where guests may ask for cash; nil: the one that is shipped
	// WebhooksAllow are networks whose webhooks may be called although they are not public, by http too.
	WebhooksAllow []netip.Prefix
	// PushAddress is where pushes for passes go, and PushRoots who vouches for what answers there; "": Apple.
	PushAddress string
	PushRoots   *x509.CertPool
	Google      google.Addresses // where passes of Google Wallet are written; zero: Google
	TillDay     int              // how many entries of a till's day are summed up; 0: as many as package till says
	AuditPace   int              // rows a second that are looked over beside the service; 0: verify.Pace
	// Under is put between the engine and the store, by tests of the whole; nil: nothing.
	Under func(engine.Store) engine.Store
	// Around is put around all that is served, by tests of the whole; nil: nothing.
	Around    func(http.Handler) http.Handler
	Telemetry telemetry.Settings // what is sent to a collector
	Logger    *slog.Logger
	Ready     func(address string) // told once the service listens
	// First is told the link by which the first account of an installation is made, where there is none yet; nil: no such
	// link is made.
	First func(link string)

	beyond bool // it listens beyond loopback
}

// GiftCache is how many bytes of gifts are remembered by default, where the database is in this process.
const GiftCache = 64 << 20

// Limits on what one connection can take from the service.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 15 * time.Second
	writeTimeout  = 20 * time.Second
	idleTimeout   = 2 * time.Minute
	headerLimit   = 16 << 10
	stopTimeout   = 25 * time.Second
	drainTime     = 300 * time.Millisecond
	// setupAge is how old the server's view of the set-up may be: changes and revocations take effect within 2 s.
	setupAge = 500 * time.Millisecond
)

// GCPercent lets the heap of a process that serves grow to three times of what is in use, where Go's default is twice.
// With it a redemption takes a tenth less processor time, and the service a third more memory. Whoever calls Run sets
// it, as it is the process's; the variable GOGC says otherwise.
const GCPercent = 200

// SpareProcessor gives the runtime one processor more than the machine has, where a process serves the embedded
// database: the call that waits for the disk keeps its processor for as long as that takes, up to ten milliseconds. On
// two cores, a report on the other one then kept all tills waiting. See ADR 67. Who sets GOMAXPROCS keeps it.
func SpareProcessor() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}
}

// Run serves until ctx ends, then stops in order: no new calls, those in flight finish, the jobs stop, the store
// closes.
func Run(ctx context.Context, c Config) error {
	if err := c.normalize(); err != nil {
		return err
	}
	if err := c.triedAddresses(); err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Options{Dir: c.Data, KeyFile: c.KeyFile, Database: c.Database, ShortTimeouts: true,
		Serves: true, GiftCache: max(0, cmp.Or(c.GiftCache, GiftCache))})
	if err != nil {
		return err
	}
	defer s.Close()
	folder, others, err := useFolder(c.Data)
	if err == nil {
		defer folder.Close()
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return wanted{"--listen", c.Listen}.notListening(err)
	}
	c.listensAt(listener.Addr())
	a, err := newApp(ctx, c, s)
	if err != nil {
		listener.Close()
		return err
	}
	defer a.close()
	var report Report
	report.settings(&c, listener.Addr())
	if s.Made() {
		report.wrong("new, empty store made: %s", s.Place())
	}
	if err := report.store(ctx, s, others); err != nil {
		listener.Close()
		return err
	}
	report.log(c.Logger)
	if err := a.inviteFirst(ctx); err != nil {
		listener.Close()
		return err
	}
	return a.serve(ctx, listener)
}

// listensAt fills in what follows from where it listens.
func (c *Config) listensAt(a net.Addr) {
	if c.PublicURL == "" {
		c.PublicURL = c.Scheme() + a.String()
	}
	c.PublicURL = strings.TrimRight(c.PublicURL, "/")
	c.beyond = beyondLoopback(a)
}

func (a *app) serve(ctx context.Context, listener net.Listener) (err error) {
	servers := []*http.Server{a.httpServer(a.handler)}
	listeners := []net.Listener{problemListener{listener, a}}
	if a.Certificate != nil {
		// A request that is not HTTP gets net/http's own answer: nothing can stand between it and TLS.
		servers[0].TLSConfig, listeners[0] = a.Certificate.Config, tls.NewListener(listener, a.Certificate.Config)
	}
	if a.AdminListen != "" {
		admin, err := net.Listen("tcp", a.AdminListen)
		if err != nil {
			listener.Close()
			return wanted{"--admin-listen", a.AdminListen}.notListening(err)
		}
		a.Logger.Info("metrics are served", "address", admin.Addr().String()+"/metrics") // of port 0, the one that was picked
		servers = append(servers, a.httpServer(a.observe(a.adminMux())))
		listeners = append(listeners, admin)
	}
	failed := make(chan error, len(servers))
	for n, srv := range servers {
		go func() { failed <- srv.Serve(listeners[n]) }()
	}
	if a.Ready != nil {
		a.Ready(listener.Addr().String())
	}
	select {
	case err = <-failed:
	case <-ctx.Done():
		a.Logger.Info("stopping")
	}
	a.drain()
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	for _, srv := range servers {
		err = errors.Join(err, srv.Shutdown(limit))
	}
	return err
}

// drain tells load balancers and busy connections to go elsewhere, before the listener closes: each connection ends
// with an answer instead of being closed under the next request.
func (a *app) drain() {
	a.stopping.Store(true)
	a.connections.End()
	time.Sleep(drainTime)
}

func (a *app) httpServer(handler http.Handler) *http.Server {
	s := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerLimit,
		// OPTIONS * is answered as every address that is not there.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(a.Logger.Handler(), slog.LevelDebug),
	}
	a.connections.Attach(s)
	return s
}

// Version is the version of Boon.
const Version = service.Version
