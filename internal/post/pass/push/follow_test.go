package push

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"testing"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/post/pass"
	"boon.example/internal/refusal"
)

// phones stands in for a store of gifts that each have a phone.
type phones struct {
	Store // nothing of it is asked but what is below

	gifts   map[guid.ID]error // what reading one fails with
	touched []event.PassDevice
}

// PassDevices implements Store.
func (p *phones) PassDevices(_ context.Context, account guid.ID, gifts []guid.ID) (all []event.PassDevice, _ error) {
	for _, id := range gifts {
		all = append(all, event.PassDevice{AccountID: account, VoucherID: id, Card: pass.CardOf(&gift.Gift{})})
	}
	return all, nil
}

// Gift implements Store.
func (p *phones) Gift(_ context.Context, _, voucher guid.ID) (gift.Gift, error) {
	return gift.Gift{}, p.gifts[voucher]
}

// TouchPasses implements Store.
func (p *phones) TouchPasses(_ context.Context, devices []event.PassDevice) error {
	p.touched = devices
	return nil
}

// TestOneGiftHoldsUpNoOther: of gifts that moved, one that does not open is left out, and the pass of one that is gone
// is over; the others are told. A store that is away is asked again.
func TestOneGiftHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	broken, gone, good := guid.ID{1}, guid.ID{2}, guid.ID{3}
	store := &phones{gifts: map[guid.ID]error{broken: fmt.Errorf("gift: %w", refusal.UnexpectedError),
		gone: fmt.Errorf("gift: %w", refusal.NotFound)}}
	f := &Follower{Store: store, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	var moved []event.TouchedGift
	for n, id := range []guid.ID{broken, gone, good} {
		moved = append(moved, event.TouchedGift{VoucherID: id, Position: int64(n + 1), Moved: true})
	}
	told, err := f.changed(t.Context(), account, moved)
	if err != nil || len(told) != 2 || !slices.Equal(told, store.touched) {
		t.Fatalf("told are %v, written %v: %v", told, store.touched, err)
	}
	if told[0].VoucherID != gone || !told[0].Over || told[1].VoucherID != good || told[1].Over || told[1].Changed != 3 {
		t.Errorf("told are %+v", told)
	}
	store.gifts[good] = errors.New("the database is away")
	if _, err := f.changed(t.Context(), account, moved); err == nil {
		t.Error("a database that is away is passed over")
	}
}
