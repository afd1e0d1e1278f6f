package load

import (
	"math/rand/v2"
	"strconv"

	"github.com/google/uuid"
)

// Gift is one that the load is about.
type Gift struct {
	ID   uuid.UUID
	Code uint64
}

// Orders are what the load asks for.
type Orders struct {
	Gifts    []Gift
	Location string // organizationID of validations and redemptions; "": none is named
	Amount   string // that each redemption takes
	Sale     string // members of a send-gift request for one printed gift, without the braces
	Ticket   string // ticketData of validations; "": none
	RandomID bool   // Idempotency-Keys in no order, in place of those that grow with time
}

func (o *Orders) gift() *Gift { return &o.Gifts[rand.IntN(len(o.Gifts))] }

const interfacePath = "/api/integration/"

// Redeem takes the amount from one gift or another, each time under a key of its own.
func (t *Target) Redeem(o *Orders) Next { return t.withAmount("redeem-gift", Redeem, o) }

// Sale takes the amount from each of some gifts, in one call under a key of its own.
func (t *Target) Sale(o *Orders, gifts int) Next {
	head := t.post("redemption/redeem-gifts") + "Idempotency-Key: "
	tail := `],"reference":"till 4, ticket 1187"` + o.location() + `}`
	return func(b []byte) ([]byte, Note) {
		key, body := o.key(), []byte(`{"gifts":[`)
		first := rand.IntN(len(o.Gifts))
		for n := range gifts { // a sale names no gift twice
			if n > 0 {
				body = append(body, ',')
			}
			body = append(append(body, `{"voucherID":"`...), o.Gifts[(first+n)%len(o.Gifts)].ID.String()...)
			body = append(append(append(body, `","amount":`...), o.Amount...), '}')
		}
		b = append(append(b, head...), key.String()...)
		return append(append(length(b, len(body)+len(tail)), body...), tail...), Note{Redeem, key}
	}
}

// Hold holds it.
func (t *Target) Hold(o *Orders) Next { return t.withAmount("hold-gift", Hold, o) }

// OfHold captures or releases what each of some holds keeps, under a key of its own.
func (t *Target) OfHold(operation string, o *Orders, hold func() string) Next {
	head := t.post("redemption/"+operation) + "Idempotency-Key: "
	return func(b []byte) ([]byte, Note) {
		key, body := o.key(), `{"holdID":"`+hold()+`"}`
		b = append(append(b, head...), key.String()...)
		return append(length(b, len(body)), body...), Note{Hold, key}
	}
}

func (t *Target) withAmount(operation string, kind Kind, o *Orders) Next {
	head := t.post("redemption/"+operation) + "Idempotency-Key: "
	tail := `","amount":` + o.Amount + `,"reference":"till 4, ticket 1187"` + o.location() + `}`
	return func(b []byte) ([]byte, Note) {
		key := o.key()
		b = append(append(b, head...), key.String()...)
		b = length(b, len(`{"voucherID":"`)+36+len(tail))
		b = append(append(b, `{"voucherID":"`...), o.gift().ID.String()...)
		return append(b, tail...), Note{kind, key}
	}
}

// RedeemByCode is Redeem of gifts that are named by their codes.
func (t *Target) RedeemByCode(o *Orders) Next {
	head := t.post("redemption/redeem-gift") + "Idempotency-Key: "
	tail := `","amount":` + o.Amount + `,"reference":"till 4, ticket 1187"` + o.location() + `}`
	return func(b []byte) ([]byte, Note) {
		key := o.key()
		b = append(append(b, head...), key.String()...)
		b = length(b, len(`{"voucherCode":"`)+codeLength+len(tail))
		return append(appendCode(append(b, `{"voucherCode":"`...), o.gift().Code), tail...), Note{Redeem, key}
	}
}

// codeLength is that of a voucher code.
const codeLength = 12

func appendCode(b []byte, code uint64) []byte {
	for digit := uint64(100_000_000_000); digit > 0; digit /= 10 {
		b = append(b, '0'+byte(code/digit%10))
	}
	return b
}

// Validate asks what one gift or another is worth, by its code.
func (t *Target) Validate(o *Orders) Next {
	head := t.post("redemption/validate-gift") + "Accept: application/json"
	tail := `"` + o.location()
	if o.Ticket != "" {
		tail += `,"ticketData":` + o.Ticket
	}
	tail += "}"
	return func(b []byte) ([]byte, Note) {
		b = length(append(b, head...), len(`{"voucherCode":"`)+codeLength+len(tail))
		return append(appendCode(append(b, `{"voucherCode":"`...), o.gift().Code), tail...), Note{Kind: Validate}
	}
}

// Send makes one printed gift.
func (t *Target) Send(o *Orders) Next { return t.Order("{"+o.Sale+"}", o.key) }

// Order makes the gifts that the body of a request asks for, each time under a key of its own.
func (t *Target) Order(body string, key func() uuid.UUID) Next {
	head := t.post("gifting/send-gift") + "Idempotency-Key: "
	return func(b []byte) ([]byte, Note) {
		k := key()
		b = append(append(b, head...), k.String()...)
		return append(length(b, len(body)), body...), Note{Send, k}
	}
}

// Mix is a day at the tills: of twenty calls ten validate, nine redeem and one sends.
func (t *Target) Mix(o *Orders) Next {
	redeem, validate, send := t.Redeem(o), t.Validate(o), t.Send(o)
	return func(b []byte) ([]byte, Note) {
		switch n := rand.IntN(20); {
		case n < 10:
			return validate(b)
		case n < 19:
			return redeem(b)
		}
		return send(b)
	}
}

// post begins a request, up to and without the last line of its header.
func (t *Target) post(path string) string {
	return "POST " + t.base + interfacePath + path + " HTTP/1.1\r\n" + t.head + "Content-Type: application/json\r\n"
}

// length ends a header, in the middle of its last line but one.
func length(b []byte, n int) []byte {
	b = strconv.AppendInt(append(b, "\r\nContent-Length: "...), int64(n), 10)
	return append(b, "\r\n\r\n"...)
}

func (o *Orders) location() string {
	if o.Location == "" {
		return ""
	}
	return `,"organizationID":` + strconv.Quote(o.Location)
}

// key is a new Idempotency-Key, by default one that grows with time, as those of the client do.
func (o *Orders) key() uuid.UUID {
	if o.RandomID {
		return uuid.New()
	}
	return uuid.Must(uuid.NewV7())
}

// Sale makes the members of a send-gift request for one printed gift.
func Sale(value, storefront, reference string) string {
	return `"monetaryGift":{"value":` + value + `,"deliveryMethodID":3,"recipientDescription":"Ana","message":"Enjoy!"},` +
		`"paymentMethodID":2,` +
		`"externalTransactionReferenceNumber":` + strconv.Quote(reference) +
		`,"externalTransactionCustomerFirstName":"Boon",` +
		`"externalTransactionCustomerLastName":"Bench","externalTransactionCustomerEmailAddress":"bench@example.com",` +
		`"externalStorefrontID":` + strconv.Quote(storefront)
}
