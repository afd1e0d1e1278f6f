package boon_test

import (
	"cmp"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// arrows says which of our packages each package may import. What is not listed here fails the test, so that a new
// package is a decision.
var arrows = map[string][]string{
	"cmd/boon": {"client", "examples", "internal/bench", "internal/cashout", "internal/certificate", "internal/chain",
		"internal/clientip", "internal/demo", "internal/doctor", "internal/durable",
		"internal/gift", "internal/merchant", "internal/ledger", "internal/mail", "internal/manual", "internal/nfc",
		"internal/pin",
		"internal/print", "internal/remote",
		"internal/sealed", "internal/server", "internal/setup", "internal/sms", "internal/store", "internal/store/erase",
		"internal/store/transfer",
		"internal/telemetry", "internal/terminal", "internal/webhook"},
	"client":             {},
	"docs":               {},
	"internal/clientip":  {},
	"examples":           {},
	"internal/gift":      {"internal/merchant", "internal/phone"},
	"internal/guid":      {},
	"internal/merchant":  {"internal/phone"},
	"internal/calendar":  {},
	"internal/publickey": {},
	"internal/money":     {},
	"internal/refusal":   {},
	"internal/contact":   {"internal/phone", "internal/refusal"},
	"internal/phone":     {},
	"internal/terminal":  {"internal/pin"},
	"internal/bench":     {"client", "internal/load", "internal/remote", "internal/terminal"},
	"internal/demo":      {"client", "examples", "internal/terminal"},
	"internal/doctor":    {"internal/sealed", "internal/server", "internal/store", "internal/terminal"},
	"internal/remote": {"client", "internal/gift", "internal/merchant", "internal/qr", "internal/terminal",
		"internal/webhook"},
	"internal/jobs":          {},
	"internal/fair":          {"internal/gift"},
	"internal/nfc":           {},
	"internal/ticket":        {"internal/gift", "internal/merchant"},
	"internal/ticket/format": {"internal/gift", "internal/nfc", "internal/tape", "internal/ticket", "internal/wire"},
	"internal/wire":          {"internal/gift", "internal/nfc", "internal/tape"},
	"internal/tape":          {},
	"internal/card":          {"internal/gift", "internal/merchant", "internal/locale"},
	"internal/locale":        {"internal/gift", "internal/merchant"},
	"internal/qr":            {},
	"internal/ratelimit":     {},
	"internal/print":         {"internal/card", "internal/gift", "internal/merchant", "internal/locale", "internal/qr"},
	"internal/chain":         {"internal/gift", "internal/sealed"},
	"internal/durable":       {},
	"internal/expiry":        {"internal/gift", "internal/merchant", "internal/jobs"},
	"internal/retention":     {"internal/gift", "internal/merchant", "internal/store", "internal/store/erase"},
	"internal/sealed":        {"internal/durable", "internal/gift"},
	"internal/ledger": {"internal/gift", "internal/merchant",
		"internal/span"},
	"internal/message": {"internal/gift", "internal/merchant"},
	"internal/delivery": {"internal/card", "internal/gift", "internal/merchant", "internal/ledger", "internal/locale",
		"internal/message",
		"internal/picture",
		"internal/qr",
		"internal/span"},
	"internal/webhook": {"internal/fair", "internal/gift", "internal/merchant", "internal/span"},
	"internal/mail":    {"internal/message"},
	"internal/sms":     {"internal/gift", "internal/message"},
	"internal/picture": {},
	"internal/pin":     {},
	"internal/load":    {},
	"internal/manual":  {},
	"internal/setup": {"internal/card", "internal/clientip", "internal/gift", "internal/merchant", "internal/nfc",
		"internal/picture",
		"internal/pin", "internal/publickey", "internal/ticket/format", "internal/wire"},
	"internal/store": {"internal/chain", "internal/gift", "internal/merchant", "internal/ledger", "internal/message",
		"internal/ratelimit",
		"internal/sealed", "internal/store/check", "internal/store/db", "internal/store/erase", "internal/store/feed",
		"internal/store/hooks", "internal/store/lookup", "internal/store/misses",
		"internal/store/record", "internal/store/setup", "internal/store/tables", "internal/span"},
	"internal/store/tables": {},
	"internal/store/erase": {"internal/chain", "internal/gift", "internal/merchant", "internal/ledger",
		"internal/message", "internal/nfc",
		"internal/sealed",
		"internal/store/db", "internal/store/files", "internal/store/lookup", "internal/store/record"},
	"internal/store/feed": {"internal/fair", "internal/gift", "internal/merchant", "internal/ledger",
		"internal/store/db",
		"internal/store/record"},
	"internal/store/transfer": {"internal/durable", "internal/gift", "internal/ledger", "internal/sealed",
		"internal/store/check", "internal/store/db", "internal/store/files", "internal/store/setup",
		"internal/store/tables"},
	"internal/store/hooks": {"internal/gift", "internal/merchant", "internal/sealed", "internal/store/db"},
	"internal/store/check": {"internal/chain", "internal/gift", "internal/merchant", "internal/ledger",
		"internal/store/db",
		"internal/store/record", "internal/store/setup"},
	"internal/store/lookup": {"internal/fair", "internal/gift", "internal/ledger", "internal/store/db",
		"internal/store/record"},
	"internal/store/misses": {"internal/gift", "internal/merchant", "internal/ratelimit", "internal/store/db",
		"internal/store/feed"},
	"internal/store/setup": {"internal/chain", "internal/gift", "internal/merchant", "internal/sealed",
		"internal/store/db",
		"internal/store/feed"},
	"internal/store/record": {"internal/chain", "internal/gift", "internal/merchant", "internal/ledger",
		"internal/sealed",
		"internal/store/db"},
	"internal/store/db": {"internal/chain", "internal/durable", "internal/gift", "internal/sealed",
		"internal/store/files"},
	"internal/store/files": {"internal/chain", "internal/durable", "internal/sealed"},
	"internal/cashout":     {"internal/gift", "internal/merchant", "internal/wire"},
	"internal/reference":   {"client", "docs", "internal/gift"},
	"internal/service": {"internal/admission", "internal/cashout", "internal/clientip", "internal/fair",
		"internal/gift", "internal/merchant",
		"internal/ledger", "internal/ratelimit", "internal/wire"},
	"internal/api": {"internal/admission", "internal/clientip", "internal/fair", "internal/gift", "internal/merchant",
		"internal/ledger",
		"internal/nfc", "internal/pin", "internal/ratelimit", "internal/reference", "internal/service",
		"internal/ticket", "internal/ticket/format", "internal/wire"},
	"internal/provider": {"internal/gift", "internal/merchant", "internal/ledger", "internal/service"},
	"internal/provider/toast": {"internal/admission", "internal/gift", "internal/merchant", "internal/ledger",
		"internal/provider",
		"internal/service"},
	"internal/provider/vtex": {"internal/admission", "internal/gift", "internal/merchant", "internal/ledger",
		"internal/provider",
		"internal/service"},
	"internal/provider/wix": {"internal/admission", "internal/gift", "internal/merchant", "internal/ledger",
		"internal/provider",
		"internal/publickey",
		"internal/service"},
	"internal/web": {"internal/card", "internal/clientip",
		"internal/fair", "internal/gift", "internal/merchant", "internal/locale", "internal/message",
		"internal/print",
		"internal/qr", "internal/ratelimit"},
	"internal/till": {"internal/card", "internal/fair", "internal/gift", "internal/merchant", "internal/locale",
		"internal/pin",
		"internal/ratelimit", "internal/service", "internal/web", "internal/wire"},
	"internal/server": {"internal/admission",
		"internal/api", "internal/clientip", "internal/delivery", "internal/expiry", "internal/gift", "internal/merchant",
		"internal/jobs", "internal/ledger",
		"internal/mail", "internal/message", "internal/print", "internal/provider", "internal/provider/toast",
		"internal/provider/vtex", "internal/provider/wix",
		"internal/retention", "internal/sealed", "internal/service", "internal/sms", "internal/store",
		"internal/till",
		"internal/web", "internal/webhook", "internal/certificate", "internal/span", "internal/telemetry"},

	"internal/admission":   {},
	"internal/certificate": {},
	"internal/span":        {},
	"internal/telemetry":   {"internal/span"},
}

// vocabulary are the packages that every other one may import, as they know only each other.
var vocabulary = []string{"internal/guid", "internal/money", "internal/refusal", "internal/contact",
	"internal/calendar"}

const module = "boon.example/"

func TestArrowsPointOneWay(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		from, imports := strings.TrimPrefix(fields[0], module), fields[1:]
		if from+"/" == module || strings.HasPrefix(from, "internal/api/contract") ||
			from == "internal/provider/providertest" || from == "internal/boontest" || from == "internal/racetest" ||
			from == "internal/store/pgtest" ||
			from == "internal/delivery/deliverytest" {
			continue // what only tests import
		}
		allowed, known := arrows[from]
		if !known {
			t.Errorf("package %s has no place in the plan: add it to arrows and to ARCHITECTURE.md", from)
		}
		for _, to := range imports {
			to, ours := strings.CutPrefix(to, module)
			if ours && !slices.Contains(allowed, to) &&
				(!slices.Contains(vocabulary, to) || slices.Contains(vocabulary, from)) {
				t.Errorf("%s imports %s: that arrow is not in the plan", from, to)
			}
			if from == "internal/gift" && !ours && strings.Contains(to, ".") {
				t.Errorf("internal/gift imports %s: the domain knows the standard library and telephone numbers only", to)
			}
		}
	}
}

