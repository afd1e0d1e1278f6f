package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/calendar"
	"boon.example/internal/intake"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// month is one of three legal entities, in a zone whose clocks change in it.
type month struct {
	*world
	unit  money.Currency
	first time.Time // as a wall clock
	zone  *time.Location
	law   bool // the rest of a card may be paid out in cash
	ahead time.Duration
}

const mill = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c13"

// TestAMonthOfThreeEntities: what three legal entities sell and take in a month, and what is given back and charged
// back after it, is what was worked out by hand, with a card of another system that is imported in the middle: in
// currencies of 0, 2 and 3 decimals, by the clocks of Auckland, Los Angeles and Berlin, which a test account moves on,
// before the days are closed and after.
func TestAMonthOfThreeEntities(t *testing.T) {
	t.Parallel()
	for zone, m := range map[string]month{
		"America/Los_Angeles": {unit: money.Currency{Code: "USD", Decimals: 2}, law: true,
			first: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)}, // 14 March has 23 hours
		"Pacific/Auckland": {unit: money.Currency{Code: "JPY"},
			first: time.Date(2027, 4, 1, 0, 0, 0, 0, time.UTC)}, // 4 April has 25
		"Europe/Berlin": {unit: money.Currency{Code: "KWD", Decimals: 3},
			first: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)}, // 28 March has 23
	} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			var err error
			if m.zone, err = time.LoadLocation(zone); err != nil {
				t.Fatal(err)
			}
			m.world = newWorld(t)
			m.open()
			cash, spent := m.live()
			m.check(cash, spent)
			closeDays(t, m.store, m.directory.Load().Accounts[id(sandbox)], m.clock().Add(-24*time.Hour))
			m.check(cash, spent)
		})
	}
}

// open makes a test account like that of Harbor, whose clock goes from month to month.
func (m *month) open() {
	m.Helper()
	m.permit(sandboxKey, "reports", "send", "redeem", "reverse", "cancel", "look-up", "adjust", "transfer", "reload",
		"activate", "stock", "cash-out", "replace")
	like := m.directory.Load().Accounts[id(harbor)]
	m.configureOne(sandbox, func(a *merchant.Account) {
		a.Currency, a.Zone, a.MaxGiftValue, a.Books.Accounts = m.unit, m.zone, like.MaxGiftValue, ledgerAccounts
		a.Subscriptions, a.Storefronts, a.Promotions = like.Subscriptions, like.Storefronts, like.Promotions
		a.Locations = append(slices.Clone(like.Locations), merchant.Location{ID: id(mill), Name: "Mill",
			LegalEntity: "Mill Ltd", Jurisdiction: "US-CA"})
		a.ImportedCodes = []merchant.CodeForm{{Digits: 16}}
		a.Location(id(pier)).LegalEntity, a.Location(id(wharf)).LegalEntity = "Pier Ltd", "Wharf Ltd"
	})
}

// at lets the clock of the account go on to a time of its zone.
func (m *month) at(day, hour, minute int) {
	m.Helper()
	wall := m.first.AddDate(0, 0, day-1).Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
	then := calendar.FromWall(wall, m.zone)
	for left := then.Sub(m.clock()); left > 0; left = then.Sub(m.clock()) {
		step := min(left, 30*24*time.Hour).Truncate(time.Second) + time.Second
		m.do("POST", "/api/test/clock", fmt.Sprintf(`{"advance":"PT%dS"}`, step/time.Second), as(sandboxKey)...).want(200)
		m.ahead += step
	}
}

// clock is that of the account.
func (m *month) clock() time.Time { return m.now().Add(m.ahead) }

// promo sells a promotional gift for nothing.
func (m *month) promo(minor int) made {
	m.Helper()
	return m.send(`{"monetaryGift":{"value":`+m.text(minor)+`,"deliveryMethodID":3},"paymentMethodID":4,"promotionID":"`+
		bareSpring+`","validStarting":"`+m.clock().UTC().Format(time.RFC3339)+
		`","validForDays":365,"promotionalTerms":"One."}`, as(sandboxKey)...)
}

// text is an amount in the smallest unit as the interface has it.
func (m *month) text(minor int) string { return string(m.unit.Format(money.Amount(minor))) }

func (m *month) redeemAt(g made, place string, minor int) reply {
	m.Helper()
	return m.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+place+`","amount":`+m.text(minor)+`}`,
		as(sandboxKey)...).want(200)
}

// oldCard is a card that another system sold.
const oldCard = "6006000000000001"

