// Package service is the floor that every call stands on, in whatever protocol it comes: the JSON interface, the pages
// of tills, the protocols of platforms.
//
// A face (a package that speaks one of them) reads a call, says what it means, and writes the answer. Between the two
// it asks its Call, in this order:
//
//  1. who calls: Authorize by API key, or By for a face that identifies callers itself;
//  2. whether the call's turn has come: Begin, with the Priority that the handler states;
//  3. for gifts by their codes, which are limited against guessing: FindByCode;
//  4. to have a change made once, under the call's Idempotency-Key: Request, then Do;
//  5. for the Reply. Serve writes it, and notes what the call came to for the log and the metrics.
//
// Time is that of the account's clock. No reply, log line or Event tells a caller's secrets or the reason of an
// internal failure.
package service

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/base/clientip"
	"boon.example/internal/base/fair"
	"boon.example/internal/cashout"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/wire"
)

// Version is the version of Boon: of the program, of its interface, which grows by addition only, and of its documents.
const Version = "0.2.1"

// Config is what calls need.
type Config struct {
	Engine    *engine.Engine
	Records   Records
	Directory func() *merchant.Directory // the newest set-up; nil: an empty one
	// Fingerprint is a keyed hash of a normalized request. It may change to that of another key, which Fingerprinted
	// then knows.
	Fingerprint func([]byte) [32]byte
	// Fingerprinted tells whether a fingerprint is that of a request, though made with an earlier key; nil: there was
	// only one.
	Fingerprinted func(fingerprint [32]byte, request []byte) (bool, error)
	PublicURL     string // how recipients reach the gift page, and where /docs stands; without a slash at its end

	// StoreTimeout is how long a call that has arrived waits for the store before it is answered UNAVAILABLE: what
	// others use as well may be away without a word. 0: as long as the call's own deadline.
	StoreTimeout time.Duration
	// Wake is told after gifts of a live or of a test account were issued or used, that there may be something to
	// deliver; nil: nobody is.
	Wake       func(test bool)
	CashOutLaw gift.CashOutLaw // where guests may ask for cash; nil: cashout.Law

	Now           func() time.Time                   // nil: time.Now
	ClientAddress func(*http.Request) netip.Addr     // nil: that of the connection
	Note          func(ctx context.Context, e Event) // told of every request that was answered; nil: nobody is
	// GuessAlarm is told of the till at which a key reached merchant.GuessAlarm misses; nil: nobody is.
	GuessAlarm func(ctx context.Context, at merchant.Till)
	Admission  Admission // nil: every call is handled at once
	// Overloaded answers a request for a page that was not admitted; nil: with a problem document.
	Overloaded http.HandlerFunc
}

// Service carries out calls.
type Service struct {
	config  Config
	guesses *guessLimiter
	tests   *fair.Places // for calls of test accounts
	memory  fair.Share   // for large bodies and answers
	bodies  sync.Pool    // of *[trusted]byte
	readers sync.Pool    // of *wire.Reader
	writers sync.Pool    // of *wire.Writer
}

// New makes a service.
func New(c Config) *Service {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Directory == nil {
		c.Directory = func() *merchant.Directory { return &merchant.Directory{} }
	}
	if c.CashOutLaw == nil {
		c.CashOutLaw = cashout.Law()
	}
	if c.Wake == nil {
		c.Wake = func(bool) {}
	}
	if c.Note == nil {
		c.Note = func(context.Context, Event) {}
	}
	if c.GuessAlarm == nil {
		c.GuessAlarm = func(context.Context, merchant.Till) {}
	}
	if c.Admission == nil {
		c.Admission = unbounded{}
	}
	if c.ClientAddress == nil {
		c.ClientAddress = clientip.Peer
	}
	c.PublicURL = strings.TrimSuffix(c.PublicURL, "/")
	s := &Service{config: c, guesses: newGuessLimiter(&c), tests: fair.NewShared(maxTests, testsLeft)}
	s.bodies.New = func() any { return new([trusted]byte) }
	s.readers.New = func() any { return new(wire.Reader) }
	s.writers.New = func() any { w := wire.NewWriter(4 << 10); return &w }
	return s
}

// Directory is the newest set-up.
func (s *Service) Directory() *merchant.Directory { return s.config.Directory() }

// Lookup is what calls look up in the database.
func (s *Service) Lookup() Records { return s.config.Records }

// PublicURL is how recipients reach the gift page, without a slash at its end.
func (s *Service) PublicURL() string { return s.config.PublicURL }

// Now is the time of the service: test accounts have clocks of their own.
func (s *Service) Now() time.Time { return s.config.Now() }

// Wake tells that there may be something to deliver for a live or for a test account.
func (s *Service) Wake(test bool) { s.config.Wake(test) }

// CashOutLaw tells where guests may ask for cash.
func (s *Service) CashOutLaw() gift.CashOutLaw { return s.config.CashOutLaw }

// Fingerprint is a keyed hash of a text, by the key in use.
func (s *Service) Fingerprint(text []byte) [32]byte { return s.config.Fingerprint(text) }

// Fingerprinted tells whether a fingerprint is that of a text, though made with an earlier key.
func (s *Service) Fingerprinted(fingerprint [32]byte, text []byte) (bool, error) {
	if s.config.Fingerprinted == nil {
		return false, nil
	}
	return s.config.Fingerprinted(fingerprint, text)
}

