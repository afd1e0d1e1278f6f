package gifts

import (
	"errors"
	"testing"
	"time"

	"boon.example/internal/face/console/desk"
	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/post/locale"
	"boon.example/internal/refusal"
	"boon.example/internal/staff"
)

// TestOnlyOwnersAddPieces: pieces have no amount that a limit could be held against, so a manager takes some off at
// most, and an owner has proved lately who they are.
func TestOnlyOwnersAddPieces(t *testing.T) {
	t.Parallel()
	g := &gift.Gift{Voucher: gift.Voucher{Item: true, Balance: 3}}
	for _, c := range []struct {
		role    staff.Role
		proven  bool // lately, who they are
		pieces  string
		refused bool
	}{{staff.Owner, true, "50", false}, {staff.Owner, false, "1", true}, {staff.Owner, false, "-1", false},
		{staff.Manager, true, "-1", false}, {staff.Manager, true, "1", true}} {
		r := &desk.Request{Locale: locale.For(merchant.English), Member: staff.Member{Role: c.role}, Real: time.Now()}
		if c.proven {
			r.Session.ProvenAt = r.Real
		}
		body, err := adjustBody(r, g, func(name string) string { return map[string]string{"amount": c.pieces}[name] })
		refused, is := errors.AsType[*refusal.Error](err)
		if is != c.refused || is && refused.Code != refusal.NotAuthorized || !is && body["amount"] == nil {
			t.Errorf("%s adds %s: %v, %v", c.role, c.pieces, body, err)
		}
	}
}
