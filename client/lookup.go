package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Gift finds a gift of the key's account by its voucherID.
func (c *Client) Gift(ctx context.Context, voucherID string) (*Voucher, error) {
	return c.voucher(ctx, get("gifts/"+url.PathEscape(voucherID)))
}

// GiftsFilter selects gifts; what is zero selects all.
type GiftsFilter struct {
	AccountID                          string // needed with a system integrator key that serves several accounts
	Status                             Status
	ProgramID                          string
	PromotionID                        string
	OrganizationID                     string // limited to this location
	CreatedFrom                        time.Time
	CreatedTo                          time.Time // exclusive
	ExternalTransactionReferenceNumber string
	CustomerID                         string // to whom they are linked
	ExternalStorefrontID               string
	OrderID                            string
	LastFour                           string // of the code
	Recipient                          string // an address, a number, or words of a name
	PageSize                           int    // how many gifts one call fetches, 1 to 200; 0: the service's choice
}

func (f GiftsFilter) query() url.Values {
	q := url.Values{}
	set := func(name, value string) {
		if value != "" {
			q.Set(name, value)
		}
	}
	set("accountID", f.AccountID)
	set("status", string(f.Status))
	set("programID", f.ProgramID)
	set("promotionID", f.PromotionID)
	set("organizationID", f.OrganizationID)
	set("createdFrom", instant(f.CreatedFrom))
	set("createdTo", instant(f.CreatedTo))
	set("externalTransactionReferenceNumber", f.ExternalTransactionReferenceNumber)
	set("customerID", f.CustomerID)
	set("externalStorefrontID", f.ExternalStorefrontID)
	set("orderID", f.OrderID)
	set("lastFour", f.LastFour)
	set("recipient", f.Recipient)
	if f.PageSize != 0 {
		q.Set("limit", strconv.Itoa(f.PageSize))
	}
	return q
}

// ActivityFilter selects changes of gifts; what is zero selects all.
type ActivityFilter struct {
	From           time.Time
	To             time.Time // exclusive
	KeyID          string
	OrganizationID string // where the change was made
	Kind           EntryKind
	PageSize       int // how many changes one call fetches, 1 to 200; 0: the service's choice
}

func (f ActivityFilter) query() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{"from": instant(f.From), "to": instant(f.To), "keyID": f.KeyID,
		"organizationID": f.OrganizationID, "kind": string(f.Kind)} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.PageSize != 0 {
		q.Set("limit", strconv.Itoa(f.PageSize))
	}
	return q
}

// Change is one change of one gift of the account.
type Change struct {
	VoucherID string `json:"voucherID"`
	Entry
	Currency    string `json:"currency"`    // "" for an item gift
	ProgramID   string `json:"programID"`   // of the gift; "": a service before 0.2
	IsPromoType bool   `json:"isPromoType"` // whether the gift is promotional
}

// Activity goes through the changes of all gifts of the key's account, the newest first, fetching pages as they are
// needed. The first error ends it.
func (c *Client) Activity(ctx context.Context, f ActivityFilter) iter.Seq2[Change, error] {
	fetch := func(cursor string) (list []json.RawMessage, next string, meta Meta, err error) {
		var page struct {
			Entries    []json.RawMessage `json:"entries"`
			NextCursor string            `json:"nextCursor"`
		}
		meta, err = c.do(ctx, paged("activity", f.query(), cursor), &page)
		return page.Entries, page.NextCursor, meta, err
	}
	return pages(fetch, func(e *Change) *Meta { return &e.Meta })
}

// AuditFilter selects what was done; what is zero selects all.
type AuditFilter struct {
	From     time.Time
	To       time.Time // exclusive
	KeyID    string    // of an API key, or of a member of the staff
	Person   string    // of the staff, or at a till
	PageSize int       // how many one call fetches, 1 to 200; 0: the service's choice
}

