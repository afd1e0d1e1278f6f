package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"boon.example/internal/base/certificate"
	"boon.example/internal/base/connections"
	"boon.example/internal/merchant"
	"boon.example/internal/post/pass"
	"boon.example/internal/post/print"
	"boon.example/internal/store"
)

// normalize fills in defaults, and refuses what Wrong tells.
func (c *Config) normalize() error {
	c.Listen = cmp.Or(c.Listen, listen)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Fonts == nil {
		c.Fonts = print.BuiltIn()
	}
	if c.KeepRequests == 0 {
		c.KeepRequests = KeepRequests
	}
	return errors.Join(c.Wrong()...)
}

// Wrong tells of settings that are not understood, that contradict each other, or that would send guests somewhere that
// they cannot reach: of all of them.
func (c *Config) Wrong() (all []error) {
	if c.Outbox && (c.SMTP != nil || c.SMS != nil) {
		all = append(all, errors.New("the outbox is for development and excludes real gateways: leave out --outbox, or "+
			"--smtp and --sms"))
	}
	if c.KeepRequests != 0 && c.KeepRequests < KeepRequests {
		all = append(all, fmt.Errorf("idempotency records must be kept for at least %.0f days, not %.1f: a caller may "+
			"repeat its request as long", KeepRequests.Hours()/24, c.KeepRequests.Hours()/24))
	}
	reach := true // it is known what links begin with
	for _, w := range c.addresses() {
		if err := CheckAddress(w.flag, w.address); err != nil {
			all, reach = append(all, err), false
		}
	}
	if err := checkPublicURL(c.PublicURL); err != nil {
		all, reach = append(all, err), false
	}
	if err := c.checkReach(); reach && err != nil {
		all = append(all, err)
	}
	return all
}

// checkPublicURL refuses an address that gift links could not begin with: they are PUBLIC_URL/g/TOKEN, and tills read
// them.
func checkPublicURL(s string) error {
	if s == "" {
		return nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" ||
		u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return fmt.Errorf("the public URL (--public-url) must be https://HOST or http://HOST:PORT with nothing behind "+
			"it, not %q", s)
	}
	return nil
}

// checkReach refuses gateways that carry links nobody can open, and an outbox, which shows every code, that the world
// can open.
func (c *Config) checkReach() error {
	host := c.publicHost()
	for _, gateway := range []struct{ flag, host string }{{"--smtp", c.smtpHost()}, {"--sms", c.smsHost()}} {
		if gateway.host == "" || isLoopback(gateway.host) || !isLoopback(host) && !isWildcard(host) {
			continue
		}
		return fmt.Errorf("%s sends messages through %s, whose recipients could not open their gifts: the links in them "+
			"would begin with %s; "+
			"give --public-url https://HOST, the address that a guest can open", gateway.flag, gateway.host, c.linksBegin())
	}
	if c.Outbox && !c.OutboxAnyway && !isLoopback(host) {
		return fmt.Errorf("--outbox shows every message with its code to whoever opens /outbox, and links that begin with "+
			"%s are for others than this "+
			"machine: leave out --outbox, or give --outbox-anyway when it is closed to others", c.linksBegin())
	}
	return nil
}

// publicHost is the host that gift links name.
func (c *Config) publicHost() string {
	if u, err := url.Parse(c.PublicURL); err == nil && c.PublicURL != "" {
		return u.Hostname()
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return c.Listen
	}
	return host
}

func (c *Config) linksBegin() string {
	if c.PublicURL != "" {
		return c.PublicURL
	}
	return c.Scheme() + c.Listen
}

// Scheme is what addresses begin with that lead straight to this service.
func (c *Config) Scheme() string {
	if c.Certificate != nil {
		return "https://"
	}
	return "http://"
}

func (c *Config) smtpHost() string {
	if c.SMTP == nil {
		return ""
	}
	return c.SMTP.Host
}

