package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"image"
	"image/png"
	"strings"
	"time"

	"github.com/chromedp/chromedp"

	domain "boon.example/internal/gift"
	"boon.example/internal/setup"
	"boon.example/internal/store"
)

// pairTill makes the token that a device is paired with, at Pier 39.
func (w *world) pairTill(ctx context.Context, name string) (token string, err error) {
	s, err := store.Open(ctx, store.Options{Dir: w.data})
	if err != nil {
		return "", err
	}
	defer s.Close()
	account, err := domain.ParseID(prefix + "01")
	if err != nil {
		return "", err
	}
	location, err := domain.ParseID(prefix + "11")
	if err != nil {
		return "", err
	}
	may, _ := domain.RoleByName("till")
	_, token, err = setup.CreateKey(ctx, s, setup.KeyRequest{Account: account, Name: name, Till: true,
		Locations: []domain.ID{location}, Permissions: may}, time.Now(), rand.Reader)
	return token, err
}

// till shows a gift being taken, on a phone: scanned, worth something, taken, and in the day's list; in English by day,
// in German by night.
func (s *studio) till(ctx context.Context) error {
	for _, shown := range []struct{ language, theme string }{{"en", "light"}, {"de", "dark"}} {
		token, err := s.pairTill(ctx, "Counter "+shown.language)
		if err != nil {
			return err
		}
		row, err := s.tillDay(ctx, token, shown.language, look{shown.theme, phone, 1})
		if err != nil {
			return fmt.Errorf("the till in %s: %w", shown.language, err)
		}
		if err := s.save("till-"+shown.language, grid(row, len(row))); err != nil {
			return err
		}
	}
	return nil
}

func (s *studio) tillDay(parent context.Context, token, language string, l look) (row []image.Image, err error) {
	g, err := s.gift(parent, "ready", designs[0].id)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	if err := s.open(ctx, s.url+"/till/pair?lang="+language+"#"+token, l); err != nil {
		return nil, err
	}
	if err := press(ctx, "button.pair", `!document.querySelector("a.open").hidden`); err != nil {
		return nil, err
	}
	if err := s.open(ctx, s.url+"/till?lang="+language, l); err != nil {
		return nil, err
	}
	at := func(view string) string { return fmt.Sprintf("document.body.dataset.at === %q", view) }
	digits := fmt.Sprintf(`(() => { const e = document.querySelector("#digits"); e.value = %q;
		e.dispatchEvent(new Event("input")); })()`, g.code)
	key := func(n int) string { return fmt.Sprintf(".gift .keypad button:nth-child(%d)", n) }
	for _, step := range []struct{ do, until string }{
		{"", at("home")},
		{digits, at("gift")},
		{key(1), "true"}, {key(8), "true"}, {key(5), "true"}, {key(11), `!document.querySelector("button.take").disabled`},
		{"shoot", "true"},
		{"button.take", `document.querySelector("[data-view=result]").dataset.look === "yes"`},
		{"shoot", "true"},
		{".open-today", `!document.querySelector(".today .full").hidden && ` + at("today")},
	} {
		switch {
		case step.do == "shoot":
		case strings.HasPrefix(step.do, "("):
			_, err = chromedp.Run(ctx, chromedp.Evaluate[*string](step.do+"; null"))
		case step.do != "":
			err = press(ctx, step.do, step.until)
		}
		if err == nil {
			err = wait(ctx, step.until)
		}
		if err != nil {
			return nil, err
		}
		if step.do == "" || step.do == "shoot" || step.do == ".open-today" {
			shot, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
			if err != nil {
				return nil, err
			}
			img, err := png.Decode(bytes.NewReader(shot))
			if err != nil {
				return nil, err
			}
			row = append(row, img)
		}
	}
	return row, nil
}

// press clicks what a selector finds, and waits.
func press(ctx context.Context, selector, until string) error {
	click := fmt.Sprintf("document.querySelector(%q).click(); null", selector)
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[*string](click)); err != nil {
		return fmt.Errorf("pressing %s: %w", selector, err)
	}
	return wait(ctx, until)
}

func wait(ctx context.Context, until string) error {
	_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`new Promise(done => { const look = () => (`+until+
		`) ? done(true) : setTimeout(look, 20); look(); })`, chromedp.EvalAwaitPromise))
	return err
}
