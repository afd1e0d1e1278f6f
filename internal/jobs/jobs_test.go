package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"boon.example/internal/jobs"
)

// bench is a runner whose clock is a false one: time passes when all of its goroutines wait. A goroutine that is left
// behind fails the test.
type bench struct {
	*testing.T
	*jobs.Runner
	log      log
	registry *prometheus.Registry
}

// log is written and read by several goroutines.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func onBench(t *testing.T, test func(b *bench)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{T: t, registry: prometheus.NewRegistry()}
		b.Runner = jobs.New(t.Context(), slog.New(slog.NewTextHandler(&b.log, nil)), b.registry)
		test(b)
		b.Stop()
	})
}

// metric is the line that tells one.
func (b *bench) metric(series string) string {
	w := httptest.NewRecorder()
	promhttp.HandlerFor(b.registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	body, _ := io.ReadAll(w.Body)
	for line := range strings.Lines(string(body)) {
		if value, found := strings.CutPrefix(line, series+" "); found {
			return strings.TrimSpace(value)
		}
	}
	return "none"
}

// within tells whether a time is another one, give or take a tenth.
func within(got, want time.Duration) bool { return got >= want*9/10 && got <= want*11/10 }

// TestRounds: the first round comes at once, each other one after Every, give or take a tenth, and not all after the
// same time.
func TestRounds(t *testing.T) {
	onBench(t, func(b *bench) {
		var at []time.Time
		begun := time.Now()
		b.Start(jobs.Job{Name: "rounds", Every: time.Minute, Batch: jobs.Whole(func(context.Context) error {
			at = append(at, time.Now())
			return nil
		})})
		time.Sleep(20*time.Minute + time.Second)
		b.Stop()
		if len(at) < 18 || len(at) > 23 || !at[0].Equal(begun) {
			t.Fatalf("in 20 minutes there were rounds at %v", at)
		}
		different := map[time.Duration]bool{}
		for n := range at[1:] {
			rest := at[n+1].Sub(at[n])
			if different[rest] = true; !within(rest, time.Minute) {
				t.Errorf("round %d came after %v", n+1, rest)
			}
		}
		if len(different) < 2 {
			t.Error("all pauses are alike: instances that start together go on together")
		}
	})
}

// TestBatches: while more waits, the next batch comes after the pause, and never before twice the time that the batch
// took.
func TestBatches(t *testing.T) {
	for _, tt := range []struct{ takes, pause, want time.Duration }{
		{0, 50 * time.Millisecond, 50 * time.Millisecond},
		{10 * time.Millisecond, 50 * time.Millisecond, 50 * time.Millisecond},
		{time.Second, 50 * time.Millisecond, 2 * time.Second},
		{time.Second, 0, 2 * time.Second},
	} {
		t.Run(tt.takes.String(), func(t *testing.T) {
			onBench(t, func(b *bench) {
				var pauses []time.Duration
				ended := time.Now()
				left := 4
				b.Start(jobs.Job{Name: "batches", Every: time.Hour, Pause: tt.pause,
					Batch: func(context.Context) (int, bool, error) {
						pauses = append(pauses, time.Since(ended))
						time.Sleep(tt.takes)
						ended = time.Now()
						left--
						return 7, left > 0, nil
					}})
				time.Sleep(30 * time.Minute)
				b.Stop() // and all that it did is there to be looked at
				if want := []time.Duration{0, tt.want, tt.want, tt.want}; !slices.Equal(pauses, want) {
					t.Errorf("it paused for %v before its batches, want %v", pauses, want)
				}
				n, rounds := b.metric(`boon_job_done_total{name="batches"}`), b.metric(`boon_job_seconds_count{name="batches"}`)
				if n != "28" || rounds != "1" {
					t.Errorf("%s things are counted in %s rounds, want 28 in 1", n, rounds)
				}
			})
		})
	}
}

// TestBackOff: what failed is tried again after ten seconds, then after twice that, until the pauses are those between
// rounds; one success, and all is as before. What comes more often than that goes on as often.
func TestBackOff(t *testing.T) {
	for _, tt := range []struct {
		every time.Duration
		want  []time.Duration
	}{
		{time.Minute, []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, time.Minute}},
		{time.Second, []time.Duration{time.Second, time.Second, time.Second, time.Second, time.Second}},
	} {
		t.Run(tt.every.String(), func(t *testing.T) {
			onBench(t, func(b *bench) {
				at := make(chan time.Time)
				var healed atomic.Bool
				b.Start(jobs.Job{Name: "failing", Every: tt.every, Failed: "old things could not be deleted",
					Batch: func(ctx context.Context) (int, bool, error) {
						at <- time.Now()
						if healed.Load() {
							return 0, false, nil
						}
						return 0, true, errors.New("the database is away")
					}})
				before := <-at
				for n, want := range tt.want {
					next := <-at
					if rest := next.Sub(before); !within(rest, want) {
						t.Errorf("after %d failures it is tried again after %v, want %v", n+1, rest, want)
					}
					before = next
				}
				healed.Store(true)
				<-at
				before = <-at
				if rest := (<-at).Sub(before); !within(rest, tt.every) {
					t.Errorf("after two successes the next round comes after %v, want %v", rest, tt.every)
				}
				synctest.Wait() // until the last round is counted
			})
		})
	}
}

