package main

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"boon.example/internal/gift"
	"boon.example/internal/pin"
	"boon.example/internal/qr"
	"boon.example/internal/setup"
	"boon.example/internal/store"
)

type tillCmd struct {
	Pair tillPairCmd `cmd:"" help:"Make a link that turns a phone or a tablet into a till."`
	Pin  tillPinCmd  `cmd:"" help:"Make the hash of a person's PIN, for the set-up file."`

	Link   tillLinkCmd   `cmd:"" help:"Make such a link over the interface of a running service."`
	List   tillListCmd   `cmd:"" help:"List the tills of a running service."`
	Revoke tillRevokeCmd `cmd:"" help:"Switch a till off, such as that on a lost phone."`
	People tillPeopleCmd `cmd:"" help:"List who signs in at the tills."`
	SetPin tillSetPINCmd `cmd:"" name:"set-pin" help:"Set the PIN of somebody's first sign-in."`
}

type tillPairCmd struct {
	Name      string   `required:"" help:"What the till is called in lists, such as \"Counter 1\"."`
	Location  string   `required:"" placeholder:"ID" help:"Location at which it stands."`
	Account   []string `placeholder:"ID" help:"Account that the location belongs to; may be left out when there is only one."`
	May       []string `placeholder:"NAME,…" help:"What it may do beside validate, redeem and reverse: activate, reload, cash-out."`
	Networks  []string `placeholder:"NETWORK,…" help:"Networks from which it may be paired and used, such as 203.0.113.0/24. Default: everywhere."`
	PublicURL string   `setting:"env" name:"public-url" default:"http://127.0.0.1:8080" placeholder:"URL" help:"How the device reaches the service, as boon serve has it. Default: ${default}."`
	database
}

func (tillPairCmd) Help() string {
	return `Open the link on the device, or scan the QR code with it, within 15 minutes. It pairs one device, the first that asks. The device then
has a key of its own, which boon key list shows and boon key revoke ends within 2 seconds. With --may activate,reload it sells and loads cards;
if the account has several storefronts, it asks once at which.

Example:

    boon till pair --location 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c11 --name "Counter 1" --may reload --public-url https://gifts.example.com`
}

func (c *tillPairCmd) Run(t *terminal) error {
	at, err := url.Parse(c.PublicURL)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return usageError("--public-url (BOON_PUBLIC_URL) is an address such as https://gifts.example.com.")
	}
	may, _ := gift.RoleByName("till")
	for _, name := range c.May {
		one, known := gift.PermissionByName(name)
		if !known {
			return usageError("There is no permission " + cell(name) + "; a till may be given activate, reload and cash-out.")
		}
		may |= one
	}
	q := setup.KeyRequest{Name: c.Name, Permissions: may, Till: true}
	if q.Locations, err = parseIDs("--location", []string{c.Location}); err != nil {
		return err
	}
	if q.Networks, err = parseNetworks(c.Networks); err != nil {
		return err
	}
	return c.with(t, true, func(s *store.Store) (err error) {
		if q.Account, err = (&keyCreateCmd{Account: c.Account}).account(t, s); err != nil {
			return err
		}
		key, token, err := setup.CreateKey(t, s, q, time.Now(), rand.Reader)
		if err != nil {
			return err
		}
		return tellLink(t, key.Name, key.ExpiresAt, pairLink(c.PublicURL, token))
	})
}

// pairLink is where a device is paired. The token stands behind the #, so that no server, log or Referer has it before
// somebody presses the button.
func pairLink(publicURL, token string) string {
	return strings.TrimRight(publicURL, "/") + "/till/pair#" + token
}

// tellLink prints a link that pairs a device, and where people look on, a QR code of it.
func tellLink(t *terminal, till string, until time.Time, link string) error {
	code, err := qr.Encode(link)
	if err != nil {
		return err
	}
	if onTerminal(t.stderr) {
		drawQR(t.stderr, code)
	}
	fmt.Fprintf(t.stderr, "Open this on the device of till %s by %s; it pairs one device, once:\n", cell(till),
		moment(until))
	switch {
	case thisMachineOnly(link):
		fmt.Fprintln(t.stderr, "It leads to this machine only: for another device, give --public-url.")
	case !strings.HasPrefix(link, "https:"):
		fmt.Fprintln(t.stderr, "It is not HTTPS: whoever shares the network can take the till's key, and no camera opens.")
	}
	_, err = fmt.Fprintln(t.stdout, link)
	return err
}

// thisMachineOnly reports whether an address means the machine that asks.
func thisMachineOnly(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.IsLoopback() || u.Hostname() == "localhost"
}

// drawQR draws a QR code with two modules in each character, in black on white whatever the colours of the terminal
// are.
func drawQR(w io.Writer, code *qr.Code) {
	for y := -qr.QuietZone; y < code.Size+qr.QuietZone; y += 2 {
		var line strings.Builder
		for x := -qr.QuietZone; x < code.Size+qr.QuietZone; x++ {
			half := 0
			if code.Dark(x, y) {
				half |= 1
			}
			if code.Dark(x, y+1) {
				half |= 2
			}
			line.WriteRune([]rune(" ▀▄█")[half])
		}
		fmt.Fprintf(w, "\x1b[38;5;16;48;5;231m%s\x1b[0m\n", line.String())
	}
}

type tillPinCmd struct{}

func (tillPinCmd) Help() string {
	return `Asks twice for a PIN of 4 to 8 digits, or reads one line where its input is no terminal, and prints its argon2id hash, which
stands, in quotes, under people in a set-up file. The PIN itself is kept nowhere.

Example:

    boon till pin`
}

// Run makes a hash.
func (tillPinCmd) Run(t *terminal) error {
	typed, err := t.typedPIN()
	if err != nil {
		return err
	}
	hash, err := pin.Hash(typed)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(t.stdout, hash)
	return err
}

// typedPIN asks a person twice, without showing what is typed, or reads a line.
func (t *terminal) typedPIN() (string, error) {
	file, ok := t.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		line, err := bufio.NewReader(io.LimitReader(t.stdin, 1024)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("reading the PIN: %w", err)
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
	var typed [2]string
	for n, ask := range []string{"PIN, 4 to 8 digits: ", "Once more: "} {
		fmt.Fprint(t.stderr, ask)
		b, err := term.ReadPassword(int(file.Fd()))
		fmt.Fprintln(t.stderr)
		if err != nil {
			return "", fmt.Errorf("reading the PIN: %w", err)
		}
		if typed[n] = string(b); n == 0 {
			if err := pin.Check(typed[0]); err != nil {
				return "", err
			}
		}
	}
	if typed[0] != typed[1] {
		return "", errors.New("these are two different PINs")
	}
	return typed[0], nil
}
