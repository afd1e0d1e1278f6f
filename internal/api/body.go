package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/refusal"
	"boon.example/internal/wire"
)

// decode reads the body of a call into a T, and its Idempotency-Key where its operation keeps one. What is wrong with
// them is in problems, to which others may be added.
func decode[T any](c *call, read func(*wire.Object) T) (request T, problems *wire.Problems) {
	r := c.readers.Get().(*wire.Reader)
	defer func() {
		r.Forget()
		c.readers.Put(r)
	}()
	problems, ok := r.Decode(c.body, func(o *wire.Object) { request = read(o) })
	c.unread = !ok
	if c.route.operation != "" {
		c.readKey(problems)
	}
	return request, problems
}

// readBody reads the whole body, which must be JSON as far as its headers say, and no longer than most.
func (c *call) readBody(most int64) ([]byte, error) {
	if err := checkType(c.r.Header); err != nil {
		return nil, err
	}
	return c.readAll(most)
}

// readAll reads the whole body, no longer than most.
func (c *call) readAll(most int64) ([]byte, error) {
	tooLong := func() error {
		size := fmt.Sprintf("%d MiB", most>>20)
		if most < 1<<20 {
			size = fmt.Sprintf("%d KiB", most>>10)
		}
		return refuseWith(http.StatusRequestEntityTooLarge, refusal.ValidationFailure, "",
			"The body may have at most "+size+".")
	}
	if c.r.ContentLength > most {
		c.throwAway()
		return nil, tooLong()
	}
	limited := http.MaxBytesReader(c.w, c.r.Body, most)
	// One more than what was announced, so that the end is found without growing; but who announces much and sends
	// little gets little.
	body := c.room(min(max(c.r.ContentLength+1, 512), trusted))
	for {
		n, err := limited.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch _, long := errors.AsType[*http.MaxBytesError](err); {
		case err == io.EOF:
			return body, nil
		case long:
			c.throwAway()
			return nil, tooLong()
		case err != nil:
			c.w.Header().Set("Connection", "close")
			return nil, refusal.New(refusal.ValidationFailure, "The body did not arrive in full.")
		case len(body) == cap(body):
			if err := c.hold(len(body)); err != nil {
				c.throwAway()
				return nil, err
			}
			body = slices.Grow(body, len(body))
		}
	}
}

// maxThrownAway is how much of a body that is too long is read after all.
const maxThrownAway = 8 << 20

// throwAway reads the rest of a body that is too long: who writes everything before reading would otherwise find the
// connection cut in place of an answer. Who waits to be told to send it is told not to.
func (c *call) throwAway() {
	c.w.Header().Set("Connection", "close")
	if !strings.EqualFold(c.r.Header.Get("Expect"), "100-continue") {
		_, _ = io.CopyN(io.Discard, c.r.Body, maxThrownAway) // the answer is the same however far this goes
	}
}

// room is memory for a body of so many bytes. What is larger than a small one is used again after the call: of tickets,
// it was what kept the garbage collector busy.
func (c *call) room(n int64) []byte {
	const small = 2 << 10
	if n <= small {
		return make([]byte, 0, n)
	}
	c.lent = c.bodies.Get().(*[trusted]byte)
	return c.lent[:0]
}

// giveBack lets the memory of the body be used again. Whatever was read of it has been copied: what was not would be
// lost here, and seen.
func (c *call) giveBack() {
	if c.lent != nil {
		used := trusted
		if len(c.body) > 0 && &c.body[0] == &c.lent[0] { // it has not grown beyond
			used = len(c.body)
		}
		clear(c.lent[:used])
		c.bodies.Put(c.lent)
		c.lent, c.body = nil, nil
	}
}

// trusted is how much memory a body gets for the mere announcement of its length.
const trusted = 16 << 10

// checkType takes application/json, text/json, any +json, and no content type at all; in UTF-8, and not compressed.
func checkType(h http.Header) error {
	if encoding := strings.Join(h.Values("Content-Encoding"), ","); encoding != "" && !strings.EqualFold(encoding,
		"identity") {
		return refuseWith(http.StatusUnsupportedMediaType, refusal.NotSupported, "Content-Encoding",
			"Send the body without compression.")
	}
	types, text := h.Values("Content-Type"), h.Get("Content-Type")
	if len(types) <= 1 && (text == "" || text == "application/json") {
		return nil
	}
	refused := refuseWith(http.StatusUnsupportedMediaType, refusal.NotSupported, "Content-Type",
		"The body must be JSON in UTF-8: send Content-Type: application/json.")
	if len(types) > 1 {
		return refused
	}
	kind, params, err := mime.ParseMediaType(text)
	charset, stated := params["charset"]
	switch {
	case err != nil, stated && !slices.Contains(charsets, strings.ToLower(charset)):
		return refused
	case kind == "application/json", kind == "text/json", strings.HasSuffix(kind, "+json"):
		return nil
	}
	return refused
}

// charsets are the names of UTF-8 that are in use, and of what is a part of it.
var charsets = []string{"utf-8", "utf8", "us-ascii"}

// request is a call that changes something, on its way through the engine.
type request struct {
	*call
	operation   gift.Operation
	fingerprint [32]byte
	earlier     func([32]byte) (bool, error) // ledger.Call's Fingerprinted
	wrongCode   atomic.Bool                  // it was refused now for a wrong verification code
	seen        *int                         // ledger.Call's Seen
	uncoded     bool                         // its gift is known to have no verification code
}

