package service

import (
	"cmp"
	"context"
	"errors"
	"time"

	"boon.example/internal/base/clientip"
	"boon.example/internal/base/ratelimit"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// guessLimiter keeps voucher codes from being guessed: there are only so many misses for each key at each location.
// The counts are the store's.
type guessLimiter struct {
	*ratelimit.Limiter[merchant.Till]
	records Records
	now     func() time.Time
	alarm   func(context.Context, merchant.Till)
}

func newGuessLimiter(c *Config) *guessLimiter {
	g := &guessLimiter{records: c.Records, now: c.Now, alarm: c.GuessAlarm}
	g.Limiter = ratelimit.NewLimiterBy(func(t merchant.Till) ratelimit.Rate {
		return ratelimit.Rate{Burst: t.GuessBurst(), Refill: t.GuessRefill()}
	}, ratelimit.Records[merchant.Till](g), c.Now)
	return g
}

// Bucket implements ratelimit.Records.
func (g *guessLimiter) Bucket(ctx context.Context, t merchant.Till) (ratelimit.Bucket, error) {
	b, err := g.records.TillBucket(ctx, t)
	return b, Stored(err)
}

// Take implements ratelimit.Records. Whoever hangs up now has made the attempt all the same.
func (g *guessLimiter) Take(ctx context.Context, t merchant.Till, n int) (ratelimit.Bucket, error) {
	deadline, has := ctx.Deadline()
	if !has {
		deadline = time.Now().Add(OtherDeadline)
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	b, alarm, err := g.records.CountMisses(ctx, t, g.now(), n)
	if alarm {
		g.alarm(ctx, t)
	}
	return b, Stored(err)
}

// lookUp looks a code up by find, when an attempt is left, and counts what it costs before the answer is given. It
// fails with RATE_LIMITED before anything is looked up, so that good and bad codes are answered alike.
func (g *guessLimiter) lookUp(ctx context.Context, t merchant.Till, find func() (cost int, err error)) (err error) {
	failed := g.try(ctx, t, func() (cost int) {
		cost, err = find()
		return cost
	})
	if limited, ok := errors.AsType[*ratelimit.Limited](failed); ok {
		refused := refusal.New(refusal.RateLimited,
			"Too many unknown voucher codes were tried here. Scan the QR code of the gift instead, or try again later.")
		refused.RetryAfter = limited.Wait
		return refused
	}
	if failed != nil {
		return failed
	}
	return err
}

// try has an attempt left at the till, and where locations share their refill, in the location's own share or in what
// all share.
func (g *guessLimiter) try(ctx context.Context, t merchant.Till, find func() (cost int)) error {
	own, refill, shared := t.Shares()
	if !shared {
		return g.Try(ctx, t, find)
	}
	var failed error
	err := g.Try(ctx, t, func() (cost int) {
		counted := func() int {
			cost = find()
			return cost
		}
		failed = g.Try(ctx, own, counted)
		if limited, used := errors.AsType[*ratelimit.Limited](failed); used {
			failed = g.Try(ctx, refill, counted)
			if later, used := errors.AsType[*ratelimit.Limited](failed); used {
				later.Wait = min(later.Wait, limited.Wait)
			}
		}
		return cost
	})
	return cmp.Or(err, failed)
}

// reward gives attempts back to a till that redeemed a gift, if any are missing. The redemption stands, whatever
// becomes of the reward.
func (g *guessLimiter) reward(ctx context.Context, t merchant.Till, voucher guid.ID) error {
	own, _, shared := t.Shares()
	full, err := g.Full(ctx, t)
	if shared && full && err == nil {
		full, err = g.Full(ctx, own)
	}
	if full || err != nil {
		return err
	}
	defer g.Forget(own)
	defer g.Forget(t)
	return g.records.RewardTill(ctx, t, voucher, g.now())
}

var anonymousRate = ratelimit.Rate{Burst: merchant.AnonymousBurst, Refill: merchant.AnonymousRefill}

// CountAnonymous counts a call that proved no right to be made, or showed what could have been guessed, against the
// client's network. It refuses the call once there were too many.
func (c *Call) CountAnonymous() error {
	ctx, cancel := c.withStoreTimeout(c.ctx)
	defer cancel()
	client, now := clientip.Network(c.config.ClientAddress(c.HTTP)), c.Service.Now()
	bucket, err := c.config.Records.AnonymousBucket(ctx, client)
	if err != nil {
		return Stored(err)
	}
	allowed := anonymousRate.Left(bucket, now) > 0
	if allowed { // else the store is spared a write
		if bucket, allowed, err = c.config.Records.TakeAnonymous(ctx, client, now); err != nil {
			return Stored(err)
		}
	}
	if allowed {
		return nil
	}
	limited := refusal.New(refusal.RateLimited, "Too many requests without a valid API key came from this network. Try "+
		"again in a moment.")
	limited.RetryAfter = anonymousRate.Wait(bucket, now)
	return limited
}
