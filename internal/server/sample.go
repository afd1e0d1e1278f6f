package server

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"strings"

	consolesetup "boon.example/internal/face/console/setup"
	"boon.example/internal/face/web"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/post/delivery"
	"boon.example/internal/post/message"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/store"
)

// sample is a service with one gift in it that there is not: the site of guests and the gateways of mails make of it
// what they would make of any gift.
type sample struct {
	*store.Store

	of   consolesetup.Sample
	mail message.Message // that was carried
}

// sample shows a gift that there is not, to whoever changes its design.
func (a *app) sample(of consolesetup.Sample) http.Handler {
	s := &sample{Store: a.store, of: of}
	directory := &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{of.Account.ID: of.Account}}
	site := web.Handler(web.Config{PublicURL: a.PublicURL, Gifts: s, Messages: s, Log: a.Logger, Fonts: a.Fonts,
		Directory: func() *merchant.Directory { return directory }, Clock: a.store.Clock, Away: a.store.Away,
		ClientAddress: a.Proxies.Client})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := r.Clone(r.Context())
		to.Method, to.Body, to.URL.RawQuery = http.MethodGet, http.NoBody, ""
		switch to.URL.RawPath = ""; of.Look {
		case consolesetup.OnPage:
			to.URL.Path = "/g/" + of.Gift.Card.Token.Reveal()
		case consolesetup.OnPaper:
			to.URL.Path = "/g/" + of.Gift.Card.Token.Reveal() + web.PrintPath
		case consolesetup.InMail:
			if err := s.post(to.Context(), a.PublicURL, directory); err != nil {
				a.Logger.Error("a mail could not be shown", "error", err)
				a.service.Fail(w, r, http.StatusInternalServerError)
				return
			}
			to.URL.Path = "/outbox/" + of.Gift.ID.String() + "/html"
		}
		var shown service.Kept
		site.ServeHTTP(&shown, to)
		embed(&shown, of.Pictures)
		maps.Copy(w.Header(), shown.Header())
		w.WriteHeader(shown.Status())
		_, _ = w.Write(shown.Body.Bytes()) // the browser may have gone
	})
}

// embed puts pictures that are at no address yet into a page that was kept.
func embed(w *service.Kept, pictures []merchant.Asset) {
	if len(pictures) == 0 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		return
	}
	page := w.Body.String()
	for _, a := range pictures {
		page = strings.ReplaceAll(page, `"/assets/`+a.Hash.String()+`"`,
			`"data:image/`+string(a.Kind)+`;base64,`+base64.StdEncoding.EncodeToString(a.Bytes)+`"`)
	}
	w.Body.Reset()
	w.Body.WriteString(page)
	const policy = "Content-Security-Policy"
	w.Header().Set(policy, strings.Replace(w.Header().Get(policy), "img-src 'self'", "img-src 'self' data:", 1))
	w.Header().Del("Content-Length")
}

// post has the mail of the gift made. Whoever changes a design of a test account sees the mail as it would arrive.
func (s *sample) post(ctx context.Context, publicURL string, d *merchant.Directory) error {
	live := *d.Accounts[s.of.Account.ID]
	live.Test = false
	gateways := delivery.Gateways{Email: s, PublicURL: publicURL, Asset: s.Asset, Directory: func() *merchant.Directory {
		return &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{live.ID: &live}}
	}}
	job := ledger.Job{ID: s.of.Gift.ID, AccountID: live.ID, VoucherID: s.of.Gift.ID, Kind: ledger.GiftJob}
	if err := gateways.Send(ctx, []gift.Gift{s.of.Gift}, job); err != nil {
		return fmt.Errorf("making the mail of a sample: %w", err)
	}
	return nil
}

// Carry implements delivery.Carrier.
func (s *sample) Carry(_ context.Context, m message.Message) error {
	s.mail = m
	return nil
}

// Message implements web.Outbox.
func (s *sample) Message(context.Context, guid.ID) (message.Message, error) { return s.mail, nil }

// Source implements web.Outbox.
func (*sample) Source(*message.Message) ([]byte, error) { return nil, refusal.NotFound }

// GiftByToken implements web.Gifts.
func (s *sample) GiftByToken(context.Context, codes.Token) (gift.Gift, error) {
	return s.of.Gift, nil
}

// History implements web.Gifts.
func (*sample) History(context.Context, guid.ID, guid.ID, int, int) ([]gift.Entry, error) {
	return nil, nil
}

// Asset finds a picture that is not saved too.
func (s *sample) Asset(ctx context.Context, hash merchant.AssetHash) (merchant.Asset, error) {
	for _, a := range s.of.Pictures {
		if a.Hash == hash {
			return a, nil
		}
	}
	return s.Store.Asset(ctx, hash)
}
