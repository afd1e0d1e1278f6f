package api_test

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/face/api"
	"boon.example/internal/face/api/reports"
	"boon.example/internal/merchant"
)

// askReports has what any report needs to be asked for; none minds what another one needs.
const askReports = "from=2026-01-01&rate=10&months=36"

// reported is an answer with a report.
type reported struct {
	Report   json.RawMessage
	ReportID string
	SHA256   string
	Chains   []struct{ Chain, MAC string }
}

// report asks for a report and checks what proves it.
func (w *world) report(path string, headers ...string) (content string) {
	w.Helper()
	answer := w.get("/reports/"+path, headers...).want(200)
	var r reported
	if err := json.Unmarshal(answer.body, &r); err != nil {
		w.Fatal(err)
	}
	sum := sha256.Sum256(r.Report)
	if r.SHA256 != hex.EncodeToString(sum[:]) || r.ReportID == "" || len(r.Chains) == 0 || len(r.Chains[0].MAC) != 34 {
		w.Errorf("%s is not proved: %s", path, answer.body)
	}
	// The chains are of all accounts: their lengths would tell one merchant how much another one sells.
	if strings.Contains(string(answer.body), `"entries"`) {
		w.Errorf("%s tells how many entries all accounts have: %s", path, answer.body)
	}
	return string(r.Report)
}

// TestReportsAgree: what is owed, how that came about and what was redeemed say the same of the same calls, in JSON and
// in CSV, and a report that is made again is the same to the byte.
func TestReportsAgree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.permit(harborKey, "reports", "send", "redeem", "reverse", "block")
	g, other := w.send(ofMoney("25.50")), w.send(ofMoney("10"))
	first := w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+pier+`","amount":20}`).want(200)
	w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+wharf+`","amount":1.25}`).want(200)
	w.post("reverse-redemption", `{"redemptionID":"`+first.at("redemptionID")+`","amount":5}`).want(200)
	w.post("block-gift", `{"voucherID":"`+other.id+`","reasonCode":"LOST"}`).want(200)

	liability := w.report("liability")
	for _, want := range []string{`"open":9.25`, `"blocked":10.00`, `"owed":19.25`} {
		if !strings.Contains(liability, want) {
			t.Errorf("the liability has no %s: %s", want, liability)
		}
	}
	forward := w.report("roll-forward?from=2020-01-01")
	for _, want := range []string{`"opening":0.00`, `"issued":35.50`, `"redeemed":-21.25`, `"givenBack":5.00`,
		`"closing":19.25`} {
		if !strings.Contains(forward, want) {
			t.Errorf("the roll-forward has no %s: %s", want, forward)
		}
	}
	redeemed := w.report("redemptions?from=2020-01-01&groupBy=organization")
	for _, want := range []string{`"organizationID":"` + pier + `","redemptions":1,"redeemed":20.00,"reversals":1,"givenBack":5.00,"net":15.00`,
		`"organizationID":"` + wharf + `","redemptions":1,"redeemed":1.25`} {
		if !strings.Contains(redeemed, want) {
			t.Errorf("the redemptions have no %s: %s", want, redeemed)
		}
	}
	var said struct{ From, To string }
	if err := json.Unmarshal([]byte(redeemed), &said); err != nil {
		t.Fatal(err)
	}
	w.send(ofMoney("5"))
	if again := w.report("redemptions?from=" + said.From + "&to=" + said.To + "&groupBy=organization"); again != redeemed {
		t.Errorf("made again, it is\n%s\nbefore\n%s", again, redeemed)
	}
	answer := w.get("/reports/redemptions?from=2020-01-01&groupBy=organization,day&format=csv").want(200)
	read := csv.NewReader(strings.NewReader(string(answer.body)))
	read.FieldsPerRecord = -1
	rows, err := read.ReadAll()
	named := strings.Contains(string(answer.body), "Pier 39")
	if err != nil || len(rows) < 6 || rows[0][5] != "organizationName" || !named {
		t.Errorf("the CSV is %s (%v)", answer.body, err)
	}
}

