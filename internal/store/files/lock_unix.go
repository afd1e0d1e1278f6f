//go:build unix

package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Lock keeps every other process from opening an embedded database until release is called, and fails while one
// has it open. It takes the lock that each of SQLite's connections shares for as long as it lives, past SQLite, which
// would copy the log into the database. This process must not have it open.
func Lock(file string) (release func(), err error) {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	shared := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: 0x40000002, Len: 510}
	err = syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &shared)
	if err == nil {
		return func() { f.Close() }, nil
	}
	f.Close()
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		err = fmt.Errorf("the database %s is in use; stop boon serve, and whatever else has it open, first", file)
	}
	return nil, err
}
