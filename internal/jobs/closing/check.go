package closing

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"boon.example/internal/jobs"
	"boon.example/internal/merchant"
)

// CheckEvery is the time between two rounds in which closed days are checked.
const CheckEvery = 6 * time.Hour

// checked is how many of the newest closed days of an account are checked.
const checked = 3

// Checks is what checks closed days.
type Checks interface {
	// CheckDays works out the newest closed days of an account again, so many, and tells found of those that differ.
	CheckDays(ctx context.Context, account *merchant.Account, newest int, found func(problem string)) error
}

// Checker works out the newest closed days of all accounts again. No entry should follow into a closed day; if a clock
// was wrong by more than After all the same, the next round fails and names the day. It repairs nothing: somebody looks
// first, and then uses boon books close-again.
type Checker struct {
	Checks
	Directory func() *merchant.Directory
}

// Batches makes the batches of the job.
func (c *Checker) Batches() func(context.Context) (done int, more bool, err error) {
	return jobs.Each(func(context.Context) ([]*merchant.Account, error) {
		return slices.Collect(maps.Values(c.Directory().Accounts)), nil
	}, func(ctx context.Context, account *merchant.Account) (int, bool, error) {
		var problems []error
		err := c.CheckDays(ctx, account, checked, func(problem string) { problems = append(problems, errors.New(problem)) })
		return 1, false, errors.Join(append(problems, err)...)
	})
}
