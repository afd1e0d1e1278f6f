package store

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/intake"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// history is a shop of which everything that the books count happens in any order, beside the jobs that sum it up.
type history struct {
	*shopkeeper
	r       *rand.Rand
	seed    uint64
	imports []*intake.Import // finished
	brought map[guid.ID][]guid.ID
	taken   []gift.Entry // redemptions and reloads that may be taken back
	back    map[guid.ID]money.Amount
	latest  time.Time // that an id told
	done    map[string]int
	log     []string
}

// testBooksFollowEntries: what moved in any time is what the entries of all gifts say, whatever happened in which
// order, however much of it is summed up.
func testBooksFollowEntries(t *testing.T, open opener) {
	s, _ := open(t)
	seeds, first := 2, uint64(1)
	if n, err := strconv.Atoi(os.Getenv("BOOKS_SEEDS")); err == nil { // some hundreds, after a change of the books
		seeds, first = n, rand.Uint64()
	}
	done := map[string]int{}
	for n := range seeds {
		zone := []string{"America/New_York", "Pacific/Auckland", "UTC"}[n%3]
		k := openBooks(t, s, zone)
		configure(t, s, merchant.Changes{Accounts: []*merchant.Account{k.account}})
		seed := first + uint64(n)
		h := &history{shopkeeper: k, r: rand.New(rand.NewPCG(seed, 7)), seed: seed, brought: map[guid.ID][]guid.ID{},
			back: map[guid.ID]money.Amount{}, done: done}
		s.Step = 1 + h.r.IntN(6)
		s.MostTotals = []int{0, 300, 100_000}[h.r.IntN(3)]
		h.live()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Log(done)
}

func (h *history) live() {
	h.t.Helper()
	h.issue(func(*gift.Gift) {})
	for n := range 150 {
		pass := 20 * time.Second // many entries in a short time, and now and then a night
		if n%25 == 0 {
			pass = 30 * time.Hour
		}
		h.now = h.now.Add(time.Duration(h.r.Int64N(int64(pass)))).Truncate(time.Microsecond)
		if h.ahead = max(0, h.latest.Sub(h.now)); h.r.IntN(8) == 0 { // ids never go back
			h.ahead += time.Duration(h.r.Int64N(int64(books.Skew-h.ahead) / 2))
		}
		h.latest = h.now.Add(h.ahead)
		what := h.act()
		h.log = append(h.log, fmt.Sprintf("%d %s %s", n, h.now.Format(time.RFC3339), what))
		h.done[what]++
		if h.r.IntN(3) == 0 {
			h.compare()
		}
		if h.t.Failed() {
			for _, l := range h.log[max(0, len(h.log)-40):] {
				h.t.Log(l)
			}
			return
		}
	}
	h.compare()
	must(h.t, h.s.CheckDays(h.t.Context(), h.account, 99, func(p string) { h.t.Error(p) }))
}

func (h *history) act() string {
	h.t.Helper()
	switch h.r.IntN(21) {
	case 20:
		return h.late()
	case 0:
		h.issue(func(g *gift.Gift) {
			if g.Card.Purchase.Price = money.Amount(h.r.IntN(3) * 4000); h.r.IntN(2) == 0 {
				g.Card.VATTreatment, g.Card.VATRate = merchant.SinglePurpose, "19"
			}
		})
		return "issue"
	case 1:
		h.issue(func(g *gift.Gift) {
			g.Promotional, g.ProgramID = true, merchant.PromotionalProgram.ID
			g.ValidUntil = h.now.Add(time.Duration(1+h.r.IntN(60)) * time.Hour).Truncate(time.Millisecond)
			g.GraceDays = h.r.IntN(3)
		})
		return "issue promotional"
	case 2:
		h.issue(func(g *gift.Gift) { g.Item, g.Funded, g.Balance, g.Card.EquivalentValue = true, 7, 7, 1000 })
		return "issue item"
	case 3:
		return h.bring()
	case 4:
		return h.undo()
	case 5, 6:
		return h.transfer()
	case 7:
		return h.close()
	case 8, 9:
		return h.sum()
	case 10:
		if h.s.ForgetOpenDays(); h.r.IntN(3) > 0 {
			return "nothing"
		}
		return "forget"
	case 11, 12:
		return h.takeBack()
	}
	return h.use()
}

// late issues a gift that is dated earlier, as by a transaction that takes long.
func (h *history) late() string {
	h.t.Helper()
	now := h.now
	defer func() { h.now = now }()
	day, ok, err := h.s.NextDay(h.t.Context(), h.account)
	must(h.t, err)
	if h.now = now.Add(-time.Duration(h.r.Int64N(int64(3 * time.Minute)))).Truncate(time.Microsecond); !ok ||
		h.now.Before(day.From) {
		return "nothing"
	}
	h.ahead = h.latest.Sub(h.now)
	h.issue(func(*gift.Gift) {})
	return "issue late"
}

// use has something happen to a gift.
func (h *history) use() (what string) {
	h.t.Helper()
	c, of := h.context(h.r.IntN(2)), h.r.IntN(len(h.gifts))
	h.do(of, func(v gift.Voucher) (after gift.Voucher, e gift.Entry, err error) {
		some := money.Amount(1 + h.r.Int64N(int64(max(1, v.Balance))))
		switch h.r.IntN(16) {
		case 0:
			what = "extend"
			after, e, err = v.Extend(gift.Extend{Context: c, Caller: h.caller,
				Until: v.End().Add(time.Duration(h.r.IntN(90)) * time.Hour)})
		case 1:
			what = "block"
			after, e, err = v.Block(gift.Block{Context: c, Caller: h.caller, ReasonCode: gift.ReasonLost})
		case 2, 8, 9:
			what = "unblock"
			after, e, err = v.Unblock(gift.Unblock{Context: c, Caller: h.caller})
		case 3:
			what = "reload"
			after, e, err = v.Reload(gift.ReloadRequest{Context: c, Amount: 500, Account: h.account, Price: "3.33"})
			h.note(e, err)
		case 4:
			what = "cancel"
			after, e, _, err = v.Cancel(gift.Cancel{Context: c, Caller: h.caller, To: gift.Cancelled})
		case 5:
			what = "reinstate"
			after, e, _, err = v.Reinstate(gift.Reinstate{Context: c, Caller: h.caller})
		case 6:
			what = "adjust"
			after, e, err = v.Adjust(gift.Adjust{Context: c, Caller: h.caller, Amount: some - v.Balance/2,
				ReasonCode: gift.ReasonMistake, Reason: "counted anew"})
		case 7:
			what = "replace"
			after, e, err = v.Replace(gift.Replace{Context: c, Caller: h.caller, Reason: "lost"})
		default:
			what = "redeem"
			after, e, err = v.Redeem(gift.Redeem{Context: c, LocationID: c.Actor.LocationID, Amount: some,
				Account: h.account})
			h.note(e, err)
		}
		if err != nil || e.Kind == "" {
			what += " refused"
		}
		return after, e, err
	})
	return what
}

func (h *history) note(e gift.Entry, err error) {
	if err == nil && e.Kind != "" {
		h.taken = append(h.taken, e)
	}
}

// takeBack takes a redemption or a reload back, whole or in part.
func (h *history) takeBack() (what string) {
	h.t.Helper()
	if len(h.taken) == 0 {
		return "nothing"
	}
	e := h.taken[h.r.IntN(len(h.taken))]
	of := -1
	for n, id := range h.gifts {
		if id == e.VoucherID {
			of = n
		}
	}
	if of < 0 {
		return "nothing"
	}
	t := gift.Undoable{Entry: e, Reversed: h.back[e.ID]}
	if h.back[e.ID] > 0 {
		t.Parts = 1
	}
	what = "take back"
	h.do(of, func(v gift.Voucher) (after gift.Voucher, made gift.Entry, err error) {
		c := h.context(1)
		if e.Kind == gift.Reload {
			after, made, err = v.ReverseReload(t, gift.Undo{Context: c, Caller: h.caller})
		} else {
			after, made, err = v.Reverse(t, gift.Reverse{Context: c, Caller: h.caller,
				Amount: money.Amount(h.r.Int64N(int64(max(1, t.Left()))))})
		}
		if err == nil {
			h.back[e.ID] += max(made.Delta, -made.Delta)
		} else {
			what += " refused"
		}
		return after, made, err
	})
	return what
}

func (h *history) transfer() (what string) {
	h.t.Helper()
	a, b := h.gifts[h.r.IntN(len(h.gifts))], h.gifts[h.r.IntN(len(h.gifts))]
	if a == b {
		return "nothing"
	}
	from, to := ledger.Ref{AccountID: h.account.ID, ID: a}, ledger.Ref{AccountID: h.account.ID, ID: b}
	c, in := h.context(0), h.context(0)
	what = "transfer refused"
	runGroup(h.t, h.s, ledger.Want{Vouchers: []ledger.Ref{from, to}}, func(st *ledger.State) (out ledger.Changes) {
		v, w := st.Vouchers[from], st.Vouchers[to]
		if v == nil || w == nil {
			return out
		}
		var some money.Amount
		if v.Balance > 1 && h.r.IntN(2) == 0 {
			some = 1 + money.Amount(h.r.Int64N(int64(v.Balance)))
		}
		left, into, entries, err := v.Transfer(*w, gift.Transfer{Context: c, EntryIn: in.EntryID, Amount: some,
			Caller: h.caller})
		if err == nil {
			what = "transfer"
			out = ledger.Changes{Vouchers: []gift.Voucher{left, into}, Entries: entries[:]}
		}
		return out
	})
	return what
}

// bring imports gifts as of an earlier instant.
func (h *history) bring() string {
	h.t.Helper()
	ago := 100 * time.Hour
	if h.r.IntN(2) == 0 {
		ago = 2 * time.Minute
	}
	m := beginImport(h.t.(*testing.T), h.s, h.account.ID,
		h.now.Add(-time.Second-time.Duration(h.r.Int64N(int64(ago)))).Truncate(time.Microsecond))
	gifts := stageGifts(h.t.(*testing.T), h.s, m, 1+h.r.IntN(3))
	if h.r.IntN(5) == 0 {
		must(h.t, h.s.UndoImport(h.t.Context(), m, event.TrailEntry{}, func(int) {}))
		return "undo staged"
	}
	must(h.t, h.s.FinishImport(h.t.Context(), m, event.TrailEntry{}))
	h.imports = append(h.imports, m)
	for n := range gifts {
		h.gifts = append(h.gifts, gifts[n].ID)
		h.brought[m.ID] = append(h.brought[m.ID], gifts[n].ID)
	}
	return "import"
}

func (h *history) undo() string {
	h.t.Helper()
	if len(h.imports) == 0 {
		return "nothing"
	}
	n := h.r.IntN(len(h.imports))
	m := h.imports[n]
	err := h.s.UndoImport(h.t.Context(), m, event.TrailEntry{}, func(int) {})
	if errors.Is(err, intake.ErrUsed) || errors.Is(err, intake.ErrNoUndo) {
		return "undo refused"
	}
	must(h.t, err)
	gone := map[guid.ID]bool{}
	for _, id := range h.brought[m.ID] {
		gone[id] = true
	}
	left := h.gifts[:0]
	for _, id := range h.gifts {
		if !gone[id] {
			left = append(left, id)
		}
	}
	h.gifts, h.imports = left, append(h.imports[:n], h.imports[n+1:]...)
	return "undo"
}

// close closes the next day, if it has ended, or one that is closed again.
func (h *history) close() string {
	h.t.Helper()
	if days, err := h.s.ClosedDays(h.t.Context(), h.account.ID); err == nil && len(days) > 0 && h.r.IntN(4) == 0 {
		must(h.t, h.s.CloseDayAgain(h.t.Context(), h.account, days[h.r.IntN(len(days))], h.now))
		return "close again"
	}
	day, ok, err := h.s.NextDay(h.t.Context(), h.account)
	must(h.t, err)
	if !ok || day.Until.Add(books.Skew).After(h.now) {
		return "nothing"
	}
	_, err = h.s.CloseDay(h.t.Context(), h.account, day, h.now)
	must(h.t, err)
	return "close"
}

// sum sums up some of the open day.
func (h *history) sum() string {
	h.t.Helper()
	position, err := h.s.Drawn(h.t.Context())
	must(h.t, err)
	for range 1 + h.r.IntN(5) {
		more, err := h.s.SumUp(h.t.Context(), h.account, h.now, position, time.Time{})
		must(h.t, err)
		if !more {
			return "sum up"
		}
	}
	return "sum up some"
}

// compare compares what is told of some time with the entries.
func (h *history) compare() {
	h.t.Helper()
	until := h.now.Add(time.Second)
	var from time.Time
	ago := []time.Duration{90 * time.Hour, time.Minute}[h.r.IntN(2)]
	switch h.r.IntN(5) {
	case 0:
		until = h.now.Add(-time.Duration(h.r.Int64N(int64(ago)))).Truncate(time.Microsecond)
	case 1:
		from = h.now.Add(-time.Duration(h.r.Int64N(int64(ago)))).Truncate(time.Microsecond)
	case 2:
		days, err := h.s.ClosedDays(h.t.Context(), h.account.ID)
		if must(h.t, err); len(days) > 0 {
			from = days[h.r.IntN(len(days))].Until
		}
	}
	want, got := h.folded(from, until), h.moved(from, until)
	if !maps.Equal(got, want) {
		h.t.Errorf("seed %d: from %v until %v", h.seed, from, until)
		for k, s := range want {
			if got[k] != s {
				h.t.Errorf("%v: %v are told, by the entries %v", k, got[k], s)
			}
		}
		for k, s := range got {
			if _, is := want[k]; !is {
				h.t.Errorf("%v: %v are told, by the entries nothing", k, s)
			}
		}
	}
	all := books.Sums{}
	byDay := []books.Cube{books.Places, books.Stock}[h.r.IntN(2)]
	for _, sums := range h.movedByDay(from, until, byDay) {
		all.AddAll(sums)
	}
	for k, s := range all {
		if want[k] != s {
			h.t.Errorf("by day: %v: %v are told, by the entries %v", k, s, want[k])
		}
	}
}

// folded is what all entries of all gifts say.
func (h *history) folded(from, until time.Time) books.Sums {
	h.t.Helper()
	read := func(id guid.ID) (books.Terms, []gift.Entry, error) {
		g, err := h.s.Gift(h.t.Context(), h.account.ID, id)
		if err != nil {
			return books.Terms{}, nil, err
		}
		entries, err := h.s.History(h.t.Context(), h.account.ID, id, 0, 1000)
		terms := books.Terms{ID: id, ProgramID: g.ProgramID, Promotional: g.Promotional, Item: g.Item, Currency: g.Currency,
			ValidUntil: g.ValidUntil, GraceDays: g.GraceDays,
			VAT: books.VAT{Treatment: g.Card.VATTreatment, Rate: g.Card.VATRate}}
		if g.Item {
			terms.Worth = gift.ItemWorth{Pieces: entries[0].Balance, Money: g.Card.EquivalentValue}
		}
		return terms, entries, err
	}
	f := &books.Folder{Read: read,
		Month: func(at time.Time) int { return books.DayOf(at, h.account.Zone).Number / 100 }}
	all := books.Sums{}
	for _, id := range h.gifts {
		terms, entries, err := read(id)
		must(h.t, err)
		must(h.t, f.Fold(&terms, entries, until, func(m books.Movement) {
			if !m.At.Before(from) && m.At.Before(until) {
				all.Move(&terms, &m)
			}
		}))
	}
	return all
}
