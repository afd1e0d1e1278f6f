package cashout

import (
	"os"
	"strings"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// TestLaw asks the shipped table about gifts of 25.00 that were used, on the cent.
func TestLaw(t *testing.T) {
	t.Parallel()
	spring, today := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		jurisdiction string
		most         money.Amount // that can be cashed out
		now          time.Time
	}{
		{"US-CA", 14_99, today}, {"US-CA", 14_99, spring.AddDate(0, 0, 1)}, {"US-CA", 9_99, spring}, {"US-CO", 5_00, today},
		{"US-CT", 2_99, today}, {"US-MA", 4_99, today}, {"US-ME", 4_99, today}, {"US-MT", 4_99, today},
		{"US-NJ", 4_99, today}, {"US-OR", 4_99, today}, {"US-RI", 99, today}, {"US-VT", 99, today}, {"US-WA", 4_99, today},
		{"US-TX", 0, today}, {"US-PR", 0, today}, {"US-NY", 0, today}, {"US", 0, today}, {"", 0, today}, {"us-ca", 0, today},
	} {
		at := merchant.Location{ID: guid.ID{1}, Jurisdiction: tt.jurisdiction}
		a := &merchant.Account{Zone: time.UTC, Locations: []merchant.Location{at}}
		allowed := func(balance money.Amount) bool {
			v := gift.Voucher{Currency: money.Currency{Code: "USD", Decimals: 2}, Funded: 25_00, Balance: balance,
				Status: gift.Claimed}
			return v.CashOutAllowed(Law(), a, &at, tt.now)
		}
		if tt.most > 0 && !allowed(tt.most) || allowed(tt.most+1) {
			t.Errorf("%s, %s: not up to %d", tt.jurisdiction, tt.now.Format(time.DateOnly), tt.most)
		}
	}
	for _, r := range Law() {
		if r.Source == "" || r.Name == "" {
			t.Errorf("%s has no source or no name", r.Jurisdiction)
		}
	}
}

// TestNoAdvice: whoever reads of the table is told what it is not.
func TestNoAdvice(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../../docs/operating/install.md", "../face/api/openapi.yaml"} {
		text, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(text), "no legal advice") {
			t.Errorf("%s does not say so, %v", name, err)
		}
	}
}

// TestParse: everything that is wrong is told, with its place.
func TestParse(t *testing.T) {
	t.Parallel()
	good := `{"jurisdiction":"JP","name":"Japan","currency":"JPY","limit":100,"comparison":"atMost","from":"2026-01-02",` +
		`"used":true,"worthMoreThan":500,"source":"s"}`
	law, err := Parse([]byte(`{"rules":[` + good + `]}`))
	want := gift.CashOutRule{Jurisdiction: "JP", Name: "Japan", From: 20260102, Currency: money.Currency{Code: "JPY"},
		Limit: 100, OrEqual: true, Used: true, WorthMore: 500, Source: "s"}
	if err != nil || len(law) != 1 || law[0] != want {
		t.Errorf("got %+v, %v", law, err)
	}
	if law, err := Parse([]byte(`{"rules":[]}`)); err != nil || law == nil || len(law) != 0 {
		t.Errorf("a table of nothing: %v, %v", law, err)
	}
	with := func(old, text string) string { return `{"rules":[` + strings.Replace(good, old, text, 1) + `]}` }
	for file, all := range map[string][]string{
		``:                       {"JSON"},
		`[]`:                     {"object"},
		`{}`:                     {"rules: The table needs its rules"},
		`{"rules":[],"rule":[]}`: {"rule: "},
		`{"rules":[{}]}`: {"rules[0].jurisdiction: This is needed.", "rules[0].name: ", "rules[0].currency: ",
			"rules[0].limit: ", "rules[0].comparison: ", "rules[0].source: "},
		`{"rules":[` + good + `,` + good +
			`]}`: {"rules[1].from: There is a rule of JP from that day on already."},
		with(`"JP"`, `"Japan"`):                             {"rules[0].jurisdiction: This is not an ISO 3166 code"},
		with(`"JPY"`, `"YEN"`):                              {"rules[0].currency: This is not an ISO 4217"},
		with(`100`, `0.5`):                                  {"rules[0].limit: "},
		with(`100`, `-1`):                                   {"rules[0].limit: The amount must be above zero."},
		with(`100`, `"x"`):                                  {"rules[0].limit: "},
		with(`500`, `0`):                                    {"rules[0].worthMoreThan: "},
		with(`"atMost"`, `"under"`):                         {"rules[0].comparison: The comparison is below or atMost."},
		with(`"2026-01-02"`, `"2026-02-30"`):                {"rules[0].from: This is not a day"},
		with(`"used":true`, `"used":"yes"`):                 {"rules[0].used: "},
		with(`"used":true`, `"usde":true`):                  {"rules[0].usde: "},
		with(`"used":true,"worthMoreThan"`, `"used":1,"w"`): {"rules[0].used: ", "rules[0].w: "},
	} {
		law, err := Parse([]byte(file))
		if err == nil || law != nil {
			t.Errorf("%s is read as %v, %v", file, law, err)
			continue
		}
		for _, text := range all {
			if !strings.Contains("\n"+err.Error(), text) {
				t.Errorf("%s: %q does not tell %q", file, err, text)
			}
		}
	}
}
