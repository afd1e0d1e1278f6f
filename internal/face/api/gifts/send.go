package gifts

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/base/normalize"
	"boon.example/internal/contact"
	"boon.example/internal/face/api/payload"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/order"
	"boon.example/internal/refusal"
	"boon.example/internal/wire"
)

// maxOrderAnswer is how long the answer to an order may be.
const maxOrderAnswer = 8 << 20

// pricePaid is the member for what was paid for a gift, where that is less than the gift is worth.
const pricePaid = "pricePaid"

// readSend reads a send-gift request.
func readSend(o *wire.Object) *order.Send {
	s := new(order.Send)
	if m := o.Object("monetaryGift"); m != nil {
		s.Monetary = readDefinition(m)
		s.Monetary.Value = m.Number("value")
		s.Monetary.Price = m.Number(pricePaid)
		m.Finish()
	}
	if m := o.Object("itemGift"); m != nil {
		s.Item = readDefinition(m)
		s.Item.Label = m.Text("label")
		s.Item.Terms = m.Text("terms")
		s.Item.Quantity = m.Number("quantity")
		s.Item.EquivalentValue = m.Number("equivalentValue")
		s.Item.Price = m.Number(pricePaid)
		m.Finish()
	}
	several := o.Objects("recipients", gift.MaxRecipients, func(r *wire.Object) {
		s.Recipients = append(s.Recipients, readRecipient(r))
		r.Finish()
	})
	if several && s.Recipients == nil {
		s.Recipients = []order.Recipient{}
	}
	s.Sender = o.Text("senderDescription")
	s.PaymentMethodID = o.Integer("paymentMethodID")
	s.Payment = readPayment(o)
	s.DeliverTo = o.Text("deliverTo")
	s.Attachment = o.Text("attachment")
	s.NotifyBuyer = o.Boolean("notifyBuyer")
	s.BuyerLanguage = readLanguage(o, "externalTransactionCustomerLanguage")
	s.Notes = o.Text("notes")
	s.RelatedOrderID = o.Text("relatedOrderID")
	s.RelatedOrderNumber = o.Text("relatedOrderNumber")
	return s
}

// readDefinition reads what both kinds of gift have.
func readDefinition(o *wire.Object) *order.Definition {
	d := &order.Definition{
		AccountID:  o.GUID("accountID"),
		ProgramID:  o.GUID("programID"),
		LocationID: o.GUID("organizationID"),
		Sender:     o.Text("senderDescription"),
		Recipient:  readRecipient(o),
		Scheduled:  o.Boolean("hasScheduledDelivery"),
		DesignID:   o.GUID("voucherDesignID"),
	}
	if d.Scheduled != nil && !*d.Scheduled {
		o.Text("deliveryDate") // it is ignored then, whatever it says
	} else {
		d.DeliveryDate = o.InstantUTC("deliveryDate")
	}
	d.DeliveryZone = readZone(o)
	return d
}

// readZone reads in which time zone the recipient is shown dates; "" is not said.
func readZone(o *wire.Object) string {
	const member = "deliveryTimezoneId"
	zone := o.Text(member)
	if zone == "" {
		return ""
	}
	name, _, err := wire.ParseZone(zone)
	if err != nil {
		o.Add(o.At(member), "%s", err)
	}
	return name
}

func readRecipient(o *wire.Object) order.Recipient {
	return order.Recipient{
		Method:   o.Integer("deliveryMethodID"),
		Name:     o.Text("recipientDescription"),
		Contact:  normalize.Address(o.Text("recipientContact")),
		Message:  o.Text("message"),
		Language: readLanguage(o, "recipientLanguage"),

		CustomerID: o.Text(byCustomer),
	}
}

// readLanguage reads in which language somebody is written to; "" is not said.
func readLanguage(o *wire.Object, member string) string {
	tag := o.Text(member)
	if tag == "" {
		return ""
	}
	canonical, err := wire.ParseLanguage(tag)
	if err != nil {
		o.Add(o.At(member), "%s", err)
	}
	return canonical
}

// readPurchase reads who paid, and where.
func readPurchase(o *wire.Object) gift.Purchase {
	return gift.Purchase{
		Reference:    o.Text("externalTransactionReferenceNumber"),
		FirstName:    o.Text("externalTransactionCustomerFirstName"),
		LastName:     o.Text("externalTransactionCustomerLastName"),
		EmailAddress: o.Text("externalTransactionCustomerEmailAddress"),
		StorefrontID: o.GUID("externalStorefrontID"),
	}
}

