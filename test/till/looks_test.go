package till

import (
	"fmt"
	"strings"
	"testing"
)

// clear empties the field of the digits.
func (d *device) clear() {
	d.Helper()
	js[*string](d, `document.querySelector("#digits").value = ""; null`)
}

// TestLooks has axe-core look at every page of the till, in all languages, both themes and three widths; the short
// version in each of them, but not in all at once. No word of another language is left, and no page is heavy.
func TestLooks(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	l := newLine(t, s.server.URL)
	d := s.till("Counter 1", l.URL)
	d.at("home")
	languages := []string{"en", "de", "fr", "es", "ja"}
	for _, language := range languages {
		g, dear := s.sell("25.50"), s.sell("1234567.89")
		d.everyWay(language+" home", func() { d.open("/till?lang=" + language); d.at("home") })
		d.everyWay(language+" not a gift", func() { d.keys("\t"); d.clear(); d.tapNow("#digits"); d.keys("12\r") })
		d.digitsFit(language)
		d.clear()
		d.scanner(g.VoucherCode)
		d.at("gift")
		d.keypad("3000")
		d.everyWay(language+" gift", func() {})
		d.open("/till?lang=" + language)
		d.at("home")
		d.scanner(dear.VoucherCode)
		d.at("gift")
		d.tap(".all")
		d.onOneLine(language, ".worth .figure", ".entry-figure")
		d.tap("button.take")
		d.until("the result does not look yes", `document.querySelector("[data-view=result]").dataset.look === "yes"`)
		d.onOneLine(language, ".result .figure")
		d.scanner(g.VoucherCode)
		d.at("gift")
		d.keypad("3000")
		l.cut.Store(after)
		d.tap("button.take")
		d.at("result")
		d.until("the result does not look unknown", `document.querySelector("[data-view=result]").dataset.look === "unknown"`)
		d.everyWay(language+" unknown", func() {})
		l.cut.Store(whole)
		d.until("the result does not look yes", `document.querySelector("[data-view=result]").dataset.look === "yes"`)
		d.everyWay(language+" taken", func() {})
		d.scanner(g.VoucherCode)
		d.at("gift")
		d.everyWay(language+" nothing left", func() {})
		d.tap(".open-today")
		d.until("the day is not listed", visible(".today .full")+" !== undefined")
		d.everyWay(language+" today", func() {})
		d.headsStand(language)
		d.look("dark", 360, 640)
		d.audit(language + " today, 360 wide")
		d.look("light", 375, 667)
		d.tap(".entries .do button")
		d.everyWay(language+" question", func() {})
		d.tap("dialog .secondary")
		d.saysTooMuch(l, language)
	}
	weight := js[float64](d, `(() => { let sum = performance.getEntriesByType("navigation")[0].decodedBodySize;
		for (const r of performance.getEntriesByType("resource")) if (!r.name.includes("/vendor/") && !r.name.includes("/state") && !r.name.includes("/icon") && r.initiatorType !== "fetch")
			sum += r.decodedBodySize; return sum; })()`)
	if t.Logf("the page and all that it is made of are %.0f bytes", weight); weight > 120_000 || weight < 20_000 {
		t.Errorf("the page weighs %.0f bytes", weight)
	}
	d.look("light", 375, 667)
	empty := newDevice(t, s.server.URL)
	for _, language := range languages {
		empty.open("/till/pair?lang=" + language)
		empty.everyWay(language+" pair", func() {})
		empty.open("/till?lang=" + language)
		empty.at("unpaired")
		empty.shows(`[data-view=unpaired] a[href="/console"]`, map[string]string{"en": "Open the console",
			"de": "Konsole öffnen", "fr": "Ouvrir la console", "es": "Abrir la consola", "ja": "コンソールを開く"}[language])
		empty.everyWay(language+" unpaired", func() {})
	}
	d.calm()
	empty.calm()
}

// saysTooMuch fails the test where sums that are not those of the whole day look as if they were, on screen or paper.
func (d *device) saysTooMuch(l *line, language string) {
	d.Helper()
	words := map[string]string{"en": "There was too much today", "de": "Heute war es zu viel",
		"es": "Hoy ha habido demasiadas operaciones", "fr": "Il y en a trop ce jour-là",
		"ja": "件数が多すぎるため"}[language]
	if got := d.text(".today"); strings.Contains(got, words) {
		d.Errorf("%s: of a day that is whole it says %s", language, got)
	}
	d.open("/till?lang=" + language)
	d.at("home")
	l.tooMuch.Store(true)
	defer l.tooMuch.Store(false)
	d.tap(".open-today")
	d.shows(".full .notice:first-child", words) // above the sums
	d.everyWay(language+" too much", func() {})
	if text := d.printed(language + " too much"); text != "" && !strings.Contains(text, words) {
		d.Errorf("%s: the paper does not say %q:\n%s", language, words, text)
	}
}

// digitsFit fails the test where the twelve digits cannot be seen at once on a small phone.
func (d *device) digitsFit(language string) {
	d.Helper()
	d.look("light", 360, 640)
	const cut = `(() => { const e = document.querySelector("#digits"); e.value = "0000 0000 0000"; return e.scrollWidth - e.clientWidth; })()`
	if more := js[float64](d, cut); more > 0 {
		d.Errorf("%s: %v pixels of the digits are out of sight", language, more)
	}
	d.look("light", 375, 667)
}

// onOneLine fails the test where an amount does not fit a small phone.
func (d *device) onOneLine(language string, selectors ...string) {
	d.Helper()
	d.look("light", 360, 640)
	for _, s := range selectors {
		if n := js[float64](d, `(() => { const r = document.createRange(); r.selectNodeContents(`+visible(s)+`);
			return new Set([...r.getClientRects()].map(b => b.top)).size; })()`); n != 1 {
			d.Errorf("%s: %s is on %v lines", language, s, n)
		}
	}
	d.picture(language + " dear " + selectors[0][1:6])
	d.look("light", 375, 667)
}

// headsStand fails the test where the heads of the day's list, with an amount of millions, stand off their columns.
func (d *device) headsStand(language string) {
	d.Helper()
	for _, width := range []int64{360, 375, 768} {
		d.look("light", width, 667)
		off := js[string](d, `(() => { const edge = (e, side) => e.getBoundingClientRect()[side].toFixed(0);
			const at = (row) => [edge(row.cells[0], "left"), edge(row.cells[1], "left"), edge(row.cells[2], "right")].join(" ");
			const rows = [...document.querySelector(".entries").rows].map(at);
			return rows.every(r => r === rows[0]) && rows.length > 2 ? "" : rows.join(", "); })()`)
		if off != "" {
			d.Errorf("%s, %d wide: the columns stand at %s", language, width, off)
		}
	}
	d.look("light", 375, 667)
}

// everyWay audits what show shows, in both themes and three widths.
func (d *device) everyWay(name string, show func()) {
	d.Helper()
	show()
	for i, theme := range []string{"light", "dark"} {
		for j, width := range []int64{375, 768, 1280} {
			if testing.Short() && (len(name)+i+j)%3 > 0 { // light and dark, each at another width
				continue
			}
			d.look(theme, width, map[int64]int64{375: 667, 768: 1024, 1280: 800}[width])
			d.audit(fmt.Sprintf("%s, %s, %d wide", name, theme, width))
			d.picture(fmt.Sprintf("%s-%s-%d", name, theme, width))
		}
	}
	d.look("light", 375, 667)
}
