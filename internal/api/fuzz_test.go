package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"boon.example/internal/api"
	"boon.example/internal/gift"
)

// fuzz throws bodies at an operation. Whatever comes, the answer is a problem document of the caller's making, or what was asked for.
func fuzz(f *testing.F, operation string, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	for _, c := range badBodies {
		if len(c.body) < 1<<16 {
			f.Add(c.body)
		}
	}
	w := newWorld(f)

	handler := http.Handler(api.New(w.config))
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest("POST", paths[operation], strings.NewReader(body))
		r.Header.Set("Authorization", harborKey)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		var members map[string]json.RawMessage
		if err := json.Unmarshal(answer.Body.Bytes(), &members); err != nil {
			t.Fatalf("%d, not JSON: %s", answer.Code, answer.Body)
		}
		switch kind := answer.Header().Get("Content-Type"); {
		case answer.Code >= 500:
			t.Fatalf("%d: %s", answer.Code, answer.Body)
		case answer.Code >= 400:
			var code gift.Code
			if err := json.Unmarshal(members["code"], &code); err != nil || kind != "application/problem+json" || members["messages"] == nil {
				t.Fatalf("%d, %s: %s", answer.Code, kind, answer.Body)
			}
		case kind != "application/json" || members["requestID"] == nil:
			t.Fatalf("%d, %s: %s", answer.Code, kind, answer.Body)
		}
	})
}

func FuzzSendGift(f *testing.F) {
	fuzz(f, "send-gift", money("25.50"), money("1e1"), latte,
		`{"itemGift":{"label":"Latte","quantity":3,"terms":"x","equivalentValue":9.5,"deliveryMethodID":3},`+purchase+`}`,
		`{"monetaryGift":{"value":5,"deliveryMethodID":1,"hasScheduledDelivery":true,"deliveryDate":"2027-02-28T09:00:00-05:00","deliveryTimezoneId":"Eastern Standard Time"},`+
			`"recipients":[{"recipientDescription":"Ann","recipientContact":"ann@example.com"},{"deliveryMethodID":2,"recipientContact":"(415) 555-0132"}],`+purchase+`}`)
}

func FuzzValidateGift(f *testing.F) {
	fuzz(f, "validate-gift", `{"voucherCode":"123456789012","organizationID":"`+pier+`"}`, `{"voucherCode":123456789012,"organizationID":"`+pier+`"}`,
		`{"voucherPublicToken":"https://gifts.example.com/g/0123456789ABCDEFGHIJKL","pointOfSaleSystemOrganizationIdentifier":"POS-1"}`,
		`{"voucherPublicToken":"0123456789ABCDEFGHIJKL","organizationID":"`+pier+`","targetTypeCode":"GIFT","validateTargetType":false,"ticketData":`+ticketOf("LATTE")+`}`)
}

func FuzzRedeemGift(f *testing.F) {
	fuzz(f, "redeem-gift", redeemBody(made{id: nowhere}, "1.5"), redeemBody(made{id: nowhere}, ""),
		`{"voucherID":"`+nowhere+`","organizationID":"`+pier+`","amount":2.5e1,"allowPartial":true,"reference":"T-1","ticketData":`+ticketOf("TEA")+`}`,
		`{"voucherCode":"123456789012","organizationID":"`+pier+`","targetProgramID":"22222222-2222-2222-2222-222222222222"}`)
}
