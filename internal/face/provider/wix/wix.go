// Package wix speaks the gift card service plugin of Wix: POSTs whose body is a token that Wix signed, in which the
// request stands.
package wix

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/golang-jwt/jwt/v5"

	"boon.example/internal/base/admission"
	"boon.example/internal/base/publickey"
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
	within = 4 * time.Second // at most for a call once its body has come
	issuer = "wix.com"
	skew   = time.Minute // by which Wix's clock and ours may differ
)

// method is what is asked for by the last part of the address.
type method struct {
	needs    merchant.Permissions
	priority admission.Priority
	do       func(*call) service.Reply
}

var methods = map[string]method{
	"balance": {merchant.MayValidate, admission.Validate, (*call).balance},
	"redeem":  {merchant.MayRedeem, admission.Redeem, (*call).redeem},
	"void":    {merchant.MayReverse, admission.Redeem, (*call).void},
}

// Calls are all calls that the protocol has, by the last part of their address.
func Calls() []string { return slices.Sorted(maps.Keys(methods)) }

// Handler serves the calls of all sites; the path values provider and method name whose they are, and what they ask
// for.
func Handler(s *service.Service) http.Handler { return provider.Handler(s, serve) }

// call is one call that can be carried out.
type call struct {
	*provider.Call
	caller   *merchant.Caller
	currency money.Currency
	asked    request
	card     gift.Gift
}

// request is what the calls ask for; each has some of the members.
type request struct {
	Code          string          `json:"code"`
	Amount        provider.Amount `json:"amount"`
	OrderID       string          `json:"orderId"`
	Currency      string          `json:"currencyCode"`
	PIN           string          `json:"pin"`
	TransactionID string          `json:"transactionId"`
}

// claims are what stands in a token.
type claims struct {
	jwt.RegisteredClaims
	Data jsontext.Value `json:"data"`
}

var errNoTime = errors.New("a time in a token is no number")

// UnmarshalJSON reads claims. A time is a number (RFC 7519, section 2); a text that holds one is none.
func (c *claims) UnmarshalJSON(text []byte) error {
	var times struct {
		Expires jsontext.Value `json:"exp"`
		Begins  jsontext.Value `json:"nbf"`
		Issued  jsontext.Value `json:"iat"`
	}
	if err := provider.Read(text, &times); err != nil {
		return err
	}
	for _, time := range []jsontext.Value{times.Expires, times.Begins, times.Issued} {
		if len(time) > 0 && time.Kind() != '0' {
			return errNoTime
		}
	}
	type plain claims
	return provider.Read(text, (*plain)(c))
}

type data struct {
	Request  jsontext.Value `json:"request"`
	Metadata struct {
		InstanceID string `json:"instanceId"`
	} `json:"metadata"`
}

// serve answers one call.
func serve(d *provider.Call) service.Reply {
	m, known := methods[d.HTTP.PathValue("method")]
	switch {
	case !known:
		return service.Reply{Status: http.StatusNotFound, Code: refusal.NotFound}
	case d.HTTP.Method != http.MethodPost:
		return service.Reply{Status: http.StatusMethodNotAllowed, Code: refusal.NotSupported}
	}
	account, p := named(d)
	if p == nil {
		return refuseAnonymous(d)
	}
	body, err := d.ReadAll(provider.MaxBody, account)
	if err != nil {
		return malformed()
	}
	account, p, sent := authenticate(d, string(body))
	if p == nil {
		return refuseAnonymous(d)
	}
	if err := d.From(p.Networks); err != nil {
		return service.Reply{Status: http.StatusForbidden, Err: err}
	}
	at := p.Location(sent.Metadata.InstanceID)
	if at.IsZero() { // of a site that the set-up does not know
		return service.Reply{Status: http.StatusForbidden, Code: refusal.NotAuthorized}
	}
	c := &call{Call: d, caller: p.Caller(account, at), currency: account.Currency}
	if err := d.Begin(c.caller, m.priority, within); err != nil {
		return c.failed(err)
	}
	if err := c.caller.Permit(m.needs, false); err != nil {
		return service.Reply{Status: http.StatusForbidden, Err: err}
	}
	if provider.Read(sent.Request, &c.asked) != nil {
		return malformed()
	}
	return m.do(c)
}

// malformed answers what is no call of Wix's.
func malformed() service.Reply {
	return service.Reply{Status: http.StatusBadRequest, Code: refusal.ValidationFailure}
}

// named finds the provider that the address names; nil: there is none.
func named(d *provider.Call) (*merchant.Account, *merchant.Provider) {
	id, err := guid.Parse(d.HTTP.PathValue("provider"))
	if err != nil {
		return nil, nil
	}
	return d.Directory().Provider(merchant.Wix, id)
}

// authenticate finds whose a token is, and what stands in it; nil: it is not one that Wix signed for this provider, or
// not one of now.
func authenticate(d *provider.Call, token string) (*merchant.Account, *merchant.Provider, data) {
	account, p := named(d)
	if p == nil {
		return nil, nil, data{}
	}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodRS256.Alg()}), jwt.WithIssuer(issuer),
		jwt.WithAudience(p.App), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(skew),
		jwt.WithTimeFunc(func() time.Time { return d.Now }))
	var signed claims
	key := func(*jwt.Token) (any, error) { return publickey.Parse(p.SignedBy) }
	read, err := parser.ParseWithClaims(token, &signed, key)
	if err != nil {
		return nil, nil, data{}
	}
	if _, critical := read.Header["crit"]; critical { // which may not be passed over, and is known to nobody here
		return nil, nil, data{}
	}
	var sent data
	if provider.Read(signed.Data, &sent) != nil || sent.Request.Kind() != '{' {
		return nil, nil, data{}
	}
	return account, p, sent
}

// refuseAnonymous answers a call that proved no right to be made.
func refuseAnonymous(d *provider.Call) service.Reply {
	reply := service.Reply{Status: http.StatusUnauthorized, Code: refusal.Unauthenticated}
	if err := d.CountAnonymous(); err != nil {
		reply.Code, reply.Err = "", err
		if refused, ok := errors.AsType[*refusal.Error](err); !ok || refused.Code != refusal.RateLimited {
			reply.Status = http.StatusServiceUnavailable
		}
	}
	return reply
}

// find finds the gift of a code, and refuses what cannot be used. For an order that was redeemed before, also a gift is
// found that is told to nobody else; "": for none.
func (c *call) find(forOrder string) error {
	code, err := codes.Read(c.Account, c.asked.Code)
	if err != nil {
		return err
	}
	var before provider.Before
	if forOrder != "" {
		before = provider.Before{References: []string{reference(forOrder)}, Known: func(v *gift.Voucher) (bool, error) {
			used, err := c.Requests(order(forOrder, v, 1))
			return len(used) > 0, err
		}}
	}
	c.card, err = c.Find(code, before)
	if err == nil && c.card.Item {
		return refusal.New(refusal.NotFound, "This is an item gift.")
	}
	return err
}
