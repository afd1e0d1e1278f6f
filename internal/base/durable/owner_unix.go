//go:build unix

package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// takeAfter gives a file the owner and the mode of the one that has a name. Where none has, root gives it to the owner
// of the folder.
func takeAfter(f *os.File, name string) error {
	old, err := os.Stat(name)
	first := errors.Is(err, fs.ErrNotExist)
	if first {
		old, err = os.Stat(filepath.Dir(name))
	}
	if err != nil {
		return err
	}
	made, err := f.Stat()
	if err != nil {
		return err
	}
	is, was := made.Sys().(*syscall.Stat_t), old.Sys().(*syscall.Stat_t)
	if (is.Uid != was.Uid || is.Gid != was.Gid) && (!first || is.Uid == 0) {
		if err := f.Chown(int(was.Uid), int(was.Gid)); err != nil {
			return err
		}
	}
	if first {
		return nil
	}
	return f.Chmod(old.Mode().Perm())
}
