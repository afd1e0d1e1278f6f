// Program story sends a gift, validates it and redeems a part of it, with the client that oapi-codegen made.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"boon.example/oapi/gifts"
	"github.com/google/uuid"
)

func main() {
	shop, till := client("BOON_SHOP_KEY"), client("BOON_TILL_KEY")
	purchase, sale := "purchase-1", "sale-1"
	printed, who := gifts.MonetaryGiftDeliveryMethodID(3), "Ana"
	reference, first, last, mail := "WEB-1", "Carla", "Diaz", "carla@example.com"
	storefront := uuid.MustParse(os.Getenv("BOON_STOREFRONT"))
	gift := gifts.MonetaryGift{Value: 25, DeliveryMethodID: &printed, RecipientDescription: &who}
	once := &gifts.SendGiftParams{IdempotencyKey: &purchase}
	sent, err := shop.SendGiftWithResponse(context.Background(), once, gifts.SendGift{
		MonetaryGift:                            &gift,
		PaymentMethodID:                         2,
		ExternalTransactionReferenceNumber:      &reference,
		ExternalTransactionCustomerFirstName:    &first,
		ExternalTransactionCustomerLastName:     &last,
		ExternalTransactionCustomerEmailAddress: &mail,
		ExternalStorefrontID:                    &storefront,
	})
	if err != nil || sent.JSON201 == nil {
		panic(fmt.Sprint(err, string(sent.Body)))
	}
	token, amount := sent.JSON201.Gifts[0].GiftURL, 9.5
	shown, err := till.ValidateGiftWithResponse(context.Background(), nil, gifts.ValidateGift{VoucherPublicToken: token})
	if err != nil || shown.JSON200 == nil {
		panic(fmt.Sprint(err, string(shown.Body)))
	}
	paid, err := till.RedeemGiftWithResponse(context.Background(), &gifts.RedeemGiftParams{IdempotencyKey: &sale},
		gifts.RedeemGift{VoucherPublicToken: token, Amount: &amount})
	if err != nil || paid.JSON200 == nil {
		panic(fmt.Sprint(err, string(paid.Body)))
	}
	fmt.Println(shown.JSON200.CurrentBalance, paid.JSON200.Amount, paid.JSON200.CurrentBalance)
}

func client(key string) *gifts.ClientWithResponses {
	c, err := gifts.NewClientWithResponses(os.Getenv("BOON_URL"), gifts.WithRequestEditorFn(
		func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+os.Getenv(key))
			return nil
		}))
	if err != nil {
		panic(err)
	}
	return c
}
