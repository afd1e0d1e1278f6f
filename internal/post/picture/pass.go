package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"sync"

	"golang.org/x/image/draw"
)

// Filling makes PNGs of what of a picture fills a box of width by height points, the rest cut off evenly: one for each
// fineness of a screen, which is how many pixels it has to a point, from 1 on. None is larger than the picture was.
func Filling(file []byte, width, height, fineness int) ([][]byte, error) {
	img, err := read(file)
	if err != nil {
		return nil, err
	}
	from := filling(img, width, height)
	return copies(img, from, fineness, func(fine int) image.Point {
		scale := min(1, float64(from.Dx())/float64(fine*width))
		return image.Pt(pixels(fine*width, scale), pixels(fine*height, scale))
	})
}

// Within does so for the whole of a picture in a box. Where it has transparent parts, it stands on white with a margin:
// a dark logo can then be seen on a dark card.
func Within(file []byte, width, height, fineness int) ([][]byte, error) {
	img, err := read(file)
	if err != nil {
		return nil, err
	}
	size := img.Bounds().Size()
	at := func(fine int) image.Point {
		scale := min(1, float64(fine*width)/float64(size.X), float64(fine*height)/float64(size.Y))
		return image.Pt(pixels(size.X, scale), pixels(size.Y, scale))
	}
	if o, can := img.(interface{ Opaque() bool }); !can || !o.Opaque() {
		to := image.Rectangle{Max: at(fineness)}
		img = onGround(img, img.Bounds(), to, min(to.Dx(), to.Dy())/10, color.White)
	}
	return copies(img, img.Bounds(), fineness, at)
}

// Tile makes square PNGs of the whole of a picture on white, with a margin of a tenth, likewise.
func Tile(file []byte, side, fineness int) ([][]byte, error) {
	img, err := read(file)
	if err != nil {
		return nil, err
	}
	size, whole := img.Bounds().Size(), fineness*side
	scale := float64(whole) * 0.8 / float64(max(size.X, size.Y))
	w, h := pixels(size.X, scale), pixels(size.Y, scale)
	to := image.NewNRGBA(image.Rect(0, 0, whole, whole))
	draw.Draw(to, to.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	at := image.Pt((whole-w)/2, (whole-h)/2)
	draw.CatmullRom.Scale(to, image.Rectangle{at, at.Add(image.Pt(w, h))}, img, img.Bounds(), draw.Over, nil)
	return copies(to, to.Rect, fineness, func(fine int) image.Point { return image.Pt(fine*side, fine*side) })
}

// copies makes a PNG of a part of a picture for each fineness. A guest waits for them: so the smaller ones are made of
// the largest one, which has all that they show, and while that is packed.
func copies(img image.Image, from image.Rectangle, fineness int, size func(fine int) image.Point) ([][]byte, error) {
	all, failed, kernel := make([][]byte, fineness), make([]error, fineness), draw.CatmullRom
	var packing sync.WaitGroup
	for n := fineness - 1; n >= 0; n-- {
		to := size(n + 1)
		if n < fineness-1 && to == from.Size() {
			continue // the largest one is no larger
		}
		made := image.NewNRGBA(image.Rectangle{Max: to})
		kernel.Scale(made, made.Rect, img, from, draw.Src, nil)
		packing.Go(func() { all[n], failed[n] = lossless(made) })
		if n == fineness-1 {
			img, from, kernel = made, made.Rect, draw.BiLinear // no finer than that: it is half the work
		}
	}
	packing.Wait()
	for n := range all {
		if all[n] == nil {
			all[n] = all[fineness-1]
		}
	}
	return all, errors.Join(failed...)
}

// lossless packs a picture: quickly, which makes a photograph a tenth larger.
func lossless(img *image.NRGBA) ([]byte, error) {
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
		return nil, fmt.Errorf("This picture cannot be kept: %w.", err)
	}
	return b.Bytes(), nil
}
