package main

import (
	"image"
	"image/draw"
)

// docs shows the first screen of the reference on a desk, and of the guide on a phone in the dark.
func (s *studio) docs() error {
	var row []image.Image
	for _, as := range []struct {
		path string
		look look
	}{{"/docs/reference/redeemGift", look{"light", 1280, 1}}, {"/docs", look{"dark", phone, 1}}} {
		img, err := s.shoot(s.url+as.path, as.look)
		if err != nil {
			return err
		}
		top := image.NewNRGBA(image.Rect(0, 0, img.Bounds().Dx(), min(900, img.Bounds().Dy())))
		draw.Draw(top, top.Bounds(), img, img.Bounds().Min, draw.Src)
		row = append(row, top)
	}
	return s.save("docs", grid(row, len(row)))
}
