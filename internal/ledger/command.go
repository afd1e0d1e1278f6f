package ledger

import "boon.example/internal/gift"

// Call is how a command is asked for: by whom, under which key, and how its outcome reads as an answer.
type Call struct {
	AccountID   gift.ID
	Operation   Operation
	Key         string   // the Idempotency-Key; "": none
	Fingerprint [32]byte // keyed hash of the normalized request
	Render      func(Result, error) Answer
}

// Result is what a command did.
type Result struct {
	Gifts    []gift.Gift    // issued
	Vouchers []gift.Voucher // redeemed, reversed or withdrawn, as they are afterwards
	Entries  []gift.Entry   // what was entered in their histories, in the same order
}

// Command is one of Issue, Redeem, Reverse, Withdraw, Deliver and Refused.
type Command interface {
	want(c *Call, w *Want)
	decide(c *Call, s *state) (Result, error)
}

// Issue makes gifts. The engine draws their ids, codes and tokens.
type Issue struct {
	Gifts []gift.Gift // as gift.Issue made them
	gift.Context
}

// Redeem decrements a voucher of the calling account.
type Redeem struct {
	VoucherID gift.ID
	gift.Redeem
	// Eligible judges the till's ticket for the voucher, purely; nil: no ticket was given.
	Eligible func(*gift.Voucher) *gift.Eligibility
}

// Reverse gives back what a redemption took, named by its id or by the Idempotency-Key that it was made with. A key that has
// not arrived yet is spent: the answer is NOT_FOUND, and the redemption will be refused should it still come.
type Reverse struct {
	RedemptionID gift.ID // or
	OriginalKey  string
	gift.Reverse
}

// Withdraw takes gifts out of use, all or none.
type Withdraw struct {
	VoucherIDs []gift.ID
	gift.Withdraw
}

// Deliver records what became of a job.
type Deliver struct {
	Job Job
	gift.Outcome
}

// Refused is a request that was refused before the engine: a known key still gets its stored answer, anything else
// gets Err, and nothing is stored.
type Refused struct{ Err error }
