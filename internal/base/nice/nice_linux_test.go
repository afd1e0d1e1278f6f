package nice

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestGiveWay: every thread of a process that gives way has the least priority, also those that begin later.
func TestGiveWay(t *testing.T) {
	t.Parallel()
	if os.Getenv("BOON_TEST_NICE") != "" {
		GiveWay()
		for range 8 { // each has a thread of its own
			begun := make(chan bool)
			go func() {
				runtime.LockOSThread()
				close(begun)
				select {}
			}()
			<-begun
		}
		stats, _ := filepath.Glob("/proc/self/task/*/stat")
		for _, file := range stats {
			text, _ := os.ReadFile(file)
			_, rest, _ := strings.Cut(string(text), ") ")
			fmt.Println("nice", strings.Fields(rest)[16])
		}
		os.Exit(0) // what a test prints at its end is no part of it
	}
	self := exec.Command(os.Args[0], "-test.run=^TestGiveWay$")
	self.Env = append(os.Environ(), "BOON_TEST_NICE=1")
	out, err := self.CombinedOutput()
	if lines := strings.Fields(strings.ReplaceAll(string(out), "nice 19", "nice-19")); err != nil || len(lines) < 8 ||
		strings.Count(string(out), "nice 19\n") != len(lines) {
		t.Errorf("%v: %s", err, out)
	}
}
