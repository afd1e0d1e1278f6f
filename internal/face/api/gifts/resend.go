package gifts

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"boon.example/internal/base/normalize"
	"boon.example/internal/contact"
	"boon.example/internal/face/api/payload"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// maxContact is the length of the longest address; which of them are good depends on the method.
const maxContact = 254

// resending is a resend-gift request.
type resending struct {
	VoucherID guid.ID
	gift.Resend
}

func readResending(o *wire.Object) (r resending) {
	r.VoucherID = readVoucherID(o)
	if id := o.Integer("deliveryMethodID"); id != nil {
		method, err := contact.ParseMethod(*id)
		o.Refuse(err)
		r.Method = method
	}
	r.Contact = normalize.Address(o.Line("recipientContact", maxContact))
	r.Together = o.True("withOrder")
	return r
}

func readVoucherID(o *wire.Object) guid.ID {
	if !o.Given(byID) {
		o.Add(byID, "Say which gift is meant.")
	}
	return o.GUID(byID)
}

// ResendGift sends a gift again, as before or elsewhere.
func ResendGift(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, readResending)
	read := asked
	request := c.RequestTo(operation.ResendGift, func(spell func(string) string) any {
		as := read
		as.Contact = spell(as.Contact)
		return as
	})
	asked.Context, asked.Caller, asked.Deliverable = c.Actor(guid.ID{}), c.Caller, c.deliverableBy
	if asked.Together {
		problems.Refuse(asked.Check(c.Now))
		return c.dispatch(request, asked.VoucherID, problems, &ledger.ResendOrder{Resend: asked.Resend})
	}
	return c.dispatch(request, asked.VoucherID, problems, &ledger.Resend{VoucherID: asked.VoucherID, Resend: asked.Resend})
}

// rescheduling is a reschedule-gift request.
type rescheduling struct {
	VoucherID guid.ID
	gift.Reschedule
}

func readRescheduling(o *wire.Object) (r rescheduling) {
	r.VoucherID = readVoucherID(o)
	if !o.Given("deliveryDate") {
		o.Add("deliveryDate", "Say when the gift is to be delivered.")
	}
	r.Date = o.InstantUTC("deliveryDate")
	r.Zone = readZone(o)
	return r
}

// RescheduleGift gives a gift that waits another delivery date.
func RescheduleGift(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, readRescheduling)
	request := c.Request(operation.RescheduleGift, asked)
	asked.Context, asked.Caller = c.Actor(guid.ID{}), c.Caller
	return c.dispatch(request, asked.VoucherID, problems, &ledger.Reschedule{VoucherID: asked.VoucherID,
		Reschedule: asked.Reschedule})
}

// dispatching is a command that changes how a gift goes.
type dispatching interface {
	ledger.Command
	// Check tells what is wrong with it whatever gift it is about.
	Check(now time.Time) error
}

// dispatch runs a command that changes how a gift goes, and answers with the gift. What is read of it before never
// changes.
func (c *Call) dispatch(r *service.Request, voucher guid.ID, problems *wire.Problems, cmd dispatching) (ledger.Answer,
	error) {
	problems.Refuse(c.NeedKey())
	malformed := problems.Err() != nil
	var g gift.Gift
	var err error
	if !voucher.IsZero() {
		if g, err = c.Records.Gift(c.Context(), c.Account.ID, voucher); err != nil && !errors.Is(err, refusal.NotFound) {
			return ledger.Answer{}, service.Stored(err)
		}
	}
	if missing := err != nil || !g.UsableBy(c.Caller); missing && !voucher.IsZero() {
		problems.Refuse(gift.NoSuchGift())
	}
	if problems.Err() != nil {
		problems.Refuse(cmd.Check(c.Now))
		if malformed {
			return ledger.Answer{}, problems.Err()
		}
		return r.Refuse(problems.Err())
	}
	if err := c.tellKnown(cmd, &g); err != nil {
		return ledger.Answer{}, err
	}
	replace, replaced := cmd.(*ledger.Replace)
	var lacking []string
	if printed(cmd, &g) {
		lacking = c.lacking(&g.Card, map[string]bool{})
	}
	answer, err := r.Do(cmd, ledger.OK, func(w *wire.Writer, done ledger.Result) {
		now := g
		now.Voucher = done.Vouchers[0]
		now.Card.SetDelivery(done.Delivery)
		if done.Secrets != (ledger.Secrets{}) {
			now.Card.Code, now.Card.Token = done.Secrets.Code, done.Secrets.Token
		}
		as := LookUp(c.Call)
		as.Now = done.Entries[0].At
		as.Masked = as.Masked && !(replaced && replace.Deliver == nil)
		payload.WriteVoucher(w, &now, as)
		payload.WritePrintURL(w, &now, as)
		if now.Card.Method != contact.Printed {
			lacking = nil
		}
		w.Texts("notPrintable", lacking)
		if replaced {
			w.Boolean("sent", replace.Deliver != nil)
			w.Instant("replacedAt", as.Now)
		}
	})
	if answer.Fresh() {
		c.Wake(c.Account.Test)
	}
	return answer, err
}

// tellKnown tells a command where the gift goes now and, if it is about a whole order, which gifts are in it.
func (c *Call) tellKnown(cmd dispatching, g *gift.Gift) error {
	switch cmd := cmd.(type) {
	case *ledger.ResendOrder:
		ids, err := c.gifts(several{OrderID: g.OrderID})
		if err != nil {
			return err
		}
		cmd.Known = g.Card.Contact
		cmd.VoucherIDs = append([]guid.ID{g.ID}, slices.DeleteFunc(ids, func(id guid.ID) bool { return id == g.ID })...)
	case *ledger.Resend:
		cmd.Known = g.Card.Contact
	case *ledger.Replace:
		cmd.Known = g.Card.Contact
	}
	return nil
}

// printed reports whether a gift may go in print: by the method that is asked for, else as it goes already.
func printed(cmd dispatching, g *gift.Gift) bool {
	method := contact.Method(0)
	switch cmd := cmd.(type) {
	case *ledger.Resend:
		method = cmd.Method
	case *ledger.Replace:
		if cmd.Deliver != nil {
			method = cmd.Deliver.Method
		}
	}
	return cmp.Or(method, g.Card.Method) == contact.Printed
}
