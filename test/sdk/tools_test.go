package sdk_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/server"
	"boon.example/internal/store/pgtest"
)

// fetched gets the programs from npm that its lock file names, once, and says why it cannot.
var fetched = sync.OnceValue(func() (left string) { return install("tools") })

// install has npm get the packages that the lock file of a folder names, and says why it cannot. What an earlier run
// got for the same files stays: npm would take half a minute of processor time to delete it and write it again.
func install(folder string) (left string) {
	var wanted []byte
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err.Error()
		}
		wanted = append(wanted, text...)
	}
	gotten := filepath.Join(folder, "node_modules", ".gotten") // npm deletes it with the rest before it begins
	if before, err := os.ReadFile(gotten); err == nil && bytes.Equal(before, wanted) {
		return ""
	}
	c := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	c.Dir = folder
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%v\n%s", err, out)
	}
	if err := os.WriteFile(gotten, wanted, 0o600); err != nil {
		return err.Error()
	}
	return ""
}

// tool is a file of a package in tools, and skips the test where packages cannot be had.
func tool(t *testing.T, path string) string {
	t.Helper()
	has(t, "node")
	has(t, "npm")
	if left := fetched(); left != "" {
		t.Skipf("LEFT OUT: npm gives no packages: %s", left)
	}
	return absolute(t, filepath.Join("tools/node_modules", path))
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOpenAPIIsRead has a validator, which is none of those that the product is made with, read both files.
func TestOpenAPIIsRead(t *testing.T) {
	t.Parallel()
	parser := tool(t, "@apidevtools/swagger-parser")
	for file, version := range map[string]string{"../../internal/face/api/openapi.json": "3.1.0",
		"../../internal/face/api/openapi-3.0.json": "3.0.3"} {
		said := run(t, os.Environ(), ".", "node", "-e", `
			require(process.argv[1]).validate(process.argv[2]).then(file => console.log(file.openapi))`, parser, file)
		if strings.TrimSpace(said) != version {
			t.Errorf("%s is read as %q", file, said)
		}
	}
}

// TestOpenAPIGenerator has openapi-generator make a client in TypeScript of the file in OpenAPI 3.0, and that client
// redeem a gift. Its version, 5.0.0-beta2, is the newest that npm has with its Java inside; newer ones come from Maven.
func TestOpenAPIGenerator(t *testing.T) {
	t.Parallel()
	pgtest.LeaveToCheck(t, byOthers)
	has(t, "java")
	jar, folder := tool(t, "@openapitools/openapi-generator-cli/bin/openapi-generator.jar"), t.TempDir()
	run(t, os.Environ(), folder, "java", "-jar", jar, "generate",
		"--input-spec", absolute(t, "../../internal/face/api/openapi-3.0.json"), "--generator-name", "typescript-fetch",
		"--additional-properties", "typescriptThreePlus=true", "--output", "gifts")
	s := boontest.Example(t, server.Config{Outbox: true})
	env := append(os.Environ(), "BOON_URL="+s.URL, "BOON_TILL_KEY="+examples.HarborTillKey, "BOON_GIFT="+sold(t, s.URL))
	node(t, env, "-e", "") // which fetches the compiler
	write(t, folder, "package.json", "{}")
	write(t, folder, "main.ts", `import {Configuration, RedemptionApi} from "./gifts";
declare const process: {env: Record<string, string>};
const {BOON_URL, BOON_TILL_KEY, BOON_GIFT} = process.env;
const till = new RedemptionApi(new Configuration({basePath: BOON_URL, apiKey: BOON_TILL_KEY, fetchApi: fetch}));
till.redeemGift({idempotencyKey: "sale-1", redeemGift: {voucherPublicToken: BOON_GIFT, amount: 9.5}}).then(paid =>
  console.log(JSON.stringify({amount: paid.amount, currentBalance: paid.currentBalance})));
`)
	run(t, env, folder, absolute(t, typescript+"/node_modules/.bin/tsc"), "--target", "es2020", "--module", "commonjs",
		"--lib", "es2020,dom", "--strict", "main.ts")
	said := run(t, env, folder, "node", "main.js")
	var paid struct{ Amount, CurrentBalance json.Number }
	if err := json.NewDecoder(strings.NewReader(said)).Decode(&paid); err != nil ||
		paid.Amount != "9.5" || paid.CurrentBalance != "15.5" {
		t.Errorf("the client tells %s", said)
	}
}
