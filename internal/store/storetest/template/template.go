// Package template has what a test needs made once, and copies it for each test.
package template

import (
	"context"
	"os"
	"path/filepath"
	"sync"
)

// TB is what is asked of a test: a *testing.T, a *testing.B or a *rapid.T.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Template is a folder of files that is made once, when it is first needed.
type Template struct {
	made func() (map[string][]byte, error)
}

// New is a template of what is made in a folder: files, and no folders.
func New(fill func(ctx context.Context, dir string) error) *Template {
	return &Template{sync.OnceValues(func() (map[string][]byte, error) {
		dir, err := os.MkdirTemp("", "boon-template-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		if err := fill(context.Background(), dir); err != nil {
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
		t.Fatalf("copying from a template: %v", err)
	}
}
