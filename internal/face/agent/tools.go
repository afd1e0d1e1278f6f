package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"boon.example/internal/service"
)

// tool is one that agents may use.
type tool struct {
	mcp.Tool
	operation string   // of the OpenAPI file
	without   []string // arguments of the operation that the tool does not take
	needs     string   // the only argument that must be there, where the operation has alternatives; "": as it says
	about     string   // what the tool does

	method, path string // below the interface
	asked, told  schema
	writing      bool
	answers      map[string]schema // of operations, by their names; for what tells of other calls
}

// reads are the tools that change nothing.
func reads() []*tool {
	return []*tool{
		{operation: "listGifts", Tool: mcp.Tool{Name: "find_gifts", Title: "Find gifts"},
			about: "Finds gifts of the account, the newest first, by any of the filters together."},
		{operation: "getGift", Tool: mcp.Tool{Name: "get_gift", Title: "Look at a gift"},
			about: "Tells how one gift stands: its balance, its status, until when it is valid, and why it cannot be used."},
		{operation: "getGiftHistory", Tool: mcp.Tool{Name: "gift_history", Title: "History of a gift"},
			about: "Tells everything that happened to a gift, the oldest first."},
		{operation: "getRequest", Tool: mcp.Tool{Name: "what_became_of_call", Title: "What became of a call"},
			about: "Tells by its Idempotency-Key whether a call arrived, and what it was answered."},
		{operation: "getLiability", Tool: mcp.Tool{Name: "liability", Title: "What is owed"},
			about: "Tells what is owed for gifts, now or at an instant that has passed."},
		{operation: "getRollForward", Tool: mcp.Tool{Name: "roll_forward", Title: "How what is owed changed"},
			about: "Tells how what was owed at the start of a period became what was owed at its end."},
		{operation: "getSettlement", Tool: mcp.Tool{Name: "settlement", Title: "Who owes whom"},
			about: "Tells what was sold at one location and used at another one, and what legal entities owe each other."},
	}
}

// base is what the paths of the JSON interface begin with.
const base = "/api/integration"

// readingTools are the tools that change nothing, with their schemas from the OpenAPI file.
func readingTools(d *document) []*tool {
	all, no := reads(), false
	for _, t := range all {
		t.describe(d)
		t.Annotations = &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no}
		t.OutputSchema = t.told
	}
	return append(all, explainer(d))
}

// describe takes what the OpenAPI file says of the tool's operation.
func (t *tool) describe(d *document) {
	for path, methods := range d.Paths {
		for method, op := range methods {
			if op.OperationID == t.operation {
				t.method, t.path = strings.ToUpper(method), strings.TrimPrefix(path, base)
				t.asked, t.told = d.asked(op, t.without), d.told(op)
			}
		}
	}
	t.Description, t.InputSchema = t.about, t.asked
	if t.operation == "getRequest" {
		t.answers = d.answers()
	}
}

// answers are the schemas of what operations answer, by the last parts of their paths.
func (d *document) answers() map[string]schema {
	all := map[string]schema{}
	for path, methods := range d.Paths {
		if op := methods["post"]; op != nil && op.Responses["200"].Content["application/json"].Schema != nil ||
			op != nil && op.Responses["201"].Content["application/json"].Schema != nil {
			all[path[strings.LastIndexByte(path, '/')+1:]] = d.told(op)
		}
	}
	return all
}

// handler answers calls of the tool. The protocol runs it beside the call that brings the message, so that a panic of
// it is caught here.
func (t *tool) handler(f *face) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (result *mcp.CallToolResult, _ error) {
		defer func() {
			if p := recover(); p != nil {
				result = refused(ctx, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
			}
		}()
		a, err := readArguments(r.Params.Arguments, t.asked)
		if err == nil {
			result, err = t.use(ctx, f, a)
		}
		if err != nil {
			result = refused(ctx, err)
		}
		return result, nil
	}
}

// use does what an agent calls the tool for.
func (t *tool) use(ctx context.Context, f *face, a arguments) (*mcp.CallToolResult, error) {
	switch {
	case t.operation == "":
		return explain(a)
	case t.writing:
		return t.write(ctx, f, a)
	}
	path, err := a.address(t.path)
	if err != nil {
		return nil, err
	}
	answer, err := f.operate(ctx, t.method, path, "", nil)
	if err != nil {
		return nil, err
	}
	return answered(t.shown(answer))
}

// shown is what an agent is told of an answer, and whether it is a refusal.
func (t *tool) shown(answer *service.Kept) (out any, failed bool, _ error) {
	value, err := decode(answer.Body.Bytes())
	if err != nil {
		return nil, false, fmt.Errorf("reading what %s answered: %w", t.operation, err)
	}
	if answer.Status() >= http.StatusBadRequest {
		return cut(value, problemSchema), true, nil
	}
	out = cut(value, t.told)
	if t.answers != nil {
		t.tellAnswers(value, out)
	}
	return out, false, nil
}

// tellAnswers puts what operations answered into what is told of calls, each by the schema of its operation.
func (t *tool) tellAnswers(value, out any) {
	was, _ := value.(map[string]any)["requests"].([]any)
	for n, shown := range out.(map[string]any)["requests"].([]any) {
		call := was[n].(map[string]any)
		body, answered := call["answer"].(map[string]any)
		if !answered {
			continue
		}
		s := t.answers[call["operation"].(string)]
		if _, refused := body["code"]; refused {
			s = problemSchema
		}
		shown.(map[string]any)["answer"] = cut(body, s)
	}
}

// problemSchema is what of a refusal is told: all of it is in Boon's words, or in the agent's own.
var problemSchema = schema{"type": "object", "properties": map[string]any{
	"code": map[string]any{"type": "string"}, "title": map[string]any{"type": "string"},
	"status": map[string]any{"type": "integer"}, "requestID": map[string]any{"type": "string"},
	"messages": map[string]any{"type": "array", "items": map[string]any{"type": "object", "properties": map[string]any{
		"path": map[string]any{"type": "string"}, "text": map[string]any{"type": "string"}}}}}}

// told is the result of a tool: once for programs, and once as a text, for those that read nothing else.
func told(value any, isError bool) *mcp.CallToolResult {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it holds what was read from JSON, and texts
	}
	r := &mcp.CallToolResult{IsError: isError, Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}
	if !isError {
		r.StructuredContent = json.RawMessage(text)
	}
	return r
}