// bring imports a card as of a day of the month.
func (m *month) bring(day int, code string, minor int) {
	m.Helper()
	d := m.directory.Load()
	o := &intake.Order{Account: d.Accounts[id(sandbox)], Setup: d.Version, From: merchant.FromOther, Count: 1,
		AsOf:   calendar.FromWall(m.first.AddDate(0, 0, day-1).Add(12*time.Hour), m.zone).UTC(),
		MadeBy: "Ann", TillsOnly: true, Progress: func(string, int, int) {}}
	file := strings.NewReader("code,balance,issuedAt\n" + code + "," + strings.Trim(m.text(minor), `"`) + ",2024-05-20\n")
	r, err := intake.Check(m.Context(), m.store, o, file)
	if err == nil {
		_, err = intake.Bring(m.Context(), m.store, o, r, file)
	}
	if err != nil {
		m.Fatalf("%v: %+v", err, r)
	}
}

// live lets the month pass, and some days after it. What is left on a card in the end is paid out in cash, or spent
// where that is no law.
func (m *month) live() (cash, spent int) {
	m.Helper()
	m.at(0, 23, 58)
	early := m.send(ofMoney(m.text(1000)), as(sandboxKey)...)
	m.at(1, 0, 2)
	online := m.send(ofMoney(m.text(5000)), as(sandboxKey)...)
	m.at(2, 12, 0)
	free := m.promo(800)
	m.at(3, 12, 0)
	card := m.stock(`"count":1`, as(sandboxKey)...)[0]
	m.post("activate-gift", `{"voucherID":"`+card.id+`","organizationID":"`+pier+`","amount":`+m.text(4000)+`,`+
		paidAt(shop)+`}`, as(sandboxKey)...).want(200)
	m.at(5, 12, 0)
	m.post("reload-gift", `{"voucherID":"`+card.id+`","organizationID":"`+wharf+`","amount":`+m.text(2000)+`,`+
		paidAt(shop)+`}`, as(sandboxKey)...).want(200)
	m.at(6, 12, 0)
	m.redeemAt(card, mill, 4500)
	m.at(7, 12, 0)
	m.redeemAt(free, wharf, 300)
	m.at(10, 12, 0)
	m.adjust(online, m.text(300), as(sandboxKey)...).want(200)
	m.adjust(online, "-"+m.text(100), as(sandboxKey)...).want(200)
	m.at(12, 12, 0)
	other := m.send(ofMoney(m.text(700)), as(sandboxKey)...)
	m.post("transfer-balance", `{"fromVoucherID":"`+online.id+`","toVoucherID":"`+other.id+`","amount":`+m.text(600)+`}`,
		as(sandboxKey)...).want(200)
	m.at(13, 12, 0)
	m.replace(other, as(sandboxKey)...)
	m.at(14, 23, 58) // in Los Angeles at the end of a day of 23 hours
	dear := m.redeemAt(online, wharf, 1200)
	m.at(15, 12, 0)
	m.bring(8, oldCard, 900)
	m.at(16, 12, 0)
	m.post("redeem-gift", `{"voucherCode":"`+oldCard+`","organizationID":"`+pier+`","amount":`+m.text(250)+`}`,
		as(sandboxKey)...).want(200)
	m.at(18, 12, 0)
	m.redeemAt(card, pier, 1000)
	m.at(20, 12, 0)
	if m.law {
		cash = 500
		m.post("cash-out-gift", `{"voucherID":"`+card.id+`","organizationID":"`+mill+`"}`, as(sandboxKey)...).want(200)
	} else {
		spent = 500
		m.redeemAt(card, mill, spent)
	}
	last := m.first.AddDate(0, 1, -1).Day()
	m.at(last, 23, 58)
	m.redeemAt(online, pier, 100)
	m.at(last+1, 0, 2)
	m.redeemAt(online, pier, 50)
	closeDays(m.TB.(*testing.T), m.store, m.directory.Load().Accounts[id(sandbox)], m.clock().AddDate(0, 0, -20))
	m.at(last+5, 12, 0)
	m.post("reverse-redemption", `{"redemptionID":"`+dear.at("redemptionID")+`","amount":`+m.text(300)+
		`,"organizationID":"`+wharf+`"}`, as(sandboxKey)...).want(200)
	m.at(last+6, 12, 0)
	m.post("cancel-gift", `{"voucherID":"`+early.id+`","cause":"PURCHASE_FAILED"}`, as(sandboxKey)...).want(200)
	m.at(last+8, 12, 0)
	return cash, spent
}

