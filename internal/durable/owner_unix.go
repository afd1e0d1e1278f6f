//go:build unix

package durable

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// takeAfter gives a file the owner and the mode of the one that has a name, if one has.
func takeAfter(f *os.File, name string) error {
	old, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	made, err := f.Stat()
	if err != nil {
		return err
	}
	is, was := made.Sys().(*syscall.Stat_t), old.Sys().(*syscall.Stat_t)
	if is.Uid != was.Uid || is.Gid != was.Gid {
		if err := f.Chown(int(was.Uid), int(was.Gid)); err != nil {
			return err
		}
	}
	return f.Chmod(old.Mode().Perm())
}
