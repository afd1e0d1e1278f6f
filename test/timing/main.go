// Command timing measures whether the time of an answer tells what the answer does not: whether a key was ever good,
// whose a code is, whether a gift that cannot be seen exists. It runs the real program, asks about two things in turn,
// in an order that is drawn, thousands of times, and compares the two sets of times.
//
//	go -C test run ./timing -calls 3000
//	bin/with-postgres go -C test run ./timing -calls 500
//
// The key file was rotated once, so that a code which leads to nothing is looked up under two keys.
//
// "slower" is how often a call of the first kind takes longer than one of the second: 0.500 says that time tells
// nothing. "floor" is the same of the second kind with itself, so that what lies within it is noise. z is the distance
// from 0.500 in standard deviations (Mann and Whitney). Other load on the machine makes it say less, never
// more. It fails when what must not be told is further than a tenth from a half.
package main

import (
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"boon.example/internal/store/pgtest"
	"boon.example/test/rig"
)

const tolerable = 0.1

func main() {
	log.SetFlags(0)
	calls := flag.Int("calls", 2000, "of each kind")
	seed := flag.Uint64("seed", 1, "of the order in which they are made")
	database := flag.String("database", os.Getenv(pgtest.Variable), "an empty one of PostgreSQL; none: the embedded one")
	flag.Parse()
	if err := run(*database, *calls, *seed); err != nil {
		log.Fatal(err)
	}
}

func run(database string, calls int, seed uint64) error {
	dir, err := os.MkdirTemp("", "boon-timing-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "boon")
	if err := rig.Build(binary, rig.Boon); err != nil {
		return err
	}
	w, err := newWorld(dir, binary, database, calls)
	if err != nil {
		return err
	}
	defer w.stop()
	if err := w.use(); err != nil {
		return err
	}
	most := 0.0
	fmt.Printf("%-80s %8s %8s %7s %7s %6s\n", "what is asked about", "first ms", "second", "slower", "floor", "z")
	for _, c := range w.comparisons() {
		first, second, err := w.measure(c, calls, seed)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		r := compare(first, second)
		if c.note() == "" {
			most = max(most, math.Abs(r.slower-0.5))
		}
		fmt.Printf("%-80s %8.3f %8.3f %7.3f %7.3f %6.1f  %s\n", c.name, median(first), median(second), r.slower, r.floor, r.z,
			c.note())
	}
	if most > tolerable {
		return fmt.Errorf("time tells two things apart that it must not: %.3f from a half, and %.1f is tolerable", most,
			tolerable)
	}
	fmt.Printf("Of what must not be told, nothing is further than %.3f from a half; %.1f is tolerable.\n", most, tolerable)
	return nil
}
