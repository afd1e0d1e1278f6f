package gift

import (
	"strings"
	"testing"
	"time"
)

// TestAudit spoils a sound history in every way that Audit promises to see.
func TestAudit(t *testing.T) {
	t.Parallel()
	sound := func() (Voucher, []Entry) {
		c := func(n byte) Context { return Context{EntryID: id(n), Now: now.Add(time.Duration(n) * time.Minute)} }
		g, issued := Gift{Voucher{ID: theGift, Original: 1000, Balance: 1000}, Card{Method: Email}}.Begin(c(1))
		v, sent, _ := g.Deliver(Outcome{Context: c(2), Delivered: true})
		v, part, _ := v.Redeem(Redeem{Context: c(3), Amount: 300})
		v, rest, _ := v.Redeem(Redeem{Context: c(4)})
		v, back, err := v.Reverse(Taken{Entry: rest}, Reverse{Context: c(5), Caller: everywhere, Amount: 100})
		if err != nil {
			t.Fatal(err)
		}
		v, gone, _, _ := v.Cancel(Cancel{Context: c(6), Caller: everywhere, To: Cancelled})
		v, again, _, err := v.Reinstate(Reinstate{Context: c(7), Caller: everywhere, Before: Claimed})
		if err != nil {
			t.Fatal(err)
		}
		return v, []Entry{issued, sent, part, rest, back, gone, again}
	}
	if found := Audit(sound()); len(found) > 0 {
		t.Fatalf("a sound history: %q", found)
	}
	for name, tt := range map[string]struct {
		spoil func(*Voucher, []Entry) []Entry
		want  string
	}{
		"no history":             {func(_ *Voucher, _ []Entry) []Entry { return nil }, "no history"},
		"a balance that differs": {func(v *Voucher, h []Entry) []Entry { v.Balance++; return h }, "its history says"},
		"a status that differs": {func(v *Voucher, h []Entry) []Entry { v.Status = Redeemed; return h },
			"its history says"},
		"a missing entry": {func(_ *Voucher, h []Entry) []Entry { return append(h[:2:2], h[3:]...) }, "is numbered"},
		"another one before": {func(_ *Voucher, h []Entry) []Entry { h[3].Previous = h[1].ID; return h },
			"does not follow"},
		"an older one after": {func(v *Voucher, h []Entry) []Entry { h[6].ID, v.Last = id(1), id(1); return h },
			"does not follow"},
		"another one named last": {func(v *Voucher, h []Entry) []Entry { v.Last = id(1); return h }, "it names"},
		"the last one missing":   {func(_ *Voucher, h []Entry) []Entry { return h[:6] }, "its history says"},
		"a changed amount":       {func(_ *Voucher, h []Entry) []Entry { h[2].Delta = -200; return h }, "adds up to"},
		"an issue in between":    {func(_ *Voucher, h []Entry) []Entry { h[1].Kind = Issued; return h }, "of kind ISSUED"},
		"a step that is none": {func(_ *Voucher, h []Entry) []Entry { h[1].Status = FailedDelivery; return h },
			"cannot lead from PENDING to FAILED_DELIVERY"},
		"redeemed, but not all": {func(_ *Voucher, h []Entry) []Entry { h[2].Status = Redeemed; return h }, "cannot lead"},
		"a reversal of nothing": {func(_ *Voucher, h []Entry) []Entry { h[4].Reverses = id(77); return h }, "cannot lead"},
		"reinstated as another": {func(v *Voucher, h []Entry) []Entry {
			h[6].Status, v.Status = Delivered,
				Delivered
			return h
		}, "cannot lead from CANCELLED to DELIVERED"},
		"reinstated from nothing": {func(_ *Voucher, h []Entry) []Entry { h[5].Kind = Reversal; return h },
			"cannot lead from CANCELLED to CLAIMED"},
		"an original too small": {func(v *Voucher, h []Entry) []Entry { v.Original = 50; return h },
			"is not within 0 and 50"},
	} {
		v, history := sound()
		if found := strings.Join(Audit(v, tt.spoil(&v, history)), "; "); !strings.Contains(found, tt.want) {
			t.Errorf("%s: found %q", name, found)
		}
	}
}
