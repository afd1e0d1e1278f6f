package gifts

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"boon.example/internal/face/api/payload"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// TestFingerprintsDiffer changes one member at a time: no two requests that differ may have one fingerprint.
func TestFingerprintsDiffer(t *testing.T) {
	t.Parallel()
	bodies := []string{`{}`}
	for _, m := range []string{`"senderDescription":"a"`, `"senderDescription":"b"`, `"notes":"a"`, `"relatedOrderID":"a"`,
		`"relatedOrderNumber":"a"`,
		`"paymentMethodID":2`, `"paymentMethodID":4`, `"externalTransactionReferenceNumber":"a"`,
		`"externalTransactionCustomerFirstName":"a"`,
		`"externalTransactionCustomerLastName":"a"`, `"externalTransactionCustomerEmailAddress":"a"`,
		`"promotionalTerms":"a"`, `"validForDays":1`,
		`"validStarting":"2026-03-01T00:00:00Z"`, `"promotionID":"22222222-2222-2222-2222-222222222222"`,
		`"externalStorefrontID":"22222222-2222-2222-2222-222222222222"`, `"recipients":[{}]`, `"recipients":[{},{}]`,
		`"recipients":[{"message":"a"},{}]`, `"recipients":[{"recipientLanguage":"de"},{}]`,
		`"recipients":[{"customerID":"a"},{}]`, `"recipients":[{},{"message":"a"}]`, `"monetaryGift":{}`, `"itemGift":{}`,
		`"deliverTo":"buyer"`, `"attachment":"pdf"`, `"attachment":"csv"`} {
		bodies = append(bodies, "{"+m+"}")
	}
	for _, m := range []string{`"value":1`, `"value":2`, `"deliveryMethodID":1`, `"recipientDescription":"a"`,
		`"recipientContact":"a"`, `"message":"a"`, `"customerID":"a"`, `"recipientLanguage":"de"`, `"recipientLanguage":"de-AT"`,
		`"senderDescription":"a"`, `"hasScheduledDelivery":false`, `"hasScheduledDelivery":true`,
		`"deliveryDate":"2026-03-01T00:00:00Z"`,
		`"deliveryTimezoneId":"Asia/Tokyo"`, `"voucherDesignID":"22222222-2222-2222-2222-222222222222"`,
		`"programID":"22222222-2222-2222-2222-222222222222"`, `"accountID":"22222222-2222-2222-2222-222222222222"`,
		`"organizationID":"22222222-2222-2222-2222-222222222222"`} {
		bodies = append(bodies, `{"monetaryGift":{`+m+"}}")
	}
	for _, m := range []string{`"label":"a"`, `"terms":"a"`, `"quantity":1`, `"equivalentValue":1`} {
		bodies = append(bodies, `{"itemGift":{`+m+"}}")
	}
	seen := map[string]string{}
	for _, body := range bodies {
		text := normalized(t, "send-gift", body)
		if other, ok := seen[text]; ok {
			t.Errorf("%s and %s have one fingerprint", body, other)
		}
		seen[text] = body
	}
}

// normalized is the text over which the fingerprint of a good request is made.
func normalized(t testing.TB, operation, body string) string {
	return readNormalized(operation, body, func(m wire.Problem) { t.Fatalf("%s: %v", body, m) })
}

