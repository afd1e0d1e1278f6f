package main

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"time"

	"boon.example/internal/command/access"
	"boon.example/internal/command/remote"
	"boon.example/internal/command/terminal"
	"boon.example/internal/merchant"
	"boon.example/internal/pin"
	"boon.example/internal/setup"
	"boon.example/internal/store"
)

type tillCmd struct {
	Pair tillPairCmd `cmd:"" help:"Make a link that turns a phone or a tablet into a till."`
	Pin  tillPinCmd  `cmd:"" help:"Make the hash of a person's PIN, for the set-up file."`

	Link   remote.TillLink   `cmd:"" help:"Make the same link with an API key, over the interface of a running service."`
	List   remote.TillList   `cmd:"" help:"List the tills of a running service."`
	Revoke remote.TillRevoke `cmd:"" help:"Switch a till off, such as that on a lost phone."`
	People remote.TillPeople `cmd:"" help:"List who signs in at the tills."`
	SetPin remote.TillSetPIN `cmd:"" name:"set-pin" help:"Set the PIN of somebody's first sign-in."`
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

func (c *tillPairCmd) Run(t *terminal.Terminal) error {
	at, err := url.Parse(c.PublicURL)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return terminal.UsageError("--public-url (BOON_PUBLIC_URL) must be an address such as https://gifts.example.com.")
	}
	may, _ := merchant.RoleByName("till")
	for _, name := range c.May {
		one, known := merchant.PermissionByName(name)
		if !known {
			return terminal.UsageError("There is no permission " + terminal.Cell(name) +
				"; a till may be given activate, reload and cash-out.")
		}
		may |= one
	}
	q := setup.KeyRequest{Name: c.Name, Permissions: may, Till: true}
	if q.Locations, err = access.ParseIDs("--location", []string{c.Location}); err != nil {
		return err
	}
	if q.Networks, err = access.ParseNetworks(c.Networks); err != nil {
		return err
	}
	return c.with(t, true, func(s *store.Store) (err error) {
		if q.Account, err = access.Account(t, s, c.Account, ""); err != nil {
			return err
		}
		key, token, err := setup.CreateKey(t, s, q, time.Now(), rand.Reader)
		if err != nil {
			return err
		}
		return remote.TellLink(t, key.Name, key.ExpiresAt, pairLink(c.PublicURL, token))
	})
}

// pairLink is where a device is paired. The token stands behind the #, so that no server, log or Referer has it before
// somebody presses the button.
func pairLink(publicURL, token string) string {
	return strings.TrimRight(publicURL, "/") + "/till/pair#" + token
}

type tillPinCmd struct{}

func (tillPinCmd) Help() string {
	return `Asks twice for a PIN of 4 to 8 digits, or reads one line where its input is no terminal, and prints its argon2id hash, which
stands, in quotes, under people in a set-up file. The PIN itself is kept nowhere.

Example:

    boon till pin`
}

// Run makes a hash.
func (tillPinCmd) Run(t *terminal.Terminal) error {
	typed, err := t.TypedPIN()
	if err != nil {
		return err
	}
	hash, err := pin.Hash(typed)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(t.Stdout, hash)
	return err
}
