package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// report is what was measured, as Markdown; it is told as it grows.
type report struct {
	text        bytes.Buffer
	rows, notes bytes.Buffer // of the store that is being measured
}

func (r *report) printf(to *bytes.Buffer, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	fmt.Print(text)
	to.WriteString(text)
}

// head is that of the table of a store.
const head = "from orders of 1,000 | call | connections | calls/s | spread | of the empty handler | p50 ms | p99 ms " +
	"| calls per commit | CPU a call, µs: service | database\n--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:\n"

// row adds a row to the table.
func (r *report) row(format string, args ...any) {
	if r.rows.Len() == 0 {
		fmt.Print(head)
	}
	r.printf(&r.rows, format+"\n", args...)
}

// note adds a sentence to those that follow the table.
func (r *report) note(format string, args ...any) { r.printf(&r.notes, "- "+format+"\n", args...) }

// store ends what is said of one.
func (r *report) store(title string) {
	fmt.Fprintf(&r.text, "\n### %s\n\n", title)
	if r.rows.Len() > 0 {
		r.text.WriteString(head)
	}
	fmt.Fprintf(&r.text, "%s\n%s", r.rows.Bytes(), r.notes.Bytes())
	r.rows.Reset()
	r.notes.Reset()
}

// machine tells what the figures were measured on.
func (r *report) machine(o options) {
	r.printf(&r.text, "`%s` on %s, commit %s, %s.\n", "go -C test run ./bench "+strings.Join(os.Args[1:], " "),
		time.Now().UTC().Format("2006-01-02"), commit(), runtime.Version())
	r.printf(&r.text, "%d cores of %s, %s of memory, %s, %s; the load runs on the same cores.\n",
		runtime.NumCPU(), fact("/proc/cpuinfo", "model name"), memory(), kernel(), fileSystem(o.stock))
	load, _ := os.ReadFile("/proc/loadavg")
	average, _, _ := strings.Cut(string(load), " ")
	r.printf(&r.text, "The machine's load average before it began was %s.\n", average)
	p50, p99, err := syncTime(o.stock)
	if err != nil {
		r.printf(&r.text, "The disk could not be measured: %v.\n", err)
		return
	}
	r.printf(&r.text, "One fdatasync of 8 KiB took p50 %.2f ms, p99 %.2f ms. ", ms(p50), ms(p99))
	r.printf(&r.text, "Each figure is the median of %d repetitions of %s; the spread is the lowest and the highest.\n",
		o.repeat, o.duration)
}

func commit() string {
	id, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	text := strings.TrimSpace(string(id))
	if changed, _ := exec.Command("git", "status", "--porcelain", "--untracked-files=no").Output(); len(changed) > 0 {
		text += " with changes"
	}
	return text
}

// fact finds the value of a name in a file of the form name: value.
func fact(file, name string) string {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

func memory() string {
	kb, err := strconv.Atoi(strings.TrimSuffix(fact("/proc/meminfo", "MemTotal"), " kB"))
	if err != nil {
		return "unknown"
	}
	return fmt.Sprintf("%.0f GB", float64(kb)/1e6)
}

func kernel() string {
	text, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return "Linux " + strings.TrimSpace(string(text))
}

// fileSystem is the kind of the one that holds a folder.
func fileSystem(dir string) string {
	dir, _ = filepath.Abs(dir)
	mounts, _ := os.ReadFile("/proc/mounts")
	kind, at := "unknown", ""
	for line := range strings.Lines(string(mounts)) {
		f := strings.Fields(line)
		if len(f) > 2 && len(f[1]) >= len(at) && strings.HasPrefix(dir+"/", strings.TrimSuffix(f[1], "/")+"/") {
			at, kind = f[1], f[2]
		}
	}
	return kind
}

// syncTime measures the disk alone: 8 KiB written over what is there, then fdatasync, as a store's log is.
func syncTime(dir string) (p50, p99 time.Duration, err error) {
	f, err := os.CreateTemp(dir, "sync-")
	if err != nil {
		return 0, 0, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	const times, size = 1000, 8 << 10
	page := make([]byte, size)
	if _, err = f.Write(make([]byte, times*size)); err == nil {
		err = f.Sync()
	}
	took := make([]time.Duration, 0, times)
	for i := 0; i < times && err == nil; i++ {
		begun := time.Now()
		if _, err = f.WriteAt(page, int64(i)*size); err == nil {
			err = syscall.Fdatasync(int(f.Fd()))
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took[len(took)/2], took[len(took)*99/100], err
}

// thousands writes a number as people do.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
