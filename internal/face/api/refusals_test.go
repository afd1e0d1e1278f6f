package api_test

import (
	"strings"
	"testing"
	"time"

	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

// TestEveryCodeIsProduced makes each code happen in a world of its own.
func TestEveryCodeIsProduced(t *testing.T) {
	t.Parallel()
	at := `,"organizationID":"` + pier + `"}`
	produce := map[refusal.Code]func(w *world) reply{
		refusal.ValidationFailure: func(w *world) reply {
			return w.post("redeem-gift", `{}`).refused(400,
				refusal.ValidationFailure, "")
		},
		refusal.NotFound:           func(w *world) reply { return w.post("redeem-gift", `{"voucherID":"`+nowhere+`"`+at) },
		refusal.InvalidCodeFormat:  func(w *world) reply { return w.post("validate-gift", `{"voucherCode":"12345678901"`+at) },
		refusal.InvalidTokenFormat: func(w *world) reply { return w.post("validate-gift", `{"voucherPublicToken":"x"`+at) },
		refusal.NotSupported:       func(w *world) reply { return w.post("redeem-gift", `{}`, as(systemKey)...) },
		refusal.AccountMisconfigured: func(w *world) reply {
			return w.post("validate-gift", `{"voucherCode":"123456789012"}`, as(homelessKey)...)
		},
		refusal.MissingOrInvalidGiftProgram: func(w *world) reply {
			return w.post("redeem-gift", `{"voucherID":"`+w.send(ofMoney("5")).id+
				`","targetProgramID":"33333333-3333-3333-3333-333333333333"`+at)
		},
		refusal.InvalidVoucherType: func(w *world) reply {
			return w.post("validate-gift", `{"voucherCode":"`+w.send(ofMoney("5")).code+`","targetTypeCode":"NOT_GIFT"`+at)
		},
		refusal.ItemEligibilityFailure: func(w *world) reply {
			return w.post("validate-gift", `{"voucherCode":"`+w.send(latte).code+`","ticketData":`+ticketOf("TEA")+at)
		},
		refusal.AlreadyRedeemed: func(w *world) reply {
			g := w.send(ofMoney("5"))
			w.redeem(g, "").want(200)
			return w.redeem(g, "1")
		},
		refusal.RedemptionNotAllowed: func(w *world) reply {
			g := w.send(ofMoney("5"))
			w.post("cancel-gift", `{"externalTransactionReferenceNumber":"R-1","cause":"PURCHASE_FAILED"}`).want(200)
			return w.post("validate-gift", `{"voucherCode":"`+g.code+`"`+at)
		},
		refusal.NotAuthorized: func(w *world) reply {
			return w.post("redeem-gift", `{"voucherID":"`+w.send(ofMoney("5")).id+`"`+at, as(wharfKey)...)
		},
		refusal.UnexpectedError: func(w *world) reply {
			return w.post("redeem-gift", redeemBody(made{id: nowhere}, "1"), "Idempotency-Key", "boom")
		},
		refusal.Unauthenticated:     func(w *world) reply { return w.post("redeem-gift", `{}`, as("boon_test_nobody")...) },
		refusal.InsufficientBalance: func(w *world) reply { return w.redeem(w.send(ofMoney("5")), "5.01") },
		refusal.AlreadyReversed: func(w *world) reply {
			body := `{"redemptionID":"` + w.redeem(w.send(ofMoney("5")), "1").at("redemptionID") + `"}`
			w.post("reverse-redemption", body).want(200)
			return w.post("reverse-redemption", body)
		},
		refusal.HoldNotOpen: func(w *world) reply {
			body := `{"holdID":"` + w.holdGift(w.send(ofMoney("5")), "1").at("holdID") + `"}`
			w.post("capture-hold", body).want(200)
			return w.post("capture-hold", body)
		},
		refusal.AlreadyActivated: func(w *world) reply {
			return w.post("activate-gift", activateBody(w.send(ofMoney("5")),
				"5"))
		},
		refusal.AlreadyLinked: func(w *world) reply {
			g := w.send(ofMoney("5"))
			w.post("link-customer", `{"voucherID":"`+g.id+`","customerID":"C-1"}`).want(200)
			return w.post("link-customer", `{"voucherID":"`+g.id+`","customerID":"C-2"}`)
		},
		refusal.IdempotencyMismatch: func(w *world) reply {
			g := w.send(ofMoney("5"))
			w.redeem(g, "1", once("k")...).want(200)
			return w.redeem(g, "2", once("k")...)
		},
		refusal.RequestInProgress: func(w *world) reply {
			g, release := w.send(ofMoney("5")), w.hold()
			end := w.start(operation.RedeemGift, "slow", func() { w.redeem(g, "1", once("slow")...).want(200) })
			defer func() { release(); end() }()
			return w.redeem(g, "1", once("slow")...)
		},
		refusal.RateLimited: func(w *world) reply {
			for n := range merchant.AnonymousBurst {
				w.post("redeem-gift", `{}`, as("boon_test_anonymous"+strings.Repeat("x", n))...).refused(401, refusal.Unauthenticated)
			}
			return w.post("redeem-gift", `{}`, as("boon_test_anonymous")...)
		},
		refusal.Unavailable: func(w *world) reply {
			w.store.Close()
			return w.get("/gifting/gifts")
		},
	}
	for _, code := range refusal.Codes() {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			if produce[code] == nil {
				t.Fatal("nobody makes this code happen")
			}
			w := newWorld(t, func(c *config) {
				if code == refusal.UnexpectedError {
					c.Fingerprint = func([]byte) [32]byte { panic("the secret reason") }
				}
			})
			r := produce[code](w)
			r.refused(r.status, code)
			if strings.Contains(string(r.body), "secret reason") || strings.Contains(string(r.body), "sql") {
				t.Errorf("an internal reason leaves: %s", r.body)
			}
			switch wait := r.header.Get("Retry-After"); code {
			case refusal.RateLimited, refusal.Unavailable, refusal.RequestInProgress:
				if wait == "" || wait == "0" {
					t.Errorf("Retry-After is %q", wait)
				}
			default:
				if wait != "" {
					t.Errorf("Retry-After is %q", wait)
				}
			}
			if (r.header.Get("WWW-Authenticate") != "") != (code == refusal.Unauthenticated) {
				t.Errorf("WWW-Authenticate is %q", r.header.Get("WWW-Authenticate"))
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			if last := w.events[len(w.events)-1]; last.Code != code && code != refusal.RequestInProgress {
				t.Errorf("the event says %q", last.Code)
			}
		})
	}
}

