package manage

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/base/clientip"
	"boon.example/internal/base/phrase"
	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/pin"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// PairTill makes the key of a till, and a link by which one device gets it.
func PairTill(c *Call) (ledger.Answer, error) {
	want, problems := decode(c, c.readTill)
	if err := problems.Err(); err != nil {
		return ledger.Answer{}, err
	}
	token := rand.Text() // 130 bits, in letters that a QR code has room for
	var made *merchant.Key
	err := c.setUp(func(d *merchant.Directory) (merchant.Changes, error) {
		k, err := d.NewTill(c.Caller, want, token, c.MachineTime())
		if made = k; err != nil {
			return merchant.Changes{}, err
		}
		saved := *k
		return merchant.Changes{Keys: []*merchant.Key{&saved},
			What: phrase.Kept("added till %s (%-s) at %s, which may: %+s, from %+v").Say(
				k.Name, k.ID, c.Account.Location(k.Locations[0]).Name, k.Permissions, k.Networks)}, nil
	})
	if err != nil {
		return ledger.Answer{}, err
	}
	return c.Answer(ledger.Created, func(w *wire.Writer) {
		writeTill(w, made, c.Account)
		w.Text("pairURL", c.PublicURL()+"/till/pair#"+token) // behind the # no server, log or Referer has it
	}), nil
}

// readTill reads what a request says of a new till.
func (c *Call) readTill(o *wire.Object) merchant.Key {
	k := merchant.Key{ID: guid.ID(uuid.Must(uuid.NewV7())), Kind: merchant.AccountKey, AccountID: c.Account.ID,
		Name: strings.TrimSpace(o.OneLine("name", merchant.MaxKeyName)), Locations: []guid.ID{o.GUID("organizationID")},
		Permissions: merchant.TillRole, Networks: readNetworks(o, "networks")}
	if contact.Blank(k.Name) && !o.Has("name") {
		o.Add("name", "Say what the till is called in lists, such as Counter 1.")
	}
	if !o.Given("organizationID") {
		o.Add("organizationID", "Say at which location the till stands.")
	}
	names, _ := o.Texts("may", len(merchant.PermissionNames()))
	for n, name := range names {
		one, known := merchant.PermissionByName(name)
		if !known || one&^merchant.TillPermissions != 0 {
			o.Add(fmt.Sprintf("may[%d]", n), "A till may be given activate, reload and cash-out, beside validate, redeem and "+
				"reverse, which every till may.")
			continue
		}
		k.Permissions |= one
	}
	return k
}

