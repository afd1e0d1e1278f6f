package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/ledger/engine"
	"boon.example/internal/merchant"
	"boon.example/internal/racetest"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

// changed is a request body with a member left out, or with another value.
func changed(body, name, value string) string {
	before, rest, _ := strings.Cut(body, `"`+name+`":`)
	end := strings.IndexAny(rest, ",}")
	if value == "" {
		return strings.TrimSuffix(before, ",") + rest[end:]
	}
	return before + `"` + name + `":` + value + rest[end:]
}

// TestStock: cards are worth nothing until they are activated, and their codes are in no answer but of look-ups.
func TestStock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.post("create-stock", `{"count":20,"value":25}`, once("s")...).want(201, "count", "20", "value", "25.00",
		"label", "null", "status", "NOT_ACTIVATED", "statusID", "8", "verificationCodes", "false")
	w.post("create-stock", `{"count":20,"value":25}`, once("s")...).again(first)
	order := first.at("orderID")
	page := w.get("/gifting/gifts?limit=200&orderID="+order).want(200).has("gifts", 20)
	for n := range 20 {
		for _, secret := range []string{"voucherCode", "voucherPublicToken"} {
			if strings.Contains(string(first.body), page.at(fmt.Sprintf("gifts[%d].%s", n, secret))) {
				t.Fatalf("the answer tells a code: %s", first.body)
			}
		}
	}
	card := made{page.at("gifts[0].voucherID"), page.at("gifts[0].voucherCode"), page.at("gifts[0].voucherPublicToken"),
		order}
	at := `,"organizationID":"` + pier + `"`
	w.post("validate-gift", `{"voucherCode":"`+card.code+`"`+at+`}`).want(200, "isRedeemable", "false", "status",
		"NOT_ACTIVATED", "currentBalance", "0.00", "originalBalance", "0.00", "value", "25.00",
		"notRedeemableReasons[0].code", "NOT_ACTIVATED").has("notRedeemableReasons", 1)
	w.redeem(card, "").refused(409, refusal.RedemptionNotAllowed)
	w.redeem(card, "1").refused(409, refusal.RedemptionNotAllowed)
	w.holdGift(card, "1").refused(409, refusal.RedemptionNotAllowed)
	w.post("resend-gift", `{"voucherID":"`+card.id+`"}`).refused(409, refusal.RedemptionNotAllowed)
	w.post("cancel-gift", `{"voucherID":"`+card.id+`","cause":"PURCHASE_FAILED"}`).refused(409, refusal.RedemptionNotAllowed)
	w.post("activate-gift", activateBody(card, "25")).refused(400, refusal.ValidationFailure, "amount")

	byCode := changed(strings.Replace(activateBody(card, ""), "{", `{"voucherCode":"`+card.code+`","reference":"r-2",`, 1),
		"voucherID", "")
	sold := w.post("activate-gift", byCode, append(as(pierKey), once("a")...)...).want(200, "voucherID", card.id, "amount",
		"25.00",
		"currentBalance", "25.00", "availableBalance", "25.00", "status", "DELIVERED", "isRedeemable", "true",
		"organizationID", pier, "reference", "r-2")
	w.post("activate-gift", byCode, append(as(pierKey), once("a")...)...).again(sold)
	w.post("activate-gift", activateBody(card, "")).refused(409, refusal.AlreadyActivated)
	w.get("/requests/a").want(200, "requests[0].operation", "activate-gift", "requests[0].answer.activationID",
		sold.at("activationID"))
	w.get("/gifting/gifts/"+card.id).want(200, "externalTransactionReferenceNumber", "R-1", "externalStorefrontID", shop,
		"originalBalance", "25.00", "value", "25.00")
	if at := w.get("/gifting/gifts/" + card.id).at("deliveredAt"); at == "null" {
		t.Error("a card that was sold was not delivered")
	}
	w.get("/gifting/gifts?externalTransactionReferenceNumber=R-1").want(200, "gifts[0].voucherID", card.id).has("gifts", 1)
	w.get("/gifting/gifts/"+card.id+"/history").want(200, "entries[0].kind", "ISSUED", "entries[0].amount", "0.00",
		"entries[0].status", "NOT_ACTIVATED", "entries[1].kind", "ACTIVATION", "entries[1].amount", "25.00",
		"entries[1].entryID", sold.at("activationID"), "entries[1].reference", "r-2").has("entries", 2)
	w.redeem(card, "5").want(200, "currentBalance", "20.00")
	w.post("cancel-gift", `{"externalTransactionReferenceNumber":"R-1","cause":"CANCELLED"}`).want(200,
		"vouchers[0].voucherID", card.id).has("vouchers", 1)
	w.post("activate-gift", activateBody(card, "")).refused(409, refusal.RedemptionNotAllowed)
	w.post("cancel-gift", `{"orderID":"`+order+`","cause":"CANCELLED"}`).want(200).has("vouchers", 20)
	w.post("reinstate-gift", `{"voucherID":"`+page.at("gifts[1].voucherID")+`"}`).want(200, "vouchers[0].status",
		"NOT_ACTIVATED")
	w.sound()
}

