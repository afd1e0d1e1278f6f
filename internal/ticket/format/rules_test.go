package format

import (
	"fmt"
	"strings"
	"testing"

	"boon.example/internal/money"
)

// Lines of orders, to which a row adds members.
const (
	mugSquare  = `"name":"Mug","catalog_object_id":"MUG","quantity":"1","total_money":{"amount":1000}`
	mugToast   = `"displayName":"Mug","item":{"guid":"MUG"},"quantity":1,"price":10.00`
	mugClover  = `"name":"Mug","item":{"id":"MUG"},"price":1000`
	mugShopify = `"name":"Mug","variant_id":1,"quantity":1,"price":"10.00"`
	mugX       = `"product":{"id":"MUG"},"quantity":1,"pricing":{"price":10,"total":10}`
)

func squareOrder(lines, more string) string {
	return `{"line_items":[` + lines + `],"total_money":{"amount":9900},"net_amount_due_money":{"amount":9900}` + more + `}`
}

func toastOrder(lines, more string) string {
	return `{"checks":[{"guid":"C","selections":[` + lines + `]` + more + `}]}`
}

func cloverOrderOf(lines, more string) string {
	return `{"currency":"USD","lineItems":{"elements":[` + lines + `]}` + more + `}`
}

func shopifyOrderOf(lines, more string) string {
	return `{"order":{"currency":"USD","line_items":[` + lines + `]` + more + `}}`
}

func saleOf(lines, more string) string {
	return `{"data":{"line_items":[` + lines + `]` + more + `}}`
}

// rule is a sentence about what becomes of an order, and an order that shows it.
type rule struct {
	sentence string
	format   string
	order    string
	want     []string // as told gives it; what begins with "*" is any line
}

// TestRules has a sentence for everything that is done with what platforms write.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, rules := range [][]rule{squareRules(), toastRules(), cloverRules(), shopifyRules(), lightspeedRules()} {
		for _, r := range rules {
			t.Run(r.format+": "+r.sentence, func(t *testing.T) {
				t.Parallel()
				got, problems := read(r.format, r.order, Options{}, usd)
				if len(problems) > 0 {
					t.Fatal(problems)
				}
				lines := told(got)
				if len(lines) != len(r.want) {
					t.Fatalf("%q, want %q", lines, r.want)
				}
				for i := range lines {
					if r.want[i] != "*" && lines[i] != r.want[i] {
						t.Errorf("%q, want %q", lines[i], r.want[i])
					}
				}
			})
		}
	}
}

func squareRules() []rule {
	m := func(more string) string { return "{" + mugSquare + more + "}" }
	return []rule{
		{"an additive tax is not in the line", Square, squareOrder(m(`,"total_tax_money":{"amount":80},"applied_taxes":`+
			`[{"tax_uid":"t","applied_money":{"amount":80}}]`), `,"taxes":[{"uid":"t","type":"ADDITIVE"}]`),
			[]string{"MUG|Mug|1 × - = 9.2", "9.2 0 0 0 10"}},
		{"an inclusive tax stays in the line", Square, squareOrder(m(`,"total_tax_money":{"amount":80},"applied_taxes":`+
			`[{"tax_uid":"t","applied_money":{"amount":80}}]`), `,"taxes":[{"uid":"t","type":"INCLUSIVE"}]`),
			[]string{"MUG|Mug|1 × - = 10", "10 0 0 0 10"}},
		{"a tax that cannot be looked up counts as additive", Square, squareOrder(m(`,"total_tax_money":{"amount":80}`), ``),
			[]string{"MUG|Mug|1 × - = 9.2", "9.2 0 0 0 10"}},
		{"an apportioned service charge is not in the line", Square, squareOrder(m(`,"total_service_charge_money":`+
			`{"amount":50}`), `,"total_service_charge_money":{"amount":50}`),
			[]string{"MUG|Mug|1 × - = 9.5", "9.5 0 0 0.5 10"}},
		{"modifiers are in the unit price, and are no lines", Square, squareOrder(m(`,"base_price_money":{"amount":900},`+
			`"modifiers":[{"name":"Handle","total_price_money":{"amount":100}}]`), ``),
			[]string{"MUG|Mug|1 × 10 = 10", "10 0 0 0 10"}},
		{"the variation is in the name", Square, squareOrder(m(`,"variation_name":"Blue"`), ``),
			[]string{"MUG|Mug Blue|1 × - = 10", "10 0 0 0 10"}},
		{"a custom amount has no item", Square, squareOrder(`{"quantity":"1","item_type":"CUSTOM_AMOUNT",`+
			`"total_money":{"amount":300}}`, ``), []string{"||1 × - = 3", "3 0 0 0 3"}},
		{"a fraction of a piece is weighed", Square, squareOrder(`{"quantity":"0.0001","total_money":{"amount":300}}`, ``),
			[]string{"||1 × - = 3 weighed", "3 0 0 0 3"}},
		{"whole pounds are weighed too", Square, squareOrder(m(`,"quantity_unit":{"precision":0}`), ``),
			[]string{"MUG|Mug|1 × - = 10 weighed", "10 0 0 0 10"}},
		{"a line of nothing has nothing to pay", Square, squareOrder(`{"quantity":"1","total_money":{"amount":0}}`, ``),
			[]string{"||1 × - = 0" + nothing, "0 0 0 0 0"}},
		{"a negative line is brought back, off the same item first", Square, squareOrder(m(``)+`,{"catalog_object_id":"MUG",`+
			`"quantity":"1","total_money":{"amount":-400}}`, ``), []string{"MUG|Mug|0 × - = 6", "MUG||1 × - = -4" + returned,
			"6 0 0 0 6"}},
		{"what is in returns is brought back too", Square, `{"line_items":[` + m(``) + `],"total_money":{"amount":1000},` +
			`"returns":[{"return_line_items":[{"catalog_object_id":"MUG","quantity":"1","total_money":{"amount":400}}]}]}`,
			[]string{"MUG|Mug|0 × - = 6", "6 0 0 0 6"}},
		{"of returns only there are no lines, and nothing is due", Square, `{"total_money":{"amount":0},` +
			`"net_amount_due_money":{"amount":-400},"returns":[{"return_line_items":[{"catalog_object_id":"MUG","quantity":"1",` +
			`"total_money":{"amount":400}}]}]}`, []string{"0 0 0 0 0"}},
		{"whatever its totals", Square, `{"line_items":null,"net_amount_due_money":{"amount":400},"returns":[{"return_line_items":` +
			`[{"catalog_object_id":"MUG","total_money":{"amount":400}}]}]}`, []string{"0 0 0 0 0"}},
		{"a gift card that is brought back comes off no goods", Square, `{"line_items":[` + m(``) + `],"total_money":{"amount":1000},` +
			`"returns":[{"return_line_items":[{"catalog_object_id":"MUG","item_type":"GIFT_CARD","quantity":"1",` +
			`"total_money":{"amount":400}}]}]}`, []string{"MUG|Mug|1 × - = 10", "10 0 0 0 6"}},
		{"what was tendered is paid, less the gratuity", Square, `{"line_items":[` + m(``) + `],"total_money":{"amount":1000},` +
			`"tenders":[{"amount_money":{"amount":700},"tip_money":{"amount":200}}]}`,
			[]string{"MUG|Mug|1 × - = 10", "10 0 0 0 5"}},
		{"and whole where the total counts that", Square, `{"line_items":[` + m(``) + `],"total_tip_money":{"amount":200},` +
			`"total_money":{"amount":1200},"tenders":[{"amount_money":{"amount":700},"tip_money":{"amount":200}}]}`,
			[]string{"MUG|Mug|1 × - = 10", "10 0 0 0 5"}},
		{"and less it where the total does not", Square, `{"line_items":[` + m(``) + `],"total_tip_money":{"amount":200},` +
			`"total_money":{"amount":1000},"tenders":[{"amount_money":{"amount":700},"tip_money":{"amount":200}}]}`,
			[]string{"MUG|Mug|1 × - = 10", "10 0 0 0 5"}},
		{"so are two tenders", Square, `{"line_items":[` + m(``) + `],"total_tip_money":{"amount":300},"total_money":{"amount":1300},` +
			`"tenders":[{"amount_money":{"amount":700},"tip_money":{"amount":200}},{"amount_money":{"amount":100},` +
			`"tip_money":{"amount":100}}]}`, []string{"MUG|Mug|1 × - = 10", "10 0 0 0 5"}},
		{"cash rounding upwards is due", Square, `{"line_items":[` + m(``) + `],"total_money":{"amount":1002},` +
			`"net_amount_due_money":{"amount":1002},"rounding_adjustment":{"name":"Cash","amount_money":{"amount":2}}}`,
			[]string{"MUG|Mug|1 × - = 10", "10 0 0 0 10.02"}},
		{"cash rounding downwards is not", Square, `{"line_items":[` + m(``) + `],"total_money":{"amount":998},` +
			`"net_amount_due_money":{"amount":998},"rounding_adjustment":{"amount_money":{"amount":-2}}}`,
			[]string{"MUG|Mug|1 × - = 10", "10 0 0 0 9.98"}},
		{"cash rounding outside the total is not due", Square, `{"line_items":[` + m(``) + `],"total_money":{"amount":1000},` +
			`"rounding_adjustment":{"amount_money":{"amount":2}}}`, []string{"MUG|Mug|1 × - = 10", "10 0 0 0 10"}},
		{"a completed order has nothing due", Square, squareOrder(m(``), `,"state":"COMPLETED"`), []string{"*", "10 0 0 0 0"}},
		{"a cancelled order has nothing due", Square, squareOrder(m(``), `,"state":"CANCELED"`), []string{"*", "10 0 0 0 0"}},
		{"a gift card comes off what is due with its tax", Square, `{"line_items":[` + m(``) + `,{"item_type":"GIFT_CARD",` +
			`"quantity":"1","total_tax_money":{"amount":100},"total_money":{"amount":2100}}],"total_money":{"amount":3100},` +
			`"net_amount_due_money":{"amount":2500}}`, []string{"*", "||1 × - = 20" + giftCard, "10 0 0 0 4"}},
		{"the smaller holds where the parts are more than the total", Square, `{"line_items":[` + m(``) +
			`],"total_money":{"amount":400}}`, []string{"*", "10 0 0 0 4"}},
	}
}

