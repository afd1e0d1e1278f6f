package gift

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Send is a send-gift request, decoded but not yet judged (interface, section 2.1). An absent text is "", an absent
// ID zero. Texts are NFC.
type Send struct {
	Caller *Caller

	Monetary   *Definition // exactly one of the two
	Item       *Definition
	Recipients []Recipient // nil: the member is absent
	Sender     string

	PaymentMethodID    *int
	Payment            Payment
	Notes              string
	RelatedOrderID     string
	RelatedOrderNumber string
}

// Definition is a monetaryGift or itemGift (interface, sections 2.3 and 2.4).
type Definition struct {
	Value           Number
	Label           string
	Terms           string
	Quantity        Number
	EquivalentValue Number
	AccountID       ID
	ProgramID       ID
	LocationID      ID
	Sender          string
	Recipient       Recipient // the single-recipient form
	Scheduled       *bool
	DeliveryDate    time.Time
	DeliveryZone    string // an IANA id, mapped from a Windows id where need be
	DesignID        ID
}

// Limits of a send-gift request.
const (
	MaxRecipients    = 1_000
	MaxQuantity      = 10_000
	MaxValidForDays  = 3_650
	MaxScheduleYears = 5
	maxSchedulePast  = 5 * time.Minute
	maxName          = 200
	maxMessage       = 1_000
	maxTerms         = 4_000
	maxContact       = 254
	maxReference     = 200
)

// Issue judges a send-gift request and makes its gifts, one for each recipient and in their order, without ids, codes
// and tokens. problems holds what was found wrong while decoding; every further problem is added to it, but none
// about a member that could not be read. That account is the one the caller may send for is
// Directory.SendingAccount's to say; nil is none, of which problems has the refusal, and then what depends on no
// account is judged all the same.
//
// It fails with VALIDATION_FAILURE, NOT_AUTHORIZED (the key is not enabled for the location),
// MISSING_OR_INVALID_GIFT_PROGRAM, or NOT_SUPPORTED (no subscription).
func Issue(s Send, account *Account, now time.Time, problems *Problems) ([]Gift, error) {
	i := order{Send: s, account: account, now: now, Problems: problems}
	if i.unknown = account == nil; i.unknown {
		i.account = &Account{Currency: Currency{"any currency", 3}, MaxGiftValue: NoLimit, Zone: time.UTC,
			TextCountries: TextCountries()}
	}
	i.definition()
	recipients := i.recipients()
	i.sender()
	i.payment()
	i.place()
	i.schedule()
	i.lasts()
	i.texts()
	i.rights()
	if err := problems.Err(); err != nil {
		return nil, err
	}
	gifts := make([]Gift, len(recipients))
	for n, r := range recipients {
		gifts[n] = i.gift(n, r)
	}
	return gifts, nil
}

// order is one request on its way to being gifts: each method judges one part of it and keeps what the gifts need.
type order struct {
	Send
	*Problems
	account *Account
	unknown bool // account stands for one that is not known
	now     time.Time

	path       string // of the gift definition: "monetaryGift" or "itemGift"
	def        *Definition
	absent     bool // there is no gift definition that could be read; def is empty
	amount     Amount
	equivalent Amount
	from       string // the sender, as shown
	terms      string // the promotional terms
	items      []Item // that the promotion names; not nil, where there is one
	validFrom  time.Time
	validUntil time.Time
	zone       string
	programID  ID
}

func (i *order) at(member string) string { return i.path + "." + member }

func (i *order) definition() {
	switch {
	case i.Monetary != nil && i.Item != nil:
		i.Add("itemGift", "Send monetaryGift or itemGift, not both.")
		fallthrough
	case i.Monetary != nil:
		i.path, i.def = "monetaryGift", i.Monetary
		i.amount = i.value(i.at("value"), i.def.Value, true)
	case i.Item != nil:
		i.path, i.def = "itemGift", i.Item
		i.require(i.at("label"), !blank(i.def.Label), "An item gift needs a label.")
		i.amount = i.quantity()
		i.equivalent = i.value(i.at("equivalentValue"), i.def.EquivalentValue, false)
	default:
		i.path, i.def, i.absent = "monetaryGift", &Definition{}, true
		if !i.Has("monetaryGift") && !i.Has("itemGift") {
			i.Add("", "Send a monetaryGift or an itemGift.")
		}
	}
}

