package card

import (
	"image"
	"image/color"
	"image/draw"
	"testing"
)

func TestLogoSeen(t *testing.T) {
	t.Parallel()
	clear, white, black := color.NRGBA{}, color.NRGBA{255, 255, 255, 255}, color.NRGBA{A: 255}
	for name, tc := range map[string]struct {
		ground, mark color.NRGBA
		side         int // of the mark, out of 100
		want         bool
	}{
		"black":              {clear, black, 60, true},
		"white":              {clear, white, 60, false},
		"white on black":     {black, white, 60, true},
		"pale yellow":        {clear, color.NRGBA{255, 210, 63, 255}, 60, false},
		"red":                {clear, color.NRGBA{200, 30, 30, 255}, 60, true},
		"black, hardly":      {clear, color.NRGBA{A: 20}, 60, false},
		"a speck":            {clear, black, 3, false},
		"small letters":      {white, black, 8, true},
		"nothing":            {clear, clear, 1, false},
		"grey, just too few": {white, color.NRGBA{0x95, 0x95, 0x95, 255}, 60, false},
	} {
		img := image.NewNRGBA(image.Rect(5, 5, 105, 105))
		draw.Draw(img, img.Bounds(), image.NewUniform(tc.ground), image.Point{}, draw.Src)
		draw.Draw(img, image.Rect(20, 20, 20+tc.side, 20+tc.side), image.NewUniform(tc.mark), image.Point{}, draw.Src)
		if got := LogoSeen(img); got != tc.want {
			t.Errorf("%s: seen %t, want %t", name, got, tc.want)
		}
	}
}
