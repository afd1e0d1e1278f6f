package client

import (
	"context"
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

// Journal gives the entries of whole days for the ledger of the merchant, as a file for an accounting program. A
// journal of the same days always has the same entries.
func (c *Client) Journal(ctx context.Context, f JournalFilter) (file []byte, _ error) {
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
	return meta.Body, err
}
