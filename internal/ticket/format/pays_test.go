package format

import (
	"slices"
	"testing"
)

// presented is an order in euros of a customer who pays in dollars: one line of 10, to which more is added.
func presented(line, more string) string {
	return `{"order":{"currency":"EUR","presentment_currency":"USD","line_items":[{"id":7,"variant_id":1,"quantity":2,` +
		`"current_quantity":1,"price":"4.50","price_set":{"presentment_money":{"amount":"5.00","currency_code":"USD"}}` +
		line + `}],"current_total_price":"9.00","current_total_price_set":{"presentment_money":{"amount":"10.00"}}` + more + `}}`
}

// TestCustomersCurrency: where the customer's currency is the account's, each amount is needed in it, and no other is
// taken for it.
func TestCustomersCurrency(t *testing.T) {
	t.Parallel()
	const at = "ticketData.data.order."
	const missing = ": This is needed in USD, the currency of the account."
	for _, tt := range []struct{ line, more, want string }{
		{`,"total_discount_set":{"presentment_money":{"amount":"1.00","amount_set":1}}`, ``, ``},
		{`,"discount_allocations":[{"amount":"0.00"}]`, `,"total_tax":"0.00","total_discounts":""`, ``},
		{`,"discount_allocations":[{"amount":"4.50"}]`, ``, "line_items[0].discount_allocations[0].amount_set" + missing},
		{`,"discount_allocations":[{"amount":"4.50","amount_set":{"shop_money":{"amount":"4.50"}}}]`, ``,
			"line_items[0].discount_allocations[0].amount_set" + missing},
		{`,"discount_allocations":[{"amount_set":{"presentment_money":{"amount":null}}}]`, ``,
			"line_items[0].discount_allocations[0].amount_set" + missing},
		{`,"gift_card":true,"tax_lines":[{"price":"1.00"}]`, ``, "line_items[0].tax_lines[0].price_set" + missing},
		{``, `,"refunds":[{"refund_line_items":[{"line_item_id":7,"quantity":1,"subtotal":9.00}]}]`,
			"refunds[0].refund_line_items[0].subtotal_set" + missing},
		{``, `,"shipping_lines":[{"price":"3.00"}]`, "shipping_lines[0].price_set" + missing},
		{`,"total_discount":"1","total_discount_set":{"presentment_money":{"amount":"1","currency_code":"JPY"}}`, ``,
			"line_items[0].total_discount_set.presentment_money.currency_code: The ticket must be in USD, the currency of " +
				"the account."},
	} {
		var want []string
		if tt.want != "" {
			want = []string{at + tt.want}
		}
		if _, got := read(Shopify, presented(tt.line, tt.more), Options{}, usd); !slices.Equal(got, want) {
			t.Errorf("%s%s:\n%q, want\n%q", tt.line, tt.more, got, want)
		}
	}
}
