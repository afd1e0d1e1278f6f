package web

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"boon.example/internal/delivery"
	"boon.example/internal/gift"
)

// maxMessages is how many messages the outbox shows; older ones are kept, but have no page.
const maxMessages = 200

// outboxItem is a message as the outbox pages show it.
type outboxItem struct {
	delivery.Message
	address *regexp.Regexp
}

// part is a piece of a text, of which the addresses of gift pages are links.
type part struct {
	Text string
	URL  string // "" for what is no link
}

// IsMail tells e-mail from SMS.
func (i outboxItem) IsMail() bool { return i.Method == gift.Email }

// When is the time of the message for people.
func (i outboxItem) When() string { return i.At.UTC().Format("January 2, 2006, 15:04:05 UTC") }

// Machine is the time of the message for machines.
func (i outboxItem) Machine() string { return i.At.UTC().Format(time.RFC3339) }

// Parts cuts the text at the addresses of gift pages.
func (i outboxItem) Parts() []part {
	var parts []part
	done := 0
	for _, at := range i.address.FindAllStringIndex(i.Text, -1) {
		link := i.Text[at[0]:at[1]]
		parts = append(parts, part{Text: i.Text[done:at[0]]}, part{link, link})
		done = at[1]
	}
	return append(parts, part{Text: i.Text[done:]})
}

func (s *site) messages(r *http.Request) ([]outboxItem, error) {
	kept, err := s.Messages.Messages(r.Context(), maxMessages)
	if err != nil {
		return nil, fmt.Errorf("reading the outbox: %w", err)
	}
	base := delivery.GiftURL(s.PublicURL, gift.Token{})
	address := regexp.MustCompile(regexp.QuoteMeta(base) + fmt.Sprintf("[0-9A-Za-z]{%d}", gift.TokenLength))
	items := make([]outboxItem, len(kept))
	for n := range kept {
		items[n] = outboxItem{kept[n], address}
	}
	return items, nil
}

// outbox lists the messages.
func (s *site) outbox(r *http.Request) (page, error) {
	items, err := s.messages(r)
	if err != nil {
		return page{}, err
	}
	return page{Title: "Outbox", Main: items, tmpl: tmplOutbox}, nil
}

// kept gives the message that the path names.
func (s *site) kept(r *http.Request) (outboxItem, error) {
	id, err := gift.ParseID(r.PathValue("id"))
	if err != nil {
		return outboxItem{}, gift.NotFound
	}
	items, err := s.messages(r)
	if err != nil {
		return outboxItem{}, err
	}
	for _, item := range items {
		if item.ID == id {
			return item, nil
		}
	}
	return outboxItem{}, gift.NotFound
}

// message shows one message.
func (s *site) message(r *http.Request) (page, error) {
	item, err := s.kept(r)
	if err != nil {
		return page{}, err
	}
	title := "SMS to " + item.To
	if item.IsMail() {
		title = item.Subject
	}
	return page{Title: title, Main: item, tmpl: tmplMessage, frames: true}, nil
}

// mailPolicy is that of a mail's own HTML: it may bring its styles along, as mails must, and is locked into a sandbox from which
// only links lead out, each into a page of its own.
const mailPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; " +
	"sandbox allow-popups allow-popups-to-escape-sandbox"

// messageHTML is the HTML of one mail, for the frame in its page.
func (s *site) messageHTML(w http.ResponseWriter, r *http.Request) {
	item, err := s.kept(r)
	if err == nil && item.HTML == "" {
		err = gift.NotFound
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Security-Policy", mailPolicy)
	// What a mail carries along as an attachment, a frame can only be given within its text.
	picture := "data:image/png;base64," + base64.StdEncoding.EncodeToString(item.QR)
	send(w, "text/html; charset=utf-8", http.StatusOK, []byte(strings.ReplaceAll(item.HTML, "cid:"+delivery.QRContentID, picture)))
}
