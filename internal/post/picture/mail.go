package picture

import (
	"fmt"
	"image"
	"image/color"

	"golang.org/x/image/draw"
)

// Banner makes a copy of a picture for a mail: what of it fills a box of width by height pixels, the rest cut off
// evenly, what is transparent in the colour of the ground. Where the copy would have more than limit bytes, it becomes
// smaller in the same shape.
func Banner(file []byte, width, height int, ground color.Color, limit int) (Picture, error) {
	return lighter(file, limit, func(img image.Image, shrink float64) *image.NRGBA {
		from := filling(img, width, height)
		scale := min(1, float64(from.Dx())/float64(width)) * shrink // never larger than it was
		return onGround(img, from, image.Rect(0, 0, pixels(width, scale), pixels(height, scale)), 0, ground)
	})
}

// Badge makes a copy of a picture for a mail: the whole of it on a white ground with a margin all around, both together
// in a box of width by height pixels. So a dark logo can be seen where a mail program darkens what is behind it. limit
// is that of Banner.
func Badge(file []byte, width, height, margin, limit int) (Picture, error) {
	return lighter(file, limit, func(img image.Image, shrink float64) *image.NRGBA {
		size := img.Bounds().Size()
		scale := min(float64(width-2*margin)/float64(size.X), float64(height-2*margin)/float64(size.Y)) * shrink
		edge := pixels(margin, shrink)
		to := image.Rect(0, 0, pixels(size.X, scale)+2*edge, pixels(size.Y, scale)+2*edge)
		return onGround(img, img.Bounds(), to, edge, color.White)
	})
}

// filling is what of a picture has the shape of a box, in its middle.
func filling(img image.Image, width, height int) image.Rectangle {
	from := img.Bounds()
	if size := from.Size(); size.X*height > size.Y*width {
		cut := size.X - max(1, size.Y*width/height)
		from.Min.X, from.Max.X = from.Min.X+cut/2, from.Max.X-(cut-cut/2)
	} else {
		cut := size.Y - max(1, size.X*height/width)
		from.Min.Y, from.Max.Y = from.Min.Y+cut/2, from.Max.Y-(cut-cut/2)
	}
	return from
}

func pixels(n int, scale float64) int { return max(1, int(float64(n)*scale+0.5)) }

// onGround draws a part of a picture into a box, on an opaque ground that stands out by margin.
func onGround(img image.Image, from, box image.Rectangle, margin int, ground color.Color) *image.NRGBA {
	to := image.NewNRGBA(box)
	draw.Draw(to, box, image.NewUniform(ground), image.Point{}, draw.Src)
	draw.CatmullRom.Scale(to, box.Inset(margin), img, from, draw.Over, nil)
	return to
}

// lighter makes copies of a picture, each smaller than the one before, until one has no more than limit bytes.
func lighter(file []byte, limit int, make func(img image.Image, shrink float64) *image.NRGBA) (Picture, error) {
	img, err := read(file)
	if err != nil {
		return Picture{}, err
	}
	for shrink := 1.0; shrink > 0.1; shrink *= 0.75 {
		if p, err := encode(make(img, shrink)); err != nil || len(p.Bytes) <= limit {
			return p, err
		}
	}
	return Picture{}, fmt.Errorf("This picture does not get smaller than %d bytes.", limit)
}
