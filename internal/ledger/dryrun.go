package ledger

import (
	"fmt"
	"time"

	"boon.example/internal/gift"
)

// rehearse decides a dry run: the task's command, by the rules by which it would be carried out, on what is there at
// one moment. What was decided is dropped. The task is in no lane, and keeps nobody waiting.
//
// One thing is kept. Whoever could try verification codes without being counted would know that of a stolen card after
// 10,000 dry runs. So a call that shows one is decided under the lock of its voucher, after every attempt before it,
// and a wrong one is entered as if it had been tried in earnest.
//
// TestDryRunsSayWhatWouldBeAnswered and TestDryRunsGuessNoVerificationCode (internal/face/api) show it.
func (e *Engine) rehearse(t *task) error {
	want, now := Want{Rehearsed: true}, e.opts.Now().UTC().Truncate(time.Microsecond)
	if err := safely(func() { t.prepare(now, &want) }); err != nil {
		return err
	}
	var panicked error
	decide := func(loaded *State) (kept Changes) {
		panicked = safely(func() {
			s := newState(loaded, &want, 1, now)
			s.begin(t.call)
			if t.decide(s); t.call.Verifies && gift.IsWrongCode(t.err) {
				kept = s.changes
			}
		})
		return kept
	}
	var err error
	if t.call.Verifies {
		err = e.store.Group(t.ctx, want, decide)
	} else {
		err = e.store.Look(t.ctx, want, func(loaded *State) { decide(loaded) })
	}
	if err != nil {
		return fmt.Errorf("%w: %w", unavailable("The store is busy or cannot be reached; nothing was done."), err)
	}
	return panicked
}
