// Package sdk_test has the clients of each language do their work on a running service.
package sdk_test

import (
	"encoding/pem"
	"io"
	"log"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/server"
	"boon.example/internal/store/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// story is what the example shop of every language tells.
const story = `sold: 25.00 USD for Ana
worth: 25.00
taken: 9.50 left: 15.50
refused: INSUFFICIENT_BALANCE
given back: 9.50 left: 25.00
history: ISSUED REDEMPTION REVERSAL
`

// service starts one with the example merchant, and gives the environment that the programs look into.
func service(t *testing.T) []string {
	t.Helper()
	s := boontest.Example(t, server.Config{Outbox: true})
	return append(os.Environ(), "BOON_URL="+s.URL, "BOON_SHOP_KEY="+examples.HarborWebShopKey,
		"BOON_TILL_KEY="+examples.HarborTillKey, "BOON_OFFICE_KEY="+examples.HarborOfficeKey)
}

// run runs a command in a folder and gives what it prints.
func run(t *testing.T, env []string, folder, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir, c.Env, c.Stderr = folder, env, t.Output()
	out, err := c.Output()
	if err != nil {
		t.Errorf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// TestShopInGo runs the example shop of the Go client.
func TestShopInGo(t *testing.T) {
	t.Parallel()
	if got := run(t, service(t), "../../client", "go", "run", "./examples/shop"); got != story {
		t.Errorf("the shop tells\n%s", got)
	}
}

// python runs Python in the folder of its client, and skips the test where there is none.
func python(t *testing.T, env []string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("LEFT OUT: there is no python3, so nobody runs the client in Python")
	}
	return run(t, append(env, "PYTHONPATH=.", "PYTHONDONTWRITEBYTECODE=1"), "../../sdk/python", "python3", args...)
}

// overTLS puts a proxy that speaks TLS before a service, and gives its address and certificate.
func overTLS(t *testing.T, address string) []string {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(to))
	front.Config.ErrorLog = log.New(io.Discard, "", 0) // callers that do not trust it hang up
	front.StartTLS()
	t.Cleanup(front.Close)
	file := filepath.Join(t.TempDir(), "cert.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"BOON_TLS_URL=" + front.URL, "BOON_TLS_CERT=" + file}
}

// TestShopInPython runs the example shop of the client in Python.
func TestShopInPython(t *testing.T) {
	t.Parallel()
	if got := python(t, service(t), "examples/shop.py"); got != story {
		t.Errorf("the shop tells\n%s", got)
	}
}

// TestClientInPython runs the tests of the client in Python, those that need a service, too.
func TestClientInPython(t *testing.T) {
	t.Parallel()
	env := service(t)
	for _, v := range env {
		if address, is := strings.CutPrefix(v, "BOON_URL="); is {
			env = append(env, overTLS(t, address)...)
		}
	}
	python(t, env, "-W", "error", "-m", "unittest", "discover", "-t", ".", "-s", "tests")
}

// TestTypeScript compiles the client in TypeScript, compares its types with the interface, and runs its example shop
// and its tests.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	const folder = "../../sdk/typescript"
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("LEFT OUT: there is no %s, so nobody runs the client in TypeScript", name)
		}
	}
	install := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = folder
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("LEFT OUT: npm ci failed, so nobody runs the client in TypeScript: %s", out)
	}
	env := service(t)
	run(t, env, folder, "npm", "run", "-s", "types:check")
	run(t, env, folder, "npx", "tsc")
	if got := run(t, env, folder, "node", "examples/shop.js"); got != story {
		t.Errorf("the shop tells\n%s", got)
	}
	if out := run(t, env, folder, "node", "--test", "tests/"); t.Failed() {
		t.Log(out)
	}
}
