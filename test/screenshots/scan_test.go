package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"boon.example/internal/qr"
)

// TestScanPage has a scanner that we did not write read the QR code off the screen of a small phone, in both themes and all designs. Where
// browser or scanner is not installed, the drawing in the page is compared module by module with the code of its address instead.
func TestScanPage(t *testing.T) {
	t.Parallel()
	w, err := start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.stop(); err != nil {
			t.Error(err)
		}
	})
	read := readDrawing
	_, noScanner := exec.LookPath("zbarimg")
	if _, noBrowser := chromium(); noScanner == nil && noBrowser == nil {
		b, closeBrowser, err := launch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer closeBrowser()
		read = func(t *testing.T, w *world, path, theme, _ string) string { return readScreen(t, b, w.url+path, theme) }
	}
	for _, d := range designs {
		g, err := w.gift(t.Context(), "ready", d.id)
		if err != nil {
			t.Fatal(err)
		}
		for _, theme := range []string{"light", "dark"} {
			if got, want := read(t, w, g.path, theme, publicURL+g.path), publicURL+g.path; got != want {
				t.Errorf("design %s, %s: read %q, want %q", d.name, theme, got, want)
			}
		}
	}
}

// readScreen photographs the page and scans it.
func readScreen(t *testing.T, b *browser, address, theme string) string {
	t.Helper()
	img, err := b.shoot(address, theme, phone, 1)
	if err != nil {
		t.Fatal(err)
	}
	if width := img.Bounds().Dx(); width != phone {
		t.Errorf("the page is %d pixels wide on a phone of %d", width, phone)
	}
	file := filepath.Join(t.TempDir(), theme+".png")
	if err := savePNG(file, img); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "zbarimg", "--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", file).Output()
	if err != nil {
		t.Fatalf("zbarimg: %v", err)
	}
	return strings.TrimSpace(string(out))
}

var darkRun = regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-\d+z`)

// readDrawing gives want if the page draws its QR code, and something else if it draws anything else.
func readDrawing(t *testing.T, w *world, path, _, want string) string {
	t.Helper()
	page, err := w.get(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	code, err := qr.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	dark := 0
	for _, m := range darkRun.FindAllStringSubmatch(string(page), -1) {
		var n [3]int
		for i := range n {
			n[i], _ = strconv.Atoi(m[i+1])
		}
		for x := n[0]; x < n[0]+n[2]; x++ {
			dark++
			if !code.Dark(x-qr.QuietZone, n[1]-qr.QuietZone) {
				return fmt.Sprintf("a dark module at %d, %d", x, n[1])
			}
		}
	}
	for y := range code.Size {
		for x := range code.Size {
			if code.Dark(x, y) {
				dark--
			}
		}
	}
	if dark != 0 {
		return fmt.Sprintf("%d modules too many", dark)
	}
	return want
}
