package calendar

import (
	"testing"
	"time"
)

// noon is an instant.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestPeriods(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2026, 1, 31, 12, 0, 0, 0, berlin)
	for text, want := range map[string]time.Time{
		"P0D":     from,
		"P30D":    time.Date(2026, 3, 2, 12, 0, 0, 0, berlin),
		"P1M":     time.Date(2026, 2, 28, 12, 0, 0, 0, berlin),
		"P1Y1M":   time.Date(2027, 2, 28, 12, 0, 0, 0, berlin),
		"P25M":    time.Date(2028, 2, 29, 12, 0, 0, 0, berlin),
		"P9W1D":   time.Date(2026, 4, 5, 12, 0, 0, 0, berlin), // summer time
		"PT36H":   time.Date(2026, 2, 2, 0, 0, 0, 0, berlin),
		"PT1M":    from.Add(time.Minute),
		"P1DT90S": time.Date(2026, 2, 1, 12, 1, 30, 0, berlin),
		"P10Y":    time.Date(2036, 1, 31, 12, 0, 0, 0, berlin),
	} {
		p, ok := ParsePeriod(text)
		if got := p.After(from, berlin); !ok || !got.Equal(want) {
			t.Errorf("%s: %v %s, want %s", text, ok, got, want)
		}
	}
	for _, text := range []string{"", "P", "PT", "P1", "1D", "P-1D", "P1.5D", "P1D1Y", "P1D1D", "P1H", "PT1D", "P1DT",
		"P T1H",
		"p1d", "P51Y", "P99999999999999999999D", "PT1581120001S", "P１D", "P1Y ", "PTT1H", "P1T1H", "P2W1W"} {
		if p, ok := ParsePeriod(text); ok {
			t.Errorf("%q is taken as %+v", text, p)
		}
	}
}

func FuzzPeriod(f *testing.F) {
	f.Add("P1Y2M3W4DT5H6M7S")
	f.Add("P")
	f.Fuzz(func(t *testing.T, text string) {
		p, ok := ParsePeriod(text)
		if !ok {
			return
		}
		if to := p.After(noon, time.UTC); to.Before(noon) || to.Year() > 2400 {
			t.Errorf("%q leads to %s", text, to)
		}
	})
}
