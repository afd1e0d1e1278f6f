// Package racetest lets a test say that the race detector does not run it, and why. Every other test of the product
// runs under the race detector in make check. Tests alone use it, and it needs no other package.
package racetest

import "testing"

// SkipShort leaves a test out under the race detector with -short, as make check runs it: a test that makes call after
// call, and takes long, has nothing for the detector to find. make race runs it.
func SkipShort(t testing.TB, why string) {
	t.Helper()
	if enabled && testing.Short() {
		t.Skip("not under the race detector, but in make race: " + why)
	}
}

// Skip leaves a test out wherever the race detector watches: a test that measures what the detector takes itself, such
// as memory.
func Skip(t testing.TB, why string) {
	t.Helper()
	if enabled {
		t.Skip("not under the race detector: " + why)
	}
}

// Enabled tells that the race detector watches, so that tests are left out.
func Enabled() bool { return enabled }
