package report

import (
	"cmp"
	"math/bits"
	"slices"

	"boon.example/internal/books"
	"boon.example/internal/guid"
	"boon.example/internal/money"
)

// Entity is who owes and is owed for the value of gifts.
type Entity struct {
	Company  string  // the legal entity of its locations; "": it is a location by itself, or the account
	Location guid.ID // zero: it is a company, or the account
}

// compare puts the account first, then locations, then companies.
func (e Entity) compare(o Entity) int {
	return cmp.Or(cmp.Compare(e.Company, o.Company), slices.Compare(e.Location[:], o.Location[:]))
}

// Debt is what one entity owes another one.
type Debt struct {
	From, To Entity
	Amount   money.Amount // above 0
}

// fewest is how many entities are settled with the fewest payments that there can be.
const fewest = 16

// Settlement tells where value was sold and where it was used, what the entities owe each other for that, and with
// which payments all of them are even. Whoever sold value has the guest's money, and owes it to whoever took the gift.
// entityOf gives whom a location belongs to; the zero location is what was sold online, or was taken at no location.
func Settlement(period books.Sums, entityOf func(guid.ID) Entity) Table {
	names := []string{"redeemed", "givenBack", "cashedOut", "cashGivenBack", "due"}
	matrix := newTally([]Group{bySeller, byTaker}, amounts(names...)...)
	owed := map[sort]map[[2]Entity]money.Amount{}
	for k, s := range period {
		number, ok := taken[books.Line(k.Line)]
		if k.Cube != books.Places || !ok {
			continue
		}
		where, less := at{bySeller: idText(k.Sold), byTaker: idText(k.Place)}, s
		less.Value = books.Value{}.Minus(s.Value)
		if number%2 == 0 {
			matrix.add(k, where, less, number)
		} else {
			matrix.add(k, where, s, number)
		}
		matrix.add(k, where, less, due)
		of := sort{k.Currency, k.Promotional}
		if owed[of] == nil {
			owed[of] = map[[2]Entity]money.Amount{}
		}
		owed[of][[2]Entity{entityOf(k.Sold), entityOf(k.Place)}] += less.Money
	}
	table := matrix.table()
	payments := func(all map[[2]Entity]money.Amount) []Debt { return Payments(Debts(all)) }
	table.Parts = []Part{{Name: "debts", Table: debtTable(owed, Debts)},
		{Name: "payments", Table: debtTable(owed, payments)}}
	return table
}

// taken are the lines of value that was taken, and of what was given back of it, with their numbers in the matrix.
var taken = map[books.Line]int{books.LineRedeemed: 0, books.LineGivenBack: 1, books.LineCashedOut: 2,
	books.LineCashGivenBack: 3}

const due = 4 // the number in the matrix

// sort is of which gifts debts are.
type sort struct {
	currency    money.Currency
	promotional bool
}

// debtTable has a row for each debt that is made of what was taken.
func debtTable(owed map[sort]map[[2]Entity]money.Amount, made func(map[[2]Entity]money.Amount) []Debt) Table {
	t := Table{Columns: []Column{{"currency", Text}, {"isPromoType", Flag}, {"fromLegalEntity", Text},
		{"fromOrganizationID", ID}, {"toLegalEntity", Text}, {"toOrganizationID", ID}, {"amount", Amount}}}
	sorts := make([]sort, 0, len(owed))
	for of := range owed {
		sorts = append(sorts, of)
	}
	slices.SortFunc(sorts, func(a, b sort) int {
		return cmp.Or(cmp.Compare(a.currency.Code, b.currency.Code), int(flag(a.promotional).N-flag(b.promotional).N))
	})
	for _, of := range sorts {
		for _, d := range made(owed[of]) {
			t.Rows = append(t.Rows, Row{of.currency, []Cell{{Text: of.currency.Code}, flag(of.promotional),
				{Text: d.From.Company}, {Text: idText(d.From.Location)}, {Text: d.To.Company},
				{Text: idText(d.To.Location)}, {N: int64(d.Amount)}}})
		}
	}
	return t
}

// Debts are what entities owe each other, each pair net, of what each owes another one. Nobody owes itself.
func Debts(owed map[[2]Entity]money.Amount) []Debt {
	pairs := map[[2]Entity]money.Amount{}
	for pair, amount := range owed {
		switch from, to := pair[0], pair[1]; {
		case from.compare(to) < 0:
			pairs[pair] += amount
		case from != to:
			pairs[[2]Entity{to, from}] -= amount
		}
	}
	var debts []Debt
	for pair, amount := range pairs {
		switch {
		case amount > 0:
			debts = append(debts, Debt{pair[0], pair[1], amount})
		case amount < 0:
			debts = append(debts, Debt{pair[1], pair[0], -amount})
		}
	}
	slices.SortFunc(debts, func(a, b Debt) int { return cmp.Or(a.From.compare(b.From), a.To.compare(b.To)) })
	return debts
}

// balance is what an entity is owed in all; below 0, it owes.
type balance struct {
	Entity
	amount money.Amount
}

// Payments settle debts: each entity pays what it owes in all, or is paid what it is owed in all. They are one fewer
// than the entities at most, and of up to 16 entities the fewest that there can be.
func Payments(debts []Debt) (payments []Debt) {
	sums := map[Entity]money.Amount{}
	for _, d := range debts {
		sums[d.From] -= d.Amount
		sums[d.To] += d.Amount
	}
	var all []balance
	for e, amount := range sums {
		if amount != 0 {
			all = append(all, balance{e, amount})
		}
	}
	slices.SortFunc(all, func(a, b balance) int { return a.compare(b.Entity) })
	for _, group := range even(all) {
		payments = append(payments, settled(group)...)
	}
	return payments
}

// even parts balances into as many groups as can be that are even within: each takes one payment fewer than it has
// members. There are too many ways to part a large number: they stay together.
func even(all []balance) (groups [][]balance) {
	if len(all) > fewest {
		return [][]balance{all}
	}
	// A set of balances is a number, a bit for each. Its balances are taken out one after the other, such that what is
	// left is even as often as can be: most is how often, the set itself included; last is which one is taken first.
	sets := 1 << len(all)
	most, last, sum := make([]int8, sets), make([]int8, sets), make([]money.Amount, sets)
	for set := 1; set < sets; set++ {
		first := bits.TrailingZeros(uint(set))
		sum[set] = sum[set&(set-1)] + all[first].amount
		most[set] = -1
		for left := set; left > 0; left &= left - 1 {
			n := bits.TrailingZeros(uint(left))
			if of := most[set&^(1<<n)]; of > most[set] {
				most[set], last[set] = of, int8(n)
			}
		}
		if sum[set] == 0 {
			most[set]++
		}
	}
	for set := sets - 1; set > 0; set &^= 1 << last[set] {
		if sum[set] == 0 {
			groups = append(groups, nil)
		}
		n := len(groups) - 1
		groups[n] = append(groups[n], all[last[set]])
	}
	return groups
}

// settled are the payments of balances that come to nothing: the one who owes most pays the one who is owed most, and
// so on.
func settled(group []balance) (payments []Debt) {
	slices.SortFunc(group, func(a, b balance) int {
		return cmp.Or(cmp.Compare(a.amount, b.amount), a.compare(b.Entity))
	})
	for from, to := 0, len(group)-1; from < to; {
		amount := min(-group[from].amount, group[to].amount)
		payments = append(payments, Debt{group[from].Entity, group[to].Entity, amount})
		if group[from].amount += amount; group[from].amount == 0 {
			from++
		}
		if group[to].amount -= amount; group[to].amount == 0 {
			to--
		}
	}
	return payments
}
