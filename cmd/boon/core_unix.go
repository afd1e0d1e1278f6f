//go:build unix

package main

import "syscall"

// leaveNoCore keeps a crash from writing the memory of this process to a file: codes and keys are in it.
func leaveNoCore() error { return syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) }
