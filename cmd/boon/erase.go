package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"boon.example/internal/base/normalize"
	"boon.example/internal/command/terminal"
	"boon.example/internal/contact"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/store"
	"boon.example/internal/store/erase"
)

type eraseCmd struct {
	Contact  string `placeholder:"CONTACT" help:"E-mail address or telephone number of the person."`
	Customer string `name:"customer-id" placeholder:"TEXT" help:"Your own id of the person, which gifts are linked to as customerID."`
	Account  string `placeholder:"ID" help:"Only in this account. Default: in all."`
	DryRun   bool   `help:"Count, and change nothing."`
	Force    bool   `help:"Erase also where the gift is still to be sent: its delivery then fails, and it can be used by its code."`
	Vacuum   bool   `help:"Write the embedded database anew afterwards, which keeps every call that writes waiting."`
	database
}

func (eraseCmd) Help() string {
	return `Takes a person's names, contact and messages out of gifts, their histories and whatever else is kept, beside a running service.
Where gifts go or went to the contact: the recipient's name, the message and the notes. Where a customer has the e-mail address: the
customer's names and address, the sender's name if it has one of theirs, the message and the notes. Where gifts are linked to the
customer-id: the link. A link also goes with the recipient of the gift. Gifts keep their codes and balances,
entries their amounts, keys, locations, references and times. boon verify holds afterwards.

A repeated call gets its first answer without what was erased. Backups keep all until they are deleted; PostgreSQL keeps it until VACUUM.

Example:

    boon erase --contact ana@example.com --customer-id 4711 --dry-run`
}

// Run erases what is said of a person.
func (c *eraseCmd) Run(t *terminal.Terminal) error {
	return c.with(t, true, func(s *store.Store) error {
		d, err := s.Directory(t)
		if err != nil {
			return err
		}
		accounts, err := c.accounts(d)
		if err != nil {
			return err
		}
		if err := c.readContact(accounts); err != nil {
			return err
		}
		var total erase.Counts
		lists := 0
		for _, a := range accounts {
			n, err := c.erase(t, s, a)
			if total.Add(n); err != nil {
				return err
			}
			more, err := c.lists(t, s, a)
			if lists += more; err != nil {
				return err
			}
		}
		err = c.tell(t, s, total)
		if lists > 0 && err == nil && !c.DryRun {
			return terminal.ErrQuiet
		}
		return err
	})
}

// accounts are those that are to be searched.
func (c *eraseCmd) accounts(d *merchant.Directory) (all []*merchant.Account, err error) {
	if c.Account != "" {
		id, err := guid.Parse(c.Account)
		if err != nil || d.Accounts[id] == nil {
			return nil, terminal.UsageError("--account is not the id of an account")
		}
		return []*merchant.Account{d.Accounts[id]}, nil
	}
	for _, a := range d.Accounts {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b *merchant.Account) int { return slices.Compare(a.ID[:], b.ID[:]) })
	return all, nil
}

// textedOnce are numbers that an account may have sent SMS to, though none is sent to them any more.
var textedOnce = regexp.MustCompile(`^\+[0-9]{8,15}$`)

// readContact makes of the contact what gifts have. A number without its country code is read as the account reads it,
// where one is named.
func (c *eraseCmd) readContact(accounts []*merchant.Account) error {
	if c.Customer = normalize.String(c.Customer); c.Contact == "" && c.Customer != "" {
		return nil
	}
	said, method := normalize.Address(strings.TrimSpace(c.Contact)), contact.SMS
	if strings.Contains(said, "@") {
		method = contact.Email
	}
	countries := contact.TextCountries()
	whole, err := contact.Parse(method, said, countries)
	if c.Account != "" {
		if here, _ := contact.Parse(method, said, accounts[0].TextCountries); here != "" {
			whole, err = here, nil
		}
	}
	switch {
	case err == nil:
		c.Contact = whole
	case textedOnce.MatchString(said):
		c.Contact = said
	default:
		return terminal.UsageError("--contact: " + err.Error())
	}
	return nil
}

