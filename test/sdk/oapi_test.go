package sdk_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"boon.example/client"
	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/server"
	"boon.example/internal/store/pgtest"
)

// TestOpenAPI30 has oapi-codegen make a client of sdk/openapi-3.0.json, and that client redeem a gift.
func TestOpenAPI30(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	folder := t.TempDir()
	for from, to := range map[string]string{"go.mod": "go.mod", "go.sum": "go.sum", "testdata/main.go": "main.go"} {
		text, err := os.ReadFile(filepath.Join("../oapi", from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, to), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	get := exec.CommandContext(t.Context(), "go", "mod", "download")
	get.Dir = folder
	if out, err := get.CombinedOutput(); err != nil {
		t.Skipf("LEFT OUT: oapi-codegen cannot be had, so sdk/openapi-3.0.json was not tried: %s", out)
	}
	file, err := filepath.Abs("../../sdk/openapi-3.0.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "gifts"), 0o700); err != nil {
		t.Fatal(err)
	}
	run(t, os.Environ(), folder, "go", "tool", "oapi-codegen", "-generate", "types,client", "-package", "gifts",
		"-o", "gifts/gifts.go", file)
	s := boontest.Example(t, server.Config{Outbox: true})
	env := append(os.Environ(), "BOON_URL="+s.URL, "BOON_TILL_KEY="+examples.HarborTillKey, "BOON_GIFT="+sold(t, s.URL))
	said := run(t, env, folder, "go", "run", ".")
	var paid struct{ Amount, CurrentBalance json.Number }
	if err := json.NewDecoder(strings.NewReader(said)).Decode(&paid); err != nil ||
		paid.Amount != "9.50" || paid.CurrentBalance != "15.50" {
		t.Errorf("the client tells %s", said)
	}
}

// sold sends a gift of 25 dollars and gives its link.
func sold(t *testing.T, address string) string {
	t.Helper()
	shop, err := client.New(address, examples.HarborWebShopKey)
	if err != nil {
		t.Fatal(err)
	}
	order, err := shop.SendGift(t.Context(), client.SendGiftRequest{
		MonetaryGift: &client.MonetaryGift{Value: client.MustDecimal("25.00"), DeliveryMethodID: client.Printed,
			RecipientDescription: "Ana"},
		PaymentMethodID: client.ExternalTransaction,
		ExternalPayment: client.ExternalPayment{
			ExternalTransactionReferenceNumber:      "WEB-1001",
			ExternalTransactionCustomerFirstName:    "Carla",
			ExternalTransactionCustomerLastName:     "Diaz",
			ExternalTransactionCustomerEmailAddress: "carla@example.com",
			ExternalStorefrontID:                    examples.HarborStorefront,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return order.Gifts[0].GiftURL
}
