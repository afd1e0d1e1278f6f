package api_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"boon.example/internal/gift/operation"
	"boon.example/internal/store/pgtest"
)

// target is the interface, to be fuzzed: whatever comes, the answer is one that the OpenAPI file allows, and no
// failure of the server's.
type target struct{ http.Handler }

func newTarget(f *testing.F) target {
	pgtest.Once(f)
	var calls atomic.Int64
	w := newWorld(f, func(c *config) { // each call is a client of its own, or all would soon be limited
		c.ClientAddress = func(*http.Request) netip.Addr {
			n := calls.Add(1)
			return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
		}
	})
	return target{w.config.handler()}
}

func (h target) ask(t *testing.T, r *http.Request, sent string) {
	t.Helper()
	r.Body = io.NopCloser(strings.NewReader(sent))
	answer := httptest.NewRecorder()
	contracts.checker.For(t).Handler(h).ServeHTTP(answer, r)
	if answer.Code >= 500 {
		t.Fatalf("%d: %s", answer.Code, answer.Body)
	}
}

// fuzz throws bodies at the operation that the target is named after. It begins with the seeds, the examples of the
// OpenAPI file, and bodies that every operation refuses.
func fuzz(f *testing.F, seeds ...string) {
	operation := ""
	for name := range paths {
		if f.Name() == fuzzTarget(name) {
			operation = name
		}
	}
	if operation == "" {
		f.Fatalf("%s is named after no operation", f.Name())
	}
	for _, s := range append(seeds, seedsOf(operation)...) {
		f.Add(s)
	}
	h := newTarget(f)
	f.Fuzz(func(t *testing.T, body string) { h.post(t, operation, body) })
}

// seedsOf are the examples of the OpenAPI file for an operation, and bodies that every operation refuses.
func seedsOf(operation string) (seeds []string) {
	for _, example := range theRequests()[operation].examples {
		text, err := json.Marshal(example)
		if err != nil {
			panic(err) // it was JSON
		}
		seeds = append(seeds, string(text))
	}
	for _, c := range badBodies {
		if len(c.body) < 1<<16 {
			seeds = append(seeds, c.body)
		}
	}
	return seeds
}

// post throws a body at an operation.
func (h target) post(t *testing.T, operation, body string) {
	r := httptest.NewRequest("POST", paths[operation], nil)
	r.Header.Set("Authorization", harborKey)
	h.ask(t, r, body)
}

// FuzzPlainOperations throws bodies at the operations that are about one gift, whichever there are: which is the place
// of one of them among plainOperations.
func FuzzPlainOperations(f *testing.F) {
	all := plainOperations()
	for n, operation := range all {
		for _, body := range seedsOf(operation) {
			f.Add(uint(n), body)
		}
	}
	h := newTarget(f)
	f.Fuzz(func(t *testing.T, which uint, body string) { h.post(t, all[which%uint(len(all))], body) })
}

// fuzzTarget is the name of the target that throws bodies at an operation.
func fuzzTarget(operation string) string {
	name := "Fuzz"
	for word := range strings.SplitSeq(operation, "-") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// TestEveryOperationIsFuzzed: each operation of the table has a target of its own, and so has validate-gift; those that
// are about one gift share FuzzPlainOperations.
func TestEveryOperationIsFuzzed(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "fuzz_test.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			targets[f.Name.Name] = true
		}
	}
	for _, o := range append(operation.All(), "validate-gift") {
		if name := fuzzTarget(string(o)); !targets[name] && !slices.Contains(plainOperations(), string(o)) {
			t.Errorf("%s is not fuzzed: write %s", o, name)
		}
	}
}

