// Package terminal is what a command may touch of the outside world, and how it speaks to people: in tables, in times
// that people write, and with texts of others that command no terminal. It knows nothing of gifts.
package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"boon.example/internal/pin"
)

// Terminal is what a command may touch of the outside world.
type Terminal struct {
	context.Context
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Version        string // of the program
}

// UsageError is a command line that is understood, but makes no sense.
type UsageError string

func (u UsageError) Error() string { return string(u) }

// ErrQuiet is a failure that has been told already.
var ErrQuiet = errors.New("")

// Status shows a line to a person in place of the last one; "" takes it away.
func (t *Terminal) Status(format string, args ...any) {
	if OnTerminal(t.Stderr) {
		fmt.Fprintf(t.Stderr, "\r\033[K"+format, args...)
	}
}

// Progress shows a bar on a terminal, and nothing elsewhere.
func (t *Terminal) Progress(what string) func(done, total int64) {
	if !OnTerminal(t.Stderr) {
		return func(int64, int64) {}
	}
	var bar *progressbar.ProgressBar
	return func(done, total int64) {
		if bar == nil {
			bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(t.Stderr), progressbar.OptionSetDescription(what),
				progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(65e6))
		}
		if bar.GetMax64() != total {
			bar.ChangeMax64(total)
		}
		bar.Set64(done)
	}
}

// TypedPIN asks a person twice, without showing what is typed, or reads a line.
func (t *Terminal) TypedPIN() (string, error) {
	file, ok := t.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		line, err := bufio.NewReader(io.LimitReader(t.Stdin, 1024)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("reading the PIN: %w", err)
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
	var typed [2]string
	for n, ask := range []string{"PIN, 4 to 8 digits: ", "Once more: "} {
		fmt.Fprint(t.Stderr, ask)
		b, err := term.ReadPassword(int(file.Fd()))
		fmt.Fprintln(t.Stderr)
		if err != nil {
			return "", fmt.Errorf("reading the PIN: %w", err)
		}
		if typed[n] = string(b); n == 0 {
			if err := pin.Check(typed[0]); err != nil {
				return "", err
			}
		}
	}
	if typed[0] != typed[1] {
		return "", errors.New("these are two different PINs")
	}
	return typed[0], nil
}

// ReadFile reads a file, or standard input where it is called -.
func ReadFile(t *Terminal, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(t.Stdin)
	}
	return os.ReadFile(name)
}
