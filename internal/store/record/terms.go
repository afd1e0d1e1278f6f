package record

import (
	"slices"

	"boon.example/internal/gift"
	"boon.example/internal/store/db"
)

// The terms of an order can be the longest that there is of it, and are the same for all its gifts: they are kept once.

// InsertTerms writes the terms of an order.
var InsertTerms = db.InsertRows("order_terms", "account_id, order_id, terms, promotional_terms", "BBTT", "")

// CardAndTerms are CardColumns with the terms of the order, where those were kept apart.
const CardAndTerms = `c.account_id, c.voucher_id, c.secrets, c.label, ` +
	`CASE WHEN c.terms_of_order THEN (SELECT o.terms` + ofOrder + `) ELSE c.terms END AS terms, ` +
	`CASE WHEN c.terms_of_order THEN (SELECT o.promotional_terms` + ofOrder +
	`) ELSE c.promotional_terms END AS promotional_terms, ` + cardAfterTerms

const ofOrder = ` FROM order_terms AS o WHERE o.account_id = v.account_id AND o.order_id = v.order_id`

// SharedTerms tells whether the terms of an order are kept apart.
func SharedTerms(order []*gift.Gift) bool {
	first := &order[0].Card
	return len(order) > 1 && (first.Terms != "" || first.PromotionalTerms != "") &&
		!slices.ContainsFunc(order, func(g *gift.Gift) bool {
			return g.Card.Terms != first.Terms || g.Card.PromotionalTerms != first.PromotionalTerms
		})
}
