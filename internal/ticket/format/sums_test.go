package format

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/racetest"
	"boon.example/internal/ticket"
)

// sold is a line of a generated order, in cents.
type sold struct {
	unit, quantity, off, tax int64
	kind                     int // 0: goods, 1: a gift card, 2: a void, 3: a gift card as the merchant says
}

// id is that of the item: of a gift card that the merchant says, or another.
func (s sold) id() string { return []string{"A", "A", "A", "GC"}[s.kind] }

func (s sold) net() int64 { return s.unit*s.quantity - s.off }

// writers write generated orders with a charge as platforms do, with their own total and what was paid, gratuities and
// failed payments beside. Clover's taxes are reckoned, not told, and its lines are single pieces.
var writers = map[string]func(lines []sold, charge, total, paid int64) string{
	Square: func(lines []sold, charge, total, paid int64) string {
		var all []string
		for _, l := range lines {
			if l.kind != 2 {
				all = append(all, fmt.Sprintf(`{"catalog_object_id":"%s","quantity":"%d","item_type":"%s","base_price_money":{"amount":%d,"currency":"USD"},`+
					`"total_tax_money":{"amount":%d},"applied_taxes":[{"tax_uid":"t","applied_money":{"amount":%d}}],"total_money":{"amount":%d}}`,
					l.id(), l.quantity, []string{"ITEM", "GIFT_CARD", "", "ITEM"}[l.kind], l.unit, l.tax, l.tax, l.net()+l.tax))
			}
		}
		return fmt.Sprintf(`{"order":{"taxes":[{"uid":"t","type":"ADDITIVE"}],"line_items":[%s],"total_service_charge_money":`+
			`{"amount":%d},"total_tax_money":{"amount":%d},"total_money":{"amount":%d},"tenders":[{"amount_money":{"amount":%d},`+
			`"tip_money":{"amount":7}}]}}`, strings.Join(all, ","), charge, taxes(lines), total, paid+7)
	},
	Toast: func(lines []sold, charge, total, paid int64) string {
		var all []string
		for _, l := range lines {
			all = append(all, fmt.Sprintf(`{"item":{"guid":"%s"},"quantity":%d,"preDiscountPrice":%s,"price":%s,"tax":%s,"deferred":%t,"voided":%t}`,
				l.id(), l.quantity, cents(l.unit*l.quantity), cents(l.net()), cents(l.tax), l.kind == 1, l.kind == 2))
		}
		return fmt.Sprintf(`{"checks":[{"selections":[%s],"taxAmount":%s,"totalAmount":%s,"appliedServiceCharges":`+
			`[{"chargeAmount":%s}],"payments":[{"amount":%s,"tipAmount":1},{"amount":5,"paymentStatus":"DENIED"}]}]}`,
			strings.Join(all, ","), cents(taxes(lines)), cents(total), cents(charge), cents(paid))
	},
	Clover: func(lines []sold, charge, total, paid int64) string {
		var all []string
		for _, l := range lines {
			all = append(all, fmt.Sprintf(`{"item":{"id":"%s"},"price":%d,"isRevenue":%t,"refunded":%t,"discounts":{"elements":[{"amount":%d}]}}`,
				l.id(), l.unit*l.quantity, l.kind != 1, l.kind == 2, -l.off))
		}
		return fmt.Sprintf(`{"currency":"USD","total":%d,"serviceCharge":{"percentage":1},"lineItems":{"elements":[%s]},`+
			`"payments":[{"amount":%d,"tipAmount":7,"result":"SUCCESS"},{"amount":5,"result":"FAIL"}]}`,
			total-taxes(lines), strings.Join(all, ","), paid)
	},
	Shopify: func(lines []sold, charge, total, paid int64) string {
		var all []string
		sum := int64(0)
		for _, l := range lines {
			left := l.quantity
			if l.kind == 2 {
				left = 0
			} else {
				sum += l.net()
			}
			all = append(all, fmt.Sprintf(`{"variant_id":"%s","price":"%s","quantity":%d,"current_quantity":%d,"gift_card":%t,"tax_lines":[{"price":"%s"}],`+
				`"discount_allocations":[{"amount":"%s"}]}`, l.id(), cents(l.unit), l.quantity, left, l.kind == 1, cents(l.tax), cents(l.off)))
		}
		return fmt.Sprintf(`{"order":{"currency":"USD","line_items":[%s],"current_subtotal_price":"%s","total_tax":"%s",`+
			`"total_price":"%s","total_outstanding":"%s","shipping_lines":[{"price":"%s"}]}}`, strings.Join(all, ","), cents(sum),
			cents(taxes(lines)), cents(total), cents(total-paid), cents(charge))
	},
	LightspeedX: func(lines []sold, charge, total, paid int64) string {
		var all []string
		for _, l := range lines {
			if l.kind != 2 {
				card := []string{"null", `"GC1"`, "", "null"}[l.kind]
				all = append(all, fmt.Sprintf(`{"product":{"id":"%s"},"quantity":%d,"pricing":{"price":%s,"total":%s},"tax":{"total":%s},"gift_card_number":%s}`,
					l.id(), l.quantity, cents(l.unit), cents(l.net()), cents(l.tax), card))
			}
		}
		return fmt.Sprintf(`{"data":{"line_items":[%s],"totals":{"price":%s,"tax":%s,"price_incl_tax":%s},"adjustments":`+
			`[{"adjustment_type":"SURCHARGE","total":%s}],"payments":[{"amount":%s}]}}`, strings.Join(all, ","),
			cents(total-taxes(lines)-charge), cents(taxes(lines)), cents(total), cents(charge), cents(paid))
	},
}

