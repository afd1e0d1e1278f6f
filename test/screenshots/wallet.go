package main

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/chromedp"

	"boon.example/client"
	"boon.example/internal/post/pass/google"
	"boon.example/internal/post/pass/passtest"
	"boon.example/internal/post/qr"
)

// googleStandIn takes whatever Google would be sent.
func googleStandIn() (*httptest.Server, google.Addresses) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"access_token":"opened","expires_in":3600}`)
	}))
	return s, google.Addresses{Tokens: s.URL + "/token", Objects: s.URL}
}

// withWallets gives the merchant both wallets, in place of what a set-up has.
func (w *world) withWallets(ctx context.Context) error {
	f, err := passtest.Make(time.Now().AddDate(0, 6, 0))
	if err != nil {
		return err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	account, err := json.Marshal(map[string]string{"type": "service_account", "client_email": "gifts@harbor.example",
		"private_key_id": "k1", "private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))})
	if err != nil {
		return err
	}
	block := func(text []byte) string {
		return "|\n          " + strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n          ") + "\n"
	}
	return w.apply(ctx, strings.Replace(setupFile, "    storefronts:", "    wallet:\n      apple:\n        certificate: "+
		block(f.Certificate)+"        key: "+block(f.Key)+"      google: {issuerID: '3388000000012345678', serviceAccount: '"+
		string(account)+"'}\n    storefronts:", 1))
}

// pocket takes pictures of what guests have on their phones, and of the till that takes it.
func (s *studio) pocket(ctx context.Context) error {
	pages, err := s.guestPages(ctx)
	if err != nil {
		return err
	}
	more, err := s.walletPages(ctx)
	if err != nil {
		return err
	}
	for _, p := range append(pages, more...) {
		if err := s.eachWay(p); err != nil {
			return err
		}
	}
	if err := s.myPages(ctx); err != nil {
		return fmt.Errorf("my gifts: %w", err)
	}
	return s.tillViews(ctx)
}

// myPages takes pictures of the pages on which guests find all their gifts: of Anna, who was given some, and of Ben,
// who bought them.
func (s *studio) myPages(ctx context.Context) error {
	const my = "/my/" + prefix + "01"
	for n, d := range slices.Concat(designs, designs[:1]) {
		g, err := s.gift(ctx, "mail", d.id)
		if err != nil {
			return err
		}
		if err := s.delivered(ctx, g); err != nil {
			return err
		}
		if err := s.live(ctx, g.id, []string{"", "held", "redeemed", "blocked"}[n]); err != nil {
			return err
		}
	}
	for _, guest := range []struct{ contact, name, list string }{{"anna@example.com", "received", ""},
		{"ben@example.com", "bought", "?list=bought"}} {
		link, err := s.askForLink(ctx, my, guest.contact)
		if err != nil {
			return err
		}
		shots := []shot{{"my-sent", my + "/sent"}, {"my-link", link}, {"my-" + guest.name, my + guest.list},
			{"my-signed-out", my + "?out=yes"}, {"my-used-link", link}}
		for at, p := range shots {
			press := map[int][2]string{2: {"main button", "form.out"}, 3: {"form.out button", "form.search"}}[at]
			if press[0] != "" {
				if err := s.click(shots[at-1].path, press[0], press[1]); err != nil {
					return err
				}
			}
			if err := s.eachWay(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// delivered waits until the mail of a gift was sent.
func (w *world) delivered(ctx context.Context, g gift) error {
	for {
		switch is, err := w.api.Gift(ctx, g.id); {
		case err != nil:
			return err
		case is.Status != client.StatusPending:
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
}

var linkOf = regexp.MustCompile(`/my/[0-9a-f-]{36}/link/[A-Z2-7]{26}`)

// askForLink asks for a link to all gifts of a contact, and gives its path.
func (w *world) askForLink(ctx context.Context, my, contact string) (string, error) {
	answer, err := http.PostForm(w.url+my, url.Values{"contact": {contact}})
	if err != nil {
		return "", err
	}
	answer.Body.Close()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	mail, err := w.message(ctx, "Somebody")
	if err != nil {
		return "", fmt.Errorf("waiting for a link to %s: %w", contact, err)
	}
	text, err := w.get(ctx, mail)
	return linkOf.FindString(string(text)), err
}

// click presses a button of a page, which leads to one that has something else.
func (s *studio) click(path, button, has string) error {
	limited, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	if err := s.open(limited, s.url+path, look{"light", 375, 1}); err != nil {
		return err
	}
	return chromedp.Do(limited, chromedp.Click(button), chromedp.WaitVisible(has))
}

// tillViews takes pictures of a paired till: what it asks for, a gift, another card that pays the rest of a bill, what
// both paid, and the day.
func (s *studio) tillViews(ctx context.Context) error {
	token, err := s.pairTill(ctx, "Counter")
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	if err := s.open(limited, s.url+"/till/pair#"+token, look{"light", 375, 1}); err != nil {
		return err
	}
	t := &tillShots{studio: s}
	if _, err := t.steps(limited, step{"button.pair", `!document.querySelector("a.open").hidden`}); err != nil {
		return err
	}
	for _, as := range every {
		if err := s.sale(ctx, &tillShots{s, as.language, as.look}); err != nil {
			return fmt.Errorf("the till in %s: %w", as.language, err)
		}
	}
	return nil
}

// sale takes the pictures of a bill that two cards pay.
func (s *studio) sale(ctx context.Context, t *tillShots) error {
	first, err := s.gift(ctx, "ready", designs[0].id)
	if err != nil {
		return err
	}
	second, err := s.gift(ctx, "ready", designs[0].id)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	if err := s.open(limited, s.url+"/till?lang="+t.language, t.look); err != nil {
		return err
	}
	key := func(n int) step { return step{fmt.Sprintf(".gift .keypad button:nth-child(%d)", n), "true"} }
	shots, err := t.steps(limited, step{"shoot", at("home")}, step{digits(first), at("gift")}, key(4), key(11), key(11),
		key(11), step{"shoot", `!document.querySelector("button.take").disabled`}, step{".do-add", at("home")},
		step{"shoot", "true"},
		step{digits(second), at("gift")}, step{"shoot", `!document.querySelector("button.take").disabled`},
		step{"button.take", result("yes")}, step{"shoot", "true"},
		step{".open-today", `!document.querySelector(".today .full").hidden && ` + at("today")}, step{"shoot", "true"})
	if err != nil {
		return err
	}
	for n, name := range []string{"home", "gift", "another-card", "second-gift", "paid", "today"} {
		file := fmt.Sprintf("till-%s-%s-%s-%d", name, t.language, t.look.theme, t.look.width)
		if err := s.save(file, shots[n]); err != nil {
			return err
		}
	}
	return nil
}

// walletPages are the page of a gift and the mails with what leads to wallets, and passes in every state that differs.
func (s *studio) walletPages(ctx context.Context) (all []shot, err error) {
	if err := s.withWallets(ctx); err != nil {
		return nil, err
	}
	g, err := s.savable(ctx)
	if err != nil {
		return nil, err
	}
	all = append(all, shot{"gift-wallets", g.path})
	for _, state := range []string{"mail", "german mail"} {
		if _, err := s.gift(ctx, state, designs[2].id); err != nil {
			return nil, err
		}
		mail, err := s.message(ctx, "Anna")
		if err != nil {
			return nil, err
		}
		all = append(all, shot{strings.ReplaceAll(state, " ", "-") + "-wallet", mail + "/html"})
	}
	for _, d := range designs {
		for _, state := range []string{"ready", "partly", "redeemed"} {
			g, err := s.gift(ctx, state, d.id)
			if err != nil {
				return nil, err
			}
			all = append(all, shot{"pass-" + d.name + "-" + state, s.drawn(g)})
		}
	}
	for _, state := range []string{"talkative", "arabic", "expired", "cancelled", "blocked", "pending", "not-yet"} {
		g, err := s.gift(ctx, state, designs[1].id)
		if err != nil {
			return nil, err
		}
		all = append(all, shot{"pass-" + state, s.drawn(g)})
	}
	return all, nil
}

// savable makes a gift that Google has. Of one that was made before the service knew of the wallet, Google has nothing.
func (w *world) savable(ctx context.Context) (g gift, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for ctx.Err() == nil {
		if g, err = w.gift(ctx, "ready", designs[2].id); err != nil {
			return g, err
		}
		for range 30 {
			page, err := w.get(ctx, g.path)
			if err != nil || bytes.Contains(page, []byte(g.path+"/google")) {
				return g, err
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	return g, errors.New("the page of a gift has no link to Google Wallet")
}

// drawn is the address at which the pass of a gift is drawn.
func (s *studio) drawn(g gift) string {
	return s.passes + "/?" + url.Values{"of": {g.path}, "state": {g.state}}.Encode()
}

//go:embed pass.html
var passHTML string

var passPage = template.Must(template.New("pass").Parse(passHTML))

// drawPass draws the pass of a gift, in the language of the browser, as a page.
func (w *world) drawPass(to http.ResponseWriter, r *http.Request) {
	shown, err := w.readPass(r)
	if err == nil {
		to.Header().Set("Content-Type", "text/html; charset=utf-8")
		err = passPage.Execute(to, shown)
	}
	if err != nil {
		http.Error(to, err.Error(), http.StatusInternalServerError)
	}
}

type drawnPass struct {
	Language, State, Code string
	Pass                  any
	Pictures              map[string]string
}

// readPass gets a pass from the service, and takes it apart.
func (w *world) readPass(r *http.Request) (shown drawnPass, err error) {
	shown = drawnPass{Language: r.Header.Get("Accept-Language"), State: r.URL.Query().Get("state"),
		Pictures: map[string]string{}}
	ask, err := http.NewRequestWithContext(r.Context(), http.MethodGet, w.url+r.URL.Query().Get("of")+"/pass.pkpass", nil)
	if err != nil {
		return shown, err
	}
	ask.Header.Set("Accept-Language", shown.Language)
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return shown, err
	}
	defer answer.Body.Close()
	file, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return shown, fmt.Errorf("the pass: %s, %w", answer.Status, err)
	}
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return shown, err
	}
	for _, f := range z.File {
		content, err := z.Open(f.Name)
		if err != nil {
			return shown, err
		}
		text, err := io.ReadAll(content)
		if err != nil {
			return shown, err
		}
		switch {
		case strings.HasSuffix(f.Name, ".png"):
			shown.Pictures[f.Name] = inline(text)
		case f.Name == "pass.json":
			if err := shown.read(text); err != nil {
				return shown, err
			}
		}
	}
	return shown, nil
}

// read reads pass.json, and draws its QR code.
func (p *drawnPass) read(text []byte) error {
	var said struct{ Barcodes []struct{ Message string } }
	if err := errors.Join(json.Unmarshal(text, &p.Pass), json.Unmarshal(text, &said)); err != nil {
		return fmt.Errorf("reading pass.json: %w", err)
	}
	if len(said.Barcodes) == 0 {
		return nil
	}
	code, err := qr.Encode(said.Barcodes[0].Message)
	if err != nil {
		return err
	}
	picture, err := code.PNG(4)
	p.Code = inline(picture)
	return err
}

func inline(picture []byte) string {
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(picture)
}
