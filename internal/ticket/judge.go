package ticket

import (
	"slices"

	"boon.example/internal/gift"
)

// Verdict is what a gift can pay on a ticket. Every line of the ticket is in exactly one of the two lists, in its order.
type Verdict struct {
	Eligible []Share
	LeftOut  []LeftOut
	gift.Eligibility
}

// Share is a line that the gift may pay.
type Share struct {
	Index  int         // of the line in the ticket
	Amount gift.Amount // what the line offers: its total for a monetary gift, its quantity for an item gift
}

// LeftOut is a line that the gift may not pay.
type LeftOut struct {
	Index  int
	Reason string // a plain sentence
}

// Judge tells what a gift can pay on a ticket. eligibleItems are the item ids that it is good for; none: any item. A monetary gift pays
// at most the totals of the eligible lines, and at most the ticket's grand total, where that is given and smaller; an item gift pays
// as many pieces as the eligible lines hold; neither pays more than its balance. Item ids are compared as they are, letter case included.
func Judge(t *Ticket, eligibleItems []string, v *gift.Voucher) Verdict {
	verdict := Verdict{Eligibility: gift.Eligibility{Required: len(eligibleItems) > 0}}
	var sum gift.Amount
	for n, l := range t.Lines {
		offer := l.Total
		if v.Item {
			offer = gift.Amount(l.Quantity)
		}
		if reason := leftOut(l, offer, eligibleItems); reason != "" {
			verdict.LeftOut = append(verdict.LeftOut, LeftOut{n, reason})
			continue
		}
		verdict.Eligible = append(verdict.Eligible, Share{n, offer})
		sum += offer
	}
	if grand := t.Totals.Grand; grand != nil && !v.Item {
		sum = min(sum, *grand)
	}
	verdict.Most = max(0, min(sum, v.Balance))
	return verdict
}

// leftOut is why a gift may not pay a line; "" when it may.
func leftOut(l Line, offer gift.Amount, eligibleItems []string) string {
	switch {
	case len(eligibleItems) == 0 || slices.Contains(eligibleItems, l.ItemID) && l.ItemID != "":
	case l.ItemID == "":
		return "This line has no itemID, so it cannot be told whether this gift is good for it."
	default:
		return "This gift is not good for this item."
	}
	if offer <= 0 {
		return "There is nothing to pay on this line."
	}
	return ""
}
