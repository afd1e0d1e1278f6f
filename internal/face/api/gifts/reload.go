package gifts

import (
	"boon.example/internal/face/api/outcome"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/order"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// loading is a reload-gift request.
type loading struct {
	giftRef
	Where place
	gift.ReloadRequest
}

func readLoading(o *wire.Object, c *Call) (r loading) {
	const amount = "amount"
	r.giftRef = readGiftRef(o, c.Account, byID, byCode, byToken)
	r.Where = readPlace(o, c.Caller)
	if !o.Given(amount) || o.EmptyText(amount) {
		o.Add(o.At(amount), "Say how much is to be loaded.")
	}
	r.Number = readAmount(o, c.Account.Currency)
	readMethod(o)
	r.Purchase, r.Price = readPurchase(o), readPrice(o, c.Account.Currency)
	r.Reference, r.Customer = o.Line("reference", maxReference), readCustomer(o)
	return r
}

// ReloadGift puts more value into a gift.
func ReloadGift(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, func(o *wire.Object) loading { return readLoading(o, c) })
	unpaid := order.CheckPurchase(c.Caller, asked.Purchase, problems.Unread())
	if problems.Err() != nil && !c.unread {
		problems.Refuse(unpaid)
	}
	reload := func(r *service.Request, at *merchant.Location) (ledger.Answer, error) {
		asked.Account = c.Account
		write, err := c.withReceipt(asked.ID, outcome.Reload)
		if err != nil {
			return ledger.Answer{}, err
		}
		return r.Do(&ledger.Change{Context: c.Actor(at.ID), VoucherID: asked.ID, Counts: merchant.SentCount,
			Rule: func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
				load := asked.ReloadRequest
				load.Context = at
				return v.Reload(load)
			}}, ledger.OK, write)
	}
	return c.withGift(operation.ReloadGift, asked, &asked.giftRef, asked.Where, problems, unpaid, reload)
}

// cashing is a cash-out-gift request.
type cashing struct {
	giftRef
	Where        place
	Verification string // the verification code of the card; "": none was given
}

func readCashing(o *wire.Object, c *Call) cashing {
	return cashing{readGiftRef(o, c.Account, byID, byCode, byToken), readPlace(o, c.Caller), readVerification(o)}
}

// CashOutGift takes all that is left of a gift as cash, where the law lets a guest ask for it.
func CashOutGift(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, func(o *wire.Object) cashing { return readCashing(o, c) })
	return c.withGift(operation.CashOutGift, asked, &asked.giftRef, asked.Where, problems, nil,
		func(r *service.Request, at *merchant.Location) (ledger.Answer, error) {
			write, err := c.withReceipt(asked.ID, outcome.CashOut)
			if err != nil {
				return ledger.Answer{}, err
			}
			ask := gift.CashOutRequest{Law: c.CashOutLaw(), Verification: asked.Verification, Account: c.Account}
			return verified(r, at, asked.Verification, func() (ledger.Answer, error) {
				return r.Do(&ledger.Change{Context: c.Actor(at.ID), VoucherID: asked.ID, Counts: merchant.RedeemedCount,
					Rule: func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
						ask.Context = at
						return v.CashOut(ask)
					}}, ledger.OK, write)
			})
		})
}

// byReload is the member that names a reload.
const byReload = "reloadID"

// undoing is a request to take back what an operation did, named by the id of its entry or by its key.
type undoing struct {
	EntryID     guid.ID // or
	OriginalKey string
	Of          giftRef // which gift the key must have been used with; zero: not said
}

func readUndoing(o *wire.Object, c *Call, byEntry string) (r undoing) {
	r.EntryID, r.OriginalKey, r.Of = o.GUID(byEntry), readOriginalKey(o), readOf(o, c.Account)
	oneOf(o, []string{byEntry, byKey})
	return r
}

// undo takes back what an operation did. byEntry is the member that names its entry.
func (c *Call) undo(op, of operation.Name, byEntry string, answer func(*wire.Writer, ledger.Result)) (
	ledger.Answer, error) {
	asked, problems := decode(c, func(o *wire.Object) undoing { return readUndoing(o, c, byEntry) })
	problems.Refuse(c.NeedKey())
	if err := problems.Err(); err != nil {
		return ledger.Answer{}, err
	}
	request := c.Request(op, asked)
	with, err := c.usedWith(asked.Of, guid.ID{}, asked.OriginalKey, of)
	if err != nil {
		return request.Refuse(err)
	}
	return request.Do(&ledger.Undo{Operation: of, EntryID: asked.EntryID, OriginalKey: asked.OriginalKey, Of: with,
		Undo: gift.Undo{Context: c.Actor(guid.ID{}), Caller: c.Caller}}, ledger.OK, answer)
}

// ReverseReload takes a reload back.
func ReverseReload(c *Call) (ledger.Answer, error) {
	return c.undo(operation.ReverseReload, operation.ReloadGift, byReload, outcome.ReloadReversal)
}
