package sdk_test

import (
	"bufio"
	"crypto/rand"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"boon.example/internal/merchant"
	"boon.example/internal/post/webhook"
)

// delivery is a message as a receiver gets it.
type delivery struct {
	secret  string
	headers map[string]string
	body    string
	good    bool
}

// deliveries are messages signed as the service signs them, good and bad, while a secret is changed, too.
func deliveries(t *testing.T) (all []delivery) {
	t.Helper()
	first, err := merchant.NewWebhookSecret(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	second, err := merchant.NewWebhookSecret(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	add := func(secret merchant.WebhookSecret, by []merchant.WebhookSecret, at time.Time, signed, body string, good bool) {
		all = append(all, delivery{secret.Reveal(), map[string]string{"webhook-id": "evt_1",
			"webhook-timestamp": strconv.FormatInt(at.Unix(), 10),
			"webhook-signature": webhook.Sign(by, "evt_1", at, []byte(signed))}, body, good})
	}
	now, both := time.Now(), []merchant.WebhookSecret{first, second}
	const event, accents = `{"id":"evt_1","type":"gift.redeemed"}`, `{"id":"evt_1","type":"gift.sent","é":1}`
	add(first, both[:1], now, event, event, true)
	add(first, both, now, accents, accents, true)
	add(second, both, now, event, event, true)
	add(second, both[:1], now, event, event, false)
	add(first, both, now, event, accents, false)
	add(first, both, now.Add(-time.Hour), event, event, false)
	add(first, both, now.Add(time.Hour), event, event, false)
	return all
}

// receivers make programs of the receivers in docs/guides/webhooks.md, which print their addresses and serve.
var receivers = map[string]struct{ before, after string }{
	"go": {`package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"boon.example/client"
)

func main() {
`, `
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Addr())
	log.Fatal(http.Serve(l, nil))
}
`},
	"ts": {`import {createServer} from "node:http";
import {readEvent} from "boon-gifts";
`, `
server.listen(0, "127.0.0.1", () => {
  const at = server.address();
  if (at && typeof at === "object") console.log("127.0.0.1:" + at.port);
});
`},
	"python": {`import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from boon_gifts import BadSignature, read_event
`, `
server = HTTPServer(("127.0.0.1", 0), Hook)
print("127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
`},
	// PHP's own server is told its address, and not asked for it
	"php": {"<?php\nrequire 'boon.php';\n", ""},
}

// TestReceivers: the receivers in docs/guides/webhooks.md take what the service signs, and nothing else.
func TestReceivers(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/guides/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	for language, program := range receivers {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			_, block, _ := strings.Cut(string(page), "\n```"+language+"\n")
			block, _, whole := strings.Cut(block, "\n```\n")
			if !whole {
				t.Fatal("docs/guides/webhooks.md has no receiver in", language)
			}
			folder := t.TempDir()
			write(t, folder, "receiver."+language, program.before+block+program.after)
			start := receiver(t, language, folder)
			addresses := map[string]string{} // of a receiver for each secret
			for _, d := range deliveries(t) {
				if addresses[d.secret] == "" {
					addresses[d.secret] = start(d.secret)
				}
				if got := d.post(t, addresses[d.secret]); got != d.good {
					t.Errorf("%s of %v was taken: %t", d.body, d.headers, got)
				}
			}
			if language != "php" { // whose server reads the body before the receiver
				for _, address := range addresses {
					refusesLongBodies(t, address)
				}
			}
		})
	}
}

// refusesLongBodies sends the beginning of a body that is longer than memory, and no more.
func refusesLongBodies(t *testing.T, address string) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	go func() { // the receiver may end the connection meanwhile
		_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: shop\r\nContent-Length: 1099511627776\r\n\r\n"+
			strings.Repeat(" ", 2<<20))
	}()
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal("a body of 1 TB is read: ", err)
	}
	if answer.StatusCode/100 != 4 {
		t.Errorf("a body of 1 TB is answered %s", answer.Status)
	}
}

// receiver compiles a receiver. What it gives starts one with a secret and gives its address.
func receiver(t *testing.T, language, folder string) (start func(secret string) (address string)) {
	t.Helper()
	absolute := func(path string) string {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	env := os.Environ()
	var command []string
	switch program := filepath.Join(folder, "receiver"); language {
	case "go":
		write(t, folder, "main.go", read(t, program+".go"))
		write(t, folder, "go.mod", "module receiver\n\ngo 1.26.0\n\nrequire boon.example/client v0.0.0\n\n"+
			"replace boon.example/client => "+absolute("../../client")+"\n")
		run(t, env, folder, "go", "build", "-ldflags=-s -w", "-o", program, "main.go")
		command = []string{program}
	case "ts":
		node(t, env, "-e", "") // which compiles the client
		link(t, typescript, filepath.Join(folder, "node_modules", "boon-gifts"))
		link(t, typescript+"/node_modules/@types", filepath.Join(folder, "node_modules", "@types"))
		write(t, folder, "package.json", `{"type": "module"}`)
		run(t, env, folder, absolute(typescript+"/node_modules/.bin/tsc"), "--strict", "--skipLibCheck", "--target", "es2022",
			"--module", "nodenext", "--types", "node", "receiver.ts")
		command = []string{"node", "receiver.js"}
	case "python":
		has(t, "python3")
		env = append(env, "PYTHONPATH="+absolute("../../sdk/python"), "PYTHONDONTWRITEBYTECODE=1")
		command = []string{"python3", "receiver.python"}
	case "php":
		has(t, "php")
		link(t, "../../sdk/php/boon.php", filepath.Join(folder, "boon.php"))
		return func(secret string) (address string) { return servePHP(t, folder, secret) }
	}
	return func(secret string) (address string) {
		c := exec.CommandContext(t.Context(), command[0], command[1:]...)
		c.Dir, c.Env = folder, append(slices.Clip(env), "HOOK_SECRET="+secret)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = c.Process.Kill(), c.Wait() })
		address, err = bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal("the receiver does not listen: ", err)
		}
		return strings.TrimSpace(address)
	}
}

// servePHP has PHP's own server run a receiver, at a port that was free, and waits until it serves.
func servePHP(t *testing.T, folder, secret string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	_ = l.Close() // PHP listens there
	c := exec.CommandContext(t.Context(), "php", "-S", address, "receiver.php")
	c.Dir, c.Env = folder, append(os.Environ(), "HOOK_SECRET="+secret)
	said, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = c.Process.Kill(), c.Wait() })
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "started") {
			go func() { _, _ = io.Copy(io.Discard, said) }()
			return address
		}
	}
	t.Fatal("PHP does not serve")
	return ""
}

// post sends a message to a receiver, and tells whether it was taken.
func (d delivery) post(t *testing.T, address string) bool {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/", strings.NewReader(d.body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range d.headers {
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest && resp.StatusCode/100 != 2 {
		t.Errorf("%s is answered %s", d.body, resp.Status)
	}
	return resp.StatusCode/100 == 2
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
