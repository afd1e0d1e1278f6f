package qr

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"sync"
)

// PNG draws the code with its quiet zone, each module a square of scale pixels, black on white: an image without grey,
// so that it stays sharp at whatever size it is shown.
func (c *Code) PNG(scale int) ([]byte, error) {
	side := (c.Size + 2*QuietZone) * scale
	img := image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{color.White, color.Black})
	for y := range c.Size {
		row := img.Pix[(y+QuietZone)*scale*img.Stride:][:img.Stride]
		for x := range c.Size {
			if c.Dark(x, y) {
				dark := row[(x+QuietZone)*scale:][:scale]
				for i := range dark {
					dark[i] = 1
				}
			}
		}
		for n := 1; n < scale; n++ {
			copy(img.Pix[((y+QuietZone)*scale+n)*img.Stride:], row)
		}
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: buffers}).Encode(&b, img); err != nil {
		return nil, fmt.Errorf("drawing a QR code: %w", err)
	}
	return b.Bytes(), nil
}

// buffers are what the encoder works with: a mail in a bulk need not make its own.
var buffers = &encoderBuffers{}

type encoderBuffers struct{ pool sync.Pool }

func (b *encoderBuffers) Get() *png.EncoderBuffer {
	buffer, _ := b.pool.Get().(*png.EncoderBuffer)
	return buffer
}

func (b *encoderBuffers) Put(buffer *png.EncoderBuffer) { b.pool.Put(buffer) }
