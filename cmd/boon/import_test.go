package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/store"
)

// TestImportIsKilled kills the real program while it imports, again and again, each time after it has written some
// gifts. Nobody sees a gift before the end; then all are there, each once.
func TestImportIsKilled(t *testing.T) {
	t.Parallel()
	const cards, account = 3_000, "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01"
	dir := t.TempDir()
	file := filepath.Join(dir, "cards.csv")
	text := bytes.NewBufferString("code,balance\n")
	for n := range cards {
		fmt.Fprintf(text, "600612345678%04d,10.00\n", n)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	setup, err := os.ReadFile(filepath.Join(exampleFiles(t), "harbor-coffee.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const currency = "    currency: USD\n"
	setup = bytes.Replace(setup, []byte(currency), []byte(currency+"    importedCodes: [{digits: 16}]\n"), 1)
	if err := os.WriteFile(filepath.Join(dir, "setup.yaml"), setup, 0o600); err != nil {
		t.Fatal(err)
	}
	boon := func(args ...string) *exec.Cmd {
		program, err := exec.LookPath("boon")
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir = dir
		return cmd
	}
	if out, err := boon("apply", "setup.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	s, err := store.Open(t.Context(), store.Options{Dir: filepath.Join(dir, "boon-data")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	id, err := guid.Parse(account)
	if err != nil {
		t.Fatal(err)
	}
	staged := func() int {
		all, err := s.Imports(t.Context(), id)
		if err != nil || len(all) > 1 {
			t.Fatalf("%d imports, %v", len(all), err)
		}
		if len(all) == 0 {
			return 0
		}
		return all[0].Staged
	}
	kills := 0
	for ended := false; !ended; {
		before := staged()
		cmd := boon("import", "cards.csv", "--account", account, "--expect-count", fmt.Sprint(cards),
			"--tills-only")
		out := new(bytes.Buffer)
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		gone := make(chan error, 1)
		go func() { gone <- cmd.Wait() }()
		for waiting := true; waiting; {
			select {
			case err := <-gone:
				waiting = false
				if ended = err == nil; err != nil && kills == 0 {
					t.Fatalf("%s: %v", out, err)
				}
			case <-time.After(time.Millisecond):
				if kills < 4 && staged() > before {
					waiting = false
					_ = cmd.Process.Kill() // it may be gone
					if err := <-gone; err != nil {
						kills++
					}
				}
			}
		}
		if counted, err := s.CountVouchers(t.Context()); err != nil || counted != 0 && counted != cards {
			t.Fatalf("%d gifts are there, %v", counted, err)
		}
		if counted, _ := s.CountVouchers(t.Context()); counted == cards { // it was killed after its last step
			ended = true
		}
	}
	if kills == 0 {
		t.Error("nothing was killed")
	}
	report, err := verify.All(t.Context(), s, 1, func(int64, int64) {})
	if err != nil || report.Vouchers != cards {
		t.Errorf("%d gifts, %v", report.Vouchers, err)
	}
	for _, p := range report.Problems {
		t.Error(p)
	}
}
