// Command screenshots takes the pictures in docs/pictures, in two languages: the gift page on a phone and the PDF in
// every state, the mails as a phone and a desk show them, all in three designs and both themes, the till, the console,
// the outbox, and /docs; and what tickets and calls of platforms are answered. It runs a service of its own and needs
// chromium and pdftoppm, but for the answers.
//
// With -every it takes each page of the console, of guests and of the till instead, on a phone and a desk, and prints
// those of the console; with -pocket those of guests and of the till, and passes of wallets as it draws them itself:
// some three hundred pictures for somebody to look at, which belong into no repository.
//
//	go -C test run ./screenshots [-to ../docs/pictures] [-answers | -console | -every | -pocket | -slow]
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
	to := flag.String("to", "", "folder for the pictures (default ../docs/pictures)")
	answers := flag.Bool("answers", false, "draw the answers only, which needs no browser")
	console := flag.Bool("console", false, "take the picture of the console only")
	every := flag.Bool("every", false, "take every page instead, into ../dist/pages where -to names no folder")
	pocket := flag.Bool("pocket", false, "of every page, take those of guests with their passes, and of the till")
	slow := flag.Bool("slow", false, "print how long each page takes to be seen on a slow phone, and take no picture")
	flag.Parse()
	what := (*studio).pictures
	switch {
	case *answers:
		what = (*studio).answers
	case *console:
		what = (*studio).console
	case *every:
		what = (*studio).every
	case *pocket:
		what = (*studio).pocket
	case *slow:
		what = (*studio).slow
	}
	if *to == "" {
		if *to = "../docs/pictures"; *every || *pocket {
			*to = "../dist/pages"
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *to, !*answers, what); err != nil {
		log.Fatalf("screenshots: %v", err)
	}
}

// run has a studio take pictures into a folder.
func run(ctx context.Context, to string, browses bool, take func(*studio, context.Context) error) (err error) {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
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
	s := &studio{world: w, to: to}
	if browses {
		b, closeBrowser, err := launch(ctx)
		if err != nil {
			return err
		}
		defer closeBrowser()
		s.browser = b
	}
	return take(s, ctx)
}

// pictures takes those in docs/pictures.
func (s *studio) pictures(ctx context.Context) error {
	if err := s.console(ctx); err != nil {
		return err
	}
	for _, d := range designs {
		for _, take := range []func(context.Context, string, string) error{s.pages, s.mails, s.papers} {
			if err := take(ctx, d.name, d.id); err != nil {
				return fmt.Errorf("design %s: %w", d.name, err)
			}
		}
	}
	if err := s.till(ctx); err != nil {
		return err
	}
	if err := s.docs(); err != nil {
		return err
	}
	if err := s.outbox(ctx); err != nil {
		return err
	}
	return s.answers(ctx)
}

// studio takes pictures and saves them.
type studio struct {
	*world
	*browser
	to string
}

func (s *studio) save(name string, img image.Image) error {
	file := filepath.Join(s.to, name+".png")
	fmt.Println(file)
	return savePNG(file, fewColours(img))
}

// pages shows the page in every state, once for each theme; in the dark, in German.
func (s *studio) pages(ctx context.Context, name, design string) error {
	gifts, err := s.gifts(ctx, design)
	if err != nil {
		return err
	}
	for theme, language := range map[string]string{"light": "", "dark": "?lang=de"} {
		var all []image.Image
		for _, g := range gifts {
			img, err := s.shoot(s.url+g.path+language, look{theme, phone, 1})
			if err != nil {
				return err
			}
			all = append(all, img)
		}
		if err := s.save("page-"+name+"-"+theme, grid(all, len(all))); err != nil {
			return err
		}
	}
	img, err := s.shoot(s.url+gifts[0].path, look{"light", phone, 2})
	if err != nil {
		return err
	}
	const seen = 2 * 1000 // the first screen and a half; what follows is on the other pictures
	top := image.NewNRGBA(image.Rect(0, 0, img.Bounds().Dx(), min(seen, img.Bounds().Dy())))
	draw.Draw(top, top.Bounds(), img, img.Bounds().Min, draw.Src)
	return s.save("phone-"+name, top)
}

