package api_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/refusal"
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
	call := ledger.Call{AccountID: job.AccountID, Render: func(ledger.Result,
		error) ledger.Answer {
		return ledger.Answer{}
	}}
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

// TestResendToACorrectedAddress: what goes out after the correction goes to the new address, once, and what becomes
// of the old message no longer counts.
func TestResendToACorrectedAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(mailed("anna@exmaple.com"))
	old := w.claim()
	w.goesTo(old, "anna@exmaple.com")
	again := w.post("resend-gift", resend(g.id, `,"recipientContact":"anna@example.com"`)).want(200, "voucherID", g.id,
		"status", "PENDING", "currentBalance", "5.00", "deliveryMethodID", "1", "deliveredAt", "null", "printURL", "null")
	w.movedOn(g, again)
	if _, err := w.store.GiftOf(t.Context(), old); !errors.Is(err, ledger.ErrTakenBack) {
		t.Errorf("the message to the old address: %v", err)
	}
	w.end(old, true) // it was under way
	w.get("/gifting/gifts/"+g.id).want(200, "status", "PENDING", "deliveredAt", "null")
	jobs := w.claimAll(2)
	if told := jobs[ledger.RedirectedJob]; told.Contact != "anna@exmaple.com" {
		t.Errorf("%q is told, want anna@exmaple.com", told.Contact)
	}
	job := jobs[ledger.GiftJob]
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
	if want := "[ISSUED PENDING RESENT PENDING By e-mail, to another address. From a…@exmaple.com to a…@example.com, " +
		"with a new code and link. FAILED_DELIVERY FAILED_DELIVERY 550 no such user " +
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

// movedOn checks that a gift that went elsewhere is found by the code and token in the answer, and no longer by those
// that it had.
func (w *world) movedOn(before made, answer reply) made {
	w.Helper()
	now := made{before.id, answer.at("voucherCode"), answer.at("voucherPublicToken"), before.order}
	if now.code == before.code || now.token == before.token || answer.at("giftURL") != "https://gifts.example.com/g/"+
		now.token ||
		answer.at("lastFour") != now.code[8:] {
		w.Errorf("the gift went elsewhere with the secrets that it had, or half of them: %s", answer.body)
	}
	ask := func(member, value string) reply {
		return w.post("validate-gift", `{"`+member+`":"`+value+`","organizationID":"`+pier+`"}`)
	}
	ask("voucherCode", before.code).refused(404, refusal.NotFound)
	ask("voucherPublicToken", before.token).refused(404, refusal.NotFound)
	ask("voucherCode", now.code).want(200, "voucherID", before.id)
	ask("voucherPublicToken", now.token).want(200, "voucherID", before.id)
	w.get("/gifting/gifts/"+before.id).want(200, "voucherCode", now.code, "voucherPublicToken", now.token)
	return now
}

// TestRedirect: a gift that goes to somebody else gets a new code and link, those before die at once, and whom it had
// reached is told. Who gets it once more keeps what there is.
func TestRedirect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(mailed("ana@example.com"), once("order")...)
	w.end(w.claim(), true)
	same := w.post("resend-gift", resend(g.id)).want(200, "voucherCode", g.code, "voucherPublicToken", g.token)
	w.post("resend-gift", resend(g.id, `,"recipientContact":"ana@example.com"`)).want(200, "voucherCode", g.code)
	w.end(w.claim(), true)
	w.redeem(g, "2").want(200)

	first := w.post("resend-gift", resend(g.id, `,"recipientContact":"ben@example.com"`), once("to ben")...).want(200,
		"currentBalance", "3.00", "status", "CLAIMED")
	now := w.movedOn(g, first)
	w.post("resend-gift", resend(g.id, `,"recipientContact":"ben@example.com"`), once("to ben")...).again(first)
	jobs := w.claimAll(2)
	told := jobs[ledger.RedirectedJob]
	if told.Contact != "ana@example.com" || told.Method != contact.Email {
		t.Errorf("%q is told, want ana@example.com", told.Contact)
	}
	toBen := jobs[ledger.GiftJob]
	w.goesTo(toBen, "ben@example.com")
	if err := w.store.PostponeJob(t.Context(), toBen, "451 later"); err != nil {
		t.Fatal(err)
	}
	w.end(told, false) // whatever becomes of it, the gift is as it was
	w.get("/gifting/gifts/"+g.id).want(200, "status", "CLAIMED")

	// It did not reach Ben: nobody is told, and Ben's code dies, too.
	now = w.movedOn(now, w.post("resend-gift", resend(g.id, `,"deliveryMethodID":3`)).want(200, "deliveryMethodID", "3"))
	w.claimAll(0)
	// Paper dies with its code; there is nobody to be told.
	w.movedOn(now, w.post("resend-gift", resend(g.id, `,"deliveryMethodID":2,"recipientContact":"4155550132"`)).want(200))
	w.goesTo(w.claim(), "+14155550132")

	history := string(w.get("/gifting/gifts/" + g.id + "/history").want(200).body)
	for _, want := range []string{"From a…@example.com to b…@example.com, with a new code and link.",
		"From b…@example.com to paper,", "From paper to …0132,"} {
		if !strings.Contains(history, want) {
			t.Errorf("the history does not say %q: %s", want, history)
		}
	}
	// what was answered then
	w.post("send-gift", mailed("ana@example.com"), once("order")...).want(201, "gifts[0].voucherCode", g.code)
	if same.at("lastFour") != g.code[8:] {
		t.Errorf("the same address gets another code: %s", same.body)
	}
	report, err := verify.All(t.Context(), w.store, 2, func(int64, int64) {})
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("verify: %q, %v", report.Problems, err)
	}
}

