package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"testing"
)

// TestPartsAreAsPeopleSeeThem: the part of a picture that is cut out is that of the upright picture, however a camera
// stored it.
func TestPartsAreAsPeopleSeeThem(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 160, 80))
	for x := range 160 {
		for y := range 80 {
			img.SetNRGBA(x, y, color.NRGBA{R: uint8(x), G: uint8(3 * y), B: 90, A: 255})
		}
	}
	part := Part{Left: 50, Top: 20, Width: 30, Height: 40}
	for turned := uint16(1); turned <= 8; turned++ {
		file := asJPEG(t, img, turned, binary.BigEndian)
		whole, err := Clean(file, 1_000)
		if err != nil {
			t.Fatal(err)
		}
		cut, err := CleanPart(file, part, 1_000)
		if err != nil {
			t.Fatal(err)
		}
		from, is := decoded(t, whole), decoded(t, cut)
		size := from.Bounds().Size()
		if want := image.Pt(size.X*30/100, size.Y*40/100); is.Bounds().Size() != want {
			t.Fatalf("turned %d: the part is %v, not %v", turned, is.Bounds().Size(), want)
		}
		for _, at := range []image.Point{{2, 2}, {is.Bounds().Dx() - 3, 2}, {2, is.Bounds().Dy() - 3}} {
			want := from.At(size.X*50/100+at.X, size.Y*20/100+at.Y)
			if got := is.At(at.X, at.Y); far(got, want) {
				t.Errorf("turned %d: at %v there is %v, not %v", turned, at, got, want)
			}
		}
	}
}

// far reports whether two colors differ by more than a JPEG loses.
func far(a, b color.Color) bool {
	r, g, _, _ := a.RGBA()
	s, h, _, _ := b.RGBA()
	differ := func(x, y uint32) bool { return max(x, y)-min(x, y) > 14<<8 }
	return differ(r, s) || differ(g, h)
}

// TestPartsThatAreNone are refused, and so is one that is too narrow to be a picture; all of it is what Clean makes.
func TestPartsThatAreNone(t *testing.T) {
	t.Parallel()
	file := asPNG(t, corner(100, 100))
	for _, none := range []Part{{}, {-1, 0, 10, 10}, {0, 0, 101, 10}, {60, 0, 50, 10}, {0, 90, 10, 11},
		{0, 0, 1 << 62, 1 << 62}, {1 << 62, 0, 1 << 62, 10}, {0, 0, 5, 50}} {
		if _, err := CleanPart(file, none, 1_000); err == nil {
			t.Errorf("%v is taken for a part", none)
		}
	}
	whole, err := CleanPart(file, Whole, 1_000)
	if clean, wrong := Clean(file, 1_000); err != nil || wrong != nil || !bytes.Equal(whole.Bytes, clean.Bytes) {
		t.Errorf("all of it is something else: %v, %v", err, wrong)
	}
	if _, err := CleanPart([]byte("<svg>"), Whole, 1_000); err == nil {
		t.Error("what is no picture is taken")
	}
}
