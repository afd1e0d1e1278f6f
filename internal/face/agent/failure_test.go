package agent

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/service"
)

// TestFailuresOfOursAreNotTold: an answer that no schema knows, or that is none, ends neither the service nor tells an
// agent why; the log is told. The protocol runs tools beside the call, where nothing else would catch a panic.
func TestFailuresOfOursAreNotTold(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, answer := range []string{`{"requests": [1]}`, `{"requests": 1}`, `[]`, `{`, ``} {
		s := service.New(service.Config{})
		f := &face{Config: Config{Service: s, Operations: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(answer))
		})}}
		var tool *tool
		for _, one := range readingTools(readDocument(file)) {
			if one.Name == "what_became_of_call" {
				tool = one
			}
		}
		s.Handler(func(c *service.Call) service.Reply {
			c.Caller = &merchant.Caller{Name: "helper"}
			turn := f.turnOf(c)
			result, err := tool.handler(f)(context.WithValue(t.Context(), turnKey{}, turn), &mcp.CallToolRequest{
				Params: &mcp.CallToolParamsRaw{Arguments: []byte(`{"key": "k"}`)}})
			text := result.Content[0].(*mcp.TextContent).Text
			if err != nil || !result.IsError || !strings.Contains(text, "UNEXPECTED_ERROR") || strings.Contains(text, "panic") {
				t.Errorf("%s: %s %v", answer, text, err)
			}
			if turn.failure.Load() == nil {
				t.Errorf("%s: the log is not told", answer)
			}
			return c.Reply(ledger.Answer{Code: ledger.OK}, nil)
		}).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/mcp", nil))
	}
}
