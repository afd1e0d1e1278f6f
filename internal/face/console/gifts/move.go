package gifts

import (
	"strings"

	"boon.example/internal/face/console/desk"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
)

// movable reports whether something is left of a gift in use.
func movable(r *desk.Request, g *gift.Gift) bool {
	return g.Status.Redeemable() && g.Blocked == "" && !g.OverForGuest(r.Now) && g.Balance > g.HeldAt(r.Now)
}

// transferFields ask which gift the value goes to, and how much of it.
func transferFields(r *desk.Request, _ *gift.Gift, _ []gift.Entry) []input {
	return []input{{Name: "gift", Label: label(r, "gift"), Hint: hint(r, "gift"), Kind: "text"},
		{Name: "amount", Label: label(r, "part"), Hint: hint(r, "part"), Kind: "amount", Optional: true}}
}

// transferBody moves value to the gift that was named by its code or its id. A wrong code counts as a guess, as at a
// till.
func transferBody(r *desk.Request, g *gift.Gift, typed func(string) string) (map[string]any, error) {
	to, err := giftNamed(r, typed("gift"))
	if err != nil {
		return nil, err
	}
	return withAmount(r, g, typed, map[string]any{"fromVoucherID": g.ID.String(), "toVoucherID": to.String()})
}

// giftNamed is the id of the gift that somebody named by its id, the address of its page, its code or its QR code.
func giftNamed(r *desk.Request, text string) (guid.ID, error) {
	if id, err := guid.Parse(text[strings.LastIndexByte(text, '/')+1:]); err == nil {
		return id, nil
	}
	found, err := bySecret(r, text)
	switch {
	case err != nil:
		return guid.ID{}, err
	case found == nil:
		return guid.ID{}, refusal.At(refusal.ValidationFailure, "gift", "%s", r.Locale.Text("console.gift.which"))
	}
	return found.ID, nil
}

// cashable reports whether the law lets a guest ask for the rest of a gift in cash, at any location of the account.
func cashable(r *desk.Request, g *gift.Gift) bool { return len(placesOfCash(r, g)) > 0 }

// placesOfCash are the locations at which the law lets a guest ask for the rest of a gift in cash.
func placesOfCash(r *desk.Request, g *gift.Gift) (all []option) {
	for n := range r.Account.Locations {
		at := &r.Account.Locations[n]
		if g.CashOutAllowed(r.CashOutLaw(), r.Account, at, r.Now) {
			all = append(all, option{at.ID.String(), at.Name})
		}
	}
	return all
}

func cashOutFields(r *desk.Request, g *gift.Gift, _ []gift.Entry) []input {
	return []input{{Name: "location", Label: label(r, "place"), Kind: "choice", Options: placesOfCash(r, g)}}
}

func cashOutBody(_ *desk.Request, g *gift.Gift, typed func(string) string) (map[string]any, error) {
	return map[string]any{"voucherID": g.ID.String(), "organizationID": typed("location")}, nil
}
