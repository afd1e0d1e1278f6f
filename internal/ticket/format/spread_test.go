package format

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"boon.example/internal/money"
)

// TestDiscountsAreSpread: what is taken off a whole order comes off its lines exactly, below none's total. Lines in
// another order, members in another order and unknown ones beside them change no line by more than a cent.
func TestDiscountsAreSpread(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(lines []string, off, total int64) (plain, turned string){
		Clover: func(lines []string, off, total int64) (plain, turned string) {
			const order = `{"currency":"USD","total":%d,"discounts":{"elements":[{"amount":-%d}]},"lineItems":{"elements":[%s]}}`
			const other = `{"new":[{"total":1}],"lineItems":{"href":"x","elements":[%[3]s]},"discounts":[{"amount":-%[2]d}],` +
				`"total":%[1]d,"currency":"USD"}`
			plain = fmt.Sprintf(order, total, off, strings.Join(lines, ","))
			slices.Reverse(lines)
			return plain, fmt.Sprintf(other, total, off, strings.Join(lines, ","))
		},
		Shopify: func(lines []string, _, total int64) (plain, turned string) {
			const order = `{"subtotal":"%[1]s","taxTotal":"0.00","grandTotal":"%[1]s","lineItems":[%[2]s]}`
			const other = `{"lineItems":[%[2]s],"grandTotal":"%[1]s","new":{"subtotal":"1"},"taxTotal":"0.0","subtotal":"%[1]s"}`
			plain = fmt.Sprintf(order, cents(total), strings.Join(lines, ","))
			slices.Reverse(lines)
			return plain, fmt.Sprintf(other, cents(total), strings.Join(lines, ","))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				sum, lines := int64(0), make([]string, rapid.IntRange(1, 60).Draw(t, "lines"))
				for i := range lines {
					price := rapid.Int64Range(1, 5_000).Draw(t, "price")
					sum += price
					lines[i] = fmt.Sprintf(`{"item":{"id":"%d"},"price":%d}`, i, price)
					if name == Shopify {
						lines[i] = fmt.Sprintf(`{"variantId":%d,"price":%s,"quantity":1}`, i, cents(price))
					}
				}
				off := rapid.Int64Range(0, sum).Draw(t, "discount")
				plain, turned := write(lines, off, sum-off)
				one, other := amounts(t, name, plain), amounts(t, name, turned)
				left := money.Amount(0)
				for id, amount := range one {
					left += amount
					if d := amount - other[id]; d > 1 || d < -1 || amount < 0 {
						t.Fatalf("line %s: %d, and %d in\n%s\n%s", id, amount, other[id], plain, turned)
					}
				}
				if left != money.Amount(sum-off) || len(one) != len(other) {
					t.Fatalf("%d of %d less %d are left: %s", left, sum, off, plain)
				}
			})
		})
	}
}

// amounts are the totals of an order's lines by their ids.
func amounts(t *rapid.T, format, order string) map[string]money.Amount {
	got, problems := read(format, order, Options{}, usd)
	if len(problems) > 0 || got.Difference != 0 {
		t.Fatalf("%v: %s", problems, order)
	}
	all := map[string]money.Amount{}
	for _, l := range got.Lines {
		all[l.ItemID] = l.Total.Round(usd)
	}
	return all
}