// latte is a request for a promotional gift that is good for certain items only.
const latte = `{"monetaryGift":{"value":10,"deliveryMethodID":3},` + promotion + `}`

// ticketOf is ticket data with one line of 4.50.
func ticketOf(item string) string {
	return `{"format":"standard","data":{"lineItems":[{"itemID":"` + item +
		`","itemName":"x","quantity":1,"itemTotalPrice":4.50}]}}`
}

// hold keeps the database's write lock, from a store of its own, until release is called.
func (w *world) hold() (release func()) {
	if w.database != "" {
		return pgtest.Hold(w, w.database)
	}
	other, err := store.Open(w.Context(), store.Options{Dir: w.dir, Database: w.database})
	if err != nil {
		w.Fatal(err)
	}
	held, free := make(chan struct{}), make(chan struct{})
	ended := make(chan error)
	go func() {
		ended <- other.Group(w.Context(), ledger.Want{}, func(*ledger.State) ledger.Changes {
			close(held)
			<-free
			return ledger.Changes{}
		})
	}()
	<-held
	return func() {
		close(free)
		if err := <-ended; err != nil {
			w.Error(err)
		}
		other.Close()
	}
}

// start makes a call under an Idempotency-Key in the background and returns when the engine has it; end waits for its
// end.
func (w *world) start(operation operation.Name, key string, call func()) (end func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	for !w.engine.Running(ledger.RequestKey{AccountID: id(harbor), Operation: operation, Key: key}) {
		time.Sleep(time.Millisecond)
	}
	return func() { <-done }
}

// badCase is a body that must be refused.
type badCase struct {
	name, body string
	status     int
	code       refusal.Code
	paths      []string
}

func invalid(name, body string, paths ...string) badCase {
	return badCase{name, body, 400, refusal.ValidationFailure, paths}
}

// badBodies are refused by every operation.
var badBodies = []badCase{
	invalid("empty", "", ""),
	invalid("blank", " \n\t", ""),
	invalid("not JSON", "hello", ""),
	invalid("null", "null", ""),
	invalid("a list", "[]", ""),
	invalid("a text", `"x"`, ""),
	invalid("two values", `{} {}`, ""),
	invalid("cut off", `{"voucherID":"`, ""),
	invalid("a trailing comma", `{"amount":1,}`, ""),
	invalid("a comment", `{/* x */}`, ""),
	invalid("single quotes", `{'amount':1}`, ""),
	invalid("a byte order mark", "\ufeff{}", ""),
	invalid("invalid UTF-8", "{\"reference\":\"\xff\"}", ""),
	invalid("half a surrogate", `{"reference":"\ud800"}`, ""),
	invalid("a raw line break in a text", "{\"reference\":\"a\nb\"}", ""),
	invalid("NaN", `{"amount":NaN}`, ""),
	invalid("a leading zero", `{"amount":01}`, ""),
	invalid("a leading plus", `{"amount":+1}`, ""),
	invalid("hexadecimal", `{"amount":0x10}`, ""),
	invalid("20,000 nested lists", strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000), ""),
	invalid("20,000 nested lists in a member", `{"amount":`+strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)+`}`,
		""),
	invalid("20,000 nested objects", strings.Repeat(`{"a":`, 20_000)+"1"+strings.Repeat("}", 20_000), ""),
	{"2 MiB", `{"reference":"` + strings.Repeat("x", 2<<20) + `"}`, 413, refusal.ValidationFailure, []string{""}},
	invalid("an unknown member", `{"nonsense":1}`, "nonsense"),
	invalid("a name in another case", `{"VoucherID":1,"monetarygift":2,"REDEMPTIONID":3,"vouchercode":4,"Cause":5}`,
		"VoucherID"),
	invalid("an empty name", `{"":1}`, `[""]`),
	invalid("a name with a dot", `{"a.b":1}`, `["a.b"]`),
}

// promptly demands that a bad call is refused soon. It should be within 100 ms, and is on a machine that does nothing
// else; here the machine runs other tests.
func (w *world) promptly(t *testing.T, call func()) {
	t.Helper()
	best := time.Hour
	for try := 0; try < 10 && best > 100*time.Millisecond; try++ {
		call()
		best = min(best, time.Duration(w.took.Load()))
	}
	if best > time.Second {
		t.Errorf("it took %s, and no less in ten times", best)
	} else if best > 100*time.Millisecond {
		t.Logf("it took %s, and no less in ten times", best)
	}
}

func TestBodiesThatEveryOperationRefuses(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	w := newWorld(t)
	for operation := range paths {
		for _, c := range badBodies {
			t.Run(operation+"/"+c.name, func(t *testing.T) {
				w.promptly(t, func() { w.in(t).post(operation, c.body).refused(c.status, c.code, c.paths...) })
			})
		}
	}
}

// in gives the world to a subtest.
func (w *world) in(t testing.TB) *world {
	return &world{TB: t, dir: w.dir, store: w.store, engine: w.engine, server: w.server, config: w.config}
}

