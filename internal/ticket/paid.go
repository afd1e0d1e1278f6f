package ticket

import (
	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// Due is what is to be paid: the grand total, or where that is not given the sum of all lines.
func (t *Ticket) Due() money.Amount {
	if t.Totals.Grand != nil {
		return max(0, t.Totals.Grand.Round(t.Currency))
	}
	j := assessment{Ticket: t, unit: t.Currency}
	j.lines()
	return max(0, j.most())
}

// Paid is the ticket after a monetary gift has paid an amount of it. What a gift that is good for certain items paid is
// taken off these, in the order of the ticket, so that no other gift pays for them again.
func (t *Ticket) Paid(eligibleItems []merchant.Item, v *gift.Voucher, amount money.Amount) *Ticket {
	rest := *t
	grand := t.Currency.Decimal(max(0, t.Due()-amount))
	rest.Totals.Grand = &grand
	if len(eligibleItems) == 0 {
		return &rest
	}
	rest.Lines = append([]Line(nil), t.Lines...)
	for _, share := range EligibilityOf(t, eligibleItems, v).Eligible {
		part := min(amount, share.Amount)
		if part <= 0 {
			continue
		}
		l := &t.Lines[share.Index]
		rest.Lines = append(rest.Lines, Line{ItemID: l.ItemID, ItemName: l.ItemName, Group: l.Group,
			Quantity: money.DecimalOf(1), Total: t.Currency.Decimal(-part)})
		amount -= part
	}
	return &rest
}
