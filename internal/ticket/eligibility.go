package ticket

import (
	"slices"

	"boon.example/internal/base/phrase"
	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
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
	Amount money.Amount
}

// LeftOut is a line that the gift may not pay.
type LeftOut struct {
	Index  int
	Reason phrase.Text // a plain sentence
}

// EligibilityOf tells what a gift can pay on a ticket. eligibleItems are those that it is good for; none: any item.
// Nothing pays more than its balance. A monetary gift pays the ticket's grand total, or where that is not given the
// sum of all lines; one that is good for certain items pays at most what is left of each of these once voids and
// coupons are taken off it. An item gift pays as many whole pieces as there are. Ids, groups and names of items are
// compared as they are, letter case included.
func EligibilityOf(t *Ticket, eligibleItems []merchant.Item, v *gift.Voucher) Eligibility {
	j := assessment{Ticket: t, items: eligibleItems, unit: v.Unit()}
	verdict := j.lines()
	if j.takes && len(j.items) > 0 { // where a gift is good for any item, all lines are one
		j.addByItem()
		verdict = j.lines()
	}
	if verdict.NoneEligible = len(eligibleItems) > 0 && len(verdict.Eligible) == 0; verdict.NoneEligible {
		verdict.Why = j.why(verdict.LeftOut)
	}
	verdict.Most = max(0, min(j.most(), v.Balance))
	return verdict
}

// assessment is a ticket as one gift sees it.
type assessment struct {
	*Ticket
	items []merchant.Item
	unit  money.Currency
	takes bool                     // a line that the gift is good for takes something off
	sums  map[string]money.Decimal // of the lines that the gift is good for, by item; nil: they are not told apart
	sum   money.Decimal            // of them all
}

// lines parts the lines that the gift may pay from the others, and adds up those that it is good for.
func (j *assessment) lines() (e Eligibility) {
	j.sum = money.Decimal{}
	for n := range j.Lines {
		l := &j.Lines[n]
		offer, named := money.Decimal{}, j.named(l)
		if named {
			offer = j.offer(l)
			j.sum, j.takes = j.sum.Add(offer), j.takes || offer.Sign() < 0
		}
		amount := offer.Round(j.unit)
		if reason := j.leavesOut(l, named, amount); reason != "" {
			e.LeftOut = append(e.LeftOut, LeftOut{n, reason})
			continue
		}
		if e.Eligible == nil {
			e.Eligible = make([]Share, 0, len(j.Lines)-n)
		}
		e.Eligible = append(e.Eligible, Share{n, amount})
	}
	return e
}

// addByItem adds up what is left of each item.
func (j *assessment) addByItem() {
	j.sums = make(map[string]money.Decimal)
	for i := range j.Lines {
		if l := &j.Lines[i]; j.named(l) {
			j.sums[item(l)] = j.sums[item(l)].Add(j.offer(l))
		}
	}
}

// total is the sum of the lines. What is taken off one item takes nothing off another.
func (j *assessment) total() (sum money.Decimal) {
	if j.sums == nil {
		return j.sum
	}
	for _, s := range j.sums {
		if s.Sign() > 0 {
			sum = sum.Add(s)
		}
	}
	return sum
}

// item tells the items of lines apart.
func item(l *Line) string {
	if l.ItemID != "" {
		return "i" + l.ItemID
	}
	return "n" + l.ItemName
}

// named reports whether the gift is good for the item of a line.
func (j *assessment) named(l *Line) bool {
	return l.LeftOut == Allowed && (len(j.items) == 0 || j.lists(l))
}

func (j *assessment) lists(l *Line) bool {
	return slices.ContainsFunc(j.items, func(i merchant.Item) bool { return i.Is(l.ItemID, l.Group, l.ItemName) })
}

// why is the reason of the first line with an item that the gift is good for; "": there is no such line.
func (j *assessment) why(all []LeftOut) phrase.Text {
	for _, one := range all {
		if j.lists(&j.Lines[one.Index]) {
			return one.Reason
		}
	}
	return ""
}

func (j *assessment) offer(l *Line) money.Decimal {
	switch {
	case j.unit != money.Pieces:
		return l.price()
	case l.hasNoPieces():
		return money.Decimal{}
	}
	return l.pieces()
}

// most is what the ticket allows, rounded once, when all is added up. A platform's order of which nothing is due is
// paid, closed or cancelled: no piece of it is paid again.
func (j *assessment) most() money.Amount {
	most, grand := max(0, j.total().Round(j.unit)), j.Totals.Grand
	switch {
	case grand == nil:
		return most
	case j.unit == money.Pieces:
		if j.Format != "" && grand.Sign() <= 0 {
			return 0
		}
		return most
	case len(j.items) == 0:
		return grand.Round(j.unit)
	}
	return min(most, grand.Round(j.unit))
}

// leavesOut tells why the gift may not pay a line that offers an amount; "": it may. named is whether it is good for
// the line's item.
func (j *assessment) leavesOut(l *Line, named bool, offer money.Amount) phrase.Text {
	switch {
	case l.LeftOut != Allowed:
		return l.LeftOut.Text()
	case !named && l.ItemID == "":
		return "This line has no itemID, so it cannot be told whether this gift is good for it."
	case !named:
		return "This gift is not good for this item."
	case j.unit == money.Pieces && l.hasNoPieces():
		return "This line is sold by weight or measure; an item gift pays for pieces only."
	case offer == 0 && j.unit == money.Pieces && j.Format != "" && l.Total.Sign() > 0:
		return "What is left of this line is less than one piece."
	case offer == 0:
		return NothingToPay.Text()
	case j.sums != nil && j.sums[item(l)].Round(j.unit) <= 0:
		return "There is nothing left to pay for this item."
	}
	return ""
}
