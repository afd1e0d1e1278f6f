package main

import (
	"fmt"
	"strings"

	"boon.example/internal/command/load"
)

// withTicket asks about gifts with an order of 20 lines, as platforms print them.
func (h *trial) withTicket(format string) *load.Orders {
	lines := func(one string) string { return strings.TrimSuffix(strings.Repeat(one+",", 20), ",") }
	cents := func(n int) string { return fmt.Sprintf(`{"amount":%d,"currency":"USD"}`, n) }
	data := map[string]string{
		"standard": `{"lineItems":[` + lines(`{"itemID":"LATTE","itemName":"Latte","itemUnitPrice":4.5,"quantity":2,`+
			`"itemTotalPrice":9.00}`) + `],"totals":{"subTotal":180,"taxTotal":9,"grandTotal":189.00}}`,
		"square": `{"order":{"taxes":[{"uid":"state","type":"ADDITIVE"}],"total_money":` + cents(19_520) + `,"line_items":[` +
			lines(`{"uid":"a1b2c3","name":"Latte","variation_name":"Large","catalog_object_id":"LATTE_L_7Q2XK",`+
				`"item_type":"ITEM","quantity":"2","base_price_money":`+cents(450)+`,"variation_total_price_money":`+cents(900)+
				`,"applied_taxes":[{"uid":"t1","tax_uid":"state","applied_money":`+cents(76)+`}],"gross_sales_money":`+cents(900)+
				`,"total_discount_money":`+cents(0)+`,"total_tax_money":`+cents(76)+`,"total_money":`+cents(976)+`}`) + `]}}`,
		"toast": `{"checks":[{"totalAmount":311.00,"taxAmount":23.00,"selections":[` +
			lines(`{"guid":"5e100000-0000-4000-8000-000000000001","displayName":"Burger","item":{"guid":`+
				`"b0b60000-0000-4000-8000-000000000010","multiLocationId":"700000000010"},"itemGroup":{"guid":`+
				`"9f000000-0000-4000-8000-000000000001"},"plu":"1010","selectionType":"NONE","quantity":1,`+
				`"unitOfMeasure":"NONE","receiptLinePrice":14.00,"preDiscountPrice":16.00,"price":14.40,"tax":1.15,`+
				`"taxInclusion":"NOT_INCLUDED","voided":false,"deferred":false,"modifiers":[],"appliedDiscounts":[]}`) + `]}]}`,
		"clover": `{"id":"Z0RDER0000001","currency":"USD","unpaidBalance":27063,"total":27063,"lineItems":{"elements":[` +
			lines(`{"id":"L0000000000A1","item":{"id":"CHKN000000001"},"name":"Chicken plate","price":1250,"exchanged":false,`+
				`"refunded":false,"isRevenue":true,"taxRates":{"elements":[{"id":"T0000000000A1","name":"City",`+
				`"rate":825000}]}}`) + `]}}`,
	}
	if format == "skipped" { // all of it in a member that is let be
		format = "square"
		data[format] = `{"order":{"total_money":` + cents(0) + `,"line_items":[],"somethingNew":` + data[format] + `}}`
	}
	orders := h.asked(h.gifts)
	orders.Ticket = `{"format":"` + format + `","data":` + data[format] + `}`
	return orders
}
