package store

import (
	"testing"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
)

// testIDsAhead: what has an id of months after it was made, as when a clock was set back, is found by its time all the
// same: in lists of gifts, of activity and of what a key did, in the audit trail, in exports, and where old names are
// looked for. What was made later is not.
func testIDsAhead(t *testing.T, open opener) {
	s, _ := open(t)
	account := &merchant.Account{ID: newID(), Name: "Harbor"}
	gifts := issue(t, s, account.ID, 3)
	by := merchant.Actor{KeyID: newID()}
	_, err := redeemBy(t.Context(), s, by, &gifts[0].Voucher, 10_000)
	must(t, err)
	must(t, s.AddTrail(t.Context(), event.TrailEntry{AccountID: account.ID, Action: event.SetupChanged}))
	_, err = s.db.Writer.Exec(`UPDATE trail SET made_at = $1 WHERE account_id = $2`, db.Micros(noon),
		db.KeyOf(account.ID))
	must(t, err)
	for to, want := range map[time.Time]int{noon.Add(time.Hour): 1, noon.Add(-time.Minute): 0} {
		for name, found := range s.madeBefore(t, account, by.KeyID, to) {
			if all := map[string]int{"gifts": 3, "activity": 4, "of a key": 1, "trail": 1, "exported gifts": 3,
				"exported entries": 4, "ended": 1}[name]; found != all*want {
				t.Errorf("before %s there are %d (%s), want %d", to, found, name, all*want)
			}
		}
	}
}

// madeBefore counts what was made in the day before an instant, by who looks for it.
func (s *Store) madeBefore(t *testing.T, account *merchant.Account, key guid.ID, to time.Time) map[string]int {
	t.Helper()
	from, found := to.AddDate(0, 0, -1), map[string]int{}
	page, err := s.List(t.Context(), gift.Filter{AccountID: account.ID, CreatedFrom: from, CreatedTo: to, Limit: 9})
	must(t, err)
	found["gifts"] = len(page.Gifts)
	changes := gift.ChangeFilter{AccountID: account.ID, From: from, To: to, Limit: 9}
	activity, err := s.Activity(t.Context(), changes)
	must(t, err)
	found["activity"] = len(activity.Changes)
	changes.KeyID = key
	ofKey, err := s.Activity(t.Context(), changes)
	must(t, err)
	found["of a key"] = len(ofKey.Changes)
	trail, err := s.Trail(t.Context(), event.TrailFilter{AccountID: account.ID, From: from, To: to, Limit: 9})
	must(t, err)
	for _, e := range trail.Entries {
		if e.Action == event.SetupChanged {
			found["trail"]++
		}
	}
	must(t, s.EachGift(t.Context(), account.ID, from, to,
		func(*gift.Gift) error { found["exported gifts"]++; return nil }))
	must(t, s.EachEntry(t.Context(), account.ID, from, to,
		func(*gift.Change) error { found["exported entries"]++; return nil }))
	ended, _, _, err := s.Eraser.Ended(t.Context(), account, guid.ID{}, to)
	must(t, err)
	found["ended"] = len(ended)
	return found
}