// faces are the packages that speak to callers. They stand side by side on service.
var faces = []string{"internal/api", "internal/till", "internal/provider/toast", "internal/provider/vtex",
	"internal/provider/wix"}

// TestFacesStandSideBySide: no face needs another one, by whatever way, and what they stand on needs none of them.
func TestFacesStandSideBySide(t *testing.T) {
	for _, from := range append(faces, "internal/service", "internal/provider", "internal/admission") {
		out, err := exec.Command("go", "list", "-deps", "./"+from).Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for _, to := range strings.Fields(string(out)) {
			if to = strings.TrimPrefix(to, module); to != from && slices.Contains(faces, to) {
				t.Errorf("%s needs %s", from, to)
			}
		}
	}
}

// TestClientStandsAlone: the client is a module of its own, which asks for no other.
func TestClientStandsAlone(t *testing.T) {
	const outside = "{{if not .Standard}}{{.ImportPath}}{{end}}"
	for _, ask := range [][]string{{"list", "-m", "all"}, {"list", "-deps", "-test", "-f", outside, "./..."}} {
		out, err := exec.Command("go", append([]string{"-C", "client"}, ask...)...).Output()
		if err != nil {
			t.Fatalf("go %s: %v", ask, err)
		}
		if len(out) == 0 {
			t.Errorf("go %s names nothing", ask)
		}
		for line := range strings.Lines(string(out)) {
			if name := strings.Fields(line)[0]; !strings.HasPrefix(name, module+"client") {
				t.Errorf("the client needs %s", name)
			}
		}
	}
}

