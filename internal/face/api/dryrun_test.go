package api_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"boon.example/internal/face/api"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/store"
	"boon.example/internal/store/db"
)

// rehearse makes a call as a dry run.
func (w *world) rehearse(operation, body string, headers ...string) reply {
	w.Helper()
	return w.do("POST", paths[operation]+"?dryRun=true", body, append(headers, "Content-Type", "application/json")...)
}

// rows are all rows of the database, as text.
func (w *world) rows() string {
	w.Helper()
	names, driver, source := `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`, "sqlite",
		db.SQLiteDSN(filepath.Join(w.dir, store.DatabaseName), "query_only(1)")
	if w.database != "" {
		names, driver, source = `SELECT tablename::TEXT FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1`,
			"pgx", w.database
	}
	pool, err := sql.Open(driver, source)
	if err != nil {
		w.Fatal(err)
	}
	defer pool.Close()
	var text strings.Builder
	for _, table := range query(w, pool, names) {
		rows := query(w, pool, `SELECT * FROM "`+table+`"`)
		slices.Sort(rows)
		fmt.Fprintf(&text, "%s\n%s\n", table, strings.Join(rows, "\n"))
	}
	return text.String()
}

// query gives the rows that a statement finds, each as a text.
func query(w *world, pool *sql.DB, text string) (all []string) {
	w.Helper()
	rows, err := pool.QueryContext(w.Context(), text)
	if err != nil {
		w.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		w.Fatal(err)
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for n := range values {
		into[n] = &values[n]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			w.Fatal(err)
		}
		var row []string
		for _, v := range values {
			row = append(row, fmt.Sprintf("%v", v))
		}
		all = append(all, strings.Join(row, "\t"))
	}
	if err := rows.Err(); err != nil {
		w.Fatal(err)
	}
	return all
}

var (
	anyID     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	anyMoment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)
	anySecret = regexp.MustCompile(`"(voucherCode|voucherPublicToken|giftURL|printURL|lastFour)":("[^"]*"|null)`)
)

// asAny is an answer without what differs from call to call: ids, moments, secrets, and that it is a dry run's.
func (r reply) asAny() string {
	r.Helper()
	text := anySecret.ReplaceAll(anyMoment.ReplaceAll(anyID.ReplaceAll(r.body, []byte("ID")), []byte("MOMENT")),
		[]byte(`"$1":SECRET`))
	var compact bytes.Buffer
	if err := json.Compact(&compact, bytes.ReplaceAll(text, []byte("SECRET"), []byte("0"))); err != nil {
		r.Fatal(err)
	}
	return fmt.Sprint(r.status, " ", strings.Replace(compact.String(), `"dryRun":true,`, "", 1))
}

// TestDryRunsSayWhatWouldBeAnswered: over random histories, a dry run of whatever operation leaves every row of the
// database as it was, and is answered as the call in earnest that follows it.
func TestDryRunsSayWhatWouldBeAnswered(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			lot, w := rand.New(rand.NewPCG(seed, 41)), newWorld(t)
			limited := seed == 0 // a limit that is soon met refuses most of what takes value
			if limited {
				w.configure(func(a *merchant.Account) { a.Limits.RedeemedPerDay = 40_00 })
			}
			h := &history{world: w, lot: lot}
			h.begin()
			answered := map[string]int{}
			steps := 200
			if testing.Short() {
				steps = 60
			}
			whole := !testing.Short() && !limited // goes on until each operation was done
			never := func() []operation.Name {
				return slices.DeleteFunc(slices.Collect(slices.Values(operation.All())), func(op operation.Name) bool {
					return answered[fmt.Sprint(op, true)] > 0
				})
			}
			for n := 0; n < steps || whole && n < 1_000 && len(never()) > 0; n++ {
				operation, body := h.next()
				before := w.rows()
				dry := w.rehearse(operation, body, "Idempotency-Key", "same")
				if after := w.rows(); after != before {
					t.Fatalf("a dry run of %s %s, answered %s, changed the database:\n%s", operation, body, dry.body,
						firstDifference(before, after))
				}
				if dry.at("dryRun") != "true" {
					t.Errorf("%s does not say that it is the answer to a dry run: %s", operation, dry.body)
				}
				real := w.post(operation, body, "Idempotency-Key", fmt.Sprint("real ", n))
				got, want := dry.asAny(), strings.Replace(real.asAny(), "The key is spent now:", "The key would be spent:", 1)
				if got != want {
					t.Errorf("%s %s:\n dry run %s\nanswered %s", operation, body, got, want)
				}
				h.note(operation, real)
				answered[fmt.Sprint(operation, real.status < 400)]++
			}
			if left := never(); whole && len(left) > 0 {
				t.Errorf("never done: %s", left)
			}
		})
	}
}

