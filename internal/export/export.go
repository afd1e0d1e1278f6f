// Package export writes what is kept of an account's gifts, to be taken elsewhere: the gifts themselves, or all entries
// of their histories. It writes CSV, lines of JSON, or plain text for hledger. Pure: it is given the gifts or entries
// one by one, and keeps none.
package export

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"time"

	"boon.example/internal/base/spreadsheet"
	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/wire"
)

// Format is how an export is written.
type Format string

// The formats.
const (
	CSV     Format = "csv"     // RFC 4180 in UTF-8, with a heading; no text is a formula for a spreadsheet
	JSON    Format = "jsonl"   // an object in each line, with the names of the CSV's columns; what is empty is left out
	HLedger Format = "hledger" // plain text accounting; what is worth nothing and moves nothing is left out
)

// Formats lists the formats.
func Formats() []Format { return []Format{CSV, JSON, HLedger} }

// Options say what is written.
type Options struct {
	Format  Format
	Account *merchant.Account // whose gifts they are
	Codes   bool              // whole codes and verification codes; else the last four digits of codes
	At      time.Time         // as of when
	Further bool              // it goes on from another export: there is no heading
}

// Writer writes an export of gifts or of entries. Close ends it.
type Writer[T any] struct {
	options  Options
	columns  []column[T]
	posting  func(*Options, T) posting
	rows     int
	out      *bufio.Writer
	csv      *csv.Writer
	firstErr error
}

// Gifts begins an export of gifts.
func Gifts(to io.Writer, o Options) *Writer[*gift.Gift] { return begin(to, o, giftColumns, balanceOf) }

// Entries begins an export of entries.
func Entries(to io.Writer, o Options) *Writer[*gift.Change] {
	return begin(to, o, entryColumns, movementOf)
}

func begin[T any](to io.Writer, o Options, columns []column[T], p func(*Options, T) posting) *Writer[T] {
	out := bufio.NewWriterSize(to, 64<<10)
	w := &Writer[T]{options: o, columns: columns, posting: p, out: out, csv: csv.NewWriter(out)}
	w.csv.UseCRLF = true
	switch {
	case o.Further:
	case o.Format == HLedger:
		_, w.firstErr = fmt.Fprintf(out, "; Gifts of account %s as of %s\ndecimal-mark .\n", o.Account.ID, instant(o.At))
	case o.Format == CSV:
		heading := make([]string, len(columns))
		for n := range columns {
			heading[n] = columns[n].name
		}
		w.firstErr = w.csv.Write(heading)
	}
	return w
}

// Rows is how many rows were written.
func (w *Writer[T]) Rows() int { return w.rows }

// Write writes a row.
func (w *Writer[T]) Write(row T) error {
	if w.firstErr == nil {
		w.firstErr = w.write(row)
	}
	return w.failed()
}

func (w *Writer[T]) write(row T) error {
	if w.options.Format == HLedger {
		return w.post(w.posting(&w.options, row))
	}
	w.rows++
	if w.options.Format == JSON {
		return w.object(row)
	}
	cells := make([]string, len(w.columns))
	for n, c := range w.columns {
		if cells[n] = c.text(&w.options, row); !c.plain {
			cells[n] = spreadsheet.Text(cells[n])
		}
	}
	return w.csv.Write(cells)
}

// object writes a row as a line of JSON.
func (w *Writer[T]) object(row T) error {
	line := wire.NewWriter(1 << 10)
	line.Open()
	for _, c := range w.columns {
		switch text := c.text(&w.options, row); {
		case text == "":
		case c.plain:
			line.Raw(c.name, []byte(text))
		default:
			line.Text(c.name, text)
		}
	}
	line.Close()
	_, err := w.out.Write(append(line.Bytes(), '\n'))
	return err
}

// posting is a movement of value between two accounts of hledger. Its texts are Boon's own.
type posting struct {
	at                time.Time
	id, what, tags    string
	account, opposite string
	amount            string // what the account gets; "": nothing moves
}

func (w *Writer[T]) post(p posting) error {
	if p.amount == "" {
		return nil
	}
	w.rows++
	_, err := fmt.Fprintf(w.out, "\n%s (%s) %s  ; %s\n    %s  %s\n    %s\n",
		p.at.In(w.options.Account.Zone).Format(time.DateOnly), p.id, p.what, p.tags, p.account, p.amount, p.opposite)
	return err
}

// Close writes what is not written yet. It leaves open what it was written to.
func (w *Writer[T]) Close() error {
	if w.csv.Flush(); w.firstErr == nil {
		w.firstErr = w.csv.Error()
	}
	if err := w.out.Flush(); w.firstErr == nil {
		w.firstErr = err
	}
	return w.failed()
}

func (w *Writer[T]) failed() error {
	if w.firstErr != nil {
		return fmt.Errorf("writing the export: %w", w.firstErr)
	}
	return nil
}

// instant is an instant as RFC 3339 has it; "" for the zero time.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
