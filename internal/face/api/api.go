// Package api is the JSON interface: it knows HTTP and JSON and nothing of SQL.
//
// A request becomes a typed value, with all that is wrong with it collected (package wire); the rules are those of
// package gift; what changes a balance or a status goes through the engine of package ledger, everything else is read
// from Records. Handlers give an answer or an error, and one adapter writes both. Nothing in an answer, a log line or
// an Event tells a caller's secrets or the reason of an internal failure.
package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"boon.example/internal/base/admission"
	"boon.example/internal/base/fair"
	"boon.example/internal/base/phrase"
	"boon.example/internal/face/api/gifts"
	"boon.example/internal/face/api/manage"
	"boon.example/internal/face/api/payload"
	"boon.example/internal/face/api/reports"
	"boon.example/internal/face/reference"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// Config is what the interface works with.
type Config struct {
	*service.Service
	Records Records
	Cursors manage.Cursors

	Email bool // whether e-mail can be delivered, by a gateway or into the outbox
	SMS   bool // whether text messages can
	// CatchUp does what is due in a test account by its clock, as far as there is time for it, and tells how much is left;
	// nil: nothing is ever due.
	CatchUp func(ctx context.Context, account *merchant.Account, within time.Duration) (left int, _ error)

	// Sheets prints cards of a stock as a PDF; nil: it cannot.
	Sheets func(ctx context.Context, account *merchant.Account, cards []gift.Gift) ([]byte, error)
	// Printable tells whether all that can be seen of a text can be printed; nil: everything can.
	Printable func(text string) bool

	Hooks      manage.Hooks // what the operations of webhooks need
	HooksAllow merchant.WebhookNetworks
	Imports    manage.ImportConfig
}

// API serves the JSON interface.
type API struct {
	Config
	gifts   *gifts.Operations
	manage  *manage.Operations
	reports *reports.Operations
	told    keyNames
	seen    codesSeen
	docs    func() map[string]reference.Page
}

// Limits of one request.
const (
	maxBody            = 1 << 20
	maxOrderBody       = 2 << 20         // of send-gift
	redemptionDeadline = 4 * time.Second // a till waits five
	otherDeadline      = service.OtherDeadline
)

// New makes the interface.
func New(c Config) *API {
	if c.CatchUp == nil {
		c.CatchUp = func(context.Context, *merchant.Account, time.Duration) (int, error) { return 0, nil }
	}
	a := &API{Config: c, manage: manage.New(manage.Config{Records: c.Records, Cursors: c.Cursors, Sheets: c.Sheets,
		CatchUp: c.CatchUp, Hooks: c.Hooks, HooksAllow: c.HooksAllow, Imports: c.Imports})}
	a.reports = reports.New(c.Records, a.manage.CountChange)
	a.gifts = gifts.New(gifts.Config{Records: c.Records, Email: c.Email, SMS: c.SMS, Printable: c.Printable})
	a.docs = sync.OnceValue(func() map[string]reference.Page { return docPages(service.Version, a.PublicURL()) })
	return a
}

// Register puts the operations and the pages about them into a mux.
func (a *API) Register(mux *http.ServeMux) {
	for pattern, methods := range byPattern() {
		mux.Handle(pattern, a.resource(methods))
	}
	docs := a.Page(a.serveDocs())
	for _, pattern := range docPatterns {
		mux.Handle(pattern, docs)
	}
	mux.Handle("/docs/", a.Page(http.HandlerFunc(a.nothing)))
	mux.HandleFunc(Root, a.nothing)
	mux.HandleFunc(Root+"/", a.nothing)
}

func (a *API) nothing(w http.ResponseWriter, r *http.Request) { a.Fail(w, r, http.StatusNotFound) }

// Reading are the places in which reports read the books, for whoever else reads them.
func (a *API) Reading() *fair.Places { return a.reports.Places }

// Operations carries out the operations by their paths below those of the interface: /redemption/redeem-gift.
func (a *API) Operations() http.Handler {
	mux := http.NewServeMux()
	a.Register(mux)
	front := a.Front(mux, Root, "")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path, r.URL.RawPath = base+r.URL.Path, base+r.URL.RawPath
		r.RequestURI = r.URL.RequestURI()
		front.ServeHTTP(w, r)
	})
}

// Root is what the paths of all operations begin with.
const Root = "/api"

