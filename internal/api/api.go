// Package api is the JSON interface: it knows HTTP and JSON and nothing of SQL.
//
// A request becomes a typed value, with all that is wrong with it collected (package wire); the rules are those of
// package gift; what changes a balance or a status goes through the engine of package ledger, everything else is read
// from Records. Handlers give an answer or an error, and one adapter writes both. Nothing in an answer, a log line or
// an Event tells a caller's secrets or the reason of an internal failure.
package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/cashout"
	"boon.example/internal/clientip"
	"boon.example/internal/fair"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/reference"
	"boon.example/internal/refusal"
	"boon.example/internal/ticket"
	"boon.example/internal/wire"
)

// Version is the version of Boon: of the program, of its interface, which grows by addition only, and of its documents.
const Version = "0.2.0"

// Config is what the interface works with.
type Config struct {
	Engine    *ledger.Engine
	Records   Records
	Directory func() *gift.Directory // the newest set-up
	// Fingerprint is a keyed hash of a normalized request. It may change to that of another key, which Fingerprinted
	// then knows.
	Fingerprint func([]byte) [32]byte
	// Fingerprinted tells whether a fingerprint is that of a request, though made with an earlier key; nil: there was
	// only one.
	Fingerprinted func(fingerprint [32]byte, request []byte) (bool, error)
	Cursors       Cursors
	PublicURL     string // how recipients reach the gift page, and where /docs stands; without a slash at its end

	Email bool // whether e-mail can be delivered, by a gateway or into the outbox
	SMS   bool // whether text messages can
	// StoreTimeout is how long a call that has arrived waits for the store before it is answered UNAVAILABLE: what
	// others use as well may be away without a word. 0: as long as the call's own deadline.
	StoreTimeout time.Duration
	// Wake is told after gifts of a live or of a test account were issued or used, that there may be something to
	// deliver; nil: nobody is.
	Wake func(test bool)
	// Settle does what is due in a test account by its clock, as far as there is time for it, and tells how much is left;
	// nil: nothing is ever due.
	Settle func(ctx context.Context, account *gift.Account, within time.Duration) (left int, _ error)

	// Sheets prints cards of a stock as a PDF; nil: it cannot.
	Sheets func(ctx context.Context, account *gift.Account, cards []gift.Gift) ([]byte, error)
	// Printable tells whether all that can be seen of a text can be printed; nil: everything can.
	Printable  func(text string) bool
	CashOutLaw gift.CashOutLaw // where guests may ask for cash; nil: cashout.Law

	Hooks      Hooks // what the operations of webhooks need
	HooksAllow gift.WebhookNetworks

	Now           func() time.Time                   // nil: time.Now
	ClientAddress func(*http.Request) netip.Addr     // nil: that of the connection
	Note          func(ctx context.Context, e Event) // told of every request that was answered; nil: nobody is
	// GuessAlarm is told of the till at which a key reached gift.GuessAlarm misses; nil: nobody is.
	GuessAlarm func(ctx context.Context, at gift.Till)
	Admission  Admission    // nil: every call is handled at once
	Elsewhere  http.Handler // answers paths that are not the interface's; nil: they are NOT_FOUND
}

// API serves the JSON interface and leaves other paths to Config.Elsewhere.
type API struct {
	Config
	mux     *http.ServeMux
	unknown http.Handler // answers NOT_FOUND
	guesses *guessLimiter
	tests   *fair.Places // for calls of test accounts
	silent  fair.Share   // for those that are kept waiting on purpose
	prints  *fair.Places // for stocks that are printed
	pins    *fair.Places // for the hashes of PINs
	readers sync.Pool    // of *wire.Reader
	bodies  sync.Pool    // of *[trusted]byte
	writers sync.Pool    // of *wire.Writer
	tickets sync.Pool    // of *ticket.Memory, of validations: what the engine is asked may look at its ticket for longer
	memory  fair.Share   // for large bodies and answers
	hooks   hookLimiter
	told    keyNames
	seen    codesSeen
	docs    func() map[string]reference.Page
}

// Limits of one request.
const (
	maxBody            = 1 << 20
	maxOrderBody       = 2 << 20 // of send-gift
	maxOrderAnswer     = 8 << 20
	redemptionDeadline = 4 * time.Second // a till waits five
	otherDeadline      = 15 * time.Second
	heavyDeadline      = ledger.MaxHeld + 15*time.Second // of orders that are held back while tills are busy, and sheets
)

