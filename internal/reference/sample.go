package reference

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// sample is a call as a program makes it.
type sample struct{ Language, Name, Text string }

// samples writes the call in every language: by our client, where there is one. Each finds the service's address and
// its key in the environment, so that no key stands in a program.
func (c call) samples() []sample {
	return []sample{{"curl", "curl", c.curl()}, {"go", "Go", c.golang()}, {"ts", "TypeScript", c.typescript()},
		{"python", "Python", c.python()}, {"php", "PHP", c.php()}}
}

// lines leaves out the empty ones.
func lines(all ...string) string {
	var b strings.Builder
	for _, line := range all {
		if line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func (c call) when(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

func (c call) curl() string {
	parts := []string{fmt.Sprintf(`curl -sS -X %s "$BOON_URL%s"`, c.method, c.address)}
	if !c.open {
		parts = append(parts, `-H "Authorization: $BOON_KEY"`)
	}
	if c.once {
		parts = append(parts, `-H "Idempotency-Key: $(openssl rand -hex 16)"`)
	}
	if c.body != "" {
		parts = append(parts, `-H "Content-Type: application/json"`,
			"-d '"+strings.ReplaceAll(c.body, "'", `'\''`)+"'")
	}
	return strings.Join(parts, " \\\n  ") + "\n"
}

func (c call) typescript() string {
	if c.open {
		return lines("const answer = await fetch(process.env.BOON_URL + "+strconv.Quote(c.address)+");",
			"console.log(await answer.text());")
	}
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
	if len(params) > 0 {
		parts = append(parts, "  params: {"+strings.Join(params, ", ")+"},\n")
	}
	if c.body != "" {
		parts = append(parts, "  body: "+strings.ReplaceAll(c.body, "\n", "\n  ")+",\n")
	}
	if c.file {
		parts = append(parts, "  parseAs: \"text\",\n")
	}
	options := ""
	if len(parts) > 0 {
		options = ", {\n" + strings.Join(parts, "") + "}"
	}
	return lines(`import {Client} from "boon-gifts";`+"\n",
		"const boon = new Client(process.env.BOON_URL!, process.env.BOON_KEY!);",
		fmt.Sprintf("const {data} = await boon.api.%s(%q%s);", c.method, c.path, options), "console.log(data);")
}

// pythonMethods are those of the client in Python that are given members; those marked take an amount before them.
var pythonMethods = map[string]bool{"send_gift": false, "validate_gift": false, "redeem_gift": true,
	"reverse_redemption": true, "hold_gift": true, "capture_hold": true, "release_hold": false, "cancel_gift": false,
	"activate_gift": false, "reload_gift": false}

func (c call) python() string {
	if c.open {
		return lines("import os, urllib.request\n",
			fmt.Sprintf(`with urllib.request.urlopen(os.environ["BOON_URL"] + %q) as answer:`, c.address),
			"    print(answer.read().decode())")
	}
	name := strings.ToLower(regexp.MustCompile("([A-Z])").ReplaceAllString(c.id, "_$1"))
	body := node{raw: json.RawMessage(c.body)}
	imports, made := []string{"Client"}, ""
	if amountFirst, known := pythonMethods[name]; known {
		var args []string
		if amountFirst {
			args = append(args, "ALL")
		}
		for _, m := range body.members() {
			if amountFirst && m.name == "amount" {
				args[0] = pythonic(m.node, 1)
				continue
			}
			args = append(args, m.name+"="+pythonic(m.node, 1))
		}
		if amountFirst && args[0] == "ALL" {
			imports = []string{"ALL", "Client"}
		}
		made = "boon." + name + "(\n    " + strings.Join(args, ",\n    ") + ",\n)"
	} else {
		made = fmt.Sprintf("boon.call(%q, %q", c.method, c.address)
		if c.body != "" {
			made += ", " + pythonic(body, 0)
		}
		made += ")"
	}
	shown := "answer"
	if c.file {
		shown = "answer.body.decode()"
	}
	return lines("import os", c.when(strings.Contains(made, "Decimal("), "from decimal import Decimal"), "\n"+
		"from boon_gifts import "+strings.Join(imports, ", ")+"\n",
		`boon = Client(os.environ["BOON_URL"], os.environ["BOON_KEY"])`, "answer = "+made, "print("+shown+")")
}

// pythonic is a value as Python has it: a number with a point is a Decimal, never a float.
func pythonic(n node, depth int) string {
	indent := "\n" + strings.Repeat("    ", depth+1)
	switch text := strings.TrimSpace(string(n.raw)); {
	case strings.HasPrefix(text, "{"):
		var all []string
		for _, m := range n.members() {
			all = append(all, strconv.Quote(m.name)+": "+pythonic(m.node, depth+1))
		}
		if len(all) == 0 {
			return "{}"
		}
		return "{" + indent + strings.Join(all, ","+indent) + ",\n" + strings.Repeat("    ", depth) + "}"
	case strings.HasPrefix(text, "["):
		var all []string
		for _, one := range n.list() {
			all = append(all, pythonic(one, depth))
		}
		return "[" + strings.Join(all, ", ") + "]"
	case text == "null":
		return "None"
	case text == "true":
		return "True"
	case text == "false":
		return "False"
	case strings.ContainsAny(text[:1], "-0123456789") && strings.Contains(text, "."):
		return "Decimal(" + strconv.Quote(text) + ")"
	default:
		return text
	}
}

func (c call) php() string {
	return lines("<?php", "$options = ['http' => [", fmt.Sprintf("    'method' => '%s',", c.method), "    'header' => [",
		c.when(!c.open, "        'Authorization: ' . getenv('BOON_KEY'),"),
		c.when(c.once, "        'Idempotency-Key: ' . bin2hex(random_bytes(16)),"),
		c.when(c.body != "", "        'Content-Type: application/json',"), "    ],",
		c.when(c.body != "", "    'content' => <<<'JSON'\n"+c.body+"\nJSON,"),
		"    'ignore_errors' => true, // a refusal is told in the answer", "    'follow_location' => 0,", "]];",
		fmt.Sprintf("echo file_get_contents(getenv('BOON_URL') . %s, false, stream_context_create($options));",
			"'"+c.address+"'"))
}