func firstDifference(a, b string) string {
	before, after := strings.Split(a, "\n"), strings.Split(b, "\n")
	for n := range min(len(before), len(after)) {
		if before[n] != after[n] {
			return before[n] + "\n" + after[n]
		}
	}
	return fmt.Sprintf("%d rows, %d rows", len(before), len(after))
}

// history makes random calls of all operations about a few gifts.
type history struct {
	*world
	lot                                     *rand.Rand
	gifts, mails, cards, promotions         []made
	redemptions, holds, reloads, activation []string
	whole                                   map[string][]string
}

func (h *history) begin() {
	h.whole = h.world.whole()
	for range 4 {
		h.gifts = append(h.gifts, h.send(ofMoney("25.50")))
		h.mails = append(h.mails, h.send(mailed("ana@example.com")))
		h.promotions = append(h.promotions, h.promotional("5"))
	}
	h.cards = h.stock(`"count":12`)
}

func one[T any](h *history, of []T, none T) T {
	if len(of) == 0 {
		return none
	}
	return of[h.lot.IntN(len(of))]
}

// next draws a call. Some are of an operation as another test has it whole, most are about what was made before.
func (h *history) next() (name, body string) {
	op := string(one(h, operation.All(), ""))
	if h.lot.IntN(8) == 0 || op == string(operation.SendGift) || op == string(operation.CreateStock) {
		return op, one(h, h.whole[op], "")
	}
	every := slices.Concat(h.gifts, h.mails, h.cards, h.promotions)
	g, amount := one(h, every, made{}), fmt.Sprintf("%d.%02d", h.lot.IntN(12), 1+h.lot.IntN(99))
	named := fmt.Sprintf(`"voucherID":"%s"`, g.id)
	switch operation.Name(op) {
	case operation.RedeemGift, operation.HoldGift:
		return op, redeemBody(g, one(h, []string{amount, amount, ""}, ""))
	case operation.RedeemGifts:
		members := one(h, []string{"", `"upTo":` + amount}, "")
		return op, saleBody(members, g, one(h, every, g), one(h, every, g))
	case operation.CaptureHold:
		return op, fmt.Sprintf(`{"holdID":"%s","amount":0.01,"final":%t}`, one(h, h.holds, nowhere), h.lot.IntN(2) == 0)
	case operation.ReleaseHold:
		return op, fmt.Sprintf(`{"holdID":"%s"}`, one(h, h.holds, nowhere))
	case operation.ReverseRedemption:
		if h.lot.IntN(4) == 0 {
			return op, fmt.Sprintf(`{"idempotencyKey":"real %d"%s}`, h.lot.IntN(300),
				one(h, []string{"", `,"operation":"redeem-gifts"`}, ""))
		}
		return op, fmt.Sprintf(`{"redemptionID":"%s"}`, one(h, h.redemptions, nowhere))
	case operation.CashOutGift:
		return op, cashBody(g)
	case operation.ReloadGift:
		return op, loadBody(g, amount)
	case operation.ReverseReload:
		return op, fmt.Sprintf(`{"reloadID":"%s"}`, one(h, h.reloads, nowhere))
	case operation.ActivateGift:
		return op, activateBody(one(h, h.cards, made{}), amount)
	case operation.ReverseActivation:
		return op, fmt.Sprintf(`{"activationID":"%s"}`, one(h, h.activation, nowhere))
	case operation.CancelGift:
		return op, fmt.Sprintf(`{%s,"cause":"%s"}`, named, one(h, []string{"CANCELLED", "PURCHASE_FAILED"}, ""))
	case operation.ReinstateGift:
		return op, fmt.Sprintf(`{%s}`, named)
	case operation.ResendGift:
		return op, fmt.Sprintf(`{"voucherID":"%s"}`, one(h, h.mails, g).id)
	case operation.RescheduleGift:
		return op, fmt.Sprintf(`{"voucherID":"%s","deliveryDate":"%s"}`, one(h, h.mails, g).id, soon)
	case operation.TransferBalance:
		return op, transferBody(g, one(h, every, g), amount)
	case operation.BlockGift:
		return op, fmt.Sprintf(`{%s,"reasonCode":"LOST","reason":"R"}`, named)
	case operation.UnblockGift, operation.ReplaceGift:
		return op, fmt.Sprintf(`{%s,"reason":"R"}`, named)
	case operation.LinkCustomer, operation.UnlinkCustomer:
		return op, fmt.Sprintf(`{%s,"customerID":"%s"}`, named, one(h, []string{"C-1", "C-2"}, ""))
	case operation.AdjustGift:
		return op, fmt.Sprintf(`{%s,"amount":%s%s,"reasonCode":"MISTAKE","reason":"why"}`, named,
			one(h, []string{"", "-"}, ""), amount)
	case operation.ExtendGift:
		return op, fmt.Sprintf(`{"voucherID":"%s","validUntil":"%d-01-01T00:00:00Z"}`, one(h, h.promotions, g).id,
			2040+h.lot.IntN(100))
	}
	h.Fatalf("no call of %s is drawn", op)
	return "", ""
}