func cents(n int64) string { return usd.Format(money.Amount(n)) }

func taxes(lines []sold) (sum int64) {
	for _, l := range lines {
		if l.kind != 2 {
			sum += l.tax
		}
	}
	return sum
}

// TestSums: lines, gift cards, tax and charges are the platform's own total, and what can be paid is that less what was
// paid and the gift cards with their tax, for orders of 1 to 400 lines. Gift cards are those that the order or the
// merchant says. A gift for the goods pays no more than they cost, and one of pieces those that cost something.
func TestSums(t *testing.T) {
	t.Parallel()
	for name, write := range writers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				lines := make([]sold, rapid.IntRange(1, 400).Draw(t, "lines"))
				total, cards, goods, pieces := int64(0), int64(0), int64(0), int64(0)
				for i := range lines {
					l := &lines[i]
					draw := rapid.Uint64().Draw(t, "line")
					l.unit, l.quantity, l.kind = int64(draw%5_000), 1+int64(draw>>16%4), int(draw>>24%8)
					if l.kind > 3 {
						l.kind = 0
					}
					l.off = int64(draw >> 32 % uint64(l.unit*l.quantity+1))
					l.tax = int64(draw >> 48 % 300)
					if name == Clover {
						l.tax = 0
					}
					switch l.kind {
					case 1, 3:
						cards += l.net() + l.tax
						total += l.net() + l.tax
					case 0:
						total += l.net() + l.tax
						goods += l.net()
						if name == Clover {
							pieces += min(1, l.net())
						} else {
							pieces += l.quantity * min(1, l.net())
						}
					}
				}
				charge := rapid.Int64Range(0, 900).Draw(t, "charge")
				total += charge
				paid := rapid.Int64Range(0, total).Draw(t, "paid")
				order := write(lines, charge, total, paid)
				got, problems := read(name, order, Options{GiftCards: []string{"GC", "X"}}, usd)
				if len(problems) > 0 {
					t.Fatal(problems)
				}
				sum := got.Totals.Sub.Add(*got.Totals.Tax).Add(*got.Totals.ServiceCharge)
				for _, l := range got.Lines {
					if l.LeftOut == ticket.GiftCard {
						sum = sum.Add(l.Total)
					}
				}
				if sum.Round(usd) != money.Amount(total) || got.Difference != 0 {
					t.Fatalf("the parts are %s, the total %d, the difference %d: %s", sum.In(usd), total, got.Difference, order)
				}
				due := max(0, total-paid-cards)
				if grand := got.Totals.Grand.Round(usd); grand != money.Amount(due) {
					t.Fatalf("%d can be paid, want %d: %s", grand, due, order)
				}
				if due == 0 {
					pieces = 0
				}
				for item, want := range map[bool]int64{false: min(due, goods), true: pieces} {
					v := &gift.Voucher{Currency: usd, Item: item, Funded: 1_000_000_00, Balance: 1_000_000_00}
					if most := ticket.EligibilityOf(got, []merchant.Item{{ID: "A"}}, v).Most; most != money.Amount(want) {
						t.Fatalf("a gift of pieces %t pays %d, want %d: %s", item, most, want, order)
					}
				}
			})
		})
	}
}

