package format

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"boon.example/internal/money"
)

// TestGraphQLOrder: the order of the GraphQL API gives what the REST API's form of the same order does, as the query of
// the documents answers it and as people pass it on.
func TestGraphQLOrder(t *testing.T) {
	t.Parallel()
	file := func(name string) string {
		text, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	rest, graph := file("shopify"), file("shopify_graphql")
	var answer struct {
		Data struct{ Order json.RawMessage }
	}
	if err := json.Unmarshal([]byte(graph), &answer); err != nil {
		t.Fatal(err)
	}
	order := string(answer.Data.Order)
	edges := strings.NewReplacer(`"nodes": [`, `"edges": [`).Replace(order)
	edges = inNodes(t, edges)
	for name, text := range map[string]string{
		"the answer": graph, "without data": `{"order":` + order + `}`, "the order": order, "edges": edges,
		"node": `{"data":{"node":` + order + `}}`, "orders": `{"data":{"orders":{"nodes":[` + order + `]}}}`,
		"orders in edges": `{"data":{"orders":{"edges":[{"cursor":"x","node":` + order + `}]}}}`,
		"a mutation":      `{"data":{"orderUpdate":{"order":` + order + `,"userErrors":[]}},"extensions":{"cost":{}}}`,
		"lists":           flattened(t, order),
	} {
		for _, itemID := range ItemIDs(Shopify) {
			o := Options{ItemID: itemID}
			want, problems := read(Shopify, rest, o, gbp)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			got, problems := read(Shopify, text, o, gbp)
			if len(problems) > 0 {
				t.Errorf("%s: %q", name, problems)
				continue
			}
			if diff := cmp.Diff(told(want), told(got)); diff != "" || got.Difference != want.Difference {
				t.Errorf("%s by %s, %d apart (-REST +GraphQL):\n%s", name, itemID, got.Difference, diff)
			}
			for i := range want.Lines {
				if want.Lines[i].Group != got.Lines[i].Group {
					t.Errorf("%s: line %d is of group %q, want %q", name, i, got.Lines[i].Group, want.Lines[i].Group)
				}
			}
		}
	}
}

// inNodes puts each element of the lists named edges into a node.
func inNodes(t *testing.T, text string) string {
	return rewritten(t, text, func(name string, v any) any {
		if list, ok := v.([]any); ok && name == "edges" {
			for i := range list {
				list[i] = map[string]any{"cursor": "x", "node": list[i]}
			}
		}
		return v
	})
}

// flattened is an order whose connections are plain lists, as clients make of them.
func flattened(t *testing.T, text string) string {
	return rewritten(t, text, func(_ string, v any) any {
		if m, ok := v.(map[string]any); ok && m["nodes"] != nil {
			return m["nodes"]
		}
		return v
	})
}

// rewritten is a JSON text of which every member has gone through a function, inner ones first.
func rewritten(t *testing.T, text string, change func(name string, v any) any) string {
	t.Helper()
	var walk func(name string, v any) any
	walk = func(name string, v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k := range v {
				v[k] = walk(k, v[k])
			}
		case []any:
			for i := range v {
				v[i] = walk("", v[i])
			}
		}
		return change(name, v)
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	out, err := json.Marshal(walk("", v))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestGraphQLRules: what holds of an order of the REST API holds of the same order of the GraphQL API. The order of
// each rule is written as that API writes it.
func TestGraphQLRules(t *testing.T) {
	t.Parallel()
	n := 0
	for _, rule := range shopifyRules() {
		if strings.Contains(rule.order, `"lineItems"`) || strings.Contains(rule.order, `"tip_payment_`) {
			continue // a cart; the GraphQL API does not mark a tip
		}
		n++
		got, problems := read(Shopify, asGraphQL(t, rule.order), Options{}, usd)
		want, _ := read(Shopify, rule.order, Options{}, usd)
		if len(problems) > 0 {
			t.Errorf("%s: %q in\n%s", rule.sentence, problems, asGraphQL(t, rule.order))
			continue
		}
		if diff := cmp.Diff(told(want), told(got)); diff != "" {
			t.Errorf("%s (-REST +GraphQL):\n%s%s", rule.sentence, diff, asGraphQL(t, rule.order))
		}
	}
	if n < 20 {
		t.Errorf("only %d rules were tried", n)
	}
}

// asGraphQL writes an order of the REST API as the GraphQL API answers it.
func asGraphQL(t *testing.T, order string) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(order))
	d.UseNumber()
	var top map[string]any
	if err := d.Decode(&top); err != nil {
		t.Fatal(err)
	}
	if m, ok := top["order"].(map[string]any); ok {
		return encoded(t, map[string]any{"data": map[string]any{"order": graphMembers(m, false)}})
	}
	if m, ok := top["draft_order"].(map[string]any); ok {
		return encoded(t, map[string]any{"data": map[string]any{"draftOrder": graphMembers(m, true)}})
	}
	return encoded(t, graphMembers(top, true))
}

