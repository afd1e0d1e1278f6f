package ledger

import (
	"cmp"
	"io"
	"time"

	"boon.example/internal/gift"
)

// Resend sends a gift again, or to another contact. Messages that were still to be sent are taken back.
type Resend struct {
	gift.Resend
	VoucherID gift.ID
	Known     string // the contact until now, so that the messages to it can be counted

	secrets Secrets // for a gift that gets another recipient
}

// draw makes new secrets, for a gift that gets another recipient. A code may be taken already; decide finds out.
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
	w.Vouchers = append(w.Vouchers, ref)
	w.Deliveries = append(w.Deliveries, ref)
	w.Resends = append(w.Resends, ref)
	c.wantSent(w, cmp.Or(r.Contact, r.Known))
}

func (r *Resend) affinity() gift.ID { return r.VoucherID }

func (r *Resend) decide(c *Call, s *state) (Result, error) {
	ref := Ref{c.AccountID, r.VoucherID}
	v, delivery := s.Vouchers[ref], s.Deliveries[ref]
	if v == nil || delivery == nil {
		return Result{}, ofTheKey(gift.NoSuchGift())
	}
	ask := r.Resend
	ask.Context, ask.Earlier = s.context(r.Context, v.Last), nil
	for _, e := range s.Resends[ref] {
		ask.Earlier = append(ask.Earlier, e.At)
	}
	before := delivery.Delivery
	after, now, e, sendAt, err := v.Resend(before, ask)
	redirected := !before.SameRecipient(now)
	if err == nil && redirected && s.Codes[r.secrets.Code] {
		return Result{}, errCodeTaken
	}
	if err == nil {
		message := gift.MessageCount(now.Method)
		err = s.send(c, message, map[string]gift.Count{now.Contact: message})
	}
	if err != nil {
		return Result{}, ofTheKey(err)
	}
	result := Result{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}, Delivery: now}
	if redirected {
		result.Secrets = r.secrets
		s.rekey(ref, r.secrets)
		// The notice to the former contact counts towards no limit: there is one for each redirection, which has counted, and
		// no limit may keep a merchant from taking a gift from the wrong recipient.
		if delivery.reached(v) {
			s.changes.Jobs = append(s.changes.Jobs, Job{ID: newID(), AccountID: ref.AccountID, VoucherID: ref.ID,
				Kind: RedirectedJob, Due: s.now, Method: before.Method, Contact: before.Contact})
		}
	}
	s.enter(after, e)
	s.changeDelivery(ref, now)
	s.resend(Resent{after.AccountID, after.ID, e.Seq, e.ID, e.At, before.Method, before.Contact}, sendAt)
	return result, nil
}

// reached reports whether a message has brought the gift: none is to be sent any more, and it did not fail.
func (d *Delivery) reached(v *gift.Voucher) bool {
	return d.Method != gift.Printed && len(d.Jobs) == 0 && (v.Status == gift.Delivered || v.Status == gift.Claimed)
}

// rekey gives a gift other secrets. Those before lead nowhere from then on.
func (s *state) rekey(r Ref, secrets Secrets) {
	s.Codes[secrets.Code] = true
	s.changes.Rekeyed = append(s.changes.Rekeyed, Rekeyed{r.AccountID, r.ID, secrets})
}

func (r *Resend) locations(c *Call, s *state) []gift.ID {
	return locationOf(s, Ref{c.AccountID, r.VoucherID})
}

// Reschedule gives a gift that waits for its delivery another date.
type Reschedule struct {
	gift.Reschedule
	VoucherID gift.ID
}

func (r *Reschedule) want(c *Call, w *Want) {
	ref := Ref{c.AccountID, r.VoucherID}
	w.Vouchers = append(w.Vouchers, ref)
	w.Deliveries = append(w.Deliveries, ref)
	w.Resends = append(w.Resends, ref)
}

func (r *Reschedule) affinity() gift.ID { return r.VoucherID }

func (r *Reschedule) decide(c *Call, s *state) (Result, error) {
	ref := Ref{c.AccountID, r.VoucherID}
	v, delivery := s.Vouchers[ref], s.Deliveries[ref]
	if v == nil || delivery == nil {
		return Result{}, ofTheKey(gift.NoSuchGift())
	}
	ask := r.Reschedule
	ask.Context, ask.Waiting = s.context(r.Context, v.Last), delivery.waits()
	after, now, e, err := v.Reschedule(delivery.Delivery, ask)
	if err != nil {
		return Result{}, ofTheKey(err)
	}
	s.enter(after, e)
	s.changeDelivery(ref, now)
	s.reschedule(&delivery.Jobs[0], now.SendAt(s.now))
	return Result{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}, Delivery: now}, nil
}

func (r *Reschedule) locations(c *Call, s *state) []gift.ID {
	return locationOf(s, Ref{c.AccountID, r.VoucherID})
}

// waits reports whether a message is to be sent and no worker has begun with it.
func (d *Delivery) waits() bool {
	return len(d.Jobs) == 1 && d.Jobs[0].Lease.IsZero() && d.Jobs[0].Doubts == 0
}

// changeDelivery notes how a gift is delivered from now on.
func (s *state) changeDelivery(r Ref, d gift.Delivery) {
	s.Deliveries[r].Delivery = d
	s.changes.DeliveryChanges = append(s.changes.DeliveryChanges, DeliveryChange{r.AccountID, r.ID, d})
}

// resend notes a resend: open jobs are taken back, and a job with the entry's id sends the gift at due; without due,
// it has arrived.
func (s *state) resend(r Resent, due time.Time) {
	ref := Ref{r.AccountID, r.VoucherID}
	s.Resends[ref] = append(s.Resends[ref], r)
	s.changes.Resends = append(s.changes.Resends, r)
	delivery := s.Deliveries[ref]
	for _, old := range delivery.Jobs {
		s.dropped(old)
	}
	job := Job{ID: r.ID, AccountID: r.AccountID, VoucherID: r.VoucherID, Due: due}
	if delivery.Jobs = nil; due.IsZero() {
		s.delivered(job)
		return
	}
	delivery.Jobs = []Job{job}
	s.changes.Jobs = append(s.changes.Jobs, job)
}

// reschedule gives a job that no worker has another time.
func (s *state) reschedule(j *Job, due time.Time) {
	j.Due, j.Attempts = due, 0
	s.changes.Rescheduled = append(s.changes.Rescheduled, *j)
}

// locationOf is the only location of a gift, if it has one.
func locationOf(s *state, r Ref) []gift.ID {
	if v := s.Vouchers[r]; v != nil {
		return []gift.ID{v.LocationID}
	}
	return nil
}
