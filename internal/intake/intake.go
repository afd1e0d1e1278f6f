package intake

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/base/nice"
	"boon.example/internal/base/phrase"
	"boon.example/internal/contact"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/imports"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// MaxFile is how many bytes of a file are read.
const MaxFile = 1 << 30

// Order is what is to be brought in, and how.
type Order struct {
	Account *merchant.Account
	Setup   int64           // the version of the set-up that Account is of
	From    merchant.System // whose file it is
	AsOf    time.Time       // when the gifts begin in the books; zero: now
	// LeaveOut has the lines that can be taken be taken, although others are refused; else one refused line refuses all.
	LeaveOut bool
	// TillsOnly has cards without PINs be taken whose codes would be guessed (imports.Summary.Guessable), as cards that
	// are taken at tills only: see gift.Voucher.OnlyAtTills.
	TillsOnly bool
	Lines     int              // how many the file may have; 0: any number
	Count     int              // how many gifts there have to be; below 0: any number
	Total     money.Number     // what the gifts of money have to come to; "": any amount
	By        event.TrailEntry // who asks, for the audit trail
	MadeBy    string           // their name, for the certificate
	// Progress is told how many lines were looked at, or gifts written, of how many; 0: nobody knows.
	Progress func(what string, done, total int)
}

// asked is what two runs must have in common to be of one import.
func (o *Order) asked() string {
	text, err := json.Marshal(struct {
		From     merchant.System
		AsOf     time.Time `json:",omitzero"`
		LeaveOut bool      `json:",omitempty"`
		// a second import with another answer to this would make other gifts of the file
		TillsOnly bool `json:",omitempty"`
	}{o.From, o.AsOf.UTC(), o.LeaveOut, o.TillsOnly})
	if err != nil {
		panic(err) // texts and times do not fail
	}
	return string(text)
}

// Report is what a file comes to, before anything is changed.
type Report struct {
	imports.Summary
	File [32]byte // its SHA-256
	AsOf time.Time
	// Unread are the columns of which nothing is read. Of an import that is finished, nobody knows them any more.
	Unread []string
	// Begun is the import that an earlier run of the same order began, and perhaps finished; nil: none did. Of one that
	// is finished, its certificate says what the file came to.
	Begun          *Import
	dates          imports.DateOrder
	redated        bool // dates is what the whole file shows
	written, other int  // lines whose gifts Begun has written; those that the file would now have be other gifts
	// Guessed are the cards without PINs whose codes would be guessed. They are taken at tills only, where the order says
	// so; else the order is refused.
	Guessed []imports.Guessed
	// TillsOnly is how many cards are taken at tills only, until their first use. Below 0: nobody knows, as of an import
	// that is finished.
	TillsOnly int
	// Warnings are sentences about what is rarely meant; the order is carried out all the same.
	Warnings []*phrase.Phrase
	// Differs are sentences about what was expected and is not so.
	Differs []*phrase.Phrase
	// Moved tells that nothing is wrong with the order but that another process is carrying it out: it wrote gifts of
	// Begun while the file was read, or began the import only then, and Begun is nil.
	Moved bool
}

// Refuses reports whether the order is not to be carried out.
func (r *Report) Refuses(o *Order) bool {
	return len(r.Differs) > 0 || r.Refused > 0 && !o.LeaveOut || r.Taken == 0
}

