package main

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"boon.example/internal/boontest"
	"boon.example/internal/server"
)

// TestOneVersion: the program, the interface, its description, the health check, the clients, the chart and the
// changelog say the same version.
func TestOneVersion(t *testing.T) {
	t.Parallel()
	for _, place := range []struct{ file, line string }{{"../../CHANGELOG.md", `(?m)^## (\S+)`},
		{"../../sdk/python/pyproject.toml", `(?m)^version = "(\S+)"`},
		{"../../sdk/typescript/package.json", `"version": "(\S+)"`},
		{"../../deploy/helm/boon/Chart.yaml", `(?m)^version: (\S+)`},
		{"../../deploy/helm/boon/Chart.yaml", `(?m)^appVersion: (\S+)`}} {
		text, err := os.ReadFile(place.file)
		if err != nil {
			t.Fatal(err)
		}
		if said := regexp.MustCompile(place.line).FindSubmatch(text); said == nil || string(said[1]) != server.Version {
			t.Errorf("%s says %q, the interface %s", place.file, said, server.Version)
		}
	}
	s := boontest.Example(t, server.Config{Version: thisBuild().Version})
	for path, want := range map[string]string{"/healthz": "alive " + server.Version,
		"/openapi.json": `"version":"` + server.Version + `"`} {
		resp, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || !strings.Contains(string(body), want) || resp.Header.Get("Boon-Version") != server.Version {
			t.Errorf("%s lacks %s, or its header is %q: %v", path, want, resp.Header.Get("Boon-Version"), err)
		}
	}
	var out strings.Builder
	code := run(t.Context(), []string{"--version"}, nil, &out, &out, func(string) string { return "" })
	if want := "boon " + server.Version + "\n"; code != exitOK || out.String() != want {
		t.Errorf("boon --version says %q (exit %d), want %q", out.String(), code, want)
	}
}
