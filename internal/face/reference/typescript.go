package reference

import (
	"fmt"
	"strconv"
	"strings"
)

// typescript makes the call by the client in TypeScript, whose types are those of the OpenAPI file.
func (c call) typescript() string {
	if c.open {
		return lines("const answer = await fetch(process.env.BOON_URL + "+strconv.Quote(c.address)+",",
			"  {signal: AbortSignal.timeout(5000)});", "console.log(await answer.text());")
	}
	imports, made := "Client", fmt.Sprintf("const {data} = await %s;\nconsole.log(data);", c.typescriptCall("key"))
	u, undoes := c.undo()
	switch {
	case c.id == "redeemGift":
		made = fmt.Sprintf("// %s\nconst redemption = await boon.redeemSafely(%s, {idempotencyKey: key});\n"+
			"console.log(redemption);", safely, c.body)
	case undoes:
		imports += ", UnknownOutcome"
		u.body = strings.ReplaceAll(u.body, strconv.Quote(theKey), "key")
		made = fmt.Sprintf("try {\n  %s\n} catch (e) {\n  if (!(e instanceof UnknownOutcome)) throw e;\n  // %s\n  %s\n}",
			strings.ReplaceAll(made, "\n", "\n  "), undone,
			strings.ReplaceAll("await "+u.typescriptCall("`undo-${key}`")+";", "\n", "\n  "))
	}
	options := c.when(c.seconds() == 5, ", {timeout: 5000, attempts: 3}") +
		c.when(c.uploads, ", {timeout: 660_000, deadline: 1_400_000}")
	head := c.when(c.uploads, "import {readFileSync} from \"node:fs\";\n")
	if c.once {
		file := strconv.Quote(c.keyFile())
		head = lines(`import {randomUUID} from "node:crypto";`, `import {existsSync, readFileSync, writeFileSync} from "node:fs";`)
		made = lines("// "+keptFirst, "if (!existsSync("+file+")) writeFileSync("+file+", randomUUID());",
			"const key = readFileSync("+file+`, "utf8");`) + "\n" + made
	}
	return head + lines("import {"+imports+`} from "boon-gifts";`+"\n",
		"const boon = new Client(process.env.BOON_URL!, process.env.BOON_KEY!"+options+");", made)
}

// typescriptCall is the call alone; key is what its Idempotency-Key is, in TypeScript.
func (c call) typescriptCall(key string) string {
	var parts, params []string
	for _, in := range []struct {
		name   string
		values []member
	}{{"path", c.named()[:len(c.params)]}, {"query", c.query}} {
		var values []string
		for _, m := range in.values {
			values = append(values, m.name+": "+string(m.raw))
		}
		if len(values) > 0 {
			params = append(params, in.name+": {"+strings.Join(values, ", ")+"}")
		}
	}
	if c.once {
		params = append(params, `header: {"Idempotency-Key": `+key+"}")
	}
	if len(params) > 0 {
		parts = append(parts, "  params: {"+strings.Join(params, ", ")+"},\n")
	}
	if c.body != "" {
		parts = append(parts, "  body: "+strings.ReplaceAll(c.body, "\n", "\n  ")+",\n")
	}
	if c.uploads {
		parts = append(parts, "  body: readFileSync(\"cards.csv\", \"utf8\"),\n",
			"  bodySerializer: (file: string) => file,\n",
			"  headers: {\"Content-Type\": \"text/csv\"},\n")
	}
	if c.file {
		parts = append(parts, "  parseAs: \"text\",\n")
	}
	options := ""
	if len(parts) > 0 {
		options = ", {\n" + strings.Join(parts, "") + "}"
	}
	return fmt.Sprintf("boon.api.%s(%q%s)", c.method, c.path, options)
}
