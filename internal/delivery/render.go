package delivery

import (
	"bytes"
	"embed"
	"fmt"
	htmltemplate "html/template"
	"io"
	"strings"
	texttemplate "text/template"
	"time"

	"boon.example/internal/card"
	"boon.example/internal/gift"
)

//go:embed templates
var files embed.FS

var (
	texts = texttemplate.Must(texttemplate.New("").Option("missingkey=error").ParseFS(files, "templates/*.txt"))
	htmls = htmltemplate.Must(htmltemplate.New("").Option("missingkey=error").ParseFS(files, "templates/*.html"))
)

// Limits of names where space is short. With them a text message fits the 160 characters of one SMS for addresses of up to 60.
const (
	maxSubject  = 150
	maxNameSMS  = 30
	maxWorthSMS = 30
)

// Subject is the subject of an e-mail: a text that holds no line break and no other control character, so that nothing in it can
// become a header.
type Subject struct{ text string }

// NewSubject makes a subject of any text, on one line and at most 150 characters.
func NewSubject(s string) Subject { return Subject{card.Clip(card.Line(s), maxSubject)} }

// String is the subject's text.
func (s Subject) String() string { return s.text }

// GiftURL is the address of a gift's page, which its QR code holds too.
func GiftURL(publicURL string, t gift.Token) string {
	return strings.TrimSuffix(publicURL, "/") + "/g/" + t.Reveal()
}

// content is what the templates see.
type content struct {
	card.View
	URL string
}

// Short clips a name for a text message.
func (content) Short(s string) string { return card.Clip(s, maxNameSMS) }

// ShortWorth is the gift's worth for a text message.
func (c content) ShortWorth() string { return card.Clip(c.Worth.String(), maxWorthSMS) }

// Render writes the message of a gift as its delivery method wants it. id becomes the message's own, the same for every
// attempt. It fails for a printed gift, of which there is no message.
func Render(g *gift.Gift, a *gift.Account, publicURL string, id gift.ID) (Message, error) {
	now := time.Now()
	view := *g
	if view.Status == gift.Pending {
		view.Status = gift.Delivered // what the recipient will find
	}
	c := content{card.New(&view, a, now), GiftURL(publicURL, g.Card.Token)}
	m := Message{ID: id, GiftID: g.ID, Method: g.Card.Method, To: g.Card.Contact, At: now}
	var err error
	switch m.Method {
	case gift.Email:
		m.Subject = NewSubject(run(&err, texts.Lookup("subject.txt"), c)).String()
		m.Text = run(&err, texts.Lookup("mail.txt"), c)
		m.HTML = run(&err, htmls.Lookup("mail.html"), c)
	case gift.SMS:
		m.Text = strings.TrimSpace(run(&err, texts.Lookup("sms.txt"), c))
	default:
		err = fmt.Errorf("a gift delivered by %s has no message", m.Method)
	}
	return m, err
}

// run executes a template unless an earlier one failed.
func run(err *error, t interface{ Execute(io.Writer, any) error }, c content) string {
	if *err != nil {
		return ""
	}
	var b bytes.Buffer
	if e := t.Execute(&b, c); e != nil {
		*err = fmt.Errorf("rendering a message: %w", e)
	}
	return b.String()
}
