package server_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	certs "boon.example/internal/base/certificate"
	"boon.example/internal/server"
)

// TestJobsAreListed holds the table of jobs in docs/operating/watch.md against the jobs that a service tells of in its
// metrics, in both directions.
func TestJobsAreListed(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operating/watch.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certificate(t, dir, "gifts.example.com")
	source, err := certs.Files(filepath.Join(dir, "gifts.pem"), filepath.Join(dir, "gifts.key"), nil)
	if err != nil {
		t.Fatal(err)
	}
	admin := freeAddress(t)
	start(t, server.Config{Certificate: source, AdminListen: admin, PublicURL: "https://gifts.example.com"})
	_, text, err := (&service{T: t, url: "http://" + admin}).call("GET", "/metrics", "", "")
	if err != nil {
		t.Fatal(err)
	}
	var does []string
	for _, m := range regexp.MustCompile(`(?m)^boon_job_interval_seconds\{name="(.*)"\} (.*)$`).
		FindAllStringSubmatch(string(text), -1) {
		seconds, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		every := time.Duration(seconds * float64(time.Second)).String()
		does = append(does, "`"+m[1]+"` | "+every)
	}
	_, section, _ := strings.Cut(string(page), "\n## Jobs\n")
	section, _, _ = strings.Cut(section, "\nEach metric")
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^(`[a-z-]+` \\| )([0-9]+) ([a-z]+) \\|").FindAllStringSubmatch(section, -1) {
		every, err := time.ParseDuration(m[2] + strings.TrimSuffix(m[3], "in")) // 1 min is 1m
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, m[1]+every.String())
	}
	slices.Sort(does)
	slices.Sort(listed)
	if !slices.Equal(does, listed) {
		t.Errorf("docs/operating/watch.md lists the jobs\n%s\nthe service has\n%s", strings.Join(listed, "\n"),
			strings.Join(does, "\n"))
	}
}