func toastRules() []rule {
	m := func(more string) string { return "{" + mugToast + more + "}" }
	due := `,"totalAmount":10`
	return []rule{
		{"tax that is included is added to the line", Toast, toastOrder(m(`,"tax":0.8,"taxInclusion":"INCLUDED"`),
			`,"totalAmount":10.8,"taxAmount":0.8`), []string{"MUG|Mug|1 × - = 10.8", "10.8 0.8 0 0 10.8"}},
		{"tax that is not included is not", Toast, toastOrder(m(`,"tax":0.8,"taxInclusion":"INHERITED"`),
			`,"totalAmount":10.8,"taxAmount":0.8`), []string{"MUG|Mug|1 × - = 10", "10 0.8 0 0 10.8"}},
		{"modifiers are in the price, and are no lines", Toast, toastOrder(m(`,"modifiers":[{"price":3}]`), due),
			[]string{"MUG|Mug|1 × - = 10", "10 0 0 0 10"}},
		{"what is measured is weighed", Toast, toastOrder(m(`,"unitOfMeasure":"KG"`), due),
			[]string{"MUG|Mug|1 × - = 10 weighed", "10 0 0 0 10"}},
		{"a void is no line", Toast, toastOrder(m(`,"voided":true`), `,"totalAmount":0`),
			[]string{"MUG|Mug|1 × - = 10" + voided, "0 0 0 0 0"}},
		{"a refund comes off the line, with the pieces that are not paid by what is left", Toast,
			toastOrder(m(`,"refundDetails":{"refundAmount":4}`), due), []string{"MUG|Mug|0 × - = 6", "6 0 0 0 10"}},
		{"what is refunded whole is no line", Toast, toastOrder(m(`,"refundDetails":{"refundAmount":10}`), due),
			[]string{"MUG|Mug|1 × - = 0" + refunded, "0 0 0 0 10"}},
		{"deferred revenue is a gift card", Toast, toastOrder(m(`,"deferred":true`), due),
			[]string{"MUG|Mug|1 × - = 10" + giftCard, "0 0 0 0 0"}},
		{"a payment to an account is as a gift card", Toast, toastOrder(m(`,"selectionType":"ANY_ACCOUNT_PAY_BALANCE"`),
			due), []string{"MUG|Mug|1 × - = 10" + giftCard, "0 0 0 0 0"}},
		{"a reload is as a gift card", Toast, toastOrder(m(`,"selectionType":"TOAST_CARD_RELOAD"`), due),
			[]string{"*", "0 0 0 0 0"}},
		{"what is called Gift Card and is no item is one", Toast, toastOrder(`{"displayName":"Gift Card","item":null,`+
			`"quantity":1,"price":10}`, due), []string{"|Gift Card|1 × - = 10" + giftCard, "0 0 0 0 0"}},
		{"a card that is sold is a gift card, by each of its types", Toast, toastOrder(m(`,"selectionType":"TOAST_CARD_SELL"`)+","+
			m(`,"selectionType":"CASH_CARD_SELL"`)+","+m(`,"selectionType":"GIFT_CARD"`), `,"totalAmount":30`),
			[]string{"MUG|Mug|1 × - = 10" + giftCard, "MUG|Mug|1 × - = 10" + giftCard, "MUG|Mug|1 × - = 10" + giftCard,
				"0 0 0 0 0"}},
		{"an item that is called Gift Card is an item", Toast, toastOrder(`{"displayName":"Gift Card","item":{"guid":"MUG"},`+
			`"quantity":1,"price":10}`, due), []string{"MUG|Gift Card|1 × - = 10", "10 0 0 0 10"}},
		{"a negative selection is brought back", Toast, toastOrder(m(``)+`,{"item":{"guid":"MUG"},"quantity":1,"price":-4}`,
			`,"totalAmount":6`), []string{"MUG|Mug|0 × - = 6", "MUG||1 × - = -4" + returned, "6 0 0 0 6"}},
		{"payments are counted off, but for failed ones", Toast, toastOrder(m(``), due+`,"payments":[{"amount":3},`+
			`{"amount":3,"paymentStatus":"DENIED"},{"amount":3,"voidInfo":{"voidDate":"x"}},`+
			`{"amount":3,"paymentStatus":"ERROR_NETWORK"},{"amount":2,"tipAmount":1,"paymentStatus":"CAPTURED"},`+
			`{"amount":3,"paymentStatus":"OPEN"},{"amount":3,"paymentStatus":"CANCELLED"},`+
			`{"amount":3,"paymentStatus":"PROCESSING_VOID"},{"amount":3,"paymentStatus":"VOIDED"}]`),
			[]string{"*", "10 0 0 0 5"}},
		{"a closed check has nothing due", Toast, toastOrder(m(``), due+`,"paymentStatus":"CLOSED"`),
			[]string{"*", "10 0 0 0 0"}},
		{"a paid check has nothing due", Toast, toastOrder(m(``), due+`,"paymentStatus":"PAID"`), []string{"*", "10 0 0 0 0"}},
		{"a voided order has nothing due", Toast, `{"voided":true,"checks":[{"selections":[` + m(``) + `],"totalAmount":10}]}`,
			[]string{"*", "10 0 0 0 0"}},
		{"a deleted order has nothing due", Toast, `{"deleted":true,"checks":[{"selections":[` + m(``) + `],"totalAmount":10}]}`,
			[]string{"*", "10 0 0 0 0"}},
		{"a voided check has nothing due", Toast, `{"voided":true,"selections":[` + m(``) + `],"totalAmount":10}`,
			[]string{"*", "10 0 0 0 0"}},
		{"excess food has nothing due", Toast, `{"excessFood":true,"checks":[{"selections":[` + m(``) + `],"totalAmount":10}]}`,
			[]string{"*", "10 0 0 0 0"}},
		{"a service charge is no line, and a gratuity is none either", Toast, toastOrder(m(``), `,"totalAmount":15,`+
			`"appliedServiceCharges":[{"chargeAmount":3},{"chargeAmount":2,"gratuity":true}]`), []string{"*", "10 0 0 3 15"}},
		{"the one check that is not voided counts", Toast, `{"checks":[{"voided":true,"selections":[]},{"selections":[` +
			m(``) + `],"totalAmount":10}]}`, []string{"*", "10 0 0 0 10"}},
		{"a check alone is enough", Toast, `{"selections":[` + m(``) + `],"totalAmount":10}`, []string{"*", "10 0 0 0 10"}},
		{"discounts that are voided were none", Toast, toastOrder(m(`,"appliedDiscounts":[{"discountAmount":1},`+
			`{"discountAmount":5,"processingState":"VOID"}]`), due), []string{"*", "10 0 1 0 10"}},
		{"what is finer than the currency is rounded once", Toast, toastOrder(`{"quantity":1,"price":9.994,"tax":0.002,`+
			`"taxInclusion":"INCLUDED"}`, due), []string{"||1 × - = 10", "10 0 0 0 10"}},
	}
}

