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
	belongs(t, name, owner, 0o400)
	if err := os.Chown(filepath.Dir(name), owner, -1); err != nil {
		t.Fatal(err)
	}
	first := filepath.Join(filepath.Dir(name), "first")
	if err := Replace(first, []byte("new")); err != nil {
		t.Fatal(err)
	}
	belongs(t, first, owner, 0o600)
}

// belongs fails unless a file has an owner and a mode.
func belongs(t *testing.T, name string, owner int, mode os.FileMode) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if is := info.Sys().(*syscall.Stat_t); int(is.Uid) != owner || info.Mode() != mode {
		t.Errorf("%s: owner %d, mode %v; want %d and %v", name, is.Uid, info.Mode(), owner, mode)
	}
}
