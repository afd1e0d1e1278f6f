// Program story sends a gift, validates it and redeems a part of it, with the client that ogen made.
package main

import (
	"context"
	"fmt"
	"os"

	"boon.example/oapi/gifts"
	"github.com/google/uuid"
)

// key signs calls with an API key.
type key string

func (k key) Key(context.Context, gifts.OperationName) (gifts.Key, error) {
	return gifts.Key{APIKey: string(k)}, nil
}

func (k key) Bearer(context.Context, gifts.OperationName) (gifts.Bearer, error) {
	return gifts.Bearer{Token: string(k)}, nil
}

func main() {
	shop, till := client("BOON_SHOP_KEY"), client("BOON_TILL_KEY")
	sent, err := shop.SendGift(context.Background(), &gifts.SendGift{
		MonetaryGift: gifts.NewOptNilMonetaryGift(gifts.MonetaryGift{
			Value:                25,
			DeliveryMethodID:     gifts.NewOptMonetaryGiftDeliveryMethodID(gifts.MonetaryGiftDeliveryMethodID3),
			RecipientDescription: gifts.NewOptNilString("Ana"),
		}),
		PaymentMethodID:                         gifts.SendGiftPaymentMethodID2,
		ExternalTransactionReferenceNumber:      gifts.NewOptNilString("WEB-1"),
		ExternalTransactionCustomerFirstName:    gifts.NewOptNilString("Carla"),
		ExternalTransactionCustomerLastName:     gifts.NewOptNilString("Diaz"),
		ExternalTransactionCustomerEmailAddress: gifts.NewOptNilString("carla@example.com"),
		ExternalStorefrontID:                    gifts.NewOptNilUUID(uuid.MustParse(os.Getenv("BOON_STOREFRONT"))),
	}, gifts.SendGiftParams{IdempotencyKey: gifts.NewOptString("purchase-1")})
	order, ok := sent.(*gifts.SendGiftAnswerHeaders)
	if !ok {
		panic(fmt.Sprintf("%v %+v", err, sent))
	}
	token := gifts.NewOptNilString(order.Response.Gifts[0].GiftURL.Value.String())
	shown, err := till.ValidateGift(context.Background(), &gifts.ValidateGift{VoucherPublicToken: token},
		gifts.ValidateGiftParams{})
	worth, ok := shown.(*gifts.VoucherAnswerHeaders)
	if !ok {
		panic(fmt.Sprintf("%v %+v", err, shown))
	}
	paid, err := till.RedeemGift(context.Background(),
		&gifts.RedeemGift{VoucherPublicToken: token, Amount: gifts.NewOptNilFloat64(9.5)},
		gifts.RedeemGiftParams{IdempotencyKey: gifts.NewOptString("sale-1")})
	taken, ok := paid.(*gifts.RedeemGiftAnswerHeaders)
	if !ok {
		panic(fmt.Sprintf("%v %+v", err, paid))
	}
	fmt.Println(worth.Response.CurrentBalance, taken.Response.Amount, taken.Response.CurrentBalance)
}

func client(name string) *gifts.Client {
	c, err := gifts.NewClient(os.Getenv("BOON_URL"), key(os.Getenv(name)))
	if err != nil {
		panic(err)
	}
	return c
}
