package ledger

import (
	"cmp"
	"io"
	"time"

	"boon.example/internal/gift"
)

// Resend sends a gift again, or elsewhere. What was to bring it until now is taken back.
type Resend struct {
	gift.Resend
	VoucherID gift.ID
	Known     string // where the gift goes until now, so that the messages to it can be counted

	secrets Secrets // for a gift that goes to somebody else
}

// draw gives new secrets, by which the gift is found if it goes to somebody else. A code may be taken already; decide finds out.
func (r *Resend) draw(random io.Reader) (err error) {
	if r.secrets.Code, err = gift.NewVoucherCode(random); err != nil {
		return err
	}
	r.secrets.Token, err = gift.NewToken(random)
	return err
}

func (r *Resend) want(c *Call, w *Want) {
	ref := Ref{c.AccountID, r.VoucherID}
	w.Codes = append(w.Codes, r.secrets.Code)
	w.Vouchers, w.Posts, w.Resends = append(w.Vouchers, ref), append(w.Posts, ref), append(w.Resends, ref)
	c.wantSent(w, cmp.Or(r.Contact, r.Known))
}

func (r *Resend) affinity() gift.ID { return r.VoucherID }

func (r *Resend) decide(c *Call, s *state) (Result, error) {
	ref := Ref{c.AccountID, r.VoucherID}
	v, post := s.Vouchers[ref], s.Posts[ref]
	if v == nil || post == nil {
		return Result{}, ofTheKey(gift.NoSuchGift())
	}
	ask := r.Resend
	ask.Context, ask.Earlier = s.context(r.Context, v.Last), nil
	for _, e := range s.Resends[ref] {
		ask.Earlier = append(ask.Earlier, e.At)
	}
	before := post.Way
	after, way, e, due, err := v.Resend(before, ask)
	if err == nil && before.Elsewhere(way) && s.Codes[r.secrets.Code] {
		return Result{}, errCodeTaken
	}
	if err == nil {
		message := gift.MessageCount(way.Method)
		err = s.send(c, message, map[string]gift.Count{way.Contact: message})
	}
	if err != nil {
		return Result{}, ofTheKey(err)
	}
	result := Result{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}, Way: way}
	if before.Elsewhere(way) {
		result.Secrets = r.secrets
		s.rekey(ref, r.secrets)
		if post.reached(v) {
			s.changes.Jobs = append(s.changes.Jobs, Job{ID: newID(), AccountID: ref.AccountID, VoucherID: ref.ID, Kind: RedirectedJob, Due: s.now,
				Method: before.Method, Contact: before.Contact})
		}
	}
	s.enter(after, e)
	s.redirect(ref, way)
	s.resend(Resent{after.AccountID, after.ID, e.Seq, e.ID, e.At, before.Method, before.Contact}, due)
	return result, nil
}

// reached reports whether a message brought the gift to where it goes now: nothing is on its way there any more, and it did not fail.
func (p *Post) reached(v *gift.Voucher) bool {
	return p.Way.Method != gift.Printed && len(p.Jobs) == 0 && (v.Status == gift.Delivered || v.Status == gift.Claimed)
}

// rekey gives a gift other secrets. Those before lead nowhere from then on.
func (s *state) rekey(r Ref, secrets Secrets) {
	s.Codes[secrets.Code] = true
	s.changes.Rekeyed = append(s.changes.Rekeyed, Rekeyed{r.AccountID, r.ID, secrets})
}

func (r *Resend) places(c *Call, s *state) []gift.ID {
	return placeOf(s, Ref{c.AccountID, r.VoucherID})
}

// Reschedule gives a gift that waits for its delivery another date.
type Reschedule struct {
	gift.Reschedule
	VoucherID gift.ID
}

func (r *Reschedule) want(c *Call, w *Want) {
	ref := Ref{c.AccountID, r.VoucherID}
	w.Vouchers, w.Posts, w.Resends = append(w.Vouchers, ref), append(w.Posts, ref), append(w.Resends, ref)
}

func (r *Reschedule) affinity() gift.ID { return r.VoucherID }

func (r *Reschedule) decide(c *Call, s *state) (Result, error) {
	ref := Ref{c.AccountID, r.VoucherID}
	v, post := s.Vouchers[ref], s.Posts[ref]
	if v == nil || post == nil {
		return Result{}, ofTheKey(gift.NoSuchGift())
	}
	ask := r.Reschedule
	ask.Context, ask.Waiting = s.context(r.Context, v.Last), post.waits()
	after, way, e, err := v.Reschedule(post.Way, ask)
	if err != nil {
		return Result{}, ofTheKey(err)
	}
	s.enter(after, e)
	s.redirect(ref, way)
	s.move(&post.Jobs[0], way.Due(s.now))
	return Result{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}, Way: way}, nil
}

func (r *Reschedule) places(c *Call, s *state) []gift.ID {
	return placeOf(s, Ref{c.AccountID, r.VoucherID})
}

// waits reports whether a message is to be sent and nobody has begun with it.
func (p *Post) waits() bool {
	return len(p.Jobs) == 1 && p.Jobs[0].Lease.IsZero() && p.Jobs[0].Doubts == 0
}

// redirect notes how a gift goes from now on.
func (s *state) redirect(r Ref, w gift.Way) {
	s.Posts[r].Way = w
	s.changes.Ways = append(s.changes.Ways, Redirected{r.AccountID, r.ID, w})
}

// resend notes a resend: what was to bring the gift is taken back, and a job of the entry's id brings it at due; without due, it has
// arrived.
func (s *state) resend(r Resent, due time.Time) {
	ref := Ref{r.AccountID, r.VoucherID}
	s.Resends[ref] = append(s.Resends[ref], r)
	s.changes.Resends = append(s.changes.Resends, r)
	post := s.Posts[ref]
	for _, old := range post.Jobs {
		s.dropped(old)
	}
	job := Job{ID: r.ID, AccountID: r.AccountID, VoucherID: r.VoucherID, Due: due}
	if post.Jobs = nil; due.IsZero() {
		s.delivered(job)
		return
	}
	post.Jobs = []Job{job}
	s.changes.Jobs = append(s.changes.Jobs, job)
}

// move gives a job that nobody has another time.
func (s *state) move(j *Job, due time.Time) {
	j.Due, j.Attempts = due, 0
	s.changes.Moved = append(s.changes.Moved, *j)
}

// placeOf is the only location of a gift, if it has one.
func placeOf(s *state, r Ref) []gift.ID {
	if v := s.Vouchers[r]; v != nil {
		return []gift.ID{v.LocationID}
	}
	return nil
}