// New makes the interface.
func New(c Config) *API {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.CashOutLaw == nil {
		c.CashOutLaw = cashout.Law()
	}
	if c.Settle == nil {
		c.Settle = func(context.Context, *gift.Account, time.Duration) (int, error) { return 0, nil }
	}
	if c.Wake == nil {
		c.Wake = func(bool) {}
	}
	if c.Note == nil {
		c.Note = func(context.Context, Event) {}
	}
	if c.GuessAlarm == nil {
		c.GuessAlarm = func(context.Context, gift.Till) {}
	}
	if c.Admission == nil {
		c.Admission = unbounded{}
	}
	if c.ClientAddress == nil {
		c.ClientAddress = clientip.Peer
	}
	c.PublicURL = strings.TrimSuffix(c.PublicURL, "/")
	a := &API{Config: c, mux: http.NewServeMux(), guesses: newGuessLimiter(&c),
		prints: fair.New(1), pins: fair.New(1), tests: fair.NewShared(maxTests, maxTestsOfAccount)}
	a.readers.New = func() any { return new(wire.Reader) }
	a.bodies.New = func() any { return new([trusted]byte) }
	a.tickets.New = func() any { return new(ticket.Memory) }
	a.writers.New = func() any { w := wire.NewWriter(4 << 10); return &w }
	for pattern, methods := range byPattern() {
		a.mux.Handle(pattern, a.resource(methods))
	}
	a.docs = sync.OnceValue(func() map[string]reference.Page { return docPages(Version, a.PublicURL) })
	served := a.serveDocs()
	for _, pattern := range docPatterns {
		a.mux.Handle(pattern, served)
	}
	a.unknown = a.handler(func(*call) (ledger.Answer, error) { return ledger.Answer{}, nothingHere() })
	for _, pattern := range []string{root, root + "/", "/docs/"} {
		a.mux.Handle(pattern, a.unknown)
	}
	if a.Elsewhere == nil {
		a.Elsewhere = a.unknown
	}
	a.mux.Handle("/", a.Elsewhere)
	return a
}

// root is what the paths of all operations begin with.
const root = "/api"

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	Identify(w, r)
	if r.RequestURI == "*" || r.Method == http.MethodConnect { // without a path, the mux would answer in plain text
		a.unknown.ServeHTTP(w, r)
		return
	}
	sent := r.URL.EscapedPath()
	clean := path.Clean(sent)
	// the mux would redirect, and a POST lose its body
	if sent != clean && (clean == root || strings.HasPrefix(clean, root+"/")) {
		a.unknown.ServeHTTP(w, r)
		return
	}
	// some platforms write two slashes for one; what is below theirs leads nowhere else
	if whole := path.Clean(r.URL.Path); strings.HasPrefix(clean, foreign) {
		if !strings.HasPrefix(whole, foreign) {
			a.unknown.ServeHTTP(w, r)
			return
		}
		r.URL.Path, r.URL.RawPath = whole, ""
	}
	a.mux.ServeHTTP(w, r)
}

// foreign is what the paths of other protocols begin with.
const foreign = "/providers/"

// Route is one operation of the interface.
type Route struct {
	Method   string
	Pattern  string // as http.ServeMux takes it
	Priority Priority

	handle   handler
	deadline time.Duration
	needs    gift.Permissions // of the key; where there is an operation, its table says so
	anyKey   bool             // also for a system key; so, too
	// under which it keeps idempotency records; "": it keeps none, and an Idempotency-Key is ignored
	operation gift.Operation
}

// most is how long a body may be.
func (r *Route) most() int64 {
	if r.operation == gift.SendGift {
		return maxOrderBody
	}
	return maxBody
}

// handler does what a request asks for.
type handler func(*call) (ledger.Answer, error)

// Base is what the paths of operations begin with.
const (
	Base = root + "/integration"
	base = Base
)

// Routes lists every operation. HEAD is answered as GET.
func Routes() []Route {
	all := slices.Concat(giftingRoutes(), redemptionRoutes(), readingRoutes(), testRoutes(), webhookRoutes(), tillRoutes())
	for n := range all {
		if op := all[n].operation; op != "" {
			all[n].needs, all[n].anyKey = op.Needs(), op.ForSystemKeys()
		}
	}
	return all
}