// Check reads a file and says what it comes to. Nothing is changed.
func Check(ctx context.Context, s Store, o *Order, file io.ReadSeeker) (*Report, error) {
	r := &Report{AsOf: o.AsOf}
	err := r.readWhole(ctx, file)
	if err != nil {
		return nil, err
	}
	if r.Begun, err = begun(ctx, s, o, r.File); err != nil {
		return nil, err
	}
	switch {
	case r.Begun != nil:
		if r.AsOf = r.Begun.AsOf; r.Begun.State == Finished {
			r.TillsOnly = -1
			return r, r.readFinished(o)
		}
	case r.AsOf.IsZero():
		r.AsOf = time.Now().UTC().Truncate(time.Microsecond)
	}
	if p := longAgo(o, r.AsOf, time.Now()); p != nil {
		r.Warnings = append(r.Warnings, p)
	}
	kept, err := r.judge(ctx, s, o, file)
	if err == nil && r.redated { // the first time, nobody knew how the dates are meant
		r.Summary, r.written, r.other = imports.Summary{}, 0, 0
		kept, err = r.judge(ctx, s, o, file)
	}
	if err != nil {
		return nil, err
	}
	if p := r.Damaged(); p != nil {
		r.Differs = append(r.Differs, p.Said)
	}
	r.Guessed = r.Guessable(o.Account, nice.Resting(ctx))
	if o.TillsOnly {
		r.TillsOnly = r.Summary.TillsOnly(r.Guessed)
	} else {
		r.TillsOnly = r.Summary.TillsOnly(nil)
		for _, g := range r.Guessed {
			r.Differs = append(r.Differs, g.Problem())
		}
	}
	r.Forget()
	for card, n := range kept {
		if card.tillsOnly != (card.asked || r.tillsOnly(o, card.length) && !card.pin) {
			r.other += n
		}
	}
	r.compare(o)
	return r, r.compareBegun(ctx, s, o)
}

// compareBegun notes that the gifts that an import has written are not those that the file comes to. Where the import
// began only while the file was read, its gifts stood in the way of their own lines.
func (r *Report) compareBegun(ctx context.Context, s Store, o *Order) error {
	m := r.Begun
	switch {
	case m != nil && r.other == 0 && r.written == m.Staged, m == nil && !r.Refuses(o):
		return nil
	case m == nil:
		is, err := begun(ctx, s, o, r.File)
		if err != nil || is == nil {
			return err
		}
		r.Moved = true
		r.Differs = append(r.Differs, goesOn(is))
		return nil
	}
	other, err := moved(ctx, s, m)
	if err != nil {
		return err
	}
	text := goesOn(m)
	if !other {
		text = phrase.New("Import %s of this file was begun with another set-up, and the file comes to other gifts now. "+
			"Undo that import, and begin again.", m.ID)
	}
	r.Moved = other && len(r.Differs) == 0
	r.Differs = append(r.Differs, text)
	return nil
}

// judge goes through the lines of a file, and counts the cards that the import has written.
func (r *Report) judge(ctx context.Context, s Store, o *Order, file io.ReadSeeker) (map[keptCard]int, error) {
	text, err := fromStart(ctx, file, io.Discard)
	if err != nil {
		return nil, err
	}
	kept := map[keptCard]int{}
	return kept, each(ctx, s, o, r, text, func(line imports.Line, was *Taken, problems []imports.Problem) error {
		r.Add(line, problems)
		if was != nil {
			if r.written++; len(problems) > 0 || !was.is(&line, o.Account) {
				r.other++
			}
			kept[keptCard{len(line.Code.Reveal()), line.PIN != "", line.TillsOnly, was.TillsOnly}]++
		}
		return nil
	})
}

// readWhole takes the fingerprint of a file, and refuses one that is too large.
func (r *Report) readWhole(ctx context.Context, file io.ReadSeeker) error {
	hash := sha256.New()
	text, err := fromStart(ctx, file, hash)
	if err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, text)
	switch {
	case err != nil:
		return fmt.Errorf("reading the file: %w", err)
	case n > MaxFile:
		return FileError{phrase.New("The file has more than %d bytes: cut it into several files.", MaxFile)}
	}
	hash.Sum(r.File[:0])
	return nil
}

// goesOn says that somebody else is at an import.
func goesOn(m *Import) *phrase.Phrase {
	return phrase.New("Another process goes on with import %s of this file. Wait until that process has ended. "+
		"Then give the same command once more: it goes on, or says that the import is finished.", m.ID)
}

// moved reports whether an import is not as it was read: another process goes on with it.
func moved(ctx context.Context, s Store, m *Import) (bool, error) {
	is, err := now(ctx, s, m)
	return is != nil && (is.State != m.State || is.Staged != m.Staged), err
}

// readFinished takes what the file came to from the certificate of the import.
func (r *Report) readFinished(o *Order) error {
	c, _, err := ReadCertificate([]byte(r.Begun.Told))
	if err != nil {
		return fmt.Errorf("import %s is finished: %w", r.Begun.ID, err)
	}
	if r.Total, err = o.Account.Currency.ParseSigned(c.Total); err != nil {
		return fmt.Errorf("the certificate of import %s: %w", r.Begun.ID, err)
	}
	r.Read, r.Taken, r.Refused, r.Pieces = c.LinesRead, c.Imported, c.Refused, c.Pieces
	r.compare(o)
	return nil
}

