package ledger

import (
	"io"
	"slices"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// Resend sends a gift again, or to another contact. Messages that were still to be sent are taken back.
type Resend struct {
	gift.Resend
	VoucherID guid.ID
	Known     string // the contact until now, so that the messages to it can be counted

	secrets Secrets // for a gift that gets another recipient
}

// draw makes new secrets, for a gift that gets another recipient. A code may be taken already; decide finds out.
func (r *Resend) draw(random io.Reader) error { return r.secrets.draw(random) }

func (n *Secrets) draw(random io.Reader) (err error) {
	if n.Code, err = codes.NewVoucherCode(random); err != nil {
		return err
	}
	n.Token, err = codes.NewToken(random)
	return err
}

func (r *Resend) want(c *Call, w *Want) {
	ref := Ref{c.AccountID, r.VoucherID}
	c.wantNew(w, r.secrets.Code)
	w.Vouchers = append(w.Vouchers, ref)
	w.Deliveries = append(w.Deliveries, ref)
	w.Resends, w.DeliveredBy = append(w.Resends, ref), append(w.DeliveredBy, ref)
	c.wantSent(w, r.Contacts(r.Known)...)
}

func (r *Resend) affinity() guid.ID { return r.VoucherID }

func (r *Resend) decide(c *Call, s *state) (Result, error) {
	ref := Ref{c.AccountID, r.VoucherID}
	v, delivery := s.Vouchers[ref], s.Deliveries[ref]
	if v == nil || delivery == nil {
		return Result{}, ofTheKey(gift.NoSuchGift())
	}
	again, err := s.resending(c, *v, r.Resend)
	redirected := !again.before.SameRecipient(again.now)
	if err == nil && redirected && (v.AsksVerification() || v.OnlyAtTills()) { // by a code that stays behind on the card
		card := Replace{Replace: gift.Replace{Context: r.Context, Caller: r.Caller, Reason: "It goes to somebody else."},
			VoucherID: r.VoucherID, Deliver: &r.Resend, secrets: r.secrets}
		return card.decide(c, s)
	}
	if err == nil && redirected && s.leads(c, r.secrets.Code) {
		return Result{}, errCodeTaken
	}
	if err == nil {
		err = s.message(c, again.now)
	}
	if err != nil {
		return Result{}, ofTheKey(err)
	}
	result := Result{Vouchers: []gift.Voucher{again.after}, Entries: []gift.Entry{again.entry}, Delivery: again.now}
	if redirected {
		result.Secrets = r.secrets
		s.rekey(ref, r.secrets, 0)
	}
	s.enterResend(again)
	return result, nil
}

// resending is a resend that is allowed.
type resending struct {
	before, now gift.Delivery
	reached     bool    // before it, by a message
	notice      guid.ID // of the job that tells so; older than the entry, it is never taken for one that brings the gift
	after       gift.Voucher
	entry       gift.Entry
	due         time.Time
}

// resending decides a resend of a voucher.
func (s *state) resending(c *Call, v gift.Voucher, ask gift.Resend) (r resending, err error) {
	ref := Ref{c.AccountID, v.ID}
	delivery := s.Deliveries[ref]
	r.notice = idAhead(s.ahead)
	ask.Context, ask.Earlier = s.context(ask.Context, v.Last), nil
	for _, e := range s.Resends[ref] {
		ask.Earlier = append(ask.Earlier, e.At)
	}
	r.before, r.reached = delivery.Delivery, s.reached(&v)
	r.after, r.now, r.entry, r.due, err = v.Resend(r.before, ask)
	return r, err
}

// message counts a message to where a gift goes, or refuses it.
func (s *state) message(c *Call, to gift.Delivery) error {
	message := merchant.MessageCount(to.Method)
	return s.send(c, message, map[string]merchant.Count{to.Contact: message})
}

// tellFormer notes a message to the contact that a gift went to before, if that got it and the gift goes elsewhere now.
// It counts towards no limit: there is one for each redirection, which has counted, and no limit may keep a merchant
// from taking a gift from the wrong recipient.
func (s *state) tellFormer(r resending) {
	if r.reached && !r.before.SameRecipient(r.now) {
		s.changes.Jobs = append(s.changes.Jobs, Job{ID: r.notice, AccountID: r.after.AccountID, VoucherID: r.after.ID,
			Kind: RedirectedJob, Due: s.now, Method: r.before.Method, Contact: r.before.Contact})
	}
}

func (s *state) enterResend(r resending) {
	ref := Ref{r.after.AccountID, r.after.ID}
	s.tellFormer(r)
	s.enter(r.after, r.entry)
	s.changeDelivery(ref, r.now)
	s.resend(Resent{ref.AccountID, ref.ID, r.entry.Seq, r.entry.ID, r.entry.At, r.before.Method, r.before.Contact}, r.due)
}

// reached reports whether a message has brought a gift to where it goes now, or may have: one was accepted and has not
// come back, whatever became of those after it, or somebody has begun to send one.
func (s *state) reached(v *gift.Voucher) bool {
	ref := Ref{v.AccountID, v.ID}
	delivery, by, since := s.Deliveries[ref], s.DeliveredBy[ref], s.redirected(ref)
	switch {
	case delivery.Method == contact.Printed:
		return false
	case slices.ContainsFunc(delivery.Jobs, func(j Job) bool { return !j.Lease.IsZero() || j.Doubts > 0 }),
		// The message of its order may be on its way.
		delivery.Attachment != "" && v.Status == gift.Pending && !delivery.SendAt(s.now).After(s.now):
		return true
	case by.IsZero() || slices.Compare(by[:], since[:]) < 0:
		return false
	}
	return v.Status != gift.FailedDelivery || s.overtaken(by, ref)
}

// redirected is the newest resend by which a gift came to go to where it goes now; zero: it has always gone there.
func (s *state) redirected(r Ref) guid.ID {
	for _, resent := range slices.Backward(s.Resends[r]) {
		before := gift.Delivery{Method: resent.Method, Contact: resent.Contact}
		if !before.SameRecipient(s.Deliveries[r].Delivery) {
			return resent.ID
		}
	}
	return guid.ID{}
}

// rekey gives a gift other secrets. Those before lead nowhere from then on, or are known to be of a card that the entry
// numbered replaced has replaced.
func (s *state) rekey(r Ref, secrets Secrets, replaced int) {
	s.Codes[secrets.Code] = true
	s.changes.Rekeyed = append(s.changes.Rekeyed, Rekeyed{r.AccountID, r.ID, secrets, replaced})
}

func (r *Resend) locations(c *Call, s *state) []guid.ID {
	return locationOf(s, Ref{c.AccountID, r.VoucherID})
}

// Reschedule gives a gift that waits for its delivery another date.
type Reschedule struct {
	gift.Reschedule
	VoucherID guid.ID
}

func (r *Reschedule) want(c *Call, w *Want) {
	ref := Ref{c.AccountID, r.VoucherID}
	w.Vouchers = append(w.Vouchers, ref)
	w.Deliveries = append(w.Deliveries, ref)
	w.Resends = append(w.Resends, ref)
}

func (r *Reschedule) affinity() guid.ID { return r.VoucherID }

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

func (r *Reschedule) locations(c *Call, s *state) []guid.ID {
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
	for _, old := range slices.Clone(delivery.Jobs) {
		s.dropped(old)
	}
	job := Job{ID: r.ID, AccountID: r.AccountID, VoucherID: r.VoucherID, Due: due}
	if due.IsZero() {
		s.delivered(job, job.VoucherID)
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
func locationOf(s *state, r Ref) []guid.ID {
	if v := s.Vouchers[r]; v != nil {
		return []guid.ID{v.LocationID}
	}
	return nil
}
