package manage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"boon.example/internal/base/fair"
	"boon.example/internal/base/phrase"
	"boon.example/internal/base/scratch"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/intake"
	"boon.example/internal/intake/page"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/print"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// Imports keeps the imports of accounts and writes their gifts.
type Imports interface {
	intake.Store
	// HideImport is the first step of UndoImport: the gifts are there no more.
	HideImport(ctx context.Context, m *intake.Import) error
	UndoImport(ctx context.Context, m *intake.Import, by event.TrailEntry, done func(freed int)) error
}

// ImportConfig is what the operations of imports need.
type ImportConfig struct {
	Store  Imports
	Folder string // where uploads lie, encrypted, as long as they are needed
	Most   int64  // how many bytes a file has at most; 0: MaxUpload
	// Background runs something beside the calls, until it ends or its context does.
	Background func(func(context.Context))
	Failed     func(account, importID guid.ID, err error) // told what Background failed with
}

// How much a file has at most.
const (
	MaxUpload = 256 << 20 // bytes
	maxLines  = 1_000_000 // a check takes about 100 bytes of memory for each
)

// importing is what the imports of all accounts share in this process.
type importing struct {
	// For files in the folder, while they are uploaded, checked, or written. An account has at most four, and a dozen
	// accounts that take all they can leave a place to the next one.
	files   *fair.Places
	checks  *fair.Places // for files that are checked, which takes memory
	writing *fair.Places // for imports that are written: they take turns with tills at the writer

	mu  sync.Mutex
	now map[guid.ID]guid.ID // by account: the import that is written or undone
}

func newImporting() *importing {
	return &importing{files: fair.NewShared(24, 6), checks: fair.New(1), writing: fair.New(1), now: map[guid.ID]guid.ID{}}
}

// begin has an account be at an import, unless it is at one; then end must follow. at is the import that the account is
// at now; zero: at none that has an id yet.
func (i *importing) begin(account, id guid.ID) (at guid.ID, begun bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	at, busy := i.now[account]
	if !busy {
		at, i.now[account] = id, id
	}
	return at, !busy
}

// named tells which import the account is at.
func (i *importing) named(account, id guid.ID) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.now[account] = id
}

func (i *importing) end(account guid.ID) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.now, account)
}

// errUnderWay refuses what has to wait until the account is at no import.
func errUnderWay() *refusal.Error {
	e := refusal.New(refusal.RequestInProgress,
		"An import of this account is being written or taken back. Repeat the call when that has ended.")
	e.RetryAfter = 5 * time.Second
	return e
}

// mayImport refuses a key that is limited to locations: gifts of an import are good anywhere.
func (c *Call) mayImport() error {
	if len(c.Caller.Locations) > 0 {
		return refusal.New(refusal.NotAuthorized,
			"An import is of the whole account; this key is limited to some of its locations.")
	}
	return nil
}

// CheckImport tells what a file of gifts of another system comes to. Nothing is changed.
func CheckImport(c *Call) (ledger.Answer, error) {
	u, err := c.upload(false)
	if err != nil {
		return ledger.Answer{}, err
	}
	defer u.close()
	return u.answer()
}

// ImportGifts checks a file of gifts of another system, and has them be written. The same file, asked for in the same
// way, is the same import: it goes on, or is told to be finished.
func ImportGifts(c *Call) (ledger.Answer, error) {
	u, err := c.upload(true)
	if err != nil {
		return ledger.Answer{}, err
	}
	if u.report.Moved {
		defer u.close()
		return u.goesOn()
	}
	if err := cmp.Or(refused(u.order, u.report), u.bring()); err != nil {
		u.close()
		return ledger.Answer{}, err
	}
	return u.answer()
}

// goesOn tells of the import of the file, whose gifts were being written while the file was checked: somebody confirmed
// it twice. Where the import began only then, nobody knows what the file came to: that has to be asked once more.
func (u *uploaded) goesOn() (ledger.Answer, error) {
	if u.report.Begun == nil {
		return ledger.Answer{}, errUnderWay()
	}
	m, err := u.importOf(u.report.Begun.ID)
	if err != nil {
		return ledger.Answer{}, err
	}
	if m.State != intake.Staged && m.State != intake.Finished {
		return ledger.Answer{}, errUnderWay()
	}
	u.report.Begun, u.report.Differs = m, nil
	return u.answer()
}

