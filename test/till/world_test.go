package till

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/client"
	"boon.example/test/chromium"
	"boon.example/test/rig"
)

const (
	prefix   = "0199b000-0000-7000-8000-0000000000"
	account  = prefix + "01"
	pier     = prefix + "11"
	wharf    = prefix + "12"
	webShop  = prefix + "21"
	secret   = "boon_live_till_pages_0123456789abcdefghij"
	gifts    = "22222222-2222-2222-2222-222222222222"
	promises = "33333333-3333-3333-3333-333333333333"
)

// setupFile has a gap for people.
var setupFile = `accounts:
  - id: ` + account + `
    name: Harbor Coffee
    currency: USD
    language: en
    timeZone: ` + noon() + `
    maxGiftValue: 2000000
    limits: {giftsPerDay: 1000000}
    subscriptions: [{program: ` + gifts + `, reloadable: true}, {program: ` + promises + `}]
    locations:
      - {id: ` + pier + `, name: Pier 39, jurisdiction: US-CA}
      - {id: ` + wharf + `, name: Long Wharf, jurisdiction: US-MA}
    storefronts: [{id: ` + webShop + `, name: Web shop}]
    promotions:
      - {id: ` + prefix + `31, name: Latte, terms: One per guest., eligibleItems: [{id: LATTE, name: Latte}, {id: MOCHA, name: Mocha}]}
%s    keys: [{name: test, role: all, secret: ` + secret + `}]
`

// noon is a time zone in which it is about noon: no day of a shop ends while a test looks at what was done on it.
func noon() string { return fmt.Sprintf("Etc/GMT%+d", time.Now().UTC().Hour()-12) }

var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "boon-till-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "boon")
	return binary, rig.Build(binary, rig.Boon)
})

// shop is a running service, and what one does in its office.
type shop struct {
	*testing.T
	*rig.Installation
	server *rig.Server
	api    *client.Client
	binary string
	data   string
}

// openShop gives nil where there is no browser. flags are more of the service.
func openShop(t *testing.T, flags ...string) *shop {
	t.Helper()
	return openShopAt(t, "127.0.0.1:0", flags...)
}

// openShopAt is openShop for a service that listens at an address.
func openShopAt(t *testing.T, address string, flags ...string) *shop {
	t.Helper()
	if _, err := chromium.WithCamera(); err != nil {
		t.Log("LEFT OUT: chromium is not installed, so that no till was tried in a browser")
		return nil
	}
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{T: t, binary: binary, data: t.TempDir()}
	s.Installation = &rig.Installation{Binary: binary, Flags: []string{"--data", s.data}}
	s.apply(fmt.Sprintf(setupFile, ""))
	if s.server, err = s.Start(address, flags...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.server.Kill)
	if s.api, err = client.New(s.server.URL, secret); err != nil {
		t.Fatal(err)
	}
	return s
}

// apply gives the shop another set-up, and waits until it holds.
func (s *shop) apply(file string) {
	s.Helper()
	path := filepath.Join(s.data, "setup.yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		s.Fatal(err)
	}
	if out, err := s.Installation.Run("apply", path); err != nil {
		s.Fatal(err, out)
	}
	if s.server != nil {
		time.Sleep(time.Second)
	}
}

// pairLink makes a link for a device, as whoever runs the shop does.
func (s *shop) pairLink(name string, more ...string) string {
	s.Helper()
	return s.pairLinkAt(pier, name, more...)
}

func (s *shop) pairLinkAt(location, name string, more ...string) string {
	s.Helper()
	out, err := s.Installation.Run(append([]string{"till", "pair", "--location", location, "--name", name, "--public-url",
		s.server.URL},
		more...)...)
	if err != nil {
		s.Fatal(err, out)
	}
	at := strings.Index(out, s.server.URL+"/till/pair#")
	if at < 0 {
		s.Fatalf("there is no link in %s", out)
	}
	return strings.Fields(out[at:])[0]
}

// till is a device that is paired. url is what it asks: the server, or what lies between.
func (s *shop) till(name, url string, more ...string) *device {
	s.Helper()
	return s.pair(newDevice(s.T, url), name, more...)
}

// pair makes a device a till.
func (s *shop) pair(d *device, name string, more ...string) *device {
	s.Helper()
	d.open(strings.TrimPrefix(s.pairLink(name, more...), s.server.URL))
	d.shows("h1", "Make this device a till")
	d.tap("button.pair")
	d.shows("h1", "Paired with Harbor Coffee, Pier 39")
	js[*string](d, `localStorage.setItem("boon.camera", "closed"); null`) // else it opens by itself where it is allowed
	d.tap("a.open")
	return d
}

// pairAt makes a device a till of another location.
func (s *shop) pairAt(d *device, location, name string, more ...string) {
	s.Helper()
	d.open(strings.TrimPrefix(s.pairLinkAt(location, name, more...), s.server.URL))
	d.tap("button.pair")
	d.tap("a.open")
}

// sell makes a printed gift of dollars, and gives it.
func (s *shop) sell(dollars string) *client.SentGift {
	s.Helper()
	sent, err := s.api.SendGift(s.Context(), client.SendGiftRequest{
		MonetaryGift:      &client.MonetaryGift{Value: client.MustDecimal(dollars), DeliveryMethodID: client.Printed},
		SenderDescription: "Ben", PaymentMethodID: client.ExternalTransaction, ExternalPayment: paid(),
	})
	if err != nil {
		s.Fatal(err)
	}
	return &sent.Gifts[0]
}

func paid() client.ExternalPayment {
	return client.ExternalPayment{ExternalTransactionReferenceNumber: fmt.Sprint("SALE-", time.Now().UnixNano()),
		ExternalTransactionCustomerFirstName: "Ben", ExternalTransactionCustomerLastName: "Young",
		ExternalTransactionCustomerEmailAddress: "ben@example.com", ExternalStorefrontID: webShop}
}

// worth is what is left of a gift.
func (s *shop) worth(id string) string {
	s.Helper()
	g, err := s.api.Gift(s.Context(), id)
	if err != nil {
		s.Fatal(err)
	}
	return g.CurrentBalance.String()
}

// holds checks what is left of a gift.
func (s *shop) holds(g *client.SentGift, want string) {
	s.Helper()
	if got := s.worth(g.VoucherID); got != want {
		s.Errorf("%s is left of the gift, want %s", got, want)
	}
}
