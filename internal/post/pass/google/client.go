package google

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Addresses are where Google is asked.
type Addresses struct {
	Tokens  string // for access tokens (RFC 6749, by RFC 7523)
	Objects string // for classes and objects
}

// Google are those of Google.
var Google = Addresses{Tokens: "https://oauth2.googleapis.com/token",
	Objects: "https://walletobjects.googleapis.com/walletobjects/v1"}

// Limits of one call.
const (
	timeout   = 15 * time.Second
	maxAnswer = 64 << 10
	scope     = "https://www.googleapis.com/auth/wallet_object.issuer"
	grant     = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	early     = 2 * time.Minute // before its end a token is not used any more
)

// client calls Google for one service account.
type client struct {
	*Account
	at   Addresses
	http *http.Client

	mu    sync.Mutex
	token string
	until time.Time
}

// errStatus is an answer that is none of success.
type errStatus struct {
	what   string
	status int
}

func (e *errStatus) Error() string { return fmt.Sprintf("%s: Google answered %d", e.what, e.status) }

// status is that of Google's answer that an error tells of; 0: there was none.
func status(err error) int {
	if e, ok := errors.AsType[*errStatus](err); ok {
		return e.status
	}
	return 0
}

// access gives an access token, a new one where the last ends.
func (c *client) access(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Before(c.until) {
		return c.token, nil
	}
	asserted, err := c.sign(map[string]any{"iss": c.Email, "scope": scope, "aud": c.at.Tokens, "iat": now.Unix(),
		"exp": now.Add(time.Hour).Unix()})
	if err != nil {
		return "", err
	}
	var answer struct {
		Token   string `json:"access_token"`
		Expires int64  `json:"expires_in"`
	}
	form := url.Values{"grant_type": {grant}, "assertion": {asserted}}.Encode()
	err = c.do(ctx, "asking for an access token", http.MethodPost, c.at.Tokens, "application/x-www-form-urlencoded", "",
		[]byte(form), &answer)
	if code := status(err); code != 0 { // it is about the service account, and tells nothing of what is to be written
		return "", fmt.Errorf("asking for an access token: Google answered %d; it may be that the key of the service "+
			"account was deleted, or that the clock of this machine is wrong", code)
	}
	if err != nil {
		return "", err
	}
	c.token, c.until = answer.Token, now.Add(time.Duration(min(answer.Expires, 3600))*time.Second-early)
	return c.token, nil
}

// do makes one call. What Google says of a failure is not told: it may repeat what was sent.
func (c *client) do(ctx context.Context, what, method, address, kind, token string, body []byte, into any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	r.Header.Set("Content-Type", kind)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // the address names a gift
		}
		return fmt.Errorf("%s: %w", what, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if answer.StatusCode/100 != 2 {
		return &errStatus{what, answer.StatusCode}
	}
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// call calls for a class or an object.
func (c *client) call(ctx context.Context, what, method, path string, body any) error {
	token, err := c.access(ctx)
	if err != nil {
		return err
	}
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	err = c.do(ctx, what, method, c.at.Objects+"/"+path, "application/json", token, text, nil)
	if status(err) == http.StatusUnauthorized { // the token was taken back
		c.mu.Lock()
		c.until = time.Time{}
		c.mu.Unlock()
	}
	return err
}

// write has Google keep a class or an object as it is, whether there is one or not.
func (c *client) write(ctx context.Context, kind, id string, body any) error {
	err := c.change(ctx, kind, id, body)
	if status(err) == http.StatusNotFound {
		err = c.call(ctx, "making a "+kind, http.MethodPost, kind, body)
		if status(err) == http.StatusConflict { // another instance was first
			err = c.change(ctx, kind, id, body)
		}
	}
	return err
}

// change changes a class or an object that Google has.
func (c *client) change(ctx context.Context, kind, id string, body any) error {
	return c.call(ctx, "changing a "+kind, http.MethodPatch, kind+"/"+id, body)
}

// newClient makes a client of an account.
func newClient(a *Account, at Addresses) *client {
	at.Objects = strings.TrimSuffix(at.Objects, "/")
	return &client{Account: a, at: at, http: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}
