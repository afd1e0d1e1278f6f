package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/merchant"
	"boon.example/internal/racetest"
	"boon.example/internal/refusal"
)

// shownAccount is an account as a payload shows it, with a value in its currency, a part of it, and what is then left.
type shownAccount struct {
	key, account, location, storefront, promotion string
	currency, name, value, some, rest             string
}

var merchants = []shownAccount{
	{harborKey, harbor, pier, shop, spring, "USD", "Harbor Coffee", "25.50", "0.50", "25.00"},
	{carefulKey, careful, carefulPlace, carefulShop, carefulPromotion, "JPY", "Careful", "2550", "50", "2500"},
	{gulfKey, gulf, gulfPlace, gulfShop, gulfPromotion, "KWD", "Gulf", "2.550", "0.005", "2.545"},
}

// variety is one kind of gift, and one way to ask for it.
type variety struct {
	shownAccount
	item, promotional, single bool
	method                    contact.Method
	named                     merchant.Program // zero: the request names none
}

// varieties lists every kind of gift for every merchant.
func varieties() (all []variety) {
	for _, m := range merchants {
		for _, named := range []merchant.Program{{}, merchant.BusinessProgram, merchant.PromotionalProgram,
			merchant.DistributionProgram} {
			for _, method := range []contact.Method{contact.Email, contact.SMS, contact.Printed} {
				for bits := range 8 {
					if m.currency != "USD" && (bits < 4 || method != contact.Printed) {
						continue // one currency is enough for the ways of delivery and the form with recipients
					}
					all = append(all, variety{m, bits&1 > 0, bits&2 > 0, bits&4 > 0, method, named})
				}
			}
		}
	}
	return all
}

func pick(when bool, yes, no string) string {
	if when {
		return yes
	}
	return no
}

// program is the gift's: that of the request, else the payment's.
func (v *variety) program() merchant.Program {
	switch {
	case v.named != merchant.Program{}:
		return v.named
	case v.promotional:
		return merchant.PromotionalProgram
	}
	return merchant.BusinessProgram
}

// request is a send-gift request. The form with recipients has a second one, of a printed gift.
func (v *variety) request() string {
	member := pick(v.item, `"itemGift":{"label":"Latte","terms":"Hot.","quantity":3,"equivalentValue":`,
		`"monetaryGift":{"value":`) + v.value +
		`,"organizationID":"` + strings.ToUpper(v.location) + `"`
	if v.named != (merchant.Program{}) {
		member += `,"programID":"` + v.named.ID.String() + `"`
	}
	recipient := `"recipientDescription":"Zoe","message":"Hi\nyou","recipientLanguage":"pt-br","deliveryMethodID":` +
		strconv.Itoa(int(v.method)) +
		[]string{"", `,"recipientContact":"z@example.com"`, `,"recipientContact":"(415) 555-0132"`, ""}[v.method]
	payment := pick(v.promotional, `"paymentMethodID":4,"promotionID":"`+v.promotion+
		`","validStarting":"2026-01-01T00:00:00Z","validForDays":3650,`+
		`"promotionalTerms":"One per guest."`, strings.Replace(purchase, shop, v.storefront, 1))
	if v.single {
		return `{` + member + `,` + recipient + `},` + payment + `}`
	}
	return `{` + member + `,"deliveryMethodID":3},"recipients":[{` + recipient + `},{}],` + payment + `}`
}

