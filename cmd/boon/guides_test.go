package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/store/pgtest"
)

// guide is how the commands of a page are tried.
type guide struct {
	page     string
	from, to string            // the headings between which the commands stand; "": of the page
	before   string            // what the page takes for granted, as commands
	mine     map[string]string // what the page has, and what its reader types in place of it
	answers  []string          // what the commands say, in this order
	server   bool              // it needs a PostgreSQL server
}

// shop is the installation that pages about the server take for granted.
const shop = `cp "$EXAMPLES/harbor-coffee.yaml" setup.yaml; boon apply setup.yaml; start; send; ` +
	`export BOON_KEY=boon_live_scripts_of_tests_harbor_coffee_head_office; `

// guides are the pages with commands that TestGuides types.
var guides = []guide{
	{
		page: "README.md", from: "\n## Your own service", to: "\n## ",
		before:  "awk '/^```yaml/ {on = 1; next} /^```/ && on {exit} on' \"$DOCS/reference/setup.md\" > setup.yaml; ",
		mine:    map[string]string{"bin/boon": "boon"},
		answers: []string{": added", "listening on http://127.0.0.1:", "Usage: boon gift send", "Everything holds."},
	},
	{
		page: "docs/guides/import.md",
		before: `sed 's/^    currency: USD/&\n    importedCodes: [{digits: 16}]/' "$EXAMPLES/harbor-coffee.yaml" > setup.yaml
			boon apply setup.yaml; start; export BOON_KEY=boon_live_scripts_of_tests_harbor_coffee_head_office
			card() { echo "$1,$2,ACTIVE"; }
			{ echo gan,balance,state; card 6006123456789012 25.50; card 6006933450000013 11.25
				card 6006550001110014 25; } > cards.csv
			cp boon-data/boon.key .; brought() { ls boon-import-*.json | sed 's/boon-import-//; s/\.json//'; }`,
		mine: map[string]string{"5120": "3", "81204.50": "61.75", "2026-11-28T23": "2026-01-31T23",
			"019d8f3e-7a10-7c11-8a55-0d8f6a3f1c01": "$(brought)"},
		answers: []string{"3 lines: 3 gifts, 61.75 USD", "This was a dry run: nothing is changed.",
			"is finished: 3 gifts are there.",
			"The certificate is in boon-import-", `"linesRefused":3`, "The certificate is as it was signed.",
			"The page to sign is in import.pdf.", "FINISHED", "is undone"},
	},
	{
		page: "docs/operating/backup.md", to: "\n## A database in PostgreSQL",
		before: shop,
		mine:   map[string]string{"boon-20261121T095220Z.db": "$(ls bk)", "install -m 600 ": "install -m 600 boon-data/"},
		answers: []string{"nothing is made with it yet", "waits for boon key-file rotate --use",
			"1 gifts, 1 ledger entries; read back and whole.", "Everything holds.",
			"not yet verified"},
	},
	{
		page: "docs/operating/backup.md", from: "\n## A database in PostgreSQL",
		before:  `boon apply "$EXAMPLES/harbor-coffee.yaml" --data boon-data --database "$DATABASE"; `,
		mine:    map[string]string{"postgres://boon@db/shop": "$DATABASE", "postgres://boon@db/restored": "$EMPTY"},
		answers: []string{"Everything holds."},
		server:  true,
	},
	{
		page:    "docs/operating/erase.md",
		before:  shop,
		answers: []string{"to be erased: in 1 gifts", "erased: in 1 gifts"},
	},
	{
		page:    "docs/operating/delivery.md",
		before:  `boon apply "$EXAMPLES/harbor-coffee.yaml"; `,
		answers: []string{"listening on http://127.0.0.1:", "listening on http://127.0.0.1:"},
	},
	{
		page:    "docs/guides/console.md",
		before:  shop,
		answers: []string{"https://gifts.example.com/console/join/"},
	},
	{
		page:    "docs/operating/watch.md",
		before:  shop,
		answers: []string{"Everything holds.", "Everything holds."},
	},
	{
		page:   "docs/operating/scale.md",
		before: `cp "$EXAMPLES/harbor-coffee.yaml" setup.yaml; createdb() { :; }; `,
		mine:   map[string]string{"postgres://boon@127.0.0.1/shop": "$DATABASE"},
		server: true,
	},
}