// uploaded is a file that was checked.
type uploaded struct {
	*Call
	order  *intake.Order
	report *intake.Report
	file   *scratch.File
	ctx    context.Context
	ends   []func()
}

// close gives back what the file takes. It is called once.
func (u *uploaded) close() {
	for _, end := range slices.Backward(u.ends) {
		end()
	}
}

// upload takes a file and checks it. Who asks for it keeps no place from other calls meanwhile.
func (c *Call) upload(inEarnest bool) (_ *uploaded, err error) {
	o, err := c.readImport(inEarnest)
	if err = cmp.Or(c.mayImport(), err); err != nil {
		return nil, err
	}
	c.Leave()
	place, err := c.imports.files.Take(c.Context(), c.Account.ID, guid.ID{})
	if err != nil {
		return nil, service.ErrOverloaded
	}
	u := &uploaded{Call: c, order: o, ends: []func(){place}}
	defer func() {
		if err != nil {
			u.close()
		}
	}()
	if u.file, err = scratch.New(c.Imports.Folder); err != nil {
		return nil, service.Unkept(err)
	}
	u.ends = append(u.ends, func() { _ = u.file.Close() }) // nothing depends on it
	ctx, cancel, err := c.Upload(u.file, cmp.Or(c.Imports.Most, MaxUpload))
	if err != nil {
		return nil, err
	}
	u.ctx, u.ends = ctx, append(u.ends, cancel)
	if err := c.mayStillImport(); err != nil {
		return nil, err
	}
	return u, cmp.Or(u.check(), c.mayStillImport())
}

// mayStillImport refuses who may import no more by what holds now.
func (c *Call) mayStillImport() error {
	if err := c.StillMay(); err != nil {
		return err
	}
	return c.mayImport()
}

// check finds out what the file comes to.
func (u *uploaded) check() error {
	d, err := u.Hooks.Directory(u.ctx)
	if err != nil {
		return service.Stored(err)
	}
	if u.order.Account, u.order.Setup = d.Accounts[u.Account.ID], d.Version; u.order.Account == nil {
		return refusal.New(refusal.NotAuthorized, "The account is in the set-up no more.")
	}
	done, err := u.imports.checks.Take(u.ctx, u.Account.ID, guid.ID{})
	if err != nil {
		return service.ErrOverloaded
	}
	defer done()
	u.report, err = intake.Check(u.ctx, u.Imports.Store, u.order, u.file)
	if bad, is := errors.AsType[intake.FileError](err); is {
		return service.RefuseAt(refusal.ValidationFailure, "file", "%s", bad.Unwrap())
	}
	if errors.Is(err, scratch.ErrWriting) {
		return service.Unkept(err)
	}
	return service.Stored(err)
}

// answer tells what the file comes to.
func (u *uploaded) answer() (ledger.Answer, error) {
	words, now := u.Words(), u.MachineTime()
	return u.Answer(ledger.OK, func(w *wire.Writer) { writeChecked(w, u.order, u.report, words, now) }), nil
}

// readImport reads how a file is to be taken.
func (c *Call) readImport(inEarnest bool) (*intake.Order, error) {
	q := wire.ReadQuery(c.HTTP.URL.RawQuery)
	o := &intake.Order{From: merchant.FromOther, AsOf: q.Instant("asOf"), LeaveOut: flag(q, "leaveOutRefused"),
		TillsOnly: flag(q, "tillsOnly"), Lines: maxLines, Count: -1,
		Total: money.Number(q.Text("expectTotal")), MadeBy: c.Caller.Name,
		By:       event.TrailEntry{Actor: c.Actor(guid.ID{}).Actor, RequestID: c.RequestID},
		Progress: func(string, int, int) {}}
	if c.Caller.Person != "" {
		o.MadeBy = c.Caller.Person
	}
	if from := q.Text("from"); from != "" {
		if o.From = merchant.System(from); !slices.Contains(merchant.Systems(), o.From) {
			q.Add("from", "The systems are square, shopify, toast, giftup, woocommerce, lightspeed and csv.")
		}
	}
	if wrong := intake.WrongAsOf(o.AsOf, c.MachineTime()); wrong != nil {
		q.Add("asOf", "%s", wrong)
	}
	if text := q.Text("expectCount"); text != "" {
		n, err := strconv.ParseUint(text, 10, 31)
		if o.Count = int(n); err != nil { // it has 31 bits
			q.Add("expectCount", "This must be a whole number.")
		}
	}
	if inEarnest && o.Count < 0 {
		q.Add("expectCount", "Say how many gifts the file has, as checkImport told: any other file is refused.")
	}
	if inEarnest && o.Total == "" {
		q.Add("expectTotal", "Say what the gifts of money come to, as checkImport told: any other file is refused.")
	}
	return o, q.Err()
}

