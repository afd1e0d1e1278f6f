// Package web is what people see of the service: the gift page that a QR code opens, the outbox of development, and a
// front page.
//
// Pages are plain HTML, rendered on the server into a buffer, so that a page is whole or an error. They need no script
// (the gift page has a small one for a button or two), load nothing from another host, and opening one never changes
// anything: link previews and scanners open them too. Only the forms of "my gifts" change something. The package
// decides nothing about a gift; it asks package card what to show.
package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"html/template"
	"log/slog"
	"mime"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/base/clientip"
	"boon.example/internal/base/fair"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
	"boon.example/internal/post/locale"
	"boon.example/internal/post/message"
	"boon.example/internal/post/print"
	"boon.example/internal/refusal"
)

// Config is what the pages read from.
type Config struct {
	PublicURL string // the base of the addresses in QR codes
	Gifts     Gifts
	Directory func() *merchant.Directory
	Messages  Outbox       // nil: there is no outbox
	Fonts     *print.Fonts // nil: the built-in ones
	Printer   *fair.Places // shares out who prints an order, with whoever else prints some; nil: one place
	Log       *slog.Logger

	// Order finds the order that the token in the address of a printed sheet is for; refusal.NotFound when there is none,
	// or none any more.
	Order func(context.Context, codes.Token) (account, order guid.ID, err error)
	// Clock reads the clock of a test account.
	Clock func(ctx context.Context, account guid.ID) (merchant.Clock, error)
	// Phones keeps which phones have passes, Proofs proves that one has a pass, and Registered is told of a phone that has
	// just got one; nil Phones: passes do not change.
	Phones     Phones
	Proofs     Proofs
	Registered func(event.PassDevice)

	// Guests keeps who looks at their gifts; nil: nobody can. Email and SMS tell which messages live accounts can send.
	// SameOrigin refuses forms of other origins; nil: those of other hosts.
	Guests     Guests
	Email, SMS bool
	SameOrigin func(http.Handler) http.Handler

	ClientAddress func(*http.Request) netip.Addr // nil: that of the connection
	Away          func(error) bool               // tells that an error will pass: the store is away; nil: none does

	// Fail answers with a failure, by its status, a caller that does not ask for HTML; nil: everybody gets a page. Allow
	// and Retry-After are set.
	Fail func(w http.ResponseWriter, r *http.Request, status int)
	// Admit has requests for a page wait for their turn; nil: every one is answered at once.
	Admit func(http.Handler) http.Handler
}

// Gifts finds gifts for their page.
type Gifts interface {
	// GiftByToken finds a gift of any account; refusal.NotFound when there is none.
	GiftByToken(context.Context, codes.Token) (gift.Gift, error)
	// Gifts selects at most Filter.Limit gifts.
	Gifts(context.Context, gift.Filter) ([]gift.Gift, error)
	// History gives at most limit entries of a voucher after the one numbered seq, the oldest first.
	History(ctx context.Context, account, voucher guid.ID, seq, limit int) ([]gift.Entry, error)
	// Asset finds a picture of any account; refusal.NotFound when there is none.
	Asset(context.Context, merchant.AssetHash) (merchant.Asset, error)
}

// Outbox is where messages are kept instead of being sent.
type Outbox interface {
	// Messages gives at most limit messages, the newest first: those that are older than the one named; zero: all.
	Messages(ctx context.Context, before guid.ID, limit int) ([]message.Message, error)
	// Message gives one message with its pictures; refusal.NotFound when there is none.
	Message(context.Context, guid.ID) (message.Message, error)
	// Gift finds the gift of a message; refusal.NotFound when there is none.
	Gift(ctx context.Context, account, voucher guid.ID) (gift.Gift, error)
	// Source is a mail as it would have left.
	Source(*message.Message) ([]byte, error)
}

// site is the pages of one configuration.
type site struct {
	Config
	misses   misses
	printing *fair.Places // for the PDFs of one gift each
	sheets   *fair.Places // for the PDFs of orders
	passes   passes
	writes   misses // how often phones register and unregister, by gift
	asks     misses // how often links to gifts are asked for
	secure   bool   // cookies go over TLS only
}

