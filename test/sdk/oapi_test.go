package sdk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"boon.example/client"
	"boon.example/examples"
	"boon.example/internal/store/pgtest"
)

// generated is what every client that a generator made tells: the balance, what was taken, what is left.
const generated = "25 9.5 15.5\n"

// byOthers is why clients that generators make are left to make check.
const byOthers = "programs of others read the OpenAPI file; our own clients are made from it, too"

// TestClientsInGo has generators make clients of both OpenAPI files, and each client send, validate and redeem a gift.
// ogen reads OpenAPI 3.0 only: in 3.1 it does not know exclusiveMinimum as a number.
func TestClientsInGo(t *testing.T) {
	t.Parallel()
	pgtest.LeaveToCheck(t, byOthers)
	for _, c := range []struct{ name, program, file string }{
		{"oapi-codegen 3.0", "oapi-codegen", "openapi-3.0.json"},
		{"oapi-codegen 3.1", "oapi-codegen", "openapi.json"},
		{"ogen 3.0", "ogen", "openapi-3.0.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			folder, file := t.TempDir(), absolute(t, "../../internal/face/api/"+c.file)
			for _, inner := range []string{"gifts", "uses"} {
				if err := os.Mkdir(filepath.Join(folder, inner), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for from, to := range map[string]string{"go.mod": "go.mod", "go.sum": "go.sum", "oapi.go": "uses/oapi.go",
				"testdata/" + c.program + "/main.go": "main.go"} {
				write(t, folder, to, read(t, filepath.Join("../oapi", from)))
			}
			get := exec.CommandContext(t.Context(), "go", "mod", "download")
			get.Dir = folder
			if out, err := get.CombinedOutput(); err != nil {
				t.Skipf("LEFT OUT: %s cannot be had, so no client was made with it: %s", c.program, out)
			}
			made := []string{"-generate", "types,client", "-package", "gifts", "-o", "gifts/gifts.go", file}
			if c.program == "ogen" {
				made = []string{"--target", "gifts", "--package", "gifts", "--loglevel", "error", file}
			}
			run(t, os.Environ(), folder, "go", append([]string{"tool", c.program}, made...)...)
			if said := run(t, service(t), folder, "go", "run", "."); said != generated {
				t.Errorf("the client tells %s", said)
			}
		})
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

// programs send a gift, validate it and redeem a part of it, with what a generator made in gifts.ts.
var programs = map[string]string{
	"openapi-typescript": `import createClient from "openapi-fetch";
import type {paths} from "./gifts.js";
const call = (key: string) => createClient<paths>({baseUrl: env.BOON_URL, headers: {Authorization: env[key]}});
const {data: order} = await call("BOON_SHOP_KEY").POST("/api/integration/gifting/send-gift", {
  params: {header: {"Idempotency-Key": "purchase-1"}}, body: purchase});
const voucherPublicToken = order!.gifts[0].giftURL!, till = call("BOON_TILL_KEY");
const {data: shown} = await till.POST("/api/integration/redemption/validate-gift", {body: {voucherPublicToken}});
const {data: paid} = await till.POST("/api/integration/redemption/redeem-gift", {
  params: {header: {"Idempotency-Key": "sale-1"}}, body: {voucherPublicToken, amount: 9.5}});
console.log(shown!.currentBalance, paid!.amount, paid!.currentBalance);
`,
	"orval": `import {sendGift, validateGift, redeemGift} from "./gifts.js";
const signed = (key: string, name: string) => ({headers: {Authorization: env[key], "Idempotency-Key": name}});
const there = globalThis.fetch; // what orval makes calls the host that serves the page
globalThis.fetch = (path, options) => there(env.BOON_URL + path, options);
const order = await sendGift(purchase, {}, signed("BOON_SHOP_KEY", "purchase-1"));
if (order.status !== 201) throw new Error(JSON.stringify(order.data));
const voucherPublicToken = order.data.gifts[0].giftURL!;
const shown = await validateGift({voucherPublicToken}, signed("BOON_TILL_KEY", "sale-0"));
if (shown.status !== 200) throw new Error(JSON.stringify(shown.data));
const paid = await redeemGift({voucherPublicToken, amount: 9.5}, {}, signed("BOON_TILL_KEY", "sale-1"));
if (paid.status !== 200) throw new Error(JSON.stringify(paid.data));
console.log(shown.data.currentBalance, paid.data.amount, paid.data.currentBalance);
`,
}

// purchase is the order that they send.
const purchase = `declare const process: {env: Record<string, string>};
const env = process.env;
const purchase = {
  monetaryGift: {value: 25, deliveryMethodID: 3 as const, recipientDescription: "Ana"}, paymentMethodID: 2 as const,
  externalTransactionReferenceNumber: "WEB-1", externalTransactionCustomerFirstName: "Carla",
  externalTransactionCustomerLastName: "Diaz", externalTransactionCustomerEmailAddress: "carla@example.com",
  externalStorefrontID: env.BOON_STOREFRONT,
};
`

// TestClientsInTypeScript does the same as TestClientsInGo.
func TestClientsInTypeScript(t *testing.T) {
	t.Parallel()
	pgtest.LeaveToCheck(t, byOthers)
	for _, generator := range []string{"openapi-typescript", "orval"} {
		for _, file := range []string{"openapi.json", "openapi-3.0.json"} {
			t.Run(generator+" "+file, func(t *testing.T) {
				t.Parallel()
				modules, folder := filepath.Dir(tool(t, "orval")), t.TempDir()
				link(t, modules, filepath.Join(folder, "node_modules"))
				write(t, folder, "package.json", `{"type": "module"}`)
				write(t, folder, "tsconfig.json", `{"compilerOptions": {"target": "es2022", "module": "nodenext",
					"lib": ["es2022", "dom", "dom.iterable"], "types": [], "strict": true, "skipLibCheck": true}, "files": ["main.ts"]}`)
				write(t, folder, "main.ts", purchase+programs[generator])
				bin, file := filepath.Join(modules, ".bin"), absolute(t, "../../internal/face/api/"+file)
				if generator == "orval" {
					run(t, os.Environ(), folder, filepath.Join(bin, generator), "--input", file,
						"--output", "gifts.ts", "--client", "fetch")
				} else {
					run(t, os.Environ(), folder, filepath.Join(bin, generator), file, "-o", "gifts.ts")
				}
				run(t, os.Environ(), folder, filepath.Join(bin, "tsc"))
				if said := run(t, service(t), folder, "node", "main.js"); said != generated {
					t.Errorf("the client tells %s", said)
				}
			})
		}
	}
}

// TestOpenAPIIsLinted has Redocly's linter look at both files; internal/face/api/redocly.yaml says what it does not
// ask.
func TestOpenAPIIsLinted(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	c := exec.CommandContext(t.Context(), tool(t, ".bin/redocly"), "lint", "--format", "stylish")
	c.Dir = "../../internal/face/api"
	c.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	if out, err := c.CombinedOutput(); err != nil || strings.Contains(string(out), " warning ") ||
		strings.Count(string(out), "validated in") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}