// begun finds the import that goes on, or is finished.
func begun(ctx context.Context, s Store, o *Order, file [32]byte) (*Import, error) {
	all, err := s.Imports(ctx, o.Account.ID)
	for n := range all {
		if m := &all[n]; (m.State == Staged || m.State == Finished) && m.File == file && m.Asked == o.asked() {
			return m, nil
		}
	}
	return nil, err
}

// tillsOnly reports whether cards without PINs, with codes of a length, are taken at tills only.
func (r *Report) tillsOnly(o *Order, length int) bool {
	return o.TillsOnly && slices.ContainsFunc(r.Guessed, func(g imports.Guessed) bool { return g.Length == length })
}

// keptCard is what of a card that is written says whether it is to be taken at tills only.
type keptCard struct {
	length    int // of its code
	pin       bool
	asked     bool // by its line
	tillsOnly bool
}

// compare notes what is not as it was expected.
func (r *Report) compare(o *Order) {
	if o.Count >= 0 && r.Taken != o.Count {
		r.Differs = append(r.Differs, phrase.New("%d gifts were expected, and the file has %d.", o.Count, r.Taken))
	}
	if o.Total == "" {
		return
	}
	want, err := o.Account.Currency.ParseSigned(o.Total)
	if err != nil {
		r.Differs = append(r.Differs, phrase.New("The total that was expected is no amount of %s.", o.Account.Currency.Code))
	} else if want != r.Total {
		r.Differs = append(r.Differs, phrase.New("%s %s were expected in all, and the file has %s.",
			o.Account.Currency.Format(want), o.Account.Currency.Code, o.Account.Currency.Format(r.Total)))
	}
}

// FileError tells what is wrong with a file as a whole.
type FileError struct{ error }

// Unwrap gives the cause.
func (e FileError) Unwrap() error { return e.error }

// How many codes are looked for at once: the store finds them in one step, in which it keeps a core.
const (
	together       = 1_000
	togetherBeside = 50 // while tills call: half a millisecond
)

// togetherNow is how many codes are to be looked for at once.
func togetherNow(ctx context.Context) int {
	if tills, _ := nice.Others(ctx); tills {
		return togetherBeside
	}
	return together
}

// each goes through the lines of a file, with what is wrong with them, also that their codes are in use. It makes room
// for tills.
func each(ctx context.Context, s Store, o *Order, r *Report, file io.Reader,
	take func(imports.Line, *Taken, []imports.Problem) error) error {
	lines, err := imports.NewReader(file, o.Account, o.From, r.AsOf)
	if err != nil {
		return FileError{err}
	}
	r.Unread = lines.Unread()
	if r.redated {
		lines.ReadDates(r.dates)
	}
	var but guid.ID
	if r.Begun != nil {
		but = r.Begun.ID
	}
	b, rest := &batch{take: take}, nice.Resting(ctx)
	for done := 0; ; done++ {
		rest()
		line, problems, err := lines.Next()
		if said, is := errors.AsType[*phrase.Phrase](err); is {
			return FileError{said}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading the file: %w", err)
		}
		if err == nil {
			b.add(line, problems)
		}
		if o.Lines > 0 && done >= o.Lines && err == nil {
			return FileError{phrase.New("The file has more than %d lines: cut it into several files.", o.Lines)}
		}
		if err != nil || len(b.lines) >= togetherNow(ctx) {
			if err := b.pass(ctx, s, o.Account, but); err != nil {
				return err
			}
			o.Progress("lines read", done, 0)
		}
		if err != nil {
			if dates, other := lines.Dates(); other {
				r.dates, r.redated = dates, true
			}
			return nil
		}
	}
}

// batch are lines whose codes are looked for together.
type batch struct {
	take     func(line imports.Line, was *Taken, problems []imports.Problem) error // was: the import has written it
	lines    []imports.Line
	problems [][]imports.Problem
	codes    []codes.VoucherCode
}

func (b *batch) add(line imports.Line, problems []imports.Problem) {
	b.lines, b.problems = append(b.lines, line), append(b.problems, problems)
	if line.Code != (codes.VoucherCode{}) {
		b.codes = append(b.codes, line.Code)
	}
}

