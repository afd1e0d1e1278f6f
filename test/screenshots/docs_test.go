package main

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestDocs has axe-core look at guide, reference and errors in both themes and three widths, with members and results
// of a search open; the short version at each page in one of these ways.
func TestDocs(t *testing.T) {
	r := newReader(t)
	if r == nil {
		return
	}
	paths := []string{"/docs", "/docs/events", "/docs/setup", "/docs/errors", "/docs/till", "/docs/delivery",
		"/docs/platforms", "/docs/benchmarks", "/docs/watch", "/docs/reference",
		"/docs/reference/sendGift", "/docs/reference/listGifts"}
	for n, path := range paths {
		for i, theme := range []string{"light", "dark"} {
			for j, width := range []int64{375, 768, 1280} {
				if testing.Short() && 3*i+j != n%6 {
					continue
				}
				for _, complaint := range r.see(path, look{theme, width, 1}) {
					if !strings.Contains(complaint, `class="skip"`) { // it shows when it has the focus
						t.Errorf("%s, %s, %d: %s", path, theme, width, complaint)
					}
				}
			}
		}
	}
	const find = `new Promise((done, fail) => {
		const field = document.querySelector("#search"), end = setTimeout(() => fail("nothing is found"), 20000);
		field.value = "allowPartial";
		field.dispatchEvent(new Event("input"));
		const look = () => { const hit = document.querySelector(".results a");
			hit ? (clearTimeout(end), done(hit.getAttribute("href"))) : setTimeout(look, 20); };
		look();
	})`
	r.see("/docs/errors", look{"light", 1280, 1})
	hit, err := chromedp.Run(r.ctx, chromedp.Evaluate[string](find, chromedp.EvalAwaitPromise))
	if err != nil || hit != "../docs/reference/redeemGift#allowPartial" {
		t.Errorf("the search leads to %q, %v", hit, err)
	}
	r.searchTells(map[string]string{"Timeout": "found", "refund": "found", "charge-back": "found", "curl": "found",
		"nosuchword": "Nothing found for “nosuchword”"})
	r.codeIsHandy()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, trouble := range r.trouble {
		t.Errorf("the console says: %s", trouble)
	}
	for _, address := range r.asked {
		if !strings.HasPrefix(address, r.url+"/") && !strings.HasPrefix(address, "data:") {
			t.Errorf("a page asked for %.80s", address)
		}
	}
}

// searchTells types words into the search of the page that is open, and waits until a reader sees what is wanted: the
// results, or the sentence that there are none.
func (r *reader) searchTells(all map[string]string) {
	r.Helper()
	for word, want := range all {
		look := fmt.Sprintf(`new Promise((done, fail) => {
			const field = document.querySelector("#search"), end = setTimeout(() => fail("nothing is told"), 20000);
			field.value = %q;
			field.dispatchEvent(new Event("input"));
			const look = () => { const told = document.querySelector("#found"), list = document.querySelector(".results");
				const seen = list.hidden ? told : list, box = seen.getBoundingClientRect();
				told.textContent.includes(%q) && seen.checkVisibility() && box.width > 100 && box.height > 20 ?
					(clearTimeout(end), done(told.textContent)) : setTimeout(look, 20); };
			look();
		})`, word, want)
		if _, err := chromedp.Run(r.ctx, chromedp.Evaluate[string](look, chromedp.EvalAwaitPromise)); err != nil {
			r.Errorf("the search for %s does not show %q: %v", word, want, err)
		}
	}
}

