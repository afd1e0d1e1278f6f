package main

import (
	"bufio"
	"bytes"
	"crypto/x509"
	"database/sql"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	exampleSetups "boon.example/examples"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"boon": main}) }

// TestScript runs the sessions in testdata/script: what a person types, and what must come of it.
func TestScript(t *testing.T) {
	t.Parallel()
	examples := exampleFiles(t)
	testscript.Run(t, testscript.Params{
		WorkdirRoot:         inMemory(t),
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Values[serving{}] = &serving{}
			e.Setenv("EXAMPLES", examples)
			e.Setenv("TZ", "UTC") // as times are told in this machine's zone
			e.Setenv("SHOP", "boon_live_scripts_of_tests_harbor_coffee_web_shop")
			e.Setenv("OFFICE", "boon_live_scripts_of_tests_harbor_coffee_head_office")
			e.Setenv("TILL", "boon_live_scripts_of_tests_harbor_coffee_till")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"start": start, "halt": halt, "sighup": sighup,
			"selfsigned": selfSigned, "crash": crash, "fetches": fetches, "grab": grab, "damage": damage, "exit": exit,
		},
	})
}

// exampleFiles is a folder with the example set-ups, with secrets of their own: boon apply refuses those that are
// published.
func exampleFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string][]byte{"harbor-coffee.yaml": exampleSetups.HarborCoffee(),
		"asagao-tea.yaml": exampleSetups.AsagaoTea()} {
		if err := os.WriteFile(filepath.Join(dir, name), bytes.ReplaceAll(text, []byte("boon_test_demo_only"),
			[]byte("boon_live_scripts_of_tests")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// serving is the boon serve of a script.
type serving struct{ cmd *exec.Cmd }

// inMemory is a folder for the sessions that no slow disk keeps waiting: boon doctor calls such a disk wrong, and is
// right. Where the system has no files in memory, it is "", the usual place.
func inMemory(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("/dev/shm", "boon-script-")
	if err != nil {
		return ""
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// start [flags]: runs boon serve on a free port until the script ends or halts it, waits until it is ready, and sets
// BOON_URL. Its log goes to serve.log.
func start(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("start cannot be negated; use ! exec boon serve")
	}
	boon, err := exec.LookPath("boon")
	ts.Check(err)
	log, err := os.Create(ts.MkAbs("serve.log"))
	ts.Check(err)
	defer log.Close()
	cmd := exec.Command(boon, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Dir, cmd.Stderr, cmd.Env = ts.MkAbs("."), log, []string{"PATH=" + os.Getenv("PATH")}
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	s := ts.Value(serving{}).(*serving)
	s.cmd = cmd
	ts.Defer(func() {
		if s.cmd != nil {
			s.cmd.Process.Kill()
			s.cmd.Wait()
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		ts.Fatalf("boon serve said %q (%v); its log:\n%s", line, err, ts.ReadFile("serve.log"))
	}
	go io.Copy(io.Discard, out)
	ts.Setenv("BOON_URL", url)
	ts.Setenv("ADDRESS", strings.TrimPrefix(url, "http://"))
	_, address, _ := strings.Cut(url, "://")
	ts.Setenv("ADDRESS", address)
}

// selfsigned CERT KEY: writes a certificate for example.com and this machine, and its key.
func selfSigned(ts *testscript.TestScript, _ bool, args []string) {
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	pair := s.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	ts.Check(err)
	for n, block := range []pem.Block{{Type: "CERTIFICATE", Bytes: pair.Certificate[0]},
		{Type: "PRIVATE KEY", Bytes: key}} {
		ts.Check(os.WriteFile(ts.MkAbs(args[n]), pem.EncodeToMemory(&block), 0o600))
	}
}

// halt: asks the boon serve of the script to stop, which must end it with exit code 0.
func halt(ts *testscript.TestScript, _ bool, _ []string) {
	s := ts.Value(serving{}).(*serving)
	cmd := s.cmd
	s.cmd = nil
	ts.Check(cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); err != nil {
		ts.Fatalf("boon serve ended with %v; its log:\n%s", err, ts.ReadFile("serve.log"))
	}
}

// sighup: sends SIGHUP to the boon serve of the script, and waits until it logs that it has heard it.
func sighup(ts *testscript.TestScript, _ bool, _ []string) {
	heard := func() int { return strings.Count(ts.ReadFile("serve.log"), "SIGHUP: the ") }
	before := heard()
	ts.Check(ts.Value(serving{}).(*serving).cmd.Process.Signal(syscall.SIGHUP))
	for end := time.Now().Add(time.Minute); heard() == before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("boon serve has not heard SIGHUP; its log:\n%s", ts.ReadFile("serve.log"))
		}
	}
}

// fetches URL: gets a PDF from there; negated, what is there is gone.
func fetches(ts *testscript.TestScript, neg bool, args []string) {
	answer, err := http.Get(args[0]) //nolint:gosec,noctx // of the script's own service
	ts.Check(err)
	defer answer.Body.Close()
	want := http.StatusOK
	if neg {
		want = http.StatusNotFound
	}
	if kind := answer.Header.Get("Content-Type"); answer.StatusCode != want || (kind == "application/pdf") == neg {
		ts.Fatalf("%s answers %d, %s", args[0], answer.StatusCode, kind)
	}
}

// crash: kills the boon serve of the script.
func crash(ts *testscript.TestScript, _ bool, _ []string) {
	s := ts.Value(serving{}).(*serving)
	ts.Check(s.cmd.Process.Kill())
	_ = s.cmd.Wait() // it was killed
	s.cmd = nil
}

// grab NAME REGEXP: sets a variable to what the group in the expression matches in the last standard output.
func grab(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: grab NAME REGEXP")
	}
	out := ts.ReadFile("stdout")
	m := regexp.MustCompile(`(?m)` + args[1]).FindStringSubmatch(out)
	if len(m) != 2 {
		ts.Fatalf("%s matches nothing in:\n%s", args[1], out)
	}
	ts.Setenv(args[0], m[1])
}

// exit CODE COMMAND…: runs a command that must end with this exit code.
func exit(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		ended, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = ended.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// damage DIR SQL: changes the database of a data folder behind the program's back, all its guards taken off.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(ts.MkAbs(args[0]),
		"boon.db")+"?_pragma=ignore_check_constraints(1)&_pragma=foreign_keys(0)")
	ts.Check(err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	rows, err := db.Query(`SELECT name FROM sqlite_master WHERE type = 'trigger'`)
	ts.Check(err)
	var triggers []string
	for rows.Next() {
		var name string
		ts.Check(rows.Scan(&name))
		triggers = append(triggers, name)
	}
	ts.Check(rows.Err())
	for _, name := range triggers {
		_, err := db.Exec(fmt.Sprintf(`DROP TRIGGER %q`, name))
		ts.Check(err)
	}
	result, err := db.Exec(args[1])
	ts.Check(err)
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		ts.Fatalf("nothing was damaged: %v", err)
	}
}
