package agent

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"boon.example/internal/merchant"
	"boon.example/internal/service"
)

// writes are the tools that change something. None takes a balance, pays out, makes a key, or sends a gift that is
// there to somebody else.
func writes() []*tool {
	return []*tool{
		{operation: "sendGift", Tool: mcp.Tool{Name: "send_gift", Title: "Send gifts"},
			about: "Makes gifts and sends them."},
		{operation: "resendGift", Tool: mcp.Tool{Name: "resend_gift", Title: "Send a gift again"},
			about:   "Sends a gift again to where it went before.",
			without: []string{"recipientContact", "deliveryMethodID"}},
		{operation: "blockGift", Tool: mcp.Tool{Name: "block_gift", Title: "Block a gift"},
			about: "Keeps a gift from being used until it is unblocked."},
		{operation: "unblockGift", Tool: mcp.Tool{Name: "unblock_gift", Title: "Unblock a gift"},
			about: "Lets a blocked gift be used again."},
		{operation: "reverseRedemption", Tool: mcp.Tool{Name: "reverse_redemption", Title: "Give back what was redeemed"},
			about:   "Gives back to a gift what a redemption took, or a part of it.",
			without: []string{"idempotencyKey", "operation", "voucherID", "pointOfSaleSystemOrganizationIdentifier"},
			needs:   "redemptionID"},
		{operation: "extendGift", Tool: mcp.Tool{Name: "extend_gift", Title: "Make a gift valid for longer"},
			about: "Makes a promotional gift valid for longer."},
	}
}

// confirmation is the argument by which an agent asks for the second time.
const confirmation = "confirm"

// twoSteps is told of every tool that changes something.
const twoSteps = " Without confirm nothing is done: the answer says what would happen, and has a confirm for a call " +
	"with the very same arguments, which then does it, once. Let a person agree in between."

// writingTools are the tools that change something, with their schemas from the OpenAPI file.
func writingTools(d *document) []*tool {
	all, yes := writes(), true
	for _, t := range all {
		t.describe(d)
		t.writing = true
		if t.needs != "" {
			t.asked["required"] = []any{t.needs}
		}
		t.asked["properties"].(schema)[confirmation] = schema{"type": []any{"string", "null"},
			"description": "What the same call without it answered; good for 10 minutes."}
		t.Description += twoSteps
		t.Annotations = &mcp.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &yes}
		t.OutputSchema = schema{"type": "object", "required": []any{"done", confirmation, "confirmBefore", "answer"},
			"properties": schema{
				"done":          schema{"type": "boolean", "description": "Whether it was done; else it is told what would be."},
				confirmation:    schema{"type": []any{"string", "null"}, "description": "For the second call; null: it was done."},
				"confirmBefore": schema{"type": []any{"string", "null"}, "format": "date-time", "description": "Until when."},
				"answer":        t.told}}
	}
	return all
}

// write tells what an operation would do, or has it done where that was told before.
func (t *tool) write(ctx context.Context, f *face, a arguments) (*mcp.CallToolResult, error) {
	c := turnIn(ctx).call
	given, again := a[confirmation].(string)
	delete(a, confirmation)
	body, err := a.text()
	if err != nil {
		return nil, err
	}
	if !again {
		out, failed, err := t.ask(ctx, f, "?dryRun=true", "", body)
		if failed || err != nil {
			return answered(out, failed, err)
		}
		before := f.Service.Now().UTC().Add(confirmable).Truncate(time.Second)
		return told(map[string]any{"done": false, "answer": out, confirmation: f.confirmationOf(c, t, body, before),
			"confirmBefore": before.Format(time.RFC3339)}, false), nil
	}
	if err := f.confirm(c, t, body, given); err != nil {
		return nil, err
	}
	out, failed, err := t.ask(ctx, f, "", given, body)
	if failed || err != nil {
		return answered(out, failed, err)
	}
	return told(map[string]any{"done": true, "answer": out, confirmation: nil, "confirmBefore": nil}, false), nil
}

// ask has the operation of the tool carried out, and gives what an agent is told of its answer.
func (t *tool) ask(ctx context.Context, f *face, query, key string, body []byte) (out any, failed bool, _ error) {
	answer, err := f.operate(ctx, t.method, t.path+query, key, body)
	if err != nil {
		return nil, false, err
	}
	return t.shown(answer)
}

// answered is told for an answer that shown gave.
func answered(out any, failed bool, err error) (*mcp.CallToolResult, error) {
	if err != nil {
		return nil, err
	}
	return told(out, failed), nil
}

// mayWrite reports whether an agent is offered tools that change something: its key says so, or whoever set it up does
// and the key does not forbid it.
func mayWrite(c *service.Call) bool {
	switch c.Caller.Agent {
	case merchant.AgentReads:
		return false
	case merchant.AgentWrites:
		return true
	}
	return c.HTTP.Header.Get(setUpHeader) == "write"
}

// setUpHeader is the header by which whoever sets an agent up says that it may do something.
const setUpHeader = "Boon-Agent"