// Route is one operation of the interface.
type Route struct {
	Method   string
	Pattern  string // as http.ServeMux takes it
	Priority admission.Priority

	handle   handler
	deadline time.Duration
	needs    merchant.Permissions // of the key; where there is an operation, its table says so
	anyKey   bool                 // also for a system key; so, too
	uploads  bool                 // its body is a file, which the handler reads itself
	// under which it keeps idempotency records; "": it keeps none, and an Idempotency-Key is ignored
	operation operation.Name
	receipt   bool // its answer may have a receipt
}

// most is how long a body may be.
func (r *Route) most() int64 {
	if r.operation == operation.SendGift {
		return maxOrderBody
	}
	return maxBody
}

// handler does what a request asks for.
type handler func(*call) (ledger.Answer, error)

// onGifts is a handler of package gifts.
func onGifts(h gifts.Handler) handler {
	return func(c *call) (ledger.Answer, error) {
		return h(&gifts.Call{Call: &c.Call, Operations: c.gifts, Operation: c.route.operation, Receipt: c.receipt})
	}
}

// managed is a handler of package manage.
func managed(h func(*manage.Call) (ledger.Answer, error)) handler {
	return func(c *call) (ledger.Answer, error) { return h(&manage.Call{Call: &c.Call, Operations: c.manage}) }
}

// base is what the paths of operations begin with, but for those of test mode.
const base = Root + "/integration"

// Routes lists every operation. HEAD is answered as GET.
func Routes() []Route {
	all := slices.Concat(giftingRoutes(), careRoutes(), redemptionRoutes(), readingRoutes(), testRoutes(),
		webhookRoutes(), tillRoutes(), reportRoutes(), exportRoutes(), importRoutes())
	for n := range all {
		if op := all[n].operation; op != "" {
			all[n].needs, all[n].anyKey = op.Needs(), op.ForSystemKeys()
		}
	}
	return all
}

func giftingRoutes() []Route {
	return []Route{
		{Method: "POST", Pattern: base + "/gifting/send-gift", Priority: admission.Write,
			handle: onGifts(gifts.SendGift), deadline: otherDeadline, operation: operation.SendGift},
		{Method: "POST", Pattern: base + "/gifting/cancel-gift", Priority: admission.Write,
			handle: onGifts(gifts.CancelGift), deadline: otherDeadline, operation: operation.CancelGift},
		{Method: "POST", Pattern: base + "/gifting/reinstate-gift", Priority: admission.Write,
			handle: onGifts(gifts.ReinstateGift), deadline: otherDeadline, operation: operation.ReinstateGift},
		{Method: "POST", Pattern: base + "/gifting/resend-gift", Priority: admission.Write,
			handle: onGifts(gifts.ResendGift), deadline: otherDeadline, operation: operation.ResendGift},
		{Method: "POST", Pattern: base + "/gifting/reschedule-gift", Priority: admission.Write,
			handle: onGifts(gifts.RescheduleGift), deadline: otherDeadline, operation: operation.RescheduleGift},
		{Method: "POST", Pattern: base + "/gifting/replace-gift", Priority: admission.Write,
			handle: onGifts(gifts.ReplaceGift), deadline: otherDeadline, operation: operation.ReplaceGift},
		{Method: "POST", Pattern: base + "/gifting/transfer-balance", Priority: admission.Write,
			handle: onGifts(gifts.TransferBalance), deadline: otherDeadline, operation: operation.TransferBalance},
		{Method: "POST", Pattern: base + "/gifting/create-stock", Priority: admission.Write,
			handle: onGifts(gifts.CreateStock), deadline: otherDeadline, operation: operation.CreateStock},
	}
}

