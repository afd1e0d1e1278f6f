package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"boon.example/client"
	"boon.example/internal/command/load"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/setup"
	"boon.example/internal/store"
)

// What the pages part does.
const (
	pageTimes  = 200
	paperTimes = 50
	manyUses   = 200
	longDay    = 600         // entries of one till; its list shows the newest 500
	othersTime = time.Second // so long the account's other tills are busy before
	heaviest   = 100_000     // bytes that a page may have, with its style and scripts
	pageDesign = "0199a000-0000-7000-8000-000000000005"
)

// seen is something that a person opens.
type seen struct {
	name, path string
	accept     string // its language
	times      int
	paper      bool // a PDF, which is as large as its pictures
	fetched    bool // by a page, for which it is no weight
}

// reader opens pages, one after the other, over one connection.
type reader struct {
	*trial
	base string
	http *http.Client
	api  *client.Client
}

// pages measures what people see: how long the service takes over it, and how much of it there is.
func (h *trial) pages() error {
	progress("%s: pages", h.title())
	v, err := h.reader()
	if err != nil {
		return err
	}
	all, err := v.seen()
	if err != nil {
		return err
	}
	var failed []error
	rows := "What people see | KB | with style and scripts | p50 ms | p99 ms\n---|--:|--:|--:|--:\n"
	for _, s := range all {
		row, err := v.measure(s)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", s.name, err))
		}
		rows += row
	}
	h.report.printf(&h.report.notes, "\n%s\n", rows)
	return errors.Join(failed...)
}

