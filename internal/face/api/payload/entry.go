package payload

import (
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/wire"
)

// Names gives the names of the locations and keys that entries tell of.
type Names struct {
	*merchant.Account
	Key func(guid.ID) string
	// Locations are those that the caller is limited to; none: it is not. Where else something was done, and by whom,
	// it is not told.
	Locations []guid.ID
}

// NamesOf gives the names of an account, and those of keys in a set-up. It remembers each key's, as looking one up goes
// through all of them.
func NamesOf(account *merchant.Account, directory *merchant.Directory) Names {
	known := map[guid.ID]string{}
	return Names{Account: account, Key: func(id guid.ID) string {
		if _, ok := known[id]; !ok && !id.IsZero() {
			known[id] = directory.KeyName(id)
		}
		return known[id]
	}}
}

// NamesFor are NamesOf for a caller, who may be limited to locations.
func NamesFor(c *merchant.Caller, account *merchant.Account, directory *merchant.Directory) Names {
	n := NamesOf(account, directory)
	n.Locations = c.Locations
	return n
}

func (n Names) location(id guid.ID) string {
	if l := n.Location(id); l != nil {
		return l.Name
	}
	return ""
}

// WriteEntry writes the members of one change. The amounts up to any entry add up to its balance: the first one brings
// the whole value.
func WriteEntry(w *wire.Writer, unit money.Currency, e *gift.Entry, names Names) {
	amount, redemption, reversal, hold := e.Delta, guid.ID{}, guid.ID{}, e.HoldID
	var validUntil time.Time
	switch e.Kind {
	case gift.Issued, gift.Imported:
		amount = e.Balance
	case gift.Redemption:
		redemption = e.ID
	case gift.Reversal:
		redemption = e.Reverses
	case gift.HoldMade:
		hold = e.ID
	case gift.Extended:
		validUntil = e.Until
	}
	if e.Kind.Undoes() {
		reversal = e.ID
	}
	w.ID("entryID", e.ID)
	w.Integer("seq", e.Seq)
	w.Text("kind", string(e.Kind))
	w.Amount("amount", unit, amount)
	w.Amount("currentBalance", unit, e.Balance)
	if available, known := e.Available(); known {
		w.Amount("availableBalance", unit, available)
	} else {
		w.Null("availableBalance")
	}
	w.Amount("heldAmount", unit, e.Held)
	if e.Kind == gift.Cancellation {
		w.Amount("endedBalance", unit, e.Balance)
	} else {
		w.Null("endedBalance")
	}
	w.Text("status", e.Status.String())
	w.Integer("statusID", int(e.Status))
	w.Instant("at", e.At)
	actor := e.Actor.SeenFrom(names.Locations)
	w.IDOrNull("keyID", actor.KeyID)
	w.TextOrNull("keyName", names.Key(actor.KeyID))
	w.Null("user") // people sign in with keys of their own so far
	w.TextOrNull("person", actor.Person)
	w.IDOrNull("organizationID", actor.LocationID)
	w.TextOrNull("organizationName", names.location(actor.LocationID))
	w.IDOrNull("redemptionID", redemption)
	w.IDOrNull("reversalID", reversal)
	w.IDOrNull("holdID", hold)
	w.IDOrNull("counterpartEntryID", e.Counterpart)
	w.IDOrNull("counterpartVoucherID", e.CounterpartGift)
	w.IDOrNull("reverses", e.Reverses)
	w.TextOrNull("externalTransactionReferenceNumber", e.Purchase.Reference)
	w.IDOrNull("externalStorefrontID", e.Purchase.StorefrontID)
	w.AmountOrNull("pricePaid", names.Account.Currency, e.Purchase.Price)
	w.TextOrNull("reference", e.Reference)
	w.TextOrNull("reasonCode", string(e.ReasonCode))
	w.TextOrNull("reason", e.Reason)
	w.InstantOrNull("validUntil", validUntil)
	w.TextOrNull("customerLink", string(e.Link))
	w.TextOrNull("requestID", e.RequestID)
}