// note keeps what later calls may be about.
func (h *history) note(name string, r reply) {
	if r.status >= 400 {
		return
	}
	switch operation.Name(name) {
	case operation.RedeemGift, operation.CaptureHold:
		h.redemptions = append(h.redemptions, r.at("redemptionID"))
	case operation.HoldGift:
		h.holds = append(h.holds, r.at("holdID"))
	case operation.ReloadGift:
		h.reloads = append(h.reloads, r.at("reloadID"))
	case operation.ActivateGift:
		h.activation = append(h.activation, r.at("activationID"))
	}
}

// TestDryRunsTellNoSecrets: there is no gift that the codes of a dry run could lead to, so that it shows none.
func TestDryRunsTellNoSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rehearse("send-gift", ofMoney("5")).want(201, "gifts[0].voucherCode", "null", "gifts[0].voucherPublicToken", "null",
		"gifts[0].giftURL", "null", "gifts[0].printURL", "null", "printURL", "null", "gifts[0].currentBalance", "5.00")
	g := w.send(ofMoney("5"))
	w.rehearse("replace-gift", `{"voucherID":"`+g.id+`","reason":"x"}`).want(200, "voucherCode", "null", "giftURL",
		"null")
	w.mu.Lock()
	if !w.events[0].DryRun || w.events[1].DryRun { // that of the last call may come later than its answer
		t.Errorf("the log lines tell %+v and %+v", w.events[0], w.events[1])
	}
	w.mu.Unlock()
	if w.wakes.Load() != 1 {
		t.Errorf("somebody was told %d times to deliver something, want once", w.wakes.Load())
	}
}

// TestOnlyOperationsOnGiftsHaveDryRuns: what changes something and has no dry run refuses one, instead of doing what
// was not meant in earnest.
func TestOnlyOperationsOnGiftsHaveDryRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	refused := 0
	w.everywhereAt("dryRun=true", func(route api.Route, r reply) {
		name := route.Pattern[strings.LastIndex(route.Pattern, "/")+1:]
		kept := slices.Contains(operation.All(), operation.Name(name))
		switch {
		case route.Method == "GET", name == "validate-gift":
			if r.status == 422 {
				t.Errorf("%s %s: %s", route.Method, route.Pattern, r.body)
			}
		case kept:
			r.want(r.status, "dryRun", "true")
		default:
			refused++
			r.refused(422, refusal.NotSupported, "dryRun")
		}
	})
	if refused == 0 {
		t.Error("no operation refused")
	}
	g := w.send(ofMoney("5"))
	w.do("POST", paths["redeem-gift"]+"?dryRun=yes", redeemBody(g, "")).refused(400, refusal.ValidationFailure, "dryRun")
	w.do("POST", paths["redeem-gift"]+"?dryRun=true&dryRun=false", redeemBody(g, "")).refused(400,
		refusal.ValidationFailure, "dryRun")
	for _, query := range []string{"dryRun", "dryRun=", "dryRun=&other=1", "dryRun=True", "dryrun=true", "DRYRUN=true"} {
		w.do("POST", paths["redeem-gift"]+"?"+query, redeemBody(g, "1")).refused(400, refusal.ValidationFailure,
			strings.Split(query, "=")[0])
	}
	w.do("POST", paths["redeem-gift"]+"?dryRun=false&other=1", redeemBody(g, "1")).want(200, "currentBalance", "4.00")
}

