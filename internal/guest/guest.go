// Package guest is about people who have or bought gifts, and look at all of them that one merchant has: the page "my
// gifts". It says which gifts are whose, how long links and sessions last, and how many links are sent.
//
// Whoever reads the messages that go to a contact is who the contact stands for. There are no passwords.
package guest

import (
	"crypto/rand"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"boon.example/internal/base/normalize"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// How long what signs a guest in works, and how much of it there is.
const (
	LinkFor    = 15 * time.Minute    // a link, once
	SessionFor = 30 * 24 * time.Hour // a session
	LinksADay  = 3                   // that are sent to one contact of an account
	CountedFor = 24 * time.Hour      // how long a link counts for LinksADay
	MaxWaiting = 1000                // requests of all accounts that are not judged yet
	PageSize   = 50                  // gifts of a page
)

// Path is where the pages are. Below it stands the id of an account; below that, LinkPath and the token of a link.
const (
	Path     = "/my"
	LinkPath = "/link"
)

// Link is what a guest asked for: a way in, which goes to the contact if the contact has gifts. It is kept by the hash
// of its token.
type Link struct {
	ID        guid.ID // of the message
	AccountID guid.ID
	Method    contact.Method
	Contact   string // as contact.Parse gives it
	Language  merchant.Language
	Token     string // which the message brings
	At        time.Time
	Attempts  int // to send it
}

// Ask makes the link that somebody asks for.
func Ask(a *merchant.Account, m contact.Method, to string, in merchant.Language, now time.Time) *Link {
	return &Link{ID: guid.ID(uuid.Must(uuid.NewV7())), AccountID: a.ID, Method: m, Contact: to, Language: in,
		Token: NewToken(), At: now}
}

// Works reports whether a link still signs in.
func (l *Link) Works(now time.Time) bool { return now.Before(l.At.Add(LinkFor)) }

// Session lets a guest see the gifts of one contact in one account.
type Session struct {
	AccountID guid.ID
	Method    contact.Method
	Contact   string
	At        time.Time // when it began
}

// Works reports whether the session is not over.
func (s *Session) Works(now time.Time) bool { return now.Before(s.At.Add(SessionFor)) }

// NewToken draws the token of a link or of a session: 130 bits, in letters and digits.
func NewToken() string { return rand.Text() }

// ErrNoContact is what Read refuses.
var ErrNoContact = errors.New("this is neither an e-mail address nor a telephone number")

// Read reads what a guest typed: an e-mail address, or a telephone number as an account reads it.
func Read(typed string, a *merchant.Account) (contact.Method, string, error) {
	said, method := normalize.Address(strings.TrimSpace(typed)), contact.SMS
	if strings.Contains(said, "@") {
		method = contact.Email
	}
	read, err := contact.Parse(method, said, a.TextCountries)
	if err != nil {
		return 0, "", ErrNoContact
	}
	return method, read, nil
}

// List is one of the lists of a guest.
type List string

// The lists.
const (
	Received List = ""       // gifts that go to the contact
	Bought   List = "bought" // gifts that somebody with this e-mail address paid for
)

// Filter finds gifts that may be in a list; Has says which are.
func (s *Session) Filter(list List, before guid.ID) gift.Filter {
	f := gift.Filter{AccountID: s.AccountID, Before: before, Limit: PageSize}
	if list == Bought {
		f.Buyer = lower(s.Contact)
	} else {
		f.Contacts = contact.Spellings(s.Contact)
	}
	return f
}

// Has reports whether a gift is in a list. Of what a guest received, a gift is there once it was sent: one that is to
// come stays a surprise, and one that went on to somebody else is not this guest's any more.
func (s *Session) Has(list List, g *gift.Gift) bool {
	if g.AccountID != s.AccountID {
		return false
	}
	if list == Bought {
		return s.Method == contact.Email && same(s.Contact, g.Card.Purchase.EmailAddress)
	}
	if g.Card.Attachment != "" { // it is for whomever the buyer gives it to
		return false
	}
	sent := !g.Card.DeliveredAt.IsZero() || g.Status == gift.FailedDelivery || g.Status == gift.Claimed ||
		g.Status == gift.Redeemed
	return sent && g.Status != gift.PurchaseFailed && same(s.Contact, g.Card.Contact)
}

// same reports whether two contacts are one person's for certain. It is narrower than contact.Same: letters that only
// Unicode takes for one may be of two mailboxes, so that the owner of one would see the gifts of the other.
func same(a, b string) bool {
	if a == "" || b == "" || strings.Contains(a, "@") != strings.Contains(b, "@") {
		return false
	}
	if !strings.Contains(a, "@") {
		return contact.Same(a, b)
	}
	if plain, err := contact.Parse(contact.Email, normalize.Address(b), nil); err == nil {
		b = plain
	}
	return lower(a) == lower(b)
}

// lower writes the letters A to Z small, as the index of buyers does.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// Masked is a contact as a page shows it: its owner knows it, and nobody else learns it.
func Masked(of string) string {
	const dots = "•••"
	if at := strings.LastIndexByte(of, '@'); at >= 0 {
		_, first := utf8.DecodeRuneInString(of)
		return of[:first] + dots + of[at:]
	}
	const tail = 2
	return dots + of[max(0, len(of)-tail):]
}
