package gift

import (
	"strings"

	"boon.example/internal/base/phrase"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// Reads is the language in which a gift's recipient is written to: the gift's own if it is one of ours, else the
// account's, else English.
func (g *Gift) Reads(a *merchant.Account) merchant.Language {
	if l, ok := merchant.LanguageOf(g.Card.Language); ok {
		return l
	}
	return a.GuestLanguage()
}

// GoodFor are the items that a voucher of an account is good for; none: anything. They were kept when the voucher was
// made: a later set-up changes no gift. A voucher that was made before they were kept is good for what its promotion
// names now.
func (v *Voucher) GoodFor(a *merchant.Account) []merchant.Item {
	if v.Items != nil || a == nil {
		return v.Items
	}
	if p := a.Promotion(v.PromotionID); p != nil {
		return p.EligibleItems
	}
	return nil
}

// TicketOptional reports whether a voucher for certain items may be redeemed without a ticket. That is a matter of
// the tills that a merchant has, so it is what the promotion says now.
func (v *Voucher) TicketOptional(a *merchant.Account) bool {
	if a == nil {
		return false
	}
	p := a.Promotion(v.PromotionID)
	return p != nil && p.TicketOptional
}

// Promised are all terms that a gift's recipient was promised, in the account's language where the promotion still has
// them in both.
func (g *Gift) Promised(a *merchant.Account) string {
	promised := g.Card.PromotionalTerms
	p := a.Promotion(g.PromotionID)
	if p != nil && promised != "" && p.TermsIn[g.Reads(a)] == promised {
		promised = p.Terms
	}
	return strings.TrimSpace(g.Card.Terms + "\n" + promised)
}

// NoEligibleItems is the refusal of a ticket on which nothing is eligible: why is the Why of Eligibility.
func NoEligibleItems(items []merchant.Item, why phrase.Text) *refusal.Error {
	if why != "" {
		return refusal.At(refusal.ItemEligibilityFailure, refusal.FieldTicket,
			"This ticket has what this gift is good for (%s), but the gift "+
				"cannot pay for it. Of the first such line: %s", merchant.ItemNames(items), why)
	}
	return refusal.At(refusal.ItemEligibilityFailure, refusal.FieldTicket,
		"No item on this ticket is eligible for this gift. It is good for: %s.", merchant.ItemNames(items))
}

func needsTicket(items []merchant.Item) *refusal.Error {
	return refusal.At(refusal.ItemEligibilityFailure, refusal.FieldTicket,
		"Send the ticket as %s: this gift is good for certain items only: %s.", refusal.FieldTicket,
		merchant.ItemNames(items))
}
