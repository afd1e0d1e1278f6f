// Package scratch keeps what is too large for memory in a file that nobody else can read, for as long as it is open.
package scratch

import (
	"bufio"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
)

// File is encrypted with a key that is in memory only, so that what a power cut leaves on a disk says nothing. It is
// written once, from its beginning, and then read as often as one likes, each time from its beginning. Where the
// operating system allows it, the file has no name: a process that is killed leaves nothing behind.
type File struct {
	file  *os.File
	named bool
	block cipher.Block
	out   *bufio.Writer
	in    io.Reader
}

// New makes a file in a folder. Close removes it.
func New(dir string) (*File, error) {
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("making a scratch file: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("making a scratch file: %w", err)
	}
	f, err := os.CreateTemp(dir, ".boon-scratch-*")
	if err != nil {
		return nil, fmt.Errorf("making a scratch file: %w", err)
	}
	s := &File{file: f, block: block, named: os.Remove(f.Name()) != nil}
	s.out = bufio.NewWriterSize(cipher.StreamWriter{S: s.stream(), W: f}, 64<<10)
	return s, nil
}

// stream is the key stream from the beginning of the file. The key is of this file alone, so the counter begins at 0.
func (f *File) stream() cipher.Stream { return cipher.NewCTR(f.block, make([]byte, aes.BlockSize)) }

// ErrWriting tells that what was written could not be kept, for example as the disk is full.
var ErrWriting = errors.New("writing a scratch file")

// Write writes on. It is not asked for after Seek.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.out.Write(p)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrWriting, err)
	}
	return n, err
}

// Seek goes to the beginning, from where Read reads. It goes nowhere else.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekStart {
		return 0, errors.New("a scratch file is read from its beginning only")
	}
	if err := f.out.Flush(); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrWriting, err)
	}
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	f.in = cipher.StreamReader{S: f.stream(), R: f.file}
	return 0, nil
}

// Read reads on from where Seek or the last Read ended.
func (f *File) Read(p []byte) (int, error) {
	if f.in == nil {
		return 0, errors.New("a scratch file is read after Seek")
	}
	return f.in.Read(p)
}

// Close removes the file.
func (f *File) Close() error {
	err := f.file.Close()
	if f.named {
		err = errors.Join(err, os.Remove(f.file.Name()))
	}
	return err
}
