package guestlink

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guest"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/message"
)

const (
	ana = "ana@example.com"
	tel = "+12025550123"
)

// TestRender: in each language, by mail and by text message; a name that attacks the mail stays a name, and the address
// of the page stands there whole.
func TestRender(t *testing.T) {
	t.Parallel()
	a := &merchant.Account{ID: guid.ID{1}, Name: "<script>x</script>\r\nBcc: all@example.com", Zone: time.UTC}
	for _, language := range merchant.Languages() {
		for method, to := range map[contact.Method]string{contact.Email: ana, contact.SMS: tel} {
			l := guest.Ask(a, method, to, language, time.Now())
			m, err := Render(l, a, "https://gifts.example.com/")
			if err != nil {
				t.Fatal(err)
			}
			const path = "https://gifts.example.com/my/01000000-0000-0000-0000-000000000000/link/"
			if m.To != to || m.Language != language || m.ID != l.ID || strings.ContainsAny(m.Subject+m.FromName, "\r\n") {
				t.Errorf("%s: %+v", language, m)
			}
			if strings.Contains(m.HTML, "<script") || (m.HTML == "") != (method == contact.SMS) {
				t.Errorf("%s: %s", language, m.HTML)
			}
			for what, text := range map[string]string{"text": m.Text, "HTML": m.HTML} {
				if text != "" && !strings.Contains(text, path+l.Token) {
					t.Errorf("%s: the %s has no link: %s", language, what, text)
				}
			}
			if left := strings.TrimSuffix(m.Text, path+l.Token); method == contact.SMS &&
				(left == m.Text || strings.ContainsAny(left, "\r\n") || utf8.RuneCountInString(left) > 100) {
				t.Errorf("%s: the text message is %q", language, m.Text)
			}
		}
	}
}

// waiting is a store with one link, and gifts in pages.
type waiting struct {
	link  guest.Link
	pages [][]gift.Gift
	may   bool // it is one of the first of its contact
	fails error

	sent, gone bool
	due        time.Time
	looks      int // for gifts
}

func (w *waiting) ClaimGuestLink(context.Context, time.Time, time.Time) (guest.Link, bool, error) {
	return w.link, !w.sent && !w.gone, nil
}

func (w *waiting) MaySendGuestLink(context.Context, *guest.Link) (bool, error) { return w.may, nil }

func (w *waiting) SentGuestLink(context.Context, *guest.Link) error { w.sent = true; return nil }

func (w *waiting) PostponeGuestLink(_ context.Context, l *guest.Link, due time.Time) error {
	w.link, w.due = *l, due
	return nil
}

func (w *waiting) ForgetGuestLink(context.Context, *guest.Link) error { w.gone = true; return nil }

// GuestGifts gives the pages one after the other, to whoever received; who bought has none.
func (w *waiting) GuestGifts(_ context.Context, f gift.Filter) (page gift.Page, _ error) {
	w.looks++
	at := int(f.Before[15])
	if f.Buyer != "" || at >= len(w.pages) {
		return page, w.fails
	}
	page.Gifts = w.pages[at]
	if at+1 < len(w.pages) {
		page.Next = guid.ID{15: byte(at + 1)}
	}
	return page, w.fails
}

// gateway takes messages, or answers with what fails.
type gateway struct {
	fails error
	took  []message.Message
}

func (g *gateway) Carry(_ context.Context, m message.Message) error {
	if g.fails == nil {
		g.took = append(g.took, m)
	}
	return g.fails
}

// world is a sender with a link of Ana's, who has a gift.
type world struct {
	*waiting
	Sender
	account         *merchant.Account
	mail, sms, test gateway
	within          bool // the daily limits of the account
	log             strings.Builder
}

func newWorld(method contact.Method, to string) *world {
	a := &merchant.Account{ID: guid.ID{1}, Name: "Harbor Coffee", Zone: time.UTC}
	w := &world{account: a, within: true, waiting: &waiting{may: true, pages: [][]gift.Gift{{gifted(to)}},
		link: *guest.Ask(a, method, to, merchant.English, time.Now())}}
	d := &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{a.ID: a}}
	w.Sender = Sender{Store: w.waiting, Email: &w.mail, SMS: &w.sms, Test: &w.test, PublicURL: "https://gifts.example.com",
		Directory: func() *merchant.Directory { return d },
		Allow:     func(context.Context, guid.ID, contact.Method, string) (bool, error) { return w.within, nil },
		Log:       slog.New(slog.NewTextHandler(&w.log, nil))}
	return w
}

// gifted is a gift that a contact received.
func gifted(to string) gift.Gift {
	return gift.Gift{Voucher: gift.Voucher{AccountID: guid.ID{1}, Status: gift.Claimed}, Card: gift.Card{Contact: to}}
}