// request fingerprints what was asked for: a struct of nothing but what was read.
func (c *call) request(op gift.Operation, asked any) *request {
	r := &request{call: c, operation: op}
	if c.key != "" {
		text := wire.Normalized(string(op), asked)
		r.fingerprint = c.Fingerprint(text)
		if c.Fingerprinted != nil {
			r.earlier = func(recorded [32]byte) (bool, error) { return c.Fingerprinted(recorded, text) }
		}
	}
	return r
}

// requestTo fingerprints a request that names contacts; asked gives it with these as they are spelled. The way in which
// a telephone number is written makes no difference. A repeat is also known by the contacts as they were written, which
// releases before 0.2.0 fingerprinted, and by the numbers with their country codes and without, as the account reads
// them.
func (c *call) requestTo(op gift.Operation, asked func(spell func(string) string) any) *request {
	if c.key == "" {
		return &request{call: c, operation: op}
	}
	r := c.request(op, asked(contact.Written))
	known := r.earlier
	r.earlier = func(recorded [32]byte) (bool, error) {
		if known != nil {
			if is, err := known(recorded); is || err != nil {
				return is, err
			}
		}
		for _, spell := range []func(string) string{asWritten, c.account.WholeNumber, c.account.DialledNumber,
			c.account.BareNumber} {
			other := c.request(op, asked(spell))
			if other.fingerprint == recorded {
				return true, nil
			}
			if other.earlier == nil {
				continue
			}
			if is, err := other.earlier(recorded); is || err != nil {
				return is, err
			}
		}
		return false, nil
	}
	return r
}

func asWritten(contact string) string { return contact }

// do runs a command. An outcome of success is written by success, and has this code.
func (r *request) do(cmd ledger.Command, code refusal.Code, success func(*wire.Writer, ledger.Result)) (ledger.Answer,
	error) {
	return r.run(cmd, func(result ledger.Result, err error) ledger.Answer {
		if refused, ok := errors.AsType[*refusal.Error](err); ok {
			return r.render(refused)
		}
		if r.operation == gift.ReleaseHold && len(result.Entries) == 0 {
			code = ledger.Nothing
		}
		return r.answer(code, func(w *wire.Writer) { success(w, result) })
	})
}

// run runs a command, whose outcome render makes an answer of.
func (r *request) run(cmd ledger.Command, render func(ledger.Result, error) ledger.Answer) (ledger.Answer, error) {
	ctx, cancel := r.timeFor(cmd)
	defer cancel()
	return r.Engine.Do(ctx, ledger.Call{
		AccountID: r.account.ID, Operation: r.operation, Key: r.key, Fingerprint: r.fingerprint, Fingerprinted: r.earlier,
		Caller: r.caller, Seen: r.seen, Account: r.account, Ahead: r.clocks[r.account.ID].Ahead, Setup: r.setup,
		Render: func(result ledger.Result, err error) ledger.Answer {
			if gift.IsWrongCode(err) {
				r.wrongCode.Store(true)
			}
			return render(result, err)
		},
	}, cmd)
}

// countKept counts a call that moves nothing and leaves something for ever, or refuses it: see gift.MaxKeptPerDay.
func (c *call) countKept() error {
	_, err := c.Engine.Do(c.ctx, ledger.Call{AccountID: c.account.ID, Caller: c.caller, Account: c.account, Setup: c.setup,
		Render: func(ledger.Result, error) ledger.Answer { return ledger.Answer{} }}, &ledger.Keep{})
	return err
}

// timeFor is the context of a command: a heavy one has more time than the call, as it may be held back.
func (r *request) timeFor(cmd ledger.Command) (context.Context, context.CancelFunc) {
	if !ledger.Heavy(cmd) {
		return r.ctx, func() {}
	}
	return r.moreTime()
}

// moreTime is the context of what may be held back. It should keep no place from other calls meanwhile.
func (c *call) moreTime() (context.Context, context.CancelFunc) {
	c.leave()
	// a test's writer has none
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(heavyDeadline + 15*time.Second))
	return context.WithTimeout(c.r.Context(), heavyDeadline)
}

// refuse answers what was refused on the state of the records before the engine was asked: a key that is known gets
// its first answer all the same, because that is what became of the request.
func (r *request) refuse(err error) (ledger.Answer, error) {
	refused, ok := errors.AsType[*refusal.Error](err)
	if r.key == "" || !ok || refused.Code == refusal.Unavailable || refused.Code == refusal.UnexpectedError {
		return ledger.Answer{}, err
	}
	return r.do(&ledger.Rejected{Err: err}, ledger.OK, nil)
}

// actor is who causes an entry.
func (c *call) actor(location guid.ID) gift.Context {
	return gift.Context{RequestID: c.requestID, Actor: gift.Actor{KeyID: c.caller.KeyID, LocationID: location,
		Person: c.caller.Person, Address: c.ClientAddress(c.r).String(), Till: c.caller.Till == gift.PairedTill}}
}

// answer makes a success of the members that write writes; every one ends with the requestID.
func (c *call) answer(code refusal.Code, write func(*wire.Writer)) ledger.Answer {
	w := c.writers.Get().(*wire.Writer)
	w.Open()
	write(w)
	w.Text("requestID", c.requestID)
	w.Close()
	body := w.Cut()
	c.writers.Put(w)
	return ledger.Answer{Code: code, Body: body}
}
