package ledger

import (
	"io"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
)

// Replace gives a gift another code and token, and sends them if it is told where.
type Replace struct {
	gift.Replace
	VoucherID guid.ID
	Deliver   *gift.Resend // nil: whoever asks has them
	Known     string       // see Resend

	secrets Secrets
}

func (r *Replace) draw(random io.Reader) error { return r.secrets.draw(random) }

// Check refuses a delivery of whatever gift.
func (r *Replace) Check(now time.Time) error {
	if r.Deliver == nil {
		return nil
	}
	return toDeliver(r.Deliver.Check(now))
}

func (r *Replace) want(c *Call, w *Want) {
	ref := Ref{c.AccountID, r.VoucherID}
	c.wantNew(w, r.secrets.Code)
	w.Vouchers = append(w.Vouchers, ref)
	w.Deliveries = append(w.Deliveries, ref)
	w.Resends, w.DeliveredBy = append(w.Resends, ref), append(w.DeliveredBy, ref)
	if r.Deliver != nil {
		c.wantSent(w, r.Deliver.Contacts(r.Known)...)
	}
}

func (r *Replace) affinity() guid.ID { return r.VoucherID }

func (r *Replace) decide(c *Call, s *state) (Result, error) {
	ref := Ref{c.AccountID, r.VoucherID}
	v, delivery := s.current(ref, r.Context), s.Deliveries[ref]
	if v == nil || delivery == nil {
		return Result{}, ofTheKey(gift.NoSuchGift())
	}
	ask := r.Replace
	ask.Context = s.context(r.Context, v.Last)
	ask.Sending = r.Deliver == nil && len(delivery.Jobs) > 0 && !delivery.waits()
	after, e, err := v.Replace(ask)
	if err != nil {
		return Result{}, ofTheKey(err)
	}
	if r.Deliver != nil && v.Blocked != "" {
		return Result{}, ofTheKey(gift.ErrBlockedDelivery)
	}
	result := Result{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}, Delivery: delivery.Delivery,
		Secrets: r.secrets}
	var again resending
	if r.Deliver != nil {
		if again, err = s.resending(c, after, *r.Deliver); err != nil {
			return Result{}, ofTheKey(toDeliver(err))
		}
		result.Vouchers[0], result.Entries = again.after, append(result.Entries, again.entry)
		result.Delivery = again.now
	}
	if s.leads(c, r.secrets.Code) {
		return Result{}, errCodeTaken
	}
	if r.Deliver != nil {
		if err := s.message(c, again.now); err != nil {
			return Result{}, err
		}
	}
	s.enter(after, e)
	s.rekey(ref, r.secrets, e.Seq)
	if r.Deliver != nil {
		s.enterResend(again)
	}
	return result, nil
}

// toDeliver has an error of a resend tell of the member deliver.
func toDeliver(err error) error {
	if refused, ok := err.(*refusal.Error); ok {
		return refused.In(refusal.FieldDeliver)
	}
	return err
}

func (r *Replace) locations(c *Call, s *state) []guid.ID {
	return locationOf(s, Ref{c.AccountID, r.VoucherID})
}
