package api_test

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/export"
	"boon.example/internal/face/api/contract"
	"boon.example/internal/face/api/reports"
	"boon.example/internal/merchant"
)

// toldOfTheWhole are the addresses that read, and tell nothing of where gifts are sold or used.
var toldOfTheWhole = []string{"listAudit", "getRequest", "listWebhooks", "getWebhook", "listAttempts", "listTills",
	"listPeople", "exportStock", "getClock", "getNewCard",
	"listImports", "getImport", "getImportCertificate"} // which a key that is limited to locations is refused

// TestKeysOfALocationAreToldNothingOfOthers walks all addresses that read gifts and what happened to them, reports in
// all their forms: a key that is limited to a location is told of this one, and neither where else something was sold
// or used nor by whom. A key of the whole account is told all.
func TestKeysOfALocationAreToldNothingOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keeper(merchant.Books{Accounts: ledgerAccounts})
	w.permit(harborKey, "reports", "send", "redeem", "look-up", "audit", "events", "export")
	w.permit(wharfKey, "reports", "redeem", "look-up", "audit", "events", "export")
	sell := func(at, more string) made {
		w.configure(func(a *merchant.Account) {
			a.Storefronts = slices.Clone(a.Storefronts)
			a.Storefront(id(shop)).LocationID = id(at)
		})
		return w.send(ofMoney("25.50", more))
	}
	own, other := sell(wharf, ""), sell(pier, "")
	bound := sell(pier, `,"organizationID":"`+wharf+`"`) // sold elsewhere, and good here only
	for _, g := range []made{own, other} {
		for at, amount := range map[string]string{wharf: "3", pier: "4"} {
			w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+at+`","amount":`+amount+`}`).want(200)
		}
	}
	w.post("redeem-gift", `{"voucherID":"`+bound.id+`","organizationID":"`+wharf+`","amount":1}`).want(200)
	w.feed(8, url.Values{"type": {"gift.*"}, "limit": {"200"}}) // else events may still wait for transactions of others
	today := w.today()
	w.pass(24 * time.Hour)
	period := "from=" + today.Format(time.DateOnly) + "&to=" + today.Format(time.DateOnly)
	walks := map[string]string{"journal": "/reports/journal?" + period, "events": "/events?type=gift.*&limit=200",
		"history": "/gifting/gifts/" + bound.id + "/history", "activity": "/gifting/activity",
		"gift here": "/gifting/gifts/" + bound.id, "gifts here": "/gifting/gifts", "exported gifts": "/exports/gifts"}
	for _, format := range export.Formats() {
		walks["exported entries as "+string(format)] = "/exports/entries?format=" + string(format)
	}
	for n := range reports.Kinds {
		name := reports.Kinds[n].Name
		for _, format := range []string{"json", "csv"} {
			walks[name+" "+format] = "/reports/" + name + "?" + period + "&rate=10&months=36&format=" + format
			if group := reports.Kinds[n].ByLocation(); group != "" {
				walks[name+" by location "+format] = walks[name+" "+format] + "&groupBy=" + group
			}
		}
	}
	everyReaderIsIn(t, walks)
	for _, name := range slices.Sorted(maps.Keys(walks)) {
		some := string(w.get(walks[name], as(wharfKey)...).want(200).body)
		for _, secret := range []string{pier, "Pier 39", url.QueryEscape("Pier 39")} {
			if strings.Contains(some, secret) {
				t.Errorf("%s tells a key of one location of another one: %s", name, some)
			}
		}
		all := string(w.get(walks[name]).want(200).body)
		told := strings.Contains(all, pier) || strings.Contains(all, "Pier 39")
		if apart := strings.Contains(name, "by location") || !strings.Contains(name, " "); apart && !told {
			t.Errorf("%s tells nobody of the other location, so that this test shows nothing: %s", name, all)
		}
	}
	w.get("/audit", as(wharfKey)...).want(403, "code", "NOT_AUTHORIZED")
}

var pathParameter = regexp.MustCompile(`\{[^}]*\}`)

// everyReaderIsIn looks for the addresses that read in those that are walked.
func everyReaderIsIn(t *testing.T, walks map[string]string) {
	t.Helper()
	operations, err := contract.Routes(theFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range operations {
		path, ours := strings.CutPrefix(op.Path, base)
		if !ours || op.Method != http.MethodGet || slices.Contains(toldOfTheWhole, op.OperationID) {
			continue
		}
		address := regexp.MustCompile("^" + pathParameter.ReplaceAllString(path, "[^/]+") + `($|\?)`)
		if !slices.ContainsFunc(slices.Collect(maps.Values(walks)), address.MatchString) {
			t.Errorf("nobody asks whether %s tells a key of one location of another one", op.OperationID)
		}
	}
}