func redemptionRoutes() []Route {
	return []Route{
		{Method: "POST", Pattern: base + "/redemption/validate-gift", Priority: admission.Validate,
			handle: onGifts(gifts.ValidateGift), deadline: redemptionDeadline, needs: merchant.MayValidate},
		{Method: "POST", Pattern: base + "/redemption/redeem-gift", Priority: admission.Redeem,
			handle: onGifts(gifts.Rehearsed(gifts.RedeemGift)), deadline: redemptionDeadline, operation: operation.RedeemGift,
			receipt: true},
		{Method: "POST", Pattern: base + "/redemption/redeem-gifts", Priority: admission.Redeem,
			handle: onGifts(gifts.RedeemGifts), deadline: redemptionDeadline, operation: operation.RedeemGifts},
		{Method: "POST", Pattern: base + "/redemption/hold-gift", Priority: admission.Redeem,
			handle: onGifts(gifts.HoldGift), deadline: redemptionDeadline, operation: operation.HoldGift},
		{Method: "POST", Pattern: base + "/redemption/capture-hold", Priority: admission.Redeem,
			handle: onGifts(gifts.CaptureHold), deadline: redemptionDeadline, operation: operation.CaptureHold, receipt: true},
		{Method: "GET", Pattern: base + "/redemption/new-cards/{entryID}", Priority: admission.Validate,
			handle: showNewCard, deadline: redemptionDeadline, needs: merchant.MayRedeem},
		{Method: "POST", Pattern: base + "/redemption/release-hold", Priority: admission.Redeem,
			handle: onGifts(gifts.ReleaseHold), deadline: redemptionDeadline, operation: operation.ReleaseHold},
		{Method: "POST", Pattern: base + "/redemption/reverse-redemption", Priority: admission.Redeem,
			handle: onGifts(gifts.ReverseRedemption), deadline: redemptionDeadline, operation: operation.ReverseRedemption},
		{Method: "POST", Pattern: base + "/redemption/activate-gift", Priority: admission.Redeem,
			handle: onGifts(gifts.ActivateGift), deadline: redemptionDeadline, operation: operation.ActivateGift, receipt: true},
		{Method: "POST", Pattern: base + "/redemption/reverse-activation", Priority: admission.Redeem,
			handle: onGifts(gifts.ReverseActivation), deadline: redemptionDeadline, operation: operation.ReverseActivation},
		{Method: "POST", Pattern: base + "/redemption/reload-gift", Priority: admission.Redeem,
			handle: onGifts(gifts.ReloadGift), deadline: redemptionDeadline, operation: operation.ReloadGift, receipt: true},
		{Method: "POST", Pattern: base + "/redemption/cash-out-gift", Priority: admission.Redeem,
			handle: onGifts(gifts.CashOutGift), deadline: redemptionDeadline, operation: operation.CashOutGift, receipt: true},
		{Method: "POST", Pattern: base + "/redemption/reverse-reload", Priority: admission.Redeem,
			handle: onGifts(gifts.ReverseReload), deadline: redemptionDeadline, operation: operation.ReverseReload},
	}
}

func readingRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: base + "/gifting/gifts", Priority: admission.Read,
			handle: listGifts, deadline: otherDeadline, needs: merchant.MayLookUp, anyKey: true},
		{Method: "GET", Pattern: base + "/gifting/orders/{orderID}/stock", Priority: admission.Read,
			handle: managed(manage.ExportStock), deadline: otherDeadline, needs: merchant.MayExport},
		{Method: "GET", Pattern: base + "/gifting/activity", Priority: admission.Read,
			handle: listActivity, deadline: otherDeadline, needs: merchant.MayLookUp},
		{Method: "GET", Pattern: base + "/events", Priority: admission.Read,
			handle: managed(manage.ListEvents), deadline: manage.EventDeadline, needs: merchant.MaySeeEvents},
		{Method: "GET", Pattern: base + "/audit", Priority: admission.Read,
			handle: managed(manage.ListTrail), deadline: otherDeadline, needs: merchant.MayAudit},
		{Method: "GET", Pattern: base + "/gifting/gifts/{voucherID}", Priority: admission.Read,
			handle: showGift, deadline: otherDeadline, needs: merchant.MayLookUp, anyKey: true},
		{Method: "GET", Pattern: base + "/gifting/gifts/{voucherID}/history", Priority: admission.Read,
			handle: showHistory, deadline: otherDeadline, needs: merchant.MayLookUp, anyKey: true},
		{Method: "GET", Pattern: base + "/requests/{key}", Priority: admission.Read,
			handle: showRequests, deadline: otherDeadline, anyKey: true},
	}
}

func careRoutes() []Route {
	return []Route{
		{Method: "POST", Pattern: base + "/gifting/block-gift", Priority: admission.Write,
			handle: onGifts(gifts.BlockGift), deadline: otherDeadline, operation: operation.BlockGift},
		{Method: "POST", Pattern: base + "/gifting/unblock-gift", Priority: admission.Write,
			handle: onGifts(gifts.UnblockGift), deadline: otherDeadline, operation: operation.UnblockGift},
		{Method: "POST", Pattern: base + "/gifting/adjust-gift", Priority: admission.Write,
			handle: onGifts(gifts.AdjustGift), deadline: otherDeadline, operation: operation.AdjustGift},
		{Method: "POST", Pattern: base + "/gifting/extend-gift", Priority: admission.Write,
			handle: onGifts(gifts.ExtendGift), deadline: otherDeadline, operation: operation.ExtendGift},
		{Method: "POST", Pattern: base + "/gifting/link-customer", Priority: admission.Write,
			handle: onGifts(gifts.LinkCustomer), deadline: otherDeadline, operation: operation.LinkCustomer},
		{Method: "POST", Pattern: base + "/gifting/unlink-customer", Priority: admission.Write,
			handle: onGifts(gifts.UnlinkCustomer), deadline: otherDeadline, operation: operation.UnlinkCustomer},
	}
}

