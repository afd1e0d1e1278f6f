// Package vtex speaks VTEX's Gift Card Provider Protocol. A Debit is a redemption, a cancellation gives back of it, and
// a settlement, which moves nothing, is kept beside it. Or else, where the set-up says so, a Debit is a hold, of which
// a settlement captures and a cancellation gives back. A Credit is a reload.
package vtex

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"time"

	"boon.example/internal/base/admission"
	"boon.example/internal/face/provider"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// within is how long a call takes at most once its body has come: the shop gives up on a gift after 1.5 s.
const within = 1400 * time.Millisecond

// The headers by which VTEX proves itself.
const (
	headerKey   = "X-Provider-Api-Appkey"
	headerToken = "X-Provider-Api-Apptoken"
)

// route is one address below a provider's.
type route struct {
	method, pattern string               // * is an id
	needs           merchant.Permissions // beside those that its body asks for
	priority        admission.Priority
	do              func(*call) service.Reply
}

// routes are those that are there. VTEX's Hub appends them to what it was given, with one slash or two.
func routes() []route {
	const look, take = admission.Validate, admission.Redeem
	return []route{
		{"POST", "giftcards/_search", merchant.MayValidate, look, (*call).search},
		{"POST", "giftcards", 0, look, (*call).make},
		{"GET", "giftcards/*", merchant.MayValidate, look, (*call).show},
		{"POST", "giftcards/*/transactions", 0, take, (*call).transact},
		{"GET", "giftcards/*/transactions", merchant.MayValidate, look, (*call).transactions},
		{"GET", "giftcards/*/transactions/*", merchant.MayValidate, look, (*call).transaction},
		{"GET", "giftcards/*/transactions/*/authorization", merchant.MayValidate, look, (*call).authorization},
		{"GET", "giftcards/*/transactions/*/settlements", merchant.MayValidate, look, (*call).settlements},
		{"POST", "giftcards/*/transactions/*/settlements", merchant.MayRedeem, take, (*call).settle},
		{"GET", "giftcards/*/transactions/*/cancellations", merchant.MayValidate, look, (*call).cancellations},
		{"POST", "giftcards/*/transactions/*/cancellations", merchant.MayReverse, take, (*call).cancel},
	}
}

// Calls are all calls that the protocol has, by their method and the end of their address; * stands for an id.
func Calls() (all []string) {
	for _, r := range routes() {
		all = append(all, r.method+" "+r.pattern)
	}
	return all
}

// Handler serves the calls of all shops; the path values provider and path name whose they are, and what is asked for.
func Handler(s *service.Service) http.Handler { return provider.Handler(s, serve) }

// call is one call that can be carried out.
type call struct {
	*provider.Call
	caller   *merchant.Caller
	provider *merchant.Provider
	currency money.Currency
	body     []byte
	ids      []string // from the address
	card     gift.Gift
}

// serve answers one call.
func serve(d *provider.Call) service.Reply {
	key, token := d.HTTP.Header.Values(headerKey), d.HTTP.Header.Values(headerToken)
	if len(key) != 1 || len(token) != 1 || key[0] == "" || token[0] == "" {
		return service.Reply{Status: http.StatusUnauthorized, Code: refusal.Unauthenticated}
	}
	account, p := authenticate(d, key[0], token[0])
	if p == nil {
		return refuseAnonymous(d)
	}
	if err := d.From(p.Networks); err != nil {
		return service.Reply{Status: http.StatusForbidden, Err: err}
	}
	r, ids, status := find(d.HTTP.Method, d.HTTP.PathValue("path"))
	if status != 0 {
		return service.Reply{Status: status, Code: refusal.NotFound}
	}
	body, err := d.ReadAll(maxBody, account)
	if err != nil {
		return failed(d, err)
	}
	account, p = authenticate(d, key[0], token[0])
	if p == nil || len(p.Sites) == 0 { // it may have been taken away while the body came
		return service.Reply{Status: http.StatusForbidden, Code: refusal.Unauthenticated}
	}
	c := &call{Call: d, caller: p.Caller(account, p.Sites[0].LocationID), provider: p, currency: account.Currency,
		body: body, ids: ids}
	if err := d.Begin(c.caller, r.priority, within); err != nil {
		return failed(d, err)
	}
	if err := c.caller.Permit(r.needs, false); err != nil {
		return c.failed(err)
	}
	if len(ids) > 0 {
		if err := c.find(); err != nil {
			return c.failed(err)
		}
	}
	return r.do(c)
}

