// Package sdk_test has the clients of each language do their work on a running service.
package sdk_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
		"BOON_TILL_KEY="+examples.HarborTillKey, "BOON_OFFICE_KEY="+examples.HarborOfficeKey,
		"BOON_STOREFRONT="+examples.HarborStorefront)
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
	if got := run(t, service(t), "../../client", "go", "run", "-ldflags=-s -w", "./examples/shop"); got != story {
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

// overTLS puts a proxy that speaks TLS before the service of an environment, and adds its address and certificate.
func overTLS(t *testing.T, env []string) []string {
	t.Helper()
	at := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, "BOON_URL=") })
	to, err := url.Parse(strings.TrimPrefix(env[at], "BOON_URL="))
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
	return append(env, "BOON_TLS_URL="+front.URL, "BOON_TLS_CERT="+file, "NODE_EXTRA_CA_CERTS="+file)
}

// TestShopInPython runs the example shop of the client in Python.
func TestShopInPython(t *testing.T) {
	t.Parallel()
	if got := python(t, service(t), "examples/shop.py"); got != story {
		t.Errorf("the shop tells\n%s", got)
	}
}

// TestClientInPython has pip install the client, and runs its tests on what was installed, those that need a service,
// too.
func TestClientInPython(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	env := overTLS(t, service(t))
	folder := t.TempDir()
	run(t, env, ".", "cp", "-r", "../../sdk/python/.", filepath.Join(folder, "source")) // for pip builds where it lies
	installed, left := installed(t, filepath.Join(folder, "source"), filepath.Join(folder, "venv"))
	if left != "" {
		t.Log("LEFT OUT: nobody installs the client in Python: " + left)
		python(t, env, "-W", "error", "-m", "unittest", "discover", "-t", ".", "-s", "tests")
		return
	}
	if err := os.RemoveAll(filepath.Join(folder, "source/boon_gifts")); err != nil {
		t.Fatal(err)
	}
	run(t, env, filepath.Join(folder, "source"), installed, "-W", "error", "-m", "unittest", "discover", "-t", ".",
		"-s", "tests")
	run(t, env, folder, installed, "-c", "import os, boon_gifts as b\n"+
		"assert 'site-packages' in b.__file__ and os.path.exists(os.path.dirname(b.__file__) + '/py.typed')")
}

// installed has pip put a package into an environment of its own, as docs/start/install-python.md says but without
// asking an index, and gives its Python. The first Python that has pip does it.
func installed(t *testing.T, source, venv string) (python, left string) {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		out, err := exec.CommandContext(t.Context(), name, "-c", "import ensurepip").CombinedOutput()
		if err != nil {
			left = fmt.Sprintf("%v: %s", err, out)
			continue
		}
		run(t, os.Environ(), ".", name, "-m", "venv", venv)
		python = filepath.Join(venv, "bin/python")
		run(t, os.Environ(), ".", python, "-m", "pip", "install", "--no-index", "--quiet", source)
		return python, ""
	}
	return "", left
}

// TestTypesInPython has pyright, at its strictest, check the client and the example as the oldest Python would.
func TestTypesInPython(t *testing.T) {
	t.Parallel()
	pyright, folder := tool(t, "pyright/index.js"), t.TempDir()
	for _, part := range []string{"boon_gifts", "examples"} {
		run(t, os.Environ(), ".", "cp", "-r", "../../sdk/python/"+part, folder)
	}
	write(t, folder, "pyrightconfig.json", `{"typeCheckingMode": "strict", "pythonVersion": "3.9"}`)
	if said := run(t, os.Environ(), folder, "node", pyright); t.Failed() {
		t.Log(said)
	}
}

const typescript = "../../sdk/typescript"

// compiled compiles the client in TypeScript, once, and says why it cannot.
var compiled = sync.OnceValue(func() (left string) {
	if left := install(typescript); left != "" {
		return "npm: " + left
	}
	c := exec.Command("npx", "tsc")
	c.Dir = typescript
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Sprintf("tsc: %v\n%s", err, out)
	}
	return ""
})

// node runs node in the folder of the client in TypeScript, and skips the test where there is none.
func node(t *testing.T, env []string, args ...string) string {
	t.Helper()
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("LEFT OUT: there is no %s, so nobody runs the client in TypeScript", name)
		}
	}
	if left := compiled(); strings.HasPrefix(left, "npm: ") {
		t.Skipf("LEFT OUT: nobody runs the client in TypeScript: %s", left)
	} else if left != "" {
		t.Fatal(left)
	}
	return run(t, env, typescript, "node", args...)
}

// TestShopInTypeScript runs the example shop of the client in TypeScript.
func TestShopInTypeScript(t *testing.T) {
	t.Parallel()
	if got := node(t, service(t), "examples/shop.js"); got != story {
		t.Errorf("the shop tells\n%s", got)
	}
}

// TestClientInTypeScript compares the types of the client with the interface, and runs its tests.
func TestClientInTypeScript(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	if out := node(t, overTLS(t, service(t)), "--test", "tests/"); t.Failed() {
		t.Log(out)
	}
	run(t, os.Environ(), typescript, "npm", "run", "-s", "types:check")
}
