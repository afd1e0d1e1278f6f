//go:build unix

package durable

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestReplaceKeepsOwnerAndMode: root replaces a file of a service, which can read it as before.
func TestReplaceKeepsOwnerAndMode(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	owner := os.Getuid()
	if owner == 0 {
		owner = 65532
	} else {
		t.Log("LEFT OUT: the file is ours, as only root may give it to another")
	}
	if err := os.Chown(name, owner, -1); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := Replace(name, []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if is := info.Sys().(*syscall.Stat_t); int(is.Uid) != owner || info.Mode() != 0o400 {
		t.Errorf("owner %d, mode %v; want %d and 0400", is.Uid, info.Mode(), owner)
	}
}
