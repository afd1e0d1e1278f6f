package ledger

import (
	"errors"
	"io"
	"slices"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
)

// ResendOrder sends a gift to its buyer again, with the others of its order in one message, or to another address of
// the buyer. Of the others, those that go by themselves now, and those that nobody should receive any more, are left
// out.
type ResendOrder struct {
	gift.Resend
	VoucherIDs []guid.ID // of the order, each once; the gift itself first
	Known      string    // the contact until now, so that the messages to it can be counted

	secrets []Secrets // for gifts that go to another address, in the order of VoucherIDs
}

// draw makes new secrets for the gifts. A code may be taken already; decide finds out.
func (r *ResendOrder) draw(random io.Reader) error {
	if r.Contact == "" {
		return nil // it goes where it went
	}
	r.secrets = make([]Secrets, len(r.VoucherIDs))
	for n := range r.secrets {
		if err := r.secrets[n].draw(random); err != nil {
			return err
		}
	}
	return nil
}

func (r *ResendOrder) want(c *Call, w *Want) {
	all := refs(c, r.VoucherIDs)
	for n := range r.secrets {
		c.wantNew(w, r.secrets[n].Code)
	}
	w.Vouchers, w.Deliveries = append(w.Vouchers, all...), append(w.Deliveries, all...)
	w.Resends, w.DeliveredBy = append(w.Resends, all...), append(w.DeliveredBy, all...)
	c.wantSent(w, r.Contacts(r.Known)...)
}

func (r *ResendOrder) affinity() guid.ID { return guid.ID{} }

func (r *ResendOrder) decide(c *Call, s *state) (Result, error) {
	together, err := r.together(c, s)
	if err != nil {
		return Result{}, ofTheKey(err)
	}
	first := together[0].resending
	redirected := !first.before.SameRecipient(first.now)
	for _, t := range together {
		if redirected && s.leads(c, r.secrets[t.place].Code) {
			return Result{}, errCodeTaken
		}
	}
	if err := s.message(c, first.now); err != nil {
		return Result{}, err
	}
	var result Result
	var newest *resending
	var due time.Time
	told := false
	for n := range together {
		t := &together[n].resending
		ref := Ref{t.after.AccountID, t.after.ID}
		if redirected {
			s.rekey(ref, r.secrets[together[n].place], 0)
		}
		if told {
			t.reached = false // one message tells whoever got them that they went elsewhere
		}
		told = told || t.reached
		s.enterResent(*t)
		if newest == nil || slices.Compare(newest.entry.ID[:], t.entry.ID[:]) < 0 {
			newest = t
		}
		if t.due.After(due) { // a schedule is not brought forward
			due = t.due
		}
		result.Vouchers, result.Entries = append(result.Vouchers, t.after), append(result.Entries, t.entry)
	}
	result.Delivery = first.now
	if redirected {
		result.Secrets = r.secrets[0]
	}
	s.job(&newest.entry, &newest.after, &newest.now, due)
	return result, nil
}

// oneOf is a gift of an order that is sent again, and its place among those that were asked for.
type oneOf struct {
	resending
	place int
}

// together decides for each gift whether it is sent again with the others: the first one is.
func (r *ResendOrder) together(c *Call, s *state) (all []oneOf, _ error) {
	for n, ref := range refs(c, r.VoucherIDs) {
		v, delivery := s.Vouchers[ref], s.Deliveries[ref]
		switch {
		case n == 0 && (v == nil || delivery == nil || !v.UsableBy(r.Caller)):
			return nil, gift.NoSuchGift()
		case n == 0 && delivery.Attachment == "":
			return nil, refusal.New(refusal.RedemptionNotAllowed,
				"Gift %s goes by itself: it does not go to its buyer with the others of its order.", v.ID)
		case v == nil || delivery == nil || delivery.Attachment == "" || !v.UsableBy(r.Caller):
			continue
		}
		ask := r.Resend
		ask.Method, ask.Together = contact.Email, true
		again, err := s.resending(c, *v, ask)
		switch {
		case n > 0 && (errors.Is(err, refusal.RedemptionNotAllowed) || errors.Is(err, refusal.AlreadyRedeemed)):
		case err != nil:
			return nil, err
		default:
			all = append(all, oneOf{again, n})
		}
	}
	return all, nil
}

// enterResent notes a gift that is sent again with others of its order: messages of its own are taken back.
func (s *state) enterResent(r resending) {
	ref := Ref{r.after.AccountID, r.after.ID}
	s.tellFormer(r)
	s.enter(r.after, r.entry)
	s.changeDelivery(ref, r.now)
	resent := Resent{ref.AccountID, ref.ID, r.entry.Seq, r.entry.ID, r.entry.At, r.before.Method, r.before.Contact}
	s.Resends[ref], s.changes.Resends = append(s.Resends[ref], resent), append(s.changes.Resends, resent)
	for _, old := range slices.Clone(s.Deliveries[ref].Jobs) {
		s.dropped(old)
	}
}

func (r *ResendOrder) locations(c *Call, s *state) []guid.ID {
	return s.locationsOf(refs(c, r.VoucherIDs))
}
