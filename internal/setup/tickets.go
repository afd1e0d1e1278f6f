package setup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"boon.example/internal/gift"
	"boon.example/internal/ticket/format"
)

// tickets reads how the tickets of some formats are read: {toast: {itemID: plu}, lightspeed-x: {taxInclusive: false}}.
func (f fields) tickets(name string) (all []gift.TicketReading) {
	at, ok := f.get(name)
	if !ok {
		return nil
	}
	formats := f.fields(at, format.Names()[1:]...)
	for _, of := range format.Names()[1:] {
		one, ok := formats.get(of)
		if !ok {
			continue
		}
		known := []string{"itemID"}
		if of == format.LightspeedX {
			known = append(known, "taxInclusive")
		}
		o := f.fields(one, known...)
		t := gift.TicketReading{Format: of}
		if v, _, ok := o.scalar("itemID"); ok {
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
	slices.SortFunc(all, func(a, b gift.TicketReading) int { return cmp.Compare(a.Format, b.Format) })
	return all
}

// ticketsField is how tickets are read at a location, for people.
func ticketsField(all []gift.TicketReading) field {
	var words []string
	for _, t := range all {
		said := t.Format
		if t.ItemID != "" {
			said += " by " + t.ItemID
		}
		if t.TaxInclusive != nil {
			said += fmt.Sprintf(" (tax inclusive: %t)", *t.TaxInclusive)
		}
		words = append(words, said)
	}
	return plainField("tickets", strings.Join(words, ", "))
}