// payload lists the members of the voucher in their order, with what is expected there; "*" is anything but null.
func (v *variety) payload() [][2]string {
	program, printed, kind := v.program(), v.method == contact.Printed, 1
	if v.item {
		kind++
	}
	if v.promotional {
		kind += 2
	}
	return [][2]string{
		{"voucherID", "*"}, {"voucherCode", "*"}, {"voucherPublicToken", "*"}, {"giftURL", "*"}, {"lastFour", "*"},
		{"mode", "live"},
		{"orderID", "*"},
		{"externalTransactionReferenceNumber", pick(v.promotional, "null", "R-1")},
		{"externalStorefrontID", pick(v.promotional, "null", v.storefront)},
		{"promotionID", pick(v.promotional, v.promotion, "null")}, {"accountID", v.account}, {"organizationID", v.location},
		{"programID", program.ID.String()}, {"programName", program.Name},
		{"programIsPromotional", fmt.Sprint(program.Promotional)},
		{"voucherTypeID", strconv.Itoa(kind)}, {"isItemType", fmt.Sprint(v.item)}, {"isPromoType", fmt.Sprint(v.promotional)},
		{"status", pick(printed, "DELIVERED", "PENDING")}, {"statusID", pick(printed, "3", "1")},
		{"isRedeemable", fmt.Sprint(printed)},
		{"hasRemainingBalance", "true"}, {"isInRedeemableStatus", fmt.Sprint(printed)}, {"isInRedeemablePeriod", "true"},
		{"notRedeemableReasons", pick(printed, "[]", `[{"code":"REDEMPTION_NOT_ALLOWED","text":"This gift has not been `+
			`delivered yet."}]`)},
		{"blockedReason", "null"}, {"currency", pick(v.item, "null", v.currency)}, {"unit", pick(v.item, "items", "money")},
		{"pricePaid", "null"},
		{"originalBalance", pick(v.item, "3", v.value)}, {"currentBalance", pick(v.item, "3", v.value)},
		{"heldBalance", v.zero()}, {"availableBalance", pick(v.item, "3", v.value)},
		{"value", pick(v.item, "null", v.value)}, {"label", pick(v.item, "Latte", "null")},
		{"terms", pick(v.item, "Hot.", "null")},
		{"quantity", pick(v.item, "3", "null")}, {"equivalentValue", pick(v.item, v.value, "null")},
		{"vatTreatment", "null"}, {"vatRate", "null"},
		{"promotionalTerms", pick(v.promotional, "One per guest.", "null")},
		{"validFrom", pick(v.promotional, "2026-01-01T00:00:00.000Z", "null")},
		{"validUntil", pick(v.promotional, "*", "null")}, {"senderDescription", pick(v.promotional, v.name, "Ann Lee")},
		{"recipientDescription", "Zoe"}, {"message", "Hi\nyou"}, {"recipientLanguage", "pt-BR"}, {"customerID", "null"},
		{"deliveryMethodID", strconv.Itoa(int(v.method))},
		{"deliveryDate", "null"},
		{"deliveredAt", pick(printed, "*", "null")}, {"voucherDesignID", "null"}, {"createdAt", "*"},
		{"requiresEligibleItems", fmt.Sprint(v.promotional && v.currency == "USD")},
		{"eligibleItems", pick(v.promotional && v.currency == "USD",
			`[{"id":"LATTE","name":null,"group":null},{"id":"MOCHA","name":"Mocha","group":null}]`, "null")},
		{"eligibility", "null"},
		{"cashOutAllowed", "false"},
	}
}

