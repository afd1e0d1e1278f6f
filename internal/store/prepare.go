package store

import (
	"slices"

	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// prepared is what is worked out before a transaction, while others write.
type prepared struct {
	codes map[codes.VoucherCode][][]byte // to be given out: what each would be found by, if it were taken
	// numbers by which cards are to be sold: what each would be found by, if its account had it
	numbers []takenNumber
	gifts   map[ledger.Ref]*giftRows
	answers record.KeptAnswers
	brought guid.ID // the import that brings all gifts; zero: none does
}

// giftRows are the rows of a new gift.
type giftRows struct {
	items                             guid.ID
	terms, voucher, card, code, token []any
	activation                        []any // nil: the card has no activation code
	search                            [][]any
}

// takenNumber is an activation code as it would be found, and the code of the card that is to get it.
type takenNumber struct {
	account guid.ID
	hashes  [][]byte
	code    codes.VoucherCode
}

// prepare works out what it can of what a group wants.
func (s *Store) prepare(want *ledger.Want) *prepared {
	p := &prepared{codes: map[codes.VoucherCode][][]byte{}, gifts: map[ledger.Ref]*giftRows{},
		answers: record.KeptAnswers{}, brought: want.Import}
	p.addGifts(s, want.Gifts)
	for _, g := range want.Gifts {
		// Its row cannot be written beside another with the same hash. Only one with an earlier key's must be looked for.
		if hashes := s.db.Keys.CodeHashes(g.Card.Code); len(hashes) > 1 {
			p.codes[g.Card.Code] = hashes[1:]
		}
		if number := g.Card.Activation; number != (codes.ActivationCode{}) {
			p.numbers = append(p.numbers, takenNumber{g.AccountID, s.db.Keys.ActivationHashes(g.AccountID, number),
				g.Card.Code})
		}
	}
	for _, c := range want.Codes {
		p.codes[c] = s.db.Keys.CodeHashes(c)
	}
	for i := range want.Answers {
		p.answers.Add(s.db.Keys, &want.Answers[i])
	}
	return p
}

// lookForCodes has it found out which codes are taken, after rows of gifts could not be written.
func (p *prepared) lookForCodes(s *Store, gifts []*gift.Gift) {
	for _, g := range gifts {
		p.codes[g.Card.Code] = s.db.Keys.CodeHashes(g.Card.Code)
	}
}

// addGifts makes the rows of gifts, of whole orders.
func (p *prepared) addGifts(s *Store, gifts []*gift.Gift) {
	for len(gifts) > 0 {
		n := orderLength(gifts)
		shared := record.SharedTerms(gifts[:n])
		for i, g := range gifts[:n] {
			secrets := record.SealSecrets(s.db.Keys, g.AccountID, g.ID, g.Card.Code, g.Card.Token)
			r := &giftRows{items: record.ItemsID(&g.Voucher), search: record.SearchRows(s.db.Keys, g),
				card: record.CardRow(s.db.Keys, g, secrets, !shared)}
			r.code, r.token = record.SecretRows(s.db.Keys, g.AccountID, g.ID, g.Card.Code, g.Card.Token, 0)
			r.voucher = record.VoucherRow(s.db.Keys, &g.Voucher, r.items, p.brought)
			if g.Card.Activation != (codes.ActivationCode{}) {
				r.activation = record.ActivationRow(s.db.Keys, g)
			}
			if shared && i == 0 {
				r.terms = []any{db.KeyOf(g.AccountID), db.KeyOf(g.OrderID), g.Card.Terms, g.Card.PromotionalTerms}
			}
			p.gifts[record.RefOf(&g.Voucher)] = r
		}
		gifts = gifts[n:]
	}
}

// complete prepares what of new gifts was not wanted.
func (p *prepared) complete(s *Store, gifts []gift.Gift) {
	var missing []*gift.Gift
	for i := range gifts {
		if p.gifts[record.RefOf(&gifts[i].Voucher)] == nil {
			missing = append(missing, &gifts[i])
		}
	}
	p.addGifts(s, missing)
}

// orderLength is how many of the gifts, from the first on, are of one order.
func orderLength(gifts []*gift.Gift) int {
	n := slices.IndexFunc(gifts, func(g *gift.Gift) bool {
		return g.AccountID != gifts[0].AccountID || g.OrderID != gifts[0].OrderID
	})
	if n < 0 {
		n = len(gifts)
	}
	return n
}
