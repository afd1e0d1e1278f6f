package main

import (
	"os"
	"testing"
	"time"

	"boon.example/internal/store/pgtest"
)

// TestCitusLosesWorkers: two instances over a coordinator and two workers, which are killed in turn under load. While
// one is away, its gifts are; what was answered is there when it has come back.
func TestCitusLosesWorkers(t *testing.T) {
	if os.Getenv("CITUS") == "" {
		t.Skip("CITUS=1 runs it, and test/citus/run does")
	}
	cluster := pgtest.Citus(t)
	boon := install(t, cluster.Fresh(t, 32))
	if said, err := boon.Run("migrate", "--citus"); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	l := busyTills(t, boon, 16, serve(t, boon), serve(t, boon))
	const kills = 6
	for n := range kills {
		time.Sleep(3 * time.Second)
		worker := cluster.Nodes[1+n%2]
		check(t, worker.Kill())
		time.Sleep(time.Second)
		check(t, worker.Run())
	}
	time.Sleep(3 * time.Second)
	l.end("six kills of a worker")
}
