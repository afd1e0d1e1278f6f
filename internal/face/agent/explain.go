package agent

import (
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"boon.example/docs"
	"boon.example/internal/refusal"
)

// explainer is the tool that says what a refusal means. It asks nobody.
func explainer(d *document) *tool {
	code := d.whole(d.Components.Schemas["Code"])
	no := false
	t := &tool{asked: schema{"type": "object", "required": []any{"code"}, "additionalProperties": false,
		"properties": map[string]any{"code": code}}}
	t.told = schema{"type": "object", "required": []any{"code", "title", "status", "explanation"},
		"properties": map[string]any{"code": code,
			"title":       map[string]any{"type": "string", "description": "What the code means, in a few words."},
			"status":      map[string]any{"type": "integer", "description": "The HTTP status."},
			"explanation": map[string]any{"type": "string", "description": "When it happens, and what to do. Markdown."}}}
	t.Tool = mcp.Tool{Name: "explain_refusal", Title: "What a refusal means",
		Description: "Tells when the interface refuses with a code, and what to do.",
		InputSchema: t.asked, OutputSchema: t.told,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no}}
	return t
}

// explain tells what a refusal means.
func explain(a arguments) (*mcp.CallToolResult, error) {
	name, _ := a["code"].(string)
	code := refusal.Code(name)
	_, section, known := strings.Cut(docs.Source("reference/errors.md"), "\n## "+name+"\n")
	if code.Status() == 0 || !known {
		return nil, refusal.New(refusal.NotFound, "There is no such code.")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	return told(map[string]any{"code": code, "title": string(code.Title()), "status": code.Status(),
		"explanation": strings.TrimSpace(section)}, false), nil
}
