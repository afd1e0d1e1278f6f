package intake_test

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/guid"
	"boon.example/internal/intake"
)

// BenchmarkImport brings LINES (10,000) cards in; each has a recipient and an address. It tells the processor time of
// the process for each card, which says more than the clock where others work beside it.
func BenchmarkImport(b *testing.B) {
	lines, err := strconv.Atoi(os.Getenv("LINES"))
	if err != nil {
		lines = 10_000
	}
	var text bytes.Buffer
	text.WriteString("code,balance,recipient,contact,issuedAt\n")
	for n := range lines {
		fmt.Fprintf(&text, "6006%012d,%d.%02d,Guest %d,guest%d@example.com,2024-%02d-%02d\n", n*997, 10+n%90, n%100, n, n,
			1+n%12, 1+n%28)
	}
	w := newWorld(b)
	for b.Loop() {
		w.ID = guid.ID(uuid.New())
		file := bytes.NewReader(text.Bytes())
		o := w.order()
		began := time.Now()
		r, err := intake.Check(b.Context(), w, o, file)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(began).Seconds(), "check-s")
		began, used := time.Now(), processorTime()
		if _, err := intake.Bring(b.Context(), w, o, r, file); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(began).Seconds(), "bring-s")
		b.ReportMetric(float64((processorTime()-used).Microseconds())/float64(lines), "cpu-µs/card")
	}
}

// processorTime is what the process has used of the processor.
func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // it does not fail on the own process
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