// TestStockOfAnyWorth: what is paid for a card is what it is worth, up to the account's limit, in its unit.
func TestStockOfAnyWorth(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	card := w.stock(`"count":1`)[0]
	w.get("/gifting/gifts/"+card.id).want(200, "value", "0.00", "quantity", "null")
	for _, bad := range []string{"", "0", "-5", "0.001", "10000.01", `"5"`, `""`, "1e30"} {
		w.post("activate-gift", activateBody(card, bad)).refused(400, refusal.ValidationFailure, "amount")
	}
	w.post("activate-gift", activateBody(card, "10000"), once("k")...).want(200, "currentBalance", "10000.00")

	w.get("/gifting/gifts/"+w.stock(`"count":1,"programID":"` + merchant.DistributionProgram.ID.String() + `","organizationID":"` +
		pier + `","voucherDesignID":"` + design + `"`)[0].id).want(200, "programName", merchant.DistributionProgram.Name,
		"organizationID", pier, "voucherDesignID", design)

	item := w.stock(`"count":2,"label":"Latte","terms":"Any size.","quantity":3,"equivalentValue":13.5`)
	w.get("/gifting/gifts/"+item[0].id).want(200, "quantity", "3", "value", "null", "label", "Latte", "currentBalance",
		"0",
		"originalBalance", "0")
	w.post("activate-gift", activateBody(item[0], "3")).refused(400, refusal.ValidationFailure, "amount")
	w.post("activate-gift", activateBody(item[0], "")).want(200, "amount", "3", "currency", "null")
	w.redeem(item[0], "2").want(200, "currentBalance", "1")
	w.sound()
}

