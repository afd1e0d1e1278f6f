package web

import (
	"cmp"
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
	"boon.example/internal/post/pass/google"
	"boon.example/internal/refusal"
)

// takesPasses reports whether the page may be on a device with Apple Wallet. A computer may be a Mac, which hands the
// pass on to a phone.
func takesPasses(r *http.Request) bool {
	agent := r.UserAgent()
	return !strings.Contains(agent, "Android") && !strings.Contains(agent, "Windows")
}

// takesGoogle reports whether the page may be on a device with Google Wallet. A computer saves for the guest's phone.
func takesGoogle(r *http.Request) bool {
	agent := r.UserAgent()
	return !strings.Contains(agent, "iPhone") && !strings.Contains(agent, "iPad")
}

// applePass is the pass of a gift, for whoever holds its address. It changes nothing.
func (s *site) applePass(w http.ResponseWriter, r *http.Request) {
	g, account, err := s.find(r)
	if err == nil && account.Wallet.Apple.Certificate == "" {
		err = refusal.NotFound
	}
	var made []byte
	if err == nil {
		made, err = s.makePass(r, &g, account, "")
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Disposition", `attachment; filename="gift.pkpass"`)
	send(w, pass.Kind, http.StatusOK, made)
}

// makePass makes the pass of a gift. Where a phone proved that it has the pass, the pass keeps the proof. Where that is
// of another card than the gift has, the pass says that the card was replaced.
func (s *site) makePass(r *http.Request, g *gift.Gift, a *merchant.Account, proof string) ([]byte, error) {
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
	if s.updatesPasses() {
		c.Service, c.Proof = strings.TrimSuffix(s.PublicURL, "/")+applePath, cmp.Or(proof, s.passProof(g))
		c.Replaced = proof != "" && cardIn(proof) != pass.CardOf(g)
	}
	return signer.Apple(c)
}

// savesToGoogle reports whether Google has an object of the card that a gift has, at the issuer that the merchant is
// now: a job makes it beforehand.
func (s *site) savesToGoogle(ctx context.Context, g *gift.Gift, a *merchant.Account) (bool, error) {
	if a.Wallet.Google.Issuer == "" || s.Phones == nil || !google.Saved(g) {
		return false, nil
	}
	c, err := s.Phones.GooglePass(ctx, a.ID, g.ID)
	if err != nil {
		return false, fmt.Errorf("looking for a pass at Google: %w", err)
	}
	return c == google.CardAt(a.Wallet.Google.Issuer, g), nil
}

// googlePass leads whoever holds the address of a gift to Google, which saves the object of the gift. It changes
// nothing.
func (s *site) googlePass(w http.ResponseWriter, r *http.Request) {
	g, account, err := s.find(r)
	saved := false
	if err == nil {
		saved, err = s.savesToGoogle(r.Context(), &g, account)
	}
	if err == nil && !saved {
		err = refusal.NotFound
	}
	link := ""
	if err == nil {
		link, err = s.saveURL(&g, account)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Location", link)
	w.WriteHeader(http.StatusSeeOther)
}

func (s *site) saveURL(g *gift.Gift, a *merchant.Account) (string, error) {
	of := a.Wallet.Google
	account, err := kept(&s.passes.mu, &s.passes.accounts, maxSigners, of.Key, func() (*google.Account, error) {
		return google.NewAccount(of.Key)
	})
	if err != nil {
		return "", fmt.Errorf("signing for Google, of account %s: %w", a.ID, err)
	}
	return account.SaveURL(google.ObjectID(of.Issuer, g.ID, google.CardAt(of.Issuer, g)), google.ClassID(of.Issuer, a, g))
}

// passes keeps what is needed for the next pass.
type passes struct {
	mu       sync.Mutex
	signers  map[string]*pass.Signer    // by certificate and key
	accounts map[string]*google.Account // of Google, by what is kept of them
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
	of := a.Wallet.Apple.Certificate + a.Wallet.Apple.Key
	return kept(&p.mu, &p.signers, maxSigners, of, func() (*pass.Signer, error) {
		return pass.NewSigner(a.Wallet.Apple.Certificate, a.Wallet.Apple.Key)
	})
}

// kept gives what is kept in a map under a key, or else makes and keeps it. Nobody waits while it is made. Where the
// map is full, something else goes.
func kept[K comparable, V any](mu *sync.Mutex, in *map[K]V, most int, key K, create func() (V, error)) (V, error) {
	mu.Lock()
	known, ok := (*in)[key]
	mu.Unlock()
	if ok {
		return known, nil
	}
	created, err := create()
	if err != nil {
		return created, err
	}
	mu.Lock()
	defer mu.Unlock()
	if *in == nil {
		*in = map[K]V{}
	}
	for other := range *in {
		if len(*in) < most {
			break
		}
		delete(*in, other)
	}
	(*in)[key] = created
	return created, nil
}

// passPictures gives the pictures of a pass. One that is gone, or cannot be read any more, is left out: a pass without
// it is better than none.
func (s *site) passPictures(ctx context.Context, v *card.View) (pass.Pictures, error) {
	look := passLook{v.Logo, v.Picture, v.Accent}
	return kept(&s.passes.mu, &s.passes.pictures, maxPassPictures, look, func() (pass.Pictures, error) {
		logo, err := s.assetBytes(ctx, v.Logo)
		if err != nil {
			return nil, err
		}
		strip, err := s.assetBytes(ctx, v.Picture)
		if err != nil {
			return nil, err
		}
		drawn, err := pass.Draw(logo, strip, v.Accent)
		if err != nil {
			drawn, err = pass.Draw(nil, nil, v.Accent)
		}
		return drawn, err
	})
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
