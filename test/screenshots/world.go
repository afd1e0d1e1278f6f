package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"boon.example/client"
	"boon.example/internal/server"
	"boon.example/internal/setup"
	"boon.example/internal/store"
)

const (
	key = "boon_live_screenshots_0123456789abcdefghij"
	// publicURL is what QR codes hold; the browser is led to the local address.
	publicURL = "https://gifts.example.com"

	prefix = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1f"
)

// designs are the three looks: a plain colour, a logo on a dark colour, and logo and picture on a light one.
var designs = []struct{ name, id string }{{"plain", prefix + "41"}, {"logo", prefix + "42"}, {"picture", prefix + "43"}}

const setupFile = `accounts:
  - id: ` + prefix + `01
    name: Harbor Coffee
    currency: USD
    timeZone: America/New_York
    language: en
    balanceNotice: true
    maxGiftValue: 2000000
    limits: {messagesPerContactPerDay: 1000} # each picture of a mail is a mail to Anna
    subscriptions: [{program: 22222222-2222-2222-2222-222222222222}, {program: 33333333-3333-3333-3333-333333333333}]
    locations:
      - {id: ` + prefix + `11, name: Pier 39, jurisdiction: US-CA}
      - {id: ` + prefix + `12, name: Long Wharf, jurisdiction: US-MA}
    storefronts: [{id: ` + prefix + `21, name: Web shop}]
    promotions:
      - {id: ` + prefix + `31, name: Spring}
      - {id: ` + prefix + `32, name: Milk, ticketRequired: false, eligibleItems: [{id: LATTE, name: Latte}, {id: MOCHA, name: Mocha}]}
    voucherDesigns:
      - {id: ` + prefix + `41, name: Plain, accentColor: "#0b5fff", headline: Enjoy}
      - {id: ` + prefix + `42, name: Logo, accentColor: "#7a1f3d", headline: Warm wishes, logo: logo.png}
      - id: ` + prefix + `43
        name: Picture
        accentColor: "#ffd23f"
        headline: Here comes the sun
        logo: logo.png
        picture: picture.png
        footer: |
          Harbor Coffee, Pier 39, San Francisco
          hello@harbor.example
    keys: [{name: shots, role: all, secret: ` + key + `}]
`

// world is a running service with a set-up of its own.
type world struct {
	url  string
	data string // its folder
	dir  string // of the set-up's pictures
	api  *client.Client
	stop func() error

	passes string          // where passes are drawn
	read   map[string]bool // messages that message gave
}

// start applies the set-up in a folder and serves it.
func start(ctx context.Context, dir string) (*world, error) {
	if err := drawPictures(dir); err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	w := &world{data: data, dir: dir, read: map[string]bool{}}
	if err := w.apply(ctx, setupFile); err != nil {
		return nil, err
	}
	standIn, wallet := googleStandIn()
	drawer := httptest.NewServer(http.HandlerFunc(w.drawPass))
	w.passes = drawer.URL
	running, cancel := context.WithCancel(ctx)
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- server.Run(running, server.Config{Listen: "127.0.0.1:0", Data: data, Outbox: true, OutboxAnyway: true,
			PublicURL: publicURL, Google: wallet,
			Logger: slog.New(slog.DiscardHandler), Ready: func(address string) { ready <- address }})
	}()
	w.stop = func() error { cancel(); standIn.Close(); drawer.Close(); return <-done }
	select {
	case err := <-done:
		cancel()
		return nil, err
	case address := <-ready:
		w.url = "http://" + address
	}
	api, err := client.New(w.url, key)
	w.api = api
	return w, err
}

// apply gives the service a set-up.
func (w *world) apply(ctx context.Context, text string) error {
	file, err := setup.ParseBeside("setup.yaml", []byte(text), os.DirFS(w.dir), nil)
	if err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Options{Dir: w.data})
	if err != nil {
		return err
	}
	_, err = file.Apply(ctx, s, time.Now(), rand.Reader)
	return errors.Join(err, s.Close())
}

// gift is one gift in one state.
type gift struct {
	state string
	id    string
	code  string
	path  string // of its page
	order string // of its order's sheet
}

// states are what a gift can be to its recipient.
var states = []string{"ready", "partly", "not-yet", "pending", "redeemed", "expired", "cancelled", "unpaid"}

// only pages have these: there is nothing to print.
var pageStates = append(slices.Clone(states), "blocked", "unsold", "replaced")

// gifts makes a gift in every state, in one design.
func (w *world) gifts(ctx context.Context, design string) (all []gift, err error) {
	for _, state := range pageStates {
		g, err := w.gift(ctx, state, design)
		if err != nil {
			return nil, fmt.Errorf("making a gift that is %s: %w", state, err)
		}
		all = append(all, g)
	}
	return all, nil
}