// pass hands the lines on, and forgets them. A gift that the import has written itself stands in no line's way.
func (b *batch) pass(ctx context.Context, s Store, a *merchant.Account, by guid.ID) error {
	taken := map[codes.VoucherCode]Taken{}
	if len(b.codes) > 0 {
		var err error
		if taken, err = s.TakenCodes(ctx, a.ID, b.codes); err != nil {
			return err
		}
	}
	rest := nice.Resting(ctx)
	for n, line := range b.lines {
		rest()
		var was *Taken
		led, is := taken[line.Code]
		switch {
		case is && !by.IsZero() && led.ImportID == by:
			was = &led
		case is && len(b.problems[n]) == 0:
			b.problems[n] = []imports.Problem{{Line: line.Number, Column: "code",
				Said: phrase.New("The code leads to a gift that is here already.")}}
		}
		if err := b.take(line, was, b.problems[n]); err != nil {
			return err
		}
	}
	b.lines, b.problems, b.codes = b.lines[:0], b.problems[:0], b.codes[:0]
	return nil
}

// ErrRefused tells that an order was not carried out, and that nothing was changed: its report says why.
var ErrRefused = errors.New("nothing was imported")

// Begin keeps that an order is going to be carried out that Check has reported on, unless that is kept already.
func Begin(ctx context.Context, s Store, o *Order, r *Report) (*Import, error) {
	if r.Refuses(o) {
		return nil, ErrRefused
	}
	if m := r.Begun; m != nil {
		if m.State != Staged {
			return m, nil
		}
		m.Failed, m.AliveAt = false, time.Now().UTC()
		return m, s.NoteFailed(ctx, m, false)
	}
	m := &Import{AccountID: o.Account.ID, ID: idAt(time.Now()), State: Staged, File: r.File, Asked: o.asked(),
		AsOf: r.AsOf, Planned: r.Taken, MadeBy: o.MadeBy, StartedAt: time.Now().UTC(), AliveAt: time.Now().UTC()}
	by := o.By
	by.What = phrase.Kept("import %s of %d gifts begins").Say(m.ID, r.Taken)
	if err := s.BeginImport(ctx, m, by); err != nil {
		return nil, err
	}
	r.Begun = m
	return m, nil
}

// Bring carries an order out that Check has reported on: it writes the gifts, and finishes the import. Whoever is
// killed meanwhile checks the same file and brings it again. That an import is finished is told only once no failover
// loses it. Of a file that was changed since Check, nothing is finished: the error is ErrChanged.
func Bring(ctx context.Context, s Store, o *Order, r *Report, file io.ReadSeeker) (*Import, error) {
	m, err := Begin(ctx, s, o, r)
	switch {
	case err != nil:
		return nil, err
	case m.State == Finished:
		return outcome(ctx, s, m, ErrMoved)
	}
	defer Tend(ctx, s, m)()
	if err := write(ctx, s, o, r, m, file); err != nil {
		return m, err
	}
	if err := finish(ctx, s, o, r, m); err != nil {
		return outcome(ctx, s, m, err)
	}
	return m, nil
}

// write writes the gifts of a file that are not written, and sees to it that all gifts are those that Check has seen.
func write(ctx context.Context, s Store, o *Order, r *Report, m *Import, file io.ReadSeeker) error {
	hash := sha256.New()
	text, err := fromStart(ctx, file, hash)
	if err != nil {
		return err
	}
	w := &writer{Store: s, order: o, report: r, m: m, total: r.Taken, pace: pace{size: firstGroup}}
	var total, pieces money.Amount
	err = each(ctx, s, o, r, text, func(line imports.Line, was *Taken, problems []imports.Problem) error {
		if len(problems) > 0 {
			return nil
		}
		balance := line.Balance
		if was != nil {
			balance = was.Balance
		}
		if line.Item {
			pieces += balance
		} else {
			total += balance
		}
		if was != nil {
			return nil
		}
		return w.add(ctx, line)
	})
	if err == nil {
		err = w.write(ctx)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, text) // what stands behind the last line
	}
	if other, failed := moved(ctx, s, m); err == nil && (other || failed != nil) {
		return cmp.Or(failed, ErrMoved)
	}
	switch {
	case err != nil:
		return err
	case [32]byte(hash.Sum(nil)) != r.File:
		return fmt.Errorf("%w: the file has another SHA-256 now", ErrChanged)
	case m.Staged != r.Taken:
		return fmt.Errorf("%w: %d gifts are written, and %d were to be", ErrChanged, m.Staged, r.Taken)
	case total != r.Total || pieces != r.Pieces:
		return fmt.Errorf("%w: the gifts that are written come to another total", ErrChanged)
	}
	return nil
}

