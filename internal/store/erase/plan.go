package erase

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"boon.example/internal/base/normalize"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/store/record"
)

// erasedWords stand in the place of words that named somebody.
const erasedWords = "(erased)"

// minName is how long a name is at least that is looked for in other words. "Al" or "Bo" would take the reason out of
// entries that are about nobody.
const minName = 3

// plan is what is to be written where a gift tells of somebody. It is worked out from what was read, writes nothing,
// and is the same each time: that is how a rehearsal counts, and how a transaction finds that a gift is as it was
// seen.
type plan struct {
	ask     Request
	gift    *gift.Gift
	entries []gift.Entry // as they are to be
	history []gift.Entry // all of them, as they are

	card        gift.Card // as it is to be
	search      []string  // what the gift is not found by any more
	resends     []int     // whose contact goes
	jobs        []guid.ID // that have nobody to go to
	unreachable bool      // the gift goes nowhere any more
	unlinked    bool      // no customer is linked to the gift any more
}

// nothing tells whether the gift says nothing any more. To erase again then writes nothing, so a command that was cut
// off can be repeated over all gifts (invariant 1 of Eraser.Gifts).
func (p *plan) nothing() bool {
	was, is := &p.gift.Card, &p.card
	same := was.Sender == is.Sender && was.Recipient == is.Recipient && was.Contact == is.Contact &&
		was.Message == is.Message && was.Purchase == is.Purchase && was.Notes == is.Notes
	return same && len(p.entries)+len(p.resends) == 0 && !p.unlinked
}

// is tells whether a contact is that of the person. Customers' addresses stand as they were typed, and so do contacts
// of earlier releases.
func (r *Request) is(address string) bool {
	return address != "" && (r.All() ||
		r.Contact != "" && contact.Same(normalize.Address(address), normalize.Address(r.Contact)))
}

// planFor decides what goes. A gift tells of two people, and mostly one of them asks to be forgotten: what is the
// other's stays.
//
//   - A recipient takes along the name, the message and the notes. That is so also of one that the gift was sent to
//     before: nobody knows whether the name on the card is theirs, and the message was written to them.
//   - A recipient whose contact the gift has now takes that contact along, and then the gift goes nowhere any more
//     (unreachable).
//   - A customer is known by the e-mail address of the purchase, and takes along their names, the message and the
//     notes. The sender goes if it has a word of their name; otherwise somebody else is named there, such as a
//     company. The name of the account takes its place.
//   - The link to a customer goes with whoever has the gift: the recipient, or, where it was sent to nobody, who paid
//     for it.
//
// Each name that goes is also looked for in the words of entries (planEntries).
func planFor(ask Request, g *loaded, history []gift.Entry) *plan {
	p := &plan{ask: ask, gift: &g.Gift, history: history, card: g.Card}
	all, c := ask.All(), &p.card
	current := all || ask.is(c.Contact)
	recipient, customer := current, all || ask.is(c.Purchase.EmailAddress)
	var names []string
	for _, r := range g.resends {
		if r.Contact != "" && ask.is(r.Contact) {
			recipient = true
			p.resends, names = append(p.resends, r.Seq), append(names, r.Contact)
			p.search = append(p.search, record.ByContact+contact.Fold(r.Contact))
		}
	}
	if recipient {
		names = append(names, c.Recipient)
		for _, word := range contact.SearchWords(c.Recipient) {
			p.search = append(p.search, record.ByWord+word)
		}
		c.Recipient = ""
	}
	if current {
		p.unreachable = c.Contact != ""
		p.search = append(p.search, record.ByContact+contact.Fold(c.Contact))
		names = append(names, c.Contact)
		c.Contact = ""
	}
	if customer {
		names = append(names, customerNames(c.Purchase)...)
		if all || bears(c.Sender, c.Purchase) {
			names, c.Sender = append(names, c.Sender), ask.Account.Name
		}
		forgetCustomer(&c.Purchase)
	}
	if recipient || customer {
		c.Message, c.Notes = "", ""
	}
	mine := current || customer && p.gift.Card.Contact == ""
	p.unlinked = g.CustomerID != "" && (mine || g.CustomerID == ask.CustomerID)
	p.planEntries(names)
	for _, j := range g.jobs {
		if ask.is(j.Contact) || current && j.Kind == ledger.BalanceJob {
			p.jobs = append(p.jobs, j.ID)
		}
	}
	return p
}

// planEntries takes the customers of reloads and activations out of entries, the contacts out of what was sent
// elsewhere, and words that name whoever is erased.
//
// A reason is what staff typed: "Refund for Jane Doe, called twice". Nobody can tell by rule which of its words are
// about her, so the whole reason goes when a name is in it. The entry of a resend ends in " From … to …", with both
// contacts shortened. Who is erased may be either, so that part goes whole.
func (p *plan) planEntries(names []string) {
	for _, e := range p.history { // first all that is known of whoever paid
		if p.ask.is(e.Purchase.EmailAddress) {
			names = append(names, customerNames(e.Purchase)...)
		}
	}
	for _, e := range p.history {
		was := e
		if p.ask.All() || p.ask.is(e.Purchase.EmailAddress) {
			forgetCustomer(&e.Details.Purchase)
		}
		if to, _, masked := strings.Cut(e.Reason, " From "); masked && e.Kind == gift.Resent && len(names) > 0 {
			e.Reason = to
		}
		for _, name := range names {
			if mentions(e.Reason, name) {
				e.Reason = erasedWords
			}
		}
		if e.Reason != was.Reason || e.Details != was.Details {
			p.entries = append(p.entries, e)
		}
	}
}

// forgetCustomer leaves what a purchase is found by: its reference and its storefront.
func forgetCustomer(p *gift.Purchase) { p.FirstName, p.LastName, p.EmailAddress = "", "", "" }

func customerNames(p gift.Purchase) []string {
	return []string{strings.TrimSpace(p.FirstName + " " + p.LastName), p.LastName, p.EmailAddress}
}

// bears tells whether a sender's name has a word of the customer's: "Jane" and "J. Doe" bear Jane Doe's.
func bears(sender string, p gift.Purchase) bool {
	for _, word := range contact.SearchWords(p.FirstName + " " + p.LastName) {
		for _, is := range contact.SearchWords(sender) {
			if is == word {
				return true
			}
		}
	}
	return false
}

// mentions tells whether a text has a name in it, as words of its own: "Ann" is in "for Ann", and not in "Annual".
// Both are folded first, so that neither case nor accents hide a name.
func mentions(text, name string) bool {
	if utf8.RuneCountInString(name) < minName {
		return false
	}
	text, name = contact.Fold(text), contact.Fold(name)
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for at := 0; ; {
		n := strings.Index(text[at:], name)
		if n < 0 {
			return false
		}
		begin, end := at+n, at+n+len(name)
		before, _ := utf8.DecodeLastRuneInString(text[:begin])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !inWord(before) && !inWord(after) {
			return true
		}
		at = end
	}
}