// AuditEntry is one thing that somebody did in the account.
type AuditEntry struct {
	ID        string    `json:"id"`
	At        time.Time `json:"at"`
	Action    string    `json:"action"` // such as gift.redeemed, setup.changed, codes.exported or person.erased
	KeyID     string    `json:"keyID"`  // "": it was somebody at the command line
	KeyName   string    `json:"keyName"`
	Person    string    `json:"person"`    // who was signed in at the till
	User      string    `json:"user"`      // the operating system's, at the command line
	Address   string    `json:"address"`   // of the client
	VoucherID string    `json:"voucherID"` // "": it was no gift
	What      string    `json:"what"`      // in words; "": the history of the gift tells it
	RequestID string    `json:"requestID"`
	Meta      Meta      `json:"-"`
}

// Audit goes through what people and keys did in the key's account, the newest first, fetching pages as they are
// needed. The first error ends it.
func (c *Client) Audit(ctx context.Context, f AuditFilter) iter.Seq2[AuditEntry, error] {
	q := ActivityFilter{From: f.From, To: f.To, KeyID: f.KeyID, PageSize: f.PageSize}.query()
	if f.Person != "" {
		q.Set("person", f.Person)
	}
	fetch := func(cursor string) (list []json.RawMessage, next string, meta Meta, err error) {
		var page struct {
			Entries    []json.RawMessage `json:"entries"`
			NextCursor string            `json:"nextCursor"`
		}
		k := paged("audit", q, cursor)
		k.path = integrationPath + strings.TrimPrefix(k.path, giftingPath)
		meta, err = c.do(ctx, k, &page)
		return page.Entries, page.NextCursor, meta, err
	}
	return pages(fetch, func(e *AuditEntry) *Meta { return &e.Meta })
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// Gifts goes through the gifts of the key's account, the newest first, fetching pages as they are needed. Gifts that
// are made meanwhile do not disturb it. The first error ends it.
func (c *Client) Gifts(ctx context.Context, f GiftsFilter) iter.Seq2[Voucher, error] {
	fetch := func(cursor string) (list []json.RawMessage, next string, meta Meta, err error) {
		var page struct {
			Gifts      []json.RawMessage `json:"gifts"`
			NextCursor string            `json:"nextCursor"`
		}
		meta, err = c.do(ctx, paged("gifts", f.query(), cursor), &page)
		return page.Gifts, page.NextCursor, meta, err
	}
	return pages(fetch, func(v *Voucher) *Meta { return &v.Meta })
}

// EntryKind is what an entry of a history records. The kinds stand in names.go.
type EntryKind string

// LinkChange is what an entry did to the link of a gift to a customer; "": nothing.
type LinkChange string

// What an entry can do.
const (
	LinkMade  LinkChange = "MADE"
	LinkEnded LinkChange = "ENDED"
)

// Entry is one row of a gift's history. The amounts up to any entry add up to its CurrentBalance.
type Entry struct {
	EntryID          string    `json:"entryID"`
	Seq              int       `json:"seq"` // 1 for the first
	Kind             EntryKind `json:"kind"`
	Amount           Decimal   `json:"amount"` // what it added to the balance; a redemption's is negative
	CurrentBalance   Decimal   `json:"currentBalance"`
	AvailableBalance Decimal   `json:"availableBalance"` // after it; absent: version 0.1 made it
	HeldAmount       Decimal   `json:"heldAmount"`       // what it added to what is held
	EndedBalance     Decimal   `json:"endedBalance"`     // of a cancellation, what it took out of use; else absent
	Status           Status    `json:"status"`
	StatusID         int       `json:"statusID"`
	At               time.Time `json:"at"`
	KeyID            string    `json:"keyID"` // of the API key; "": the service itself
	KeyName          string    `json:"keyName"`
	User             string    `json:"user"`           // the person; "": none is known
	Person           string    `json:"person"`         // who was signed in at the till; "": nobody
	OrganizationID   string    `json:"organizationID"` // "": not at a location
	OrganizationName string    `json:"organizationName"`
	RedemptionID     string    `json:"redemptionID"` // of a redemption its own, of a reversal the undone one's
	ReversalID       string    `json:"reversalID"`
	HoldID           string    `json:"holdID"`   // of a hold its own, of what captures or ends it that one's
	Reverses         string    `json:"reverses"` // of what undoes another entry: that one's EntryID
	// of a transfer: the entry of the other gift, and that gift
	CounterpartEntryID   string `json:"counterpartEntryID"`
	CounterpartVoucherID string `json:"counterpartVoucherID"`
	// of a reload: what paid for it, and where
	ExternalTransactionReferenceNumber string     `json:"externalTransactionReferenceNumber"`
	PricePaid                          Decimal    `json:"pricePaid"` // zero: the value, or nothing was sold
	ExternalStorefrontID               string     `json:"externalStorefrontID"`
	Reference                          string     `json:"reference"`
	ReasonCode                         ReasonCode `json:"reasonCode"` // of a block and an adjustment
	Reason                             string     `json:"reason"`
	ValidUntil                         time.Time  `json:"validUntil"` // of an extension
	CustomerLink                       LinkChange `json:"customerLink"`
	RequestID                          string     `json:"requestID"` // of the call that caused it
	Meta                               Meta       `json:"-"`
}

// History goes through everything that happened to a gift, the oldest first, fetching pages as they are needed. The
// first error ends it.
func (c *Client) History(ctx context.Context, voucherID string) iter.Seq2[Entry, error] {
	path := "gifts/" + url.PathEscape(voucherID) + "/history"
	fetch := func(cursor string) (list []json.RawMessage, next string, meta Meta, err error) {
		var page struct {
			Entries    []json.RawMessage `json:"entries"`
			NextCursor string            `json:"nextCursor"`
		}
		meta, err = c.do(ctx, paged(path, url.Values{}, cursor), &page)
		return page.Entries, page.NextCursor, meta, err
	}
	return pages(fetch, func(e *Entry) *Meta { return &e.Meta })
}

// paged is the look-up of one page.
func paged(path string, q url.Values, cursor string) call {
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	return get(path)
}

// pages walks through all pages, decoding one element after the other; each keeps its own text.
func pages[T any](fetch func(cursor string) ([]json.RawMessage, string, Meta, error),
	metaOf func(*T) *Meta) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		cursor := ""
		for {
			list, next, meta, err := fetch(cursor)
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, text := range list {
				var element T
				err := json.Unmarshal(text, &element)
				*metaOf(&element) = Meta{RequestID: meta.RequestID, Body: text}
				if !yield(element, err) || err != nil {
					return
				}
			}
			if next == "" || next == cursor {
				return
			}
			cursor = next
		}
	}
}

