package client

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"
)

// ExportFormat is how an export is written.
type ExportFormat string

// The formats.
const (
	ExportCSV     ExportFormat = "csv"     // RFC 4180, with a heading
	ExportJSONL   ExportFormat = "jsonl"   // an object in each line
	ExportHledger ExportFormat = "hledger" // plain text accounting
)

// ExportOptions say what an export has.
type ExportOptions struct {
	Format   ExportFormat // "": ExportCSV
	From, To time.Time    // only gifts that were made, or entries that happened, within this time; zero: all
	Codes    bool         // of gifts: whole codes; the key needs the permission codes
}

// ExportGifts writes all gifts of the account, page after page, the newest first. An error tells that the export is not
// whole.
func (c *Client) ExportGifts(ctx context.Context, o ExportOptions, to io.Writer) error {
	return c.export(ctx, "gifts", o, to)
}

// ExportEntries writes everything that happened to the account's gifts, page after page, the newest first. An error
// tells that the export is not whole.
func (c *Client) ExportEntries(ctx context.Context, o ExportOptions, to io.Writer) error {
	return c.export(ctx, "entries", o, to)
}

func (c *Client) export(ctx context.Context, name string, o ExportOptions, to io.Writer) error {
	q := url.Values{"format": {string(cmp.Or(o.Format, ExportCSV))}}
	if o.Codes {
		q.Set("codes", "true")
	}
	for name, at := range map[string]time.Time{"from": o.From, "to": o.To} {
		if !at.IsZero() {
			q.Set(name, instant(at))
		}
	}
	path := integrationPath + "exports/" + name
	for next := path + "?" + q.Encode(); next != ""; {
		k := call{method: "GET", path: next, limit: largeAnswer, digest: true}
		meta, _, err := c.repeat(ctx, k, nil)
		if err != nil {
			return err
		}
		if _, err := to.Write(meta.Body); err != nil {
			return fmt.Errorf("writing the export: %w", err)
		}
		// Only the same list is gone on with: an address elsewhere would be given the key.
		if next = meta.next; next != "" && !strings.HasPrefix(next, path+"?") {
			return fmt.Errorf("the service's answer could not be read: the next page is at %q", next)
		}
	}
	return nil
}
