package api

import (
	"errors"
	"net/http"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// maxContact is the length of the longest address; which of them are good depends on the method.
const maxContact = 254

// resending is a resend-gift request.
type resending struct {
	voucherID gift.ID
	method    gift.Method // 0: as before
	contact   string      // "": as before
}

func readResending(o *object) (r resending) {
	r.voucherID = readVoucherID(o)
	if id := o.integer("deliveryMethodID"); id != nil {
		method, err := gift.ParseMethod(*id)
		if err != nil {
			o.Add("deliveryMethodID", "%s", err)
		}
		r.method = method
	}
	r.contact = o.line("recipientContact", maxContact)
	return r
}

func readVoucherID(o *object) gift.ID {
	if !o.has(byID) {
		o.Add(byID, "Say which gift is meant.")
	}
	return o.guid(byID)
}

func (r *resending) canon(c *canon) {
	c.id(byID, r.voucherID)
	if method := int(r.method); method != 0 {
		c.integer("deliveryMethodID", &method)
	}
	c.text("recipientContact", r.contact)
}

// resendGift sends a gift again, as before or elsewhere.
func resendGift(c *call) (ledger.Answer, error) {
	asked, problems := decode(c, readResending)
	request := c.request(ledger.ResendGift, asked.canon)
	cmd := &ledger.Resend{VoucherID: asked.voucherID, Resend: gift.Resend{
		Context: c.actor(gift.ID{}), Caller: c.caller, Method: asked.method, Contact: asked.contact, Deliverable: c.deliverableBy,
	}}
	return request.dispatch(asked.voucherID, problems, cmd)
}

// rescheduling is a reschedule-gift request.
type rescheduling struct {
	voucherID gift.ID
	date      time.Time
	zone      string // "": as before
}

func readRescheduling(o *object) (r rescheduling) {
	r.voucherID = readVoucherID(o)
	if !o.has("deliveryDate") {
		o.Add("deliveryDate", "Say when the gift is to be delivered.")
	}
	r.date = o.instantUTC("deliveryDate")
	r.zone = readZone(o)
	return r
}

func (r *rescheduling) canon(c *canon) {
	c.id(byID, r.voucherID)
	c.instant("deliveryDate", r.date)
	c.text("deliveryTimezoneId", r.zone)
}

// rescheduleGift gives a gift that waits another delivery date.
func rescheduleGift(c *call) (ledger.Answer, error) {
	asked, problems := decode(c, readRescheduling)
	request := c.request(ledger.RescheduleGift, asked.canon)
	cmd := &ledger.Reschedule{VoucherID: asked.voucherID, Reschedule: gift.Reschedule{
		Context: c.actor(gift.ID{}), Caller: c.caller, Date: asked.date, Zone: asked.zone,
	}}
	return request.dispatch(asked.voucherID, problems, cmd)
}

// dispatching is a command that changes how a gift goes.
type dispatching interface {
	ledger.Command
	// Check notes what is wrong with it whatever gift it is about.
	Check(problems *gift.Problems, now time.Time)
}

// dispatch runs a command that changes how a gift goes, and answers with the gift. What is read of it before never changes.
func (r *request) dispatch(voucher gift.ID, problems *gift.Problems, cmd dispatching) (ledger.Answer, error) {
	r.needKey(problems)
	malformed := problems.Err() != nil
	var g gift.Gift
	var err error
	if !voucher.IsZero() {
		if g, err = r.Records.Gift(r.ctx, r.account.ID, voucher); err != nil && !errors.Is(err, gift.NotFound) {
			return ledger.Answer{}, stored(err)
		}
	}
	if missing := err != nil || !r.caller.MayUse(&g.Voucher); missing && !voucher.IsZero() {
		problems.Refuse(gift.NoSuchGift())
	}
	if problems.Err() != nil {
		cmd.Check(problems, r.now)
		if malformed {
			return ledger.Answer{}, problems.Err()
		}
		return r.refuse(problems.Err())
	}
	if resend, ok := cmd.(*ledger.Resend); ok {
		resend.Known = g.Card.Contact
	}
	answer, err := r.do(cmd, http.StatusOK, func(w *writer, done ledger.Result) {
		now := g
		now.Voucher = done.Vouchers[0]
		now.Card.SetDelivery(done.Delivery)
		if done.Secrets != (ledger.Secrets{}) {
			now.Card.Code, now.Card.Token = done.Secrets.Code, done.Secrets.Token
		}
		as := r.lookUp()
		as.now = done.Entries[0].At
		w.voucher(&now, as)
		w.printURL(&now, r.PublicURL)
	})
	if err == nil && answer.Status == http.StatusOK && !answer.Replayed {
		r.Wake()
	}
	return answer, err
}