// fromStart reads a file from its start, and hands what is read to a hash. It makes room for tills.
func fromStart(ctx context.Context, file io.ReadSeeker, hash io.Writer) (io.Reader, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("reading the file: %w", err)
	}
	return &restingReader{io.TeeReader(io.LimitReader(file, MaxFile+1), hash), nice.Resting(ctx)}, nil
}

// restingReader makes room for tills before it reads on.
type restingReader struct {
	io.Reader
	rest func()
}

func (r *restingReader) Read(into []byte) (int, error) {
	r.rest()
	return r.Reader.Read(into)
}

// outcome tells what became of an import that may be finished: an answer was lost, or somebody else was faster. Whoever
// has not heard of a commit does not know what will become of it while the import is not finished.
func outcome(ctx context.Context, s Store, m *Import, failed error) (*Import, error) {
	is, err := s.ConfirmImport(context.WithoutCancel(ctx), m.AccountID, m.ID)
	switch {
	case err != nil:
		m.State = Unknown
		return m, errors.Join(failed, err)
	case is.State == Finished:
		return is, nil
	case is.State == Staged && errors.Is(failed, ledger.ErrUnknown):
		m.State = Unknown
	default:
		m.State = is.State
	}
	return m, failed
}

// finish signs the certificate, and has the gifts be there.
func finish(ctx context.Context, s Store, o *Order, r *Report, m *Import) error {
	heads, err := s.Heads(ctx)
	if err != nil {
		return err
	}
	m.Told = certify(s.Keys(), o, r, m, heads)
	by := o.By
	by.What = phrase.Kept("import %s of %d gifts is finished").Say(m.ID, m.Staged)
	return s.FinishImport(ctx, m, by)
}

// writer writes gifts in groups.
type writer struct {
	Store
	order  *Order
	report *Report
	m      *Import
	pace   pace
	total  int

	gifts   []gift.Gift
	entries []gift.Entry
}

func (w *writer) add(ctx context.Context, line imports.Line) error {
	g, e, err := w.gift(line)
	if err != nil {
		return err
	}
	w.gifts, w.entries = append(w.gifts, g), append(w.entries, e)
	if len(w.gifts) < w.pace.size {
		return nil
	}
	return w.write(ctx)
}

// gift makes the gift of a line.
func (w *writer) gift(line imports.Line) (gift.Gift, gift.Entry, error) {
	token, err := codes.NewToken(rand.Reader)
	if err != nil {
		return gift.Gift{}, gift.Entry{}, err
	}
	a := w.order.Account
	g := gift.Gift{
		Voucher: gift.Voucher{ID: w.id(), AccountID: a.ID, OrderID: w.m.ID, ProgramID: line.ProgramID,
			LocationID: line.LocationID, Item: line.Item, Currency: a.Currency, Funded: line.Balance, Balance: line.Balance,
			ValidFrom: line.ValidFrom, ValidUntil: line.ValidUntil, CustomerID: line.Customer, Verification: line.PIN,
			TillsOnly: line.TillsOnly || line.PIN == "" && w.report.tillsOnly(w.order, len(line.Code.Reveal()))},
		Card: gift.Card{Code: line.Code, Token: token, Label: line.Label, Recipient: line.Recipient, Contact: line.Contact,
			Method: methodFor(line.Contact), DesignID: a.DesignFor(line.LocationID), DeliveryZone: zoneOf(a).String(),
			Purchase: gift.Purchase{Reference: line.Reference}},
	}
	g.Card.VATTreatment, g.Card.VATRate = a.VAT(line.ProgramID, guid.ID{})
	g, e := g.Import(gift.Context{EntryID: w.id(), Now: w.m.AsOf, RequestID: w.m.ID.String()})
	if e.Reason = "imported"; !line.IssuedAt.IsZero() {
		y, m, d := line.IssuedAt.In(zoneOf(a)).Date() // the day stays, whatever zone the account will have
		e.IssuedOn = time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
		e.Reason = "imported; another system issued it on " + e.IssuedOn.Format(time.DateOnly)
	}
	return g, e, nil
}

