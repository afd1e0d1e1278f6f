//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package server

import "os"

// useFolder would tell whether another service uses the data folder; folders cannot be locked here.
func useFolder(dir string) (_ *os.File, others bool, _ error) {
	f, err := os.Open(dir)
	return f, false, err
}
