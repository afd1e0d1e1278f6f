package storm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"boon.example/internal/gift"
	"boon.example/test/rig"
)

// Report is what a check found.
type Report struct {
	Calls        int64 // answered
	Retries      int64 // repeats of calls that were not
	Refused      int64 // of them: answered 503
	Limited      int64 // answered that their keys have kept too many refusals today
	GivenUp      int64 // calls whose tills never learned what became of them, asked about in the end
	Moves        int   // acknowledged redemptions and reversals
	Lost         int   // of them: not there
	Doubled      int   // in the ledger, and acknowledged to no caller
	Replays      int   // old requests repeated in the end
	Gifts        int
	Done         Done // what succeeded
	Unexplained  int  // gifts whose history of calls no order explains
	Problems     []string
	Slowest      time.Duration // until a call was answered, or cut off
	Silence      time.Duration // the longest in which no call was answered
	LostAt       []time.Time   // when the lost ones were acknowledged
	CheckingTook time.Duration
}

// Sound tells whether everything holds.
func (r *Report) Sound() bool {
	return r.Lost == 0 && r.Doubled == 0 && r.Unexplained == 0 && len(r.Problems) == 0
}

func (r *Report) String() string {
	return fmt.Sprintf("%d calls answered, %d repeats (%d after 503), %d above their keys' limit, %d given up and "+
		"asked about; %d movements of %d gifts: lost %d, doubled %d, "+
		"not linearizable %d; %d old requests repeated; at most %.2f s until an answer and %.1f s without any; done: %s",
		r.Calls, r.Retries, r.Refused, r.Limited, r.GivenUp, r.Moves, r.Gifts, r.Lost, r.Doubled,
		r.Unexplained, r.Replays, r.Slowest.Seconds(), r.Silence.Seconds(), r.Done)
}

// Done is how many calls of each kind succeeded and did something.
type Done [kinds]int

func (d Done) String() string {
	var all []string
	for k, n := range d {
		if kind(k) != sell { // of which nothing is written down
			all = append(all, fmt.Sprintf("%d %s", n, words[k]))
		}
	}
	return strings.Join(all, ", ")
}

// enough is so many calls that every kind is among them, by far.
const enough = 20_000

// missing are the kinds of which none succeeded.
func (s *Storm) missing(d Done) (none []string) {
	for k, n := range d {
		if n == 0 && kind(k) != sell && !(kind(k) == payBack && s.Older) {
			none = append(none, words[k])
		}
	}
	return none
}

// Check holds what the service at url says against what the tills were told. No till may be busy.
func (s *Storm) Check(url string) *Report {
	begun := time.Now()
	r := &Report{Calls: s.calls.Load(), Retries: s.retries.Load(), Refused: s.refused.Load(), Limited: s.limited.Load(),
		GivenUp: s.givenUp.Load(), Gifts: len(s.gifts)}
	byGift := map[*voucher][]*op{}
	for _, o := range s.history {
		byGift[o.gift] = append(byGift[o.gift], o)
		if o.code == "OK" && (o.did || o.kind != cancel && o.kind != reinstate) {
			r.Done[o.kind]++
		}
	}
	if none := s.missing(r.Done); len(none) > 0 && r.Calls >= enough {
		s.problem("of %d calls, none was one of these that succeeded: %s", r.Calls, strings.Join(none, ", "))
	}
	r.Slowest, r.Silence = s.slowest, s.silence()
	r.Replays = s.repeatOld(url)
	var mu sync.Mutex
	var wg sync.WaitGroup
	next := make(chan *voucher)
	for range 4 {
		wg.Go(func() {
			for v := range next {
				found := s.checkGift(url, v, byGift[v])
				mu.Lock()
				r.add(found)
				mu.Unlock()
			}
		})
	}
	for _, v := range s.gifts {
		next <- v
	}
	close(next)
	wg.Wait()
	r.Problems = slices.Clone(s.problems)
	if s.more > 0 {
		r.Problems = append(r.Problems, fmt.Sprintf("and %d more", s.more))
	}
	r.CheckingTook = time.Since(begun)
	s.client.Close()
	return r
}

func (s *Storm) silence() (longest time.Duration) {
	var times []int64
	for _, o := range s.history {
		times = append(times, o.ended)
	}
	slices.Sort(times)
	for n := 1; n < len(times); n++ {
		longest = max(longest, time.Duration(times[n]-times[n-1]))
	}
	return longest
}

func (r *Report) add(found *Report) {
	r.Moves += found.Moves
	r.Lost += found.Lost
	r.Doubled += found.Doubled
	r.Unexplained += found.Unexplained
	r.LostAt = append(r.LostAt, found.LostAt...)
}

