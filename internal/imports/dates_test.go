package imports

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"boon.example/internal/merchant"
)

// TestDatesAsExportsWriteThem: each is the day that it can only be; what could be two days is refused.
func TestDatesAsExportsWriteThem(t *testing.T) {
	t.Parallel()
	zone := account(t).TimeZone()
	for text, want := range map[string]string{
		"2027-12-31": "", "2027/12/31": "", "20271231": "", "31.12.2027": "", "31/12/2027": "", "12/31/2027": "",
		"31-12-2027": "", "12-31-2027": "", "December 31, 2027": "", "Dec 31, 2027": "", "31 Dec 2027": "",
		"31 December 2027": "", "31-Dec-2027": "", "31-DEC-2027": "",
		"12/31/2027 11:59 PM": "23:59", "12/31/2027 11:59:30 pm": "23:59:30", "2027-12-31 23:59:30": "23:59:30",
		"2027-12-31T23:59": "23:59", "31.12.2027 23:59": "23:59", "December 31, 2027, 11:59 PM": "23:59",
		"2028-01-01 04:59:30 UTC": "23:59:30", "2027-12-31 23:59:30 -0500": "23:59:30",
		"5/5/2027": "05-05", "05.04.2027": "04-05", "5.4.2027": "04-05",
		"05/04/2027": "two", "4-5-2027": "two", "12/31/27": "no", "31.12.27": "no", "27-12-31": "no", "46387": "no",
		"31/31/2027": "no", "29.2.2027": "no", "13.13.2027": "no", "1231": "no", "never": "no", "N/A": "no",
		"2027-12-31 23:59:30 XYZ": "no", "1969-12-31": "no", ":": "no", " :": "no",
	} {
		at, clocked, wrong := readDay(text, zone, UnknownFirst, &orders{})
		got := at.In(zone).Format("15:04")
		switch {
		case wrong == errNoDate:
			got = "no"
		case wrong == errTwoDays:
			got = "two"
		case !clocked && at.Format("01-02") == "12-31":
			got = ""
		case !clocked:
			got = at.Format("01-02")
		case at.Second() != 0:
			got = at.In(zone).Format(time.TimeOnly)
		}
		if got != want {
			t.Errorf("%q is %q, want %q: %v %v", text, got, want, at, wrong)
		}
	}
	at, _, wrong := readDay("05/04/2027", zone, MonthFirst, &orders{})
	if wrong != nil || at.Format(time.DateOnly) != "2027-05-04" {
		t.Errorf("with the month first: %v, %v", at, wrong)
	}
	at, _, wrong = readDay("31/12/2027", zone, MonthFirst, &orders{})
	if wrong != nil || at.Format(time.DateOnly) != "2027-12-31" {
		t.Errorf("a day that is no month: %v, %v", at, wrong)
	}
	_, problems, _ := file(t, merchant.FromOther, strings.NewReader("code,balance,expires\nAAAA1111,5,05/04/2027\n"))
	if len(problems) != 1 || problems[0].Column != "expires" || !strings.Contains(problems[0].Said.String(), "the month") {
		t.Errorf("%v", problems)
	}
}

// TestADayIsNeverAnother: whatever way a day is written in, it is read as that day or refused.
func TestADayIsNeverAnother(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(1, 2))
	ways := []string{"2006-01-02", "2006/1/2", "20060102", "2.1.2006", "02.01.2006", "1/2/2006", "01/02/2006", "2/1/2006",
		"02-01-2006", "Jan 2, 2006", "2 January 2006", "02-Jan-2006", "06-01-02", "1/2/06", "2.1.06", "1/2/2006 3:04 PM",
		"2006-01-02T15:04:05", "2.1.2006 15:04"}
	for range 20_000 {
		day := time.Date(1971, 1, 1+draw.IntN(40_000), 0, 0, 0, 0, time.UTC)
		text := day.Format(ways[draw.IntN(len(ways))])
		if at, _, wrong := readDay(text, time.UTC, UnknownFirst, &orders{}); wrong == nil && !at.Equal(day) {
			t.Fatalf("%s, written %q, is read as %s", day.Format(time.DateOnly), text, at)
		}
	}
}

// TestAFileShowsTheOrderOfItsDates: one date that can be one day only says how the others are meant, unless another one
// says otherwise.
func TestAFileShowsTheOrderOfItsDates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from  merchant.System
		dates string
		order DateOrder
		other bool
	}{
		{merchant.FromOther, "05/04/2027", UnknownFirst, false},
		{merchant.FromOther, "05/04/2027 12/31/2027", MonthFirst, true},
		{merchant.FromOther, "31/12/2027 05/04/2027", DayFirst, true},
		{merchant.FromOther, "31/12/2027", DayFirst, false},
		{merchant.FromOther, "31/12/2027 12/31/2027 05/04/2027", UnknownFirst, false},
		{merchant.FromOther, "31.12.2027 5/5/2027 2027-01-02", UnknownFirst, false},
		{merchant.FromSquare, "05/04/2025", MonthFirst, false},
		{merchant.FromSquare, "05/04/2025 31/12/2025", DayFirst, true},
		{merchant.FromSquare, "05/04/2025 31/12/2025 12/31/2025", UnknownFirst, true},
	} {
		text := "code,balance,created at\n"
		for n, date := range strings.Fields(c.dates) {
			text += fmt.Sprintf("AAAA111%d,5,%s\n", n, date)
		}
		r, err := NewReader(strings.NewReader(strings.ReplaceAll(text, "code", codeName(c.from))), account(t), c.from, now)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, _, err = r.Next()
		}
		if order, other := r.Dates(); order != c.order || other != c.other {
			t.Errorf("%s %s: %q, %v", c.from, c.dates, order, other)
		}
	}
}

// TestColumnsThatAreNotReadAreNamed: also where two columns say the same, and only so many.
func TestColumnsThatAreNotReadAreNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"code,balance,Valid thru,,Tip":             "Valid thru,Tip",
		"code,balance":                             "",
		"balance,code,recipient name,recipient":    "recipient name",
		"code,balance" + strings.Repeat(",x", 200): strings.Repeat(",x", 100)[1:],
	} {
		r, err := NewReader(strings.NewReader(text+"\n"), account(t), merchant.FromOther, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.Unread(), ","); got != want {
			t.Errorf("%.60q: %q", text, got)
		}
	}
}

func codeName(from merchant.System) string {
	if from == merchant.FromSquare {
		return "gan"
	}
	return "code"
}
