// The shop is an example: a web shop that sells a gift, and a till that takes it. It plays against a running service:
//
//	BOON_URL=http://127.0.0.1:8080 go run ./examples/shop
//
// Without keys in BOON_SHOP_KEY and BOON_TILL_KEY it uses those of boon demo.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"boon.example/client"
)

func main() {
	if err := play(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func play(ctx context.Context) error {
	shop, err := as("BOON_SHOP_KEY", "boon_test_demo_only_harbor_coffee_web_shop")
	if err != nil {
		return err
	}
	till, err := as("BOON_TILL_KEY", "boon_test_demo_only_harbor_coffee_till")
	if err != nil {
		return err
	}
	gift, err := sell(ctx, shop)
	if err != nil {
		return err
	}
	if err := take(ctx, till, gift); err != nil {
		return err
	}
	fmt.Print("history:")
	for entry, err := range shop.History(ctx, gift.VoucherID) {
		if err != nil {
			return err
		}
		fmt.Print(" ", entry.Kind)
	}
	fmt.Println()
	return nil
}

// as is a client with the key that a variable of the environment has.
func as(name, otherwise string) (*client.Client, error) {
	return client.New(cmp.Or(os.Getenv("BOON_URL"), "http://127.0.0.1:8080"), cmp.Or(os.Getenv(name), otherwise))
}

// sell sends a gift that was paid in the shop. The order's number is a good key: a page that is sent twice sells once.
func sell(ctx context.Context, shop *client.Client) (client.SentGift, error) {
	order, err := shop.SendGift(ctx, client.SendGiftRequest{
		MonetaryGift: &client.MonetaryGift{Value: client.MustDecimal("25.00"), DeliveryMethodID: client.Printed,
			RecipientDescription: "Ana"},
		PaymentMethodID: client.ExternalTransaction,
		ExternalPayment: client.ExternalPayment{
			ExternalTransactionReferenceNumber:      "WEB-1001",
			ExternalTransactionCustomerFirstName:    "Carla",
			ExternalTransactionCustomerLastName:     "Diaz",
			ExternalTransactionCustomerEmailAddress: "carla@example.com",
			ExternalStorefrontID:                    "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21",
		},
		IdempotencyKey: "order-" + client.NewKey(),
	})
	if err != nil {
		return client.SentGift{}, err
	}
	gift := order.Gifts[0]
	fmt.Println("sold:", gift.CurrentBalance, gift.Currency, "for", gift.RecipientDescription)
	return gift, nil
}

// take is what a till does: it asks what the gift is worth, takes a part, is refused more than is left, and gives back.
func take(ctx context.Context, till *client.Client, gift client.SentGift) error {
	shown, err := till.ValidateGift(ctx, client.ValidateGiftRequest{VoucherPublicToken: gift.GiftURL})
	if err != nil {
		return err
	}
	fmt.Println("worth:", shown.CurrentBalance)

	key := client.NewKey() // kept with the sale before it is used
	paid, err := till.RedeemSafely(ctx, client.RedeemGiftRequest{VoucherID: shown.VoucherID,
		Amount: client.MustDecimal("9.50"), Reference: "check 1", IdempotencyKey: key})
	if err != nil {
		return err // client.Refused, client.ErrVoided and *client.UnknownOutcome tell what to do
	}
	fmt.Println("taken:", paid.Amount, "left:", paid.CurrentBalance)

	_, err = till.RedeemSafely(ctx, client.RedeemGiftRequest{VoucherID: shown.VoucherID, Amount: client.Whole(20)})
	if refusal, ok := errors.AsType[*client.Error](err); ok && client.Refused(err) {
		fmt.Println("refused:", refusal.Code)
	} else {
		return fmt.Errorf("20 of 15.50: %w", err)
	}

	back, err := till.ReverseRedemption(ctx, client.ReverseRedemptionRequest{OriginalKey: key, All: true,
		Reason: "wrong table"})
	if err != nil {
		return err
	}
	fmt.Println("given back:", back.Amount, "left:", back.CurrentBalance)
	return nil
}
