package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patient is a data folder, and files beside it.
type patient struct {
	*testing.T
	dir, data string
}

// file writes one beside the data folder, with any mode, and gives its path.
func (p *patient) file(name, text string, mode os.FileMode) string {
	p.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		p.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		p.Fatal(err)
	}
	return path
}

// asked runs a command in the program.
func (p *patient) asked(args ...string) (code int, said string) {
	p.Helper()
	var out strings.Builder
	code = run(p.Context(), args, nil, &out, &out, func(string) string { return "" })
	return code, out.String()
}

// TestDoctor makes ill what boon doctor looks at, each by itself, beside what testdata/script/doctor.txtar has.
func TestDoctor(t *testing.T) {
	t.Parallel()
	p := &patient{t, t.TempDir(), ""}
	p.data = filepath.Join(p.dir, "data")
	if code, said := p.asked("apply", deployed+"/compose/setup.yaml", "--data", p.data); code != exitOK {
		t.Fatal(said)
	}
	keys, err := os.ReadFile(filepath.Join(p.data, "boon.key"))
	if err != nil {
		t.Fatal(err)
	}
	older := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("alive v0.0.7 c0ffee\n"))
	}))
	defer older.Close()
	other := httptest.NewServer(http.NotFoundHandler())
	ahead := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
	}))
	defer ahead.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, tt := range []struct {
		name string
		args []string
		want string // that looks wrong; "": nothing does
	}{
		{"the settings of the package", []string{"--config", deployed + "/package/boon.yaml"}, ""},
		{"an older service", []string{"--url", older.URL}, ""}, // a note, see below
		{"no service", []string{"--url", other.URL}, "is no boon serve that tells its version"},
		{"another clock", []string{"--url", ahead.URL}, "apart: keep both right with NTP"},
		{"copy lost", []string{"--key-copy", filepath.Join(p.dir, "nowhere")}, "nowhere: no such file"},
		{"copy beside", []string{"--key-copy", p.file("data/copy", string(keys), 0o600)}, "lies beside the key file"},
		{"key file left", []string{"--key-file", p.file("copy", string(keys), 0o600)}, "is left from before"},
		{"secrets", []string{"--config", p.file("secrets.yaml", "sms: twilio://AC0:x@127.0.0.1?from=+14155550100\n", 0o640)},
			"secrets.yaml has secrets, and may be read by others"},
		{"settings", []string{"--config", p.file("any.yaml", "log-level: info\n", 0o666)},
			"any.yaml may be changed by others"},
		{"SMS", []string{"--sms", "twilio://AC00000000000000000000000000000000:x@" +
			strings.TrimPrefix(gone.URL, "http://") + "?from=+14155550100&insecure=1"},
			"the gateway for sms cannot be reached"},
	} {
		args := append([]string{"doctor"}, tt.args...)
		code, said := p.asked(append(args, "--data", p.data, "--listen", "127.0.0.1:0", "--admin-listen", "")...)
		wrong := strings.Count(said, "WRONG: ")
		if tt.want == "" && (code != exitOK || wrong != 0) {
			t.Errorf("%s: exit %d\n%s", tt.name, code, said)
		}
		if tt.want != "" && (code != exitFailed || !strings.Contains(said, tt.want)) {
			t.Errorf("%s: exit %d, want %q\n%s", tt.name, code, tt.want, said)
		}
		skew := strings.Contains(said, "the service runs version v0.0.7, this program is")
		if skew != (tt.name == "an older service") {
			t.Errorf("%s:\n%s", tt.name, said)
		}
	}
	code, said := p.asked("doctor", "--data", filepath.Join(p.dir, "none"), "--listen", "127.0.0.1:0")
	if code != exitFailed || !strings.Contains(said, "nothing can be written to the data folder") {
		t.Errorf("no folder: exit %d\n%s", code, said)
	}
}
