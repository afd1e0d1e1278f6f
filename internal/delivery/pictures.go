package delivery

import (
	"context"
	"errors"
	"fmt"
	"image/color"
	"sync"

	"boon.example/internal/card"
	"boon.example/internal/gift"
	"boon.example/internal/picture"
)

// Picture is one that a mail brings along and its HTML shows. A link to it would be asked for in vain by the many mail programs that
// load nothing, and would tell when the mail is read.
type Picture struct {
	ContentID string
	Name      string // of the file that it looks like
	Kind      string // image/png or image/jpeg
	Asset     gift.AssetHash
	Bytes     []byte `json:"-"` // the outbox keeps the Asset instead
	Width     int    // as it is shown, in CSS pixels
	Height    int
}

// Pictures are those of one design; nil: it has none.
type Pictures struct{ Logo, Banner *Picture }

// What pictures in mails measure on the screen, and how many bytes of theirs a mail carries at most. They have twice as many pixels as are
// shown, for fine screens.
const (
	bannerWidth, bannerHeight, bannerBytes       = 520, 208, 120_000
	logoWidth, logoHeight, logoMargin, logoBytes = 200, 48, 5, 40_000
	fineness                                     = 2
	logoContentID, bannerContentID               = "logo@gift", "picture@gift"
	maxAlbum                                     = 100
)

// album makes the pictures of mails out of those of designs, and keeps them for the next mail.
type album struct {
	mu   sync.Mutex
	kept map[[2]any]*Picture
}

// of gives the pictures that a view asks for. One that is gone or cannot be read any more is left out: a gift without its picture is
// better than none. A store that cannot be asked is an error.
func (a *album) of(ctx context.Context, v *card.View, read func(context.Context, gift.AssetHash) (gift.Asset, error)) (p Pictures, err error) {
	p.Logo, err = a.one(ctx, v.Logo, nil, read, func(b []byte) (*Picture, error) {
		made, err := picture.Badge(b, fineness*logoWidth, fineness*logoHeight, fineness*logoMargin, logoBytes)
		scale := min(float64(logoWidth)/float64(max(made.Size.X, 1)), float64(logoHeight)/float64(max(made.Size.Y, 1)))
		return attached(made, logoContentID, "logo", scale), err
	})
	if err != nil {
		return p, err
	}
	p.Banner, err = a.one(ctx, v.Picture, v.Accent, read, func(b []byte) (*Picture, error) {
		ground := color.NRGBA{v.Accent.R, v.Accent.G, v.Accent.B, 0xff}
		made, err := picture.Banner(b, fineness*bannerWidth, fineness*bannerHeight, ground, bannerBytes)
		banner := attached(made, bannerContentID, "picture", 1)
		banner.Width, banner.Height = bannerWidth, bannerHeight
		return banner, err
	})
	return p, err
}

func attached(p picture.Picture, contentID, name string, scale float64) *Picture {
	to := &Picture{ContentID: contentID, Name: name + ".png", Kind: "image/png", Bytes: p.Bytes}
	if p.JPEG {
		to.Name, to.Kind = name+".jpg", "image/jpeg"
	}
	to.Width, to.Height = max(1, int(float64(p.Size.X)*scale)), max(1, int(float64(p.Size.Y)*scale))
	return to
}

// one gives a picture, made at most once; look is what else it depends on.
func (a *album) one(ctx context.Context, hash gift.AssetHash, look any, read func(context.Context, gift.AssetHash) (gift.Asset, error),
	make func([]byte) (*Picture, error)) (*Picture, error) {
	if hash.IsZero() || read == nil {
		return nil, nil
	}
	a.mu.Lock() // while it is made, too: the others of a bulk want the same
	defer a.mu.Unlock()
	key := [2]any{hash, look}
	if p, known := a.kept[key]; known {
		return p, nil
	}
	asset, err := read(ctx, hash)
	if errors.Is(err, gift.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading picture %s of a design: %w", hash, err)
	}
	p, err := make(asset.Bytes)
	if err != nil {
		p = nil
	} else {
		p.Asset = hash
	}
	if a.kept == nil || len(a.kept) >= maxAlbum {
		a.kept = map[[2]any]*Picture{}
	}
	a.kept[key] = p
	return p, nil
}