// TestReportsRefuse: what cannot be reported is refused with a sentence that names the parameter.
func TestReportsRefuse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.permit(harborKey, "reports")
	tomorrow := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	for path, field := range map[string]string{
		"liability?at=2026-02-30":                            "at",
		"liability?at=yesterday":                             "at",
		"liability?at=" + tomorrow:                           "at",
		"liability?at=2999-01-01T00:00:00Z":                  "at",
		"liability?at=2026-01-01&at=2026-01-02":              "at",
		"liability?groupBy=colour":                           "groupBy",
		"liability?groupBy=program,":                         "groupBy",
		"liability?format=pdf":                               "format",
		"roll-forward":                                       "from",
		"roll-forward?from=2026-01-02&to=2026-01-01":         "from",
		"roll-forward?from=" + tomorrow:                      "from",
		"roll-forward?from=2026-01-01&to=2026-13-01":         "to",
		"roll-forward?from=2026-01-01&to=" + tomorrow:        "to",
		"roll-forward?from=2026-01-01&groupBy=program":       "groupBy",
		"redemptions?from=2026-01-01&groupBy=month":          "groupBy",
		"redemptions?from=2026-01-01T00:00:00&to=2026-01-02": "from",
		"settlement": "from",
		"settlement?from=2026-01-01&to=2026-13-01":        "to",
		"settlement?from=2026-01-01&groupBy=organization": "groupBy",
		"ageing?at=" + tomorrow:                           "at",
		"ageing?groupBy=month":                            "groupBy",
		"breakage":                                        "rate",
		"breakage?rate=0":                                 "rate",
		"breakage?rate=100":                               "rate",
		"breakage?rate=7.505":                             "rate",
		"breakage?rate=7,5":                               "rate",
		"breakage?rate=-1":                                "rate",
		"breakage?rate=1e1":                               "rate",
		"breakage?rate=1e99":                              "rate",
		"breakage?rate=5&rate=6":                          "rate",
		"breakage?rate=5&at=2026-02-30":                   "at",
		"dormant":                                         "months",
		"dormant?months=0":                                "months",
		"dormant?months=1.5":                              "months",
		"dormant?months=1201":                             "months",
		"dormant?months=-3":                               "months",
		"dormant?months=36&at=" + tomorrow:                "at",
		"dormant?months=36&groupBy=program":               "groupBy",
	} {
		w.get("/reports/"+path).want(400, "code", "VALIDATION_FAILURE", "messages[0].path", field)
	}
	problems := w.get("/reports/roll-forward?from=2026-02-30&to=2026-02-31&format=x&groupBy=y").want(400)
	for _, field := range []string{"from", "to", "format", "groupBy"} {
		if strings.Count(string(problems.body), `"path":"`+field+`"`) != 1 {
			t.Errorf("of %s there is not one problem: %s", field, problems.body)
		}
	}
}

// TestReportsNeedThePermission: each of them, and a key that is limited to a location sees what is of that.
func TestReportsNeedThePermission(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.permit(harborKey, "send", "redeem", "look-up", "audit")
	for n := range reports.Kinds {
		w.get("/reports/"+reports.Kinds[n].Name+"?"+askReports).want(403, "code", "NOT_AUTHORIZED")
	}
	g := w.send(ofMoney("25.50"))
	w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+pier+`","amount":20}`).want(200)
	w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+wharf+`","amount":1}`).want(200)
	w.permit(wharfKey, "reports")
	redeemed := w.report("redemptions?from=2026-01-01&groupBy=organization", as(wharfKey)...)
	if strings.Contains(redeemed, pier) || !strings.Contains(redeemed, `"redeemed":1.00`) {
		t.Errorf("the key of one location is told %s", redeemed)
	}
	if owed := w.report("liability", as(wharfKey)...); !strings.Contains(owed, `"rows":[]`) {
		t.Errorf("of what was sold online, the key of one location is told %s", owed)
	}
}

