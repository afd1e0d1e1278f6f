package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/post/card"
	"boon.example/internal/post/message"
	"boon.example/internal/refusal"
)

const (
	perPage = 25
	// scanned is how many messages are looked at for one page of a search. They are sealed at rest, so that only opening
	// one tells what it says.
	scanned   = 2_000
	scanBatch = 100
	maxQuery  = 200
)

// kinds are what the outbox can be narrowed down to. A printed gift has no message: it is listed with its PDF.
var kinds = []struct{ Value, Name string }{{"", "E-mail and SMS"}, {"email", "E-mail"}, {"sms", "SMS"},
	{"print", "Printed gifts"}}

// outboxPage is one page of the list.
type outboxPage struct {
	Query, Kind string
	Items       []outboxItem
	Older       string // the address of the next page; ""
	First       bool   // it is the first page
	Unfinished  bool   // a search stopped before it reached the oldest
}

// Kinds are the choices of the form.
func (outboxPage) Kinds() any { return kinds }

// Searched reports whether the list is narrowed down.
func (p outboxPage) Searched() bool { return p.Query != "" || p.Kind != "" }

// outboxItem is a message, or a printed gift, as the list shows it.
type outboxItem struct {
	Path         string // of its page
	PDF          string // the address of a printed gift's PDF; ""
	Kind, Status string
	To, From     string
	About        string
	At           time.Time
}

// When is the time for people.
func (i outboxItem) When() string { return i.At.UTC().Format("January 2, 2006, 15:04:05 UTC") }

// Machine is the time for machines.
func (i outboxItem) Machine() string { return i.At.UTC().Format(time.RFC3339) }

// outbox lists messages, or printed gifts.
func (s *site) outbox(r *http.Request) (page, error) {
	q := r.URL.Query()
	p := outboxPage{Query: card.Clip(card.Line(q.Get("q")), maxQuery), Kind: q.Get("kind")}
	before, err := guid.Parse(q.Get("before"))
	if !slices.ContainsFunc(kinds, func(k struct{ Value, Name string }) bool { return k.Value == p.Kind }) {
		p.Kind = ""
	}
	p.First = err != nil
	if err != nil {
		before = guid.ID{}
	}
	var last guid.ID
	if p.Kind == "print" {
		last, err = s.printedGifts(r.Context(), &p, before)
	} else {
		last, err = s.messages(r.Context(), &p, before)
	}
	if err != nil {
		return page{}, fmt.Errorf("reading the outbox: %w", err)
	}
	if !last.IsZero() {
		p.Older = "/outbox?" + url.Values{"q": {p.Query}, "kind": {p.Kind}, "before": {last.String()}}.Encode()
	}
	return page{Locale: english(), Title: "Outbox", Main: p, tmpl: tmplOutbox, forms: true}, nil
}

// messages fills a page with the messages before one that are asked for. last is where the next page begins; zero:
// there is none.
func (s *site) messages(ctx context.Context, p *outboxPage, before guid.ID) (last guid.ID, _ error) {
	for looked := 0; looked < scanned; looked += scanBatch {
		batch, err := s.Messages.Messages(ctx, before, scanBatch)
		if err != nil {
			return last, err
		}
		for i := range batch {
			m := &batch[i]
			item := outboxItem{Path: "/outbox/" + m.ID.String(), Kind: "E-mail", To: m.To, From: m.FromName, About: m.Subject,
				At: m.At}
			if m.Method == contact.SMS {
				item.Kind, item.About = "SMS", m.Text
			}
			wanted := p.Kind == "" || p.Kind == "sms" == (m.Method == contact.SMS)
			if !wanted || !says(p.Query, item.Kind, m.To, m.ToName, m.FromName, m.Subject, m.Text) {
				before = m.ID
				continue
			}
			if len(p.Items) == perPage {
				return before, nil
			}
			if item.Status, err = s.status(ctx, m); err != nil {
				return last, err
			}
			p.Items = append(p.Items, item)
			before = m.ID
		}
		if len(batch) < scanBatch {
			return last, nil
		}
	}
	p.Unfinished = true
	return before, nil
}

// status is that of a message's gift now; "" when there is none.
func (s *site) status(ctx context.Context, m *message.Message) (string, error) {
	g, err := s.Messages.Gift(ctx, m.AccountID, m.GiftID)
	if errors.Is(err, refusal.NotFound) {
		return "", nil
	}
	return g.Status.String(), err
}

// printedGifts fills a page with the printed gifts of all accounts.
func (s *site) printedGifts(ctx context.Context, p *outboxPage, before guid.ID) (last guid.ID, _ error) {
	for looked := 0; looked < scanned; looked += scanBatch {
		var batch []gift.Gift
		for id := range s.Directory().Accounts {
			gifts, err := s.Gifts.Gifts(ctx, gift.Filter{AccountID: id, Before: before, Limit: scanBatch})
			if err != nil {
				return last, err
			}
			batch = append(batch, gifts...)
		}
		// ids tell the time
		slices.SortFunc(batch, func(a, b gift.Gift) int { return cmp.Compare(b.ID.String(), a.ID.String()) })
		whole := len(batch) < scanBatch
		for i := range batch[:min(scanBatch, len(batch))] {
			g := &batch[i]
			account := s.Directory().Accounts[g.AccountID]
			now, err := s.now(ctx, account)
			if err != nil {
				return last, err
			}
			if v := card.New(g, account, now); g.Card.Method == contact.Printed &&
				says(p.Query, "Printed", v.Recipient, v.Sender, v.Merchant, v.Worth.String()) {
				if len(p.Items) == perPage {
					return before, nil
				}
				path := "/g/" + g.Card.Token.Reveal()
				p.Items = append(p.Items, outboxItem{Path: path, PDF: path + PrintPath, Kind: "Printed", Status: g.Status.String(),
					To: v.Recipient, From: v.Merchant, About: v.Worth.String() + " from " + v.Sender, At: g.CreatedAt})
			}
			before = g.ID
		}
		if whole {
			return last, nil
		}
	}
	p.Unfinished = true
	return before, nil
}

