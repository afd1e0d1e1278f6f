package gifts

import (
	"time"

	"boon.example/internal/face/api/outcome"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// holding is a hold-gift request.
type holding struct {
	redemption
	Seconds int // for which it is held; 0: not said
}

func readHolding(o *wire.Object, c *Call) (h holding) {
	const name, least, most = "expiresInSeconds", int(gift.MinHoldTime / time.Second), int(gift.MaxHoldTime / time.Second)
	h.redemption = readRedemption(o, c)
	if seconds := o.Integer(name); seconds != nil {
		if h.Seconds = *seconds; h.Seconds < least || h.Seconds > most {
			o.Add(name, "A hold lasts from %d to %d seconds.", least, most)
		}
	}
	return h
}

// HoldGift keeps an amount of a gift for one sale.
func HoldGift(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, func(o *wire.Object) holding { return readHolding(o, c) })
	hold := func(r *service.Request, at *merchant.Location) (ledger.Answer, error) {
		redeem := asked.command(c, at)
		return verified(r, at, asked.Verification, func() (ledger.Answer, error) {
			return r.Do(&ledger.Hold{VoucherID: redeem.VoucherID, Eligible: redeem.Eligible, FirstUse: redeem.FirstUse,
				Hold: gift.Hold{Redeem: redeem.Redeem, Lasts: time.Duration(asked.Seconds) * time.Second}}, ledger.OK, outcome.Hold)
		})
	}
	return c.withGift(operation.HoldGift, asked, &asked.giftRef, asked.Where, problems, nil, hold)
}

// capturing is a capture-hold request.
type capturing struct {
	HoldID guid.ID
	gift.Capture
}

func readCapturing(o *wire.Object, c *Call) (r capturing) {
	if !o.Given(byHold) {
		o.Add(byHold, "Say which hold is meant.")
	}
	r.HoldID = o.GUID(byHold)
	r.Number = readAmount(o, c.Account.Currency)
	final := o.Boolean("final")
	r.KeepRest = final != nil && !*final
	r.Reference = o.Line("reference", maxReference)
	return r
}

// byHold is the member that names a hold.
const byHold = "holdID"

// CaptureHold redeems what is held.
func CaptureHold(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, func(o *wire.Object) capturing { return readCapturing(o, c) })
	problems.Refuse(c.NeedKey())
	if err := problems.Err(); err != nil {
		return ledger.Answer{}, err
	}
	request := c.Request(operation.CaptureHold, asked)
	asked.Context, asked.Caller = c.Actor(guid.ID{}), c.Caller
	voucher, err := c.ofHold(asked.HoldID)
	if err != nil {
		return ledger.Answer{}, err
	}
	write, err := c.withReceipt(voucher, outcome.Redemption)
	if err != nil {
		return ledger.Answer{}, err
	}
	var taken gift.Entry
	answer, err := request.Do(&ledger.Capture{HoldID: asked.HoldID, Notice: c.Account.BalanceNotice,
		Capture: asked.Capture}, ledger.OK, func(w *wire.Writer, r ledger.Result) {
		taken = r.Entries[0]
		w.ID(byHold, taken.HoldID)
		write(w, r)
	})
	if answer.Fresh() {
		c.Redeemed(taken.VoucherID, taken.Actor.LocationID)
	}
	return answer, err
}

// releasing is a release-hold request.
type releasing struct {
	HoldID      guid.ID // or
	OriginalKey string
	Of          giftRef // which gift the key must have been used with; zero: not said
}

func readReleasing(o *wire.Object, c *Call) (r releasing) {
	r.HoldID, r.OriginalKey, r.Of = o.GUID(byHold), readOriginalKey(o), readOf(o, c.Account)
	oneOf(o, []string{byHold, byKey})
	return r
}

// ReleaseHold ends a hold before its time.
func ReleaseHold(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, func(o *wire.Object) releasing { return readReleasing(o, c) })
	problems.Refuse(c.NeedKey())
	if err := problems.Err(); err != nil {
		return ledger.Answer{}, err
	}
	request := c.Request(operation.ReleaseHold, asked)
	of, err := c.usedWith(asked.Of, guid.ID{}, asked.OriginalKey, operation.HoldGift)
	if err != nil {
		return request.Refuse(err)
	}
	return request.Do(&ledger.Release{HoldID: asked.HoldID, OriginalKey: asked.OriginalKey, Of: of,
		Release: gift.Release{Context: c.Actor(guid.ID{}), Caller: c.Caller}}, ledger.OK, outcome.Release)
}
