package sdk_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/server"
)

// TestAgentsInTypeScript has the official client of the Model Context Protocol, which is none of those that the product
// is made with, use the tools of agents. It holds each answer to the schema that the tool gives out.
func TestAgentsInTypeScript(t *testing.T) {
	t.Parallel()
	sdk := tool(t, "@modelcontextprotocol/sdk")
	s := boontest.Example(t, server.Config{Outbox: true})
	folder := t.TempDir()
	write(t, folder, "agent.mjs", `
const at = process.argv[2] + "/dist/esm/";
const {Client} = await import(at + "client/index.js");
const {StreamableHTTPClientTransport} = await import(at + "client/streamableHttp.js");
const agent = new Client({name: "test", version: "1"});
await agent.connect(new StreamableHTTPClientTransport(new URL(process.env.BOON_URL + "/mcp"), {
  requestInit: {headers: {Authorization: "Bearer " + process.env.BOON_KEY, "Boon-Agent": "write"}}}));
const {tools} = await agent.listTools();
const use = async (name, args) => {
  const told = await agent.callTool({name, arguments: args});
  if (told.isError) throw new Error(name + ": " + told.content[0].text);
  return told.structuredContent;
};
const found = await use("find_gifts", {limit: 1});
const voucherID = found.gifts[0].voucherID;
const gift = await use("get_gift", {voucherID});
await use("gift_history", {voucherID});
await use("liability", {});
await use("roll_forward", {from: "2026-01-01"});
await use("settlement", {from: "2026-01-01"});
await use("explain_refusal", {code: "RATE_LIMITED"});
const block = {voucherID, reasonCode: "LOST"};
const first = await use("block_gift", block);
const second = await use("block_gift", {...block, confirm: first.confirm});
await use("what_became_of_call", {key: first.confirm});
console.log(JSON.stringify({tools: tools.length, codes: "voucherCode" in gift, first: first.done, second: second.done,
  blocked: (await use("get_gift", {voucherID})).blockedReason}));
await agent.close();
`)
	sold(t, s.URL)
	env := append(os.Environ(), "BOON_URL="+s.URL, "BOON_KEY="+examples.HarborOfficeKey)
	said := run(t, env, folder, "node", "agent.mjs", sdk)
	var told struct {
		Tools                int
		Codes, First, Second bool
		Blocked              string
	}
	if err := json.NewDecoder(strings.NewReader(said)).Decode(&told); err != nil || told.Tools != 14 || told.Codes ||
		told.First || !told.Second || told.Blocked != "LOST" {
		t.Errorf("the agent tells %s", said)
	}
}
