package gifts

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
	"boon.example/internal/wire"
)

var (
	usd = money.Currency{Code: "USD", Decimals: 2}
	jpy = money.Currency{Code: "JPY"}
)

const at = "ticketData.data"

func decimal(number money.Number) *money.Decimal {
	d, err := money.ParseDecimal(number)
	if err != nil {
		panic(string(number) + ": " + err.Error())
	}
	return &d
}

// ticketIn reads ticket data and gives what was wrong with it as "path: text".
func ticketIn(c money.Currency, data string) (tk *ticket.Ticket, found []string) {
	problems, _ := new(wire.Reader).Decode([]byte(`{"ticketData":{"format":"standard","data":`+data+`}}`),
		func(o *wire.Object) { tk, _ = readTicket(o, c, nil, nil) })
	for _, m := range problems.All() {
		found, tk = append(found, m.Path+": "+m.Text), nil
	}
	return tk, found
}

// line is a line of a ticket; price "" is none.
func line(id, name string, price, quantity, total money.Number) ticket.Line {
	l := ticket.Line{ItemID: id, ItemName: name, Quantity: *decimal(quantity), Total: *decimal(total)}
	if price != "" {
		l.UnitPrice = decimal(price)
	}
	return l
}

// sameNumbers compares decimals by their value.
var sameNumbers = cmp.Comparer(func(a, b money.Decimal) bool { return a.In(usd) == b.In(usd) })

func TestReadTicket(t *testing.T) {
	t.Parallel()
	of := func(c money.Currency, lines ...ticket.Line) *ticket.Ticket {
		return &ticket.Ticket{Currency: c, Lines: lines}
	}
	tests := []struct {
		name     string
		currency money.Currency
		data     string
		want     *ticket.Ticket
	}{
		{"no lines", usd, `{"lineItems":[]}`, of(usd)},
		{"everything", usd,
			`{"lineItems":[{"itemID":"LATTE","itemName":"Caffè latte","itemUnitPrice":4.5,"quantity":2,"itemTotalPrice":9.00}],
			  "totals":{"subTotal":9,"taxTotal":0.81,"discountTotal":0,"serviceChargeTotal":null,"grandTotal":9.81}}`,
			&ticket.Ticket{
				Currency: usd, Lines: []ticket.Line{line("LATTE", "Caffè latte", "4.50", "2", "9")},
				Totals: ticket.Totals{Sub: decimal("9"), Tax: decimal("0.81"), Discount: decimal("0"), Grand: decimal("9.81")},
			}},
		{"a missing total is price times quantity", usd, `{"lineItems":[{"itemUnitPrice":4.5,"quantity":3}]}`,
			of(usd, line("", "", "4.5", "3", "13.5"))},
		{"a given total holds", usd, `{"lineItems":[{"itemUnitPrice":3.33,"quantity":3,"itemTotalPrice":10}]}`,
			of(usd, line("", "", "3.33", "3", "10"))},
		{"a total is enough", usd, `{"lineItems":[{"itemTotalPrice":1e1}]}`, of(usd, line("", "", "", "1", "10"))},
		{"texts are composed", usd, `{"lineItems":[{"itemID":"Cafe\u0301","itemName":"\u212b","quantity":1,` +
			`"itemTotalPrice":1}]}`,
			of(usd, line("Caf\u00e9", "\u00c5", "", "1", "1"))},
		{"zero prices and quantities", usd, `{"lineItems":[{"itemUnitPrice":0,"quantity":0}]}`,
			of(usd, line("", "", "0", "0", "0"))},
		{"null is absent", usd, `{"totals":null,"lineItems":[{"itemID":null,"itemName":null,"itemUnitPrice":null,` +
			`"quantity":null,"itemTotalPrice":2}]}`,
			of(usd, line("", "", "", "1", "2"))},
		{"no decimals", jpy, `{"lineItems":[{"quantity":2.0,"itemUnitPrice":450.0}]}`,
			of(jpy, line("", "", "450", "2", "900"))},
		{"voids and coupons", usd, `{"lineItems":[{"itemID":"LATTE","quantity":-1,"itemUnitPrice":4.5},{"quantity":1,` +
			`"itemTotalPrice":-2}],"totals":{"grandTotal":-6.5}}`,
			&ticket.Ticket{Currency: usd, Lines: []ticket.Line{line("LATTE", "", "4.5", "-1", "-4.5"),
				line("", "", "", "1", "-2")},
				Totals: ticket.Totals{Grand: decimal("-6.5")}}},
		{"finer than the currency", usd, `{"lineItems":[{"itemUnitPrice":1.3333,"quantity":0.5}],` +
			`"totals":{"grandTotal":0.30000000000000004}}`,
			&ticket.Ticket{Currency: usd, Lines: []ticket.Line{line("", "", "1.3333", "0.5", "0.66665")},
				Totals: ticket.Totals{Grand: decimal("0.30000000000000004")}}},
		{"unknown members", usd, `{"lineItems":[{"quantity":1,"itemTotalPrice":1,"course":{"a":[1]},"itemid":7}],` +
			`"LineItems":4,"table":12,"totals":{"tip":"x","subTotal":"no number"}}`,
			of(usd, line("", "", "", "1", "1"))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, problems := ticketIn(tt.currency, tt.data)
			if diff := cmp.Diff(tt.want, got, sameNumbers); diff != "" {
				t.Errorf("problems %v, ticket (-want +got):\n%s", problems, diff)
			}
		})
	}
}

