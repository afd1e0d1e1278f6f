package sums

import (
	"context"
	"slices"
	"sync"

	"boon.example/internal/books"
	"boon.example/internal/guid"
)

// closedMonths are the months of the closed days of an account, in memory. Whoever closes many days one after the other
// needs them for each day, and would else read all days before it each time: an account with an import of long ago has
// ten thousands of them. So a day is read once.
//
// They stay true while flips stays the same: days are only added then. Only an import that appears or disappears opens
// days again.
type closedMonths struct {
	flips  int64 // of imports, before they were read
	newest int   // the number of the newest day in them
	months books.Days
}

// knownMonths are the months that are known, by account.
type knownMonths struct {
	mu  sync.Mutex
	all map[guid.ID]closedMonths
}

// mostKnown is of how many accounts months are known: an account of ten years takes 7 kB.
const mostKnown = 1_000

// of gives what is known of an account; nothing where an import appeared or disappeared since.
func (k *knownMonths) of(account guid.ID, flips int64) closedMonths {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c := k.all[account]; c.flips == flips {
		return c
	}
	return closedMonths{flips: flips}
}

func (k *knownMonths) keep(account guid.ID, c closedMonths) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil || len(k.all) >= mostKnown {
		k.all = map[guid.ID]closedMonths{} // those of others are read once more
	}
	k.all[account] = c
}

func (k *knownMonths) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = nil
}

// closedMonths gives the months of the closed days of an account, and reads only the days that are not in them yet.
func (b *Books) closedMonths(ctx context.Context, account guid.ID, flips int64) (books.Days, error) {
	c := b.months.of(account, flips)
	later, err := b.daysAfter(ctx, account, c.newest)
	if err != nil || len(later) == 0 {
		return c.months, err
	}
	c.newest = later[len(later)-1].Number
	c.months = append(slices.Clip(c.months), later...).Months() // others read what was known
	b.months.keep(account, c)
	return c.months, nil
}