// repeatOld repeats a sample of all requests that were answered, from the first to the last.
func (s *Storm) repeatOld(url string) (n int) {
	t := &till{Storm: s, lot: rand.New(rand.NewPCG(s.Seed, 99))}
	every, next := max(1, len(s.history)/s.Replays), 0
	for i, o := range s.history {
		if i >= next && o.answer != nil {
			if !t.again(o) {
				return n // nor will the others be answered, and each would be waited for
			}
			n++
			next = i + every
		}
	}
	return n
}

// checkGift checks one gift: what is entered, what it is worth, and how it came to be.
func (s *Storm) checkGift(url string, v *voucher, ops []*op) *Report {
	r := &Report{}
	if err := s.learnOutcomes(url, v, ops); err != nil {
		s.problem("gift %s: %v", v.id, err)
	}
	ops = slices.DeleteFunc(ops, func(o *op) bool { return o.unknown })
	last := s.letGo(v)
	s.mu.Lock()
	s.history = append(s.history, last...) // for the check of the next instance
	s.mu.Unlock()
	ops = append(ops, last...)
	entered, err := s.entries(url, v)
	if errors.Is(err, rig.ErrNotThere) { // then all that was acknowledged of it is lost
		s.problem("gift %s is not there", v.id)
	} else if err != nil {
		s.problem("gift %s: %v", v.id, err)
		return r
	}
	want := v.start.balance
	for _, o := range ops {
		id := o.entered()
		if id == "" {
			continue
		}
		r.Moves++
		want += o.delta()
		if entered[id] == 0 {
			r.Lost++
			r.LostAt = append(r.LostAt, time.Unix(0, o.ended))
		}
		entered[id]--
	}
	for _, n := range entered {
		r.Doubled += max(0, n)
	}
	if balance, err := s.balance(url, v); err != nil || balance != want {
		s.problem("gift %s is worth %d, want %d by what was acknowledged; %v", v.id, balance, want, err)
	}
	if result := linearizable(v, ops); result != porcupine.Ok {
		r.Unexplained++
		s.problem("the %d calls on gift %s are not linearizable: %s; %s", len(ops), v.id, result, stuck(v, ops))
	}
	return r
}

// letGo looks at a gift, releases what is held of it, and looks again: it finds what is held for ever.
func (s *Storm) letGo(v *voucher) (ops []*op) {
	t := &till{Storm: s, lot: rand.New(rand.NewPCG(s.Seed, 98)), round: -1, n: len(s.gifts)}
	do := func(o *op) bool {
		t.write(o)
		o.key, o.begun = "", s.now()
		a := t.see(o, false)
		if o.ended = s.now(); a == nil {
			return false
		}
		if err := o.read(a); err != nil {
			s.problem("%s: %v", o.path, err)
			return false
		}
		ops = append(ops, o)
		return true
	}
	last := &op{kind: look, gift: v}
	if do(last); last.held == 0 {
		return ops
	}
	for _, h := range v.done[hold] {
		if !do(&op{kind: release, gift: v, of: h}) {
			return ops
		}
	}
	last = &op{kind: look, gift: v}
	if do(last) && last.held != 0 {
		s.problem("of gift %s, %d is held for ever", v.id, last.held)
	}
	return ops
}

