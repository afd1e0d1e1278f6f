// Program redeem takes a part of a gift with the client that oapi-codegen made.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"boon.example/oapi/gifts"
)

func main() {
	signed := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("BOON_TILL_KEY"))
		return nil
	}
	till, err := gifts.NewClientWithResponses(os.Getenv("BOON_URL"), gifts.WithRequestEditorFn(signed))
	if err != nil {
		panic(err)
	}
	token, amount, sale := os.Getenv("BOON_GIFT"), 9.5, "sale-of-oapi"
	shown, err := till.ValidateGiftWithResponse(context.Background(), nil, gifts.ValidateGift{VoucherPublicToken: &token})
	if err != nil || shown.JSON200 == nil {
		panic(fmt.Sprint(err, string(shown.Body)))
	}
	paid, err := till.RedeemGiftWithResponse(context.Background(), &gifts.RedeemGiftParams{IdempotencyKey: &sale},
		gifts.RedeemGift{VoucherPublicToken: &token, Amount: &amount})
	if err != nil || paid.JSON200 == nil {
		panic(fmt.Sprint(err, string(paid.Body)))
	}
	fmt.Println(string(paid.Body))
}