func TestBadInputOfRedeemAndValidate(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	w := newWorld(t)
	g := w.send(ofMoney("25.50"))
	item := w.send(`{"itemGift":{"label":"Latte","quantity":3,"deliveryMethodID":3},` + purchase + `}`)
	redeem := func(members string) string {
		return `{"voucherID":"` + g.id + `","organizationID":"` + pier + `",` + members + `}`
	}
	amount := func(name, number string) badCase { return invalid(name, redeem(`"amount":`+number), "amount") }
	cases := []badCase{
		amount("1e400", "1e400"), amount("minus zero", "-0"), amount("minus zero with decimals", "-0.00"),
		amount("zero", "0"),
		amount("below zero", "-0.01"), amount("25.001", "25.001"), amount("an absurd exponent", "1e999999999"),
		amount("an absurd negative exponent", "1e-999999999"), amount("an exponent beyond integers",
			"1e99999999999999999999"),
		amount("a text", `"5"`), amount("true", "true"), amount("an object", "{}"), amount("a list", "[5]"),
		amount("a 19-digit number", "9999999999999999999"),
		invalid("twice", redeem(`"amount":1,"amount":2`), "amount"),
		invalid("twice, once null", redeem(`"amount":1,"amount":null`), "amount"),
		invalid("twice by escapes", redeem(`"amount":1,"\u0061mount":2`), "amount"),
		invalid("many problems", `{"voucherID":5,"organizationID":"x","amount":"y","allowPartial":1,"reference":[],`+
			`"targetTypeCode":"X","ticketData":7,"nope":0}`,
			"voucherID", "organizationID", "amount", "allowPartial", "reference", "targetTypeCode", "ticketData", "nope"),
		invalid("no GUID", `{"voucherID":"{`+g.id+`}","organizationID":"`+pier+`"}`, "voucherID"),
		{"the zero GUID", `{"voucherID":"00000000-0000-0000-0000-000000000000","organizationID":"` + pier + `"}`, 404,
			refusal.NotFound, []string{"voucherID"}},
		{"the zero GUID as a location", `{"voucherID":"` + g.id +
			`","organizationID":"00000000-0000-0000-0000-000000000000"}`, 404, refusal.NotFound,
			[]string{"organizationID"}},
		amount("an empty text", `""`),
		invalid("two names of the gift", redeem(`"voucherCode":"123456789012"`), ""),
		invalid("NUL in a text", redeem(`"reference":"a\u0000b"`), "reference"),
		invalid("a control character", redeem(`"reference":"a\u001bb"`), "reference"),
		invalid("a long reference", redeem(`"reference":"`+strings.Repeat("é", 101)+`"`), "reference"),
		invalid("a ticket without a format", redeem(`"ticketData":{"data":{}}`), "ticketData.format"),
		invalid("a ticket without data", redeem(`"ticketData":{"format":"standard"}`), "ticketData.data"),
		invalid("a ticket that is wrong", redeem(`"ticketData":{"format":"standard","data":{"lineItems":[
			{"quantity":"x"}]}}`), "ticketData.data.lineItems[0].quantity"),
		invalid("an unknown member of a ticket", redeem(`"ticketData":{"format":"standard","data":{"lineItems":[]},"x":1}`),
			"ticketData.x"),
		{"an unknown format of a ticket", redeem(`"ticketData":{"format":"micros","data":5}`), 422, refusal.NotSupported,
			[]string{"ticketData.format"}},
		invalid("a ticket member that is nearly right", redeem(`"ticketData":{"format":"standard","data":{"lineItem":[]}}`),
			"ticketData.data.lineItems"),
		{"an unknown location", `{"voucherID":"` + g.id + `","organizationID":"` + nowhere + `"}`, 404, refusal.NotFound,
			[]string{"organizationID"}},
		{"another account's location", `{"voucherID":"` + g.id + `","organizationID":"` + cornerPlace + `"}`, 404,
			refusal.NotFound, []string{"organizationID"}},
		invalid("no location", `{"voucherID":"`+g.id+`"}`, "organizationID"),
		{"an unknown point of sale", `{"voucherID":"` + g.id + `","pointOfSaleSystemOrganizationIdentifier":"POS-9"}`, 404,
			refusal.NotFound, nil},
		{"point of sale not enabled", `{"voucherID":"` + g.id + `","pointOfSaleSystemOrganizationIdentifier":"POS-2"}`, 422,
			refusal.NotSupported, nil},
		invalid("two places", `{"voucherID":"`+g.id+`","organizationID":"`+wharf+
			`","pointOfSaleSystemOrganizationIdentifier":"POS-1"}`,
			"pointOfSaleSystemOrganizationIdentifier"),
		invalid("half an item", `{"voucherID":"`+item.id+`","organizationID":"`+pier+`","amount":1.5}`, "amount"),
		{"too many items", `{"voucherID":"` + item.id + `","organizationID":"` + pier + `","amount":4}`, 409,
			refusal.InsufficientBalance, []string{"amount"}},
	}
	for _, c := range cases {
		t.Run("redeem/"+c.name, func(t *testing.T) {
			w.in(t).post("redeem-gift", c.body).refused(c.status, c.code,
				c.paths...)
		})
	}
	code := func(name, value string) badCase {
		return badCase{name, `{"voucherCode":` + value + `,"organizationID":"` + pier + `"}`, 400, refusal.InvalidCodeFormat,
			[]string{"voucherCode"}}
	}
	token := func(name, value string) badCase {
		return badCase{name, `{"voucherPublicToken":"` + value + `","organizationID":"` + pier + `"}`, 400,
			refusal.InvalidTokenFormat, []string{"voucherPublicToken"}}
	}
	cases = []badCase{
		code("11 digits", `"12345678901"`), code("13 digits", `"1234567890123"`), code("spaces", `"1234 5678 9012"`),
		code("Arabic digits", `"١٢٣٤٥٦٧٨٩٠١٢"`), code("fullwidth digits", `"１２３４５６７８９０１２"`),
		code("letters", `"12345678901O"`),
		code("an exponent", "1e11"), code("a fraction", "123456789012.0"), code("below zero", "-123456789012"),
		code("short number", "12345"),
		invalid("an empty code", `{"voucherCode":"","organizationID":"`+pier+`"}`, ""),
		invalid("a code of another type", `{"voucherCode":true,"organizationID":"`+pier+`"}`, "voucherCode"),
		invalid("code and token", `{"voucherCode":"`+g.code+`","voucherPublicToken":"`+g.token+`","organizationID":"`+pier+
			`"}`, ""),
		invalid("neither", `{"organizationID":"`+pier+`"}`, ""),
		invalid("both null", `{"voucherCode":null,"voucherPublicToken":null}`, ""),
		invalid("a bad code among other problems", `{"voucherCode":"1","organizationID":5}`, "voucherCode", "organizationID"),
		{"code and ticket format", `{"voucherCode":"1","organizationID":"` + pier + `","ticketData":{"format":"x","data":1}}`,
			400, refusal.InvalidCodeFormat,
			[]string{"voucherCode", "ticketData.format"}},
		invalid("a bad code and a bad token", `{"voucherCode":"1","voucherPublicToken":"2"}`, "", "voucherCode",
			"voucherPublicToken"),
		token("another scheme", "ftp://x.example/g/"+g.token), token("javascript", "javascript:alert(1)"),
		token("another path", "https://x.example/gift/"+g.token),
		token("21 characters", g.token[:21]), token("23 characters", g.token+"0"), token("a slash after", "/g/"+g.token+"/"),
		token("other letters", "é"+g.token[2:]), invalid("an empty token", `{"voucherPublicToken":"","organizationID":"`+pier+
			`"}`, ""),
		{"validate has no voucherID", `{"voucherID":"` + g.id + `","organizationID":"` + pier + `"}`, 400,
			refusal.ValidationFailure, []string{"voucherID"}},
	}
	for _, c := range cases {
		t.Run("validate/"+c.name, func(t *testing.T) {
			w.in(t).post("validate-gift", c.body).refused(c.status, c.code,
				c.paths...)
		})
	}
	w.get("/gifting/gifts/"+g.id).want(200, "currentBalance", "25.50")
	w.get("/gifting/gifts/"+item.id).want(200, "currentBalance", "3")
}

