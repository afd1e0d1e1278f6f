package format

import (
	"fmt"
	"strings"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/ticket"
	"boon.example/internal/wire"
)

// twenty are orders of 20 lines, as platforms print them.
func twenty() map[string]string {
	lines := func(one string) string { return strings.TrimSuffix(strings.Repeat(one+",", 20), ",") }
	money := func(n int) string { return fmt.Sprintf(`{"amount":%d,"currency":"USD"}`, n) }
	return map[string]string{
		Standard: `{"lineItems":[` + lines(`{"itemID":"LATTE","itemName":"Latte","itemUnitPrice":4.5,"quantity":2,`+
			`"itemTotalPrice":9.00}`) + `],"totals":{"subTotal":180,"taxTotal":9,"grandTotal":189.00}}`,
		Square: squareOrder(lines(`{"uid":"a1b2c3","name":"Latte","variation_name":"Large","catalog_object_id":"LATTE_L_7Q2XK",`+
			`"item_type":"ITEM","quantity":"2","base_price_money":`+money(450)+`,"variation_total_price_money":`+money(900)+
			`,"applied_taxes":[{"uid":"t1","tax_uid":"state","applied_money":`+money(76)+`}],"gross_sales_money":`+money(900)+
			`,"total_discount_money":`+money(0)+`,"total_tax_money":`+money(76)+`,"total_money":`+money(976)+`}`),
			`,"taxes":[{"uid":"state","type":"ADDITIVE"}]`),
		Toast: toastOrder(lines(`{"guid":"5e100000-0000-4000-8000-000000000001","displayName":"Burger","item":{"guid":`+
			`"b0b60000-0000-4000-8000-000000000010","multiLocationId":"700000000010"},"itemGroup":{"guid":`+
			`"9f000000-0000-4000-8000-000000000001"},"plu":"1010","selectionType":"NONE","quantity":1,"unitOfMeasure":"NONE",`+
			`"receiptLinePrice":14.00,"preDiscountPrice":16.00,"price":14.40,"tax":1.15,"taxInclusion":"NOT_INCLUDED",`+
			`"voided":false,"deferred":false,"modifiers":[],"appliedDiscounts":[]}`), `,"totalAmount":311.00,"taxAmount":23.00`),
		Clover: cloverOrderOf(lines(`{"id":"L0000000000A1","item":{"id":"CHKN000000001"},"name":"Chicken plate","price":1250,`+
			`"exchanged":false,"refunded":false,"isRevenue":true,"taxRates":{"elements":[{"id":"T0000000000A1","name":"City",`+
			`"rate":825000}]}}`), `,"total":27063`),
	}
}

// BenchmarkTicket reads what a validation reads of its body, with a ticket of 20 lines and without, and asks what a
// gift can pay.
func BenchmarkTicket(b *testing.B) {
	v := &gift.Voucher{Currency: usd, Funded: 5_000, Balance: 5_000}
	run := func(name, data string) {
		body := []byte(`{"voucherCode":"482913576024","organizationID":"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c11"`)
		if data != "" {
			body = append(body, `,"ticketData":{"format":"`+name+`","data":`+data+`}`...)
		}
		body = append(body, '}')
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			var r wire.Reader
			for b.Loop() {
				var t *ticket.Ticket
				problems, _ := r.Decode(body, func(o *wire.Object) {
					o.Text("voucherCode")
					o.GUID("organizationID")
					if data := o.Object("ticketData"); data != nil {
						data.Text("format")
						t = Read(name, data.Value("data"), Options{}, usd, nil, data.Problems)
					}
				})
				if problems.Len() > 0 {
					b.Fatal(problems.Err())
				}
				r.Forget()
				if t != nil {
					ticket.EligibilityOf(t, nil, v)
				}
			}
		})
	}
	run("none", "")
	for name, data := range twenty() {
		run(name, data)
	}
}
