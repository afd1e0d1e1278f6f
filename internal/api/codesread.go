package api

import (
	"sync"
	"time"

	"boon.example/internal/gift"
)

// codesSeen has when the audit trail was last told that a key sees codes, so that look-ups do not fill it.
type codesSeen struct {
	mu   sync.Mutex
	last map[gift.ID]time.Time
}

// tellCodesEvery is how often the audit trail is told that a key goes on reading codes. The log and the metric tell
// each look-up.
const tellCodesEvery = time.Hour

// isDue reports whether the trail is to be told of a key, and takes it that it is told now.
func (s *codesSeen) isDue(key gift.ID, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if age := now.Sub(s.last[key]); age >= 0 && age < tellCodesEvery {
		return false
	}
	if s.last == nil {
		s.last = map[gift.ID]time.Time{}
	}
	s.last[key] = now
	return true
}

func (s *codesSeen) forget(key gift.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.last, key)
}

// showsCodes notes that a look-up is about to show the codes of so many gifts, where the key may see them: in the audit
// trail before the answer, once an hour, and in the log line and the metric of each call.
func (c *call) showsCodes(gifts int) error {
	if gifts == 0 || !c.caller.May(gift.MaySeeCodes) {
		return nil
	}
	c.codes = gifts
	if !c.seen.isDue(c.caller.KeyID, c.sendingTime()) {
		return nil
	}
	err := c.Records.AddTrail(c.ctx, gift.TrailEntry{AccountID: c.account.ID, Actor: c.actor(gift.ID{}).Actor,
		Action: gift.CodesRead, RequestID: c.requestID, What: "the key " + c.caller.Name + " looks up codes of gifts"})
	if err != nil {
		c.seen.forget(c.caller.KeyID)
		return stored(err)
	}
	return nil
}
