// Package access has the commands by which an installation says who may call it: those about API keys.
package access

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"boon.example/internal/base/clientip"
	"boon.example/internal/command/terminal"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/setup"
	"boon.example/internal/store"
)

// Create makes a key.
type Create struct {
	Name     string   `arg:"" help:"What the key is called in lists, such as till-2."`
	Account  []string `placeholder:"ID" help:"Account it belongs to; may be left out when there is only one. With --system: one that it sends for; may be repeated."`
	Program  []string `placeholder:"ID" help:"With --system: a program that it sends in; may be repeated. Default: the distribution network."`
	System   bool     `help:"Make a system key instead: of no account, for partner sites that send gifts for many."`
	Location []string `placeholder:"ID" help:"Location it is enabled for; may be repeated. Default: all of the account's."`
	Role     string   `placeholder:"ROLE" help:"What it may do: till (validate, redeem, reverse), shop (send, cancel, resend, look-up, link), office (look-up, cancel, resend, reverse), desk (what office may, and block, replace, extend, link), manager (what till and desk may, and send, activate, reload, cash-out, transfer, stock, tills), bookkeeper (look-up, events, audit, reports, import), platform (look-up, events, webhooks), owner (everything but codes and export) or all."`

	Permissions []string          `placeholder:"NAME,…" help:"What it may do, one by one: ${permissions}."`
	Expires     time.Time         `placeholder:"TIME" help:"When it stops working, such as 2027-01-31T00:00:00Z. Default: never."`
	Networks    []string          `placeholder:"NETWORK,…" help:"Networks from which it may be used, such as 203.0.113.0/24. Default: everywhere."`
	Agent       string            `placeholder:"USE" enum:",read,write" default:"" help:"What agents with it may do: read to look only, write to do something as well. Default: as the agent is set up."`
	Limits      map[string]string `mapsep:"," placeholder:"NAME=N,…" help:"How much it may do in a day, as in a set-up file."`

	Test bool `help:"With --system: for test accounts. The key of an account is of the account's mode."`
}

// Help tells how it is used.
func (Create) Help() string {
	return `The key alone is printed on standard output, so that a secret store can read it; only its hash is kept. A running service
knows it within 2 seconds. To rotate a key: make a second one, change the caller, revoke the first. If you give
the caller a system key of another name, first see that all its calls were answered: under another name, a repeated call is a new one.

Example:

    boon key create till-2 --role till --location 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c11 --limits redeemedPerDay=2000

Limits are issuedPerDay and redeemedPerDay, of money in the account's currency, giftsPerDay, messagesPerDay, textsPerDay and
messagesPerContactPerDay. Next: BOON_KEY=… boon gift list, and boon key list.`
}

// Request is the key that is asked for; which account it is of, Do finds out.
func (c *Create) Request() (q setup.KeyRequest, err error) {
	if !c.System && (len(c.Account) > 1 || len(c.Program) > 0) {
		return q, terminal.UsageError("A key belongs to one account and sends in all of its programs: more accounts, and " +
			"--program, " +
			"are for --system.")
	}
	may, err := c.may()
	if err != nil {
		return q, err
	}
	q = setup.KeyRequest{Name: c.Name, ExpiresAt: c.Expires, Test: c.Test, Permissions: may, Limits: c.Limits,
		Agent: merchant.AgentUse(c.Agent)}
	if q.Locations, err = ParseIDs("--location", c.Location); err != nil {
		return q, err
	}
	if q.Networks, err = ParseNetworks(c.Networks); err != nil {
		return q, err
	}
	if c.System {
		if q.Accounts, err = ParseIDs("--account", c.Account); err != nil {
			return q, err
		}
		if q.Programs, err = ParseIDs("--program", c.Program); err != nil {
			return q, err
		}
		if len(q.Programs) == 0 {
			q.Programs = []guid.ID{merchant.DistributionProgram.ID}
		}
	}
	return q, nil
}

// Do makes the key and prints it.
func (c *Create) Do(t *terminal.Terminal, s *store.Store, q setup.KeyRequest) error {
	if !c.System {
		var err error
		if q.Account, err = Account(t, s, c.Account, ", or give --system"); err != nil {
			return err
		}
	}
	key, text, err := setup.CreateKey(t, s, q, time.Now(), rand.Reader)
	if err != nil {
		return err
	}
	fmt.Fprintf(t.Stderr, "Made key %s (%s). It is shown this once and kept nowhere; store it now:\n",
		terminal.Cell(key.Name),
		key.ID)
	_, err = fmt.Fprintln(t.Stdout, text)
	return err
}

