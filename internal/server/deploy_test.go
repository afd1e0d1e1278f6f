package server_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	certs "boon.example/internal/base/certificate"
	"boon.example/internal/post/mail"
	"boon.example/internal/server"
)

// expressions are what the alerts and the board of deploy ask Prometheus for.
func expressions(t *testing.T) (all []string) {
	t.Helper()
	var rules struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	var board struct {
		Panels []struct {
			Targets []struct{ Expr string }
		}
	}
	text, err := os.ReadFile("../../deploy/prometheus/rules.yml")
	if err == nil {
		err = yaml.Unmarshal(text, &rules)
	}
	if err != nil {
		t.Fatal(err)
	}
	if text, err = os.ReadFile("../../deploy/grafana/boon.json"); err == nil {
		err = json.Unmarshal(text, &board)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			all = append(all, r.Expr)
		}
	}
	placeholders := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*")
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			all = append(all, placeholders.Replace(target.Expr))
		}
	}
	return all
}

var (
	series   = regexp.MustCompile(`(?m)^([a-z_]+)(?:\{(.*)\})? `)
	asked    = regexp.MustCompile(`\b((?:boon|process)_[a-z_]+)(?:\{([^}]*)\})?`)
	labelled = regexp.MustCompile(`([a-z]+)(?:=|!)`)
	grouped  = regexp.MustCompile(`by \(([a-z, ]+)\)`)
)

// TestBoardAndAlertsFitTheMetrics: each metric and label that the files of deploy name is in what a service tells, and
// promtool understands each expression.
func TestBoardAndAlertsFitTheMetrics(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificate(t, dir, "gifts.example.com")
	source, err := certs.Files(filepath.Join(dir, "gifts.pem"), filepath.Join(dir, "gifts.key"), nil)
	if err != nil {
		t.Fatal(err)
	}
	admin := freeAddress(t)
	s := start(t, server.Config{})
	s.sell(`{"value":50,"deliveryMethodID":3}`)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.run(server.Config{Certificate: source, AdminListen: admin, PublicURL: "https://gifts.example.com",
		SMTP: &mail.Server{Host: "127.0.0.1:1", From: "gifts@example.com"}})
	plain := &service{T: t, url: "http://" + admin}
	var text []byte
	s.eventually(func() bool { // what gifts hold is summed up after the start; the first request is counted, too
		var err error
		_, text, err = plain.call("GET", "/metrics", "", "")
		return err == nil && strings.Contains(string(text), "boon_gifts_outstanding_value{") &&
			strings.Contains(string(text), "boon_requests_total{")
	})
	told := map[string]map[string]bool{}
	for _, m := range series.FindAllStringSubmatch(string(text), -1) {
		if told[m[1]] == nil {
			told[m[1]] = map[string]bool{"instance": true, "job": true} // which Prometheus adds
		}
		for _, l := range labelled.FindAllStringSubmatch(m[2], -1) {
			told[m[1]][l[1]] = true
		}
	}
	var check strings.Builder
	check.WriteString("groups:\n- name: all\n  rules:\n")
	exprs := expressions(t)
	board, err := os.ReadFile("../../deploy/grafana/boon.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (boon_\w+) gauge$`).FindAllStringSubmatch(string(text), -1) {
		if !bytes.Contains(board, []byte(m[1])) {
			t.Errorf("the board has no panel of the gauge %s", m[1])
		}
	}
	for _, expr := range exprs {
		check.WriteString("  - {record: x, expr: " + yamlQuoted(t, expr) + "}\n")
		metrics := asked.FindAllStringSubmatch(expr, -1)
		if len(metrics) == 0 {
			t.Errorf("%s asks for no metric of ours", expr)
		}
		for _, m := range metrics {
			labels := told[m[1]]
			if labels == nil {
				t.Errorf("%s: no metric is called %s", expr, m[1])
				continue
			}
			for _, l := range labelled.FindAllStringSubmatch(m[2], -1) {
				if !labels[l[1]] {
					t.Errorf("%s: %s has no label %s", expr, m[1], l[1])
				}
			}
			for _, by := range grouped.FindAllStringSubmatch(expr, -1) {
				for l := range strings.SplitSeq(by[1], ", ") {
					if !labels[l] {
						t.Errorf("%s: %s has no label %s", expr, m[1], l)
					}
				}
			}
		}
	}
	if len(exprs) < 30 {
		t.Errorf("only %d expressions were found", len(exprs))
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("LEFT OUT: there is no promtool (Debian: prometheus), so the alerts of deploy were not run")
	}
	file := filepath.Join(dir, "all.yml")
	if err := os.WriteFile(file, []byte(check.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "rules", file}, {"check", "rules", "../../deploy/prometheus/rules.yml"},
		{"test", "rules", "../../deploy/prometheus/rules_test.yml"}} {
		if out, err := exec.Command(promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
	lint := exec.Command(promtool, "check", "metrics")
	lint.Stdin = strings.NewReader(string(text))
	if out, err := lint.CombinedOutput(); err != nil {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

func yamlQuoted(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s) // which YAML understands
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
