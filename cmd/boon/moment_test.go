package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"boon.example/internal/command/terminal"
)

// TestTimesAreLocal: what people are told has times by moment, which are in the zone of the machine. Those that are not
// are no text for people: the name of an order, and a request.
func TestTimesAreLocal(t *testing.T) {
	t.Parallel()
	var files []string
	for _, in := range []string{"*.go", "../../internal/command/*/*.go"} {
		some, err := filepath.Glob(in)
		if err != nil || len(some) < 20 {
			t.Fatalf("%d files in %s, %v", len(some), in, err)
		}
		files = append(files, some...)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if base := filepath.Base(name); base == "moment.go" || base == "story.go" || strings.HasSuffix(base, "_test.go") {
			continue
		}
		for n, line := range strings.Split(string(text), "\n") {
			if strings.Contains(line, ".Format(") || strings.Contains(line, "time.RFC3339") {
				t.Errorf("%s:%d tells a time without moment: %s", name, n+1, line)
			}
		}
	}
}

// TestEveryTimeIsReadAlike: each flag of each command that is a time takes a date, and explains what else it takes.
func TestEveryTimeIsReadAlike(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&commands{}, options(&terminal.Terminal{}, func(int) {})...)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	var walk func(n *kong.Node)
	walk = func(n *kong.Node) {
		for _, flag := range n.Flags {
			if flag.Target.Type() != reflect.TypeFor[time.Time]() {
				continue
			}
			found++
			command := append(strings.Fields(strings.TrimPrefix(n.FullPath(), "boon ")), "--"+flag.Name+"=soon")
			var out strings.Builder
			code := run(t.Context(), command, nil, &out, &out, func(string) string { return "" })
			if code != exitUsage || !strings.Contains(out.String(), "write a date such as 2026-11-22") {
				t.Errorf("%s: exit %d, %s", command, code, out.String())
			}
		}
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(parser.Model.Node)
	if found < 10 {
		t.Errorf("found %d times", found)
	}
}

// TestNoServiceIsTold: who calls where nothing listens is told where that was, and what to do.
func TestNoServiceIsTold(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + l.Addr().String()
	l.Close()
	for _, command := range [][]string{{"gift", "list"}, {"gift", "validate", "482913375026"}, {"events", "tail"}} {
		var out strings.Builder
		code := run(t.Context(), append(command, "--url", address, "--key", "boon_test_none"), nil, &out, &out,
			func(string) string { return "" })
		if code != exitFailed || !strings.Contains(out.String(), "No service listens at "+address) {
			t.Errorf("%s: exit %d, %s", command, code, out.String())
		}
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	wrong := strings.Replace(plain.URL, "http", "https", 1)
	code, _, log := typed(t, "gift", "list", "--url", wrong, "--key", "boon_test_none")
	if code != exitFailed || !strings.Contains(log, "speaks http. Write http:// in BOON_URL or --url.") {
		t.Errorf("https to a service that speaks http: exit %d, %s", code, log)
	}
	code, _, log = typed(t, "ping", "--listen", l.Addr().String())
	if code != exitFailed || !strings.Contains(log, "--listen") || strings.Contains(log, "--url") {
		t.Errorf("ping: exit %d, %s", code, log)
	}
}
