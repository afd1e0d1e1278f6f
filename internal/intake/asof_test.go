package intake

import (
	"testing"
	"time"

	"boon.example/internal/merchant"
)

// TestWhenGiftsBegin: gifts begin in the books at an instant of the last decades; of one that is rarely meant, whoever
// brings them in is told, by the day of the account.
func TestWhenGiftsBegin(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	auckland, err := time.LoadLocation("Pacific/Auckland")
	if err != nil {
		t.Fatal(err)
	}
	o := &Order{Account: &merchant.Account{Zone: auckland}}
	for at, want := range map[time.Time]struct{ wrong, warned bool }{
		{}:                                  {},
		now:                                 {},
		now.Add(1):                          {wrong: true},
		now.AddDate(-1, 0, 0):               {},
		now.AddDate(-1, 0, 0).Add(-1):       {warned: true},
		now.AddDate(-30, 0, 0):              {warned: true},
		now.AddDate(-30, 0, 0).Add(-1):      {wrong: true},
		time.Unix(0, 0):                     {wrong: true},
		time.Unix(0, 0).AddDate(-904, 0, 0): {wrong: true},
	} {
		wrong := WrongAsOf(at, now)
		if (wrong != nil) != want.wrong {
			t.Errorf("%s: %v", at, wrong)
		}
		if at.IsZero() || wrong != nil {
			continue
		}
		if warning := longAgo(o, at, now); (warning != nil) != want.warned {
			t.Errorf("%s: %v", at, warning)
		}
	}
	const day = "The gifts begin in the books on 2024-02-04, which is more than a year ago. All reports and journals " +
		"since then change. If the old system's last report is of another day, give that day."
	if said := longAgo(o, time.Date(2024, 2, 3, 12, 0, 0, 0, time.UTC), now); said == nil || said.String() != day {
		t.Errorf("%v", said)
	}
}
