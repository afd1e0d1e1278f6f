package reference

import (
	"fmt"
	"strings"
)

// sample is a call as a program makes it.
type sample struct{ Language, Name, Text string }

// samples writes the call in every language. Each finds the service's address and its key in the environment, so that
// no key stands in a program.
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

func (c call) golang() string {
	body := "nil"
	if c.body != "" {
		body = "strings.NewReader(`" + c.body + "`)"
	}
	return lines(fmt.Sprintf(`req, err := http.NewRequest(%q, os.Getenv("BOON_URL")+%q, %s)`, c.method, c.address, body),
		"if err != nil {\n\treturn err\n}",
		c.when(!c.open, `req.Header.Set("Authorization", os.Getenv("BOON_KEY"))`),
		c.when(c.once, `req.Header.Set("Idempotency-Key", rand.Text()) // of crypto/rand`),
		c.when(c.body != "", `req.Header.Set("Content-Type", "application/json")`),
		"resp, err := http.DefaultClient.Do(req)",
		"if err != nil {\n\treturn err\n}",
		"defer resp.Body.Close()",
		"_, err = io.Copy(os.Stdout, resp.Body)",
		"return err")
}

func (c call) typescript() string {
	return lines(fmt.Sprintf(`const answer = await fetch(process.env.BOON_URL + %q, {`, c.address),
		fmt.Sprintf("  method: %q,", c.method), "  headers: {",
		c.when(!c.open, "    \"Authorization\": `${process.env.BOON_KEY}`,"),
		c.when(c.once, `    "Idempotency-Key": crypto.randomUUID(),`),
		c.when(c.body != "", `    "Content-Type": "application/json",`), "  },",
		c.when(c.body != "", "  body: JSON.stringify("+strings.ReplaceAll(c.body, "\n", "\n  ")+"),"),
		"});", "console.log(await answer.text());")
}

func (c call) python() string {
	return lines("import os, urllib.request"+c.when(c.once, ", uuid"), "",
		"request = urllib.request.Request(",
		fmt.Sprintf(`    os.environ["BOON_URL"] + %q,`, c.address),
		fmt.Sprintf("    method=%q,", c.method), "    headers={",
		c.when(!c.open, `        "Authorization": os.environ["BOON_KEY"],`),
		c.when(c.once, `        "Idempotency-Key": str(uuid.uuid4()),`),
		c.when(c.body != "", `        "Content-Type": "application/json",`), "    },",
		c.when(c.body != "", "    data=r'''"+c.body+"'''.encode(),"), ")",
		"with urllib.request.urlopen(request) as answer:", "    print(answer.read().decode())")
}

func (c call) php() string {
	return lines("<?php", fmt.Sprintf(`$call = curl_init(getenv('BOON_URL') . %q);`, c.address),
		"curl_setopt_array($call, [", "    CURLOPT_RETURNTRANSFER => true,",
		fmt.Sprintf("    CURLOPT_CUSTOMREQUEST => '%s',", c.method), "    CURLOPT_HTTPHEADER => [",
		c.when(!c.open, `        'Authorization: ' . getenv('BOON_KEY'),`),
		c.when(c.once, `        'Idempotency-Key: ' . bin2hex(random_bytes(16)),`),
		c.when(c.body != "", `        'Content-Type: application/json',`), "    ],",
		c.when(c.body != "", "    CURLOPT_POSTFIELDS => <<<'JSON'\n"+c.body+"\nJSON,"), "]);",
		"echo curl_exec($call);")
}
