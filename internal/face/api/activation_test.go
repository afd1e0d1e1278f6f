package api_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift/codes"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/store/pgtest"
)

// toSell is a card that is sold by its activation code.
type toSell struct {
	made

	number string
}

// stockToSell makes a stock whose cards are sold by their activation codes.
func (w *world) stockToSell(members string) (cards []toSell) {
	w.Helper()
	for _, card := range w.stock(members + `,"activationCodes":true`) {
		rows := w.get(exportPath(card.order, "csv")).want(200).rows()
		at := slices.IndexFunc(rows, func(row []string) bool { return row[0] == card.code })
		cards = append(cards, toSell{card, rows[at][7]})
	}
	return cards
}

// sell asks to activate a card at the pier by its activation code.
func sell(number, amount string) string {
	return changed(strings.Replace(activateBody(made{}, amount), "{", `{"activationCode":"`+number+`",`, 1), "voucherID", "")
}

// TestActivationCodes: a card is sold by its second number, which then tells that it is sold, and finds it again when
// the sale was taken back. The number stands in the files of the stock, and in no answer.
func TestActivationCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.post("create-stock", `{"count":3,"value":25,"activationCodes":true}`, once("s")...).want(201,
		"activationCodes", "true", "verificationCodes", "false")
	w.post("create-stock", `{"count":3,"value":25,"activationCodes":true}`, once("s")...).again(first)
	w.post("create-stock", `{"count":3,"value":25}`, once("s")...).refused(422, refusal.IdempotencyMismatch)
	w.post("create-stock", `{"count":3,"value":25}`).want(201, "activationCodes", "false")
	cards := w.stockToSell(`"count":3,"value":25`)
	card, other := cards[0], cards[1]
	if len(card.number) != codes.ActivationDigits || card.number == other.number {
		t.Fatalf("the numbers are %q and %q", card.number, other.number)
	}
	rows := w.get(exportPath(card.order, "csv")).want(200).rows()
	for _, row := range rows[1:] {
		if !staysText.MatchString(row[8]) || strings.ReplaceAll(row[8], "-", "") != row[7] {
			t.Errorf("%q is %q as text", row[7], row[8])
		}
	}
	w.post("activate-gift", sell(card.number, "5")).refused(400, refusal.ValidationFailure, "amount")
	dry := w.do("POST", "/api/integration/redemption/activate-gift?dryRun=true", sell(card.number, "")).want(200, "amount",
		"25.00", "dryRun", "true")
	sold := w.post("activate-gift", sell(card.number, ""), append(as(pierKey), once("a")...)...).want(200, "voucherID",
		card.id, "amount", "25.00", "status", "DELIVERED")
	w.post("activate-gift", sell(card.number, ""), append(as(pierKey), once("a")...)...).again(sold)
	for _, r := range []reply{first, dry, sold, w.get("/gifting/gifts/" + card.id), w.get("/requests/a")} {
		if strings.Contains(string(r.body), card.number) {
			t.Errorf("an answer tells the activation code: %s", r.body)
		}
	}
	// As scanners and people write it.
	n := card.number
	for _, typed := range []string{n, "]C1" + n + `\r\n`, n[:4] + " " + n[4:8] + "-" + n[8:12] + "." + n[12:]} {
		w.post("activate-gift", sell(typed, "")).refused(409, refusal.AlreadyActivated)
	}
	if again := w.get(exportPath(card.order, "csv")).want(200); strings.Contains(string(again.body), card.number) {
		t.Errorf("the activation code of a card that was sold leaves: %s", again.body)
	}
	w.post("reverse-activation", `{"activationID":"`+sold.at("activationID")+`"}`).want(200, "status", "NOT_ACTIVATED")
	w.post("activate-gift", sell(card.number, "")).want(200, "voucherID", card.id)
	w.redeem(card.made, "5").want(200)

	// The number stands on the card that was lost.
	w.post("replace-gift", `{"voucherID":"`+card.id+`","reason":"lost"}`).want(200)
	w.post("activate-gift", sell(card.number, "")).refused(404, refusal.NotFound, "activationCode")

	for _, bad := range []string{"482913576024", "48291357602481370", "482913576024813x", " "} {
		w.post("activate-gift", sell(bad, "")).refused(400, refusal.InvalidCodeFormat, "activationCode")
	}
	w.post("activate-gift", strings.Replace(sell(other.number, ""), "{", `{"voucherID":"`+other.id+`",`, 1)).
		refused(400, refusal.ValidationFailure, "")
	w.post("activate-gift", changed(sell("1", ""), "activationCode", other.number)).refused(400,
		refusal.ValidationFailure, "activationCode")
	// Nobody else's, and not where the card is not good.
	abroad := w.stockToSell(`"count":1,"value":25,"organizationID":"` + wharf + `"`)[0]
	w.post("activate-gift", sell(abroad.number, "")).refused(403, refusal.NotAuthorized)
	w.post("activate-gift", changed(changed(sell(other.number, ""), "organizationID", ""), "externalStorefrontID", `"`+
		cornerShop+`"`), as(cornerKey)...).refused(404, refusal.NotFound, "activationCode")
	w.post("activate-gift", sell(other.number, "")).want(200, "voucherID", other.id)
	w.sound()
}

