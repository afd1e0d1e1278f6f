package api_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/books/journal"
	"boon.example/internal/calendar"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// keeper gives the account the accounts of a ledger, and its key what a bookkeeper and a till may.
func (w *world) keeper(books merchant.Books) {
	w.Helper()
	w.configure(func(a *merchant.Account) { a.Books = books })
	w.permit(harborKey, "reports", "send", "redeem", "reverse", "cancel", "look-up", "validate")
}

var ledgerAccounts = merchant.LedgerAccounts{Liability: "1700", Promotion: "4600", Clearing: "1360", Cash: "1000"}

// today is the day of the account.
func (w *world) today() time.Time {
	y, m, d := w.now().In(w.directory.Load().Accounts[id(harbor)].Zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// TestTheJournalOfADay: what was sold, redeemed, given back and cancelled is in the journal of its day, and of no
// other; a promotional gift is never owed.
func TestTheJournalOfADay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keeper(merchant.Books{Accounts: ledgerAccounts})
	zone := w.directory.Load().Accounts[id(harbor)].Zone
	w.pass(calendar.FromWall(w.today().Add(12*time.Hour), zone).Sub(w.now())) // far from midnight
	day := w.today().Format(time.DateOnly)
	g, gone, free := w.send(ofMoney("25.50")), w.send(ofMoney("10")), w.promotional("8")
	first := w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+pier+`","amount":20}`).want(200)
	w.post("redeem-gift", `{"voucherID":"`+free.id+`","organizationID":"`+wharf+`","amount":3}`).want(200)
	w.post("cancel-gift", `{"voucherID":"`+gone.id+`","cause":"CANCELLED"}`).want(200)
	w.pass(24 * time.Hour)
	w.post("reverse-redemption", `{"redemptionID":"`+first.at("redemptionID")+`","amount":5}`).want(200)
	w.pass(24 * time.Hour)

	answer := w.get("/reports/journal?from=" + day + "&to=" + day).want(200)
	sum := sha256.Sum256(answer.body)
	digest := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	if got := answer.header.Get("Content-Digest"); got != digest {
		t.Errorf("Content-Digest is %s, want %s", got, digest)
	}
	if name := answer.header.Get("Content-Disposition"); name != `attachment; filename="journal-`+day+"-"+day+`.csv"` {
		t.Errorf("the file is %s", name)
	}
	want := []string{"ISSUED 1360 1700 35.50 2", "REDEEMED 1700 1360 20.00 1", "REDEEMED 4600 1360 3.00 1",
		"CANCELLED 1700 1360 10.00 1"}
	if got := booked(t, answer.body); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the journal is %q, want %q", got, want)
	}
	both := w.get("/reports/journal?from=" + day).want(200)
	want = append(want, "GIVEN_BACK 1360 1700 5.00 1")
	if got := booked(t, both.body); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the journal of both days is %q, want %q", got, want)
	}
	if again := w.get("/reports/journal?from=" + day + "&to=" + day).want(200); !bytes.Equal(again.body, answer.body) {
		t.Errorf("made again, the journal is\n%s\nbefore\n%s", again.body, answer.body)
	}
	w.permit(wharfKey, "reports")
	seen := booked(t, w.get("/reports/journal?from="+day, as(wharfKey)...).want(200).body)
	if fmt.Sprint(seen) != "[REDEEMED 4600 1360 3.00 1]" {
		t.Errorf("the key of one location is told %q", seen)
	}
}

