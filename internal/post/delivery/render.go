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
	"unicode"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
	"boon.example/internal/post/locale"
	"boon.example/internal/post/message"
	"boon.example/internal/post/qr"
)

//go:embed templates
var files embed.FS

var (
	texts = texttemplate.Must(texttemplate.New("").Option("missingkey=error").ParseFS(files, "templates/*.txt"))
	htmls = htmltemplate.Must(htmltemplate.New("").Option("missingkey=error").
		Funcs(htmltemplate.FuncMap{"outlook": forOutlook, "strong": func(s string) strong { return strong(s) }}).
		ParseFS(files, "templates/*.html"))
)

// forOutlook gives what only Outlook for Windows reads, which lays mails out as Word does: it knows no max-width, takes
// the first font it does not know for Times, and gives a link no padding. The templates cannot hold these themselves,
// for comments are taken out of them.
func forOutlook(what string) htmltemplate.HTML {
	return htmltemplate.HTML(map[string]string{ //nolint:gosec // constants
		"head": "<!--[if mso]><noscript><xml><o:OfficeDocumentSettings><o:PixelsPerInch>96</o:PixelsPerInch>" +
			"</o:OfficeDocumentSettings></xml></noscript>" +
			"<style>td,p,h1,h2,a{font-family:Arial,sans-serif !important}</style><![endif]-->",
		"narrow": `<!--[if mso]><table role="presentation" width="520" align="center" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->`,
		"end":    "<!--[if mso]></td></tr></table><![endif]-->",
		"left":   `<!--[if mso]><i style="letter-spacing:28px;mso-font-width:-100%;mso-text-raise:24pt" hidden>&nbsp;</i><span style="mso-text-raise:12pt"><![endif]-->`,
		"right":  `<!--[if mso]></span><i style="letter-spacing:28px;mso-font-width:-100%" hidden>&nbsp;</i><![endif]-->`,
	}[what])
}

// strong is a name that stands out in its sentence.
type strong string

// part is a part of a sentence, for the HTML: words of ours, a name that somebody wrote, or an amount.
type part struct {
	Words, Name string
	Worth       *card.Worth
	Strong      bool
}

// Said is a text in parts, so that the HTML can set its names apart and make its amounts strong. The plain text has the
// same one whole.
func (c content) Said(name string, args ...any) []part {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = fmt.Sprint(a)
	}
	var parts []part
	for _, p := range c.Pieces(name, words...) {
		if p.Arg == 0 {
			parts = append(parts, part{Words: p.Text})
			continue
		}
		shown := part{Name: p.Text}
		switch a := args[p.Arg-1].(type) {
		case card.Worth:
			shown = part{Worth: &a, Strong: true}
		case *card.Worth:
			shown = part{Worth: a, Strong: true}
		case strong:
			shown.Strong = true
		}
		parts = append(parts, shown)
	}
	return parts
}

// maxSubject is the most characters of a subject.
const maxSubject = 150

// Subject is the subject of an e-mail: a text that holds no line break and no other control character, so that nothing
// in it can become a header.
type Subject struct{ text string }

// NewSubject makes a subject of any text, on one line and at most 150 characters.
func NewSubject(s string) Subject { return Subject{card.Clip(card.Line(s), maxSubject)} }

// String is the subject's text.
func (s Subject) String() string { return s.text }

// subject is the subject of one kind of message. Names are shortened as it takes, so that a figure behind them is
// there.
func (c *content) subject(kind string) Subject {
	text := func(limit int) string {
		sender, merchant := card.Clip(c.Sender, limit), card.Clip(c.Merchant, limit)
		switch kind {
		case "balance":
			left := c.Balance
			left.Unit = card.Clip(left.Unit, limit)
			return c.Text("mail.balance.subject", left, merchant)
		case "redirected":
			return c.Text("mail.moved.subject", sender)
		case "arrived", "used", "order":
			return c.Text("mail." + kind + ".title")
		}
		return c.Text("mail.subject", sender)
	}
	limit := maxName
	for limit > minName && len([]rune(text(limit))) > maxSubject {
		limit--
	}
	subject := text(limit)
	if c.Test != "" {
		subject = card.TestMark + subject
	}
	return NewSubject(subject)
}

// content is what the templates see.
type content struct {
	card.View
	Pictures Pictures
	URL      string
	QR       string // the Content-ID of its image; "" none
	Subject  string
	Pass     string    // the address of the pass for Apple Wallet; "": there is none
	Used     *card.Use // of a notice of what is left: what was taken; nil: that is not known
	For      string    // of a notice to the buyer: for whom the gift is; "": that was not said
	Count    int       // of an order that goes to its buyer: how many gifts
	Printed  bool      // and whether they are cards to be printed
}

// Initial is the first letter of the merchant's name, in the place of a logo that is not shown.
func (c content) Initial() string {
	for _, r := range strings.TrimPrefix(c.Merchant, card.TestMark) {
		return string(unicode.ToUpper(r))
	}
	return ""
}