func TestBadInputOfSend(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	w := newWorld(t)
	gift1 := func(members string) string {
		return `{"monetaryGift":{"value":5,"deliveryMethodID":3,` + members + `},` + purchase + `}`
	}
	mail := func(to string) string {
		return `{"monetaryGift":{"value":5,"deliveryMethodID":1,"recipientContact":"` + to + `"},` + purchase + `}`
	}
	value := func(v string) badCase { return invalid("value "+v, ofMoney(v), "monetaryGift.value") }
	m := "monetaryGift."
	cases := []badCase{
		value("0"), value("-0"), value("-5"), value("1e400"), value("25.001"), value("1e999999999"), value(`"5"`),
		value("10000.01"), value("null"),
		invalid("both gifts", `{"monetaryGift":{"value":5,"deliveryMethodID":3},"itemGift":{"label":"x","quantity":1,`+
			`"deliveryMethodID":3},`+purchase+`}`, "itemGift"),
		invalid("no gift", `{`+purchase+`}`, ""),
		invalid("everything missing", `{"monetaryGift":{}}`, m+"value", m+"deliveryMethodID", "paymentMethodID"),
		invalid("wrong types everywhere", `{"monetaryGift":5,"itemGift":"x","recipients":{},"senderDescription":1,`+
			`"paymentMethodID":"2"}`,
			"monetaryGift", "itemGift", "recipients", "senderDescription", "paymentMethodID"),
		invalid("wrong types in the gift", `{"monetaryGift":{"value":[],"programID":1,"accountID":true,`+
			`"organizationID":{},"deliveryMethodID":"1",`+
			`"recipientDescription":1,"hasScheduledDelivery":"yes","deliveryDate":5,"deliveryTimezoneId":5,`+
			`"voucherDesignID":5,"message":{}},`+purchase+`}`,
			m+"value", m+"programID", m+"accountID", m+"organizationID", m+"deliveryMethodID", m+"recipientDescription", m+
				"hasScheduledDelivery",
			m+"deliveryDate", m+"deliveryTimezoneId", m+"voucherDesignID", m+"message"),
		invalid("a fraction as a method", gift1(`"message":"x"`)[:len(`{"monetaryGift":{"value":5,"deliveryMethodID":3`)]+
			`.5},`+purchase+`}`, m+"deliveryMethodID"),
		invalid("an unknown method", `{"monetaryGift":{"value":5,"deliveryMethodID":4},`+purchase+`}`, m+"deliveryMethodID"),
		invalid("an unknown payment", `{"monetaryGift":{"value":5,"deliveryMethodID":3},"paymentMethodID":3}`,
			"paymentMethodID"),
		invalid("fields of the other payment", `{"monetaryGift":{"value":5,"deliveryMethodID":3},`+purchase+
			`,"promotionID":"`+spring+`","validForDays":3}`,
			"promotionID", "validForDays"),
		invalid("a printed gift with an address", gift1(`"recipientContact":"a@example.com"`), m+"recipientContact"),
		invalid("an unknown member", gift1(`"vale":5`), m+"vale"),
		invalid("a header in an address", mail(`a@example.com\r\nBcc: b@example.com`), m+"recipientContact"),
		invalid("a name beside the address", mail(`Ann <a@example.com>`), m+"recipientContact"),
		invalid("two addresses", mail(`a@example.com,b@example.com`), m+"recipientContact"),
		invalid("a control character", gift1(`"message":"a\u0007"`), m+"message"),
		invalid("NUL", gift1(`"recipientDescription":"a\u0000"`), m+"recipientDescription"),
		invalid("a date without a zone, but for deliveryDate", `{"monetaryGift":{"value":5,"deliveryMethodID":3},`+promotion+
			`,"validStarting":"2026-12-24T09:00:00"}`, "validStarting"),
		{"the zero GUID as a program", gift1(`"programID":"` + zeroGUID + `"`), 422, refusal.MissingOrInvalidGiftProgram,
			[]string{m + "programID"}},
		{"the zero GUID as an account", gift1(`"accountID":"` + zeroGUID + `"`), 403, refusal.NotAuthorized,
			[]string{m + "accountID"}},
		invalid("the zero GUID elsewhere", strings.Replace(gift1(`"organizationID":"`+zeroGUID+`","voucherDesignID":"`+
			zeroGUID+`"`), shop, zeroGUID, 1),
			m+"organizationID", m+"voucherDesignID", "externalStorefrontID"),
		invalid("empty texts where something is needed",
			`{"monetaryGift":{"value":"","deliveryMethodID":""},"paymentMethodID":""}`, m+"value", m+"deliveryMethodID",
			"paymentMethodID"),
		invalid("a day that does not exist", gift1(`"hasScheduledDelivery":true,"deliveryDate":"2027-02-29T09:00:00Z"`), m+
			"deliveryDate"),
		invalid("a date alone", gift1(`"hasScheduledDelivery":true,"deliveryDate":"2027-02-28"`), m+"deliveryDate"),
		invalid("a date in the past", gift1(`"hasScheduledDelivery":true,"deliveryDate":"2020-01-01T00:00:00Z"`), m+
			"deliveryDate"),
		invalid("no date", gift1(`"hasScheduledDelivery":true`), m+"deliveryDate"),
		invalid("an unknown zone", gift1(`"deliveryTimezoneId":"America/Atlantis"`), m+"deliveryTimezoneId"),
		invalid("a path as a zone", gift1(`"deliveryTimezoneId":"../../etc/passwd"`), m+"deliveryTimezoneId"),
		invalid("another account's location", gift1(`"organizationID":"`+cornerPlace+`"`), m+"organizationID"),
		invalid("another account's storefront", strings.Replace(ofMoney("5"), shop, cornerShop, 1), "externalStorefrontID"),
		invalid("an unknown promotion", `{"monetaryGift":{"value":5,"deliveryMethodID":3},"paymentMethodID":4,
			"promotionID":"`+nowhere+`"}`, "promotionID"),
		invalid("a promotion without terms", `{"monetaryGift":{"value":5,"deliveryMethodID":3},"paymentMethodID":4,`+
			`"promotionID":"`+bareSpring+`"}`,
			"promotionalTerms", "validStarting", "validForDays"),
		invalid("an unknown design", gift1(`"voucherDesignID":"`+nowhere+`"`), m+"voucherDesignID"),
		invalid("no recipients", `{"monetaryGift":{"value":5,"deliveryMethodID":3},"recipients":[],`+purchase+`}`,
			"recipients"),
		invalid("both forms", `{"monetaryGift":{"value":5,"deliveryMethodID":3,"recipientDescription":"x",`+
			`"message":"y"},"recipients":[{}],`+purchase+`}`,
			m+"recipientDescription", m+"message"),
		invalid("recipients that are none", `{"monetaryGift":{"value":5,"deliveryMethodID":1},"recipients":[null,5,`+
			`{"recipientContact":"x"},{"deliveryMethodID":9,"mesage":"x"}],`+purchase+`}`,
			"recipients[0]", "recipients[1]", "recipients[2].recipientContact", "recipients[3].deliveryMethodID",
			"recipients[3].mesage"),
		invalid("1,001 recipients", `{"monetaryGift":{"value":5,"deliveryMethodID":3},"recipients":[{}`+
			strings.Repeat(",{}", 1000)+`],`+purchase+`}`, "recipients"),
		invalid("100,000 wrong recipients", `{"monetaryGift":{"value":5},"recipients":[9`+strings.Repeat(",9", 100_000)+`]}`,
			"recipients", "recipients[999]"),
		invalid("50,000 unknown members", `{"monetaryGift":{"value":5`+strings.Repeat(`,"x":1`, 50_000)+`}}`, m+"x"),
		{"an unknown program", gift1(`"programID":"` + nowhere + `"`), 422, refusal.MissingOrInvalidGiftProgram,
			[]string{m + "programID"}},
		{"a program of some locations", gift1(`"programID":"` + merchant.DistributionProgram.ID.String() + `"`), 422,
			refusal.NotSupported, []string{m + "organizationID"}},
		invalid("an unknown program among other problems", ofMoney("0", `,"programID":"`+nowhere+`"`), m+"value", m+
			"programID"),
		{"another account", gift1(`"accountID":"` + corner + `"`), 403, refusal.NotAuthorized, []string{m + "accountID"}},
		{"another account, and more", gift1(`"accountID":"` + corner + `","x":1`), 400, refusal.ValidationFailure,
			[]string{m + "accountID", m + "x"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w.promptly(t, func() { w.in(t).post("send-gift", c.body).refused(c.status, c.code, c.paths...) })
		})
	}
	w.get("/gifting/gifts").want(200, "gifts", "[]")
	if w.wakes.Load() != 0 {
		t.Error("somebody was woken to deliver nothing")
	}
}