// expiry is after how long a gift that is to be expired is: longer than it takes to make it.
const expiry = 3 * time.Second

// gift makes one gift and brings it into a state.
func (w *world) gift(ctx context.Context, state, design string) (gift, error) {
	if state == "unsold" {
		return w.card(ctx, design)
	}
	m := &client.MonetaryGift{
		Value: client.MustDecimal("25"), DeliveryMethodID: client.Printed, RecipientDescription: "Anna",
		VoucherDesignID: design,
		Message:         "Happy birthday!\nLet's have that coffee soon.",
	}
	r := client.SendGiftRequest{MonetaryGift: m, SenderDescription: "Ben and Carla",
		PaymentMethodID: client.ExternalTransaction,
		ExternalPayment: client.ExternalPayment{
			ExternalTransactionReferenceNumber:      "WEB-1",
			ExternalTransactionCustomerFirstName:    "Ben",
			ExternalTransactionCustomerLastName:     "Young",
			ExternalTransactionCustomerEmailAddress: "ben@example.com",
			ExternalStorefrontID:                    prefix + "21",
		}}
	promise := func(from time.Time) {
		r = client.SendGiftRequest{MonetaryGift: m, SenderDescription: r.SenderDescription,
			PaymentMethodID: client.Promotional,
			PromotionID:     prefix + "31", ValidStarting: from, ValidForDays: 30,
			PromotionalTerms: "One per guest. Not to be exchanged for cash."}
	}
	switch state {
	case "not-yet":
		promise(time.Now().AddDate(0, 0, 10))
	case "later": // on a day with a long name
		m.Message = strings.Repeat("I wish you a wonderful day, and many more. ", 20)
		promise(time.Date(time.Now().Year()+1, time.September, 23, 12, 30, 0, 0, time.UTC))
	case "expired": // soon: one that is over already is not made
		promise(time.Now().Add(-24*time.Hour + expiry))
		r.ValidForDays = 1
	case "partly": // and good for certain items
		promise(time.Now().Add(-time.Hour))
		r.PromotionID = prefix + "32"
	case "arabic":
		m.Message, m.RecipientDescription, r.SenderDescription = "عيد ميلاد سعيد! 25\nHappy birthday!", "سارة", "(عمر)"
	case "talkative":
		m.Message = strings.Repeat("I wish you a wonderful day, and many more. ", 20)
	case "dear":
		m.Value = client.MustDecimal("1234567.89")
	case "german":
		m.RecipientLanguage = "de"
	case "mail", "german mail":
		m.DeliveryMethodID, m.RecipientContact = client.Email, "anna@example.com"
		if state != "mail" {
			m.RecipientLanguage = "de"
		}
	case "pending":
		m.DeliveryMethodID, m.RecipientContact = client.Email, "anna@example.com"
		m.HasScheduledDelivery, m.DeliveryDate = true, time.Now().AddDate(0, 0, 5)
	}
	sent, err := w.api.SendGift(ctx, r)
	if err != nil {
		return gift{}, err
	}
	g := &sent.Gifts[0]
	return gift{state: state, id: g.VoucherID, code: g.VoucherCode, path: strings.TrimPrefix(g.GiftURL, publicURL),
		order: strings.TrimPrefix(sent.PrintURL, publicURL)}, w.live(ctx, g.VoucherID, state)
}

// card makes a card that is not sold yet.
func (w *world) card(ctx context.Context, design string) (gift, error) {
	made, err := w.api.CreateStock(ctx, client.CreateStockRequest{Count: 1, Value: client.MustDecimal("25"),
		VoucherDesignID: design})
	if err != nil {
		return gift{}, err
	}
	for g, err := range w.api.Gifts(ctx, client.GiftsFilter{OrderID: made.OrderID}) {
		return gift{state: "unsold", id: g.VoucherID, code: g.VoucherCode,
			path: strings.TrimPrefix(g.GiftURL, publicURL)}, err
	}
	return gift{}, errors.New("the stock is empty")
}

