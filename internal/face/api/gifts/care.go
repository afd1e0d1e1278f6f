package gifts

import (
	"slices"

	"boon.example/internal/base/phrase"
	"boon.example/internal/face/api/outcome"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// care has a change of one gift made, unless the request is malformed.
func (c *Call) care(op operation.Name, asked any, problems *wire.Problems,
	do func(*service.Request) (ledger.Answer, error)) (ledger.Answer, error) {
	problems.Refuse(c.NeedKey())
	if err := problems.Err(); err != nil {
		return ledger.Answer{}, err
	}
	return do(c.Request(op, asked))
}

// change is a change of one gift by a rule that gets the context of its entry.
func (c *Call) change(voucher guid.ID,
	rule func(gift.Voucher, gift.Context) (gift.Voucher, gift.Entry, error)) *ledger.Change {
	return &ledger.Change{Context: c.Actor(guid.ID{}), VoucherID: voucher, Rule: rule}
}

// readReasonCode reads why, in one of the words for it.
func readReasonCode(o *wire.Object, codes []gift.ReasonCode) gift.ReasonCode {
	const name = "reasonCode"
	code := gift.ReasonCode(o.Text(name))
	if !slices.Contains(codes, code) {
		o.Add(name, "The reasonCode must be %s.", phrase.OneOf(codes))
	}
	return code
}

// blocking is a block-gift request.
type blocking struct {
	VoucherID guid.ID
	gift.Block
}

func readBlocking(o *wire.Object) (r blocking) {
	r.VoucherID = readVoucherID(o)
	r.ReasonCode = readReasonCode(o, gift.BlockReasons())
	r.Reason = o.Line("reason", maxReason)
	return r
}

// BlockGift says that a gift may not be used.
func BlockGift(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, readBlocking)
	return c.care(operation.BlockGift, asked, problems, func(r *service.Request) (ledger.Answer, error) {
		asked.Caller = c.Caller
		return r.Do(c.change(asked.VoucherID, func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
			ask := asked.Block
			ask.Context = at
			return v.Block(ask)
		}), ledger.OK, outcome.Blocked)
	})
}

// unblocking is an unblock-gift request.
type unblocking struct {
	VoucherID guid.ID
	gift.Unblock
}

func readUnblocking(o *wire.Object) (r unblocking) {
	r.VoucherID = readVoucherID(o)
	r.Reason = o.Line("reason", maxReason)
	return r
}

// UnblockGift says that a gift may be used again.
func UnblockGift(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, readUnblocking)
	return c.care(operation.UnblockGift, asked, problems, func(r *service.Request) (ledger.Answer, error) {
		asked.Caller = c.Caller
		cmd := c.change(asked.VoucherID, func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
			ask := asked.Unblock
			ask.Context = at
			return v.Unblock(ask)
		})
		cmd.Sends = true
		answer, err := r.Do(cmd, ledger.OK, outcome.Blocked)
		if answer.Fresh() {
			c.Wake(c.Account.Test)
		}
		return answer, err
	})
}

// byCustomer is the member that names a customer, as whoever integrates the interface knows them.
const byCustomer = "customerID"

// readCustomer reads to whom a gift is linked; "" is nobody.
func readCustomer(o *wire.Object) string {
	id := o.Text(byCustomer)
	o.Refuse(inside(o, gift.CheckCustomerID(refusal.FieldCustomerID, id)))
	return id
}

// linking is a link-customer request.
type linking struct {
	VoucherID guid.ID
	gift.LinkCustomer
}

func readLinking(o *wire.Object) (r linking) {
	r.VoucherID = readVoucherID(o)
	if !o.Given(byCustomer) {
		o.Add(byCustomer, "Say to whom the gift is to be linked.")
	}
	r.CustomerID = readCustomer(o)
	return r
}

// LinkCustomer has a gift be found by a customer.
func LinkCustomer(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, readLinking)
	return c.care(operation.LinkCustomer, asked, problems, func(r *service.Request) (ledger.Answer, error) {
		asked.Caller = c.Caller
		return r.Do(c.change(asked.VoucherID, func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
			ask := asked.LinkCustomer
			ask.Context = at
			return v.LinkCustomer(ask)
		}), ledger.OK, outcome.CustomerLink)
	})
}

// unlinking is an unlink-customer request.
type unlinking struct {
	VoucherID guid.ID
	gift.UnlinkCustomer
}

func readUnlinking(o *wire.Object) (r unlinking) {
	r.VoucherID, r.CustomerID = readVoucherID(o), readCustomer(o)
	return r
}

// UnlinkCustomer has a gift be found by its customer no more.
func UnlinkCustomer(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, readUnlinking)
	return c.care(operation.UnlinkCustomer, asked, problems, func(r *service.Request) (ledger.Answer, error) {
		asked.Caller = c.Caller
		return r.Do(c.change(asked.VoucherID, func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
			ask := asked.UnlinkCustomer
			ask.Context = at
			return v.UnlinkCustomer(ask)
		}), ledger.OK, outcome.CustomerLink)
	})
}

// adjusting is an adjust-gift request.
type adjusting struct {
	VoucherID guid.ID
	gift.Adjust
}

func readAdjusting(o *wire.Object, c *Call) (r adjusting) {
	r.VoucherID = readVoucherID(o)
	r.Number = readSigned(o, c.Account.Currency)
	r.ReasonCode = readReasonCode(o, gift.AdjustReasons())
	if r.Reason = o.Line("reason", maxReason); !o.Has("reason") {
		o.Refuse(r.CheckReason())
	}
	return r
}

// readSigned reads what is to be added to a balance, whose unit is known only when its gift is: see readAmount.
func readSigned(o *wire.Object, c money.Currency) money.Number {
	const name = "amount"
	number := o.Number(name)
	if number == "" {
		o.Add(name, "Say what to add to the balance; below zero, it is taken.")
	} else if _, err := c.ReadSigned(number); err != nil {
		o.Add(name, "%s", err)
	}
	return number
}

// AdjustGift corrects the balance of a gift.
func AdjustGift(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, func(o *wire.Object) adjusting { return readAdjusting(o, c) })
	return c.care(operation.AdjustGift, asked, problems, func(r *service.Request) (ledger.Answer, error) {
		asked.Caller = c.Caller
		cmd := c.change(asked.VoucherID, func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
			ask := asked.Adjust
			ask.Context = at
			return v.Adjust(ask)
		})
		cmd.Counts = merchant.SentCount
		return r.Do(cmd, ledger.OK, outcome.Adjustment)
	})
}

// extending is an extend-gift request.
type extending struct {
	VoucherID guid.ID
	gift.Extend
}

func readExtending(o *wire.Object) (r extending) {
	const name = "validUntil"
	r.VoucherID = readVoucherID(o)
	if !o.Given(name) {
		o.Add(name, "Say until when the gift is to be valid.")
	}
	r.Until = o.Instant(name)
	return r
}

// ExtendGift makes a promotional gift valid for longer.
func ExtendGift(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, readExtending)
	return c.care(operation.ExtendGift, asked, problems, func(r *service.Request) (ledger.Answer, error) {
		asked.Caller = c.Caller
		return r.Do(c.change(asked.VoucherID, func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
			ask := asked.Extend
			ask.Context = at
			return v.Extend(ask)
		}), ledger.OK, outcome.Extension)
	})
}