func TestBadInputOfReverseAndCancel(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	w := newWorld(t)
	r := w.redeem(w.send(ofMoney("5")), "2").at("redemptionID")
	for _, c := range []struct {
		operation string
		badCase
	}{
		{"reverse-redemption", invalid("neither", `{}`, "")},
		{"reverse-redemption", invalid("both", `{"redemptionID":"`+r+`","idempotencyKey":"x"}`, "")},
		{"reverse-redemption", invalid("an empty key", `{"idempotencyKey":""}`, "")},
		{"reverse-redemption", invalid("an empty amount", `{"redemptionID":"`+r+`","amount":""}`, "amount")},
		{"reverse-redemption", badCase{"an unknown till", `{"redemptionID":"` + r +
			`","pointOfSaleSystemOrganizationIdentifier":"POS-9"}`, 404, refusal.NotFound,
			[]string{"pointOfSaleSystemOrganizationIdentifier"}}},
		{"reverse-redemption", invalid("a key of other letters", `{"idempotencyKey":"é"}`, "idempotencyKey")},
		{"reverse-redemption", invalid("a key that no header can carry", `{"idempotencyKey":"k "}`, "idempotencyKey")},
		{"reverse-redemption", invalid("a blank key", `{"idempotencyKey":" "}`, "idempotencyKey")},
		{"reverse-redemption", invalid("a key that would become ASCII", `{"idempotencyKey":"\u212a"}`, "idempotencyKey")},
		{"reverse-redemption", invalid("a long key", `{"idempotencyKey":"`+strings.Repeat("k", 256)+`"}`, "idempotencyKey")},
		{"reverse-redemption", invalid("a gift without a key", `{"redemptionID":"`+r+`","voucherID":"`+r+`"}`, "voucherID")},
		{"reverse-redemption", invalid("two gifts", `{"idempotencyKey":"x","voucherID":"`+r+
			`","voucherCode":"123456789012"}`, "")},
		{"reverse-redemption", invalid("zero", `{"redemptionID":"`+r+`","amount":0}`, "amount")},
		{"reverse-redemption", invalid("more than was taken", `{"redemptionID":"`+r+`","amount":2.01}`, "amount")},
		{"reverse-redemption", invalid("a long reason", `{"redemptionID":"`+r+`","reason":"`+strings.Repeat("x", 201)+`"}`,
			"reason")},
		{"reverse-redemption", badCase{"unknown", `{"redemptionID":"` + nowhere + `"}`, 404, refusal.NotFound,
			[]string{"redemptionID"}}},
		{"reverse-redemption", badCase{"an unknown location", `{"redemptionID":"` + r + `","organizationID":"` + nowhere +
			`"}`, 404, refusal.NotFound, nil}},
		{"reverse-redemption", invalid("by key, an unknown location", `{"idempotencyKey":"x","organizationID":"`+nowhere+`"}`,
			"organizationID")},
		{"reverse-redemption", invalid("by key, an unknown till",
			`{"idempotencyKey":"x","pointOfSaleSystemOrganizationIdentifier":"none"}`,
			"pointOfSaleSystemOrganizationIdentifier")},
		{"cancel-gift", invalid("nothing", `{}`, "", "cause")},
		{"cancel-gift", invalid("two names", `{"voucherID":"`+r+`","orderID":"`+r+`","cause":"CANCELLED"}`, "")},
		{"cancel-gift", invalid("another cause", `{"voucherID":"`+r+`","cause":"REDEEMED"}`, "cause")},
		{"cancel-gift", invalid("an empty reference", `{"externalTransactionReferenceNumber":"","cause":"CANCELLED"}`, "")},
		{"cancel-gift", badCase{"an unknown gift", `{"voucherID":"` + r + `","cause":"CANCELLED"}`, 404, refusal.NotFound, nil}},
		{"cancel-gift", badCase{"an unknown order", `{"orderID":"` + r + `","cause":"CANCELLED"}`, 404, refusal.NotFound, nil}},
		{"cancel-gift", invalid("a storefront beside an order", `{"orderID":"`+r+`","externalStorefrontID":"`+shop+
			`","cause":"CANCELLED"}`, "externalStorefrontID")},
		{"cancel-gift", invalid("skipping is no word", `{"orderID":"`+r+`","skipNotAllowed":"yes","cause":"CANCELLED"}`,
			"skipNotAllowed")},
		{"reinstate-gift", invalid("nothing", `{}`, "")},
		{"reinstate-gift", invalid("two names", `{"voucherID":"`+r+`","orderID":"`+r+`"}`, "")},
		{"reinstate-gift", invalid("a reference", `{"externalTransactionReferenceNumber":"R-1"}`,
			"externalTransactionReferenceNumber", "")},
		{"reinstate-gift", badCase{"an unknown gift", `{"voucherID":"` + r + `"}`, 404, refusal.NotFound, nil}},
		{"reinstate-gift", badCase{"an unknown order", `{"orderID":"` + nowhere + `"}`, 404, refusal.NotFound, nil}},
		{"resend-gift", invalid("nothing", `{}`, "voucherID")},
		{"resend-gift", invalid("another method", `{"voucherID":"`+r+`","deliveryMethodID":4}`, "deliveryMethodID")},
		{"resend-gift", badCase{"an unknown gift", `{"voucherID":"` + r + `"}`, 404, refusal.NotFound, []string{"voucherID"}}},
		{"replace-gift", invalid("nothing", `{}`, "voucherID", "reason")},
		{"replace-gift", invalid("no reason", `{"voucherID":"`+r+`","reason":""}`, "reason")},
		{"replace-gift", invalid("a reason that is none", `{"voucherID":"`+r+`","reason":7}`, "reason")},
		{"replace-gift", invalid("a long reason", `{"voucherID":"`+r+`","reason":"`+strings.Repeat("x", 201)+`"}`, "reason")},
		{"replace-gift", invalid("no way", `{"voucherID":"`+r+`","reason":"x","deliver":{}}`, "deliver.deliveryMethodID",
			"voucherID")},
		{"replace-gift", invalid("another way", `{"voucherID":"`+r+`","reason":"x","deliver":{"deliveryMethodID":4}}`,
			"deliver.deliveryMethodID", "voucherID")},
		{"replace-gift", invalid("another member",
			`{"voucherID":"`+r+`","reason":"x","deliver":{"deliveryMethodID":3,"x":1}}`,
			"deliver.x", "voucherID")},
		{"replace-gift", badCase{"an unknown gift", `{"voucherID":"` + r + `","reason":"x"}`, 404, refusal.NotFound,
			[]string{"voucherID"}}},
		{"transfer-balance", invalid("nothing", `{}`, "fromVoucherID", "toVoucherID")},
		{"transfer-balance", invalid("null", `{"fromVoucherID":null,"toVoucherID":null}`, "fromVoucherID", "toVoucherID")},
		{"transfer-balance", invalid("no ids", `{"fromVoucherID":"x","toVoucherID":7}`, "fromVoucherID", "toVoucherID")},
		{"transfer-balance", invalid("zero", `{"fromVoucherID":"`+r+`","toVoucherID":"`+nowhere+`","amount":0}`, "amount")},
		{"transfer-balance", invalid("below zero", `{"fromVoucherID":"`+r+`","toVoucherID":"`+nowhere+`","amount":-1}`,
			"amount")},
		{"transfer-balance", invalid("no amount", `{"fromVoucherID":"`+r+`","toVoucherID":"`+nowhere+`","amount":""}`,
			"amount")},
		{"transfer-balance", invalid("an unknown member", `{"fromVoucherID":"`+r+`","toVoucherID":"`+nowhere+
			`","organizationID":"`+pier+`"}`, "organizationID")},
		{"transfer-balance", badCase{"unknown gifts", `{"fromVoucherID":"` + r + `","toVoucherID":"` + nowhere + `"}`, 404,
			refusal.NotFound, []string{"fromVoucherID", "toVoucherID"}}},
		{"block-gift", invalid("nothing", `{}`, "voucherID", "reasonCode")},
		{"block-gift", invalid("another reason", `{"voucherID":"`+r+`","reasonCode":"lost"}`, "reasonCode")},
		{"block-gift", invalid("the service's reason", `{"voucherID":"`+r+`","reasonCode":"VERIFICATION_CODE"}`,
			"reasonCode")},
		{"block-gift", invalid("no text", `{"voucherID":"`+r+`","reasonCode":1}`, "reasonCode")},
		{"block-gift", invalid("by code", `{"voucherCode":"123456789012","reasonCode":"LOST"}`, "voucherID", "voucherCode")},
		{"block-gift", invalid("a long reason", `{"voucherID":"`+r+`","reasonCode":"LOST","reason":"`+
			strings.Repeat("x", 201)+`"}`, "reason")},
		{"block-gift", badCase{"an unknown gift", `{"voucherID":"` + r + `","reasonCode":"LOST"}`, 404, refusal.NotFound,
			[]string{"voucherID"}}},
		{"link-customer", invalid("nothing", `{}`, "voucherID", "customerID")},
		{"link-customer", invalid("no id", `{"voucherID":"`+r+`","customerID":""}`, "customerID")},
		{"link-customer", invalid("an id of two lines", `{"voucherID":"`+r+`","customerID":"a\nb"}`, "customerID")},
		{"link-customer", invalid("a long id", `{"voucherID":"`+r+`","customerID":"`+strings.Repeat("x", 65)+`"}`,
			"customerID")},
		{"unlink-customer", invalid("nothing", `{}`, "voucherID")},
		{"unblock-gift", invalid("nothing", `{}`, "voucherID")},
		{"unblock-gift", invalid("a reasonCode", `{"voucherID":"`+r+`","reasonCode":"LOST"}`, "reasonCode")},
		{"unblock-gift", badCase{"an unknown gift", `{"voucherID":"` + r + `"}`, 404, refusal.NotFound, []string{"voucherID"}}},
		{"adjust-gift", invalid("nothing", `{}`, "voucherID", "amount", "reasonCode", "reason")},
		{"adjust-gift", invalid("empty", `{"voucherID":"","amount":"","reasonCode":"","reason":""}`, "voucherID", "amount",
			"reasonCode", "reason")},
		{"adjust-gift", invalid("by nothing", adjusting("0"), "amount")},
		{"adjust-gift", invalid("by less than nothing", adjusting("-0"), "amount")},
		{"adjust-gift", invalid("by too fine an amount", adjusting("-0.001"), "amount")},
		{"adjust-gift", invalid("by too much", adjusting("-1e400"), "amount")},
		{"adjust-gift", invalid("by a text", adjusting(`"-1"`), "amount")},
		{"adjust-gift", invalid("with a plus", adjusting("+1"), "")},
		{"adjust-gift", invalid("a short reason", strings.Replace(adjusting("1"), "why", " ok ", 1), "reason")},
		{"adjust-gift", invalid("a reason for a block", strings.Replace(adjusting("1"), "FRAUD", "LOST", 1), "reasonCode")},
		{"adjust-gift", badCase{"an unknown gift", adjusting("1"), 404, refusal.NotFound, []string{"voucherID"}}},
		{"extend-gift", invalid("nothing", `{}`, "voucherID", "validUntil")},
		{"extend-gift", invalid("a date alone", `{"voucherID":"`+r+`","validUntil":"2040-01-01"}`, "validUntil")},
		{"extend-gift", invalid("no offset", `{"voucherID":"`+r+`","validUntil":"2040-01-01T00:00:00"}`, "validUntil")},
		{"extend-gift", invalid("too far", `{"voucherID":"`+r+`","validUntil":"3000-01-01T00:00:00Z"}`, "validUntil")},
		{"extend-gift", invalid("a number", `{"voucherID":"`+r+`","validUntil":20400101}`, "validUntil")},
		{"extend-gift", badCase{"an unknown gift", `{"voucherID":"` + r + `","validUntil":"2040-01-01T00:00:00Z"}`, 404,
			refusal.NotFound, []string{"voucherID"}}},
		{"reschedule-gift", invalid("nothing", `{}`, "voucherID", "deliveryDate")},
		{"reschedule-gift", invalid("null", `{"voucherID":null,"deliveryDate":null}`, "voucherID", "deliveryDate")},
		{"reschedule-gift", invalid("a date alone", `{"voucherID":"`+r+`","deliveryDate":"2030-01-01"}`, "deliveryDate")},
		{"reschedule-gift", invalid("empty", `{"voucherID":"","deliveryDate":""}`, "voucherID", "deliveryDate")},
		{"reschedule-gift", invalid("an unknown zone", `{"voucherID":"`+r+`","deliveryDate":"`+soon+
			`","deliveryTimezoneId":"Mars"}`, "deliveryTimezoneId")},
		{"reschedule-gift", badCase{"an unknown gift", `{"voucherID":"` + r + `","deliveryDate":"` + soon + `"}`, 404,
			refusal.NotFound, []string{"voucherID"}}},
		{"cancel-gift", badCase{"redeemed in part", `{"externalTransactionReferenceNumber":"R-1","cause":"PURCHASE_FAILED"}`,
			409, refusal.RedemptionNotAllowed, nil}},
	} {
		t.Run(c.operation+"/"+c.name, func(t *testing.T) {
			w.in(t).post(c.operation, c.body).refused(c.status, c.code,
				c.paths...)
		})
	}
}

