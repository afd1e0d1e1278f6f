// Command timing measures whether the time of an answer tells what the answer does not: whether a key was ever good, whose a code is, whether a gift
// that cannot be seen exists. It runs the real program, asks about two things in turn, in an order that is drawn, thousands of times, and compares
// the two sets of times.
//
//	go run ./test/timing -calls 3000
//
// "slower" is how often a call of the first kind takes longer than one of the second: 0.500 says that time tells nothing. "floor" is the same of the
// second kind with itself, so that what lies within it is noise. z is the distance from 0.500 in standard deviations (Mann and Whitney).
// Everybody else who uses the machine makes it say less, never more.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"boon.example/test/rig"
)

func main() {
	log.SetFlags(0)
	calls := flag.Int("calls", 2000, "of each kind")
	seed := flag.Uint64("seed", 1, "of the order in which they are made")
	flag.Parse()
	if err := run(*calls, *seed); err != nil {
		log.Fatal(err)
	}
}

func run(calls int, seed uint64) error {
	dir, err := os.MkdirTemp("", "boon-timing-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "boon")
	if err := rig.Build(binary, false); err != nil {
		return err
	}
	w, err := furnish(dir, binary)
	if err != nil {
		return err
	}
	defer w.server.Kill()
	fmt.Printf("%-58s %8s %8s %7s %7s %6s\n", "what is asked about", "first ms", "second", "slower", "floor", "z")
	for _, c := range w.comparisons() {
		first, second, err := w.measure(c, calls, seed)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		r := compare(first, second)
		fmt.Printf("%-58s %8.3f %8.3f %7.3f %7.3f %6.1f\n", c.name, median(first), median(second), r.slower, r.floor, r.z)
	}
	return nil
}
