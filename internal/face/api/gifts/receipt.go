package gifts

import (
	"errors"

	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/post/card"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// withReceipt has write, which writes the answer to a change of one gift, write a receipt too, if one is asked for. The
// last digits of the gift's code are read before anything is done, so that nobody waits for them while it is locked.
func (c *Call) withReceipt(voucher guid.ID, write func(*wire.Writer, ledger.Result)) (
	func(*wire.Writer, ledger.Result), error) {
	if !c.Receipt {
		return write, nil
	}
	g, err := c.Records.Gift(c.Context(), c.Account.ID, voucher)
	if errors.Is(err, refusal.NotFound) { // as the answer will say
		return write, nil
	} else if err != nil {
		return nil, service.Stored(err)
	}
	lastFour := g.Card.Code.LastFour()
	return func(w *wire.Writer, r ledger.Result) {
		write(w, r)
		w.Object("receipt")
		w.Texts("lines", card.Receipt(c.Account, lastFour, &r.Vouchers[0], &r.Entries[0]))
		w.Close()
	}, nil
}

// ofHold is the gift that a hold is of, where that is needed for a receipt; zero: it is not, or there is no such hold.
func (c *Call) ofHold(hold guid.ID) (guid.ID, error) {
	if !c.Receipt {
		return guid.ID{}, nil
	}
	parts, err := c.Records.Parts(c.Context(), c.Account.ID, hold)
	if err != nil || len(parts) == 0 {
		return guid.ID{}, service.Stored(err)
	}
	return parts[0].VoucherID, nil
}
