// Package qr draws a text as a QR code (ISO/IEC 18004), error correction level M, as one crisp SVG path.
//
// The bits are rsc.io/qr's; the choice of the mask is made here, because that library makes none and a code with an
// unlucky mask is hard to scan. The package knows nothing of gifts.
package qr

import (
	"errors"
	"fmt"
	"html"
	"strings"
	"sync"

	"rsc.io/qr/coding"
)

// QuietZone is the width of the light margin that a scanner needs, in modules.
const QuietZone = 4

// Code is a QR code: a square of dark and light modules, without its quiet zone.
type Code struct {
	Size    int // modules on a side
	modules []bool
}

var errTooLong = errors.New("this text is too long for a QR code")

// Encode makes the smallest code of level M that holds text as bytes, with the mask of the lowest penalty. It fails
// only for a text of more than 2,331 bytes.
func Encode(text string) (*Code, error) {
	data := coding.String(text)
	version := coding.Version(coding.MinVersion)
	for data.Bits(version) > version.DataBytes(coding.M)*8 {
		if version++; version > coding.MaxVersion {
			return nil, errTooLong
		}
	}
	var best *Code
	for mask, lowest := coding.Mask(0), 0; mask < 8; mask++ {
		c, err := encode(data, version, coding.M, mask)
		if err != nil {
			return nil, fmt.Errorf("encoding with mask %d: %w", mask, err)
		}
		if p := c.penalty(); best == nil || p < lowest {
			best, lowest = c, p
		}
	}
	return best, nil
}

// plans are kept: one takes as long to make as a code, and a sheet has a thousand codes of one size.
var plans sync.Map // of kind, *coding.Plan

type kind struct {
	version coding.Version
	level   coding.Level
	mask    coding.Mask
}

func planOf(version coding.Version, level coding.Level, mask coding.Mask) (*coding.Plan, error) {
	if known, ok := plans.Load(kind{version, level, mask}); ok {
		return known.(*coding.Plan), nil
	}
	plan, err := coding.NewPlan(version, level, mask)
	if err == nil {
		plans.Store(kind{version, level, mask}, plan)
	}
	return plan, err
}

func encode(data coding.Encoding, version coding.Version, level coding.Level, mask coding.Mask) (*Code, error) {
	plan, err := planOf(version, level, mask)
	if err != nil {
		return nil, err
	}
	raw, err := plan.Encode(data)
	if err != nil {
		return nil, err
	}
	c := &Code{Size: raw.Size, modules: make([]bool, raw.Size*raw.Size)}
	for y := range c.Size {
		for x := range c.Size {
			c.modules[y*c.Size+x] = raw.Black(x, y)
		}
	}
	return c, nil
}

// Dark reports whether the module in column x and row y is dark; outside of the code everything is light.
func (c *Code) Dark(x, y int) bool {
	return x >= 0 && x < c.Size && y >= 0 && y < c.Size && c.modules[y*c.Size+x]
}

// SVG draws the code with its quiet zone as an svg element, dark on white whatever surrounds it, of no size of its own.
// title is what a screen reader says.
func (c *Code) SVG(title string) string {
	var b strings.Builder
	side := c.Size + 2*QuietZone
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" shape-rendering="crispEdges">`,
		side, side)
	fmt.Fprintf(&b, `<title>%s</title><rect width="%d" height="%d" fill="#fff"/><path fill="#000" d="`,
		html.EscapeString(title), side, side)
	for y := range c.Size {
		for x := 0; x < c.Size; x++ {
			run := 0
			for c.Dark(x+run, y) {
				run++
			}
			if run > 0 {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", x+QuietZone, y+QuietZone, run, run)
				x += run
			}
		}
	}
	b.WriteString(`"/></svg>`)
	return b.String()
}