func webhookRoutes() []Route {
	change := Route{Priority: admission.Write, deadline: otherDeadline, needs: merchant.MayWebhooks}
	read := Route{Priority: admission.Read, deadline: otherDeadline, needs: merchant.MayWebhooks}
	at := func(r Route, method, path string, h func(*manage.Call) (ledger.Answer, error)) Route {
		r.Method, r.Pattern = method, base+"/webhooks"+path
		r.handle = func(c *call) (ledger.Answer, error) {
			if err := c.Caller.CheckWebhook(); err != nil {
				return ledger.Answer{}, err
			}
			return managed(h)(c)
		}
		return r
	}
	const one = "/{webhookID}"
	return []Route{
		at(change, "POST", "", manage.CreateWebhook), at(read, "GET", "", manage.ListWebhooks),
		at(read, "GET", one, manage.ShowWebhook),
		at(change, "PATCH", one, manage.ChangeWebhook), at(change, "DELETE", one, manage.DeleteWebhook),
		at(change, "POST", one+"/rotate-secret", manage.RotateWebhook),
		at(change, "POST", one+"/replay", manage.ReplayWebhook),
		at(read, "GET", one+"/attempts", manage.ListAttempts),
	}
}

func tillRoutes() []Route {
	change := Route{Priority: admission.Write, deadline: otherDeadline, needs: merchant.MayTills}
	read := Route{Priority: admission.Read, deadline: otherDeadline, needs: merchant.MayTills}
	at := func(r Route, method, path string, h func(*manage.Call) (ledger.Answer, error)) Route {
		r.Method, r.Pattern, r.handle = method, base+path, managed(h)
		return r
	}
	return []Route{
		at(change, "POST", "/tills", manage.PairTill), at(read, "GET", "/tills", manage.ListTills),
		at(change, "DELETE", "/tills/{keyID}", manage.RevokeTill),
		at(read, "GET", "/people", manage.ListPeople), at(change, "POST", "/people/set-pin", manage.SetPIN),
	}
}

func reportRoutes() (all []Route) {
	for n := range reports.Kinds {
		kind := &reports.Kinds[n]
		all = append(all, Route{Method: "GET", Pattern: base + "/reports/" + kind.Name, Priority: admission.Read,
			handle: func(c *call) (ledger.Answer, error) {
				return kind.Make(&reports.Call{Call: &c.Call, Operations: c.reports})
			},
			deadline: otherDeadline, needs: merchant.MayReport})
	}
	all = append(all, Route{Method: "POST", Pattern: base + "/reports/breakage/book", Priority: admission.Write,
		handle: func(c *call) (ledger.Answer, error) {
			return reports.BookBreakage(&reports.Call{Call: &c.Call, Operations: c.reports})
		},
		deadline: otherDeadline, needs: merchant.MayReport})
	return append(all, Route{Method: "GET", Pattern: base + "/reports/journal", Priority: admission.Read,
		handle: func(c *call) (ledger.Answer, error) {
			return reports.MakeJournal(&reports.Call{Call: &c.Call, Operations: c.reports})
		},
		deadline: otherDeadline, needs: merchant.MayReport})
}

func exportRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: base + "/exports/gifts", Priority: admission.Read,
			handle: managed(manage.ExportGifts), deadline: otherDeadline, needs: merchant.MayExport},
		{Method: "GET", Pattern: base + "/exports/entries", Priority: admission.Read,
			handle: managed(manage.ExportEntries), deadline: otherDeadline, needs: merchant.MayExport},
	}
}

