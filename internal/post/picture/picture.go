// Package picture makes a merchant's picture fit to be published: a PNG, JPEG or WebP of bounded size is
// decoded, turned upright, made no larger than it needs to be, and encoded anew, so that nothing of what the file held
// beside its pixels is left: no place where it was taken, no thumbnail, no script. SVG is refused, for it can carry
// scripts.
//
// It knows nothing of gifts and no file system.
package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"boon.example/internal/base/phrase"
)

// MaxBytes is the size of the largest file that is read.
const MaxBytes = 4 << 20

// maxSide and maxPixels bound what a file may unfold to.
const (
	maxSide   = 8_000
	maxPixels = 24_000_000
	minSide   = 8
	quality   = 85 // of a JPEG
)

// Picture is a picture as it is kept.
type Picture struct {
	Bytes []byte
	JPEG  bool // else PNG
	Size  image.Point
}

var formats = []struct {
	name  string
	is    func([]byte) bool
	read  func(*bytes.Reader) (image.Image, error)
	shape func(*bytes.Reader) (image.Config, error)
}{
	{"PNG", starts("\x89PNG\r\n\x1a\n"), func(r *bytes.Reader) (image.Image, error) { return png.Decode(r) },
		func(r *bytes.Reader) (image.Config, error) { return png.DecodeConfig(r) }},
	{"JPEG", starts("\xff\xd8\xff"), func(r *bytes.Reader) (image.Image, error) { return jpeg.Decode(r) },
		func(r *bytes.Reader) (image.Config, error) { return jpeg.DecodeConfig(r) }},
	{"WebP", func(b []byte) bool { return starts("RIFF")(b) && len(b) > 12 && string(b[8:12]) == "WEBP" },
		func(r *bytes.Reader) (image.Image, error) { return webp.Decode(r) },
		func(r *bytes.Reader) (image.Config, error) { return webp.DecodeConfig(r) }},
}

func starts(with string) func([]byte) bool {
	return func(b []byte) bool { return bytes.HasPrefix(b, []byte(with)) }
}

// Clean reads a picture and makes it no larger than side pixels on either side. It stays a PNG where it has transparent
// parts, and becomes a JPEG where it has none and that is smaller. The same file makes the same bytes. The error is a
// sentence for the merchant.
func Clean(file []byte, side int) (Picture, error) { return CleanPart(file, Whole, side) }

// fitting makes a picture that was read no larger than side pixels, and turns it upright.
func fitting(img image.Image, turned, side int) (Picture, error) {
	small := scale(img, side)
	if min(small.Rect.Dx(), small.Rect.Dy()) < minSide { // it could not be read again
		size := img.Bounds().Size()
		return Picture{}, phrase.New("This picture is %d by %d pixels, which is too narrow: made to fit %d pixels, it must "+
			"have at least %d on either side.", size.X, size.Y, side, minSide)
	}
	return encode(upright(small, turned))
}

// read decodes a file within the limits.
func read(file []byte) (image.Image, error) {
	if len(file) > MaxBytes {
		return nil, phrase.New("This picture has %d bytes; at most %d MiB are read.", len(file), MaxBytes>>20)
	}
	for _, f := range formats {
		if !f.is(file) {
			continue
		}
		shape, err := f.shape(bytes.NewReader(file))
		if err != nil {
			return nil, phrase.New("This %s cannot be read; it seems to be damaged.", f.name)
		}
		if shape.Width < minSide || shape.Height < minSide || shape.Width > maxSide || shape.Height > maxSide ||
			shape.Width*shape.Height > maxPixels {
			return nil, phrase.New("This picture is %d by %d pixels; it must be at least %d and at most %d on either side, "+
				"and %d million in all.",
				shape.Width, shape.Height, minSide, maxSide, maxPixels/1_000_000)
		}
		img, err := f.read(bytes.NewReader(file))
		if err != nil {
			return nil, phrase.New("This %s cannot be read; it seems to be damaged.", f.name)
		}
		return img, nil
	}
	if bytes.Contains(bytes.ToLower(file[:min(len(file), 1_024)]), []byte("<svg")) {
		return nil, phrase.New("SVG is not taken, because it can carry scripts; export the picture as PNG.")
	}
	return nil, phrase.New("This is not a PNG, JPEG or WebP picture.")
}

// scale gives a copy of a picture in which neither side is longer than side.
func scale(img image.Image, side int) *image.NRGBA {
	size := img.Bounds().Size()
	w, h := size.X, size.Y
	if longest := max(w, h); longest > side {
		w, h = max(1, w*side/longest), max(1, h*side/longest)
	}
	to := image.NewNRGBA(image.Rect(0, 0, w, h))
	if w == size.X {
		draw.Draw(to, to.Bounds(), img, img.Bounds().Min, draw.Src)
	} else {
		draw.CatmullRom.Scale(to, to.Bounds(), img, img.Bounds(), draw.Src, nil)
	}
	return to
}

func encode(img *image.NRGBA) (Picture, error) {
	var lossless, small bytes.Buffer
	if err := png.Encode(&lossless, img); err != nil {
		return Picture{}, fmt.Errorf("This picture cannot be kept: %w.", err)
	}
	if !img.Opaque() {
		return Picture{Bytes: lossless.Bytes(), Size: img.Rect.Size()}, nil
	}
	if err := jpeg.Encode(&small, img, &jpeg.Options{Quality: quality}); err != nil {
		return Picture{}, fmt.Errorf("This picture cannot be kept: %w.", err)
	}
	if small.Len() < lossless.Len() {
		return Picture{small.Bytes(), true, img.Rect.Size()}, nil
	}
	return Picture{Bytes: lossless.Bytes(), Size: img.Rect.Size()}, nil
}