// readNormalized gives the text for any request, and tells what is wrong with it.
func readNormalized(operation, body string, wrong func(wire.Problem)) string {
	c := &Call{Call: &service.Call{Account: &merchant.Account{Currency: money.Currency{Code: "USD", Decimals: 2}},
		Caller: &merchant.Caller{Locations: []guid.ID{merchant.BusinessProgram.ID}}}}
	reads := map[string]func(*wire.Object) any{
		"send-gift":          func(o *wire.Object) any { return readSend(o) },
		"redeem-gift":        func(o *wire.Object) any { return readRedemption(o, c) },
		"redeem-gifts":       func(o *wire.Object) any { return readSale(o, c) },
		"hold-gift":          func(o *wire.Object) any { return readHolding(o, c) },
		"capture-hold":       func(o *wire.Object) any { return readCapturing(o, c) },
		"release-hold":       func(o *wire.Object) any { return readReleasing(o, c) },
		"reload-gift":        func(o *wire.Object) any { return readLoading(o, c) },
		"cash-out-gift":      func(o *wire.Object) any { return readCashing(o, c) },
		"reverse-reload":     func(o *wire.Object) any { return readUndoing(o, c, byReload) },
		"reverse-redemption": func(o *wire.Object) any { return readReversal(o, c) },
		"cancel-gift":        func(o *wire.Object) any { return readCancellation(o) },
		"reinstate-gift":     func(o *wire.Object) any { return readReinstatement(o) },
		"resend-gift":        func(o *wire.Object) any { return readResending(o) },
		"reschedule-gift":    func(o *wire.Object) any { return readRescheduling(o) },
		"replace-gift":       func(o *wire.Object) any { return readReplacing(o) },
		"transfer-balance":   func(o *wire.Object) any { return readTransferring(o, c) },
		"create-stock":       func(o *wire.Object) any { return readStock(o) },
		"activate-gift":      func(o *wire.Object) any { return readActivation(o, c) },
		"reverse-activation": func(o *wire.Object) any { return readUndoing(o, c, byActivation) },
		"block-gift":         func(o *wire.Object) any { return readBlocking(o) },
		"unblock-gift":       func(o *wire.Object) any { return readUnblocking(o) },
		"adjust-gift":        func(o *wire.Object) any { return readAdjusting(o, c) },
		"extend-gift":        func(o *wire.Object) any { return readExtending(o) },
		"link-customer":      func(o *wire.Object) any { return readLinking(o) },
		"unlink-customer":    func(o *wire.Object) any { return readUnlinking(o) },
	}
	if reads[operation] == nil {
		return ""
	}
	var text []byte
	problems, _ := new(wire.Reader).Decode([]byte(body), func(o *wire.Object) {
		text = wire.Normalized(operation, reads[operation](o))
	})
	for _, m := range problems.All() {
		if wrong != nil {
			wrong(m)
		}
	}
	return string(text)
}

