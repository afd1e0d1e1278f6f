package picture

import (
	"bytes"
	"image"
	"image/png"
	"testing"
)

// TestCopiesForScreens: each copy has the size of its screen, or that of the picture where it has no more, and shows
// the same part: the corner that is red in the picture.
func TestCopiesForScreens(t *testing.T) {
	t.Parallel()
	large, small := asPNG(t, corner(1600, 800)), asPNG(t, corner(300, 120))
	for name, test := range map[string]struct {
		make func() ([][]byte, error)
		want []image.Point
	}{
		"filling": {func() ([][]byte, error) { return Filling(large, 375, 144, 3) },
			[]image.Point{{375, 144}, {750, 288}, {1125, 432}}},
		"filling, of a small one": {func() ([][]byte, error) { return Filling(small, 250, 100, 3) },
			[]image.Point{{250, 100}, {300, 120}, {300, 120}}},
		"within": {func() ([][]byte, error) { return Within(large, 160, 50, 3) },
			[]image.Point{{100, 50}, {200, 100}, {300, 150}}},
		"within, of a small one": {func() ([][]byte, error) { return Within(small, 160, 50, 3) },
			[]image.Point{{125, 50}, {250, 100}, {300, 120}}},
	} {
		all, err := test.make()
		if err != nil || len(all) != len(test.want) {
			t.Fatalf("%s: %d copies, %v", name, len(all), err)
		}
		for n, file := range all {
			img, err := png.Decode(bytes.NewReader(file))
			if err != nil || img.Bounds().Size() != test.want[n] || !isRed(img, false, false) {
				t.Errorf("%s: copy %d is %v, want %v with a red corner (%v)", name, n+1, img.Bounds(), test.want[n], err)
			}
		}
	}
	clear := image.NewNRGBA(image.Rect(0, 0, 300, 120))
	all, err := Within(asPNG(t, clear), 160, 50, 3)
	for n, file := range all {
		img, failed := png.Decode(bytes.NewReader(file))
		if failed != nil || !white(img, 0, 0) || !white(img, img.Bounds().Dx()/2, img.Bounds().Dy()/2) {
			t.Errorf("copy %d of what is transparent is not white: %v", n+1, failed)
		}
	}
	if err != nil || len(all) != 3 {
		t.Errorf("%d copies of what is transparent, %v", len(all), err)
	}
	tiles, err := Tile(large, 29, 3)
	for n, file := range tiles {
		img, failed := png.Decode(bytes.NewReader(file))
		if failed != nil || img.Bounds().Size() != image.Pt(29*(n+1), 29*(n+1)) {
			t.Errorf("tile %d is %v, %v", n+1, img, failed)
		} else if !white(img, 1, 1) {
			t.Errorf("the margin of tile %d is not white", n+1)
		}
	}
	if _, broken := Tile([]byte("<svg/>"), 29, 3); err != nil || len(tiles) != 3 || broken == nil {
		t.Errorf("%d tiles, %v; of an SVG: %v", len(tiles), err, broken)
	}
}

func white(img image.Image, x, y int) bool {
	r, g, b, a := img.At(x, y).RGBA()
	return min(r, g, b, a) >= 0xf000
}
