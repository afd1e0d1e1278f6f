package main

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"boon.example/test/rig"
)

// TestEveryQuestionIsAnswered makes a few of the calls of every comparison: each is answered as the comparison says.
func TestEveryQuestionIsAnswered(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "boon")
	if err := rig.Build(binary, rig.Boon); err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(dir, binary, "", 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.server.Kill)
	for _, c := range w.comparisons() {
		first, second, err := w.measure(c, 2, 1)
		if err != nil || len(first) != 2 || len(second) != 2 {
			t.Errorf("%s: %d and %d times, %v", c.name, len(first), len(second), err)
		}
	}
}

// TestCompareNoticesADifference: times that differ by a tenth of their spread are told apart, and equal ones are not.
func TestCompareNoticesADifference(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(1, 1))
	times := func(longer float64) (all []float64) {
		for range 4000 {
			all = append(all, math.Exp(draw.NormFloat64()/2)+longer) // skewed, as times are
		}
		return all
	}
	if r := compare(times(0), times(0)); math.Abs(r.z) > 3 || math.Abs(r.slower-0.5) > 0.02 ||
		math.Abs(r.floor-0.5) > 0.03 {
		t.Errorf("two sets of one kind: %+v", r)
	}
	if r := compare(times(0.1), times(0)); r.z < 5 || r.slower < 0.53 {
		t.Errorf("two sets that differ: %+v", r)
	}
	if got := longer([]float64{1, 2, 2}, []float64{2, 3}); got != 1.0/6 {
		t.Errorf("ties: %f, want 1/6", got)
	}
}