// TestSettlement: what was sold online is owed to whoever took it, companies settle as one, a reversal of the head
// office counts where the redemption was, and a key that is limited to a location sees what is between its own.
func TestSettlement(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.permit(harborKey, "reports", "send", "redeem", "reverse")
	w.permit(wharfKey, "reports")
	w.configure(func(a *merchant.Account) {
		a.Locations = slices.Clone(a.Locations)
		a.Location(id(wharf)).LegalEntity = "=Wharf, Ltd"
	})
	g := w.send(ofMoney("25.50"))
	first := w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+pier+`","amount":20}`).want(200)
	w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+wharf+`","amount":1.25}`).want(200)
	w.post("reverse-redemption", `{"redemptionID":"`+first.at("redemptionID")+`","amount":5}`).want(200)
	const nobody = `"fromLegalEntity":null,"fromOrganizationID":null,`
	settled := w.report("settlement?from=2020-01-01")
	for _, want := range []string{
		`"soldAtID":null,"redeemedAtID":"` + pier + `","redeemed":20.00,"givenBack":5.00,"cashedOut":0.00,"cashGivenBack":0.00,"due":15.00`,
		`"soldAtID":null,"redeemedAtID":"` + wharf + `","redeemed":1.25,"givenBack":0.00,"cashedOut":0.00,"cashGivenBack":0.00,"due":1.25`,
		nobody + `"toLegalEntity":null,"toOrganizationID":"` + pier + `","amount":15.00`,
		nobody + `"toLegalEntity":"=Wharf, Ltd","toOrganizationID":null,"amount":1.25`,
	} {
		if !strings.Contains(settled, want) {
			t.Errorf("the settlement has no %s: %s", want, settled)
		}
	}
	answer := w.get("/reports/settlement?from=2020-01-01&format=csv").want(200)
	text := string(answer.body)
	for _, want := range []string{"redeemedAtName,redeemed,", "\r\n\r\ndebts\r\n", "\r\n\r\npayments\r\n", `"'=Wharf, Ltd"`,
		"\r\n\r\nreport,settlement\r\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the CSV has no %q: %s", want, text)
		}
	}
	if some := w.report("settlement?from=2020-01-01", as(wharfKey)...); !strings.Contains(some,
		`"rows":[],"debts":[],"payments":[]`) {
		t.Errorf("of what was sold online, the key of one location is told %s", some)
	}
}

// TestStorefrontsSellForTheirLocation: what a storefront sells counts as sold at its location, from then on.
func TestStorefrontsSellForTheirLocation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.permit(harborKey, "reports", "send", "redeem")
	w.send(ofMoney("3"))
	w.configure(func(a *merchant.Account) {
		a.Storefronts = slices.Clone(a.Storefronts)
		a.Storefront(id(shop)).LocationID = id(pier)
	})
	g := w.send(ofMoney("25.50"))
	w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+wharf+`","amount":20}`).want(200)
	for path, wants := range map[string][]string{
		"settlement?from=2020-01-01": {`"soldAtID":"` + pier + `","redeemedAtID":"` + wharf + `","redeemed":20.00`,
			`"fromOrganizationID":"` + pier + `"`},
		"liability?groupBy=organization": {`"organizationID":null,"open":3.00`, `"organizationID":"` + pier + `","open":5.50`},
	} {
		for _, want := range wants {
			if got := w.report(path); !strings.Contains(got, want) {
				t.Errorf("%s has no %s: %s", path, want, got)
			}
		}
	}
}

// TestReportsGoByTheClockOfATestAccount: what happened by a clock that was advanced is in the report of that time, and
// not in the report of the time before.
func TestReportsGoByTheClockOfATestAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.permit(sandboxKey, "reports", "send")
	w.configureOne(sandbox, func(a *merchant.Account) {
		a.Storefronts = []merchant.Storefront{{ID: id(shop), Name: "Web"}}
		a.Subscriptions = []merchant.Subscription{{ProgramID: merchant.BusinessProgram.ID}}
		a.Locations = []merchant.Location{{ID: id(pier), Name: "Pier"}}
	})
	w.do("POST", "/api/test/clock", `{"advance":"P40D"}`, as(sandboxKey)...).want(200)
	w.send(ofMoney("25.50"), as(sandboxKey)...)
	in := func(days int) string { return time.Now().UTC().AddDate(0, 0, days).Format(time.DateOnly) }
	for path, want := range map[string]string{
		"roll-forward?from=" + in(38):               `"issued":25.50`,
		"roll-forward?from=2026-01-01&to=" + in(38): `"rows":[]`,
		"liability":             `"owed":25.50`,
		"liability?at=" + in(1): `"rows":[]`,
	} {
		if got := w.report(path, as(sandboxKey)...); !strings.Contains(got, want) {
			t.Errorf("%s has no %s: %s", path, want, got)
		}
	}
}