func (i *order) require(path string, ok bool, text string) {
	if !ok {
		i.Add(path, "%s", text)
	}
}

// value reads a monetary value; what is absent and not required is 0.
func (i *order) value(path string, number Number, required bool) Amount {
	if number == "" {
		i.require(path, !required, "A monetary gift needs a value.")
		return 0
	}
	return i.account.Currency.Read(i.Problems, path, number, i.account.MaxGiftValue)
}

func (i *order) quantity() Amount {
	path := i.at("quantity")
	if i.def.Quantity == "" {
		i.Add(path, "An item gift needs a quantity.")
		return 0
	}
	n, err := Pieces.Parse(i.def.Quantity)
	if err != nil || n > MaxQuantity {
		i.Add(path, "The quantity must be a whole number from 1 to %d.", MaxQuantity)
	}
	return n
}

// place judges what must belong to the account: the location and the design.
func (i *order) place() {
	if i.unknown {
		return
	}
	d := i.def
	if !d.LocationID.IsZero() && i.account.Location(d.LocationID) == nil {
		i.Add(i.at("organizationID"), "This account has no such location.")
	}
	if limit := i.Caller.Locations; d.LocationID.IsZero() && len(limit) > 0 {
		which := "one of them as organizationID."
		if l := i.account.Location(limit[0]); l != nil && len(limit) == 1 {
			which = "organizationID " + l.ID.String() + " (" + l.Name + ")."
		}
		i.Add(i.at("organizationID"), "This key sends gifts only that are good at a location of its own: send %s", which)
	}
	if !d.DesignID.IsZero() && i.account.Design(d.DesignID) == nil {
		i.Add(i.at("voucherDesignID"), "This account has no such design.")
	}
}

func (i *order) schedule() {
	d, date := i.def, i.at("deliveryDate")
	given := !d.DeliveryDate.IsZero()
	switch {
	case d.Scheduled == nil:
		i.require(i.at("hasScheduledDelivery"), !given, "Say hasScheduledDelivery true or false beside a deliveryDate.")
	case !*d.Scheduled:
	case !given:
		i.Add(date, "A scheduled delivery needs a deliveryDate.")
	default:
		problem := checkDeliveryDate(d.DeliveryDate, i.now)
		i.require(date, problem == "", problem)
	}
	if i.zone = d.DeliveryZone; i.zone == "" {
		i.zone = i.account.Zone.String()
	}
}

// checkDeliveryDate says what is wrong with a delivery date that is asked for now; "" nothing.
func checkDeliveryDate(date, now time.Time) (problem string) {
	switch {
	case date.Before(now.Add(-maxSchedulePast)):
		return "The deliveryDate has passed."
	case date.After(now.AddDate(MaxScheduleYears, 0, 0)):
		return fmt.Sprintf("The deliveryDate may be at most %d years ahead.", MaxScheduleYears)
	}
	return ""
}

// texts bounds every text that is not bounded elsewhere.
func (i *order) texts() {
	d, p := i.def, i.Payment.Purchase
	i.text("senderDescription", i.Sender, maxName)
	i.text(i.at("senderDescription"), d.Sender, maxName)
	i.text(i.at("label"), d.Label, maxName)
	i.text(i.at("terms"), d.Terms, maxTerms)
	i.text("promotionalTerms", i.Payment.PromotionalTerms, maxTerms)
	i.text("externalTransactionReferenceNumber", p.Reference, maxReference)
	i.text("externalTransactionCustomerFirstName", p.FirstName, maxName)
	i.text("externalTransactionCustomerLastName", p.LastName, maxName)
	i.text("notes", i.Notes, maxMessage)
	i.text("relatedOrderID", i.RelatedOrderID, maxReference)
	i.text("relatedOrderNumber", i.RelatedOrderNumber, maxReference)
}

// blank reports whether a text shows nothing.
func blank(s string) bool { return strings.TrimSpace(s) == "" }

