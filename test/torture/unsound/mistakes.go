package main

import (
	"context"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
)

// unlocked decides a group on what was read in a transaction before, so that no lock keeps others away in between.
type unlocked struct{ engine.Store }

func (u unlocked) Group(ctx context.Context, w ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	var decided ledger.Changes
	err := u.Store.Group(ctx, w, func(s *ledger.State) ledger.Changes {
		decided = decide(s)
		return ledger.Changes{}
	})
	if err != nil {
		return err
	}
	return u.Store.Group(ctx, w, func(now *ledger.State) ledger.Changes { return fit(decided, now) })
}

// fit makes changes that were decided on an older state pass the database's own checks on the present one, which would
// refuse them: they are a wall of their own behind the locks.
func fit(c ledger.Changes, now *ledger.State) ledger.Changes {
	entries := c.Entries
	c.Entries, c.Vouchers = nil, nil
	changed := map[ledger.Ref]bool{}
	for _, e := range entries {
		ref := ledger.Ref{AccountID: e.AccountID, ID: e.VoucherID}
		v := now.Vouchers[ref]
		if v == nil { // issued in this group
			c.Entries = append(c.Entries, e)
			continue
		}
		if after := v.Balance + e.Delta; after < 0 || after > v.Funded {
			continue
		}
		v.Seq++
		v.Balance += e.Delta
		v.Status = statusOf(v, e.Kind)
		e.Seq, e.Balance, e.Status = v.Seq, v.Balance, v.Status
		c.Entries = append(c.Entries, e)
		changed[ref] = true
	}
	for ref := range changed {
		c.Vouchers = append(c.Vouchers, *now.Vouchers[ref])
	}
	c.Requests = slices.DeleteFunc(slices.Clone(c.Requests),
		func(r ledger.Request) bool { return now.Requests[r.RequestKey] != nil })
	return c
}

func statusOf(v *gift.Voucher, kind gift.Kind) gift.Status {
	switch {
	case kind == gift.Cancellation || v.Status == gift.Cancelled:
		return gift.Cancelled
	case v.Balance == 0:
		return gift.Redeemed
	}
	return gift.Claimed
}

// keyless neither looks for Idempotency-Keys nor remembers them.
type keyless struct{ engine.Store }

func (k keyless) Group(ctx context.Context, w ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	return k.Store.Group(ctx, w, func(s *ledger.State) ledger.Changes {
		clear(s.Requests)
		c := decide(s)
		c.Requests, c.Replays = nil, nil
		return c
	})
}

// forgetful now and then answers a group and does not save it.
type forgetful struct {
	engine.Store
	groups atomic.Int64
}

func (f *forgetful) Group(ctx context.Context, w ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	forgets := f.groups.Add(1)%20 == 0 // however often the group is decided
	return f.Store.Group(ctx, w, func(s *ledger.State) ledger.Changes {
		c := decide(s)
		if forgets && len(c.Gifts) == 0 {
			return ledger.Changes{}
		}
		return c
	})
}

// grasping keeps what entries of a kind take off holds: what was captured can be captured again, and what was released
// is held for ever.
type grasping struct {
	engine.Store
	kind gift.Kind
}

func (g grasping) Group(ctx context.Context, w ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	return g.Store.Group(ctx, w, func(s *ledger.State) ledger.Changes {
		before := map[guid.ID]gift.OpenHold{}
		for _, v := range s.Vouchers {
			for _, h := range v.Holds {
				before[h.ID] = h
			}
		}
		c := decide(s)
		for _, e := range c.Entries {
			h, held := before[e.HoldID]
			n := slices.IndexFunc(c.Vouchers, func(v gift.Voucher) bool { return v.ID == e.VoucherID })
			if e.Kind != g.kind || !held || n < 0 || slices.ContainsFunc(c.Vouchers[n].Holds,
				func(o gift.OpenHold) bool { return o.ID == h.ID }) || c.Vouchers[n].Available(time.Time{}) < h.Left {
				continue
			}
			c.Vouchers[n].Holds = append(slices.Clone(c.Vouchers[n].Holds), h)
		}
		return c
	})
}

// generous enters what a gift gets from another twice, where nothing else happens to it at the same time.
type generous struct{ engine.Store }

func (g generous) Group(ctx context.Context, w ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	return g.Store.Group(ctx, w, func(s *ledger.State) ledger.Changes {
		c := decide(s)
		for n := range c.Entries {
			e := &c.Entries[n]
			v := slices.IndexFunc(c.Vouchers, func(v gift.Voucher) bool { return v.ID == e.VoucherID && v.Last == e.ID })
			if e.Kind != gift.TransferIn || v < 0 {
				continue
			}
			c.Vouchers[v].Balance += e.Delta
			c.Vouchers[v].Funded += e.Delta
			e.Balance += e.Delta
			e.Delta *= 2
		}
		return c
	})
}

// patient counts no wrong verification codes: no card is ever blocked for them.
type patient struct{ engine.Store }

func (p patient) Group(ctx context.Context, w ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	return p.Store.Group(ctx, w, func(s *ledger.State) ledger.Changes {
		c := decide(s)
		for n := range c.Vouchers {
			c.Vouchers[n].WrongCodes = 0
		}
		return c
	})
}

// clinging keeps the old codes and tokens of gifts whose cards were replaced.
type clinging struct{ engine.Store }

func (k clinging) Group(ctx context.Context, w ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	return k.Store.Group(ctx, w, func(s *ledger.State) ledger.Changes {
		c := decide(s)
		c.Rekeyed = nil
		return c
	})
}

// waiting has a group wait for the mail gateway to say something.
type waiting struct {
	engine.Store
	gateway string
}

func (w waiting) Group(ctx context.Context, want ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	if conn, err := net.Dial("tcp", w.gateway); err == nil {
		_ = conn.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		_, _ = conn.Read(make([]byte, 1)) // whatever it says or does not say
		conn.Close()
	}
	return w.Store.Group(ctx, want, decide)
}
