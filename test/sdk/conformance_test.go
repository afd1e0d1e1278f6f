package sdk_test

import (
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/server"
)

// conforming are what the conformance tool of the Model Context Protocol asks of every server. What else it asks needs
// tools, resources and prompts of its own.
var conforming = []string{"server-initialize", "ping", "tools-list", "dns-rebinding-protection"}

// TestAgentsConform has the conformance tool of the protocol look at the service. It knows no keys: a proxy adds one.
func TestAgentsConform(t *testing.T) {
	t.Parallel()
	program := tool(t, "@modelcontextprotocol/conformance/dist/index.js")
	s := boontest.Example(t, server.Config{Outbox: true})
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	keyed := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		if strings.HasPrefix(r.In.Header.Get("Origin"), "http://127.0.0.1:") { // its own, else that of a thief
			r.Out.Header.Set("Origin", s.URL)
		}
		r.Out.Header.Set("Authorization", "Bearer "+examples.HarborOfficeKey)
	}})
	defer keyed.Close()
	for _, scenario := range conforming {
		c := exec.CommandContext(t.Context(), "node", program, "server", "--url", keyed.URL+"/mcp", "--scenario", scenario)
		c.Dir, c.Env = t.TempDir(), append(os.Environ(), "NO_COLOR=1")
		said, err := c.CombinedOutput()
		if err != nil || !strings.Contains(string(said), "0 failed") {
			t.Errorf("%s: %v\n%s", scenario, err, said)
		}
	}
}
