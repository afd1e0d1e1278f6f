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
	text  bytes.Buffer
	rates []rated
}

// rated is a rate to be compared across stores of other sizes.
type rated struct {
	store, what    string
	connections, n int
	rate           float64
}

func (r *report) printf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	fmt.Print(text)
	r.text.WriteString(text)
}

func (r *report) note(store, what string, connections, n int, rate float64) {
	r.rates = append(r.rates, rated{store, what, connections, n, rate})
}

// machine tells what the figures were measured on.
func (r *report) machine(o options) {
	r.printf("`%s` on %s, commit %s, %s.\n", "go -C test run ./bench "+strings.Join(os.Args[1:], " "),
		time.Now().UTC().Format("2006-01-02"), commit(), runtime.Version())
	r.printf("%d cores of %s, %s of memory, %s, %s; the load runs on the same cores.\n",
		runtime.NumCPU(), fact("/proc/cpuinfo", "model name"), memory(), kernel(), fileSystem(o.stock))
	load, _ := os.ReadFile("/proc/loadavg")
	average, _, _ := strings.Cut(string(load), " ")
	r.printf("The machine's load average before it began was %s.\n", average)
	p50, p99, err := syncTime(o.stock)
	if err != nil {
		r.printf("The disk could not be measured: %v.\n", err)
		return
	}
	r.printf("One fdatasync of 8 KiB took p50 %.2f ms, p99 %.2f ms. ", ms(p50), ms(p99))
	r.printf("Each figure is the median of %d repetitions of %s; the spread is the lowest and the highest.\n", o.repeat, o.duration)
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

// decline tells how rates fall as a store grows.
func (r *report) decline() {
	heading := false
	for _, large := range r.rates {
		i := slices.IndexFunc(r.rates, func(s rated) bool {
			return s.store == large.store && s.what == large.what && s.connections == large.connections && s.n < large.n
		})
		if i < 0 || large.what == "empty handler" {
			continue
		}
		if !heading {
			heading = true
			r.printf("\n### As the store grows\n\n| | connections | gifts | calls/s | gifts | calls/s | change |\n|---|--:|--:|--:|--:|--:|--:|\n")
		}
		small := r.rates[i]
		r.printf("| %s, %s | %d | %s | %s | %s | %s | %+.0f %% |\n", large.store, large.what, large.connections,
			thousands(small.n), thousands(int(small.rate)),
			thousands(large.n), thousands(int(large.rate)), 100*(large.rate/small.rate-1))
	}
}

// thousands writes a number as people do.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