// flag reads true or false; absent: false.
func flag(q *wire.Query, name string) bool {
	text := q.Text(name)
	if text != "" && text != "true" && text != "false" {
		q.Add(name, "This must be true or false.")
	}
	return text == "true"
}

// refused says why an order is not carried out.
func refused(o *intake.Order, r *intake.Report) error {
	if !r.Refuses(o) {
		return nil
	}
	var problems wire.Problems
	for _, sentence := range r.Differs {
		problems.Add("file", "%s", sentence)
	}
	switch {
	case len(r.Differs) > 0:
	case r.Refused > 0 && !o.LeaveOut:
		problems.Add("file", "%d of %d lines are refused, so nothing is imported. checkImport names each of them.", r.Refused,
			r.Read)
	default:
		problems.Add("file", "The file has no gift that can be imported.")
	}
	return problems.Err()
}

// bring has the gifts of the file be written beside the calls. Where it fails, the file is still open.
func (u *uploaded) bring() error {
	var known guid.ID
	if u.report.Begun != nil {
		known = u.report.Begun.ID
	}
	switch at, begun := u.imports.begin(u.Account.ID, known); {
	case !begun && (known.IsZero() || at != known):
		return errUnderWay()
	case !begun:
		u.close() // it is written already
		return nil
	}
	m, err := u.begin()
	if err != nil || m.State != intake.Staged {
		u.imports.end(u.Account.ID)
		if err == nil {
			u.close()
		}
		return err
	}
	u.imports.named(u.Account.ID, m.ID)
	report, own := *u.report, *m // the call goes on to tell of its own
	report.Begun = &own
	u.Imports.Background(func(ctx context.Context) { u.Operations.write(ctx, u.order, &report, u.file, u.close) })
	return nil
}

// write writes the gifts of a checked file, and closes the file.
func (o *Operations) write(ctx context.Context, order *intake.Order, r *intake.Report, file *scratch.File, end func()) {
	m := r.Begun
	defer o.imports.end(m.AccountID)
	defer end()
	waits := intake.Tend(ctx, o.Imports.Store, m)
	done, err := o.imports.writing.Take(ctx, m.AccountID, guid.ID{})
	if waits(); err != nil {
		return // the service stops; whoever sends the file again goes on
	}
	defer done()
	_, err = intake.Bring(ctx, o.Imports.Store, order, r, file)
	if err == nil || ctx.Err() != nil || errors.Is(err, intake.ErrMoved) { // ErrMoved: another instance is at it
		return
	}
	o.Imports.Failed(m.AccountID, m.ID, errors.Join(err, o.Imports.Store.NoteFailed(ctx, m, true)))
}

// begin keeps that the import is going to be written.
func (u *uploaded) begin() (*intake.Import, error) {
	if u.report.Begun == nil {
		if err := u.CountChange(u.Account.ID, u.MachineTime()); err != nil {
			return nil, err
		}
	}
	m, err := intake.Begin(u.ctx, u.Imports.Store, u.order, u.report)
	if errors.Is(err, intake.ErrMoved) { // another instance has begun it
		return nil, errUnderWay()
	}
	return m, service.Stored(err)
}

