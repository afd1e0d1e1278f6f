package till

import (
	"os"
	"os/exec"
	"testing"
)

// TestScripts runs the tests of the scripts that know no page: what a cashier types, and what becomes of a call on a
// bad line.
func TestScripts(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("LEFT OUT: node is not installed, so that the scripts of the till were not tested alone")
	}
	cmd := exec.Command(node, "--test", "testdata/")
	cmd.Env = append(os.Environ(), "NODE_OPTIONS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
