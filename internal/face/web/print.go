package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"boon.example/internal/base/fair"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
	"boon.example/internal/post/locale"
	"boon.example/internal/post/print"
	"boon.example/internal/refusal"
)

// So many PDFs are made at once, of gifts and of orders, each kind in turns by account: paper can wait, tills cannot.
// An order may have a thousand cards, so that orders wait for each other, and no guest waits for an order. printTimeout
// is how long a PDF waits.
const (
	printers      = 2
	sheetPrinters = 1
	printTimeout  = 10 * time.Second
)

// errBusy tells that no printer became free in time.
var errBusy = errors.New("too many PDFs are asked for at the same time")

// prints answers with the PDF that draw makes. A request has a printer until the PDF is made, and not while it is sent:
// how long that takes is up to the reader.
func (s *site) prints(draw func(*http.Request) ([]byte, error)) http.Handler {
	return s.reads(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := draw(r)
		switch {
		case r.Context().Err() != nil: // the client has gone
		case err != nil:
			s.fail(w, r, err)
		default:
			w.Header().Set("Content-Disposition", `inline; filename="gift-card.pdf"`)
			send(w, "application/pdf", http.StatusOK, body)
		}
	}))
}

// printer waits for a turn of the account, and within it of the gift or the order.
func printer(r *http.Request, of *fair.Places, account, part guid.ID) (done func(), _ error) {
	ctx, cancel := context.WithTimeout(r.Context(), printTimeout)
	defer cancel()
	done, err := of.Take(ctx, account, part)
	if err != nil {
		return nil, errBusy
	}
	return done, nil
}

// foldQuery is the parameter that asks for a card to be folded.
const foldQuery = "fold"

func (c *Config) fonts() *print.Fonts { return cmp.Or(c.Fonts, print.BuiltIn()) }

// printGift is the PDF of one gift, for whoever holds its address.
func (s *site) printGift(r *http.Request) ([]byte, error) {
	g, account, err := s.find(r)
	if err != nil {
		return nil, err
	}
	done, err := printer(r, s.printing, g.AccountID, g.ID)
	if err != nil {
		return nil, err
	}
	defer done()
	c, err := s.card(r.Context(), &g, account, s.cards())
	if err != nil {
		return nil, err
	}
	if l, ok := merchant.LanguageOf(r.URL.Query().Get(languageQuery)); ok && s.fonts().Writes(locale.For(l)) {
		now, err := s.now(r.Context(), account)
		if err != nil {
			return nil, err
		}
		c.View = card.In(locale.For(l), &g, account, now)
	}
	fold, _ := print.ParseFold(r.URL.Query().Get(foldQuery))
	return s.fonts().Folded(c, paper(r, account, g.LocationID), fold)
}

// printOrder is the PDF of all printed gifts of an order, for whoever holds its address.
func (s *site) printOrder(r *http.Request) ([]byte, error) {
	accountID, orderID, err := s.sheet(r)
	if err != nil {
		return nil, err
	}
	done, err := printer(r, s.sheets, accountID, orderID)
	if err != nil {
		return nil, err
	}
	defer done()
	gifts, account, err := s.order(r.Context(), accountID, orderID)
	if err != nil {
		return nil, err
	}
	maker := s.cards()
	var cards []print.Card
	for i := range gifts {
		c, err := s.card(r.Context(), &gifts[i], account, maker)
		if err != nil {
			return nil, err
		}
		cards = append(cards, c)
	}
	return s.fonts().Order(r.Context(), cards, paper(r, account, gifts[0].LocationID))
}

// Sheets prints cards of a stock, ten to a page, for whoever may have their codes.
func (c *Config) Sheets(ctx context.Context, a *merchant.Account, cards []gift.Gift) ([]byte, error) {
	s, maker := &site{Config: *c}, c.cards()
	all := make([]print.Card, len(cards))
	for i := range cards {
		var err error
		if all[i], err = s.card(ctx, &cards[i], a, maker); err != nil {
			return nil, err
		}
		now, err := s.now(ctx, a)
		if err != nil {
			return nil, err
		}
		all[i].View = card.Blank(all[i].View.Locale, &cards[i], a, now)
	}
	return s.fonts().Order(ctx, all, print.PaperFor(a, cards[0].LocationID))
}

// paper is that which the query names, else the account's.
func paper(r *http.Request, a *merchant.Account, location guid.ID) print.Paper {
	if paper, ok := print.ParsePaper(r.URL.Query().Get("paper")); ok {
		return paper
	}
	return print.PaperFor(a, location)
}

// sheet finds the order that an address leads to.
func (s *site) sheet(r *http.Request) (account, order guid.ID, err error) {
	text := r.PathValue("sheet")
	token, err := codes.ParseToken(text)
	if err != nil || token.Reveal() != text {
		return account, order, s.miss(r)
	}
	account, order, err = s.Order(r.Context(), token)
	switch {
	case errors.Is(err, refusal.NotFound):
		err = s.miss(r)
	case err != nil:
		err = fmt.Errorf("finding an order by its sheet: %w", err)
	}
	return account, order, err
}

// order finds the printed gifts of an order, one at least.
func (s *site) order(ctx context.Context, accountID, orderID guid.ID) ([]gift.Gift, *merchant.Account, error) {
	gifts, err := s.Gifts.Gifts(ctx, gift.Filter{AccountID: accountID, OrderID: orderID,
		Limit: gift.MaxRecipients})
	if err != nil {
		return nil, nil, fmt.Errorf("finding the gifts of an order: %w", err)
	}
	gifts = slices.DeleteFunc(gifts, func(g gift.Gift) bool {
		return g.Card.Method != contact.Printed || g.Replaced > 0 // the link may be where the card was lost
	})
	account := s.Directory().Accounts[accountID]
	if len(gifts) == 0 || account == nil {
		return nil, nil, refusal.NotFound
	}
	slices.SortFunc(gifts, func(a, b gift.Gift) int { return cmp.Compare(a.Card.RecipientIndex, b.Card.RecipientIndex) })
	return gifts, account, nil
}

// cards makes the cards of one PDF.
func (c *Config) cards() *print.Cards {
	return &print.Cards{Fonts: c.fonts(), PublicURL: c.PublicURL, Asset: c.Gifts.Asset}
}

// card is a gift as it is printed.
func (s *site) card(ctx context.Context, g *gift.Gift, a *merchant.Account, of *print.Cards) (print.Card, error) {
	now, err := s.now(ctx, a)
	if err != nil {
		return print.Card{}, err
	}
	return of.Of(ctx, g, a, now)
}

// asset is one picture of a design. Its address is the hash of its bytes, so that it can be kept for ever; mails on
// other sites show it.
func (s *site) asset(w http.ResponseWriter, r *http.Request) {
	hash, ok := merchant.ParseAssetHash(r.PathValue("hash"))
	if !ok {
		s.fail(w, r, refusal.NotFound)
		return
	}
	a, err := s.Gifts.Asset(r.Context(), hash)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	kind := "image/png"
	if a.Kind == merchant.JPEG {
		kind = "image/jpeg"
	}
	w.Header().Set("Cache-Control", forEver)
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	send(w, kind, http.StatusOK, a.Bytes)
}
