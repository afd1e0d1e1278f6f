// Package till is the till for people: pages for a phone or a tablet at the counter, and the calls that they make.
//
// A device is paired with a location once, by a link that `boon till pair` makes. From then on it holds a key of its
// own in a cookie that no script can read, and that works here only. What moves value is handed to the JSON interface
// as a call of that key, so that rules, limits, idempotency and the log are the same for every till. Where the set-up
// names people, one of them signs in with a PIN before value moves.
package till

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"boon.example/internal/base/fair"
	"boon.example/internal/base/ratelimit"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/service"
)

// Config is what the tills work with.
type Config struct {
	PublicURL string // how devices reach the service
	Service   *service.Service
	// Operations carries out the operations of the JSON interface, by their paths below it.
	Operations http.Handler
	Store      Store
	Directory  func() *merchant.Directory      // the newest set-up
	Refresh    func(ctx context.Context) error // reads it anew
	Keys       Keys
	Day        int // how many entries of a till's day are summed up, the newest; 0: 5,000
	// PINLimited is told that the PIN of a person is paused at a till, or at all of an account's; nil: nobody is.
	PINLimited func(ctx context.Context, at merchant.Till)
}

// Store is what the tills need of a database.
type Store interface {
	// Configure changes the set-up in one transaction: see package setup.
	Configure(ctx context.Context, change func(current *merchant.Directory, uses merchant.Uses) (merchant.Changes,
		error)) error
	// TillBucket reads the bucket of a person's wrong PINs; CountWrongPINs takes n out of it, durably.
	TillBucket(context.Context, merchant.Till) (ratelimit.Bucket, error)
	CountWrongPINs(ctx context.Context, person merchant.Till, now time.Time, n int) (ratelimit.Bucket, error)
	// BeginShift ends all sign-ins at a till, and gives until when one lasts that begins now; Shift tells that.
	BeginShift(ctx context.Context, account, till guid.ID, until time.Time) (time.Time, error)
	Shift(ctx context.Context, account, till guid.ID) (time.Time, error)
	// AddTrail writes into the audit trail, and an event where one PIN is paused.
	AddTrail(context.Context, event.TrailEntry) error
	// Activity gives a page of the changes of all gifts of an account, the newest first.
	Activity(context.Context, gift.ChangeFilter) (gift.ChangePage, error)
	// GiftsNamed finds gifts of an account by their ids, in no order.
	GiftsNamed(ctx context.Context, account guid.ID, ids []guid.ID) ([]gift.Gift, error)
	// Parts gives an entry, and what became of it.
	Parts(ctx context.Context, account, entry guid.ID) ([]gift.Entry, error)
}

// Keys prove who signed in.
type Keys interface {
	SignIn(text string) []byte
	SignedIn(proof []byte, text string) bool
}

// Path is where the tills are.
const Path = "/till"

// tills serves all tills.
type tills struct {
	Config
	secure bool // cookies go over TLS only
	pages  pages
	pins   *ratelimit.Limiter[merchant.Till]
	busy   *fair.Places // for checking PINs
	days   *fair.Places // for reading a page of a day
	shifts shifts
	told   toldOf
}

// Handler serves everything under Path.
func Handler(c Config) http.Handler {
	t := &tills{Config: c, secure: strings.HasPrefix(c.PublicURL, "https://"), pages: allPages(),
		busy: fair.New(pinsAtOnce), days: fair.New(daysAtOnce)}
	if t.PINLimited == nil {
		t.PINLimited = func(context.Context, merchant.Till) {}
	}
	t.pins = ratelimit.NewLimiterBy(pinRate, ratelimit.Records[merchant.Till](wrongPINs{c.Store}), time.Now)
	mux := http.NewServeMux()
	page := func(pattern string, h http.Handler) { mux.Handle(pattern, c.Service.Page(h)) }
	page("GET "+Path, t.document("till.html"))
	page("GET "+Path+"/{$}", t.document("till.html"))
	page("GET "+pairPath, t.document("pair.html"))
	page("GET "+Path+"/assets/{folder}/{file...}", http.HandlerFunc(t.asset))
	page("GET "+Path+"/{file}", http.HandlerFunc(t.topAsset))
	page("GET "+Path+"/state", c.Service.JSON(t.state))
	page("GET "+Path+"/today", c.Service.JSON(t.today))
	page("GET "+Path+"/receipts/{entryID}", c.Service.JSON(t.receipt))
	page("DELETE "+personPath, c.Service.JSON(t.signOut))
	page("/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.Service.Fail(w, r, http.StatusNotFound) }))
	// Anybody may send these slowly, and what they prove is known only when all of them has come: they take no place.
	mux.Handle("POST "+pairPath, t.Service.JSON(t.pair))
	mux.Handle("POST "+personPath, t.Service.JSON(t.signIn))
	mux.HandleFunc("GET "+apiPath+"{path...}", t.forward)
	mux.HandleFunc("POST "+apiPath+"{path...}", t.forward)
	return t.guard(mux)
}

const (
	pairPath   = Path + "/pair"
	personPath = Path + "/person"
	apiPath    = Path + "/api/"
)

// guard refuses what a page of another origin sends: a browser adds the cookies of this one.
func (t *tills) guard(next http.Handler) http.Handler {
	guarded := t.Service.SameOrigin("A page of another origin may not call a till.", next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header())
		guarded.ServeHTTP(w, r)
	})
}

// reachable are the calls of the interface that a till may make.
var reachable = map[string]bool{
	"redemption/validate-gift": true, "redemption/redeem-gift": true, "redemption/redeem-gifts": true,
	"redemption/reverse-redemption": true,
	"redemption/activate-gift":      true, "redemption/reverse-activation": true,
	"redemption/reload-gift": true, "redemption/reverse-reload": true, "redemption/cash-out-gift": true,
}

// What a till asks for: what became of a call, and the code of a card that was replaced by its first use.
const (
	requests = "requests/"
	newCards = "redemption/new-cards/"
)

// forward has the interface answer a call of a till, as one of the till's key.
func (t *tills) forward(w http.ResponseWriter, r *http.Request) {
	path, _ := strings.CutPrefix(r.URL.EscapedPath(), apiPath)
	key, asks := strings.CutPrefix(path, requests)
	entry, card := strings.CutPrefix(path, newCards)
	switch {
	case asks && r.Method != http.MethodPost && key != "" && !strings.Contains(key, "/"):
	case card && r.Method != http.MethodPost && entry != "" && !strings.Contains(entry, "/"):
	case reachable[path] && r.Method == http.MethodPost:
	default:
		t.Service.Fail(w, r, http.StatusNotFound)
		return
	}
	if _, err := t.session(r, time.Now()); err != nil {
		t.Service.JSON(func(c *service.Call) (answer, error) { return nil, t.unpaired(c, err) }).ServeHTTP(w, r)
		return
	}
	inner := r.Clone(service.WithCaller(r.Context(), func(now time.Time) (*merchant.Caller, error) {
		s, err := t.session(r, now)
		if err != nil {
			return nil, err
		}
		if asks || card { // what became of a call, whoever made it
			return s.caller, nil
		}
		return s.caller.By(s.person), nil
	}))
	inner.URL = &url.URL{Path: "/" + unescaped(path), RawPath: "/" + path, RawQuery: r.URL.RawQuery}
	t.Operations.ServeHTTP(w, inner)
	r.Pattern = inner.Pattern // for the log and the metrics
}

// unescaped is a path that a server has taken, so that it can be read.
func unescaped(path string) string {
	plain, err := url.PathUnescape(path)
	if err != nil {
		return path
	}
	return plain
}
