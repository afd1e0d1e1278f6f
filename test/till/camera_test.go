package till

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"

	"boon.example/internal/qr"
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