// maxBody is how long a body may be: it has the whole cart.
const maxBody = 8 * provider.MaxBody

// authenticate finds who calls; nil: nobody does. How long it takes tells nothing of what is right.
func authenticate(d *provider.Call, key, token string) (*merchant.Account, *merchant.Provider) {
	id, err := guid.Parse(d.HTTP.PathValue("provider"))
	if err != nil {
		return nil, nil
	}
	account, p := d.Directory().Provider(merchant.VTEX, id)
	if p == nil {
		return nil, nil
	}
	same := subtle.ConstantTimeCompare([]byte(key), []byte(p.App)) == 1
	if shown := p.Verify(token); !shown || !same {
		return nil, nil
	}
	return account, p
}

// refuseAnonymous answers a call that proved no right to be made.
func refuseAnonymous(d *provider.Call) service.Reply {
	switch err := d.CountAnonymous(); {
	case err == nil:
		return service.Reply{Status: http.StatusForbidden, Code: refusal.Unauthenticated}
	case errors.Is(err, refusal.RateLimited):
		return service.Reply{Status: http.StatusForbidden, Err: err}
	default:
		return failed(d, err)
	}
}

// find finds the route of an address and the ids in it, or else the status of what is not there.
func find(method, path string) (found route, ids []string, status int) {
	var sent []string
	for part := range strings.SplitSeq(path, "/") {
		if part != "" {
			sent = append(sent, part)
		}
	}
	status = http.StatusNotFound
	for _, r := range routes() {
		parts := strings.Split(r.pattern, "/")
		if len(parts) != len(sent) {
			continue
		}
		ids = nil
		for n, part := range parts {
			if part == "*" && sent[n] != "_search" {
				ids = append(ids, sent[n])
			} else if part != sent[n] {
				parts = nil
				break
			}
		}
		switch {
		case parts == nil:
		case r.method == method:
			return r, ids, 0
		default:
			status = http.StatusMethodNotAllowed
		}
	}
	return route{}, nil, status
}

// find finds the gift card of the address.
func (c *call) find() error {
	id, err := guid.Parse(c.ids[0])
	if err != nil {
		return gift.NoSuchGift()
	}
	c.card, err = c.Gift(id)
	if err == nil && c.card.Item {
		c.card, err = gift.Gift{}, gift.NoSuchGift()
	}
	return err
}

func (c *call) failed(err error) service.Reply { return failed(c.Call, err) }

// failed answers an error with the interface's problem document.
func failed(d *provider.Call, err error) service.Reply {
	why := service.Told(err)
	status := statusOf(why.Code)
	return service.Reply{Status: status, Type: problemType, Body: d.Problem(why, status), Err: err}
}

func (c *call) problem(e *refusal.Error) []byte { return c.Problem(e, statusOf(e.Code)) }

// statusOf is 503 where the call is to be repeated: it is not known whether it was done, or it was not. It is 404 for
// what is not there, and 400 for what was refused.
func statusOf(code refusal.Code) int {
	switch code {
	case refusal.NotFound:
		return http.StatusNotFound
	case refusal.NotAuthorized:
		return http.StatusForbidden
	case refusal.Unavailable, refusal.RequestInProgress:
		return http.StatusServiceUnavailable
	case refusal.UnexpectedError:
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

const problemType = "application/problem+json"

func refused(code refusal.Code, body []byte) service.Reply {
	return service.Reply{Status: statusOf(code), Type: problemType, Body: body, Code: code}
}