// check holds the reports against what was worked out by hand, in the smallest unit.
func (m *month) check(cash, spent int) {
	m.Helper()
	from, to := m.first.Format(time.DateOnly), m.first.AddDate(0, 1, -1).Format(time.DateOnly)
	next := m.first.AddDate(0, 1, 0).Format(time.DateOnly)
	for path, want := range map[string][]string{
		"roll-forward?from=" + from + "&to=" + to: {
			m.row("opening", 1000, "issued", 5700, "activated", 4000, "reloaded", 2000, "imported", 900,
				"adjustedUp", 300, "redeemed", -7050-spent, "cashedOut", -cash, "adjustedDown", -100, "closing", 6250)},
		"roll-forward?from=" + next: {
			m.row("opening", 6250, "givenBack", 300, "redeemed", -50, "cancelled", -1000, "closing", 5500)},
		"liability?groupBy=organization&at=" + to: {m.row("open", 6250, "owed", 6250)},
		"liability?groupBy=organization":          {m.row("open", 5500, "owed", 5500)}, // all of it was sold online
		"settlement?from=" + from + "&to=" + to: {
			m.row("redeemedAtID", pier, "redeemed", 350, "due", 350), // 250 of them with the card of another system
			m.row("redeemedAtID", wharf, "redeemed", 1200, "due", 1200),
			m.row("soldAtID", pier, "redeemedAtID", mill, "redeemed", 4000, "due", 4000),
			m.row("soldAtID", wharf, "redeemedAtID", mill, "redeemed", 500+spent, "cashedOut", cash, "due", 1000),
			m.row("soldAtID", wharf, "redeemedAtID", pier, "redeemed", 1000, "due", 1000)},
		"settlement?from=" + next: {
			m.row("redeemedAtID", pier, "redeemed", 50, "due", 50),
			m.row("redeemedAtID", wharf, "givenBack", 300, "due", -300)},
	} {
		if got := m.rows(m.report(path, as(sandboxKey)...), "rows"); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			m.Errorf("%s says\n%q, by hand it is\n%q", path, got, want)
		}
	}
	paid := []string{m.row("toLegalEntity", "Mill Ltd", "amount", 1550),
		m.row("fromLegalEntity", "Pier Ltd", "toLegalEntity", "Mill Ltd", "amount", 2650),
		m.row("fromLegalEntity", "Wharf Ltd", "toLegalEntity", "Mill Ltd", "amount", 800)}
	settled := m.report("settlement?from="+from+"&to="+to, as(sandboxKey)...)
	if got := m.rows(settled, "payments"); !slices.Equal(got, slices.Sorted(slices.Values(paid))) {
		m.Errorf("the payments are\n%q, by hand they are\n%q", got, paid)
	}
	sums := map[string]money.Amount{}
	journal := m.get("/reports/journal?from="+from+"&to="+to, as(sandboxKey)...).want(200)
	for _, line := range booked(m.TB.(*testing.T), journal.body) {
		var of, debit, credit, amount string
		if _, err := fmt.Sscan(line, &of, &debit, &credit, &amount); err != nil {
			m.Fatal(err)
		}
		n, err := m.unit.ParseSigned(money.Number(amount))
		if err != nil {
			m.Fatal(err)
		}
		sums[debit], sums[credit] = sums[debit]+n, sums[credit]-n
	}
	maps.DeleteFunc(sums, func(_ string, n money.Amount) bool { return n == 0 })
	balances := map[string]money.Amount{"1700": -5250, "1360": money.Amount(5450 - spent), "1000": money.Amount(-cash),
		"4600": 300}
	maps.DeleteFunc(balances, func(_ string, n money.Amount) bool { return n == 0 })
	if !maps.Equal(sums, balances) {
		m.Errorf("the journal has the balances %v, by hand they are %v", sums, balances)
	}
}

// row is a row of a report as rows gives it: members that are neither absent nor nothing.
func (m *month) row(members ...any) string {
	all := map[string]string{}
	for n := 0; n < len(members); n += 2 {
		if minor, ok := members[n+1].(int); !ok {
			all[members[n].(string)] = members[n+1].(string)
		} else if minor != 0 {
			all[members[n].(string)] = m.text(minor)
		}
	}
	return fmt.Sprint(all)
}

// rows are the rows of gifts that were paid for.
func (m *month) rows(report, list string) (rows []string) {
	m.Helper()
	var lists map[string]json.RawMessage
	var all []map[string]any
	if err := json.Unmarshal([]byte(report), &lists); err != nil {
		m.Fatal(err)
	}
	if err := json.Unmarshal(lists[list], &all); err != nil {
		m.Fatal(err)
	}
	for _, row := range all {
		if row["isPromoType"] == true {
			continue
		}
		said := map[string]string{}
		for name, value := range row {
			if n, ok := value.(float64); ok && n != 0 {
				said[name] = m.text(int(n*float64(pow10(m.unit.Decimals)) + 0.5*sign(n)))
			} else if text, ok := value.(string); ok && name != "currency" && name != "unit" {
				said[name] = text
			}
		}
		rows = append(rows, fmt.Sprint(said))
	}
	slices.Sort(rows)
	return rows
}

func pow10(n int) (p int) {
	for p = 1; n > 0; n-- {
		p *= 10
	}
	return p
}

func sign(n float64) float64 {
	if n < 0 {
		return -1
	}
	return 1
}