func TestTransport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	redeem := paths["redeem-gift"]
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16",
		"multipart/form-data", "json", ";"} {
		w.do("POST", redeem, `{}`, "Content-Type", kind).refused(415, refusal.NotSupported, "Content-Type")
	}
	for _, kind := range []string{"application/json", "application/json; charset=UTF-8", "application/json;charset=utf8",
		`text/json; charset="UTF8"`, "text/json", "application/vnd.till+json", ""} {
		w.do("POST", redeem, `{}`, "Content-Type", kind).refused(400, refusal.ValidationFailure)
	}
	w.do("POST", redeem, `{}`, "Content-Encoding", "gzip").refused(415, refusal.NotSupported, "Content-Encoding")
	w.do("POST", redeem, `{}`, "Content-Encoding", "identity", "Content-Encoding", "gzip").refused(415, refusal.NotSupported,
		"Content-Encoding")
	w.do("POST", redeem, `{}`, "Content-Type", "application/json", "Content-Type", "text/plain").refused(415,
		refusal.NotSupported, "Content-Type")
	w.do("POST", redeem, `{}`, "Content-Encoding", "identity").refused(400, refusal.ValidationFailure)
	for _, method := range []string{"GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"} {
		if r := w.do(method, redeem, ""); r.status != 405 || r.header.Get("Allow") != "POST" {
			t.Errorf("%s: %d, Allow %q", method, r.status, r.header.Get("Allow"))
		}
	}
	w.do("POST", base+"/gifting/gifts", `{}`).refused(405, refusal.NotSupported)
	for _, path := range []string{"/", "/api", "/api/", base + "/nothing", redeem + "/", base + "//gifting/gifts", base +
		"/x/../gifting/gifts"} {
		w.do("GET", path, "").refused(404, refusal.NotFound)
	}
	if r := w.do("HEAD", base+"/gifting/gifts", ""); r.status != 200 || len(r.body) != 0 ||
		r.header.Get("Content-Length") == "" {
		t.Errorf("HEAD: %d %v", r.status, r.header)
	}
	w.post("redeem-gift?x=1", `{}`)
	// ignored
	w.do("POST", redeem+"?amount=1&a=%zz", `{"voucherID":"`+nowhere+`","organizationID":"`+pier+`"}`).refused(404,
		refusal.NotFound, "voucherID")
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, good := range []string{"a", "A-Z_0.9", strings.Repeat("x", 64)} {
		r := w.get("/gifting/gifts", "X-Request-ID", good).want(200, "requestID", good)
		if r.header.Get("X-Request-ID") != good {
			t.Errorf("%q came back as %q", good, r.header.Get("X-Request-ID"))
		}
	}
	for _, bad := range []string{"", "a b", "a/b", "é", strings.Repeat("x", 65)} {
		r := w.get("/gifting/gifts", "X-Request-ID", bad)
		if got := r.header.Get("X-Request-ID"); got == bad || got == "" || got != r.at("requestID") {
			t.Errorf("%q came back as %q", bad, got)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, header := range []string{harborKey, "Bearer " + harborKey, "bearer  " + harborKey} {
		w.get("/gifting/gifts", "Authorization", header).want(200)
	}
	w.get("/gifting/gifts", "Authorization", harborKey, "Authorization", cornerKey).refused(401, refusal.Unauthenticated)
	var answers []string
	for _, header := range []string{"", "Bearer", "Basic eDp5", "boon_test_unknown", "Bearer " + expiredKey, revokedKey} {
		r := w.get("/gifting/gifts", "Authorization", header, "X-Request-ID", "same").refused(401, refusal.Unauthenticated,
			"")
		answers = append(answers, string(r.body))
		if answers[0] != string(r.body) {
			t.Errorf("the answer tells what is wrong with the key: %s", r.body)
		}
	}
}

func TestSystemKeySendsForTheAccountItNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.post("send-gift", ofMoney("5"), as(systemKey)...).refused(400, refusal.ValidationFailure, "monetaryGift.accountID")
	w.post("send-gift", ofMoney("5", `,"accountID":"`+nowhere+`"`), as(systemKey)...).refused(403, refusal.NotAuthorized,
		"monetaryGift.accountID")
	w.post("send-gift", ofMoney("5", `,"accountID":"`+harbor+`"`), as(systemKey)...).want(201, "gifts[0].accountID", harbor)
	w.post("send-gift", ofMoney("5", `,"accountID":"`+harbor+`"`)).want(201)
}

