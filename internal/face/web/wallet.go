package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
	"boon.example/internal/post/pass"
	"boon.example/internal/refusal"
)

// takesPasses reports whether the page may be on a device with Apple Wallet. A computer may be a Mac, which hands the
// pass on to a phone.
func takesPasses(r *http.Request) bool {
	agent := r.UserAgent()
	return !strings.Contains(agent, "Android") && !strings.Contains(agent, "Windows")
}

// applePass is the pass of a gift, for whoever holds its address. It changes nothing.
func (s *site) applePass(w http.ResponseWriter, r *http.Request) {
	g, account, err := s.find(r)
	if err == nil && account.Wallet.Apple.Certificate == "" {
		err = refusal.NotFound
	}
	var made []byte
	if err == nil {
		made, err = s.makePass(r, &g, account)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Disposition", `attachment; filename="gift.pkpass"`)
	send(w, pass.Kind, http.StatusOK, made)
}

func (s *site) makePass(r *http.Request, g *gift.Gift, a *merchant.Account) ([]byte, error) {
	done, err := printer(r, s.printing, g.AccountID, g.ID)
	if err != nil {
		return nil, err
	}
	defer done()
	signer, err := s.passes.signer(a)
	if err != nil {
		return nil, fmt.Errorf("signing passes of account %s: %w", a.ID, err)
	}
	now, err := s.now(r.Context(), a)
	if err != nil {
		return nil, err
	}
	c := &pass.Card{View: card.In(readIn(r, g.Reads(a)), g, a, now), ID: g.ID,
		URL: card.GiftURL(s.PublicURL, g.Card.Token), Left: g.Available(now), Currency: g.Currency}
	if c.Pictures, err = s.passPictures(r.Context(), &c.View); err != nil {
		return nil, err
	}
	return signer.Apple(c)
}

// passes keeps what is needed for the next pass.
type passes struct {
	mu       sync.Mutex
	signers  map[string]*pass.Signer // by certificate and key
	pictures map[passLook]pass.Pictures
}

// passLook is what the pictures of a pass are made of.
type passLook struct {
	logo, picture merchant.AssetHash
	accent        card.Color
}

// How many signers and pictures are kept: a pass has up to a megabyte of pictures.
const (
	maxSigners      = 100
	maxPassPictures = 20
)

func (p *passes) signer(a *merchant.Account) (*pass.Signer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := a.Wallet.Apple.Certificate + a.Wallet.Apple.Key
	if s := p.signers[of]; s != nil {
		return s, nil
	}
	s, err := pass.NewSigner(a.Wallet.Apple.Certificate, a.Wallet.Apple.Key)
	if err != nil {
		return nil, err
	}
	if p.signers == nil || len(p.signers) >= maxSigners {
		p.signers = map[string]*pass.Signer{}
	}
	p.signers[of] = s
	return s, nil
}

// passPictures gives the pictures of a pass, made at most once. One that is gone, or cannot be read any more, is left
// out: a pass without it is better than none.
func (s *site) passPictures(ctx context.Context, v *card.View) (pass.Pictures, error) {
	p, look := &s.passes, passLook{v.Logo, v.Picture, v.Accent}
	p.mu.Lock() // while they are made, too: the other passes of an order want the same
	defer p.mu.Unlock()
	if known, ok := p.pictures[look]; ok {
		return known, nil
	}
	logo, err := s.assetBytes(ctx, v.Logo)
	if err != nil {
		return nil, err
	}
	strip, err := s.assetBytes(ctx, v.Picture)
	if err != nil {
		return nil, err
	}
	made, err := pass.Draw(logo, strip, v.Accent)
	if err != nil {
		made, err = pass.Draw(nil, nil, v.Accent)
	}
	if err != nil {
		return nil, err
	}
	if p.pictures == nil || len(p.pictures) >= maxPassPictures {
		p.pictures = map[passLook]pass.Pictures{}
	}
	p.pictures[look] = made
	return made, nil
}

// assetBytes are those of a picture; nil: there is none, or it is gone.
func (s *site) assetBytes(ctx context.Context, hash merchant.AssetHash) ([]byte, error) {
	if hash.IsZero() {
		return nil, nil
	}
	a, err := s.Gifts.Asset(ctx, hash)
	if errors.Is(err, refusal.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading picture %s of a design: %w", hash, err)
	}
	return a.Bytes, nil
}
