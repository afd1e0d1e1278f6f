package gifts

import (
	"errors"
	"strings"

	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/ticket"
	"boon.example/internal/wire"
)

// giftRef names a gift in a request, in one of three ways.
type giftRef struct {
	ID    guid.ID
	Code  codes.VoucherCode
	Token codes.Token
	// Activation is the number by which a card is sold, which names it for that alone.
	Activation codes.ActivationCode
}

// The members that name a gift.
const (
	byID    = "voucherID"
	byCode  = "voucherCode"
	byToken = "voucherPublicToken"

	byActivationCode = "activationCode"
)

// readGiftRef reads which gift is meant: exactly one of the members named must be given.
func readGiftRef(o *wire.Object, a *merchant.Account, members ...string) giftRef {
	w := readGift(o, a, members)
	oneOf(o, members)
	return w
}

func readGift(o *wire.Object, a *merchant.Account, members []string) (w giftRef) {
	for _, name := range members {
		switch name {
		case byID:
			w.ID = o.GUID(name)
		case byCode:
			w.Code = readCode(o, a, name)
		case byToken:
			w.Token = readToken(o, name)
		case byActivationCode:
			w.Activation = readActivationCode(o, name)
		}
	}
	return w
}

// oneOf demands that exactly one of some members is given.
func oneOf(o *wire.Object, members []string) {
	given := 0
	for _, name := range members {
		if o.Given(name) {
			given++
		}
	}
	last := len(members) - 1
	choice := strings.Join(members[:last], ", ")
	switch {
	case given == 0:
		o.Add(o.Path(), "Send %s or %s.", choice, members[last])
	case given > 1:
		o.Add(o.Path(), "Send only one of %s and %s.", choice, members[last])
	}
}

// readCode reads a voucher code: a string, or a JSON number that is written as 12 digits. The code of another system,
// which may begin with zeros, is a string.
func readCode(o *wire.Object, a *merchant.Account, name string) (code codes.VoucherCode) {
	v := o.Take(name)
	var err error
	switch {
	case v == nil:
		return code
	case v.Kind() == '"':
		code, err = codes.Parse(a, string(wire.Unquote(v)))
	case v.Kind() == '0':
		if _, err = codes.ParseVoucherCode(string(v)); err == nil {
			code, err = codes.Parse(a, string(v))
		}
	default:
		o.Add(o.At(name), "This must be 12 digits as a text or a number, not %s.", wire.KindName(v.Kind()))
		return code
	}
	o.Refuse(inside(o, err))
	return code
}

// inside has a refusal be about members of an object.
func inside(o *wire.Object, err error) error {
	if refused, ok := errors.AsType[*refusal.Error](err); ok {
		return refused.In(refusal.Field(o.Path()))
	}
	return err
}

// readToken reads the text of a QR code.
func readToken(o *wire.Object, name string) (token codes.Token) {
	v := o.Of(name, '"', "a text")
	if v == nil {
		return token
	}
	token, err := codes.ParseToken(string(wire.Unquote(v)))
	o.Refuse(inside(o, err))
	return token
}

// readActivationCode reads the number by which a card is sold. It is a text: JSON numbers of 16 digits lose some.
func readActivationCode(o *wire.Object, name string) (code codes.ActivationCode) {
	v := o.Of(name, '"', "a text")
	if v == nil {
		return code
	}
	code, err := codes.ReadActivationCode(string(wire.Unquote(v)))
	o.Refuse(inside(o, err))
	return code
}

// place is where a request is made. Where it leaves that to a key of a single location, that one is part of what was
// asked: two tills that by accident use the same Idempotency-Key do not see each other's answers. What the account's
// set-up implies is not: a replay must find its answer after the set-up has changed.
type place struct {
	merchant.Place
	KeyLocation guid.ID
}

// readPlace reads at which location a request is made.
func readPlace(o *wire.Object, caller *merchant.Caller) (p place) {
	p.LocationID = o.GUID("organizationID")
	p.PointOfSale = o.Line("pointOfSaleSystemOrganizationIdentifier", maxReference)
	if p.Place == (merchant.Place{}) && len(caller.Locations) == 1 {
		p.KeyLocation = caller.Locations[0]
	}
	return p
}

// locate finds the location that a request means, and notes it for the log; one that was refused is noted as the
// request names it.
func (c *Call) locate(p merchant.Place) (*merchant.Location, error) {
	c.Location = p.LocationID
	at, err := c.Caller.Locate(p)
	if err == nil {
		c.Location = at.ID
	}
	return at, err
}

// locationOrNil is the location of a call, or nil: why there is none is told later.
func (c *Call) locationOrNil(where place) *merchant.Location {
	at, err := c.Caller.Locate(where.Place)
	if err != nil {
		return nil
	}
	return at
}

