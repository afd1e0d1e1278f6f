package reference

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// pythonMethods are those of the client in Python that are given members; those marked take an amount before them.
var pythonMethods = map[string]bool{"send_gift": false, "validate_gift": false, "redeem_gift": true,
	"reverse_redemption": true, "hold_gift": true, "capture_hold": true, "release_hold": false, "cancel_gift": false,
	"activate_gift": false, "reload_gift": false}

// python makes the call by the client in Python.
func (c call) python() string {
	if c.open {
		return lines("import os, urllib.request\n",
			fmt.Sprintf(`with urllib.request.urlopen(os.environ["BOON_URL"] + %q, timeout=5) as answer:`, c.address),
			"    print(answer.read().decode())")
	}
	imports, made := []string{"Client"}, "answer = "+c.pythonCall("key")
	u, undoes := c.undo()
	switch {
	case c.id == "redeemGift":
		made = "# " + safely + "\n" + strings.Replace(made, "redeem_gift", "redeem_safely", 1)
	case undoes:
		imports = append(imports, "UnknownOutcome")
		undo := strings.ReplaceAll("answer = "+u.pythonCall(`"undo-" + key`), strconv.Quote(theKey), "key")
		made = "try:" + indented("\n"+made) + "\nexcept UnknownOutcome:" + indented("\n# "+undone+"\n"+undo)
	}
	kept := ""
	if c.once {
		imports = append(imports, "new_key")
		kept = lines("# "+keptFirst, fmt.Sprintf("kept = Path(%q)", c.keyFile()), "if not kept.exists():",
			"    kept.write_text(new_key())", "key = kept.read_text()") + "\n"
	}
	if strings.Contains(made, "(\n    ALL,") || strings.Contains(made, "(\n        ALL,") {
		imports = append([]string{"ALL"}, imports...)
	}
	shown := "answer"
	if c.file {
		shown = "answer.body.decode()"
	}
	options := c.when(c.seconds() == 5, ", timeout=5, attempts=3") + c.when(c.uploads, ", timeout=660, deadline=1400")
	return lines("import os", c.when(strings.Contains(made, "Decimal("), "from decimal import Decimal"),
		c.when(c.once || c.uploads, "from pathlib import Path"),
		"\n"+"from boon_gifts import "+strings.Join(imports, ", ")+"\n") + kept +
		lines(`boon = Client(os.environ["BOON_URL"], os.environ["BOON_KEY"]`+options+")", made, "print("+shown+")")
}

// indented moves lines into a block of Python.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

// pythonCall is the call alone; key is what its Idempotency-Key is, in Python.
func (c call) pythonCall(key string) string {
	name := strings.ToLower(capitals.ReplaceAllString(c.id, "_$1"))
	body := node{raw: json.RawMessage(c.body)}
	amountFirst, known := pythonMethods[name]
	if !known {
		args := []string{strconv.Quote(c.method), strconv.Quote(c.address)}
		if c.body != "" {
			args = append(args, pythonic(body, 0))
		}
		if c.uploads {
			args = append(args, `Path("cards.csv").read_bytes()`)
		}
		if c.once {
			args = append(args, key)
		}
		return "boon.call(" + strings.Join(args, ", ") + ")"
	}
	var args []string
	if amountFirst {
		args = append(args, "ALL")
	}
	for _, m := range body.members() {
		switch {
		case amountFirst && m.name == "amount":
			args[0] = pythonic(m.node, 1)
		case m.name == "idempotencyKey":
			args = append(args, "original_key="+pythonic(m.node, 1))
		default:
			args = append(args, m.name+"="+pythonic(m.node, 1))
		}
	}
	if c.once {
		args = append(args, "idempotency_key="+key)
	}
	return "boon." + name + "(\n    " + strings.Join(args, ",\n    ") + ",\n)"
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
