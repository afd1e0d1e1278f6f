package main

import "syscall"

// clockIsKept asks the kernel whether something keeps its clock right.
func clockIsKept() (kept, known bool) {
	const unsynchronized = 5 // TIME_ERROR of adjtimex(2)
	state, err := syscall.Adjtimex(&syscall.Timex{})
	return state != unsynchronized, err == nil
}