// RequestState tells how far a call has come.
type RequestState string

// The states of a call.
const (
	RequestRunning  RequestState = "running"
	RequestFinished RequestState = "finished"
	RequestSpent    RequestState = "spent" // the key of what was undone before it arrived
)

// RequestStatus tells what became of a call that was made under an Idempotency-Key.
type RequestStatus struct {
	Key        string          `json:"key"`
	Operation  Operation       `json:"operation"`
	State      RequestState    `json:"state"`
	Status     int             `json:"status"` // the HTTP status of its answer, 0 unless finished
	Answer     json.RawMessage `json:"answer"` // the body of its answer, the text "null" unless finished
	FinishedAt time.Time       `json:"finishedAt"`
}

// RequestStatus asks what became of the calls that were made under an Idempotency-Key: one element for each operation
// it was used with, or only that of one operation. A key that never arrived is [NotFound].
func (c *Client) RequestStatus(ctx context.Context, key string, operation Operation) ([]RequestStatus, error) {
	escaped := url.PathEscape(key)
	if strings.Trim(key, ".") == "" { // else "." and ".." would be steps in the path
		escaped = strings.ReplaceAll(key, ".", "%2E")
	}
	path := integrationPath + "requests/" + escaped
	if operation != "" {
		path += "?operation=" + url.QueryEscape(string(operation))
	}
	var a struct {
		Requests []RequestStatus `json:"requests"`
	}
	if _, err := c.do(ctx, call{method: "GET", path: path, limit: largeAnswer}, &a); err != nil {
		return nil, err
	}
	return a.Requests, nil
}
