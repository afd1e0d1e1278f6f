package gift

import (
	"strings"
	"time"
	"unicode/utf8"

	"boon.example/internal/base/phrase"
	"boon.example/internal/contact"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// Delivery is how a gift reaches its recipient: what of a card may change after it was made.
type Delivery struct {
	Method       contact.Method
	Contact      string
	Scheduled    bool
	DeliveryDate time.Time
	DeliveryZone string
	DeliveredAt  time.Time
	Attachment   Attachment
}

// Attachment says that the gifts of an order go to their buyer, by e-mail and all in one message, and as what they are
// attached to it. "": each gift goes by itself.
type Attachment string

// ToBuyer is whom the gifts of an order with an attachment are delivered to.
const ToBuyer = "buyer"

// The attachments.
const (
	AsPDF Attachment = "pdf" // cards to be printed
	AsCSV Attachment = "csv" // a table for whoever writes to the recipients
)

// Delivery is how the gift of this card is delivered.
func (c *Card) Delivery() Delivery {
	return Delivery{c.Method, c.Contact, c.Scheduled, c.DeliveryDate, c.DeliveryZone, c.DeliveredAt, c.Attachment}
}

// SetDelivery changes how the gift of this card is delivered.
func (c *Card) SetDelivery(d Delivery) {
	c.Method, c.Contact, c.Scheduled = d.Method, d.Contact, d.Scheduled
	c.DeliveryDate, c.DeliveryZone, c.DeliveredAt, c.Attachment = d.DeliveryDate, d.DeliveryZone, d.DeliveredAt,
		d.Attachment
}

// Address is where a message about the gift goes. Earlier releases kept spellings of telephone numbers that are not
// dialled.
func (c *Card) Address() string {
	if c.Method == contact.SMS {
		return contact.Key(c.Contact)
	}
	return c.Contact
}

// SameRecipient reports whether a gift that is delivered by other means goes to the same person, as far as can be told.
func (d *Delivery) SameRecipient(other Delivery) bool {
	return d.Method == other.Method && contact.Same(d.Contact, other.Contact)
}

// masked tells the contact from others to those who know it, and gives it away to no one else.
func (d *Delivery) masked() string {
	switch local, host, _ := strings.Cut(d.Contact, "@"); {
	case d.Method == contact.Printed || d.Contact == "":
		return "paper"
	case d.Method == contact.Email:
		first, _ := utf8.DecodeRuneInString(strings.TrimPrefix(local, `"`))
		return string(first) + "…@" + host
	default:
		return "…" + d.Contact[max(0, len(d.Contact)-4):]
	}
}

// SendAt is when a message that is asked for now is to be sent: at the scheduled time if that is still ahead.
func (d *Delivery) SendAt(now time.Time) time.Time {
	if d.Scheduled && d.DeliveryDate.After(now) {
		return d.DeliveryDate
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
	Caller      *merchant.Caller
	Method      contact.Method             // 0: as before
	Contact     string                     // "": as before
	Earlier     []time.Time                // when it was sent again before, the oldest first
	Deliverable func(contact.Method) error // refuses a method for which there are no means; nil: there are for all
	Together    bool                       // with the others of its order, to the buyer of all
}

// Resend has a gift delivered by other means, or by the same once more, and tells when; the zero time says that there
// is no message to be sent. It never brings a schedule forward: a message that waits for its time goes out then, to
// the new address. A printed gift is delivered by that. The status and the balance are otherwise left alone: what
// becomes of the message will tell.
//
// It fails with NOT_FOUND where the caller may not see the gift, REDEMPTION_NOT_ALLOWED or ALREADY_REDEEMED when the
// gift's status does not allow it, it has expired or is blocked, VALIDATION_FAILURE when method and contact do not go
// together, whatever Deliverable says, and RATE_LIMITED after MaxResends within a day.
func (v Voucher) Resend(was Delivery, r Resend) (_ Voucher, _ Delivery, _ Entry, due time.Time, err error) {
	to, err := v.redirect(was, r)
	if err == nil && v.Blocked != "" {
		err = v.cannotBe("sent again", itIsBlocked)
	}
	if err != nil {
		return v, was, Entry{}, due, err
	}
	status := v.Status
	switch {
	case to.Method == contact.Printed:
		to.DeliveredAt = r.Now
		if status != Claimed {
			status = Delivered
		}
	case status == Pending:
		due = to.SendAt(r.Now)
	default:
		due = r.Now
	}
	if !r.Together && !was.SameRecipient(to) {
		to.Attachment = "" // it is the buyer's no more
	}
	e := v.enter(r.Context, Resent, 0, status)
	e.Reason = change(was, to)
	if !was.SameRecipient(to) {
		v.unlink(&e)
	}
	return v, to, e, due, nil
}

// Check refuses a resend of whatever gift: with a contact that fits no method that it can be meant for.
func (r *Resend) Check(time.Time) error {
	countries := r.Caller.Account.TextedCountries()
	_, noEmail := contact.Parse(contact.Email, r.Contact, countries)
	_, noNumber := contact.Parse(contact.SMS, r.Contact, countries)
	switch {
	case r.Together && r.Method != 0 && r.Method != contact.Email:
		return refusal.At(refusal.ValidationFailure, refusal.FieldMethod,
			"Gifts go to their buyer by e-mail, and in no other way.")
	case r.Contact == "":
	case r.Method == contact.Printed && !r.Together:
		return refusal.At(refusal.ValidationFailure, refusal.FieldContact, contact.TakesNoContact, refusal.FieldContact)
	case noEmail != nil && (r.Method == contact.Email || r.Method == 0 && noNumber != nil && strings.Contains(r.Contact,
		"@")):
		return refusal.At(refusal.ValidationFailure, refusal.FieldContact, "%s", noEmail)
	case noNumber != nil && (r.Method == contact.SMS || r.Method == 0 && noEmail != nil):
		return refusal.At(refusal.ValidationFailure, refusal.FieldContact, "%s", noNumber)
	}
	return nil
}

// Contacts are those that a resend may write to, each as a delivery has it: the one until now, unless it names another,
// which its method or that of the gift decides how to read.
func (r *Resend) Contacts(now string) (all []string) {
	if r.Contact == "" {
		return []string{now}
	}
	for _, m := range []contact.Method{contact.Email, contact.SMS} {
		if contact, err := contact.Parse(m, r.Contact, r.Caller.Account.TextedCountries()); err == nil {
			all = append(all, contact)
		}
	}
	return all
}

// redirect judges a resend and gives the delivery that it asks for.
func (v *Voucher) redirect(was Delivery, r Resend) (to Delivery, err error) {
	if err := v.sendable(r.Caller, "sent again", r.Now); err != nil {
		return was, err
	}
	to = was
	if r.Method != 0 {
		to.Method = r.Method
	}
	switch {
	case to.Method == contact.Printed && r.Contact != "":
		return was, refusal.At(refusal.ValidationFailure, refusal.FieldContact, contact.TakesNoContact, refusal.FieldContact)
	case to.Method == contact.Printed:
		to.Contact = ""
	case r.Contact == "" && (to.Method != was.Method || was.Contact == ""): // it may have been erased
		return was, refusal.At(refusal.ValidationFailure, refusal.FieldContact, contact.NeedsContact, to.Method.Text(),
			refusal.FieldContact)
	case r.Contact != "":
		if to.Contact, err = contact.Parse(to.Method, r.Contact, r.Caller.Account.TextedCountries()); err != nil {
			return was, refusal.At(refusal.ValidationFailure, refusal.FieldContact, "%s", err)
		}
	}
	if r.Deliverable != nil {
		if err := r.Deliverable(to.Method); err != nil {
			return was, err
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
	refused := refusal.New(refusal.RateLimited, "This gift was sent again %d times within a day, which is the most.",
		MaxResends)
	refused.RetryAfter = wait
	return refused
}

// change says in words what a resend changes. The contacts themselves are not for the history, which tells old and
// new one apart.
func change(from, to Delivery) string {
	by := map[contact.Method]string{contact.Email: "By e-mail", contact.SMS: "By SMS", contact.Printed: "In print"}
	insteadOf := map[contact.Method]string{contact.Email: "by e-mail", contact.SMS: "by SMS", contact.Printed: "in print"}
	address := map[contact.Method]string{contact.Email: "address", contact.SMS: "number"}
	moved := " From " + from.masked() + " to " + to.masked() + ", with a new code and link."
	switch {
	case from.Method != to.Method:
		return by[to.Method] + " instead of " + insteadOf[from.Method] + "." + moved
	case to.Method == contact.Printed:
		return by[contact.Printed] + ", as before."
	case !contact.Same(from.Contact, to.Contact):
		return by[to.Method] + ", to another " + address[to.Method] + "." + moved
	}
	return by[to.Method] + ", to the same " + address[to.Method] + "."
}

// Reschedule asks for another delivery date.
type Reschedule struct {
	Context
	Caller  *merchant.Caller
	Date    time.Time
	Zone    string // IANA id in which the recipient is shown dates; "": as before
	Waiting bool   // there is a message to be sent, and nobody has begun with it
}

// Check refuses a new date of whatever gift.
func (r *Reschedule) Check(now time.Time) error {
	if r.Date.IsZero() {
		return nil
	}
	return CheckDeliveryDate(refusal.FieldDeliveryDate, r.Date, now)
}

// The limits of a delivery date.
const (
	MaxScheduleYears = 5
	maxSchedulePast  = 5 * time.Minute
)

// CheckDeliveryDate refuses a delivery date that cannot be asked for now.
func CheckDeliveryDate(f refusal.Field, date, now time.Time) error {
	switch {
	case date.Before(now.Add(-maxSchedulePast)):
		return refusal.At(refusal.ValidationFailure, f, "The %s has passed.", refusal.FieldDeliveryDate)
	case date.After(now.AddDate(MaxScheduleYears, 0, 0)):
		return refusal.At(refusal.ValidationFailure, f, "The %s may be at most %d years ahead.", refusal.FieldDeliveryDate,
			MaxScheduleYears)
	}
	return nil
}

// Reschedule gives a gift that waits for its delivery another date. It fails with NOT_FOUND where the caller may not
// see the gift, REDEMPTION_NOT_ALLOWED (ALREADY_REDEEMED) when the gift does not wait any more, and
// VALIDATION_FAILURE when send-gift would not take the date, or the gift is over by then.
func (v Voucher) Reschedule(d Delivery, r Reschedule) (Voucher, Delivery, Entry, error) {
	if err := v.sendable(r.Caller, "rescheduled", r.Now); err != nil {
		return v, d, Entry{}, err
	}
	switch {
	case v.Status != Pending:
		return v, d, Entry{}, v.cannotBe("rescheduled", v.itIs())
	case d.Attachment != "":
		return v, d, Entry{}, v.cannotBe("rescheduled", itComesTogether)
	case !r.Waiting:
		return v, d, Entry{}, v.cannotBe("rescheduled", itIsSent)
	}
	if err := CheckDeliveryDate(refusal.FieldDeliveryDate, r.Date, r.Now); err != nil {
		return v, d, Entry{}, err
	}
	if v.OverForGuest(r.Date) {
		return v, d, Entry{}, refusal.At(refusal.ValidationFailure, refusal.FieldDeliveryDate,
			"This gift is over by then: it is valid until %s.",
			LocalTime(v.End(), r.Caller.Account.TimeZone()))
	}
	before := "at once"
	if d.Scheduled {
		before = LocalTime(d.DeliveryDate, nil)
	}
	d.Scheduled, d.DeliveryDate = true, r.Date
	if r.Zone != "" {
		d.DeliveryZone = r.Zone
	}
	e := v.enter(r.Context, Rescheduled, 0, v.Status)
	e.Reason = "To " + LocalTime(r.Date, nil) + "; before: " + before + "."
	return v, d, e, nil
}

// sendable refuses a caller that may not see the gift, and a gift that nobody should receive any more.
func (v *Voucher) sendable(c *merchant.Caller, what phrase.Text, now time.Time) error {
	switch {
	case !v.UsableBy(c):
		return NoSuchGift()
	case v.Status == Redeemed:
		return refusal.New(refusal.AlreadyRedeemed, "Gift %s cannot be %s: it has been redeemed in full.", v.ID, what)
	case v.Status == Cancelled, v.Status == PurchaseFailed, v.Status == NotActivated:
		return v.cannotBe(what, v.itIs())
	case v.OverForGuest(now):
		return v.cannotBe(what, phrase.New("it expired at %s", LocalTime(v.End(), c.Account.TimeZone())))
	}
	return nil
}

func (v *Voucher) cannotBe(what phrase.Text, why *phrase.Phrase) *refusal.Error {
	return refusal.New(refusal.RedemptionNotAllowed, "Gift %s cannot be %s: %s.", v.ID, what, why)
}

// itIs names the status of a voucher as a reason.
func (v *Voucher) itIs() *phrase.Phrase { return phrase.New("it is %s", v.Status) }

// Other reasons why something cannot be done with a voucher.
var (
	itIsBlocked = phrase.New("it is blocked")
	itIsSent    = phrase.New("its message is being sent")
	// Other gifts would move with it.
	itComesTogether = phrase.New("it goes to its buyer in one message with the other gifts of its order")
)

// Outcome tells what became of a delivery.
type Outcome struct {
	Context
	Delivered bool   // the gateway accepted the message; else it refused for good, or retries ran out
	Reason    string // the gateway's last words
}

// Deliver records the outcome of a delivery. PENDING becomes DELIVERED or FAILED_DELIVERY; FAILED_DELIVERY becomes
// DELIVERED by a resend that works; DELIVERED becomes FAILED_DELIVERY by a late bounce. Any other gift is left as it
// is: a late result never moves one out of CLAIMED or REDEEMED, nor back from CANCELLED. changed tells whether there
// is an entry.
func (v Voucher) Deliver(o Outcome) (_ Voucher, _ Entry, changed bool) {
	kind, to := Sent, Delivered
	if !o.Delivered {
		kind, to = SendFailed, FailedDelivery
	}
	if !v.Status.Unused() || v.Status == to {
		return v, Entry{}, false
	}
	e := v.enter(o.Context, kind, 0, to)
	e.Reason = o.Reason
	return v, e, true
}