func TestReadTicketProblems(t *testing.T) {
	t.Parallel()
	const first = at + ".lineItems[0]"
	many := `{"lineItems":[` + strings.Repeat(`{"quantity":1,"itemTotalPrice":1},`, ticket.MaxLines) + `{"quantity":-1}]}`
	tests := []struct {
		name string
		data string
		want []string // prefixes of "path: text"
	}{
		{"a list", `[]`, []string{at + ": This must be an object, not a list."}},
		{"null", `null`, []string{at + ": Ticket data needs the ticket itself."}},
		{"no lineItems", `{}`, []string{at + ".lineItems: This is needed."}},
		{"lineItems null", `{"lineItems":null}`, []string{at + ".lineItems: This is needed."}},
		{"lineItems of a wrong type", `{"lineItems":{"a":1}}`,
			[]string{at + ".lineItems: This must be a list, not an object."}},
		{"a line of a wrong type", `{"lineItems":["x",null]}`,
			[]string{first + ": This must be an object, not a text.", at + ".lineItems[1]: This must be an object, not null."}},
		{"a composed item id of 201", `{"lineItems":[{"itemID":"` + strings.Repeat("e\u0301", 201) +
			`","quantity":1,"itemTotalPrice":1}]}`,
			[]string{first + ".itemID: This text may have at most 200 characters; it has 201."}},
		{"twice", `{"lineItems":[{"quantity":1,"quantity":2,"itemTotalPrice":1}],"totals":null,"totals":{}}`, []string{
			at + ".totals: This member is given more than once.", first + ".quantity: This member is given more than once."}},
		{"lines twice", `{"lineItems":[],"lineItems":[]}`, []string{at + ".lineItems: This member is given more than once."}},
		{"neither price", `{"lineItems":[{"quantity":1}]}`, []string{first + ".itemTotalPrice: A line needs"}},
		{"everything at once", `{"lineItems":[{"itemID":7,"itemName":"a\u0000b","itemUnitPrice":"4.50","quantity":"1",` +
			`"itemTotalPrice":[1]}],"totals":{"grandTotal":true}}`,
			[]string{first + ".itemID: This must be a text, not a number.", first +
				".itemName: This text holds a control character",
				first + ".itemUnitPrice: This must be a number without quotes, not a text.", first +
					".quantity: This must be a number without quotes",
				first + ".itemTotalPrice: This must be a number", at + ".totals.grandTotal: This must be a number"}},
		{"absurd numbers", `{"lineItems":[{"quantity":-1e999999999,"itemTotalPrice":1e400},{"itemTotalPrice":1e-999999999}],
			"totals":{"subTotal":1e400,"grandTotal":-100000000000.01}}`,
			[]string{first + ".quantity: This number is too large.", first + ".itemTotalPrice: This number is too large.",
				at + ".lineItems[1].itemTotalPrice: This number has too many digits.",
				at + ".totals.grandTotal: This number is too large."}},
		{"numbers of 400 digits", `{"lineItems":[{"itemUnitPrice":` + strings.Repeat("9", 400) + `,"itemTotalPrice":0.` +
			strings.Repeat("3", 400) + `}]}`,
			[]string{first + ".itemUnitPrice: This number is too large.", first +
				".itemTotalPrice: This number has too many digits."}},
		{"a large product", `{"lineItems":[{"quantity":100000,"itemUnitPrice":-100000000000}]}`,
			[]string{first + ".itemTotalPrice: The line's itemUnitPrice"}},
		{"too many lines", many, []string{at + ".lineItems: There may be at most 1000 elements in this list, not 1001."}},
		{"a long item id", `{"lineItems":[{"itemID":"` + strings.Repeat("x", 201) + `","quantity":1,"itemTotalPrice":1}]}`,
			[]string{first + ".itemID: This text may have"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, got := ticketIn(usd, tt.data)
			if len(got) != len(tt.want) {
				t.Fatalf("got %d problems, want %d:\n%s", len(got), len(tt.want), strings.Join(got, "\n"))
			}
			for i := range got {
				if !strings.HasPrefix(got[i], tt.want[i]) {
					t.Errorf("got %q, want %q", got[i], tt.want[i])
				}
			}
		})
	}
}

