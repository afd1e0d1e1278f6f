package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
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
	for _, place := range []struct {
		files, line string
		all         int // files of these names that say it
	}{{"../../CHANGELOG.md", `(?m)^## (\S+)`, 1},
		{"../../sdk/*/pyproject.toml", `(?m)^version = "(\S+)"`, 1},
		{"../../sdk/*/package.json", `"version": "(\S+)"`, 3},
		{"../../sdk/*/package.json", `"boon-gifts": "([0-9]\S*)"`, 2}, // which the plugins need
		{"../../deploy/helm/boon/Chart.yaml", `(?m)^version: (\S+)`, 1},
		{"../../deploy/helm/boon/Chart.yaml", `(?m)^appVersion: (\S+)`, 1}} {
		files, err := filepath.Glob(place.files)
		if err != nil {
			t.Fatal(err)
		}
		saying := 0
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if said := regexp.MustCompile(place.line).FindSubmatch(text); said != nil {
				if saying++; string(said[1]) != server.Version {
					t.Errorf("%s says %s, the interface %s", file, said[1], server.Version)
				}
			}
		}
		if saying != place.all {
			t.Errorf("%d of %s say a version, not %d", saying, place.files, place.all)
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
