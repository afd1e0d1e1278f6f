package picture

import (
	"image"

	"boon.example/internal/base/phrase"
)

// Part is a part of a picture as people see it, in percent of its width and its height.
type Part struct{ Left, Top, Width, Height int }

// Whole is all of a picture.
var Whole = Part{Width: 100, Height: 100}

// Check refuses a part that is none. The error is a sentence for the merchant.
func (p Part) Check() error {
	if p.Left < 0 || p.Top < 0 || p.Width < 1 || p.Height < 1 || p.Left > 100-p.Width || p.Top > 100-p.Height {
		return phrase.New("The part of the picture must be within it: each number is a percentage of its width or height.")
	}
	return nil
}

// CleanPart is Clean for a part of a picture.
func CleanPart(file []byte, part Part, side int) (Picture, error) {
	if err := part.Check(); err != nil {
		return Picture{}, err
	}
	img, err := read(file)
	if err != nil {
		return Picture{}, err
	}
	turned := orientation(file)
	if cut, can := img.(interface {
		SubImage(r image.Rectangle) image.Image
	}); can && part != Whole {
		img = cut.SubImage(part.asStored(turned).within(img.Bounds()))
	}
	return fitting(img, turned, side)
}

// asStored is the part of a picture as its file has it, which an orientation of EXIF turns upright.
func (p Part) asStored(turned int) Part {
	if turned >= 5 { // the sides are swapped
		p = Part{p.Top, p.Left, p.Height, p.Width}
	}
	fromRight := turned == 2 || turned == 3 || turned == 7 || turned == 8
	fromBelow := turned == 3 || turned == 4 || turned == 6 || turned == 7
	if fromRight {
		p.Left = 100 - p.Left - p.Width
	}
	if fromBelow {
		p.Top = 100 - p.Top - p.Height
	}
	return p
}

// within are the pixels of the part.
func (p Part) within(b image.Rectangle) image.Rectangle {
	x := func(percent int) int { return b.Min.X + b.Dx()*percent/100 }
	y := func(percent int) int { return b.Min.Y + b.Dy()*percent/100 }
	return image.Rect(x(p.Left), y(p.Top), x(p.Left+p.Width), y(p.Top+p.Height))
}