// TestReportsByMonthsOfSale: the ageing and the breakage say what became of what was sold, in JSON and in CSV; where
// what is not redeemed goes to a state, nothing is estimated; a key that is limited to a location sees what that sold.
func TestReportsByMonthsOfSale(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.permit(harborKey, "reports", "send", "redeem", "activate")
	w.permit(wharfKey, "reports")
	g := w.send(ofMoney("100"))
	w.promotional("8")
	w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+pier+`","amount":40}`).want(200)
	month := `"month":"` + w.now().In(w.directory.Load().Accounts[id(harbor)].Zone).Format("2006-01") + `"`
	const paid, became = `{"currency":"USD","isPromoType":false,"isItemType":false,"unit":"MONEY",`,
		`,"sold":100.00,"redeemed":40.00,"cashedOut":0.00,"expired":0.00,"owed":60.00,`
	aged := w.report("ageing")
	for _, want := range []string{paid + month + became + `"redeemedShare":0.4000}`, `"isPromoType":true`} {
		if !strings.Contains(aged, want) {
			t.Errorf("the ageing has no %s: %s", want, aged)
		}
	}
	lost := w.report("breakage?rate=10")
	const program = `"programID":"22222222-2222-2222-2222-222222222222",`
	if want := paid + program + month + became + `"escheat":false,"estimate":4.44}`; !strings.Contains(lost, want) ||
		strings.Contains(lost, `"isPromoType":true`) || !strings.Contains(lost, `"rate":10.00,`) {
		t.Errorf("the breakage has no %s: %s", want, lost)
	}
	text := string(w.get("/reports/breakage?rate=10&format=csv").want(200).body)
	if !strings.Contains(text, "Business gift cards,") || !strings.Contains(text, ",false,4.44\r\n") ||
		!strings.Contains(text, "\r\nrate,10.00\r\n") {
		t.Errorf("as CSV, the breakage is %s", text)
	}
	for _, report := range []string{"ageing", "breakage?rate=10", "dormant?months=36"} {
		if some := w.report(report, as(wharfKey)...); !strings.Contains(some, `"rows":[]`) {
			t.Errorf("%s: of what was sold online, the key of one location is told %s", report, some)
		}
	}
	w.configure(func(a *merchant.Account) {
		a.Subscriptions = slices.Clone(a.Subscriptions)
		a.Subscription(merchant.BusinessProgram.ID).Escheat = true
	})
	if lost := w.report("breakage?rate=10"); !strings.Contains(lost, `"escheat":true,"estimate":0.00`) {
		t.Errorf("where it goes to the state, the breakage is %s", lost)
	}
}

// TestDormantGifts: a gift is dormant when the month of its last use lies so many whole months back, where its value
// was sold. What somebody uses later was dormant before.
func TestDormantGifts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.permit(sandboxKey, "reports", "send", "redeem", "block")
	w.configureOne(sandbox, func(a *merchant.Account) {
		a.Storefronts = []merchant.Storefront{{ID: id(shop), Name: "Web", LocationID: id(pier)}}
		a.Subscriptions = []merchant.Subscription{{ProgramID: merchant.BusinessProgram.ID}}
		a.Locations = []merchant.Location{{ID: id(pier), Name: "Pier", Jurisdiction: "US-CA"}}
	})
	used, asleep := w.send(ofMoney("25.50"), as(sandboxKey)...), w.send(ofMoney("10"), as(sandboxKey)...)
	began := time.Now().In(w.directory.Load().Accounts[id(sandbox)].Zone) // its month is the account's
	advance := func(days int) {
		w.do("POST", "/api/test/clock", fmt.Sprintf(`{"advance":"P%dD"}`, days), as(sandboxKey)...).want(200)
	}
	advance(70)
	w.post("redeem-gift", `{"voucherID":"`+used.id+`","organizationID":"`+pier+`","amount":20}`, as(sandboxKey)...).want(200)
	w.post("block-gift", `{"voucherID":"`+asleep.id+`","reasonCode":"LOST"}`, as(sandboxKey)...).want(200)
	row := func(gifts int, owed string) string {
		return fmt.Sprintf(`"unit":"MONEY","jurisdiction":"US-CA","gifts":%d,"owed":%s}]`, gifts, owed)
	}
	end := func(months int) string { // of a month after that of the sales
		return time.Date(began.Year(), began.Month()+time.Month(months)+1, 0, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	}
	for path, want := range map[string]string{
		"dormant?months=1&at=" + end(1): row(2, "35.50"), // nobody had used either
		"dormant?months=2&at=" + end(1): `"rows":[]`,
		"dormant?months=1&at=" + end(0): `"rows":[]`,
		"dormant?months=1":              row(1, "10.00"),
	} {
		if got := w.report(path, as(sandboxKey)...); !strings.Contains(got, want) {
			t.Errorf("%s has no %s: %s", path, want, got)
		}
	}
	if text := string(w.get("/reports/dormant?months=1&format=csv", as(sandboxKey)...).want(200).body); !strings.Contains(
		text, "MONEY,US-CA,1,10.00\r\n\r\nreport,dormant\r\n") || !strings.Contains(text, "\r\nmonths,1\r\n") {
		t.Errorf("as CSV: %s", text)
	}
}

