package scratch

import (
	"bytes"
	"io"
	"os"
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
