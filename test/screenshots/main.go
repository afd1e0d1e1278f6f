// Command screenshots takes the pictures in docs/pictures: the gift page on a phone in every state, both themes and three designs, the
// mail as the outbox shows it, and the PDFs. It runs a service of its own and needs chromium and pdftoppm.
//
//	go run ./test/screenshots [-to docs/pictures]
package main

import (
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"log"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	log.SetFlags(0)
	to := flag.String("to", "docs/pictures", "folder for the pictures")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *to); err != nil {
		log.Fatalf("screenshots: %v", err)
	}
}

func run(ctx context.Context, to string) (err error) {
	b, closeBrowser, err := launch(ctx)
	if err != nil {
		return err
	}
	defer closeBrowser()
	dir, err := os.MkdirTemp("", "boon-screenshots-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w, err := start(ctx, dir)
	if err != nil {
		return err
	}
	defer func() {
		if stopped := w.stop(); err == nil {
			err = stopped
		}
	}()
	s := &studio{world: w, browser: b, to: to}
	for i, d := range designs {
		for _, take := range []func(context.Context, string, string, int) error{s.pages, s.mail, s.paper} {
			if err := take(ctx, d.name, d.id, i); err != nil {
				return fmt.Errorf("design %s: %w", d.name, err)
			}
		}
	}
	return nil
}

// studio takes pictures and saves them.
type studio struct {
	*world
	*browser
	to    string
	mails int
}

func (s *studio) save(name string, img image.Image) error {
	file := filepath.Join(s.to, name+".png")
	fmt.Println(file)
	return savePNG(file, img)
}

// pages puts the page in every state side by side, once for each theme.
func (s *studio) pages(ctx context.Context, name, design string, first int) error {
	gifts, err := s.gifts(ctx, design)
	if err != nil {
		return err
	}
	for _, theme := range []string{"light", "dark"} {
		var row []image.Image
		for _, g := range gifts {
			img, err := s.shoot(s.url+g.path, theme, phone, 1)
			if err != nil {
				return err
			}
			row = append(row, img)
		}
		if err := s.save("page-"+name+"-"+theme, sideBySide(row)); err != nil {
			return err
		}
	}
	if first > 0 {
		return nil
	}
	img, err := s.shoot(s.url+gifts[0].path, "light", phone, 2)
	if err != nil {
		return err
	}
	const seen = 2 * 980 // down to the code; what follows is on the other pictures
	top := image.NewNRGBA(image.Rect(0, 0, img.Bounds().Dx(), min(seen, img.Bounds().Dy())))
	draw.Draw(top, top.Bounds(), img, img.Bounds().Min, draw.Src)
	return s.save("gift-phone", top)
}

// mail shows an e-mail on a phone and on a desk.
func (s *studio) mail(ctx context.Context, name, design string, _ int) error {
	before := s.mails
	if _, err := s.gift(ctx, "mail", design); err != nil {
		return err
	}
	path, err := s.world.mail(ctx, before)
	if err != nil {
		return err
	}
	s.mails++
	var row []image.Image
	for _, width := range []int64{phone, 700} {
		img, err := s.shoot(s.url+path, "light", width, 1)
		if err != nil {
			return err
		}
		row = append(row, img)
	}
	return s.save("mail-"+name, sideBySide(row))
}

// paper shows the PDF of one gift, and in one design that of a used one and an order's sheet.
func (s *studio) paper(ctx context.Context, name, design string, first int) error {
	states := []string{"ready"}
	if first == 0 {
		states = []string{"ready", "partly", "not-yet", "pending", "redeemed", "expired", "withdrawn"}
	}
	var row []image.Image
	for _, state := range states {
		g, err := s.gift(ctx, state, design)
		if err != nil {
			return err
		}
		img, err := s.sheet(ctx, g.path+"/print.pdf", "60")
		if err != nil {
			return err
		}
		row = append(row, img)
	}
	order, err := s.order(ctx, design)
	if err != nil {
		return err
	}
	img, err := s.sheet(ctx, order, "60")
	if err != nil {
		return err
	}
	return s.save("pdf-"+name, sideBySide(append(row, img)))
}

func (s *studio) sheet(ctx context.Context, path, resolution string) (image.Image, error) {
	pdf, err := s.get(ctx, path)
	if err != nil {
		return nil, err
	}
	return paper(ctx, pdf, resolution)
}

// sideBySide puts pictures into a row, with grey between them.
func sideBySide(row []image.Image) image.Image {
	const gap = 12
	width, height := gap, 0
	for _, img := range row {
		width += img.Bounds().Dx() + gap
		height = max(height, img.Bounds().Dy())
	}
	to := image.NewNRGBA(image.Rect(0, 0, width, height+2*gap))
	draw.Draw(to, to.Bounds(), image.NewUniform(color.NRGBA{0x8a, 0x8a, 0x8a, 0xff}), image.Point{}, draw.Src)
	x := gap
	for _, img := range row {
		draw.Draw(to, image.Rect(x, gap, x+img.Bounds().Dx(), gap+img.Bounds().Dy()), img, img.Bounds().Min, draw.Src)
		x += img.Bounds().Dx() + gap
	}
	return to
}
