package format

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"boon.example/internal/base/jsontape"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
	"boon.example/internal/wire"
)

var (
	usd = money.Currency{Code: "USD", Decimals: 2}
	gbp = money.Currency{Code: "GBP", Decimals: 2}
	nzd = money.Currency{Code: "NZD", Decimals: 2}
)

// read reads an order as it stands in a request, and gives what is wrong with it as "path: text".
func read(name, order string, o Options, c money.Currency) (t *ticket.Ticket, found []string) {
	problems, _ := new(wire.Reader).Decode([]byte(`{"ticketData":{"data":`+order+`}}`), func(top *wire.Object) {
		data := top.Object("ticketData")
		t = Read(name, data.Value("data"), o, c, nil, data.Problems)
	})
	for _, m := range problems.All() {
		found = append(found, m.Path+": "+m.Text)
	}
	return t, found
}

// told writes a ticket as one line for each of its own: id, name, pieces × unit price = total, and what is unusual.
func told(t *ticket.Ticket) []string {
	var all []string
	in := func(d *money.Decimal) string {
		if d == nil {
			return "-"
		}
		return d.In(money.Pieces)
	}
	for _, l := range t.Lines {
		s := l.ItemID + "|" + l.ItemName + "|" + in(&l.Quantity) + " × " + in(l.UnitPrice) + " = " + in(&l.Total)
		if l.Weighed {
			s += " weighed"
		}
		if l.LeftOut != ticket.Allowed {
			s += " " + string(l.LeftOut.Text())
		}
		all = append(all, s)
	}
	of := t.Totals
	return append(all, strings.Join([]string{in(of.Sub), in(of.Tax), in(of.Discount), in(of.ServiceCharge), in(of.Grand)},
		" "))
}

const (
	voided   = " This line was voided."
	refunded = " This line was refunded or taken off."
	returned = " This line is something brought back."
	giftCard = " A gift cannot pay for a gift card."
	fee      = " A gift cannot pay a fee."
	tip      = " A gift cannot pay a tip."
	nothing  = " There is nothing to pay on this line."
)

