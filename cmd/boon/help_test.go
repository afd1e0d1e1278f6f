package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"boon.example/internal/gift"
)

// typed runs the program as a person would, and gives what it printed.
func typed(t *testing.T, args ...string) (code int, out, log string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &stdout, &stderr, func(string) string { return "" })
	return code, stdout.String(), stderr.String()
}

// Every command teaches: how it is called, an example of itself, and its flags.
func TestEveryCommandTeaches(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"demo", "serve", "doctor", "man", "completion",
		"apply", "setup export", "backup", "copy", "verify", "version", "key create", "key list", "key revoke",
		"till pair", "till pin", "till link", "till list", "till revoke",
		"till people", "till set-pin", "key-file rotate", "key-file status", "gift send", "gift validate",
		"gift redeem", "gift reverse", "gift cancel", "gift show", "gift list",
		"bench", "listen", "mcp",
		"webhook create", "webhook list", "webhook show", "webhook change", "webhook delete", "webhook rotate",
		"webhook attempts", "webhook replay",
	} {
		code, out, log := typed(t, append(strings.Fields(command), "--help")...)
		if code != exitOK || log != "" || !strings.HasPrefix(out, "Usage: boon "+command) ||
			!strings.Contains(out, "\n    boon "+command) {
			t.Errorf("boon %s --help: exit code %d, %s%s", command, code, out, log)
		}
	}
}

// TestHelpIsACommandToo: boon help says what --help says, of each command.
func TestHelpIsACommandToo(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{{}, {"gift"}, {"gift", "send"}} {
		_, flag, _ := typed(t, append(command, "--help")...)
		code, out, log := typed(t, append([]string{"help"}, command...)...)
		if code != exitOK || log != "" || out != flag {
			t.Errorf("boon help %s: exit code %d, %s%s", command, code, out, log)
		}
	}
}

// TestHelpListsWhatFiltersTake: whoever filters by status or kind reads every one of them in the help.
func TestHelpListsWhatFiltersTake(t *testing.T) {
	t.Parallel()
	_, list, _ := typed(t, "gift", "list", "--help")
	for _, s := range gift.Statuses() {
		if !strings.Contains(list, fmt.Sprint(s)) {
			t.Errorf("boon gift list --help lacks %s", s)
		}
	}
	_, activity, _ := typed(t, "gift", "activity", "--help")
	for _, k := range gift.Kinds() {
		if !strings.Contains(activity, fmt.Sprint(k)) {
			t.Errorf("boon gift activity --help lacks %s", k)
		}
	}
}

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ line, says string }{
		{"apply", "Try: boon apply --help"},
		{"gift list --limit many", "Try: boon gift list --help"},
		{"gift list", "An API key is needed: set BOON_KEY"},
		{"gift list --key k --url gifts.example.com", "must begin with http"},
		{"gift list --key k --limit -1", "--limit"},
		{"gift redeem 123456789012 --key k", "Say how much: --amount N or --all"},
		{"gift redeem 123456789012 --key k --amount 1 --all", "can't be used together"},
		{"gift redeem 123456789012 --key k --amount 1e3", "is not a decimal number"},
		{"gift reverse --key k", "redemptionID"},
		{"gift reverse r --original-key o --key k", "one of the three"},
		{"gift cancel --key k", "voucherID"},
		{"gift cancel --key k --order a --purchase b", "one of the three"},
		{"listen --key k", "--forward"},
		{"listen --key k --forward localhost:3000", "such as http://localhost:3000/hook"},
		{"listen --key k --forward ftp://localhost/", "such as http://localhost:3000/hook"},
		{"gift send --key k", "Say what the gift is"},
		{"gift send --key k --value 1 --item x", "one of the two"},
		{"gift send --key k --value 1", "Say how it was paid"},
		{"gift send --key k --value 1 --purchase r", "Say to whom"},
		{"gift send --key k --value 1 --purchase r --print x --quantity 2", "belong to an item gift"},
		{"gift send --key k --value 1,5 --purchase r --print x", "is not a decimal number"},
	} {
		if code, out, log := typed(t, strings.Fields(tt.line)...); code != exitUsage || out != "" ||
			!strings.Contains(log, tt.says) {
			t.Errorf("boon %s: exit code %d, %s%s", tt.line, code, out, log)
		}
	}
}

// A copy of the key file that was made before a rotation opens no gift that came after it.
func TestBackupSaysWhenToCopyTheKeyFile(t *testing.T) {
	t.Parallel()
	_, out, _ := typed(t, "backup", "--help")
	said := strings.Join(strings.Fields(out), " ")
	if !strings.Contains(said, "new one after each boon key-file rotate") ||
		strings.Contains(said, "does not change") {
		t.Error(out)
	}
}
