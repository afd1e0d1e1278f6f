// Package saleor speaks to Saleor as an app that handles payments. Saleor installs the app by its manifest, and then
// posts events whose bodies the shop signs. A transaction of Saleor's is a hold, of which a charge captures, or, where
// the channel charges at once, a redemption.
package saleor

import (
	"context"
	"crypto/rsa"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"boon.example/internal/base/admission"
	"boon.example/internal/base/jwks"
	"boon.example/internal/face/provider"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

const (
	within  = 9 * time.Second // at most for a call once its body has come: Saleor waits longer
	keysAt  = "/.well-known/jwks.json"
	apiAt   = "/graphql/"
	holdFor = 24 * time.Hour // where the set-up says nothing else
)

// Handler serves the calls of all shops; the path values provider and call name whose they are, and what they are.
func Handler(s *service.Service, keys *jwks.Keys) http.Handler {
	return provider.Handler(s, func(c *provider.Call) service.Reply {
		switch call := c.HTTP.PathValue("call"); {
		case call != "manifest" && call != "register" && call != "webhook":
			return service.Reply{Status: http.StatusNotFound, Code: refusal.NotFound}
		case (c.HTTP.Method == http.MethodGet) != (call == "manifest"),
			call != "manifest" && c.HTTP.Method != http.MethodPost:
			return service.Reply{Status: http.StatusMethodNotAllowed, Code: refusal.NotSupported}
		case call == "manifest":
			return manifest(c, s.PublicURL())
		case call == "register":
			return register(c)
		}
		return serve(c, keys)
	})
}

// call is one event that can be answered.
type call struct {
	*provider.Call
	caller   *merchant.Caller
	provider *merchant.Provider
	currency money.Currency
	event    event
	kind     kind
	asked    money.Amount // that the event is about; 0: it names none
	code     codes.VoucherCode
	card     gift.Gift
}

// serve answers an event.
func serve(d *provider.Call, keys *jwks.Keys) service.Reply {
	account, p := named(d)
	if p == nil {
		return refuseAnonymous(d)
	}
	if err := d.From(p.Networks); err != nil {
		return service.Reply{Status: http.StatusForbidden, Err: err}
	}
	body, err := d.ReadAll(4*provider.MaxBody, account)
	if err != nil {
		return service.Reply{Status: http.StatusBadRequest, Err: err}
	}
	if account, p = named(d); p == nil { // it may have been taken away while the body came
		return refuseAnonymous(d)
	}
	switch signed, err := isSigned(d, keys, p.App, body); {
	case err != nil:
		return service.Reply{Status: http.StatusServiceUnavailable, Err: err}
	case !signed:
		return refuseAnonymous(d)
	}
	c := &call{Call: d, provider: p, currency: account.Currency}
	if err := provider.Read(body, &c.event); err != nil {
		return service.Reply{Status: http.StatusBadRequest, Code: refusal.ValidationFailure}
	}
	var known bool
	if c.kind, known = kinds()[c.event.Type]; !known {
		return service.Reply{Status: http.StatusBadRequest, Code: refusal.NotSupported}
	}
	return c.run(account)
}

// run answers an event that the shop has signed.
func (c *call) run(account *merchant.Account) service.Reply {
	p := c.provider
	at := p.Location(c.event.channel())
	c.caller = p.Caller(account, at)
	if err := c.Begin(c.caller, admission.Redeem, within); err != nil {
		return c.failed(err)
	}
	if at.IsZero() {
		return c.failed(refusal.New(refusal.NotAuthorized,
			"This provider has no site of this name: the slug of the channel."))
	}
	if err := c.caller.Permit(c.kind.needs, false); err != nil {
		return c.failed(err)
	}
	if err := c.readAmount(); err != nil {
		return c.failed(err)
	}
	return c.kind.do(c)
}

// named finds the provider that the address names; nil: there is none.
func named(d *provider.Call) (*merchant.Account, *merchant.Provider) {
	id, err := guid.Parse(d.HTTP.PathValue("provider"))
	if err != nil {
		return nil, nil
	}
	return d.Directory().Provider(merchant.Saleor, id)
}

// isSigned reports whether the shop has signed a body: with a signature beside it (RFC 7797), whose key is one of the
// shop's. An error means that this cannot be told now.
func isSigned(d *provider.Call, keys *jwks.Keys, shop string, body []byte) (bool, error) {
	shown := d.HTTP.Header.Values("Saleor-Signature")
	if len(shown) != 1 {
		return false, nil
	}
	signature, err := jose.ParseDetached(shown[0], body, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil || len(signature.Signatures) != 1 || !unencoded(signature.Signatures[0].Protected) {
		return false, nil
	}
	key, found, err := find(d, keys, shop, signature.Signatures[0].Protected.KeyID)
	if err != nil || !found {
		return false, err
	}
	public, is := key.Key.(*rsa.PublicKey)
	if !is || public.N.BitLen() < 2048 {
		return false, nil
	}
	return signature.DetachedVerify(body, public) == nil, nil
}

// unencoded reports whether a signature is of the body as it is.
func unencoded(h jose.Header) bool {
	encodes, is := h.ExtraHeaders["b64"].(bool)
	return is && !encodes
}

// find finds the key of a shop. Saleor serves the keys beside its API.
func find(d *provider.Call, keys *jwks.Keys, shop, id string) (jose.JSONWebKey, bool, error) {
	return keys.Find(context.WithoutCancel(d.HTTP.Context()), shop+keysAt, id, d.Now)
}

// register is told of an installation. The token by which the app could call the shop is not kept: it never does.
func register(d *provider.Call) service.Reply {
	account, p := named(d)
	if p == nil {
		return refuseAnonymous(d)
	}
	if err := d.From(p.Networks); err != nil {
		return service.Reply{Status: http.StatusForbidden, Err: err}
	}
	if _, err := d.ReadAll(provider.MaxBody, account); err != nil {
		return service.Reply{Status: http.StatusBadRequest, Err: err}
	}
	if strings.TrimSuffix(d.HTTP.Header.Get("Saleor-Api-Url"), apiAt) != p.App {
		return answer(http.StatusForbidden, map[string]any{"success": false, "error": map[string]string{
			"code":    "UNKNOWN_SHOP",
			"message": "In the set-up of Boon, the app of this provider is the address of another shop."}})
	}
	return answer(http.StatusOK, map[string]bool{"success": true})
}

// refuseAnonymous answers a call that proved no right to be made.
func refuseAnonymous(d *provider.Call) service.Reply {
	reply := service.Reply{Status: http.StatusUnauthorized, Code: refusal.Unauthenticated}
	if err := d.CountAnonymous(); err != nil {
		reply.Code, reply.Err = "", err
		if !errors.Is(err, refusal.RateLimited) {
			reply.Status = http.StatusServiceUnavailable
		}
	}
	return reply
}
