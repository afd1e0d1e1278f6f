//go:build unix

package connections

import "syscall"

// Descriptors is how many files and connections this process may have open; 0: it is not known. Go's runtime has raised
// it to the hard limit.
func Descriptors() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return uint64(limit.Cur)
}
