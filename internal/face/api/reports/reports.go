// Package reports has the operations that report from the books: what is owed, how it came about, and what was
// redeemed.
package reports

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/base/fair"
	"boon.example/internal/base/phrase"
	"boon.example/internal/books"
	"boon.example/internal/books/report"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// Records is what reports are made of.
type Records interface {
	// EachMoved tells of what moved in an account, sum by sum; the same key may be told of several times. An error of
	// tell ends it. Where too much is not closed yet, the error is a books.Behind.
	EachMoved(ctx context.Context, a *books.Asked, tell func(day int, k books.Key, s books.Sum) error) error
	// Booked is all that was booked as breakage in an account, by month. Book books what decide says, which is given what
	// was booked before and may be asked again; its error is given back.
	Booked(ctx context.Context, account guid.ID) ([]books.Booked, error)
	Book(ctx context.Context, e event.TrailEntry, decide func(earlier []books.Booked) ([]books.Booked, error)) error
	// Heads gives the newest rows of the newest hash chains.
	Heads(context.Context) ([]books.Head, error)
}

// Operations has what all reports share.
type Operations struct {
	Records
	Places *fair.Places // for reading the books, as reports read much
	// CountChange counts a change of an account's set-up, or refuses it where there were too many lately.
	CountChange func(account guid.ID, now time.Time) error
}

// New makes the operations.
func New(r Records, countChange func(account guid.ID, now time.Time) error) *Operations {
	return &Operations{Records: r, Places: fair.New(2), CountChange: countChange}
}

// Call is a call for a report.
type Call struct {
	*service.Call
	*Operations
}

// Kind is a report.
type Kind struct {
	Name   string         // the end of its path
	period bool           // it is of a period; else of an instant
	groups []report.Group // that its rows may be apart by
	number *number        // that has to be said; nil: none
	make   func(*Call, *asked) (report.Table, error)
}

// Kinds is the table of reports.
var Kinds = []Kind{
	{"liability", false, report.LiabilityGroups, nil, liability},
	{"roll-forward", true, nil, nil, rollForward},
	{"redemptions", true, report.RedemptionGroups, nil, redemptions},
	{"settlement", true, nil, nil, settlement},
	{"ageing", false, nil, nil, ageing},
	{"breakage", false, nil, rate, breakage},
	{"dormant", false, nil, months, dormant},
}

// number is a number that a report needs to know.
type number struct {
	name        string
	form        *regexp.Regexp
	unit        money.Currency // the decimals that it has
	least, most money.Amount
	problem     phrase.Text // what is said of another one, or of none
}

var (
	rate = &number{"rate", regexp.MustCompile(`^([1-9][0-9]?(\.[0-9]{1,2})?|0\.([1-9][0-9]?|0[1-9]))$`),
		money.Currency{Decimals: 2}, 1, 99_99,
		"Say how much of what is sold is never redeemed, in percent, above 0 and below 100, with at most two decimals, " +
			"such as 7.5."}
	months = &number{"months", regexp.MustCompile(`^[1-9][0-9]{0,3}$`), money.Currency{}, 1, 1200,
		"Say for how many months nobody has used the gifts: a whole number from 1 to 1200, such as 36."}
)

// read reads the number.
func (n *number) read(q *wire.Query) money.Amount {
	text := q.Text(n.name)
	amount, err := n.unit.ParseSigned(money.Number(text))
	if err != nil || !n.form.MatchString(text) || amount < n.least || amount > n.most {
		q.Add(n.name, n.problem)
	}
	return amount
}

// ByLocation is the group that tells locations apart; "": the report has none.
func (k *Kind) ByLocation() string {
	if slices.Contains(k.groups, report.ByOrganization) {
		return string(report.ByOrganization)
	}
	return ""
}

// asked is a report as it was asked for. Instants are whole milliseconds, as answers tell them: so a report can be made
// again from what it says of itself.
type asked struct {
	*Kind
	from, until time.Time // a report of an instant has only until
	groups      []report.Group
	number      money.Amount // of the number that has to be said
	form        string
}

// The forms of reports.
const (
	asJSON = "json"
	asCSV  = "csv"
)