func readPayment(o *wire.Object) order.Payment {
	return order.Payment{
		Purchase:         readPurchase(o),
		PromotionID:      o.GUID("promotionID"),
		ValidStarting:    o.Instant("validStarting"),
		ValidForDays:     o.Integer("validForDays"),
		PromotionalTerms: o.Text("promotionalTerms"),
	}
}

// SendGift makes gifts and has them delivered.
func SendGift(c *Call) (ledger.Answer, error) {
	send, problems := decode(c, readSend)
	if send == nil {
		return ledger.Answer{}, problems.Err()
	}
	account := c.sendFor(send, problems)
	request := c.RequestTo(operation.SendGift, func(spell func(string) string) any { return spelled(*send, spell) })
	malformed := problems.Err() != nil
	gifts, err := order.Issue(*send, account, c.Now, problems.Unread())
	if malformed {
		problems.Refuse(err)
		return ledger.Answer{}, problems.Err()
	}
	if err == nil {
		err = c.deliverable(gifts)
	}
	size := 0
	var lacking [][]string
	if err == nil {
		lacking = c.notPrintable(gifts)
		size, err = c.answerable(gifts, lacking)
	}
	if err != nil {
		return request.Refuse(err)
	}
	issue := &ledger.Issue{Context: c.Actor(soldAt(account, send)), Gifts: gifts, Bytes: size}
	answer, err := request.Do(issue, ledger.Created,
		func(w *wire.Writer, r ledger.Result) {
			w.Grow(size)
			writeOrder(w, r, c, lacking)
		})
	if answer.Fresh() {
		c.Wake(c.Account.Test)
	}
	return answer, err
}

// spelled is a request with its contacts spelled otherwise.
func spelled(s order.Send, spell func(string) string) *order.Send {
	s.Caller = nil // who asks is not what was asked for
	for _, d := range []**order.Definition{&s.Monetary, &s.Item} {
		if *d != nil {
			definition := **d
			definition.Recipient.Contact = spell(definition.Recipient.Contact)
			*d = &definition
		}
	}
	s.Recipients = slices.Clone(s.Recipients)
	for n := range s.Recipients {
		s.Recipients[n].Contact = spell(s.Recipients[n].Contact)
	}
	return &s
}

// sendFor finds the account that gifts are sent for; nil, where the caller may not send for the one that the request
// names.
func (c *Call) sendFor(send *order.Send, problems *wire.Problems) *merchant.Account {
	definition, kind := &order.Definition{}, refusal.FieldMonetary
	switch {
	case send.Monetary != nil:
		definition = send.Monetary
	case send.Item != nil:
		definition, kind = send.Item, refusal.FieldItem
	}
	send.Caller, c.Location = c.Caller, definition.LocationID
	account, err := c.Directory().SendingAccount(c.Caller, definition.AccountID, refusal.FieldAccount.In(kind))
	if err == nil {
		c.ActFor(account)
	}
	problems.Refuse(err)
	problems.Refuse(c.NeedKey())
	return account
}

// soldAt is the location that the storefront of an order sells for; zero: none, it is sold online.
func soldAt(account *merchant.Account, send *order.Send) guid.ID {
	if shop := account.Storefront(send.Payment.Purchase.StorefrontID); shop != nil {
		return shop.LocationID
	}
	return guid.ID{}
}

// answerable refuses an order whose answer would be too long, or for which there is no memory, and tells how long it
// will be.
func (c *Call) answerable(gifts []gift.Gift, lacking [][]string) (size int, err error) {
	if size = c.orderSize(gifts, lacking); size <= maxOrderAnswer {
		return size, c.TakeMemory(size)
	}
	return size, refusal.At(refusal.ValidationFailure, refusal.FieldRecipients,
		"The answer to this order would have more than %d MiB, as it repeats all texts for each gift. "+
			"Send it as several orders, or with shorter texts.", maxOrderAnswer>>20)
}

