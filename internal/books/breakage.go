package books

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/money"
)

// Booked is what a person booked as breakage of gifts of a program in a currency, for a month.
type Booked struct {
	Month     int // as 202611
	ProgramID guid.ID
	Currency  money.Currency
	Rate      int64        // at which it was estimated, in hundredths of a percent
	Amount    money.Amount // what was added to the breakage of earlier months; below zero: taken back
	At        time.Time
	KeyID     guid.ID
}

// Estimated is of what breakage is estimated.
type Estimated struct {
	ProgramID guid.ID
	Currency  money.Currency
}

// Book says what is to be booked, so that all that was booked comes to an estimate. Nothing is booked where that is so
// already.
func Book(earlier []Booked, estimates map[Estimated]money.Amount, like Booked) (all []Booked) {
	missing := map[Estimated]money.Amount{}
	for of, amount := range estimates {
		missing[of] += amount
	}
	for _, b := range earlier {
		missing[Estimated{b.ProgramID, b.Currency}] -= b.Amount
	}
	for of, amount := range missing {
		if amount != 0 {
			b := like
			b.ProgramID, b.Currency, b.Amount = of.ProgramID, of.Currency, amount
			all = append(all, b)
		}
	}
	slices.SortFunc(all, Booked.Compare)
	return all
}

// Compare orders what was booked: by month, then by program and currency.
func (b Booked) Compare(o Booked) int {
	return cmp.Or(cmp.Compare(b.Month, o.Month), compare(b.ProgramID, o.ProgramID),
		cmp.Compare(b.Currency.Code, o.Currency.Code))
}

// Together reports whether both were booked at once, in one sentence of the log.
func (b *Booked) Together(o *Booked) bool {
	return b.Month == o.Month && b.Rate == o.Rate && b.At.Equal(o.At) && b.KeyID == o.KeyID
}

// BookedWords begins what the log of the set-up says of breakage.
const BookedWords = "booked breakage of "

// SayBooked tells all that was booked together for a month of an account. It has every figure, so that what was booked
// can be held against the log.
func SayBooked(account guid.ID, all []Booked) string {
	var parts []string
	for _, b := range all {
		parts = append(parts, fmt.Sprintf("%s %s of program %s", b.Currency.Format(b.Amount), b.Currency.Code, b.ProgramID))
	}
	first := all[0]
	return fmt.Sprintf("%s%d-%02d in account %s at %s with key %s, at a rate of %d.%02d percent: %s", BookedWords,
		first.Month/100, first.Month%100, account, first.At.UTC().Format(time.RFC3339Nano), first.KeyID, first.Rate/100,
		first.Rate%100, strings.Join(parts, ", "))
}
