package main

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// deployed is the folder of files for other programs that run Boon.
const deployed = "../../deploy"

// TestSettingsOfDeployExist: each variable BOON_… in a file of deploy/ is a setting that boon serve knows.
func TestSettingsOfDeployExist(t *testing.T) {
	t.Parallel()
	var help strings.Builder
	run(t.Context(), []string{"serve", "--help"}, nil, &help, &help, func(string) string { return "" })
	known := map[string]bool{}
	for _, flag := range regexp.MustCompile(`--([a-z][a-z-]+)`).FindAllStringSubmatch(help.String(), -1) {
		known["BOON_"+strings.ToUpper(strings.ReplaceAll(flag[1], "-", "_"))] = true
	}
	names, found := regexp.MustCompile(`BOON_[A-Z_]*[A-Z]`), 0
	err := filepath.WalkDir(deployed, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range names.FindAllString(string(text), -1) {
			found++
			if !known[name] {
				t.Errorf("%s: boon serve knows no %s", path, name)
			}
		}
		return err
	})
	if err != nil || found == 0 {
		t.Fatalf("found %d settings: %v", found, err)
	}
}

// TestCronOfDocs runs the lines for cron in docs/operating/watch.md on three nights, at paths of its own. They say
// nothing while all is well, and say what is wrong.
func TestCronOfDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/operating/watch.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "\n# /etc/cron.d/boon")
	block, _, _ = strings.Cut(block, "\n```")
	home := t.TempDir()
	data, backups := filepath.Join(home, "data"), filepath.Join(home, "backups")
	var out strings.Builder
	apply := []string{"apply", exampleFiles(t) + "/harbor-coffee.yaml", "--data", data}
	if code := run(t.Context(), apply, nil, &out, &out, os.Getenv); code != exitOK {
		t.Fatal(out.String())
	}
	jobs := regexp.MustCompile(`(?m)^[0-9]+ [0-9]+ \* \* \* boon (.*)$`).FindAllStringSubmatch(block, -1)
	if len(jobs) != 2 || !strings.Contains(block, "\nPATH=/usr/local/bin:/usr/bin:/bin\n") ||
		strings.Contains(block, "%") {
		t.Fatalf("the lines for cron are %s", block) // cron ends a line at a %
	}
	night := func() (said string) {
		for _, job := range jobs {
			c := exec.CommandContext(t.Context(), "/bin/sh", "-c", strings.ReplaceAll(job[1], "/var/lib/boon", home))
			c.Env, c.Dir = []string{"PATH=" + os.Getenv("PATH")}, "/"
			b, err := c.CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v", job[1], err)
			}
			said += string(b)
		}
		return said
	}
	for n := range 3 {
		if said := night(); said != "" {
			t.Errorf("night %d says %s", n, said)
		}
		names, err := filepath.Glob(backups + "/boon-*.db")
		if err != nil || len(names) != n+1 {
			t.Fatalf("night %d left %q, %v", n, names, err)
		}
		slices.Sort(names)
		earlier := fmt.Sprintf("%s/boon-2026010%dT034500Z.db", backups, n+1) // the names are of seconds
		if err := os.Rename(names[len(names)-1], earlier); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(data, "boon.key")); err != nil {
		t.Fatal(err)
	}
	if said := night(); strings.Count(said, "boon.key") < 2 {
		t.Errorf("without its key file it says %q", said)
	}
}

// TestComposeStandsOnWhatIsThere: each image but our own has a version, each file that is mounted is there, and boon
// apply takes the set-up, without which neither instance starts.
func TestComposeStandsOnWhatIsThere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(deployed + "/compose/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	images, files := 0, 0
	for _, image := range regexp.MustCompile(`image: (\S+)`).FindAllStringSubmatch(string(text), -1) {
		images++
		if _, version, _ := strings.Cut(image[1], ":"); image[1] != "boon" && (version == "" || version == "latest") {
			t.Errorf("the image %s has no version", image[1])
		}
	}
	for _, file := range regexp.MustCompile(`(\.{1,2}/[^:,\s]+):/`).FindAllStringSubmatch(string(text), -1) {
		files++
		if _, err := os.Stat(filepath.Join(deployed, "compose", file[1])); err != nil {
			t.Error(err)
		}
	}
	if images < 4 || files < 2 {
		t.Errorf("found %d images and %d files", images, files)
	}
	var out strings.Builder
	apply := []string{"apply", deployed + "/compose/setup.yaml", "--data", t.TempDir()}
	if code := run(t.Context(), apply, nil, &out, &out, func(string) string { return "" }); code != exitOK {
		t.Errorf("boon apply: exit %d, %s", code, out.String())
	}
}