// TestBreakageIsBooked: a person books the breakage of a month that is over, once; a later month books what is missing,
// or takes back what is too much. The journal of the day has it, and guests are owed as much as before.
func TestBreakageIsBooked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keeper(merchant.Books{Accounts: ledgerAccounts})
	w.permit(wharfKey, "reports")
	g := w.send(ofMoney("100"))
	w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+pier+`","amount":40}`).want(200)
	zone := w.directory.Load().Accounts[id(harbor)].Zone
	month := func() string { return w.now().In(zone).Format("2006-01") }
	book := func(month, rate string, headers ...string) reply {
		return w.do("POST", "/api/integration/reports/breakage/book", `{"month":"`+month+`","rate":`+rate+`}`, headers...)
	}
	first := month()
	book(first, "10").want(400, "messages[0].path", "month")
	w.pass(40 * 24 * time.Hour)
	for body, field := range map[string]string{`{}`: "month", `{"month":"2026-13","rate":5}`: "month",
		`{"month":"2026-1","rate":5}`: "month", `{"month":"2999-01","rate":5}`: "month", `{"month":"1969-12","rate":5}`: "month",
		`{"month":"2026-01"}`: "rate", `{"month":"2026-01","rate":0}`: "rate", `{"month":"2026-01","rate":100}`: "rate",
		`{"month":"2026-01","rate":7.505}`: "rate", `{"month":"2026-01","rate":5,"at":1}`: "at"} {
		w.do("POST", "/api/integration/reports/breakage/book", body).want(400, "code", "VALIDATION_FAILURE",
			"messages[0].path", field)
	}
	book(first, "10").want(409, "code", "ACCOUNT_MISCONFIGURED", "messages[0].path", "books.accounts",
		"messages[1].path", "books.accounts.breakage")
	named := ledgerAccounts
	named.Breakage = "2700"
	w.keeper(merchant.Books{Accounts: named})
	book(first, "10", as(wharfKey)...).want(403, "code", "NOT_AUTHORIZED")
	day := w.today()
	book(first, "10").want(201, "month", first, "rate", "10.00", "bookings[0].amount", "4.44", "bookings[0].programID",
		"22222222-2222-2222-2222-222222222222", "bookings[0].currency", "USD")
	book(first, "12").want(422, "code", "NOT_SUPPORTED")
	book("2026-01", "10").want(422, "code", "NOT_SUPPORTED")
	w.tellsBooked(first)
	if owed := w.report("liability"); !strings.Contains(owed, `"owed":60.00`) {
		t.Errorf("once breakage is booked, guests are owed %s", owed)
	}
	second := month()
	w.pass(40 * 24 * time.Hour)
	later := w.today()
	book(second, "10").want(422, "code", "NOT_SUPPORTED") // nothing was redeemed since
	book(second, "5").want(201, "bookings[0].amount", "-2.34")
	w.pass(24 * time.Hour)
	journal := func(day time.Time, headers ...string) []string {
		at := day.Format(time.DateOnly)
		return booked(t, w.get("/reports/journal?from="+at+"&to="+at, headers...).want(200).body)
	}
	if got := fmt.Sprint(journal(day)); got != "[BREAKAGE 1700 2700 4.44 1]" {
		t.Errorf("the journal is %s", got)
	}
	if got := fmt.Sprint(journal(later)); got != "[BREAKAGE 2700 1700 2.34 1]" {
		t.Errorf("the journal of what is taken back is %s", got)
	}
	if got := journal(day, as(wharfKey)...); len(got) > 0 {
		t.Errorf("the key of one location is told %s", got)
	}
	w.permit(harborKey, "audit")
	w.get("/audit?limit=200").want(200, "entries[1].action", "books.breakage")
}