// writeChecked writes what a file comes to, in the words of a language, and the import that it belongs to.
func writeChecked(w *wire.Writer, o *intake.Order, r *intake.Report, words func(phrase.Text) string, now time.Time) {
	w.Text("fileSHA256", fmt.Sprintf("%x", r.File))
	w.Integer("linesRead", r.Read)
	w.Integer("linesRefused", r.Refused)
	w.Integer("gifts", r.Taken)
	w.Text("currency", o.Account.Currency.Code)
	w.Amount("total", o.Account.Currency, r.Total)
	w.Amount("pieces", money.Pieces, r.Pieces)
	if r.TillsOnly < 0 {
		w.Null("tillsOnlyGifts")
	} else {
		w.Integer("tillsOnlyGifts", r.TillsOnly)
	}
	w.Boolean("importable", !r.Refuses(o))
	sentences := func(all []*phrase.Phrase) []string {
		texts := make([]string, len(all))
		for n, p := range all {
			texts[n] = p.In(words)
		}
		return texts
	}
	w.Texts("reasons", sentences(r.Differs))
	w.Texts("warnings", sentences(r.Warnings))
	w.Texts("columnsNotRead", r.Unread)
	w.List("problems")
	for _, p := range r.Problems {
		w.Open()
		w.Integer("line", p.Line)
		w.TextOrNull("column", p.Column)
		w.Text("text", p.Said.In(words))
		w.Close()
	}
	w.EndList()
	if r.Begun == nil {
		w.Null("import")
		return
	}
	w.Object("import")
	writeImport(w, r.Begun, words, now)
	w.Close()
}

// writeImport writes how far an import is, in the words of a language.
func writeImport(w *wire.Writer, m *intake.Import, words func(phrase.Text) string, now time.Time) {
	w.ID("importID", m.ID)
	w.Text("state", string(m.State))
	w.Integer("giftsWritten", m.Staged)
	if m.Planned > 0 {
		w.Integer("giftsPlanned", m.Planned)
	} else {
		w.Null("giftsPlanned")
	}
	w.Instant("asOf", m.AsOf)
	w.Instant("startedAt", m.StartedAt)
	w.Text("by", m.MadeBy)
	w.Text("fileSHA256", fmt.Sprintf("%x", m.File))
	w.Boolean("used", m.Used)
	stopped := m.Stopped(now)
	w.TextOrNull("stoppedCode", string(stopped))
	w.TextOrNull("stopped", words(stops[stopped]))
	w.Boolean("hasCertificate", m.Told != "")
}

// stops say why nobody goes on with an import, and what to do.
var stops = map[intake.Stop]phrase.Text{
	intake.WritingFailed: "Writing the gifts failed. Send the same file again to go on, or undo the import.",
	intake.WriterEnded:   "Whoever wrote the gifts has ended. Send the same file again to go on, or undo the import.",
	intake.UndoerEnded:   "The instance that took the import back has ended. Undo the import once more to go on.",
}

// ListImports lists the imports of the account, the newest first.
func ListImports(c *Call) (ledger.Answer, error) {
	all, err := c.Imports.Store.Imports(c.Context(), c.Account.ID)
	if err = cmp.Or(c.mayImport(), service.Stored(err)); err != nil {
		return ledger.Answer{}, err
	}
	words := c.Words()
	return c.Answer(ledger.OK, func(w *wire.Writer) {
		w.List("imports")
		for n := range all {
			w.Open()
			writeImport(w, &all[n], words, c.MachineTime())
			w.Close()
		}
		w.EndList()
	}), nil
}

// importAnswer tells how far an import is.
func (c *Call) importAnswer(m *intake.Import) ledger.Answer {
	words := c.Words()
	return c.Answer(ledger.OK, func(w *wire.Writer) { writeImport(w, m, words, c.MachineTime()) })
}

// foundImport is the import that the address names.
func (c *Call) foundImport() (*intake.Import, error) {
	var q wire.Query
	id := q.ParseID("importID", c.HTTP.PathValue("importID"))
	if err := cmp.Or(c.mayImport(), q.Err()); err != nil {
		return nil, err
	}
	return c.importOf(id)
}

// importOf is the import of the account with an id.
func (c *Call) importOf(id guid.ID) (*intake.Import, error) {
	all, err := c.Imports.Store.Imports(c.Context(), c.Account.ID)
	if err != nil {
		return nil, service.Stored(err)
	}
	n := slices.IndexFunc(all, func(m intake.Import) bool { return m.ID == id })
	if n < 0 {
		return nil, service.RefuseAt(refusal.NotFound, "importID", "This account has no import with that importID.")
	}
	return &all[n], nil
}

