// Package chromium finds the browser that tests and pictures look at pages with.
package chromium

import (
	"errors"
	"os/exec"
)

// ErrMissing says how to get one.
var ErrMissing = errors.New("chromium is not installed, or not in PATH: install it (Debian: apt install chromium)")

var whole = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// Find is the path of a browser, or ErrMissing. A page is the same in the browser without windows
// (Debian: chromium-headless-shell), which needs two thirds of the processor time: so that one comes first.
func Find() (string, error) { return first(append([]string{"chromium-headless-shell"}, whole...)) }

// WithCamera is Find of a browser that has a camera, which the one without windows lacks.
func WithCamera() (string, error) { return first(whole) }

func first(names []string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrMissing
}