// Make makes a report.
func (k *Kind) Make(c *Call) (ledger.Answer, error) {
	a, err := k.read(c)
	if err != nil {
		return ledger.Answer{}, err
	}
	done, err := c.start()
	if err != nil {
		return ledger.Answer{}, err
	}
	defer done()
	table, err := k.make(c, a)
	if err != nil {
		return ledger.Answer{}, err
	}
	heads, err := c.Heads(c.Context())
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	if err := c.takeRows(&table); err != nil {
		return ledger.Answer{}, err
	}
	content := c.content(a, &table)
	sum := sha256.Sum256(content)
	p := proof{guid.ID(uuid.Must(uuid.NewV7())), hex.EncodeToString(sum[:]), heads}
	if a.form == asCSV {
		c.Media = "text/csv; charset=utf-8"
		c.Writer.Header().Set("Content-Disposition", `attachment; filename="`+k.Name+`.csv"`)
		return ledger.Answer{Code: ledger.OK, Body: c.csv(a, &table, &p)}, nil
	}
	return c.Answer(ledger.OK, func(w *wire.Writer) {
		w.Raw("report", content)
		c.writeNames(w, &table)
		p.write(w)
	}), nil
}

// now is the end of this millisecond, which it waits for: what was answered before the call is in the report, and
// nothing can still happen in its time.
func (c *Call) now() time.Time {
	time.Sleep(time.Millisecond)
	return c.Now.Truncate(time.Millisecond).Add(time.Millisecond)
}

// start waits for a place to make a report in, in turns by account.
func (c *Call) start() (done func(), _ error) {
	waits, stop := context.WithTimeout(c.Context(), engine.MaxHeld)
	defer stop()
	done, err := c.Places.Take(waits, c.Account.ID, c.Caller.KeyID)
	if err != nil && c.Context().Err() == nil {
		e := refusal.New(refusal.Unavailable, "Other reports are being made. Repeat the request in a few seconds.")
		e.RetryAfter = 5 * time.Second
		return nil, e
	}
	return done, err
}

// read reads what is asked for.
func (k *Kind) read(c *Call) (*asked, error) {
	q := wire.ReadQuery(c.HTTP.URL.RawQuery)
	a := &asked{Kind: k, form: q.Text("format")}
	switch a.form {
	case "":
		a.form = asJSON
	case asJSON, asCSV:
	default:
		q.Add("format", "The format must be %s or %s.", asJSON, asCSV)
	}
	zone, now := c.Account.Zone, c.now()
	if k.period {
		a.readPeriod(q, zone, now)
	} else {
		a.until = readEnd(q, "at", zone, now)
	}
	if k.number != nil {
		a.number = k.number.read(q)
	}
	for name := range strings.SplitSeq(q.Text("groupBy"), ",") {
		switch group := report.Group(name); {
		case name == "" && q.Text("groupBy") == "":
		case !slices.Contains(k.groups, group):
			q.Add("groupBy", "%s", k.allGroups())
		case !slices.Contains(a.groups, group):
			a.groups = append(a.groups, group)
		}
	}
	return a, q.Err()
}

func (k *Kind) allGroups() *phrase.Phrase {
	if len(k.groups) == 0 {
		return phrase.New("This report has no groups: leave groupBy out.")
	}
	return phrase.New("The groups of this report are %s. Send some of them, with commas between them.",
		strings.Join(names(k.groups), ", "))
}

func names[Name ~string](groups []Name) []string {
	all := make([]string, len(groups))
	for n, g := range groups {
		all[n] = string(g)
	}
	return all
}

// readPeriod reads from when until when a report tells.
func (a *asked) readPeriod(q *wire.Query, zone *time.Location, now time.Time) {
	from := q.DayOrInstant("from", zone, false)
	a.from, a.until = from.Truncate(time.Millisecond), readEnd(q, "to", zone, now)
	switch {
	case q.Text("from") == "":
		q.Add("from", "Say from when on: a date, which begins at midnight in %s, or a date-time.", zone)
	case from.IsZero(), a.until.IsZero(): // that problem is told
	case from.After(now):
		q.Add("from", "This is in the future. A report begins in the past.")
	case !a.from.Before(a.until):
		q.Add("from", "The period ends before it begins: from must be before to.")
	}
}