// TestFailuresAreSeen: in the log when they begin, once a minute, when they change, and when they end; in the metrics.
func TestFailuresAreSeen(t *testing.T) {
	onBench(t, func(b *bench) {
		begun := time.Now()
		var why atomic.Pointer[error]
		fails := func(err error) { why.Store(&err) }
		fails(errors.New("the database is away"))
		after := func(d time.Duration) string { // until every round that began by then has ended
			time.Sleep(d)
			synctest.Wait()
			return b.log.String()
		}
		b.Start(jobs.Job{Name: "failing", Every: time.Second, Failed: "old things could not be deleted",
			Batch: jobs.Whole(func(context.Context) error { return *why.Load() })})
		if said := after(30 * time.Second); strings.Count(said, "\n") != 1 || !strings.Contains(said,
			`msg="old things could not be deleted" job=failing failures=1 error="the database is away"`) {
			t.Errorf("in half a minute the log says %s", said)
		}
		if said := after(80 * time.Second); strings.Count(said, "\n") != 2 {
			t.Errorf("in two minutes the log says %s", said)
		}
		if at := b.metric(`boon_job_last_success_timestamp_seconds{name="failing"}`); at != number(begun) {
			t.Errorf("without a success the last one was %s, want the start, %s", at, number(begun))
		}
		if n := b.metric(`boon_job_failing{name="failing"}`); n == "0" || n != b.metric(`boon_job_failures_total{name="failing"}`) {
			t.Errorf("%s failures in a row", n)
		}
		fails(errors.New("the disk is full"))
		if said := after(2 * time.Second); !strings.Contains(said, "the disk is full") {
			t.Errorf("of another failure the log says %s", said)
		}
		fails(nil)
		if said := after(20 * time.Second); strings.Count(said, `msg="a job succeeds again" job=failing`) != 1 {
			t.Errorf("after a success the log says %s", said)
		}
		if n := b.metric(`boon_job_failing{name="failing"}`); n != "0" {
			t.Errorf("after a success %s failures in a row are shown", n)
		}
		if at := b.metric(`boon_job_last_success_timestamp_seconds{name="failing"}`); at == number(begun) {
			t.Error("the success is not shown")
		}
	})
}

func number(t time.Time) string { return slog.Float64Value(float64(t.UnixMilli()) / 1000).String() }

// TestStop: a stop waits for the batch that is under way, which sees its context end. Then it calls Last once, with a
// context that lives for ten seconds.
func TestStop(t *testing.T) {
	onBench(t, func(b *bench) {
		ended, last := false, 0
		b.Start(jobs.Job{Name: "slow", Every: time.Minute, Batch: jobs.Whole(func(ctx context.Context) error {
			<-ctx.Done()
			time.Sleep(3 * time.Second) // to tidy up
			ended = true
			return ctx.Err()
		}), Last: func(ctx context.Context) error {
			if !ended || ctx.Err() != nil {
				t.Errorf("what is last comes before the batch has ended, or too late: %v", ctx.Err())
			}
			last++
			<-ctx.Done()
			return ctx.Err()
		}, Failed: "the last words could not be written"})
		time.Sleep(time.Second)
		begun := time.Now()
		b.Stop()
		if took := time.Since(begun); took != 13*time.Second || !ended || last != 1 {
			t.Errorf("the stop took %v, the batch had ended: %v, what is last was done %d times", took, ended, last)
		}
		said := b.log.String()
		if strings.Contains(said, "level=ERROR") || !strings.Contains(said, "the last words could not") {
			t.Errorf("at a stop the log says %s", said)
		}
		if n := b.metric(`boon_job_failures_total{name="slow"}`); n != "0" {
			t.Error("the end of a batch at a stop counts as a failure")
		}
	})
}

