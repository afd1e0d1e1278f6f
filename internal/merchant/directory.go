package merchant

import (
	"cmp"
	"slices"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/refusal"
)

// Directory is a snapshot of everything that carries no value: accounts and keys. It is read-only; a change of the
// set-up makes a new one with a higher version.
type Directory struct {
	Version  int64
	Accounts map[guid.ID]*Account
	Keys     map[KeyHash]*Key
	Webhooks map[guid.ID][]*Webhook // by account, in the order in which they were made
}

// Complete notes what accounts know of their keys. Whoever makes a directory calls it before anybody reads it.
func (d *Directory) Complete() {
	for _, k := range d.Keys {
		if a := d.Accounts[k.AccountID]; a != nil && k.RevokedAt.IsZero() && k.Limits.OfMoney() {
			a.KeysLimitMoney = true
		}
	}
}

// Authenticate tells who presents the text of a key. ok is false for a key that is unknown, expired, revoked or a
// till's; which of these is nobody's business.
func (d *Directory) Authenticate(key string, now time.Time) (_ *Caller, ok bool) {
	return d.authenticate(key, NoTill, now)
}

// AuthenticateTill tells which till presents the text of its key, from within its own pages.
func (d *Directory) AuthenticateTill(key string, now time.Time) (_ *Caller, ok bool) {
	return d.authenticate(key, PairedTill, now)
}

// ExchangePairingToken gives the key that waits for the device which shows this token, as the key is once the device
// has it: with a text of its own in the token's place, so that the token is good for nothing any more. ok is false for
// a token for which no key waits, or none any more.
func (d *Directory) ExchangePairingToken(token, text string, now time.Time) (_ *Key, ok bool) {
	k := d.Keys[HashKey(token)]
	if k == nil || k.Till != WaitingTill || !k.Works(now) {
		return nil, false
	}
	paired := *k
	paired.Till, paired.Hash, paired.Hint, paired.ExpiresAt = PairedTill, HashKey(text), KeyHint(text), time.Time{}
	return &paired, true
}

// Works reports whether a key is neither revoked nor expired.
func (k *Key) Works(now time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt))
}

// TillsOnlyKeys are the keys of an account that take cards which are taken at tills only, by their names. Boon's own
// tills take such cards, too, and are not among them.
func (d *Directory) TillsOnlyKeys(account guid.ID, now time.Time) (all []*Key) {
	for _, k := range d.Keys {
		if k.AccountID == account && k.Till == NoTill && k.Works(now) && k.Permissions.Has(MayRedeem|MayTillsOnly) {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b *Key) int { return cmp.Or(cmp.Compare(a.Name, b.Name), a.ID.Compare(b.ID)) })
	return all
}

func (d *Directory) authenticate(key string, till TillKey, now time.Time) (_ *Caller, ok bool) {
	k := d.Keys[HashKey(key)]
	if k == nil || k.Till != till || !k.Works(now) {
		return nil, false
	}
	c := &Caller{KeyID: k.ID, Kind: k.Kind, Name: k.Name, Locations: k.Locations, Permissions: k.Permissions,
		Limits: k.Limits, Till: k.Till, MadeAt: k.CreatedAt, Until: k.ExpiresAt,
		Networks: k.Networks, Agent: k.Agent}
	if k.Kind == SystemKey {
		c.Permissions, c.Accounts, c.Programs, c.Test = SystemPermissions, k.Accounts, k.Programs, k.Test
	} else {
		if c.Account = d.Accounts[k.AccountID]; c.Account == nil || c.Account.Test != k.Test {
			return nil, false
		}
	}
	return c, true
}

// Key finds a key by its id; nil: there is none.
func (d *Directory) Key(id guid.ID) *Key {
	for _, k := range d.Keys {
		if k.ID == id {
			return k
		}
	}
	return nil
}

// KeyName is the name of a key or a provider that there is or was; "" is none.
func (d *Directory) KeyName(id guid.ID) string {
	if k := d.Key(id); k != nil {
		return k.Name
	}
	for _, a := range d.Accounts {
		if p := find(a.Providers, func(p *Provider) bool { return p.ID == id }); p != nil {
			return p.Name
		}
		if p := find(a.EndedProviders, func(p *EndedProvider) bool { return p.ID == id }); p != nil {
			return p.Name
		}
	}
	return ""
}

// SendingAccount tells which account a send-gift request is for: an account key's own, which the request may name but
// no other (interface, section 4.1, rule 7); for a system key the one it names. field is where the request names it.
// It fails with NOT_AUTHORIZED or VALIDATION_FAILURE.
func (d *Directory) SendingAccount(c *Caller, named guid.ID, field refusal.Field) (*Account, error) {
	if c.Kind == AccountKey {
		if !named.IsZero() && named != c.Account.ID {
			return nil, refusal.At(refusal.NotAuthorized, field, "This key belongs to another account.")
		}
		return c.Account, nil
	}
	if named.IsZero() {
		return nil, refusal.At(refusal.ValidationFailure, field,
			"A system key must name the account that the gift is good for.")
	}
	return d.servedAccount(c, named, field)
}

// AccountOf tells which account a call is about that looks up or cancels: an account key's own; for a system key the
// one it names, which may be left out where there is only one. It fails as SendingAccount does.
func (d *Directory) AccountOf(c *Caller, named guid.ID, field refusal.Field) (*Account, error) {
	switch {
	case c.Kind == AccountKey || !named.IsZero():
		return d.SendingAccount(c, named, field)
	case len(c.Accounts) == 1:
		return d.servedAccount(c, c.Accounts[0], field)
	}
	return nil, refusal.At(refusal.ValidationFailure, field,
		"Say which account is meant: this key does not serve exactly one.")
}

// servedAccount is one of those that a system key serves. Which others exist is nothing to it.
func (d *Directory) servedAccount(c *Caller, id guid.ID, field refusal.Field) (*Account, error) {
	if a := d.Accounts[id]; a != nil && slices.Contains(c.Accounts, id) && a.Test == c.Test {
		return a, nil
	}
	return nil, refusal.At(refusal.NotAuthorized, field, "This key does not serve that account.")
}

// Uses tells which records of an account its gifts and their histories refer to, so that they cannot be taken away:
// programs, locations, storefronts, promotions, designs. It is empty exactly when the account has no gift, for each
// gift names its program.
type Uses func(account guid.ID) (map[guid.ID]bool, error)

// Changes is a change of the set-up: what is to be saved.
type Changes struct {
	Accounts []*Account // new or changed, each whole
	Keys     []*Key     // new or changed
	Webhooks []*Webhook // new, changed, or to be deleted
	Assets   []Asset    // the pictures of those accounts; saving one again changes nothing
	What     string     // what is changed, in words, a line for each change; never a secret
	// Of says it for each account that it is about; nil: all of What is about each that is changed here.
	Of map[guid.ID]string
	By Actor // the key that asks for it; zero: somebody at the command line, or the service itself
	// RequestID is that of the call that asks for it; "": none.
	RequestID string
}

// Trail is what the changes do to the set-up, for each account that they are about.
func (c *Changes) Trail() map[guid.ID]string {
	if c.Of != nil {
		return c.Of
	}
	all := map[guid.ID]string{}
	for _, a := range c.Accounts {
		all[a.ID] = c.What
	}
	for _, k := range c.Keys {
		all[k.AccountID] = c.What
		for _, id := range k.Accounts {
			all[id] = c.What
		}
	}
	for _, w := range c.Webhooks {
		all[w.AccountID] = c.What
	}
	delete(all, guid.ID{}) // keys of systems are nobody's
	return all
}