// TestBadStock: what is wrong with each member is told at it.
func TestBadStock(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	w := newWorld(t)
	for body, path := range map[string]string{
		`{}`: "count", `{"count":0}`: "count", `{"count":10001}`: "count", `{"count":-1}`: "count", `{"count":1.5}`: "count",
		`{"count":1,"value":0}`: "value", `{"count":1,"value":10000.01}`: "value", `{"count":1,"value":0.001}`: "value",
		`{"count":1,"value":5,"label":"L","quantity":1}`: "value",
		`{"count":1,"label":"L"}`:                        "quantity", `{"count":1,"quantity":2}`: "label",
		`{"count":1,"terms":"T"}`: "label", `{"count":1,"equivalentValue":5}`: "label",
		`{"count":1,"label":" ","quantity":2}`: "label", `{"count":1,"label":"L","quantity":10001}`: "quantity",
		`{"count":1,"label":"L","quantity":1,"equivalentValue":0}`:            "equivalentValue",
		`{"count":1,"label":"` + strings.Repeat("x", 201) + `","quantity":1}`: "label",
		`{"count":1,"label":"L","quantity":1,"terms":"\u0001"}`:               "terms",
		`{"count":1,"organizationID":"` + nowhere + `"}`:                      "organizationID",
		`{"count":1,"organizationID":"` + cornerPlace + `"}`:                  "organizationID",
		`{"count":1,"voucherDesignID":"` + nowhere + `"}`:                     "voucherDesignID",
		`{"count":1,"verificationCodes":"yes"}`:                               "verificationCodes",
		`{"count":1,"recipients":[]}`:                                         "recipients",
	} {
		w.post("create-stock", body).refused(400, refusal.ValidationFailure, path)
	}
	w.post("create-stock", `{"count":1,"programID":"`+nowhere+`"}`).refused(422, refusal.MissingOrInvalidGiftProgram,
		"programID")
	w.post("create-stock", `{"count":1}`, as(pierKey)...).refused(400, refusal.ValidationFailure, "organizationID")
	w.post("create-stock", `{"count":1,"organizationID":"`+wharf+`"}`, as(pierKey)...).refused(403, refusal.NotAuthorized)
	w.post("create-stock", `{"count":1,"organizationID":"`+pier+`"}`, as(pierKey)...).want(201, "organizationID", pier)

	card := w.stock(`"count":1`)[0]
	good := activateBody(card, "5")
	for name, bad := range map[string][]string{
		"externalTransactionReferenceNumber":      {"", `" "`, `"` + strings.Repeat("x", 201) + `"`},
		"externalTransactionCustomerFirstName":    {"", `""`},
		"externalTransactionCustomerLastName":     {"", "null"},
		"externalTransactionCustomerEmailAddress": {"", `"ann"`},
		"externalStorefrontID":                    {"", `"` + nowhere + `"`, `"` + cornerShop + `"`},
		"paymentMethodID":                         {"4", "1"},
		"organizationID":                          {""},
	} {
		for _, value := range bad {
			w.post("activate-gift", changed(good, name, value)).refused(400, refusal.ValidationFailure, name)
		}
	}
	w.post("activate-gift", changed(good, "organizationID", `"`+nowhere+`"`)).refused(404, refusal.NotFound, "organizationID")
	w.post("activate-gift", changed(strings.Replace(good, "{", `{"voucherPublicToken":"x",`, 1),
		"voucherID", "")).refused(400,
		refusal.InvalidTokenFormat, "voucherPublicToken")
	w.post("activate-gift", good, as(homelessKey)...).refused(409, refusal.AccountMisconfigured)
	w.post("activate-gift", strings.Replace(good, "{", `{"promotionID":"`+nowhere+`",`, 1)).refused(400,
		refusal.ValidationFailure, "promotionID")
	w.post("activate-gift", good).want(200)
}

