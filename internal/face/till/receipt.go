package till

import (
	"slices"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/post/card"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// receipt tells what a till prints of something that was done: the lines that the interface gave when it was done.
// A till asks for what was done with it, and somebody who may look gifts up also for what other tills of the location
// did.
func (t *tills) receipt(c *service.Call) (answer, error) {
	s, err := t.open(c)
	if err != nil {
		return nil, err
	}
	if err := s.caller.By(s.person).Attended(); err != nil {
		return nil, err
	}
	q := wire.ReadQuery(c.HTTP.URL.RawQuery)
	id := q.ParseID("entryID", c.HTTP.PathValue("entryID"))
	if err := q.Err(); err != nil {
		return nil, err
	}
	e, err := t.done(c, s, id)
	if err != nil {
		return nil, err
	}
	found, err := t.Store.GiftsNamed(c.Context(), s.caller.Account.ID, []guid.ID{e.VoucherID})
	if err != nil {
		return nil, service.Stored(err)
	}
	if len(found) == 0 {
		return nil, noReceipt()
	}
	g := &found[0]
	then := g.Voucher
	then.Balance = e.Balance
	return func(w *wire.Writer) {
		w.Texts("lines", card.Receipt(s.caller.Account, g.Card.Code.LastFour(), &then, e))
		if g.NewCardOf(e) {
			w.Object("newCard")
			w.Text("lastFour", g.Card.Code.LastFour())
			w.Close()
		}
	}, nil
}

// done finds an entry that a till may tell of.
func (t *tills) done(c *service.Call, s *session, id guid.ID) (*gift.Entry, error) {
	by := s.caller
	parts, err := t.Store.Parts(c.Context(), by.Account.ID, id)
	if err != nil {
		return nil, service.Stored(err)
	}
	at := slices.IndexFunc(parts, func(e gift.Entry) bool { return e.ID == id })
	if at < 0 || !slices.Contains(withReceipt, parts[at].Kind) {
		return nil, noReceipt()
	}
	e := &parts[at]
	shop := s.mayShop() && !e.Actor.KeyID.IsZero() && e.Actor.LocationID == by.Locations[0]
	if e.Actor.KeyID != by.KeyID && !shop {
		return nil, noReceipt()
	}
	return e, nil
}

// withReceipt are the kinds of entries that a till prints receipts of.
var withReceipt = []gift.Kind{gift.Redemption, gift.Activation, gift.Reload, gift.CashOut}

// noReceipt says the same of what is not there and of what is not the till's to know.
func noReceipt() *refusal.Error {
	return refusal.At(refusal.NotFound, "entryID", "This till did nothing with this id that there is a receipt of.")
}
