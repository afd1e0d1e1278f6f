package api

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// readSend reads a send-gift request.
func readSend(o *object) *gift.Send {
	s := new(gift.Send)
	if m := o.object("monetaryGift"); m != nil {
		s.Monetary = readDefinition(m)
		s.Monetary.Value = m.number("value")
		m.finish()
	}
	if m := o.object("itemGift"); m != nil {
		s.Item = readDefinition(m)
		s.Item.Label = m.text("label")
		s.Item.Terms = m.text("terms")
		s.Item.Quantity = m.number("quantity")
		s.Item.EquivalentValue = m.number("equivalentValue")
		m.finish()
	}
	several := o.objects("recipients", gift.MaxRecipients, func(r *object) {
		s.Recipients = append(s.Recipients, readRecipient(r))
		r.finish()
	})
	if several && s.Recipients == nil {
		s.Recipients = []gift.Recipient{}
	}
	s.Sender = o.text("senderDescription")
	s.PaymentMethodID = o.integer("paymentMethodID")
	s.Payment = readPayment(o)
	s.Notes = o.text("notes")
	s.RelatedOrderID = o.text("relatedOrderID")
	s.RelatedOrderNumber = o.text("relatedOrderNumber")
	return s
}

// readDefinition reads what both kinds of gift have.
func readDefinition(o *object) *gift.Definition {
	d := &gift.Definition{
		AccountID:  o.guid("accountID"),
		ProgramID:  o.guid("programID"),
		LocationID: o.guid("organizationID"),
		Sender:     o.text("senderDescription"),
		Recipient:  readRecipient(o),
		Scheduled:  o.boolean("hasScheduledDelivery"),
		DesignID:   o.guid("voucherDesignID"),
	}
	if d.Scheduled != nil && !*d.Scheduled {
		o.text("deliveryDate") // it is ignored then, whatever it says
	} else {
		d.DeliveryDate = o.instantUTC("deliveryDate")
	}
	d.DeliveryZone = readZone(o)
	return d
}

// readZone reads in which time zone the recipient is shown dates; "" is not said.
func readZone(o *object) string {
	const member = "deliveryTimezoneId"
	zone := o.text(member)
	if zone == "" {
		return ""
	}
	name, _, err := gift.ParseZone(zone)
	if err != nil {
		o.Add(o.at(member), "%s", err)
	}
	return name
}

func readRecipient(o *object) gift.Recipient {
	return gift.Recipient{
		Method:  o.integer("deliveryMethodID"),
		Name:    o.text("recipientDescription"),
		Contact: o.text("recipientContact"),
		Message: o.text("message"),
	}
}

func readPayment(o *object) gift.Payment {
	return gift.Payment{
		Purchase: gift.Purchase{
			Reference:    o.text("externalTransactionReferenceNumber"),
			FirstName:    o.text("externalTransactionCustomerFirstName"),
			LastName:     o.text("externalTransactionCustomerLastName"),
			EmailAddress: o.text("externalTransactionCustomerEmailAddress"),
			StorefrontID: o.guid("externalStorefrontID"),
		},
		PromotionID:      o.guid("promotionID"),
		ValidStarting:    o.instant("validStarting"),
		ValidForDays:     o.integer("validForDays"),
		PromotionalTerms: o.text("promotionalTerms"),
	}
}

// sendGift makes gifts and has them delivered.
func sendGift(c *call) (ledger.Answer, error) {
	send, problems := decode(c, readSend)
	if send == nil {
		return ledger.Answer{}, problems.Err()
	}
	account := c.sendFor(send, problems)
	malformed := problems.Err() != nil
	gifts, err := gift.Issue(*send, account, c.now, problems)
	if malformed {
		return ledger.Answer{}, problems.Err()
	}
	request := c.request(ledger.SendGift, func(form *canon) { canonSend(form, send) })
	if err == nil {
		err = c.deliverable(gifts)
	}
	size := 0
	if err == nil {
		size, err = c.answerable(gifts)
	}
	if err != nil {
		return request.refuse(err)
	}
	answer, err := request.do(&ledger.Issue{Context: c.actor(gift.ID{}), Gifts: gifts, Bytes: size}, http.StatusCreated,
		func(w *writer, r ledger.Result) { w.order(r, c) })
	if err == nil && answer.Status == http.StatusCreated && !answer.Replayed {
		c.Wake()
	}
	return answer, err
}

// sendFor finds the account that gifts are sent for; nil, where the caller may not send for the one that the request names.
func (c *call) sendFor(send *gift.Send, problems *gift.Problems) *gift.Account {
	definition, path := &gift.Definition{}, "monetaryGift.accountID"
	switch {
	case send.Monetary != nil:
		definition = send.Monetary
	case send.Item != nil:
		definition, path = send.Item, "itemGift.accountID"
	}
	send.Caller, c.location = c.caller, definition.LocationID
	account, err := c.Directory().SendingAccount(c.caller, definition.AccountID, path)
	if err == nil {
		c.account = account
	}
	problems.Refuse(err)
	c.needKey(problems)
	return account
}

// answerable refuses an order whose answer would be too long, or for which there is no memory, and tells how long it will be.
func (c *call) answerable(gifts []gift.Gift) (size int, err error) {
	if size = c.orderSize(gifts); size <= maxOrderAnswer {
		return size, c.hold(size)
	}
	return size, gift.RefuseAt(gift.ValidationFailure, "recipients", "The answer to this order would have more than %d MiB, as it repeats all texts for each gift. "+
		"Send it as several orders, or with shorter texts.", maxOrderAnswer>>20)
}

