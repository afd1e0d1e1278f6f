package ledger

import (
	"slices"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
)

// Transfer moves value between two vouchers of the calling account.
type Transfer struct {
	gift.Transfer
	From, To guid.ID
}

func (m *Transfer) want(c *Call, w *Want) {
	w.Vouchers = append(w.Vouchers, Ref{c.AccountID, m.From}, Ref{c.AccountID, m.To})
}

// affinity is the same for both ways between two vouchers.
func (m *Transfer) affinity() guid.ID {
	if slices.Compare(m.From[:], m.To[:]) < 0 {
		return m.From
	}
	return m.To
}

func (m *Transfer) weigh(worth func(guid.ID) (gift.ItemWorth, error)) (err error) {
	for n, id := range []guid.ID{m.From, m.To} {
		if m.Worths[n], err = worth(id); err != nil {
			return err
		}
	}
	return nil
}

func (m *Transfer) decide(c *Call, s *state) (Result, error) {
	from, to := s.current(Ref{c.AccountID, m.From}, m.Context), s.current(Ref{c.AccountID, m.To}, m.Context)
	if from == nil || to == nil {
		return Result{}, ofTheKey(gift.NoSuchTransferGift(from == nil))
	}
	ask := m.Transfer
	ask.Context, ask.EntryIn = s.context(m.Context, from.Last), s.entryID(to.Last)
	less, more, entries, err := from.Transfer(*to, ask)
	if err != nil {
		return Result{}, ofTheKey(err)
	}
	s.enter(less, entries[0])
	s.enter(more, entries[1])
	return Result{Vouchers: []gift.Voucher{less, more}, Entries: entries[:]}, nil
}

func (m *Transfer) locations(c *Call, s *state) []guid.ID {
	return s.locationsOf([]Ref{{c.AccountID, m.From}, {c.AccountID, m.To}})
}