// says reports whether each word of a query is somewhere in the texts, whatever the case of its letters.
func says(query string, texts ...string) bool {
	all := strings.ToLower(strings.Join(texts, "\n"))
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// messagePage is one message.
type messagePage struct {
	message.Message
	Item    outboxItem
	Gift    string // the path of the gift's page; "" when there is none any more
	PDF     string
	Header  string // of a mail, as it would have left
	address *regexp.Regexp
}

// part is a piece of a text, of which the addresses of gift pages are links.
type part struct {
	Text string
	URL  string // "" for what is no link
}

// IsMail tells e-mail from SMS.
func (m messagePage) IsMail() bool { return m.Method == contact.Email }

// Parts cuts the text at the addresses of gift pages.
func (m messagePage) Parts() []part {
	var parts []part
	done := 0
	for _, at := range m.address.FindAllStringIndex(m.Text, -1) {
		link := m.Text[at[0]:at[1]]
		parts = append(parts, part{Text: m.Text[done:at[0]]}, part{link, link})
		done = at[1]
	}
	return append(parts, part{Text: m.Text[done:]})
}

// kept gives the message that the path names.
func (s *site) kept(r *http.Request) (message.Message, error) {
	id, err := guid.Parse(r.PathValue("id"))
	if err != nil {
		return message.Message{}, refusal.NotFound
	}
	return s.Messages.Message(r.Context(), id)
}

// message shows one message.
func (s *site) message(r *http.Request) (page, error) {
	m, err := s.kept(r)
	if err != nil {
		return page{}, err
	}
	base := card.GiftURL(s.PublicURL, codes.Token{})
	main := messagePage{Message: m, Item: outboxItem{At: m.At},
		address: regexp.MustCompile(regexp.QuoteMeta(base) + fmt.Sprintf("[0-9A-Za-z]{%d}", codes.TokenLength))}
	g, err := s.Messages.Gift(r.Context(), m.AccountID, m.GiftID)
	switch {
	case err == nil:
		main.Item.Status, main.Gift = g.Status.String(), "/g/"+g.Card.Token.Reveal()
		main.PDF = main.Gift + PrintPath
	case !errors.Is(err, refusal.NotFound):
		return page{}, fmt.Errorf("finding the gift of message %s: %w", m.ID, err)
	}
	title := "SMS to " + m.To
	if main.IsMail() {
		title = m.Subject
		source, err := s.Messages.Source(&m)
		if err != nil {
			return page{}, fmt.Errorf("composing message %s: %w", m.ID, err)
		}
		header, _, _ := bytes.Cut(source, []byte("\r\n\r\n"))
		main.Header = strings.ReplaceAll(string(header), "\r\n", "\n")
	}
	return page{Locale: english(), Title: title, Main: main, tmpl: tmplMessage, frames: true}, nil
}

// mailPolicy is that of a mail's own HTML: it may bring its styles along, as mails must, and is locked into a sandbox
// from which only links lead out, each into a page of its own.
const mailPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action " +
	"'none'; frame-ancestors 'self'; " +
	"sandbox allow-popups allow-popups-to-escape-sandbox"

// messageHTML is the HTML of one mail, for the frame in its page.
func (s *site) messageHTML(w http.ResponseWriter, r *http.Request) {
	m, err := s.mail(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	// What a mail carries along as an attachment, a frame can only be given within its text.
	text := m.HTML
	embed := func(contentID, kind string, b []byte) {
		text = strings.ReplaceAll(text, `"cid:`+contentID+`"`,
			`"data:`+kind+";base64,"+base64.StdEncoding.EncodeToString(b)+`"`)
	}
	embed(message.QRContentID, "image/png", m.QR)
	for i := range m.Pictures {
		embed(m.Pictures[i].ContentID, m.Pictures[i].Kind, m.Pictures[i].Bytes)
	}
	w.Header().Set("Content-Security-Policy", mailPolicy)
	send(w, "text/html; charset=utf-8", http.StatusOK, []byte(text))
}

// messageSource is one mail as it would have left, to be opened in a mail program.
func (s *site) messageSource(w http.ResponseWriter, r *http.Request) {
	m, err := s.mail(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	source, err := s.Messages.Source(&m)
	if err != nil {
		s.fail(w, r, fmt.Errorf("composing message %s: %w", m.ID, err))
		return
	}
	w.Header().Set("Content-Disposition", `attachment; filename="gift.eml"`)
	send(w, "message/rfc822", http.StatusOK, source)
}

// mail is the message that the path names, if it is a mail.
func (s *site) mail(r *http.Request) (message.Message, error) {
	m, err := s.kept(r)
	if err == nil && m.HTML == "" {
		err = refusal.NotFound
	}
	return m, err
}