// TestHugeTickets has nothing to say but that the answer comes, and is short.
func TestHugeTickets(t *testing.T) {
	t.Parallel()
	const mebi = 1 << 20
	first := `{` + strings.Repeat(`"":0,`, 32_000) // members that every path may lead past
	for name, data := range map[string]string{
		"arrays":               strings.Repeat("[", 20_000),
		"closed arrays":        `{"lineItems":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`,
		"unknown arrays":       `{"lineItems":[],"x":` + strings.Repeat("[", mebi) + `}`,
		"objects":              strings.Repeat(`{"totals":`, mebi/10),
		"a number":             `{"lineItems":[{"quantity":1,"itemTotalPrice":` + strings.Repeat("9", mebi) + `}]}`,
		"a text":               `{"lineItems":[{"quantity":1,"itemTotalPrice":1,"itemID":"` + strings.Repeat("x", mebi) + `"}]}`,
		"lines":                `{"lineItems":[` + strings.Repeat(`0,`, mebi/2) + `0]}`,
		"good lines":           `{"lineItems":[` + strings.Repeat(`{"quantity":1,"itemTotalPrice":1},`, mebi/34) + `0]}`,
		"one member":           `{"lineItems":[]` + strings.Repeat(`,"totals":0`, mebi/11) + `}`,
		"white space":          strings.Repeat(" ", mebi),
		"wrong lines":          first + `"lineItems":[` + strings.Repeat(`0,`, ticket.MaxLines-1) + `0]}`,
		"wrong members":        first + `"lineItems":[` + strings.Repeat(`{"itemTotalPrice":[]},`, ticket.MaxLines-1) + `0]}`,
		"one member of a line": first + `"lineItems":[{` + strings.Repeat(`"quantity":1,`, 32_000) + `"itemTotalPrice":1}]}`,
	} {
		tk, problems := ticketIn(usd, data)
		if tk != nil || len(problems) > ticket.MaxLines+wire.MaxUnknown+1 {
			t.Errorf("%s: %d problems", name, len(problems))
		}
	}
}

func FuzzTicket(f *testing.F) {
	f.Add(`{"lineItems":[{"itemID":"LATTE","itemName":"Latte","itemUnitPrice":4.5,"quantity":2,` +
		`"itemTotalPrice":9.00}],"totals":{"grandTotal":9.81}}`)
	f.Add(`{"lineItems":[{"quantity":1e999999999,"itemTotalPrice":1e400,"quantity":1}]}`)
	f.Add(`{"lineItems":[[[[[[]]]]]]}`)
	f.Add(`{"lineItems":[{"quantity":1,"itemTotalPrice":99999999999999999999}],"totals":{"grandTotal":-0.00}}`)
	f.Add(`{"lineItems":[{"itemID":"LATTE","quantity":-1,"itemUnitPrice":1.3333},` +
		`{"itemTotalPrice":0.30000000000000004}],"totals":{"grandTotal":5e-324}}`)
	f.Add("{\"\x00\":null,\"lineItems\":[{}]}")
	v := &gift.Voucher{Currency: usd, Funded: 5000, Balance: 5000}
	f.Fuzz(func(t *testing.T, data string) {
		tk, problems := ticketIn(usd, data)
		if len(problems) > 0 {
			for _, p := range problems {
				if len(p) > 500 {
					t.Fatalf("a problem of %d bytes: %.600q", len(p), p)
				}
			}
			return
		}
		for _, items := range [][]merchant.Item{nil, {{ID: "LATTE"}}} {
			if most := ticket.EligibilityOf(tk, items, v).Most; most < 0 || most > v.Balance {
				t.Fatalf("most is %d of %d", most, v.Balance)
			}
		}
	})
}
