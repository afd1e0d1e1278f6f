package books

import (
	"fmt"
	"slices"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/money"
)

// Folder works out the movements of gifts of one account, each from its whole history.
type Folder struct {
	// Month is the month of an instant, as 202611, by the days of the account: see Days.Month.
	Month func(time.Time) int
	// Read gives another gift with its history, from which value was transferred.
	Read func(gift guid.ID) (Terms, []gift.Entry, error)
	// moved are the lots that entries of transfers took, by the entry.
	moved map[guid.ID][]part
}

// part is what was taken of a lot.
type part struct {
	lot int // its number in the gift
	Lot
}

// Fold tells of all movements of a gift up to an instant, in the order of its entries. What value expires by itself is
// told of where an entry or the instant finds it expired.
func (f *Folder) Fold(t *Terms, history []gift.Entry, until time.Time, tell func(Movement)) error {
	g := f.open(t, tell)
	for n := range history {
		if err := g.step(&history[n]); err != nil {
			return err
		}
	}
	g.pass(until.Add(-1))
	return nil
}

func (f *Folder) open(t *Terms, tell func(Movement)) *folding {
	if f.moved == nil {
		f.moved = map[guid.ID][]part{}
	}
	return &folding{Folder: f, terms: t, tell: tell, end: t.end(t.ValidUntil), taken: map[guid.ID][]part{},
		cash: map[guid.ID]bool{}, places: map[guid.ID]guid.ID{}, loads: map[guid.ID]int{}}
}

// folding is a gift while its history is read.
type folding struct {
	*Folder
	terms  *Terms
	tell   func(Movement)
	lots   []Lot               // none goes; an empty one may be filled again
	taken  map[guid.ID][]part  // what each redemption or cash-out took and was not given back
	cash   map[guid.ID]bool    // which of them were cash-outs
	places map[guid.ID]guid.ID // where each of them was made
	loads  map[guid.ID]int     // the lots of activations and reloads
	end    time.Time
	active int // the month of the last activity

	out, expired, blocked bool
}

// end is when value expires in the books: when tills take the gift no more.
func (t *Terms) end(validUntil time.Time) time.Time { return gift.AfterGrace(validUntil, t.GraceDays) }

func (g *folding) state() State {
	switch {
	case g.out:
		return Out
	case g.expired:
		return Expired
	case g.blocked:
		return Blocked
	}
	return Open
}

// standing is what is in a gift at an instant.
type standing struct {
	lots   []Lot
	state  State
	active int
}

func (g *folding) standing() standing { return standing{slices.Clone(g.lots), g.state(), g.active} }

// pass lets time go by up to an instant.
func (g *folding) pass(at time.Time) {
	if g.expired || g.end.IsZero() || at.Before(g.end) {
		return
	}
	was := g.standing()
	g.expired = true
	g.recordChange(was, &gift.Entry{At: g.end}, "")
}

func (g *folding) step(e *gift.Entry) error {
	g.pass(e.At)
	was := g.standing()
	line, err := g.apply(e)
	if err != nil {
		return fmt.Errorf("entry %s: %w", e.ID, err)
	}
	switch {
	case line.Active():
		g.active = g.Month(e.At)
	case e.Kind == gift.Imported: // the last that is known of it
		g.active = g.issuedIn(e)
	}
	g.recordChange(was, e, line)
	return nil
}

// apply does to the lots and to the gift what an entry says, and gives the line that the books count the entry on.
func (g *folding) apply(e *gift.Entry) (Line, error) {
	switch e.Kind {
	case gift.Cancellation, gift.Reinstatement:
		g.out = e.Kind == gift.Cancellation
	case gift.Blocked, gift.Unblocked:
		g.blocked = e.Kind == gift.Blocked
	case gift.Extended:
		g.end = g.terms.end(e.Until)
		g.expired = !e.At.Before(g.end)
	case gift.Issued, gift.Imported:
		g.add(e, e.Balance)
	case gift.Activation, gift.Reload:
		g.loads[e.ID] = len(g.lots)
		g.add(e, e.Delta)
	case gift.ActivationReversal, gift.ReloadReversal:
		g.unload(e)
	case gift.Redemption, gift.CashOut:
		g.taken[e.ID] = g.takeOldest(-e.Delta)
		g.cash[e.ID] = e.Kind == gift.CashOut
		g.places[e.ID] = e.Actor.LocationID
	case gift.Reversal:
		g.giveBack(e)
		if g.cash[e.Reverses] {
			return LineCashGivenBack, nil
		}
	case gift.TransferOut:
		g.moved[e.ID] = g.takeOldest(-e.Delta)
	case gift.TransferIn:
		return LineTransferred, g.receive(e)
	case gift.Adjustment:
		if e.Delta < 0 {
			g.takeOldest(-e.Delta)
			return LineAdjustedDown, nil
		}
		g.add(e, e.Delta)
		return LineAdjustedUp, nil
	}
	line, _ := e.Kind.Books()
	return Line(line), nil
}