// tellsBooked holds that the report of breakage tells what was booked, since it was booked, to whoever may see the
// whole account: in JSON with names, in CSV, and the same whenever it is made again.
func (w *world) tellsBooked(month string) {
	w.Helper()
	booked := w.get("/reports/breakage?rate=10").want(200, "report.totals[0].estimate", "4.44",
		"report.totals[0].booked", "4.44", "report.totals[0].toBook", "0.00", "report.bookings[0].month", month,
		"report.bookings[0].amount", "4.44", "report.bookings[0].rate", "10.00", "report.bookings[0].currency", "USD")
	at, key := booked.at("report.bookings[0].bookedAt"), booked.at("report.bookings[0].keyID")
	if body := string(booked.body); !strings.Contains(body, `{"id":"`+key+`","name":"harbor-all-locations-0000000"}`) {
		w.Errorf("who booked has no name: %s", body)
	}
	csv := string(w.get("/reports/breakage?rate=10&format=csv").want(200).body)
	want := "\r\nbookings\r\nmonth,programID,programName,currency,rate,amount,bookedAt,keyID,keyName\r\n" + month +
		",22222222-2222-2222-2222-222222222222,Business gift cards,USD,10.00,4.44," + at + "," + key +
		",harbor-all-locations-0000000\r\n"
	if !strings.Contains(csv, want) {
		w.Errorf("as CSV there is no %q in %q", want, csv)
	}
	w.get("/reports/breakage?rate=20").want(200, "report.totals[0].estimate", "10.00", "report.totals[0].toBook",
		"5.56")
	if before := w.report("breakage?rate=10&at=" + at); !strings.Contains(before, `"bookings":[]`) {
		w.Errorf("before it was booked, the report says %s", before)
	}
	for form, want := range map[string]bool{"json": true, "csv": false} {
		body := string(w.get("/reports/breakage?rate=10&format="+form, as(wharfKey)...).want(200).body)
		if strings.Contains(body, `"totals":null,"bookings":null`) != want || strings.Contains(body, "4.44") {
			w.Errorf("the key of one location is told %s", body)
		}
	}
}

// slowBooks are books that take until the next day to be read.
type slowBooks struct {
	api.Records
	pass func()
	read int
}

func (s *slowBooks) EachMoved(ctx context.Context, a *books.Asked, tell func(int, books.Key, books.Sum) error) error {
	s.read++
	s.pass()
	return s.Records.EachMoved(ctx, a, tell)
}

// TestBreakageIsBookedWhenItIsBooked: breakage stands on the day on which it is booked, not on that on which its
// estimate was begun. What is refused without the estimate reads no books. An account cannot book without end.
func TestBreakageIsBookedWhenItIsBooked(t *testing.T) {
	t.Parallel()
	slow := &slowBooks{pass: func() {}}
	w := newWorld(t, func(c *config) { slow.Records, c.Records = c.Records, slow })
	named := ledgerAccounts
	named.Breakage = "2700"
	w.keeper(merchant.Books{Accounts: named})
	g := w.send(ofMoney("100"))
	w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+pier+`","amount":40}`).want(200)
	month := w.now().In(w.directory.Load().Accounts[id(harbor)].Zone).Format("2006-01")
	w.pass(40 * 24 * time.Hour)
	book := func() reply {
		return w.do("POST", "/api/integration/reports/breakage/book", `{"month":"`+month+`","rate":10}`)
	}
	before := w.today()
	slow.pass = func() { w.pass(24 * time.Hour) }
	book().want(201)
	slow.pass = func() {}
	w.pass(24 * time.Hour)
	journal := func(day time.Time) string {
		at := day.Format(time.DateOnly)
		return fmt.Sprint(booked(t, w.get("/reports/journal?from="+at+"&to="+at).want(200).body))
	}
	if old, now := journal(before), journal(before.AddDate(0, 0, 1)); old != "[]" ||
		now != "[BREAKAGE 1700 2700 4.44 1]" {
		t.Errorf("the day on which booking began has %s, that on which it was booked %s", old, now)
	}
	read := slow.read
	book().want(422, "code", "NOT_SUPPORTED")
	w.keeper(merchant.Books{Accounts: ledgerAccounts})
	book().want(409, "code", "ACCOUNT_MISCONFIGURED")
	if slow.read != read {
		t.Error("the books are read for what is refused anyway")
	}
	w.keeper(merchant.Books{Accounts: named})
	w.pass(40 * 24 * time.Hour)
	month = w.now().In(w.directory.Load().Accounts[id(harbor)].Zone).AddDate(0, -1, 0).Format("2006-01")
	for range 60 {
		book().want(422) // nothing is to be booked, which only an estimate tells
	}
	if got := book().want(429, "code", "RATE_LIMITED"); got.header.Get("Retry-After") == "" {
		t.Error("nobody is told how long to wait")
	}
}
