package reference

import (
	"encoding/json"
	"fmt"
	"strings"
)

// php makes the call by the client in PHP.
func (c call) php() string {
	if c.open {
		return lines("<?php", "$options = ['http' => ['timeout' => 5, 'ignore_errors' => true, 'follow_location' => 0]];",
			"echo file_get_contents(getenv('BOON_URL') . "+php(c.address)+", false, stream_context_create($options));")
	}
	options := c.when(c.seconds() == 5, ", timeout: 5, attempts: 3") + c.when(c.uploads, ", timeout: 660, deadline: 1400")
	head := lines("<?php", "require_once 'boon.php';\n")
	if c.once {
		head += lines("// "+keptFirst, "$kept = "+php(c.keyFile())+";",
			"is_file($kept) || file_put_contents($kept, Boon\\Client::newKey());", "$key = file_get_contents($kept);\n")
	}
	head += lines("$boon = new Boon\\Client(getenv('BOON_URL'), getenv('BOON_KEY')" + options + ");")
	made := "$answer = " + c.phpCall("$key") + ";"
	u, undoes := c.undo()
	switch {
	case c.file:
		return head + lines("echo $boon->file("+php(c.address)+");")
	case c.id == "redeemGift":
		made = "// " + safely + "\n" + made
	case undoes:
		undo := strings.ReplaceAll("$answer = "+u.phpCall(`"undo-$key"`)+";", php(theKey), "$key")
		made = "try {" + indented("\n"+made) + "\n} catch (Boon\\UnknownOutcome) {" +
			indented("\n// "+undone+"\n"+undo) + "\n}"
	}
	return head + lines(made, "echo json_encode($answer), \"\\n\";")
}

// phpCall is the call alone; key is what its Idempotency-Key is, in PHP.
func (c call) phpCall(key string) string {
	body := node{raw: json.RawMessage(c.body)}
	if c.id == "redeemGift" || c.id == "reverseRedemption" {
		amount, rest := "Boon\\Amount::all()", []member{}
		for _, m := range body.members() {
			if m.name == "amount" {
				amount = phpValue(m.node, 0)
			} else {
				rest = append(rest, m)
			}
		}
		name := strings.Replace(c.id, "Gift", "Safely", 1)
		return fmt.Sprintf("$boon->%s(%s, %s, %s)", name, amount, phpMembers(rest, 0), key)
	}
	args := []string{php(c.method), php(c.address)}
	if c.uploads {
		args = append(args, "file_get_contents('cards.csv')")
	}
	if c.body != "" || c.once {
		args = append(args, phpMembers(body.members(), 0))
	}
	switch {
	case c.id == "sendGift":
		return fmt.Sprintf("$boon->sendGift(%s, %s)", phpMembers(body.members(), 0), key)
	case c.id == "validateGift":
		return fmt.Sprintf("$boon->validateGift(%s)", phpMembers(body.members(), 0))
	case c.once:
		args = append(args, key)
	}
	return "$boon->call(" + strings.Join(args, ", ") + ")"
}

// php is a text in PHP's quotes, in which nothing is replaced.
func php(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

func phpMembers(all []member, depth int) string {
	if len(all) == 0 {
		return "[]"
	}
	indent := "\n" + strings.Repeat("    ", depth)
	var b strings.Builder
	for _, m := range all {
		b.WriteString(indent + "    " + php(m.name) + " => " + phpValue(m.node, depth+1) + ",")
	}
	return "[" + b.String() + indent + "]"
}

// phpValue is a value as PHP has it: a number with a point is an Amount, never a float.
func phpValue(n node, depth int) string {
	switch text := strings.TrimSpace(string(n.raw)); {
	case strings.HasPrefix(text, "{"):
		return phpMembers(n.members(), depth)
	case strings.HasPrefix(text, "["):
		var all []string
		for _, one := range n.list() {
			all = append(all, phpValue(one, depth))
		}
		return "[" + strings.Join(all, ", ") + "]"
	case strings.HasPrefix(text, `"`):
		return php(n.text())
	case strings.ContainsAny(text[:1], "-0123456789") && strings.Contains(text, "."):
		return "new Boon\\Amount(" + php(text) + ")"
	default:
		return text
	}
}
