package gifts

import (
	"boon.example/internal/face/console/desk"
	"boon.example/internal/gift"
)

// unsold reports whether a gift is a card of a stock that was not sold yet.
func unsold(_ *desk.Request, g *gift.Gift) bool { return g.Status == gift.NotActivated }

// cancellable reports whether a gift may be taken out of use: a card of a stock, too, that is not to be sold.
func cancellable(r *desk.Request, g *gift.Gift) bool { return receivable(r, g) || unsold(r, g) }

// sellFields ask where a card is sold, and what send-gift asks of whoever pays.
func sellFields(r *desk.Request, g *gift.Gift, _ []gift.Entry) []input {
	var places, storefronts []option
	for n := range r.Account.Locations {
		places = append(places, option{r.Account.Locations[n].ID.String(), r.Account.Locations[n].Name})
	}
	for n := range r.Account.Storefronts {
		storefronts = append(storefronts, option{r.Account.Storefronts[n].ID.String(), r.Account.Storefronts[n].Name})
	}
	all := []input{{Name: "location", Label: label(r, "place"), Kind: "choice", Options: places}}
	if g.Fixed == 0 {
		all = append(all, input{Name: "amount", Label: label(r, "amount"), Kind: "amount"})
	}
	for _, name := range []string{"reference", "first", "last", "email"} {
		all = append(all, input{Name: name, Label: r.Locale.Text("console.send." + name), Kind: "text"})
	}
	return append(all, input{Name: "storefront", Label: r.Locale.Text("console.send.storefront"), Kind: "choice",
		Options: storefronts})
}

func sellBody(r *desk.Request, g *gift.Gift, typed func(string) string) (map[string]any, error) {
	body := map[string]any{"voucherID": g.ID.String()}
	addTexts(body, typed, map[string]string{"organizationID": "location",
		"externalTransactionReferenceNumber": "reference", "externalTransactionCustomerFirstName": "first",
		"externalTransactionCustomerLastName": "last", "externalTransactionCustomerEmailAddress": "email",
		"externalStorefrontID": "storefront"})
	return withAmount(r, g, typed, body)
}
