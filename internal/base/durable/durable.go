// Package durable writes files so that a power cut leaves either the old one or the new one, whole. It knows nothing of
// what is in them.
package durable

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// Replace writes a file and puts it in the place of the one that has its name, whose owner and mode it gets: root may
// replace what a service must read. Where there is none, it has mode 0600, and root gives it to the folder's owner. A
// file whose owner this process may not set is left alone.
func Replace(name string, content []byte) error {
	return write(name, content, func(f *os.File) error { return takeAfter(f, name) }, os.Rename)
}

// Create writes a new file, with mode 0600. One that is there already is left alone: the error is then fs.ErrExist.
func Create(name string, content []byte) error {
	return write(name, content, func(*os.File) error { return nil }, os.Link) // unlike a rename, a link never replaces
}

func write(name string, content []byte, prepare func(*os.File) error, publish func(from, to string) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after a rename there is none
	_, err = f.Write(content)
	if err = errors.Join(err, prepare(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return named(f.Name(), name, publish)
}

// InSteps writes a large file that somebody else's file must not wait for: after each MiB it puts on stable
// storage what it has written. A disk takes what all processes have written in one order, and a file system may
// write one file's data before it ends another's sync. So a commit beside a file of 100 MB that is synced at its
// end takes as long as the disk takes for the 100 MB.
func InSteps(f *os.File) io.Writer { return &steps{file: f} }

// Step is how many bytes are written between two syncs.
const Step = 1 << 20

type steps struct {
	file    *os.File
	written int // since the last sync
}

func (s *steps) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		part := p[:min(len(p), Step-s.written)]
		var k int
		k, err = s.file.Write(part)
		n, p, s.written = n+k, p[k:], s.written+k
		if err == nil && s.written == Step {
			err, s.written = s.file.Sync(), 0
		}
	}
	return n, err
}

// Publish gives a finished file, which has another name in the same folder, its own. One that is there already is left
// alone: the error is then fs.ErrExist. The other name stays.
func Publish(f *os.File, name string) error {
	if err := f.Sync(); err != nil {
		return err
	}
	return named(f.Name(), name, os.Link)
}

func named(from, to string, publish func(from, to string) error) error {
	if err := publish(from, to); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(to))
}

// SyncFolder puts on stable storage which names a folder has: files that were made, renamed or removed in it. Windows
// has no such call; there the file system's own journal must do.
func SyncFolder(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
