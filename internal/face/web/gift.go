package web

import (
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"golang.org/x/text/width"

	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guest"
	"boon.example/internal/merchant"
	"boon.example/internal/post/bars"
	"boon.example/internal/post/card"
	"boon.example/internal/post/locale"
	"boon.example/internal/post/print"
	"boon.example/internal/post/qr"
	"boon.example/internal/refusal"
)

// giftPage is what the gift page shows.
type giftPage struct {
	card.View
	QR      template.HTML // "" when the code is not shown
	BarCode template.HTML // "" when there is none
	Folded  string        // the beginning of a message that is too long for the code to be seen at once; "": it is not
	Uses    []card.Use
	Earlier bool   // there were more uses before these
	PDF     string // the address of the PDF on the usual paper
	Fold    string // of the one of a card to be folded
	Google  string // the address by which Google saves the pass; "": it has none
	Pass    string // the address of the pass for Apple Wallet; "": there is none, or nothing to put it into
	Mine    string // the address where guests find all their gifts; "": this one is not found there
}

// A gift's history is read backwards, maxHistory entries at a time, until a use is found: holds may have come after it.
const (
	maxHistory = 100
	maxReads   = 10
)

// find finds the gift that the path names. A token that is malformed and one that is unknown look the same from
// outside.
func (s *site) find(r *http.Request) (gift.Gift, *merchant.Account, error) {
	text := r.PathValue("token")
	token, err := codes.ParseToken(text)
	if err != nil || token.Reveal() != text {
		return gift.Gift{}, nil, s.miss(r)
	}
	g, err := s.Gifts.GiftByToken(r.Context(), token)
	if errors.Is(err, refusal.NotFound) {
		return gift.Gift{}, nil, s.miss(r)
	}
	if old, ok := errors.AsType[*gift.ReplacedError](err); ok {
		return gift.Gift{}, nil, &replacedCard{old, s.Directory().Accounts[old.Voucher.AccountID]}
	}
	if err != nil {
		return gift.Gift{}, nil, fmt.Errorf("finding a gift by its token: %w", err)
	}
	account := s.Directory().Accounts[g.AccountID]
	if account == nil {
		return gift.Gift{}, nil, fmt.Errorf("account %s of gift %s is not in the set-up", g.AccountID, g.ID)
	}
	return g, account, nil
}

// replacedCard is told to whoever holds the address of a card that was replaced.
type replacedCard struct {
	*gift.ReplacedError
	account *merchant.Account
}

// reads is the language of its account; that of the recipient is not known any more.
func (c *replacedCard) reads() merchant.Language {
	return (&gift.Gift{Voucher: c.Voucher}).Reads(c.account)
}

// day is when it was replaced.
func (c *replacedCard) day(l *locale.Locale) string {
	return l.In(c.account.HomeCountry()).Day(c.At.In(c.account.TimeZone()))
}

// gift shows a gift to whoever holds its address.
func (s *site) gift(r *http.Request) (page, error) {
	g, account, err := s.find(r)
	if err != nil {
		return page{}, err
	}
	l := readIn(r, g.Reads(account))
	now, err := s.now(r.Context(), account)
	if err != nil {
		return page{}, err
	}
	v := &giftPage{View: card.In(l, &g, account, now)}
	v.Folded = folded(v.Message)
	if s.Guests != nil && g.Card.Contact != "" {
		v.Mine = localized(guest.Path+"/"+account.ID.String(), l)
	}
	for before, n := g.Seq, 0; before > 0 && n < maxReads && len(v.Uses) == 0; n++ {
		from := max(0, before-maxHistory)
		history, err := s.Gifts.History(r.Context(), g.AccountID, g.ID, from, before-from)
		if err != nil {
			return page{}, fmt.Errorf("reading the history of gift %s: %w", g.ID, err)
		}
		v.Uses, v.Earlier, before = card.Uses(l, &g, account, history), from > 0, from
	}
	if v.Shown() {
		code, err := qr.Encode(card.GiftURL(s.PublicURL, g.Card.Token))
		if err != nil {
			return page{}, fmt.Errorf("drawing the QR code of gift %s: %w", g.ID, err)
		}
		// nolint:gosec // made of digits and a text of ours
		v.QR = template.HTML(code.SVG(l.Text("page.qr")))
		if err := v.drawBars(); err != nil {
			return page{}, fmt.Errorf("drawing the bar code of gift %s: %w", g.ID, err)
		}
		v.paper(r.URL.EscapedPath()+PrintPath, l.Language() == g.Reads(account))
		if account.Wallet.Apple.Certificate != "" && takesPasses(r) {
			v.Pass = r.URL.EscapedPath() + card.PassPath + "?" + languageQuery + "=" + string(l.Language())
		}
		saved, err := s.savesToGoogle(r.Context(), &g, account)
		if err != nil {
			return page{}, err
		}
		if saved && takesGoogle(r) {
			v.Google = r.URL.EscapedPath() + card.GooglePath
		}
	}
	return page{
		Locale: l, guests: true, Title: l.Text("page.title", v.Sender, v.Merchant), Preview: s.preview(v),
		Accent: strings.TrimPrefix(v.Accent.String(), "#"), Main: v, tmpl: tmplGift, scripted: true,
	}, nil
}

