package print

import (
	"context"
	"errors"
	"fmt"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
	"boon.example/internal/post/locale"
	"boon.example/internal/refusal"
)

// Cards makes the cards of one document. It reads each picture once.
type Cards struct {
	Fonts     *Fonts
	PublicURL string // the base of the addresses in QR codes
	// Asset finds a picture of a design; refusal.NotFound when there is none.
	Asset func(context.Context, merchant.AssetHash) (merchant.Asset, error)

	pictures map[merchant.AssetHash]*Picture
}

// Of is a gift as it is printed at an instant, in the language of its recipient as far as there are letters for that.
func (m *Cards) Of(ctx context.Context, g *gift.Gift, a *merchant.Account, now time.Time) (c Card, err error) {
	l := locale.For(g.Reads(a))
	if !m.Fonts.Writes(l) {
		l = locale.For(merchant.English)
	}
	c = Card{View: card.In(l, g, a, now), URL: card.GiftURL(m.PublicURL, g.Card.Token), Made: g.CreatedAt}
	if c.Logo, err = m.picture(ctx, c.View.Logo); err == nil {
		c.Picture, err = m.picture(ctx, c.View.Picture)
	}
	return c, err
}

// picture is nil when there is none, or when it is gone: a gift without its picture is better than none.
func (m *Cards) picture(ctx context.Context, hash merchant.AssetHash) (*Picture, error) {
	if p, read := m.pictures[hash]; read || hash.IsZero() {
		return p, nil
	}
	if m.pictures == nil {
		m.pictures = map[merchant.AssetHash]*Picture{}
	}
	a, err := m.Asset(ctx, hash)
	switch {
	case errors.Is(err, refusal.NotFound):
		m.pictures[hash] = nil
	case err != nil:
		return nil, fmt.Errorf("reading picture %s of a design: %w", hash, err)
	default:
		m.pictures[hash] = &Picture{Name: hash.String(), Bytes: a.Bytes, JPEG: a.Kind == merchant.JPEG}
	}
	return m.pictures[hash], nil
}
