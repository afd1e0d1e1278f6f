package api_test

import (
	"context"
	"encoding/csv"
	"errors"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"boon.example/internal/base/admission"
	"boon.example/internal/event"
	"boon.example/internal/face/api"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

func exportPath(order, form string) string {
	return "/gifting/orders/" + order + "/stock?format=" + form
}

// rows reads a list of cards.
func (r reply) rows() [][]string {
	r.Helper()
	if !strings.HasPrefix(r.header.Get("Content-Type"), "text/csv") || strings.Count(string(r.body), "\r\n") < 2 {
		r.Errorf("this is no list: %v %s", r.header, r.body)
	}
	rows, err := csv.NewReader(strings.NewReader(string(r.body))).ReadAll()
	if err != nil {
		r.Fatal(err)
	}
	return rows
}

// staysText is digits that no spreadsheet takes for a number or a date.
var staysText = regexp.MustCompile(`^[0-9]+(-[0-9]+){3}$`)

// TestExport: the codes of a stock leave as sheets and as a list, to whoever may export; those of cards that were sold
// do not, nor those of gifts that were sent.
func TestExport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cards := w.stock(`"count":12,"value":25,"verificationCodes":true`)
	order := cards[0].order
	w.permit(rotatedKey, "export")
	key := as(rotatedKey)
	byCode := map[string]made{}
	for _, card := range cards {
		byCode[card.code] = card
	}
	rows := w.get(exportPath(order, "csv"), key...).want(200).rows()
	const columns = "code,lastFour,verificationCode,status,link,codeText,verificationText,activationCode,activationText"
	if strings.Join(rows[0], ",") != columns || len(rows) != 13 {
		t.Fatalf("%d rows: %q", len(rows), rows[0])
	}
	differ := false
	for _, row := range rows[1:] {
		card, known := byCode[row[0]]
		if !known || row[1] != card.code[8:] || row[3] != "NOT_ACTIVATED" ||
			row[4] != "https://gifts.example.com/g/"+card.token {
			t.Errorf("%q is not %+v", row, card)
		}
		if len(row[2]) != 4 || strings.Trim(row[2], "0123456789") != "" {
			t.Errorf("the verification code is %q", row[2])
		}
		for plain, text := range map[string]string{row[0]: row[5], row[2]: row[6]} {
			if !staysText.MatchString(text) || strings.ReplaceAll(text, "-", "") != plain {
				t.Errorf("%q is %q as text", plain, text)
			}
		}
		if read, err := codes.ReadVoucherCode(row[5]); err != nil || read.Reveal() != row[0] {
			t.Errorf("%q is not read as a code: %v", row[5], err)
		}
		differ = differ || row[2] != rows[1][2]
		delete(byCode, row[0])
	}
	if !differ || len(byCode) > 0 {
		t.Errorf("all codes are %s, or %d cards are missing", rows[1][2], len(byCode))
	}
	if pdf := w.get(exportPath(order, "pdf"), key...).want(200); !strings.HasPrefix(string(pdf.body), "%PDF-") ||
		pdf.header.Get("Content-Type") != "application/pdf" {
		t.Errorf("%v: %.20s", pdf.header, pdf.body)
	}
	// What was sold, and what was taken out of use, is not told any more.
	w.post("activate-gift", activateBody(cards[3], "")).want(200)
	w.post("cancel-gift", `{"voucherID":"`+cards[4].id+`","cause":"CANCELLED"}`).want(200)
	again := w.get(exportPath(order, "csv"), key...).want(200)
	for _, card := range cards[3:5] {
		if strings.Contains(string(again.body), card.code) || strings.Contains(string(again.body), card.token) {
			t.Errorf("%s is told: %s", card.code, again.body)
		}
	}
	states := map[string]int{}
	for _, row := range again.rows()[1:] {
		states[row[3]]++
		if (row[0] == "") != (row[3] != "NOT_ACTIVATED") || (row[2] == "") != (row[0] == "") ||
			(row[5] == "") != (row[0] == "") || (row[6] == "") != (row[0] == "") {
			t.Errorf("%q", row)
		}
	}
	if states["NOT_ACTIVATED"] != 10 || states["DELIVERED"] != 1 || states["CANCELLED"] != 1 {
		t.Errorf("%v", states)
	}
	w.post("cancel-gift", `{"orderID":"`+order+`","cause":"CANCELLED"}`).want(200)
	w.get(exportPath(order, "pdf"), key...).refused(409, refusal.RedemptionNotAllowed)

	w.get(exportPath(order, "xml"), key...).refused(400, refusal.ValidationFailure, "format")
	w.get("/gifting/orders/"+order+"/stock", key...).refused(400, refusal.ValidationFailure, "format")
	w.get(exportPath("x", "csv"), key...).refused(400, refusal.ValidationFailure, "orderID")
	w.get(exportPath(nowhere, "csv"), key...).refused(404, refusal.NotFound, "orderID")
	w.get(exportPath(w.send(ofMoney("5")).order, "csv"), key...).refused(404, refusal.NotFound, "orderID")
	w.get(exportPath(order, "csv"), as(cornerKey)...).refused(404, refusal.NotFound, "orderID")
	w.get(exportPath(order, "csv"), as(pierKey)...).refused(404, refusal.NotFound, "orderID")
	w.permit(rotatedKey, "look-up", "codes", "stock", "activate")
	w.get(exportPath(order, "csv"), key...).refused(403, refusal.NotAuthorized)
}

