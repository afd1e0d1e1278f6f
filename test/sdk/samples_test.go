package sdk_test

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/server"
	"boon.example/internal/store/pgtest"
)

// drivers run the samples of a language, each in a file of its own, and print a line for each: the operation, and the
// code of the refusal if there was one.
var drivers = map[string]string{
	"ts": `import {readdirSync} from "node:fs";
for (const file of readdirSync(".").filter((f) => /^[a-zA-Z0-9]+\.js$/.test(f) && f !== "driver.js")) {
  const say = console.log;
  console.log = () => {};
  const code = await import("./" + file).then(() => "done", (e) => e.code || String(e));
  console.log = say;
  console.log(file.slice(0, -3), code);
}
`,
	"python": `import contextlib, glob, io, runpy, urllib.error
from boon_gifts import BoonError, Failure
for file in sorted(glob.glob("[a-z]*[A-Z]*.py")):
    said = "done"
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            runpy.run_path(file)
        except BoonError as refusal:
            said = refusal.code
        except Failure as failure:
            said = str(failure)
        except urllib.error.HTTPError as refusal:
            said = "NOT_FOUND" if refusal.code == 404 else str(refusal)
    print(file[:-3], said)
`,
	"php": `<?php
require 'boon.php';
function play($file) { ob_start(); try { include $file; return 'done'; } finally { ob_end_clean(); } }
foreach (glob('*[A-Z]*.php') as $file) {
  try { $said = play($file); }
  catch (Boon\BoonError $refusal) { $said = $refusal->code; }
  catch (Throwable $e) { $said = $e::class . ': ' . $e->getMessage(); }
  echo basename($file, '.php'), ' ', $said, "\n";
}
`,
	"go": "", // playGo writes it
	"curl": `for file in *.curl; do
  code=$(bash "$file" | grep -ao '"code":"[A-Z_]*"' | head -n 1 | cut -d '"' -f 4)
  echo "${file%.curl} ${code:-done}"
done
`,
}

// atTheTill are the operations that redeem at the one location of their key.
var atTheTill = map[string]bool{"redeemGift": true, "redeemGifts": true, "holdGift": true}

// TestSamples runs every sample of /docs against the service that shows it. What a sample is about is not there, so
// that most are refused; none of them for how it was made.
func TestSamples(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	s := boontest.Example(t, server.Config{Outbox: true})
	env := append(os.Environ(), "BOON_URL="+s.URL, "BOON_KEY="+examples.HarborOfficeKey,
		"BOON_TILL_KEY="+examples.HarborTillKey)
	samples := shown(t, s.URL)
	for language := range drivers {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			judge(t, samples[language], play(t, env, language, t.TempDir(), samples[language]))
		})
	}
}

// play runs samples of a language in a folder, and gives a line for each: the operation, and what became of it.
func play(t *testing.T, env []string, language, folder string, samples map[string]string) string {
	t.Helper()
	ending := map[string]string{"ts": ".ts", "python": ".py", "php": ".php", "curl": ".curl", "go": ".txt"}[language]
	for id, text := range samples {
		write(t, folder, id+ending, text)
	}
	write(t, folder, "cards.csv", "code,balance\r\n6006123456789012,25.50\r\n")
	write(t, folder, map[string]string{"ts": "driver.js", "python": "driver.py", "php": "driver.php",
		"curl": "driver.curl.sh", "go": "driver"}[language], drivers[language])
	switch language {
	case "go":
		return playGo(t, env, folder)
	case "ts":
		node(t, env, "-e", "") // which compiles the client
		link(t, typescript, filepath.Join(folder, "node_modules", "boon-gifts"))
		link(t, typescript+"/node_modules/@types", filepath.Join(folder, "node_modules", "@types"))
		write(t, folder, "package.json", `{"type": "module"}`)
		write(t, folder, "tsconfig.json", `{"compilerOptions": {"target": "ES2022", "module": "NodeNext", "strict": true,
			"skipLibCheck": true, "types": ["node"]}}`)
		run(t, env, folder, absolute(t, typescript+"/node_modules/.bin/tsc"))
		return run(t, env, folder, "node", "driver.js")
	case "python":
		has(t, "python3")
		return run(t, append(env, "PYTHONPATH="+absolute(t, "../../sdk/python")), folder, "python3", "driver.py")
	case "php":
		has(t, "php")
		link(t, "../../sdk/php/boon.php", filepath.Join(folder, "boon.php"))
		return run(t, env, folder, "php", "-d", "display_errors=stderr", "driver.php")
	default:
		has(t, "curl")
		has(t, "openssl")
		return run(t, env, folder, "bash", "driver.curl.sh")
	}
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

// playGo makes one program of the samples, a function of each.
func playGo(t *testing.T, env []string, folder string) string {
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
	"time"

	"boon.example/client"
)

var _, _ = io.Copy, time.Now

func main() {
	said := os.Stdout
	os.Stdout, _ = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	for id, play := range map[string]func(context.Context) error{
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
	b.WriteString(`	} {
		err, code := play(context.Background()), "done"
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
	return run(t, env, folder, "go", "run", ".")
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