// TestChartRenders lints and renders the chart where helm is, as it is by default and with everything on; test/helm/get
// brings helm. Without the address that guests open it renders nothing.
func TestChartRenders(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("helm"); err != nil {
		t.Skip("LEFT OUT: there is no helm")
	}
	helm := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "helm", args...)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	chart := deployed + "/helm/boon"
	reached := []string{chart, "--set", "publicURL=https://gifts.example.com"}
	full := slices.Concat(reached,
		[]string{"--set", "ingress.enabled=true,ingress.host=gifts.example.com,settings.OUTBOX=true"})
	for _, tt := range []struct {
		args  []string
		kinds string
		has   []string
	}{
		{reached, "Deployment PodDisruptionBudget Service", []string{`BOON_PUBLIC_URL, value: "https://gifts.example.com"`,
			`GOMEMLIMIT, value: "409MiB"`, `image: "boon:`}},
		{slices.Concat(reached, []string{"--set", "resources.limits.memory=2Gi,image.digest=sha256:ab,image.tag=other",
			"--set", "networkPolicy.enabled=true"}), "Deployment NetworkPolicy PodDisruptionBudget Service",
			[]string{`GOMEMLIMIT, value: "1638MiB"`, `image: "boon@sha256:ab"`, `policyTypes: ["Ingress"]`,
				"- {ports: [{port: http}]}\n"}},
		{slices.Concat(reached, []string{"--set", "memoryLimit=1GiB,resources.limits.memory=7", "--set-json",
			`networkPolicy={"enabled":true,"from":[{"podSelector":{"matchLabels":{"app":"proxy"}}}],` +
				`"metricsFrom":[{"ipBlock":{"cidr":"10.0.0.0/8"}}],"egress":[{"ports":[{"port":5432}]}]}`}),
			"Deployment NetworkPolicy PodDisruptionBudget Service",
			[]string{`GOMEMLIMIT, value: "1GiB"`, `policyTypes: ["Ingress","Egress"]`, `egress: [{"ports":[{"port":5432}]}]`,
				`- {ports: [{port: http}], from: [{"podSelector":{"matchLabels":{"app":"proxy"}}}]}`,
				`- {ports: [{port: metrics}], from: [{"ipBlock":{"cidr":"10.0.0.0/8"}}]}`}},
		{full, "Deployment Ingress PodDisruptionBudget Service",
			[]string{`BOON_OUTBOX, value: "true"`, `host: "gifts.example.com"`}},
	} {
		if out, err := helm(slices.Concat([]string{"lint", "--strict"}, tt.args)...); err != nil {
			t.Errorf("helm lint: %v\n%s", err, out)
		}
		out, err := helm(slices.Concat([]string{"template", "x"}, tt.args)...)
		var kinds []string
		for _, kind := range regexp.MustCompile(`(?m)^kind: (\S+)`).FindAllStringSubmatch(out, -1) {
			kinds = append(kinds, kind[1])
		}
		slices.Sort(kinds)
		if err != nil || strings.Join(kinds, " ") != tt.kinds {
			t.Errorf("helm template: %q, want %s; %v\n%s", kinds, tt.kinds, err, out)
		}
		for _, text := range tt.has {
			if !strings.Contains(out, text) {
				t.Errorf("%s is not in\n%s", text, out)
			}
		}
	}
	odd := slices.Concat([]string{"template", "x"}, reached, []string{"--set", "resources.limits.memory=0.5Gi"})
	if out, err := helm(odd...); err == nil || !strings.Contains(out, "resources.limits.memory is a whole number") {
		t.Errorf("with a limit of memory that cannot be read: %v\n%s", err, out)
	}
	if out, err := helm("template", "x", chart); err == nil || !strings.Contains(out, "publicURL is needed") {
		t.Errorf("without an address for guests: %v\n%s", err, out)
	}
}

// TestUnitIsUnderstood asks systemd, and how much the unit leaves open to a program that was taken over.
func TestUnitIsUnderstood(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("LEFT OUT: there is no systemd-analyze")
	}
	unit, err := os.ReadFile(deployed + "/systemd/boon.service")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "boon.service") // systemd demands that the program is there
	text := strings.Replace(string(unit), "/usr/bin/boon ", program+" ", 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for _, args := range [][]string{{"verify", file}, {"security", "--offline=true", "--threshold=20", file}} {
		if out, err := exec.CommandContext(ctx, "systemd-analyze", args...).CombinedOutput(); err != nil {
			t.Errorf("systemd-analyze %s: %v\n%s", args[0], err, out)
		}
	}
}

func TestPing(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			t.Errorf("asked %s", r.URL.Path)
		}
		w.WriteHeader(status)
	}))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ping := func(listen string) (code int, said string) {
		var out strings.Builder
		code = run(t.Context(), []string{"ping", "--listen", listen, "--timeout", "1m"}, nil, &out, &out,
			func(string) string { return "" })
		return code, out.String()
	}
	for _, host := range []string{"127.0.0.1:", "0.0.0.0:", ":"} {
		if code, said := ping(host + port); code != exitOK || !strings.Contains(said, "can serve") {
			t.Errorf("%s: exit %d, %s", host, code, said)
		}
	}
	status = http.StatusServiceUnavailable
	if code, said := ping("127.0.0.1:" + port); code != exitFailed || !strings.Contains(said, "503") {
		t.Errorf("not ready: exit %d, %s", code, said)
	}
	if code, _ := ping("nowhere"); code != exitUsage {
		t.Errorf("no address: exit %d", code)
	}
	server.Close()
	if code, _ := ping("127.0.0.1:" + port); code != exitFailed {
		t.Errorf("nobody listens: exit %d", code)
	}
}

// TestDeployTellsWhatWasTried: each file of deploy/ has a line in its README, which says how it was tried.
func TestDeployTellsWhatWasTried(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile(deployed + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`\]\(([^)]+)\)`)
	var told []string
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 3 || !links.MatchString(cells[0]) {
			continue
		}
		if cells[2] == "" {
			t.Errorf("nothing is said of how %s was tried", cells[0])
		}
		for _, link := range links.FindAllStringSubmatch(cells[0], -1) {
			folder, _, in := strings.Cut(link[1], "/")
			if told = append(told, link[1]); in {
				told = append(told, folder+"/")
			}
		}
	}
	files := 0
	err = filepath.WalkDir(deployed, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(deployed, path)
		if name = filepath.ToSlash(name); err != nil || d.IsDir() || name == "README.md" {
			return err
		}
		files++
		for _, prefix := range told {
			if strings.HasPrefix(name, prefix) {
				return nil
			}
		}
		t.Errorf("deploy/README.md has no line for %s", name)
		return nil
	})
	if err != nil || files < 15 {
		t.Errorf("%d files: %v", files, err)
	}
}