// TestDryRunsGuessNoVerificationCode: whoever has a card tries as many verification codes by dry runs as in earnest, at
// once too, and wrong ones block the card.
func TestDryRunsGuessNoVerificationCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cards, codes := w.verified(1)
	card, code := cards[0], codes[0]
	w.rehearse("redeem-gift", verifyBody(card, "1", code)).want(200, "dryRun", "true", "currentBalance", "19.00")
	var all sync.WaitGroup
	answers := make([]reply, 12)
	for n := range answers {
		all.Go(func() { answers[n] = w.rehearse("redeem-gift", verifyBody(card, "1", wrong(code, n))) })
	}
	all.Wait()
	tried := 0
	for _, r := range answers {
		if r.refused(409, refusal.RedemptionNotAllowed); bytes.Contains(r.body, []byte("verification code is wrong")) {
			tried++
		}
	}
	if tried != gift.MaxWrongCodes {
		t.Errorf("%d wrong codes were told to be wrong, want %d", tried, gift.MaxWrongCodes)
	}
	w.rehearse("redeem-gift", verifyBody(card, "1", code)).refused(409, refusal.RedemptionNotAllowed)
	w.get("/gifting/gifts/"+card.id).want(200, "currentBalance", "20.00", "isRedeemable", "false")
}

// TestDryRunsSpendNoKey: a dry run of an undo by a key that has not arrived says that the key would be spent.
func TestDryRunsSpendNoKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	said := func(r reply) string { return r.refused(404, refusal.NotFound).at("messages[0].text") }
	for _, op := range []string{"reverse-redemption", "release-hold", "reverse-reload", "reverse-activation"} {
		text := said(w.rehearse(op, `{"idempotencyKey":"late"}`))
		if !strings.Contains(text, "The key would be spent: should the") {
			t.Errorf("%s says %s", op, text)
		}
		if text := said(w.post(op, `{"idempotencyKey":"late"}`)); !strings.Contains(text, "The key is spent now: should") {
			t.Errorf("%s says %s", op, text)
		}
	}
}

// TestDryRunsCountGuesses: wrong codes count, though nothing is done.
func TestDryRunsCountGuesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 20 {
		w.rehearse("redeem-gift", fmt.Sprintf(`{"voucherCode":"9%011d","organizationID":"%s"}`, n, pier)).refused(404,
			refusal.NotFound)
	}
	w.rehearse("redeem-gift", `{"voucherCode":"912345678901","organizationID":"`+pier+`"}`).refused(429,
		refusal.RateLimited)
}

// TestDryRunsNeedNoKey: an account that demands an Idempotency-Key demands none of a dry run, which keeps none.
func TestDryRunsNeedNoKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("5"))
	w.redeem(g, "1", "Idempotency-Key", "k").want(200, "currentBalance", "4.00")
	w.rehearse("redeem-gift", redeemBody(g, "1"), "Idempotency-Key", "k").want(200, "currentBalance", "3.00")
	w.configure(func(a *merchant.Account) { a.RequireIdempotencyKey = true })
	w.rehearse("redeem-gift", redeemBody(g, "1")).want(200, "currentBalance", "3.00")
	w.rehearse("redeem-gift", redeemBody(g, "1"), "Idempotency-Key", "").refused(400, refusal.ValidationFailure,
		"Idempotency-Key")
	w.redeem(g, "1", "Idempotency-Key", "k").want(200, "currentBalance", "4.00")
}
