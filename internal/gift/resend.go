package gift

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Way is how a gift reaches its recipient: what of a card may change after it was made.
type Way struct {
	Method       Method
	Contact      string
	Scheduled    bool
	DeliveryDate time.Time
	DeliveryZone string
	DeliveredAt  time.Time
}

// Way is how the gift of this card goes.
func (c *Card) Way() Way {
	return Way{c.Method, c.Contact, c.Scheduled, c.DeliveryDate, c.DeliveryZone, c.DeliveredAt}
}

// Go makes the gift of this card go another way.
func (c *Card) Go(w Way) {
	c.Method, c.Contact, c.Scheduled = w.Method, w.Contact, w.Scheduled
	c.DeliveryDate, c.DeliveryZone, c.DeliveredAt = w.DeliveryDate, w.DeliveryZone, w.DeliveredAt
}

// Elsewhere reports whether a gift that goes another way than this goes to somebody else, as far as anybody can tell.
func (w *Way) Elsewhere(to Way) bool { return w.Method != to.Method || w.Contact != to.Contact }

// masked tells a contact from others to who knows it, and to nobody else.
func (w *Way) masked() string {
	switch local, host, _ := strings.Cut(w.Contact, "@"); {
	case w.Method == Printed || w.Contact == "":
		return "paper"
	case w.Method == Email:
		first, _ := utf8.DecodeRuneInString(local)
		return string(first) + "…@" + host
	default:
		return "…" + w.Contact[max(0, len(w.Contact)-4):]
	}
}

// Due is when a message that is asked for now is to be sent: at the scheduled time if that is still ahead.
func (w *Way) Due(now time.Time) time.Time {
	if w.Scheduled && w.DeliveryDate.After(now) {
		return w.DeliveryDate
	}
	return now
}

// MaxResends is how often a gift may be sent again within resendWindow.
const (
	MaxResends   = 10
	resendWindow = 24 * time.Hour
)

// Resend asks to send a gift again: as before, to another address, or by another method.
type Resend struct {
	Context
	Caller      *Caller
	Method      Method             // 0: as before
	Contact     string             // "": as before
	Earlier     []time.Time        // when it was sent again before, the oldest first
	Deliverable func(Method) error // refuses a method for which there are no means; nil: there are for all
}

// Resend lets a gift go another way, or the same way once more, and tells when; the zero time says that there is no message to be sent.
// It never brings a schedule forward: a message that waits for its time goes out then, to the new address. A printed gift is
// delivered by that. The status and the balance are otherwise left alone: what becomes of the message will tell.
//
// It fails with NOT_FOUND where the caller may not see the gift, REDEMPTION_NOT_ALLOWED or ALREADY_REDEEMED when the gift's status does not
// allow it or it has expired, VALIDATION_FAILURE when method and contact do not go together, whatever Deliverable says, and RATE_LIMITED after
// MaxResends within a day.
func (v Voucher) Resend(way Way, r Resend) (_ Voucher, _ Way, _ Entry, due time.Time, err error) {
	to, err := v.redirect(way, r)
	if err != nil {
		return v, way, Entry{}, due, err
	}
	status := v.Status
	switch {
	case to.Method == Printed:
		to.DeliveredAt = r.Now
		if status != Claimed {
			status = Delivered
		}
	case status == Pending:
		due = to.Due(r.Now)
	default:
		due = r.Now
	}
	e := v.enter(r.Context, Resent, 0, status)
	e.Reason = change(way, to)
	return v, to, e, due, nil
}

// Check notes what is wrong with a resend of whatever gift: a contact that fits no method that it can be meant for.
func (r *Resend) Check(problems *Problems, _ time.Time) {
	const path = "recipientContact"
	countries := r.Caller.Account.textCountries()
	_, noEmail := ParseContact(Email, r.Contact, countries)
	_, noNumber := ParseContact(SMS, r.Contact, countries)
	switch {
	case r.Contact == "":
	case r.Method == Printed:
		problems.Add(path, "%s", takesNoContact)
	case noEmail != nil && (r.Method == Email || r.Method == 0 && noNumber != nil && strings.Contains(r.Contact, "@")):
		problems.Add(path, "%s", noEmail)
	case noNumber != nil && (r.Method == SMS || r.Method == 0 && noEmail != nil):
		problems.Add(path, "%s", noNumber)
	}
}

const takesNoContact = "A printed gift takes no recipientContact."

// redirect judges a resend and gives the way that it asks for.
func (v *Voucher) redirect(way Way, r Resend) (to Way, err error) {
	if err := v.sendable(r.Caller, "sent again", r.Now); err != nil {
		return way, err
	}
	to = way
	if r.Method != 0 {
		to.Method = r.Method
	}
	const contact = "recipientContact"
	switch {
	case to.Method == Printed && r.Contact != "":
		return way, RefuseAt(ValidationFailure, contact, takesNoContact)
	case to.Method == Printed:
		to.Contact = ""
	case r.Contact == "" && to.Method != way.Method:
		return way, RefuseAt(ValidationFailure, contact, "A gift sent by %s needs a recipientContact.", to.Method)
	case r.Contact != "":
		if to.Contact, err = ParseContact(to.Method, r.Contact, r.Caller.Account.textCountries()); err != nil {
			return way, RefuseAt(ValidationFailure, contact, "%s", err)
		}
	}
	if r.Deliverable != nil {
		if err := r.Deliverable(to.Method); err != nil {
			return way, err
		}
	}
	return to, r.tooMany()
}