// drawBars draws the bar code, if there is one.
func (g *giftPage) drawBars() error {
	if g.Bars == "" {
		return nil
	}
	code, err := bars.Encode(g.Bars)
	if err != nil {
		return err
	}
	g.BarCode = template.HTML(code.SVG(g.Text("page.bars"))) // nolint:gosec // made of digits and a text of ours
	return nil
}

// preview is what a messenger shows of a link to a gift, maybe to people whom it is not for: that there is a gift, and
// where it is from, but nothing of the gift itself.
type preview struct {
	Title, Site, Text string
	Picture           string // "": none
}

func (s *site) preview(v *giftPage) *preview {
	p := &preview{Title: v.Text("card.headline"), Site: v.Merchant, Text: v.Text("page.preview", v.Merchant)}
	if !v.Picture.IsZero() {
		p.Picture = strings.TrimSuffix(s.PublicURL, "/") + "/assets/" + v.Picture.String()
	}
	return p
}

// A message of more than rowsShown rows, of columns columns each on a small phone, is folded, so that picture, message
// and code are on one screen.
const (
	rowsShown = 3
	columns   = 34
)

// folded is what is shown of a message that is folded; "": it is short.
func folded(message []string) string {
	rows := 0
	for _, line := range message {
		across := 0
		for _, r := range line {
			switch width.LookupRune(r).Kind() {
			case width.EastAsianWide, width.EastAsianFullwidth:
				across += 2
			default:
				across++
			}
		}
		rows += max(1, (across+columns-1)/columns)
	}
	if rows <= rowsShown {
		return ""
	}
	return card.Clip(card.Line(strings.Join(message, " ")), rowsShown*columns)
}

// PrintPath ends the addresses of PDFs.
const PrintPath = "/print.pdf"

// paper names the PDFs, which are on the paper of the place. They are in the language of the gift: what is printed is
// handed to its recipient. A page in another one asks for its own.
func (g *giftPage) paper(address string, own bool) {
	fold := "?" + foldQuery + "=" + string(print.Half)
	if g.PDF, g.Fold = address, address+fold; !own {
		language := languageQuery + "=" + string(g.Language())
		g.PDF, g.Fold = g.PDF+"?"+language, g.Fold+"&"+language
	}
}

// Tel is the address that has a phone dial a place.
func (*giftPage) Tel(p card.Place) template.URL {
	return template.URL("tel:" + strings.Map(func(r rune) rune { // nolint:gosec // digits and a plus only
		if r >= '0' && r <= '9' || r == '+' {
			return r
		}
		return -1
	}, p.Phone))
}

// What tells what one of Uses was, with its amount apart.
func (g *giftPage) What(u card.Use) []locale.Piece {
	switch {
	case u.Moved && u.Back:
		return g.Pieces("page.used.in", "")
	case u.Moved:
		return g.Pieces("page.used.out", "")
	case u.Back:
		return g.Pieces("page.used.back", "")
	}
	return []locale.Piece{{Arg: 1}}
}

// front is the page at /: what somebody does who has a gift, in their language. It looks up no code: nobody may try
// codes without a key.
func (s *site) front(r *http.Request) (page, error) {
	l := readIn(r, merchant.English)
	return page{Locale: l, guests: true, Title: l.Text("front.title"), Main: s.Messages != nil, tmpl: tmplFront}, nil
}
