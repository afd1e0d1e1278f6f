// Package journal makes the entries that a bookkeeper brings into an accounting program, and writes them as that
// program reads them. Pure.
package journal

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/books"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// LineBreakage is a line that no entry of a gift is on: a person books what will probably never be redeemed.
const LineBreakage books.Line = "BREAKAGE"

// account is what an account of the merchant's ledger is for, as the set-up calls it.
type account string

// The accounts, which merchant.LedgerAccounts explain.
const (
	liability account = "liability"
	promotion account = "promotion"
	clearing  account = "clearing"
	cash      account = "cash"
	breakage  account = "breakage"
)

// of gives the name that the merchant's ledger has for an account; "": the set-up names none.
func (a account) of(l merchant.LedgerAccounts) string {
	switch a {
	case liability:
		return l.Liability
	case promotion:
		return l.Promotion
	case clearing:
		return l.Clearing
	case cash:
		return l.Cash
	case breakage:
		return l.Breakage
	}
	return ""
}

// Row is a sum of one day: how much more is owed for gifts, for one reason.
type Row struct {
	Day         time.Time // of the account, as midnight in UTC
	Line        books.Line
	Promotional bool
	Currency    money.Currency // Pieces: the row has no amount of money, and no entry
	Amount      money.Amount   // below zero: so much less is owed
	Bonus       money.Amount   // of the amount: what nobody paid for
	Count       int64          // how many times
	Program     string
	Sold        string // where the value was sold
	Place       string // of what happened; "": none, as where value expires
	VAT         merchant.VATTreatment
	Rate        money.Number // of VAT in percent, of SinglePurpose
}

// Entry is what a ledger books for one day, line and currency. It balances, as each of its postings does.
type Entry struct {
	Number   string // the same whenever the journal is made again; at most 21 characters, no two entries share it
	Day      time.Time
	Line     books.Line
	Currency money.Currency
	Postings []Posting
}

// Posting moves an amount above zero from one account to another.
type Posting struct {
	Debit, Credit string
	Amount        money.Amount
	Count         int64
	Undone        bool // it takes back what the line does: a reversed sale, a reinstated gift
	Promotional   bool
	Bonus         bool // of gifts that were paid for in part: the rest, which the merchant gives
	Program       string
	Sold, Place   string
	VAT           merchant.VATTreatment
	Rate          money.Number
}

// rule is how the ledger takes a line.
type rule struct {
	line     books.Line
	code     string  // in the numbers of entries, at most 10 characters
	against  account // the other side of the liability, or of the promotion; "": there is no entry
	increase bool    // the line lets what is owed grow; what undoes it lets it shrink
	promo    bool    // promotional gifts have entries for it, too
	optional bool    // without its account there is no entry
}

// rules has a row for every line, in the order of the entries of a day. Where a gift was paid for, one side is always
// the liability. Where it was paid for in part, the promotion stands against the rest. A promotional gift is never
// owed: it costs when it is redeemed. A transfer leaves every account as it is: it moves value between gifts of the
// same program, of which both are owed or neither.
var rules = []rule{
	{line: books.LineIssued, code: "ISSUED", against: clearing, increase: true},
	{line: books.LineActivated, code: "ACTIVATED", against: clearing, increase: true},
	{line: books.LineReloaded, code: "RELOADED", against: clearing, increase: true},
	{line: books.LineImported, code: "IMPORTED", against: clearing, increase: true},
	{line: books.LineTransferred},
	{line: books.LineAdjustedUp, code: "ADJ-UP", against: clearing, increase: true},
	{line: books.LineAdjustedDown, code: "ADJ-DOWN", against: clearing},
	{line: books.LineRedeemed, code: "REDEEMED", against: clearing, promo: true},
	{line: books.LineGivenBack, code: "GIVEN-BACK", against: clearing, increase: true, promo: true},
	{line: books.LineCashedOut, code: "CASH-OUT", against: cash, promo: true},
	{line: books.LineCashGivenBack, code: "CASH-BACK", against: cash, increase: true, promo: true},
	{line: books.LineCancelled, code: "CANCELLED", against: clearing},
	{line: books.LineExpired, code: "EXPIRED", against: breakage, optional: true},
	{line: LineBreakage, code: "BREAKAGE", against: breakage},
}

// position gives where the rule of a line stands; -1: it has none.
func position(line books.Line) int {
	return slices.IndexFunc(rules, func(r rule) bool { return r.line == line })
}

// Entries makes the journal of rows, ordered by day, line and currency. Accounts that are needed and have no name are
// refused, with the way to name them. A line that has no rule is an error.
func Entries(rows []Row, accounts merchant.LedgerAccounts) ([]Entry, error) {
	b := book{accounts: accounts, entries: map[entryKey]*Entry{}, at: map[postingKey]int{}}
	for n := range rows {
		if err := b.add(&rows[n]); err != nil {
			return nil, err
		}
	}
	if err := b.missing(); err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(b.entries))
	for _, e := range b.entries {
		slices.SortFunc(e.Postings, comparePostings)
		entries = append(entries, *e)
	}
	slices.SortFunc(entries, func(x, y Entry) int {
		return cmp.Or(x.Day.Compare(y.Day), cmp.Compare(position(x.Line), position(y.Line)),
			strings.Compare(x.Currency.Code, y.Currency.Code))
	})
	return entries, nil
}

// book is a journal while it is made.
type book struct {
	accounts merchant.LedgerAccounts
	unnamed  []account
	entries  map[entryKey]*Entry
	at       map[postingKey]int // where a posting stands in its entry
}

type entryKey struct {
	day      string
	line     books.Line
	currency string
}

type postingKey struct {
	entryKey
	Posting // without its sums
}

