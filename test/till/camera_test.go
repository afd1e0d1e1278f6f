package till

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/post/qr"
)

// film makes what a camera sees, as Motion JPEG: a code on a card, a little uneven, on a counter. Chromium shows it
// again and again.
func film(t *testing.T, text string) string {
	t.Helper()
	code, err := qr.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	const width, height = 640, 480
	side := code.Size + 2*qr.QuietZone
	scale := 300 / side
	left, top := (width-scale*side)/2, (height-scale*side)/2
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.RGBA{uint8(90 + x/16), uint8(70 + y/16), 60, 255} // the counter
			if mx, my := (x-left)/scale, (y-top)/scale; x >= left && y >= top && mx < side && my < side {
				c = color.RGBA{235, 232, 226, 255} // the card
				if mx -= qr.QuietZone; mx >= 0 && mx < code.Size {
					if my -= qr.QuietZone; my >= 0 && my < code.Size && code.Dark(mx, my) {
						c = color.RGBA{40, 36, 38, 255}
					}
				}
			}
			img.SetRGBA(x, y, c)
		}
	}
	var frame bytes.Buffer
	if err := jpeg.Encode(&frame, img, &jpeg.Options{Quality: 80}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "counter.mjpeg")
	if err := os.WriteFile(file, bytes.Repeat(frame.Bytes(), 5), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestOwnDecoder: a browser that reads QR codes itself does, and loads no other decoder; where it reads other codes
// only, or fails at it, the shipped one reads. No browser of this kind reads codes itself: what stands for that has its
// interface.
func TestOwnDecoder(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	filmed, own := s.sell("25.50"), s.sell("12")
	d := s.pair(ownBrowser(t, s.server.URL, film(t, filmed.GiftURL), t.TempDir()), "Counter 1")
	d.at("home")
	const class = `globalThis.BarcodeDetector = class {
		static async getSupportedFormats() { return FORMATS; }
		constructor({formats}) { this.formats = formats; }
		async detect(source) {
			if (FAILS) throw new DOMException("no service", "NotSupportedError");
			const seen = source instanceof HTMLVideoElement && source.videoWidth > 0 && this.formats.join() === "qr_code";
			return seen ? [{rawValue: GIFT, format: "qr_code"}] : [];
		}
	}; null`
	for _, c := range []struct{ formats, fails, worth string }{
		{`["aztec", "qr_code"]`, "false", "$12.00"}, {`["ean_13"]`, "false", "$25.50"}, {`["qr_code"]`, "true", "$25.50"}} {
		js[*string](d, strings.NewReplacer("FORMATS", c.formats, "FAILS", c.fails, "GIFT", `"`+own.GiftURL+`"`).Replace(class))
		d.tapNow(".open-camera")
		d.at("gift")
		d.shows(".worth .figure", c.worth)
		d.mu.Lock()
		loaded := slices.ContainsFunc(d.asked, func(url string) bool { return strings.Contains(url, "zxing") })
		d.mu.Unlock()
		if loaded != (c.worth == "$25.50") {
			t.Errorf("with %s, failing: %s, the shipped decoder was loaded: %v", c.formats, c.fails, loaded)
		}
		js[*string](d, `localStorage.setItem("boon.camera", "closed"); null`)
		d.open("/till")
		d.at("home")
	}
	js[*string](d, `localStorage.removeItem("boon.camera"); null`)
	d.open("/till")
	d.at("gift") // where the camera was allowed, and nobody has closed it, it opens by itself
	d.calm()
}
