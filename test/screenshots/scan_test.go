package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"boon.example/internal/post/qr"
	"boon.example/test/chromium"
)

// TestScanPage has a scanner that we did not write read the QR code off the screen of a small phone, in both themes and
// all designs. Where browser or scanner is not installed, the drawing in the page is compared module by module with the
// code of its address instead.
func TestScanPage(t *testing.T) {
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
	if _, noBrowser := chromium.Find(); noScanner == nil && noBrowser == nil {
		b, closeBrowser, err := launch(t.Context(), onlyPictures()...)
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
	img, err := b.shoot(address, look{theme, phone, 1})
	if err != nil {
		t.Fatal(err)
	}
	if width := img.Bounds().Dx(); width != phone {
		t.Errorf("the page is %d pixels wide on a phone of %d", width, phone)
	}
	return scan(t, img)
}

// scan has zbarimg read the QR code in a picture.
func scan(t *testing.T, img image.Image) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "seen.png")
	if err := savePNG(file, img); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "zbarimg", "--quiet", "--raw", "-Sdisable", "-Sqrcode.enable",
		file).Output()
	if err != nil {
		t.Fatalf("zbarimg: %v", err)
	}
	return strings.TrimSpace(string(out))
}

var inlineQR = regexp.MustCompile(`<img [^>]*src="data:image/png;base64,([^"]+)"[^>]* alt="The QR code of your gift[^"]*"`)

// TestScanMail reads the QR code that a mail brings along: its image as it is and, where there is a browser, the mail
// alone and in the outbox, in the light and in the dark.
func TestScanMail(t *testing.T) {
	w, err := start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.stop(); err != nil {
			t.Error(err)
		}
	})
	g, err := w.gift(t.Context(), "mail", designs[2].id)
	if err != nil {
		t.Fatal(err)
	}
	path, err := w.message(t.Context(), "Anna")
	if err != nil {
		t.Fatal(err)
	}
	page, err := w.get(t.Context(), path+"/html")
	if err != nil {
		t.Fatal(err)
	}
	found := inlineQR.FindSubmatch(page)
	if found == nil {
		t.Fatal("the mail shows no QR code")
	}
	file, err := base64.StdEncoding.DecodeString(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	want := publicURL + g.path
	if !drawn(t, img, want) {
		t.Error("the image is not module by module the code of the gift's address")
	}
	if _, err := exec.LookPath("zbarimg"); err != nil {
		return
	}
	if got := scan(t, img); got != want {
		t.Errorf("read %q from the mail's image, want %q", got, want)
	}
	if _, err := chromium.Find(); err != nil {
		return
	}
	b, closeBrowser, err := launch(t.Context(), onlyPictures()...)
	if err != nil {
		t.Fatal(err)
	}
	defer closeBrowser()
	for _, theme := range []string{"light", "dark"} {
		for _, address := range []string{path + "/html", path} { // alone, and in the frame of its page in the outbox
			if got := readScreen(t, b, w.url+address, theme); got != want {
				t.Errorf("read %q from the mail on a screen, %s, want %q", got, theme, want)
			}
		}
	}
}

// drawn reports whether an image is a drawing of a text's code with its quiet zone, each module of the same whole
// number of pixels.
func drawn(t *testing.T, img image.Image, text string) bool {
	t.Helper()
	code, err := qr.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	size := img.Bounds().Dx()
	module := size / (code.Size + 2*qr.QuietZone)
	for y := range size {
		for x := range size {
			r, _, _, _ := img.At(x, y).RGBA()
			if (r == 0) != code.Dark(x/module-qr.QuietZone, y/module-qr.QuietZone) {
				return false
			}
		}
	}
	return module > 0 && size%module == 0
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

// TestScanBars has a scanner that we did not write read the bar code off the screen of a small phone, beside the QR
// code, in both themes and all designs.
func TestScanBars(t *testing.T) {
	_, noScanner := exec.LookPath("zbarimg")
	if _, noBrowser := chromium.Find(); noScanner != nil || noBrowser != nil {
		t.Skip("LEFT OUT: there is no zbarimg, or no browser")
	}
	w, err := start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.stop(); err != nil {
			t.Error(err)
		}
	})
	with := strings.NewReplacer(", accentColor:", ", barCode: true, accentColor:", "\n        accentColor:",
		"\n        barCode: true\n        accentColor:").Replace(setupFile)
	if err := w.apply(t.Context(), with); err != nil {
		t.Fatal(err)
	}
	b, closeBrowser, err := launch(t.Context(), onlyPictures()...)
	if err != nil {
		t.Fatal(err)
	}
	defer closeBrowser()
	for _, d := range designs {
		g, err := w.gift(t.Context(), "ready", d.id)
		if err != nil {
			t.Fatal(err)
		}
		for page := ""; !strings.Contains(page, "Bar code of this gift"); { // the service reads its set-up now and then
			text, err := w.get(t.Context(), g.path)
			if err != nil {
				t.Fatal(err)
			}
			page = string(text)
		}
		for _, theme := range []string{"light", "dark"} {
			img, err := b.shoot(w.url+g.path, look{theme, phone, 1})
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "seen.png")
			if err := savePNG(file, img); err != nil {
				t.Fatal(err)
			}
			out, err := exec.CommandContext(t.Context(), "zbarimg", "--quiet", "-Sdisable", "-Scode128.enable",
				"-Sqrcode.enable", file).Output()
			for _, want := range []string{"CODE-128:" + g.code, "QR-Code:" + publicURL + g.path} {
				if !strings.Contains(string(out), want+"\n") {
					t.Errorf("design %s, %s: read %q (%v), want %q", d.name, theme, out, err, want)
				}
			}
		}
	}
}
