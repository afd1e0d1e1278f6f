package locale

import (
	"strings"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// TestRegions: amounts, dates and times as CLDR 48 has them for regions of our languages. A space that does not break
// is written as _ here.
func TestRegions(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 30, 20, 5, 0, 0, time.UTC)
	for tag, want := range map[string]struct{ money, number, day, short, clock string }{
		"en-":   {"$12,345.50", "1,350", "January 30, 2026", "January 30", "8:05 PM"},
		"en-US": {"$12,345.50", "1,350", "January 30, 2026", "January 30", "8:05 PM"},
		"en-GB": {"£12,345.50", "1,350", "30 January 2026", "30 January", "20:05"},
		"en-CA": {"$12,345.50", "1,350", "January 30, 2026", "January 30", "8:05_p.m."},
		"en-AU": {"$12,345.50", "1,350", "30 January 2026", "30 January", "8:05_pm"},
		"en-IN": {"₹12,345.50", "1,350", "30 January 2026", "30 January", "8:05_pm"},
		"de-":   {"12.345,50_€", "1.350", "30. Januar 2026", "30. Januar", "20:05 Uhr"},
		"de-AT": {"€_12.345,50", "1_350", "30. Jänner 2026", "30. Jänner", "20:05 Uhr"},
		"de-CH": {"CHF_12'345.50", "1'350", "30. Januar 2026", "30. Januar", "20:05 Uhr"},
		"fr-":   {"12_345,50_€", "1_350", "30 janvier 2026", "30 janvier", "20:05"},
		"fr-CA": {"12_345,50_$", "1_350", "30 janvier 2026", "30 janvier", "20 h 05"},
		"fr-CH": {"12_345.50_CHF", "1_350", "30 janvier 2026", "30 janvier", "20:05"},
		"es-":   {"12_345,50_€", "1350", "30 de enero de 2026", "30 de enero", "20:05"},
		"es-MX": {"$12,345.50", "1,350", "30 de enero de 2026", "30 de enero", "8:05_p.m."},
		"es-US": {"$12,345.50", "1,350", "30 de enero de 2026", "30 de enero", "8:05_p.m."},
		"es-AR": {"$_12.345,50", "1.350", "30 de enero de 2026", "30 de enero", "8:05_p._m."},
		"ja-JP": {"¥12,345", "1,350", "2026年1月30日", "1月30日", "20:05"},
	} {
		currency := money.Currency{Code: map[string]string{"en-": "USD", "en-US": "USD", "en-GB": "GBP", "en-CA": "CAD",
			"en-AU": "AUD", "en-IN": "INR", "de-CH": "CHF", "fr-CH": "CHF", "fr-CA": "CAD", "es-MX": "MXN", "es-US": "USD",
			"es-AR": "ARS", "ja-JP": "JPY"}[tag], Decimals: 2}
		amount := money.Amount(12345_50)
		switch {
		case currency.Code == "":
			currency.Code = "EUR"
		case currency.Code == "JPY":
			currency.Decimals, amount = 0, 12345
		}
		language, country, _ := strings.Cut(tag, "-")
		l := For(merchant.Language(language)).In(country)
		for _, x := range [][2]string{{l.Money(amount, currency), want.money}, {l.Number(1350), want.number},
			{l.Day(at), want.day}, {l.DayAndMonth(at), want.short}, {l.Clock(at), want.clock}} {
			if got := strings.NewReplacer("\u00a0", "_", "\u202f", "_").Replace(x[0]); got != x[1] {
				t.Errorf("%s: %q, want %q", tag, got, x[1])
			}
		}
	}
}

// TestSmallAndLargeAmounts: the least number of digits that is grouped, and groups of two.
func TestSmallAndLargeAmounts(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string][2]string{
		"es-": {"1350,00", "12_345_678,00"}, "es-MX": {"1,350.00", "12,345,678.00"}, "de-CH": {"1'350.00", "12'345'678.00"},
		"en-IN": {"1,350.00", "1,23,45,678.00"},
	} {
		language, country, _ := strings.Cut(tag, "-")
		l := For(merchant.Language(language)).In(country)
		for n, amount := range []money.Amount{1350_00, 12_345_678_00} {
			got := l.Money(amount, money.Currency{Code: "XTS", Decimals: 2})
			if got = strings.NewReplacer("\u00a0", "_", "XTS", "").Replace(got); strings.Trim(got, "_") != want[n] {
				t.Errorf("%s: %q, want %q", tag, got, want[n])
			}
		}
	}
}

// TestMonthsAreWritten: with the year, by the names of the region.
func TestMonthsAreWritten(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{"en-US": "January 2026", "de-DE": "Januar 2026", "de-AT": "Jänner 2026",
		"fr-FR": "janvier 2026", "es-MX": "enero de 2026", "ja-JP": "2026年1月"} {
		language, country, _ := strings.Cut(tag, "-")
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		if is := For(merchant.Language(language)).In(country).Month(at); is != want {
			t.Errorf("%s: %q, want %q", tag, is, want)
		}
	}
}

