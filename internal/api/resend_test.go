package api_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"boon.example/internal/api"
	"boon.example/internal/delivery"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// claim leases the only job that is due, as a delivery worker does.
func (w *world) claim() ledger.Job {
	w.Helper()
	jobs, err := w.store.ClaimJobs(w.Context(), w.now().Add(time.Second), time.Minute, 10)
	if err != nil || len(jobs) != 1 {
		w.Fatalf("claimed %v, %v; want one job", jobs, err)
	}
	return jobs[0]
}

// goesTo checks where the message of a job goes.
func (w *world) goesTo(job ledger.Job, contact string) {
	w.Helper()
	if g, err := w.store.GiftOf(w.Context(), job); err != nil || g.Card.Contact != contact {
		w.Errorf("the message goes to %q, %v; want %q", g.Card.Contact, err, contact)
	}
}

// end records what became of a job.
func (w *world) end(job ledger.Job, worked bool) {
	w.Helper()
	outcome := gift.Outcome{Delivered: worked}
	if !worked {
		outcome.Reason = "550 no such user"
	}
	call := ledger.Call{AccountID: job.AccountID, Render: func(ledger.Result, error) ledger.Answer { return ledger.Answer{} }}
	if _, err := w.engine.Do(w.Context(), call, &ledger.Deliver{Job: job, Outcome: outcome}); err != nil {
		w.Fatal(err)
	}
}

// history gives the kinds, statuses and reasons of a gift's entries.
func (w *world) history(id string) (all []string) {
	w.Helper()
	r := w.get("/gifting/gifts/" + id + "/history").want(200)
	for n := range strings.Count(string(r.body), `"entryID"`) {
		at := func(member string) string { return r.at(fmt.Sprintf("entries[%d].%s", n, member)) }
		all = append(all, strings.TrimSuffix(at("kind")+" "+at("status")+" "+at("reason"), " null"))
		if at("amount") != "0.00" && n > 0 {
			w.Errorf("entry %d moves %s", n, at("amount"))
		}
	}
	return all
}

func resend(id string, more ...string) string {
	return `{"voucherID":"` + id + `"` + strings.Join(more, "") + `}`
}

// TestResendToACorrectedAddress: what goes out after the correction goes to the new address, once, and what becomes of the old message no
// longer counts.
func TestResendToACorrectedAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(mailed("anna@exmaple.com"))
	old := w.claim()
	w.goesTo(old, "anna@exmaple.com")
	again := w.post("resend-gift", resend(g.id, `,"recipientContact":"anna@example.com"`)).want(200, "voucherID", g.id, "voucherCode", g.code,
		"voucherPublicToken", g.token, "status", "PENDING", "currentBalance", "5.00", "deliveryMethodID", "1", "deliveredAt", "null",
		"giftURL", "https://gifts.example.com/g/"+g.token, "printURL", "null")
	if _, err := w.store.GiftOf(t.Context(), old); !errors.Is(err, delivery.ErrTakenBack) {
		t.Errorf("the message to the old address: %v", err)
	}
	w.end(old, true) // it was under way
	w.get("/gifting/gifts/"+g.id).want(200, "status", "PENDING", "deliveredAt", "null")
	job := w.claim()
	w.goesTo(job, "anna@example.com")
	w.end(job, false)
	w.get("/gifting/gifts/"+g.id).want(200, "status", "FAILED_DELIVERY")
	w.end(old, true)
	w.get("/gifting/gifts/"+g.id).want(200, "status", "FAILED_DELIVERY")

	w.post("resend-gift", resend(g.id)).want(200, "status", "FAILED_DELIVERY", "isRedeemable", "true")
	job = w.claim()
	w.goesTo(job, "anna@example.com")
	w.end(job, true)
	w.get("/gifting/gifts/"+g.id).want(200, "status", "DELIVERED", "currentBalance", "5.00")
	got := fmt.Sprint(w.history(g.id))
	if want := "[ISSUED PENDING RESENT PENDING By e-mail, to another address. FAILED_DELIVERY FAILED_DELIVERY 550 no such user " +
		"RESENT FAILED_DELIVERY By e-mail, to the same address. DELIVERED DELIVERED]"; got != want {
		t.Errorf("the history is %s\nwant           %s", got, want)
	}
	for _, r := range []reply{again, w.get("/gifting/gifts/" + g.id), w.get("/gifting/gifts/" + g.id + "/history")} {
		if strings.Contains(string(r.body), "anna@") {
			t.Errorf("the address shows: %s", r.body)
		}
	}
	if n := w.wakes.Load(); n != 3 {
		t.Errorf("woken %d times, want 3", n)
	}
}

