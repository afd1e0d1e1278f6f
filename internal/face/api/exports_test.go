package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/wire"
)

// exported puts the pages of an export behind one another.
func (w *world) exported(path string, headers ...string) (whole string, pages int) {
	w.Helper()
	for path != "" {
		page := w.get(path, headers...).want(200)
		whole += string(page.body)
		pages++
		link, more := strings.CutSuffix(page.header.Get("Link"), `>; rel="next"`)
		if path = ""; more {
			path = strings.TrimPrefix(link, "<"+base)
		}
	}
	return whole, pages
}

// TestExports: pages of any size come to the same, with one heading, and have everything of the account and nothing of
// others.
func TestExports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(strings.ReplaceAll(ofMoney("9"), shop, cornerShop), as(cornerKey)...)
	var gifts []made
	for n := range 5 {
		gifts = append(gifts, w.send(ofMoney(fmt.Sprint(10+n))))
	}
	w.redeem(gifts[0], "1").want(200)
	whole, _ := w.exported("/exports/gifts?to=" + url.QueryEscape(w.now().Add(time.Minute).Format(time.RFC3339)))
	if lines := strings.Split(whole, "\r\n"); len(lines) != 7 || !strings.HasPrefix(lines[0], "code,balance,") ||
		!strings.Contains(lines[1], "14.00") || !strings.Contains(lines[5], ",9.00,") {
		t.Errorf("%q", lines)
	}
	for _, limit := range []string{"1", "2", "5"} {
		again, pages := w.exported("/exports/gifts?limit=" + limit)
		if again != whole || limit == "1" && pages != 5 {
			t.Errorf("in %d pages of %s: %q", pages, limit, again)
		}
	}
	entries, _ := w.exported("/exports/entries?format=jsonl&limit=2")
	kinds := map[string]int{}
	for line := range strings.Lines(entries) {
		var e struct {
			Kind, Currency, VoucherID string
			Amount                    json.Number
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		kinds[e.Kind]++
		if !slices.ContainsFunc(gifts, func(g made) bool { return g.id == e.VoucherID }) || e.Currency != "USD" ||
			e.Kind == "REDEMPTION" && e.Amount != "-1.00" {
			t.Errorf("%s", line)
		}
	}
	if kinds["ISSUED"] != 5 || kinds["REDEMPTION"] != 1 {
		t.Errorf("%v", kinds)
	}
	if book, _ := w.exported("/exports/entries?format=hledger"); strings.Count(book, "decimal-mark") != 1 ||
		!strings.Contains(book, "liabilities:gifts  1.00 USD") {
		t.Errorf("%s", book)
	}
}

// TestExportsOfCodes: codes leave only to keys that may see them, and the trail tells of every page before.
func TestExportsOfCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("9"))
	w.permit(rotatedKey, "export")
	whole, _ := w.exported("/exports/gifts?format=jsonl", as(rotatedKey)...)
	if strings.Contains(whole, g.code) || !strings.Contains(whole, "••••••••"+g.code[8:]) {
		t.Errorf("without codes: %s", whole)
	}
	w.get("/exports/gifts?codes=true", as(rotatedKey)...).refused(403, refusal.NotAuthorized)
	w.permit(rotatedKey, "export", "codes")
	whole, _ = w.exported("/exports/gifts?format=jsonl&codes=true", as(rotatedKey)...)
	if !strings.Contains(whole, g.code) {
		t.Errorf("with codes: %s", whole)
	}
	w.permit(rotatedKey, "look-up")
	w.get("/exports/gifts", as(rotatedKey)...).refused(403, refusal.NotAuthorized)
	w.get("/exports/entries", as(rotatedKey)...).refused(403, refusal.NotAuthorized)
	told := map[string]int{}
	for _, d := range w.trail(url.Values{}) {
		told[d.Action]++
	}
	if told["gifts.exported"] != 1 || told["codes.exported"] != 1 {
		t.Errorf("the trail tells %v", told)
	}
}

// TestExportsOfALimitedKey: a key that is enabled for some locations gets what is limited to one of those.
func TestExportsOfALimitedKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(ofMoney("9"))
	here := w.stock(`"count":1,"organizationID":"` + pier + `"`)[0]
	whole, _ := w.exported("/exports/gifts?format=jsonl", as(pierKey)...)
	if strings.Count(whole, "\n") != 1 || !strings.Contains(whole, here.id) {
		t.Errorf("%s", whole)
	}
	if whole, _ = w.exported("/exports/entries?format=jsonl", as(pierKey)...); whole == "" ||
		strings.Count(whole, here.id) != strings.Count(whole, "\n") {
		t.Errorf("%s", whole)
	}
}

// TestExportsInVain: all that is wrong is told.
func TestExportsInVain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.get("/exports/gifts?format=xml&limit=1001&from=x&codes=1&cursor=x").refused(400, refusal.ValidationFailure,
		"format", "limit", "from", "codes", "cursor")
	w.send(ofMoney("9"))
	w.send(ofMoney("9"))
	w.get("/exports/gifts?cursor="+w.get("/gifting/gifts?limit=1").at("nextCursor")).refused(400,
		refusal.ValidationFailure, "cursor")
}

// TestAnExportOfNothing: a page without a line says of which kind it is, too.
func TestAnExportOfNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(ofMoney("9"))
	for name, media := range map[string]string{"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"} {
		page := w.get("/exports/gifts?to=2020-01-01T00:00:00Z&format=" + name).want(200)
		if got := page.header.Get("Content-Type"); got != media {
			t.Errorf("an export of nothing as %s is %q", name, got)
		}
	}
}

// TestExportsThatBeginInTheMiddle: whoever makes a cursor up gets pages, and the audit trail tells of the export all
// the same, once; where nothing more may be kept of the key, there is no page.
func TestExportsThatBeginInTheMiddle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("9"))
	newest := guid.ID(bytes.Repeat([]byte{0xff}, 16))
	for _, name := range []string{"gifts", "entries"} {
		made := "/exports/" + name + "?format=jsonl&cursor=" + wire.CursorText("exports/"+name, newest[:])
		w.kept(pierKey, merchant.MaxKeptPerDay)
		w.get(made, as(pierKey)...).refused(429, refusal.RateLimited)
		w.get(made, as(pierKey)...).refused(429, refusal.RateLimited)
		for range 3 {
			if got := string(w.get(made).want(200).body); !strings.Contains(got, g.id) {
				t.Errorf("the page of a cursor that was made up is %q", got)
			}
		}
		told := slices.DeleteFunc(w.trail(url.Values{}),
			func(d deed) bool { return !strings.Contains(d.What, "the "+name) })
		if len(told) != 1 || told[0].Action != "gifts.exported" {
			t.Errorf("the trail tells of the %s that left: %v", name, told)
		}
	}
}
