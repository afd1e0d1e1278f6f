package durable

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func content(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
	return string(text)
}

// onlyThere checks that nothing was left beside a file.
func onlyThere(t *testing.T, name string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Dir(name))
	if err != nil || len(files) != 1 || files[0].Name() != filepath.Base(name) {
		t.Errorf("the folder has %v, %v", files, err)
	}
}

func TestCreateAndReplace(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	if err := Create(name, []byte("first")); err != nil || content(t, name) != "first" {
		t.Fatal(err)
	}
	if err := Create(name, []byte("second")); !errors.Is(err, fs.ErrExist) || content(t, name) != "first" {
		t.Errorf("created over another: %v", err)
	}
	if err := Replace(name, []byte("third")); err != nil || content(t, name) != "third" {
		t.Error(err)
	}
	onlyThere(t, name)
	if err := Replace(filepath.Join(name, "below"), nil); err == nil {
		t.Error("written below a file")
	}
}

// TestReplaceKeepsTheOld: where the new file cannot get its name, the old one stays and nothing is left beside it.
func TestReplaceKeepsTheOld(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "folder")
	if err := os.MkdirAll(filepath.Join(name, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Replace(name, []byte("new")); err == nil {
		t.Error("a file took the place of a folder")
	}
	onlyThere(t, name)
}

func TestPublish(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := os.CreateTemp(dir, "temporary-*")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "file")
	if err := Publish(f, name); err != nil || content(t, name) != "text" {
		t.Error(err)
	}
	if err := Publish(f, name); !errors.Is(err, fs.ErrExist) {
		t.Errorf("published over another: %v", err)
	}
}

// TestInSteps: what is written in any portions is in the file in their order, and an error of the file is told.
func TestInSteps(t *testing.T) {
	t.Parallel()
	f, err := os.CreateTemp(t.TempDir(), "large")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := make([]byte, 0, 3*Step)
	w := InSteps(f)
	for n := 0; len(all) < 5*Step/2; n++ {
		portion := bytes.Repeat([]byte{byte(n)}, []int{1, Step - 1, Step, 0, 700, 3 * Step / 2}[n%6])
		if k, err := w.Write(portion); err != nil || k != len(portion) {
			t.Fatalf("%d of %d bytes: %v", k, len(portion), err)
		}
		all = append(all, portion...)
	}
	if got := content(t, f.Name()); got != string(all) {
		t.Errorf("%d bytes are in the file, and %d were written, or they differ", len(got), len(all))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := w.Write([]byte("x")); n != 0 || !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed file: %d, %v", n, err)
	}
}
