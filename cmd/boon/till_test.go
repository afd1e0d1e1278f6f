package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/pin"
)

// TestTillPair: the command makes a link, which key list shows as what it is.
func TestTillPair(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := applyExample(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	pair := func(args ...string) (int, string, string) {
		return typed(t, append([]string{"till", "pair", "--data", dir, "--account",
			"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01", "--name", "Counter 1"}, args...)...)
	}
	const pier39 = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c11"
	for says, args := range map[string][]string{
		"has no location":                 {"--location", examples.HarborStorefront},
		"may not be given the permission": {"--location", pier39, "--may", "send"},
		"There is no permission":          {"--location", pier39, "--may", "everything"},
		"--public-url":                    {"--location", pier39, "--public-url", "gifts.example.com"},
		"--location":                      {},
	} {
		if code, out, log := pair(args...); code == exitOK || out != "" || !strings.Contains(log, says) {
			t.Errorf("%v: exit code %d, %s%s", args, code, out, log)
		}
	}
	code, _, log := typed(t, "till", "pair", "--data", dir, "--location", pier39, "--name", "Counter 1")
	if code == exitOK || !strings.Contains(log, "--account ID. There are") {
		t.Errorf("without an account: exit code %d, %s", code, log)
	}
	code, out, log := pair("--location", pier39, "--may", "reload", "--public-url", "https://gifts.example.com/")
	token, ok := strings.CutPrefix(strings.TrimSpace(out), "https://gifts.example.com/till/pair#")
	if code != exitOK || !ok || len(token) < 26 || strings.Contains(log, token) || strings.Contains(log, "this machine") ||
		strings.Contains(log, "HTTPS") {
		t.Errorf("exit code %d, %s%s", code, out, log)
	}
	code, _, log = pair("--location", pier39, "--name", "Counter 2", "--public-url", "http://shop.example")
	if code != exitOK || !strings.Contains(log, "It is not HTTPS") {
		t.Errorf("a link without TLS: exit code %d, %s", code, log)
	}
	if code, _, log := pair("--location", pier39); code == exitOK ||
		!strings.Contains(log, "a working key named Counter 1") {
		t.Errorf("a second till of the same name: exit code %d, %s", code, log)
	}
	_, out, _ = typed(t, "key", "list", "--data", dir)
	ids := regexp.MustCompile(`[0-9a-f-]{36}`) // which may hold any four characters by chance
	if !strings.Contains(out, "till, waits for its device until") ||
		strings.Contains(ids.ReplaceAllString(out, ""), token[len(token)-4:]) {
		t.Errorf("boon key list shows\n%s", out)
	}
}

// TestTillPIN: the command makes a hash that a set-up file takes, and refuses what is easily guessed.
func TestTillPIN(t *testing.T) {
	t.Parallel()
	typed := func(line string) (int, string, string) {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), []string{"till", "pin"}, strings.NewReader(line), &stdout, &stderr,
			func(string) string { return "" })
		return code, strings.TrimSpace(stdout.String()), stderr.String()
	}
	code, hash, log := typed("4711\r\n")
	if code != exitOK || log != "" || !pin.Is(hash, "4711") {
		t.Errorf("exit code %d, %s %s", code, hash, log)
	}
	for _, bad := range []string{"", "1234\n", "0000", "12", "123456789", " 4711", "four"} {
		if code, out, log := typed(bad); code == exitOK || out != "" || log == "" {
			t.Errorf("%q: exit code %d, %s%s", bad, code, out, log)
		}
	}
}