// TestStolenCards: whoever has codes of a stock and a till's key finds that they are worth nothing; a key that may
// activate can put no more into them than the account and the key may in a day.
func TestStolenCards(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.atNoon()
	cards := w.stock(`"count":5`)
	coffee := w.stock(`"count":2,"label":"Latte","quantity":1,"equivalentValue":60`)
	w.permit(rotatedKey, "validate", "redeem", "reverse", "activate")
	till := as(rotatedKey)
	w.post("create-stock", `{"count":1}`, till...).refused(403, refusal.NotAuthorized)
	w.redeem(cards[0], "1", till...).refused(409, refusal.RedemptionNotAllowed)
	// Another merchant's card is not there, and one that is good elsewhere is not sold here.
	mine := w.stock(`"count":1`, as(cornerKey)...)[0]
	w.post("activate-gift", activateBody(mine, "5"), till...).refused(404, refusal.NotFound)
	w.post("activate-gift", changed(strings.Replace(activateBody(mine, "5"), "{", `{"voucherCode":"`+mine.code+`",`, 1),
		"voucherID", ""), till...).refused(403, refusal.NotAuthorized)
	far := w.stock(`"count":1,"organizationID":"` + wharf + `"`)[0]
	w.post("activate-gift", activateBody(far, "5"), till...).refused(403, refusal.NotAuthorized)

	for limits, of := range map[[2]merchant.Limits]string{
		{{IssuedPerDay: 100_00}, {}}: "account", {{}, {IssuedPerDay: 100_00}}: "key",
	} {
		w.atNoon()
		w.limit(limits[0], limits[1])
		w.permit(rotatedKey, "validate", "redeem", "reverse", "activate")
		w.limit(limits[0], limits[1])
		card, latte := cards[0], coffee[0]
		cards, coffee = cards[1:], coffee[1:]
		w.post("activate-gift", activateBody(card, "60"), till...).want(200)
		refused := w.post("activate-gift", activateBody(cards[0], "40.01"), till...).refused(429, refusal.RateLimited)
		if text := refused.at("messages[0].text"); !strings.Contains(text, "issuedPerDay") || !strings.Contains(text, of) {
			t.Errorf("%s: %s", of, text)
		}
		w.post("activate-gift", activateBody(latte, ""), till...).refused(429, refusal.RateLimited) // 60.00
		w.post("activate-gift", activateBody(cards[0], "40"), till...).want(200)
		cards = cards[1:]
	}
	// Cards count as gifts when they are made, and as money when they are sold.
	w.limit(merchant.Limits{GiftsPerDay: 10, IssuedPerDay: 1_00}, merchant.Limits{})
	w.atNoon()
	w.post("create-stock", `{"count":10,"value":500}`).want(201)
	w.post("create-stock", `{"count":1}`).refused(429, refusal.RateLimited)
	w.sound()
}

// TestTheLargestStock: 10,000 cards are one order, made as a whole beside a till, and their codes leave together.
func TestTheLargestStock(t *testing.T) {
	racetest.SkipShort(t, "one caller, with much in each call")
	t.Parallel()
	w := newWorldOn(t, store.Options{ShortTimeouts: true})
	g := w.send(ofMoney("500"))
	made := make(chan reply, 1)
	go func() {
		r := w.post("create-stock", `{"count":10000,"value":25,"verificationCodes":true}`, once("s")...)
		for n := 0; r.status == 503 && n < 5; n++ { // a machine that runs all tests at once may be too slow for it
			time.Sleep(time.Second)
			r = w.post("create-stock", `{"count":10000,"value":25,"verificationCodes":true}`, once("s")...)
		}
		made <- r
	}()
	var first reply
	for n := 0; first.TB == nil; n++ {
		key := once(fmt.Sprint("till", n))
		r := w.redeem(g, "0.01", key...)
		// Where the machine is busy, the embedded database's one writer takes longer than a till waits, and it repeats.
		for r.status == 503 || r.status == 409 {
			time.Sleep(50 * time.Millisecond)
			r = w.redeem(g, "0.01", key...)
		}
		r.want(200)
		time.Sleep(20 * time.Millisecond) // the guest has to be asked
		select {
		case first = <-made:
		default:
		}
	}
	first.want(201, "count", "10000")
	w.post("create-stock", `{"count":10000,"value":25,"verificationCodes":true}`, once("s")...).again(first)
	codes := map[string]bool{}
	for _, row := range w.get(exportPath(first.at("orderID"), "csv")).want(200).rows()[1:] {
		codes[row[0]] = true
	}
	if len(codes) != 10_000 {
		t.Errorf("%d codes", len(codes))
	}
	w.post("cancel-gift", `{"orderID":"`+first.at("orderID")+`","cause":"CANCELLED"}`).want(200).has("vouchers", 10_000)
}

