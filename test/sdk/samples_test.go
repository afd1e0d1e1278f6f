package sdk_test

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/server"
	"boon.example/internal/store/pgtest"
)

// drivers run samples of a language, each a file of its own in the folder SAMPLES, and print a line for each: the
// operation, and the code of the refusal if there was one. PLAYED names the operations.
var drivers = map[string]string{
	"ts": `const say = console.log;
for (const name of process.env.PLAYED.split(" ")) {
  console.log = () => {};
  const code = await import(process.env.SAMPLES + "/" + name + ".js").then(() => "done", (e) => e.code || String(e));
  console.log = say;
  console.log(name, code);
}
`,
	"python": `import contextlib, io, os, runpy, urllib.error
from boon_gifts import BoonError, Failure
for name in os.environ["PLAYED"].split():
    said = "done"
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            runpy.run_path(os.environ["SAMPLES"] + "/" + name + ".py")
        except BoonError as refusal:
            said = refusal.code
        except Failure as failure:
            said = str(failure)
        except urllib.error.HTTPError as refusal:
            said = "NOT_FOUND" if refusal.code == 404 else str(refusal)
    print(name, said)
`,
	"php": `<?php
require getenv('SAMPLES') . '/boon.php';
function play($file) { ob_start(); try { include $file; return 'done'; } finally { ob_end_clean(); } }
foreach (explode(' ', getenv('PLAYED')) as $name) {
  try { $said = play(getenv('SAMPLES') . "/$name.php"); }
  catch (Boon\BoonError $refusal) { $said = $refusal->code; }
  catch (Throwable $e) { $said = $e::class . ': ' . $e->getMessage(); }
  echo $name, ' ', $said, "\n";
}
`,
	"go": "", // compileGo writes it
	"curl": `for name in $PLAYED; do
  code=$(bash "$SAMPLES/$name.curl" | grep -ao '"code":"[A-Z_]*"' | head -n 1 | cut -d '"' -f 4)
  echo "$name ${code:-done}"
done
`,
}

// atTheTill are the operations that redeem at the one location of their key.
var atTheTill = map[string]bool{"redeemGift": true, "redeemGifts": true, "holdGift": true}

// TestSamples runs the samples of /docs, of each language in a folder: they are compiled once, for all that is asked of
// them.
func TestSamples(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	// A service for each use: none has the calls of another one counted against its limits.
	each, safe, end := boontest.Example(t, server.Config{Outbox: true}), boontest.Example(t, server.Config{Outbox: true}),
		boontest.Example(t, server.Config{Outbox: true})
	samples, operations := shown(t, each.URL), keyed(t)
	for language := range drivers {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			p := compile(t, language, samples[language])
			t.Run("each", func(t *testing.T) { t.Parallel(); p.tryEach(t, each.URL) })
			t.Run("safe", func(t *testing.T) { t.Parallel(); p.losesAnswers(t, safe.URL, operations) })
			t.Run("end", func(t *testing.T) { t.Parallel(); p.waitsForEver(t, end.URL) })
		})
	}
}

// tryEach runs every sample against the service that shows it. What a sample is about is not there, so that most are
// refused; none of them for how it was made.
func (p *played) tryEach(t *testing.T, address string) {
	judge(t, p.samples, p.play(t, t.TempDir(), address, slices.Collect(maps.Keys(p.samples))))
}

// played are the samples of a language, compiled in a folder.
type played struct {
	folder  string
	samples map[string]string // by operation
	env     []string
	command []string
}

// play runs samples against an address in a folder, where they keep their keys. It gives a line for each: the
// operation, and what became of it.
func (p *played) play(t *testing.T, folder, address string, operations []string) string {
	t.Helper()
	write(t, folder, "cards.csv", "code,balance\r\n6006123456789012,25.50\r\n")
	slices.Sort(operations)
	return run(t, slices.Concat(p.env, []string{"SAMPLES=" + p.folder, "PLAYED=" + strings.Join(operations, " "),
		"BOON_URL=" + address}), folder, p.command[0], p.command[1:]...)
}

// compile writes the samples of a language into a folder, and makes of them what can be run.
func compile(t *testing.T, language string, samples map[string]string) *played {
	t.Helper()
	p := &played{folder: t.TempDir(), samples: samples, env: append(os.Environ(), "BOON_KEY="+examples.HarborOfficeKey,
		"BOON_TILL_KEY="+examples.HarborTillKey)}
	ending := map[string]string{"ts": ".ts", "python": ".py", "php": ".php", "curl": ".curl", "go": ".txt"}[language]
	for id, text := range samples {
		write(t, p.folder, id+ending, text)
	}
	driver := filepath.Join(p.folder, map[string]string{"ts": "driver.js", "python": "driver.py", "php": "driver.php",
		"curl": "driver.curl.sh", "go": "driver"}[language])
	write(t, p.folder, filepath.Base(driver), drivers[language])
	switch language {
	case "go":
		p.command = []string{compileGo(t, p.folder)}
	case "ts":
		node(t, p.env, "-e", "") // which compiles the client
		link(t, typescript, filepath.Join(p.folder, "node_modules", "boon-gifts"))
		link(t, typescript+"/node_modules/@types", filepath.Join(p.folder, "node_modules", "@types"))
		write(t, p.folder, "package.json", `{"type": "module"}`)
		write(t, p.folder, "tsconfig.json", `{"compilerOptions": {"target": "ES2022", "module": "NodeNext", "strict": true,
			"skipLibCheck": true, "types": ["node"]}}`)
		run(t, p.env, p.folder, absolute(t, typescript+"/node_modules/.bin/tsc"))
		p.command = []string{"node", driver}
	case "python":
		has(t, "python3")
		p.env = append(p.env, "PYTHONPATH="+absolute(t, "../../sdk/python"))
		p.command = []string{"python3", driver}
	case "php":
		has(t, "php")
		link(t, "../../sdk/php/boon.php", filepath.Join(p.folder, "boon.php"))
		p.command = []string{"php", "-d", "display_errors=stderr", driver}
	default:
		has(t, "curl")
		has(t, "openssl")
		p.command = []string{"bash", driver}
	}
	return p
}

