package till

import (
	"bytes"
	"context"
	"os/exec"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// printed is what stands on the paper when the page is printed; "" where pdftotext is not installed.
func (d *device) printed(name string) string {
	d.Helper()
	reader, err := exec.LookPath("pdftotext")
	if err != nil {
		d.Log("LEFT OUT: pdftotext is not installed, so that nobody read what a till prints")
		return ""
	}
	var paper []byte
	d.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		made, err := cdp.Call(ctx, t, page.PrintToPDF, page.PrintToPDFParams{})
		if err == nil {
			paper = made.Data
		}
		return err
	}))
	d.keep(name+".pdf", paper)
	read := exec.CommandContext(d.Context(), reader, "-layout", "-", "-")
	read.Stdin = bytes.NewReader(paper)
	text, err := read.Output()
	if err != nil {
		d.Fatal(err)
	}
	return strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(string(text))
}

// dayOnPaper fails the test where the printed day has not what is handed over, or has what is there to be pressed.
func (d *device) dayOnPaper() {
	d.Helper()
	text := d.printed("day")
	if text == "" {
		return
	}
	for _, want := range []string{"Harbor Coffee · Pier 39 · Counter 1", "Paid with gifts", "$16.25", "Taken",
		"Given back", "$35.00", "2 pieces"} {
		if !strings.Contains(text, want) {
			d.Errorf("%q is not printed:\n%s", want, text)
		}
	}
	for _, pressed := range []string{"Undo", "Print", "Back", "English"} {
		if strings.Contains(text, pressed) {
			d.Errorf("%q is printed:\n%s", pressed, text)
		}
	}
}
