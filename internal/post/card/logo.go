package card

import (
	"image"
	"image/color"
)

// LogoGround is what page, mail and paper draw below a logo, in every theme.
var LogoGround = White

const (
	// seen is the contrast that WCAG 2.2 asks for in what is not text (success criterion 1.4.11).
	seen = 3
	// leastSeen is the share of a logo's pixels that must have it: thin letters have few.
	leastSeen = 0.005
)

// LogoSeen reports whether a logo can be seen on its ground: a white one with a ground of its own only can, and one of
// a pale yellow cannot.
func LogoSeen(logo image.Image) bool {
	size, count := logo.Bounds(), 0
	for y := size.Min.Y; y < size.Max.Y; y++ {
		for x := size.Min.X; x < size.Max.X; x++ {
			if Contrast(over(logo.At(x, y), LogoGround), LogoGround) >= seen {
				count++
			}
		}
	}
	return float64(count) >= max(1, leastSeen*float64(size.Dx()*size.Dy()))
}

// over is a colour as it looks on a ground that shines through it.
func over(c color.Color, ground Color) Color {
	r, g, b, a := c.RGBA() // multiplied by a
	part := func(v uint32, ground uint8) uint8 { return uint8((v + (0xffff-a)*uint32(ground)/255) >> 8) }
	return Color{part(r, ground.R), part(g, ground.G), part(b, ground.B)}
}