// tooMany refuses when the last MaxResends fall within resendWindow.
func (r *Resend) tooMany() error {
	if len(r.Earlier) < MaxResends {
		return nil
	}
	wait := r.Earlier[len(r.Earlier)-MaxResends].Add(resendWindow).Sub(r.Now)
	if wait <= 0 {
		return nil
	}
	refused := Refuse(RateLimited, "This gift was sent again %d times within a day, which is the most.", MaxResends)
	refused.RetryAfter = wait
	return refused
}

// change says in words what a resend changes. The contacts themselves are not for the history, which tells old and new one apart.
func change(from, to Way) string {
	by := map[Method]string{Email: "By e-mail", SMS: "By SMS", Printed: "In print"}
	insteadOf := map[Method]string{Email: "by e-mail", SMS: "by SMS", Printed: "in print"}
	address := map[Method]string{Email: "address", SMS: "number"}
	moved := " From " + from.masked() + " to " + to.masked() + ", with a new code and link."
	switch {
	case from.Method != to.Method:
		return by[to.Method] + " instead of " + insteadOf[from.Method] + "." + moved
	case to.Method == Printed:
		return by[Printed] + ", as before."
	case from.Contact != to.Contact:
		return by[to.Method] + ", to another " + address[to.Method] + "." + moved
	}
	return by[to.Method] + ", to the same " + address[to.Method] + "."
}

// Reschedule asks for another delivery date.
type Reschedule struct {
	Context
	Caller  *Caller
	Date    time.Time
	Zone    string // IANA id in which the recipient is shown dates; "": as before
	Waiting bool   // there is a message to be sent, and nobody has begun with it
}

// Check notes what is wrong with a new date of whatever gift.
func (r *Reschedule) Check(problems *Problems, now time.Time) {
	if problem := checkDeliveryDate(r.Date, now); problem != "" && !r.Date.IsZero() {
		problems.Add("deliveryDate", "%s", problem)
	}
}

// Reschedule gives a gift that waits for its delivery another date. It fails with NOT_FOUND where the caller may not see the gift,
// REDEMPTION_NOT_ALLOWED (ALREADY_REDEEMED) when the gift does not wait any more, and VALIDATION_FAILURE when send-gift would not take
// the date, or the gift is over by then.
func (v Voucher) Reschedule(way Way, r Reschedule) (Voucher, Way, Entry, error) {
	if err := v.sendable(r.Caller, "rescheduled", r.Now); err != nil {
		return v, way, Entry{}, err
	}
	switch {
	case v.Status != Pending:
		return v, way, Entry{}, v.cannotBe("rescheduled", "it is "+v.Status.String())
	case !r.Waiting:
		return v, way, Entry{}, v.cannotBe("rescheduled", "its message is being sent")
	}
	if problem := checkDeliveryDate(r.Date, r.Now); problem != "" {
		return v, way, Entry{}, RefuseAt(ValidationFailure, "deliveryDate", "%s", problem)
	}
	if v.ExpiredBy(r.Date) {
		return v, way, Entry{}, RefuseAt(ValidationFailure, "deliveryDate", "This gift is over by then: it is valid until %s.",
			LocalTime(v.ValidUntil, r.Caller.Account.TimeZone()))
	}
	before := "at once"
	if way.Scheduled {
		before = LocalTime(way.DeliveryDate, nil)
	}
	way.Scheduled, way.DeliveryDate = true, r.Date
	if r.Zone != "" {
		way.DeliveryZone = r.Zone
	}
	e := v.enter(r.Context, Rescheduled, 0, v.Status)
	e.Reason = "To " + LocalTime(r.Date, nil) + "; before: " + before + "."
	return v, way, e, nil
}

// sendable refuses a caller that may not see the gift, and a gift that nobody should receive any more.
func (v *Voucher) sendable(c *Caller, what string, now time.Time) error {
	switch {
	case !c.MayUse(v):
		return NoSuchGift()
	case v.Status == Redeemed:
		return Refuse(AlreadyRedeemed, "Gift %s cannot be %s: it has been redeemed in full.", v.ID, what)
	case v.Status == Cancelled, v.Status == PurchaseFailed:
		return v.cannotBe(what, "it is "+v.Status.String())
	case v.ExpiredBy(now):
		return v.cannotBe(what, "it expired at "+LocalTime(v.ValidUntil, c.Account.TimeZone()))
	}
	return nil
}

func (v *Voucher) cannotBe(what, why string) *Error {
	return Refuse(RedemptionNotAllowed, "Gift %s cannot be %s: %s.", v.ID, what, why)
}
