package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"boon.example/client"
)

// canned is a service that gives one answer, so that the examples run.
func canned(status int, body string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if status >= 400 {
			w.Header().Set("Content-Type", "application/problem+json")
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
}

func ExampleClient_SendGift() {
	service := canned(201, `{"orderID":"019576b2-6a00-7000-8000-000000000001","gifts":[
		{"voucherID":"019576b2-6a00-7000-8000-000000000002","status":"PENDING","currentBalance":25.00,
			"currency":"USD","recipientDescription":"Ana","recipientIndex":0},
		{"voucherID":"019576b2-6a00-7000-8000-000000000003","status":"PENDING","currentBalance":25.00,
			"currency":"USD","recipientDescription":"Ben","recipientIndex":1}],"requestID":"r"}`)
	defer service.Close()

	c, err := client.New(service.URL, "boon_test_key")
	if err != nil {
		log.Fatal(err)
	}
	order, err := c.SendGift(context.Background(), client.SendGiftRequest{
		MonetaryGift: &client.MonetaryGift{Value: client.MustDecimal("25.00"), DeliveryMethodID: client.Email},
		Recipients: []client.Recipient{
			{RecipientDescription: "Ana", RecipientContact: "ana@example.com", Message: "Happy birthday!"},
			{RecipientDescription: "Ben", RecipientContact: "ben@example.com"},
		},
		PaymentMethodID: client.ExternalTransaction,
		ExternalPayment: client.ExternalPayment{
			ExternalTransactionReferenceNumber:      "WEB-1001",
			ExternalTransactionCustomerFirstName:    "Carla",
			ExternalTransactionCustomerLastName:     "Diaz",
			ExternalTransactionCustomerEmailAddress: "carla@example.com",
			ExternalStorefrontID:                    "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21",
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, g := range order.Gifts {
		fmt.Println(g.RecipientDescription, g.CurrentBalance, g.Currency, g.Status)
	}
	// Output:
	// Ana 25.00 USD PENDING
	// Ben 25.00 USD PENDING
}

func ExampleClient_RedeemSafely() {
	service := canned(409, `{"status":409,"code":"INSUFFICIENT_BALANCE","messages":[{"path":"amount","text":"The `+
		`balance of this gift is 19.90 USD."}]}`)
	defer service.Close()

	c, err := client.New(service.URL, "boon_test_key")
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.RedeemSafely(context.Background(), client.RedeemGiftRequest{
		VoucherCode: "482913375026",
		Amount:      client.MustDecimal("30.00"),
		Reference:   "check 4711",
	})
	switch refusal, _ := errors.AsType[*client.Error](err); {
	case err == nil:
		fmt.Println("taken")
	case errors.Is(err, client.InsufficientBalance):
		fmt.Println("ask for another way to pay the rest:", refusal.Messages[0].Text)
	case client.Refused(err):
		fmt.Println("refused, nothing was taken:", err)
	case errors.Is(err, client.ErrVoided):
		fmt.Println("no answer, so it was undone; try again or take another payment")
	default:
		fmt.Println("keep the key and void it later:", err)
	}
	// Output: ask for another way to pay the rest: The balance of this gift is 19.90 USD.
}

func ExampleClient_ValidateGift() {
	service := canned(200, `{"voucherID":"019576b2-6a00-7000-8000-000000000002","isRedeemable":true,
			"currentBalance":19.90,"currency":"USD",
		"notRedeemableReasons":[],"validUntil":null,"requestID":"r"}`)
	defer service.Close()

	c, err := client.New(service.URL, "boon_test_key")
	if err != nil {
		log.Fatal(err)
	}
	gift, err := c.ValidateGift(context.Background(),
		client.ValidateGiftRequest{VoucherPublicToken: "https://gifts.example.com/g/5hTnUfY2cWq0vKzL8sXbRd"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(gift.IsRedeemable, gift.CurrentBalance, gift.Currency)
	// Output: true 19.90 USD
}

func ExampleClient_History() {
	service := canned(200, `{"entries":[
		{"seq":1,"kind":"ISSUED","amount":25.00,"currentBalance":25.00,"status":"PENDING"},
		{"seq":2,"kind":"DELIVERED","amount":0.00,"currentBalance":25.00,"status":"DELIVERED"},
		{"seq":3,"kind":"REDEMPTION","amount":-5.10,"currentBalance":19.90,"status":"CLAIMED"}],"nextCursor":null,
		"requestID":"r"}`)
	defer service.Close()

	c, err := client.New(service.URL, "boon_test_key")
	if err != nil {
		log.Fatal(err)
	}
	for entry, err := range c.History(context.Background(), "019576b2-6a00-7000-8000-000000000002") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(entry.Seq, entry.Kind, entry.Amount, entry.CurrentBalance)
	}
	// Output:
	// 1 ISSUED 25.00 25.00
	// 2 DELIVERED 0.00 25.00
	// 3 REDEMPTION -5.10 19.90
}
