package rig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Till redeems cents of one gift of 100.00, each under a key of its own, and remembers what it was answered.
type Till struct {
	*Client
	URL, ID, Code string // of the service and of the gift
	*answers
}

type answers struct {
	mu    sync.Mutex
	asked map[string][]byte // by key: the answer, nil while there is none
}

// NewTill sells a gift to redeem of.
func (c *Client) NewTill(url string) (t *Till, err error) {
	t = &Till{Client: c, URL: url, answers: &answers{asked: map[string][]byte{}}}
	t.ID, t.Code, err = c.SellOne(url)
	return t, err
}

// At is the same till at another instance.
func (t *Till) At(url string) *Till {
	other := *t
	other.URL = url
	return &other
}

// Redeem redeems one cent, and comes again while the first request with its key is under way. Answers are 200, or 503
// UNAVAILABLE with the time to come again; anything else is an error.
func (t *Till) Redeem(key string) (*Answer, error) {
	var a *Answer
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		var err error
		a, err = t.Post(t.URL+Redeem, Accounts()[0].Keys[0], key, fmt.Sprintf(`{"voucherID":%q,"amount":0.01}`, t.ID))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		if a.Code() != "REQUEST_IN_PROGRESS" || a.RetryAfter == "" || time.Since(begun) > longest {
			break
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.asked[key]
	switch a.Status {
	case http.StatusOK:
		t.asked[key] = a.Body
		if before != nil && !bytes.Equal(before, a.Body) {
			return a, fmt.Errorf("%s was answered %s, and before %s", key, a.Body, before)
		}
	case http.StatusServiceUnavailable:
		t.asked[key] = before
		if a.Code() != "UNAVAILABLE" || a.RetryAfter == "" {
			return a, fmt.Errorf("%s was answered %d %s, Retry-After %q; want UNAVAILABLE and when to come again", key, a.Status,
				a.Body, a.RetryAfter)
		}
	default:
		return a, fmt.Errorf("%s was answered %d %s, want 200 or 503", key, a.Status, a.Body)
	}
	return a, nil
}

// Settle repeats every call: those that were not answered are carried out now, unless they were before; the others are
// answered as then.
func (t *Till) Settle() error {
	begun := time.Now()
	var wrong error
	for key := range t.asked {
		a, err := t.Redeem(key)
		for ; err == nil && a.Status != http.StatusOK && time.Since(begun) < longest; a, err = t.Redeem(key) {
			time.Sleep(20 * time.Millisecond)
		}
		if err == nil && a.Status != http.StatusOK {
			err = fmt.Errorf("%s, repeated when all is well: %d %s", key, a.Status, a.Body)
		}
		wrong = errors.Join(wrong, err)
	}
	return wrong
}

// Check counts the effects: one for each key.
func (t *Till) Check() error {
	var g struct{ CurrentBalance json.Number }
	if err := t.Read(t.URL+Gifts+t.ID, Accounts()[0].Keys[0], &g); err != nil {
		return err
	}
	left := 10000 - len(t.asked)
	if want := fmt.Sprintf("%d.%02d", left/100, left%100); string(g.CurrentBalance) != want {
		return fmt.Errorf("the gift is worth %s after %d keys, want %s", g.CurrentBalance, len(t.asked), want)
	}
	return nil
}

// Look reads: the gift by its code, and by its id.
func (t *Till) Look() error {
	key := Accounts()[0].Keys[0]
	a, err := t.Post(t.URL+Validate, key, "", fmt.Sprintf(`{"voucherCode":%q}`, t.Code))
	if err == nil && a.Status == http.StatusOK {
		a, err = t.Get(t.URL+Gifts+t.ID, key)
	}
	if err == nil && a.Status != http.StatusOK {
		err = errors.New("looking at the gift: " + strings.TrimSpace(string(a.Body)))
	}
	return err
}

// MustRedeem redeems one cent, and nothing but success will do.
func (t *Till) MustRedeem(key string) error {
	a, err := t.Redeem(key)
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("%s was answered %d %s", key, a.Status, a.Body)
	}
	return err
}