// TestReverseActivation: an activation is taken back as long as nothing else happened to the card, and the card can be
// sold again.
func TestReverseActivation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cards := w.stock(`"count":4`)
	card := cards[0]
	id := w.post("activate-gift", activateBody(card, "25")).want(200).at("activationID")
	undo := `{"activationID":"` + id + `"}`
	w.post("reverse-activation", undo, as(wharfKey)...).refused(404, refusal.NotFound, "activationID")
	w.post("reverse-activation", undo, as(cornerKey)...).refused(404, refusal.NotFound, "activationID")
	undone := w.post("reverse-activation", undo, append(as(pierKey), once("u")...)...).want(200, "activationID", id,
		"amount", "25.00", "currentBalance", "0.00", "status", "NOT_ACTIVATED", "organizationID", pier, "isRedeemable",
		"false")
	w.post("reverse-activation", undo, append(as(pierKey), once("u")...)...).again(undone)
	w.post("reverse-activation", undo).refused(409, refusal.AlreadyReversed)
	w.get("/gifting/gifts/"+card.id).want(200, "status", "NOT_ACTIVATED", "externalTransactionReferenceNumber", "null",
		"externalStorefrontID", "null", "deliveredAt", "null", "originalBalance", "0.00")
	w.post("cancel-gift", `{"externalTransactionReferenceNumber":"R-1","cause":"CANCELLED"}`).refused(404, refusal.NotFound)
	w.redeem(card, "1").refused(409, refusal.RedemptionNotAllowed)
	w.post("activate-gift", activateBody(card, "30"), once("a")...).want(200, "currentBalance", "30.00")
	w.redeem(card, "1").want(200)
	refused := w.post("reverse-activation", `{"idempotencyKey":"a"}`).refused(409, refusal.RedemptionNotAllowed)
	if text := refused.at("messages[0].text"); !strings.Contains(text, "CLAIMED") ||
		!strings.Contains(text, "29.00 USD of 30.00") {
		t.Error(text)
	}
	// By the key of an activation that did not arrive, or did nothing.
	w.post("reverse-activation", `{"idempotencyKey":"late"}`, as(pierKey)...).refused(404, refusal.NotFound, "idempotencyKey")
	w.post("activate-gift", activateBody(cards[1], "5"), append(as(pierKey), once("late")...)...).refused(409,
		refusal.RedemptionNotAllowed)
	w.post("activate-gift", activateBody(card, "5"), once("refused")...).refused(409, refusal.AlreadyActivated)
	w.post("reverse-activation", `{"idempotencyKey":"refused"}`).refused(404, refusal.NotFound, "idempotencyKey")
	w.post("activate-gift", activateBody(cards[2], "5"), once("lost")...).want(200)
	w.post("reverse-activation", `{"idempotencyKey":"lost"}`, as(wharfKey)...).refused(403, refusal.NotAuthorized)
	w.post("reverse-activation", `{"idempotencyKey":"lost"}`).want(200)
	w.post("reverse-redemption", undo).refused(400, refusal.ValidationFailure)
	for _, body := range []string{`{}`, `{"activationID":"x"}`, `{"activationID":"` + id + `","idempotencyKey":"k"}`,
		`{"idempotencyKey":" k"}`, `{"activationID":"` + id + `","amount":5}`} {
		w.post("reverse-activation", body).refused(400, refusal.ValidationFailure)
	}
	w.sound()
}

