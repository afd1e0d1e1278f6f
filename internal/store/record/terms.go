package record

import (
	"slices"

	"boon.example/internal/gift"
	"boon.example/internal/store/db"
)

// The terms of an order can be the longest that there is of it, and are the same for all its gifts: they are kept once.

// InsertTerms writes the terms of an order.
var InsertTerms = &db.Query{What: "writing into order_terms",
	Each: `INSERT INTO order_terms (account_id, order_id, terms, promotional_terms) VALUES ($1, $2, $3, $4)`,
	Postgres: `INSERT INTO order_terms (account_id, order_id, terms, promotional_terms)
		SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[], $3::TEXT[], $4::TEXT[])`}

// SharedTerms tells whether the terms of an order are kept apart.
func SharedTerms(order []*gift.Gift) bool {
	first := &order[0].Card
	return len(order) > 1 && (first.Terms != "" || first.PromotionalTerms != "") &&
		!slices.ContainsFunc(order, func(g *gift.Gift) bool {
			return g.Card.Terms != first.Terms || g.Card.PromotionalTerms != first.PromotionalTerms
		})
}