func giftingRoutes() []Route {
	return []Route{
		{Method: "POST", Pattern: base + "/gifting/send-gift", Priority: PriorityWrite,
			handle: sendGift, deadline: otherDeadline, operation: gift.SendGift},
		{Method: "POST", Pattern: base + "/gifting/cancel-gift", Priority: PriorityWrite,
			handle: cancelGift, deadline: otherDeadline, operation: gift.CancelGift},
		{Method: "POST", Pattern: base + "/gifting/reinstate-gift", Priority: PriorityWrite,
			handle: reinstateGift, deadline: otherDeadline, operation: gift.ReinstateGift},
		{Method: "POST", Pattern: base + "/gifting/resend-gift", Priority: PriorityWrite,
			handle: resendGift, deadline: otherDeadline, operation: gift.ResendGift},
		{Method: "POST", Pattern: base + "/gifting/reschedule-gift", Priority: PriorityWrite,
			handle: rescheduleGift, deadline: otherDeadline, operation: gift.RescheduleGift},
		{Method: "POST", Pattern: base + "/gifting/replace-gift", Priority: PriorityWrite,
			handle: replaceGift, deadline: otherDeadline, operation: gift.ReplaceGift},
		{Method: "POST", Pattern: base + "/gifting/transfer-balance", Priority: PriorityWrite,
			handle: transferBalance, deadline: otherDeadline, operation: gift.TransferBalance},
		{Method: "POST", Pattern: base + "/gifting/block-gift", Priority: PriorityWrite,
			handle: blockGift, deadline: otherDeadline, operation: gift.BlockGift},
		{Method: "POST", Pattern: base + "/gifting/unblock-gift", Priority: PriorityWrite,
			handle: unblockGift, deadline: otherDeadline, operation: gift.UnblockGift},
		{Method: "POST", Pattern: base + "/gifting/adjust-gift", Priority: PriorityWrite,
			handle: adjustGift, deadline: otherDeadline, operation: gift.AdjustGift},
		{Method: "POST", Pattern: base + "/gifting/extend-gift", Priority: PriorityWrite,
			handle: extendGift, deadline: otherDeadline, operation: gift.ExtendGift},
		{Method: "POST", Pattern: base + "/gifting/create-stock", Priority: PriorityWrite,
			handle: createStock, deadline: otherDeadline, operation: gift.CreateStock},
	}
}

func redemptionRoutes() []Route {
	return []Route{
		{Method: "POST", Pattern: base + "/redemption/validate-gift", Priority: PriorityValidate,
			handle: validateGift, deadline: redemptionDeadline, needs: gift.MayValidate},
		{Method: "POST", Pattern: base + "/redemption/redeem-gift", Priority: PriorityRedeem,
			handle: redeemGift, deadline: redemptionDeadline, operation: gift.RedeemGift},
		{Method: "POST", Pattern: base + "/redemption/hold-gift", Priority: PriorityRedeem,
			handle: holdGift, deadline: redemptionDeadline, operation: gift.HoldGift},
		{Method: "POST", Pattern: base + "/redemption/capture-hold", Priority: PriorityRedeem,
			handle: captureHold, deadline: redemptionDeadline, operation: gift.CaptureHold},
		{Method: "POST", Pattern: base + "/redemption/release-hold", Priority: PriorityRedeem,
			handle: releaseHold, deadline: redemptionDeadline, operation: gift.ReleaseHold},
		{Method: "POST", Pattern: base + "/redemption/reverse-redemption", Priority: PriorityRedeem,
			handle: reverseRedemption, deadline: redemptionDeadline, operation: gift.ReverseRedemption},
		{Method: "POST", Pattern: base + "/redemption/activate-gift", Priority: PriorityRedeem,
			handle: activateGift, deadline: redemptionDeadline, operation: gift.ActivateGift},
		{Method: "POST", Pattern: base + "/redemption/reverse-activation", Priority: PriorityRedeem,
			handle: reverseActivation, deadline: redemptionDeadline, operation: gift.ReverseActivation},
		{Method: "POST", Pattern: base + "/redemption/reload-gift", Priority: PriorityRedeem,
			handle: reloadGift, deadline: redemptionDeadline, operation: gift.ReloadGift},
		{Method: "POST", Pattern: base + "/redemption/cash-out-gift", Priority: PriorityRedeem,
			handle: cashOutGift, deadline: redemptionDeadline, operation: gift.CashOutGift},
		{Method: "POST", Pattern: base + "/redemption/reverse-reload", Priority: PriorityRedeem,
			handle: reverseReload, deadline: redemptionDeadline, operation: gift.ReverseReload},
	}
}

func readingRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: base + "/gifting/gifts", Priority: PriorityRead,
			handle: listGifts, deadline: otherDeadline, needs: gift.MayLookUp, anyKey: true},
		{Method: "GET", Pattern: base + "/gifting/orders/{orderID}/stock", Priority: PriorityRead,
			handle: exportStock, deadline: otherDeadline, needs: gift.MayExport},
		{Method: "GET", Pattern: base + "/gifting/activity", Priority: PriorityRead,
			handle: listActivity, deadline: otherDeadline, needs: gift.MayLookUp},
		{Method: "GET", Pattern: base + "/events", Priority: PriorityRead,
			handle: listEvents, deadline: eventDeadline, needs: gift.MaySeeEvents},
		{Method: "GET", Pattern: base + "/audit", Priority: PriorityRead,
			handle: listTrail, deadline: otherDeadline, needs: gift.MayAudit},
		{Method: "GET", Pattern: base + "/gifting/gifts/{voucherID}", Priority: PriorityRead,
			handle: showGift, deadline: otherDeadline, needs: gift.MayLookUp, anyKey: true},
		{Method: "GET", Pattern: base + "/gifting/gifts/{voucherID}/history", Priority: PriorityRead,
			handle: showHistory, deadline: otherDeadline, needs: gift.MayLookUp, anyKey: true},
		{Method: "GET", Pattern: base + "/requests/{key}", Priority: PriorityRead,
			handle: showRequests, deadline: otherDeadline, anyKey: true},
	}
}

func byPattern() map[string][]Route {
	patterns := map[string][]Route{}
	for _, r := range Routes() {
		patterns[r.Pattern] = append(patterns[r.Pattern], r)
	}
	return patterns
}

// resource answers one pattern, by method.
func (a *API) resource(routes []Route) http.Handler {
	var allowed []string
	for _, r := range routes {
		allowed = append(allowed, r.Method)
		if r.Method == http.MethodGet {
			allowed = append(allowed, http.MethodHead)
		}
	}
	allow := strings.Join(allowed, ", ")
	return a.handler(func(c *call) (ledger.Answer, error) {
		method := c.r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		for _, r := range routes {
			if r.Method == method {
				return c.run(r)
			}
		}
		return ledger.Answer{}, c.wrongMethod(allow)
	})
}

func (c *call) wrongMethod(allow string) error {
	c.w.Header().Set("Allow", allow)
	return refuseWith(http.StatusMethodNotAllowed, refusal.NotSupported, "", "This address takes "+allow+" only.")
}

// call is one request on its way to an answer.
type call struct {
	*API
	ctx       context.Context
	w         http.ResponseWriter
	r         *http.Request
	requestID string
	now       time.Time
	route     Route
	caller    *gift.Caller
	account   *gift.Account          // the caller's; nil for a system key, until it has named one
	setup     int64                  // the version of the set-up that says so, or of an older one
	clocks    map[guid.ID]gift.Clock // of the test accounts that the caller may act for
	key       string                 // the Idempotency-Key, "" none
	location  guid.ID                // where it is made, for the log; zero: not said
	warning   string                 // for the log; "": none
	codes     int                    // that a look-up shows
	body      []byte                 // of a POST, whole
	lent      *[trusted]byte         // where it lies, if that is used again
	unread    bool                   // it is no JSON object
	memory    int                    // bytes that hold counted
	payer     *guid.ID               // for whom; nil: there were few
	leave     func()                 // gives the call's place in flight back
	media     string                 // of the answer, if it succeeds; "": JSON
}

// run reads the call, waits until it is admitted, and hands it to its handler.
func (c *call) run(r Route) (_ ledger.Answer, err error) {
	if err := c.authorize(r); err != nil {
		return ledger.Answer{}, err
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), r.deadline)
	defer cancel()
	if r.Method == http.MethodPost || r.Method == http.MethodPatch {
		if c.body, err = c.readBody(r.most()); err != nil {
			return ledger.Answer{}, err
		}
		// A body may take its time, and the key may be revoked or have expired meanwhile.
		c.now = c.Now().UTC()
		if err := c.authorize(r); err != nil {
			return ledger.Answer{}, err
		}
	}
	if !c.admit(ctx, r.Priority) {
		return ledger.Answer{}, errOverloaded
	}
	defer c.leave()
	c.ctx, cancel = c.withStoreTimeout(ctx)
	defer cancel()
	if err := c.readClocks(); err != nil {
		return ledger.Answer{}, err
	}
	c.enter(c.account)
	return r.handle(c)
}

