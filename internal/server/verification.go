package server

import (
	"context"
	"time"

	"boon.example/internal/ledger/verify"
)

const (
	verifyTold = time.Minute // how often the log tells how far it is
	failedTold = time.Hour   // how often the log tells that what was restored does not hold
)

// watchVerification reads whether the database was restored before it was verified, and adds the gauge that tells.
func (a *app) watchVerification(ctx context.Context) error {
	s, err := a.store.Verification(ctx)
	if err != nil {
		return err
	}
	a.restored.Store(&s)
	a.metrics.gauge("boon_restore_verification", "1: the database was restored and is not yet verified; 2: it was "+
		"verified and does not hold, the log says why; 0: neither.", func() float64 {
		switch s := a.restored.Load(); {
		case s.Pending:
			return 1
		case s.Problems > 0:
			return 2
		}
		return 0
	})
	return nil
}

// verifyRestored verifies a database that was restored unverified, beside the service, and tells of one that does not
// hold in each round.
func (a *app) verifyRestored(ctx context.Context) error {
	if a.restored.Load().Pending {
		if err := a.verifyOnce(ctx); err != nil {
			return err
		}
	}
	if s := a.restored.Load(); s.Problems > 0 {
		a.Logger.Error("THE RESTORED DATABASE DOES NOT HOLD: restore another backup, or run boon verify", "problems",
			s.Problems, "first", s.First)
	}
	return nil
}

func (a *app) verifyOnce(ctx context.Context) error {
	a.Logger.Warn("the restored database is verified while it is served")
	begun := time.Now()
	told, last := begun, begun
	report, err := verify.All(ctx, a.store, 1, func(done, total int64) {
		_ = sleep(ctx, min(time.Since(last), time.Second)) // calls come first: half of the time is theirs alone
		if last = time.Now(); last.Sub(told) >= verifyTold {
			told = last
			left := time.Duration(float64(last.Sub(begun)) / float64(done) * float64(total-done))
			a.Logger.Info("verifying the restored database", "gifts", done, "of", total, "readInSeconds", int(left.Seconds()))
		}
	})
	if err != nil {
		return err
	}
	if err := a.store.NoteVerified(ctx, &report, time.Now()); err != nil {
		return err
	}
	s, err := a.store.Verification(ctx)
	if err != nil {
		return err
	}
	for _, p := range report.Problems {
		a.Logger.Error("the books do not add up", "problem", p)
	}
	if s.Problems == 0 {
		a.Logger.Info("the restored database is verified: everything holds", "gifts", report.Vouchers, "entries",
			report.Entries)
	}
	a.restored.Store(&s)
	return nil
}

// sleep waits, and not longer than ctx lives.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
