package card

import (
	"fmt"
	"math"
	"slices"
)

// Color is an sRGB colour.
type Color struct{ R, G, B uint8 }

// Black and White are the two colours that text on a card can have.
var (
	Black = Color{}
	White = Color{255, 255, 255}
)

// builtInAccent is the colour of the card where no design names one.
var builtInAccent = Color{0x14, 0x4f, 0x46}

// ParseColor reads #rrggbb.
func ParseColor(s string) (Color, bool) {
	var c Color
	if len(s) != 7 || s[0] != '#' {
		return Color{}, false
	}
	for i, part := range []*uint8{&c.R, &c.G, &c.B} {
		high, low := hexDigit(s[1+2*i]), hexDigit(s[2+2*i])
		if high < 0 || low < 0 {
			return Color{}, false
		}
		*part = uint8(high<<4 | low)
	}
	return c, true
}

func hexDigit(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return int(b - '0')
	case b >= 'a' && b <= 'f':
		return int(b-'a') + 10
	case b >= 'A' && b <= 'F':
		return int(b-'A') + 10
	}
	return -1
}

// String writes #rrggbb.
func (c Color) String() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// Text is the colour of text that can be read on c: black or white, whichever contrasts more. The worse of the two
// cases is a ratio of 4.58, above the 4.5 that WCAG 2.2 asks for (success criterion 1.4.3).
func (c Color) Text() Color {
	if Contrast(c, Black) > Contrast(c, White) {
		return Black
	}
	return White
}

// On is c moved towards the colour of text on the first of some grounds, just as far as needed for text of its own
// colour to be read on all of them.
func (c Color) On(grounds ...Color) Color {
	to := grounds[0].Text()
	const steps = 32
	for step := range steps {
		moved := c.mix(to, step, steps)
		if !slices.ContainsFunc(grounds, func(g Color) bool { return Contrast(moved, g) < readable }) {
			return moved
		}
	}
	return to
}

// readable is the contrast that WCAG 2.2 asks for in text (success criterion 1.4.3).
const readable = 4.5

// mix is the colour that lies so many of all steps between c and another.
func (c Color) mix(to Color, step, steps int) Color {
	part := func(a, b uint8) uint8 { return uint8(((steps-step)*int(a) + step*int(b)) / steps) }
	return Color{part(c.R, to.R), part(c.G, to.G), part(c.B, to.B)}
}

// Shade is c moved a quarter away from the colour of its text, so that text can be read on everything between the two.
func (c Color) Shade() Color {
	to := Black
	if c.Text() == Black {
		to = White
	}
	return c.mix(to, 1, 4)
}

// Contrast is the contrast ratio of two colours, from 1 to 21 (WCAG 2.2).
func Contrast(a, b Color) float64 {
	la, lb := a.luminance(), b.luminance()
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// luminance is the relative luminance (WCAG 2.2).
func (c Color) luminance() float64 {
	linear := func(part uint8) float64 {
		v := float64(part) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}