// shown are the samples of all operations, by language, as the pages show them. No call waits for events.
func shown(t *testing.T, address string) map[string]map[string]string {
	t.Helper()
	page := func(path string) string {
		resp, err := http.Get(address + path) //nolint:noctx // it is here
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(path, resp.Status, err)
		}
		return string(b)
	}
	atOnce := strings.NewReplacer("wait=25", "wait=0", "wait: 25", "wait: 0", "Wait: 25", "Wait: 0")
	all := map[string]map[string]string{}
	operations := regexp.MustCompile(`href="docs/reference/(\w+)"`).FindAllStringSubmatch(page("/docs"), -1)
	for _, o := range operations {
		text := page("/docs/reference/" + o[1])
		for _, s := range regexp.MustCompile(`(?s)data-language="(\w+)"><code>(.*?)</code>`).FindAllStringSubmatch(text, -1) {
			if all[s[1]] == nil {
				all[s[1]] = map[string]string{}
			}
			all[s[1]][o[1]] = atOnce.Replace(html.UnescapeString(s[2]))
			if atTheTill[o[1]] {
				all[s[1]][o[1]] = strings.ReplaceAll(all[s[1]][o[1]], "BOON_KEY", "BOON_TILL_KEY")
			}
		}
	}
	if len(all) != 5 || len(all["go"]) < 40 {
		t.Fatalf("%d languages, %d samples in Go", len(all), len(all["go"]))
	}
	return all
}

// compileGo makes one program of the samples, a function of each.
func compileGo(t *testing.T, folder string) (program string) {
	t.Helper()
	client, err := filepath.Abs("../../client")
	if err != nil {
		t.Fatal(err)
	}
	write(t, folder, "go.mod", "module samples\n\ngo 1.26.0\n\nrequire boon.example/client v0.0.0\n\n"+
		"replace boon.example/client => "+client+"\n")
	var b bytes.Buffer
	b.WriteString(`package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"boon.example/client"
)

var _, _ = io.Copy, time.Now

func main() {
	said := os.Stdout
	os.Stdout, _ = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	samples := map[string]func(context.Context) error{
`)
	files, err := filepath.Glob(folder + "/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		id := strings.TrimSuffix(filepath.Base(file), ".txt")
		fmt.Fprintf(&b, "%q: func(ctx context.Context) error {\n%s},\n", id, text)
	}
	b.WriteString(`	}
	for _, id := range strings.Fields(os.Getenv("PLAYED")) {
		err, code := samples[id](context.Background()), "done"
		if refusal, is := errors.AsType[*client.Error](err); is {
			code = string(refusal.Code)
		} else if err != nil {
			code = err.Error()
		}
		fmt.Fprintln(said, id, code)
	}
}

var _ = http.Get
`)
	write(t, folder, "main.go", b.String())
	program = filepath.Join(folder, "samples")
	run(t, os.Environ(), folder, "go", "build", "-ldflags=-s -w", "-o", program, ".")
	return program
}

// judge reads what became of each sample.
func judge(t *testing.T, samples map[string]string, said string) {
	t.Helper()
	outcome := map[string]string{}
	for line := range strings.Lines(said) {
		id, code, _ := strings.Cut(strings.TrimSpace(line), " ")
		outcome[id] = code
	}
	for id := range samples {
		if id == "pairTill" && outcome[id] == "VALIDATION_FAILURE" {
			continue // the sample in another language has paired a till of this name
		}
		if id == "importGifts" && outcome[id] == "VALIDATION_FAILURE" {
			continue // the example merchant has declared no codes of another system
		}
		if code := outcome[id]; code != "done" && !regexp.MustCompile("^[A-Z_]+$").MatchString(code) ||
			code == "VALIDATION_FAILURE" || code == "UNAUTHENTICATED" {
			t.Errorf("%s: %q", id, code)
		}
	}
	if outcome["sendGift"] != "done" {
		t.Errorf("no gift is sent: %s", said)
	}
}

func has(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("LEFT OUT: there is no %s", program)
	}
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	to, err := filepath.Abs(to)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}
