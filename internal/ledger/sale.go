package ledger

import (
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/sale"
)

// RedeemTogether decrements several vouchers of the calling account, which pay for one sale: all, or none.
type RedeemTogether struct {
	gift.Context
	sale.Sale            // of which the engine completes the Context of each gift
	VoucherIDs []guid.ID // each once
	Seen       []*int    // of each: Call's Seen
	LocationID guid.ID
	Notice     bool // see Redeem
	FirstUse
}

func (m *RedeemTogether) want(c *Call, w *Want) {
	for _, id := range m.VoucherIDs {
		w.Vouchers = append(w.Vouchers, Ref{c.AccountID, id})
	}
	c.wantRedeemed(w)
	m.wantNew(c, w)
}

func (m *RedeemTogether) affinity() guid.ID { return m.VoucherIDs[0] }

func (m *RedeemTogether) decide(c *Call, s *state) (Result, error) {
	ask, vouchers := m.Sale, make([]gift.Voucher, len(m.VoucherIDs))
	ask.Gifts = make([]gift.Redeem, len(m.VoucherIDs))
	for n, id := range m.VoucherIDs {
		seen := *c
		seen.Seen = m.Seen[n]
		v, err := s.payer(&seen, id, m.Context)
		if err != nil {
			return Result{}, sale.In(err, n)
		}
		vouchers[n], ask.Gifts[n] = *v, m.Gifts[n]
		ask.Gifts[n].Context = s.context(m.Context, v.Last)
	}
	after, entries, failed, err := ask.Redeem(vouchers)
	if err != nil {
		s.missed(vouchers[failed], m.Context, err)
		return Result{}, err
	}
	var used []gift.Voucher
	for n, e := 0, entries; n < len(after); n++ {
		if len(e) > 0 && e[0].VoucherID == after[n].ID {
			used, e = append(used, after[n]), e[1:]
		}
	}
	if err := m.ready(c, s, used); err != nil {
		return Result{}, err
	}
	var all merchant.Count
	for n := range entries {
		all.Amount -= entries[n].Delta
	}
	if err := s.redeemed(c, all); err != nil {
		return Result{}, err
	}
	done := Result{Vouchers: after, Entries: entries}
	for n, e := 0, entries; n < len(after); n++ {
		if len(e) == 0 || e[0].VoucherID != after[n].ID {
			continue
		}
		s.taken(after[n], e[0], m.Notice)
		is, card := m.replace(c, s, after[n], m.Context)
		if e, after[n] = e[1:], is; card != nil {
			done.NewCards = append(done.NewCards, *card)
		}
	}
	return done, nil
}

func (m *RedeemTogether) locations(*Call, *state) []guid.ID { return []guid.ID{m.LocationID} }

// next is what the call that made an entry made after it; nil: nothing.
func (s *state) next(t *gift.Undoable) *gift.Undoable {
	if t.Entry.Next.IsZero() {
		return nil
	}
	return s.undoable(Ref{t.Entry.AccountID, t.Entry.Next})
}

// together gives back all that is left of what one call took of several gifts.
func (r *Reverse) together(c *Call, s *state, first *gift.Undoable) (Result, error) {
	var paid []sale.Part
	for part := first; part != nil; part = s.next(part) {
		v := s.Vouchers[Ref{c.AccountID, part.Entry.VoucherID}]
		paid = append(paid, sale.Part{Context: s.context(r.Context, v.Last), Voucher: v, Taken: part})
	}
	after, entries, err := sale.Reverse(paid, r.Reverse)
	if err != nil {
		return Result{}, ofTheKey(err)
	}
	for n := range entries {
		s.enter(after[n], entries[n])
	}
	return Result{Vouchers: after, Entries: entries}, nil
}