// TestWhoIsSentALink: whoever has a gift, by the gateway of their contact; nobody else, and nobody beyond a limit. A
// link that is not sent is forgotten, so that it signs nobody in.
func TestWhoIsSentALink(t *testing.T) {
	t.Parallel()
	by := func(g func(w *world) *gateway) func(w *world) *gateway { return g }
	mail, sms := by(func(w *world) *gateway { return &w.mail }), by(func(w *world) *gateway { return &w.sms })
	for name, test := range map[string]struct {
		method contact.Method
		to     string
		change func(w *world)
		by     func(w *world) *gateway // nil: by nobody
	}{
		"who has a gift":      {contact.Email, ana, func(*world) {}, mail},
		"who has one by text": {contact.SMS, tel, func(*world) {}, sms},
		"whose gift is far on": {contact.Email, ana, func(w *world) {
			w.pages = [][]gift.Gift{{}, {gifted("ben@example.com")}, {gifted(ana)}}
		}, mail},
		"of a test account": {contact.Email, ana, func(w *world) { w.account.Test = true },
			by(func(w *world) *gateway { return &w.test })},
		"who was tried before, beyond the limit": {contact.Email, ana, func(w *world) {
			w.link.Attempts, w.within = 1, false
		}, mail},

		"who has none": {contact.Email, ana, func(w *world) { w.pages = nil }, nil},
		"whose gift went on": {contact.Email, ana, func(w *world) {
			w.pages[0][0].Card.Contact = "ben@example.com"
		}, nil},
		"whose gift is to come":     {contact.Email, ana, func(w *world) { w.pages[0][0].Status = gift.Pending }, nil},
		"of another account's gift": {contact.Email, ana, func(w *world) { w.pages[0][0].AccountID = guid.ID{2} }, nil},
		"beyond three a day":        {contact.Email, ana, func(w *world) { w.may = false }, nil},
		"beyond the daily limits":   {contact.Email, ana, func(w *world) { w.within = false }, nil},
		"of no gateway":             {contact.SMS, tel, func(w *world) { w.SMS = nil }, nil},
		"of no account":             {contact.Email, ana, func(w *world) { w.link.AccountID = guid.ID{9} }, nil},
		"too late":                  {contact.Email, ana, func(w *world) { w.link.At = w.link.At.Add(-guest.LinkFor) }, nil},
	} {
		w := newWorld(test.method, test.to)
		test.change(w)
		done, more, err := w.Batch(t.Context())
		if err != nil || done != 1 || !more {
			t.Errorf("%s: %d, %t, %v", name, done, more, err)
		}
		for _, g := range []*gateway{&w.mail, &w.sms, &w.test} {
			want := 0
			if test.by != nil && g == test.by(w) {
				want = 1
			}
			if len(g.took) != want {
				t.Errorf("%s: a gateway took %+v", name, g.took)
			}
		}
		if w.sent != (test.by != nil) || w.gone != (test.by == nil) {
			t.Errorf("%s: sent %t, gone %t", name, w.sent, w.gone)
		}
		if strings.Contains(w.log.String(), test.to) || strings.Contains(w.log.String(), w.link.Token) {
			t.Errorf("%s: the log has the contact or the link: %s", name, w.log.String())
		}
	}
}

// TestNobodyIsSentALink: where none waits, and while the database is away, when the link goes on waiting.
func TestNobodyIsSentALink(t *testing.T) {
	t.Parallel()
	w := newWorld(contact.Email, ana)
	w.sent = true
	if done, more, err := w.Batch(t.Context()); done != 0 || more || err != nil {
		t.Errorf("of no link: %d, %t, %v", done, more, err)
	}
	w = newWorld(contact.Email, ana)
	w.fails = errors.New("the database is away")
	if _, _, err := w.Batch(t.Context()); !errors.Is(err, w.fails) || w.sent || w.gone {
		t.Errorf("while the database is away: sent %t, gone %t, %v", w.sent, w.gone, err)
	}
}

// TestAGatewayThatIsAway: a link waits twice as long after each attempt, and is given up when it would not sign in any
// more; one that the gateway refuses for good is not tried again. The gateway's words stay out of the log.
func TestAGatewayThatIsAway(t *testing.T) {
	t.Parallel()
	w := newWorld(contact.Email, ana)
	w.mail.fails = errors.New("450 " + ana + ": try again")
	try := func() {
		t.Helper()
		if done, more, err := w.Batch(t.Context()); done != 0 || !more || err != nil {
			t.Fatalf("%d, %t, %v", done, more, err)
		}
	}
	for n, wait := range []time.Duration{firstPause, 2 * firstPause, 4 * firstPause} {
		begun := time.Now()
		if try(); w.link.Attempts != n+1 || w.due.Sub(begun) < wait || time.Until(w.due) > wait {
			t.Errorf("after attempt %d it waits for %v", w.link.Attempts, w.due.Sub(begun))
		}
	}
	w.link.Attempts = 1000
	if try(); !w.gone {
		t.Error("a link is tried after its time")
	}
	refused := newWorld(contact.Email, ana)
	refused.mail.fails = &message.Refusal{}
	if _, _, err := refused.Batch(t.Context()); err != nil || !refused.gone {
		t.Errorf("a link that was refused for good waits: %v", err)
	}
	if said := w.log.String() + refused.log.String(); strings.Contains(said, ana) ||
		!strings.Contains(said, "refused for good") || !strings.Contains(said, "given up") {
		t.Errorf("the log says %s", said)
	}
}
