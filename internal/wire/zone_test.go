package wire

import (
	"strings"
	"testing"

	"golang.org/x/text/language"
)

func TestParseZone(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"America/New_York": "America/New_York", "UTC": "UTC", "Etc/GMT+5": "Etc/GMT+5",
		"America/Argentina/Buenos_Aires": "America/Argentina/Buenos_Aires",
		"America/Port-au-Prince":         "America/Port-au-Prince", "EST5EDT": "EST5EDT",
		"Eastern Standard Time": "America/New_York", "Pacific Standard Time (Mexico)": "America/Tijuana",
		"W. Europe Standard Time": "Europe/Berlin",
		"UTC-11":                  "Etc/GMT+11", "Samoa Standard Time": "Pacific/Apia",
	} {
		iana, zone, err := ParseZone(given)
		if err != nil || iana != want || zone.String() != want {
			t.Errorf("%q: got %q, %v, %v", given, iana, zone, err)
		}
	}
	for _, bad := range []string{
		"", "Local", "local", "localtime", "Factory", "posixrules", "right/UTC", "posix/America/New_York", "zone.tab",
		"tzdata.zi", "+VERSION",
		"/etc/localtime", "/usr/share/zoneinfo/UTC", "../UTC", "..", ".",
		"America/..", "America/../UTC", "America/./New_York", "America", "America/", "America//New_York", `America\New_York`,
		`C:\UTC`,
		"america/new_york", "EASTERN STANDARD TIME", "Eastern Standard Time ", " UTC", "UTC\x00", "UTC\n", "Ämerica/New_York",
		"Mars/Olympus", "+01:00", "UTC+1", "GMT+25",
		strings.Repeat("A", 1<<20), "America/" + strings.Repeat("x", 100), "$HOME", "%00", "{}",
	} {
		if iana, zone, err := ParseZone(bad); err == nil || iana != "" || zone != nil ||
			!strings.HasPrefix(err.Error(), strings.TrimSuffix(errZone.Error(), ".")) {
			t.Errorf("%.60q: got %.60q, %v, %v", bad, iana, zone, err)
		}
	}
}

func TestParseZoneTellsWhatWasMeant(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"Berlin": "Europe/Berlin", "berlin": "Europe/Berlin",
		"europe/berlin": "Europe/Berlin", "Europe/Berlni": "Europe/Berlin", "Europe/Berlin ": "Europe/Berlin",
		"New York": "America/New_York", "america/new_york": "America/New_York", "tokyo": "Asia/Tokyo",
		"Asia/Tokio":             "Asia/Tokyo",
		"AMERICA/PORT-AU-PRINCE": "America/Port-au-Prince", "": "", "Mars/Olympus": "", "../UTC": "", "Local": "", "CEST": "",
		"right/UTC": "", strings.Repeat("A", 1<<20): ""} {
		_, _, err := ParseZone(given)
		_, said, _ := strings.Cut(err.Error(), "; did you mean ")
		if strings.TrimSuffix(said, "?") != want {
			t.Errorf("%.60q: %v, want %q", given, err, want)
		}
	}
}

func TestEveryWindowsZoneLoads(t *testing.T) {
	t.Parallel()
	if len(windowsZones) < 130 {
		t.Errorf("there are %d of them only", len(windowsZones))
	}
	for windows, iana := range windowsZones {
		got, zone, err := ParseZone(windows)
		if windows == "UTC" {
			iana = "UTC" // an IANA id too
		}
		if err != nil || got != iana || zone.String() != iana {
			t.Errorf("%s: got %q, %v, %v; want %s", windows, got, zone, err, iana)
		}
	}
}

func FuzzZone(f *testing.F) {
	for _, s := range []string{"America/New_York", "Eastern Standard Time", "UTC-11", "Local", "../UTC", "/etc/passwd",
		"right/UTC", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		iana, zone, err := ParseZone(s)
		if err != nil {
			return
		}
		if again, _, err := ParseZone(iana); err != nil || again != iana || zone.String() != iana {
			t.Fatalf("%q became %q, which became %q, %v", s, iana, again, err)
		}
		if strings.Contains(iana, "..") || iana[0] == '/' || iana == "Local" || len(iana) > maxZone {
			t.Fatalf("%q became %q", s, iana)
		}
	})
}

// TestZones: each time zone that is offered is taken, and is of a country.
func TestZones(t *testing.T) {
	t.Parallel()
	all := Zones()
	if len(all) < 400 {
		t.Errorf("there are %d only", len(all))
	}
	for _, z := range all {
		id, _, err := ParseZone(z.ID)
		if _, unknown := language.ParseRegion(z.Country); err != nil || id != z.ID || unknown != nil {
			t.Errorf("%v: %v, %v", z, err, unknown)
		}
	}
	for id, country := range map[string]string{"Europe/Vienna": "AT", "America/Chicago": "US", "Europe/Zurich": "CH",
		"W. Europe Standard Time": "DE", "UTC": "", "Etc/GMT+5": "", "Mars/Olympus": "", "": ""} {
		if got := CountryOfZone(id); got != country {
			t.Errorf("%q is of %q", id, got)
		}
	}
}
