package delivery

import (
	"context"
	"errors"
	"fmt"
	"image/color"
	"slices"
	"sync"

	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
	"boon.example/internal/post/message"
	"boon.example/internal/post/picture"
	"boon.example/internal/refusal"
)

// Pictures are those of one design; nil: it has none.
type Pictures struct{ Logo, Banner *message.Picture }

// What pictures in mails measure on the screen at most, and how many bytes of each a mail carries. They have twice as
// many pixels as are shown, for fine screens.
const (
	logoContentID, bannerContentID               = "logo@gift", "picture@gift"
	bannerWidth, bannerHeight, bannerBytes       = 520, 208, 120_000
	logoWidth, logoHeight, logoMargin, logoBytes = 200, 48, 5, 40_000
	fineness                                     = 2
	maxCache                                     = 100
)

// draw draws the picture of a mail from that of its design.
func draw(p *message.Picture, asset []byte) (err error) {
	var made picture.Picture
	p.Width, p.Height = bannerWidth, bannerHeight
	if p.ContentID == bannerContentID {
		made, err = picture.Banner(asset, fineness*bannerWidth, fineness*bannerHeight, p.Ground, bannerBytes)
	} else if made, err = picture.Badge(asset, fineness*logoWidth, fineness*logoHeight, fineness*logoMargin,
		logoBytes); err == nil {
		scale := min(float64(logoWidth)/float64(made.Size.X), float64(logoHeight)/float64(made.Size.Y))
		p.Width, p.Height = max(1, int(float64(made.Size.X)*scale)), max(1, int(float64(made.Size.Y)*scale))
	}
	p.Bytes, p.Kind = made.Bytes, "image/png"
	if made.JPEG {
		p.Kind = "image/jpeg"
	}
	return err
}

// pictureCache keeps pictures that were made for the next mail.
type pictureCache struct {
	mu   sync.Mutex
	kept map[cacheKey]*message.Picture // nil: it cannot be shown
}

type cacheKey struct {
	contentID string
	asset     merchant.AssetHash
	ground    color.NRGBA
}

// pictures gives those that a view asks for.
func (s *Gateways) pictures(ctx context.Context, v *card.View) (p Pictures, err error) {
	if p.Logo, err = s.picture(ctx, cacheKey{logoContentID, v.Logo, ground(card.White)}); err == nil {
		p.Banner, err = s.picture(ctx, cacheKey{bannerContentID, v.Picture, ground(v.Accent)})
	}
	return p, err
}

func ground(c card.Color) color.NRGBA { return color.NRGBA{c.R, c.G, c.B, 0xff} }

// Complete gives a message of the outbox the bytes of its pictures and files again. A picture that is gone is left out,
// and in a file each gift stands as it is now.
func (s *Gateways) Complete(ctx context.Context, m *message.Message) error {
	m.Pictures = slices.Clone(m.Pictures)
	for i := range m.Pictures {
		p := &m.Pictures[i]
		made, err := s.picture(ctx, cacheKey{p.ContentID, p.Asset, p.Ground})
		if err != nil {
			return err
		}
		if made != nil {
			*p = *made
		}
	}
	if err := s.completeFiles(ctx, m); err != nil {
		return err
	}
	m.Pictures = slices.DeleteFunc(m.Pictures, func(p message.Picture) bool { return p.Bytes == nil })
	return nil
}

// picture gives one picture, made at most once. It is nil when there is none, when it is gone or cannot be read any
// more: a gift without its picture is better than none. A store that cannot be asked is an error.
func (s *Gateways) picture(ctx context.Context, key cacheKey) (*message.Picture, error) {
	if key.asset.IsZero() || s.Asset == nil {
		return nil, nil
	}
	a := &s.cache
	a.mu.Lock() // while it is made, too: the others of a bulk want the same
	defer a.mu.Unlock()
	if p, known := a.kept[key]; known {
		return p, nil
	}
	asset, err := s.Asset(ctx, key.asset)
	if errors.Is(err, refusal.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading picture %s of a design: %w", key.asset, err)
	}
	p := &message.Picture{ContentID: key.contentID, Asset: key.asset, Ground: key.ground}
	if draw(p, asset.Bytes) != nil {
		p = nil
	}
	if a.kept == nil || len(a.kept) >= maxCache {
		a.kept = map[cacheKey]*message.Picture{}
	}
	a.kept[key] = p
	return p, nil
}