// reader makes the designs that pages are shown in, and a till's cookie.
func (h *trial) reader() (*reader, error) {
	token, err := h.pageSetUp()
	if err != nil {
		return nil, err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	v := &reader{trial: h, base: "http://" + h.service.address, http: &http.Client{Jar: jar}}
	if v.api, err = client.New(v.base, key); err != nil {
		return nil, err
	}
	time.Sleep(time.Second) // the service has read its set-up again
	_, err = v.do("POST", "/till/pair", "", `{"token":"`+token+`"}`)
	return v, err
}

func (h *trial) pageSetUp() (token string, err error) {
	s, err := store.Open(h.ctx, store.Options{Dir: h.place.data(), Database: h.place.database()})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	design := "    voucherDesigns: [{id: " + pageDesign + `, name: Sun, accentColor: "#ffd23f", headline: Enjoy, ` +
		"logo: picture.png, picture: picture.png}]\n"
	text := strings.Replace(setupFile, "    storefronts:", design+"    storefronts:", 1)
	var picture bytes.Buffer
	if err := png.Encode(&picture, gradient{}); err != nil {
		return "", err
	}
	file, err := setup.ParseBeside("bench", []byte(text), fstest.MapFS{"picture.png": {Data: picture.Bytes()}}, nil)
	if err != nil {
		return "", err
	}
	if _, err := file.Apply(h.ctx, s, time.Now(), rand.Reader); err != nil {
		return "", err
	}
	account, _ := guid.Parse("0199a000-0000-7000-8000-000000000001")
	location, _ := guid.Parse("0199a000-0000-7000-8000-000000000002")
	may, _ := merchant.RoleByName("till")
	_, token, err = setup.CreateKey(h.ctx, s, setup.KeyRequest{Account: account, Name: "Counter", Till: true,
		Locations: []guid.ID{location}, Permissions: may}, time.Now(), rand.Reader)
	return token, err
}

// gradient is a picture.
type gradient struct{}

func (gradient) ColorModel() color.Model { return color.NRGBAModel }
func (gradient) Bounds() image.Rectangle { return image.Rect(0, 0, 1200, 700) }
func (gradient) At(x, y int) color.Color {
	return color.NRGBA{uint8(x / 5), uint8(y / 3), uint8((x + y) / 8), 255}
}

// seen makes gifts of all kinds and a long day, and lists what there is to see of them.
func (v *reader) seen() (all []seen, err error) {
	plain, _, err := v.send(1, "", "Enjoy!")
	if err != nil {
		return nil, err
	}
	full, _, err := v.send(1, pageDesign, strings.Repeat("I wish you a wonderful day, and many more. ", 23))
	if err != nil {
		return nil, err
	}
	if err := v.longDay(full.VoucherID); err != nil {
		return nil, err
	}
	for _, language := range []string{"en", "de", "fr", "es", "ja"} {
		all = append(all, seen{name: "gift page, " + language, path: "/g/" + plain.VoucherPublicToken, accept: language})
	}
	all = append(all,
		seen{name: "gift page with 200 uses and a long message", path: "/g/" + full.VoucherPublicToken},
		seen{name: "page of no gift", path: "/g/0000000000000000000000", times: 5}) // more are told to wait
	for _, p := range []struct {
		name  string
		gifts int
	}{{"a sheet of 10", 10}, {"a sheet of 1,000", 1000}} {
		_, url, err := v.send(p.gifts, pageDesign, "Enjoy!")
		if err != nil {
			return nil, err
		}
		all = append(all, seen{name: "PDF, " + p.name, path: strings.TrimPrefix(url, v.base), paper: true,
			times: max(3, paperTimes/p.gifts)})
	}
	return append(all,
		seen{name: "PDF of a gift", path: "/g/" + plain.VoucherPublicToken + "/print.pdf", paper: true,
			times: paperTimes},
		seen{name: "PDF with logo and picture", path: "/g/" + full.VoucherPublicToken + "/print.pdf", paper: true,
			times: paperTimes},
		seen{name: "till", path: "/till"}, seen{name: "till, in German", path: "/till", accept: "de"},
		seen{name: "till, to be paired", path: "/till/pair"},
		seen{name: "till: where it is", path: "/till/state", fetched: true},
		seen{name: "till: a long day's list", path: "/till/today", fetched: true},
	), nil
}

// send makes printed gifts.
func (v *reader) send(n int, design, message string) (*client.SentGift, string, error) {
	r := client.SendGiftRequest{
		MonetaryGift: &client.MonetaryGift{Value: client.MustDecimal("100"), DeliveryMethodID: client.Printed,
			VoucherDesignID: design, Message: message, RecipientDescription: "Anna"},
		SenderDescription: "Ben and Carla", PaymentMethodID: client.ExternalTransaction,
		ExternalPayment: client.ExternalPayment{ExternalTransactionReferenceNumber: "page",
			ExternalTransactionCustomerFirstName: "Ben", ExternalTransactionCustomerLastName: "Young",
			ExternalTransactionCustomerEmailAddress: "ben@example.com", ExternalStorefrontID: storefront}}
	if n > 1 {
		r.MonetaryGift.Message, r.MonetaryGift.RecipientDescription = "", ""
		r.Recipients = slices.Repeat([]client.Recipient{{RecipientDescription: "Anna", Message: message}}, n)
	}
	sent, err := v.api.SendGift(v.ctx, r)
	if err != nil {
		return nil, "", err
	}
	return &sent.Gifts[0], sent.PrintURL, nil
}

// longDay has the till of the reader take a cent of one gift after the other, while the account's other tills, which
// its list has to leave out, are busy before and after. Another key takes of one gift again and again.
func (v *reader) longDay(id string) error {
	for half := range 2 {
		run, err := load.Start(v.ctx, load.Plan{Target: v.target, Next: v.target.Redeem(v.asked(v.gifts)), Connections: 64,
			Duration: othersTime})
		if err != nil {
			return err
		}
		run.Wait()
		if err := failure(run.Stats()); err != nil {
			return err
		}
		for n := range longDay / 2 {
			body := `{"voucherID":"` + v.gifts[half*longDay/2+n].ID.String() + `","amount":0.01}`
			if _, err := v.do("POST", "/till/api/redemption/redeem-gift", "", body); err != nil {
				return err
			}
		}
		for range manyUses / 2 {
			_, err := v.api.RedeemGift(v.ctx, client.RedeemGiftRequest{VoucherID: id, Amount: client.MustDecimal("0.01")})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// measure opens something again and again.
func (v *reader) measure(s seen) (row string, err error) {
	if s.times == 0 {
		s.times = pageTimes
	}
	took := make([]time.Duration, 0, s.times)
	var body []byte
	for range s.times {
		begun := time.Now()
		body, err = v.do("GET", s.path, s.accept, "")
		took = append(took, time.Since(begun))
		if err != nil {
			return "", err
		}
	}
	slices.Sort(took)
	p50, p99 := took[len(took)/2], took[len(took)*99/100]
	whole := ""
	weight := len(body)
	if !s.paper && !s.fetched {
		if weight, err = v.weigh(body); err != nil {
			return "", err
		}
		whole = fmt.Sprintf("%.1f", float64(weight)/1000)
	}
	if most := v.options.pages; most > 0 && !s.paper && (p99 > most || weight > heaviest) {
		err = fmt.Errorf("it took %v and has %d bytes; %v and %d are allowed", p99, weight, most, heaviest)
	}
	return fmt.Sprintf("%s | %.1f | %s | %.1f | %.1f\n", s.name, float64(len(body))/1000, whole, ms(p50), ms(p99)), err
}

var (
	madeOf  = regexp.MustCompile(`(?:<link rel="stylesheet" href|<script[^>]* src)="([^"]+)"`)
	imports = regexp.MustCompile(`from "\./([a-z]+\.js)"`)
)

// weigh sums up a page with the style and the scripts that it names, and those that these do.
func (v *reader) weigh(page []byte) (sum int, err error) {
	sum = len(page)
	known := map[string]bool{}
	var add func(path string) error
	add = func(path string) error {
		if known[path] {
			return nil
		}
		known[path] = true
		body, err := v.do("GET", path, "", "")
		if err != nil {
			return err
		}
		sum += len(body)
		for _, m := range imports.FindAllSubmatch(body, -1) {
			if err := add(path[:strings.LastIndex(path, "/")+1] + string(m[1])); err != nil {
				return err
			}
		}
		return nil
	}
	for _, m := range madeOf.FindAllSubmatch(page, -1) {
		if err := add(string(m[1])); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

func (v *reader) do(method, path, accept, body string) (answer []byte, err error) {
	r, err := http.NewRequestWithContext(context.WithoutCancel(v.ctx), method, v.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	} else {
		r.Header.Set("Accept", "text/html,application/json")
	}
	if accept != "" {
		r.Header.Set("Accept-Language", accept)
	}
	resp, err := v.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNotFound {
		err = fmt.Errorf("%s %s: %s %.300s", method, path, resp.Status, answer)
	}
	return answer, err
}