func readNetworks(o *wire.Object, name string) (all merchant.Networks) {
	texts, _ := o.Texts(name, merchant.MaxNetworks)
	for n, text := range texts {
		p, err := clientip.ParseNetwork(text)
		if err != nil {
			o.Add(fmt.Sprintf("%s[%d]", name, n), "This is no network such as 203.0.113.0/24.")
			continue
		}
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// ListTills lists the tills that work or wait for their devices, the oldest first.
func ListTills(c *Call) (ledger.Answer, error) {
	d, err := c.Hooks.Directory(c.Context())
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	return c.Answer(ledger.OK, func(w *wire.Writer) {
		w.List("tills")
		for _, k := range d.Tills(c.Caller, c.MachineTime()) {
			w.Open()
			writeTill(w, k, c.Account)
			w.Close()
		}
		w.EndList()
	}), nil
}

// RevokeTill switches a till off for good. One that is off already counts as done.
func RevokeTill(c *Call) (ledger.Answer, error) {
	var q wire.Query
	id := q.ParseID("keyID", c.HTTP.PathValue("keyID"))
	if err := q.Err(); err != nil {
		return ledger.Answer{}, err
	}
	var ended merchant.Key
	err := c.setUp(func(d *merchant.Directory) (merchant.Changes, error) {
		k := d.ManagedTill(c.Caller, id)
		if k == nil {
			return merchant.Changes{}, service.RefuseAt(refusal.NotFound, "keyID", "This account has no till with that keyID.")
		}
		if ended = *k; !k.RevokedAt.IsZero() {
			return merchant.Changes{}, nil
		}
		ended.RevokedAt = c.MachineTime()
		saved := ended
		return merchant.Changes{Keys: []*merchant.Key{&saved},
			What: phrase.Kept("switched off till %s (%-s)").Say(k.Name, k.ID)}, nil
	})
	if err != nil {
		return ledger.Answer{}, err
	}
	return c.Answer(ledger.OK, func(w *wire.Writer) { writeTill(w, &ended, c.Account) }), nil
}

// ListPeople lists who signs in at the tills, by name.
func ListPeople(c *Call) (ledger.Answer, error) {
	d, err := c.Hooks.Directory(c.Context())
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	return c.Answer(ledger.OK, func(w *wire.Writer) {
		w.List("people")
		if a := d.Accounts[c.Account.ID]; a != nil {
			for n := range a.People {
				if p := &a.People[n]; c.Caller.ManagesPerson(p) {
					w.Open()
					writePerson(w, p)
					w.Close()
				}
			}
		}
		w.EndList()
	}), nil
}

// SetPIN gives somebody a PIN for the next sign-in, at which that person chooses another one.
func SetPIN(c *Call) (ledger.Answer, error) {
	type request struct{ name, pin string }
	want, problems := decode(c, func(o *wire.Object) request {
		r := request{o.OneLine("name", merchant.MaxKeyName), o.Text("pin")}
		if !o.Given("name") {
			o.Add("name", "Say whose PIN it is.")
		}
		if err := pin.Check(r.pin); err != nil && o.Given("pin") {
			o.Add("pin", "%s.", sentence(err))
		}
		return r
	})
	if err := problems.Err(); err != nil {
		return ledger.Answer{}, err
	}
	drawn := want.pin == ""
	if drawn {
		want.pin = pin.Draw()
	}
	hash, err := c.hashPIN(want.pin)
	if err != nil {
		return ledger.Answer{}, err
	}
	var person merchant.Person
	err = c.setUp(func(d *merchant.Directory) (merchant.Changes, error) {
		a := d.Accounts[c.Account.ID]
		at := slices.IndexFunc(a.People, func(p merchant.Person) bool { return p.Name == want.name })
		if at < 0 || !c.Caller.ManagesPerson(&a.People[at]) {
			return merchant.Changes{}, service.RefuseAt(refusal.NotFound, "name",
				"Nobody of this name works at the tills of this account.")
		}
		changed := a.WithPIN(want.name, hash, false)
		person = changed.People[at]
		return merchant.Changes{Accounts: []*merchant.Account{changed},
			What: phrase.Kept("set the PIN of %s").Say(want.name)}, nil
	})
	if err != nil {
		return ledger.Answer{}, err
	}
	return c.Answer(ledger.OK, func(w *wire.Writer) {
		writePerson(w, &person)
		if drawn {
			w.Text("pin", want.pin)
		} else {
			w.Null("pin")
		}
	}), nil
}

func sentence(err error) string { return strings.ToUpper(err.Error()[:1]) + err.Error()[1:] }

// hashPIN makes a hash, one at a time, as each takes 19 MiB and a core, in turns by account.
func (c *Call) hashPIN(typed string) (string, error) {
	done, err := c.pins.Take(c.Context(), c.Account.ID, c.Caller.KeyID)
	if err != nil {
		return "", err
	}
	defer done()
	return pin.Hash(typed)
}

// byKey is what a key had be done.
const byKey phrase.Kept = "account %s, by key %s: %v"

// setUp saves a change of the set-up that this call makes, with a line for its log.
func (c *Call) setUp(change func(*merchant.Directory) (merchant.Changes, error)) error {
	if err := c.changes.count(c.Account.ID, c.MachineTime()); err != nil {
		return err
	}
	return service.Stored(c.Hooks.Configure(c.Context(), func(d *merchant.Directory, _ merchant.Uses) (merchant.Changes,
		error) {
		changes, err := change(d)
		if err != nil || changes.What == "" {
			return merchant.Changes{}, err
		}
		changes.What = byKey.Say(c.Account.Name, c.Caller.Name, changes.What)
		changes.By, changes.RequestID = c.Actor(guid.ID{}).Actor, c.RequestID
		return changes, nil
	}))
}

// tillStates are the words for where a till stands.
var tillStates = map[merchant.TillKey]string{merchant.WaitingTill: "WAITING", merchant.PairedTill: "PAIRED"}

// writeTill writes the members of a till; never its key.
func writeTill(w *wire.Writer, k *merchant.Key, a *merchant.Account) {
	w.ID("keyID", k.ID)
	w.Text("name", k.Name)
	w.ID("organizationID", k.Locations[0])
	location := a.Location(k.Locations[0])
	if location == nil {
		w.Null("organizationName")
	} else {
		w.Text("organizationName", location.Name)
	}
	state := tillStates[k.Till]
	if !k.RevokedAt.IsZero() {
		state = "OFF"
	}
	w.Text("state", state)
	w.Texts("may", k.Permissions.Names())
	networks := []string{}
	for _, p := range k.Networks {
		networks = append(networks, p.String())
	}
	w.Texts("networks", networks)
	w.Instant("createdAt", k.CreatedAt)
	until := time.Time{}
	if k.Till == merchant.WaitingTill && k.RevokedAt.IsZero() {
		until = k.ExpiresAt
	}
	w.InstantOrNull("pairUntil", until)
	w.InstantOrNull("switchedOffAt", k.RevokedAt)
}

// writePerson writes the members of a person; never the hash of the PIN.
func writePerson(w *wire.Writer, p *merchant.Person) {
	w.Text("name", p.Name)
	state := "OWN"
	switch {
	case p.PIN == "":
		state = "NONE"
	case p.FirstPIN:
		state = "FIRST"
	}
	w.Text("pinState", state)
	w.Texts("may", slices.Concat([]string{}, p.May.Names()))
	ids := []string{}
	for _, id := range p.Locations {
		ids = append(ids, id.String())
	}
	w.Texts("organizationIDs", ids)
}