// TestTheJournalGoesByTheVATOfGifts: a gift is in the journal, and in look-ups, as it was taxed when it was made,
// whatever the set-up says since, and in another line than a gift of the new rate.
func TestTheJournalGoesByTheVATOfGifts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keeper(merchant.Books{Accounts: ledgerAccounts})
	tax := func(treatment merchant.VATTreatment, rate money.Number) {
		w.configure(func(a *merchant.Account) {
			a.Subscriptions = slices.Clone(a.Subscriptions)
			s := a.Subscription(merchant.BusinessProgram.ID)
			s.VATTreatment, s.VATRate = treatment, rate
		})
	}
	zone := w.directory.Load().Accounts[id(harbor)].Zone
	w.pass(calendar.FromWall(w.today().Add(12*time.Hour), zone).Sub(w.now()))
	day := w.today().Format(time.DateOnly)
	tax(merchant.SinglePurpose, "19")
	g := w.send(ofMoney("119"))
	tax(merchant.SinglePurpose, "7.50")
	reduced := w.send(ofMoney("10"))
	tax(merchant.MultiPurpose, "")
	w.send(ofMoney("3"))
	w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+pier+`","amount":20}`).want(200)
	for path, want := range map[string][2]string{g.id: {"singlePurpose", "19"}, reduced.id: {"singlePurpose", "7.50"},
		w.promotional("1").id: {"null", "null"}} {
		w.get("/gifting/gifts/"+path).want(200, "vatTreatment", want[0], "vatRate", want[1])
	}
	w.post("validate-gift", `{"voucherCode":"`+g.code+`","organizationID":"`+pier+`"}`).want(200, "vatTreatment",
		"singlePurpose", "vatRate", "19")
	w.pass(24 * time.Hour)
	text := string(w.get("/reports/journal?from=" + day).want(200).body)
	for _, want := range []string{
		"USD,119.00,1,false,Business gift cards,online,,singlePurpose,EinzweckgutscheinKauf,19.00,100.00,19.00\r\n",
		"USD,10.00,1,false,Business gift cards,online,,singlePurpose,EinzweckgutscheinKauf,7.50,9.30,0.70\r\n",
		"USD,3.00,1,false,Business gift cards,online,,multiPurpose,MehrzweckgutscheinKauf,,,\r\n",
		"singlePurpose,EinzweckgutscheinEinloesung,19.00,,\r\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the journal has no %q:\n%s", want, text)
		}
	}
}

// booked are the lines of a journal as CSV: line, debit, credit, amount, count.
func booked(t *testing.T, body []byte) (lines []string) {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(body)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		lines = append(lines, strings.Join([]string{row[2], row[4], row[5], row[7], row[8]}, " "))
	}
	return lines
}

// TestAJournalInEveryFormat: each has its media type, and months of DATEV are an archive.
func TestAJournalInEveryFormat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keeper(merchant.Books{Accounts: merchant.LedgerAccounts{Liability: "Gift cards", Clearing: "Clearing"}})
	w.send(ofMoney("25.50"))
	from := w.today().Format(time.DateOnly)
	w.pass(35 * 24 * time.Hour)
	to := w.today().AddDate(0, 0, -1).Format(time.DateOnly)
	for format, media := range map[string]string{"csv": "text/csv; charset=utf-8", "xero": "application/json",
		"quickbooks": "text/csv; charset=utf-8", "hledger": "text/plain; charset=utf-8"} {
		answer := w.get("/reports/journal?from=" + from + "&format=" + format).want(200)
		if answer.header.Get("Content-Type") != media || !strings.Contains(string(answer.body), "25.50") {
			t.Errorf("%s is %s: %s", format, answer.header.Get("Content-Type"), answer.body)
		}
		checkProof(t, &answer, from, to, format)
	}
	refused := w.get("/reports/journal?from="+from+"&format=datev").want(409, "code", "ACCOUNT_MISCONFIGURED")
	for _, field := range []string{"books.datev.consultant", "books.datev.client", "books.datev.fiscalYearStart",
		"books.datev.accountLength", "books.accounts", "USD"} {
		if !strings.Contains(string(refused.body), field) {
			t.Errorf("%s says nothing of %s", refused.body, field)
		}
	}
}

