package sdk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"boon.example/internal/boontest"
	"boon.example/internal/server"
	"boon.example/internal/store/pgtest"
)

// TestInstallPages does what the page about each client says: pastes its commands beside a copy of the source, saves
// its program and runs that.
func TestInstallPages(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	for language, needs := range map[string]string{"go": "go", "python": "python3", "typescript": "npm", "php": "php"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			has(t, needs)
			page, err := os.ReadFile("../../docs/start/install-" + language + ".md")
			if err != nil {
				t.Fatal(err)
			}
			s := boontest.Example(t, server.Config{Outbox: true})
			text := strings.ReplaceAll(string(page), "http://127.0.0.1:8080", s.URL)
			blocks := regexp.MustCompile("(?s)```[a-z]+\n(.*?)```").FindAllStringSubmatch(text, -1)
			file := regexp.MustCompile("Save this as `([^`]+)`").FindStringSubmatch(text)
			if len(blocks) != 3 || file == nil {
				t.Fatalf("the page has %d blocks, and names %q", len(blocks), file)
			}
			folder := t.TempDir()
			copySource(t, filepath.Join(folder, "boon"))
			running := blocks[2][1]
			if said, fetched := paste(t, folder, blocks[0][1]); !fetched {
				if language != "python" {
					t.Skipf("LEFT OUT: no packages can be fetched: %s", said)
				}
				t.Logf("LEFT OUT: pip fetches no packages, so the client runs from its source: %s", said)
				running = "PYTHONPATH=../boon/sdk/python python3 " + file[1]
			}
			write(t, folder, "shop/"+file[1], blocks[1][1])
			if said, _ := paste(t, filepath.Join(folder, "shop"), running); !strings.HasSuffix(said, "the key works\n") {
				t.Errorf("the program says %q", said)
			}
		})
	}
}

// copySource puts the clients where the pages want Boon's source, without what was fetched and compiled.
func copySource(t *testing.T, to string) {
	t.Helper()
	for _, part := range []string{"client", "sdk/python", "sdk/typescript", "sdk/php"} {
		from := absolute(t, filepath.Join("../..", part))
		err := filepath.WalkDir(from, func(path string, f os.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case f.IsDir() && (f.Name() == "node_modules" || f.Name() == "dist"):
				return filepath.SkipDir
			}
			there := filepath.Join(to, part, strings.TrimPrefix(path, from))
			if f.IsDir() {
				return os.MkdirAll(there, 0o700)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(there, text, 0o600)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// paste runs commands in bash, and gives what they print, and whether the packages that they want could be fetched.
func paste(t *testing.T, folder, commands string) (said string, fetched bool) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", commands)
	c.Dir = folder
	out, err := c.CombinedOutput()
	if err != nil && regexp.MustCompile("ENOTFOUND|EAI_AGAIN|ECONNREFUSED|No matching distribution").Match(out) {
		return string(out), false
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", commands, err, out)
	}
	return string(out), true
}
