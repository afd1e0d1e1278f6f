package main

import (
	"context"
	"io"
	"os"
	"strings"
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
		{"mcp --url gopher://x", "boon_live_none", "--url is an address"},
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