func (c *Config) smsHost() string {
	if c.SMS == nil {
		return ""
	}
	if host, _, err := net.SplitHostPort(c.SMS.Host); err == nil {
		return host
	}
	return c.SMS.Host
}

// isLoopback reports whether a host is this machine itself.
func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	if err == nil {
		return a.Unmap().IsLoopback()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// isWildcard reports whether a host is that of no machine: what one listens on to be reached at every address.
func isWildcard(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "" || err == nil && a.Unmap().IsUnspecified()
}

// Fact is one line of a Report.
type Fact struct{ Name, Value string }

// Report is what boon serve says of itself at its start.
type Report struct {
	Facts []Fact
	Notes []string // worth knowing
	Wrong []string // looks wrong
	Hosts []Host   // that the service calls for its wallets, in no particular order
}

// Host is one that the service calls.
type Host struct{ Name, Address string }

// calls notes that the service calls a host.
func (r *Report) calls(name, host string) {
	if h := (Host{name, net.JoinHostPort(host, "443")}); !slices.Contains(r.Hosts, h) {
		r.Hosts = append(r.Hosts, h)
	}
}

func (r *Report) fact(name, format string, args ...any) {
	r.Facts = append(r.Facts, Fact{name, fmt.Sprintf(format, args...)})
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

func (r *Report) wrong(format string, args ...any) {
	r.Wrong = append(r.Wrong, fmt.Sprintf(format, args...))
}

// log writes the facts as one line, and a line for each note and for each thing that looks wrong.
func (r *Report) log(log *slog.Logger) {
	var facts []any
	for _, f := range r.Facts {
		facts = append(facts, f.Name, f.Value)
	}
	log.Info("starting", facts...)
	for _, text := range r.Notes {
		log.Info(text)
	}
	for _, text := range r.Wrong {
		log.Warn(text)
	}
}

// settings reports what the configuration says by itself.
func (r *Report) settings(c *Config, listening net.Addr) {
	r.fact("version", "%s", c.Version)
	r.fact("listen", "%s", listening)
	r.fact("publicURL", "%s", c.PublicURL)
	r.fact("email", "%s", gatewayText(c.Outbox, c.smtpHost(), "gifts by e-mail are refused"))
	r.fact("sms", "%s", gatewayText(c.Outbox, c.smsHost(), "gifts by SMS are refused"))
	beyond := beyondLoopback(listening)
	switch {
	case c.AdminListen != "":
		r.fact("metrics", "%s/metrics", c.AdminListen)
	case beyond:
		r.fact("metrics", "none")
		r.note("/metrics is not served, as this listens beyond loopback: give --admin-listen HOST:PORT to have it there")
	default:
		r.fact("metrics", "%s/metrics", listening)
	}
	r.Notes = append(r.Notes, c.Notes...)
	if c.Fonts.Fault != "" {
		r.wrong("%s", c.Fonts.Fault)
	}
	r.certificate(c)
	r.descriptors(connections.Descriptors())
	r.links(c, listening)
}

// certificate reports what clients will see of the service's own, if it has one.
func (r *Report) certificate(c *Config) {
	if c.Certificate == nil {
		return
	}
	leaf, err := c.Certificate.Leaf()
	if err != nil {
		r.fact("certificate", "%s", err)
		return
	}
	r.fact("certificate", "%s", certificate.Text(leaf))
	r.Wrong = append(r.Wrong, certificate.Faults(leaf, c.publicHost(), time.Now())...)
}

// fewDescriptors is a limit below which busy services close connections that their clients would have used again.
const fewDescriptors = 1024

func (r *Report) descriptors(limit uint64) {
	r.fact("descriptors", "%d", limit)
	r.fact("connections", "%d", connections.For(limit))
	if limit > 0 && limit < fewDescriptors {
		r.wrong("this process may open %d files and connections only, so that %d connections can be open at once, idle "+
			"ones too: raise the limit "+
			"(ulimit -n, LimitNOFILE)", limit, connections.For(limit))
	}
}

// links reports whether guests can open their gifts, and who else can open the outbox.
func (r *Report) links(c *Config, listening net.Addr) {
	beyond := beyondLoopback(listening)
	u, _ := url.Parse(c.PublicURL)
	host := c.publicHost()
	address, _ := netip.ParseAddr(host)
	switch {
	case isWildcard(host):
		r.wrong("gift links begin with %s, which nobody can open: give --public-url", c.PublicURL)
	case isLoopback(host) && beyond:
		r.wrong("this listens beyond loopback, but gift links begin with %s, which only this machine can open: give "+
			"--public-url", c.PublicURL)
	case isLoopback(host):
	case u != nil && u.Scheme != "https":
		r.wrong("gift links begin with %s, so that codes cross the network in the clear: put a proxy with TLS in front, "+
			"and give --public-url https://…", c.PublicURL)
	case address.IsPrivate() || address.IsLinkLocalUnicast():
		r.wrong("gift links begin with %s, which only a private network can open", c.PublicURL)
	case len(c.Proxies) == 0 && !beyond && c.Certificate == nil:
		r.wrong("guests come through a proxy, and --trusted-proxies does not name it: wrong keys of all clients are " +
			"counted together")
	}
	if c.Outbox && (beyond || !isLoopback(host)) {
		r.wrong("/outbox shows every message with its code to whoever can reach %s", listening)
	}
}

func gatewayText(outbox bool, host, without string) string {
	switch {
	case outbox:
		return "outbox"
	case host == "":
		return "none: " + without
	}
	return host
}

// beyondLoopback reports whether a listener can be reached from other machines.
func beyondLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return !ok || !tcp.IP.IsLoopback()
}

// store reports where the records are, what endangers them, and who can call.
func (r *Report) store(ctx context.Context, s *store.Store, others bool) error {
	r.fact("store", "%s", s.Place())
	if others {
		r.note("another boon serve uses the same data folder: that is safe, and lets a new version start before the old " +
			"one stops")
	}
	risks, err := s.Risks(ctx)
	if err != nil {
		return err
	}
	r.Wrong = append(r.Wrong, risks...)
	d, err := s.Directory(ctx)
	if err != nil {
		return fmt.Errorf("reading the set-up: %w", err)
	}
	r.setup(d, time.Now())
	return nil
}

// paper tells what of the set-up cannot be printed here. Only Check asks: to read many fonts takes a while.
func (r *Report) paper(ctx context.Context, fonts *print.Fonts, s *store.Store) error {
	d, err := s.Directory(ctx)
	if err != nil {
		return fmt.Errorf("reading the set-up: %w", err)
	}
	var lacks []string
	for _, a := range d.Accounts {
		lacks = append(lacks, fonts.Lacks(a)...)
	}
	slices.Sort(lacks)
	r.Notes = append(r.Notes, lacks...)
	return nil
}

// Check tells what Run would say at its start, without starting and without changing anything. It fails where Run would
// refuse.
func Check(ctx context.Context, c Config) (r Report, err error) {
	if err := c.normalize(); err != nil {
		return r, err
	}
	others := false
	if folder, inUse, err := useFolder(c.Data); err == nil {
		others = inUse
		folder.Close()
	}
	var at []net.Addr
	for _, w := range c.addresses() {
		address, err := w.couldListen(&r, others)
		if err != nil {
			return r, err
		}
		at = append(at, address)
	}
	c.listensAt(at[0])
	r.settings(&c, at[0])
	s, err := store.Open(ctx, store.Options{Dir: c.Data, KeyFile: c.KeyFile, Database: c.Database, MustExist: true,
		KeepSchema: true})
	switch {
	case errors.Is(err, store.ErrNoStore):
		r.wrong("%s; boon serve would make a new, empty store there", err)
		return r, nil
	case errors.Is(err, store.ErrOldSchema):
		r.note("%s; boon serve brings it up to date when it starts", err)
		return r, nil
	case err != nil:
		return r, err
	}
	return r, errors.Join(r.store(ctx, s, others), r.paper(ctx, c.Fonts, s), s.Close())
}

// couldListen is an address that Run would listen on. That it is taken is no fault while another service of the same
// folder has it.
func (w wanted) couldListen(r *Report, others bool) (net.Addr, error) {
	l, err := net.Listen("tcp", w.address)
	if err == nil {
		return l.Addr(), l.Close()
	}
	address, unknown := net.ResolveTCPAddr("tcp", w.address)
	taken := unknown == nil && errors.Is(err, syscall.EADDRINUSE)
	switch {
	case taken && !others:
		return nil, fmt.Errorf("another program listens on %s. If it is boon serve, name its settings with --config, or its "+
			"data folder with --data. Otherwise end it, or choose another address with %s: %w", w.address, w.flag, err)
	case !taken:
		return nil, w.notListening(err)
	}
	r.note("%s is taken, by the other boon serve it seems", w.address)
	return address, nil
}

// accountsText counts the accounts, and names some, so that a store that is not the one that was meant shows.
func accountsText(d *merchant.Directory) string {
	const most = 3
	var names []string
	for _, a := range d.Accounts {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return strings.TrimSuffix(fmt.Sprintf("%d: %s", len(d.Accounts), strings.Join(names, ", ")), ": ")
}

// expiresSoon is how long before its end a key is told of.
const expiresSoon = 14 * 24 * time.Hour

// certificateEndsSoon is how long before its end a certificate for passes is told of: Apple's last a year.
const certificateEndsSoon = 30 * 24 * time.Hour

// passes reports whether an account can sign passes.
func (r *Report) passes(a *merchant.Account, now time.Time) {
	apple := &a.Wallet.Apple
	if a.Wallet.Google.Issuer != "" {
		r.calls("Google Wallet", "walletobjects.googleapis.com")
		r.calls("access to Google Wallet", "oauth2.googleapis.com")
	}
	if apple.Certificate == "" {
		return
	}
	r.calls("Apple Wallet", "api.push.apple.com")
	signer, err := pass.NewSigner(apple.Certificate, apple.Key)
	if err != nil {
		r.wrong("account %s cannot sign passes for Apple Wallet: %s", a.Name, err)
		return
	}
	switch ends := signer.Ends(); {
	case ends.Before(now):
		r.wrong("the certificate with which account %s signs passes for Apple Wallet ended at %s: phones take no new pass",
			a.Name, ends.UTC().Format(time.RFC3339))
	case ends.Sub(now) < certificateEndsSoon:
		r.wrong("the certificate with which account %s signs passes for Apple Wallet ends at %s: have Apple make another "+
			"one, and apply it", a.Name, ends.UTC().Format(time.RFC3339))
	}
}

// setup reports who can call.
func (r *Report) setup(d *merchant.Directory, now time.Time) {
	locations, keys := 0, 0
	for _, a := range d.Accounts {
		if locations += len(a.Locations); len(a.Locations) == 0 {
			r.wrong("account %s has no location, so that none of its gifts can be redeemed", a.Name)
		}
		if a.LacksLanguage() {
			r.note("account %s has no language, so that its guests are written to in English: give it one in its set-up file",
				a.Name)
		}
		r.passes(a, now)
	}
	for _, k := range d.Keys {
		if !k.Works(now) || k.Till == merchant.WaitingTill { // which is a link, and works for minutes
			continue
		}
		if keys++; !k.ExpiresAt.IsZero() && k.ExpiresAt.Sub(now) < expiresSoon {
			r.wrong("key %s expires at %s: make a second one, change its caller, and revoke it",
				k.Name, k.ExpiresAt.UTC().Format(time.RFC3339))
		}
	}
	r.fact("accounts", "%s", accountsText(d))
	r.fact("locations", "%d", locations)
	r.fact("keys", "%d", keys)
	switch {
	case len(d.Accounts) == 0:
		r.wrong("there is no account, so that nobody can call: boon apply FILE makes one")
	case keys == 0:
		r.wrong("no API key works, so that nobody can call: boon key create makes one")
	}
}