// besides gives everything that is wrong with a malformed request: also what the look-up of its location finds.
func (c *Call) besides(problems *wire.Problems, p merchant.Place) error {
	byID, byPOS := problems.Has(string(refusal.FieldLocation)), problems.Has(string(refusal.FieldPointOfSale))
	if byID {
		p.LocationID = guid.ID{}
	}
	if byPOS {
		p.PointOfSale = ""
	}
	// Where neither way to name the location is left, which one is meant cannot be told.
	if !c.unread && (!byID && !byPOS || p != merchant.Place{}) {
		_, err := c.Caller.Locate(p)
		problems.Refuse(err)
	}
	return problems.Err()
}

// alsoMissing adds to the refusal of a location that the gift is not there either. A code is not looked up: there is
// no location to count it against.
func (c *Call) alsoMissing(err error, w giftRef) error {
	misplaced, ok := errors.AsType[*refusal.Error](err)
	if !ok {
		return err
	}
	var missing error
	switch {
	case !w.ID.IsZero():
		if _, missing = c.Records.Gift(c.Context(), c.Account.ID, w.ID); errors.Is(missing, refusal.NotFound) {
			missing = gift.NoSuchGift()
		}
	case w.Token != (codes.Token{}):
		if _, missing = c.Records.GiftByToken(c.Context(), w.Token); errors.Is(missing, refusal.NotFound) {
			missing = gift.NoSuchToken()
		}
	}
	if _, replaced := errors.AsType[*gift.ReplacedError](missing); replaced {
		missing = nil
	}
	if _, told := errors.AsType[*refusal.Error](missing); missing != nil && !told {
		return service.Stored(missing)
	}
	return refusal.Join(misplaced, missing)
}

// The longest texts that a till may send.
const (
	maxReference = 100
	maxReason    = 200
)

// readTarget reads what the till expects of the gift.
func readTarget(o *wire.Object) (t gift.Target) {
	const typeMember = "targetTypeCode"
	t.ProgramID = o.GUID("targetProgramID")
	if check := o.Boolean("validateTargetProgram"); check != nil && !*check {
		t.ProgramID = guid.ID{}
	}
	switch code := o.Text(typeMember); code {
	case "":
	case "GIFT", "NOT_GIFT":
		promotional := code == "NOT_GIFT"
		t.Promotional = &promotional
	default:
		o.Add(o.At(typeMember), "The targetTypeCode must be GIFT or NOT_GIFT.")
	}
	if check := o.Boolean("validateTargetType"); check != nil && !*check {
		t.Promotional = nil
	}
	return t
}

// eligibility is what a ticket allows a voucher to pay of what is available; nil without a ticket.
func (c *Call) eligibility(t *ticket.Ticket, v *gift.Voucher) *ticket.Eligibility {
	if t == nil {
		return nil
	}
	verdict := ticket.EligibilityOf(t, v.GoodFor(c.Account), v)
	verdict.Most = min(verdict.Most, v.Available(c.Now))
	return &verdict
}

// readAmount reads an amount whose unit is known only when its gift is: what is no amount in money is none in pieces
// either.
func readAmount(o *wire.Object, c money.Currency) money.Number { return readAmountOf(o, "amount", c) }

// readPrice reads what was paid for value that a gift gets later; "": as much as that is worth.
func readPrice(o *wire.Object, c money.Currency) money.Number {
	number := o.Number(pricePaid)
	if number == "" {
		return ""
	}
	if _, err := c.Read(number, money.NoLimit); err != nil {
		o.Add(o.At(pricePaid), "%s", err)
	}
	return number
}

func readAmountOf(o *wire.Object, name string, c money.Currency) money.Number {
	if o.EmptyText(name) { // where absent would take everything
		o.Add(o.At(name), "An empty text is no amount; leave %s out to mean all that is left.", name)
		return ""
	}
	number := o.Number(name)
	if number != "" {
		if _, err := c.Read(number, money.NoLimit); err != nil {
			o.Add(o.At(name), "%s", err)
		}
	}
	return number
}

// findToUse is find for what a gift can pay for: who asks for a card that is not sold yet is told of.
func (c *Call) findToUse(w giftRef, location guid.ID) (gift.Gift, error) {
	g, err := c.find(w, location)
	c.NoteProbe(&g, location)
	return g, err
}

// find looks a gift up by code, token or activation code, for use at a location. A gift that is refused is given beside
// the refusal.
func (c *Call) find(w giftRef, location guid.ID) (gift.Gift, error) {
	switch {
	case w.Activation != codes.ActivationCode{}:
		return c.FindByActivationCode(w.Activation, location)
	case w.Code == codes.VoucherCode{}:
		return c.FindByToken(w.Token, location)
	}
	return c.FindByCode(w.Code, location)
}
