package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"boon.example/examples"
	"boon.example/internal/merchant"
	"boon.example/internal/server"
)

const (
	tillActivate    = "/till/api/redemption/activate-gift"
	tillUnactivate  = "/till/api/redemption/reverse-activation"
	tillReload      = "/till/api/redemption/reload-gift"
	tillCashOut     = "/till/api/redemption/cash-out-gift"
	tillRedeemGifts = "/till/api/redemption/redeem-gifts"
	tillUnload      = "/till/api/redemption/reverse-reload"
	sale            = `"storefronts":[{"externalStorefrontID":"` + examples.HarborStorefront + `","name":"Web shop"}]`
)

// stock makes cards of no fixed worth, and gives their ids.
func (s *service) stock(count string) (ids []string) {
	s.Helper()
	var made struct{ OrderID string }
	s.must("POST", "/api/integration/gifting/create-stock", examples.HarborOfficeKey, `{"count":`+count+`}`, &made)
	var page struct{ Gifts []soldGift }
	s.must("GET", "/api/integration/gifting/gifts?orderID="+made.OrderID, examples.HarborOfficeKey, "", &page)
	for _, g := range page.Gifts {
		ids = append(ids, g.VoucherID)
	}
	return ids
}

// soldAtTill is the body of a sale as the till sends it: without who buys.
func soldAtTill(id, amount, storefront string) string {
	return `{"voucherID":"` + id + `","amount":` + amount + `,"externalTransactionReferenceNumber":"sale-` + id +
		`","externalStorefrontID":"` + storefront + `"}`
}

// TestATillSells: a till that may sells a card, loads a gift and pays one out, asks no guest for a name, and undoes
// each; the day's sums say so.
func TestATillSells(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	cards := s.stock("2")
	d, _ := s.paired("Counter 1", merchant.MayActivate|merchant.MayReload|merchant.MayReverse|merchant.MayCashOut)
	d.want(http.StatusOK, sale+`,"reloadablePrograms":["22222222-2222-2222-2222-222222222222"]`, "GET", "/till/state", "")

	sold := soldAtTill(cards[0], "25", examples.HarborStorefront)
	first := d.want(http.StatusOK, `"currentBalance":25.00`, "POST", tillActivate, sold, "Idempotency-Key", "sale-1")
	again := d.want(http.StatusOK, "", "POST", tillActivate, sold, "Idempotency-Key", "sale-1")
	if first != again {
		t.Errorf("a repeat was answered\n%s\nafter\n%s", again, first)
	}
	loaded := soldAtTill(cards[0], "10", examples.HarborStorefront)
	d.want(http.StatusOK, `"currentBalance":35.00`, "POST", tillReload, loaded, "Idempotency-Key", "load-1")
	online := s.sell(`{"value":50,"deliveryMethodID":3}`)
	d.want(http.StatusOK, `"currentBalance":54.00`, "POST", tillReload,
		soldAtTill(online.VoucherID, "4", examples.HarborStorefront), "Idempotency-Key", "load-2")

	d.want(http.StatusOK, `"currentBalance":25.00`, "POST", tillUnload, `{"idempotencyKey":"load-1"}`,
		"Idempotency-Key", "u-1")
	d.want(http.StatusConflict, "something else happened", "POST", tillUnactivate, `{"idempotencyKey":"sale-1"}`,
		"Idempotency-Key", "u-2")
	d.want(http.StatusOK, `"currentBalance":7.00`, "POST", tillActivate,
		soldAtTill(cards[1], "7", examples.HarborStorefront), "Idempotency-Key", "sale-2")
	d.want(http.StatusOK, `"currentBalance":0.00`, "POST", tillUnactivate, `{"idempotencyKey":"sale-2"}`,
		"Idempotency-Key", "u-3")
	for _, key := range []string{"cash-1", "cash-2"} {
		low := s.sell(`{"value":6,"deliveryMethodID":3}`)
		d.want(http.StatusOK, `"amount":6.00`, "POST", tillCashOut, `{"voucherID":"`+low.VoucherID+`"}`, "Idempotency-Key", key)
	}
	d.want(http.StatusOK, `"amount":6.00`, "POST", tillReverse, `{"idempotencyKey":"cash-2","operation":"cash-out-gift"}`,
		"Idempotency-Key", "u-4")
	var today struct{ Sums []sum }
	if err := json.Unmarshal([]byte(d.want(http.StatusOK, "", "GET", "/till/today", "")), &today); err != nil {
		t.Fatal(err)
	}
	usd := "USD"
	if diff := cmp.Diff([]sum{{"ACTIVATED", &usd, 2, "32.00"}, {"ACTIVATION_TAKEN_BACK", &usd, 1, "7.00"},
		{"LOADED", &usd, 2, "14.00"}, {"LOAD_TAKEN_BACK", &usd, 1, "10.00"}, {"CASHED_OUT", &usd, 2, "12.00"},
		{"CASH_TAKEN_BACK", &usd, 1, "6.00"}}, today.Sums); diff != "" {
		t.Error(diff)
	}

	// of two storefronts, somebody chooses
	s.apply([]byte(strings.Replace(string(examples.HarborCoffee()), "    storefronts:\n",
		"    storefronts:\n      - {id: 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c99, name: Kiosk}\n", 1)))
	s.eventually(func() bool {
		status, answer, _ := d.do("GET", "/till/state", "")
		return status == http.StatusOK && strings.Contains(answer, `"name":"Web shop"`) &&
			strings.Contains(answer, `"name":"Kiosk"`)
	})
	kiosk := s.stock("1")[0]
	d.want(http.StatusOK, `"currentBalance":3.00`, "POST", tillActivate,
		soldAtTill(kiosk, "3", "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c99"), "Idempotency-Key", "sale-3")
}

