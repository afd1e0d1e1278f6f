package gifts

import (
	"errors"
	"testing"

	"boon.example/internal/face/console/desk"
	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/post/locale"
	"boon.example/internal/refusal"
	"boon.example/internal/staff"
)

// TestOnlyOwnersAddPieces: pieces have no amount that a limit could be held against, so a manager takes some off at
// most.
func TestOnlyOwnersAddPieces(t *testing.T) {
	t.Parallel()
	g := &gift.Gift{Voucher: gift.Voucher{Item: true, Balance: 3}}
	for _, c := range []struct {
		role    staff.Role
		pieces  string
		refused bool
	}{{staff.Owner, "50", false}, {staff.Manager, "-1", false}, {staff.Manager, "1", true}} {
		r := &desk.Request{Locale: locale.For(merchant.English), Member: staff.Member{Role: c.role}}
		body, err := adjustBody(r, g, func(name string) string { return map[string]string{"amount": c.pieces}[name] })
		refused, is := errors.AsType[*refusal.Error](err)
		if is != c.refused || is && refused.Code != refusal.NotAuthorized || !is && body["amount"] == nil {
			t.Errorf("%s adds %s: %v, %v", c.role, c.pieces, body, err)
		}
	}
}