// learnOutcomes asks what became of the calls that were given up. Before, the balance can only be said to lie within
// what they might have taken.
func (s *Storm) learnOutcomes(url string, v *voucher, ops []*op) error {
	known, most, all, unknown := v.start.balance, int64(0), v.start.balance, false
	for _, o := range ops {
		all += max(0, o.delta())
	}
	for _, o := range ops {
		switch {
		case o.unknown && o.amount == 0:
			unknown, most = true, most+all
		case o.unknown:
			unknown, most = true, most+o.amount
		default:
			known += o.delta()
		}
	}
	if !unknown {
		return nil
	}
	if balance, err := s.balance(url, v); err != nil || balance > known || balance < known-most {
		return fmt.Errorf("it is worth %d, want between %d and %d, %w", balance, known-most, known, err)
	}
	for _, o := range ops {
		if o.unknown {
			if err := s.resolve(url, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// resolve takes the outcome of a redemption from what the service says of its key. One that is not known there stays
// unknown: it never happened.
func (s *Storm) resolve(base string, o *op) error {
	a, err := s.client.Get(base+rig.Requests+url.PathEscape(o.key)+"?operation=redeem-gift", o.apiKey)
	if err != nil {
		return err
	}
	if a.Status == http.StatusNotFound {
		return nil
	}
	var said struct {
		Requests []struct {
			State  string
			Status int
			Answer json.RawMessage
		}
	}
	if err := json.Unmarshal(a.Body, &said); err != nil || len(said.Requests) != 1 ||
		said.Requests[0].State != "finished" {
		return fmt.Errorf("what became of %s: %d %s %w", o.key, a.Status, a.Body, err)
	}
	first := said.Requests[0]
	o.unknown, o.ended = false, s.now()
	return o.read(&rig.Answer{Status: first.Status, Body: first.Answer})
}

// entered is what entries counts for a call; "": nothing.
func (o *op) entered() string {
	switch {
	case o.wrong:
		return wrongEntered
	case o.code != "OK":
		return ""
	case (o.kind == cancel || o.kind == reinstate) && !o.did:
		return ""
	case slices.Contains(unnamed, o.kind):
		return string(operations[o.kind].entry)
	case operations[o.kind].entry != "":
		return o.id
	}
	return ""
}

// unnamed are those whose answers name no entry.
var unnamed = []kind{replace, extend, cancel, reinstate}

const wrongEntered = string(gift.WrongVerificationCode)

// entries counts what calls are acknowledged for in the history of a gift, by id, or by kind where the answer names
// none.
func (s *Storm) entries(url string, v *voucher) (map[string]int, error) {
	found := map[string]int{}
	for next := ""; ; {
		var page struct {
			Entries []struct {
				EntryID string
				Kind    gift.Kind
			}
			NextCursor string
		}
		if err := s.client.Read(url+rig.Gifts+v.id+"/history?limit=200"+next, v.shop.Keys[0], &page); err != nil {
			return found, err
		}
		for _, e := range page.Entries {
			switch {
			case e.Kind == gift.WrongVerificationCode,
				slices.ContainsFunc(unnamed, func(k kind) bool { return operations[k].entry == e.Kind }):
				found[string(e.Kind)]++
			case slices.ContainsFunc(operations[:], func(o opRow) bool { return o.entry == e.Kind }):
				found[e.EntryID]++
			}
		}
		if page.NextCursor == "" {
			return found, nil
		}
		next = "&cursor=" + page.NextCursor
	}
}

func (s *Storm) balance(url string, v *voucher) (int64, error) {
	var g struct{ CurrentBalance json.Number }
	if err := s.client.Read(url+rig.Gifts+v.id, v.shop.Keys[0], &g); err != nil {
		return 0, err
	}
	return v.counted(g.CurrentBalance)
}

// linearizable looks for an order of the calls that explains all answers.
func linearizable(v *voucher, ops []*op) porcupine.CheckResult {
	m, history := asHistory(v, ops)
	return porcupine.CheckOperationsTimeout(m, history, time.Minute)
}

// stuck tells where the best of all orders ends: the calls that began first of those that it cannot explain.
func stuck(v *voucher, ops []*op) string {
	m, history := asHistory(v, ops)
	_, info := porcupine.CheckOperationsVerbose(m, history, time.Minute)
	var best []int
	for _, order := range info.PartialLinearizations()[0] {
		if len(order) > len(best) {
			best = order
		}
	}
	left := slices.Clone(ops)
	for _, n := range best {
		left[n] = nil
	}
	left = slices.DeleteFunc(left, func(o *op) bool { return o == nil })
	slices.SortFunc(left, func(a, b *op) int { return cmp.Compare(a.begun, b.begun) })
	said := fmt.Sprintf("an order explains %d of them, and not, among others:", len(best))
	for _, o := range left[:min(len(left), 3)] {
		said += fmt.Sprintf(" [%s %s %s, begun %d and answered %d: %s, %d moved, %d left]", o.path, o.key, o.body, o.begun,
			o.ended, o.code, o.moved, o.balance)
	}
	return said
}

// asHistory puts the calls as porcupine wants them.
func asHistory(v *voucher, ops []*op) (porcupine.Model, []porcupine.Operation) {
	undone, holds := map[*op]int{}, map[*op]int{}
	var until []int64
	for _, o := range ops {
		for _, h := range []*op{o, o.of} {
			if _, known := holds[h]; h != nil && h.kind == hold && !known {
				holds[h] = len(holds)
				until = append(until, h.until)
			}
		}
		if _, known := undone[o.of]; !known && o.of != nil && o.of.kind != hold {
			undone[o.of] = len(undone)
		}
	}
	slot := func(o *op) int {
		if n, known := holds[o]; known {
			return n
		}
		if n, known := undone[o]; known {
			return n
		}
		return -1
	}
	history := make([]porcupine.Operation, len(ops))
	for i, o := range ops {
		history[i] = porcupine.Operation{Input: asked{o, slot(o), slot(o.of), until}, Call: o.begun, Return: o.ended}
	}
	return model(v.start, len(undone), len(holds)), history
}