func cloverRules() []rule {
	m := func(more string) string { return "{" + mugClover + more + "}" }
	return []rule{
		{"a discount in percent is of the line with its modifications", Clover, cloverOrderOf(m(`,"modifications":[{"amount":`+
			`50}],"discounts":{"elements":[{"percentageDecimal":125000,"percentage":12}]}`), `,"total":919`),
			[]string{"MUG|Mug|1 × 10.5 = 9.19", "9.19 0 1.31 0 9.19"}},
		{"amounts of discounts are negative or not", Clover, cloverOrderOf(m(`,"discounts":[{"amount":-100},{"amount":50}]`),
			`,"total":850`), []string{"MUG|Mug|1 × 10 = 8.5", "8.5 0 1.5 0 8.5"}},
		{"a discount is no more than the line", Clover, cloverOrderOf(m(`,"discounts":[{"amount":-5000}]`), `,"total":0`),
			[]string{"MUG|Mug|1 × 10 = 0" + nothing, "0 0 10 0 0"}},
		{"a discount on the order is no more than its goods", Clover, cloverOrderOf(m(``)+`,{"price":5000,"isRevenue":false}`,
			`,"discounts":[{"percentage":70},{"amount":-500}],"total":5000`),
			[]string{"MUG|Mug|1 × 10 = 0" + nothing, "||1 × 50 = 50" + giftCard, "0 0 10 0 0"}},
		{"a tax that is listed twice is on the line once", Clover, cloverOrderOf(m(`,"taxRates":[{"id":"T","rate":1000000},`+
			`{"id":"U","rate":1000000},{"id":"T","rate":1000000}]`), `,"total":1200`), []string{"*", "10 2 0 0 12"}},
		{"an order discount is spread by the largest remainder, of equal ones the earlier", Clover,
			cloverOrderOf(m(``)+","+m(``)+","+m(``), `,"discounts":[{"amount":-100}],"total":2900`),
			[]string{"MUG|Mug|1 × 10 = 9.66", "MUG|Mug|1 × 10 = 9.67", "MUG|Mug|1 × 10 = 9.67", "29 0 1 0 29"}},
		{"the largest remainders are rounded up", Clover, cloverOrderOf(`{"price":501},`+m(``)+`,{"price":500}`,
			`,"discounts":[{"amount":-100}],"total":1901`), []string{"||1 × 5.01 = 4.76", "MUG|Mug|1 × 10 = 9.5", "||1 × 5 = 4.75",
			"19.01 0 1 0 19.01"}},
		{"an order discount is not spread over gift cards", Clover, cloverOrderOf(m(``)+`,{"price":5000,"isRevenue":false}`,
			`,"discounts":[{"percentage":10}],"total":5900`),
			[]string{"MUG|Mug|1 × 10 = 9", "||1 × 50 = 50" + giftCard, "9 0 1 0 9"}},
		{"what is weighed is price by thousandths, half up", Clover, cloverOrderOf(`{"price":333,"unitQty":1500}`,
			`,"total":500`), []string{"||1 × - = 5 weighed", "5 0 0 0 5"}},
		{"what is exchanged or refunded is no line", Clover, cloverOrderOf(m(`,"exchanged":true`)+","+m(`,"refunded":true`),
			`,"total":0`), []string{"MUG|Mug|1 × 10 = 10" + refunded, "MUG|Mug|1 × 10 = 10" + refunded, "0 0 0 0 0"}},
		{"a fee of the platform is none either", Clover, cloverOrderOf(m(``)+`,{"price":200,"isPlatformOrderFee":true}`,
			`,"total":1200`), []string{"*", "||1 × 2 = 2" + fee, "10 0 0 2 12"}},
		{"tax that is inside a gift card's price comes off once", Clover, cloverOrderOf(m(``)+`,{"price":5000,"isRevenue":false,`+
			`"taxRates":[{"rate":2000000}]}`, `,"isVat":true,"total":6000`), []string{"*", "||1 × 50 = 50" + giftCard, "10 10 0 0 10"}},
		{"a tax is rounded once, for all of its lines", Clover, cloverOrderOf(`{"price":100,"taxRates":[{"id":"T","rate":825000}]},`+
			`{"price":100,"taxRates":[{"id":"T","rate":825000}]},{"price":100,"taxRates":[{"id":"T","rate":825000}]}`, `,"total":325`),
			[]string{"*", "*", "*", "3 0.25 0 0 3.25"}},
		{"a tax may be an amount on each line", Clover, cloverOrderOf(m(`,"taxRates":[{"taxAmount":30}]`), `,"total":1030`),
			[]string{"*", "10 0.3 0 0 10.3"}},
		{"a refunded order has nothing due", Clover, cloverOrderOf(m(``), `,"total":1000,"paymentState":"REFUNDED"`),
			[]string{"*", "10 0 0 0 0"}},
		{"a credited order has nothing due", Clover, cloverOrderOf(m(``), `,"total":1000,"paymentState":"CREDITED"`),
			[]string{"*", "10 0 0 0 0"}},
		{"a fee is no line, but a charge", Clover, cloverOrderOf(m(``)+`,{"price":200,"isOrderFee":true}`, `,"total":1200`),
			[]string{"*", "||1 × 2 = 2" + fee, "10 0 0 2 12"}},
		{"taxes are rounded once for each rate", Clover, cloverOrderOf(m(`,"taxRates":[{"id":"T","rate":825000}]`)+","+
			`{"price":3,"taxRates":[{"id":"T","rate":825000}]}`, `,"total":1086`), []string{"*", "*", "10.03 0.83 0 0 10.86"}},
		{"tax that is removed is none", Clover, cloverOrderOf(m(`,"taxRates":[{"id":"T","rate":825000}]`),
			`,"taxRemoved":true,"total":1000`), []string{"*", "10 0 0 0 10"}},
		{"value added tax is inside the lines", Clover, cloverOrderOf(m(`,"taxRates":[{"id":"T","rate":2000000}]`),
			`,"isVat":true,"total":1000`), []string{"*", "10 2 0 0 10"}},
		{"a service charge is what is left of the total", Clover, cloverOrderOf(m(``), `,"serviceCharge":{"percentage":10},`+
			`"total":1100`), []string{"*", "10 0 0 1 11"}},
		{"payments that succeeded are counted off", Clover, cloverOrderOf(m(``), `,"total":1000,"payments":{"elements":`+
			`[{"amount":300,"result":"SUCCESS","tipAmount":50},{"amount":300,"result":"FAIL"},{"amount":100}]}`),
			[]string{"*", "10 0 0 0 6"}},
		{"what is unpaid goes before", Clover, cloverOrderOf(m(``), `,"total":1000,"unpaidBalance":250`),
			[]string{"*", "10 0 0 0 2.5"}},
		{"a paid order has nothing due", Clover, cloverOrderOf(m(``), `,"total":1000,"paymentState":"PAID"`),
			[]string{"*", "10 0 0 0 0"}},
		{"a gift card comes off what is due with its tax", Clover, cloverOrderOf(m(``)+`,{"price":1000,"isRevenue":false,`+
			`"taxRates":[{"id":"T","rate":1000000}]}`, `,"total":2100`),
			[]string{"*", "||1 × 10 = 10" + giftCard, "10 1 0 0 10"}},
		{"a negative line is brought back", Clover, cloverOrderOf(m(``)+`,{"item":{"id":"MUG"},"price":-300}`, `,"total":700`),
			[]string{"MUG|Mug|0 × 10 = 7", "MUG||1 × -3 = -3" + returned, "7 0 0 0 7"}},
	}
}