// mails shows a mail on a phone, in both themes, and on a desk; beside it the notice of what is left. In the dark it is
// German.
func (s *studio) mails(ctx context.Context, name, design string) error {
	if _, err := s.gift(ctx, "german mail", design); err != nil {
		return err
	}
	german, err := s.message(ctx, "Anna")
	if err != nil {
		return err
	}
	g, err := s.gift(ctx, "mail", design)
	if err != nil {
		return err
	}
	mail, err := s.message(ctx, "Anna")
	if err != nil {
		return err
	}
	if err := s.use(ctx, g); err != nil {
		return err
	}
	notice, err := s.message(ctx, "left")
	if err != nil {
		return err
	}
	var row []image.Image
	for _, as := range []struct {
		path string
		look look
	}{{mail, look{"light", phone, 1}}, {german, look{"dark", phone, 1}}, {mail, look{"light", 620, 1}},
		{notice, look{"light", phone, 1}}} {
		img, err := s.shoot(s.url+as.path+"/html", as.look)
		if err != nil {
			return err
		}
		row = append(row, img)
	}
	return s.save("mail-"+name, grid(row, len(row)))
}

// papers shows the PDF in every state, in English and in German, larger in German, and an order's sheet.
func (s *studio) papers(ctx context.Context, name, design string) error {
	var english, german []image.Image
	for _, state := range states {
		g, err := s.gift(ctx, state, design)
		if err != nil {
			return err
		}
		for query, row := range map[string]*[]image.Image{"": &english, "?lang=de": &german} {
			img, err := s.sheet(ctx, g.path+"/print.pdf"+query, "40")
			if err != nil {
				return err
			}
			*row = append(*row, img)
		}
	}
	if err := s.save("pdf-"+name, grid(append(english, german...), len(english))); err != nil {
		return err
	}
	g, err := s.gift(ctx, "german", design)
	if err != nil {
		return err
	}
	order, err := s.order(ctx, design)
	if err != nil {
		return err
	}
	var pair []image.Image
	for _, path := range []string{g.path + "/print.pdf?paper=a4", order} {
		img, err := s.sheet(ctx, path, "80")
		if err != nil {
			return err
		}
		pair = append(pair, img)
	}
	return s.save("paper-"+name, grid(pair, 2))
}

// outbox shows the list and a message, on a desk and on a phone in the dark.
func (s *studio) outbox(ctx context.Context) error {
	if _, err := s.gift(ctx, "mail", designs[1].id); err != nil {
		return err
	}
	mail, err := s.message(ctx, "Anna")
	if err != nil {
		return err
	}
	var row []image.Image
	for _, as := range []struct {
		path string
		look look
	}{{"/outbox", look{"light", 760, 1}}, {mail, look{"light", 760, 1}}, {"/outbox?kind=print&q=pier+jo",
		look{"dark", phone, 1}}} {
		img, err := s.shoot(s.url+as.path, as.look)
		if err != nil {
			return err
		}
		row = append(row, img)
	}
	return s.save("outbox", grid(row, len(row)))
}

func (s *studio) sheet(ctx context.Context, path, resolution string) (image.Image, error) {
	pdf, err := s.get(ctx, path)
	if err != nil {
		return nil, err
	}
	return paper(ctx, pdf, resolution)
}

// grid puts pictures into rows, with grey between them.
func grid(all []image.Image, columns int) image.Image {
	const gap = 12
	width, height := 0, gap
	for i := 0; i < len(all); i += columns {
		w, h := gap, 0
		for _, img := range all[i:min(i+columns, len(all))] {
			w, h = w+img.Bounds().Dx()+gap, max(h, img.Bounds().Dy())
		}
		width, height = max(width, w), height+h+gap
	}
	to := image.NewNRGBA(image.Rect(0, 0, width, height))
	draw.Draw(to, to.Bounds(), image.NewUniform(color.NRGBA{0x8a, 0x8a, 0x8a, 0xff}), image.Point{}, draw.Src)
	y := gap
	for i := 0; i < len(all); i += columns {
		x, h := gap, 0
		for _, img := range all[i:min(i+columns, len(all))] {
			draw.Draw(to, image.Rect(x, y, x+img.Bounds().Dx(), y+img.Bounds().Dy()), img, img.Bounds().Min, draw.Src)
			x, h = x+img.Bounds().Dx()+gap, max(h, img.Bounds().Dy())
		}
		y += h + gap
	}
	return to
}