// add puts a new lot into the gift, sold where its entry was made.
func (g *folding) add(e *gift.Entry, amount money.Amount) {
	lot := Lot{Sold: SoldAt(e), Month: g.Month(e.At), Amount: amount, Whole: amount}
	if price := e.Purchase.Price; price > 0 {
		lot.Bonus = max(0, g.terms.value(len(g.lots), amount).Money-price)
	}
	g.lots = append(g.lots, lot)
}

// bonus is that of a sale, or of one that an entry takes back.
func (g *folding) bonus(e *gift.Entry) money.Amount {
	switch e.Kind {
	case gift.Issued, gift.Activation, gift.Reload:
		return g.lots[len(g.lots)-1].Bonus
	case gift.ActivationReversal, gift.ReloadReversal:
		if n, ok := g.loads[e.Reverses]; ok {
			return -g.lots[n].Bonus
		}
	}
	return 0
}

// issuedIn is the month in which another system issued a gift that was imported. Where it did not say, the gift was
// there when it was imported. The entry has the day: that of an instant would be another one once the account has
// another time zone, and closed days would differ.
func (f *Folder) issuedIn(e *gift.Entry) int {
	if y, m, _ := e.IssuedOn.Date(); !e.IssuedOn.IsZero() {
		return min(y*100+int(m), f.Month(e.At))
	}
	return f.Month(e.At)
}

// SoldAt is where the value that an entry puts into a gift was sold; zero: online.
func SoldAt(e *gift.Entry) guid.ID { return e.Actor.LocationID }

// takeOldest takes an amount of the lots, the oldest first.
func (g *folding) takeOldest(amount money.Amount) (taken []part) {
	for n := range g.lots {
		if some := min(amount, g.lots[n].Amount); some > 0 {
			lot, bonus := &g.lots[n], g.lots[n].bonus()
			lot.Amount -= some
			amount -= some
			taken = append(taken, part{n, Lot{lot.Sold, lot.Month, some, some, bonus - lot.bonus()}})
		}
	}
	return taken
}

// unload takes back what an activation or a reload brought: of its own lot first, and of the others what was used of
// that one.
func (g *folding) unload(e *gift.Entry) {
	left := -e.Delta
	if n, ok := g.loads[e.Reverses]; ok {
		some := min(left, g.lots[n].Amount)
		g.lots[n].Amount -= some
		left -= some
	}
	g.takeOldest(left)
}

// giveBack returns value to the lots that a redemption or a cash-out took it of, the one that was used last first.
func (g *folding) giveBack(e *gift.Entry) {
	left, taken := e.Delta, g.taken[e.Reverses]
	for n := len(taken) - 1; n >= 0 && left > 0; n-- {
		some := min(left, taken[n].Amount)
		taken[n].Amount -= some
		g.lots[taken[n].lot].Amount += some
		left -= some
	}
	if left > 0 { // the history is damaged, and boon verify names the gift
		g.add(e, left)
	}
}

// receive puts in lots what a transfer took of those of another gift: value stays sold where and when it was.
func (g *folding) receive(e *gift.Entry) error {
	moved, known := g.moved[e.Counterpart]
	if !known {
		if err := g.follow(e); err != nil {
			return err
		}
		moved = g.moved[e.Counterpart]
	}
	left := e.Delta
	for _, p := range moved {
		lot := p.Lot
		lot.Amount = min(left, p.Amount)
		g.lots = append(g.lots, lot)
		left -= lot.Amount
	}
	if left > 0 { // as in giveBack
		g.add(e, left)
	}
	return nil
}

