package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// JournalFormat is the form in which a journal is written.
type JournalFormat string

// The formats.
const (
	JournalCSV        JournalFormat = "csv"
	JournalDATEV      JournalFormat = "datev" // EXTF, Buchungsstapel; of several months a ZIP archive
	JournalXero       JournalFormat = "xero"  // the body of ManualJournals
	JournalQuickBooks JournalFormat = "quickbooks"
	JournalHLedger    JournalFormat = "hledger"
)

// JournalFilter says of which days a journal is.
type JournalFilter struct {
	From   string        // the first day, as 2026-09-01
	To     string        // the last day, yesterday at the latest; "": yesterday
	Format JournalFormat // "": JournalCSV
}

// JournalFile is a journal, with what proves it.
type JournalFile struct {
	Content  []byte `json:"-"`
	ReportID string `json:"reportID"`
	SHA256   string `json:"sha256"` // of Content, in hexadecimal; of JournalHLedger, without its last line, which is Proof as a comment
	// Proof is all that the service says of the journal, in JSON. Kept beside Content, it lets boon report verify make
	// the journal again and compare.
	Proof json.RawMessage `json:"-"`
	Meta  Meta            `json:"-"`
}

// Journal gives the entries of whole days for the ledger of the merchant, as a file for an accounting program. A
// journal of the same days always has the same entries.
func (c *Client) Journal(ctx context.Context, f JournalFilter) (*JournalFile, error) {
	q := url.Values{"from": {f.From}}
	if f.To != "" {
		q.Set("to", f.To)
	}
	if f.Format != "" {
		q.Set("format", string(f.Format))
	}
	k := call{method: http.MethodGet, path: integrationPath + "reports/journal?" + q.Encode(), limit: largeAnswer,
		digest: true}
	meta, _, err := c.repeat(ctx, k, nil)
	if err != nil {
		return nil, err
	}
	j := &JournalFile{Content: meta.Body, Proof: []byte(meta.proof), Meta: meta}
	if err := json.Unmarshal(j.Proof, j); err != nil {
		return nil, fmt.Errorf("reading what proves the journal: %w", err)
	}
	return j, nil
}
