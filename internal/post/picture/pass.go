package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"

	"golang.org/x/image/draw"
)

// Filling makes a PNG of what of a picture fills a box of width by height pixels, the rest cut off evenly. It is never
// larger than the picture was.
func Filling(file []byte, width, height int) ([]byte, error) {
	img, err := read(file)
	if err != nil {
		return nil, err
	}
	from := filling(img, width, height)
	scale := min(1, float64(from.Dx())/float64(width))
	to := image.NewNRGBA(image.Rect(0, 0, pixels(width, scale), pixels(height, scale)))
	draw.CatmullRom.Scale(to, to.Bounds(), img, from, draw.Src, nil)
	return lossless(to)
}

// Within makes a PNG of the whole of a picture in a box of width by height pixels. It is never larger than the picture
// was.
func Within(file []byte, width, height int) ([]byte, error) {
	img, err := read(file)
	if err != nil {
		return nil, err
	}
	size := img.Bounds().Size()
	scale := min(1, float64(width)/float64(size.X), float64(height)/float64(size.Y))
	to := image.NewNRGBA(image.Rect(0, 0, pixels(size.X, scale), pixels(size.Y, scale)))
	draw.CatmullRom.Scale(to, to.Bounds(), img, img.Bounds(), draw.Src, nil)
	return lossless(to)
}

// Tile makes a square PNG of the whole of a picture on white, with a margin of a tenth.
func Tile(file []byte, side int) ([]byte, error) {
	img, err := read(file)
	if err != nil {
		return nil, err
	}
	size := img.Bounds().Size()
	scale := float64(side) * 0.8 / float64(max(size.X, size.Y))
	w, h := pixels(size.X, scale), pixels(size.Y, scale)
	to := image.NewNRGBA(image.Rect(0, 0, side, side))
	draw.Draw(to, to.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	at := image.Pt((side-w)/2, (side-h)/2)
	draw.CatmullRom.Scale(to, image.Rectangle{at, at.Add(image.Pt(w, h))}, img, img.Bounds(), draw.Over, nil)
	return lossless(to)
}

func lossless(img *image.NRGBA) ([]byte, error) {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return nil, fmt.Errorf("This picture cannot be kept: %w.", err)
	}
	return b.Bytes(), nil
}
