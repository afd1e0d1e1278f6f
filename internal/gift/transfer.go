package gift

import (
	"slices"

	"boon.example/internal/base/phrase"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// Transfer asks to move value from one gift to another.
type Transfer struct {
	Context              // its EntryID is that of the entry of the gift that gives
	EntryIn guid.ID      // that of the other
	Amount  money.Amount // in the unit of the gifts; 0: all that is available
	Number  money.Number // in place of Amount: as the caller wrote it; "": Amount stands
	Caller  *merchant.Caller
	// Labels are those of the two gifts, which decide whether they are of the same item, and Terms what guests are told
	// that each is good for. They never change.
	Labels, Terms [2]string
	// Worths are those of the pieces of two item gifts. They matter where the account limits money.
	Worths [2]ItemWorth
	// Taxed is how the two gifts were taxed when they were made.
	Taxed [2]Taxation
}

// Taxation is how a gift was taxed when it was made.
type Taxation struct {
	Treatment merchant.VATTreatment // "": the set-up did not say
	Rate      money.Number          // in percent, of merchant.SinglePurpose
}

// said tells how a gift is taxed.
func (t Taxation) said() *phrase.Phrase {
	if t.Treatment == merchant.SinglePurpose {
		return phrase.New("taxed as a single-purpose voucher at %s %%", t.Rate)
	}
	return phrase.New("taxed as a multi-purpose voucher")
}

// same reports whether VAT is due at the same time and rate: where the set-up did not say, it is due when the gift is
// redeemed.
func (t Taxation) same(as Taxation) bool {
	at := func(t Taxation) bool { return t.Treatment == merchant.SinglePurpose }
	return at(t) == at(as) && (!at(t) || t.Rate == as.Rate)
}

// Transfer moves value that is available to another gift of the account. Nothing is redeemed by it, and what is moved
// becomes good for no more than it was: not elsewhere, for other items, without a ticket, on other terms, sooner or
// longer, nor in another program. Both gifts must be in use, and neither may be blocked or over. It fails with
// NOT_FOUND, REDEMPTION_NOT_ALLOWED, ALREADY_REDEEMED, MISSING_OR_INVALID_GIFT_PROGRAM, INVALID_VOUCHER_TYPE,
// VALIDATION_FAILURE or INSUFFICIENT_BALANCE.
func (v Voucher) Transfer(to Voucher, t Transfer) (from, into Voucher, entries [2]Entry, err error) {
	amount, err := v.movable(&to, t)
	if err != nil {
		return v, to, entries, err
	}
	status, raised := v.Status, to.Status
	if amount == v.Balance {
		status = Redeemed
	}
	if raised == Redeemed {
		raised = Claimed
	}
	out := v.enter(t.Context, TransferOut, -amount, status)
	t.EntryID = t.EntryIn
	in := to.enter(t.Context, TransferIn, amount, raised)
	out.Counterpart, out.CounterpartGift = in.ID, in.VoucherID
	in.Counterpart, in.CounterpartGift = out.ID, out.VoucherID
	return v, to, [2]Entry{out, in}, nil
}

// OneTransfer reports whether two entries are the two sides of one transfer.
func OneTransfer(a, b Entry) bool {
	return (a.Kind == TransferOut && b.Kind == TransferIn || a.Kind == TransferIn && b.Kind == TransferOut) &&
		a.Delta == -b.Delta && a.Counterpart == b.ID && b.Counterpart == a.ID && a.CounterpartGift == b.VoucherID &&
		b.CounterpartGift == a.VoucherID && a.AccountID == b.AccountID && a.At.Equal(b.At)
}

// NoSuchTransferGift is what NoSuchGift is, of the gift that gives or of the other.
func NoSuchTransferGift(gives bool) *refusal.Error {
	if gives {
		return refusal.At(refusal.NotFound, refusal.FieldFrom, noSuchGift)
	}
	return refusal.At(refusal.NotFound, refusal.FieldTo, noSuchGift)
}

// movable judges a transfer and gives the amount that it moves.
func (v *Voucher) movable(to *Voucher, t Transfer) (money.Amount, error) {
	zone := t.Caller.Account.TimeZone()
	switch {
	case !v.UsableBy(t.Caller):
		return 0, NoSuchTransferGift(true)
	case !to.UsableBy(t.Caller):
		return 0, NoSuchTransferGift(false)
	case v.ID == to.ID:
		return 0, refusal.At(refusal.ValidationFailure, refusal.FieldTo,
			"A transfer needs two gifts; %s and %s are the same.", refusal.FieldFrom,
			refusal.FieldTo)
	}
	if err := v.sameKind(to, t); err != nil {
		return 0, err
	}
	if v.Status == Redeemed {
		return 0, refusal.At(refusal.AlreadyRedeemed, refusal.FieldFrom, "This gift has been redeemed in full.")
	}
	for _, g := range []struct {
		*Voucher
		field refusal.Field
	}{{v, refusal.FieldFrom}, {to, refusal.FieldTo}} {
		switch {
		case !g.Status.Redeemable() && g.Status != Redeemed:
			return 0, refusal.At(refusal.RedemptionNotAllowed, g.field, "Gift %s is %s.", g.ID, g.Status)
		case g.Blocked != "":
			return 0, refusal.At(refusal.RedemptionNotAllowed, g.field, "Gift %s is blocked.", g.ID)
		case g.OverForGuest(t.Now):
			return 0, refusal.At(refusal.RedemptionNotAllowed, g.field, "Gift %s expired at %s.", g.ID, LocalTime(g.End(), zone))
		}
	}
	return v.movableAmount(to, t)
}

// sameKind refuses another gift that value of this one cannot go to, or where it would be good for more.
func (v *Voucher) sameKind(to *Voucher, t Transfer) error {
	const wider = "Gift %s is good %s: what is moved may not become good for more than it was."
	account := t.Caller.Account
	from, other := v.GoodFor(account), to.GoodFor(account)
	switch {
	case v.ProgramID != to.ProgramID || v.Promotional != to.Promotional:
		return refusal.At(refusal.MissingOrInvalidGiftProgram, refusal.FieldTo, "These gifts belong to two programs.")
	case v.Item != to.Item || v.Currency != to.Currency || v.Item && t.Labels[0] != t.Labels[1]:
		return refusal.At(refusal.InvalidVoucherType, refusal.FieldTo, "These gifts are of two types: %s and %s.",
			v.kind(t.Labels[0]),
			to.kind(t.Labels[1]))
	case v.Item && account.LimitsMoney() && !t.Worths[0].Equal(t.Worths[1]):
		return refusal.At(refusal.InvalidVoucherType, refusal.FieldTo,
			"A piece of one gift is not worth as much as one of the other: the "+
				"set-up limits how much money is issued or redeemed in a day, and pieces count by their worth.")
	case !t.Taxed[0].same(t.Taxed[1]):
		return refusal.At(refusal.InvalidVoucherType, refusal.FieldTo, "The VAT of these gifts is not the same: gift %s is "+
			"%s, and gift %s is %s. Value does not move between them.", v.ID, t.Taxed[0].said(), to.ID, t.Taxed[1].said())
	case !v.AllowedAt(to.LocationID):
		return refusal.At(refusal.RedemptionNotAllowed, refusal.FieldTo, wider, to.ID, phrase.Text("at other locations"))
	case len(from) > 0 && !slices.EqualFunc(from, other, merchant.Item.Matches):
		return refusal.At(refusal.RedemptionNotAllowed, refusal.FieldTo, wider, to.ID, phrase.Text("for other items"))
	case len(from) > 0 && to.TicketOptional(account) && !v.TicketOptional(account):
		return refusal.At(refusal.RedemptionNotAllowed, refusal.FieldTo, wider, to.ID, phrase.Text("without a ticket"))
	case t.Terms[0] != "" && t.Terms[0] != t.Terms[1]:
		return refusal.At(refusal.RedemptionNotAllowed, refusal.FieldTo, wider, to.ID, phrase.Text("on other terms"))
	case to.ValidFrom.Before(v.ValidFrom):
		return refusal.At(refusal.RedemptionNotAllowed, refusal.FieldTo, wider, to.ID, phrase.Text("sooner"))
	case !v.End().IsZero() && (to.End().IsZero() || to.End().After(v.End()) || to.EndForTill().After(v.EndForTill())):
		return refusal.At(refusal.RedemptionNotAllowed, refusal.FieldTo, wider, to.ID, phrase.Text("longer"))
	}
	return nil
}

// kind says what a gift is of.
func (v *Voucher) kind(label string) string {
	if v.Item {
		return label
	}
	return v.Currency.Code
}

// movableAmount is how much a transfer moves.
func (v *Voucher) movableAmount(to *Voucher, t Transfer) (money.Amount, error) {
	asked, err := v.amount(t.Number, t.Amount)
	if err != nil {
		return 0, err
	}
	account := t.Caller.Account
	amount, err := v.takeOf(asked, Redeem{Context: t.Context, Account: account,
		Eligibility: &Eligibility{Most: money.NoLimit}})
	if err != nil {
		return 0, err
	}
	most := account.MaxGiftValue
	if v.Item {
		most = MaxQuantity
	}
	if amount > min(most-to.Balance, money.NoLimit-to.Funded) {
		return 0, refusal.At(refusal.ValidationFailure, refusal.FieldAmount,
			"Gift %s has %s; with %s more it would have more than %s, the "+
				"most that one gift may.", to.ID, v.Unit().Money(to.Balance), v.Unit().Money(amount), v.Unit().Money(most))
	}
	return amount, nil
}
