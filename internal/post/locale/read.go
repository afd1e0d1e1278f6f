package locale

import (
	"strings"

	"boon.example/internal/money"
)

// Readings are what an amount may mean that somebody typed: none where it is no amount of the currency, and two where
// what stands in it may be a decimal sign as well as a group sign: 1,250 in German is 1,25 with a digit too many, or
// 1.250. The language decides only where the currency agrees with it.
func (l *Locale) Readings(typed string, c money.Currency) []money.Number {
	return l.readings(typed, c, true)
}

// ReadingsOfFile are Readings of what stands in a file. Its writer need not have the language of whoever reads it:
// 1,250 in English is 1,250 dollars to the one, and 1.25 to the other, in whose file 25,00 is the next line.
func (l *Locale) ReadingsOfFile(text string, c money.Currency) []money.Number {
	return l.readings(text, c, false)
}

// readings are Readings. Where the writer is not known to have the language, what groups digits in it may not do so.
func (l *Locale) readings(typed string, c money.Currency, known bool) []money.Number {
	sign, text := signed(strings.Map(plain, strings.TrimSpace(typed)))
	at := strings.LastIndexAny(text, ".,")
	whole, grouped := l.ungrouped(text)
	if at < 0 { // 1250, 1 250
		return fitting(c, grouped, sign+whole)
	}
	mark, fraction := text[at:at+1], text[at+1:]
	front, decimal := l.ungrouped(text[:at])
	decimal = decimal && !strings.Contains(text[:at], mark) && onlyDigits(fraction)
	asDecimal, asGroup := sign+front+"."+fraction, sign+whole
	both := fitting(c, true, asGroup, asDecimal)
	switch point, group := l.marks(); {
	case !grouped:
		return fitting(c, decimal, asDecimal)
	case !decimal:
		return fitting(c, true, asGroup)
	case mark == point && c.Decimals >= len(fraction):
		return fitting(c, true, asDecimal)
	case mark == group && c.Decimals < len(fraction) && (known || len(both) < 2):
		return fitting(c, true, asGroup)
	case len(both) == 2:
		return both
	}
	return nil // 1,255 in German: neither is what its writer meant for sure
}

// plain is a sign as it is read: people type several for the same.
func plain(r rune) rune {
	switch r {
	case '\u00a0', '\u202f', '\u2009', '\'', '’':
		return ' '
	case '−':
		return '-'
	}
	return r
}

// signed takes the sign off a number.
func signed(text string) (sign, rest string) {
	if rest, minus := strings.CutPrefix(text, "-"); minus {
		return "-", rest
	}
	return "", strings.TrimPrefix(text, "+")
}

// marks are what stands before decimals, and between groups of digits.
func (l *Locale) marks() (point, group string) {
	group, _ = l.grouping()
	point = l.Text("number.decimal")
	if l.region != nil {
		point = l.region.Decimal
	}
	return point, strings.Map(plain, group)
}

// ungrouped is a whole number without what stands between its groups of digits, which is the same sign everywhere.
func (l *Locale) ungrouped(text string) (digits string, ok bool) {
	at := strings.IndexAny(text, "., ")
	if at < 0 {
		return text, onlyDigits(text)
	}
	groups := strings.Split(text, text[at:at+1])
	step := 3
	if l.region != nil && l.region.Lakh {
		step = 2
	}
	last := len(groups) - 1
	for n, group := range groups {
		switch {
		case !onlyDigits(group), n == last && len(group) != 3, n == 0 && (len(group) > step || group[0] == '0'),
			0 < n && n < last && len(group) != step:
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}

func onlyDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// fitting are those of some numbers that are amounts of the currency.
func fitting(c money.Currency, ok bool, numbers ...string) (fit []money.Number) {
	for _, n := range numbers {
		if _, err := c.ParseSigned(money.Number(n)); ok && err == nil {
			fit = append(fit, money.Number(n))
		}
	}
	return fit
}