func shopifyRules() []rule {
	m := func(more string) string { return "{" + mugShopify + more + "}" }
	due := `,"subtotal_price":"10.00","total_price":"10.00"`
	three := `{"id":7,"variant_id":1,"quantity":3,"price":"10.00","current_quantity":2`
	return []rule{
		{"a tip line is told by members that may be null", Shopify, shopifyOrderOf(m(`,"tip_payment_method":null`)+","+
			m(`,"tip_payment_gateway":null`), `,"total_price":"20.00"`),
			[]string{"1|Mug|1 × 10 = 10" + tip, "1|Mug|1 × 10 = 10" + tip, "0 0 0 0 20"}},
		{"what was taken off is no line", Shopify, shopifyOrderOf(m(`,"current_quantity":0`), `,"current_subtotal_price":"0",`+
			`"total_price":"10.00","current_total_price":"0"`), []string{"1|Mug|0 × 10 = 0" + refunded, "0 0 0 0 0"}},
		{"without a refund, what is left keeps its part of the discounts", Shopify, shopifyOrderOf(three+
			`,"discount_allocations":[{"amount":"1.00"}]}`, `,"total_price":"19.33"`), []string{"1||2 × 10 = 19.33", "19.33 0 0 0 19.33"}},
		{"refunds come off their line", Shopify, shopifyOrderOf(three+`}`, `,"total_price":"19.99","refunds":`+
			`[{"refund_line_items":[{"line_item_id":7,"quantity":1,"subtotal":10.01}]}]`),
			[]string{"1||2 × 10 = 19.99", "19.99 0 0 0 19.99"}},
		{"total_discount counts where there are no allocations", Shopify, shopifyOrderOf(m(`,"total_discount":"2.00"`),
			`,"total_price":"8.00"`), []string{"1|Mug|1 × 10 = 8", "8 0 0 0 8"}},
		{"and does not where there are", Shopify, shopifyOrderOf(m(`,"total_discount":"2.00","discount_allocations":[]`), due),
			[]string{"1|Mug|1 × 10 = 10", "10 0 0 0 10"}},
		{"a cancelled order has nothing due", Shopify, shopifyOrderOf(m(``), due+`,"cancelled_at":"2026-01-01","total_outstanding":"9"`),
			[]string{"*", "10 0 0 0 0"}},
		{"what is outstanding is due, whatever the status", Shopify, shopifyOrderOf(m(``), due+`,"financial_status":"paid",`+
			`"total_outstanding":"4.00"`), []string{"*", "10 0 0 0 4"}},
		{"a paid order that does not tell has nothing due", Shopify, shopifyOrderOf(m(``), due+`,"financial_status":"paid"`),
			[]string{"*", "10 0 0 0 0"}},
		{"nor has a refunded one", Shopify, shopifyOrderOf(m(``), due+`,"financial_status":"refunded"`), []string{"*", "10 0 0 0 0"}},
		{"nor has a voided one", Shopify, shopifyOrderOf(m(``), due+`,"financial_status":"voided"`), []string{"*", "10 0 0 0 0"}},
		{"nor has one that is refunded in part, as it was paid", Shopify, shopifyOrderOf(three+`}`, `,"financial_status":`+
			`"partially_refunded","total_price":"30.00","current_total_price":"20.00"`), []string{"*", "20 0 0 0 0"}},
		{"nor has a cancelled one that is paid in part", Shopify, shopifyOrderOf(m(``), due+`,"financial_status":"partially_paid",`+
			`"cancelled_at":"2026-01-01"`), []string{"*", "10 0 0 0 0"}},
		{"of one that is paid in part, what is outstanding is due", Shopify, shopifyOrderOf(m(``), due+`,"financial_status":`+
			`"partially_paid","total_outstanding":"4.00"`), []string{"*", "10 0 0 0 4"}},
		{"shipping is no line, but a charge", Shopify, shopifyOrderOf(m(``), `,"subtotal_price":"10.00","total_price":"15.00",`+
			`"shipping_lines":[{"price":"6.00","discounted_price":"5.00"}]`), []string{"*", "10 0 0 5 15"}},
		{"a gift card comes off what is due with its tax", Shopify, shopifyOrderOf(m(``)+`,{"quantity":1,"price":"25.00",`+
			`"gift_card":true,"tax_lines":[{"price":"2.00"}]}`, `,"total_price":"37.00"`),
			[]string{"*", "||1 × 25 = 25" + giftCard, "10 0 0 0 10"}},
		{"and once where that is inside its price", Shopify, shopifyOrderOf(m(``)+`,{"quantity":1,"price":"25.00","gift_card":true,`+
			`"tax_lines":[{"price":"2.00"}]}`, `,"taxes_included":true,"total_price":"35.00"`),
			[]string{"*", "||1 × 25 = 25" + giftCard, "10 0 0 0 10"}},
		{"so it does off a draft", Shopify, `{"draft_order":{"line_items":[` + m(``) + `,{"quantity":1,"price":"25.00","gift_card":true,` +
			`"tax_lines":[{"price":"2.00"}]}],"total_price":"37.00"}}`,
			[]string{"*", "||1 × 25 = 25" + giftCard, "10 0 0 0 10"}},
		{"and once off one with taxes included", Shopify, `{"draft_order":{"taxes_included":true,"line_items":[` + m(``) +
			`,{"quantity":1,"price":"25.00","gift_card":true,"tax_lines":[{"price":"2.00"}]}],"total_price":"35.00"}}`,
			[]string{"*", "||1 × 25 = 25" + giftCard, "10 0 0 0 10"}},
		{"without a name the title and its variant are one", Shopify, shopifyOrderOf(`{"title":"Mug","variant_title":"Blue",`+
			`"quantity":1,"price":"10.00"}`, due), []string{"|Mug - Blue|1 × 10 = 10", "10 0 0 0 10"}},
		{"in another currency the customer's counts", Shopify, `{"order":{"currency":"EUR","presentment_currency":"USD",` +
			`"line_items":[{"variant_id":1,"quantity":1,"price":"9.00","price_set":{"presentment_money":{"amount":"10.00"}}}],` +
			`"current_total_price":"9.00","current_total_price_set":{"presentment_money":{"amount":"10.00"}},` +
			`"total_outstanding":"4.50"}}`, []string{"1||1 × 10 = 10", "10 0 0 0 5"}},
		{"a draft's line discount is for the line where its subtotal says so", Shopify, `{"draft_order":{"line_items":[` +
			`{"quantity":2,"price":"10.00","applied_discount":{"amount":"4.00"}}],"subtotal_price":"16.00","total_price":"16.00"}}`,
			[]string{"||2 × 10 = 16", "16 0 4 0 16"}},
		{"else for each piece", Shopify, `{"draft_order":{"line_items":[` +
			`{"quantity":2,"price":"10.00","applied_discount":{"amount":"4.00"}}],"subtotal_price":"12.00","total_price":"12.00"}}`,
			[]string{"||2 × 10 = 12", "12 0 8 0 12"}},
		{"a draft's own discount is spread", Shopify, `{"draft_order":{"line_items":[` + m(``) + `,` + m(``) + `],"applied_discount":` +
			`{"amount":"1.01"},"subtotal_price":"18.99","total_price":"18.99"}}`,
			[]string{"1|Mug|1 × 10 = 9.49", "1|Mug|1 × 10 = 9.5", "18.99 0 1.01 0 18.99"}},
		{"a completed draft has nothing due", Shopify, `{"draft_order":{"line_items":[` + m(``) + `],"status":"completed",` +
			`"subtotal_price":"10.00","total_price":"10.00"}}`, []string{"*", "10 0 0 0 0"}},
		{"a draft without its envelope is told by its invoice", Shopify, `{"line_items":[` + m(``) + `],"invoice_url":"x",` +
			`"subtotal_price":"10.00","total_price":"10.00"}`, []string{"*", "10 0 0 0 10"}},
		{"a part of a piece in a cart is weighed", Shopify, `{"lineItems":[{"title":"Tea","quantity":0.5,"price":10}],"subtotal":"5",` +
			`"grandTotal":"5"}`, []string{"|Tea|1 × - = 5 weighed", "5 0 0 0 5"}},
		{"a negative line of a cart is brought back", Shopify, `{"lineItems":[{"variantId":1,"price":10},{"variantId":1,` +
			`"quantity":-1,"price":4}],"subtotal":"6","grandTotal":"6"}`, []string{"1||0 × 10 = 6", "1||-1 × 4 = -4" + returned,
			"6 0 0 0 6"}},
		{"a cart's line without a price has nothing to pay", Shopify, `{"lineItems":[{"title":"Mug"}],"subtotal":"0",` +
			`"grandTotal":"0"}`, []string{"|Mug|1 × - = 0" + nothing, "0 0 0 0 0"}},
	}
}