// names lists the members of a JSON object in their order.
func names(t testing.TB, object string) (all []string) {
	decoder := json.NewDecoder(strings.NewReader(object))
	if _, err := decoder.Token(); err != nil {
		t.Fatal(err)
	}
	for decoder.More() {
		name, _ := decoder.Token()
		all = append(all, fmt.Sprint(name))
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// shows holds a voucher payload, whose members have the prefix, against what is wanted.
func (r reply) shows(prefix string, want [][2]string) {
	r.Helper()
	for _, m := range want {
		if got := r.at(prefix + m[0]); got != m[1] && (m[1] != "*" || got == "null") {
			r.Errorf("%s is %s, want %s", m[0], got, m[1])
		}
	}
}

// instead replaces what is wanted of some members.
func instead(want [][2]string, changes ...string) [][2]string {
	want = slices.Clone(want)
	for n := 0; n < len(changes); n += 2 {
		i := slices.IndexFunc(want, func(m [2]string) bool { return m[0] == changes[n] })
		want[i][1] = changes[n+1]
	}
	return want
}

// TestEveryKindOfGift sends, validates and redeems gifts of every kind in three currencies, and looks at every member
// of the answers.
func TestEveryKindOfGift(t *testing.T) {
	racetest.SkipShort(t, "calls one after the other")
	t.Parallel()
	w := newWorld(t)
	for n, v := range varieties() {
		t.Run(fmt.Sprintf("%s/item=%t,promotional=%t,single=%t/%s/%s", v.currency, v.item, v.promotional, v.single, v.method,
			v.named.Name), func(t *testing.T) {
			key := strconv.Itoa(n)
			sent := w.in(t).post("send-gift", v.request(), append(as(v.key), once(key)...)...).want(201,
				"gifts[0].recipientIndex", "0")
			want := v.payload()
			var members []string
			for _, m := range want {
				members = append(members, m[0])
			}
			if got := names(t, sent.at("gifts[0]")); !slices.Equal(got, append(members, "recipientIndex", "printURL",
				"notPrintable")) {
				t.Errorf("the members are %v", got)
			}
			address := "https://gifts.example.com/g/" + sent.at("gifts[0].voucherPublicToken")
			want = instead(want, "orderID", sent.at("orderID"), "giftURL", address, "lastFour",
				sent.at("gifts[0].voucherCode")[8:])
			sent.shows("gifts[0].", want)
			sent.want(201, "gifts[0].printURL", pick(v.method == contact.Printed, address+"/print.pdf", "null"))
			if !v.single {
				sent.want(201, "gifts[1].recipientIndex", "1", "gifts[1].deliveryMethodID", "3", "gifts[1].recipientDescription",
					"null", "gifts[1].message", "null")
			}
			for _, secret := range []string{"z@example.com", "5550132", "ann@example.com"} {
				if strings.Contains(string(sent.body), secret) {
					t.Errorf("%s is in the answer", secret)
				}
			}
			for _, by := range []string{`"voucherCode":` + sent.at("gifts[0].voucherCode"), `"voucherPublicToken":"` + address +
				`"`} {
				r := w.in(t).post("validate-gift", `{`+by+`,"organizationID":"`+v.location+`"}`, as(v.key)...).want(200)
				r.shows("", want)
				if got := names(t, string(r.body)); !slices.Equal(got, append(members, "requestID")) {
					t.Errorf("validated, the members are %v", got)
				}
			}
			if v.method == contact.Printed {
				w.in(t).redeemKind(v, sent, want, key)
			}
		})
	}
}

// redeemKind redeems a part of a gift and then the rest.
func (w *world) redeemKind(v variety, sent reply, want [][2]string, key string) {
	w.Helper()
	id := sent.at("gifts[0].voucherID")
	ticket := ""
	if v.promotional && v.currency == "USD" {
		ticket = `,"ticketData":{"format":"standard","data":{"lineItems":[{"itemID":"LATTE","quantity":3,` +
			`"itemUnitPrice":100}]}}`
	}
	redeem := func(amount, key string) reply {
		return w.post("redeem-gift", `{"voucherID":"`+id+`","organizationID":"`+v.location+`"`+amount+ticket+`}`,
			append(as(v.key), once(key)...)...)
	}
	some, rest, unit := pick(v.item, "1", v.some), pick(v.item, "2", v.rest), pick(v.item, "null", v.currency)
	redeem(`,"amount":`+some+`,"reference":"R"`, key+"a").want(200, "voucherID", id, "organizationID", v.location,
		"amount", some, "currentBalance", rest, "heldBalance", v.zero(), "availableBalance", rest, "currency", unit,
		"status", "CLAIMED", "statusID", "5", "isRedeemable", "true", "reference", "R")
	look := func() reply { return w.get("/gifting/gifts/"+id, as(v.key)...).want(200) }
	look().shows("", instead(want, "currentBalance", rest, "availableBalance", rest, "status", "CLAIMED", "statusID",
		"5"))
	redeem("", key+"b").want(200, "amount", rest, "currency", unit, "status", "REDEEMED", "statusID", "6", "isRedeemable",
		"false", "reference", "null")
	look().shows("", instead(want, "currentBalance", v.zero(), "availableBalance", v.zero(), "status", "REDEEMED",
		"statusID", "6", "isRedeemable",
		"false", "hasRemainingBalance", "false",
		"isInRedeemableStatus", "false", "notRedeemableReasons",
		`[{"code":"ALREADY_REDEEMED","text":"This gift has been redeemed in full."}]`))
}

// zero is an empty balance, with the decimals of the gift.
func (v *variety) zero() string {
	return pick(v.item, "0", map[string]string{"USD": "0.00", "JPY": "0", "KWD": "0.000"}[v.currency])
}

// TestPayloadOfTheRest looks at the members that the kinds of gift above leave null, and at those that time changes.
func TestPayloadOfTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	later := w.now().AddDate(0, 0, 2).UTC().Truncate(time.Second)
	w.post("send-gift", `{"monetaryGift":{"value":5,"deliveryMethodID":1,"recipientContact":"a@example.com",`+
		`"hasScheduledDelivery":true,"deliveryDate":"`+
		later.Format(time.RFC3339)+`","voucherDesignID":"`+strings.ToUpper(design)+
		`","senderDescription":"gift"},"senderDescription":"top",`+purchase+`}`).want(201,
		"gifts[0].deliveryDate", later.Format("2006-01-02T15:04:05.000Z"), "gifts[0].voucherDesignID", design,
		"gifts[0].senderDescription", "top", "gifts[0].status", "PENDING")
	// A printed gift does not wait.
	w.post("send-gift", ofMoney("5", `,"hasScheduledDelivery":true,"deliveryDate":"`+later.Format(time.RFC3339)+
		`"`)).want(201, "gifts[0].status", "DELIVERED")
	for _, ignored := range []string{`"junk"`, `"2020-01-01T00:00:00Z"`, `""`, `null`} {
		w.post("send-gift", ofMoney("5", `,"hasScheduledDelivery":false,"deliveryDate":`+ignored)).want(201,
			"gifts[0].deliveryDate", "null")
	}
	w.post("send-gift", ofMoney("5", `,"hasScheduledDelivery":false,"deliveryDate":5`)).refused(400, refusal.ValidationFailure,
		"monetaryGift.deliveryDate")
	r := w.post("send-gift", `{"monetaryGift":{"value":5,"deliveryMethodID":3},`+promotion+`,"validStarting":"`+
		later.Format(time.RFC3339)+`","validForDays":1e0}`).want(201,
		"gifts[0].isRedeemable", "false", "gifts[0].isInRedeemablePeriod", "false", "gifts[0].isInRedeemableStatus", "true",
		"gifts[0].notRedeemableReasons[0].code", "REDEMPTION_NOT_ALLOWED", "gifts[0].validFrom",
		later.Format("2006-01-02T15:04:05.000Z"))
	ask := func() reply {
		return w.post("validate-gift", `{"voucherCode":"`+r.at("gifts[0].voucherCode")+`","organizationID":"`+pier+`"}`)
	}
	ask().want(200, "isInRedeemablePeriod", "false")
	w.pass(60 * time.Hour)
	ask().want(200, "isInRedeemablePeriod", "true", "isRedeemable", "true")
	w.pass(24 * time.Hour)
	ask().want(200, "isInRedeemablePeriod", "false", "isRedeemable", "false", "hasRemainingBalance", "true")
	// A cancelled gift validates, and says why it cannot be redeemed; little money may be asked for in cash in California.
	small := w.send(ofMoney("14.99"))
	at := `{"voucherCode":"` + small.code + `","organizationID":"` + pier + `"}`
	w.post("validate-gift", at).want(200, "cashOutAllowed", "true")
	w.post("validate-gift", strings.Replace(at, pier, wharf, 1)).want(200, "cashOutAllowed", "false")
	w.post("cancel-gift", `{"voucherID":"`+small.id+`","cause":"CANCELLED"}`).want(200)
	w.post("validate-gift", at).want(200, "status", "CANCELLED", "statusID", "7", "isRedeemable", "false",
		"notRedeemableReasons[0].text", "This gift was cancelled.")
}