func FuzzSendGift(f *testing.F) {
	fuzz(f, ofMoney("25.50"), ofMoney("1e1"), latte,
		`{"itemGift":{"label":"Latte","quantity":3,"terms":"x","equivalentValue":9.5,"deliveryMethodID":3},`+purchase+`}`,
		`{"monetaryGift":{"value":5,"deliveryMethodID":1,"hasScheduledDelivery":true,`+
			`"deliveryDate":"2027-02-28T09:00:00-05:00","deliveryTimezoneId":"Eastern Standard Time"},`+
			`"recipients":[{"recipientDescription":"Ann","recipientContact":"ann@example.com"},{"deliveryMethodID":2,`+
			`"recipientContact":"(415) 555-0132"}],`+purchase+`}`)
}

func FuzzValidateGift(f *testing.F) {
	fuzz(f, `{"voucherCode":"123456789012","organizationID":"`+pier+`"}`,
		`{"voucherCode":123456789012,"organizationID":"`+pier+`"}`,
		`{"voucherPublicToken":"https://gifts.example.com/g/0123456789ABCDEFGHIJKL",`+
			`"pointOfSaleSystemOrganizationIdentifier":"POS-1"}`,
		`{"voucherPublicToken":"0123456789ABCDEFGHIJKL","organizationID":"`+pier+
			`","targetTypeCode":"GIFT","validateTargetType":false,"ticketData":`+ticketOf("LATTE")+`}`)
}

func FuzzRedeemGift(f *testing.F) {
	fuzz(f, redeemBody(made{id: nowhere}, "1.5"), redeemBody(made{id: nowhere}, ""),
		`{"voucherID":"`+nowhere+`","organizationID":"`+pier+
			`","amount":2.5e1,"allowPartial":true,"reference":"T-1","ticketData":`+ticketOf("TEA")+`}`,
		`{"voucherCode":"123456789012","organizationID":"`+pier+`","targetProgramID":"22222222-2222-2222-2222-222222222222"}`)
}

func FuzzCancelGift(f *testing.F) {
	fuzz(f, `{"voucherID":"`+nowhere+`","cause":"CANCELLED","reason":"x"}`, `{"orderID":"`+nowhere+
		`","cause":"PURCHASE_FAILED"}`,
		`{"externalTransactionReferenceNumber":"R-1","cause":"CANCELLED","reason":null}`)
}

func FuzzTransferBalance(f *testing.F) {
	fuzz(f, `{"fromVoucherID":"`+nowhere+`","toVoucherID":"`+pier+`","amount":1.5}`)
}

func FuzzRedeemGifts(f *testing.F) {
	fuzz(f, `{"gifts":[{"voucherID":"`+nowhere+`","amount":1.5},{"voucherCode":"123456789012"}],"upTo":5,`+
		`"organizationID":"`+pier+`"}`, `{"gifts":[{},{"voucherPublicToken":"x"}],"ticketData":{"format":"standard"}}`)
}

func FuzzHoldGift(f *testing.F) {
	fuzz(f, redeemBody(made{id: nowhere}, "1.5"), `{"voucherCode":"123456789012","organizationID":"`+pier+
		`","expiresInSeconds":60}`)
}

func FuzzCreateStock(f *testing.F) {
	fuzz(f, `{"count":2,"value":25.5,"verificationCodes":true}`,
		`{"count":1,"label":"Latte","quantity":3,"terms":"x","equivalentValue":9.5,"organizationID":"`+pier+`"}`)
}

func FuzzActivateGift(f *testing.F) {
	fuzz(f, `{"voucherID":"`+nowhere+`","organizationID":"`+pier+`","amount":5,`+purchase+`}`,
		`{"voucherCode":"123456789012","organizationID":"`+pier+`",`+purchase+`}`)
}

func FuzzReverseActivation(f *testing.F) {
	fuzz(f, `{"activationID":"`+nowhere+`"}`, `{"idempotencyKey":"a b","voucherCode":"1"}`)
}

func FuzzCaptureHold(f *testing.F) {
	fuzz(f, `{"holdID":"`+nowhere+`","amount":1.5,"final":false,"reference":"x"}`)
}

func FuzzReloadGift(f *testing.F) {
	fuzz(f, loadBody(made{id: nowhere}, "1.5"),
		`{"voucherCode":"123456789012","organizationID":"`+pier+`"}`)
}

