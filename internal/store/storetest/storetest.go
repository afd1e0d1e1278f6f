// Package storetest gives tests embedded stores that are copied, not made. Most of the time of a test that opens a new
// store goes into the schema: its steps take some sixty milliseconds of processor time, a copy takes one.
package storetest

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"boon.example/internal/store"
)

// TB is what is asked of a test: a *testing.T, a *testing.B or a *rapid.T.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Template is an embedded store that is made once, when it is first needed. Its copies have its key file, too.
type Template struct {
	made func() (map[string][]byte, error)
}

// NewTemplate is a store that was opened and closed, and then filled; fill may be nil.
func NewTemplate(fill func(ctx context.Context, dir string) error) *Template {
	return &Template{sync.OnceValues(func() (files map[string][]byte, err error) {
		dir, err := os.MkdirTemp("", "boon-template-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		s, err := store.Open(context.Background(), store.Options{Dir: dir})
		if err == nil {
			err = s.Close()
		}
		if err == nil && fill != nil {
			err = fill(context.Background(), dir)
		}
		if err != nil {
			return nil, err
		}
		return read(dir)
	})}
}

// read reads the files of a folder, which has no folders in it.
func read(dir string) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Copy writes a copy into a folder, which is there and empty.
func (m *Template) Copy(t TB, dir string) {
	t.Helper()
	files, err := m.made()
	for name, content := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), content, 0o600)
		}
	}
	if err != nil {
		t.Fatalf("copying a store: %v", err)
	}
}

var empty = NewTemplate(nil)

// Copy writes a new store into a folder, which is there and empty.
func Copy(t TB, dir string) {
	t.Helper()
	empty.Copy(t, dir)
}
