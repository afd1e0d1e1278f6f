package scratch

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// TestFile: what was written is read as often as one likes, the disk does not have it in the clear, and the end leaves
// nothing.
func TestFile(t *testing.T) {
	t.Parallel()
	dir, text := t.TempDir(), bytes.Repeat([]byte("6006123456789012,25.50\n"), 10_000)
	f, err := New(dir)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(text); n += 7_000 {
		if _, err := f.Write(text[n:min(n+7_000, len(text))]); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if read, err := io.ReadAll(f); err != nil || !bytes.Equal(read, text) {
			t.Errorf("%d bytes are read of %d: %v", len(read), len(text), err)
		}
	}
	kept := make([]byte, len(text)+1)
	if n, err := f.file.ReadAt(kept, 0); err != io.EOF || n != len(text) || bytes.Contains(kept, []byte("6006")) {
		t.Errorf("%d bytes are kept: %v", n, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 && !f.named {
		t.Errorf("%v can be opened by others, %v", left, err)
	}
	if _, err := f.Seek(1, io.SeekStart); err == nil {
		t.Error("it goes to the middle")
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestFullDisk: what a full disk does not take is told when it is written or before it is read, with the file's name.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, size := range []int{100, 1 << 20} {
		f, err := New(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
		if err != nil {
			t.Skip("this machine has no disk that is always full: " + err.Error())
		}
		defer full.Close()
		f.out.Reset(full)
		if _, err = f.Write(make([]byte, size)); err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
		if !errors.Is(err, ErrWriting) || !strings.Contains(err.Error(), "/dev/full") {
			t.Errorf("%d bytes: %v", size, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