// TestFingerprintsStay: a call that an earlier version recorded must be known again, so the text behind a fingerprint
// may not change with the names in our code, nor with what a sender may write in several ways.
func TestFingerprintsStay(t *testing.T) {
	t.Parallel()
	const id = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01"
	kept := map[operation.Name]bool{}
	for _, c := range []struct{ operation, want, body, same string }{
		{"send-gift", `{"Monetary":{"Value":"255e-1","Recipient":{"Method":1,"Contact":"a@example.com"},` +
			`"Scheduled":true,"DeliveryDate":"2031-01-01T00:00:00Z",` +
			`"DesignID":"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01"},"PaymentMethodID":2,` +
			`"Payment":{"Purchase":{"Reference":"R-1",` +
			`"StorefrontID":"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01"}},"Notes":"n"}`,
			`{"monetaryGift":{"value":25.50,"deliveryMethodID":1,"recipientContact":"a@example.com","hasScheduledDelivery":true,
			  "deliveryDate":"2031-01-01T00:00Z","voucherDesignID":"` + id +
				`"},"recipients":null,"paymentMethodID":2,"notes":"n",
			  "externalTransactionReferenceNumber":"R-1","externalStorefrontID":"` + id + `"}`,
			`{"notes":"n","externalStorefrontID":"7D3F0A52-8A55-4B5E-9D0C-0D8F6A3F1C01",
			"externalTransactionReferenceNumber":"R-1",
			  "paymentMethodID":2.0,"monetaryGift":{"voucherDesignID":"` + id + `","deliveryDate":"2030-12-31T19:00:00-05:00",
			  "hasScheduledDelivery":true,"recipientContact":"a@example.com","deliveryMethodID":1,"value":2.55e1,
			"message":""}}`},
		{"redeem-gift", `{"Code":"123456789012","Where":{"LocationID":"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01"},` +
			`"Ticket":{"Currency":{"Code":"USD","Decimals":2},"Lines":[{"ItemID":"A","UnitPrice":"1.5",` +
			`"Quantity":"2","Total":"3"}],"Totals":{"Grand":"3"}},"Number":"25e0","AllowPartial":true,` +
			`"Target":{"Promotional":false},"Reference":"r"}`,
			`{"voucherCode":"123456789012","organizationID":"` + id +
				`","amount":25,"allowPartial":true,"targetTypeCode":"GIFT","reference":"r","ticketData":
			  {"format":"standard","data":{"lineItems":[{"itemID":"A","itemUnitPrice":1.50,"quantity":2}],
			"totals":{"grandTotal":3}}}}`,
			`{"ticketData":{"data":{"totals":{"grandTotal":3.00},"lineItems":[{"quantity":2.0,"itemUnitPrice":1.5,
			"itemID":"A"}]},"format":"standard"},
			  "reference":"r","targetTypeCode":"GIFT","allowPartial":true,"amount":2.5e1,
			  "organizationID":"` + id + `","voucherCode":123456789012}`},
		{"redeem-gifts", `{"Gifts":[{"ID":"` + id + `","Number":"5e0"},{"Code":"123456789012"}],"Where":{"LocationID":"` + id +
			`"},"UpTo":"6e0","Reference":"r"}`,
			`{"gifts":[{"voucherID":"` + id + `","amount":5},{"voucherCode":"123456789012"}],"organizationID":"` + id +
				`","upTo":6,"reference":"r"}`,
			`{"reference":"r","upTo":6.00,"organizationID":"` + id + `","gifts":[{"amount":5.0,"voucherID":"` + id +
				`"},{"voucherCode":123456789012,"amount":null}]}`},
		{"hold-gift", `{"ID":"` + id + `","Where":{"LocationID":"` + id + `"},"Number":"5e0","Reference":"r","Seconds":60}`,
			`{"voucherID":"` + id + `","organizationID":"` + id + `","amount":5,"reference":"r","expiresInSeconds":60}`,
			`{"expiresInSeconds":6e1,"reference":"r","amount":5.00,"organizationID":"` + id + `","voucherID":"` + id + `"}`},
		{"create-stock", `{"Count":10,"Label":"Latte","Quantity":"2e0","DesignID":"` + id + `","VerificationCodes":true}`,
			`{"count":10,"label":"Latte","quantity":2,"voucherDesignID":"` + id + `","verificationCodes":true}`,
			`{"activationCodes":false,"verificationCodes":true,"count":1e1,"quantity":2.0,"label":"Latte","terms":null,"voucherDesignID":"` + id + `"}`},
		{"create-stock", `{"Count":10,"ActivationCodes":true}`, `{"count":10,"activationCodes":true}`,
			`{"activationCodes":true,"verificationCodes":null,"count":1e1}`},
		{"activate-gift", `{"Activation":"4829135760248137","Where":{"LocationID":"` + id + `"},"Purchase":{"Reference":"R"}}`,
			`{"activationCode":"4829135760248137","organizationID":"` + id + `","externalTransactionReferenceNumber":"R"}`,
			`{"externalTransactionReferenceNumber":"R","activationCode":"4829 1357-6024 8137","organizationID":"` + id + `"}`},
		{"reverse-activation", `{"OriginalKey":"k"}`, `{"idempotencyKey":"k"}`, `{"idempotencyKey":"k","activationID":null}`},
		{"reverse-activation", `{"OriginalKey":"k","Of":{"Code":"123456789012"}}`, `{"idempotencyKey":"k","voucherCode":"123456789012"}`,
			`{"voucherCode":123456789012,"idempotencyKey":"k"}`},
		{"activate-gift", `{"ID":"` + id + `","Where":{"LocationID":"` + id +
			`"},"Number":"5e0","Purchase":{"Reference":"R",` +
			`"FirstName":"A","LastName":"B","EmailAddress":"a@example.com","StorefrontID":"` + id + `"},"Reference":"r"}`,
			`{"voucherID":"` + id + `","organizationID":"` + id + `","amount":5,"reference":"r",` +
				`"externalTransactionReferenceNumber":"R","externalTransactionCustomerFirstName":"A",` +
				`"externalTransactionCustomerLastName":"B","externalTransactionCustomerEmailAddress":"a@example.com",` +
				`"externalStorefrontID":"` + id + `"}`,
			`{"paymentMethodID":2,"amount":5.00,"voucherID":"` + id + `","organizationID":"` + id + `","reference":"r",` +
				`"externalTransactionReferenceNumber":"R","externalTransactionCustomerFirstName":"A",` +
				`"externalTransactionCustomerLastName":"B","externalTransactionCustomerEmailAddress":"a@example.com",` +
				`"externalStorefrontID":"` + id + `"}`},
		{"capture-hold", `{"HoldID":"` + id + `","Number":"5e0","KeepRest":true,"Reference":"r"}`,
			`{"holdID":"` + id + `","amount":5,"final":false,"reference":"r"}`,
			`{"reference":"r","final":false,"amount":5.0,"holdID":"` + id + `"}`},
		{"release-hold", `{"OriginalKey":"k"}`, `{"idempotencyKey":"k"}`, `{"idempotencyKey":"k","holdID":null}`},
		{"release-hold", `{"OriginalKey":"k","Of":{"Code":"123456789012"}}`, `{"idempotencyKey":"k","voucherCode":"123456789012"}`,
			`{"voucherCode":123456789012,"idempotencyKey":"k"}`},
		{"reload-gift", `{"ID":"` + id + `","Where":{"LocationID":"` + id + `"},"Number":"5e0",` +
			`"Purchase":{"Reference":"R","StorefrontID":"` + id + `"},"Reference":"r"}`,
			`{"voucherID":"` + id + `","organizationID":"` + id + `","amount":5,"reference":"r",` +
				`"externalTransactionReferenceNumber":"R","externalStorefrontID":"` + id + `"}`,
			`{"externalStorefrontID":"` + id + `","externalTransactionReferenceNumber":"R","reference":"r","amount":5.00,` +
				`"organizationID":"` + id + `","voucherID":"` + id + `"}`},
		{"cash-out-gift", `{"ID":"` + id + `","Where":{"LocationID":"` + id + `"}}`,
			`{"voucherID":"` + id + `","organizationID":"` + id + `"}`, `{"organizationID":"` + id + `","voucherID":"` + id +
				`"}`},
		{"reverse-reload", `{"OriginalKey":"k"}`, `{"idempotencyKey":"k"}`, `{"idempotencyKey":"k","reloadID":null}`},
		{"reverse-reload", `{"OriginalKey":"k","Of":{"Code":"123456789012"}}`, `{"idempotencyKey":"k","voucherCode":"123456789012"}`,
			`{"voucherCode":123456789012,"idempotencyKey":"k"}`},
		{"reverse-redemption", `{"OriginalKey":"k","Operation":"capture-hold","Where":{"LocationID":"` + id + `"}}`,
			`{"idempotencyKey":"k","operation":"capture-hold","organizationID":"` + id + `"}`,
			`{"operation":"capture-hold","organizationID":"` + id + `","idempotencyKey":"k"}`},
		{"reverse-redemption", `{"OriginalKey":"k","Of":{"Code":"123456789012"},"Where":{"KeyLocation":"` +
			merchant.BusinessProgram.ID.String() + `"}}`,
			`{"idempotencyKey":"k","voucherCode":"123456789012"}`, `{"voucherCode":123456789012,"idempotencyKey":"k"}`},
		{"reverse-redemption", `{"OriginalKey":"k","Where":{"LocationID":"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01"},` +
			`"Number":"1e0","Reason":"x"}`,
			`{"idempotencyKey":"k","organizationID":"` + id + `","amount":1,"reason":"x"}`,
			`{"reason":"x","amount":1.0,"organizationID":"7D3F0A52-8A55-4B5E-9D0C-0D8F6A3F1C01","idempotencyKey":"k"}`},
		{"cancel-gift", `{"Purchase":"R","Storefront":"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01","SkipNotAllowed":true,` +
			`"ReleaseHolds":true,"To":7,"Reason":"x"}`,
			`{"externalTransactionReferenceNumber":"R","externalStorefrontID":"` + id +
				`","cause":"CANCELLED","reason":"x","skipNotAllowed":true,"releaseHolds":true}`,
			`{"releaseHolds":true,"skipNotAllowed":true,"reason":"x","cause":"CANCELLED","externalStorefrontID":"` + id +
				`","externalTransactionReferenceNumber":"R"}`},
		{"reinstate-gift", `{"OrderID":"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01","Reason":"x"}`, `{"orderID":"` + id +
			`","reason":"x"}`, `{"reason":"x","orderID":"` + id + `","voucherID":null}`},
		{"replace-gift", `{"VoucherID":"` + id + `","Reason":"lost","Deliver":{"Method":1,"Contact":"a@example.com"}}`,
			`{"voucherID":"` + id + `","reason":"lost","deliver":{"deliveryMethodID":1,"recipientContact":"a@example.com"}}`,
			`{"deliver":{"recipientContact":"a@example.com","deliveryMethodID":1.0},"reason":"lost","voucherID":"` + id + `"}`},
		{"transfer-balance", `{"From":"` + id + `","To":"` + id + `","Number":"5e0"}`,
			`{"fromVoucherID":"` + id + `","toVoucherID":"` + id + `","amount":5}`,
			`{"amount":5.00,"toVoucherID":"` + id + `","fromVoucherID":"` + id + `"}`},
		{"resend-gift", `{"VoucherID":"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01","Method":2,"Contact":"4155550132"}`,
			`{"voucherID":"` + id + `","deliveryMethodID":2,"recipientContact":"4155550132"}`,
			`{"recipientContact":"4155550132","deliveryMethodID":2.0,"voucherID":"` + id + `"}`},
		{"block-gift", `{"VoucherID":"` + id + `","ReasonCode":"LOST","Reason":"x"}`,
			`{"voucherID":"` + id + `","reasonCode":"LOST","reason":"x"}`,
			`{"reason":"x","reasonCode":"LOST","voucherID":"7D3F0A52-8A55-4B5E-9D0C-0D8F6A3F1C01"}`},
		{"unblock-gift", `{"VoucherID":"` + id + `","Reason":"x"}`, `{"voucherID":"` + id + `","reason":"x"}`,
			`{"reason":"x","voucherID":"` + id + `"}`},
		{"adjust-gift", `{"VoucherID":"` + id + `","Number":"-5e0","ReasonCode":"FRAUD","Reason":"why"}`,
			`{"voucherID":"` + id + `","amount":-5,"reasonCode":"FRAUD","reason":"why"}`,
			`{"reason":"why","reasonCode":"FRAUD","amount":-0.50e1,"voucherID":"` + id + `"}`},
		{"extend-gift", `{"VoucherID":"` + id + `","Until":"2031-01-01T00:00:00Z"}`,
			`{"voucherID":"` + id + `","validUntil":"2031-01-01T00:00Z"}`,
			`{"validUntil":"2030-12-31T19:00:00-05:00","voucherID":"` + id + `"}`},
		{"reschedule-gift", `{"VoucherID":"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01","Date":"2031-01-01T00:00:00Z",` +
			`"Zone":"America/New_York"}`,
			`{"voucherID":"` + id + `","deliveryDate":"2031-01-01T00:00Z","deliveryTimezoneId":"Eastern Standard Time"}`,
			`{"deliveryTimezoneId":"America/New_York","deliveryDate":"2031-01-01T00:00:00.000","voucherID":"` + id + `"}`},
	} {
		kept[operation.Name(c.operation)] = true
		got, same := normalized(t, c.operation, c.body), normalized(t, c.operation, c.same)
		if got != c.operation+" "+c.want {
			t.Errorf("%s: the text became\n%s", c.operation, got)
		}
		var members map[string]any
		if err := json.Unmarshal([]byte(c.body), &members); err != nil {
			t.Fatal(err)
		}
		for name := range members {
			fewer := maps.Clone(members)
			delete(fewer, name)
			if rest, err := json.Marshal(fewer); err != nil || members[name] != nil && readNormalized(c.operation, string(rest),
				nil) == got {
				t.Errorf("%s: %s makes no difference", c.operation, name)
			}
		}
		if same != got {
			t.Errorf("%s: another spelling is\n%s, not\n%s", c.operation, same, got)
		}
	}
	texts, err := os.ReadFile(textsThatStay)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range operation.All() {
		if !kept[o] && !strings.Contains(string(texts), "\n"+string(o)+" {") {
			t.Errorf("%s has no text that is to stay, neither here nor in %s", o, textsThatStay)
		}
	}
}

