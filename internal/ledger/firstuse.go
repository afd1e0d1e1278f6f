package ledger

import (
	"io"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// FirstUse has cards that are taken at tills only be replaced when they are used first, in the transaction of the use.
// Nothing is drawn before such a card is met: then the command is decided once more.
type FirstUse struct {
	// Deliverable refuses a method for which there are no means; nil: there are none.
	Deliverable func(contact.Method) error

	met   []guid.ID // the cards to be replaced
	drawn map[guid.ID]Secrets
}

// NewCard is what a card that was used first at a till was replaced by.
type NewCard struct {
	VoucherID guid.ID
	Secrets   Secrets
	Sent      bool // a message tells the recipient
}

// draw draws codes and tokens for the cards that were met.
func (f *FirstUse) draw(random io.Reader) error {
	if len(f.met) == 0 {
		return nil
	}
	f.drawn = make(map[guid.ID]Secrets, len(f.met))
	for _, id := range f.met {
		var s Secrets
		if err := s.draw(random); err != nil {
			return err
		}
		f.drawn[id] = s
	}
	return nil
}

// wantNew wants what is needed to replace the cards that were met.
func (f *FirstUse) wantNew(c *Call, w *Want) {
	for _, id := range f.met {
		ref := Ref{c.AccountID, id}
		c.wantNew(w, f.drawn[id].Code)
		w.Deliveries, w.Resends, w.DeliveredBy = append(w.Deliveries, ref), append(w.Resends, ref), append(w.DeliveredBy, ref)
	}
	if len(f.met) > 0 {
		c.wantSent(w)
	}
}

// ready asks for codes to be drawn where a voucher, as it is after its use, gets a new card and has none yet. It comes
// before anything is entered.
func (f *FirstUse) ready(c *Call, s *state, used []gift.Voucher) error {
	var met []guid.ID
	ready := true
	for n := range used {
		if v := &used[n]; v.UsedFirstAtTill() {
			met = append(met, v.ID)
			secrets, is := f.drawn[v.ID]
			ready = ready && is && !s.leads(c, secrets.Code)
		}
	}
	if ready {
		return nil
	}
	f.met = met
	return errCodeTaken
}

// replace replaces the card of a voucher that was used just now, if it was taken at tills only. A message brings the
// new code to where the gift goes, as long as nothing speaks against that.
func (f *FirstUse) replace(c *Call, s *state, used gift.Voucher, at gift.Context) (gift.Voucher, *NewCard) {
	if !used.UsedFirstAtTill() {
		return used, nil
	}
	ref, card := Ref{used.AccountID, used.ID}, NewCard{VoucherID: used.ID, Secrets: f.drawn[used.ID]}
	after, e := used.ReplaceUsed(s.context(at, used.Last))
	s.enter(after, e)
	s.rekey(ref, card.Secrets, e.Seq)
	if again, ok := f.sending(c, s, after, at); ok {
		s.enterResend(again)
		after, card.Sent = again.after, true
	}
	return after, &card
}

// sending decides on the message that brings the new code. It counts as all messages of a day do, and not among those
// to one contact: there is one for each card.
func (f *FirstUse) sending(c *Call, s *state, v gift.Voucher, at gift.Context) (again resending, ok bool) {
	delivery := s.Deliveries[Ref{v.AccountID, v.ID}]
	if delivery == nil || delivery.Contact == "" || f.Deliverable == nil || f.Deliverable(delivery.Method) != nil {
		return again, false
	}
	again, err := s.resending(c, v, gift.Resend{Context: at, Caller: c.Caller})
	if err != nil || s.send(c, merchant.MessageCount(again.now.Method), nil) != nil {
		return again, false
	}
	return again, true
}