func (i *order) text(path, s string, limit int) {
	if err := CheckText(s, limit, true); err != nil {
		i.Add(path, "%s", err)
	}
}

// rights judges what has a code of its own: the key's right to the location, the program, and the account's right to
// that.
func (i *order) rights() {
	if !i.unknown && i.Caller.Kind == AccountKey && !i.def.LocationID.IsZero() && !i.Caller.Enabled(i.def.LocationID) {
		i.Refuse(RefuseAt(NotAuthorized, i.at("organizationID"), "This key is not enabled for that location."))
	}
	i.Refuse(i.checkProgram())
}

// checkProgram finds the program, the default being that of the payment, and the account's right to use it. It says
// nothing where the program cannot be told, for which there is a problem already.
func (i *order) checkProgram() error {
	path := i.at("programID")
	id := i.def.ProgramID
	switch {
	case i.unknown || i.absent || i.Has(path) || id.IsZero() && i.PaymentMethodID == nil:
		return nil
	case !id.IsZero():
	case *i.PaymentMethodID == ExternalTransaction:
		id = BusinessProgram.ID
	case *i.PaymentMethodID == PromotionalPayment:
		id = PromotionalProgram.ID
	default:
		return nil
	}
	program, ok := ProgramByID(id)
	if !ok {
		return RefuseAt(MissingOrInvalidGiftProgram, path, "There is no such gifting program.")
	}
	i.programID = id
	if i.Caller.Kind == SystemKey && !slices.Contains(i.Caller.Programs, id) {
		return RefuseAt(NotAuthorized, path, "This key does not send in the program %q.", program.Name)
	}
	sub := i.account.Subscription(program.ID)
	switch {
	case sub == nil:
		return RefuseAt(NotSupported, path, "This account is not subscribed to the program %q.", program.Name)
	case len(sub.Locations) > 0 && !slices.Contains(sub.Locations, i.def.LocationID):
		return RefuseAt(NotSupported, i.at("organizationID"),
			"The program %q is open to some locations only; organizationID must name one of them.", program.Name)
	}
	return nil
}

func (i *order) gift(n int, r Recipient) Gift {
	d, method := i.def, Method(*r.Method)
	contact, _ := ParseContact(method, r.Contact, i.account.TextCountries) // judged before
	madeBy := ""
	if i.Caller.Kind == SystemKey {
		madeBy = i.Caller.Name
	}
	g := Gift{
		Voucher: Voucher{
			AccountID: i.account.ID, MadeBy: madeBy, ProgramID: i.programID, LocationID: d.LocationID,
			Item: i.Item != nil, Promotional: *i.PaymentMethodID == PromotionalPayment, PromotionID: i.Payment.PromotionID,
			Items:    i.items,
			Currency: i.account.Currency, Original: i.amount, Balance: i.amount,
			ValidFrom: i.validFrom, ValidUntil: i.validUntil, CreatedAt: i.now,
		},
		Card: Card{
			Label: d.Label, Terms: d.Terms, PromotionalTerms: i.terms, EquivalentValue: i.equivalent,
			Sender: i.from, Recipient: r.Name, Contact: contact, Message: r.Message, Method: method,
			DesignID: d.DesignID, DeliveryZone: i.zone, RecipientIndex: n, Purchase: i.Payment.Purchase,
			Notes: i.Notes, RelatedOrderID: i.RelatedOrderID, RelatedOrderNumber: i.RelatedOrderNumber,
		},
	}
	if g.Card.DesignID.IsZero() {
		g.Card.DesignID = i.account.DesignFor(d.LocationID)
	}
	if d.Scheduled != nil && *d.Scheduled {
		g.Card.Scheduled, g.Card.DeliveryDate = true, d.DeliveryDate
	}
	return g
}

// Begin writes the first entry of a new voucher: its whole value, PENDING until it is delivered. A printed gift is
// delivered at once.
func (g Gift) Begin(c Context) (Gift, Entry) {
	status := Pending
	if g.Card.Method == Printed {
		status, g.Card.DeliveredAt = Delivered, c.Now
	}
	return g, g.enter(c, Issued, 0, status)
}
