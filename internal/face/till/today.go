package till

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"boon.example/internal/calendar"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

const (
	// maxToday is how many entries of a day are listed, the newest.
	maxToday = 500
	// mostToday is how many entries of a day are summed up, the newest: more than a till's day has time for.
	mostToday = 5_000
	// daysAtOnce is how many pages of days are read at the same time.
	daysAtOnce = 2
)

// word is the name of what was done of a kind.
type word struct {
	kind gift.Kind
	name string
}

// totals are the words for the sums of a day, in the order in which they are told.
var totals = []word{
	{gift.Redemption, "TAKEN"}, {gift.Reversal, "GIVEN_BACK"},
	{gift.Activation, "ACTIVATED"}, {gift.ActivationReversal, "ACTIVATION_TAKEN_BACK"},
	{gift.Reload, "LOADED"}, {gift.ReloadReversal, "LOAD_TAKEN_BACK"}, {gift.CashOut, "CASHED_OUT"},
	{cashTakenBack, "CASH_TAKEN_BACK"},
}

// cashTakenBack stands for the reversals of cash-outs: what they give back was not taken by redemptions.
const cashTakenBack gift.Kind = "CASH_TAKEN_BACK"

// countedAs is the kind that an entry counts as.
func countedAs(e *gift.Change) gift.Kind {
	if e.TakesCashBack() {
		return cashTakenBack
	}
	return e.Kind
}

// total is what was done of one kind in one unit.
type total struct {
	kind  gift.Kind
	unit  money.Currency
	count int
	sum   money.Amount
}

// today tells what was done with the till on a day of its location, whoever stood at it: today, or the one that the
// call names. Somebody who may look gifts up can ask for all tills of the location.
func (t *tills) today(c *service.Call) (answer, error) {
	s, err := t.open(c)
	if err != nil {
		return nil, err
	}
	if err := s.caller.By(s.person).Attended(); err != nil {
		return nil, err
	}
	now, err := c.AccountNow(s.caller.Account)
	if err != nil {
		return nil, err
	}
	d, err := t.asked(c, s, now)
	if err != nil {
		return nil, err
	}
	if err := t.read(c.Context(), s.caller, d); err != nil {
		return nil, service.Stored(err)
	}
	return d.write, nil
}

// asked reads which day is meant, and whose.
func (t *tills) asked(c *service.Call, s *session, now time.Time) (*doneToday, error) {
	q := wire.ReadQuery(c.HTTP.URL.RawQuery)
	zone, ends := s.caller.Account.Zone, dayEnds(s.caller)
	d := &doneToday{today: dayOf(now.In(zone), ends), mayShop: s.mayShop()}
	d.day = d.today
	if text := q.Text("day"); text != "" {
		day, err := time.Parse(time.DateOnly, text)
		if err != nil || day.Format(time.DateOnly) > d.today.Format(time.DateOnly) {
			q.Add("day", "This must be a day such as 2026-11-22, and not one to come.")
		}
		d.day = day
	}
	switch tills := q.Text("tills"); {
	case tills == "shop" && !d.mayShop:
		return nil, refusal.At(refusal.NotAuthorized, "tills", "Only somebody who may look gifts up sees what all tills did.")
	case tills == "shop":
		d.shop = true
	case tills != "":
		q.Add("tills", "This is shop, for all tills of the location, or absent.")
	}
	d.from, d.to = dayBegins(d.day, zone, ends), dayBegins(d.day.AddDate(0, 0, 1), zone, ends)
	return d, q.Err()
}

// dayEnds is how long after midnight a day ends where the till stands.
func dayEnds(c *merchant.Caller) time.Duration {
	for _, id := range c.Locations {
		if l := c.Account.Location(id); l != nil {
			return l.DayEnds
		}
	}
	return 0
}

// doneToday is what was done with a till, or with all of its location, on a day.
type doneToday struct {
	day      time.Time // its date
	today    time.Time // the date of the day that is not over yet
	shop     bool      // with all tills of the location
	mayShop  bool      // that may be asked for
	from, to time.Time
	names    map[guid.ID]string // of tills
	all      []gift.Change      // the newest first
	complete bool               // these are all
	codes    map[guid.ID]string
}

// listed are those that are shown one by one.
func (d *doneToday) listed() []gift.Change { return d.all[:min(maxToday, len(d.all))] }

// read reads what a caller did.
func (t *tills) read(ctx context.Context, by *merchant.Caller, d *doneToday) error {
	filter := gift.ChangeFilter{AccountID: by.Account.ID, KeyID: by.KeyID, Till: true, From: d.from, To: d.to}
	if d.shop {
		filter.KeyID, filter.Till, filter.ByKeys, filter.LocationID = guid.ID{}, false, true, by.Locations[0]
	}
	for left := cmp.Or(t.Day, mostToday); left > 0 && !d.complete; {
		filter.Limit = min(gift.MaxRead, left)
		page, err := t.page(ctx, by, filter)
		if err != nil {
			return err
		}
		left -= len(page.Changes)
		for _, change := range page.Changes {
			if order(change.Kind) >= 0 {
				d.all = append(d.all, change)
			}
		}
		filter.Before = page.Next
		d.complete = page.Next.IsZero()
	}
	directory := t.Directory()
	d.names = map[guid.ID]string{}
	for _, e := range d.listed() {
		if _, known := d.names[e.Actor.KeyID]; !known {
			d.names[e.Actor.KeyID] = directory.KeyName(e.Actor.KeyID)
		}
	}
	return t.lastFours(ctx, by.Account.ID, d)
}

