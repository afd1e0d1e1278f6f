package till

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"boon.example/internal/api"
	"boon.example/internal/gift"
	"boon.example/internal/wire"
)

const (
	// maxToday is how many entries of a day are listed.
	maxToday = 500
	// maxPages is how many pages of the account's entries are looked through for them, gift.MaxRead each.
	maxPages = 50
)

// told is the word for what was done of a kind.
type told struct {
	kind gift.Kind
	name string
}

// totals are the words for the sums of a day, in the order in which they are told.
var totals = []told{
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
	unit  gift.Currency
	count int
	sum   gift.Amount
}

// today tells what was done with the till on this day of the account, whoever stood at it.
func (t *tills) today(c *api.Call) (answer, error) {
	s, err := t.open(c)
	if err != nil {
		return nil, err
	}
	now, err := c.AccountNow(s.caller.Account)
	if err != nil {
		return nil, err
	}
	from := dayBegins(now, s.caller.Account.Zone)
	filter := gift.ChangeFilter{AccountID: s.caller.Account.ID, KeyID: s.caller.KeyID, From: from, Limit: maxToday + 1}
	var done []gift.Change
	complete := false
	for range maxPages {
		page, err := t.Store.Activity(c.Context(), filter)
		if err != nil {
			return nil, api.Stored(err)
		}
		for _, change := range page.Changes {
			if order(change.Kind) >= 0 {
				done = append(done, change)
			}
		}
		if complete = page.Next.IsZero(); complete || len(done) > maxToday {
			break
		}
		filter.Before = page.Next
	}
	if len(done) > maxToday {
		done, complete = done[:maxToday], false
	}
	codes, err := t.lastFours(c.Context(), s.caller.Account.ID, done)
	if err != nil {
		return nil, api.Stored(err)
	}
	return func(w *wire.Writer) { writeToday(w, done, codes, complete, from) }, nil
}

// dayBegins is when the day of a zone began.
func dayBegins(now time.Time, zone *time.Location) time.Time {
	y, m, d := now.In(zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, zone)
}

// lastFours are the ends of the codes of gifts, by which a cashier knows them.
func (t *tills) lastFours(ctx context.Context, account gift.ID, done []gift.Change) (map[gift.ID]string, error) {
	var ids []gift.ID
	for n := range done {
		ids = append(ids, done[n].VoucherID)
	}
	gifts, err := t.Store.GiftsNamed(ctx, account, ids)
	codes := make(map[gift.ID]string, len(gifts))
	for n := range gifts {
		codes[gifts[n].ID] = gifts[n].Card.Code.LastFour()
	}
	return codes, err
}

// order is the place of a kind among totals; -1: it is none of theirs.
func order(k gift.Kind) int {
	return slices.IndexFunc(totals, func(t told) bool { return t.kind == k })
}

func writeToday(w *wire.Writer, done []gift.Change, codes map[gift.ID]string, complete bool, from time.Time) {
	w.Text("day", from.Format(time.DateOnly))
	w.Text("timeZone", from.Location().String())
	w.Instant("from", from)
	w.Boolean("complete", complete)
	w.List("entries")
	for n := range done {
		e := &done[n]
		w.Open()
		w.ID("entryID", e.ID)
		w.TextOrNull("lastFour", codes[e.VoucherID])
		w.Text("kind", string(countedAs(e)))
		w.Amount("amount", e.Unit, moved(e))
		w.TextOrNull("currency", e.Unit.Code)
		w.Instant("at", e.At)
		w.TextOrNull("person", e.Actor.Person)
		w.IDOrNull("reverses", e.Reverses)
		w.Close()
	}
	w.EndList()
	writeSums(w, done)
	people := map[string][]gift.Change{}
	for _, e := range done {
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
func moved(e *gift.Change) gift.Amount { return max(e.Delta, -e.Delta) }

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
