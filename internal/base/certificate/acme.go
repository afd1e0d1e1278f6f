package certificate

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
	"golang.org/x/net/idna"
)

// Order says for which name a certificate is got by ACME (RFC 8555), from whom, and how the name is shown to be ours:
// by an answer to plain HTTP on port 80, or by a certificate of its own kind on port 443.
type Order struct {
	Domain    string
	Directory string // where the authority's directory is; "": Let's Encrypt's
	Root      string // file of the root, as PEM, that the directory's own certificate comes from; "": the system's
	Contact   string // e-mail address for the authority; "": none
	Folder    string // where account, certificate and keys are kept
	// Listen is where the service speaks TLS, and HTTP where it answers plain HTTP; None: nowhere.
	Listen, HTTP string
	Redirect     string        // what the addresses begin with that others are led to who come by plain HTTP
	Every        time.Duration // how often it is looked at whether it is time to renew; 0: ten minutes
	Log          *slog.Logger
}

// None is no address to listen on.
const None = "none"

// Domain is a name as an authority may put it into a certificate, in small ASCII letters.
func Domain(name string, public bool) (string, error) {
	ascii, err := idna.Lookup.ToASCII(name)
	_, notAddress := netip.ParseAddr(strings.Trim(name, "[]"))
	switch {
	case notAddress == nil:
		return "", fmt.Errorf("%s is an address: name the host that guests open, such as gifts.example.com", name)
	case strings.Contains(name, "*"):
		return "", fmt.Errorf("%s is many names, which takes DNS to prove: name one host", name)
	case err != nil || !certmagic.SubjectQualifiesForCert(ascii) || strings.ContainsAny(ascii, ":/,"):
		return "", fmt.Errorf("%q is no name of a host, such as gifts.example.com", name)
	case public && (!strings.Contains(ascii, ".") || !certmagic.SubjectQualifiesForPublicCert(ascii)):
		return "", fmt.Errorf("%s is known on private networks only, so that no public authority gives a certificate for "+
			"it", name)
	}
	return ascii, nil
}

// acme keeps a certificate that an authority gives.
type acme struct {
	Order
	magic  *certmagic.Config
	cache  *certmagic.Cache
	issuer *certmagic.ACMEIssuer
	plain  *http.Server // nil: none
}

// ACME shows the certificate that is kept from before, if there is one, and gets and renews it once it runs. It refuses
// an order that cannot be carried out.
func ACME(o Order) (*Source, error) {
	var err error
	if o.Domain, err = Domain(o.Domain, o.Directory == ""); err != nil {
		return nil, err
	}
	a := &acme{Order: o}
	issuer, err := a.template()
	if err != nil {
		return nil, err
	}
	a.cache = certmagic.NewCache(certmagic.CacheOptions{RenewCheckInterval: o.Every, Logger: zap.NewNop(),
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return a.magic, nil }})
	a.magic = certmagic.New(a.cache, certmagic.Config{
		Storage: &certmagic.FileStorage{Path: o.Folder}, DefaultServerName: o.Domain, Logger: zap.NewNop(),
		OCSP: certmagic.OCSPConfig{DisableStapling: true}, OnEvent: a.told,
	})
	a.issuer = certmagic.NewACMEIssuer(a.magic, issuer)
	a.magic.Issuers = []certmagic.Issuer{a.issuer}
	_, err = a.magic.CacheManagedCertificate(context.Background(), o.Domain)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("reading the certificate in %s: %w", o.Folder, err)
	}
	shown := config(a.magic.GetCertificate)
	if !issuer.DisableTLSALPNChallenge {
		shown.NextProtos = append(shown.NextProtos, "acme-tls/1")
	}
	return &Source{Config: shown, Open: a.open, Run: a.run, Leaf: a.leaf, Reload: func() error { return nil }}, nil
}

