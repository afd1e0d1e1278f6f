package gift

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"boon.example/internal/refusal"
)

// Item is something that a merchant sells, as a promotion names it: its ID does, else its Group, with all items
// of the group, else its Name.
type Item struct {
	ID    string // as tickets have it
	Name  string // for people; "": none was given
	Group string // as platforms' tickets have it
}

// Is reports whether a line of a ticket with this id, group and name is the item. Letter case counts.
func (i Item) Is(id, group, name string) bool {
	switch {
	case i.ID != "":
		return id == i.ID
	case i.Group != "":
		return group == i.Group
	}
	return i.Name != "" && name == i.Name
}

// matches reports whether two items are good for the same lines.
func (i Item) matches(j Item) bool {
	switch {
	case i.ID != "" || j.ID != "":
		return i.ID == j.ID
	case i.Group != "" || j.Group != "":
		return i.Group == j.Group
	}
	return i.Name == j.Name
}

// Limits of what a promotion names.
const (
	MaxItems     = 200 // every answer with the gift, its page and its mail tell them
	namedItems   = 10  // in one sentence
	namedLetters = 300
)

// Items are what a voucher is good for; none: anything. They were kept when it was made: a later set-up changes no
// gift. One that was made before they were kept is good for what its promotion names now.
func (a *Account) Items(v *Voucher) []Item {
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
func (a *Account) TicketOptional(v *Voucher) bool {
	if a == nil {
		return false
	}
	p := a.Promotion(v.PromotionID)
	return p != nil && p.TicketOptional
}

// Terms are all that a gift's recipient was promised, in the account's language where the promotion still has them in
// both.
func (a *Account) Terms(g *Gift) string {
	promised := g.Card.PromotionalTerms
	p := a.Promotion(g.PromotionID)
	if p != nil && promised != "" && p.TermsIn[g.Reads(a)] == promised {
		promised = p.Terms
	}
	return strings.TrimSpace(g.Card.Terms + "\n" + promised)
}

// ItemNames lists items for people: "Latte, Mocha". Each name is given once, and of very many only the first.
func ItemNames(items []Item) string {
	var names []string
	letters := 0
	for n, i := range items {
		name := cmp.Or(i.Name, i.ID, i.Group)
		if slices.Contains(names, name) {
			continue
		}
		if letters += utf8.RuneCountInString(name); len(names) == namedItems || letters > namedLetters && n > 0 {
			return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), len(items)-n)
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// NoEligibleItems is the refusal of a ticket on which nothing is eligible: why is the Why of Eligibility.
func NoEligibleItems(items []Item, why string) *refusal.Error {
	if why != "" {
		return refusal.At(refusal.ItemEligibilityFailure, refusal.FieldTicket,
			"This ticket has what this gift is good for (%s), but the gift "+
				"cannot pay for it. Of the first such line: %s", ItemNames(items), why)
	}
	return refusal.At(refusal.ItemEligibilityFailure, refusal.FieldTicket,
		"No item on this ticket is eligible for this gift. It is good for: %s.", ItemNames(items))
}

func needsTicket(items []Item) *refusal.Error {
	return refusal.At(refusal.ItemEligibilityFailure, refusal.FieldTicket,
		"Send the ticket as %s: this gift is good for certain items only: %s.", refusal.FieldTicket, ItemNames(items))
}
