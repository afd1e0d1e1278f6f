package server_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/server"
	"boon.example/internal/staff"
)

// TestStaffBringCardsIn: a file is read, shown with what it comes to, and brought in as it was confirmed; the
// certificate is there as a page to sign; the import is taken back. A bookkeeper sees it, and brings nothing in.
func TestStaffBringCardsIn(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	ann, bob := s.joined("ann@example.com", staff.Owner), s.joined("bob@example.com", staff.Bookkeeper)
	const at = harborConsole + "imports"
	if page := ann.want(http.StatusOK, at, nil).body; !strings.Contains(page, "does not know the codes") {
		t.Errorf("before codes are declared, the page says %s", page)
	}
	const currency = "    currency: USD\n"
	s.apply([]byte(strings.Replace(string(examples.HarborCoffee()), currency,
		currency+"    importedCodes: [{digits: 16}]\n", 1)))
	s.learned()
	ann.want(http.StatusOK, at+"/new", nil)
	const file = "code,balance\n6006123456789012,25.50\n6006933450000013,11.25\n"
	bad := ann.send(at+"/check", url.Values{"from": {"csv"}}, "file", []byte(file+"6006550001110014,<b>\n"))
	for _, text := range []string{"cannot be brought in as it is", `<td class="number">4</td><td>balance</td>`} {
		if bad.status != http.StatusOK || !strings.Contains(bad.body, text) || strings.Contains(bad.body, "6006123456") {
			t.Errorf("a bad line is told with status %d, without %q: %s", bad.status, text, bad.body)
		}
	}
	good := ann.send(at+"/check", url.Values{"from": {"csv"}, "asOf": {"2026-01-01T09:00"}}, "file", []byte(file))
	if !strings.Contains(good.body, "Bring in 2 cards with $36.75") {
		t.Fatalf("a good file is told as %s", good.body)
	}
	tip := ann.send(at+"/check", url.Values{"from": {"csv"}}, "file", []byte(strings.Replace(file, "\n", ",<b>Tip\n", 1)))
	if !strings.Contains(tip.body, "<li>&lt;b&gt;Tip</li>") || strings.Contains(good.body, "nothing is read") {
		t.Errorf("of a column that is not read, the page says %s", tip.body)
	}
	old := ann.send(at+"/check", url.Values{"from": {"csv"}, "asOf": {"2001-02-03T09:00"}}, "file", []byte(file)).body
	const warning = "The gifts begin in the books on 2001-02-03, which is more than a year ago."
	if !strings.Contains(old, `<p class="note">`+warning) || strings.Contains(good.body, "more than a year ago") ||
		!strings.Contains(old, "Bring in 2 cards") {
		t.Errorf("of a day of long ago, the page says %s", old)
	}
	for text, status := range map[string]int{"code,balance\n": 200, file: 200, "\x00\xff": 400, "": 400} {
		again := ann.send(at+"/check", url.Values{"from": {"shopify"}}, "file", []byte(text))
		if again.status != status || !strings.Contains(again.body, `<option value="shopify" selected>`) {
			t.Errorf("%q is answered %d, and another system is chosen: %s", text, again.status, again.body)
		}
	}
	none := ann.send(at+"/check", url.Values{"from": {"csv"}}, "file", []byte("code,balance\n6006123456789012,-1\n"))
	if none.status != http.StatusOK || !strings.Contains(none.body, "The amount is negative.") {
		t.Errorf("a file without a good line is answered %d: %s", none.status, none.body)
	}
	const takers = "also taken by these API keys"
	inARow := strings.Replace(file, "6006933450000013", "6006123456789013", 1)
	byColumn := strings.NewReplacer("balance", "balance,tillsOnly", "25.50", "25.50,true", "11.25", "11.25,").Replace(file)
	for _, c := range []struct{ asked, text string }{{"true", inARow}, {"", byColumn}, {"true", byColumn}} {
		tills := ann.send(at+"/check", url.Values{"from": {"csv"}, "tillsOnly": {c.asked}}, "file", []byte(c.text)).body
		if !strings.Contains(tills, takers) || !strings.Contains(tills, "<li>head office</li>") ||
			strings.Contains(tills, "<li>web shop</li>") {
			t.Errorf("with cards for tills only, of %q asked for with %q, the page says %s", c.text, c.asked, tills)
		}
	}
	free := ann.send(at+"/check", url.Values{"from": {"csv"}, "tillsOnly": {"true"}}, "file", []byte(file)).body
	if strings.Contains(free, takers) || strings.Contains(good.body, takers) {
		t.Errorf("without a card for tills only, the page says %s", free)
	}
	keys := ann.want(http.StatusOK, harborConsole+"setup/keys", nil).body
	for key, takes := range map[string]bool{"head office": true, "web shop": false, "till": false} {
		says := regexp.MustCompile(`>` + key + `</a></td><td[^>]*>[^<]* · takes cards that only tills may take</td>`)
		if says.MatchString(keys) != takes {
			t.Errorf("of the key %s, the list of keys says %s", key, keys)
		}
	}
	if page := ann.want(http.StatusOK, at, nil).body; !strings.Contains(page, "No cards were brought in yet") {
		t.Errorf("before it is confirmed, there is %s", page)
	}
	confirm := url.Values{}
	for _, m := range regexp.MustCompile(`type="hidden" name="(\w+)" value="([^"]*)"`).FindAllStringSubmatch(good.body, -1) {
		confirm.Set(m[1], m[2])
	}
	other := ann.send(at, confirm, "file", []byte(strings.Replace(file, "25.50", "25.51", 1)))
	if other.status != http.StatusBadRequest || !strings.Contains(other.body, "36.75") {
		t.Errorf("another file is answered %d: %s", other.status, other.body)
	}
	if none := ann.send(at, confirm, "picture", nil); none.status != http.StatusBadRequest {
		t.Errorf("no file is answered %d", none.status)
	}
	began := ann.send(at, confirm, "file", []byte(file))
	one := began.header.Get("Location")
	if began.status != http.StatusSeeOther || !strings.HasPrefix(one, at+"/") {
		t.Fatalf("the import is answered %d: %s", began.status, began.body)
	}
	ann.until(one, "All 2 cards are good")
	for who, b := range map[string]*browser{"owner": ann, "bookkeeper": bob} {
		page := b.want(http.StatusOK, one, nil).body
		if !strings.Contains(page, "2026") || strings.Contains(page, "/undo") != (who == "owner") {
			t.Errorf("the %s sees %s", who, page)
		}
		pdf := b.want(http.StatusOK, one+"/certificate", nil)
		if !strings.HasPrefix(pdf.body, "%PDF-") || !strings.Contains(pdf.header.Get("Content-Disposition"), ".pdf") {
			t.Errorf("the %s gets %.20q, %v", who, pdf.body, pdf.header)
		}
	}
	if a := bob.send(at, confirm, "file", []byte(file)); a.status != http.StatusForbidden {
		t.Errorf("a bookkeeper who brings cards in is answered %d", a.status)
	}
	if address, _ := ann.found("6006123456789012"); address == "" {
		t.Error("a card that was brought in is not found")
	}
	ann.want(http.StatusSeeOther, one+"/undo", url.Values{})
	ann.until(one, "was taken back")
	if address, _ := ann.found("6006123456789012"); address != "" {
		t.Error("a card that was taken back is found")
	}
}