// TestATillTakesSeveralGifts: a till has several gifts pay for one sale, once, and undoes it as a whole by its key.
func TestATillTakesSeveralGifts(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	d, _ := s.paired("Counter 1", 0)
	first, second := s.sell(`{"value":12,"deliveryMethodID":3}`), s.sell(`{"value":8.5,"deliveryMethodID":3}`)
	sale := `{"gifts":[{"voucherID":"` + first.VoucherID + `"},{"voucherID":"` + second.VoucherID + `"}],"upTo":15}`
	taken := d.want(http.StatusOK, `"amount":15.00`, "POST", tillRedeemGifts, sale, "Idempotency-Key", "sale-1")
	if again := d.want(http.StatusOK, "", "POST", tillRedeemGifts, sale, "Idempotency-Key", "sale-1"); again != taken {
		t.Errorf("a repeat was answered\n%s\nafter\n%s", again, taken)
	}
	d.want(http.StatusOK, `"operation":"redeem-gifts"`, "GET", "/till/api/requests/sale-1?operation=redeem-gifts", "")
	d.want(http.StatusOK, `"count":2,"amount":15.00`, "GET", "/till/today", "")
	undo := `{"idempotencyKey":"sale-1","operation":"redeem-gifts"}`
	d.want(http.StatusOK, `"currentBalance":12.00`, "POST", tillReverse, undo, "Idempotency-Key", "undo-1")
	d.want(http.StatusConflict, "ALREADY_REVERSED", "POST", tillReverse, undo, "Idempotency-Key", "undo-2")
}

// TestWhoMaySellAtATill: a till without the permission sells nothing and is not told how; nor does one name another
// storefront, or leave the reference out; and who buys is left out by a program's key as little as ever.
func TestWhoMaySellAtATill(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	card := s.stock("1")[0]
	sold := soldAtTill(card, "25", examples.HarborStorefront)
	d, _ := s.paired("Counter 1", merchant.MayCashOut)
	if answer := d.want(http.StatusOK, "deviceMay", "GET", "/till/state", ""); strings.Contains(answer, `"storefronts"`) {
		t.Errorf("a till that may not sell is told %s", answer)
	}
	for _, path := range []string{tillActivate, tillReload, tillUnactivate, tillUnload} {
		d.want(http.StatusForbidden, "NOT_AUTHORIZED", "POST", path, sold, "Idempotency-Key", "a")
	}
	loads, _ := s.paired("Counter 2", merchant.MayReload)
	loads.want(http.StatusOK, sale, "GET", "/till/state", "")
	loads.want(http.StatusForbidden, "NOT_AUTHORIZED", "POST", tillActivate, sold, "Idempotency-Key", "a")

	sells, _ := s.paired("Counter 3", merchant.MayActivate)
	sells.want(http.StatusBadRequest, "no such storefront", "POST", tillActivate,
		soldAtTill(card, "25", "0c5e7a10-93d4-4f0b-8a6e-5b1d2c3e4f21"), "Idempotency-Key", "b")
	sells.want(http.StatusBadRequest, `"path":"externalTransactionReferenceNumber"`, "POST", tillActivate,
		`{"voucherID":"`+card+`","amount":25,"externalStorefrontID":"`+examples.HarborStorefront+`"}`, "Idempotency-Key", "c")
	for _, path := range []string{"activate-gift", "reload-gift"} {
		status, answer, err := s.callOnce("POST", "/api/integration/redemption/"+path, examples.HarborOfficeKey, "key-"+path,
			strings.Replace(sold, "{", `{"organizationID":"`+pier39+`",`, 1))
		if err != nil || status != http.StatusBadRequest {
			t.Errorf("%s by a program's key: %d %s %v", path, status, answer, err)
		}
		for _, name := range []string{"FirstName", "LastName", "EmailAddress"} {
			if !strings.Contains(string(answer), `"path":"externalTransactionCustomer`+name+`"`) {
				t.Errorf("%s by a program's key without %s: %s", path, name, answer)
			}
		}
	}
	var left struct{ Status string }
	if s.must("GET", giftPath+card, examples.HarborOfficeKey, "", &left); left.Status != "NOT_ACTIVATED" {
		t.Errorf("the card is %s", left.Status)
	}
}