// template says how the authority is talked to.
func (a *acme) template() (t certmagic.ACMEIssuer, err error) {
	t = certmagic.ACMEIssuer{CA: cmp.Or(a.Directory, certmagic.LetsEncryptProductionCA), Email: a.Contact, Agreed: true,
		Logger: zap.NewNop()}
	if u, err := url.Parse(t.CA); err != nil || u.Scheme != "https" || u.Host == "" {
		return t, fmt.Errorf("the directory must be https://HOST/PATH, not %q", a.Directory)
	}
	if a.Root != "" {
		text, err := read("root", a.Root)
		if err != nil {
			return t, err
		}
		t.TrustedRoots = x509.NewCertPool()
		if !t.TrustedRoots.AppendCertsFromPEM(text) {
			return t, fmt.Errorf("%s is no certificate as PEM", a.Root)
		}
	}
	if t.ListenHost, t.AltTLSALPNPort, err = hostPort(a.Listen); err != nil {
		return t, err
	}
	t.DisableTLSALPNChallenge = t.AltTLSALPNPort == 0
	if t.DisableHTTPChallenge = a.HTTP == None; t.DisableHTTPChallenge {
		return t, nil
	}
	_, t.AltHTTPPort, err = hostPort(a.HTTP)
	return t, err
}

func hostPort(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, err
	}
	port, err = strconv.Atoi(text)
	return host, port, err
}

// told logs what became of an order. The library's own log names contacts and accounts, and is not kept.
func (a *acme) told(_ context.Context, event string, about map[string]any) error {
	renewal, _ := about["renewal"].(bool)
	switch event {
	case "cert_obtained":
		a.Log.Info("the authority gave a certificate", "domain", a.Domain, "renewal", renewal)
	case "cert_failed":
		a.Log.Error("the authority gave no certificate; it is asked again", "domain", a.Domain, "renewal", renewal,
			"error", about["error"])
	}
	return nil
}

// open takes the port of plain HTTP.
func (a *acme) open() error {
	if a.HTTP == None {
		return nil
	}
	listener, err := net.Listen("tcp", a.HTTP)
	if err != nil {
		return fmt.Errorf("listening for the authority's questions: %w; a port below 1024 takes a right "+
			"(CAP_NET_BIND_SERVICE), and %s does without: then the authority asks on port 443 alone", err, None)
	}
	const limit = 10 * time.Second
	a.plain = &http.Server{Handler: a.issuer.HTTPChallengeHandler(a.redirect()), ReadTimeout: limit,
		WriteTimeout: limit, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(a.Log.Handler(), slog.LevelDebug)}
	a.plain.SetKeepAlivesEnabled(false)
	go func() {
		if err := a.plain.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			a.Log.Error("plain HTTP is no longer answered", "error", err)
		}
	}()
	return nil
}

// redirect leads people to TLS. A call with an API key is refused instead, so that whoever sends keys in the clear
// finds out.
func (a *acme) redirect() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "":
			http.Error(w, "This API key has crossed the network in the clear: replace it, and call "+a.Redirect+".",
				http.StatusForbidden)
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			w.Header().Set("Location", a.Redirect+target(r.URL))
			w.WriteHeader(http.StatusMovedPermanently)
		default:
			http.Error(w, "This is "+a.Redirect+" only.", http.StatusForbidden)
		}
	})
}

// target is the path and the query of a request. What has no path, such as "x:@example.com", has none: put behind our
// name, it would lead to another host.
func target(u *url.URL) string {
	if target := u.RequestURI(); strings.HasPrefix(target, "/") {
		return target
	}
	return "/"
}

// retry is how long after a failure of this machine's own it is tried again.
const retry = time.Minute

// run gets the certificate and renews it until its context ends.
func (a *acme) run(ctx context.Context) {
	defer a.cache.Stop()
	if a.plain != nil {
		defer a.plain.Close()
	}
	for ctx.Err() == nil {
		err := a.magic.ObtainCertAsync(ctx, a.Domain) // which asks again and again
		if err == nil {
			err = a.magic.ManageAsync(ctx, []string{a.Domain})
		}
		if err == nil {
			break
		}
		if ctx.Err() == nil {
			a.Log.Error("the certificate cannot be kept; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(retry):
		}
	}
	<-ctx.Done()
}

// leaf is the certificate that is shown.
func (a *acme) leaf() (*x509.Certificate, error) {
	shown := a.cache.AllMatchingCertificates(a.Domain)
	if len(shown) == 0 {
		return nil, fmt.Errorf("none yet: it is got from %s", cmp.Or(a.Directory, "Let's Encrypt"))
	}
	return shown[0].Leaf, nil
}

// Kept is the file of the certificate that ACME keeps for a domain in a folder.
func Kept(folder, domain string) (string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "certificates", "*", domain, domain+".crt"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("there is no certificate for %s in %s yet", domain, folder)
	}
	if err != nil {
		return "", err
	}
	return files[0], nil
}
