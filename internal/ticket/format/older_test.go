package format

import (
	"os"
	"strings"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
)

// TestOlderSchemas reads orders of schemas before the present one: what is due, and the lines.
func TestOlderSchemas(t *testing.T) {
	t.Parallel()
	file := func(name string) string {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	flat, fee := file("lightspeed-flat-sale.json"), file("lightspeed-flat-fee.json")
	const webhook = `{"id":"s3","status":"SAVED","totals":{"total_tax":"0.39131","total_price":"2.60870",` +
		`"total_payment":"0.00","total_to_pay":"3.00"},"register_sale_products":[{"product_id":"mug-blue","quantity":"1","price":"2.60870",` +
		`"discount":"0","tax":"0.39131"}],"register_sale_payments":[]}`
	const charged = `,"ecom_custom_charges":{"total":8.26,"total_tax":1.74,"total_incl":10,` +
		`"charges":[{"total":8.26,"total_incl":10}]}`
	const ownTaxes = `{"line_items":[{"name":"Pie","catalog_object_id":"PIE","quantity":"1","taxes":[{"name":"VAT","type":` +
		`"INCLUSIVE","applied_money":{"amount":50,"currency":"USD"}},{"name":"City","type":"ADDITIVE","applied_money":` +
		`{"amount":100,"currency":"USD"}}],"base_price_money":{"amount":1050,"currency":"USD"},"total_tax_money":` +
		`{"amount":150,"currency":"USD"},"total_money":{"amount":1150,"currency":"USD"}}],"total_tax_money":` +
		`{"amount":150,"currency":"USD"},"total_money":{"amount":1150,"currency":"USD"}}`
	const toast2017 = `{"entityType":"Order","voided":false,"deleted":false,"checks":[{"guid":"c","entityType":"Check",` +
		`"amount":8.99,"taxAmount":0.56,"totalAmount":9.55,"voided":false,"deleted":false,"paymentStatus":"OPEN","payments":[],` +
		`"appliedDiscounts":[],"appliedServiceCharges":[],"selections":[{"entityType":"MenuItemSelection","deferred":false,` +
		`"item":{"guid":"CAKES","entityType":"MenuItem","externalId":null},"quantity":1,"preDiscountPrice":8.99,"price":8.99,` +
		`"tax":0.56,"displayName":"Crab Cakes","selectionType":"NONE","voided":false,"modifiers":[],"appliedDiscounts":[],` +
		`"appliedTaxes":[{"name":"State Tax","rate":0.0625,"taxAmount":0.56,"type":"PERCENT"}]}]}]}`
	for _, tt := range []struct{ name, format, order, grand, lines string }{
		{"a flat sale", LightspeedX, flat, "23", "mug-blue|2|20"},
		{"a flat sale with a fee", LightspeedX, fee, "24.5", "mug-blue|2|20"},
		{"of a flat sale a part is paid", LightspeedX, strings.Replace(flat, `"payments":[]`,
			`"payments":[{"amount":3.5}]`, 1), "19.5", "mug-blue|2|20"},
		{"a laid-by sale is due", LightspeedX, strings.Replace(flat, "SAVED", "LAYBY", 1), "23", "mug-blue|2|20"},
		{"a laid-by sale is closed", LightspeedX, strings.Replace(flat, "SAVED", "LAYBY_CLOSED", 1), "0",
			"mug-blue|2|20"},
		{"charges of the web shop are no part of the total", LightspeedX, strings.Replace(flat, `,"adjustments":[]`,
			charged+`,"adjustments":[{"type":"ECOM_CUSTOM_CHARGE","value":10}]`, 1), "33", "mug-blue|2|20"},
		{"a flat return", LightspeedX, strings.NewReplacer(`"quantity":2`, `"quantity":-2`, `"total_price":20`,
			`"total_price":-20`, `"price_total":20`, `"price_total":-20`, `"tax_total":3`, `"tax_total":-3`, `"total_tax":3`,
			`"total_tax":-3`, `"is_return":false`, `"is_return":true`).Replace(flat), "0", "mug-blue|-2|-20"},
		{"a webhook's sale", LightspeedX, webhook, "3", "mug-blue|1|2.61"},
		{"a register's event", LightspeedX, `{"event_name":"sale:update","data":{"sale":` + webhook + `}}`, "3",
			"mug-blue|1|2.61"},
		{"an envelope of API 0.9", LightspeedX, `{"register_sale":` + webhook + `}`, "3", "mug-blue|1|2.61"},
		{"a line of Square that lists its own taxes", Square, ownTaxes, "11.5", "PIE|1|10.5"},
		{"a list with one order of Square", Square, `{"orders":[` + ownTaxes + `]}`, "11.5", "PIE|1|10.5"},
		{"an order of Toast of 2017", Toast, toast2017, "9.55", "CAKES|1|8.99"},
		{"an event of Toast", Toast, `{"timestamp":"2026-11-01T00:00:00.000Z","eventCategory":"order_updated","details":` +
			`{"restaurantGuid":"R","order":` + toast2017 + `}}`, "9.55", "CAKES|1|8.99"},
		{"a list with one order of Clover", Clover, `{"elements":[` + file("clover-unitqty-pieces.json") + `],"href":"x"}`, "5",
			"LATTE|1|5"},
		{"whole thousands of no unit are pieces", Clover, file("clover-unitqty-pieces.json"), "5", "LATTE|1|5"},
		{"several pieces", Clover, strings.NewReplacer("1000", "3000", `"total":500`, `"total":1500`).Replace(
			file("clover-unitqty-pieces.json")), "15", "LATTE|3|15"},
		{"whole thousands of a unit are weighed", Clover, strings.Replace(file("clover-unitqty-pieces.json"),
			`"unitQty":1000`, `"unitQty":1000,"unitName":"lb"`, 1), "5", "LATTE|1|5|weighed"},
		{"parts of a thousand are weighed", Clover, strings.NewReplacer("1000", "1500", `"total":500`, `"total":750`).Replace(
			file("clover-unitqty-pieces.json")), "7.5", "LATTE|1|7.5|weighed"},
	} {
		got, problems := read(tt.format, tt.order, Options{}, usd)
		if len(problems) > 0 || got == nil {
			t.Errorf("%s: %v", tt.name, problems)
			continue
		}
		l := got.Lines[0]
		line := l.ItemID + "|" + l.Quantity.In(money.Pieces) + "|" + l.Total.In(money.Pieces)
		if l.Weighed {
			line += "|weighed"
		}
		if grand := got.Totals.Grand.In(money.Pieces); grand != tt.grand || line != tt.lines || got.Difference != 0 {
			t.Errorf("%s: %s is due for %s, %d apart; want %s for %s", tt.name, grand, line, got.Difference, tt.grand,
				tt.lines)
		}
	}
}

// TestSchemasThatAreNotRead: an order of such a schema is refused with a sentence that names the schema, whatever
// format it is sent as.
func TestSchemasThatAreNotRead(t *testing.T) {
	t.Parallel()
	for order, is := range map[string]string{
		`{"@attributes":{"count":"1"},"Sale":{"saleID":"1","SaleLines":{"SaleLine":{"itemID":"12"}},"calcTotal":"11.48"}}`: "Lightspeed " +
			"Retail's R-Series",
		`{"saleID":"1","SaleLines":{"SaleLine":[{"itemID":"12"}]}}`:                  "Lightspeed Retail's R-Series",
		`{"accountFiscId":"A1","salesLines":[{"sku":"BEER","quantity":"1.000"}]}`:    "Lightspeed Restaurant's K-Series",
		`{"sales":[{"accountFiscId":"A1","salesLines":[]}]}`:                         "Lightspeed Restaurant's K-Series",
		`{"id":"A","itemizations":[],"total_collected_money":{"amount":1}}`:          "Square's Connect v1",
		`{"orderCart":{"lineItems":[{"item":{"id":"X"}}]}}`:                          "Clover's Atomic Orders",
		`{"shoppingCart":{"lineItems":[{"name":"Apple","unitQty":1,"price":100}]}}`:  "Clover's Hosted Checkout",
		`{"order":{"lineItems":[],"totalMoney":{"amount":"1150","currency":"USD"}}}`: "an SDK of Square",
	} {
		for _, name := range Names()[1:] {
			_, got := read(name, order, Options{}, usd)
			if len(got) != 1 || !strings.Contains(got[0], is) || !strings.HasSuffix(got[0],
				`which is not read. Send a ticket of the format "standard".`) {
				t.Errorf("%s as %s: %q", order, name, got)
			}
		}
	}
}

// TestLessThanAPiece: a line of which a part was refunded has something to pay, but no piece for an item gift.
func TestLessThanAPiece(t *testing.T) {
	t.Parallel()
	order := `{"checks":[{"selections":[{"item":{"guid":"LATTE"},"displayName":"Latte","quantity":1,"price":5,"tax":0,` +
		`"refundDetails":{"refundAmount":2,"taxRefundAmount":0}}],"totalAmount":5,"amount":5}]}`
	got, problems := read(Toast, order, Options{}, usd)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	v := gift.Voucher{Item: true, Balance: 1}
	e := ticket.EligibilityOf(got, nil, &v)
	if len(e.LeftOut) != 1 || e.LeftOut[0].Reason != "What is left of this line is less than one piece." {
		t.Errorf("left out: %v; %q", e.LeftOut, told(got))
	}
}