func TestDeliveryNeedsMeans(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *config) { c.Email, c.SMS = false, false })
	mail := `{"monetaryGift":{"value":5,"deliveryMethodID":1,"recipientContact":"a@example.com"},` + purchase + `}`
	text := `{"monetaryGift":{"value":5,"deliveryMethodID":2,"recipientContact":"415-555-0132"},` + purchase + `}`
	for _, body := range []string{mail, text} { // whoever calls does not start the server
		r := w.post("send-gift", body).refused(409, refusal.AccountMisconfigured)
		if said := string(r.body); strings.Contains(said, "--") || !strings.Contains(said, "its operator must set up") {
			t.Errorf("it names the server's flags, or does not say what to do: %s", said)
		}
	}
	w.post("send-gift", ofMoney("5")).want(201)
	if w.wakes.Load() != 1 {
		t.Errorf("woken %d times", w.wakes.Load())
	}
}

// A gift that could never be redeemed is not made, and an expired one is not sent again.
func TestExpiry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := strings.Replace(latte, promotion, promotion+`,"validStarting":"2020-01-01T00:00:00Z"`, 1)
	r := w.post("send-gift", old).refused(400, refusal.ValidationFailure, "validForDays")
	if !strings.Contains(string(r.body), "until 2020-01-30 19:00 (America/New_York), which is over already.") {
		t.Errorf("%s", r.body)
	}
	g := w.send(latte)
	w.pass(31 * 24 * time.Hour)
	w.post("resend-gift", `{"voucherID":"`+g.id+`","deliveryMethodID":1,"recipientContact":"a@example.com"}`).refused(409,
		refusal.RedemptionNotAllowed)
	r = w.redeem(g, "").refused(409, refusal.RedemptionNotAllowed)
	if !strings.Contains(string(r.body), "(America/New_York)") || strings.Contains(string(r.body), " UTC") {
		t.Errorf("not in local time: %s", r.body)
	}
}