// ShowImport tells how far an import is.
func ShowImport(c *Call) (ledger.Answer, error) {
	m, err := c.foundImport()
	if err != nil {
		return ledger.Answer{}, err
	}
	return c.importAnswer(m), nil
}

// ShowCertificate gives the certificate of an import that is finished, as it was signed, or the page that a person
// signs.
func ShowCertificate(c *Call) (ledger.Answer, error) {
	q := wire.ReadQuery(c.HTTP.URL.RawQuery)
	format := q.Text("format")
	if format != "" && format != "json" && format != "pdf" {
		q.Add("format", "The formats are json and pdf.")
	}
	m, err := c.foundImport()
	switch err = cmp.Or(err, q.Err()); {
	case err != nil:
		return ledger.Answer{}, err
	case m.Told == "":
		return ledger.Answer{}, service.RefuseAt(refusal.NotFound, "importID",
			"This import is not finished, and has no certificate yet.")
	}
	if m, err = c.Imports.Store.ConfirmImport(c.Context(), m.AccountID, m.ID); err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	c.Writer.Header().Set("Boon-Import-State", string(m.State))
	name := "boon-import-" + m.ID.String()
	if format != "pdf" {
		return c.File(name+".json", "application/json", []byte(m.Told)), nil
	}
	pdf, err := page.Of([]byte(m.Told), m.State != intake.Finished, print.BuiltIn(), print.PaperFor(c.Account, guid.ID{}))
	if err != nil {
		return ledger.Answer{}, fmt.Errorf("the certificate of import %s: %w", m.ID, err)
	}
	return c.File(name+".pdf", "application/pdf", pdf), nil
}

// UndoImport takes an import back, as long as none of its gifts was used. Its gifts are gone when it answers; their
// codes are made free beside the calls. One that is undone counts as done, and one that was stopped goes on.
func UndoImport(c *Call) (ledger.Answer, error) {
	m, err := c.foundImport()
	if err != nil {
		return ledger.Answer{}, err
	}
	if m.State != intake.Undone {
		switch at, begun := c.imports.begin(m.AccountID, m.ID); {
		case !begun && (at != m.ID || m.State != intake.Undoing):
			return ledger.Answer{}, errUnderWay()
		case begun:
			if err := c.undo(m); err != nil {
				c.imports.end(m.AccountID)
				return ledger.Answer{}, err
			}
		}
	}
	return c.importAnswer(m), nil
}

// undo hides the gifts of an import, and has their codes be made free.
func (c *Call) undo(m *intake.Import) error {
	if err := c.CountChange(m.AccountID, c.MachineTime()); err != nil {
		return err
	}
	switch err := c.Imports.Store.HideImport(c.Context(), m); {
	case errors.Is(err, intake.ErrUsed):
		return refusal.New(refusal.RedemptionNotAllowed, "Gifts of this import were used, so it cannot be undone.")
	case errors.Is(err, intake.ErrNoUndo):
		return refusal.New(refusal.NotSupported, "A finished import cannot be undone in a database that is spread over "+
			"machines.")
	case errors.Is(err, intake.ErrMoved):
		return errUnderWay()
	case err != nil:
		return service.Stored(err)
	}
	m.State, m.AliveAt = intake.Undoing, c.MachineTime()
	by := event.TrailEntry{Actor: c.Actor(guid.ID{}).Actor, RequestID: c.RequestID,
		What: phrase.Kept("import %s of %d gifts is undone").Say(m.ID, m.Staged)}
	operations, undone := c.Operations, *m
	c.Imports.Background(func(ctx context.Context) {
		defer operations.imports.end(undone.AccountID)
		defer intake.Tend(ctx, operations.Imports.Store, &undone)()
		err := operations.Imports.Store.UndoImport(ctx, &undone, by, func(int) {})
		if err != nil && ctx.Err() == nil {
			operations.Imports.Failed(undone.AccountID, undone.ID, err)
		}
	})
	return nil
}
