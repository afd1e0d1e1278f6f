package picture

import (
	"image"
	"image/color"
	"math/rand/v2"
	"testing"
)

func TestBanner(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]struct {
		size, want image.Point
	}{
		"wide": {image.Pt(1400, 200), image.Pt(500, 200)}, "tall": {image.Pt(300, 1200), image.Pt(300, 120)},
		"small": {image.Pt(50, 20), image.Pt(50, 20)}, "line": {image.Pt(8, 1400), image.Pt(8, 3)},
	} {
		img := corner(from.size.X, from.size.Y)
		p, err := Banner(asPNG(t, img), 1000, 400, color.White, 200_000)
		if err != nil || p.Size != from.want || decoded(t, p).Bounds().Size() != p.Size {
			t.Errorf("%s: %v, want %v (%v)", name, p.Size, from.want, err)
		}
	}
	clear := image.NewNRGBA(image.Rect(0, 0, 50, 20))
	p, err := Banner(asPNG(t, clear), 50, 20, red, 200_000)
	if err != nil || !isRed(decoded(t, p), false, false) {
		t.Errorf("what is transparent is not in the colour of the ground: %v", err)
	}
}

func TestBadge(t *testing.T) {
	t.Parallel()
	for _, size := range []image.Point{{600, 600}, {600, 60}, {60, 600}, {16, 16}, {600, 8}, {8, 600}} {
		img := corner(size.X, size.Y)
		img.SetNRGBA(0, 0, color.NRGBA{}) // so that it has transparent parts
		p, err := Badge(asPNG(t, img), 400, 96, 10, 40_000)
		if err != nil || p.Size.X > 400 || p.Size.Y > 96 || p.Size.X < 20 || p.Size.Y < 20 || p.Size.X < 399 &&
			p.Size.Y < 95 {
			t.Fatalf("%v becomes %v, %v", size, p.Size, err)
		}
		if r, g, b, a := decoded(t, p).At(2, 2).RGBA(); r < 0xf000 || g < 0xf000 || b < 0xf000 || a != 0xffff {
			t.Errorf("%v: the margin is not white", size)
		}
	}
}

// TestLighter: a picture that does not shrink well is made smaller until it is light enough, in its shape.
func TestLighter(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 1040, 416))
	noise := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = uint8(noise.Uint32())
	}
	file := asPNG(t, img)
	p, err := Banner(file, 1040, 416, color.White, 60_000)
	if err != nil || len(p.Bytes) > 60_000 || p.Size.X < 100 || p.Size.X*2 < p.Size.Y*5-5 || p.Size.X*2 > p.Size.Y*5+5 {
		t.Errorf("%d bytes, %v, %v", len(p.Bytes), p.Size, err)
	}
	if _, err := Badge(file, 400, 96, 10, 10); err == nil {
		t.Error("a picture of at most ten bytes was made")
	}
	if _, err := Banner([]byte("<svg/>"), 10, 4, color.White, 1000); err == nil {
		t.Error("an SVG became a banner")
	}
}