// SMS go to the countries that the account names, and never to paid numbers; a gift is not sent again elsewhere either.
func TestTextCountries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := func(number string) string {
		return `{"monetaryGift":{"value":5,"deliveryMethodID":2,"recipientContact":"` + number + `"},` + purchase + `}`
	}
	g := w.send(text("+14155550132"))
	again := func(number string) string { return `{"voucherID":"` + g.id + `","recipientContact":"` + number + `"}` }
	for _, number := range []string{"+447700900123", "876-555-0132", "900-555-0132", "+881612345678"} {
		w.post("send-gift", text(number)).refused(400, refusal.ValidationFailure, "monetaryGift.recipientContact")
		w.post("resend-gift", again(number)).refused(400, refusal.ValidationFailure, "recipientContact")
	}
	err := w.store.Configure(t.Context(), func(d *merchant.Directory, _ merchant.Uses) (merchant.Changes, error) {
		a := *d.Accounts[id(harbor)]
		a.TextCountries = []string{"GB"}
		return merchant.Changes{Accounts: []*merchant.Account{&a}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	directory, err := w.store.Directory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.directory.Store(directory)
	w.post("send-gift", text("+44 7700 900123")).want(201)
	w.post("resend-gift", again("+447700900123")).want(200)
	w.post("send-gift", text("+14155550132")).refused(400, refusal.ValidationFailure, "monetaryGift.recipientContact")
}