// authorize tells who calls and whether they may make this call from where they are, by what holds now.
func (c *call) authorize(r Route) (err error) {
	c.setup = c.Directory().Version
	if c.caller, err = c.authenticate(); err != nil {
		return err
	}
	c.account, c.route = c.caller.Account, r
	if err = c.from(c.caller.Networks); err != nil {
		return err
	}
	return c.caller.Permit(r.needs, r.anyKey)
}

// withStoreTimeout is the context of what waits for the store.
func (a *API) withStoreTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.StoreTimeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, a.StoreTimeout)
}

// handler is the one place where answers and errors are written.
func (a *API) handler(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{API: a, ctx: r.Context(), w: w, r: r, requestID: Identify(w, r), now: a.Now().UTC()}
		defer c.release()
		answer, err := attempt(c, h)
		if err == nil {
			answer, err = c.whole(c.route.operation, answer)
		}
		if err == nil && r.Method == http.MethodGet { // of others that is known before
			err = c.hold(len(answer.Body) - c.memory)
		}
		status := statusOf(answer.Code)
		event := c.event(err)
		if err != nil {
			status, answer = c.problem(err)
		}
		if !answer.Succeeded() {
			event.Code = answer.Code
		}
		c.write(status, answer)
		a.Note(r.Context(), event)
	})
}

// event is what the call came to, but for its code.
func (c *call) event(err error) Event {
	event := Event{RequestID: c.requestID, Overloaded: errors.Is(err, errOverloaded), Err: hidden(err), Warning: c.warning,
		Codes: c.codes}
	if c.account != nil {
		event.AccountID = c.account.ID
	}
	if c.caller != nil {
		event.KeyID, event.KeyName, event.LocationID = c.caller.KeyID, c.caller.Name, c.location
		event.Person = c.caller.Person
		if len(c.caller.Locations) == 1 && c.location.IsZero() {
			event.LocationID = c.caller.Locations[0]
		}
	}
	return event
}

// attempt turns a panic into an error.
func attempt(c *call, h handler) (answer ledger.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return h(c)
}

// whole gives an answer of an operation with its body, as the caller may see it.
func (c *call) whole(op gift.Operation, a ledger.Answer) (_ ledger.Answer, err error) {
	if statusOf(a.Code) == 0 {
		return ledger.Answer{}, fmt.Errorf("an answer with the code %q, which there is not, or none and no error",
			string(a.Code))
	}
	if a.Long.Size == 0 {
		return c.mask(op, a)
	}
	if err := c.hold(a.Long.Size - c.memory); err != nil {
		return ledger.Answer{}, err
	}
	if a.Body, err = c.Records.LongAnswer(c.r.Context(), a.Long); err != nil {
		return ledger.Answer{}, stored(err)
	}
	a.Long = ledger.Long{}
	return c.mask(op, a)
}

func (c *call) write(status int, a ledger.Answer) {
	h := c.w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Type", cmp.Or(c.media, "application/json"))
	if !a.Succeeded() {
		h.Set("Content-Type", "application/problem+json")
	}
	if a.Replayed {
		h.Set("Idempotent-Replayed", "true")
	}
	h.Set("Content-Length", strconv.Itoa(len(a.Body))) // else net/http sends what is not short in chunks
	c.w.WriteHeader(status)
	c.w.Write(a.Body) // a caller that has gone is no failure of ours
}

// Identify names the answer: with the caller's X-Request-ID when it is one good one, else with a new one, and with
// the interface's version. An answer that has a name keeps it.
func Identify(w http.ResponseWriter, r *http.Request) (id string) {
	h := w.Header()
	if id = h.Get("X-Request-ID"); id != "" {
		return id
	}
	if id = r.Header.Get("X-Request-ID"); !goodRequestID(id) || len(r.Header.Values("X-Request-ID")) > 1 {
		id = uuid.Must(uuid.NewV7()).String()
	}
	h.Set("X-Request-ID", id)
	h.Set("Boon-Version", Version)
	return id
}

func goodRequestID(id string) bool {
	for _, b := range []byte(id) {
		switch {
		case b >= 'A' && b <= 'Z', b >= 'a' && b <= 'z', b >= '0' && b <= '9', b == '_', b == '.', b == '-':
		default:
			return false
		}
	}
	return id != "" && len(id) <= 64
}

// hidden is what an operator, but no caller, should hear of a failure.
func hidden(err error) error {
	refused, ok := errors.AsType[*refusal.Error](err)
	if !ok || refused.Code == refusal.UnexpectedError || refused.Code == refusal.Unavailable {
		return err
	}
	return nil
}
