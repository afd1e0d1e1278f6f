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
