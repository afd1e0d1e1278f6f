package ledger

import (
	"errors"
	"slices"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
)

// Cancel takes gifts out of use: all or none, or, with SkipNotAllowed, as many as can be.
type Cancel struct {
	gift.Cancel
	VoucherIDs     []guid.ID // each once
	SkipNotAllowed bool
	ReleaseHolds   bool // open holds are released first
}

func (k *Cancel) want(c *Call, want *Want) {
	all := refs(c, k.VoucherIDs)
	want.Vouchers = append(want.Vouchers, all...)
	if k.To == gift.PurchaseFailed {
		want.Transferred = append(want.Transferred, all...)
	}
}

func (*Cancel) affinity() guid.ID { return guid.ID{} }

func (k *Cancel) decide(c *Call, s *state) (Result, error) {
	r, err := s.each(c, k.VoucherIDs, k.SkipNotAllowed, func(ref Ref) (after gift.Voucher, entries []gift.Entry, _ error) {
		after = *s.current(ref, k.Context)
		if k.ReleaseHolds {
			after, entries = s.releaseAll(after, k.Context)
		}
		ask := k.Cancel
		ask.Context, ask.Transferred = s.context(k.Context, after.Last), s.Transferred[ref]
		after, e, changed, err := after.Cancel(ask)
		if err != nil || !changed {
			return *s.Vouchers[ref], nil, err
		}
		return after, append(entries, e), nil
	})
	if err != nil {
		return Result{}, err
	}
	for _, e := range r.Entries {
		ref := Ref{e.AccountID, e.VoucherID}
		s.Before[ref] = s.Vouchers[ref].Status
	}
	s.enterAll(r)
	return r, nil
}

func (k *Cancel) locations(c *Call, s *state) []guid.ID { return s.locationsOf(refs(c, k.VoucherIDs)) }

// Reinstate makes gifts what they were before they were taken out of use, all or none.
type Reinstate struct {
	gift.Reinstate
	VoucherIDs []guid.ID // each once
}

func (r *Reinstate) want(c *Call, want *Want) {
	all := refs(c, r.VoucherIDs)
	want.Vouchers = append(want.Vouchers, all...)
	want.Deliveries = append(want.Deliveries, all...)
	want.DeliveredBy, want.Resends = append(want.DeliveredBy, all...), append(want.Resends, all...)
	want.Cancelled = append(want.Cancelled, all...)
}

func (*Reinstate) affinity() guid.ID { return guid.ID{} }

func (r *Reinstate) decide(c *Call, s *state) (Result, error) {
	done, err := s.each(c, r.VoucherIDs, false, func(ref Ref) (gift.Voucher, []gift.Entry, error) {
		v, ask := s.Vouchers[ref], r.Reinstate
		ask.Context, ask.Before = s.context(r.Context, v.Last), s.Before[ref]
		if delivery := s.Deliveries[ref]; delivery != nil {
			ask.Sent = !delivery.DeliveredAt.IsZero()
		}
		after, e, changed, err := v.Reinstate(ask)
		if !changed {
			return after, nil, err
		}
		return after, []gift.Entry{e}, err
	})
	if err != nil {
		return Result{}, err
	}
	s.enterAll(done)
	for n := range done.Entries {
		s.sendAfterAll(&done.Entries[n])
	}
	return done, nil
}

// sendAfterAll makes the job anew of a message that was still to be sent when a gift was taken out of use, and was
// given up since: that of a gift that waited, or of its newest resend, unless it was accepted.
func (s *state) sendAfterAll(reinstated *gift.Entry) {
	ref, due := Ref{reinstated.AccountID, reinstated.VoucherID}, s.now
	delivery := s.Deliveries[ref]
	switch {
	case delivery == nil || len(delivery.Jobs) > 0:
		return
	case reinstated.Status == gift.Pending:
		due = delivery.SendAt(s.now)
	case !reinstated.Status.Receivable() || !s.overtaken(s.DeliveredBy[ref], ref):
		return
	}
	v := s.Vouchers[ref]
	if delivery.Attachment != "" && slices.ContainsFunc(s.changes.Jobs, func(j Job) bool {
		return j.Kind == OrderJob && j.OrderID == v.OrderID
	}) {
		return // one message brings all of them
	}
	if job := s.job(reinstated, v, &delivery.Delivery, due); job.Kind == GiftJob {
		delivery.Jobs = []Job{job}
	}
}

func (r *Reinstate) locations(c *Call, s *state) []guid.ID {
	return s.locationsOf(refs(c, r.VoucherIDs))
}

// each asks for a change of several vouchers: of all or none, or, when skipping, of those that allow it. A change
// without an entry is none. Nothing is entered yet.
func (s *state) each(c *Call, ids []guid.ID, skip bool, change func(Ref) (gift.Voucher, []gift.Entry, error)) (
	r Result, _ error) {
	var refused *refusal.Error
	r.At = s.now
	for _, ref := range refs(c, ids) {
		if s.Vouchers[ref] == nil {
			return Result{}, ofTheKey(gift.NoSuchGift())
		}
		after, entries, err := change(ref)
		var notAllowed *refusal.Error
		if skip && errors.Is(err, refusal.RedemptionNotAllowed) {
			errors.As(err, &notAllowed)
			err = nil
		}
		refused = refusal.Join(refused, err)
		r.Vouchers, r.Changed, r.NotAllowed = append(r.Vouchers, after), append(r.Changed, len(entries) > 0),
			append(r.NotAllowed, notAllowed)
		r.Entries = append(r.Entries, entries...)
	}
	if refused != nil {
		return Result{}, ofTheKey(refused)
	}
	return r, nil
}

// enterAll notes what each decided.
func (s *state) enterAll(r Result) {
	for _, v := range r.Vouchers {
		for ; len(r.Entries) > 0 && r.Entries[0].VoucherID == v.ID; r.Entries = r.Entries[1:] {
			s.enter(v, r.Entries[0])
		}
	}
}

func refs(c *Call, ids []guid.ID) []Ref {
	all := make([]Ref, len(ids))
	for n, id := range ids {
		all[n] = Ref{c.AccountID, id}
	}
	return all
}

// locationsOf are the only locations of gifts, as far as they have one.
func (s *state) locationsOf(all []Ref) (at []guid.ID) {
	for _, ref := range all {
		if v := s.Vouchers[ref]; v != nil {
			at = append(at, v.LocationID)
		}
	}
	return at
}