func lightspeedRules() []rule {
	m := func(more string) string { return "{" + mugX + more + "}" }
	due := `,"totals":{"price":10,"tax":0.8,"price_incl_tax":10.8}`
	return []rule{
		{"tax is not in the lines of a shop in the United States", LightspeedX, saleOf(m(`,"tax":{"amount":0.8,"total":0.8}`),
			due), []string{"MUG||1 × 10 = 10", "10 0.8 0 0 10.8"}},
		{"the flat shape is read too", LightspeedX, saleOf(`{"product_id":"MUG","quantity":2,"unit_price":5,"total_price":10,`+
			`"unit_tax":0.4,"total_tax":0.8}`, `,"total_price":10,"total_tax":0.8`),
			[]string{"MUG||2 × 5 = 10", "10 0.8 0 0 10.8"}},
		{"a voided sale has nothing due", LightspeedX, saleOf(m(``), due+`,"state":"voided"`), []string{"*", "10 0.8 0 0 0"}},
		{"a closed sale has nothing due", LightspeedX, saleOf(m(``), due+`,"status":"CLOSED"`), []string{"*", "10 0.8 0 0 0"}},
		{"nor has one whose state says so", LightspeedX, saleOf(m(``), due+`,"state":"closed"`), []string{"*", "10 0.8 0 0 0"}},
		{"payments are counted off", LightspeedX, saleOf(m(``), due+`,"payments":[{"amount":6.8}]`),
			[]string{"*", "10 0.8 0 0 4"}},
		{"a discount on the sale is spread where the lines are before it", LightspeedX, saleOf(m(``)+","+m(``),
			`,"totals":{"price":15,"tax":0,"price_incl_tax":15},"adjustments":[{"adjustment_type":"DISCOUNT","total":-5}]`),
			[]string{"MUG||1 × 10 = 7.5", "MUG||1 × 10 = 7.5", "15 0 5 0 15"}},
		{"and is not where they are after it", LightspeedX, saleOf(m(``), due+
			`,"adjustments":[{"adjustment_type":"DISCOUNT","total":-5}]`), []string{"MUG||1 × 10 = 10", "10 0.8 0 0 10.8"}},
		{"surcharges and custom charges are no lines", LightspeedX, saleOf(m(``),
			`,"totals":{"price":10,"tax":0,"price_incl_tax":13},"adjustments":[{"adjustment_type":"SURCHARGE","total":1}],`+
				`"ecom_custom_charges":[{"total":1.5,"total_incl":2}]`), []string{"*", "10 0 0 3 13"}},
		{"returns only leave nothing due, and no tax below zero", LightspeedX, saleOf(`{"product_id":"MUG","quantity":-1,`+
			`"unit_price":200,"total_price":-200,"total_tax":-30,"is_return":true}`, `,"total_price":-200,"total_tax":-30`),
			[]string{"MUG||-1 × 200 = -200" + returned, "0 0 0 0 0"}},
		{"what says that it is returned is, whatever its sign", LightspeedX, saleOf(m(``)+","+
			`{"product":{"id":"MUG"},"quantity":1,"pricing":{"price":4,"total":4},"return":{"is_return":true}}`,
			`,"totals":{"price":6,"tax":0,"price_incl_tax":6}`),
			[]string{"MUG||0 × 10 = 6", "MUG||-1 × 4 = -4" + returned, "6 0 0 0 6"}},
		{"and so in the flat shape", LightspeedX, saleOf(m(``)+`,{"product_id":"MUG","quantity":1,"unit_price":4,"total_price":4,`+
			`"is_return":true}`, `,"total_price":6,"total_tax":0`),
			[]string{"MUG||0 × 10 = 6", "MUG||-1 × 4 = -4" + returned, "6 0 0 0 6"}},
		{"a tip is no charge", LightspeedX, saleOf(m(``), due+`,"adjustments":[{"adjustment_type":"TIP","total":2}]`),
			[]string{"*", "10 0.8 0 0 10.8"}},
		{"a negative line is brought back, whether it says so or not", LightspeedX, saleOf(m(``)+","+
			`{"product":{"id":"MUG"},"quantity":-1,"pricing":{"price":4,"total":-4}}`,
			`,"totals":{"price":6,"tax":0,"price_incl_tax":6}`),
			[]string{"MUG||0 × 10 = 6", "MUG||-1 × 4 = -4" + returned, "6 0 0 0 6"}},
		{"a part of a piece is weighed", LightspeedX, saleOf(`{"quantity":0.5,"pricing":{"price":20,"total":10}}`, due),
			[]string{"||1 × - = 10 weighed", "10 0.8 0 0 10.8"}},
		{"without a total a line is price times quantity", LightspeedX, saleOf(`{"quantity":3,"pricing":{"price":3.33333}}`,
			due), []string{"||3 × 3.33 = 10", "10 0.8 0 0 10.8"}},
	}
}

