package ledger

import (
	"boon.example/internal/base/phrase"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// Change changes one voucher of the calling account by one entry, as a rule says.
type Change struct {
	gift.Context
	VoucherID guid.ID
	// Rule is a method of gift.Voucher with what was asked for, purely. An entry without a kind is none: then
	// nothing changed.
	Rule func(gift.Voucher, gift.Context) (gift.Voucher, gift.Entry, error)
	// Counts says against which limit of the day its money counts: merchant.SentCount, as issued;
	// merchant.RedeemedCount; 0: none.
	Counts merchant.CountKind
	pieces
	// Sends says that a message of the gift that waits goes out now.
	Sends bool
	// Notes says that a record is kept and nothing moves, no oftener than what it is about allows: it counts against no
	// limit of the day.
	Notes bool
}

func (k *Change) want(c *Call, w *Want) {
	w.Vouchers = append(w.Vouchers, Ref{c.AccountID, k.VoucherID})
	switch k.Counts {
	case merchant.SentCount:
		c.wantSent(w)
	case merchant.RedeemedCount:
		c.wantRedeemed(w)
	}
	if k.Sends {
		w.Deliveries = append(w.Deliveries, Ref{c.AccountID, k.VoucherID})
	}
}

func (k *Change) weigh(worth func(guid.ID) (gift.ItemWorth, error)) error {
	if k.Counts == 0 {
		return nil
	}
	return k.weighOne(k.VoucherID, worth)
}

// issue counts what is put into a gift, or refuses it: pieces of which nobody can say what they are worth, too, where
// money is limited.
func (k *Change) issue(c *Call, s *state, v *gift.Voucher, amount money.Amount) error {
	if v.Item && amount > 0 && c.limitsMoney() && !k.worth.Known() {
		return refusal.New(refusal.NotSupported, "Nothing can be put into this item gift: it was made without an "+
			"equivalentValue, and the set-up limits how much money is issued or redeemed in a day. Make another gift, "+
			"with an equivalentValue.")
	}
	return s.send(c, k.worth.Of(v, amount), nil)
}

func (k *Change) affinity() guid.ID { return k.VoucherID }

func (k *Change) decide(c *Call, s *state) (Result, error) {
	find := s.card
	if k.Counts == merchant.RedeemedCount {
		find = s.payer
	}
	v, err := find(c, k.VoucherID, k.Context)
	if err != nil {
		return Result{}, ofTheKey(err)
	}
	after, e, err := k.Rule(*v, s.context(k.Context, v.Last))
	switch {
	case err != nil || e.Kind == "":
		s.missed(*v, k.Context, err)
		return nothing(after, ofTheKey(err))
	case k.Counts == merchant.SentCount:
		err = k.issue(c, s, &after, e.Delta)
	case k.Counts == merchant.RedeemedCount:
		err = s.redeemed(c, k.worth.Of(&after, -e.Delta))
	}
	if err != nil {
		return Result{}, err
	}
	s.enter(after, e)
	if d := s.Deliveries[Ref{c.AccountID, k.VoucherID}]; k.Sends && d != nil && d.waits() {
		s.reschedule(&d.Jobs[0], d.SendAt(s.now))
	}
	return Result{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}, nil
}

func (k *Change) locations(c *Call, s *state) []guid.ID {
	if at := k.Actor.LocationID; !at.IsZero() {
		return []guid.ID{at}
	}
	return s.locationsOf([]Ref{{c.AccountID, k.VoucherID}})
}

// Undo takes back as a whole what an operation did that took nothing, named by the id of its entry or by the
// Idempotency-Key that it was made with. A key that has not arrived yet is spent: the answer is NOT_FOUND, and the
// operation will be refused should it still come.
type Undo struct {
	gift.Undo
	Operation   operation.Name // that is undone: operation.ReloadGift or operation.ActivateGift
	EntryID     guid.ID        // or
	OriginalKey string
	Of          *UsedWith
}

// undoings are the operations that can be undone by the key that they were made with: what they do, what they did not
// when their key did nothing, how it is refused when there is none, and how it is undone, if Undo does.
var undoings = map[operation.Name]struct {
	name, not phrase.Text
	missing   func() *refusal.Error
	rule      func(gift.Voucher, gift.Undoable, gift.Undo) (gift.Voucher, gift.Entry, error)
}{
	operation.RedeemGift:   {"redemption", "nothing was taken", gift.NoSuchRedemption, nil},
	operation.RedeemGifts:  {"redemption", "nothing was taken", gift.NoSuchRedemption, nil},
	operation.CaptureHold:  {"redemption", "nothing was taken", gift.NoSuchRedemption, nil},
	operation.CashOutGift:  {"cash-out", "nothing was paid out", gift.NoSuchRedemption, nil},
	operation.HoldGift:     {"hold", "nothing is held", gift.NoSuchHold, nil},
	operation.ReloadGift:   {"reload", "nothing was loaded", gift.NoSuchReload, gift.Voucher.ReverseReload},
	operation.ActivateGift: {"activation", "nothing was activated", gift.NoSuchActivation, gift.Voucher.ReverseActivation},
}

func (u *Undo) original(c *Call) RequestKey {
	return RequestKey{c.AccountID, u.Operation, u.OriginalKey}
}

func (u *Undo) want(c *Call, w *Want) { c.wantUndone(w, &w.Undoable, u.EntryID, u.original(c)) }

func (*Undo) affinity() guid.ID { return guid.ID{} }

func (u *Undo) decide(c *Call, s *state) (Result, error) {
	if err := s.byKey(c, guid.ID{}, u.original(c)); err != nil {
		return Result{}, err
	}
	how, done := undoings[u.Operation], s.Undoable[s.named(c, u.EntryID, u.original(c))]
	if done == nil {
		return Result{}, ofTheKey(how.missing())
	}
	if err := u.Of.check(done.Entry.VoucherID); err != nil {
		return Result{}, err
	}
	v, ask := s.current(Ref{c.AccountID, done.Entry.VoucherID}, u.Context), u.Undo
	ask.Context = s.context(u.Context, v.Last)
	ask.Actor.LocationID = done.Entry.Actor.LocationID
	after, e, err := how.rule(*v, *done, ask)
	if err != nil {
		return Result{}, ofTheKey(err)
	}
	s.enter(after, e)
	return Result{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}, nil
}

func (u *Undo) locations(c *Call, s *state) []guid.ID {
	if done := s.Undoable[s.named(c, u.EntryID, u.original(c))]; done != nil {
		return []guid.ID{done.Entry.Actor.LocationID}
	}
	return c.callerLocations()
}

// callerLocations is where the caller is enabled. An answer that found nothing keeps it, to tell it again.
func (c *Call) callerLocations() []guid.ID {
	if c.Caller == nil {
		return nil
	}
	return c.Caller.Locations
}