// TestExampleOrders reads one order of each kind, with everything that is left out of a ticket. The last line has the
// sum of the goods, tax, discounts, service charges, and what can be paid at most.
func TestExampleOrders(t *testing.T) {
	t.Parallel()
	yes := true
	for _, tt := range []struct {
		file, format string
		options      Options
		currency     money.Currency
		want         []string
	}{
		{"square", Square, Options{}, usd, []string{
			"LATTE_L_7Q2XK|Latte Large|2 × 5.1 = 9.18", "BEANS_4TR1P|Dark beans|1 × - = 10.8 weighed",
			"COOKIE_1Z|Cookie|1 × 3 = 0" + nothing, "|eGift Card|1 × 25 = 25" + giftCard, "19.98 0.76 5.22 1.5 22.24"}},
		{"toast", Toast, Options{CheckGUID: "C1A7E1F0-0000-4000-8000-000000000001"}, usd, []string{
			"b0b60000-0000-4000-8000-000000000010|Burger|1 × 16 = 14.4",
			"b0b60000-0000-4000-8000-000000000020|Salad bar|1 × - = 6.19 weighed",
			"b0b60000-0000-4000-8000-000000000030|Pie|1 × 7 = 0" + nothing,
			"b0b60000-0000-4000-8000-000000000040|Iced tea|1 × 3.5 = 3.5" + voided, "|Gift Card|1 × 20 = 20" + giftCard,
			"20.59 1.65 8.6 3 15.24"}},
		{"clover", Clover, Options{}, usd, []string{
			"CHKN000000001|Chicken plate|1 × 13.25 = 10.66", "CHKN000000001|Chicken plate|1 × 12.5 = 11.18",
			"APPLE00000001|Apples|1 × - = 3.62 weighed", "|Gift card|1 × 20 = 20" + giftCard,
			"SODA000000001|Soda|1 × 5 = 5" + refunded, "25.46 1.8 4.33 0 27.26"}},
		{"shopify", Shopify, Options{}, gbp, []string{
			"44100200300400|Candle - Fig|2 × 18 = 32.4", "|Gift wrapping|1 × 4 = 3.6",
			"44100200300999|Gift card - 25.00|1 × 25 = 25" + giftCard, "|Tip|1 × 2 = 2" + tip, "36 6.66 5.8 3.95 41.95"}},
		{"shopify", Shopify, Options{ItemID: "sku"}, gbp, []string{
			"CND-FIG|Candle - Fig|2 × 18 = 32.4", "|Gift wrapping|1 × 4 = 3.6",
			"GC-25|Gift card - 25.00|1 × 25 = 25" + giftCard, "|Tip|1 × 2 = 2" + tip, "36 6.66 5.8 3.95 41.95"}},
		{"shopify_cart", Shopify, Options{}, gbp, []string{
			"44100200300411|Mug|2 × 12.5 = 22.5", "44100200300422|Tote|1 × 10 = 9",
			"44100200300999|Gift card|1 × 25 = 25" + giftCard, "31.5 2.6 3.5 0 34.1"}},
		{"lightspeedx", LightspeedX, Options{TaxInclusive: &yes}, nzd, []string{
			"188a87aa-0000-11ed-a0f5-00000000000a||2 × 12 = 24",
			"188a87aa-0000-11ed-a0f5-00000000000b||-1 × 20 = -20" + returned,
			"188a87aa-0000-11ed-a0f5-00000000000c||1 × 30 = 30" + giftCard, "24 0.52 0 0 4"}},
	} {
		t.Run(tt.file+tt.options.ItemID, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile("testdata/" + tt.file + ".json")
			if err != nil {
				t.Fatal(err)
			}
			for _, order := range []string{string(text), opened(t, string(text))} {
				got, problems := read(tt.format, order, tt.options, tt.currency)
				if len(problems) > 0 {
					t.Fatal(problems)
				}
				if diff := cmp.Diff(tt.want, told(got)); diff != "" || got.Difference != 0 || got.Format != tt.format {
					t.Errorf("%s, difference %d (-want +got):\n%s", got.Format, got.Difference, diff)
				}
			}
		})
	}
}

// opened is an order without its envelope.
func opened(t *testing.T, order string) string {
	var of jsontape.Tape
	if err := of.Scan([]byte(order)); err != nil {
		t.Fatal(err)
	}
	for name, value := range of.Root().Members() {
		if n := string(name.Unquoted()); n == "order" || n == "data" {
			return string(value.Raw())
		}
	}
	return order
}

// Memory that is used again holds nothing of the ticket before, whichever that was.
func TestMemoryIsUsedAgain(t *testing.T) {
	t.Parallel()
	orders := twenty()
	orders["standard"] = `{"lineItems":[{"itemTotalPrice":1},{"itemID":"LATTE","itemName":"Latte","itemUnitPrice":2}]}`
	long := `{"lineItems":[` + strings.Repeat(`{"itemID":"X","itemUnitPrice":3,"itemName":"Long"},`, 100) +
		`{"itemTotalPrice":1}],"totals":{"grandTotal":9,"taxTotal":1}}`
	var memory ticket.Memory
	read := func(name, order string, into *ticket.Memory) (lines []string) {
		new(wire.Reader).Decode([]byte(`{"data":`+order+`}`), func(top *wire.Object) {
			lines = told(Read(name, top.Value("data"), Options{}, usd, into, top.Problems))
		})
		return lines
	}
	for range 2 {
		for name, order := range orders {
			for _, before := range []string{long, orders[Standard], twenty()[Standard]} {
				read(Standard, before, &memory)
				memory.Forget()
				if diff := cmp.Diff(read(name, order, nil), read(name, order, &memory)); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
				memory.Forget()
			}
		}
	}
}
