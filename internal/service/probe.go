package service

import (
	"errors"

	"boon.example/internal/base/phrase"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
)

// NoteProbe notes that a gift was asked for by its code or token where it can pay, if it is a card of the account that
// is not sold yet: whoever has its code then may have read it under the cover. It is told before the answer, once in
// event.ProbedEvery for each card, and no oftener than calls that move nothing are kept. A store that takes no note
// keeps no till from its answer.
func (c *Call) NoteProbe(g *gift.Gift, location guid.ID) {
	if g.Status != gift.NotActivated || g.AccountID != c.Account.ID || c.DryRun {
		return
	}
	err := c.config.Records.NoteProbe(c.ctx, event.TrailEntry{AccountID: c.Account.ID, Actor: c.Actor(location).Actor,
		VoucherID: g.ID, RequestID: c.RequestID,
		What: phrase.Kept("card %s was asked for by its code, and is not sold yet").Say(g.ID)}, c.MachineTime(), c.CountKept)
	if err != nil && !errors.Is(err, refusal.RateLimited) {
		c.Warning = "no note was taken of a card that was asked for before it is sold: " + err.Error()
	}
}