// ParseIDs reads the ids that a flag was given.
func ParseIDs(flag string, texts []string) (ids []guid.ID, _ error) {
	for _, text := range texts {
		id, err := guid.Parse(text)
		if err != nil {
			return nil, terminal.UsageError(fmt.Sprintf("%s %s is %v.", flag, text, err))
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// ParseNetworks reads the networks of --networks.
func ParseNetworks(texts []string) (all merchant.Networks, _ error) {
	for _, text := range texts {
		p, err := clientip.ParseNetwork(text)
		if err != nil {
			return nil, terminal.UsageError(fmt.Sprintf("--networks: %v.", err))
		}
		all = append(all, p)
	}
	return all, nil
}

// may is what the key is to be allowed.
func (c *Create) may() (may merchant.Permissions, _ error) {
	switch {
	case c.System && (c.Role != "" || len(c.Permissions) > 0):
		return 0, terminal.UsageError("What a system key may do is always the same: leave --role and --permissions out.")
	case c.System:
		return 0, nil
	case (c.Role == "") == (len(c.Permissions) == 0):
		return 0, terminal.UsageError("Say what the key may do with --role (" + strings.Join(merchant.RoleNames(), ", ") +
			") or with --permissions (" +
			strings.Join(merchant.PermissionNames(), ", ") + "), not both.")
	case c.Role != "":
		may, known := merchant.RoleByName(c.Role)
		if !known {
			return 0, terminal.UsageError("There is no role " + terminal.Cell(c.Role) + "; there are " +
				strings.Join(merchant.RoleNames(), ", ") +
				".")
		}
		return may, nil
	}
	for _, name := range c.Permissions {
		one, known := merchant.PermissionByName(name)
		if !known {
			return 0, terminal.UsageError("There is no permission " + terminal.Cell(name) + "; there are " +
				strings.Join(merchant.PermissionNames(), ", ") + ".")
		}
		may |= one
	}
	return may, nil
}

// Account is the account that is named, or the only one there is. otherwise ends the sentence that asks for one.
func Account(t *terminal.Terminal, s *store.Store, named []string, otherwise string) (guid.ID, error) {
	if ids, err := ParseIDs("--account", named); err != nil || len(ids) > 0 {
		return append(ids, guid.ID{})[0], err
	}
	d, err := s.Directory(t)
	if err != nil {
		return guid.ID{}, err
	}
	switch len(d.Accounts) {
	case 0:
		return guid.ID{}, errors.New("there is no account yet; make one with boon apply FILE")
	case 1:
		return slices.Collect(maps.Keys(d.Accounts))[0], nil
	}
	return guid.ID{}, terminal.UsageError("There is more than one account; name one with --account ID" + otherwise +
		". There are " + Accounts(d) + ".")
}

// Accounts names the accounts with their ids, in the order of their names.
func Accounts(d *merchant.Directory) string {
	var all []string
	for _, a := range d.Accounts {
		all = append(all, fmt.Sprintf("%s (%s)", terminal.Cell(a.Name), a.ID))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// List lists keys.
type List struct {
	Account string `placeholder:"ID" help:"Only the keys of this account, and the system keys that send for it."`
	All     bool   `help:"Show revoked and expired keys too."`
}

// Help tells how it is used.
func (List) Help() string {
	return `ENDS IN are the last four characters of the key's text, to tell keys apart. LAST USED is known after ten minutes at most.

Example:

    boon key list --all
    boon key list --account 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01`
}

// Do lists the keys, those of one account together, the oldest first.
func (c *List) Do(t *terminal.Terminal, s *store.Store) error {
	d, refused, err := s.AsItIs(t)
	if err != nil {
		return err
	}
	of, err := c.accounts(d)
	if err != nil {
		return err
	}
	if refused != nil {
		fmt.Fprintf(t.Stderr, "boon: %s\n", terminal.Plain(refused.Error()))
	}
	uses, err := s.KeyUses(t)
	if err != nil {
		return err
	}
	now, rows := time.Now(), [][]string{}
	for _, k := range slices.SortedFunc(maps.Values(d.Keys), compareKeys) {
		if !k.Works(now) && !c.All || !concerns(k, of) {
			continue
		}
		hint := ""
		if k.Hint != "" {
			hint = "…" + k.Hint
		}
		account := ""
		if k.Kind == merchant.AccountKey {
			account = k.AccountID.String()
		}
		rows = append(rows, []string{k.ID.String(), account, k.Name, ownerName(d, k), merchant.ModeName(k.Test), mayDo(k),
			places(d, k), k.Networks.String(), hint, terminal.Moment(k.CreatedAt), lastUse(k, uses), keyState(k, now)})
	}
	terminal.Table(t.Stdout, []string{"KEY", "ACCOUNT", "NAME", "OWNER", "MODE", "MAY", "LOCATIONS", "FROM",
		"ENDS IN", "MADE",
		"LAST USED", "STATE"}, rows)
	return nil
}

// accounts are those that --account names; none: all of them.
func (c *List) accounts(d *merchant.Directory) ([]guid.ID, error) {
	if c.Account == "" {
		return nil, nil
	}
	of, err := ParseIDs("--account", []string{c.Account})
	if err == nil && d.Accounts[of[0]] == nil {
		return nil, fmt.Errorf("there is no account %s; there are %s", of[0], cmp.Or(Accounts(d), "none yet"))
	}
	return of, err
}

// concerns tells whether a key is of one of the accounts, or sends for one; none: of any.
func concerns(k *merchant.Key, accounts []guid.ID) bool {
	return len(accounts) == 0 || slices.ContainsFunc(accounts, func(id guid.ID) bool {
		return k.AccountID == id || slices.Contains(k.Accounts, id)
	})
}

// lastUse tells when a key was last used.
func lastUse(k *merchant.Key, uses map[guid.ID]time.Time) string {
	if used := uses[k.ID]; !used.IsZero() {
		return terminal.Moment(used)
	}
	return "never"
}

func compareKeys(a, b *merchant.Key) int {
	if n := strings.Compare(a.AccountID.String(), b.AccountID.String()); n != 0 {
		return n
	}
	if n := a.CreatedAt.Compare(b.CreatedAt); n != 0 {
		return n
	}
	return strings.Compare(a.Name, b.Name)
}

func keyState(k *merchant.Key, now time.Time) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked " + terminal.Moment(k.RevokedAt)
	case !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt):
		return "expired " + terminal.Moment(k.ExpiresAt)
	case k.Till == merchant.WaitingTill:
		return "till, waits for its device until " + terminal.Moment(k.ExpiresAt)
	case k.Till == merchant.PairedTill:
		return "till, paired"
	case !k.ExpiresAt.IsZero():
		return "works until " + terminal.Moment(k.ExpiresAt)
	}
	return "works"
}

func ownerName(d *merchant.Directory, k *merchant.Key) string {
	if k.Kind == merchant.SystemKey {
		return "system"
	}
	if a := d.Accounts[k.AccountID]; a != nil {
		return a.Name
	}
	return k.AccountID.String()
}

// mayDo says what a key may do.
func mayDo(k *merchant.Key) string {
	if k.Kind == merchant.SystemKey {
		return merchant.SystemPermissions.String()
	}
	return k.Permissions.String()
}

// places names the locations a key is enabled for, or the accounts that a system key sends for.
func places(d *merchant.Directory, k *merchant.Key) string {
	if k.Kind == merchant.SystemKey {
		names := []string{}
		for _, id := range k.Accounts {
			names = append(names, ownerName(d, &merchant.Key{AccountID: id}))
		}
		return "for " + cmp.Or(strings.Join(names, ", "), "no account")
	}
	if len(k.Locations) == 0 {
		return "all"
	}
	var names []string
	for _, id := range k.Locations {
		name := id.String()
		if a := d.Accounts[k.AccountID]; a != nil && a.Location(id) != nil {
			name = a.Location(id).Name
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// Revoke ends a key.
type Revoke struct {
	Key string `arg:"" help:"The key's id, or its name where only one key has it."`
}

// Help tells how it is used.
func (Revoke) Help() string {
	return `Takes effect in a running service within 2 seconds. There is no way back; make a new key instead.

Example:

    boon key revoke till-2`
}

// Do revokes the key.
func (c *Revoke) Do(t *terminal.Terminal, s *store.Store) error {
	k, err := setup.RevokeKey(t, s, c.Key, time.Now())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.Stdout, "Key %s (%s) is revoked since %s.\n", terminal.Cell(k.Name), k.ID,
		terminal.Moment(k.RevokedAt))
	return err
}