// codeIsHandy looks at the guide on a phone: no page is wider than it, long code scrolls within its box, and each
// piece has a button that copies it.
func (r *reader) codeIsHandy() {
	r.Helper()
	r.see("/docs", look{"light", 375, 1})
	const look = `(async () => {
		const all = [...document.querySelectorAll("pre")], html = document.documentElement;
		const kept = [];
		Object.defineProperty(navigator, "clipboard", {value: {writeText: async text => { kept.push(text); }}});
		for (const pre of all) { pre.nextElementSibling.click(); await 0; }
		return [html.scrollWidth <= 375 && "the page fits", all.some(pre => pre.scrollWidth > pre.clientWidth) && "code scrolls",
			kept.length === all.length && kept.every((text, i) => text === all[i].textContent) && "code is copied"].join(", ");
	})()`
	got, err := chromedp.Run(r.ctx, chromedp.Evaluate[string](look, chromedp.EvalAwaitPromise))
	if want := "the page fits, code scrolls, code is copied"; err != nil || got != want {
		r.Errorf("on a phone: %q, %v", got, err)
	}
}

// TestSamplesRun pastes the samples that need none of our clients for the story of a gift: sent, validated, redeemed,
// reversed. test/sdk runs all samples.
func TestSamplesRun(t *testing.T) {
	w, err := start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.stop() })
	for language, command := range map[string][]string{"curl": {"bash", "-c"}, "php": {"php", "-r"}} {
		if _, err := exec.LookPath(command[0]); err != nil {
			t.Logf("LEFT OUT: there is no %s, so the samples in %s were not run", command[0], language)
			continue
		}
		s := &samples{T: t, url: w.url, language: language, command: command, folder: t.TempDir()}
		client, err := os.ReadFile("../../sdk/php/boon.php")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.folder+"/boon.php", client, 0o600); err != nil {
			t.Fatal(err)
		}
		sent := s.run("sendGift", "")
		gift, code := member(sent, "voucherID"), member(sent, "voucherCode")
		for id, want := range map[string]string{gift: `"voucherID":"`, code: `"voucherCode":"`} {
			if id == "" {
				t.Fatalf("%s: %s lacks %s", language, sent, want)
			}
		}
		s.run("validateGift", `"isRedeemable":true`, "482913576024", code)
		taken := map[string]string{"curl": `"amount":10.00`, "php": `"amount":"10.00"`}[language]
		redeemed := s.run("redeemGift", taken, "01a1f97c-752e-7a01-8d11-5b0c6b3e9a01", gift,
			`"reference": `, `"organizationID": "`+prefix+`11", "reference": `, // this key has several locations
			`'reference' => `, `'organizationID' => '`+prefix+`11', 'reference' => `)
		s.run("reverseRedemption", `"reversalID"`, "01a1f97c-a74f-7d01-8d11-5b0c6b3e9c01",
			member(redeemed, "redemptionID"))
	}
}

func member(answer, name string) string {
	if m := regexp.MustCompile(`"` + name + `":"([^"]*)"`).FindStringSubmatch(answer); m != nil {
		return m[1]
	}
	return ""
}

type samples struct {
	*testing.T
	url, language, folder string
	command               []string
}

// run runs a sample with other ids in it, and gives what it prints, in which want is.
func (s *samples) run(operation, want string, other ...string) string {
	s.Helper()
	answer, err := http.Get(s.url + "/docs/reference/" + operation)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		s.Fatal(err)
	}
	m := regexp.MustCompile(`(?s)data-language="` + s.language + `"><code>(.*?)</code>`).FindSubmatch(page)
	if m == nil {
		s.Fatalf("%s has no sample in %s", operation, s.language)
	}
	other = append(other, "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c", prefix) // the accounts of the examples and of this world
	text := strings.TrimPrefix(html.UnescapeString(string(m[1])), "<?php")
	text = strings.NewReplacer(other...).Replace(text)
	command := exec.Command(s.command[0], append(s.command[1:], text)...)
	command.Dir = s.folder
	command.Env = append(os.Environ(), "BOON_URL="+s.url, "BOON_KEY="+key)
	out, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(out), want) {
		s.Fatalf("%s in %s: %v, %s\n%s", operation, s.language, err, out, text)
	}
	return string(out)
}
