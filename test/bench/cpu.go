package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// cpu is the processor time of those who take part, in seconds.
type cpu struct{ service, database float64 }

// cpu is the time so far; that of the service is the empty handler's, when it is called.
func (h *trial) cpu(w what) (c cpu) {
	c.service = ticks(h.service.cmd.Process.Pid).own
	if w.target == h.nothing {
		c.service = ticks(h.empty.cmd.Process.Pid).own
	}
	if server := h.place.server; server != nil {
		c.database = family(server.PID())
	}
	return c
}

// since tells how many microseconds each of so many calls took.
func (c cpu) since(before cpu, calls int64) cpu {
	each := func(now, then float64) float64 { return (now - then) * 1e6 / float64(max(1, calls)) }
	return cpu{each(c.service, before.service), each(c.database, before.database)}
}

// process is what the system tells of one.
type process struct {
	parent   int
	own      float64 // seconds that it ran
	children float64 // those of its children that have ended
}

func ticks(pid int) (p process) {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // it may have ended
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return p
	}
	p.parent, _ = strconv.Atoi(fields[1])
	field := func(n int) float64 {
		ticks, _ := strconv.ParseFloat(fields[n], 64)
		return ticks / 100 // on every Linux that Go runs on
	}
	p.own, p.children = field(11)+field(12), field(13)+field(14)
	return p
}

// family is the time of a process and its children.
func family(pid int) float64 {
	p := ticks(pid)
	sum := p.own + p.children
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		child, _ := strconv.Atoi(filepath.Base(dir))
		if c := ticks(child); c.parent == pid {
			sum += c.own
		}
	}
	return sum
}