// TestMapIsWhole: every package has its line in ARCHITECTURE.md.
func TestMapIsWhole(t *testing.T) {
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, plan, _ := strings.Cut(string(page), "\n## The map\n")
	plan, _, _ = strings.Cut(plan, "\n## ")
	for folder := range arrows {
		if name := path.Base(folder); !regexp.MustCompile(`\b` + name + `\b`).MatchString(plan) {
			t.Errorf("the map of ARCHITECTURE.md lacks %s", folder)
		}
	}
}

// TestModulesAreNamed: what is compiled into the program is in THIRD_PARTY.md, with its licence.
func TestModulesAreNamed(t *testing.T) {
	named, err := os.ReadFile("THIRD_PARTY.md")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./cmd/boon").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, path := range strings.Fields(string(out)) {
		_, name, deep := strings.Cut(path, "/") // of modules that share a beginning, it is written once
		if deep && path+"/" != module && !strings.HasPrefix(path, module) &&
			!regexp.MustCompile(`\b`+regexp.QuoteMeta(name[strings.Index(name, "/")+1:])+`\b`).Match(named) {
			t.Errorf("THIRD_PARTY.md lacks %s", path)
		}
	}
}

// TestProgramsFit: what is in the module test compiles against the product as it is, which go build ./... does not
// tell.
func TestProgramsFit(t *testing.T) {
	if out, err := exec.Command("go", "-C", "test", "vet", "./...").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// large are the packages that stay whole (docs/adr/0018-large-packages.md), and the lines of code each may have:
// what it had in November 2026 and a little room. Who raises a number says why in the commit.
var large = map[string]int{
	"internal/api":  4_200,
	"internal/gift": 3_700,
}

// TestPackagesFit: no package has more than 3,000 lines of code, none of large more than its own number: lines that are
// neither blank nor a comment, without tests. What has become small leaves large.
func TestPackagesFit(t *testing.T) {
	for folder := range arrows {
		files, err := filepath.Glob(folder + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", folder, len(files), err)
		}
		code := 0
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
					code++
				}
			}
		}
		most, isLarge := large[folder]
		if isLarge && code <= 3_000 {
			t.Errorf("%s has %d lines of code: it is large no more", folder, code)
		}
		if most = cmp.Or(most, 3_000); code > most {
			t.Errorf("%s has %d lines of code, %d are the most", folder, code, most)
		}
	}
}