// TestWrongActivationCodesAreGuesses: they count together with wrong codes, and what is refused then is not looked up.
func TestWrongActivationCodesAreGuesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	card := w.stockToSell(`"count":1,"value":25`)[0]
	for n := range merchant.GuessBurst - 1 {
		w.validate(n).refused(404, refusal.NotFound, "voucherCode")
	}
	w.post("activate-gift", sell("1000000000000000", "")).refused(404, refusal.NotFound, "activationCode")
	good := w.post("activate-gift", sell(card.number, ""), "X-Request-ID", "x").refused(429, refusal.RateLimited)
	bad := w.post("activate-gift", sell("1000000000000001", ""), "X-Request-ID", "x").refused(429, refusal.RateLimited)
	if string(good.body) != string(bad.body) {
		t.Errorf("good and bad numbers are told apart: %s and %s", good.body, bad.body)
	}
	w.validate(100).refused(429, refusal.RateLimited)
	w.post("activate-gift", activateBody(card.made, "")).want(200)
}

// giftNames are the members that can name a gift, or what happened to one.
var giftNames = []string{"voucherCode", "voucherPublicToken", "voucherID", "fromVoucherID", "toVoucherID", "orderID",
	"holdID", "redemptionID", "activationID", "reloadID", "idempotencyKey"}

// lookUps are all addresses by which something is looked up, each made with a text in one of their places.
func lookUps() map[string]func(text string) string {
	var file struct {
		Paths map[string]struct {
			Get *struct {
				Parameters []struct{ Name, In string }
			}
		}
	}
	if err := json.Unmarshal(theFile, &file); err != nil {
		panic(err)
	}
	all := map[string]func(string) string{}
	for at, is := range file.Paths {
		path, is2 := strings.CutPrefix(at, "/api/integration")
		if is.Get == nil || !is2 {
			continue
		}
		for _, p := range is.Get.Parameters {
			switch {
			case p.In == "path":
				all[at+" "+p.Name] = func(text string) string {
					return strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(text))
				}
			case p.In == "query" && !strings.Contains(path, "{") && p.Name != "wait":
				all[at+" "+p.Name] = func(text string) string { return path + "?" + p.Name + "=" + url.QueryEscape(text) }
			}
		}
	}
	return all
}

// TestActivationCodesOpenNothingElse: an activation code in place of whatever names a gift is answered like a number
// that nobody has, by every operation and look-up, also where the account has codes of another system with as many
// digits; and the codes of a card do not sell it as its activation code.
func TestActivationCodesOpenNothingElse(t *testing.T) {
	t.Parallel()
	for _, imports := range []bool{false, true} {
		t.Run(map[bool]string{false: "own", true: "imported"}[imports], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *config) { c.Records = unlimited{c.Records} })
			if imports {
				w.declare(merchant.CodeForm{Digits: 16})
			}
			card := w.stockToSell(`"count":1,"value":25`)[0]
			unknown := "1" + card.number[1:15] + string('0'+(card.number[15]-'0'+1)%10)
			same := func(t *testing.T, ask func(number string) reply) {
				right, wrong := ask(card.number), ask(unknown)
				told := func(r reply, number string) string {
					return strings.NewReplacer(number, "#", number[12:], "#").Replace(string(r.body))
				}
				if right.status == 500 || right.status != wrong.status || told(right, card.number) != told(wrong, unknown) {
					t.Errorf("the activation code is answered %d %s, a number that nobody has %d %s", right.status, right.body,
						wrong.status, wrong.body)
				}
			}
			tried := map[string]bool{}
			w.eachMember(t, func(t *testing.T, operation string, body func() string, p place) {
				sale := operation == "cancel-gift" && p.name == "externalTransactionReferenceNumber"
				if !slices.Contains(giftNames, p.name) && !sale {
					return
				}
				tried[operation] = true
				same(t, func(number string) reply {
					p.in[p.name] = number
					return w.in(t).post(operation, body(), "X-Request-ID", "x")
				})
			})
			if len(tried) < 20 {
				t.Errorf("only %v were tried", slices.Sorted(maps.Keys(tried)))
			}
			for name, at := range lookUps() {
				t.Run(name, func(t *testing.T) {
					same(t, func(number string) reply { return w.in(t).get(at(number), "X-Request-ID", "x") })
				})
			}
			w.get("/gifting/gifts/"+card.id).want(200, "status", "NOT_ACTIVATED")
			w.get("/gifting/gifts/"+card.id+"/history").want(200).has("entries", 1)
			if told, err := w.store.Trail(t.Context(), event.TrailFilter{AccountID: id(harbor), Limit: 100}); err != nil ||
				slices.ContainsFunc(told.Entries, func(e event.TrailEntry) bool { return e.Action == event.Probed }) {
				t.Errorf("an activation code was taken for the code of its card: %+v, %v", told, err)
			}
			for _, not := range []string{card.code, card.code + "0000", "0000" + card.code, card.token} {
				r := w.post("activate-gift", sell(not, ""))
				r.refused(r.status, refusal.Code(r.at("code")), "activationCode")
			}
			w.post("activate-gift", sell(card.number, "")).want(200, "voucherID", card.id)
		})
	}
}