func TestResendByAnotherMethod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(mailed("anna@example.com"))
	w.post("resend-gift", resend(g.id, `,"deliveryMethodID":2`)).refused(400, gift.ValidationFailure, "recipientContact")
	w.post("resend-gift", resend(g.id, `,"deliveryMethodID":3,"recipientContact":"anna@example.com"`)).refused(400, gift.ValidationFailure, "recipientContact")
	w.post("resend-gift", resend(g.id, `,"recipientContact":"415 555 0132"`)).refused(400, gift.ValidationFailure, "recipientContact")
	w.post("resend-gift", resend(g.id, `,"deliveryMethodID":2,"recipientContact":"415 555 0132"`)).want(200, "status", "PENDING", "deliveryMethodID", "2")
	job := w.claim()
	w.goesTo(job, "+14155550132")
	w.post("resend-gift", resend(g.id, `,"deliveryMethodID":3`)).want(200, "status", "DELIVERED", "deliveryMethodID", "3", "isRedeemable", "true",
		"printURL", "https://gifts.example.com/g/"+g.token+"/print.pdf")
	w.end(job, false)
	shown := w.get("/gifting/gifts/"+g.id).want(200, "status", "DELIVERED", "deliveryMethodID", "3")
	if shown.at("deliveredAt") == "null" {
		t.Error("a gift in print is delivered, and does not tell when")
	}
	w.redeem(g, "1").want(200)
	w.post("resend-gift", resend(g.id)).want(200, "status", "CLAIMED", "printURL", "https://gifts.example.com/g/"+g.token+"/print.pdf")
	w.post("resend-gift", resend(g.id, `,"deliveryMethodID":1,"recipientContact":"anna@example.com"`)).want(200, "status", "CLAIMED", "printURL", "null")
	w.end(w.claim(), false)
	w.get("/gifting/gifts/"+g.id).want(200, "status", "CLAIMED", "currentBalance", "4.00")
	w.redeem(g, "").want(200)
	w.post("resend-gift", resend(g.id)).refused(409, gift.AlreadyRedeemed)
	w.post("reschedule-gift", resend(g.id, `,"deliveryDate":"`+soon+`"`)).refused(409, gift.AlreadyRedeemed)
}

// TestResendWaitsForTheDate: a correction does not spoil a birthday.
func TestResendWaitsForTheDate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := w.now().Add(24 * time.Hour).UTC().Truncate(time.Millisecond)
	date := at.Format("2006-01-02T15:04:05.000Z")
	g := w.send(mailed("anna@exmaple.com", `,"hasScheduledDelivery":true,"deliveryDate":"`+date+`"`))
	w.post("resend-gift", resend(g.id, `,"recipientContact":"anna@example.com"`)).want(200, "status", "PENDING", "deliveryDate", date)
	if next, err := w.store.NextJob(t.Context()); err != nil || !next.Equal(at) {
		t.Errorf("the message is due at %v, %v; want %v", next, err, at)
	}
	w.post("reschedule-gift", resend(g.id, `,"deliveryDate":"`+w.now().UTC().Format(time.RFC3339)+`"`)).want(200, "status", "PENDING")
	w.goesTo(w.claim(), "anna@example.com")
	w.post("reschedule-gift", resend(g.id, `,"deliveryDate":"`+date+`"`)).refused(409, gift.RedemptionNotAllowed) // it is being sent
}

func TestResendIsLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(mailed("anna@example.com"))
	for range gift.MaxResends {
		w.post("resend-gift", resend(g.id)).want(200)
		w.pass(time.Hour)
	}
	limited := w.post("resend-gift", resend(g.id), once("eleventh")...).refused(429, gift.RateLimited)
	wait, err := strconv.Atoi(limited.header.Get("Retry-After"))
	if err != nil || wait < 13*3600 || wait > 14*3600 {
		t.Errorf("Retry-After is %q, want 14 hours", limited.header.Get("Retry-After"))
	}
	w.post("resend-gift", resend(w.send(mailed("ben@example.com")).id)).want(200) // another gift
	w.pass(time.Duration(wait) * time.Second)
	w.post("resend-gift", resend(g.id), once("eleventh")...).want(200)
	w.post("resend-gift", resend(g.id)).refused(429, gift.RateLimited)
}

// TestResendNeedsAGateway: the refusal is not kept, as the gateway may come.
func TestResendNeedsAGateway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) { c.SMS = false })
	g := w.send(mailed("anna@example.com"))
	text := resend(g.id, `,"deliveryMethodID":2,"recipientContact":"4155550132"`)
	w.post("resend-gift", text, once("k")...).refused(409, gift.AccountMisconfigured)
	w.post("resend-gift", resend(g.id), once("k")...).want(200)
}

func TestReschedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(mailed("anna@example.com"))
	for _, date := range []time.Time{w.now().AddDate(5, 0, 1), w.now().Add(-6 * time.Minute)} {
		w.post("reschedule-gift", resend(g.id, `,"deliveryDate":"`+date.UTC().Format(time.RFC3339)+`"`)).refused(400, gift.ValidationFailure, "deliveryDate")
	}
	answer := w.post("reschedule-gift", resend(g.id, `,"deliveryDate":"2030-12-24T08:00:00-08:00","deliveryTimezoneId":"Pacific Standard Time"`))
	answer.want(200, "status", "PENDING", "deliveryDate", "2030-12-24T16:00:00.000Z", "validUntil", "null", "giftURL", "https://gifts.example.com/g/"+g.token)
	if next, err := w.store.NextJob(t.Context()); err != nil || !next.Equal(time.Date(2030, 12, 24, 16, 0, 0, 0, time.UTC)) {
		t.Errorf("the message is due at %v, %v", next, err)
	}
	shown, err := w.store.Gift(t.Context(), id(harbor), id(g.id))
	if err != nil || shown.Card.DeliveryZone != "America/Los_Angeles" {
		t.Errorf("the zone is %q, %v", shown.Card.DeliveryZone, err)
	}
	if got := fmt.Sprint(w.history(g.id)); got != "[ISSUED PENDING RESCHEDULED PENDING To 2030-12-24 16:00 UTC; before: at once.]" {
		t.Errorf("the history is %s", got)
	}
	printed := w.send(money("5"))
	w.post("reschedule-gift", resend(printed.id, `,"deliveryDate":"`+soon+`"`)).refused(409, gift.RedemptionNotAllowed)
}
