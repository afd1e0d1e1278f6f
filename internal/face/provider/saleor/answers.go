package saleor

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/face/provider"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// told is an answer in Saleor's words.
type told struct {
	PSP     string         `json:"pspReference,omitempty"`
	Result  string         `json:"result"`
	Amount  jsontext.Value `json:"amount,omitempty"`
	Message string         `json:"message,omitempty"`
	Actions []string       `json:"actions,omitzero"` // what staff may ask for next; none: as before
	Method  *method        `json:"paymentMethodDetails,omitempty"`
	Data    any            `json:"data,omitempty"`
}

// method tells staff by what was paid.
type method struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

// holdTime is for how long a gift is held.
func (c *call) holdTime() time.Duration {
	if c.provider.HoldDays > 0 {
		return time.Duration(c.provider.HoldDays) * 24 * time.Hour
	}
	return holdFor
}

// result is what the event asks for, before _SUCCESS or _FAILURE.
func (c *call) result() string {
	if c.event.Action.Type == "CHARGE" {
		return "CHARGE"
	}
	return c.kind.result
}

// begun tells what was held or redeemed of a gift, and what the storefront may show of it.
func (c *call) begun(id guid.ID, amount money.Amount, actions ...string) told {
	t := c.success(id, amount, actions...)
	t.Method = &method{"OTHER", "Gift " + c.code.LastFour()}
	t.Data = map[string]string{"lastFour": c.code.LastFour()}
	return t
}

// success tells what was done.
func (c *call) success(id guid.ID, amount money.Amount, actions ...string) told {
	t := told{PSP: id.String(), Result: c.result() + "_SUCCESS", Actions: append([]string{}, actions...)}
	if amount > 0 {
		t.Amount = c.currency.Append(nil, amount)
	}
	return t
}

// failure tells in a sentence why something was not done. Staff may ask for what they might ask for before.
func (c *call) failure(why *refusal.Error) told {
	var texts []string
	for _, m := range why.Messages {
		texts = append(texts, m.Text(func(f refusal.Field) string { return string(f) }))
	}
	t := told{Result: c.result() + "_FAILURE", Message: strings.Join(texts, " ")}
	if c.asked > 0 {
		t.Amount = c.currency.Append(nil, c.asked)
	}
	return t
}

// render makes the answer of what done says.
func (c *call) render(done func(ledger.Result) any) func(ledger.Result, error) ledger.Answer {
	return func(r ledger.Result, err error) ledger.Answer {
		if refused, ok := errors.AsType[*refusal.Error](err); ok {
			return ledger.Answer{Code: refused.Code, Body: answer(http.StatusOK, c.failure(refused)).Body}
		}
		return ledger.Answer{Code: ledger.OK, Body: answer(http.StatusOK, done(r)).Body}
	}
}

// told has the engine do something, and gives its answer. Where success redeems, redeemed is the gift.
func (c *call) told(o provider.Order, redeemed guid.ID) service.Reply {
	a, err := c.Do(o)
	switch {
	case err != nil:
		return c.failed(err)
	case !redeemed.IsZero() && a.Succeeded() && a.Fresh():
		c.Redeemed(redeemed, c.Location)
	}
	return service.Reply{Status: http.StatusOK, Body: a.Body, Code: a.Code}
}

// failed answers an error. A refusal is an answer of Saleor's. What we failed at, or do not know, has another status:
// Saleor then tries again, or tells that it does not know.
func (c *call) failed(err error) service.Reply {
	why := service.Told(err)
	switch {
	case why.Code == refusal.UnexpectedError:
		return service.Reply{Status: http.StatusInternalServerError, Err: err}
	case why.Code.Undecided():
		return service.Reply{Status: http.StatusServiceUnavailable, Err: err}
	}
	reply := answer(http.StatusOK, c.failure(why))
	reply.Code = why.Code
	return reply
}