// TestEveryRegionWrites: each can write an amount and a moment, and the day, the month and the year are in its dates.
func TestEveryRegionWrites(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 8, 5, 0, 0, time.UTC)
	for tag := range regions() {
		language, country, _ := strings.Cut(tag, "-")
		l := For(merchant.Language(language)).In(country)
		day, moment := l.Day(at), l.Moment(at)
		if !strings.Contains(day, "30") || !strings.Contains(day, "2026") || strings.Contains(moment, "%") ||
			strings.Contains(moment, "PM") || !strings.Contains(moment, day) || l.Language() != merchant.Language(language) {
			t.Errorf("%s: %s", tag, moment)
		}
		if got := l.Money(1234_00, money.Currency{Code: "EUR", Decimals: 2}); !strings.Contains(got, "234") ||
			strings.HasPrefix(got, "\u00a0") || strings.HasSuffix(got, "\u00a0") {
			t.Errorf("%s: %q", tag, got)
		}
	}
}

// TestWhoseWayOfWriting: the region of the recipient's language tag, else the account's country: that of the set-up, of
// all locations, or of the currency.
func TestWhoseWayOfWriting(t *testing.T) {
	t.Parallel()
	at := func(j ...string) (all []merchant.Location) {
		for _, one := range j {
			all = append(all, merchant.Location{Jurisdiction: one})
		}
		return all
	}
	mxn, eur, usd := money.Currency{Code: "MXN", Decimals: 2}, money.Currency{Code: "EUR", Decimals: 2},
		money.Currency{Code: "USD", Decimals: 2}
	for name, tt := range map[string]struct {
		reads merchant.Language
		tag   string
		a     merchant.Account
		want  string
	}{
		"the currency's country":    {merchant.Spanish, "", merchant.Account{Currency: mxn}, "$1,350.00"},
		"the euro has none":         {merchant.German, "", merchant.Account{Currency: eur}, "1.350,00_€"},
		"the country of the set-up": {merchant.German, "", merchant.Account{Currency: eur, Country: "AT"}, "€_1.350,00"},
		"of all locations": {merchant.German, "", merchant.Account{Currency: eur, Locations: at("AT-9", "AT", "")},
			"€_1.350,00"},
		"of locations in two": {merchant.German, "", merchant.Account{Currency: eur, Locations: at("AT-9", "DE")},
			"1.350,00_€"},
		"the recipient's own": {merchant.German, "de-AT", merchant.Account{Currency: eur, Country: "DE"},
			"€_1.350,00"},
		"the recipient's, with script": {merchant.German, "de-Latn-at", merchant.Account{Currency: eur}, "€_1.350,00"},
		"read in another language":     {merchant.English, "de-AT", merchant.Account{Currency: usd}, "$1,350.00"},
		"a language without a region":  {merchant.Spanish, "es", merchant.Account{Currency: usd}, "$1,350.00"},
	} {
		got := Of(tt.reads, &gift.Gift{Card: gift.Card{Language: tt.tag}}, &tt.a).Money(1350_00, tt.a.Currency)
		if got = strings.ReplaceAll(got, "\u00a0", "_"); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestWholeDays: days from the first to the last, as short as people write them.
func TestWholeDays(t *testing.T) {
	t.Parallel()
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	first := day(2026, 11, 20)
	for tag, want := range map[string][4]string{
		"en-": {"November 20 to 29, 2026", "November 20 to December 1, 2026", "November 20, 2026 to January 1, 2027",
			"November 20, 2026"},
		"en-GB": {"20 to 29 November 2026", "20 November to 1 December 2026", "20 November 2026 to 1 January 2027",
			"20 November 2026"},
		"de-AT": {"20. bis 29. November 2026", "20. November bis 1. Dezember 2026", "20. November 2026 bis 1. Jänner 2027",
			"20. November 2026"},
		"fr-": {"20 au 29 novembre 2026", "20 novembre au 1er décembre 2026", "20 novembre 2026 au 1er janvier 2027",
			"20 novembre 2026"},
		"es-": {"20 al 29 de noviembre de 2026", "20 de noviembre al 1 de diciembre de 2026",
			"20 de noviembre de 2026 al 1 de enero de 2027", "20 de noviembre de 2026"},
		"ja-": {"2026年11月20～29日", "11月20日～2026年12月1日", "2026年11月20日～2027年1月1日", "2026年11月20日"},
	} {
		language, country, _ := strings.Cut(tag, "-")
		l := For(merchant.Language(language)).In(country)
		for n, last := range []time.Time{day(2026, 11, 29), day(2026, 12, 1), day(2027, 1, 1), first} {
			got := strings.NewReplacer(" (UTC)", "", "（UTC）", "").Replace(l.Days(first, last))
			if got != want[n] {
				t.Errorf("%s: %q, want %q", tag, got, want[n])
			}
		}
	}
}

// TestNoTitleTwice: a Japanese name that has a title gets no other.
func TestNoTitleTwice(t *testing.T) {
	t.Parallel()
	ja, en := For(merchant.Japanese), For(merchant.English)
	for person, want := range map[string]string{"山田花子": "山田花子様", "山田様": "山田様", "田中さん": "田中さん",
		"花子ちゃん\u3000": "花子ちゃん\u3000",
		"株式会社茶 御中":    "株式会社茶 御中"} {
		if got := ja.Text(ja.Addressed("mail.hello", person), person); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := en.Text(en.Addressed("mail.hello", "山田様"), "山田様"); got != "Hello 山田様," {
		t.Error(got)
	}
}
