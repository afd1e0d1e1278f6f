// Package cashout reads the table of laws that let guests ask for the rest of a gift in cash. It is a help for the
// cashier, no legal advice. The one that is shipped has the laws of the United States as they were found published in
// November 2026 (for Vermont, in a legislature's survey of such laws). Left out: Texas, whose law (Business and
// Commerce Code § 604.152) spares gifts that neither expire nor carry fees, as none here do (§ 604.002(5)); Puerto Rico
// (Act 31-2015), whose limit could not be confirmed from the text of the act.
package cashout

import (
	_ "embed" // the table
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/wire"
)

//go:embed law.json
var shipped []byte

// Law is the table that is shipped.
var Law = sync.OnceValue(func() gift.CashOutLaw {
	law, err := Parse(shipped)
	if err != nil {
		panic(fmt.Sprintf("law.json is part of the program and cannot be read: %v", err))
	}
	return law
})

// Limits of a table.
const (
	maxRules = 1_000
	maxText  = 500
)

var jurisdictionShape = regexp.MustCompile(`^[A-Z]{2}(-[A-Z0-9]{1,3})?$`)

// Parse reads a table, strictly. The error has a line for everything that is wrong.
func Parse(data []byte) (gift.CashOutLaw, error) {
	law := gift.CashOutLaw{}
	type day struct {
		jurisdiction string
		from         int
	}
	seen := map[day]bool{}
	problems, _ := new(wire.Reader).Decode(data, func(o *wire.Object) {
		given := o.Objects("rules", maxRules, func(o *wire.Object) {
			r := readRule(o)
			if at := (day{r.Jurisdiction, r.From}); r.Jurisdiction != "" && seen[at] {
				o.Add(o.At("from"), "There is a rule of %s from that day on already.", r.Jurisdiction)
			} else {
				seen[at] = true
			}
			law = append(law, r)
			o.Finish()
		})
		if !given {
			o.Add("rules", "The table needs its rules; [] has none.")
		}
	})
	var refused *refusal.Error
	if err := problems.Err(); !errors.As(err, &refused) {
		return law, err
	}
	var lines []string
	for _, p := range wire.Told(refused) {
		lines = append(lines, strings.TrimPrefix(p.Path+": "+p.Text, ": "))
	}
	return nil, errors.New(strings.Join(lines, "\n"))
}

func readRule(o *wire.Object) (r gift.CashOutRule) {
	need := func(name string) bool {
		if !o.Given(name) {
			o.Add(o.At(name), "This is needed.")
		}
		return o.Given(name)
	}
	for _, name := range []string{"jurisdiction", "name", "currency", "limit", "comparison", "source"} {
		need(name)
	}
	if r.Jurisdiction = o.Text("jurisdiction"); r.Jurisdiction != "" && !jurisdictionShape.MatchString(r.Jurisdiction) {
		o.Add(o.At("jurisdiction"), "This is not an ISO 3166 code of a country or a part of one, such as US-CA.")
	}
	r.Name, r.Source = o.Line("name", maxText), o.Line("source", maxText)
	var err error
	code := o.Text("currency")
	if r.Currency, err = money.ParseCurrency(code); err != nil && code != "" {
		o.Add(o.At("currency"), "%s", err)
	}
	r.Limit, r.WorthMore = amount(o, "limit", r.Currency), amount(o, "worthMoreThan", r.Currency)
	switch text := o.Text("comparison"); text {
	case "", "below":
	case "atMost":
		r.OrEqual = true
	default:
		o.Add(o.At("comparison"), "The comparison is below or atMost.")
	}
	if text := o.Text("from"); text != "" {
		from, err := time.Parse(time.DateOnly, text)
		if err != nil {
			o.Add(o.At("from"), "This is not a day such as 2026-04-01.")
		}
		r.From, _ = merchant.Day(from, time.UTC)
	}
	r.Used = o.True("used")
	return r
}

// amount reads an amount in a currency; that of one that could not be read is not judged.
func amount(o *wire.Object, name string, c money.Currency) money.Amount {
	number := o.Number(name)
	if number == "" || c.Code == "" {
		return 0
	}
	a, err := c.Read(number, money.NoLimit)
	if err != nil {
		o.Add(o.At(name), "%s", err)
	}
	return a
}
