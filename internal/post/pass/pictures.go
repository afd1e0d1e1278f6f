package pass

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/png"

	"golang.org/x/image/vector"

	"boon.example/internal/post/card"
	"boon.example/internal/post/picture"
)

// Pictures are the pictures of a pass, by the names of their files: the icon that stands in notices, the logo above the
// pass, and the strip behind its balance.
type Pictures map[string]Picture

// Picture is a file, with its digest: it is a part of many passes, and not summed up for each.
type Picture struct {
	File   []byte
	digest string
}

func pictureOf(file []byte) Picture { return Picture{file, digestOf(file)} }

// The sizes of pictures in points. A fine screen has two or three pixels to a point.
const (
	iconSide                = 29
	logoWidth, logoHeight   = 160, 50
	stripWidth, stripHeight = 375, 144
	fineness                = 3
)

// Draw makes the pictures of a pass from those of its design, which are files as package picture made them; nil: the
// design has none. The icon is never missing, as phones take no pass without one.
func Draw(logo, strip []byte, accent card.Color) (Pictures, error) {
	made := Pictures{}
	add := func(name string, all [][]byte, err error) error {
		for n, file := range all {
			if n == 0 {
				made[name+".png"] = pictureOf(file)
			} else {
				made[fmt.Sprintf("%s@%dx.png", name, n+1)] = pictureOf(file)
			}
		}
		return err
	}
	icons := make([][]byte, fineness)
	for n := range icons {
		icon, err := encoded(bow((n+1)*iconSide, accent))
		if err != nil {
			return nil, err
		}
		icons[n] = icon
	}
	if logo != nil {
		var err error
		if icons, err = picture.Tile(logo, iconSide, fineness); err != nil {
			return nil, err
		}
		logos, err := picture.Within(logo, logoWidth, logoHeight, fineness)
		if err := add("logo", logos, err); err != nil {
			return nil, err
		}
	}
	if strip != nil {
		strips, err := picture.Filling(strip, stripWidth, stripHeight, fineness)
		if err := add("strip", strips, err); err != nil {
			return nil, err
		}
	}
	return made, add("icon", icons, nil)
}

// bow is the icon of a design without a logo: a parcel in the ink of the card on its ground.
func bow(side int, ground card.Color) *image.NRGBA {
	to := image.NewNRGBA(image.Rect(0, 0, side, side))
	draw.Draw(to, to.Bounds(), image.NewUniform(opaque{ground}), image.Point{}, draw.Src)
	at := func(n float32) float32 { return n * float32(side) / 32 }
	r := vector.NewRasterizer(side, side)
	for _, box := range [][4]float32{{6, 12, 26, 17}, {7.5, 18.5, 14.75, 26}, {17.25, 18.5, 24.5, 26}} {
		r.MoveTo(at(box[0]), at(box[1]))
		r.LineTo(at(box[2]), at(box[1]))
		r.LineTo(at(box[2]), at(box[3]))
		r.LineTo(at(box[0]), at(box[3]))
		r.ClosePath()
	}
	for _, way := range []float32{-1, 1} { // the loops
		r.MoveTo(at(16), at(11))
		r.CubeTo(at(16+2*way), at(5), at(16+8*way), at(6), at(16+7*way), at(11))
		r.ClosePath()
	}
	r.Draw(to, to.Bounds(), image.NewUniform(opaque{ground.Text()}), image.Point{})
	return to
}

// opaque is a colour of a card as one of pictures.
type opaque struct{ card.Color }

// RGBA implements color.Color.
func (c opaque) RGBA() (r, g, b, a uint32) {
	return 0x101 * uint32(c.R), 0x101 * uint32(c.G), 0x101 * uint32(c.B), 0xffff
}

func encoded(img image.Image) ([]byte, error) {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return nil, fmt.Errorf("drawing an icon: %w", err)
	}
	return b.Bytes(), nil
}