// orderSize is about how long the answer to an order will be, and never less: that of its first gift for each, with
// their own texts.
func (c *Call) orderSize(gifts []gift.Gift, lacking [][]string) int {
	const drawn = 256 // ids, code and token, which the gifts do not have yet, and what else differs
	w := wire.NewWriter(1024)
	first := &gifts[0]
	w.Open()
	payload.WriteVoucher(&w, first,
		payload.View{Account: c.Account, Now: c.Now, Law: c.CashOutLaw(), Pages: c.PublicURL()})
	w.Close()
	same := len(w.Bytes()) + drawn + len(c.PublicURL()) - ownSize(first)
	size := drawn
	for n := range gifts {
		size += same + ownSize(&gifts[n])
	}
	return size
}

// ownSize is how long the texts of a gift are that the next gift of the order may have otherwise.
func ownSize(g *gift.Gift) int {
	return textSize(g.Card.Recipient) + textSize(g.Card.Message) + textSize(g.Card.Language) +
		textSize(g.Card.PromotionalTerms) + textSize(g.CustomerID)
}

// textSize is how long a text is in an answer.
func textSize(s string) int {
	b, _ := jsontext.AppendQuote(nil, s)
	return len(b)
}

// deliverable refuses gifts that this service has no means to deliver.
func (c *Call) deliverable(gifts []gift.Gift) error {
	for n := range gifts {
		if err := c.deliverableBy(gifts[n].Card.Method); err != nil {
			return err
		}
		if gifts[n].Tells&gift.TellFirstUse == 0 {
			continue
		}
		if err := c.deliverableBy(contact.Email); err != nil { // to the buyer
			return err
		}
	}
	return nil
}

func (c *Call) deliverableBy(m contact.Method) error {
	if c.Account != nil && c.Account.Test { // into the outbox, which is always there
		return nil
	}
	switch {
	case m == contact.Email && !c.Email:
		return refusal.New(refusal.AccountMisconfigured,
			"This service does not send e-mail yet: its operator must set up a mail server. Until then, gifts can be "+
				"printed (deliveryMethodID 3).")
	case m == contact.SMS && !c.SMS:
		return refusal.New(refusal.AccountMisconfigured,
			"This service does not send SMS yet: its operator must set up an SMS gateway. Until then, gifts can be printed "+
				"(deliveryMethodID 3).")
	}
	return nil
}

// writeOrder writes the members of a successful send-gift.
func writeOrder(w *wire.Writer, r ledger.Result, c *Call, lacking [][]string) {
	first := &r.Gifts[0]
	w.ID("orderID", first.OrderID)
	payload.WriteSheetURL(w, r.Sheet, c.PublicURL())
	w.List("gifts")
	for n := range r.Gifts {
		g := &r.Gifts[n]
		w.Open()
		as := payload.View{Account: c.Account, Now: g.CreatedAt, Law: c.CashOutLaw(), Pages: c.PublicURL()}
		payload.WriteVoucher(w, g, as)
		w.Integer("recipientIndex", g.Card.RecipientIndex)
		payload.WritePrintURL(w, g, as)
		w.Texts("notPrintable", lacking[n])
		w.Close()
	}
	w.EndList()
}

// notPrintable lists for each gift the members whose text has characters that no font of this machine has. It is asked
// before the order is made, so that no other call waits for the fonts.
func (c *Call) notPrintable(gifts []gift.Gift) [][]string {
	all, known := make([][]string, len(gifts)), map[string]bool{}
	for n := range gifts {
		if gifts[n].Card.Method == contact.Printed || gifts[n].Card.Attachment == gift.AsPDF {
			all[n] = c.lacking(&gifts[n].Card, known)
		}
	}
	return all
}

// lacking lists the members of a card whose text cannot be printed whole; known remembers of which texts that was
// asked.
func (c *Call) lacking(card *gift.Card, known map[string]bool) (members []string) {
	if c.Printable == nil {
		return nil
	}
	for _, t := range [...]struct{ member, text string }{{"senderDescription", card.Sender},
		{"recipientDescription", card.Recipient}, {"message", card.Message}, {"label", card.Label}, {"terms", card.Terms},
		{"promotionalTerms", card.PromotionalTerms}} {
		printable, asked := known[t.text]
		if !asked {
			printable = c.Printable(t.text)
			known[t.text] = printable
		}
		if !printable {
			members = append(members, t.member)
		}
	}
	return members
}
