package web

import (
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"

	"boon.example/internal/card"
	"boon.example/internal/delivery"
	"boon.example/internal/gift"
	"boon.example/internal/qr"
)

// giftPage is what the gift page shows.
type giftPage struct {
	card.View
	QR template.HTML // "" when the code is not shown
}

// gift shows a gift to whoever holds its address. A token that is malformed and one that is unknown look the same from outside.
func (s *site) gift(r *http.Request) (page, error) {
	text := r.PathValue("token")
	token, err := gift.ParseToken(text)
	if err != nil || token.Reveal() != text {
		return page{}, gift.NotFound
	}
	g, err := s.Gifts.GiftByToken(r.Context(), token)
	if err != nil {
		return page{}, fmt.Errorf("finding a gift by its token: %w", err)
	}
	account := s.Directory().Accounts[g.AccountID]
	if account == nil {
		return page{}, fmt.Errorf("account %s of gift %s is not in the set-up", g.AccountID, g.ID)
	}
	v := &giftPage{View: card.New(&g, account, time.Now())}
	if v.Shown() {
		code, err := qr.Encode(delivery.GiftURL(s.PublicURL, token))
		if err != nil {
			return page{}, fmt.Errorf("drawing the QR code of gift %s: %w", g.ID, err)
		}
		v.QR = template.HTML(code.SVG("QR code of this gift, to be scanned at the till")) //nolint:gosec // made of digits and a constant
	}
	return page{
		Title: "A gift from " + v.Sender + " – " + v.Merchant, Accent: strings.TrimPrefix(v.Accent.String(), "#"),
		Main: v, tmpl: tmplGift,
	}, nil
}

// front is the page at /.
func (s *site) front(*http.Request) (page, error) {
	return page{Title: "Boon gift cards", Main: s.Messages != nil, tmpl: tmplFront}, nil
}
