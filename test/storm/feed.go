package storm

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"boon.example/test/rig"
)

// Feed is followers of the events of both accounts, two of each. A follower goes from instance to instance with its
// cursor, also while they are killed, and now and then asks again with the cursor before.
type Feed struct {
	ended     atomic.Bool // nothing happens any more
	followers []*follower
	running   sync.WaitGroup
}

// follower is one of them.
type follower struct {
	account  rig.Account
	urls     []string
	client   *rig.Client
	lot      *rand.Rand
	order    []string // ids of events
	steps    map[string]map[string]int
	told     atomic.Int64 // events
	broken   int          // calls without an answer
	repeated int          // pages that were asked for again
	problems []string
}

// page is one of the feed.
type page struct {
	Events []struct {
		ID, Type string
		Sequence *int
		Data     struct {
			Gift  *struct{ VoucherID string }
			Entry *struct{ EntryID string }
		}
	}
	NextCursor string
}

// Follow begins to follow at the instances at urls.
func Follow(seed uint64, urls ...string) *Feed {
	f := &Feed{}
	for n, account := range slices.Concat(rig.Accounts(), rig.Accounts()) {
		one := &follower{account: account, urls: urls, client: rig.NewClient(1, 30*time.Second),
			lot: rand.New(rand.NewPCG(seed, uint64(n))), steps: map[string]map[string]int{}}
		f.followers = append(f.followers, one)
		f.running.Go(func() { one.follow(&f.ended) })
	}
	return f
}

// follow reads page after page until all has ended and nothing new came for a while.
func (f *follower) follow(ended *atomic.Bool) {
	const quiet = 8 // pages without an event, each after a second
	cursor, before, first := "", "", ""
	for empty := 0; empty < quiet && len(f.problems) < 10; {
		p, ok := f.ask(cursor)
		if !ok {
			continue
		}
		if len(p.Events) > 0 && first != "" && f.lot.IntN(8) == 0 {
			if again, ok := f.ask(before); ok {
				f.repeated++
				if len(again.Events) == 0 || again.Events[0].ID != first {
					f.problem("the cursor before gives another page: %d events, want %s first", len(again.Events), first)
				}
			}
		}
		for i := range p.Events {
			f.take(&p, i)
		}
		if empty++; len(p.Events) > 0 || !ended.Load() {
			empty = 0
		}
		if len(p.Events) > 0 {
			before, first = cursor, p.Events[0].ID
		}
		cursor = p.NextCursor
	}
	f.client.Close()
}

// ask asks the next instance; ok: it answered.
func (f *follower) ask(cursor string) (p page, ok bool) {
	url := fmt.Sprintf("%s/api/integration/events?limit=%d&wait=1", f.urls[f.lot.IntN(len(f.urls))], 1+f.lot.IntN(100))
	if cursor != "" {
		url += "&after=" + cursor
	}
	a, err := f.client.Get(url, f.account.Keys[0])
	if err != nil || a.Status == http.StatusServiceUnavailable {
		f.broken++
		time.Sleep(20 * time.Millisecond)
		return p, false
	}
	if err = json.Unmarshal(a.Body, &p); err != nil || a.Status != http.StatusOK {
		f.problem("the feed answered %d %s", a.Status, a.Body)
		return p, false
	}
	return p, true
}

// take notes an event of a page.
func (f *follower) take(p *page, i int) {
	e := &p.Events[i]
	f.order = append(f.order, e.ID)
	f.told.Add(1)
	noEntry := []string{"gift.expiring", "gift.expired", "gift.probed"}
	if !strings.HasPrefix(e.Type, "gift.") || slices.Contains(noEntry, e.Type) {
		return // they are no entries
	}
	if e.Data.Entry == nil || e.Data.Gift == nil || e.Sequence == nil {
		f.problem("event %s, %s, is of no entry", e.ID, e.Type)
		return
	}
	steps := f.steps[e.Data.Gift.VoucherID]
	if steps == nil {
		steps = map[string]int{}
		f.steps[e.Data.Gift.VoucherID] = steps
	}
	if _, twice := steps[e.Data.Entry.EntryID]; twice {
		f.problem("event %s came twice", e.ID)
	}
	if steps[e.Data.Entry.EntryID] = *e.Sequence; *e.Sequence != len(steps) {
		f.problem("event %d of gift %s came as number %d", *e.Sequence, e.Data.Gift.VoucherID, len(steps))
	}
}

func (f *follower) problem(format string, args ...any) {
	f.problems = append(f.problems, fmt.Sprintf("events of %s: ", f.account.ID)+fmt.Sprintf(format, args...))
}

// Followed is what followers came to.
type Followed struct {
	Events   int64 // of both accounts
	Broken   int   // calls of the followers without an answer
	Repeated int   // pages that they asked for again
	Missed   int   // entries of which a follower was not told
	Problems []string
}

func (f *Followed) String() string {
	return fmt.Sprintf("%d events followed from instance to instance with %d calls broken and %d pages asked for again: "+
		"missed %d, other findings %d", f.Events, f.Broken, f.Repeated, f.Missed, len(f.Problems))
}

// Check ends the followers once they have come to the end, and holds what they were told against the histories of all
// gifts, as the instance at url has them.
func (f *Feed) Check(url string) *Followed {
	f.ended.Store(true)
	f.running.Wait()
	r := &Followed{}
	half := len(f.followers) / 2
	for n, one := range f.followers {
		r.Broken, r.Repeated = r.Broken+one.broken, r.Repeated+one.repeated
		r.Problems = append(r.Problems, one.problems...)
		if n >= half {
			if !slices.Equal(one.order, f.followers[n-half].order) {
				r.Problems = append(r.Problems, "two followers of "+one.account.ID+" were told in another order")
			}
			continue
		}
		r.Events += one.told.Load()
	}
	for _, one := range f.followers[:half] {
		entries, err := one.histories(url)
		if err != nil {
			r.Problems = append(r.Problems, err.Error())
		}
		for gift, ids := range entries {
			for _, id := range ids {
				if _, told := one.steps[gift][id]; !told {
					r.Missed++
				}
			}
		}
		one.client.Close()
	}
	return r
}

// histories are the ids of all entries of the account, by gift.
func (f *follower) histories(url string) (map[string][]string, error) {
	all := map[string][]string{}
	for next := ""; ; {
		var list struct {
			Gifts      []struct{ VoucherID string }
			NextCursor string
		}
		err := f.client.Read(url+strings.TrimSuffix(rig.Gifts, "/")+"?limit=200"+next, f.account.Keys[0], &list)
		if err != nil {
			return all, err
		}
		for _, g := range list.Gifts {
			entries, err := f.history(url, g.VoucherID)
			if err != nil {
				return all, err
			}
			all[g.VoucherID] = entries
		}
		if list.NextCursor == "" {
			return all, nil
		}
		next = "&cursor=" + list.NextCursor
	}
}

func (f *follower) history(url, id string) (all []string, _ error) {
	for next := ""; ; {
		var page struct {
			Entries    []struct{ EntryID string }
			NextCursor string
		}
		if err := f.client.Read(url+rig.Gifts+id+"/history?limit=200"+next, f.account.Keys[0], &page); err != nil {
			return all, err
		}
		for _, e := range page.Entries {
			all = append(all, e.EntryID)
		}
		if page.NextCursor == "" {
			return all, nil
		}
		next = "&cursor=" + page.NextCursor
	}
}