// TestManyLines: a ticket of 10,000 lines is refused with one sentence, without reading them; one of 1,000 is read.
func TestManyLines(t *testing.T) {
	t.Parallel()
	many := func(one string, n int) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	for name, order := range map[string]func(int) string{
		Standard: func(n int) string { return `{"lineItems":[` + many(`{"itemTotalPrice":1}`, n) + `]}` },
		Clover:   func(n int) string { return cloverOrderOf(many(`{"price":100}`, n), fmt.Sprintf(`,"total":%d`, 100*n)) },
		Toast:    func(n int) string { return toastOrder(many(`{"price":1}`, n), fmt.Sprintf(`,"totalAmount":%d`, n)) },
		Square: func(n int) string {
			return `{"line_items":[` + many(`{"quantity":"1","total_money":{"amount":100}}`, n) +
				fmt.Sprintf(`],"total_money":{"amount":%d}}`, 100*n)
		},
		Shopify: func(n int) string {
			return shopifyOrderOf(many(`{"price":"1.00","quantity":1}`, n), fmt.Sprintf(`,"total_price":"%d"`, n))
		},
		LightspeedX: func(n int) string {
			return saleOf(many(`{"quantity":1,"pricing":{"total":1}}`, n), fmt.Sprintf(`,"totals":{"price_incl_tax":%d}`, n))
		},
	} {
		_, problems := read(name, order(10_000), Options{}, usd)
		const want = "There may be at most 1000 elements in this list, not 10000."
		if len(problems) != 1 || !strings.HasSuffix(problems[0], want) {
			t.Errorf("%s: %.300q", name, problems)
		}
		got, problems := read(name, order(ticket.MaxLines), Options{}, usd)
		if len(problems) > 0 || len(got.Lines) != ticket.MaxLines {
			t.Errorf("%s of %d lines: %.300q", name, ticket.MaxLines, problems)
			continue
		}
		v := &gift.Voucher{Currency: usd, Funded: 1_000_00, Balance: 1_000_00}
		if most := ticket.EligibilityOf(got, nil, v).Most; most != 1_000_00 {
			t.Errorf("%s of %d lines: %d can be paid", name, ticket.MaxLines, most)
		}
	}
}

// TestHostileOrders: what is wrong with an order costs no more than what is told of it, wherever it stands.
func TestHostileOrders(t *testing.T) {
	racetest.Skip(t, "it counts pieces of memory")
	many := func(one string, n int) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	const told, each = 5_001, 30 // problems, and pieces of memory for each
	for name, order := range map[string]string{
		"elements": `{` + many(`"":0`, 32_000) + `,"lineItems":[` + many(`{"modifications":[`+many(`1`, 1_000)+`]}`, 60) +
			`],"total":1}`,
		"members":  `{"lineItems":[` + many(`{"price":1.5,"taxRates":[`+many(`{"rate":-1}`, 30)+`]}`, 1_000) + `],"total":1}`,
		"one name": `{"lineItems":[{` + many(`"price":1`, 32_000) + `}],"total":1}`,
	} {
		var problems []string
		pieces := testing.AllocsPerRun(1, func() { _, problems = read(Clover, order, Options{}, usd) })
		if len(problems) > told || pieces > each*told {
			t.Errorf("%s: %d problems cost %.0f pieces of memory", name, len(problems), pieces)
		}
	}
}

