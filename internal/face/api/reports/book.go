package reports

import (
	"fmt"
	"slices"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/books/journal"
	"boon.example/internal/books/report"
	"boon.example/internal/calendar"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// booking is breakage as it is to be booked.
type booking struct {
	month int // as 202611
	until time.Time
	rate  money.Amount
}

// BookBreakage books, for a month that is over, what its estimate of breakage adds to what was booked before. No gift
// changes: journals tell it.
func BookBreakage(c *Call) (ledger.Answer, error) {
	b, problems, _ := service.Decode(c.Call, c.readBooking)
	if err := problems.Err(); err != nil {
		return ledger.Answer{}, err
	}
	if len(c.Caller.Locations) > 0 {
		return ledger.Answer{}, refusal.New(refusal.NotAuthorized, "Breakage is booked for the whole account, and this key "+
			"is limited to some locations.")
	}
	if err := c.mayBook(&b); err != nil {
		return ledger.Answer{}, err
	}
	done, err := c.start()
	if err != nil {
		return ledger.Answer{}, err
	}
	defer done()
	table, err := c.estimate(b.until, b.rate)
	if err != nil {
		return ledger.Answer{}, err
	}
	var booked []books.Booked
	e := event.TrailEntry{AccountID: c.Account.ID, Actor: c.Actor(guid.ID{}).Actor, RequestID: c.RequestID}
	err = c.Book(c.Context(), e, func(earlier []books.Booked) (_ []books.Booked, err error) {
		booked, err = c.decide(&b, &table, earlier)
		return booked, err
	})
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	return c.Answer(ledger.Created, func(w *wire.Writer) { c.writeBooked(w, &b, booked) }), nil
}

// readBooking reads for which month breakage is to be booked, and at which rate.
func (c *Call) readBooking(o *wire.Object) (b booking) {
	text := o.Text("month")
	month, err := time.Parse("2006-01", text)
	switch {
	case !o.Given("month"):
		o.Add("month", "Say for which month, such as %s.", c.Now.In(c.Account.Zone).AddDate(0, -1, 0).Format("2006-01"))
	case text == "": // that problem is told
	case err != nil || month.Year() < 1970:
		o.Add("month", "Write the month as 2026-11: a year from 1970 on, and a month that exists.")
	default:
		b.month = month.Year()*100 + int(month.Month())
		if b.until = calendar.FromWall(month.AddDate(0, 1, 0), c.Account.Zone).UTC(); b.until.After(c.Now) {
			o.Add("month", "This month is not over yet.")
		}
	}
	number := o.Number("rate")
	if !o.Given("rate") || number != "" {
		amount, err := rate.unit.ParseSigned(number)
		if err != nil || amount < rate.least || amount > rate.most {
			o.Add("rate", rate.problem)
		}
		b.rate = amount
	}
	return b
}

// mayBook refuses what can be refused before the estimate is made, which reads the books. What is booked counts as a
// change of the set-up, whose log has it.
func (c *Call) mayBook(b *booking) error {
	earlier, err := c.Booked(c.Context(), c.Account.ID)
	if err != nil {
		return service.Stored(err)
	}
	if err := journal.ForBreakage(c.Account.Books.Accounts); err != nil {
		return err
	}
	if err := b.follows(earlier); err != nil {
		return err
	}
	return c.CountChange(c.Account.ID, c.MachineTime())
}

// follows refuses a month that is booked, and one before a month that is.
func (b *booking) follows(earlier []books.Booked) error {
	if len(earlier) == 0 {
		return nil
	}
	switch last := earlier[len(earlier)-1]; {
	case slices.ContainsFunc(earlier, func(e books.Booked) bool { return e.Month == b.month }):
		return refusal.New(refusal.NotSupported, "The breakage of %s is booked already. A month is booked once.",
			report.MonthText(b.month))
	case last.Month > b.month:
		return refusal.New(refusal.NotSupported, "The breakage of %s is booked already, and that of an earlier month is in "+
			"it.", report.MonthText(last.Month))
	}
	return nil
}

// decide says what is to be booked, within the transaction that books it: so it is dated when it is booked, however
// long the estimate took, and no journal of a day that was over before changes.
func (c *Call) decide(b *booking, table *report.Table, earlier []books.Booked) ([]books.Booked, error) {
	if err := b.follows(earlier); err != nil {
		return nil, err
	}
	at := c.PresentTime().Truncate(time.Microsecond)
	all := books.Book(earlier, report.Estimates(table), books.Booked{Month: b.month, Rate: int64(b.rate), At: at,
		KeyID: c.Caller.KeyID})
	if len(all) == 0 {
		return nil, refusal.New(refusal.NotSupported, "There is nothing to book for %s: the estimate is what is booked "+
			"already, or 0.00.", report.MonthText(b.month))
	}
	return all, nil
}

func (c *Call) writeBooked(w *wire.Writer, b *booking, booked []books.Booked) {
	w.Text("month", report.MonthText(b.month))
	w.Amount("rate", rate.unit, b.rate)
	w.Instant("bookedAt", booked[0].At)
	w.List("bookings")
	for _, one := range booked {
		w.Open()
		w.ID("programID", one.ProgramID)
		w.Text("currency", one.Currency.Code)
		w.Amount("amount", one.Currency, one.Amount)
		w.Close()
	}
	w.EndList()
}

// bookedParts are what a report of breakage tells of bookings before an instant. They are of the whole account, so a
// key that is limited to locations is told none.
func (c *Call) bookedParts(table *report.Table, until time.Time) ([]report.Part, error) {
	if len(c.Caller.Locations) > 0 {
		return report.BookedWithheld(), nil
	}
	booked, err := c.bookedIn(time.Time{}, until)
	return report.Booked(table, booked), err
}

// bookedIn is what was booked from an instant on and before another one.
func (c *Call) bookedIn(from, until time.Time) ([]books.Booked, error) {
	all, err := c.Booked(c.Context(), c.Account.ID)
	if err != nil {
		return nil, service.Stored(fmt.Errorf("reading what was booked: %w", err))
	}
	return slices.DeleteFunc(all, func(b books.Booked) bool { return b.At.Before(from) || !b.At.Before(until) }), nil
}

// bookedRows are what was booked as breakage in a time, as rows of the journal: each on the day on which it was booked.
// A key that is limited to locations is told none: it is of the whole account.
func (c *Call) bookedRows(from, until time.Time, program func(guid.ID) string) (rows []journal.Row, _ error) {
	if len(c.Caller.Locations) > 0 {
		return nil, nil
	}
	all, err := c.bookedIn(from, until)
	if err != nil {
		return nil, err
	}
	for _, b := range all {
		y, m, d := b.At.In(c.Account.Zone).Date()
		rows = append(rows, journal.Row{Day: time.Date(y, m, d, 0, 0, 0, 0, time.UTC), Line: journal.LineBreakage,
			Currency: b.Currency, Amount: -b.Amount, Count: 1, Program: program(b.ProgramID)})
	}
	return rows, nil
}
