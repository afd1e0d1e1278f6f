// Package nice has a process leave the cores to others, as nice(1) does, and work within a process that is in no hurry.
package nice

import (
	"os"
	"strconv"
	"syscall"
)

// leastPriority is what nice calls 19: a thread that has it runs where no other wants the core.
const leastPriority = 19

// GiveWay has this process leave the cores to others from now on, such as a service beside it. Linux keeps a priority
// for each thread; later threads take that of the thread that begins them. Where it is not allowed, all goes on as
// before.
func GiveWay() {
	threads, _ := os.ReadDir("/proc/self/task")
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, leastPriority)
		}
	}
}
