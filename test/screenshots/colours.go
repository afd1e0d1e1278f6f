package main

import (
	"cmp"
	"image"
	"image/color"
	"slices"
)

// fewColours draws a picture with the 256 colours that are most frequent in it, each other one as the nearest of them:
// pictures of pages have few, and become a third of the size.
func fewColours(img image.Image) image.Image {
	const most = 256
	size := img.Bounds()
	count := map[color.NRGBA]int{}
	for y := size.Min.Y; y < size.Max.Y; y++ {
		for x := size.Min.X; x < size.Max.X; x++ {
			count[near(img.At(x, y))]++
		}
	}
	frequent := make([]color.NRGBA, 0, len(count))
	for c := range count {
		frequent = append(frequent, c)
	}
	slices.SortFunc(frequent, func(a, b color.NRGBA) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(packed(a), packed(b)))
	})
	var palette color.Palette
	for _, c := range frequent[:min(most, len(frequent))] {
		palette = append(palette, c)
	}
	index := map[color.NRGBA]uint8{}
	for c := range count {
		index[c] = uint8(palette.Index(c))
	}
	to := image.NewPaletted(image.Rect(0, 0, size.Dx(), size.Dy()), palette)
	for y := range size.Dy() {
		for x := range size.Dx() {
			to.Pix[y*to.Stride+x] = index[near(img.At(size.Min.X+x, size.Min.Y+y))]
		}
	}
	return to
}

// near is a colour without its last bits, of which the eye takes no notice, but with those that make white white.
func near(c color.Color) color.NRGBA {
	r, g, b, _ := c.RGBA()
	round := func(v uint32) uint8 {
		v = (v >> 8) &^ 3
		return uint8(v | v>>6)
	}
	return color.NRGBA{round(r), round(g), round(b), 255}
}

func packed(c color.NRGBA) int { return int(c.R)<<16 | int(c.G)<<8 | int(c.B) }