// page reads a page of a day when it is the till's turn: a long day keeps other merchants from theirs for a page.
func (t *tills) page(ctx context.Context, by *merchant.Caller, f gift.ChangeFilter) (gift.ChangePage, error) {
	done, err := t.days.Take(ctx, by.Account.ID, by.KeyID)
	if err != nil {
		return gift.ChangePage{}, err
	}
	defer done()
	return t.Store.Activity(ctx, f)
}

// dayOf is the date of the day that a local time belongs to, where days end so long after midnight.
func dayOf(now time.Time, ends time.Duration) time.Time {
	y, m, d := now.Date()
	day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	if now.Before(dayBegins(day, now.Location(), ends)) {
		return day.AddDate(0, 0, -1)
	}
	return day
}

// dayBegins is when a day begins: so long after midnight, or where clocks go forward over that, as they do.
func dayBegins(day time.Time, zone *time.Location, ends time.Duration) time.Time {
	return calendar.FromWall(day.Add(ends), zone).In(zone)
}

// lastFours reads the ends of the codes of the gifts that are listed, by which a cashier knows them.
func (t *tills) lastFours(ctx context.Context, account guid.ID, d *doneToday) error {
	var ids []guid.ID
	for _, e := range d.listed() {
		ids = append(ids, e.VoucherID)
	}
	gifts, err := t.Store.GiftsNamed(ctx, account, ids)
	d.codes = make(map[guid.ID]string, len(gifts))
	for n := range gifts {
		d.codes[gifts[n].ID] = gifts[n].Card.Code.LastFour()
	}
	return err
}

// order is the place of a kind among totals; -1: it is none of theirs.
func order(k gift.Kind) int {
	return slices.IndexFunc(totals, func(w word) bool { return w.kind == k })
}

func (d *doneToday) write(w *wire.Writer) {
	w.Text("day", d.day.Format(time.DateOnly))
	w.Text("today", d.today.Format(time.DateOnly))
	w.Boolean("shop", d.shop)
	w.Boolean("mayShop", d.mayShop)
	w.Text("timeZone", d.from.Location().String())
	w.Instant("from", d.from)
	w.Instant("to", d.to)
	w.Boolean("complete", d.complete)
	w.List("entries")
	for _, e := range d.listed() {
		w.Open()
		w.ID("entryID", e.ID)
		w.TextOrNull("lastFour", d.codes[e.VoucherID])
		w.Text("kind", string(countedAs(&e)))
		w.Amount("amount", e.Unit, moved(&e))
		w.TextOrNull("currency", e.Unit.Code)
		w.Instant("at", e.At)
		w.TextOrNull("person", e.Actor.Person)
		w.TextOrNull("till", d.names[e.Actor.KeyID])
		w.IDOrNull("reverses", e.Reverses)
		w.Close()
	}
	w.EndList()
	writeSums(w, d.all)
	people := map[string][]gift.Change{}
	for _, e := range d.all {
		people[e.Actor.Person] = append(people[e.Actor.Person], e)
	}
	w.List("byPerson")
	for _, name := range slices.Sorted(maps.Keys(people)) {
		w.Open()
		w.TextOrNull("person", name)
		writeSums(w, people[name])
		w.Close()
	}
	w.EndList()
}

// moved is how much an entry took, gave back, or put in.
func moved(e *gift.Change) money.Amount { return max(e.Delta, -e.Delta) }

// writeSums writes what was done of each kind, in money first.
func writeSums(w *wire.Writer, done []gift.Change) {
	var all []total
	for n := range done {
		e := &done[n]
		at := slices.IndexFunc(all, func(t total) bool { return t.kind == countedAs(e) && t.unit == e.Unit })
		if at < 0 {
			at, all = len(all), append(all, total{kind: countedAs(e), unit: e.Unit})
		}
		all[at].count++
		all[at].sum += moved(e)
	}
	slices.SortFunc(all, func(a, b total) int {
		return cmp.Or(order(a.kind)-order(b.kind), -cmp.Compare(a.unit.Code, b.unit.Code))
	})
	w.List("sums")
	for _, one := range all {
		w.Open()
		w.Text("kind", totals[order(one.kind)].name)
		w.TextOrNull("currency", one.unit.Code)
		w.Integer("count", one.count)
		w.Amount("amount", one.unit, one.sum)
		w.Close()
	}
	w.EndList()
}