// checkProof holds what proves a journal: its days, its SHA-256, the heads of the chains, and with hledger its
// last line.
func checkProof(t *testing.T, answer *reply, from, to, format string) {
	t.Helper()
	proof := answer.header.Get("Boon-Proof")
	var said struct {
		Name, From, To, Format, ReportID, SHA256 string
		Chains                                   []struct{ Chain, MAC string }
	}
	content, line := journal.Proof(answer.body)
	sum := sha256.Sum256(content)
	if err := json.Unmarshal([]byte(proof), &said); err != nil || said.Name != "journal" || said.From != from ||
		said.To != to || said.Format != format || said.SHA256 != hex.EncodeToString(sum[:]) || len(said.ReportID) != 36 ||
		len(said.Chains) == 0 || len(said.Chains[0].MAC) != 34 {
		t.Errorf("%s is proved by %s (%v)", format, proof, err)
	}
	if told := string(line) == proof; told != (format == "hledger") {
		t.Errorf("the last line of %s is %s", format, line)
	}
}

// TestMonthsForDATEV: of an account in euros.
func TestMonthsForDATEV(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keeper(merchant.Books{Accounts: ledgerAccounts,
		DATEV: merchant.DATEV{Consultant: 29098, Client: 55003, FiscalYearStart: 1, AccountLength: 4}})
	w.configure(func(a *merchant.Account) { a.Currency.Code = "EUR" })
	from := w.today()
	w.send(ofMoney("25.50"))
	w.pass(32 * 24 * time.Hour)
	w.send(ofMoney("7"))
	w.pass(24 * time.Hour)
	answer := w.get("/reports/journal?format=datev&from=" + from.Format(time.DateOnly)).want(200)
	archive, err := zip.NewReader(bytes.NewReader(answer.body), int64(len(answer.body)))
	if err != nil || answer.header.Get("Content-Type") != "application/zip" || len(archive.File) != 2 ||
		archive.File[0].Name != "EXTF_Buchungsstapel_"+from.Format("2006-01")+".csv" {
		t.Errorf("%s: %v", answer.body, err)
	}
	one := w.get("/reports/journal?format=datev&from=" + w.today().AddDate(0, 0, -1).Format(time.DateOnly)).want(200)
	if !bytes.HasPrefix(one.body, []byte(`"EXTF";700;21;"Buchungsstapel";13;`)) {
		t.Errorf("%s", one.body)
	}
}

// TestJournalsRefuse: every problem of a request is told at once, each with its parameter.
func TestJournalsRefuse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keeper(merchant.Books{})
	today := w.today().Format(time.DateOnly)
	for query, field := range map[string]string{
		"":                                "from",
		"from=2026-02-30":                 "from",
		"from=2026-01-01T00:00:00Z":       "from",
		"from=1969-12-31":                 "from",
		"from=" + today:                   "from",
		"from=2026-01-02&to=2026-01-01":   "from",
		"from=2026-01-01&to=2026-13-01":   "to",
		"from=2026-01-01&to=" + today:     "to",
		"from=2026-01-01&format=pdf":      "format",
		"from=2026-01-01&from=2026-01-01": "from",
	} {
		w.get("/reports/journal?"+query).want(400, "code", "VALIDATION_FAILURE", "messages[0].path", field)
	}
	problems := w.get("/reports/journal?from=x&to=2026-02-31&format=y").want(400)
	for _, field := range []string{"from", "to", "format"} {
		if strings.Count(string(problems.body), `"path":"`+field+`"`) != 1 {
			t.Errorf("of %s there is not one problem: %s", field, problems.body)
		}
	}
	w.send(ofMoney("5"))
	w.pass(24 * time.Hour)
	missing := w.get("/reports/journal?from="+today+"&format=datev").want(409, "code", "ACCOUNT_MISCONFIGURED")
	for _, name := range []string{"books.accounts.liability", "books.accounts.clearing", "books.datev.client"} {
		if !strings.Contains(string(missing.body), name) {
			t.Errorf("%s does not name %s", missing.body, name)
		}
	}
	w.permit(harborKey, "look-up")
	w.get("/reports/journal?from="+today).want(403, "code", "NOT_AUTHORIZED")
}
