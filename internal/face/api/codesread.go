package api

import (
	"sync"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// codesSeen has when the audit trail was last told that a key sees codes, so that look-ups do not fill it.
type codesSeen struct {
	mu   sync.Mutex
	last map[guid.ID]time.Time
}

// tellCodesAgain is how soon the trail is told once more when the store took no entry, as on a full disk: looking gifts
// up goes on meanwhile, with log and metric.
const tellCodesAgain = time.Minute

// tellCodesEvery is how often the audit trail is told that a key goes on reading codes. The log and the metric tell
// each look-up.
const tellCodesEvery = time.Hour

// isDue reports whether the trail is to be told of a key, and takes it that it is told now.
func (s *codesSeen) isDue(key guid.ID, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if age := now.Sub(s.last[key]); age >= 0 && age < tellCodesEvery {
		return false
	}
	if s.last == nil {
		s.last = map[guid.ID]time.Time{}
	}
	s.last[key] = now
	return true
}

// failed takes it that the trail was not told of a key.
func (s *codesSeen) failed(key guid.ID, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last[key] = now.Add(tellCodesAgain - tellCodesEvery)
}

// showsCodes notes that an answer is about to show the codes of so many gifts, where the key may see them: in the audit
// trail before the answer, once an hour, and in the log line and the metric of each call. A store that takes no entry
// keeps nobody from looking a gift up: it is what staff do first when the till says no.
func (c *call) showsCodes(gifts int) {
	if c.Caller.May(merchant.MaySeeCodes) {
		c.tellsCodes(gifts)
	}
}

// tellsCodes is showsCodes for codes that the caller is shown whatever it may see.
func (c *call) tellsCodes(gifts int) {
	if gifts == 0 {
		return
	}
	c.Codes = gifts
	now := c.MachineTime()
	if !c.seen.isDue(c.Caller.KeyID, now) {
		return
	}
	err := c.Records.AddTrail(c.Context(), event.TrailEntry{AccountID: c.Account.ID, Actor: c.Actor(guid.ID{}).Actor,
		Action: event.CodesRead, RequestID: c.RequestID,
		What: phrase.Kept("the key %s looks up codes of gifts").Say(c.Caller.Name)})
	if err != nil {
		c.seen.failed(c.Caller.KeyID, now)
		c.Warning = "the audit trail took no note of codes that were read: " + err.Error()
	}
}
