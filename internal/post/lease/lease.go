// Package lease has each account be served by one process at a time, of those who share the work on a feed of events.
package lease

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"boon.example/internal/guid"
)

const (
	lasts      = 30 * time.Second
	renewEvery = 10 * time.Second
)

// Claim takes the leases of accounts that nobody has at now, keeps those that the owner has, until a time, and gives
// all of these accounts that it has then.
type Claim func(ctx context.Context, owner guid.ID, accounts []guid.ID, now, until time.Time) ([]guid.ID, error)

// Keeper keeps the leases of a process.
type Keeper struct {
	Owner   guid.ID // the process
	claim   Claim
	renewAt time.Time
	until   time.Time // of the leases; zero: it never had any
}

// New makes a keeper without leases.
func New(claim Claim) *Keeper {
	k := &Keeper{claim: claim}
	rand.Read(k.Owner[:]) // never fails
	return k
}

// Had reports whether the process has ever asked for leases, and so has some to give back.
func (k *Keeper) Had() bool { return !k.until.IsZero() }

// Again has the next Keep claim at once: what an account needs could not be read.
func (k *Keeper) Again() { k.renewAt = time.Time{} }

// Keep claims the leases of the accounts that are to be served, where they changed or it is time to, and gives those
// that the process has. due is false where the process goes on with those that it has: no claim was due, or one failed
// while the leases last. If one fails afterwards, the process has none, as others may have them. serves tells whether
// the process serves an account now: if it does not, and none is to be served, nothing is claimed.
func (k *Keeper) Keep(ctx context.Context, now time.Time, changed, serves bool, accounts func() []guid.ID) (
	owned []guid.ID, due bool, err error,
) {
	if !changed && now.Before(k.renewAt) {
		return nil, false, nil
	}
	wanted := accounts()
	if len(wanted) == 0 && !serves {
		k.renewAt = now.Add(renewEvery)
		return nil, false, nil
	}
	until := now.Add(lasts)
	if owned, err = k.claim(ctx, k.Owner, wanted, now, until); err != nil {
		return nil, !now.Before(k.until), fmt.Errorf("keeping the leases: %w", err)
	}
	k.renewAt, k.until = now.Add(renewEvery), until
	return owned, true, nil
}
