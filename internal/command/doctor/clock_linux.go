package doctor

import "syscall"

// clockIsKept asks the kernel whether something keeps its clock right.
func clockIsKept() (kept, known bool) {
	return keptIn(syscall.Adjtimex(&syscall.Timex{}))
}

// keptIn reads an answer of adjtimex(2).
func keptIn(state int, err error) (kept, known bool) {
	const unsynchronized = 5 // TIME_ERROR
	return state != unsynchronized, err == nil
}