// largest are orders of the largest amounts there may be, as many times as there may be.
func largest() map[string][]string {
	many := func(one string) string { return strings.TrimSuffix(strings.Repeat(one+",", ticket.MaxLines), ",") }
	const amount, major, whole = `10000000000000`, `100000000000`, `{"percentage":100}`
	list := func(one string) string { return `[` + many(one) + `]` }
	money := func(name string) string { return `"` + name + `":{"amount":` + amount + `}` }
	return map[string][]string{
		Clover: {
			cloverOrderOf(`{"price":1,"modifications":`+list(`{"amount":`+amount+`}`)+`,"taxRates":`+
				list(`{"rate":100000000}`)+`}`, `,"total":100`),
			cloverOrderOf(`{"price":1,"modifications":`+list(`{"amount":`+amount+`}`)+`,"discounts":`+list(whole)+`}`,
				`,"total":`+amount),
			cloverOrderOf(many(`{"price":`+amount+`}`), `,"total":`+amount+`,"discounts":`+list(whole)),
			cloverOrderOf(many(`{"price":`+amount+`,"isRevenue":false,"taxRates":[`+strings.Repeat(`{"rate":100000000,"taxAmount":`+
				amount+`},`, 19)+`{}]}`), `,"total":`+amount),
			cloverOrderOf(`{"price":`+amount+`,"taxRates":`+list(`{"rate":100000000,"taxAmount":`+amount+`}`)+`}`,
				`,"total":`+amount),
		},
		Square: {
			`{"line_items":` + list(`{"quantity":"100000",`+money("base_price_money")+`,"applied_taxes":[{`+money("applied_money")+
				`},{`+money("applied_money")+`}],`+money("total_money")+`}`) + `,` + money("total_money") + `}`,
			squareOrder(`{"item_type":"GIFT_CARD","modifiers":`+list(`{`+money("total_price_money")+`}`)+`,"applied_taxes":`+
				list(`{`+money("applied_money")+`}`)+`,`+money("total_money")+`},{`+mugSquare+`}`, `,"returns":[{"return_line_items":`+
				list(`{"catalog_object_id":"MUG","quantity":"100000",`+money("total_money")+`}`)+`}],"tenders":`+
				list(`{`+money("amount_money")+`}`)),
		},
		Toast: {toastOrder(many(`{"price":`+major+`,"tax":`+major+`,"taxInclusion":"INCLUDED","quantity":100000}`), `,"totalAmount":`+major+
			`,"payments":`+list(`{"amount":-`+major+`}`)+`,"appliedServiceCharges":`+list(`{"chargeAmount":`+major+`}`))},
		Shopify: {
			shopifyOrderOf(many(`{"id":1,"price":"1000000","quantity":100000,"tax_lines":[{"price":`+major+`}]}`), `,"total_price":`+major+
				`,"refunds":[{"refund_line_items":`+list(`{"line_item_id":1,"quantity":`+amount+`,"subtotal":`+major+`}`)+
				`}],"shipping_lines":`+list(`{"price":`+major+`}`)),
			`{"draft_order":{"line_items":` + list(`{"price":"1000000","quantity":100000,"applied_discount":{"amount":`+major+`}}`) +
				`,"subtotal_price":` + major + `,"total_price":` + major + `}}`,
			`{"lineItems":` + list(`{"price":1000000,"quantity":100000}`) + `,"subtotal":-` + major + `,"grandTotal":` + major + `}`,
		},
		LightspeedX: {saleOf(many(`{"quantity":100000,"pricing":{"price":1000000,"discount_total":`+major+`},"tax":{"total":`+major+
			`}}`), `,"totals":{"price_incl_tax":`+major+`},"payments":`+list(`{"amount":-`+major+`}`)+`,"adjustments":`+
			list(`{"adjustment_type":"DISCOUNT","total":`+major+`}`)+`,"ecom_custom_charges":`+list(`{"total":`+major+`}`))},
	}
}

// FuzzOrders: whatever comes is read or refused; what is read pays for no gift card, and nothing negative.
func FuzzOrders(f *testing.F) {
	for n, name := range Names() {
		for _, file := range []string{"square", "toast", "clover", "shopify", "shopify_cart", "lightspeedx"} {
			text, err := os.ReadFile("testdata/" + file + ".json")
			if err != nil {
				f.Fatal(err)
			}
			if strings.HasPrefix(file, strings.TrimSuffix(name, "-x")) || name == Standard {
				f.Add(n, string(text))
			}
		}
	}
	for _, rules := range [][]rule{squareRules(), toastRules(), cloverRules(), shopifyRules(), lightspeedRules()} {
		for _, r := range rules {
			for n, name := range Names() {
				if name == r.format {
					f.Add(n, r.order)
				}
			}
		}
	}
	for n, name := range Names() {
		for _, order := range largest()[name] {
			f.Add(n, order)
		}
	}
	v := &gift.Voucher{Currency: usd, Funded: 5_000, Balance: 5_000}
	item := &gift.Voucher{Currency: usd, Item: true, Funded: 9, Balance: 9}
	f.Fuzz(func(t *testing.T, n int, order string) {
		name := Names()[uint(n)%uint(len(Names()))]
		got, problems := read(name, order, Options{}, usd)
		if len(problems) > 0 || got == nil || name == Standard {
			return
		}
		grand := got.Totals.Grand.Round(usd)
		var goods money.Decimal
		for i, l := range got.Lines {
			if l.LeftOut != ticket.Allowed {
				continue
			}
			if goods = goods.Add(l.Total); l.Total.Round(usd) <= 0 {
				t.Fatalf("line %d is goods of %d: %s", i, l.Total.Round(usd), order)
			}
		}
		if sum := got.Totals.Sub.Round(usd); sum != goods.Round(usd) || sum > 2*ticket.MaxLines*ticket.MaxAmount ||
			grand > ticket.MaxAmount {
			t.Fatalf("goods of %s are %d, of which %d are due: %s", goods.In(usd), sum, grand, order)
		}
		for _, who := range []*gift.Voucher{v, item} {
			verdict := ticket.EligibilityOf(got, nil, who)
			if verdict.Most < 0 || verdict.Most > who.Balance || !who.Item && verdict.Most > grand {
				t.Fatalf("%d can be paid of %d: %s", verdict.Most, grand, order)
			}
			for _, s := range verdict.Eligible {
				if got.Lines[s.Index].LeftOut != ticket.Allowed || s.Amount <= 0 {
					t.Fatalf("line %d counts for %d: %s", s.Index, s.Amount, order)
				}
			}
		}
	})
}