// claimAll leases the jobs that are due, by what they say.
func (w *world) claimAll(n int) map[ledger.JobKind]ledger.Job {
	w.Helper()
	jobs, err := w.store.ClaimJobs(w.Context(), w.now().Add(time.Second), time.Minute, 10)
	if err != nil || len(jobs) != n {
		w.Fatalf("claimed %v, %v; want %d jobs", jobs, err, n)
	}
	all := map[ledger.JobKind]ledger.Job{}
	for _, j := range jobs {
		all[j.Kind] = j
	}
	return all
}

func TestResendByAnotherMethod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(mailed("anna@example.com"))
	w.post("resend-gift", resend(g.id, `,"deliveryMethodID":4`)).refused(400, refusal.ValidationFailure, "deliveryMethodID")
	w.post("resend-gift", resend(g.id, `,"deliveryMethodID":2`)).refused(400, refusal.ValidationFailure, "recipientContact")
	w.post("resend-gift", resend(g.id, `,"deliveryMethodID":3,"recipientContact":"anna@example.com"`)).refused(400,
		refusal.ValidationFailure, "recipientContact")
	w.post("resend-gift", resend(g.id, `,"recipientContact":"415 555 0132"`)).refused(400, refusal.ValidationFailure,
		"recipientContact")
	w.post("resend-gift", resend(g.id, `,"deliveryMethodID":2,"recipientContact":"415 555 0132"`)).want(200, "status",
		"PENDING", "deliveryMethodID", "2")
	job := w.claim()
	w.goesTo(job, "+14155550132")
	g = w.movedOn(g, w.post("resend-gift", resend(g.id, `,"deliveryMethodID":3`)).want(200, "status", "DELIVERED",
		"deliveryMethodID", "3", "isRedeemable", "true"))
	w.post("resend-gift", resend(g.id)).want(200, "printURL", "https://gifts.example.com/g/"+g.token+"/print.pdf")
	w.end(job, false)
	shown := w.get("/gifting/gifts/"+g.id).want(200, "status", "DELIVERED", "deliveryMethodID", "3")
	if shown.at("deliveredAt") == "null" {
		t.Error("a gift in print is delivered, and does not tell when")
	}
	w.redeem(g, "1").want(200)
	w.post("resend-gift", resend(g.id)).want(200, "status", "CLAIMED", "printURL", "https://gifts.example.com/g/"+g.token+
		"/print.pdf")
	w.post("resend-gift", resend(g.id, `,"deliveryMethodID":1,"recipientContact":"anna@example.com"`)).want(200, "status",
		"CLAIMED", "printURL", "null")
	w.end(w.claimAll(2)[ledger.GiftJob], false) // the other tells the number, whose message was under way
	w.get("/gifting/gifts/"+g.id).want(200, "status", "CLAIMED", "currentBalance", "4.00")
	w.redeem(g, "").want(200)
	w.post("resend-gift", resend(g.id)).refused(409, refusal.AlreadyRedeemed)
	w.post("reschedule-gift", resend(g.id, `,"deliveryDate":"`+soon+`"`)).refused(409, refusal.AlreadyRedeemed)
}

