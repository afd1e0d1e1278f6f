package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

const (
	tillsPath  = integrationPath + "tills"
	peoplePath = integrationPath + "people"
)

// TillState says where a till stands.
type TillState string

// The states of a till.
const (
	TillWaiting TillState = "WAITING" // its link waits for a device
	TillPaired  TillState = "PAIRED"
	TillOff     TillState = "OFF" // it was switched off
)

// Till is a device at the counter of a location, or a link that waits for one.
type Till struct {
	KeyID            string    `json:"keyID"`
	Name             string    `json:"name"`
	OrganizationID   string    `json:"organizationID"`
	OrganizationName string    `json:"organizationName"`
	State            TillState `json:"state"`
	May              []string  `json:"may"`      // permissions
	Networks         []string  `json:"networks"` // from where it may be used; empty: from everywhere
	CreatedAt        time.Time `json:"createdAt"`
	PairUntil        time.Time `json:"pairUntil"`     // zero: its link waits no more
	SwitchedOffAt    time.Time `json:"switchedOffAt"` // zero: it is not
	Meta             Meta      `json:"-"`
}

// PairTillRequest asks for a new till.
type PairTillRequest struct {
	Name           string   `json:"name"`
	OrganizationID string   `json:"organizationID"`
	May            []string `json:"may,omitzero"`      // of activate, reload and cash-out
	Networks       []string `json:"networks,omitzero"` // empty: everywhere
}

// NewTill is a till that was made, with the link that pairs its device. The link is told this once.
type NewTill struct {
	Till
	PairURL string `json:"pairURL"`
}

// PairTill makes a link that turns one device into a till, within 15 minutes. The call is not repeated, for no key
// would keep a repeat from making a second one: after an error that is not [Refused], [Client.Tills] tells whether
// it was made.
func (c *Client) PairTill(ctx context.Context, r PairTillRequest) (*NewTill, error) {
	var a NewTill
	return answered(ctx, c, counter(http.MethodPost, tillsPath, r, 1), &a, &a.Meta)
}

// Tills lists the tills that work or wait for a device, the oldest first.
func (c *Client) Tills(ctx context.Context) ([]Till, error) {
	var page struct {
		Tills []json.RawMessage `json:"tills"`
	}
	meta, err := c.do(ctx, counter(http.MethodGet, tillsPath, nil, 0), &page)
	if err != nil {
		return nil, err
	}
	return each(page.Tills, func(t *Till, text json.RawMessage) { t.Meta = Meta{RequestID: meta.RequestID, Body: text} })
}

// RevokeTill switches a till off for good, such as that on a lost phone. Within two seconds it does nothing any more.
func (c *Client) RevokeTill(ctx context.Context, keyID string) (*Till, error) {
	var a Till
	return answered(ctx, c, counter(http.MethodDelete, tillsPath+"/"+url.PathEscape(keyID), nil, 0), &a, &a.Meta)
}

// PINState says who knows the PIN of a person.
type PINState string

// The states of a PIN.
const (
	PINNone  PINState = "NONE"  // the person has none, and cannot sign in
	PINFirst PINState = "FIRST" // it was set for the first sign-in, at which the person chooses another one
	PINOwn   PINState = "OWN"
)

// Person is somebody who signs in at tills.
type Person struct {
	Name            string   `json:"name"`
	PINState        PINState `json:"pinState"`
	May             []string `json:"may"`             // permissions beside validate and redeem
	OrganizationIDs []string `json:"organizationIDs"` // where the person works; empty: everywhere
	Meta            Meta     `json:"-"`
}

// People lists who signs in at the tills, by name.
func (c *Client) People(ctx context.Context) ([]Person, error) {
	var page struct {
		People []json.RawMessage `json:"people"`
	}
	meta, err := c.do(ctx, counter(http.MethodGet, peoplePath, nil, 0), &page)
	if err != nil {
		return nil, err
	}
	return each(page.People, func(p *Person, text json.RawMessage) {
		p.Meta = Meta{RequestID: meta.RequestID, Body: text}
	})
}

// SetPINRequest says whose PIN is set.
type SetPINRequest struct {
	Name string `json:"name"`
	PIN  string `json:"pin,omitzero"` // "": the service draws six digits
}

// NewPIN is a person whose PIN was set.
type NewPIN struct {
	Person
	PIN string `json:"pin"` // that was drawn, told this once; "": the request said it
}

// SetPIN sets the PIN with which a person signs in next, and then chooses another one. The call is not repeated: each
// draws another PIN.
func (c *Client) SetPIN(ctx context.Context, r SetPINRequest) (*NewPIN, error) {
	var a NewPIN
	return answered(ctx, c, counter(http.MethodPost, peoplePath+"/set-pin", r, 1), &a, &a.Meta)
}

// counter is a call about tills and people. None of them takes an Idempotency-Key.
func counter(method, path string, request any, attempts int) call {
	return call{method: method, path: path, request: request, limit: smallAnswer, attempts: attempts}
}

// each reads the members of a list, and has note note more about each.
func each[T any](texts []json.RawMessage, note func(*T, json.RawMessage)) ([]T, error) {
	all := make([]T, len(texts))
	for n, text := range texts {
		if err := json.Unmarshal(text, &all[n]); err != nil {
			return nil, err
		}
		note(&all[n], text)
	}
	return all, nil
}
