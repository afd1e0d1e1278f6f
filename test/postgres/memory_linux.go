package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// What has to be free before tests keep their files in memory, in bytes.
const (
	room   = 4 << 30 // of the file system
	memory = 8 << 30 // of the machine
)

const (
	shared = "/dev/shm"
	noExec = 0x8 // ST_NOEXEC: tests could not run the programs that they build there
)

// inMemory makes a folder in memory where temporary files go from now on, those of this program and of what it starts;
// programs that go builds stay on the disk. Where there is little memory, or the environment has TESTS_ON_DISK, it does
// nothing. remove removes the folder.
func inMemory() (remove func() error, err error) {
	nothing := func() error { return nil }
	var fs syscall.Statfs_t
	if err := syscall.Statfs(shared, &fs); os.Getenv("TESTS_ON_DISK") != "" || err != nil || fs.Flags&noExec != 0 ||
		fs.Bavail*uint64(fs.Bsize) < room || available() < memory {
		return nothing, nil
	}
	dir, err := os.MkdirTemp(shared, "boon-tests-")
	if errors.Is(err, os.ErrPermission) {
		return nothing, nil
	}
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"GOTMPDIR": os.TempDir(), "TMPDIR": dir} {
		if err == nil && (name == "TMPDIR" || os.Getenv(name) == "") {
			err = os.Setenv(name, value)
		}
	}
	// The server, which may be somebody else, has its folder in this one.
	return func() error { return unmountAndRemove(dir) }, errors.Join(err, os.Chmod(dir, 0o711))
}

// available is how much memory programs can get.
func available() uint64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "MemAvailable:")
	kb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseUint(kb, 10, 64)
	return n << 10
}

// unmountAndRemove removes a folder. Tests of power cuts that were killed leave file systems in it that nobody serves
// any more, at which removing would fail.
func unmountAndRemove(dir string) error {
	mounts, err := os.Open("/proc/self/mounts")
	if err != nil {
		return err
	}
	defer mounts.Close()
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 && strings.HasPrefix(fields[1], dir+"/") {
			if err := syscall.Unmount(fields[1], syscall.MNT_DETACH); err != nil {
				return fmt.Errorf("unmounting %s: %w", fields[1], err)
			}
		}
	}
	return os.RemoveAll(dir)
}
