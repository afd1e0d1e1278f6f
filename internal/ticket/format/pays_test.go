package format

import (
	"slices"
	"strings"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
)

// most is a sentence about an order, and what gifts can pay of it: one of money, and one of pieces. items are what
// both are good for; none: anything.
type most struct {
	sentence, format, order string
	items                   string // with commas between
	money, pieces           money.Amount
}

// pays holds what gifts can pay against a table.
func pays(t *testing.T, c money.Currency, o Options, all []most) {
	t.Helper()
	t.Parallel()
	for _, tt := range all {
		t.Run(tt.format+": "+tt.sentence, func(t *testing.T) {
			t.Parallel()
			got, problems := read(tt.format, tt.order, o, c)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			var items []merchant.Item
			for id := range strings.SplitSeq(tt.items, ",") {
				if id != "" {
					items = append(items, merchant.Item{ID: id})
				}
			}
			of := func(item bool) money.Amount {
				v := &gift.Voucher{Currency: c, Item: item, Funded: 1_000_00, Balance: 1_000_00}
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

// TestNoMoreThanTheOrder: what is due is no more than the order's own total, and that is held against its parts.
func TestNoMoreThanTheOrder(t *testing.T) {
	mug, ten := `{`+mugShopify+`}`, `,"subtotal_price":"10.00","total_tax":"0.00","total_price":"10.00"`
	sale := `,"totals":{"price":10,"tax":0,"price_incl_tax":10}`
	cart := `{"lineItems":[{"variantId":1,"price":10}],"subtotal":"10","taxTotal":`
	draft := func(more string) string { return `{"draft_order":{"line_items":[` + mug + `]` + more + `}}` }
	set := func(name, amount string) string { return `,"` + name + `":{"shop_money":{"amount":"` + amount + `"}}` }
	pays(t, usd, Options{}, []most{
		{"more is due than the total", Square, `{"line_items":[{` + mugSquare + `}],"total_money":{"amount":1000},` +
			`"net_amount_due_money":{"amount":9900}}`, "", 10_00, 1},
		{"more is due than the total, of which a part is a gift card", Square, `{"line_items":[{` + mugSquare +
			`},{"item_type":"GIFT_CARD","quantity":"1","total_money":{"amount":2500}}],"total_money":{"amount":3500},` +
			`"net_amount_due_money":{"amount":9900}}`, "", 10_00, 1},
		{"more is due than the total", Clover, cloverOrderOf(`{`+mugClover+`}`, `,"total":1000,"unpaidBalance":10000`), "", 10_00, 1},
		{"more is due than the parts, without a total", Clover, cloverOrderOf(`{`+mugClover+`,"taxRates":[{"rate":1000000}]}`,
			`,"unpaidBalance":10000`), "", 11_00, 1},
		{"a gift card whose tax is more than its price", Square, `{"line_items":[{` + mugSquare + `},{"item_type":"GIFT_CARD",` +
			`"total_tax_money":{"amount":3000},"total_money":{"amount":2500}}],"total_money":{"amount":3500}}`, "", 10_00, 1},
		{"less is due than the parts, without a total", Clover, cloverOrderOf(`{`+mugClover+`}`, `,"unpaidBalance":700`), "",
			7_00, 1},
		{"money back is no payment", LightspeedX, saleOf(`{`+mugX+`}`, sale+`,"payments":[{"amount":-50}]`), "", 10_00, 1},
		{"change is taken off payments", LightspeedX, saleOf(`{`+mugX+`}`, sale+`,"payments":[{"amount":50},{"amount":-44}]`), "",
			4_00, 1},
		{"money back is no payment", Toast, toastOrder(`{`+mugToast+`}`, `,"totalAmount":10,"payments":[{"amount":-50}]`), "",
			10_00, 1},
		{"a total of more than its line", Shopify, shopifyOrderOf(mug, `,"total_price":"100.00"`), "", 10_00, 1},
		{"a total of more than the subtotal and tax", Shopify, shopifyOrderOf(mug, `,"subtotal_price":"10.00","total_tax":"1.00",`+
			`"total_price":"100.00"`), "", 11_00, 1},
		{"tax inside its price is no more", Shopify, shopifyOrderOf(mug, `,"taxes_included":true,"total_tax":"1.00",`+
			`"total_price":"11.00"`), "", 10_00, 1},
		{"tax that only the lines tell", Shopify, shopifyOrderOf(`{`+mugShopify+`,"tax_lines":[{"price":"1.50"}]}`,
			`,"total_price":"11.50"`), "", 11_50, 1},
		{"more is outstanding than the total", Shopify, shopifyOrderOf(mug, ten+`,"total_outstanding":"100.00"`), "", 10_00, 1},
		{"shipping, duties and fees are parts of it", Shopify, shopifyOrderOf(mug, `,"total_price":"18.00","shipping_lines":`+
			`[{"price":"5.00"}]`+set("current_total_duties_set", "2.00")+set("original_total_duties_set", "9.00")+
			set("original_total_additional_fees_set", "1.00")), "", 18_00, 1},
		{"a tip that is no line is a part where it is counted", Shopify, shopifyOrderOf(mug, `,"total_tip_received":"2.00",`+
			`"total_price":"12.00"`), "", 12_00, 1},
		{"and is none where it is not", Shopify, shopifyOrderOf(mug, `,"total_tip_received":"2.00","total_price":"100.00"`), "",
			10_00, 1},
		{"a tip in the shop's currency", Shopify, `{"order":{"currency":"EUR","presentment_currency":"USD","line_items":[{"variant_id":1,"price":"7.20",` +
			`"price_set":{"presentment_money":{"amount":"8.00"}}}],"current_total_price":"9.00","total_tip_received":"1.80",` +
			`"current_total_price_set":{"presentment_money":{"amount":"10.00"}}}}`, "", 10_00, 1},
		{"a cart's total of more than its subtotal", Shopify, cart + `"0","grandTotal":"100"}`, "", 10_00, 1},
		{"a cart's total of more than its subtotal and tax", Shopify, cart + `"1","grandTotal":"100"}`, "", 11_00, 1},
		{"a cart with tax", Shopify, cart + `"1","grandTotal":"11"}`, "", 11_00, 1},
		{"a cart with tax in its prices", Shopify, cart + `"1","grandTotal":"10"}`, "", 10_00, 1},
		{"a draft's total of more than its line", Shopify, draft(`,"subtotal_price":"10.00","total_tax":"0","total_price":"100.00"`),
			"", 10_00, 1},
		{"a draft with tax and shipping", Shopify, draft(`,"subtotal_price":"10.00","total_tax":"1.00","total_price":"13.00",` +
			`"shipping_line":{"price":"2.00"}`), "", 13_00, 1},
		{"a draft with tax in its prices", Shopify, draft(`,"taxes_included":true,"total_tax":"1.00","total_price":"11.00"`), "",
			10_00, 1},
	})
}

// TestSaleDiscountsWithTax: a discount on a sale is without tax, and comes off lines that are shown with theirs.
func TestSaleDiscountsWithTax(t *testing.T) {
	two := `{"product":{"id":"A"},"quantity":1,"pricing":{"price":100,"total":100},"tax":{"amount":15,"total":15}},` +
		`{"product":{"id":"B"},"quantity":1,"pricing":{"price":100,"total":100},"tax":{"amount":15,"total":15}}`
	off := `,"adjustments":[{"adjustment_type":"DISCOUNT","total":-100}`
	totals := `,"totals":{"price":100,"tax":15,"price_incl_tax":115}`
	card := `,{"product":{"id":"C"},"gift_card_number":"1","quantity":1,"pricing":{"price":30,"total":30}}`
	pays(t, nzd, Options{}, []most{
		{"a discount comes off with its tax", LightspeedX, saleOf(two, totals+off+`]`), "A", 57_50, 1},
		{"both are the total", LightspeedX, saleOf(two, totals+off+`]`), "A,B", 115_00, 2},
		{"a charge is no part of the lines", LightspeedX, saleOf(two, `,"totals":{"price":100,"tax":15,"price_incl_tax":118}`+
			off+`,{"adjustment_type":"SURCHARGE","total":3}]`), "A", 57_50, 1},
		{"a gift card is none of the goods", LightspeedX, saleOf(two+card, `,"totals":{"price":130,"tax":15,"price_incl_tax":145}`+
			off+`]`), "A", 57_50, 1},
		{"one that the price does not tell comes off no line", LightspeedX, saleOf(two, `,"totals":{"price":200,"tax":30,`+
			`"price_incl_tax":115}`+off+`]`), "A,B", 115_00, 2},
	})
}

// TestRefundsWithoutValue: pieces that came back for nothing, or for what is not told, are paid no more.
func TestRefundsWithoutValue(t *testing.T) {
	of := func(current, refunds string) string {
		return shopifyOrderOf(`{"id":7,"variant_id":1,"quantity":2,"price":"10.00"`+current+
			`},{"id":8,"variant_id":2,"quantity":1,"price":"10.00"}`, `,"total_price":"30.00","current_total_price":"20.00",`+
			`"refunds":[{"refund_line_items":[`+refunds+`]}]`)
	}
	const one = `,"current_quantity":1`
	pays(t, usd, Options{}, []most{
		{"a refund that does not tell its value", Shopify, of(one, `{"line_item_id":7,"quantity":1}`), "1", 10_00, 1},
		{"a refund of nothing", Shopify, of(one, `{"line_item_id":7,"quantity":1,"subtotal":0}`), "1", 10_00, 1},
		{"a refund of something", Shopify, of(one, `{"line_item_id":7,"quantity":1,"subtotal":9.5}`), "1", 10_50, 1},
		{"a refund of nothing, without current_quantity", Shopify, of(``, `{"line_item_id":7,"quantity":1,"subtotal":0}`), "1",
			10_00, 1},
		{"a refund of something, without current_quantity", Shopify, of(``, `{"line_item_id":7,"quantity":1,"subtotal":9.5}`), "1",
			10_50, 1},
		{"a refund of all, without current_quantity", Shopify, of(``, `{"line_item_id":7,"quantity":2,"subtotal":19}`), "1", 0, 0},
	})
}

// TestRestrictedGifts: what a gift for one item pays is no more than that item still costs.
func TestRestrictedGifts(t *testing.T) {
	square := func(line string) string {
		return `{"taxes":[{"uid":"in","type":"INCLUSIVE"},{"uid":"on","type":"ADDITIVE"}],"line_items":[{` + mugSquare + line +
			`,"total_tax_money":{"amount":80}}],"total_money":{"amount":1000}}`
	}
	tax := func(uid, amount string) string {
		return `{"tax_uid":"` + uid + `","applied_money":{"amount":` + amount + `}}`
	}
	sale := func(a string) string {
		return saleOf(`{`+a+`},{"product":{"id":"B"},"quantity":1,"pricing":{"price":10,"total":10}}`,
			`,"totals":{"price":20,"tax":0,"price_incl_tax":20}`)
	}
	toast := func(price, refund string) string {
		return toastOrder(`{"item":{"guid":"MUG"},"price":`+price+`,"tax":2,"taxInclusion":"INCLUDED","refundDetails":{`+refund+
			`}},{"item":{"guid":"B"},"price":20}`, `,"totalAmount":32,"taxAmount":2,"payments":[{"amount":12}]`)
	}
	clover := func(discount, total string) string {
		return cloverOrderOf(`{`+mugClover+`,"discounts":[{"amount":-300,`+discount+`}]},{"item":{"id":"B"},"price":1000}`,
			`,"total":`+total)
	}
	draft := func(discount, own, subtotal string) string {
		return `{"draft_order":{"line_items":[{"variant_id":1,"quantity":2,"price":"10.00","applied_discount":{` + discount + `}},` +
			`{"variant_id":2,"quantity":1,"price":"10.00"}],"applied_discount":{` + own + `},"subtotal_price":"` + subtotal +
			`","total_price":"` + subtotal + `"}}`
	}
	pays(t, usd, Options{}, []most{
		{"taxes that are not listed are added", Square, square(`,"applied_taxes":[]`), "MUG", 9_20, 1},
		{"taxes whose amounts are missing are added", Square, square(`,"applied_taxes":[{"tax_uid":"in"}]`), "MUG", 9_20, 1},
		{"taxes that are listed in part are added", Square, square(`,"applied_taxes":[` + tax("in", "10") + `]`), "MUG", 9_20, 1},
		{"all inclusive taxes are not", Square, square(`,"applied_taxes":[` + tax("in", "80") + `]`), "MUG", 10_00, 1},
		{"one of two taxes is", Square, square(`,"applied_taxes":[` + tax("in", "50") + `,` + tax("on", "30") + `]`), "MUG", 9_70, 1},
		{"listed taxes of more than is told are added", Square, square(`,"applied_taxes":[` + tax("on", "90") + `,` + tax("?", "10") + `]`),
			"MUG", 9_00, 1},
		{"a discount comes off price times quantity", LightspeedX, sale(`"product":{"id":"MUG"},"quantity":2,"pricing":{"price":10,` +
			`"discount_total":10}`), "MUG", 10_00, 2},
		{"and in the flat shape", LightspeedX, sale(`"product_id":"MUG","quantity":2,"unit_price":10,"total_discount":-10`), "MUG",
			10_00, 2},
		{"it is in the total", LightspeedX, sale(`"product":{"id":"MUG"},"quantity":2,"pricing":{"price":10,"total":10,` +
			`"discount_total":10}`), "MUG", 10_00, 2},
		{"it is no more than the line", LightspeedX, saleOf(`{"product":{"id":"MUG"},"quantity":1,"pricing":{"price":10,`+
			`"discount_total":15}},{"product":{"id":"B"},"quantity":1,"pricing":{"price":10,"total":10}}`,
			`,"totals":{"price":10,"tax":0,"price_incl_tax":10}`), "MUG", 0, 0},
		{"a refund takes its tax off the price", Toast, toast("10", `"refundAmount":5,"taxRefundAmount":1`), "MUG", 6_00, 0},
		{"a full one takes all", Toast, toast("10", `"refundAmount":10,"taxRefundAmount":2`), "MUG", 0, 0},
		{"with the tax that it does not tell", Toast, toast("10", `"refundAmount":10`), "MUG", 0, 0},
		{"a discount of 0 percent is an amount", Clover, clover(`"percentage":0`, "1700"), "MUG", 7_00, 1},
		{"of 0 ten-thousandths too", Clover, clover(`"percentageDecimal":0`, "1700"), "MUG", 7_00, 1},
		{"of 0 ten-thousandths and 10 percent is the percentage", Clover, clover(`"percentageDecimal":0,"percentage":10`, "1900"),
			"MUG", 9_00, 1},
		{"a discount in percent has no amount", Shopify, draft(`"value":"25.0","value_type":"percentage","amount":null`, ``, "25.00"),
			"1", 15_00, 2},
		{"a discount of a value has no amount", Shopify, draft(`"value":"4.00","value_type":"fixed_amount"`, ``, "22.00"), "1",
			12_00, 2},
		{"for the line, where its subtotal says so", Shopify, draft(`"value":"4.00","value_type":"fixed_amount"`, ``, "26.00"), "1",
			16_00, 2},
		{"a draft's own in percent", Shopify, draft(``, `"value":12.5,"value_type":"percentage"`, "26.25"), "1", 17_50, 2},
		{"a draft's own of both", Shopify, draft(`"amount":"0.00","value":"0.0"`, `"amount":"3.00","value":"10.0",`+
			`"value_type":"percentage"`, "27.00"), "1", 18_00, 2},
		{"of more than all", Shopify, draft(`"value":"250","value_type":"percentage"`, ``, "10.00"), "1", 0, 0},
		{"what is called Gift Card and is an item without a guid is one", Toast, toastOrder(`{"displayName":"Gift Card","item":`+
			`{"guid":null},"price":10}`, `,"totalAmount":10`), "", 0, 0},
	})
}

// TestPiecesOfRefunds: of a selection that is refunded in part, the pieces are left that are paid by what is left.
func TestPiecesOfRefunds(t *testing.T) {
	of := func(line string) string {
		return toastOrder(`{"item":{"guid":"A"},`+line+`},{"item":{"guid":"B"},"price":20}`, `,"taxAmount":2,"totalAmount":32`)
	}
	const inside = `,"tax":2,"taxInclusion":"INCLUDED"`
	pays(t, usd, Options{}, []most{
		{"one of two", Toast, of(`"quantity":2,"price":10,"refundDetails":{"refundAmount":5}`), "A", 5_00, 1},
		{"one of two, with tax", Toast, of(`"quantity":2,"price":10` + inside + `,"refundDetails":{"refundAmount":5,"taxRefundAmount":1}`),
			"A", 6_00, 1},
		{"a cent of three", Toast, of(`"quantity":3,"price":10,"refundDetails":{"refundAmount":0.01}`), "A", 9_99, 2},
		{"all but a cent", Toast, of(`"quantity":3,"price":10,"refundDetails":{"refundAmount":9.99}`), "A", 1, 0},
		{"nothing", Toast, of(`"quantity":2,"price":10,"refundDetails":{"refundAmount":0,"taxRefundAmount":0}`), "A", 10_00, 2},
		{"of a comp", Toast, of(`"quantity":2,"price":0` + inside + `,"refundDetails":{}`), "A", 0, 0},
		{"of a weighed one", Toast, of(`"quantity":2.5,"price":10,"refundDetails":{"refundAmount":5}`), "A", 5_00, 0},
	})
}

// TestToastTaxInsidePrices: included taxes are added to lines only where that gives the check's own total.
func TestToastTaxInsidePrices(t *testing.T) {
	of := func(more, check string) string {
		return toastOrder(`{"item":{"guid":"A"},"price":12,"tax":2,"taxInclusion":"INCLUDED"`+more+`},{"item":{"guid":"B"},`+
			`"price":12,"tax":2,"taxInclusion":"INCLUDED"}`, check)
	}
	const tip = `,"appliedServiceCharges":[{"chargeAmount":3,"gratuity":true}]`
	pays(t, usd, Options{}, []most{
		{"prices without tax", Toast, of(``, `,"taxAmount":4,"totalAmount":28`), "A", 14_00, 1},
		{"and a gratuity that is counted", Toast, of(``, `,"taxAmount":4,"totalAmount":31`+tip), "A", 14_00, 1},
		{"prices with tax", Toast, of(``, `,"taxAmount":4,"totalAmount":24`), "A", 12_00, 1},
		{"and a gratuity that is counted", Toast, of(``, `,"taxAmount":4,"totalAmount":27`+tip), "A", 12_00, 1},
		{"all of it", Toast, of(``, `,"taxAmount":4,"totalAmount":24`), "", 24_00, 2},
		{"prices with tax that the check does not tell", Toast, of(``, `,"totalAmount":24`), "A", 12_00, 1},
		{"prices without tax that the check does not tell", Toast, of(``, `,"totalAmount":28`), "A", 14_00, 1},
		{"neither is the total", Toast, of(``, `,"taxAmount":4,"totalAmount":60`), "A", 12_00, 1},
		{"a gift card with tax", Toast, of(`,"deferred":true`, `,"taxAmount":4,"totalAmount":24`), "", 12_00, 1},
		{"a gift card, where neither is the total", Toast, of(`,"deferred":true`, `,"taxAmount":4,"totalAmount":60`), "", 10_00, 1},
		{"a refund with tax", Toast, of(`,"refundDetails":{"refundAmount":5,"taxRefundAmount":1}`, `,"taxAmount":4,"totalAmount":24`),
			"A", 6_00, 0},
		{"a refund of all", Toast, of(`,"refundDetails":{"refundAmount":10,"taxRefundAmount":2}`, `,"taxAmount":4,"totalAmount":24`),
			"A", 0, 0},
		{"a void has no tax", Toast, of(`,"voided":true`, `,"taxAmount":2,"totalAmount":12`), "B", 12_00, 1},
	})
}

// TestNotTooLittle: what is no gift card on balance, and gratuities that are counted, leave the goods their due.
func TestNotTooLittle(t *testing.T) {
	gc := func(price, more string) string { return `{"item":{"id":"GC"},"price":` + price + more + `}` }
	const mug, total = `{` + mugClover + `}`, `,"total":1000`
	square := func(total string) string {
		return `{"line_items":[{` + mugSquare + `}],"total_tip_money":{"amount":200},"total_money":{"amount":` + total + `}}`
	}
	toast := func(total string) string {
		return toastOrder(`{`+mugToast+`}`, `,"totalAmount":`+total+`,"appliedServiceCharges":[{"chargeAmount":2,"gratuity":true}]`)
	}
	sale := func(total, adjustments string) string {
		return saleOf(`{`+mugX+`}`, `,"totals":{"price":10,"tax":0,"price_incl_tax":`+total+`},"adjustments":[`+adjustments+`]`)
	}
	const tip = `{"adjustment_type":"TIP","total":2}`
	pays(t, usd, Options{GiftCards: []string{"GC"}}, []most{
		{"a gift card that is sold and voided is none", Clover, cloverOrderOf(gc("2500", ``)+","+gc("-2500", ``)+","+mug, total),
			"", 10_00, 1},
		{"so is one that the order says is one", Clover, cloverOrderOf(`{"item":{"id":"X"},"price":2500,"isRevenue":false},`+
			`{"item":{"id":"X"},"price":-2500,"isRevenue":false},`+mug, total), "", 10_00, 1},
		{"of two one is left", Clover, cloverOrderOf(gc("2500", ``)+","+gc("2500", ``)+","+gc("-2500", ``)+","+mug,
			`,"total":3500`), "", 10_00, 1},
		{"another card's void counts for nothing", Clover, cloverOrderOf(gc("2500", ``)+`,{"item":{"id":"X"},"price":-2500,`+
			`"isRevenue":false},`+mug, total), "", 0, 0},
		{"nor does a void of more", Clover, cloverOrderOf(gc("2500", ``)+","+gc("-3000", ``)+","+mug, `,"total":500`), "", 5_00, 1},
		{"cards without an item are not told apart", Clover, cloverOrderOf(`{"price":2500,"isRevenue":false},{"price":-2500,`+
			`"isRevenue":false},`+mug, total), "", 0, 0},
		{"a card that is brought back otherwise is no other's void", Clover, cloverOrderOf(gc("2500", ``)+
			`,{"item":{"id":"MUG"},"price":-500},`+mug, `,"total":3000`), "", 5_00, 0},
		{"one that comes back among the returns too", Square, `{"line_items":[{` + mugSquare + `},{"catalog_object_id":"GC",` +
			`"total_money":{"amount":2500}}],"returns":[{"return_line_items":[{"catalog_object_id":"GC","quantity":"1",` +
			`"total_money":{"amount":2500}}]}],"total_money":{"amount":3500}}`, "", 10_00, 1},
		{"a gratuity to the cent", Square, square("1200"), "", 12_00, 1},
		{"a gratuity and a cent", Square, square("1201"), "", 12_01, 1},
		{"a gratuity less a cent", Square, square("1199"), "", 11_99, 1},
		{"two cents are more than rounding", Square, square("1202"), "", 10_00, 1},
		{"a gratuity and a cent", Toast, toast("12.01"), "", 12_01, 1},
		{"two cents are more than rounding", Toast, toast("12.02"), "", 10_00, 1},
		{"a gratuity that is not counted", Toast, toast("10"), "", 10_00, 1},
		{"a tip that is counted", LightspeedX, sale("12", tip), "", 12_00, 1},
		{"and a cent", LightspeedX, sale("12.01", tip), "", 12_01, 1},
		{"a tip that is not counted", LightspeedX, sale("10", tip), "", 10_00, 1},
		{"a tip and something else", LightspeedX, sale("15", tip), "", 10_00, 1},
		{"a tip and a discount", LightspeedX, saleOf(`{"product":{"id":"MUG"},"quantity":1,"pricing":{"price":15,"total":15}}`,
			`,"totals":{"price":10,"tax":0,"price_incl_tax":12},"adjustments":[{"adjustment_type":"DISCOUNT","total":-5},`+tip+`]`),
			"", 12_00, 1},
	})
}

// TestTipOnASaleWithTax: a tip that a sale counts is none of its lines, which its discount comes off.
func TestTipOnASaleWithTax(t *testing.T) {
	pays(t, nzd, Options{}, []most{{"a tip that is counted", LightspeedX, saleOf(`{"product":{"id":"A"},"quantity":1,`+
		`"pricing":{"price":100,"total":100},"tax":{"total":15}},{"product":{"id":"B"},"quantity":1,"pricing":`+
		`{"price":100,"total":100},"tax":{"total":15}}`, `,"totals":{"price":100,"tax":15,"price_incl_tax":125},"adjustments":`+
		`[{"adjustment_type":"DISCOUNT","total":-100},{"adjustment_type":"TIP","total":10}]`), "A", 57_50, 1}})
}

// TestDiscountsInPrices: whether a price is before a discount or after it, where the platform does not say so, is for
// the order's own total to tell; where that tells neither, the gift pays less.
func TestDiscountsInPrices(t *testing.T) {
	register := func(line, total, more string) string {
		return `{"register_sale":{"status":"SAVED","total_price":"` + total + `","total_tax":"0","register_sale_products":[` +
			line + `]` + more + `}}`
	}
	one := `{"product_id":"A","quantity":"1","price":"108","discount":"12","tax":"0"}`
	check := func(a, b, total string) string {
		return toastOrder(`{"item":{"guid":"A"},"price":`+a+`},{"item":{"guid":"B"},"price":`+b+`},{"item":{"guid":"C"},`+
			`"deferred":true,"price":30}`, `,"appliedDiscounts":[{"discountAmount":6}],"totalAmount":`+total)
	}
	const half = `,"discountAllocations":[{"allocatedAmount":{"amount":"3.00","currencyCode":"USD"}},` +
		`{"allocatedAmount":{"amount":2,"currencyCode":"USD"}}]`
	cart := func(allocated, subtotal string) string {
		return `{"lineItems":[{"variantId":1,"price":10,"quantity":1` + allocated + `},{"variantId":2,"price":10,"quantity":1}],` +
			`"subtotal":"` + subtotal + `","taxTotal":"0","grandTotal":"` + subtotal + `"}`
	}
	pays(t, usd, Options{}, []most{
		{"a discount of one line of a cart", Shopify, cart(half, "15"), "1", 5_00, 1},
		{"of the other line nothing comes off", Shopify, cart(half, "15"), "2", 10_00, 1},
		{"one of the cart beside it", Shopify, cart(half, "12"), "1", 4_00, 1},
		{"an older cart", Shopify, cart(``, "15"), "1", 7_50, 1},
		{"a price after its discount", LightspeedX, register(one, "108", ``), "A", 108_00, 1},
		{"a price before its discount", LightspeedX, register(one, "96", ``), "A", 96_00, 1},
		{"neither", LightspeedX, register(one, "100", ``), "A", 96_00, 1},
		{"of several pieces", LightspeedX, register(`{"product_id":"A","quantity":"3","price":"9","discount":"1","tax":"0"}`, "27",
			``), "A", 27_00, 3},
		{"beside something brought back", LightspeedX, register(one+`,{"product_id":"B","quantity":"-1","price":"8",`+
			`"discount":"2","tax":"0"}`, "100", ``), "A", 100_00, 1},
		{"a flat sale, which tells both", LightspeedX, saleOf(`{"product_id":"A","quantity":1,"price":108,"unit_price":108,`+
			`"discount":12,"unit_discount":12,"total_discount":12,"price_total":108,"total_price":108,"tax":0,"is_return":false}`,
			`,"total_price":108,"total_tax":0`), "A", 108_00, 1},
		{"a sale that was deleted", LightspeedX, register(one, "108", `,"deleted_at":"2023-07-21T22:20:40+00:00"`), "A", 0, 0},
		{"and one that was not", LightspeedX, register(one, "108", `,"deleted_at":""`), "A", 108_00, 1},
		{"prices before the discount on the check", Toast, check("10", "20", "54"), "A", 8_00, 1},
		{"prices after it", Toast, check("8", "16", "54"), "A", 8_00, 1},
		{"prices of which nobody can tell", Toast, check("10", "20", "57"), "A", 8_00, 1},
		{"all of them", Toast, check("10", "20", "54"), "", 24_00, 2},
	})
}
