//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package server

import (
	"errors"
	"os"
	"syscall"
)

// useFolder notes, with a shared lock on the data folder, that a service uses it, until the file that it gives is
// closed, and tells whether another service did so before. Where folders cannot be locked it tells of none.
func useFolder(dir string) (_ *os.File, others bool, _ error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false, err
	}
	lock := func(how int) error {
		for {
			if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); !errors.Is(err, syscall.EINTR) {
				return err
			}
		}
	}
	others = errors.Is(lock(syscall.LOCK_EX), syscall.EWOULDBLOCK)
	_ = lock(syscall.LOCK_SH)
	return f, others, nil
}