func (b *book) add(row *Row) error {
	at := position(row.Line)
	if at < 0 {
		return fmt.Errorf("the line %q has no rule in the journal", row.Line)
	}
	r := &rules[at]
	switch {
	case row.Amount <= math.MinInt64/2, row.Amount >= math.MaxInt64/2, row.Bonus <= math.MinInt64/2,
		row.Bonus >= math.MaxInt64/2:
		return fmt.Errorf("a sum of the line %s of %s is too large", row.Line, row.Day.Format(time.DateOnly))
	case r.against == "", row.Amount == 0 && row.Bonus == 0, row.Currency == money.Pieces, row.Promotional && !r.promo,
		r.optional && r.against.of(b.accounts) == "":
		return nil
	}
	p := Posting{Promotional: row.Promotional, Program: row.Program, Sold: row.Sold, Place: row.Place, VAT: row.VAT,
		Rate: row.Rate}
	own := liability
	if row.Promotional {
		own = promotion
	}
	count := row.Count
	if paid := row.Amount - row.Bonus; paid != 0 {
		if err := b.post(r, row, p, [2]account{r.against, own}, paid, count); err != nil {
			return err
		}
		count = 0 // once
	}
	if row.Bonus == 0 {
		return nil
	}
	p.Bonus, p.VAT, p.Rate = true, "", "" // VAT is due on what was paid
	return b.post(r, row, p, [2]account{promotion, own}, row.Bonus, count)
}

// name gives the name of an account, and notes if it has none.
func (b *book) name(a account) string {
	name := a.of(b.accounts)
	if name == "" && !slices.Contains(b.unnamed, a) {
		b.unnamed = append(b.unnamed, a)
	}
	return name
}

// post adds a posting to the entry of its row, or its sums to a posting that is like it. It debits the first of two
// accounts and credits the second; an amount below zero, the other way round.
func (b *book) post(r *rule, row *Row, p Posting, accounts [2]account, amount money.Amount, count int64) error {
	p.Undone = (amount > 0) != r.increase
	p.Debit, p.Credit, p.Amount = b.name(accounts[0]), b.name(accounts[1]), amount
	if amount < 0 {
		p.Debit, p.Credit, p.Amount = p.Credit, p.Debit, -amount
	}
	key := entryKey{row.Day.Format(time.DateOnly), row.Line, row.Currency.Code}
	e := b.entries[key]
	if e == nil {
		e = &Entry{Number: number(r, row), Day: row.Day, Line: row.Line, Currency: row.Currency}
		b.entries[key] = e
	}
	same := postingKey{key, p}
	same.Amount = 0
	p.Count = count
	at, known := b.at[same]
	if !known {
		b.at[same] = len(e.Postings)
		e.Postings = append(e.Postings, p)
		return nil
	}
	sum := &e.Postings[at]
	if sum.Amount > math.MaxInt64-p.Amount {
		return fmt.Errorf("the sums of the entry %s are too large", e.Number)
	}
	sum.Amount += p.Amount
	sum.Count += p.Count
	return nil
}

// number names an entry by its day, line and currency, in what every program takes: QuickBooks has 21 characters,
// DATEV letters, digits and the dash.
func number(r *rule, row *Row) string {
	return row.Day.Format("060102") + "-" + r.code + "-" + row.Currency.Code
}

func comparePostings(x, y Posting) int {
	return cmp.Or(strings.Compare(x.Program, y.Program), strings.Compare(x.Place, y.Place),
		strings.Compare(x.Sold, y.Sold), strings.Compare(x.Debit, y.Debit), strings.Compare(x.Credit, y.Credit),
		compareBools(x.Promotional, y.Promotional), compareBools(x.Bonus, y.Bonus),
		compareBools(x.Undone, y.Undone),
		strings.Compare(string(x.VAT), string(y.VAT)), strings.Compare(string(x.Rate), string(y.Rate)))
}

func compareBools(x, y bool) int {
	switch {
	case x == y:
		return 0
	case y:
		return -1
	}
	return 1
}

// what is what the account is for.
func (a account) what() phrase.Text {
	switch a {
	case promotion:
		return "the cost of promotions"
	case clearing:
		return "between Boon and the till"
	case cash:
		return "cash"
	case breakage:
		return "income from gifts never used"
	}
	return "what is owed to guests"
}

// missing names every account that is needed and has no name; nil: there is none.
func (b *book) missing() error {
	if len(b.unnamed) == 0 {
		return nil
	}
	return unnamed(b.unnamed, refusal.MessageAt("books.accounts",
		"The journal needs accounts of your ledger that the set-up does not name. An owner writes the number or name of "+
			"each in the console, in Set-up, Books. In a set-up file, they are in books: {accounts: {…}} of this account."))
}

// ForBreakage refuses to book breakage where the set-up does not name the accounts for it.
func ForBreakage(l merchant.LedgerAccounts) error {
	var none []account
	for _, a := range []account{breakage, liability} {
		if a.of(l) == "" {
			none = append(none, a)
		}
	}
	if len(none) == 0 {
		return nil
	}
	return unnamed(none, refusal.MessageAt("books.accounts",
		"Breakage is booked from one account of your ledger to another, and the set-up does not name both. An owner writes "+
			"the number or name of each in the console, in Set-up, Books. In a set-up file, they are in "+
			"books: {accounts: {…}} of this account."))
}

// unnamed says of accounts that have no name what each is for, behind what they are needed for.
func unnamed(none []account, needed refusal.Message) error {
	e := &refusal.Error{Code: refusal.AccountMisconfigured, Messages: []refusal.Message{needed}}
	for _, a := range slices.Sorted(slices.Values(none)) {
		e.Messages = append(e.Messages, refusal.MessageAt("books.accounts."+string(a), a.what()))
	}
	return e
}
