package store

import (
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/store/record"
)

// prepared is what of a new gift can be worked out before the transaction that makes it, while others write.
type prepared struct {
	hashes      [][]byte // what its code would be found by, if it were taken
	code, token []byte   // what they will be found by
	secrets     []byte   // both, sealed
	search      [][]any
}

// prepareCodes batches out what it can for gifts to be made, and for other codes to be given out.
func (s *Store) prepareCodes(want *ledger.Want) map[gift.VoucherCode]*prepared {
	all := make(map[gift.VoucherCode]*prepared, len(want.Gifts)+len(want.Codes))
	for _, g := range want.Gifts {
		p := s.prepareGift(g)
		p.hashes = s.db.Keys.CodeHashes(g.Card.Code)
		all[g.Card.Code] = p
	}
	for _, c := range want.Codes {
		all[c] = &prepared{hashes: s.db.Keys.CodeHashes(c)}
	}
	return all
}

func (s *Store) prepareGift(g *gift.Gift) *prepared {
	return &prepared{
		code: s.db.Keys.CodeHash(g.Card.Code), token: s.db.Keys.TokenHash(g.Card.Token),
		secrets: record.SealSecrets(s.db.Keys, g.AccountID, g.ID, g.Card.Code, g.Card.Token),
		search:  record.SearchRows(s.db.Keys, g),
	}
}

// preparedFor is what was prepared for a gift, or is only now.
func (g *group) preparedFor(v *gift.Gift) *prepared {
	if p := g.prepared[v.Card.Code]; p != nil && p.secrets != nil {
		return p
	}
	if g.prepared == nil {
		g.prepared = map[gift.VoucherCode]*prepared{}
	}
	p := g.prepareGift(v)
	g.prepared[v.Card.Code] = p
	return p
}
