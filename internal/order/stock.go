package order

import (
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// MaxStock is how many cards one call makes.
const MaxStock = 10_000

// Stock is a create-stock request, decoded but not yet judged: cards without value, which get it when they are sold.
type Stock struct {
	Caller *merchant.Caller
	Count  *int

	Value           money.Number // of each card, when it is sold; "": what is paid then
	Label           string       // or an item
	Terms           string
	Quantity        money.Number
	EquivalentValue money.Number

	ProgramID         guid.ID
	LocationID        guid.ID
	DesignID          guid.ID
	VerificationCodes bool
	ActivationCodes   bool
}

// Make judges a create-stock request and makes its cards, without ids and secrets. unread is as for Issue. It fails as
// Issue does.
func (s Stock) Make(account *merchant.Account, now time.Time, unread func(refusal.Field) bool) ([]gift.Gift, error) {
	method := ExternalTransaction // cards are sold: their program is that of purchases
	i := order{Send: Send{Caller: s.Caller, PaymentMethodID: &method}, account: account, now: now, unread: unread,
		known: map[refusal.Field]bool{}, from: account.Name, zone: account.Zone.String()}
	i.def = &Definition{Value: s.Value, Label: s.Label, Terms: s.Terms, Quantity: s.Quantity,
		EquivalentValue: s.EquivalentValue, ProgramID: s.ProgramID, LocationID: s.LocationID, DesignID: s.DesignID}
	item := s.worth(&i)
	switch n := s.Count; {
	case n == nil:
		i.add(refusal.FieldCount, "Say how many cards to make.")
	case *n < 1 || *n > MaxStock:
		i.add(refusal.FieldCount, "The %s must be from 1 to %d.", refusal.FieldCount, MaxStock)
	}
	i.place()
	i.rights()
	i.text(refusal.FieldLabel, s.Label, maxName)
	i.text(refusal.FieldTerms, s.Terms, maxTerms)
	if err := i.err(); err != nil || unread != nil {
		return nil, err
	}
	printed := int(contact.Printed)
	card := i.gift(0, Recipient{Method: &printed})
	card.Item, card.Fixed = item, card.Funded
	card.Funded, card.Balance, card.Status = 0, 0, gift.NotActivated
	if s.VerificationCodes {
		card.Verification = gift.VerificationToDraw
	}
	cards := make([]gift.Gift, *s.Count)
	for n := range cards {
		cards[n] = card
		cards[n].Card.RecipientIndex = n
	}
	return cards, nil
}

// worth judges what the cards will be worth, and tells whether that is an item.
func (s *Stock) worth(i *order) (item bool) {
	item = s.Label != "" || s.Quantity != "" || s.EquivalentValue != "" || s.Terms != "" ||
		i.has(refusal.FieldLabel) || i.has(refusal.FieldQuantity)
	switch {
	case item && s.Value != "":
		i.add(refusal.FieldValue, "Send %s, or %s and %s; not both.", refusal.FieldValue, refusal.FieldLabel,
			refusal.FieldQuantity)
	case item:
		i.require(refusal.FieldLabel, !contact.Blank(s.Label), "A card for an item needs a label.")
		i.amount = i.quantity()
		i.equivalent = i.equivalentValue()
	default:
		i.amount = i.value(refusal.FieldValue, s.Value, false)
	}
	return item
}
