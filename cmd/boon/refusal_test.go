package main

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/alecthomas/kong"

	"boon.example/client"
	"boon.example/internal/command/terminal"
)

// callers are the commands that call the service, with the members that they know.
func callers(t *testing.T) map[string]given {
	t.Helper()
	parser, err := kong.New(&commands{}, options(&terminal.Terminal{}, func(int) {})...)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]given{}
	for _, n := range parser.Model.Leaves(true) {
		if n.Target.IsValid() && n.Target.FieldByName("URL").IsValid() && n.Name != "doctor" {
			all[n.FullPath()] = givenTo(n)
		}
	}
	return all
}

// TestRefusalsNameFlags: a refusal names no member of a request that a flag or an argument of the command stands for,
// neither as the place nor in its sentence.
func TestRefusalsNameFlags(t *testing.T) {
	t.Parallel()
	commands := callers(t)
	if len(commands) < 30 {
		t.Fatalf("only %d commands call the service", len(commands))
	}
	for command, g := range commands {
		for member, names := range g {
			for _, path := range []string{member, "monetaryGift." + member, "recipients[1]." + member} {
				var out bytes.Buffer
				term := &terminal.Terminal{Stderr: &out}
				showRefusal(term, &client.Error{Code: "VALIDATION_FAILURE",
					Messages: []client.Message{{Path: path, Text: "Give " + member + " too."}}}, g)
				line := strings.Split(out.String(), "\n")[1]
				place, text, _ := strings.Cut(line, ": ")
				if !strings.Contains(place, names[0]) || strings.Contains(place, member) && !strings.Contains(place, "-"+member) {
					t.Errorf("%s: %s is told as %q, want %s", command, path, place, names)
				}
				if strings.ContainsFunc(member, unicode.IsUpper) && strings.Contains(text, member) {
					t.Errorf("%s: %q names %s", command, text, member)
				}
			}
		}
	}
}

// TestFlagsAreMembers: each flag and each argument of a command that calls the service stands for a member that the
// interface has, or is one of those that only the command line has.
func TestFlagsAreMembers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../internal/face/api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, m := range regexp.MustCompile(`"name": "([A-Za-z]+)"|"([A-Za-z]+)":`).FindAllStringSubmatch(string(text), -1) {
		known[m[1]], known[m[2]] = true, true
	}
	own := strings.Fields("help version url key json file yes byKey since ask forward all noFollow to from keyCopy " +
		"accounts gifts out")
	for command, g := range callers(t) {
		if strings.HasPrefix(command, "boon bench") || strings.HasPrefix(command, "boon listen") || command == "boon mcp" {
			continue // they make their own calls
		}
		for member, names := range g {
			if !known[member] && !slices.Contains(own, member) {
				t.Errorf("%s: no request has %s, for which %s stands", command, member, names)
			}
		}
	}
}

// TestRefusalOfATicket: what is wrong in a ticket is told by its place there.
func TestRefusalOfATicket(t *testing.T) {
	t.Parallel()
	g := callers(t)["boon gift validate"]
	for path, want := range map[string]string{
		"ticketData.data.order.line_items[0].price": "--ticket order.line_items[0].price",
		"ticketData.data":   "--ticket",
		"ticketData.format": "--format",
		"targetTypeCode":    "targetTypeCode",
	} {
		if got := g.at(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if got, want := g.text("Say organizationID or the amount."), "Say --location or the amount."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
