package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"boon.example/internal/gift"
	"boon.example/internal/ticket"
)

var (
	usd = gift.Currency{Code: "USD", Decimals: 2}
	jpy = gift.Currency{Code: "JPY"}
)

const at = "ticketData.data"

func amount(a gift.Amount) *gift.Amount { return &a }

// ticketIn reads ticket data and gives what was wrong with it as "path: text".
func ticketIn(c gift.Currency, data string) (tk *ticket.Ticket, found []string) {
	for _, m := range problemsOf(`{"ticketData":{"format":"standard","data":`+data+`}}`, func(o *object) { tk = readTicket(o, c) }) {
		found, tk = append(found, m.Path+": "+m.Text), nil
	}
	return tk, found
}

func line(id, name string, price *gift.Amount, quantity int64, total gift.Amount) ticket.Line {
	return ticket.Line{ItemID: id, ItemName: name, UnitPrice: price, Quantity: quantity, Total: total}
}

func TestReadTicket(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		currency gift.Currency
		data     string
		want     *ticket.Ticket
	}{
		{"no lines", usd, `{"lineItems":[]}`, &ticket.Ticket{}},
		{"everything", usd,
			`{"lineItems":[{"itemID":"LATTE","itemName":"Caffè latte","itemUnitPrice":4.5,"quantity":2,"itemTotalPrice":9.00}],
			  "totals":{"subTotal":9,"taxTotal":0.81,"discountTotal":0,"serviceChargeTotal":null,"grandTotal":9.81}}`,
			&ticket.Ticket{
				Lines:  []ticket.Line{line("LATTE", "Caffè latte", amount(450), 2, 900)},
				Totals: ticket.Totals{Sub: amount(900), Tax: amount(81), Discount: amount(0), Grand: amount(981)},
			}},
		{"a missing total is price times quantity", usd, `{"lineItems":[{"itemUnitPrice":4.5,"quantity":3}]}`,
			&ticket.Ticket{Lines: []ticket.Line{line("", "", amount(450), 3, 1350)}}},
		{"a given total holds", usd, `{"lineItems":[{"itemUnitPrice":3.33,"quantity":3,"itemTotalPrice":10}]}`,
			&ticket.Ticket{Lines: []ticket.Line{line("", "", amount(333), 3, 1000)}}},
		{"a total is enough", usd, `{"lineItems":[{"quantity":1,"itemTotalPrice":1e1}]}`,
			&ticket.Ticket{Lines: []ticket.Line{line("", "", nil, 1, 1000)}}},
		{"texts are composed", usd, `{"lineItems":[{"itemID":"Cafe\u0301","itemName":"\u212b","quantity":1,"itemTotalPrice":1}]}`,
			&ticket.Ticket{Lines: []ticket.Line{line("Caf\u00e9", "\u00c5", nil, 1, 100)}}},
		{"zero prices and quantities", usd, `{"lineItems":[{"itemUnitPrice":0,"quantity":0}]}`,
			&ticket.Ticket{Lines: []ticket.Line{line("", "", amount(0), 0, 0)}}},
		{"null is absent", usd, `{"totals":null,"lineItems":[{"itemID":null,"itemName":null,"itemUnitPrice":null,"quantity":1,"itemTotalPrice":2}]}`,
			&ticket.Ticket{Lines: []ticket.Line{line("", "", nil, 1, 200)}}},
		{"no decimals", jpy, `{"lineItems":[{"quantity":2.0,"itemUnitPrice":450.0}]}`,
			&ticket.Ticket{Lines: []ticket.Line{line("", "", amount(450), 2, 900)}}},
		{"a discount in either sign", usd, `{"lineItems":[],"totals":{"discountTotal":-1.50}}`,
			&ticket.Ticket{Totals: ticket.Totals{Discount: amount(-150)}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, problems := ticketIn(tt.currency, tt.data)
			if diff := cmp.Diff(tt.want, got); diff != "" {
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
		{"lineItems of a wrong type", `{"lineItems":{"a":1}}`, []string{at + ".lineItems: This must be a list, not an object."}},
		{"a line of a wrong type", `{"lineItems":["x",null]}`,
			[]string{first + ": This must be an object, not a text.", at + ".lineItems[1]: This must be an object, not null."}},
		{"unknown members", `{"lineItems":[],"LineItems":[],"tip":{"a":[1]},"a b":1}`, []string{
			at + ".LineItems: There is no such member; did you mean lineItems?", at + ".tip: There is no such member here.",
			at + `["a b"]: There is no such member here.`}},
		{"names that are nearly right", `{"lineItem":[],"lineItems":[{"quantiy":1,"itemTotelPrice":1,"quantity":1,"itemTotalPrice":1}],"totals":{"subtotal":1,"grandTotl":1}}`, []string{
			first + ".quantiy: There is no such member; did you mean quantity?", first + ".itemTotelPrice: There is no such member; did you mean itemTotalPrice?",
			at + ".totals.subtotal: There is no such member; did you mean subTotal?", at + ".totals.grandTotl: There is no such member; did you mean grandTotal?",
			at + ".lineItem: There is no such member; did you mean lineItems?"}},
		{"a composed item id of 201", `{"lineItems":[{"itemID":"` + strings.Repeat("e\u0301", 201) + `","quantity":1,"itemTotalPrice":1}]}`,
			[]string{first + ".itemID: This text may have at most 200 characters; it has 201."}},
		{"twice", `{"lineItems":[{"quantity":1,"quantity":2,"itemTotalPrice":1}],"totals":null,"totals":{}}`, []string{
			first + ".quantity: This member is given more than once.", at + ".totals: This member is given more than once."}},
		{"lines twice", `{"lineItems":[],"lineItems":[]}`, []string{at + ".lineItems: This member is given more than once."}},
		{"neither price", `{"lineItems":[{"quantity":1}]}`, []string{first + ".itemTotalPrice: A line needs"}},
		{"no quantity", `{"lineItems":[{"itemTotalPrice":1}]}`, []string{first + ".quantity: This is needed."}},
		{"everything at once", `{"lineItems":[{"itemID":7,"itemName":"a\u0000b","itemUnitPrice":"4.50","quantity":1.5,"itemTotalPrice":1.001}],"totals":{"grandTotal":true}}`,
			[]string{first + ".itemID: This must be a text, not a number.", first + ".itemName: This text holds a control character",
				first + ".itemUnitPrice: This must be a number without quotes, not a text.", first + ".quantity: A quantity must be a whole number",
				first + ".itemTotalPrice: An amount in USD has at most 2 decimals.", at + ".totals.grandTotal: This must be a number"}},
		{"negative line", `{"lineItems":[{"quantity":1,"itemTotalPrice":-2}]}`, []string{first + ".itemTotalPrice: An amount on a ticket cannot be negative"}},
		{"negative price", `{"lineItems":[{"quantity":1,"itemUnitPrice":-0.01}]}`, []string{first + ".itemUnitPrice: An amount on a ticket cannot be negative"}},
		{"negative total", `{"lineItems":[],"totals":{"grandTotal":-1}}`, []string{at + ".totals.grandTotal: An amount on a ticket cannot be negative"}},
		{"negative quantity", `{"lineItems":[{"quantity":-1,"itemTotalPrice":1}]}`, []string{first + ".quantity: A quantity must be"}},
		{"absurd amounts", `{"lineItems":[{"quantity":1e999999999,"itemTotalPrice":1e400}],"totals":{"subTotal":100000000000.01,"discountTotal":-1e15}}`,
			[]string{first + ".quantity: A quantity must be", first + ".itemTotalPrice: This amount is too large.",
				at + ".totals.subTotal: This amount is too large.", at + ".totals.discountTotal: This amount is too large."}},
		{"absurd product", `{"lineItems":[{"quantity":100000,"itemUnitPrice":100000000000}]}`, []string{first + ".itemTotalPrice: The line's itemUnitPrice"}},
		{"too many lines", many, []string{at + ".lineItems: There may be at most 1000 elements in this list, not 1001."}},
		{"a long item id", `{"lineItems":[{"itemID":"` + strings.Repeat("x", 201) + `","quantity":1,"itemTotalPrice":1}]}`, []string{first + ".itemID: This text may have"}},
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

func TestUnknownMembersOfATicketAreSummedUp(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"lineItems":[]`)
	for n := range 50_000 {
		fmt.Fprintf(&b, `,"m%d":0`, n)
	}
	_, got := ticketIn(usd, b.String()+"}")
	if len(got) != maxUnknown+2 { // and that there are more, of the object and of the unknown
		t.Errorf("got %d problems, want %d", len(got), maxUnknown+2)
	}
	_, got = ticketIn(usd, `{"lineItems":[],"`+strings.Repeat("é", 300_000)+`":0}`)
	if len(got) != 1 || len(got[0]) > 300 {
		t.Errorf("a name of 600,000 bytes gave %d problems of %d bytes", len(got), len(got[0]))
	}
}

// TestHugeTickets has nothing to say but that the answer comes, and is short.
func TestHugeTickets(t *testing.T) {
	t.Parallel()
	const mebi = 1 << 20
	for name, data := range map[string]string{
		"arrays":         strings.Repeat("[", 20_000),
		"closed arrays":  `{"lineItems":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`,
		"unknown arrays": `{"lineItems":[],"x":` + strings.Repeat("[", mebi) + `}`,
		"objects":        strings.Repeat(`{"totals":`, mebi/10),
		"a number":       `{"lineItems":[{"quantity":1,"itemTotalPrice":` + strings.Repeat("9", mebi) + `}]}`,
		"a text":         `{"lineItems":[{"quantity":1,"itemTotalPrice":1,"itemID":"` + strings.Repeat("x", mebi) + `"}]}`,
		"lines":          `{"lineItems":[` + strings.Repeat(`0,`, mebi/2) + `0]}`,
		"good lines":     `{"lineItems":[` + strings.Repeat(`{"quantity":1,"itemTotalPrice":1},`, mebi/34) + `0]}`,
		"one member":     `{"lineItems":[]` + strings.Repeat(`,"totals":0`, mebi/11) + `}`,
		"white space":    strings.Repeat(" ", mebi),
	} {
		tk, problems := ticketIn(usd, data)
		if tk != nil || len(problems) > ticket.MaxLines+maxUnknown+1 {
			t.Errorf("%s: %d problems", name, len(problems))
		}
	}
}

func FuzzTicket(f *testing.F) {
	f.Add(`{"lineItems":[{"itemID":"LATTE","itemName":"Latte","itemUnitPrice":4.5,"quantity":2,"itemTotalPrice":9.00}],"totals":{"grandTotal":9.81}}`)
	f.Add(`{"lineItems":[{"quantity":1e999999999,"itemTotalPrice":1e400,"quantity":1}]}`)
	f.Add(`{"lineItems":[[[[[[]]]]]]}`)
	f.Add(`{"lineItems":[{"quantity":1,"itemTotalPrice":99999999999999999999}],"totals":{"grandTotal":-0.00}}`)
	f.Add("{\"\x00\":null,\"lineItems\":[{}]}")
	v := &gift.Voucher{Currency: usd, Original: 5000, Balance: 5000}
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
		for n, l := range tk.Lines {
			if l.Total < 0 || l.Quantity < 0 || l.UnitPrice != nil && *l.UnitPrice < 0 {
				t.Fatalf("line %d is negative: %+v", n, l)
			}
		}
		if most := ticket.Judge(tk, nil, v).Most; most < 0 || most > v.Balance {
			t.Fatalf("most is %d of %d", most, v.Balance)
		}
	})
}