// now is the time by the clock of an account.
func (s *site) now(ctx context.Context, a *merchant.Account) (time.Time, error) {
	now := time.Now()
	if !a.Test {
		return now, nil
	}
	clock, err := s.Clock(ctx, a.ID)
	return clock.Now(now), err
}

// Handler serves every page, a kind 404 for any other path among them. All answers carry the headers of secure.
func Handler(c Config) http.Handler {
	if c.ClientAddress == nil {
		c.ClientAddress = clientip.Peer
	}
	if c.Admit == nil {
		c.Admit = func(next http.Handler) http.Handler { return next }
	}
	if c.Away == nil {
		c.Away = func(error) bool { return false }
	}
	s := &site{Config: c, printing: fair.New(printers), sheets: cmp.Or(c.Printer, fair.New(sheetPrinters)),
		secure: strings.HasPrefix(c.PublicURL, "https://")}
	mux := http.NewServeMux()
	page := func(pattern string, h http.Handler) { mux.Handle(pattern, c.Admit(h)) }
	page("/{$}", s.page(s.front))
	page("/g/{token}", s.page(s.gift))
	// A request for a PDF or a pass waits for a printer, and keeps no place meanwhile.
	mux.Handle("/g/{token}"+card.PassPath, s.reads(http.HandlerFunc(s.applePass)))
	page("/g/{token}"+card.GooglePath, s.reads(http.HandlerFunc(s.googlePass)))
	s.phones(mux)
	s.my(mux)
	mux.Handle("/g/{token}"+PrintPath, s.prints(s.printGift))
	mux.Handle("/orders/{sheet}"+PrintPath, s.prints(s.printOrder))
	page("/assets/{hash}", s.reads(http.HandlerFunc(s.asset)))
	page("/style/{file}", s.reads(http.HandlerFunc(s.style)))
	if c.Messages != nil {
		page("/outbox", s.page(s.outbox))
		page("/outbox/{id}", s.page(s.message))
		page("/outbox/{id}/html", s.reads(http.HandlerFunc(s.messageHTML)))
		page("/outbox/{id}/mail.eml", s.reads(http.HandlerFunc(s.messageSource)))
	}
	// whatever the method
	page("/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, refusal.NotFound) }))
	return secure(mux)
}

// policy allows a page its own styles and images and nothing else.
const (
	policy  = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action "
	noForms = policy + "'none'"
)

// SetHeaders sets the headers of every page. The address of a gift page is a secret: it must not travel in a Referer,
// lie in a cache or be found by a search.
func SetHeaders(h http.Header) {
	h.Set("Content-Security-Policy", noForms)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Robots-Tag", "noindex, nofollow, noarchive")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
}

// secure sets the headers of every answer.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		SetHeaders(w.Header())
		next.ServeHTTP(w, r)
	})
}

// page is one page to be written.
type page struct {
	*locale.Locale // in whose language it is
	Title          string
	Preview        *preview // nil: none
	Accent         string   // rrggbb; "" the site's own
	Main           any      // what the template named by tmpl shows

	tmpl     *template.Template
	status   int      // 0: 200
	guests   bool     // it is for guests, in each of their languages
	frames   bool     // it may frame pages of this site
	forms    bool     // it has a form, which asks this site
	scripted bool     // it has the script of gift pages, without which it works too
	allow    string   // the Allow header of a 405
	kept     []string // what its address says beside the language: names and values by turns
}

// Style is the address of the style sheet.
func (page) Style() string { return "/style/" + sheetName }

// Script is the address of the script; "" on pages without one.
func (p page) Script() string {
	if !p.scripted {
		return ""
	}
	return "/style/" + scriptName
}

// AccentStyle is the address of the sheet that names the accent colour.
func (p page) AccentStyle() string { return "/style/" + accentPrefix + p.Accent + ".css" }

// ThemeLight and ThemeDark are the colours of the browser around the page: that of the card by day, of the ground by
// night.
func (p page) ThemeLight() string {
	if p.Accent == "" {
		return lightGrounds[0].String()
	}
	return "#" + p.Accent
}

