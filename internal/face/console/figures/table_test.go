package figures

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/books/report"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/locale"
)

// TestReportsHaveWords: every column and every table of every report has a name for people, in each language of the
// console.
func TestReportsHaveWords(t *testing.T) {
	t.Parallel()
	nobody := func(guid.ID) report.Entity { return report.Entity{} }
	breakage := report.Breakage(nil, 1, func(guid.ID) bool { return false })
	tables := map[string]report.Table{
		"liability":    report.Liability(nil, report.LiabilityGroups),
		"roll-forward": report.RollForward(nil, nil),
		"redemptions":  report.Redemptions(map[int]books.Sums{}, report.RedemptionGroups),
		"settlement":   report.Settlement(nil, nobody),
		"ageing":       report.Ageing(nil),
		"breakage":     {Parts: report.Booked(&report.Table{}, nil), Columns: breakage.Columns},
		"dormant":      report.Dormant(nil, 1, func(guid.ID) string { return "" }),
	}
	about := map[string]bool{"currency": true, "isPromoType": true, "isItemType": true, "unit": true}
	for _, l := range locale.ConsoleLanguages() {
		in := locale.For(l)
		for _, of := range tables {
			columns := of.Columns
			for _, part := range of.Parts {
				in.Text("console.part." + part.Name)
				columns = append(columns, part.Columns...)
			}
			for _, c := range columns {
				if !about[c.Name] {
					in.Text("console.column." + c.Name) // panics where there is none
				}
			}
		}
	}
}

// TestTablesAreRead: amounts are written as people do, ids by their names, and a wide table stands on its side.
func TestTablesAreRead(t *testing.T) {
	t.Parallel()
	id := guid.ID{1}.String()
	r := &reader{locale.For(merchant.German), map[string]string{id: "<b>Pier</b>"}, time.UTC}
	head := `"currency":"EUR","isPromoType":true,"isItemType":false,"unit":"MONEY",`
	for _, c := range []struct{ row, want string }{
		{`{` + head + `"month":"2026-11","owed":1234.50}`, "Gifts|Month|Owed / EUR, verschenkt|November 2026|1.234,50"},
		{`{` + head + `"month":"","owed":1}`, "Gifts|Month|Owed / EUR, verschenkt||1"},
		{`{` + head + `"day":"2026-03-01","redeemed":1}`, "Gifts|Day|Redeemed / EUR, verschenkt|1. März 2026|1"},
		{`{` + head + `"soldAtID":"` + id + `","redeemedShare":0.1234}`,
			"Gifts|Sold|Share / EUR, verschenkt|<b>Pier</b>|12,34\u00a0%"},
		{`{` + head + `"soldAtID":null,"redeemedShare":null}`,
			"Gifts|Sold|Share / EUR, verschenkt|Online|"},
		{`{` + head + `"fromLegalEntity":null,"fromOrganizationID":null,"amount":1}`, "Gifts|Sold|Owed / EUR, verschenkt|Online|1"},
		{`{` + head + `"fromLegalEntity":"A GmbH","fromOrganizationID":null,"amount":1}`,
			"Gifts|Company|Sold|Owed / EUR, verschenkt|A GmbH||1"},
		{`{"month":"2026-11","currency":"EUR","rate":7.50,"bookedAt":"2026-12-01T09:30:00.000Z"}`,
			"Gifts|Month|Rate|Booked / EUR|November 2026|7,50\u00a0%|1. Dezember 2026, 09:30 Uhr (UTC)"},
		{`{` + head + `"opening":1,"issued":2,"activated":3,"reloaded":4,"redeemed":-5,"closing":5}`,
			"Gifts|EUR, verschenkt / opening|1 / issued|2 / activated|3 / reloaded|4 / redeemed|-5 / closing|5"},
	} {
		is, err := r.table("", []json.RawMessage{[]byte(c.row)})
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, row := range is.Rows {
			var texts []string
			for _, c := range row {
				texts = append(texts, c.Text)
			}
			lines = append(lines, strings.Join(texts, "|"))
		}
		want := strings.Split(c.want, " / ")[1:]
		if len(lines) != len(want) || len(want) == 1 && lines[0] != want[0] {
			t.Errorf("%s: %q, want %q", c.row, lines, want)
		}
		for n := range lines {
			if _, number, _ := strings.Cut(want[n], "|"); !strings.HasSuffix(lines[n], "|"+number) {
				t.Errorf("%s: line %d is %q, want %q", c.row, n, lines[n], want[n])
			}
		}
	}
}

// TestPaymentsComeFirst: who pays whom stands above what that comes from.
func TestPaymentsComeFirst(t *testing.T) {
	t.Parallel()
	const debt = `[{"currency":"EUR","fromOrganizationID":null,"toOrganizationID":null,"amount":1}]`
	for members, want := range map[string]string{
		`"rows":[{"currency":"EUR","due":1}],"debts":` + debt + `,"payments":` + debt: "Zahlungen, die sie ausgleichen|" +
			"Schulden|Wo verkauft und wo eingelöst wurde",
		`"rows":[{"currency":"EUR","due":0}],"debts":[],"payments":[]`:          "",
		`"rows":[{"month":"2026-11"}],"totals":[{"currency":"EUR","booked":1}]`: "|Was gebucht ist, und was gebucht werden könnte",
	} {
		told := Report{Report: json.RawMessage(`{"timeZone":"UTC",` + members + `}`)}
		all, err := told.Tables(locale.For(merchant.German))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, table := range all {
			names = append(names, table.Name)
		}
		if got := strings.Join(names, "|"); got != want {
			t.Errorf("%s: %q", members, got)
		}
	}
}

// TestWideTablesAreCut: a page has fewer rows of a table with many columns.
func TestWideTablesAreCut(t *testing.T) {
	t.Parallel()
	r := &reader{locale.For(merchant.English), nil, time.UTC}
	for row, want := range map[string]int{
		`{"currency":"EUR","owed":1}`: mostRows,
		`{"currency":"EUR","opening":1,"issued":2,"activated":3,"reloaded":4,"redeemed":-5,"closing":5,"net":1}`: 125,
	} {
		for _, rows := range []int{want, want + 1, 500} {
			is, err := r.table("", slices.Repeat([]json.RawMessage{[]byte(row)}, rows))
			if err != nil || len(is.Rows) != want || is.Cut != (rows > want) || is.Wide() != (want < mostRows) {
				t.Errorf("of %d rows %d are shown, cut %t, wide %t, %v", rows, len(is.Rows), is.Cut, is.Wide(), err)
			}
		}
	}
}

// TestRowsThatBeginAlikeStayRows: on its side, a table of two places would have the same currency above both.
func TestRowsThatBeginAlikeStayRows(t *testing.T) {
	t.Parallel()
	r := &reader{locale.For(merchant.English), nil, time.UTC}
	row := func(currency string) json.RawMessage {
		return json.RawMessage(`{"currency":"` + currency + `","opening":1,"issued":2,"activated":3,"reloaded":4,` +
			`"redeemed":-5,"closing":5}`)
	}
	for second, turned := range map[string]bool{"EUR": false, "USD": true} {
		is, err := r.table("", []json.RawMessage{row("EUR"), row(second)})
		if err != nil {
			t.Fatal(err)
		}
		if (len(is.Rows) == 6) != turned || !turned && len(is.Rows) != 2 {
			t.Errorf("beside EUR, %s has %d rows", second, len(is.Rows))
		}
	}
}