// TestCurrencies: amounts are read in currencies with no decimals and with three, and rounded to them, half up.
func TestCurrencies(t *testing.T) {
	t.Parallel()
	yen, dinar := money.Currency{Code: "JPY"}, money.Currency{Code: "KWD", Decimals: 3}
	square := func(code string) string {
		return `{"line_items":[{"total_money":{"amount":1234,"currency":"` + code + `"}}],"total_money":{"amount":1234}}`
	}
	clover := func(code string) string { // one and a half of a pound
		return `{"currency":"` + code + `","total":1499,"lineItems":[{"price":999,"unitQty":1500}]}`
	}
	shopify := func(code, price string) string {
		return `{"order":{"currency":"` + code + `","line_items":[{"price":"` + price + `"}],"total_price":"` + price + `"}}`
	}
	cart := func(price string) string {
		return `{"lineItems":[{"price":` + price + `}],"subtotal":"` + price + `","grandTotal":"` + price + `"}`
	}
	toast := func(price string) string { return toastOrder(`{"price":`+price+`}`, `,"totalAmount":`+price) }
	sale := func(price string) string {
		return saleOf(`{"pricing":{"price":`+price+`,"total":`+price+`}}`, `,"totals":{"price":`+price+`,"price_incl_tax":`+price+`}`)
	}
	for _, tt := range []struct {
		format, order string
		currency      money.Currency
		line, due     string
	}{
		{Square, square("JPY"), yen, "||1 × - = 1234", "1234"}, {Square, square("KWD"), dinar, "||1 × - = 1.234", "1.234"},
		{Clover, clover("JPY"), yen, "||1 × - = 1499 weighed", "1499"},
		{Clover, clover("KWD"), dinar, "||1 × - = 1.499 weighed", "1.499"},
		{Shopify, shopify("JPY", "1234.5"), yen, "||1 × 1235 = 1235", "1235"},
		{Shopify, shopify("KWD", "1.2345"), dinar, "||1 × 1.235 = 1.235", "1.235"},
		{Shopify, cart("1234.49"), yen, "||1 × 1234 = 1234", "1234"},
		{Shopify, cart("1.2344"), dinar, "||1 × 1.234 = 1.234", "1.234"},
		{Toast, toast("1234.5"), yen, "||1 × - = 1235", "1235"}, {Toast, toast("1.2344"), dinar, "||1 × - = 1.234", "1.234"},
		{LightspeedX, sale("1234.5"), yen, "||1 × 1235 = 1235", "1235"},
		{LightspeedX, sale("1.23449"), dinar, "||1 × 1.234 = 1.234", "1.234"},
	} {
		got, problems := read(tt.format, tt.order, Options{}, tt.currency)
		if len(problems) > 0 {
			t.Errorf("%s in %s: %q", tt.format, tt.currency.Code, problems)
			continue
		}
		if lines := told(got); lines[0] != tt.line || !strings.HasSuffix(lines[1], " "+tt.due) || got.Difference != 0 {
			t.Errorf("%s in %s: %q, want %q and %s due", tt.format, tt.currency.Code, lines, tt.line, tt.due)
		}
	}
}