// triedElsewhere are the pages with commands that another test types, and which; or why none does.
var triedElsewhere = map[string]string{
	"docs/start/afternoon.md":          "TestAfternoon",
	"docs/guides/connect.md":           "TestAfternoon",
	"docs/guides/send.md":              "TestAfternoon",
	"docs/guides/take.md":              "TestAfternoon",
	"docs/guides/test-mode.md":         "TestAfternoon",
	"docs/reference/events.md":         "TestAfternoon",
	"docs/operating/install.md":        "TestReleaseIsAttested",
	"docs/start/install-go.md":         "the tests of test/sdk and test/client, each in its own way",
	"docs/start/install-php.md":        "the tests of test/sdk and test/client, each in its own way",
	"docs/start/install-python.md":     "the tests of test/sdk and test/client, each in its own way",
	"docs/start/install-typescript.md": "the tests of test/sdk and test/client, each in its own way",
	"docs/why/benchmarks.md":           "they take minutes to hours; make bench runs them",
}

// TestGuides types the commands of pages into a shell, in order, as their reader does. Each must succeed.
func TestGuides(t *testing.T) {
	t.Parallel()
	examples := exampleFiles(t)
	docs, err := filepath.Abs("../../docs")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range guides {
		t.Run(strings.TrimSpace(g.page+g.from), func(t *testing.T) {
			t.Parallel()
			env := append(os.Environ(), "EXAMPLES="+examples, "DOCS="+docs, "BOON_LISTEN=127.0.0.1:0", "TZ=UTC")
			if g.server {
				pgtest.Need(t)
				env = append(env, "DATABASE="+pgtest.Fresh(t), "EMPTY="+pgtest.Empty(t))
			}
			typed := strings.Join(commandsOf(t, &g), "\n")
			for _, of := range slices.Sorted(maps.Keys(g.mine)) {
				if !strings.Contains(typed, of) {
					t.Errorf("the page has no %q", of)
				}
				typed = strings.ReplaceAll(typed, of, g.mine[of])
			}
			shell := exec.Command("bash", "-euo", "pipefail", "-c", helpers+g.before+"\n"+typed)
			shell.Dir, shell.Env = t.TempDir(), env
			out, err := shell.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s\n%s", err, typed, out)
			}
			rest, found := string(out), false
			for _, want := range g.answers {
				if _, rest, found = strings.Cut(rest, want); !found {
					t.Fatalf("what the commands say lacks %q in its place:\n%s", want, out)
				}
			}
		})
	}
}

// helpers are functions of the shell. A service that a page starts is stopped once it listens; start is for a service
// that goes on, and send sells a gift there.
const helpers = `
trap 'kill $(jobs -p) 2>/dev/null || :' EXIT
listen() {
	: > said # by the line of an earlier service, this one would be interrupted before it notices that
	command boon serve "$@" > said 2> log & served=$!
	until grep -q '^listening on' said; do kill -0 $served || { cat log; exit 1; }; sleep 0.1; done
	cat said
}
boon() {
	if [ "$1" != serve ]; then command boon "$@"; return; fi
	shift; listen "$@"; kill -INT $served; wait $served
}
start() { listen "$@"; export BOON_URL=$(sed 's/listening on //' said); }
send() {
	BOON_KEY=boon_live_scripts_of_tests_harbor_coffee_head_office boon gift send --value 25 --print Ana --purchase WEB-1 \
		--first-name Carla --last-name Diaz --customer ana@example.com --storefront 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21
}
`

var (
	fenced   = regexp.MustCompile("(?s)\n```([a-z]*)\n(.*?)```")
	prompted = regexp.MustCompile(`(?m)^\$ ((?:.*\\\n)*.*)$`)
)

// commandsOf are the commands of a guide: all lines of its blocks of sh, and what follows a $ in its other blocks.
func commandsOf(t *testing.T, g *guide) (commands []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", g.page))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), g.from)
	if g.to != "" {
		section, _, _ = strings.Cut(section, g.to)
	}
	for _, block := range fenced.FindAllStringSubmatch(section, -1) {
		if block[1] == "sh" {
			commands = append(commands, block[2])
			continue
		}
		for _, command := range prompted.FindAllStringSubmatch(block[2], -1) {
			commands = append(commands, command[1])
		}
	}
	return commands
}

// TestCommandsOfPagesAreTyped: each page with commands has a test that types them, or the reason why none does.
func TestCommandsOfPagesAreTyped(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, path := range append(pages, "../../README.md") {
		page := strings.TrimPrefix(path, "../../")
		if strings.HasPrefix(page, "docs/adr/") || len(commandsOf(t, &guide{page: page})) == 0 {
			continue
		}
		found[page] = true
		typed := slices.ContainsFunc(guides, func(g guide) bool { return g.page == page })
		if !typed && triedElsewhere[page] == "" {
			t.Errorf("nobody types the commands of %s: add the page to guides", page)
		}
	}
	for page := range triedElsewhere {
		if !found[page] {
			t.Errorf("%s has no commands", page)
		}
	}
}
