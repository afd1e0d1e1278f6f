package reports

import (
	"errors"
	"slices"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/books"
	"boon.example/internal/books/report"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// What a report takes until it is answered: about so many bytes for each sum that it is made of, and for each row.
const (
	sumMemory = 400
	rowMemory = 1_500
)

// MaxRows is how many rows a report has at most, and maxSums how many sums it is made of. Both together are less than
// the memory that one account finds in a service without other large requests.
const (
	MaxRows = 8_000
	maxSums = 32_000
)

// atOnce is how many sums memory is taken for at a time.
const atOnce = 100

// behindRetry is how long a caller waits whose account has days that are still being closed.
const behindRetry = 30 * time.Second

// moved sums up what moved from an instant on and before another one; from the zero time, since the first entry. see
// reports whether the key may see a sum, and takes out of the sum's key what the report does not tell apart: so a
// report takes as much memory as its rows do, however many programs, currencies and locations there are.
func (c *Call) moved(from, until time.Time, see func(*books.Key) bool, cubes ...books.Cube) (books.Sums, error) {
	sums := books.Sums{}
	taken := 0
	err := c.eachMoved(&books.Asked{Account: c.Account, From: from, Until: until, Cubes: cubes}, see,
		func(_ int, k books.Key, s books.Sum) error {
			sums.Add(k, s)
			if len(sums) > maxSums {
				return tooLarge()
			}
			return c.takeSums(&taken, len(sums))
		})
	return sums, err
}

// movedByDay is moved for each day, by its number, of at most so many sums together: tooMany is what is said of more.
func (c *Call) movedByDay(from, until time.Time, most int, tooMany func() error, see func(*books.Key) bool,
	cubes ...books.Cube) (map[int]books.Sums, error) {
	days := map[int]books.Sums{}
	taken, all := 0, 0
	err := c.eachMoved(&books.Asked{Account: c.Account, From: from, Until: until, Cubes: cubes, ByDay: true}, see,
		func(day int, k books.Key, s books.Sum) error {
			if days[day] == nil {
				days[day] = books.Sums{}
			}
			before := len(days[day])
			days[day].Add(k, s)
			if all += len(days[day]) - before; all > most {
				return tooMany()
			}
			return c.takeSums(&taken, all)
		})
	return days, err
}

// takeSums takes memory for n sums; taken is for how many there is.
func (c *Call) takeSums(taken *int, n int) error {
	if n <= *taken {
		return nil
	}
	*taken += atOnce
	return c.TakeMemory(atOnce * sumMemory)
}

// takeRows takes memory for the rows of a report.
func (c *Call) takeRows(table *report.Table) error {
	if table.Size() > MaxRows {
		return tooLarge()
	}
	return c.TakeMemory(table.Size() * rowMemory)
}

func tooLarge() error {
	return refusal.New(refusal.ValidationFailure, "This is too much for one answer, which has at most %d rows. Ask for a "+
		"shorter time, or for fewer groups.", MaxRows)
}

func (c *Call) eachMoved(a *books.Asked, see func(*books.Key) bool,
	tell func(day int, k books.Key, s books.Sum) error) error {
	err := c.EachMoved(c.Context(), a, func(day int, k books.Key, s books.Sum) error {
		if !see(&k) {
			return nil
		}
		return tell(day, k, s)
	})
	if behind, ok := errors.AsType[*books.Behind](err); ok {
		return c.behind(behind)
	}
	return service.Stored(err)
}

// behind tells a caller that days are still being closed.
func (c *Call) behind(b *books.Behind) error {
	then := phrase.New("This report can be made once they are.")
	if b.Closed > 0 {
		then = phrase.New("Ask for a time up to the end of %s, or repeat the request in a while.",
			report.DayText(b.Closed))
	}
	e := refusal.New(refusal.Unavailable, "The books of this account are still being closed, day by day. %s", then)
	e.RetryAfter = behindRetry
	return e
}

// sees reports whether the key may see what is of a location. A key that is limited to locations may not see what is of
// none.
func (c *Call) sees(location guid.ID) bool {
	return len(c.Caller.Locations) == 0 || slices.Contains(c.Caller.Locations, location)
}

func (a *asked) by(g report.Group) bool { return slices.Contains(a.groups, g) }

// fold takes out of a key what rows are not apart by. It is always true.
func (a *asked) fold(k *books.Key) bool {
	if !a.by(report.ByProgram) {
		k.ProgramID = guid.ID{}
	}
	if !a.by(report.ByOrganization) {
		k.Sold, k.Place = guid.ID{}, guid.ID{}
	}
	if !a.by(report.ByMonth) {
		k.Month = 0
	}
	k.VAT = books.VAT{}
	if !a.by(report.ByKey) {
		k.KeyID = guid.ID{}
	}
	return true
}
