package books

import (
	"cmp"
	"slices"

	"boon.example/internal/guid"
	"boon.example/internal/money"
)

// Cube is one way in which movements are summed up. Each leaves out what the others have, so that none has many sums.
type Cube string

// The cubes.
const (
	Places Cube = "PLACES" // lines, by where the value was sold, the place of the entry and the VAT of the gift
	Months Cube = "MONTHS" // lines, by where and in which month the value was sold
	Keys   Cube = "KEYS"   // of what was redeemed, cashed out and given back: by the place of the entry and its key
	Stock  Cube = "STOCK"  // states, by where and in which month the value was sold
	Idle   Cube = "IDLE"   // states, by where the value was sold and the month of the last activity of the gift
)

// Cubes lists them.
func Cubes() []Cube { return []Cube{Places, Months, Keys, Stock, Idle} }

// Key says what a sum is of. What its cube leaves out is zero.
type Key struct {
	Cube        Cube
	Line        string // a Line or, of the stock, a State
	ProgramID   guid.ID
	Promotional bool
	Item        bool
	Currency    money.Currency
	Sold        guid.ID // zero: online
	Place       guid.ID // zero: none
	KeyID       guid.ID // zero: none
	Month       int     // as 202611
	VAT         VAT
}

// Compare orders keys.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Cube, o.Cube), cmp.Compare(k.Line, o.Line), compare(k.ProgramID, o.ProgramID),
		compareFlags(k.Promotional, o.Promotional), compareFlags(k.Item, o.Item),
		cmp.Compare(k.Currency.Code, o.Currency.Code), cmp.Compare(k.Currency.Decimals, o.Currency.Decimals),
		compare(k.Sold, o.Sold), compare(k.Place, o.Place), compare(k.KeyID, o.KeyID), cmp.Compare(k.Month, o.Month),
		cmp.Compare(k.VAT.Treatment, o.VAT.Treatment), cmp.Compare(k.VAT.Rate, o.VAT.Rate))
}

func compare(a, b guid.ID) int { return slices.Compare(a[:], b[:]) }

func compareFlags(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Sum is the sum of some movements, and of how many entries.
type Sum struct {
	Count int64
	Value
	Bonus money.Amount // in the cube PLACES: see Movement.Bonus
}

// IsZero reports whether there is nothing in the sum.
func (s Sum) IsZero() bool { return s == Sum{} }

// Plus adds two sums.
func (s Sum) Plus(o Sum) Sum { return Sum{s.Count + o.Count, s.Value.Plus(o.Value), s.Bonus + o.Bonus} }

// Minus is what takes the sum back.
func (s Sum) Minus() Sum { return Sum{-s.Count, Value{}.Minus(s.Value), -s.Bonus} }

// Sums are sums by their keys.
type Sums map[Key]Sum

// Add adds to the sum of a key. A sum that comes to nothing is none.
func (s Sums) Add(k Key, of Sum) {
	sum := s[k].Plus(of)
	if sum.IsZero() {
		delete(s, k)
		return
	}
	s[k] = sum
}

// AddAll adds other sums.
func (s Sums) AddAll(others Sums) {
	for k, of := range others {
		s.Add(k, of)
	}
}

// Sorted are the keys in order.
func (s Sums) Sorted() []Key {
	keys := make([]Key, 0, len(s))
	for k := range s {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, Key.Compare)
	return keys
}

// Move adds a movement of a gift to the sums of each cube that it belongs to.
func (s Sums) Move(t *Terms, m *Movement) { s.MoveIn(nil, t, m) }

// MoveIn is Move for some cubes; nil: all.
func (s Sums) MoveIn(asked []Cube, t *Terms, m *Movement) {
	k := Key{Line: string(m.Line), ProgramID: t.ProgramID, Promotional: t.Promotional, Item: t.Item, Currency: t.Currency}
	of := Sum{Count: int64(m.Count), Value: m.Value}
	add := func(k Key, of Sum) {
		if asked == nil || slices.Contains(asked, k.Cube) {
			s.Add(k, of)
		}
	}
	if m.Line == "" {
		k.Cube, k.Line, k.Sold, k.Month = Stock, string(m.State), m.Sold, m.Month
		if m.Idle {
			k.Cube = Idle
		}
		add(k, of)
		return
	}
	places, months, keys := k, k, k
	places.Cube, places.Sold, places.Place, places.VAT = Places, m.Sold, m.Place, t.VAT
	months.Cube, months.Sold, months.Month = Months, m.Sold, m.Month
	add(places, Sum{of.Count, of.Value, m.Bonus})
	add(months, of)
	switch m.Line {
	case LineRedeemed, LineCashedOut, LineGivenBack, LineCashGivenBack:
		keys.Cube, keys.Place, keys.KeyID = Keys, m.Place, m.Key
		add(keys, of)
	}
}