// readEnd reads up to when a report tells: of a date, up to the end of the day, or up to now if the day is today.
func readEnd(q *wire.Query, name string, zone *time.Location, now time.Time) time.Time {
	if q.Text(name) == "" {
		return now
	}
	end := q.DayOrInstant(name, zone, true)
	if end.IsZero() {
		return end
	}
	switch began := q.DayOrInstant(name, zone, false); {
	case began.After(now):
		q.Add(name, "This is in the future. Leave it out: then the report ends now.")
		return time.Time{}
	case end.After(now):
		return now
	}
	return end.Truncate(time.Millisecond)
}

func liability(c *Call, a *asked) (report.Table, error) {
	sold := func(k *books.Key) bool { return c.sees(k.Sold) && a.fold(k) }
	stock, err := c.moved(time.Time{}, a.until, sold, books.Stock)
	return report.Liability(stock, a.groups), err
}

func rollForward(c *Call, a *asked) (report.Table, error) {
	sold := func(k *books.Key) bool { return c.sees(k.Sold) && a.fold(k) }
	opening, err := c.moved(time.Time{}, a.from, sold, books.Stock)
	if err != nil {
		return report.Table{}, err
	}
	period, err := c.moved(a.from, a.until, sold, books.Stock, books.Places)
	return report.RollForward(opening, period), err
}

func redemptions(c *Call, a *asked) (report.Table, error) {
	taken := func(k *books.Key) bool { return c.sees(k.Place) && a.fold(k) }
	if a.by(report.ByDay) {
		days, err := c.movedByDay(a.from, a.until, maxSums, tooLarge, taken, books.Keys)
		return report.Redemptions(days, a.groups), err
	}
	all, err := c.moved(a.from, a.until, taken, books.Keys)
	return report.Redemptions(map[int]books.Sums{0: all}, a.groups), err
}

// settlement is between the locations that the key may see: both sides of a debt are its own.
func settlement(c *Call, a *asked) (report.Table, error) {
	period, err := c.moved(a.from, a.until, func(k *books.Key) bool {
		k.ProgramID, k.VAT = guid.ID{}, books.VAT{}
		return c.sees(k.Sold) && c.sees(k.Place)
	}, books.Places)
	return report.Settlement(period, c.entityOf), err
}

// ageing is of all programs together.
func ageing(c *Call, a *asked) (report.Table, error) {
	sums, err := c.moved(time.Time{}, a.until, func(k *books.Key) bool {
		seen := c.sees(k.Sold)
		k.Sold, k.ProgramID = guid.ID{}, guid.ID{}
		return seen
	}, books.Months, books.Stock)
	return report.Ageing(sums), err
}

// breakage tells the estimate, and what was booked before the same instant.
func breakage(c *Call, a *asked) (report.Table, error) {
	table, err := c.estimate(a.until, a.number)
	if err == nil {
		table.Parts, err = c.bookedParts(&table, a.until)
	}
	return table, err
}

// estimate goes by the set-up when it is made.
func (c *Call) estimate(until time.Time, rate money.Amount) (report.Table, error) {
	sums, err := c.moved(time.Time{}, until, func(k *books.Key) bool {
		seen := c.sees(k.Sold) && !k.Promotional
		k.Sold = guid.ID{}
		return seen
	}, books.Months, books.Stock)
	return report.Breakage(sums, int64(rate), c.Account.EscheatOf), err
}

// dormant goes by the jurisdictions that the set-up says when the report is made.
func dormant(c *Call, a *asked) (report.Table, error) {
	last := lastMonth(a.until.In(c.Account.Zone), int(a.number))
	idle, err := c.moved(time.Time{}, a.until, func(k *books.Key) bool {
		dormant := k.Month <= last
		k.ProgramID, k.Month = guid.ID{}, 0
		return dormant && c.sees(k.Sold)
	}, books.Idle)
	return report.Dormant(idle, last, c.Account.Jurisdiction), err
}

// lastMonth is the last month, as 202611, that was over for so many months at an instant.
func lastMonth(at time.Time, months int) int {
	month := at.Year()*12 + int(at.Month()) - 1 - months - 1
	return month/12*100 + month%12 + 1
}

// entityOf is whom the set-up says that a location belongs to.
func (c *Call) entityOf(location guid.ID) report.Entity {
	if at := c.Account.Location(location); at != nil && at.LegalEntity != "" {
		return report.Entity{Company: at.LegalEntity}
	}
	return report.Entity{Location: location}
}