func importRoutes() []Route {
	at := func(p admission.Priority, method, path string, h func(*manage.Call) (ledger.Answer, error)) Route {
		r := Route{Method: method, Pattern: base + "/imports" + path, Priority: p, handle: managed(h),
			deadline: otherDeadline, needs: merchant.MayImport, uploads: method == "POST"}
		if p == admission.Write { // whoever imports learns which codes are in use
			r.needs |= merchant.MaySeeCodes
		}
		return r
	}
	const one = "/{importID}"
	return []Route{at(admission.Write, "POST", "/check", manage.CheckImport),
		at(admission.Write, "POST", "", manage.ImportGifts), at(admission.Read, "GET", "", manage.ListImports),
		at(admission.Read, "GET", one, manage.ShowImport), at(admission.Write, "DELETE", one, manage.UndoImport),
		at(admission.Read, "GET", one+"/certificate", manage.ShowCertificate)}
}

func testRoutes() []Route {
	const clock = Root + "/test/clock"
	return []Route{
		{Method: "GET", Pattern: clock, Priority: admission.Read,
			handle: managed(manage.ShowClock), deadline: otherDeadline},
		{Method: "POST", Pattern: clock, Priority: admission.Write,
			handle: managed(manage.AdvanceClock), deadline: otherDeadline},
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
		method := c.HTTP.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		for _, r := range routes {
			if r.Method == method {
				return c.run(r)
			}
		}
		return ledger.Answer{}, service.WrongMethod(c.Writer, allow)
	})
}

// call is one request on its way to an answer.
type call struct {
	service.Call
	*API
	route   Route
	receipt bool // its answer is to have one
}

// run has the call be admitted, and hands it to its handler.
func (c *call) run(r Route) (ledger.Answer, error) {
	c.route = r
	unread := c.readParameters()
	terms := service.Terms{Priority: r.Priority, Within: r.deadline, Needs: r.needs, AnyKey: r.anyKey}
	if (r.Method == http.MethodPost || r.Method == http.MethodPatch) && !r.uploads {
		terms.Body = r.most()
	}
	if err := c.Admit(terms); err != nil {
		return ledger.Answer{}, err
	}
	if unread != nil {
		return ledger.Answer{}, unread
	}
	answer, err := r.handle(c)
	if told := r.operation.CardTold(); told == operation.OldCard || told == operation.ReplacedCard {
		c.showsCodes(payload.CodesIn(answer.Body))
	}
	return answer, err
}

// readParameters reads whether a call is a dry run, and whether its answer is to have a receipt. What has no dry run is
// refused, as its caller does not mean it in earnest; what changes nothing takes no notice.
func (c *call) readParameters() error {
	const dryRun, receipt = "dryRun", "receipt"
	if c.HTTP.Method == http.MethodGet || c.HTTP.Method == http.MethodHead || c.HTTP.URL.RawQuery == "" ||
		c.route.needs == merchant.MayValidate {
		return nil
	}
	q := wire.ReadQuery(c.HTTP.URL.RawQuery)
	for _, name := range q.Names() {
		if name != dryRun && strings.EqualFold(name, dryRun) {
			q.Add(name, "This parameter is written %s.", dryRun)
		}
	}
	if err := q.Err(); err != nil && !strings.Contains(strings.ToLower(c.HTTP.URL.RawQuery), strings.ToLower(dryRun)) {
		return nil // what else cannot be read is nobody's
	}
	dry := isTrue(q, dryRun, "to be told what the call would be answered")
	switch err := q.Err(); {
	case err != nil:
		return err
	case dry && c.route.operation == "":
		return service.RefuseAt(refusal.NotSupported, dryRun, "This operation has no dry run, so nothing was done.")
	}
	if c.DryRun = dry; c.route.receipt {
		c.receipt = isTrue(q, receipt, "to get a receipt for the till to print")
	}
	return q.Err()
}

// isTrue reads a parameter that asks for something.
func isTrue(q *wire.Query, name string, why phrase.Text) bool {
	asked := q.Text(name)
	if q.Given(name) && asked != "true" && asked != "false" { // also without a value: who sends it asks for something
		q.Add(name, "Send %[1]s=true %[2]s, or leave %[1]s out.", name, why)
	}
	return asked == "true"
}

// handler answers calls with what h answers.
func (a *API) handler(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{API: a}
		a.Serve(w, r, &c.Call, func() service.Reply {
			answer, err := h(c)
			c.Leave()
			if err == nil {
				answer, err = c.whole(c.route.operation, answer)
			}
			return c.Reply(answer, err)
		})
	})
}

// whole gives an answer of an operation with its body, as the caller may see it.
func (c *call) whole(op operation.Name, a ledger.Answer) (_ ledger.Answer, err error) {
	if a, err = c.Whole(a); err != nil {
		return ledger.Answer{}, err
	}
	return c.mask(op, a)
}
