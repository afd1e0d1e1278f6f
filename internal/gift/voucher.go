package gift

import (
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/contact"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// The limits of one gift, and of the gifts of one order.
const (
	MaxRecipients   = 1_000
	MaxQuantity     = 10_000
	MaxValidForDays = 3_650
	MaxGraceDays    = 90
)

// Voucher is what is decided upon: one gift, one balance.
type Voucher struct {
	ID         guid.ID
	AccountID  guid.ID
	OrderID    guid.ID // the request that made it
	MadeBy     string  // the system key that made it, by its name; "": a key of the account
	ProgramID  guid.ID
	LocationID guid.ID // the only location it may be used at; zero: all of the account's

	Item        bool    // a quantity of an item, else a monetary value
	Promotional bool    // no payment was taken
	PromotionID guid.ID // zero for a purchase

	Items []merchant.Item // that it is good for; empty: anything; nil: they were not kept. See GoodFor

	Currency money.Currency // the account's, also of an item gift
	Funded   money.Amount   // all that was ever put into it, less what of that was taken back; in Unit
	Balance  money.Amount   // 0 ≤ Balance ≤ Funded
	Holds    []OpenHold     // the oldest first; together at most Balance
	Status   Status

	Fixed        money.Amount // the worth that a card of a stock gets when it is activated; 0: as much as is paid then
	Verification string       // the verification code of a card of a stock, see AsksVerification; "": it has none
	TillsOnly    bool         // another system gave out a code that can be guessed, see OnlyAtTills
	WrongCodes   int          // wrong verification codes in a row
	Blocked      ReasonCode   // why it may not be used; "": it is not blocked

	Seq      int     // the number of entries in its history
	Last     guid.ID // the newest of them
	Replaced int     // the number of the one that gave it the code and token that it has; 0: they are its first

	Tells         BuyerNotices // what its buyer is told of it
	BuyerLanguage string       // in which its buyer reads, a BCP 47 tag; "": the account's

	CustomerID string // by which whoever integrates the interface knows the customer that it is linked to; "": none

	ValidFrom  time.Time // zero: from the start
	ValidUntil time.Time // the first instant at which it is no longer valid, when it was made; zero: it does not expire
	Extended   time.Time // that instant, since it was made valid for longer; zero: it was not
	GraceDays  int       // for how many days of 24 hours tills take it after that, which nobody else is told; 0: none
	CreatedAt  time.Time
}

// BuyerNotices are what the buyer of a gift is told of it, by e-mail, each once.
type BuyerNotices int

// What a buyer can be told.
const (
	TellArrival  BuyerNotices = 1 << iota // that its message was delivered
	TellFirstUse                          // that something was taken of it
)

// UsedFirst reports whether an entry that is made of v is the first use of it, and its buyer is told.
func (v *Voucher) UsedFirst(e *Entry) bool {
	return v.Tells&TellFirstUse != 0 && v.Status.Unused() && (e.Kind == Redemption || e.Kind == CashOut)
}

// ArrivesFirst reports whether a message that was delivered brings v for the first time, and its buyer is told: not
// where the gift was used meanwhile. brought tells that an earlier message did.
func (v *Voucher) ArrivesFirst(brought bool) bool {
	return v.Tells&TellArrival != 0 && !brought && v.Status.Unused()
}

// Worth is what was put into a voucher; of a card that is still to be activated, what it is going to be worth.
func (v *Voucher) Worth() money.Amount {
	if v.Status == NotActivated {
		return v.Fixed
	}
	return v.Funded
}

// Unit is what the voucher's amounts are counted in: its currency, or Pieces.
func (v *Voucher) Unit() money.Currency {
	if v.Item {
		return money.Pieces
	}
	return v.Currency
}

// TypeID numbers what the gift is: 1 monetary, 2 item, 3 promotional monetary, 4 promotional item.
func (v *Voucher) TypeID() int {
	id := 1
	if v.Item {
		id = 2
	}
	if v.Promotional {
		id += 2
	}
	return id
}

// OverForGuest reports whether the voucher's validity is over at some time, as its guest is told: whatever is sent,
// printed, listed or told of the gift goes by it.
func (v *Voucher) OverForGuest(at time.Time) bool { return over(v.End(), at) }

// OverForTill reports whether tills take the voucher no more at some time, as its days of grace are over, too. What
// pays goes by it, and so do the books: what a till takes is owed.
func (v *Voucher) OverForTill(at time.Time) bool { return over(v.EndForTill(), at) }

func over(end, at time.Time) bool { return !end.IsZero() && !at.Before(end) }

// End is the first instant at which the voucher is no longer valid, as its guest is told; zero: it does not expire.
func (v *Voucher) End() time.Time {
	if !v.Extended.IsZero() {
		return v.Extended
	}
	return v.ValidUntil
}

// EndForTill is the first instant at which tills take the voucher no more; zero: it does not expire.
func (v *Voucher) EndForTill() time.Time { return AfterGrace(v.End(), v.GraceDays) }

// AfterGrace is the instant at which days of grace are over that follow an end; zero: there is no end.
func AfterGrace(end time.Time, days int) time.Time {
	if end.IsZero() {
		return end
	}
	return end.Add(time.Duration(days) * 24 * time.Hour)
}

// TakenAt reports whether tills take the voucher now, as far as its validity goes.
func (v *Voucher) TakenAt(now time.Time) bool { return !now.Before(v.ValidFrom) && !v.OverForTill(now) }

// InPeriod reports whether the voucher can be used now, as far as its validity goes: at a location as a till takes it,
// at none as its guest is told.
func (v *Voucher) InPeriod(location guid.ID, now time.Time) bool {
	return !now.Before(v.ValidFrom) && !v.overAt(location, now)
}

// overAt is OverForTill at a location, and OverForGuest at none.
func (v *Voucher) overAt(location guid.ID, now time.Time) bool {
	if location.IsZero() {
		return v.OverForGuest(now)
	}
	return v.OverForTill(now)
}

// TellsOfItsEnd reports whether the end of a voucher's validity is an event: it is in use, and something is left.
func (v *Voucher) TellsOfItsEnd() bool { return v.Balance > 0 && v.Status.Receivable() }

// AllowedAt reports whether the voucher may be used at a location of its account.
func (v *Voucher) AllowedAt(location guid.ID) bool {
	return v.LocationID.IsZero() || v.LocationID == location
}

// Reason is why a gift cannot be redeemed.
type Reason struct {
	Code refusal.Code // that of the refusal, or ReasonBlocked or ReasonNotActivated
	Text *phrase.Phrase
}

// Reasons that are told by codes of their own; refusals for them are REDEMPTION_NOT_ALLOWED.
const (
	ReasonBlocked      refusal.Code = "BLOCKED"
	ReasonNotActivated refusal.Code = "NOT_ACTIVATED"
)

// NotRedeemable lists why the voucher cannot be redeemed at location now; empty: it can be. A zero location asks
// about the gift itself, wherever it may be used, as its guest is told. Times are told in a zone; nil is UTC.
func (v *Voucher) NotRedeemable(location guid.ID, now time.Time, zone *time.Location) []Reason {
	var reasons []Reason
	add := func(c refusal.Code, text *phrase.Phrase) { reasons = append(reasons, Reason{c, text}) }
	if !location.IsZero() && !v.AllowedAt(location) {
		add(refusal.NotAuthorized, isElsewhere)
	}
	switch {
	case v.Status == NotActivated:
		add(ReasonNotActivated, isNotActivated)
	case v.Status == Pending:
		add(refusal.RedemptionNotAllowed, isPending)
	case v.Status == PurchaseFailed:
		add(refusal.RedemptionNotAllowed, isFailed)
	case v.Status == Cancelled:
		add(refusal.RedemptionNotAllowed, isCancelled)
	case v.Status == Redeemed || v.Balance == 0:
		add(refusal.AlreadyRedeemed, isRedeemed)
	}
	if v.Blocked != "" {
		add(ReasonBlocked, isBlocked)
	}
	if now.Before(v.ValidFrom) {
		add(refusal.RedemptionNotAllowed,
			phrase.New("This gift is not valid yet; it is from %s.", LocalTime(v.ValidFrom, zone)))
	}
	if v.overAt(location, now) {
		add(refusal.RedemptionNotAllowed, phrase.New("This gift expired at %s.", LocalTime(v.End(), zone)))
	}
	return reasons
}

// The reasons that have no values in them. They are made once, as every look-up at a till asks for reasons.
var (
	isElsewhere    = phrase.New(goodElsewhere)
	isNotActivated = phrase.New("This card was not activated yet: it has no value until it is sold.")
	isPending      = phrase.New("This gift has not been delivered yet.")
	isFailed       = phrase.New("The purchase of this gift failed.")
	isCancelled    = phrase.New("This gift was cancelled.")
	isRedeemed     = phrase.New("This gift has been redeemed in full.")
	isBlocked      = phrase.New("This gift is blocked.")
)

const goodElsewhere = "This gift is good at another location only."

func elsewhere() *refusal.Error { return refusal.New(refusal.NotAuthorized, goodElsewhere) }

// LocalTime tells a time as somebody at a till reads it: in the account's zone, which is named. nil is UTC.
func LocalTime(t time.Time, zone *time.Location) string {
	if zone == nil || zone == time.UTC {
		return t.UTC().Format("2006-01-02 15:04 UTC")
	}
	return t.In(zone).Format("2006-01-02 15:04") + " (" + zone.String() + ")"
}

// Target is what a till expects of the gift that it asks for (validate-gift and redeem-gift, optional).
type Target struct {
	ProgramID   guid.ID // zero: any
	Promotional *bool   // nil: any
}

// Check refuses a gift that is not what the till expects.
func (t Target) Check(v *Voucher) error {
	var refused *refusal.Error
	if !t.ProgramID.IsZero() && t.ProgramID != v.ProgramID {
		refused = refusal.At(refusal.MissingOrInvalidGiftProgram, refusal.FieldTargetProgram,
			"This gift belongs to another program.")
	}
	if t.Promotional != nil && *t.Promotional != v.Promotional {
		refused = refusal.Join(refused, refusal.At(refusal.InvalidVoucherType, refusal.FieldTargetType,
			"This gift is of another type."))
	}
	if refused == nil {
		return nil
	}
	return refused
}

// Card is what a gift looks like, to whom it goes, and its secrets: everything that no decision about its value needs.
type Card struct {
	Code  codes.VoucherCode
	Token codes.Token
	// Activation is the number by which a card of a stock is sold: when the card is made, and where it is printed. What
	// is looked up does not have it. The zero one: it has none.
	Activation codes.ActivationCode

	Label            string // item gifts
	Terms            string
	PromotionalTerms string
	EquivalentValue  money.Amount // of an item gift, in the account's currency; 0: not given

	VATTreatment merchant.VATTreatment // as the set-up said when the gift was made; "": it did not say
	VATRate      money.Number          // in percent, of merchant.SinglePurpose

	Sender    string
	Recipient string
	Contact   string // e-mail address, or mobile number in E.164; never shown to a till
	Message   string
	Method    contact.Method
	// Attachment has the gift go to its buyer, who stands in Contact, with the others of its order in one message.
	Attachment Attachment
	DesignID   guid.ID // zero: the built-in one

	Scheduled      bool
	DeliveryDate   time.Time // zero: at once
	DeliveryZone   string    // IANA id in which the recipient is shown dates
	DeliveredAt    time.Time // zero: not yet
	RecipientIndex int       // in the request that made it

	Purchase           Purchase // zero for a promotional gift
	Notes              string
	RelatedOrderID     string
	RelatedOrderNumber string
	Language           string // in which the recipient reads, a BCP 47 tag; "": the account's
}

// Purchase is the external transaction that paid for a gift (interface, section 2.5).
type Purchase struct {
	Reference    string
	FirstName    string
	LastName     string
	EmailAddress string
	StorefrontID guid.ID
	// Price is what was paid for the value, where the request said; 0: it did not, and the books take it that the value
	// was paid for as a whole. It is at most the value, and in the voucher's currency.
	Price money.Amount
}

// Gift is a whole gift: what is decided upon, and what is shown.
type Gift struct {
	Voucher
	Card Card
}

// Begin writes the first entry of a new voucher: its whole value, PENDING until it is delivered. A printed gift is
// delivered at once, and a card of a stock has no value yet.
func (g Gift) Begin(c Context) (Gift, Entry) {
	status := Pending
	switch {
	case g.Status == NotActivated:
		status = NotActivated
	case g.Card.Method == contact.Printed:
		status, g.Card.DeliveredAt = Delivered, c.Now
	}
	e := g.enter(c, Issued, 0, status)
	e.Purchase.Price = g.Card.Purchase.Price
	g.beginsLinked(&e)
	return g, e
}

// Import writes the first entry of a gift that another system sold: what is left of it, as of c.Now. Its recipient has
// it already, so nothing is delivered.
func (g Gift) Import(c Context) (Gift, Entry) {
	g.CreatedAt, g.Card.DeliveredAt = c.Now, c.Now
	e := g.enter(c, Imported, 0, Delivered)
	g.beginsLinked(&e)
	return g, e
}

// ComesAlong reports whether the message that brings the gift of this card is that of another one, as the first gift of
// an order that goes to its buyer brings the others along.
func (c *Card) ComesAlong() bool { return c.Attachment != "" && c.RecipientIndex > 0 }

// Messages counts the message that brings the gift of this card when it is made.
func (c *Card) Messages() merchant.Count {
	if c.ComesAlong() {
		return merchant.Count{}
	}
	return merchant.MessageCount(c.Method)
}

// Spending counts the gift itself, and the message that brings it. What a card of a stock is worth counts when it is
// activated.
func (g *Gift) Spending() merchant.Count {
	c := g.Card.Messages()
	c.Gifts, c.Amount = 1, g.Funded
	if g.Item && g.Status != NotActivated {
		c.Amount = g.Card.EquivalentValue
	}
	return c
}