// TestRoundingIsNoDifference: a cent a line is rounding; beyond that the smaller sum holds, and the difference is told.
func TestRoundingIsNoDifference(t *testing.T) {
	t.Parallel()
	for total, want := range map[int]struct{ due, difference money.Amount }{
		1997: {1997, 3}, 1998: {1998, 0}, 2000: {2000, 0}, 2002: {2002, 0}, 2003: {2000, -3}} {
		got, problems := read(Square, `{"line_items":[{`+mugSquare+`},{`+mugSquare+fmt.Sprintf(
			`}],"total_money":{"amount":%d}}`, total), Options{}, usd)
		if len(problems) > 0 || got.Totals.Grand.Round(usd) != want.due || got.Difference != want.difference {
			t.Errorf("of %d: %q, %d apart, want %+v", total, told(got), got.Difference, want)
		}
	}
	vat := cloverOrderOf("{"+mugClover+`,"taxRates":[{"rate":2000000}]}`, `,"isVat":true,"total":1000`)
	if got, problems := read(Clover, vat, Options{}, usd); len(problems) > 0 || got.Difference != 0 {
		t.Errorf("tax that is inside prices: %q %q, %d apart", problems, told(got), got.Difference)
	}
}

// TestGroups: the group of an item is where the platform has one, and ids are composed.
func TestGroups(t *testing.T) {
	t.Parallel()
	for format, order := range map[string]string{
		Square:  squareOrder(`{`+mugSquare+`,"category_id":"CUPS"}`, ``),
		Toast:   toastOrder(`{`+mugToast+`,"itemGroup":{"guid":"CUPS"}}`, `,"totalAmount":10`),
		Shopify: shopifyOrderOf(`{`+mugShopify+`,"product_id":"CUPS"}`, `,"total_price":"10"`),
	} {
		if got, problems := read(format, order, Options{}, usd); len(problems) > 0 || got.Lines[0].Group != "CUPS" {
			t.Errorf("%s: %q %+v", format, problems, got.Lines)
		}
	}
	got, problems := read(Square, squareOrder(`{"catalog_object_id":"Café","total_money":{"amount":100}}`, ``), Options{}, usd)
	if len(problems) > 0 || got.Lines[0].ItemID != "Café" {
		t.Errorf("%q %+v", problems, got.Lines)
	}
}

// TestAGoneCheckIsPaidByNothing: one that is voided or deleted can be named, and has nothing due.
func TestAGoneCheckIsPaidByNothing(t *testing.T) {
	t.Parallel()
	for gone, due := range map[string]money.Amount{"voided": 0, "deleted": 0, "other": 10_00} {
		got, problems := read(Toast, `{"checks":[{"guid":"A","`+gone+`":true,"selections":[{`+mugToast+`}],"totalAmount":10},{"guid":"B"}]}`,
			Options{CheckGUID: "a"}, usd)
		if len(problems) > 0 || got.Totals.Grand.Round(usd) != due {
			t.Errorf("%s: %q %q, want %d", gone, problems, told(got), due)
		}
	}
}

// TestOptions: what names an item, which check, and whether prices are shown with tax.
func TestOptions(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	toast := toastOrder(`{"item":{"guid":"G","multiLocationId":"M","externalId":"E"},"itemGroup":{"guid":"S"},"plu":"P",`+
		`"quantity":1,"price":10}`, `,"totalAmount":10`)
	clover := cloverOrderOf(`{"name":"Mug","item":{"id":"I"},"itemCode":"C","price":1000}`, `,"total":1000`)
	shop := shopifyOrderOf(`{"variant_id":"V","sku":"S","product_id":"P","price":"10"}`, `,"total_price":"10"`)
	sale := saleOf(`{`+mugX+`,"tax":{"amount":0.8,"total":0.8}}`, `,"totals":{"price":10,"tax":0.8,"price_incl_tax":10.8}`)
	for _, tt := range []struct {
		format, order string
		options       Options
		currency      money.Currency
		first         string
	}{
		{Toast, toast, Options{}, usd, "G||1 × - = 10"}, {Toast, toast, Options{ItemID: "item.guid"}, usd, "G||1 × - = 10"},
		{Toast, toast, Options{ItemID: "multiLocationId"}, usd, "M||1 × - = 10"},
		{Toast, toast, Options{ItemID: "plu"}, usd, "P||1 × - = 10"},
		{Toast, toast, Options{ItemID: "externalId"}, usd, "E||1 × - = 10"},
		{Toast, toast, Options{ItemID: "itemGroup.guid"}, usd, "S||1 × - = 10"},
		{Clover, clover, Options{ItemID: "item.id"}, usd, "I|Mug|1 × 10 = 10"},
		{Clover, clover, Options{ItemID: "itemCode"}, usd, "C|Mug|1 × 10 = 10"},
		{Clover, clover, Options{ItemID: "name"}, usd, "Mug|Mug|1 × 10 = 10"},
		{Shopify, shop, Options{}, usd, "V||1 × 10 = 10"}, {Shopify, shop, Options{ItemID: "sku"}, usd, "S||1 × 10 = 10"},
		{Shopify, shop, Options{ItemID: "product_id"}, usd, "P||1 × 10 = 10"},
		{LightspeedX, sale, Options{}, usd, "MUG||1 × 10 = 10"},
		{LightspeedX, sale, Options{}, nzd, "MUG||1 × 10.8 = 10.8"},
		{LightspeedX, sale, Options{}, money.Currency{Code: "CAD", Decimals: 2}, "MUG||1 × 10 = 10"},
		{LightspeedX, sale, Options{TaxInclusive: &yes}, usd, "MUG||1 × 10.8 = 10.8"},
		{LightspeedX, sale, Options{TaxInclusive: &no}, nzd, "MUG||1 × 10 = 10"},
	} {
		got, problems := read(tt.format, tt.order, tt.options, tt.currency)
		if len(problems) > 0 || told(got)[0] != tt.first {
			t.Errorf("%s %+v: %v %q, want %q", tt.format, tt.options, problems, told(got)[0], tt.first)
		}
	}
}