// deaf are records that take no note of an export.
type deaf struct{ api.Records }

func (deaf) LogExport(context.Context, event.TrailEntry) error { return errors.New("the disk is full") }

// TestExportsAreNoted: each download stands in the log of the set-up, which is chained, before anything leaves.
func TestExportsAreNoted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	card := w.stock(`"count":1`)[0]
	before, err := w.store.SetupChanges(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"csv", "pdf"} {
		r := w.get(exportPath(card.order, form)).want(200)
		after, err := w.store.SetupChanges(t.Context())
		if err != nil || len(after) != len(before)+1 {
			t.Fatalf("%d notes after %d, %v", len(after), len(before), err)
		}
		last := after[len(after)-1]
		for _, part := range []string{"the codes of 1 cards of order " + card.order, harbor, strings.ToUpper(form),
			r.header.Get("X-Request-ID")} {
			if !strings.Contains(last.What, part) {
				t.Errorf("%q does not tell %s", last.What, part)
			}
		}
		if last.Before != last.After || last.Version != before[len(before)-1].Version {
			t.Errorf("an export changes the set-up: %+v", last)
		}
		if strings.Contains(last.What, card.code) || strings.Contains(last.What, card.token) {
			t.Errorf("the note tells a code: %s", last.What)
		}
		before = after
	}
	w.sound()
	config := w.config
	config.Records = deaf{config.Records}
	beside := httptest.NewServer(checked(t, config.handler()))
	t.Cleanup(beside.Close)
	server := &world{TB: t, server: beside}
	for _, form := range []string{"csv", "pdf"} {
		r := server.get(exportPath(card.order, form))
		if r.status != 503 || strings.Contains(string(r.body), card.code) {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
}

// TestPrintingHoldsUpNothingElse: while a stock is printed, which has more time than other calls and takes no place in
// flight, lists leave, and another stock waits for its turn. Of sheets that were not made, no codes have left.
func TestPrintingHoldsUpNothingElse(t *testing.T) {
	t.Parallel()
	begun, print := make(chan time.Time, 2), make(chan error)
	calls := &inFlight{}
	w := newWorld(t, func(c *config) {
		c.Admission, c.StoreTimeout = calls, 5*time.Second
		c.Sheets = func(ctx context.Context, _ *merchant.Account, _ []gift.Gift) ([]byte, error) {
			until, _ := ctx.Deadline()
			begun <- until
			return []byte("%PDF-"), <-print
		}
	})
	order := w.stock(`"count":1`)[0].order
	before, err := w.store.SetupChanges(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sheets := make(chan reply, 2)
	for range 2 {
		go func() { sheets <- w.get(exportPath(order, "pdf")) }()
	}
	if until := <-begun; time.Until(until) < 30*time.Second {
		t.Errorf("it has %v", time.Until(until))
	}
	w.get(exportPath(order, "csv")).want(200)
	for until := time.Now().Add(10 * time.Second); calls.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%d places are taken", calls.Load())
		}
	}
	if len(begun) > 0 {
		t.Error("two stocks are printed at once")
	}
	print <- context.DeadlineExceeded
	if late := (<-sheets).refused(503, refusal.Unavailable); !strings.Contains(string(late.body), "format=csv") {
		t.Errorf("%s", late.body)
	}
	<-begun
	print <- nil
	(<-sheets).want(200)
	after, err := w.store.SetupChanges(t.Context())
	if err != nil || len(after) != len(before)+2 { // the list and the second sheets
		t.Errorf("%d exports are noted, %v", len(after)-len(before), err)
	}
}

// inFlight counts the calls in flight.
type inFlight struct{ atomic.Int64 }

func (f *inFlight) Enter(context.Context, admission.Party, admission.Priority) bool {
	f.Add(1)
	return true
}
func (f *inFlight) Leave(admission.Party, admission.Priority) { f.Add(-1) }

func (*inFlight) Busy() bool { return false }
