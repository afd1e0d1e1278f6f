package ticket

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"boon.example/internal/gift"
)

var (
	usd = gift.Currency{Code: "USD", Decimals: 2}
	jpy = gift.Currency{Code: "JPY"}
)

const at = "ticketData.data"

func amount(a gift.Amount) *gift.Amount { return &a }

// read reads a standard ticket and gives what was wrong with it as "path: text".
func read(t *testing.T, c gift.Currency, data string) (*Ticket, []string) {
	t.Helper()
	var problems gift.Problems
	tk, err := Read(Standard, []byte(data), c, strings.TrimSuffix(at, ".data"), &problems)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	if (tk == nil) != (problems.Len() > 0) {
		t.Fatalf("ticket %v beside %d problems", tk, problems.Len())
	}
	var found []string
	if e, ok := problems.Err().(*gift.Error); ok {
		for _, m := range e.Messages {
			found = append(found, m.Path+": "+m.Text)
		}
	}
	return tk, found
}

func TestReadStandard(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		currency gift.Currency
		data     string
		want     *Ticket
	}{
		{"no lines", usd, `{"lineItems":[]}`, &Ticket{}},
		{"everything", usd,
			`{"lineItems":[{"itemID":"LATTE","itemName":"Caffè latte","itemUnitPrice":4.5,"quantity":2,"itemTotalPrice":9.00}],
			  "totals":{"subTotal":9,"taxTotal":0.81,"discountTotal":0,"serviceChargeTotal":null,"grandTotal":9.81}}`,
			&Ticket{
				Lines:  []Line{{"LATTE", "Caffè latte", amount(450), 2, 900}},
				Totals: Totals{Sub: amount(900), Tax: amount(81), Discount: amount(0), Grand: amount(981)},
			}},
		{"a missing total is price times quantity", usd, `{"lineItems":[{"itemUnitPrice":4.5,"quantity":3}]}`,
			&Ticket{Lines: []Line{{"", "", amount(450), 3, 1350}}}},
		{"a given total holds", usd, `{"lineItems":[{"itemUnitPrice":3.33,"quantity":3,"itemTotalPrice":10}]}`,
			&Ticket{Lines: []Line{{"", "", amount(333), 3, 1000}}}},
		{"a total is enough", usd, `{"lineItems":[{"quantity":1,"itemTotalPrice":1e1}]}`,
			&Ticket{Lines: []Line{{"", "", nil, 1, 1000}}}},
		{"texts are composed", usd, `{"lineItems":[{"itemID":"Cafe\u0301","itemName":"\u212b","quantity":1,"itemTotalPrice":1}]}`,
			&Ticket{Lines: []Line{{"Caf\u00e9", "\u00c5", nil, 1, 100}}}},
		{"zero prices and quantities", usd, `{"lineItems":[{"itemUnitPrice":0,"quantity":0}]}`,
			&Ticket{Lines: []Line{{"", "", amount(0), 0, 0}}}},
		{"null is absent", usd, `{"totals":null,"lineItems":[{"itemID":null,"itemName":null,"itemUnitPrice":null,"quantity":1,"itemTotalPrice":2}]}`,
			&Ticket{Lines: []Line{{"", "", nil, 1, 200}}}},
		{"no decimals", jpy, `{"lineItems":[{"quantity":2.0,"itemUnitPrice":450.0}]}`,
			&Ticket{Lines: []Line{{"", "", amount(450), 2, 900}}}},
		{"a discount in either sign", usd, `{"lineItems":[],"totals":{"discountTotal":-1.50}}`,
			&Ticket{Totals: Totals{Discount: amount(-150)}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, problems := read(t, tt.currency, tt.data)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems %v, ticket (-want +got):\n%s", problems, diff)
			}
		})
	}
}

