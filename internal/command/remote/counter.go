package remote

import (
	"cmp"
	"fmt"
	"strings"

	"boon.example/client"
	"boon.example/internal/command/terminal"
)

// TillList and the commands below ask a running service, with a key that has the permission tills.
type TillList struct{ Service }

func (TillList) Help() string {
	return `Needs a key with the permission tills (BOON_KEY). A key that is limited to locations sees the tills there.

Example:

    boon till list

Next: boon till revoke --help switches a till off.`
}

// Run lists.
func (c *TillList) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	tills, err := api.Tills(t)
	if err != nil {
		return err
	}
	var rows [][]string
	for n := range tills {
		one := &tills[n]
		if err := c.Answer(t, one.Meta.Body, func() {
			rows = append(rows, []string{one.KeyID, one.Name, one.OrganizationName, strings.Join(one.May, ", "),
				strings.ToLower(string(one.State)), terminal.Moment(one.CreatedAt)})
		}); err != nil {
			return err
		}
	}
	if !c.JSON {
		terminal.Table(t.Stdout, []string{"TILL", "NAME", "LOCATION", "MAY", "STATE", "MADE"}, rows)
	}
	return nil
}

type TillRevoke struct {
	Till string `arg:"" help:"The till's id, as boon till list shows it."`
	Service
}

func (TillRevoke) Help() string {
	return `For a lost phone, or to unpair a device. Within two seconds the till does nothing any more. There is no way back: pair the device anew.

Example:

    boon till revoke 019576b2-6a00-7000-8000-000000000002`
}

// Run switches a till off.
func (c *TillRevoke) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	off, err := api.RevokeTill(t, c.Till)
	if err != nil {
		return err
	}
	return c.Answer(t, off.Meta.Body, func() {
		fmt.Fprintf(t.Stdout, "Till %s (%s) is off since %s.\n", terminal.Cell(off.Name), off.KeyID,
			terminal.Moment(off.SwitchedOffAt))
	})
}

type TillPeople struct{ Service }

func (TillPeople) Help() string {
	return `PIN is "none" for somebody who cannot sign in yet, "first" for one who chooses a PIN at the next sign-in, and "own".

Example:

    boon till people

Next: boon till set-pin --help.`
}

// Run lists people.
func (c *TillPeople) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	people, err := api.People(t)
	if err != nil {
		return err
	}
	var rows [][]string
	for n := range people {
		p := &people[n]
		if err := c.Answer(t, p.Meta.Body, func() {
			rows = append(rows, []string{p.Name, strings.ToLower(string(p.PINState)), strings.Join(p.May, ", "),
				cmp.Or(strings.Join(p.OrganizationIDs, ", "), "all")})
		}); err != nil {
			return err
		}
	}
	if !c.JSON {
		terminal.Table(t.Stdout, []string{"NAME", "PIN", "MAY", "LOCATIONS"}, rows)
	}
	return nil
}

type TillSetPIN struct {
	Name  string `arg:"" help:"The person, as the set-up has the name."`
	Typed bool   `name:"ask" help:"Ask for the PIN, or read one line of standard input, instead of drawing it."`
	Service
}

func (TillSetPIN) Help() string {
	return `Sets the PIN of somebody's first sign-in, or of one who forgot the PIN, and prints it. At that sign-in the person chooses another PIN, which
nobody else knows.

Example:

    boon till set-pin Ana`
}

// Run sets a PIN.
func (c *TillSetPIN) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	r := client.SetPINRequest{Name: c.Name}
	if c.Typed {
		if r.PIN, err = t.TypedPIN(); err != nil {
			return err
		}
	}
	set, err := api.SetPIN(t, r)
	if err != nil {
		return err
	}
	return c.Answer(t, set.Meta.Body, func() {
		fmt.Fprintf(t.Stderr, "The PIN of %s for the first sign-in:\n", terminal.Cell(set.Name))
		if set.PIN == "" {
			fmt.Fprintln(t.Stdout, "as you typed it")
			return
		}
		fmt.Fprintln(t.Stdout, set.PIN)
	})
}

type TillLink struct {
	Name     string   `required:"" help:"What the till is called in lists, such as \"Counter 1\"."`
	Location string   `required:"" placeholder:"ID" help:"Location at which it stands."`
	May      []string `placeholder:"NAME,…" help:"What it may do beside validate, redeem and reverse: activate, reload, cash-out."`
	Networks []string `placeholder:"NETWORK,…" help:"Networks from which it may be paired and used, such as 203.0.113.0/24. Default: everywhere."`
	Service
}

func (TillLink) Help() string {
	return `Does what boon till pair does, but asks a running service instead of its database, with a key that has the permission tills (BOON_KEY).

Example:

    boon till link --location 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c11 --name "Counter 1" --may reload`
}

// Run makes a link.
func (c *TillLink) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	made, err := api.PairTill(t, client.PairTillRequest{Name: c.Name, OrganizationID: c.Location, May: c.May,
		Networks: c.Networks})
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Answer(t, made.Meta.Body, nil)
	}
	return TellLink(t, made.Name, made.PairUntil, made.PairURL)
}
