package card

import (
	"slices"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/post/locale"
)

// Use is one redemption, one that was given back, or value that was moved to or from another gift, as its recipient is
// told of it.
type Use struct {
	At     time.Time // in the zone of the recipient
	When   string    // At for people
	Place  string    // "" when it was not at a location, or at one that is gone
	Amount Worth
	Back   bool // it was given back, or came from another gift
	Moved  bool // to or from another gift
}

// Uses picks the uses out of a gift's history, the newest first.
func Uses(l *locale.Locale, g *gift.Gift, a *merchant.Account, history []gift.Entry) []Use {
	l, zone := locale.Of(l.Language(), g, a), zoneOf(g, a)
	var uses []Use
	for i := range slices.Backward(history) {
		e := &history[i]
		moved := e.Kind == gift.TransferOut || e.Kind == gift.TransferIn
		if e.Kind != gift.Redemption && e.Kind != gift.Reversal && !moved || e.TakesCashBack() {
			continue
		}
		at := e.At.In(zone)
		u := Use{At: at, When: l.Moment(at), Amount: worth(l, g, max(e.Delta, -e.Delta)), Back: e.Delta > 0,
			Moved: moved}
		if l := a.Location(e.Actor.LocationID); l != nil {
			u.Place = Line(l.Name)
		}
		uses = append(uses, u)
	}
	return uses
}