func encoded(t *testing.T, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// graphMembers are those of an order, and what a query that asks for them is answered where the order lacks them.
func graphMembers(order map[string]any, draft bool) map[string]any {
	own, shown := "USD", "USD"
	if c, ok := order["currency"].(string); ok {
		own, shown = c, c
	}
	if c, ok := order["presentment_currency"].(string); ok {
		shown = c
	}
	bag := func(from map[string]any, name string) any {
		sides := map[string]any{}
		if set, ok := from[name+"_set"].(map[string]any); ok {
			if money, ok := set["presentment_money"].(map[string]any); ok {
				sides["presentmentMoney"] = map[string]any{"amount": money["amount"], "currencyCode": shown}
			}
		}
		if v, ok := from[name]; ok {
			sides["shopMoney"] = map[string]any{"amount": v, "currencyCode": own}
		}
		if len(sides) == 0 {
			return nil
		}
		return sides
	}
	amounts := func(list any, name, as string) []any {
		out := []any{}
		all, _ := list.([]any)
		for _, e := range all {
			out = append(out, map[string]any{as: bag(e.(map[string]any), name)})
		}
		return out
	}
	lines, ids := []any{}, func(kind string, v any) any {
		if v == nil {
			return nil
		}
		return map[string]any{"id": "gid://shopify/" + kind + "/" + string(v.(json.Number))}
	}
	for _, e := range order["line_items"].([]any) {
		l := e.(map[string]any)
		current := l["current_quantity"]
		if current == nil {
			current = l["quantity"]
		}
		line := map[string]any{"variant": ids("ProductVariant", l["variant_id"]), "product": ids("Product", l["product_id"]),
			"sku": l["sku"], "name": l["name"], "title": l["title"], "variantTitle": l["variant_title"],
			"quantity": l["quantity"], "currentQuantity": current, "originalUnitPriceSet": bag(l, "price"),
			"isGiftCard": l["gift_card"] == true, "taxLines": amounts(l["tax_lines"], "price", "priceSet"),
			"appliedDiscount": graphDiscount(l["applied_discount"], bag)}
		if l["id"] != nil {
			line["id"] = "gid://shopify/LineItem/" + string(l["id"].(json.Number))
		}
		if l["discount_allocations"] != nil || l["total_discount"] == nil {
			line["discountAllocations"] = amounts(l["discount_allocations"], "amount", "allocatedAmountSet")
		}
		if l["total_discount"] != nil {
			line["totalDiscountSet"] = bag(l, "total_discount")
		}
		lines = append(lines, line)
	}
	shipping := []any{}
	list, _ := order["shipping_lines"].([]any)
	for _, e := range list {
		l := e.(map[string]any)
		shipping = append(shipping, map[string]any{"originalPriceSet": bag(l, "price"),
			"discountedPriceSet": bag(l, "discounted_price")})
	}
	upper := func(v any) any {
		if s, ok := v.(string); ok {
			return strings.ToUpper(s)
		}
		return v
	}
	out := map[string]any{"lineItems": map[string]any{"nodes": lines}, "taxesIncluded": order["taxes_included"] == true,
		"totalPriceSet": bag(order, "total_price"), "totalTaxSet": bag(order, "total_tax"),
		"currencyCode": own, "presentmentCurrencyCode": shown, "subtotalPriceSet": bag(order, "subtotal_price")}
	if draft {
		out["status"], out["appliedDiscount"] = upper(order["status"]), graphDiscount(order["applied_discount"], bag)
		out["shippingLine"], out["invoiceUrl"] = nil, order["invoice_url"]
		return out
	}
	out["cancelledAt"], out["displayFinancialStatus"] = order["cancelled_at"], upper(order["financial_status"])
	out["totalTipReceivedSet"], out["shippingLines"] = bag(order, "total_tip_received"), map[string]any{"nodes": shipping}
	if now := bag(order, "current_total_price"); now != nil {
		out["currentTotalPriceSet"] = now
	}
	if open := order["total_outstanding"]; open != nil {
		both := map[string]any{"shopMoney": map[string]any{"amount": open, "currencyCode": own}}
		if own != shown { // the GraphQL API tells it in both currencies
			both["presentmentMoney"] = map[string]any{"amount": "5.00", "currencyCode": shown}
		}
		out["totalOutstandingSet"] = both
	}
	refunds, _ := order["refunds"].([]any)
	given := []any{}
	for _, e := range refunds {
		var back []any
		for _, one := range e.(map[string]any)["refund_line_items"].([]any) {
			r := one.(map[string]any)
			back = append(back, map[string]any{"lineItem": ids("LineItem", r["line_item_id"]), "quantity": r["quantity"],
				"subtotalSet": bag(r, "subtotal")})
		}
		given = append(given, map[string]any{"refundLineItems": map[string]any{"nodes": back}})
	}
	out["refunds"] = given
	return out
}

func graphDiscount(v any, bag func(map[string]any, string) any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	return map[string]any{"amountSet": bag(m, "amount"), "value": m["value"], "valueType": "FIXED_AMOUNT"}
}

// TestGraphQLNeeds: each member that counts and that the query did not ask for is named.
func TestGraphQLNeeds(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/shopify_graphql.json")
	if err != nil {
		t.Fatal(err)
	}
	without := func(names ...string) string {
		return rewritten(t, string(text), func(_ string, v any) any {
			if m, ok := v.(map[string]any); ok {
				for _, name := range names {
					delete(m, name)
				}
			}
			return v
		})
	}
	const order, lines = "ticketData.data.data.order", "ticketData.data.data.order.lineItems"
	for _, tt := range []struct {
		names []string
		at    string
		told  string
	}{
		{[]string{"taxesIncluded"}, order, "taxesIncluded"}, {[]string{"cancelledAt"}, order, "cancelledAt"},
		{[]string{"currentTotalPriceSet", "totalPriceSet"}, order, "currentTotalPriceSet"},
		{[]string{"currentTotalTaxSet", "totalTaxSet"}, order, "currentTotalTaxSet"},
		{[]string{"totalOutstandingSet", "displayFinancialStatus"}, order, "totalOutstandingSet"},
		{[]string{"totalTipReceivedSet"}, order, "totalTipReceivedSet"}, {[]string{"shippingLines"}, order, "shippingLines"},
		{[]string{"taxesIncluded", "cancelledAt"}, order, "taxesIncluded, cancelledAt"},
		{[]string{"isGiftCard"}, lines, "isGiftCard"},
		{[]string{"quantity"}, lines, "quantity"}, {[]string{"originalUnitPriceSet"}, lines, "originalUnitPriceSet"},
		{[]string{"currentQuantity", "taxLines"}, lines, "taxLines, currentQuantity"},
		{[]string{"discountAllocations"}, lines, "discountAllocations"}, {[]string{"variant"}, lines, "variant { id }"},
	} {
		_, got := read(Shopify, without(tt.names...), Options{}, gbp)
		of := "of the order"
		if tt.at == lines {
			of = "of each line"
		}
		want := tt.at + ": These members " + of + " are needed, too: " + tt.told + ". Ask for them in the query."
		if !slices.Equal(got, []string{want}) {
			t.Errorf("without %s: %q, want %q", tt.names, got, want)
		}
	}
	more := strings.Replace(string(text), `"hasNextPage": false`, `"hasNextPage": true`, 1)
	if _, got := read(Shopify, more, Options{}, gbp); len(got) != 1 ||
		!strings.HasPrefix(got[0], lines+": There are more of these than the query asked for.") {
		t.Errorf("a part of the lines: %q", got)
	}
	want := []string{order + ".currencyCode: The ticket must be in USD, the currency of the account."}
	if _, got := read(Shopify, string(text), Options{}, usd); !slices.Equal(got, want) {
		t.Errorf("in another currency: %q", got)
	}
	two := `{"data":{"orders":{"nodes":[{"id":"1"},{"id":"2"}]}}}`
	if _, got := read(Shopify, two, Options{}, usd); len(got) == 0 ||
		got[0] != "ticketData.data.data.orders: Send one order, not 2." {
		t.Errorf("two orders: %q", got)
	}
}

// TestGraphQLCurrencies: an amount is that of the account's currency, the shop's before the customer's, whatever the
// query asked for.
func TestGraphQLCurrencies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		bag, codes string
		due        money.Amount
	}{
		{`"shopMoney":{"amount":"9.0","currencyCode":"USD"},"presentmentMoney":{"amount":"10.0","currencyCode":"EUR"}`, ``, 9_00},
		{`"shopMoney":{"amount":"9.0","currencyCode":"EUR"},"presentmentMoney":{"amount":"10.0","currencyCode":"USD"}`, ``, 10_00},
		{`"shopMoney":{"amount":"9.0"},"presentmentMoney":{"amount":"10.0"}`, `"currencyCode":"EUR","presentmentCurrencyCode":"USD",`, 10_00},
		{`"shopMoney":{"amount":"9.0"}`, `"currencyCode":"USD",`, 9_00},
		{`"presentmentMoney":{"amount":"10.0","currencyCode":"USD"}`, ``, 10_00},
		{`"shopMoney":{"amount":"9.0"}`, ``, -1}, {``, `"currencyCode":"USD",`, -1},
		{`"shopMoney":{"amount":"9.0"}`, `"currencyCode":"EUR","presentmentCurrencyCode":"USD",`, -1},
	} {
		bag := `{` + tt.bag + `}`
		order := `{"order":{` + tt.codes + `"taxesIncluded":false,"cancelledAt":null,"totalPriceSet":` + bag +
			`,"totalTaxSet":null,"displayFinancialStatus":"PENDING","totalTipReceivedSet":null,"shippingLines":{"nodes":[]},` +
			`"lineItems":{"nodes":[{"isGiftCard":false,"quantity":1,"currentQuantity":1,"originalUnitPriceSet":` + bag +
			`,"taxLines":[],"discountAllocations":[],"variant":null}]}}}`
		got, problems := read(Shopify, order, Options{}, usd)
		switch {
		case tt.due < 0 && len(problems) == 0:
			t.Errorf("%s %s: %q, want a refusal", tt.codes, tt.bag, told(got))
		case tt.due >= 0 && (len(problems) > 0 || got.Totals.Grand.Round(usd) != tt.due || got.Difference != 0):
			t.Errorf("%s %s: %q", tt.codes, tt.bag, problems)
		}
	}
}

