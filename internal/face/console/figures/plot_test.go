package figures

import (
	"strings"
	"testing"
	"time"

	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/locale"
)

// TestPlots: bars stand on the ground, none is higher than the plot, and round amounts are marked, whatever is drawn.
func TestPlots(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unit  money.Currency
		most  money.Amount
		rules string
	}{
		{money.Currency{Code: "USD", Decimals: 2}, 0, "0 1"},
		{money.Currency{Code: "USD", Decimals: 2}, 99, "0 1"},
		{money.Currency{Code: "USD", Decimals: 2}, 134_000, "0 500 1,000 1,500"},
		{money.Currency{Code: "JPY"}, 3_999, "0 1,000 2,000 3,000 4,000"},
		{money.Currency{Code: "KWD", Decimals: 3}, 8_000_000, "0 2,000 4,000 6,000 8,000"},
	} {
		days := make([]Day, 90)
		for n := range days {
			days[n].Date = time.Date(2026, 9, 1+n, 0, 0, 0, 0, time.UTC)
		}
		days[3].Sold, days[4].Redeemed = c.most, c.most/2
		p := Draw(days, c.unit, locale.For(merchant.English))
		var rules []string
		for _, r := range p.Rules {
			rules = append(rules, r.Text)
		}
		if is := strings.Join(rules, " "); is != c.rules {
			t.Errorf("%d %s: marked are %s, want %s", c.most, c.unit.Code, is, c.rules)
		}
		if bars := strings.Count(p.Bars, "z"); bars != min(int(c.most), 1) || strings.Count(p.Line, "L") != 90-1 {
			t.Errorf("%d %s: bars %s, line %s", c.most, c.unit.Code, p.Bars, p.Line)
		}
		if strings.Contains(p.Line, "-") || len(p.Months) != 3 {
			t.Errorf("%d %s: line %s, months %v", c.most, c.unit.Code, p.Line, p.Months)
		}
	}
}
