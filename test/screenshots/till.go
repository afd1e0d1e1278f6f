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

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/pin"
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
	account, err := guid.Parse(prefix + "01")
	if err != nil {
		return "", err
	}
	location, err := guid.Parse(prefix + "11")
	if err != nil {
		return "", err
	}
	may, _ := merchant.RoleByName("till")
	_, token, err = setup.CreateKey(ctx, s, setup.KeyRequest{Account: account, Name: name, Till: true,
		Locations: []guid.ID{location}, Permissions: may}, time.Now(), rand.Reader)
	return token, err
}

// till shows a gift being taken, on a phone: scanned, worth something, taken, and in the day's list; and what a till
// shows beside that. In English by day, in German by night.
func (s *studio) till(ctx context.Context) error {
	shown := []struct{ language, theme string }{{"en", "light"}, {"de", "dark"}}
	beside := map[string][]image.Image{}
	for _, as := range shown {
		token, err := s.pairTill(ctx, "Counter "+as.language)
		if err != nil {
			return err
		}
		t := &tillShots{studio: s, language: as.language, look: look{as.theme, phone, 1}}
		day, more, err := t.day(ctx, token)
		if err != nil {
			return fmt.Errorf("the till in %s: %w", as.language, err)
		}
		if err := s.save("till-"+as.language, grid(day, len(day))); err != nil {
			return err
		}
		beside[as.language] = more
	}
	if err := s.employ(ctx); err != nil {
		return err
	}
	for _, as := range shown { // who stands at it
		t := &tillShots{studio: s, language: as.language, look: look{as.theme, phone, 1}}
		people, err := t.people(ctx)
		if err != nil {
			return fmt.Errorf("people in %s: %w", as.language, err)
		}
		all := append(beside[as.language], people...)
		if err := s.save("till-more-"+as.language, grid(all, len(all)/2)); err != nil {
			return err
		}
	}
	return nil
}

// employ names people in the set-up.
func (s *studio) employ(ctx context.Context) error {
	hash, err := pin.Hash("4711")
	if err != nil {
		return err
	}
	people := fmt.Sprintf("    people: [{name: Ana, pin: %q}, {name: Ben, pin: %[1]q}, {name: Maria Fernanda, "+
		"pin: %[1]q}]\n", hash)
	return s.apply(ctx, strings.Replace(setupFile, "    storefronts:", people+"    storefronts:", 1))
}

// tillShots are pictures of a till.
type tillShots struct {
	*studio
	language string
	look     look
}

// step is a click on what a selector finds, or a script in brackets, and what is true then; "shoot" takes a picture.
type step struct{ do, until string }

func at(view string) string { return fmt.Sprintf("document.body?.dataset.at === %q", view) }

func result(look string) string {
	return fmt.Sprintf(`document.querySelector("[data-view=result]")?.dataset.look === %q`, look)
}

// digits types the code of a gift.
func digits(g gift) string {
	return fmt.Sprintf(`(() => { const e = document.querySelector("#digits"); e.value = %q;
		e.dispatchEvent(new Event("input")); })()`, g.code)
}

// cut has the calls of a page come to nothing.
const cut = `(() => { const whole = fetch; globalThis.fetch = (to, how) => String(to).includes("/api/") &&
	!String(to).includes("validate") ? Promise.reject(new TypeError("cut")) : whole(to, how); })()`

// forget makes the browser no till, which would otherwise ask whether it is to become another one.
func (s *studio) forget(ctx context.Context) error {
	return chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, network.ClearBrowserCookies, cdp.Empty{})
		return err
	}))
}

func (t *tillShots) day(parent context.Context, token string) (day, more []image.Image, err error) {
	g, err := t.gift(parent, "ready", designs[0].id)
	if err != nil {
		return nil, nil, err
	}
	used, err := t.gift(parent, "redeemed", designs[0].id)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(t.ctx, timeout)
	defer cancel()
	if err := t.forget(ctx); err != nil {
		return nil, nil, err
	}
	if err := t.open(ctx, t.url+"/till/pair?lang="+t.language+"#"+token, t.look); err != nil {
		return nil, nil, err
	}
	if more, err = t.steps(ctx, step{"(localStorage.clear())", "true"}, step{"shoot", "true"},
		step{"button.pair", `!document.querySelector("a.open").hidden`}, step{"shoot", "true"}); err != nil {
		return nil, nil, err
	}
	home := t.url + "/till?lang=" + t.language
	if err := t.open(ctx, home, t.look); err != nil {
		return nil, nil, err
	}
	key := func(n int) step { return step{fmt.Sprintf(".gift .keypad button:nth-child(%d)", n), "true"} }
	if day, err = t.steps(ctx, step{"shoot", at("home")}, step{digits(g), at("gift")}, key(1), key(8), key(5), key(11),
		step{"shoot", `!document.querySelector("button.take").disabled`}, step{"button.take", result("yes")},
		step{"shoot", "true"}, step{".open-today", `!document.querySelector(".today .full").hidden && ` + at("today")},
		step{"shoot", "true"}); err != nil {
		return nil, nil, err
	}
	// the line is cut; a gift has nothing left
	if err := t.open(ctx, home, t.look); err != nil {
		return nil, nil, err
	}
	beside, err := t.steps(ctx, step{"(0)", at("home")}, step{digits(used), at("gift")}, step{"shoot", "true"},
		step{".gift .back", at("home")}, step{digits(g), at("gift")}, step{".all", "true"}, step{cut, "true"},
		step{"button.take", result("unknown")}, step{"shoot", "true"})
	return day, append(more, beside...), err
}

// people shows who may stand at the till that was paired last, and a wrong PIN.
func (t *tillShots) people(parent context.Context) (all []image.Image, err error) {
	ctx, cancel := context.WithTimeout(t.ctx, timeout)
	defer cancel()
	home := t.url + "/till?lang=" + t.language
	if err := t.open(ctx, t.url+"/till/pair", t.look); err != nil { // forget what was cut off
		return nil, err
	}
	if _, err := t.steps(ctx, step{"(localStorage.clear())", "true"}); err != nil {
		return nil, err
	}
	for there := false; !there; { // until the people are learned of
		if err := t.open(ctx, home, t.look); err != nil {
			return nil, err
		}
		if err := wait(ctx, at("people")+" || "+at("home")); err != nil {
			return nil, err
		}
		if there, err = chromedp.Run(ctx, chromedp.Evaluate[bool](at("people"))); err != nil {
			return nil, err
		}
	}
	wrong := `(() => { document.querySelector(".pin").value = "4712"; document.querySelector(".pin-form").requestSubmit(); })()`
	if all, err = t.steps(ctx, step{"shoot", "true"}, step{".names li:first-child button", at("pin")},
		step{wrong, `document.querySelector(".pin-form .error").textContent !== ""`}, step{"shoot", "true"}); err != nil {
		return nil, err
	}
	return all, nil
}

func (t *tillShots) steps(ctx context.Context, steps ...step) (shots []image.Image, err error) {
	for _, s := range steps {
		switch {
		case s.do == "shoot":
		case strings.HasPrefix(s.do, "("):
			_, err = chromedp.Run(ctx, chromedp.Evaluate[*string](s.do+"; null"))
		default:
			err = press(ctx, s.do, s.until)
		}
		if err == nil {
			err = wait(ctx, s.until)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.do, err)
		}
		if s.do != "shoot" {
			continue
		}
		shot, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		if err != nil {
			return nil, err
		}
		img, err := png.Decode(bytes.NewReader(shot))
		if err != nil {
			return nil, err
		}
		shots = append(shots, img)
	}
	return shots, nil
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
