package api

import (
	"errors"
	"time"

	"boon.example/internal/face/api/payload"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// newCardTold is how long the key that used a card first may read the code that replaced the card's: a till whose line
// or printer failed asks once more.
const newCardTold = 24 * time.Hour

// showNewCard shows the code that a card got when it was first used at a till, as lines for its guest. The answer to
// the use names the last four digits only: it is kept for ever, in clear.
func showNewCard(c *call) (ledger.Answer, error) {
	q := wire.ReadQuery(c.HTTP.URL.RawQuery)
	id := q.ParseID("entryID", c.HTTP.PathValue("entryID"))
	if err := q.Err(); err != nil {
		return ledger.Answer{}, err
	}
	entries, err := c.Records.Parts(c.Context(), c.Account.ID, id)
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	if len(entries) == 0 || entries[0].ID != id || !c.used(&entries[0]) {
		return ledger.Answer{}, gift.NoNewCard()
	}
	g, err := c.Records.Gift(c.Context(), c.Account.ID, entries[0].VoucherID)
	if err != nil && !errors.Is(err, refusal.NotFound) {
		return ledger.Answer{}, service.Stored(err)
	}
	if err != nil || !g.NewCardOf(&entries[0]) {
		return ledger.Answer{}, gift.NoNewCard()
	}
	c.tellsCodes(1)
	return c.Answer(ledger.OK, func(w *wire.Writer) {
		w.ID("voucherID", g.ID)
		payload.WriteCode(w, &g)
		w.Texts("lines", card.NewCard(c.Account, &g))
	}), nil
}

// used reports whether the caller made an entry, or may see codes and is enabled where it was made; and that this was
// not long ago.
func (c *call) used(e *gift.Entry) bool {
	own := e.Actor.KeyID == c.Caller.KeyID
	sees := c.Caller.May(merchant.MaySeeCodes) && c.Caller.Enabled(e.Actor.LocationID)
	return (own || sees) && c.Now.Sub(e.At) < newCardTold
}
