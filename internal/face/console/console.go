// Package console is Boon for people who work with gifts and write no programs: pages on which the staff of an account
// sell, look after and account for gifts.
//
// Pages are plain HTML, rendered on the server. They load nothing from another host, and work without a script. What
// somebody does there is handed to the JSON interface as a call of theirs, so that rules, limits, idempotency and the
// log are the same as for a key, and histories have the person's name.
//
// A page is a row of a table: see page. Whoever is not signed in is asked to; whoever may not see a page is told so.
package console

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"boon.example/internal/base/fair"
	"boon.example/internal/base/ratelimit"
	"boon.example/internal/books"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/service"
	"boon.example/internal/staff"
)

// Config is what the console works with.
type Config struct {
	PublicURL string // how people reach the service
	Service   *service.Service
	// Operations carries out the operations of the JSON interface, by their paths below it.
	Operations http.Handler
	Store      Store
	Directory  func() *merchant.Directory // the newest set-up
	Keys       Keys
	Reading    *fair.Places // in which the books are read, here and for reports
	Beginner   Beginner
}

// Store is what the console needs of a database.
type Store interface {
	// Members are the staff of an account.
	Members(ctx context.Context, account guid.ID) ([]staff.Member, error)
	// ChangeStaff changes the staff of an account in one transaction: see package store/staff.
	ChangeStaff(ctx context.Context, account guid.ID, change func([]staff.Member) (staff.Changes, error)) error
	// Invitation and Session find by a token what works at an instant; refusal.NotFound where there is none.
	Invitation(ctx context.Context, token string, now time.Time) (staff.Invitation, error)
	Session(ctx context.Context, token string, now time.Time) (staff.Session, error)
	// Sessions are those of an account that work, and Seen notes that one was used.
	Sessions(ctx context.Context, account guid.ID, now time.Time) ([]staff.Session, error)
	Seen(ctx context.Context, key []byte, now time.Time) error
	// SignInBucket reads an allowance of wrong sign-ins; CountSignIn takes n out of it, durably.
	SignInBucket(ctx context.Context, under string) (ratelimit.Bucket, error)
	CountSignIn(ctx context.Context, under string, rate ratelimit.Rate, now time.Time, n int) (ratelimit.Bucket, error)

	// Gift finds a gift of an account; refusal.NotFound where there is none.
	Gift(ctx context.Context, account, voucher guid.ID) (gift.Gift, error)
	// List gives a page of gifts, the newest first.
	List(context.Context, gift.Filter) (gift.Page, error)
	// History gives at most limit entries of a gift after the one numbered seq, the oldest first.
	History(ctx context.Context, account, voucher guid.ID, seq, limit int) ([]gift.Entry, error)
	// EachMoved tells of what moved in the books of an account, sum by sum. Where too much is not closed yet, the error
	// is a books.Behind.
	EachMoved(ctx context.Context, a *books.Asked, tell func(day int, k books.Key, s books.Sum) error) error
}

// Path is where the console is. Below it stands the id of an account.
const Path = "/console"

// The addresses below Path that are no account's.
const (
	assetsPath = Path + "/assets/"
	joinPath   = Path + "/join/"
)

// JoinLink is where an invitation is used, for a service that is reached at publicURL.
func JoinLink(publicURL, token string) string {
	return strings.TrimRight(publicURL, "/") + joinPath + token
}

// console serves the console of all accounts.
type console struct {
	Config
	secure bool // cookies go over TLS only
	looks  looks

	passkeys *webauthn.WebAuthn // nil: there are none

	limits *ratelimit.Limiter[string] // of wrong sign-ins
	busy   *fair.Places               // for checking passwords
	table  []page                     // of pages for who is signed in, in the order of the navigation
}

// Handler serves everything under Path.
func Handler(c Config) http.Handler {
	f := &console{Config: c, secure: strings.HasPrefix(c.PublicURL, "https://"), looks: readLooks(),
		busy: fair.New(passwordsAtOnce), passkeys: passkeysFor(c.PublicURL)}
	f.limits = ratelimit.NewLimiterBy(signInRate, ratelimit.Records[string](wrongSignIns{c.Store}), time.Now)
	f.table = slices.Concat(f.todayPages(), f.giftPages(), f.actionPages(), f.sendPages(), f.reportPages(),
		f.tillPages(), f.homePages(), f.teamPages())
	mux := http.NewServeMux()
	mux.Handle("GET "+assetsPath+"{folder}/{file}", c.Service.Page(http.HandlerFunc(f.asset)))
	f.open(mux, "GET "+joinPath+"{token}", f.showInvitation)
	f.open(mux, "POST "+joinPath+"{token}", f.join)
	f.open(mux, "GET "+Path, f.start)
	mux.Handle(Path+"/", f.account())
	return c.Service.SameOrigin("A page of another origin may do nothing in the console.", withHeaders(mux))
}

// policy lets a page load what this site serves, and nothing else. No other page may frame it.
const policy = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; " +
	"frame-ancestors 'none'; form-action 'self'"

func withHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "same-origin") // without any, browsers would hide the origin of a form
		h.Set("X-Robots-Tag", "noindex, nofollow, noarchive")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
		next.ServeHTTP(w, r)
	})
}

// account serves what is below the id of an account. The patterns of the pages are those below it.
func (f *console) account() http.Handler {
	inner := http.NewServeMux()
	f.open(inner, "GET "+signInPath, f.showSignIn)
	f.open(inner, "POST "+signInPath, f.signIn)
	f.open(inner, "POST /passkey/options", f.offerPasskeys)
	f.open(inner, "POST /passkey", f.showPasskey)
	f.open(inner, "POST "+signOutPath, f.signOut)
	for _, p := range f.table {
		f.closed(inner, p)
	}
	f.closed(inner, page{pattern: "/", do: func(*request) (view, error) { return view{}, errNoPage }})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, rest, slash := strings.Cut(strings.TrimPrefix(r.URL.Path, Path+"/"), "/")
		account, err := guid.Parse(id)
		if err != nil {
			f.Service.Fail(w, r, http.StatusNotFound)
			return
		}
		if !slash {
			http.Redirect(w, r, home(account), http.StatusSeeOther)
			return
		}
		below := r.Clone(context.WithValue(r.Context(), accountKey{}, account))
		below.URL.Path, below.URL.RawPath = "/"+rest, ""
		inner.ServeHTTP(w, below)
		r.Pattern = strings.Replace(below.Pattern, "/", Path+"/{account}/", 1) // for the log and the metrics
	})
}

type accountKey struct{}

// home is the address of an account's first page.
func home(account guid.ID) string { return Path + "/" + account.String() + "/" }

// accountOf is the account whose address is asked for; zero: none's.
func accountOf(r *http.Request) guid.ID {
	id, _ := r.Context().Value(accountKey{}).(guid.ID)
	return id
}