// TestRefusals: every problem of an order is told, each with its place.
func TestRefusals(t *testing.T) {
	t.Parallel()
	many := func(line string) string { return strings.TrimSuffix(strings.Repeat(line+",", 1_001), ",") }
	const at = "ticketData.data."
	for _, tt := range []struct {
		format, order string
		options       Options
		want          []string // beginnings of "path: text"
	}{
		{Square, squareOrder(`{"quantity":"NaN"},{"quantity":"1e9","total_money":{"amount":"5"}},{"quantity":"٣","total_money":`+
			`{"amount":1.5,"currency":"EUR"}},7`, ``), Options{}, []string{at + "line_items[0].total_money: This order has no totals",
			at + "line_items[0].quantity: This must be a decimal number in quotes", at + "line_items[1].quantity: ",
			at + "line_items[1].total_money.amount: This must be a number without quotes", at + "line_items[2].quantity: ",
			at + "line_items[2].total_money.currency: The ticket must be in USD",
			at + "line_items[2].total_money.amount: This must be a whole",
			at + "line_items[3]: This must be an object, not a number."}},
		{Square, squareOrder(`{"quantity":"-1","total_money":{"amount":1e400}},{"total_money":{"amount":1,"amount":2}}`, ``),
			Options{}, []string{at + "line_items[0].quantity: ",
				at + "line_items[0].total_money.amount: This number is too large.",
				at + "line_items[1].total_money.amount: This member is given more than once."}},
		{Square, squareOrder(many(`{"total_money":{"amount":1}}`), ``), Options{},
			[]string{at + "line_items: There may be at most 1000 elements in this list, not 1001."}},
		{Square, squareOrder(`{"catalog_object_id":"`+strings.Repeat("x", 201)+`","total_money":{"amount":1}}`, ``), Options{},
			[]string{at + "line_items[0].catalog_object_id: This text may have at most 200 characters"}},
		{Square, `{}`, Options{}, []string{at + "line_items: This is needed", at + "total_money: This order has no totals"}},
		{Square, `{"order":[]}`, Options{}, []string{at + "order: This must be an object, not a list."}},
		{Toast, `{"checks":[{"guid":"A"},{"guid":"B"}]}`, Options{},
			[]string{"ticketData.options.checkGuid: This order has 2 checks"}},
		{Toast, `{"checks":[{"guid":"A"}]}`, Options{CheckGUID: "C"},
			[]string{"ticketData.options.checkGuid: This order has no check with this guid."}},
		{Toast, `{"selections":[],"guid":"A","totalAmount":1}`, Options{CheckGUID: "C"},
			[]string{"ticketData.options.checkGuid: This is not the guid of the check"}},
		{Toast, `{"checks":[{"voided":true}]}`, Options{}, []string{at + "checks: All checks of this order are voided"}},
		{Toast, `{"checks":[]}`, Options{}, []string{at + "checks: This order has no check."}},
		{Toast, `{"guid":"x"}`, Options{}, []string{at + "checks: This is needed"}},
		{Toast, toastOrder(`{"quantity":"1","price":"5"},{"voided":1}`, ``), Options{}, []string{
			at + "checks[0].selections[0].quantity: This must be a number",
			at + "checks[0].selections[0].price: This must be a number",
			at + "checks[0].selections[1].voided: This must be true or false",
			at + "checks[0].selections[1].price: This is needed.",
			at + "checks[0].totalAmount: This is needed."}},
		{Clover, `{"currency":"EUR","lineItems":{"elements":[{"price":12.5,"unitQty":"1"},{}]}}`, Options{}, []string{
			at + "currency: The ticket must be in USD", at + "lineItems.elements[0].price: This must be a whole number.",
			at + "lineItems.elements[0].unitQty: This must be a number", at + "lineItems.elements[1].price: This is needed.",
			at + "total: An order needs its total"}},
		{Clover, cloverOrderOf(`{"price":1,"discounts":[{"percentage":101}],"taxRates":[{"rate":-1}]}`, `,"total":1`), Options{},
			[]string{at + "lineItems.elements[0].discounts[0].percentage: A discount of more than 100 %",
				at + "lineItems.elements[0].taxRates[0].rate: A tax rate must be from 0"}},
		{Clover, cloverOrderOf(`{"price":10000000000000,"unitQty":100000}`, `,"total":1`), Options{},
			[]string{at + "lineItems.elements[0].unitQty: This number is too large."}},
		{Clover, cloverOrderOf(`{"price":1,"modifications":[{"amount":10000000000000}]},{"price":0,"modifications":[{"amount":`+
			`-10000000000000},{"amount":-1}]}`, `,"total":1`), Options{}, []string{
			at + "lineItems.elements[0].price: The line's price with its modifications is too large.",
			at + "lineItems.elements[1].price: The line's price with its modifications is too large."}},
		{Shopify, `{"order":{"currency":"EUR","line_items":[{"price":"5,00"},{"price":"NaN","quantity":-1},` +
			`{"price":"90000000000","quantity":100000}]}}`, Options{}, []string{at + "order.currency: The ticket must be in USD",
			at + "order.line_items[0].price: This must be a decimal number",
			at + "order.line_items[1].price: This must be a decimal",
			at + "order.line_items[1].quantity: A quantity must be from 0 to 100000.",
			at + "order.line_items[2].price: The line's price times its quantity is too large.",
			at + "order.total_price: This is needed."}},
		{Shopify, shopifyOrderOf(`{`+mugShopify+`}`, `,"total_price":"10.00","financial_status":"partially_paid"`), Options{},
			[]string{at + "order.total_outstanding: This is needed of an order that is paid in part."}},
		{Shopify, `{"order":{"lineItems":{"nodes":[{"quantity":1}]},"currentTotalPriceSet":{}}}`, Options{},
			[]string{at + "order: These members of the order are needed, too: taxesIncluded, cancelledAt, "}},
		{Shopify, `{"lineItems":{"edges":[]}}`, Options{},
			[]string{"ticketData.data: These members of the order are needed, too: "}},
		{Shopify, `{"draftOrder":{"lineItems":[{}]}}`, Options{},
			[]string{at + "draftOrder: These members of the order are needed, too: "}},
		{Shopify, `{"cart":1}`, Options{}, []string{at + "line_items: This is needed"}},
		{Shopify, `{"lineItems":[{"variantId":1.5}]}`, Options{}, []string{
			at + "lineItems[0].variantId: This must be a whole number", at + "subtotal: This is needed.",
			at + "grandTotal: This is needed."}},
		{Shopify, `{"draft_order":{"currency":"EUR","line_items":[],"total_price":"1.00"}}`, Options{},
			[]string{at + "draft_order.currency: The ticket must be in USD"}},
		{Shopify, `{"draft_order":{"line_items":[{"price":"1.00"}]}}`, Options{},
			[]string{at + "draft_order.total_price: This is needed."}},
		{LightspeedX, saleOf(`{"quantity":true},{"pricing":5}`, ``), Options{}, []string{
			at + "data.line_items[0].quantity: This must be a number", at + "data.line_items[0].pricing: This is needed",
			at + "data.line_items[1].pricing: This must be an object", at + "data.totals: This is needed"}},
		{LightspeedX, `{"data":{}}`, Options{}, []string{at + "data.line_items: This is needed", at + "data.totals: This is needed"}},
	} {
		_, got := read(tt.format, tt.order, tt.options, usd)
		if len(got) != len(tt.want) {
			t.Errorf("%s %.80s:\n%s\nwant\n%s", tt.format, tt.order, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			continue
		}
		for i := range got {
			if !strings.HasPrefix(got[i], tt.want[i]) {
				t.Errorf("%s %.80s:\n%q, want %q", tt.format, tt.order, got[i], tt.want[i])
			}
		}
	}
}
