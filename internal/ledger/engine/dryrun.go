package engine

import (
	"errors"
	"fmt"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// rehearse decides a dry run: the task's command, by the rules by which it would be carried out, on what is there at
// one moment. What was decided is dropped. The task is in no lane, and keeps nobody waiting.
//
// One thing is kept. Whoever could try verification codes without being counted would know that of a stolen card after
// 10,000 dry runs. So a call that shows one is decided under the lock of its voucher, after every attempt before it,
// and a wrong one is entered as if it had been tried in earnest.
//
// Such calls are decided one at a time, in turns by account. Each may wait for a row that a till has locked, and keeps
// a connection that tills could use meanwhile.
//
// TestDryRunsSayWhatWouldBeAnswered and TestDryRunsGuessNoVerificationCode (internal/face/api) show it, and
// TestDryRunsWaitInTurn.
func (e *Engine) rehearse(t *task) error {
	want, now := ledger.Want{Rehearsed: true}, e.opts.Now().UTC().Truncate(time.Microsecond)
	if err := safely(func() { t.Prepare(now, &want) }); err != nil {
		return err
	}
	var panicked error
	decide := func(loaded *ledger.State) (kept ledger.Changes) {
		panicked = safely(func() {
			g := ledger.NewGroup(loaded, &want, 1, now)
			if g.Decide(&t.Task); t.Call.Verifies && gift.IsWrongCode(t.Err) {
				kept = g.Changes()
			}
		})
		return kept
	}
	var err error
	if t.Call.Verifies {
		err = e.verify(t, want, decide)
	} else {
		err = e.store.Look(t.ctx, want, func(loaded *ledger.State) { decide(loaded) })
	}
	switch {
	case errors.Is(err, ledger.ErrUnknown):
		return fmt.Errorf("%w: %w", ledger.Unavailable("Nothing was done, but it is not known whether the "+
			"verification code was counted as a wrong one."), err)
	case err != nil:
		return fmt.Errorf("%w: %w", ledger.Unavailable("The store is busy or cannot be reached; nothing was done."), err)
	}
	return panicked
}

// verify decides a dry run that shows a verification code, and keeps what decide returns.
func (e *Engine) verify(t *task, want ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	free, err := e.verifying.Take(t.ctx, t.Call.AccountID, t.Call.AccountID)
	if err != nil {
		return err
	}
	defer free()
	begun, told := time.Now(), GroupStats{Commands: 1}
	told.Err = e.store.Group(t.ctx, want, func(loaded *ledger.State) ledger.Changes {
		told.Done = decide(loaded)
		return told.Done
	})
	if told.Took = time.Since(begun); told.Err != nil {
		told.Done = ledger.Changes{}
	}
	e.opts.Observe(told)
	return told.Err
}