// until looks at a page until it says something.
func (b *browser) until(path, text string) {
	b.Helper()
	for !strings.Contains(b.want(http.StatusOK, path, nil).body, text) {
		time.Sleep(20 * time.Millisecond)
	}
}

// TestStaffTakeAlong: an owner downloads gifts and what happened to them; with codes only after a fresh proof.
func TestStaffTakeAlong(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	// a printed gift: the status of one that is sent changes once more, between two exports
	g := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`)
	ann := s.joined("ann@example.com", staff.Owner)
	ann.want(http.StatusOK, harborConsole+"export", nil)
	const file, codes = harborConsole + "export/file", harborConsole + "export/codes"
	gifts := ann.want(http.StatusOK, file, url.Values{"what": {"gifts"}, "format": {"csv"}, "from": {"2020-01-01"},
		"to": {"2099-12-31"}})
	if !strings.Contains(gifts.body, g.VoucherID) || strings.Contains(gifts.body, g.VoucherCode) ||
		!strings.Contains(gifts.header.Get("Content-Disposition"), "gifts.csv") {
		t.Errorf("the gifts are %q, %v", gifts.body, gifts.header)
	}
	if !strings.HasPrefix(gifts.body, "\ufeffcode,balance,") {
		t.Errorf("Excel would not know the letters of %.40q", gifts.body)
	}
	entries := ann.want(http.StatusOK, file, url.Values{"what": {"entries"}, "format": {"jsonl"}})
	if !strings.Contains(entries.body, g.VoucherID) || !strings.HasPrefix(entries.body, "{") {
		t.Errorf("what happened is %q", entries.body)
	}
	none := ann.want(http.StatusOK, file, url.Values{"format": {"csv"}, "to": {"2020-01-01"}})
	if strings.Contains(none.body, g.VoucherID) {
		t.Errorf("until 2020 there was %q", none.body)
	}
	ann.want(http.StatusBadRequest, file, url.Values{"from": {"x"}})
	bob := s.joined("bob@example.com", staff.Bookkeeper)
	if list := bob.want(http.StatusOK, file, url.Values{"format": {"csv"}}); list.body != gifts.body {
		t.Errorf("a bookkeeper has %q", list.body)
	}
	bob.want(http.StatusForbidden, codes, url.Values{"format": {"csv"}})
	if page := bob.want(http.StatusOK, harborConsole+"export", nil); strings.Contains(page.body, "export/codes") {
		t.Errorf("a bookkeeper is offered codes: %s", page.body)
	}
	s.joined("mia@example.com", staff.Manager).want(http.StatusForbidden, file, url.Values{"format": {"csv"}})
	if whole := ann.want(http.StatusOK, codes, url.Values{"format": {"csv"}}); !strings.Contains(
		strings.NewReplacer("-", "", " ", "").Replace(whole.body), g.VoucherCode) {
		t.Errorf("with codes the gifts are %q", whole.body)
	}
	stolen := s.unproven(ann.token())
	if a := stolen.ask(codes, url.Values{"format": {"csv"}}); a.status != http.StatusSeeOther {
		t.Errorf("codes without a fresh proof are answered %d", a.status)
	}
}

// slowFile is a file of which the rest comes once something has happened.
type slowFile struct {
	io.Reader

	happens func()
}

// Read implements io.Reader.
func (f *slowFile) Read(p []byte) (int, error) {
	if do := f.happens; do != nil {
		f.happens = nil
		do()
	}
	return f.Reader.Read(p)
}

// TestWhoLosesTheRightBringsNothingIn: whose role changes, or who is removed, while their file is on its way brings
// nothing in, although they might when they began.
func TestWhoLosesTheRightBringsNothingIn(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	const currency = "    currency: USD\n"
	s.apply([]byte(strings.Replace(string(examples.HarborCoffee()), currency,
		currency+"    importedCodes: [{digits: 16}]\n", 1)))
	s.learned()
	ann := s.joined("ann@example.com", staff.Owner)
	for what, form := range map[string]url.Values{"role": {"role": {"bookkeeper"}}, "remove": {}, "end": {}} {
		eve := s.joined(what+"@example.com", staff.Owner)
		form.Set("member", s.memberOf(eve.token()))
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		for name, value := range map[string]string{"from": "csv", "expectCount": "1", "expectTotal": "500.00"} {
			_ = w.WriteField(name, value) // a buffer takes everything
		}
		part, _ := w.CreateFormFile("file", "cards.csv")
		_, _ = io.WriteString(part, "code,balance\n6006123456789012,500.00\n")
		_ = w.Close()
		req, err := http.NewRequest(http.MethodPost, s.url+harborConsole+"imports", &slowFile{&body, func() {
			ann.want(http.StatusSeeOther, harborConsole+"staff/"+what, form)
		}})
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", w.FormDataContentType())
		req.Header.Set("Expect", "100-continue") // the service asks for the file once it knows who brings it
		eve.Transport = &http.Transport{ExpectContinueTimeout: time.Minute}
		if a := eve.answered(req); a.status != http.StatusForbidden {
			t.Errorf("after staff/%s, the file is answered %d: %s", what, a.status, a.body)
		}
	}
	page := ann.want(http.StatusOK, harborConsole+"imports", nil).body
	if !strings.Contains(page, "No cards were brought in yet") {
		t.Errorf("there is %s", page)
	}
}