func TestReadStandardProblems(t *testing.T) {
	t.Parallel()
	const line = at + ".lineItems[0]"
	many := `{"lineItems":[` + strings.Repeat(`{"quantity":1,"itemTotalPrice":1},`, MaxLines) + `{"quantity":-1}]}`
	tests := []struct {
		name string
		data string
		want []string // prefixes of "path: text"
	}{
		{"nothing", ``, []string{at + ": This ticket data is not valid JSON"}},
		{"cut off", `{"lineItems":[{"quantity":1`, []string{at + ": This ticket data is not valid JSON"}},
		{"two values", `{"lineItems":[]} {}`, []string{at + ": This ticket data is not valid JSON"}},
		{"not UTF-8", "{\"lineItems\":[{\"itemID\":\"\xff\",\"quantity\":1,\"itemTotalPrice\":1}]}", []string{at + ": This ticket data is not valid JSON"}},
		{"a list", `[]`, []string{at + ": This must be an object, not a list."}},
		{"null", `null`, []string{at + ": This must be an object, not null."}},
		{"no lineItems", `{}`, []string{at + ".lineItems: This is needed."}},
		{"lineItems null", `{"lineItems":null}`, []string{at + ".lineItems: This is needed."}},
		{"lineItems of a wrong type", `{"lineItems":{"a":1}}`, []string{at + ".lineItems: This must be a list, not an object."}},
		{"a line of a wrong type", `{"lineItems":["x",null]}`,
			[]string{line + ": This must be an object, not a text.", at + ".lineItems[1]: This must be an object, not null."}},
		{"unknown members", `{"lineItems":[],"LineItems":[],"tip":{"a":[1]},"a b":1}`, []string{
			at + ".LineItems: There is no such member; did you mean lineItems?", at + ".tip: There is no such member here.",
			at + `["a b"]: There is no such member here.`}},
		{"names that are nearly right", `{"lineItem":[],"lineItems":[{"quantiy":1,"itemTotelPrice":1,"quantity":1,"itemTotalPrice":1}],"totals":{"subtotal":1,"grandTotl":1}}`, []string{
			at + ".lineItem: There is no such member; did you mean lineItems?", line + ".quantiy: There is no such member; did you mean quantity?",
			line + ".itemTotelPrice: There is no such member; did you mean itemTotalPrice?",
			at + ".totals.subtotal: There is no such member; did you mean subTotal?", at + ".totals.grandTotl: There is no such member; did you mean grandTotal?"}},
		{"a composed item id of 201", `{"lineItems":[{"itemID":"` + strings.Repeat("e\u0301", 201) + `","quantity":1,"itemTotalPrice":1}]}`,
			[]string{line + ".itemID: This text may have at most 200 characters; it has 201."}},
		{"twice", `{"lineItems":[{"quantity":1,"quantity":2,"itemTotalPrice":1}],"lineItems":[],"totals":null,"totals":{}}`, []string{
			line + ".quantity: This member is given more than once.", at + ".lineItems: This member is given more than once.",
			at + ".totals: This member is given more than once."}},
		{"neither price", `{"lineItems":[{"quantity":1}]}`, []string{line + ".itemTotalPrice: A line needs"}},
		{"no quantity", `{"lineItems":[{"itemTotalPrice":1}]}`, []string{line + ".quantity: This is needed."}},
		{"everything at once", `{"lineItems":[{"itemID":7,"itemName":"a\u0000b","itemUnitPrice":"4.50","quantity":1.5,"itemTotalPrice":1.001}],"totals":{"grandTotal":true}}`,
			[]string{line + ".itemID: This must be a text, not a number.", line + ".itemName: This text holds a control character",
				line + ".itemUnitPrice: This must be a number without quotes, not a text.", line + ".quantity: A quantity must be a whole number",
				line + ".itemTotalPrice: An amount in USD has at most 2 decimals.", at + ".totals.grandTotal: This must be a number"}},
		{"negative line", `{"lineItems":[{"quantity":1,"itemTotalPrice":-2}]}`, []string{line + ".itemTotalPrice: An amount on a ticket cannot be negative"}},
		{"negative price", `{"lineItems":[{"quantity":1,"itemUnitPrice":-0.01}]}`, []string{line + ".itemUnitPrice: An amount on a ticket cannot be negative"}},
		{"negative total", `{"lineItems":[],"totals":{"grandTotal":-1}}`, []string{at + ".totals.grandTotal: An amount on a ticket cannot be negative"}},
		{"negative quantity", `{"lineItems":[{"quantity":-1,"itemTotalPrice":1}]}`, []string{line + ".quantity: A quantity must be"}},
		{"absurd amounts", `{"lineItems":[{"quantity":1e999999999,"itemTotalPrice":1e400}],"totals":{"subTotal":100000000000.01,"discountTotal":-1e15}}`,
			[]string{line + ".quantity: A quantity must be", line + ".itemTotalPrice: This amount is too large.",
				at + ".totals.subTotal: This amount is too large.", at + ".totals.discountTotal: This amount is too large."}},
		{"absurd product", `{"lineItems":[{"quantity":100000,"itemUnitPrice":100000000000}]}`, []string{line + ".itemTotalPrice: The line's itemUnitPrice"}},
		{"too many lines", many, []string{at + ".lineItems: A ticket may have at most 1000 lines, not 1001."}},
		{"a long item id", `{"lineItems":[{"itemID":"` + strings.Repeat("x", 201) + `","quantity":1,"itemTotalPrice":1}]}`, []string{line + ".itemID: This text may have"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, got := read(t, usd, tt.data)
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

func TestUnknownMembersAreSummedUp(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"lineItems":[]`)
	for n := range 50_000 {
		fmt.Fprintf(&b, `,"m%d":0`, n)
	}
	_, got := read(t, usd, b.String()+"}")
	if len(got) != maxUnknown+1 {
		t.Errorf("got %d problems, want %d", len(got), maxUnknown+1)
	}
	_, got = read(t, usd, `{"lineItems":[],"`+strings.Repeat("é", 300_000)+`":0}`)
	if len(got) != 1 || len(got[0]) > 300 {
		t.Errorf("a name of 600,000 bytes gave %d problems of %d bytes", len(got), len(got[0]))
	}
}

func TestUnknownFormat(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"", "Standard", "square"} {
		var problems gift.Problems
		_, err := Read(format, []byte(`{"lineItems":[]}`), usd, "ticketData", &problems)
		if e, ok := err.(*gift.Error); !ok || e.Code != gift.NotSupported || e.Messages[0].Path != "ticketData.format" {
			t.Errorf("format %q: %v, want NOT_SUPPORTED", format, err)
		}
	}
}

func TestLimitsDoNotOverflow(t *testing.T) {
	t.Parallel()
	if MaxAmount > math.MaxInt64/MaxQuantity || MaxAmount > math.MaxInt64/MaxLines {
		t.Error("a product or a sum within the limits can overflow")
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const notGood, nothing, noID = "This gift is not good for this item.", "There is nothing to pay on this line.",
		"This line has no itemID, so it cannot be told whether this gift is good for it."
	ticket := &Ticket{Lines: []Line{
		{ItemID: "LATTE", Quantity: 2, Total: 900},
		{ItemID: "SANDWICH", Quantity: 1, Total: 1250},
		{ItemID: "MOCHA", Quantity: 1, Total: 0},
		{ItemID: "", Quantity: 1, Total: 300},
		{ItemID: "MOCHA", Quantity: 0, Total: 500},
		{ItemID: "latte", Quantity: 1, Total: 450},
	}}
	paid := &Ticket{Lines: ticket.Lines, Totals: Totals{Grand: amount(700)}}
	money := func(balance gift.Amount) *gift.Voucher {
		return &gift.Voucher{Currency: usd, Original: 5000, Balance: balance}
	}
	items := func(balance gift.Amount) *gift.Voucher {
		return &gift.Voucher{Currency: usd, Item: true, Original: 9, Balance: balance}
	}
	coffee := []string{"LATTE", "MOCHA"}
	coffeeLeftOut := []LeftOut{{1, notGood}, {2, nothing}, {3, noID}, {5, notGood}}
	tests := []struct {
		name    string
		ticket  *Ticket
		items   []string
		voucher *gift.Voucher
		want    Verdict
	}{
		{"any item", ticket, nil, money(5000), Verdict{[]Share{{0, 900}, {1, 1250}, {3, 300}, {4, 500}, {5, 450}}, []LeftOut{{2, nothing}}, gift.Eligibility{Most: 3400}}},
		{"coffee", ticket, coffee, money(5000), Verdict{[]Share{{0, 900}, {4, 500}}, coffeeLeftOut, gift.Eligibility{Required: true, Most: 1400}}},
		{"the balance binds", ticket, coffee, money(1399), Verdict{[]Share{{0, 900}, {4, 500}}, coffeeLeftOut, gift.Eligibility{Required: true, Most: 1399}}},
		{"the grand total binds", paid, coffee, money(5000), Verdict{[]Share{{0, 900}, {4, 500}}, coffeeLeftOut, gift.Eligibility{Required: true, Most: 700}}},
		{"pieces", paid, coffee, items(9), Verdict{[]Share{{0, 2}, {2, 1}}, []LeftOut{{1, notGood}, {3, noID}, {4, nothing}, {5, notGood}},
			gift.Eligibility{Required: true, Most: 3}}},
		{"pieces, balance", ticket, coffee, items(1), Verdict{[]Share{{0, 2}, {2, 1}}, []LeftOut{{1, notGood}, {3, noID}, {4, nothing}, {5, notGood}},
			gift.Eligibility{Required: true, Most: 1}}},
		{"nothing fits", &Ticket{Lines: ticket.Lines[1:2]}, coffee, money(5000), Verdict{nil, []LeftOut{{0, notGood}}, gift.Eligibility{Required: true}}},
		{"no lines", &Ticket{}, coffee, money(5000), Verdict{Eligibility: gift.Eligibility{Required: true}}},
		{"an empty id names nothing", &Ticket{Lines: ticket.Lines[3:4]}, []string{""}, money(5000), Verdict{nil, []LeftOut{{0, noID}}, gift.Eligibility{Required: true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, Judge(tt.ticket, tt.items, tt.voucher)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestJudgeProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom([]string{"", "A", "B", "C"})
		line := rapid.Custom(func(t *rapid.T) Line {
			return Line{ItemID: id.Draw(t, "id"), Quantity: rapid.Int64Range(0, 5).Draw(t, "quantity"), Total: gift.Amount(rapid.Int64Range(0, 500).Draw(t, "total"))}
		})
		tk := &Ticket{Lines: rapid.SliceOfN(line, 0, 12).Draw(t, "lines")}
		if rapid.Bool().Draw(t, "grand") {
			tk.Totals.Grand = amount(gift.Amount(rapid.Int64Range(0, 2000).Draw(t, "grandTotal")))
		}
		v := &gift.Voucher{Item: rapid.Bool().Draw(t, "item"), Balance: gift.Amount(rapid.Int64Range(0, 1500).Draw(t, "balance"))}
		items := rapid.SliceOfN(id, 0, 3).Draw(t, "items")
		got := Judge(tk, items, v)

		seen := make([]int, len(tk.Lines))
		var sum gift.Amount
		for _, s := range got.Eligible {
			seen[s.Index]++
			sum += s.Amount
			if s.Amount <= 0 {
				t.Fatalf("line %d is eligible with %d", s.Index, s.Amount)
			}
		}
		for _, l := range got.LeftOut {
			seen[l.Index]++
			if l.Reason == "" {
				t.Fatalf("line %d is left out without a reason", l.Index)
			}
		}
		for n, times := range seen {
			if times != 1 {
				t.Fatalf("line %d is in the verdict %d times", n, times)
			}
		}
		if got.Most < 0 || got.Most > v.Balance || got.Most > sum || got.Required != (len(items) > 0) {
			t.Fatalf("balance %d, eligible lines %d: %+v", v.Balance, sum, got.Eligibility)
		}
		if g := tk.Totals.Grand; !v.Item && g != nil && got.Most > *g {
			t.Fatalf("grand total %d: %+v", *g, got.Eligibility)
		}
		if g := tk.Totals.Grand; (v.Item || g == nil || *g >= sum) && got.Most != min(sum, v.Balance) {
			t.Fatalf("balance %d, eligible lines %d, nothing else binds: %+v", v.Balance, sum, got.Eligibility)
		}
	})
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
		tk, problems := read(t, usd, data)
		if tk != nil || len(problems) > MaxLines+maxUnknown+1 {
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
		tk, problems := read(t, usd, data)
		if len(problems) > 0 {
			for _, p := range problems {
				if !strings.HasPrefix(p, at) || len(p) > 500 {
					t.Fatalf("a problem out of place: %.600q", p)
				}
			}
			return
		}
		for n, l := range tk.Lines {
			if l.Total < 0 || l.Quantity < 0 || l.UnitPrice != nil && *l.UnitPrice < 0 {
				t.Fatalf("line %d is negative: %+v", n, l)
			}
		}
		if most := Judge(tk, nil, v).Most; most < 0 || most > v.Balance {
			t.Fatalf("most is %d of %d", most, v.Balance)
		}
	})
}
