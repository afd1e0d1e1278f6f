package service

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/wire"
)

// Request is a call that changes something, on its way through the engine.
type Request struct {
	*Call
	Operation      operation.Name
	fingerprint    [32]byte
	earlier        func([32]byte) (bool, error) // ledger.Call's Fingerprinted
	wrongCode      atomic.Bool                  // it was refused now for a wrong verification code
	Seen           *int                         // ledger.Call's Seen
	NoVerification bool                         // its gift is known to have no verification code
	verifies       bool                         // it shows a verification code
}

// Request fingerprints what was asked for: a struct of nothing but what was read.
func (c *Call) Request(op operation.Name, asked any) *Request {
	r := &Request{Call: c, Operation: op}
	if c.Key != "" {
		text := wire.Normalized(string(op), asked)
		r.fingerprint = c.config.Fingerprint(text)
		if c.config.Fingerprinted != nil {
			r.earlier = func(recorded [32]byte) (bool, error) { return c.config.Fingerprinted(recorded, text) }
		}
	}
	return r
}

// RequestTo fingerprints a request that names contacts; asked gives it with these as they are spelled. The way in which
// a telephone number is written makes no difference. A repeat is also known by the contacts as they were written, which
// releases before 0.2.0 fingerprinted, and by the numbers with their country codes and without, as the account reads
// them.
func (c *Call) RequestTo(op operation.Name, asked func(spell func(string) string) any) *Request {
	if c.Key == "" {
		return &Request{Call: c, Operation: op}
	}
	r := c.Request(op, asked(contact.Written))
	known := r.earlier
	r.earlier = func(recorded [32]byte) (bool, error) {
		if known != nil {
			if is, err := known(recorded); is || err != nil {
				return is, err
			}
		}
		for _, spell := range []func(string) string{asWritten, c.Account.WholeNumber, c.Account.DialledNumber,
			c.Account.BareNumber} {
			other := c.Request(op, asked(spell))
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

// entryOrNothing are the operations whose answers are kept for ever, beside the entry that they name, and that make
// none where it was so already.
var entryOrNothing = []operation.Name{operation.ReleaseHold, operation.LinkCustomer, operation.UnlinkCustomer}

// Do runs a command. An outcome of success is written by success, and has this code.
func (r *Request) Do(cmd ledger.Command, code refusal.Code, success func(*wire.Writer, ledger.Result)) (ledger.Answer,
	error) {
	return r.Run(cmd, func(result ledger.Result, err error) ledger.Answer {
		if refused, ok := errors.AsType[*refusal.Error](err); ok {
			return r.render(refused)
		}
		if len(result.Entries) == 0 && slices.Contains(entryOrNothing, r.Operation) {
			code = ledger.Nothing
		}
		return r.Answer(code, func(w *wire.Writer) { success(w, result) })
	})
}

// Run runs a command, whose outcome render makes an answer of.
func (r *Request) Run(cmd ledger.Command, render func(ledger.Result, error) ledger.Answer) (ledger.Answer, error) {
	ctx, cancel := r.timeFor(cmd)
	defer cancel()
	return r.config.Engine.Do(ctx, ledger.Call{
		AccountID: r.Account.ID, Operation: r.Operation, Key: r.Key, Fingerprint: r.fingerprint, Fingerprinted: r.earlier,
		Caller: r.Caller, Seen: r.Seen, Account: r.Account, Ahead: r.clocks[r.Account.ID].Ahead, Setup: r.setup,
		DryRun: r.DryRun, Verifies: r.verifies,
		Render: func(result ledger.Result, err error) ledger.Answer {
			if gift.IsWrongCode(err) {
				r.wrongCode.Store(true)
			}
			return render(result, err)
		},
	}, cmd)
}

// CountKept counts a call that moves nothing and leaves something for ever, or refuses it: see merchant.MaxKeptPerDay.
func (c *Call) CountKept() error {
	_, err := c.config.Engine.Do(c.ctx, ledger.Call{
		AccountID: c.Account.ID, Caller: c.Caller, Account: c.Account, Setup: c.setup,
		Render: func(ledger.Result, error) ledger.Answer { return ledger.Answer{} }}, &ledger.Keep{})
	return err
}

// timeFor is the context of a command: a heavy one has more time than the call, as it may be held back.
func (r *Request) timeFor(cmd ledger.Command) (context.Context, context.CancelFunc) {
	if r.DryRun || !ledger.Heavy(cmd) {
		return r.ctx, func() {}
	}
	return r.MoreTime()
}

// Refuse answers what was refused on the state of the records before the engine was asked: a key that is known gets
// its first answer all the same, because that is what became of the request.
func (r *Request) Refuse(err error) (ledger.Answer, error) {
	refused, ok := errors.AsType[*refusal.Error](err)
	if r.Key == "" || !ok || refused.Code == refusal.Unavailable || refused.Code == refusal.UnexpectedError {
		return ledger.Answer{}, err
	}
	return r.Do(&ledger.Rejected{Err: err}, ledger.OK, nil)
}

// Verified has do do what a verification code is shown for, at a location. A wrong one counts as a wrong voucher code:
// whoever has the codes of many cards may not try five for each. Where no attempt is left, it is refused RATE_LIMITED.
func (r *Request) Verified(code string, location guid.ID, do func() (ledger.Answer, error)) (answer ledger.Answer,
	err error) {
	if code == "" || r.NoVerification { // what is shown for a gift that has none tells nothing
		return do()
	}
	r.verifies = true
	err = r.guesses.lookUp(r.ctx, r.Till(location), func() (cost int, err error) {
		if answer, err = do(); r.wrongCode.Load() || gift.IsWrongCode(err) {
			cost = merchant.MissUnknown
		}
		return cost, err
	})
	return answer, err
}

// Running reports whether a call with an Idempotency-Key is under way.
func (c *Call) Running(operation operation.Name, key string) bool {
	return c.config.Engine.Running(ledger.RequestKey{AccountID: c.Account.ID, Operation: operation, Key: key})
}