// TestAStockIsSold: 500 cards are made and printed on 50 sheets, ten are activated at a till, and one of these
// activations is lost on the way and taken back by its key. What is printed again is what was not sold.
func TestAStockIsSold(t *testing.T) {
	racetest.SkipShort(t, "one caller, with much in each call")
	t.Parallel()
	w := newWorld(t)
	cards := w.stock(`"count":500,"value":20`)
	if len(cards) != 500 {
		t.Fatalf("%d cards", len(cards))
	}
	w.get(exportPath(cards[0].order, "pdf")).want(200).prints(50, cards)
	for n, card := range cards[:10] {
		body := changed(strings.Replace(activateBody(card, ""), "{", `{"voucherCode":"`+card.code+`",`, 1), "voucherID", "")
		w.post("activate-gift", body, append(as(pierKey), once(fmt.Sprintf("sale-%d", n))...)...).want(200, "amount", "20.00")
	}
	w.post("reverse-activation", `{"idempotencyKey":"sale-3"}`, as(pierKey)...).want(200, "voucherID", cards[3].id)
	w.post("reverse-activation", `{"idempotencyKey":"sale-10"}`, as(pierKey)...).refused(404, refusal.NotFound)
	sold := 0
	for n, card := range cards[:20] {
		want := pick(n < 10 && n != 3, "DELIVERED", "NOT_ACTIVATED")
		w.get("/gifting/gifts/"+card.id).want(200, "status", want, "currentBalance", pick(want == "DELIVERED", "20.00",
			"0.00"))
		if want == "DELIVERED" {
			w.redeem(card, "").want(200, "amount", "20.00")
			sold++
		}
	}
	if sold != 9 {
		t.Errorf("%d cards were sold", sold)
	}
	w.get(exportPath(cards[0].order, "pdf")).want(200).prints(50, append([]made{cards[3]}, cards[10:]...))
	for _, card := range cards[10:20] {
		w.post("activate-gift", activateBody(card, "")).want(200)
	}
	w.get(exportPath(cards[0].order, "pdf")).want(200).prints(49, append([]made{cards[3]}, cards[20:]...))
	w.sound()
}

// prints checks a document: how many sheets it has, and that each of the codes stands on one of them, ten on each, and
// no other.
func (r reply) prints(sheets int, cards []made) {
	r.Helper()
	if n := strings.Count(string(r.body), "/Type /Page\n"); n != sheets {
		r.Errorf("%d sheets, want %d", n, sheets)
	}
	reader, err := exec.LookPath("pdftotext")
	if err != nil {
		r.Log("pdftotext is not installed; only the sheets were counted")
		return
	}
	read := exec.CommandContext(r.Context(), reader, "-", "-")
	read.Stdin = bytes.NewReader(r.body)
	text, err := read.Output()
	if err != nil {
		r.Fatal(err)
	}
	var printed, want []string
	for n, sheet := range strings.Split(strings.TrimSuffix(string(text), "\f"), "\f") {
		codes := regexp.MustCompile(`\d{4} \d{4} \d{4}`).FindAllString(sheet, -1)
		if len(codes) != min(10, len(cards)-10*n) {
			r.Errorf("%d codes stand on sheet %d", len(codes), n+1)
		}
		for _, code := range codes {
			printed = append(printed, strings.ReplaceAll(code, " ", ""))
		}
	}
	for _, card := range cards {
		want = append(want, card.code)
	}
	slices.Sort(printed)
	slices.Sort(want)
	if !slices.Equal(printed, want) {
		r.Errorf("%d codes are printed, want %d: %q", len(printed), len(want), printed)
	}
}

// TestStockSaysHowLongToWait: the document says after how long the service ends such a call, and that a client should
// wait longer.
func TestStockSaysHowLongToWait(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]struct{ OperationID, Description string }
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	said := document.Paths[paths["create-stock"]]["post"].Description
	for _, want := range []string{
		fmt.Sprintf("held back for up to %.0f seconds", engine.MaxHeld.Seconds()),
		fmt.Sprintf("ends within %.0f seconds", service.HeavyDeadline.Seconds()),
		"So wait 60 seconds", "under the same Idempotency-Key", string(refusal.RequestInProgress),
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q: %s", want, said)
		}
	}
	if service.HeavyDeadline >= time.Minute {
		t.Errorf("the service ends such a call after %v, later than a client is told to wait", service.HeavyDeadline)
	}
}
