package setup_test

import (
	"slices"
	"testing"
	"time"

	"boon.example/internal/merchant"
	"boon.example/internal/setup"
)

// TestFirstSendsTextsHome: a first account sends SMS to the country of its time zone beside the usual ones, and to no
// others.
func TestFirstSendsTextsHome(t *testing.T) {
	t.Parallel()
	for zone, want := range map[string][]string{"Europe/Vienna": {"AT", "CA", "US"}, "Europe/London": {"CA", "GB", "US"},
		"W. Europe Standard Time": {"CA", "DE", "US"}, "America/Toronto": {"US", "CA"}, "America/Chicago": {"US", "CA"},
		"UTC": {"US", "CA"}, "Etc/GMT+5": {"US", "CA"}, "Antarctica/Vostok": {"US", "CA"}} {
		store := open(t)
		q := setup.First{Name: "Nord", Currency: "EUR", Zone: zone, Language: merchant.German, Location: "Hafen",
			Till: "Theke"}
		id, _, err := q.Begin(t.Context(), store, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if got := directory(t, store).Accounts[id].TextedCountries(); !slices.Equal(got, want) {
			t.Errorf("from %s, SMS goes to %q", zone, got)
		}
	}
}
