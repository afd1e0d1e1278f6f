package format

import (
	"os"
	"path/filepath"
	"testing"

	"boon.example/internal/base/jsontape"
	"boon.example/internal/ticket"
	"boon.example/internal/wire"
)

// FuzzRead reads whatever comes as each format. An order is refused, or gives a ticket on which no line that a gift may
// pay is negative.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, rules := range [][]rule{squareRules(), toastRules(), cloverRules(), shopifyRules(), lightspeedRules()} {
		for _, r := range rules {
			f.Add(r.order)
		}
	}
	f.Add(`{"data":{"data":{"data":{"orders":{"edges":[{"node":{"lineItems":{"edges":[{}]}}}]}}}}}`)
	f.Fuzz(func(t *testing.T, order string) {
		var of jsontape.Tape
		if of.Scan([]byte(order)) != nil || of.Root().Kind() != '{' { // the request asks for an object
			return
		}
		for _, name := range Names()[1:] {
			var problems wire.Problems
			got := Read(name, of.Root(), Options{}, usd, nil, &problems)
			if got == nil && problems.Len() == 0 {
				t.Fatalf("%s: neither a ticket nor a refusal: %s", name, order)
			}
			if problems.Len() > 0 {
				continue
			}
			if got.Totals.Grand.Sign() < 0 {
				t.Errorf("%s: %s is due of %s", name, got.Totals.Grand.In(usd), order)
			}
			for _, l := range got.Lines {
				if l.LeftOut == ticket.Allowed && l.Total.Sign() <= 0 {
					t.Errorf("%s: a gift may pay %s of %s", name, l.Total.In(usd), order)
				}
			}
		}
	})
}
