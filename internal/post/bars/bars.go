// Package bars draws a text as a bar code, Code 128 (ISO/IEC 15417): a row of dark and light bars for scanners that
// read no QR codes. It knows nothing of gifts.
package bars

import (
	"fmt"
	"html"
	"strings"

	"github.com/boombuler/barcode/code128"
)

// QuietZone is the width of the light margin on both sides that a scanner needs, in modules.
const QuietZone = 10

// Code is a bar code: a row of dark and light modules, without its quiet zone.
type Code struct{ modules []bool }

// Encode makes the bar code of a text of 1 to 80 ASCII characters. Digits take half the room of letters.
func Encode(text string) (*Code, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, fmt.Errorf("a bar code has no place for %q", text)
	}
	drawn, err := code128.Encode(text)
	if err != nil {
		return nil, fmt.Errorf("drawing a bar code: %w", err)
	}
	c := &Code{modules: make([]bool, drawn.Bounds().Dx())}
	for x := range c.modules {
		r, _, _, _ := drawn.At(x, 0).RGBA()
		c.modules[x] = r == 0
	}
	return c, nil
}

// Width is that of the code with its quiet zones, in modules.
func (c *Code) Width() int { return len(c.modules) + 2*QuietZone }

// Bar is a dark bar: where it begins, in a code with its quiet zones, and how wide it is, in modules.
type Bar struct{ At, Width int }

// Bars are the dark bars of the code from left to right.
func (c *Code) Bars() (all []Bar) {
	for x := 0; x < len(c.modules); x++ {
		run := 0
		for x+run < len(c.modules) && c.modules[x+run] {
			run++
		}
		if run > 0 {
			all = append(all, Bar{x + QuietZone, run})
			x += run
		}
	}
	return all
}

// svgHeight is how high an SVG is, in modules.
const svgHeight = 32

// SVG draws the code with its quiet zones as an svg element, dark on white whatever surrounds it, of no size of its
// own. title is what a screen reader says.
func (c *Code) SVG(title string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" shape-rendering="crispEdges">`,
		c.Width(), svgHeight)
	fmt.Fprintf(&b, `<title>%s</title><rect width="%d" height="%d" fill="#fff"/><path fill="#000" d="`,
		html.EscapeString(title), c.Width(), svgHeight)
	for _, bar := range c.Bars() {
		fmt.Fprintf(&b, "M%d 0h%dv%dh-%dz", bar.At, bar.Width, svgHeight, bar.Width)
	}
	b.WriteString(`"/></svg>`)
	return b.String()
}
