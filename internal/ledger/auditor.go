package ledger

import (
	"context"
	"fmt"
	"sync"
	"time"

	"boon.example/internal/gift"
)

// Shelf is what an Auditor reads.
type Shelf interface {
	// VoucherPage gives the first vouchers, at most limit, at or after a place in the order of account and id, and their whole histories by
	// id, as of one moment; none of a history with more entries than longest.
	VoucherPage(ctx context.Context, from Ref, limit, longest int) ([]gift.Voucher, map[gift.ID][]gift.Entry, error)
}

// Auditor looks gifts over while the service runs, with the eyes of Verify: soon those that this process has just changed, and slowly all of
// them, again and again. It reads so few rows a second that nobody notices.
//
// What changes faster than it can look is left to the slow round, and very long histories are left to Verify. Every function must be there.
type Auditor struct {
	Shelf Shelf
	Pace  int                  // rows a second; 0: AuditPace
	Fault func(finding string) // told of everything that is wrong
	Seen  func(gifts int)      // told of gifts that were looked over
	Long  func(gifts int)      // told of gifts that were not, as their histories are too long
	Round func()               // told when all gifts were
	Away  func(err error)      // told of what kept it from reading; it tries again later
	Rest  time.Duration        // between two rounds; 0: AuditRest

	Longest int // entries that a history may have, to be looked at; 0: AuditLongest

	mu      sync.Mutex
	changed map[Ref]mark // to be looked over
}

// mark is what the history of a changed gift must hold.
type mark struct {
	seq  int
	last gift.ID // of the entry with that number
}

// What an Auditor does unless it is told otherwise.
const (
	// AuditPace is so slow that it costs two or three hundredths of a core while the service redeems all it can.
	AuditPace = 500
	AuditRest = time.Minute
	// AuditLongest takes some megabytes.
	AuditLongest = 10_000
)

const (
	auditPage    = 50
	auditChanged = 512 // gifts that may wait to be looked over
	auditPause   = 200 * time.Millisecond
	auditRetry   = 10 * time.Second
)

// Changed notes what was committed, to be looked over soon. It is quick, and safe for concurrent use.
func (a *Auditor) Changed(c Changes) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for n := range c.Vouchers {
		a.note(&c.Vouchers[n])
	}
	for n := range c.Gifts {
		a.note(&c.Gifts[n].Voucher)
	}
}

func (a *Auditor) note(v *gift.Voucher) {
	at := Ref{AccountID: v.AccountID, ID: v.ID}
	if known, waits := a.changed[at]; waits && known.seq > v.Seq || !waits && len(a.changed) >= auditChanged {
		return
	}
	if a.changed == nil {
		a.changed = map[Ref]mark{}
	}
	a.changed[at] = mark{v.Seq, v.Last}
}

// next takes one of the changed gifts.
func (a *Auditor) next() (at Ref, m mark, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for at, m = range a.changed {
		delete(a.changed, at)
		return at, m, true
	}
	return Ref{}, mark{}, false
}

// putBack is next undone, unless the gift has changed again.
func (a *Auditor) putBack(at Ref, m mark) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, newer := a.changed[at]; !newer {
		a.changed[at] = m
	}
}

// Run looks gifts over until ctx ends.
func (a *Auditor) Run(ctx context.Context) {
	if a.Pace == 0 {
		a.Pace = AuditPace
	}
	if a.Rest == 0 {
		a.Rest = AuditRest
	}
	if a.Longest == 0 {
		a.Longest = AuditLongest
	}
	var from Ref // of the slow round
	var begins time.Time
	for pause := auditPause; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		rows, err := a.lookAtChanged(ctx)
		if err == nil && !time.Now().Before(begins) {
			var more int
			if more, err = a.lookOn(ctx, &from); from == (Ref{}) && err == nil {
				begins = time.Now().Add(a.Rest)
				a.Round()
			}
			rows += more
		}
		pause = max(auditPause, time.Duration(rows)*time.Second/time.Duration(a.Pace))
		if err != nil && ctx.Err() == nil {
			a.Away(err)
			pause = auditRetry
		}
	}
}

// lookAtChanged looks over changed gifts, until they came to about a page.
func (a *Auditor) lookAtChanged(ctx context.Context) (rows int, err error) {
	for rows < auditPage {
		at, m, ok := a.next()
		if !ok {
			break
		}
		page, histories, err := a.Shelf.VoucherPage(ctx, at, 1, a.Longest)
		if err != nil {
			a.putBack(at, m)
			return rows, err
		}
		if a.missing(at, m, page, histories[at.ID]) {
			a.Fault(fmt.Sprintf("gift %s: entry %d (%s) was answered and is not there", at.ID, m.seq, m.last))
		}
		rows += a.look(page, histories)
	}
	return rows, nil
}

// lookOn looks over the next page, and sets from to where the one after it begins; to nothing at the end.
func (a *Auditor) lookOn(ctx context.Context, from *Ref) (rows int, err error) {
	page, histories, err := a.Shelf.VoucherPage(ctx, *from, auditPage, a.Longest)
	if err != nil {
		return 0, err
	}
	rows = a.look(page, histories)
	*from = Ref{}
	if len(page) > 0 {
		last := &page[len(page)-1]
		*from = Ref{AccountID: last.AccountID, ID: last.ID.Next()}
	}
	return rows, nil
}

func (a *Auditor) look(page []gift.Voucher, histories map[gift.ID][]gift.Entry) (rows int) {
	long := 0
	for _, v := range page {
		rows++
		if v.Seq > a.Longest {
			long++
			continue
		}
		examine(v, histories[v.ID], a.Fault)
		rows += len(histories[v.ID])
	}
	a.Seen(len(page) - long)
	a.Long(long)
	return rows
}

// missing tells whether an entry is not there. Of a long history only its length is known.
func (a *Auditor) missing(at Ref, m mark, page []gift.Voucher, history []gift.Entry) bool {
	if len(page) == 1 && page[0].ID == at.ID && page[0].Seq > a.Longest {
		return page[0].Seq < m.seq
	}
	return len(history) < m.seq || history[m.seq-1].ID != m.last
}
