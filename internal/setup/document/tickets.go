package document

import (
	"cmp"
	"slices"
	"strings"

	"boon.example/internal/merchant"
	"boon.example/internal/ticket/format"
)

// tickets reads how the tickets of some formats are read: {toast: {itemID: plu, giftCards: [GC25]}, lightspeed-x:
// {taxInclusive: false}}.
func (f fields) tickets(name string) (all []merchant.TicketReading) {
	at, ok := f.get(name)
	if !ok {
		return nil
	}
	formats := f.fields(at, format.Names()...)
	for _, of := range format.Names() {
		one, ok := formats.get(of)
		if !ok {
			continue
		}
		known := []string{"giftCards"}
		if of != format.Standard {
			known = append(known, "itemID")
		}
		if of == format.LightspeedX {
			known = append(known, "taxInclusive")
		}
		o := f.fields(one, known...)
		t := merchant.TicketReading{Format: of, GiftCards: o.itemIDs("giftCards")}
		if v, _, ok := o.scalar("itemID"); ok && of != format.Standard {
			if t.ItemID = v.Value; !slices.Contains(format.ItemIDs(of), t.ItemID) {
				f.problem(v, "This must be one of %s.", strings.Join(format.ItemIDs(of), ", "))
			}
		}
		if of == format.LightspeedX {
			if _, ok := o.get("taxInclusive"); ok {
				inclusive := o.truth("taxInclusive")
				t.TaxInclusive = &inclusive
			}
		}
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b merchant.TicketReading) int { return cmp.Compare(a.Format, b.Format) })
	return all
}

// maxGiftCards is how many items can be said to be gift cards.
const maxGiftCards = 1_000

// itemIDs reads ids of items, as tickets have them.
func (f fields) itemIDs(name string) (ids []string) {
	members, _ := f.list(name)
	if len(members) > maxGiftCards {
		f.problem(f.values[name], "This names at most %d items, not %d.", maxGiftCards, len(members))
		return nil
	}
	for _, v := range members {
		if v.kind() != scalarKind {
			f.problem(v, "This must be the id of an item, not %s.", v.kind())
			continue
		}
		ids = append(ids, f.line(v, maxItem))
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
