package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const importsPath = integrationPath + "imports"

// importWithin is how long the service takes at most to receive and check a file.
const importWithin = 11 * time.Minute

// ImportState says how far an import is.
type ImportState string

// The states of an import.
const (
	ImportStaged   ImportState = "STAGED"   // its gifts are being written, and are there for nobody
	ImportFinished ImportState = "FINISHED" // its gifts are there
	ImportUndoing  ImportState = "UNDOING"  // its gifts are gone, and their codes become free
	ImportUndone   ImportState = "UNDONE"
)

// ImportStop is why nobody goes on with an import.
type ImportStop string

// What there is.
const (
	WritingFailed ImportStop = "WRITING_FAILED" // its gifts could not be written on
	WriterEnded   ImportStop = "WRITER_ENDED"   // the instance that wrote them has ended
	UndoerEnded   ImportStop = "UNDOER_ENDED"   // the instance that took it back has ended
)

// Import is of gifts of another system that were brought in together.
type Import struct {
	ImportID     string      `json:"importID"`
	State        ImportState `json:"state"`
	GiftsWritten int         `json:"giftsWritten"`
	GiftsPlanned int         `json:"giftsPlanned"` // 0: that was not kept
	AsOf         time.Time   `json:"asOf"`         // when its gifts begin in the books
	StartedAt    time.Time   `json:"startedAt"`
	By           string      `json:"by"`
	FileSHA256   string      `json:"fileSHA256"`
	Used         bool        `json:"used"` // something happened to one of its gifts: it is not undone any more
	// HasCertificate tells that the import was finished, whatever became of it since.
	HasCertificate bool `json:"hasCertificate"`
	// StoppedCode is why nobody goes on with it; "": it goes on, or is over. Stopped says that in words, and what to do.
	StoppedCode ImportStop `json:"stoppedCode"`
	Stopped     string     `json:"stopped"`
	Meta        Meta       `json:"-"`
}

// ImportOptions say how a file is read, and what it must come to.
type ImportOptions struct {
	From            string    // the system that wrote the file, such as square; "": csv
	AsOf            time.Time // zero: now
	ExpectCount     int       // how many gifts the file must have
	ExpectTotal     string    // what the gifts of money must come to, such as 81204.50
	LeaveOutRefused bool      // the other lines are imported where some are refused
	TillsOnly       bool      // cards without PINs whose codes would be guessed are taken at tills only
}

// ImportCheck is what a file comes to.
type ImportCheck struct {
	FileSHA256   string  `json:"fileSHA256"`
	LinesRead    int     `json:"linesRead"`
	LinesRefused int     `json:"linesRefused"`
	Gifts        int     `json:"gifts"`
	Currency     string  `json:"currency"`
	Total        Decimal `json:"total"`
	Pieces       Decimal `json:"pieces"`
	// TillsOnlyGifts is how many are taken at tills only until their first use. Of an import that is finished it is 0.
	TillsOnlyGifts int      `json:"tillsOnlyGifts"`
	Importable     bool     `json:"importable"`
	Reasons        []string `json:"reasons"`  // about the whole file, that keep it from being imported
	Warnings       []string `json:"warnings"` // about what is rarely meant, that do not
	// ColumnsNotRead are the columns of which nothing is read, at most 100.
	ColumnsNotRead []string        `json:"columnsNotRead"`
	Problems       []ImportProblem `json:"problems"` // the first 1,000
	Import         *Import         `json:"import"`   // nil: it was not begun
	Meta           Meta            `json:"-"`
}

// ImportProblem is why a line is not taken.
type ImportProblem struct {
	Line   int    `json:"line"`
	Column string `json:"column"` // "": the whole line
	Text   string `json:"text"`
}

// CheckImport tells what a file of another system's gifts comes to. Nothing is changed.
func (c *Client) CheckImport(ctx context.Context, file []byte, o ImportOptions) (*ImportCheck, error) {
	return c.sendFile(ctx, importsPath+"/check", file, o.query())
}

// ImportGifts brings the gifts of a file in, which must have the count and the total of the options. When it returns,
// they are being written: [Client.Import] tells how far that is. The same file with the same options is the same
// import, so the call is repeated safely.
func (c *Client) ImportGifts(ctx context.Context, file []byte, o ImportOptions) (*ImportCheck, error) {
	q := o.query()
	q.Set("expectCount", strconv.Itoa(o.ExpectCount))
	q.Set("expectTotal", o.ExpectTotal)
	return c.sendFile(ctx, importsPath, file, q)
}

func (o *ImportOptions) query() url.Values {
	q := url.Values{}
	if o.From != "" {
		q.Set("from", o.From)
	}
	if !o.AsOf.IsZero() {
		q.Set("asOf", instant(o.AsOf))
	}
	for name, is := range map[string]bool{"leaveOutRefused": o.LeaveOutRefused, "tillsOnly": o.TillsOnly} {
		if is {
			q.Set(name, "true")
		}
	}
	return q
}

func (c *Client) sendFile(ctx context.Context, to string, file []byte, q url.Values) (*ImportCheck, error) {
	var a ImportCheck
	k := counter(http.MethodPost, to+"?"+q.Encode(), nil, 0)
	k.upload, k.perAttempt = file, importWithin
	return answered(ctx, c, k, &a, &a.Meta)
}

// Imports lists the imports of the account, the newest first.
func (c *Client) Imports(ctx context.Context) ([]Import, error) {
	var page struct {
		Imports []json.RawMessage `json:"imports"`
	}
	meta, err := c.do(ctx, counter(http.MethodGet, importsPath, nil, 0), &page)
	if err != nil {
		return nil, err
	}
	return each(page.Imports, func(m *Import, text json.RawMessage) {
		m.Meta = Meta{RequestID: meta.RequestID, Body: text}
	})
}

// Import tells how far an import is.
func (c *Client) Import(ctx context.Context, importID string) (*Import, error) {
	return c.oneImport(ctx, http.MethodGet, importID)
}

// UndoImport takes an import back, as long as none of its gifts was used.
func (c *Client) UndoImport(ctx context.Context, importID string) (*Import, error) {
	return c.oneImport(ctx, http.MethodDelete, importID)
}

func (c *Client) oneImport(ctx context.Context, method, importID string) (*Import, error) {
	var a Import
	return answered(ctx, c, counter(method, importsPath+"/"+url.PathEscape(importID), nil, 0), &a, &a.Meta)
}

// ImportCertificate gives the certificate of an import that is finished, as it was signed. The command boon import
// verify checks it.
func (c *Client) ImportCertificate(ctx context.Context, importID string) ([]byte, error) {
	return c.importFile(ctx, importID, "")
}

// ImportPage gives the certificate as the page that a person signs, a PDF. Where the import was taken back since, the
// page says so.
func (c *Client) ImportPage(ctx context.Context, importID string) ([]byte, error) {
	return c.importFile(ctx, importID, "?format=pdf")
}

func (c *Client) importFile(ctx context.Context, importID, query string) ([]byte, error) {
	k := counter(http.MethodGet, importsPath+"/"+url.PathEscape(importID)+"/certificate"+query, nil, 0)
	k.digest = true
	meta, _, err := c.repeat(ctx, k, nil)
	return meta.Body, err
}