// TestStopWhilePaused: a stop does not wait for the next round or the next batch.
func TestStopWhilePaused(t *testing.T) {
	onBench(t, func(b *bench) {
		none := func(context.Context) error { return nil }
		more := func(context.Context) (int, bool, error) { return 1, true, nil }
		b.Start(jobs.Job{Name: "rounds", Every: time.Hour, Batch: jobs.Whole(none)},
			jobs.Job{Name: "batches", Every: time.Hour, Pause: time.Hour, Batch: more})
		time.Sleep(time.Second)
		begun := time.Now()
		if b.Stop(); time.Since(begun) != 0 {
			t.Errorf("the stop took %v", time.Since(begun))
		}
	})
}

// TestAJobThatHangsHoldsUpNoOther.
func TestAJobThatHangsHoldsUpNoOther(t *testing.T) {
	onBench(t, func(b *bench) {
		rounds := 0
		b.Start(jobs.Job{Name: "hangs", Every: time.Second, Batch: jobs.Whole(func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})}, jobs.Job{Name: "goes on", Every: time.Second, Batch: jobs.Whole(func(context.Context) error {
			rounds++
			return nil
		})})
		time.Sleep(time.Minute)
		synctest.Wait()
		if rounds < 50 {
			t.Errorf("the other one had %d rounds in a minute", rounds)
		}
		if at := b.metric(`boon_job_interval_seconds{name="hangs"}`); at != "1" {
			t.Errorf("every %s seconds", at)
		}
	})
}

// TestEach: items have turns until nothing more of them waits. There is a pause only after a batch that did something.
// An item that fails holds up no other, and its failure is told when the round ends. The next round makes its list
// anew.
func TestEach(t *testing.T) {
	t.Parallel()
	left := map[string]int{"a": 5, "b": 0, "broken": 0, "c": 2}
	var turns []string
	lists := 0
	failure := errors.New("broken")
	batch := jobs.Each(func(context.Context) ([]string, error) {
		lists++
		return []string{"a", "b", "broken", "c"}, nil
	}, func(_ context.Context, item string) (int, bool, error) {
		if turns = append(turns, item); item == "broken" && lists < 3 {
			return 0, true, failure
		}
		n := min(2, left[item])
		left[item] -= n
		return n, left[item] > 0, nil
	})
	for n, want := range []struct {
		done   int
		more   bool
		failed bool
	}{{2, true, false}, {2, true, false}, {2, true, false}, {1, false, true}, {0, false, true}, {0, false, false}} {
		done, more, err := batch(t.Context())
		if done != want.done || more != want.more || errors.Is(err, failure) != want.failed {
			t.Errorf("batch %d did %d, more: %v, %v; want %+v", n, done, more, err, want)
		}
	}
	if lists != 3 {
		t.Errorf("in three rounds the list was made %d times", lists)
	}
	if first := strings.Join(turns[:6], " "); first != "a b broken c a a" {
		t.Errorf("the turns were %s", first)
	}
}

// TestEachMakesAnOldListAnew: what begins to wait is not kept waiting by an item of which something always waits, and
// failures are told all the same.
func TestEachMakesAnOldListAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		items := []string{"endless"}
		var failure error
		turns := map[string]int{}
		batch := jobs.Each(func(context.Context) ([]string, error) { return items, nil },
			func(_ context.Context, item string) (int, bool, error) {
				time.Sleep(10 * time.Second)
				turns[item]++
				return 1, item == "endless", map[string]error{"broken": failure}[item]
			})
		some := func(times int) (err error) {
			for range times {
				_, more, failed := batch(t.Context())
				if err = errors.Join(err, failed); more == (failed != nil) {
					t.Errorf("more waits: %t, after %v", more, failed)
				}
			}
			return err
		}
		if err := some(1); err != nil {
			t.Error(err)
		}
		items, failure = []string{"endless", "broken"}, errors.New("broken")
		if err := some(5); err != nil || turns["broken"] != 0 {
			t.Errorf("within a minute: %v, %v", turns, err)
		}
		if err := some(2); err != nil || turns["broken"] != 1 {
			t.Errorf("after it: %v, %v", turns, err)
		}
		if err := some(4); !errors.Is(err, failure) {
			t.Errorf("a minute later: %v, %v", turns, err)
		}
	})
}