func FuzzCashOutGift(f *testing.F) {
	fuzz(f, cashBody(made{id: nowhere}), `{"voucherCode":"123456789012","organizationID":"`+pier+`"}`)
}

func FuzzReverseReload(f *testing.F) {
	fuzz(f, `{"reloadID":"`+nowhere+`"}`, `{"idempotencyKey":"a b","voucherCode":"1"}`)
}

func FuzzReleaseHold(f *testing.F) {
	fuzz(f, `{"holdID":"`+nowhere+`"}`, `{"idempotencyKey":"a b","voucherCode":"1"}`)
}

func FuzzReverseRedemption(f *testing.F) {
	fuzz(f, `{"redemptionID":"`+nowhere+`","amount":1.5,"reason":"x","organizationID":"`+pier+`"}`,
		`{"idempotencyKey":"a b"}`)
}

func FuzzReinstateGift(f *testing.F) {
	fuzz(f, `{"voucherID":"`+nowhere+`","reason":"x"}`, `{"orderID":"`+nowhere+`","skipNotAllowed":true}`)
}

// FuzzHeaders fuzzes what is read of a request beside its body: keys, names and content types. A value that no
// connection would carry is left out.
func FuzzHeaders(f *testing.F) {
	f.Add(harborKey, "k-1", "r-1", "application/json", "identity")
	f.Add("Bearer "+harborKey, " k", "r 1", "text/json; charset=utf-8", "")
	f.Add("bearer  "+pierKey+" ", strings.Repeat("k", 256), strings.Repeat("r", 65),
		"application/x+json;charset=\"utf-8\"", "gzip")
	f.Add("Basic eDp5", "é", "\xff", "application/json; charset", "identity, gzip")
	h := newTarget(f)
	f.Fuzz(func(t *testing.T, authorization, key, requestID, contentType, encoding string) {
		r := httptest.NewRequest("POST", paths["redeem-gift"], nil)
		for name, value := range map[string]string{
			"Authorization": authorization, "Idempotency-Key": key, "X-Request-ID": requestID, "Content-Type": contentType,
			"Content-Encoding": encoding,
		} {
			if value = strings.Trim(value, " \t"); value != "" && strings.IndexFunc(value, func(r rune) bool {
				return r < ' ' &&
					r != '\t' || r == 0x7f
			}) < 0 {
				r.Header.Set(name, value)
			}
		}
		h.ask(t, r, redeemBody(made{id: nowhere}, "1"))
	})
}

// FuzzAddress fuzzes paths and queries: ids, keys, cursors, times, limits.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{
		"/gifting/gifts", "/gifting/gifts?limit=1&cursor=Z2lmdHMBAgMEBQYHCAkKCwwNDg8Q", "/gifting/gifts/" + nowhere,
		"/gifting/gifts/" + nowhere + "/history?cursor=aGlzdG9yeQAAAAAAAAAB",
		"/requests/a%20b?operation=redeem-gift",
		"/gifting/gifts?createdFrom=2026-03-01T00:00:00%2B02:00&createdTo=2026-03-01t00:00:00z&status=CLAIMED",
		"/gifting/gifts?organizationID=" + pier + "&programID=x&promotionID=&externalTransactionReferenceNumber=%00",
		"/gifting//gifts", "/gifting/gifts/../gifts", "/requests/%2F%2e%2e",
		"/gifting/gifts?%zz", "/requests/" + strings.Repeat("k", 256),
	} {
		f.Add(s)
	}
	h := newTarget(f)
	f.Fuzz(func(t *testing.T, address string) {
		if _, err := url.ParseRequestURI(base + address); err != nil || strings.ContainsAny(address, " \r\n\x00") {
			return // no server would read it as a request
		}
		r, err := http.NewRequestWithContext(t.Context(), "GET", "http://gifts.example.com"+base+address, nil)
		if err != nil {
			return
		}
		r.Header.Set("Authorization", harborKey)
		h.ask(t, r, "")
	})
}