// Render writes the message of a gift at an instant, as its delivery method wants it. id becomes the message's own, the
// same for every attempt. It fails for a printed gift, of which there is no message.
func Render(g *gift.Gift, a *merchant.Account, publicURL string, id guid.ID, p Pictures,
	now time.Time) (message.Message, error) {
	view := *g
	if view.Status == gift.Pending {
		view.Status = gift.Delivered // what the recipient will find
	}
	return write("mail", &view, a, nil, publicURL, id, p, now)
}

// RenderBalance writes the notice of what is left of a gift after a redemption, the last of used. It fails for a
// printed gift.
func RenderBalance(g *gift.Gift, a *merchant.Account, used []gift.Entry, publicURL string, id guid.ID,
	p Pictures, now time.Time) (message.Message, error) {
	p.Banner = nil // it is about a figure
	var use *card.Use
	if uses := card.Uses(locale.For(g.Reads(a)), g, a, used); len(uses) > 0 {
		use = &uses[0]
	}
	return write("balance", g, a, use, publicURL, id, p, now)
}

// RenderRedirected tells a former recipient, who stands in the card's contact, that the gift went elsewhere. Nothing by
// which the gift can be found is in it.
func RenderRedirected(g *gift.Gift, a *merchant.Account, id guid.ID, p Pictures, now time.Time) (message.Message,
	error) {
	view := *g
	view.Card.Code, view.Card.Token = codes.VoucherCode{}, codes.Token{}
	view.Status = gift.Cancelled // there is nothing to be shown at a till
	return write("redirected", &view, a, nil, "", id, Pictures{Logo: p.Logo}, now)
}

// RenderForBuyer tells whoever bought a gift, who stands in the card's contact, that it arrived or was used. Nothing by
// which the gift can be found is in it, and nothing of what is left.
func RenderForBuyer(job ledger.Job, g *gift.Gift, a *merchant.Account, p Pictures) (message.Message, error) {
	view, kind := *g, "arrived"
	if job.Kind == ledger.UsedJob {
		kind = "used"
	}
	view.Card.Code, view.Card.Token = codes.VoucherCode{}, codes.Token{}
	view.Status = gift.Cancelled // there is nothing to be shown at a till
	view.Card.Language, view.Card.Message = job.Language, ""
	view.Card.Recipient = strings.TrimSpace(g.Card.Purchase.FirstName + " " + g.Card.Purchase.LastName)
	c := content{View: card.New(&view, a, job.Now()), Pictures: Pictures{Logo: p.Logo},
		For: card.Clip(card.Line(g.Card.Recipient), maxName)}
	return c.compose(kind, message.Message{ID: job.ID, GiftID: g.ID, AccountID: g.AccountID, Method: contact.Email,
		Language: c.Language(), To: view.Card.Address(), At: job.Now()})
}

// write executes the templates of one kind of message.
func write(kind string, g *gift.Gift, a *merchant.Account, used *card.Use, publicURL string, id guid.ID,
	p Pictures, now time.Time) (message.Message, error) {
	c := content{View: card.New(g, a, now), Pictures: p, URL: card.GiftURL(publicURL, g.Card.Token), Used: used}
	if c.Shown() && a.Wallet.Apple.Certificate != "" {
		c.Pass = card.PassURL(publicURL, g.Card.Token)
	}
	return c.compose(kind, message.Message{ID: id, GiftID: g.ID, AccountID: g.AccountID, Method: g.Card.Method,
		Language: c.Language(), To: g.Card.Address(), At: now})
}

// compose writes the texts of one kind of message into m, as its method wants them.
func (c content) compose(kind string, m message.Message) (message.Message, error) {
	var err error
	switch m.Method {
	case contact.Email:
		m.ToName, m.FromName = card.Clip(c.Recipient, maxName), card.Clip(c.Merchant, maxName)
		if c.Shown() {
			if m.QR, err = drawQR(c.URL); err != nil {
				return m, err
			}
			c.QR = message.QRContentID
		}
		for _, shown := range []*message.Picture{c.Pictures.Logo, c.Pictures.Banner} {
			if shown != nil {
				m.Pictures = append(m.Pictures, *shown)
			}
		}
		m.Subject = c.subject(kind).String()
		c.Subject = m.Subject
		m.Text = run(&err, texts.Lookup(kind+".txt"), c)
		m.HTML = run(&err, htmls.Lookup(kind+".html"), c)
	case contact.SMS:
		m.Text = shortText(kind, c)
	default:
		err = fmt.Errorf("a gift delivered by %s has no message", m.Method)
	}
	return m, err
}

// Names in headers are bounded as subjects are, and a module of a QR code is so many pixels: with them a code is shown
// at half of its size and sharp on fine screens.
const (
	maxName  = 100
	qrPixels = 8
)

func drawQR(url string) ([]byte, error) {
	code, err := qr.Encode(url)
	if err != nil {
		return nil, err
	}
	return code.PNG(qrPixels)
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
