package record

import (
	"slices"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
)

// The terms of an order can be the longest that there is of it, and are the same for all its gifts: they are kept once.

var InsertTerms = db.InsertRows("order_terms", "account_id, order_id, terms, promotional_terms", "BBTT", "")

// CardAndTerms are cardColumns with the terms of the order, where those were kept apart.
const CardAndTerms = `c.account_id, c.voucher_id, c.secrets, c.label, ` +
	`CASE WHEN c.terms_of_order THEN (SELECT o.terms` + ofOrder + `) ELSE c.terms END AS terms, ` +
	`CASE WHEN c.terms_of_order THEN (SELECT o.promotional_terms` + ofOrder +
	`) ELSE c.promotional_terms END AS promotional_terms, ` + cardAfterTerms

const ofOrder = ` FROM order_terms AS o WHERE o.account_id = v.account_id AND o.order_id = v.order_id`

// SharedTerms tells of which orders among new gifts the terms are kept apart, and makes rows of them.
func SharedTerms(gifts []gift.Gift) (shared map[ledger.Ref]bool, rows db.Batch) {
	shared, rows = map[ledger.Ref]bool{}, db.Batch{Query: InsertTerms}
	for len(gifts) > 0 {
		first, n := &gifts[0], 1
		same := first.Card.Terms != "" || first.Card.PromotionalTerms != ""
		for n < len(gifts) && gifts[n].AccountID == first.AccountID && gifts[n].OrderID == first.OrderID {
			same = same && gifts[n].Card.Terms == first.Card.Terms &&
				gifts[n].Card.PromotionalTerms == first.Card.PromotionalTerms
			n++
		}
		if same && n > 1 {
			shared[ledger.Ref{AccountID: first.AccountID, ID: first.OrderID}] = true
			rows.Rows = append(rows.Rows, []any{db.KeyOf(first.AccountID), db.KeyOf(first.OrderID), first.Card.Terms,
				first.Card.PromotionalTerms})
		}
		gifts = gifts[n:]
	}
	slices.SortFunc(rows.Rows, func(a, b []any) int { return slices.Compare(a[1].([]byte), b[1].([]byte)) })
	return shared, rows
}