// TestQueryOfTheDocuments: the query that the documents give to paste asks for every member that is needed, and for
// nothing that is not read.
func TestQueryOfTheDocuments(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/guides/tickets.md")
	if err != nil {
		t.Fatal(err)
	}
	_, query, found := strings.Cut(string(page), "```graphql\n")
	query, _, ended := strings.Cut(query, "```")
	if !found || !ended {
		t.Fatal("docs/guides/tickets.md has no query")
	}
	asked := regexp.MustCompile(`[A-Za-z]+`).FindAllString(query, -1)
	needs := lacking{"nodes", "hasNextPage", "currencyCode", "presentmentCurrencyCode", "shopMoney", "presentmentMoney"}
	needs = append(needs, new(shopOrderJSON).lacking()...)
	for _, item := range ItemIDs(Shopify) {
		var line graphQL
		line.lineLacks(new(shopLineJSON), item, false)
		needs = append(needs, line.lacking...)
	}
	for _, n := range needs {
		if name, _, _ := strings.Cut(n, " "); !slices.Contains(asked, name) {
			t.Errorf("the query does not ask for %s", name)
		}
	}
	text, err := os.ReadFile("testdata/shopify_graphql.json")
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"query", "id", "ID", "first", "order", "fragment", "on", "amounts", "MoneyBag"}
	for _, name := range asked {
		if !slices.Contains(words, name) && !strings.Contains(string(text), `"`+name+`"`) {
			t.Errorf("the query asks for %s, which the example does not have", name)
		}
	}
}
