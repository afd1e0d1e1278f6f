package format

import (
	"slices"
	"strings"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/ticket"
)

// most is a sentence about an order, and what gifts can pay of it: one of money, and one of pieces. items are what
// both are good for; none: anything.
type most struct {
	sentence, format, order string
	items                   string // with commas between
	money, pieces           gift.Amount
}

// pays holds what gifts can pay against a table.
func pays(t *testing.T, c gift.Currency, o Options, all []most) {
	t.Helper()
	t.Parallel()
	for _, tt := range all {
		t.Run(tt.format+": "+tt.sentence, func(t *testing.T) {
			t.Parallel()
			got, problems := read(tt.format, tt.order, o, c)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			var items []gift.Item
			for id := range strings.SplitSeq(tt.items, ",") {
				if id != "" {
					items = append(items, gift.Item{ID: id})
				}
			}
			of := func(item bool) gift.Amount {
				v := &gift.Voucher{Currency: c, Item: item, Loaded: 1_000_00, Balance: 1_000_00}
				return ticket.EligibilityOf(got, items, v).Most
			}
			if money, pieces := of(false), of(true); money != tt.money || pieces != tt.pieces {
				t.Errorf("%d and %d pieces can be paid, want %d and %d: %q", money, pieces, tt.money, tt.pieces, told(got))
			}
		})
	}
}

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

// TestPiecesOfSettledOrders: where nothing is due, no piece is either.
func TestPiecesOfSettledOrders(t *testing.T) {
	const ten = `,"total":1000,"unpaidBalance":1000`
	pays(t, usd, Options{}, []most{
		{"an open order", Square, `{"line_items":[{` + mugSquare + `}],"total_money":{"amount":1000}}`, "MUG", 10_00, 1},
		{"a completed order", Square, squareOrder(`{`+mugSquare+`}`, `,"state":"COMPLETED"`), "MUG", 0, 0},
		{"a paid order", Square, `{"line_items":[{` + mugSquare + `}],"total_money":{"amount":1000},` +
			`"net_amount_due_money":{"amount":0}}`, "MUG", 0, 0},
		{"a closed check", Toast, toastOrder(`{`+mugToast+`}`, `,"totalAmount":10,"paymentStatus":"CLOSED"`), "MUG", 0, 0},
		{"an open order", Clover, cloverOrderOf(`{`+mugClover+`}`, ten), "MUG", 10_00, 1},
		{"a paid order", Clover, cloverOrderOf(`{`+mugClover+`}`, ten+`,"paymentState":"PAID"`), "MUG", 0, 0},
		{"a cancelled order", Shopify, shopifyOrderOf(`{`+mugShopify+`}`, `,"cancelled_at":"2026-01-01","total_price":"10.00"`),
			"1", 0, 0},
		{"a closed sale", LightspeedX, saleOf(`{`+mugX+`}`, `,"state":"closed","totals":{"price":10,"tax":0,"price_incl_tax":10}`),
			"MUG", 0, 0},
		{"the till's own total says nothing of pieces", Standard,
			`{"lineItems":[{"itemID":"MUG","itemTotalPrice":5}],"totals":{"grandTotal":0}}`, "MUG", 0, 1},
	})
}
