package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/server"
)

// TestMCP: an agent that starts boon mcp is offered the tools of the service, those that do something only where the
// command says so, and is told what the service says. A key that is not good is told before anything is offered.
func TestMCP(t *testing.T) {
	t.Parallel()
	s := boontest.Example(t, server.Config{})
	for _, c := range []struct {
		arguments string
		tools     int
	}{{"", 8}, {" --write", 14}} {
		agent, ended := startMCP(t, s.URL, examples.HarborOfficeKey, c.arguments)
		tools, err := agent.ListTools(t.Context(), nil)
		if err != nil || len(tools.Tools) != c.tools {
			t.Fatalf("boon mcp%s offers %d tools, not %d: %v", c.arguments, len(tools.Tools), c.tools, err)
		}
		told, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "explain_refusal",
			Arguments: map[string]any{"code": "HOLD_NOT_OPEN"}})
		if err != nil || !strings.Contains(told.Content[0].(*mcp.TextContent).Text, "409") {
			t.Errorf("explain_refusal: %+v %v", told, err)
		}
		if err := agent.Close(); err != nil {
			t.Error(err)
		}
		if code := <-ended; code != exitOK {
			t.Errorf("boon mcp%s ended with %d", c.arguments, code)
		}
	}
	for _, c := range []struct{ arguments, key, want string }{
		{"mcp --url " + s.URL, "boon_live_none", "UNAUTHENTICATED"},
		{"mcp --url " + s.URL, "", "An API key is needed"},
		{"mcp --url gopher://x", "boon_live_none", "--url must be an address"},
		{"mcp --url http://127.0.0.1:1", "boon_live_none", "No service listens"},
	} {
		var out, told strings.Builder
		code := run(t.Context(), strings.Fields(c.arguments), strings.NewReader(""), &out, &told, func(name string) string {
			return map[string]string{"BOON_KEY": c.key}[name]
		})
		if code == exitOK || !strings.Contains(told.String(), c.want) || out.Len() > 0 {
			t.Errorf("boon %s: %d %s%s", c.arguments, code, out.String(), told.String())
		}
	}
}

// TestMCPWhileTheServiceRestarts: a call while the service is away fails and says so, and the next one works, without
// the agent starting boon mcp anew. A call with a confirmation that failed in between is done once by the next one.
func TestMCPWhileTheServiceRestarts(t *testing.T) {
	t.Parallel()
	s := boontest.Example(t, server.Config{})
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	const here, away, silent = 0, 1, 2 // silent: the call is done, and its answer is lost
	var state atomic.Int32
	through := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	line := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch state.Load() {
		case away:
			panic(http.ErrAbortHandler)
		case silent:
			through.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(line.Close)
	agent, ended := startMCP(t, line.URL, examples.HarborOfficeKey, " --write")
	call := func(arguments map[string]any) (map[string]any, error) {
		t.Helper()
		result, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "send_gift", Arguments: arguments})
		if err != nil {
			return nil, err
		}
		var told map[string]any
		if err := json.Unmarshal([]byte(result.Content[0].(*mcp.TextContent).Text), &told); err != nil || result.IsError {
			t.Fatalf("%+v, %v", result.Content[0], err)
		}
		return told, nil
	}
	deed := map[string]any{"paymentMethodID": 4, "promotionID": examples.HarborWelcomeBack,
		"validStarting": "2026-01-01T00:00:00Z", "validForDays": 3650,
		"monetaryGift": map[string]any{"value": 5, "deliveryMethodID": 3}}
	for range 2 {
		state.Store(away)
		for range 2 {
			told, err := call(deed)
			if err == nil || !strings.Contains(err.Error(), "the service does not answer") ||
				!strings.Contains(err.Error(), "Call again with the same arguments") {
				t.Fatalf("while the service is away, an agent is told %v, %v", told, err)
			}
		}
		state.Store(here)
		if told, err := call(deed); err != nil || told["done"] != false {
			t.Fatalf("once the service is there again: %v, %v", told, err)
		}
	}
	told, err := call(deed)
	if err != nil {
		t.Fatal(err)
	}
	deed["confirm"] = told["confirm"]
	state.Store(silent)
	if told, err := call(deed); err == nil {
		t.Fatalf("an answer that was lost is told as %v", told)
	}
	state.Store(here)
	if told, err = call(deed); err != nil || told["done"] != true {
		t.Fatalf("once more: %v, %v", told, err)
	}
	result, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "find_gifts", Arguments: map[string]any{}})
	if err != nil || strings.Count(result.Content[0].(*mcp.TextContent).Text, `"voucherID"`) != 1 {
		t.Errorf("a call that was repeated was not done once: %+v, %v", result, err)
	}
	if err := agent.Close(); err != nil {
		t.Error(err)
	}
	if code := <-ended; code != exitOK {
		t.Errorf("boon mcp ended with %d", code)
	}
}

// startMCP runs boon mcp as an agent does, and gives its exit code when it has ended.
func startMCP(t *testing.T, url, key, arguments string) (*mcp.ClientSession, <-chan int) {
	t.Helper()
	stdin, toCommand := io.Pipe()
	fromCommand, stdout := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		code := run(context.WithoutCancel(t.Context()), strings.Fields("mcp --url "+url+arguments), stdin, stdout, os.Stderr,
			func(name string) string { return map[string]string{"BOON_KEY": key}[name] })
		_ = stdout.Close()
		ended <- code
	}()
	agent, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&mcp.IOTransport{Reader: fromCommand, Writer: toCommand}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return agent, ended
}
