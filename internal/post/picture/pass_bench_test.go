package picture

import (
	"image"
	"testing"
)

// BenchmarkFilling measures the strip of a pass, which takes most of the time of the first pass of a design.
func BenchmarkFilling(b *testing.B) {
	photo := image.NewNRGBA(image.Rect(0, 0, 1600, 1000))
	for n := range photo.Pix {
		photo.Pix[n] = uint8(n/7) ^ uint8(uint32(n)*2654435761>>20)&15 | uint8(n&3/3)*255 // opaque, and grained
	}
	from, err := encode(photo)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Filling(from.Bytes, 375, 144, 3); err != nil {
			b.Fatal(err)
		}
	}
}
