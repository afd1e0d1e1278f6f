package rig

import (
	"bytes"
	"crypto/rand"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// The addresses of the interface.
const (
	SendGift = "/api/integration/gifting/send-gift"
	Cancel   = "/api/integration/gifting/cancel-gift"
	Restore  = "/api/integration/gifting/reinstate-gift"
	Gifts    = "/api/integration/gifting/gifts/"
	Validate = "/api/integration/redemption/validate-gift"
	Redeem   = "/api/integration/redemption/redeem-gift"
	Reverse  = "/api/integration/redemption/reverse-redemption"
	Hold     = "/api/integration/redemption/hold-gift"
	Capture  = "/api/integration/redemption/capture-hold"
	Release  = "/api/integration/redemption/release-hold"
	Transfer = "/api/integration/gifting/transfer-balance"
	Stock    = "/api/integration/gifting/create-stock"
	Orders   = "/api/integration/gifting/orders/"
	Block    = "/api/integration/gifting/block-gift"
	Unblock  = "/api/integration/gifting/unblock-gift"
	Replace  = "/api/integration/gifting/replace-gift"
	Extend   = "/api/integration/gifting/extend-gift"
	Adjust   = "/api/integration/gifting/adjust-gift"
	CashOut  = "/api/integration/redemption/cash-out-gift"
	Activate = "/api/integration/redemption/activate-gift"
	Unsell   = "/api/integration/redemption/reverse-activation"
	Reload   = "/api/integration/redemption/reload-gift"
	Unload   = "/api/integration/redemption/reverse-reload"
	Requests = "/api/integration/requests/"
)

// Answer is what came back from a call.
type Answer struct {
	Status     int
	Body       []byte
	Replayed   bool
	RetryAfter string
}

// Code is the problem's code, "OK" for a success.
func (a *Answer) Code() string {
	if a.Status < 300 {
		return "OK"
	}
	var problem struct{ Code string }
	if json.Unmarshal(a.Body, &problem) != nil || problem.Code == "" {
		return fmt.Sprintf("status %d without a code", a.Status)
	}
	return problem.Code
}

// Client calls a service as a till does, with a timeout.
type Client struct{ http http.Client }

// NewClient makes a client for so many callers at once.
func NewClient(callers int, timeout time.Duration) *Client {
	return &Client{http.Client{Timeout: timeout, Transport: &http.Transport{MaxIdleConns: 4 * callers,
		MaxIdleConnsPerHost: 2 * callers}}}
}

// longest is how long a call is repeated, on a machine that has much else to do.
const longest = time.Minute

// Repeat is Post, made again while a busy service answers 503, unless it has no Idempotency-Key, which sees to it that
// it has one effect.
func (c *Client) Repeat(url, apiKey, idempotencyKey, body string) (*Answer, error) {
	for begun := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		a, err := c.Post(url, apiKey, idempotencyKey, body)
		if err != nil || a.Status != http.StatusServiceUnavailable || idempotencyKey == "" ||
			time.Since(begun) > longest {
			return a, err
		}
	}
}

// Post makes a call with an API key and, unless it is "", an Idempotency-Key.
func (c *Client) Post(url, apiKey, idempotencyKey, body string) (*Answer, error) {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if idempotencyKey != "" {
		req.Header.Set("Idempotency-Key", idempotencyKey)
	}
	return c.do(req, apiKey)
}

// Get reads.
func (c *Client) Get(url, apiKey string) (*Answer, error) {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return c.do(req, apiKey)
}

// ErrNotThere is what Read is told of what does not exist.
var ErrNotThere = errors.New("answered 404")

// Read gets and decodes, again and again for up to a minute. What is not there is ErrNotThere, at once.
func (c *Client) Read(url, apiKey string, into any) error {
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		a, err := c.Get(url, apiKey)
		if err == nil && a.Status == http.StatusNotFound {
			return fmt.Errorf("%s: %w", url, ErrNotThere)
		}
		if err == nil && a.Status != http.StatusOK {
			err = fmt.Errorf("%s: %d %s", url, a.Status, a.Body)
		}
		if err == nil {
			return json.Unmarshal(a.Body, into)
		}
		if time.Since(begun) > longest {
			return err
		}
	}
}

// Export gets the lines of the list of a stock, code, last four and verification code first, again and again for up to
// a minute.
func (c *Client) Export(url, apiKey string) (lines [][]string, err error) {
	for begun := time.Now(); time.Since(begun) < longest; time.Sleep(50 * time.Millisecond) {
		var a *Answer
		if a, err = c.Get(url, apiKey); err != nil || a.Status != http.StatusOK {
			continue
		}
		if lines, err = csv.NewReader(bytes.NewReader(a.Body)).ReadAll(); err == nil && len(lines) > 0 {
			return lines[1:], nil
		}
	}
	return nil, fmt.Errorf("%s: %w", url, err)
}

func (c *Client) do(req *http.Request, apiKey string) (*Answer, error) {
	req.Header.Set("Authorization", apiKey)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	return &Answer{resp.StatusCode, body, resp.Header.Get("Idempotent-Replayed") == "true",
		resp.Header.Get("Retry-After")}, nil
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// SendBody asks for so many gifts of 100.00 in the first account.
func SendBody(n int) string {
	return fmt.Sprintf(`{"monetaryGift":{"value":100,"deliveryMethodID":3},"recipients":[{}%s],%s}`,
		strings.Repeat(",{}", n-1), order)
}

// SendTo asks for gifts of 5.00 that are to be sent; more are members of monetaryGift, recipients as they stand in an
// order.
func SendTo(more, recipients string) string {
	return fmt.Sprintf(`{"monetaryGift":{"value":5%s},"recipients":[%s],%s}`, more, recipients, order)
}

var order = fmt.Sprintf(`"paymentMethodID":2,"externalTransactionReferenceNumber":"r","externalTransactionCustomerFirstName":"A",
	"externalTransactionCustomerLastName":"B","externalTransactionCustomerEmailAddress":"a@example.com","externalStorefrontID":%q`, Accounts()[0].Storefront)

// Sell sells what an order asks for in the first account.
func (c *Client) Sell(url, body string) (gifts []Gift, err error) {
	a, err := c.Repeat(url+SendGift, Accounts()[0].Keys[0], rand.Text(), body)
	if err != nil {
		return nil, err
	}
	var order struct{ Gifts []Gift }
	if err := json.Unmarshal(a.Body, &order); err != nil || len(order.Gifts) == 0 {
		return nil, fmt.Errorf("send-gift: %d %s %w", a.Status, a.Body, err)
	}
	return order.Gifts, nil
}

// Gift is one that was sold.
type Gift struct{ VoucherID, VoucherCode string }

// SellOne sells a gift of 100.00 in the first account and gives its id and code.
func (c *Client) SellOne(url string) (id, code string, err error) {
	gifts, err := c.Sell(url, SendBody(1))
	if err != nil {
		return "", "", err
	}
	return gifts[0].VoucherID, gifts[0].VoucherCode, nil
}
