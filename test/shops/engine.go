package shops

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
)

// Engine is the program of a shop. What it logs outlives a kill, as its database does.
type Engine struct {
	Logged *os.File

	program *exec.Cmd
}

// NewEngine makes an engine that logs into a file, until the test is over.
func NewEngine(t *testing.T, log string) *Engine {
	t.Helper()
	f, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{Logged: f}
	t.Cleanup(func() {
		e.Kill()
		f.Close()
	})
	return e
}

// Start starts the program, and waits for a line by which it says that it listens.
func (e *Engine) Start(t *testing.T, program *exec.Cmd, isReady func(line string) bool) {
	t.Helper()
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	program.Stderr = e.Logged
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	e.program = program
	ready := make(chan bool, 1)
	go func() {
		defer close(ready)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			_, _ = e.Logged.WriteString(line) // a lost line makes the search of the log fail, which looks for one
			if isReady(line) {
				ready <- true
			}
			if err != nil {
				return
			}
		}
	}()
	if !<-ready {
		text, _ := os.ReadFile(e.Logged.Name())
		t.Fatalf("the shop did not start:\n%s", Tail(text))
	}
}

// Kill ends the program as a power cut would.
func (e *Engine) Kill() {
	if e.program != nil && e.program.ProcessState == nil {
		_ = e.program.Process.Kill() // it may have gone already
		_ = e.program.Wait()         // which tells that it was killed
	}
}

// Tail is the end of what a program said.
func Tail(text []byte) []byte { return text[max(0, len(text)-4000):] }