// follow reads the gift that gave, up to the entry of its side. What that one was given before, it was given before
// this transfer: both gifts are locked while value moves between them. So following ends.
func (g *folding) follow(e *gift.Entry) error {
	t, history, err := g.Read(e.CounterpartGift)
	if err != nil {
		return err
	}
	other := g.open(&t, func(Movement) {})
	for n := range history {
		if err := other.step(&history[n]); err != nil || history[n].ID == e.Counterpart {
			return err
		}
	}
	return nil
}

// place is where an entry counts. What somebody gives back without naming a location counts where it was taken.
func (g *folding) place(e *gift.Entry) guid.ID {
	if at := e.Actor.LocationID; !at.IsZero() || e.Kind != gift.Reversal {
		return at
	}
	return g.places[e.Reverses]
}

// recordChange tells what changed: on the line of an entry what it moved; on another line what the gift's coming into
// or out of use, or expiring, moved beside that; and how the stock changed.
func (g *folding) recordChange(was standing, e *gift.Entry, line Line) {
	before, is, count, bonus := was.lots, g.state(), 1, g.bonus(e)
	other := LineExpired
	if was.state == Out || is == Out {
		other = LineCancelled
	}
	for n, lot := range g.lots {
		m := Movement{At: e.At, Sold: lot.Sold, Month: lot.Month, Place: g.place(e), Key: e.Actor.KeyID}
		var earlier Lot
		if n < len(before) {
			earlier = before[n]
		}
		old, now := g.terms.value(n, earlier.Amount), g.terms.value(n, lot.Amount)
		moved, owed := now.Minus(old), owed(is, now).Minus(owed(was.state, old))
		if m.Line, m.Value = line, moved; !moved.IsZero() {
			m.Count, count, m.Bonus, bonus = count, 0, bonus, 0
			g.tell(m)
			m.Count, m.Bonus = 0, 0
		}
		if m.Line, m.Value = other, owed.Minus(moved); !m.Value.IsZero() {
			if e.Kind == gift.Cancellation || e.Kind == gift.Reinstatement || e.Kind == "" {
				m.Count, count = count, 0
			}
			if other == LineCancelled {
				m.Bonus = bonusOwed(is, &lot) - bonusOwed(was.state, &earlier) - (lot.bonus() - earlier.bonus())
			}
			g.tell(m)
			m.Count, m.Bonus = 0, 0
		}
		g.restock(m, was.state, old, is, now)
	}
	if !slices.Equal(before, g.lots) || was.state != is || was.active != g.active {
		g.tellIdle(&was, e.At, -1)
		g.tellIdle(&standing{g.lots, is, g.active}, e.At, 1)
	}
}

// tellIdle tells of all that a gift has as of the month of its last activity: it goes (-1) or comes (1). The gift
// itself counts where the oldest value that is left in it was sold.
func (g *folding) tellIdle(s *standing, at time.Time, sign int) {
	count := sign
	for n, lot := range s.lots {
		if lot.Amount == 0 || s.state == Out {
			continue
		}
		v := g.terms.value(n, lot.Amount)
		if sign < 0 {
			v = Value{}.Minus(v)
		}
		g.tell(Movement{At: at, State: s.state, Idle: true, Sold: lot.Sold, Month: s.active, Count: count,
			Value: v})
		count = 0
	}
}

func owed(s State, v Value) Value {
	if s.Owed() {
		return v
	}
	return Value{}
}

func bonusOwed(s State, l *Lot) money.Amount {
	if s.Owed() {
		return l.bonus()
	}
	return 0
}

// restock tells how the stock changed.
func (g *folding) restock(m Movement, was State, old Value, is State, now Value) {
	tell := func(s State, v Value) {
		if m.Line, m.State, m.Value = "", s, v; s != Out && !v.IsZero() {
			g.tell(m)
		}
	}
	if was == is {
		tell(is, now.Minus(old))
		return
	}
	tell(was, Value{}.Minus(old))
	tell(is, now)
}
