package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"boon.example/internal/card"
	"boon.example/internal/gift"
	"boon.example/internal/print"
)

// printers is how many PDFs are made at once: paper can wait, tills cannot.
const printers = 2

// printGift is the PDF of one gift, for whoever holds its address.
func (s *site) printGift(w http.ResponseWriter, r *http.Request) {
	g, account, err := s.find(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.pdf(w, r, account, g.LocationID, func(paper print.Paper) ([]byte, error) {
		c, err := s.card(r.Context(), &g, account, map[gift.AssetHash]*print.Picture{})
		if err != nil {
			return nil, err
		}
		return print.Gift(c, paper)
	})
}

// printOrder is the PDF of all printed gifts of an order, for whoever holds its address.
func (s *site) printOrder(w http.ResponseWriter, r *http.Request) {
	gifts, account, err := s.order(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.pdf(w, r, account, gifts[0].LocationID, func(paper print.Paper) ([]byte, error) {
		pictures := map[gift.AssetHash]*print.Picture{}
		var cards []print.Card
		for i := range gifts {
			c, err := s.card(r.Context(), &gifts[i], account, pictures)
			if err != nil {
				return nil, err
			}
			cards = append(cards, c)
		}
		return print.Order(r.Context(), cards, paper)
	})
}

// order finds the printed gifts that an address leads to, one at least.
func (s *site) order(r *http.Request) ([]gift.Gift, *gift.Account, error) {
	text := r.PathValue("sheet")
	token, err := gift.ParseToken(text)
	if err != nil || token.Reveal() != text {
		return nil, nil, s.miss(r)
	}
	accountID, orderID, err := s.Order(r.Context(), token)
	if errors.Is(err, gift.NotFound) {
		return nil, nil, s.miss(r)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("finding an order by its sheet: %w", err)
	}
	gifts, err := s.Gifts.Gifts(r.Context(), gift.Filter{AccountID: accountID, OrderID: orderID,
		Limit: gift.MaxRecipients})
	if err != nil {
		return nil, nil, fmt.Errorf("finding the gifts of an order: %w", err)
	}
	gifts = slices.DeleteFunc(gifts, func(g gift.Gift) bool { return g.Card.Method != gift.Printed })
	account := s.Directory().Accounts[accountID]
	if len(gifts) == 0 || account == nil {
		return nil, nil, gift.NotFound
	}
	slices.SortFunc(gifts, func(a, b gift.Gift) int { return cmp.Compare(a.Card.RecipientIndex, b.Card.RecipientIndex) })
	return gifts, account, nil
}

// pdf sends what draw makes, on the paper that the query names, else on the account's.
func (s *site) pdf(w http.ResponseWriter, r *http.Request, a *gift.Account, location gift.ID,
	draw func(print.Paper) ([]byte, error)) {
	paper, ok := print.ParsePaper(r.URL.Query().Get("paper"))
	if !ok {
		paper = print.PaperFor(a, location)
	}
	select {
	case s.printing <- struct{}{}:
		defer func() { <-s.printing }()
	case <-r.Context().Done():
		return
	}
	body, err := draw(paper)
	if r.Context().Err() != nil {
		return // nobody reads it any more
	}
	if err != nil {
		s.fail(w, r, fmt.Errorf("printing: %w", err))
		return
	}
	w.Header().Set("Content-Disposition", `inline; filename="gift-card.pdf"`)
	send(w, "application/pdf", http.StatusOK, body)
}

// card is a gift as it is printed. pictures holds those that were read before.
func (s *site) card(ctx context.Context, g *gift.Gift, a *gift.Account,
	pictures map[gift.AssetHash]*print.Picture) (c print.Card, err error) {
	c = print.Card{View: card.New(g, a, time.Now()), URL: card.GiftURL(s.PublicURL, g.Card.Token), Made: g.CreatedAt}
	if c.Logo, err = s.picture(ctx, c.View.Logo, pictures); err == nil {
		c.Picture, err = s.picture(ctx, c.View.Picture, pictures)
	}
	return c, err
}

func (s *site) picture(ctx context.Context, hash gift.AssetHash,
	known map[gift.AssetHash]*print.Picture) (*print.Picture, error) {
	if p := known[hash]; p != nil || hash.IsZero() {
		return p, nil
	}
	a, err := s.Gifts.Asset(ctx, hash)
	if err != nil {
		return nil, fmt.Errorf("reading picture %s of a design: %w", hash, err)
	}
	known[hash] = &print.Picture{Name: hash.String(), Bytes: a.Bytes, JPEG: a.Kind == gift.JPEG}
	return known[hash], nil
}

// asset is one picture of a design. Its address is the hash of its bytes, so that it can be kept for ever; mails on
// other sites show it.
func (s *site) asset(w http.ResponseWriter, r *http.Request) {
	hash, ok := gift.ParseAssetHash(r.PathValue("hash"))
	if !ok {
		s.fail(w, r, gift.NotFound)
		return
	}
	a, err := s.Gifts.Asset(r.Context(), hash)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	kind := "image/png"
	if a.Kind == gift.JPEG {
		kind = "image/jpeg"
	}
	w.Header().Set("Cache-Control", forEver)
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	send(w, kind, http.StatusOK, a.Bytes)
}
