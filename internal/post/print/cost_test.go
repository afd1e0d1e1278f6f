package print

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/racetest"
)

// watched is a context that looks at the heap each time it is asked whether it has ended, which is once for each card.
type watched struct {
	context.Context
	asked, until int
	most         uint64
}

func (w *watched) Err() error {
	if w.asked++; w.asked%50 == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		w.most = max(w.most, m.HeapAlloc)
	}
	if w.until > 0 && w.asked > w.until {
		return context.Canceled
	}
	return nil
}

// TestCostOfASheet: a sheet of 1,000 cards with the longest names and messages, in the scripts that are hardest to fit,
// takes a bounded heap and a bounded number of allocations; these stand for the time, which was 0.6 s of a processor.
// Each try of a size once wrote into the document, which made it a matter of minutes and gigabytes. It is not parallel:
// it looks at the heap of the process, from which the collector takes what is not needed any more early.
func TestCostOfASheet(t *testing.T) {
	racetest.Skip(t, "it counts memory")
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	for name, text := range map[string]string{"one word": "W", "words": "Maximiliane ", "boxes": "漢", "accents": "é̂",
		"right to left": "שלום "} {
		cards := make([]Card, 1000)
		long := func(n int) string { return string([]rune(strings.Repeat(text, n))[:n]) }
		for i := range cards {
			cards[i] = aCard()
			v := &cards[i].View
			v.Recipient, v.Sender, v.Merchant, v.Message = long(200), long(200), long(200), []string{long(1000)}
		}
		coverages() // is read once
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ctx := &watched{Context: t.Context()}
		pdf, err := BuiltIn().Order(ctx, cards, A4)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		const most = 100 << 20
		if took := max(ctx.most, after.HeapAlloc) - before.HeapAlloc; took > most || len(pdf) > 5<<20 {
			t.Errorf("%s: %d MB of heap for a sheet of %d kB", name, took>>20, len(pdf)>>10)
		}
		if n := after.Mallocs - before.Mallocs; n > 2_000_000 {
			t.Errorf("%s: %d allocations", name, n)
		}
		if all := (after.TotalAlloc - before.TotalAlloc) >> 20; all > 500 {
			t.Errorf("%s: %d MB were allocated in all", name, all)
		}
		t.Logf("%s: peak %d MB, %d MB in all, %d allocations", name, (ctx.most-before.HeapAlloc)>>20,
			(after.TotalAlloc-before.TotalAlloc)>>20, after.Mallocs-before.Mallocs)
	}
}

// TestSheetEndsWithItsReader: nobody prints for a reader who has gone.
func TestSheetEndsWithItsReader(t *testing.T) {
	t.Parallel()
	ctx := &watched{Context: t.Context(), until: 3}
	if _, err := BuiltIn().Order(ctx, slices.Repeat([]Card{aCard()}, 1000), A4); !errors.Is(err, context.Canceled) ||
		ctx.asked > 5 {
		t.Errorf("%v after %d cards", err, ctx.asked)
	}
}

// TestWidthsAreTheLibrarys: texts are measured as they are drawn.
func TestWidthsAreTheLibrarys(t *testing.T) {
	t.Parallel()
	d := BuiltIn().begin(A4, aCard().View, "print.title", made)
	for _, f := range []*face{d.regular, d.bold} {
		for r := ' '; r < 0xfffe; r++ {
			if !f.coverage.simple(r) {
				continue
			}
			d.pdf.SetFont(family, f.style, 1)
			// the library cuts off what is less
			if by := int(f.coverage.widths[r]) - d.pdf.GetStringSymbolWidth(string(r)); by < -1 || by > 1 {
				t.Fatalf("%q is %d wide, and %d in the document", r, f.coverage.widths[r], d.pdf.GetStringSymbolWidth(string(r)))
			}
		}
	}
}
