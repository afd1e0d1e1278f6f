//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"boon.example/test/rig"
)

// TestNoCoreIsLeft: where a program that crashes leaves its memory in a file, the service leaves none, for codes and
// keys are in it.
func TestNoCoreIsLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	check(t, err)
	if strings.ContainsAny(string(pattern), "|/") {
		t.Skip("this machine keeps core files elsewhere: " + string(pattern))
	}
	// The shell lifts the limit, goes where the file would be, and becomes the program.
	wrapper := filepath.Join(dir, "boon")
	check(t, os.WriteFile(wrapper,
		[]byte("#!/bin/sh\nulimit -c unlimited || exit 1\ncd "+dir+"\nexec \"${BOON_PROGRAM:-"+shipped+"}\" \"$@\"\n"),
		0o700))
	cores := func() []string {
		found, err := filepath.Glob(filepath.Join(dir, "core*"))
		check(t, err)
		return found
	}

	other := exec.Command(wrapper, "60")
	other.Env = append(os.Environ(), "BOON_PROGRAM=sleep")
	check(t, other.Start())
	for name := ""; name != "sleep"; { // once it has become that
		text, err := os.ReadFile("/proc/" + strconv.Itoa(other.Process.Pid) + "/comm")
		check(t, err)
		name = strings.TrimSpace(string(text))
	}
	check(t, other.Process.Signal(syscall.SIGABRT))
	_ = other.Wait()
	left := cores()
	if len(left) == 0 {
		t.Skip("no program leaves a core file here")
	}
	if head, err := os.ReadFile(left[0]); err != nil || !strings.HasPrefix(string(head), "\x7fELF") {
		t.Fatalf("%s is no core file: %v", left[0], err)
	}
	check(t, os.Remove(left[0]))

	i, err := rig.Install(wrapper, filepath.Join(dir, "data"), "")
	check(t, err)
	i.Env = []string{"GOTRACEBACK=crash"}
	s, err := i.Start("127.0.0.1:0")
	check(t, err)
	s.Crash()
	if !strings.Contains(s.Logs(), "SIGABRT") {
		t.Errorf("it did not crash: %s", s.Logs())
	}
	if left := cores(); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}