// erase erases in one account. That it does stands in the account's audit trail before.
func (c *eraseCmd) erase(t *terminal.Terminal, s *store.Store, a *merchant.Account) (n erase.Counts, err error) {
	looked, seen := t.Progress("searching"), int64(0)
	all, err := s.CountVouchers(t)
	if err != nil {
		return n, err
	}
	ids, err := s.Eraser.Find(t, a.ID, c.Contact, c.Customer, func(rows int) {
		seen += int64(rows)
		looked(seen, max(seen, all))
	})
	if err != nil {
		return n, err
	}
	ask := erase.Request{Account: a, Contact: c.Contact, CustomerID: c.Customer, Force: c.Force, DryRun: c.DryRun}
	if c.Contact != "" { // before the gifts: who is signed in would else see meanwhile what is left of them
		n.Guests, err = s.Eraser.Guests(t, ask)
	}
	if err != nil || len(ids) == 0 {
		return n, err
	}
	if !c.DryRun {
		what := event.SaidErased.Say(len(ids), a.ID)
		err := s.LogExport(t, event.TrailEntry{AccountID: a.ID, Action: event.PersonErased, What: what})
		if err != nil {
			return n, err
		}
	}
	done, gifts := t.Progress("erasing"), int64(0)
	ask.Done = func() {
		gifts++
		done(gifts, int64(len(ids)))
	}
	counts, err := s.Eraser.Gifts(t, ask, ids)
	n.Add(counts)
	return n, err
}

// lists tells how many lists of *Send to many* name the person. They stay as they are: some of it may be sent already.
func (c *eraseCmd) lists(t *terminal.Terminal, s *store.Store, a *merchant.Account) (int, error) {
	if c.Contact == "" { // they name no customers
		return 0, nil
	}
	lists, until, err := s.SendListsTo(t, a.ID, func(is string) bool {
		if strings.Contains(c.Contact, "@") {
			return contact.FoldEmail(is) == contact.FoldEmail(c.Contact)
		}
		whole, err := contact.Parse(contact.SMS, normalize.Address(strings.TrimSpace(is)), a.TextCountries)
		return is == c.Contact || err == nil && whole == c.Contact
	})
	if lists > 0 {
		fmt.Fprintf(t.Stdout, "%d lists of \"Send to many\" of account %s name the person, and stay as they are: throw "+
			"away in the console what is not sent. What is left is deleted by %s.\n", lists, a.ID, terminal.Moment(until))
	}
	return lists, err
}

// tell says what was erased, in numbers, and what still stands.
func (c *eraseCmd) tell(t *terminal.Terminal, s *store.Store, n erase.Counts) error {
	verb := "erased"
	if c.DryRun {
		verb = "to be erased"
	}
	fmt.Fprintf(t.Stdout, "%s: in %d gifts, %d entries of their histories", verb, n.Gifts-n.Waiting, n.Entries)
	if c.DryRun {
		fmt.Fprintln(t.Stdout, ", and what else is kept of them.")
	} else {
		fmt.Fprintf(t.Stdout, ", %d stored answers, %d jobs, %d messages of the outbox, %d answers of webhooks.\n", n.Answers,
			n.Jobs, n.Messages, n.Attempts)
	}
	if n.Guests > 0 {
		fmt.Fprintf(t.Stdout, "%s: %d links to \"my gifts\" and sessions there.\n", verb, n.Guests)
	}
	if n.Waiting > 0 {
		fmt.Fprintf(t.Stdout, "%d gifts are left as they are, as they are still to be sent: cancel them, send them "+
			"elsewhere, or give --force.\n", n.Waiting)
	}
	if c.DryRun {
		return nil
	}
	err := s.Eraser.Clean(t, c.Vacuum)
	if err == nil && n.Waiting == 0 && !c.Vacuum {
		left := 0
		for _, spelling := range contact.Spellings(c.Contact) {
			n, remains := s.Eraser.Remains(spelling)
			left, err = left+n, errors.Join(err, remains)
		}
		if left > 0 {
			fmt.Fprintf(t.Stdout, "The contact still stands %d times in the files, where SQLite has left copies behind: "+
				"--vacuum removes them.\n", left)
		}
	}
	if err != nil || n.Waiting > 0 {
		return errors.Join(err, terminal.ErrQuiet)
	}
	return nil
}
