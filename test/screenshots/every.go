package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"boon.example/client"
	"boon.example/internal/face/console"
)

// every is how each page is looked at: both languages, both themes, and a phone beside a desk. Printed, once each.
var every = []struct {
	language string
	look     look
}{{"en", look{"light", 1280, 1}}, {"en", look{"dark", 375, 1}}, {"de", look{"light", 375, 1}},
	{"de", look{"dark", 1280, 1}}}

const consoleHome = "/console/" + prefix + "01"

// shot is a page that is looked at: of the service, or at a whole address.
type shot struct{ name, path string }

// every takes a picture of each page, and prints each page of the console, so that somebody looks at all of them. There
// are some hundred, so none is kept beside the source.
func (s *studio) every(ctx context.Context) error {
	pages, err := s.consolePages(ctx)
	if err != nil {
		return err
	}
	invitation, err := s.invite(ctx, "Robin", "robin@example.com")
	if err != nil {
		return err
	}
	if err := s.eachWay(shot{"console-join", invitation}); err != nil {
		return err
	}
	if err := s.comeIn(invitation); err != nil {
		return err
	}
	for _, p := range pages {
		if err := s.eachWay(p); err != nil {
			return err
		}
		if err := s.printed(ctx, p); err != nil {
			return err
		}
	}
	if pages, err = s.outside(ctx); err != nil {
		return err
	}
	for _, p := range pages {
		if err := s.eachWay(p); err != nil {
			return err
		}
	}
	return s.pocket(ctx)
}

// eachWay takes the pictures of a page.
func (s *studio) eachWay(p shot) error {
	for _, as := range every {
		if err := s.speak(as.language); err != nil {
			return err
		}
		address := p.path
		if strings.HasPrefix(address, "/") {
			address = s.url + address
		}
		img, err := s.shoot(address, as.look)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := s.save(fmt.Sprintf("%s-%s-%s-%d", p.name, as.language, as.look.theme, as.look.width), img); err != nil {
			return err
		}
	}
	return nil
}

// speak has the browser ask for a language.
func (s *studio) speak(language string) error {
	limited, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	headers := network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": language}}
	return chromedp.Do(limited, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, network.SetExtraHTTPHeaders, headers)
		return err
	}))
}

// comeIn has somebody come in to the console by an invitation.
func (s *studio) comeIn(invitation string) error {
	limited, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	if err := s.open(limited, s.url+invitation, look{"light", 1280, 1}); err != nil {
		return err
	}
	if err := chromedp.Do(limited, chromedp.Click("main button"), chromedp.WaitVisible(".who")); err != nil {
		return fmt.Errorf("coming in to the console: %w", err)
	}
	return nil
}

// consolePages are the pages of the console with what they are about filled in.
func (s *studio) consolePages(ctx context.Context) (all []shot, err error) {
	one, err := s.guests(ctx)
	if err != nil {
		return nil, err
	}
	stock, err := s.api.CreateStock(ctx, client.CreateStockRequest{Count: 12, Value: client.MustDecimal("25")})
	if err != nil {
		return nil, err
	}
	fill := strings.NewReplacer("{voucher}", one, "{order}", stock.OrderID, "{$}", "", "{section}/{record}", "designs/new")
	for _, p := range console.Pages() {
		method, path, _ := strings.Cut(p.Pattern, " ")
		if method != http.MethodGet || p.Open || p.Outside || path == "/till" || path == "/{$}" ||
			strings.HasSuffix(path, "/file") || strings.HasSuffix(path, ".csv") {
			continue
		}
		paths := []string{fill.Replace(path)}
		for name, values := range map[string][]string{
			"{name}":    {"liability", "roll-forward", "redemptions", "settlement", "ageing", "breakage", "dormant", "journal"},
			"{section}": {"business", "promotions", "keys", "webhooks", "limits", "books"}} {
			if strings.Contains(paths[0], name) {
				of := paths[0]
				paths = nil
				for _, v := range values {
					paths = append(paths, strings.ReplaceAll(of, name, v))
				}
			}
		}
		for _, path := range paths {
			if !strings.Contains(path, "{") {
				name := strings.ReplaceAll(strings.Trim(strings.ReplaceAll(path, one, "gift"), "/"), "/", "-")
				all = append(all, shot{"console-" + strings.ReplaceAll(name, stock.OrderID, "order"), consoleHome + path})
			}
		}
	}
	return all, nil
}

// outside are pages that nobody has to come in for. It signs out of the console.
func (s *studio) outside(ctx context.Context) (all []shot, err error) {
	if _, err := s.gift(ctx, "mail", designs[1].id); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	if err := s.open(limited, s.url+consoleHome+"/you", look{"light", 1280, 1}); err != nil {
		return nil, err
	}
	err = chromedp.Do(limited, chromedp.Click(".who form button"), chromedp.WaitVisible(`main form[action$="/sign-in"]`))
	return append(all, shot{"outbox", "/outbox"}, shot{"console-sign-in", consoleHome + "/sign-in"}), err
}

// guestPages are the pages of guests, and the first of the till.
func (s *studio) guestPages(ctx context.Context) (all []shot, err error) {
	all = []shot{{"till", "/till"}, {"my", "/my/" + prefix + "01"}}
	for _, state := range []string{"ready", "partly", "pending"} {
		g, err := s.gift(ctx, state, designs[2].id)
		if err != nil {
			return nil, err
		}
		all = append(all, shot{"gift-" + state, g.path})
	}
	return all, nil
}

// printed keeps a page as the printer of a browser has it: as a PDF, and as pictures of its sheets.
func (s *studio) printed(ctx context.Context, p shot) error {
	limited, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	if err := s.open(limited, s.url+p.path, look{"dark", 1280, 1}); err != nil {
		return err
	}
	var pdf []byte
	err := chromedp.Do(limited, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		made, err := cdp.Call(ctx, t, page.PrintToPDF, page.PrintToPDFParams{})
		if err == nil {
			pdf = made.Data
		}
		return err
	}))
	if err != nil {
		return fmt.Errorf("printing %s: %w", p.name, err)
	}
	file := filepath.Join(s.to, "print-"+p.name)
	if err := os.WriteFile(file+".pdf", pdf, 0o644); err != nil {
		return err
	}
	render, err := exec.LookPath("pdftoppm")
	if err != nil {
		return nil
	}
	if out, err := exec.CommandContext(ctx, render, "-png", "-r", "50", file+".pdf", file).CombinedOutput(); err != nil {
		return fmt.Errorf("pdftoppm: %w\n%s", err, out)
	}
	return nil
}
