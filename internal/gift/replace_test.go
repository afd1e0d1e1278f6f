package gift

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

func TestReplace(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change  func(*Voucher, *Replace)
		code    refusal.Code
		message string
	}{
		"delivered": {func(*Voucher, *Replace) {}, "", ""},
		"blocked":   {func(v *Voucher, _ *Replace) { v.Blocked = "LOST" }, "", ""},
		"held": {func(v *Voucher, _ *Replace) { v.Holds = []OpenHold{{ID: id(7), Left: 100, Until: now.Add(1)}} }, "",
			""},
		"expired": {func(v *Voucher, _ *Replace) { v.ValidUntil = now }, refusal.RedemptionNotAllowed,
			"cannot be replaced: it expired at 2026-11-21 12:00 UTC."},
		"being sent": {func(_ *Voucher, r *Replace) { r.Sending = true }, refusal.RedemptionNotAllowed,
			"cannot be replaced: its message is being sent."},
		"of another location": {func(v *Voucher, r *Replace) {
			v.LocationID, r.Caller = shop, &merchant.Caller{Account: hundredUSD, Locations: []guid.ID{id(0x22)}}
		}, refusal.NotFound, "This account has no such gift."},
	} {
		v := voucherIn(Delivered)
		ask := Replace{Context: context(), Caller: everywhere, Reason: "lost"}
		tt.change(&v, &ask)
		after, e, err := v.Replace(ask)
		if codeOf(t, err) != tt.code || err != nil && (!strings.Contains(err.Error(), tt.message) ||
			!reflect.DeepEqual(after, v)) {
			t.Errorf("%s: %v, %+v", name, err, after)
		}
		if err != nil {
			continue
		}
		want := v
		want.Seq, want.Last, want.Replaced = 4, id(8), 4
		if !reflect.DeepEqual(after, want) || e.Kind != Replaced || e.Reason != "lost" || e.Delta != 0 {
			t.Errorf("%s: %+v by %+v", name, after, e)
		}
	}
}

// TestSameCard: what was found by a code is used only while it has that code.
func TestSameCard(t *testing.T) {
	t.Parallel()
	late := time.Date(2026, 3, 3, 23, 30, 0, 0, time.UTC)
	v := voucherIn(Delivered)
	v.Replaced = 4
	first, second := 0, 4
	if err := v.SameCard(&second, late, nil); err != nil {
		t.Error(err)
	}
	if err := v.SameCard(nil, late, nil); err != nil {
		t.Error(err)
	}
	for zone, day := range map[string]string{"": "3 March 2026", "Asia/Tokyo": "4 March 2026",
		"America/New_York": "3 March 2026"} {
		var of *time.Location
		if zone != "" {
			of = mustZone(t, zone)
		}
		err := v.SameCard(&first, late, of)
		if codeOf(t, err) != refusal.RedemptionNotAllowed ||
			err.Error() != "REDEMPTION_NOT_ALLOWED: This card was replaced on "+day+"." {
			t.Errorf("in %s: %v", zone, err)
		}
	}
}

// TestAuditReplaced spoils a history with two replacements.
func TestAuditReplaced(t *testing.T) {
	t.Parallel()
	sound := func() (Voucher, []Entry) {
		c := func(n byte) Context { return Context{EntryID: id(n), Now: now.Add(time.Duration(n))} }
		g, issued := Gift{Voucher{ID: theGift, Funded: 1000, Balance: 1000}, Card{Method: contact.Printed}}.Begin(c(1))
		v, one, _ := g.Replace(Replace{Context: c(2), Caller: everywhere})
		v, two, _ := v.Replace(Replace{Context: c(3), Caller: everywhere})
		return v, []Entry{issued, one, two}
	}
	if found := Audit(sound()); len(found) > 0 {
		t.Fatalf("a sound history: %q", found)
	}
	for name, tt := range map[string]struct {
		spoil func(*Voucher, []Entry)
		want  string
	}{
		"another card":    {func(v *Voucher, _ []Entry) { v.Replaced = 2 }, "entry 2 gave it its code; its history says 3"},
		"its first card":  {func(v *Voucher, _ []Entry) { v.Replaced = 0 }, "entry 0 gave it its code"},
		"value moved":     {func(_ *Voucher, h []Entry) { h[1].Delta, h[1].Balance = -1, 999 }, "cannot lead"},
		"a status change": {func(_ *Voucher, h []Entry) { h[1].Status = Claimed }, "cannot lead"},
	} {
		v, history := sound()
		history = slices.Clone(history)
		tt.spoil(&v, history)
		if found := strings.Join(Audit(v, history), "; "); !strings.Contains(found, tt.want) {
			t.Errorf("%s: found %q", name, found)
		}
	}
}