// textsThatStay is the file of texts that TestTextsStay of package api keeps.
const textsThatStay = "../testdata/fingerprints.txt"

func BenchmarkDecodeRedeem(b *testing.B) {
	body := []byte(`{"voucherID":"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01",` +
		`"organizationID":"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c11","amount":12.50,"reference":"till-7/000123"}`)
	dollars := money.Currency{Code: "USD", Decimals: 2}
	var r wire.Reader
	c := &Call{Call: &service.Call{Account: &merchant.Account{Currency: dollars}, Caller: &merchant.Caller{}}}
	b.ReportAllocs()
	for b.Loop() {
		var asked redemption
		problems, _ := r.Decode(body, func(o *wire.Object) { asked = readRedemption(o, c) })
		if problems.Err() != nil || asked.Number != "125e-1" {
			b.Fatal(problems.Err())
		}
	}
}

func BenchmarkEncodeVoucher(b *testing.B) {
	g := gift.Gift{Voucher: gift.Voucher{Currency: money.Currency{Code: "USD", Decimals: 2}, Funded: 2550, Balance: 1250,
		Status:    gift.Claimed,
		ProgramID: merchant.BusinessProgram.ID, CreatedAt: time.Now()}, Card: gift.Card{Sender: "Ann", Recipient: "Bob",
		Message: "Enjoy"}}
	account := &merchant.Account{}
	b.ReportAllocs()
	for b.Loop() {
		w := wire.NewWriter(2048)
		w.Open()
		payload.WriteVoucher(&w, &g, payload.View{Account: account, Now: g.CreatedAt})
		w.Close()
	}
}
