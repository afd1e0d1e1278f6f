package nice

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestRest: what gives way pauses once it has worked for a stretch, as long as others need the core; and nothing else
// does.
func TestRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		busy := true
		others := func() bool { return busy }
		background, minutes := Background(t.Context(), others), LongBackground(t.Context(), others)
		rested := func(ctx context.Context) time.Duration {
			begun := time.Now()
			Rest(ctx)
			return time.Since(begun)
		}
		for _, c := range []struct {
			name  string
			ctx   context.Context
			busy  bool
			works time.Duration
			want  time.Duration
		}{
			{"too early", background, true, stretch - 1, 0},
			{"after a stretch", background, true, 1, pause},
			{"right after a rest", background, true, 0, 0},
			{"after another stretch", background, true, stretch, pause},
			{"nobody is there", background, false, stretch, 0},
			{"soon after that", background, true, stretch - 1, 0},
			{"of minutes", minutes, true, stretch, long},
			{"of minutes, while nobody is there", minutes, false, stretch, 0},
			{"in a hurry", t.Context(), true, time.Second, 0},
		} {
			busy = c.busy
			time.Sleep(c.works)
			if got := rested(c.ctx); got != c.want {
				t.Errorf("%s: rested for %v, want %v", c.name, got, c.want)
			}
		}
	})
}

// TestOthers: work that is in no hurry is told whether others need the core, where somebody knows.
func TestOthers(t *testing.T) {
	t.Parallel()
	if need, known := Others(t.Context()); need || known {
		t.Errorf("where nobody knows: %t, %t", need, known)
	}
	for _, busy := range []bool{true, false} {
		if need, known := Others(Background(t.Context(), func() bool { return busy })); need != busy || !known {
			t.Errorf("busy %t: %t, %t", busy, need, known)
		}
	}
}

// TestRestAfter: after a step of another process, what gives way pauses for as long as the step took, as long as others
// need the core; but not for as long as an answer comes from far away.
func TestRestAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		busy := Background(t.Context(), func() bool { return true })
		for name, c := range map[string]struct {
			ctx        context.Context
			took, want time.Duration
		}{
			"others need it":  {busy, time.Millisecond, time.Millisecond},
			"far away":        {busy, time.Second, mostAfter},
			"nobody needs it": {Background(t.Context(), func() bool { return false }), time.Millisecond, 0},
			"in a hurry":      {t.Context(), time.Millisecond, 0},
		} {
			begun := time.Now()
			RestAfter(c.ctx, c.took)
			if got := time.Since(begun); got != c.want {
				t.Errorf("%s: rested for %v, want %v", name, got, c.want)
			}
		}
	})
}