// OtherDeadline is how long a call takes at most for which nobody waits at a counter.
const OtherDeadline = 15 * time.Second

// Reply answers a call.
type Reply struct {
	Status int
	Type   string // of the body; "": JSON
	Body   []byte
	Code   refusal.Code // why the call was refused, for the log; "": Err tells, or it was not
	Err    error        // what failed, or why it was refused; nil: nothing
}

// Handler answers calls with what do replies.
func (s *Service) Handler(do func(*Call) Reply) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := new(Call)
		s.Serve(w, r, c, func() Reply { return do(c) })
	})
}

// JSON answers calls with what write writes into an object, or with the problem document of its error. A call takes as
// long as OtherDeadline at most.
func (s *Service) JSON(do func(*Call) (write func(*wire.Writer), _ error)) http.Handler {
	return s.Handler(func(c *Call) Reply {
		c.ctx, c.ends[0] = context.WithTimeout(c.ctx, OtherDeadline)
		write, err := do(c)
		if err != nil {
			return c.Reply(ledger.Answer{}, err)
		}
		return c.Reply(c.Answer(ledger.OK, write), nil)
	})
}

// Serve answers one call with what do replies; c is made that call. It is the one place where answers are written. A
// panic of do is answered with a problem document.
func (s *Service) Serve(w http.ResponseWriter, r *http.Request, c *Call, do func() Reply) {
	*c = Call{Service: s, HTTP: r, Writer: w, RequestID: Identify(w, r), Now: s.config.Now().UTC(), ctx: r.Context()}
	defer c.release()
	reply, err := attempt(c, do)
	if err != nil {
		reply = c.Reply(ledger.Answer{}, err)
	}
	event := c.event(reply)
	c.write(reply)
	s.config.Note(r.Context(), event)
}

// attempt turns a panic into an error. What the call holds of places and time is given back.
func attempt(c *Call, do func() Reply) (_ Reply, err error) {
	defer c.end()
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	c.setup = c.config.Directory().Version // before anybody is identified by it
	return do(), nil
}

// Reply answers with an answer in JSON, or with the problem document of an error.
func (c *Call) Reply(a ledger.Answer, err error) Reply {
	if err == nil && Status(a.Code) == 0 {
		err = fmt.Errorf("an answer with the code %q, which there is not, or none and no error", string(a.Code))
	}
	if err == nil && c.HTTP.Method == http.MethodGet { // of others that is known before
		err = c.TakeMemory(len(a.Body) - c.memory)
	}
	if err != nil {
		return c.problem(err)
	}
	reply := Reply{Status: Status(a.Code), Type: c.Media, Body: a.Body}
	if !a.Succeeded() {
		reply.Type, reply.Code = ProblemType, a.Code
	}
	if !a.Succeeded() && !a.Replayed { // a refusal that is replayed is in the language of the first call
		c.sayLanguage()
	}
	sayQuotas(c.Writer.Header(), a.Left)
	if a.Replayed {
		c.Writer.Header().Set("Idempotent-Replayed", "true")
	}
	return reply
}

// Whole gives an answer with its body.
func (c *Call) Whole(a ledger.Answer) (_ ledger.Answer, err error) {
	if a.Long.Size == 0 {
		return a, nil
	}
	if err := c.TakeMemory(a.Long.Size - c.memory); err != nil {
		return ledger.Answer{}, err
	}
	if a.Body, err = c.config.Records.LongAnswer(c.HTTP.Context(), a.Long); err != nil {
		return ledger.Answer{}, Stored(err)
	}
	a.Long = ledger.Long{}
	return a, nil
}

// Answer makes a success of the members that write writes; every one ends with the requestID, that of a dry run with
// dryRun before it.
func (c *Call) Answer(code refusal.Code, write func(*wire.Writer)) ledger.Answer {
	w := c.writers.Get().(*wire.Writer)
	w.Open()
	write(w)
	c.sayDry(w)
	w.Text("requestID", c.RequestID)
	w.Close()
	body := w.Cut()
	c.writers.Put(w)
	return ledger.Answer{Code: code, Body: body}
}

// sayDry says in an answer that nothing was done, if nothing was.
func (c *Call) sayDry(w *wire.Writer) {
	if c.DryRun {
		w.Boolean("dryRun", true)
	}
}

// File makes a success of a file. Content-Digest (RFC 9530) is its SHA-256.
func (c *Call) File(name, media string, content []byte) ledger.Answer {
	sum := sha256.Sum256(content)
	c.Media = media
	h := c.Writer.Header()
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Content-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":")
	return ledger.Answer{Code: ledger.OK, Body: content}
}

func (c *Call) write(reply Reply) {
	h := c.Writer.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if len(reply.Body) > 0 || reply.Type != "" { // a file without a line is a file
		h.Set("Content-Type", cmp.Or(reply.Type, "application/json"))
	}
	if reply.Status == http.StatusServiceUnavailable {
		sayWhen(h, Told(reply.Err))
	}
	h.Set("Content-Length", strconv.Itoa(len(reply.Body))) // else net/http sends what is not short in chunks
	c.Writer.WriteHeader(reply.Status)
	_, _ = c.Writer.Write(reply.Body) // a caller that has gone is no failure of ours
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