// TestAnImportedCodeWithTheDigitsOfAnActivationCode: each finds its own, by the member in which it stands.
func TestAnImportedCodeWithTheDigitsOfAnActivationCode(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	w := newWorld(t)
	a := w.declare(merchant.CodeForm{Digits: 16})
	card := w.stockToSell(`"count":1,"value":25`)[0]
	w.bring(a, card.number)
	at := `,"organizationID":"` + pier + `"`
	found := w.post("validate-gift", `{"voucherCode":"`+card.number+`"`+at+`}`).want(200, "status", "DELIVERED")
	if found.at("voucherID") == card.id {
		t.Error("the code of another system finds the card of the stock")
	}
	w.post("activate-gift", sell(card.number, "")).want(200, "voucherID", card.id)
	w.sound()
}

// TestProbedCards: a card that is asked for by its code before it is sold is an event and stands in the audit trail,
// once a day, whatever asks first; what sells it is none.
func TestProbedCards(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := `,"organizationID":"` + pier + `"`
	asks := map[string]func(toSell) reply{
		"validate-gift by code": func(c toSell) reply { return w.post("validate-gift", `{"voucherCode":"`+c.code+`"`+at+`}`) },
		"validate-gift by token": func(c toSell) reply {
			return w.post("validate-gift", `{"voucherPublicToken":"`+c.token+`"`+at+`}`)
		},
		"redeem-gift":   func(c toSell) reply { return w.post("redeem-gift", `{"voucherCode":"`+c.code+`","amount":1`+at+`}`) },
		"hold-gift":     func(c toSell) reply { return w.post("hold-gift", `{"voucherCode":"`+c.code+`","amount":1`+at+`}`) },
		"cash-out-gift": func(c toSell) reply { return w.post("cash-out-gift", `{"voucherCode":"`+c.code+`"`+at+`}`) },
		"redeem-gifts": func(c toSell) reply {
			return w.post("redeem-gifts", `{"gifts":[{"voucherCode":"`+c.code+`","amount":1}]`+at+`}`)
		},
	}
	quiet := w.stockToSell(`"count":3,"value":25`)
	w.do("POST", "/api/integration/redemption/redeem-gift?dryRun=true", `{"voucherCode":"`+quiet[0].code+`","amount":1`+at+`}`)
	w.post("activate-gift", sell(quiet[0].number, "")).want(200)
	w.post("activate-gift", changed(strings.Replace(activateBody(made{}, ""), "{", `{"voucherCode":"`+quiet[1].code+`",`, 1),
		"voucherID", "")).want(200)
	w.post("validate-gift", `{"voucherCode":"`+quiet[1].code+`"`+at+`}`).want(200)
	w.post("redeem-gift", `{"voucherID":"`+quiet[2].id+`","amount":1`+at+`}`).refused(409, refusal.RedemptionNotAllowed)
	w.post("validate-gift", `{"voucherCode":"`+quiet[2].code+`"}`, as(cornerKey)...).refused(403, refusal.NotAuthorized)

	cards := w.stockToSell(`"count":6,"value":25`)
	probed := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(asks)) {
		card := cards[len(probed)]
		probed[card.id] = true
		for range 3 {
			asks[name](card)
		}
	}
	told := func(want int) {
		t.Helper()
		seen := map[string]int{}
		all, _ := w.feed(want, url.Values{"type": {"gift.probed"}})
		for _, e := range all {
			if e.Data.Gift == nil || e.Data.Key == nil || e.Data.Entry != nil || !probed[e.Data.Gift.VoucherID] {
				t.Errorf("%+v", e)
				continue
			}
			seen[e.Data.Gift.VoucherID]++
		}
		trail, err := w.store.Trail(t.Context(), event.TrailFilter{AccountID: id(harbor), Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		noted := 0
		for _, e := range trail.Entries {
			if e.Action == event.Probed {
				noted++
			}
		}
		if len(all) != want || noted != want || len(seen) != len(probed) {
			t.Errorf("%d events about %d cards, %d notes, want %d about %d", len(all), len(seen), noted, want, len(probed))
		}
	}
	told(6)
	// A day later, it is told once more; many who ask at once are told of once.
	w.pass(event.ProbedEvery + time.Second)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { asks["validate-gift by code"](cards[0]) })
	}
	all.Wait()
	told(7)
	w.sound()
}