// orderSize is about how long the answer to an order will be, and never less: that of its first gift for each, with their own texts.
func (c *call) orderSize(gifts []gift.Gift) int {
	const drawn = 256 // ids, code and token, which the gifts do not have yet, and what else differs
	w := writer{}
	first := &gifts[0]
	w.open()
	w.voucher(first, view{account: c.account, now: c.now, pages: c.PublicURL})
	w.close()
	same := len(w.b) + drawn + len(c.PublicURL) - textSize(first.Card.Recipient) - textSize(first.Card.Message)
	size := drawn
	for n := range gifts {
		size += same + textSize(gifts[n].Card.Recipient) + textSize(gifts[n].Card.Message)
	}
	return size
}

// textSize is how long a text is in an answer.
func textSize(s string) int {
	b, _ := jsontext.AppendQuote(nil, s)
	return len(b)
}

// deliverable refuses gifts that this service has no means to deliver.
func (c *call) deliverable(gifts []gift.Gift) error {
	for n := range gifts {
		if err := c.deliverableBy(gifts[n].Card.Method); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) deliverableBy(m gift.Method) error {
	switch {
	case m == gift.Email && !c.Email:
		return gift.Refuse(gift.AccountMisconfigured,
			"This service does not send e-mail yet: its operator must set up a mail server. Until then, gifts can be printed (deliveryMethodID 3).")
	case m == gift.SMS && !c.SMS:
		return gift.Refuse(gift.AccountMisconfigured,
			"This service does not send SMS yet: its operator must set up an SMS gateway. Until then, gifts can be printed (deliveryMethodID 3).")
	}
	return nil
}

// printPath ends the addresses of PDFs, which package web answers.
const printPath = "/print.pdf"

// order writes the members of a successful send-gift.
func (w *writer) order(r ledger.Result, c *call) {
	first := &r.Gifts[0]
	w.id("orderID", first.OrderID)
	if r.Sheet != (gift.Token{}) {
		w.text("printURL", c.PublicURL+"/orders/"+r.Sheet.Reveal()+printPath)
	} else {
		w.null("printURL")
	}
	w.list("gifts")
	for n := range r.Gifts {
		g := &r.Gifts[n]
		w.open()
		w.voucher(g, view{account: c.account, now: g.CreatedAt, pages: c.PublicURL})
		w.integer("recipientIndex", g.Card.RecipientIndex)
		w.printURL(g, c.PublicURL)
		w.close()
	}
	w.endList()
}

// giftURL is the address of a gift's page.
func giftURL(g *gift.Gift, publicURL string) string { return publicURL + "/g/" + g.Card.Token.Reveal() }

// printURL writes where a gift can be printed, if it goes in print.
func (w *writer) printURL(g *gift.Gift, publicURL string) {
	if g.Card.Method == gift.Printed {
		w.text("printURL", giftURL(g, publicURL)+printPath)
	} else {
		w.null("printURL")
	}
}

// canonSend writes every member of a send-gift request in canonical form.
func canonSend(c *canon, s *gift.Send) {
	canonDefinition(c, "monetaryGift", s.Monetary)
	canonDefinition(c, "itemGift", s.Item)
	for n := range s.Recipients {
		c.open("recipient")
		canonRecipient(c, &s.Recipients[n])
		c.close()
	}
	c.text("senderDescription", s.Sender)
	c.integer("paymentMethodID", s.PaymentMethodID)
	p := &s.Payment
	c.text("externalTransactionReferenceNumber", p.Purchase.Reference)
	c.text("externalTransactionCustomerFirstName", p.Purchase.FirstName)
	c.text("externalTransactionCustomerLastName", p.Purchase.LastName)
	c.text("externalTransactionCustomerEmailAddress", p.Purchase.EmailAddress)
	c.id("externalStorefrontID", p.Purchase.StorefrontID)
	c.id("promotionID", p.PromotionID)
	c.instant("validStarting", p.ValidStarting)
	c.integer("validForDays", p.ValidForDays)
	c.text("promotionalTerms", p.PromotionalTerms)
	c.text("notes", s.Notes)
	c.text("relatedOrderID", s.RelatedOrderID)
	c.text("relatedOrderNumber", s.RelatedOrderNumber)
}

func canonDefinition(c *canon, name string, d *gift.Definition) {
	if d == nil {
		return
	}
	c.open(name)
	c.number("value", d.Value)
	c.text("label", d.Label)
	c.text("terms", d.Terms)
	c.number("quantity", d.Quantity)
	c.number("equivalentValue", d.EquivalentValue)
	c.id("accountID", d.AccountID)
	c.id("programID", d.ProgramID)
	c.id("organizationID", d.LocationID)
	c.text("senderDescription", d.Sender)
	canonRecipient(c, &d.Recipient)
	c.boolean("hasScheduledDelivery", d.Scheduled)
	c.instant("deliveryDate", d.DeliveryDate)
	c.text("deliveryTimezoneId", d.DeliveryZone)
	c.id("voucherDesignID", d.DesignID)
	c.close()
}

func canonRecipient(c *canon, r *gift.Recipient) {
	c.integer("deliveryMethodID", r.Method)
	c.text("recipientDescription", r.Name)
	c.text("recipientContact", r.Contact)
	c.text("message", r.Message)
}