// live does to a gift what brings it into a state.
func (w *world) live(ctx context.Context, id, state string) error {
	if state == "expired" {
		time.Sleep(expiry)
	}
	use := func(amount, place string) client.RedeemGiftRequest {
		return client.RedeemGiftRequest{VoucherID: id, Amount: client.MustDecimal(amount), OrganizationID: prefix + place}
	}
	take := map[string][]string{"partly": {"4.75", "8.50"}, "held": {"9.50"}, "redeemed": {"25"}}[state]
	for i, amount := range take {
		if _, err := w.api.RedeemGift(ctx, use(amount, []string{"11", "12"}[i])); err != nil {
			return err
		}
	}
	switch state {
	case "blocked":
		_, err := w.api.BlockGift(ctx, client.BlockGiftRequest{VoucherID: id, ReasonCode: client.ReasonLost})
		return err
	case "replaced":
		_, err := w.api.ReplaceGift(ctx, client.ReplaceGiftRequest{VoucherID: id, Reason: "lost"})
		return err
	case "held":
		_, err := w.api.HoldGift(ctx, client.HoldGiftRequest{RedeemGiftRequest: use("9.50", "11")})
		return err
	}
	if cause := map[string]client.Cause{"cancelled": client.CauseCancelled,
		"unpaid": client.CausePurchaseFailed}[state]; cause != "" {
		_, err := w.api.CancelGift(ctx, client.CancelGiftRequest{VoucherID: id, Cause: cause})
		return err
	}
	return nil
}

// order makes a dozen printed gifts in one order and gives the path of their sheet.
func (w *world) order(ctx context.Context, design string) (string, error) {
	r := client.SendGiftRequest{
		MonetaryGift: &client.MonetaryGift{Value: client.MustDecimal("15"), DeliveryMethodID: client.Printed,
			VoucherDesignID: design},
		SenderDescription: "The team of Pier 39", PaymentMethodID: client.Promotional, PromotionID: prefix + "31",
		ValidStarting: time.Now().Add(-time.Hour),
		ValidForDays:  90, PromotionalTerms: "One per guest.",
	}
	for _, name := range []string{"Anna", "Ben", "Chloé", "Дмитрий", "Ελένη",
		"Franz Josef von und zu Hohenlohe-Langenburg", "Grandma", "Hal", "Ida", "Jo"} {
		r.Recipients = append(r.Recipients, client.Recipient{RecipientDescription: name,
			Message: "Thank you for a wonderful year, " + name + "!"})
	}
	sent, err := w.api.SendGift(ctx, r)
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(sent.PrintURL, publicURL), nil
}

var messagePath = regexp.MustCompile(`<p class="about"><a href="(/outbox/[0-9a-f-]{36})"`)

// message waits for a new message that holds a word and gives its path.
func (w *world) message(ctx context.Context, word string) (string, error) {
	for ctx.Err() == nil {
		body, err := w.get(ctx, "/outbox?kind=email&q="+word)
		if err != nil {
			return "", err
		}
		if found := messagePath.FindSubmatch(body); found != nil && !w.read[string(found[1])] {
			w.read[string(found[1])] = true
			return string(found[1]), nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return "", ctx.Err()
}

// use takes a part of a gift.
func (w *world) use(ctx context.Context, g gift) error {
	_, err := w.api.RedeemGift(ctx, client.RedeemGiftRequest{VoucherID: g.id, Amount: client.MustDecimal("9.50"),
		OrganizationID: prefix + "11"})
	return err
}

func (w *world) get(ctx context.Context, path string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+path, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", path, answer.Status)
	}
	return io.ReadAll(answer.Body)
}

// drawPictures makes a logo and a picture, so that no file of somebody else's is needed.
func drawPictures(dir string) error {
	const w, h = 360, 360
	logo := image.NewNRGBA(image.Rect(0, 0, w, h)) // three waves in a ring
	for y := range h {
		for x := range w {
			dx, dy := float64(x-w/2), float64(y-h/2)
			r := math.Hypot(dx, dy)
			wave := math.Mod(dy+14*math.Sin(dx/24)+360, 60) < 24
			if r < 176 && (r > 150 || wave && r < 130) {
				logo.SetNRGBA(x, y, color.NRGBA{0x12, 0x3a, 0x5c, 0xff})
			}
		}
	}
	const pw, ph = 1200, 700
	picture := image.NewNRGBA(image.Rect(0, 0, pw, ph)) // the sun over the sea
	for y := range ph {
		for x := range pw {
			t := float64(y) / ph
			c := color.NRGBA{uint8(255 - 60*t), uint8(150 + 60*t), uint8(90 + 120*t), 255}
			if math.Hypot(float64(x-850), float64(y-300)) < 120 {
				c = color.NRGBA{255, 236, 150, 255}
			}
			if sea := 430 + 10*math.Sin(float64(x)/60); float64(y) > sea {
				shine := math.Sin(float64(y)/9+float64(x)/130) * 16
				c = color.NRGBA{uint8(30 + shine), uint8(96 + shine), uint8(140 + shine), 255}
			}
			picture.SetNRGBA(x, y, c)
		}
	}
	for name, img := range map[string]image.Image{"logo.png": logo, "picture.png": picture} {
		if err := savePNG(filepath.Join(dir, name), img); err != nil {
			return err
		}
	}
	return nil
}

func savePNG(name string, img image.Image) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(f, img); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
