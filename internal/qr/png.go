package qr

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
)

// PNG draws the code with its quiet zone, each module a square of scale pixels, black on white: an image without grey, so that it
// stays sharp at whatever size it is shown.
func (c *Code) PNG(scale int) ([]byte, error) {
	side := (c.Size + 2*QuietZone) * scale
	img := image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{color.White, color.Black})
	for y := range side {
		for x := range side {
			if c.Dark(x/scale-QuietZone, y/scale-QuietZone) {
				img.Pix[y*img.Stride+x] = 1
			}
		}
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
		return nil, fmt.Errorf("drawing a QR code: %w", err)
	}
	return b.Bytes(), nil
}