// TestResendWaitsForTheDate: a correction does not spoil a birthday.
func TestResendWaitsForTheDate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := w.now().Add(24 * time.Hour).UTC().Truncate(time.Millisecond)
	date := at.Format("2006-01-02T15:04:05.000Z")
	g := w.send(mailed("anna@exmaple.com", `,"hasScheduledDelivery":true,"deliveryDate":"`+date+`"`))
	w.post("resend-gift", resend(g.id, `,"recipientContact":"anna@example.com"`)).want(200, "status", "PENDING",
		"deliveryDate", date)
	if next, err := w.store.NextJob(t.Context()); err != nil || !next.Equal(at) {
		t.Errorf("the message is due at %v, %v; want %v", next, err, at)
	}
	w.post("reschedule-gift", resend(g.id, `,"deliveryDate":"`+w.now().UTC().Format(time.RFC3339)+`"`)).want(200, "status",
		"PENDING")
	w.goesTo(w.claim(), "anna@example.com")
	// it is being sent
	w.post("reschedule-gift", resend(g.id, `,"deliveryDate":"`+date+`"`)).refused(409, refusal.RedemptionNotAllowed)
}

func TestResendIsLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(mailed("anna@example.com"))
	for range gift.MaxResends {
		w.post("resend-gift", resend(g.id)).want(200)
		w.pass(time.Hour)
	}
	limited := w.post("resend-gift", resend(g.id), once("eleventh")...).refused(429, refusal.RateLimited)
	wait, err := strconv.Atoi(limited.header.Get("Retry-After"))
	if err != nil || wait < 13*3600 || wait > 14*3600 {
		t.Errorf("Retry-After is %q, want 14 hours", limited.header.Get("Retry-After"))
	}
	w.post("resend-gift", resend(w.send(mailed("ben@example.com")).id)).want(200) // another gift
	w.pass(time.Duration(wait) * time.Second)
	w.post("resend-gift", resend(g.id), once("eleventh")...).want(200)
	w.post("resend-gift", resend(g.id)).refused(429, refusal.RateLimited)
}

// TestResendNeedsAGateway: the refusal is not kept, as the gateway may come.
func TestResendNeedsAGateway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *config) { c.SMS = false })
	g := w.send(mailed("anna@example.com"))
	text := resend(g.id, `,"deliveryMethodID":2,"recipientContact":"4155550132"`)
	w.post("resend-gift", text, once("k")...).refused(409, refusal.AccountMisconfigured)
	w.post("resend-gift", resend(g.id), once("k")...).want(200)
}

func TestReschedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(mailed("anna@example.com"))
	for _, date := range []time.Time{w.now().AddDate(5, 0, 1), w.now().Add(-6 * time.Minute)} {
		w.post("reschedule-gift", resend(g.id, `,"deliveryDate":"`+date.UTC().Format(time.RFC3339)+`"`)).refused(400,
			refusal.ValidationFailure, "deliveryDate")
	}
	answer := w.post("reschedule-gift", resend(g.id, `,"deliveryDate":"2030-12-24T08:00:00-08:00",`+
		`"deliveryTimezoneId":"Pacific Standard Time"`))
	answer.want(200, "status", "PENDING", "deliveryDate", "2030-12-24T16:00:00.000Z", "validUntil", "null", "giftURL",
		"https://gifts.example.com/g/"+g.token)
	if next, err := w.store.NextJob(t.Context()); err != nil ||
		!next.Equal(time.Date(2030, 12, 24, 16, 0, 0, 0, time.UTC)) {
		t.Errorf("the message is due at %v, %v", next, err)
	}
	shown, err := w.store.Gift(t.Context(), id(harbor), id(g.id))
	if err != nil || shown.Card.DeliveryZone != "America/Los_Angeles" {
		t.Errorf("the zone is %q, %v", shown.Card.DeliveryZone, err)
	}
	if got := fmt.Sprint(w.history(g.id)); got != "[ISSUED PENDING RESCHEDULED PENDING To 2030-12-24 16:00 UTC; "+
		"before: at once.]" {
		t.Errorf("the history is %s", got)
	}
	printed := w.send(ofMoney("5"))
	w.post("reschedule-gift", resend(printed.id, `,"deliveryDate":"`+soon+`"`)).refused(409, refusal.RedemptionNotAllowed)
}