// id is a new id for the next gift or its entry. Those of one import tell the same instant; behind it, they count its
// gifts. So they lie in the order of the file, and whoever writes them adds to the ends of tables and indexes. Drawn by
// lot, each gift would change a page of its own in every one of them. 67 million gifts have an order; those behind
// begin it again, and 48 bits that are drawn tell them apart.
func (w *writer) id() guid.ID {
	id := idAt(w.m.AsOf)
	n := w.m.Staged + len(w.gifts)
	id[6], id[7] = id[6]&0xf0|byte(n>>22)&0x0f, byte(n>>14)
	id[8], id[9] = id[8]&0xc0|byte(n>>8)&0x3f, byte(n)
	return id
}

func zoneOf(a *merchant.Account) *time.Location {
	if zone := a.TimeZone(); zone != nil {
		return zone
	}
	return time.UTC
}

func methodFor(to string) contact.Method {
	switch {
	case to == "":
		return contact.Printed
	case strings.Contains(to, "@"):
		return contact.Email
	}
	return contact.SMS
}

// write writes the gifts that wait, and pauses: tills have their turns.
func (w *writer) write(ctx context.Context) error {
	if len(w.gifts) == 0 {
		return nil
	}
	begun := time.Now()
	if err := w.group(ctx); err != nil {
		return fmt.Errorf("writing gifts of import %s: %w", w.m.ID, err)
	}
	took := time.Since(begun)
	w.pace.wrote(ctx, took, w.CommitTime())
	w.gifts, w.entries = w.gifts[:0], w.entries[:0]
	w.order.Progress("gifts written", w.m.Staged, w.total)
	rest := time.NewTimer(restAfter(ctx, took))
	defer rest.Stop()
	select {
	case <-rest.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// group writes gifts in one transaction. What became of one whose outcome is unknown, the import says.
func (w *writer) group(ctx context.Context) error {
	c := ledger.Changes{Gifts: w.gifts, Entries: w.entries, Staged: &ledger.Staged{AccountID: w.m.AccountID,
		ImportID: w.m.ID, Before: w.m.Staged, Count: len(w.gifts)}}
	want := ledger.Want{Import: w.m.ID, Heavy: true, Setup: w.order.Setup}
	for n := range w.gifts {
		want.Gifts = append(want.Gifts, &w.gifts[n])
	}
	taken := false
	err := w.Group(ctx, want, func(s *ledger.State) ledger.Changes {
		for n := range w.gifts {
			if taken = taken || s.Codes[w.gifts[n].Card.Code]; taken {
				return ledger.Changes{}
			}
		}
		return c
	})
	switch {
	case errors.Is(err, ledger.ErrUnknown), errors.Is(err, ledger.ErrRejected):
		is, found := now(ctx, w, w.m)
		if found != nil {
			return errors.Join(err, found)
		}
		if is == nil || is.State != Staged || is.Staged != w.m.Staged+len(w.gifts) {
			if is != nil && (is.State != Staged || is.Staged != w.m.Staged) {
				err = errors.Join(ErrMoved, err)
			}
			return err
		}
	case err != nil:
		return err
	case taken:
		if other, failed := moved(ctx, w, w.m); other || failed != nil {
			return cmp.Or(failed, ErrMoved)
		}
		return fmt.Errorf("%w: a code of the file was given to another gift", ErrChanged)
	}
	w.m.Staged += len(w.gifts)
	return nil
}

// now reads the import as it is now.
func now(ctx context.Context, s Store, m *Import) (*Import, error) {
	all, err := s.Imports(ctx, m.AccountID)
	for n := range all {
		if all[n].ID == m.ID {
			return &all[n], nil
		}
	}
	return nil, err
}

// idAt is a new id that tells an instant: what is listed by time is found by its id.
func idAt(at time.Time) guid.ID {
	id := guid.ID(uuid.Must(uuid.NewV7()))
	for i, ms := 5, at.UnixMilli(); i >= 0; i, ms = i-1, ms>>8 {
		id[i] = byte(ms)
	}
	return id
}
