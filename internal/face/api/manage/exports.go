package manage

import (
	"bytes"
	"net/url"
	"slices"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/event"
	"boon.example/internal/export"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// maxExport is how many rows a page of an export has at most, and usually; exportMemory is about how much memory a row
// takes.
const (
	maxExport    = 1_000
	exportMemory = 4 << 10
)

// exportMedia are the media types of the formats.
var exportMedia = map[export.Format]string{export.CSV: "text/csv; charset=utf-8", export.JSON: "application/x-ndjson",
	export.HLedger: "text/plain; charset=utf-8"}

// exporting is a page of an export as it was asked for.
type exporting struct {
	*Call
	*wire.Query
	name    string // of the export, and of its file
	options export.Options
	before  guid.ID
	limit   int
}

// ExportGifts writes a page of the account's gifts, the newest first.
func ExportGifts(c *Call) (ledger.Answer, error) {
	a := c.readExport("gifts")
	filter := gift.Filter{AccountID: c.Account.ID, Locations: c.Caller.Locations, CreatedFrom: a.Instant("from"),
		CreatedTo: a.Instant("to"), Before: a.before, Limit: a.limit}
	switch codes := a.Text("codes"); {
	case codes == "true":
		a.options.Codes = true
	case codes != "" && codes != "false":
		a.Add("codes", "This must be true or false.")
	}
	if err := a.Err(); err != nil {
		return ledger.Answer{}, err
	}
	if a.options.Codes && !c.Caller.May(merchant.MaySeeCodes) {
		return ledger.Answer{}, refusal.New(refusal.NotAuthorized,
			"This key lacks the permission codes: without it, export gifts without codes=true.")
	}
	if err := a.prepare(); err != nil {
		return ledger.Answer{}, err
	}
	page, err := c.Records.List(c.Context(), filter)
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	if a.options.Codes {
		c.Codes = len(page.Gifts)
	}
	var b bytes.Buffer
	return a.page(&b, page.Next, writeAll(export.Gifts(&b, a.options), page.Gifts))
}

// ExportEntries writes a page of what happened to the account's gifts, the newest first.
func ExportEntries(c *Call) (ledger.Answer, error) {
	a := c.readExport("entries")
	filter := gift.ChangeFilter{AccountID: c.Account.ID, Locations: c.Caller.Locations, From: a.Instant("from"),
		To: a.Instant("to"), Before: a.before, Limit: a.limit}
	if err := a.Err(); err != nil {
		return ledger.Answer{}, err
	}
	if err := a.prepare(); err != nil {
		return ledger.Answer{}, err
	}
	page, err := c.Records.Activity(c.Context(), filter)
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	for n := range page.Changes {
		of := &page.Changes[n].Entry
		of.Actor = of.Actor.SeenFrom(c.Caller.Locations)
	}
	var b bytes.Buffer
	return a.page(&b, page.Next, writeAll(export.Entries(&b, a.options), page.Changes))
}

// readExport reads what pages of all exports are asked with.
func (c *Call) readExport(name string) *exporting {
	a := &exporting{Call: c, Query: wire.ReadQuery(c.HTTP.URL.RawQuery), name: name,
		options: export.Options{Format: export.CSV, Account: c.Account, At: c.Now}}
	a.limit = a.LimitTo(maxExport, maxExport)
	if format := a.Text("format"); format != "" {
		if a.options.Format = export.Format(format); !slices.Contains(export.Formats(), a.options.Format) {
			a.Add("format", "The formats are csv, jsonl and hledger.")
		}
	}
	copy(a.before[:], a.Cursor("exports/"+name, len(a.before)))
	a.options.Further = !a.before.IsZero()
	return a
}

// exportOf is an export by a key.
type exportOf struct {
	key  guid.ID
	name string
}

// tellExportEvery is how often the audit trail is told that an export without codes goes on.
const tellExportEvery = time.Hour

// isTold reports whether the trail was told lately of the export that a page goes on with. A cursor alone does not show
// that: whoever makes one up begins in the middle.
func (a *exporting) isTold(of exportOf) bool {
	told, ok := a.exported.Load(of)
	if !ok || !a.options.Further || a.options.Codes {
		return false
	}
	age := a.MachineTime().Sub(told.(time.Time))
	return age >= 0 && age < tellExportEvery
}

// prepare takes the memory of a page, and has the audit trail tell that gifts leave, before they do. Of an export
// without codes, it tells of the first page, and once an hour of those that follow.
func (a *exporting) prepare() error {
	if err := a.TakeMemory(a.limit * exportMemory); err != nil {
		return err
	}
	of := exportOf{a.Caller.KeyID, a.name}
	if a.isTold(of) {
		return nil
	}
	c, action, how := a.Call, event.GiftsExported, phrase.Kept("without codes")
	if a.options.Codes {
		action, how = event.CodesExported, "with their codes"
	}
	if err := c.CountKept(); err != nil {
		return err
	}
	err := c.Records.LogExport(c.Context(), event.TrailEntry{AccountID: c.Account.ID, Actor: c.Actor(guid.ID{}).Actor,
		Action: action, RequestID: c.RequestID,
		What: phrase.Kept("the %v of account %-q (%-s) leave as %s, %v, by the key %q (%-s), request %-s").Say(a.name,
			c.Account.Name, c.Account.ID, a.options.Format, how, c.Caller.Name, c.Caller.KeyID, c.RequestID)})
	if err != nil {
		return service.Stored(err)
	}
	c.exported.Store(of, c.MachineTime())
	return nil
}

// writeAll writes rows.
func writeAll[T any](w *export.Writer[*T], rows []T) error {
	for n := range rows {
		if err := w.Write(&rows[n]); err != nil {
			return err
		}
	}
	return w.Close()
}

// page answers a page. Where there are more, Link (RFC 8288) says where the next one is.
func (a *exporting) page(b *bytes.Buffer, next guid.ID, err error) (ledger.Answer, error) {
	if err != nil {
		return ledger.Answer{}, err
	}
	if !next.IsZero() {
		query, _ := url.ParseQuery(a.HTTP.URL.RawQuery) // it was read before
		query.Set("cursor", wire.CursorText("exports/"+a.name, next[:]))
		a.Writer.Header().Set("Link", "<"+a.HTTP.URL.Path+"?"+query.Encode()+`>; rel="next"`)
	}
	return a.File(a.name+"."+string(a.options.Format), exportMedia[a.options.Format], b.Bytes()), nil
}