// ThemeDark is described with ThemeLight.
func (page) ThemeDark() string { return darkGrounds[0].String() }

// reads refuses every method but GET and HEAD.
func (s *site) reads(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			s.refuseMethod(w, r, "GET, HEAD")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuseMethod tells which methods there are.
func (s *site) refuseMethod(w http.ResponseWriter, r *http.Request, allow string) {
	p := told(readIn(r, merchant.English), "page.method.title", tmplMethod, http.StatusMethodNotAllowed)
	p.allow = allow
	s.write(w, r, p)
}

// page writes what h makes. An error that is refusal.NotFound is the 404 page; any other is logged and is the 500 page,
// or the 503 page.
func (s *site) page(h func(*http.Request) (page, error)) http.Handler {
	return s.reads(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := h(r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.write(w, r, p)
	}))
}

// told is a page that tells a guest something and shows nothing.
func told(l *locale.Locale, title string, tmpl *template.Template, status int) page {
	return page{Locale: l, guests: true, Title: l.Text(title), tmpl: tmpl, status: status}
}

func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	l := readIn(r, merchant.English)
	if errors.Is(err, refusal.NotFound) {
		s.write(w, r, told(l, "page.missing.title", tmplNotFound, http.StatusNotFound))
		return
	}
	if gone, ok := errors.AsType[*replacedCard](err); ok {
		l = readIn(r, gone.reads())
		p := told(l, "page.replaced.title", tmplReplaced, http.StatusGone)
		p.Main = gone.day(l)
		s.write(w, r, p)
		return
	}
	if many, ok := errors.AsType[*tooMany](err); ok {
		w.Header().Set("Retry-After", many.seconds())
		p := told(l, "page.wait.title", tmplTooMany, http.StatusTooManyRequests)
		p.Main = many.links
		s.write(w, r, p)
		return
	}
	busy := errors.Is(err, errBusy)
	if !busy && r.Context().Err() == nil { // else the client has gone
		s.Log.Error("a page failed", "route", r.Pattern, "error", err)
	}
	status := http.StatusInternalServerError
	if busy || s.Away(err) {
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "1")
	}
	s.write(w, r, told(l, "page.failed.title", tmplFailed, status))
}

// AsksForHTML reports whether a request accepts HTML by name, as those of browsers do.
func AsksForHTML(r *http.Request) bool {
	for accepted := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		kind, params, err := mime.ParseMediaType(accepted)
		weight, bad := strconv.ParseFloat(cmp.Or(params["q"], "1"), 64)
		if err == nil && bad == nil && weight > 0 && (kind == "text/html" || kind == "application/xhtml+xml") {
			return true
		}
	}
	return false
}

// write renders a page and sends it whole.
func (s *site) write(w http.ResponseWriter, r *http.Request, p page) {
	if p.allow != "" {
		w.Header().Set("Allow", p.allow)
	}
	if p.status >= http.StatusBadRequest {
		w.Header().Add("Vary", "Accept")
		if s.Fail != nil && !p.forms && !AsksForHTML(r) { // who sends a form reads pages
			s.Fail(w, r, p.status)
			return
		}
	}
	var b bytes.Buffer
	if err := p.tmpl.Execute(&b, p); err != nil {
		s.Log.Error("rendering a page failed", "route", r.Pattern, "error", err)
		http.Error(w, "Something went wrong. Please try again.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Language", string(p.Language()))
	if p.guests {
		h.Add("Vary", "Accept-Language")
	}
	if p.frames {
		h.Set("Content-Security-Policy", noForms+"; frame-src 'self'")
	}
	if p.scripted {
		h.Set("Content-Security-Policy", noForms+"; script-src 'self'")
	}
	if p.forms {
		h.Set("Content-Security-Policy", policy+"'self'")
	}
	send(w, "text/html; charset=utf-8", p.status, b.Bytes())
}

func send(w http.ResponseWriter, kind string, status int, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if status == 0 {
		status = http.StatusOK
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have gone
}
