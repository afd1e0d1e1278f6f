package ticket

import (
	"slices"

	"boon.example/internal/gift"
)

// Eligibility is what a gift can pay on a ticket. Every line of the ticket is in exactly one of the two lists, in its
// order.
type Eligibility struct {
	Eligible []Share
	LeftOut  []LeftOut
	gift.Eligibility
}

// Share is a line that the gift may pay.
type Share struct {
	Index int // of the line in the ticket
	// what the line offers: its total for a monetary gift, its quantity for an item gift; negative if it takes off
	Amount gift.Amount
}

// LeftOut is a line that the gift may not pay.
type LeftOut struct {
	Index  int
	Reason string // a plain sentence
}

// EligibilityOf tells what a gift can pay on a ticket. eligibleItems are those that it is good for; none: any item.
// Nothing pays more than its balance. A monetary gift pays the ticket's grand total, or where that is not given the
// sum of all lines; one that is good for certain items pays at most what is left of each of these once voids and
// coupons are taken off it. An item gift pays as many pieces as there are. Item ids are compared as they are, letter
// case included.
func EligibilityOf(t *Ticket, eligibleItems []gift.Item, v *gift.Voucher) Eligibility {
	j := assessment{Ticket: t, items: eligibleItems, unit: v.Unit(), sums: make(map[string]gift.Decimal)}
	for i := range t.Lines {
		if l := &t.Lines[i]; j.named(l) {
			j.sums[j.item(l)] = j.sums[j.item(l)].Add(j.offer(l))
		}
	}
	var verdict Eligibility
	for n := range t.Lines {
		l := &t.Lines[n]
		if reason := j.leftOut(l); reason != "" {
			verdict.LeftOut = append(verdict.LeftOut, LeftOut{n, reason})
		} else {
			verdict.Eligible = append(verdict.Eligible, Share{n, j.offer(l).Round(j.unit)})
		}
	}
	verdict.NoneEligible = len(eligibleItems) > 0 && len(verdict.Eligible) == 0
	verdict.Most = max(0, min(j.most(), v.Balance))
	return verdict
}

// assessment is a ticket as one gift sees it.
type assessment struct {
	*Ticket
	items []gift.Item
	unit  gift.Currency
	sums  map[string]gift.Decimal // of the items that the gift is good for; where it is good for any, all lines are one
}

func (j *assessment) item(l *Line) string {
	if len(j.items) == 0 {
		return ""
	}
	return l.ItemID
}

// named reports whether the gift is good for the item of a line.
func (j *assessment) named(l *Line) bool {
	return len(j.items) == 0 || l.ItemID != "" && slices.ContainsFunc(j.items,
		func(i gift.Item) bool { return i.ID == l.ItemID })
}

func (j *assessment) offer(l *Line) gift.Decimal {
	if j.unit == gift.Pieces {
		return l.pieces()
	}
	return l.price()
}

// most is what the ticket allows, rounded once, when all is added up.
func (j *assessment) most() gift.Amount {
	var sum gift.Decimal
	for _, s := range j.sums {
		if s.Sign() > 0 {
			sum = sum.Add(s)
		}
	}
	most, grand := sum.Round(j.unit), j.Totals.Grand
	switch {
	case grand == nil || j.unit == gift.Pieces:
		return most
	case len(j.items) == 0:
		return grand.Round(j.unit)
	}
	return min(most, grand.Round(j.unit))
}

// leftOut is why a gift may not pay a line; "" when it may.
func (j *assessment) leftOut(l *Line) string {
	switch {
	case !j.named(l) && l.ItemID == "":
		return "This line has no itemID, so it cannot be told whether this gift is good for it."
	case !j.named(l):
		return "This gift is not good for this item."
	case j.offer(l).Round(j.unit) == 0:
		return "There is nothing to pay on this line."
	case len(j.items) > 0 && j.sums[l.ItemID].Round(j.unit) <= 0:
		return "There is nothing left to pay for this item."
	}
	return ""
}
