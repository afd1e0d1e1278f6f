// Package desk is what the pages of the console stand on: who is signed in, which pages they may see, how a page is
// made, and how it has the JSON interface do something.
//
// A page is a row of a table: see Page. Whoever is not signed in is asked to; whoever may not see a page is told so.
package desk

import (
	"context"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/service"
	"boon.example/internal/staff"
)

// Config is what the desk works with.
type Config struct {
	PublicURL string // how people reach the service
	Service   *service.Service
	// Operations carries out the operations of the JSON interface, by their paths below it.
	Operations http.Handler
	Store      Store
	Directory  func() *merchant.Directory // the newest set-up
	// FieldNames are what fields of the set-up are called in a language, by their names in sentences that were kept.
	FieldNames func(merchant.Language) map[string]string
}

// Store is what the desk needs of a database.
type Store interface {
	// Members are the staff of an account.
	Members(ctx context.Context, account guid.ID) ([]staff.Member, error)
	// Session finds by a token the session that works at an instant; refusal.NotFound where there is none.
	Session(ctx context.Context, token string, now time.Time) (staff.Session, error)
	// Seen notes that a session was used.
	Seen(ctx context.Context, key []byte, now time.Time) error
}

// Part is a part of the console.
type Part struct {
	Begins    bool // a group of the navigation begins with it
	Pages     []Page
	Templates fs.FS // in a folder of this name; those of all parts have different names
}

// Path is where the console is. Below it stands the id of an account.
const Path = "/console"

// assetsPath is the address of what pages load. It is no account's.
const assetsPath = Path + "/assets/"

// SignInPath is where somebody signs in, below the account.
const SignInPath = "/sign-in"

// desk serves the console of all accounts.
type desk struct {
	Config
	secure bool // cookies go over TLS only
	looks  *looks
	table  []Page // of all parts; the navigation has them in this order
}

// Handler serves everything under Path, which are the pages of some parts.
func Handler(c Config, parts ...Part) http.Handler {
	f := &desk{Config: c, secure: strings.HasPrefix(c.PublicURL, "https://"), looks: readLooks(parts)}
	mux, account := http.NewServeMux(), http.NewServeMux()
	group := 0
	for _, part := range parts {
		if part.Begins {
			group++
		}
		for _, p := range part.Pages {
			p.group = group
			switch {
			case p.Outside:
				f.open(mux, p)
			case p.Open:
				f.open(account, p)
			default:
				f.closed(account, p)
				f.table = append(f.table, p)
			}
		}
	}
	f.closed(account, Page{Pattern: "/", Do: func(*Request) (View, error) { return View{}, ErrNoPage }})
	mux.Handle("GET "+assetsPath+"{folder}/{file}", c.Service.Page(http.HandlerFunc(f.asset)))
	mux.Handle(Path+"/", f.below(account))
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

// below serves what is below the id of an account. The patterns of the pages are those below it.
func (f *desk) below(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, rest, slash := strings.Cut(strings.TrimPrefix(r.URL.Path, Path+"/"), "/")
		account, err := guid.Parse(id)
		if err != nil {
			f.Service.Fail(w, r, http.StatusNotFound)
			return
		}
		if !slash {
			http.Redirect(w, r, Home(account), http.StatusSeeOther)
			return
		}
		below := r.Clone(context.WithValue(r.Context(), accountKey{}, account))
		below.URL.Path, below.URL.RawPath = "/"+rest, ""
		pages.ServeHTTP(w, below)
		r.Pattern = strings.Replace(below.Pattern, "/", Path+"/{account}/", 1) // for the log and the metrics
	})
}

type accountKey struct{}

// Home is the address of an account's first page.
func Home(account guid.ID) string { return Path + "/" + account.String() + "/" }

// AccountID is the account whose address is asked for; zero: none's.
func (r *Request) AccountID() guid.ID {
	id, _ := r.HTTP.Context().Value(accountKey{}).(guid.ID)
	return id
}
