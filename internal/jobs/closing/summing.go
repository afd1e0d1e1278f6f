package closing

import (
	"context"
	"iter"
	"maps"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/jobs"
	"boon.example/internal/merchant"
)

// SumEvery is the time between two rounds of the job that sums up open days.
const SumEvery = 500 * time.Millisecond

// OpenDays are the days that are not closed. Their sums are in the memory of the process.
type OpenDays interface {
	Positions
	// SumUp sums up some more of the day that is open, of what is dated well before an instant at which a position was
	// noted. Where the clock was set back, wrong is what it had said.
	SumUp(ctx context.Context, account *merchant.Account, noted time.Time, position int64, wrong time.Time) (more bool,
		err error)
	// ForgetOpenDays forgets what SumUp has summed up.
	ForgetOpenDays()
	// AskedLately are the accounts whose open day somebody asked about lately.
	AskedLately() []guid.ID
}

// Summer sums up the days that are open, so that a report reads only the entries of the last second: each minute those
// of all accounts, and in each round those that somebody asks about. Who reads reports of a busy account one after the
// other would else have the entries of the same minute worked out again for each, beside the tills.
//
// Where the clock was set back, entries are dated in the past again, and their ids go on from where they were. What was
// summed up is forgotten then, and ids are read up to what the clock had said.
type Summer struct {
	OpenDays
	Directory func() *merchant.Directory
	Now       func() time.Time // nil: the machine's clock

	noted note // of the last round whose transactions were not over
	clock wallClock
	all   time.Time // when all accounts had their turn
}

// open is an account with what is committed of its events, and when that was noted, by its clock.
type open struct {
	account  *merchant.Account
	noted    time.Time
	position int64
	wrong    time.Time // zero: the clock was never set back
}

// Batches makes the batches of the job.
func (s *Summer) Batches() func(context.Context) (done int, more bool, err error) {
	if s.Now == nil {
		s.Now = time.Now
	}
	return jobs.Each(s.begin, func(ctx context.Context, o open) (int, bool, error) {
		more, err := s.SumUp(ctx, o.account, o.noted, o.position, o.wrong)
		return 0, more, err
	})
}

// begin begins a round, and gives the accounts whose turn it is. As in Closer.begin, it looks at the clock first.
func (s *Summer) begin(ctx context.Context) (all []open, err error) {
	now := s.Now().Round(0)
	if s.clock.look(now) {
		s.ForgetOpenDays()
		s.noted, s.all = note{}, time.Time{}
		return nil, nil // entries that are dated before what was noted until now may follow
	}
	whole := now.Sub(s.all) >= Every
	accounts := s.turn(whole)
	if len(accounts) == 0 {
		return nil, nil
	}
	n, ok, err := s.committed(ctx, now, maps.Values(accounts))
	if err != nil || !ok {
		return nil, err
	}
	if whole {
		s.all = now
	}
	for id, account := range accounts {
		ahead, known := n.ahead[id]
		if !known && account.Test {
			continue
		}
		o := open{account: account, noted: n.at.Add(ahead), position: n.position}
		if !s.clock.wrong.IsZero() {
			o.wrong = s.clock.wrong.Add(ahead)
		}
		all = append(all, o)
	}
	return all, nil
}

// turn are all accounts, or those that somebody asks about.
func (s *Summer) turn(whole bool) map[guid.ID]*merchant.Account {
	all := s.Directory().Accounts
	if whole {
		return all
	}
	asked := map[guid.ID]*merchant.Account{}
	for _, id := range s.AskedLately() {
		if account := all[id]; account != nil {
			asked[id] = account
		}
	}
	return asked
}

// committed is a note whose transactions are over: that of now, or else the one that an earlier round took. ok is false
// where there is none.
func (s *Summer) committed(ctx context.Context, now time.Time, accounts iter.Seq[*merchant.Account]) (n note, ok bool,
	err error) {
	n, err = takeNote(ctx, s.OpenDays, now, accounts)
	if err != nil {
		return note{}, false, err
	}
	if over, err := s.Committed(ctx, n.position); err != nil || over {
		s.noted = note{}
		return n, over, err
	}
	before := s.noted
	if before.at.IsZero() {
		s.noted = n
		return note{}, false, nil
	}
	if over, err := s.Committed(ctx, before.position); err != nil || !over {
		return note{}, false, err
	}
	s.noted = n
	return before, true, nil
}
