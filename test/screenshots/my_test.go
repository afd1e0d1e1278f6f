package main

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"boon.example/client"
)

// myPath is the page on which guests find all their gifts; maria has gifts there, and bought them herself.
const (
	myPath = "/my/" + prefix + "01"
	maria  = "maria@example.com"
)

// surprises sends Maria gifts whose texts are code, longer than any line, or run from right to left, in each design and
// some in a state that a list tells.
func (r *reader) surprises() {
	r.Helper()
	long := strings.Repeat("W", 200)
	for i, words := range []struct{ from, to, label, state string }{
		{"<script>document.title=1</script>", "<img src=/none onerror=document.title=1>", "", "partly"},
		{long, long, long, ""},
		{"(عمر)", "سارة", "قهوة", ""},
		{"Ben", "Maria", "", "redeemed"},
		{"Ben", "Maria", "", "blocked"},
		{"Ben", "Maria", "", ""},
	} {
		sent := client.SendGiftRequest{SenderDescription: words.from, PaymentMethodID: client.ExternalTransaction,
			ExternalPayment: client.ExternalPayment{ExternalTransactionReferenceNumber: "WEB-1",
				ExternalTransactionCustomerFirstName: "Maria", ExternalTransactionCustomerLastName: "Young",
				ExternalTransactionCustomerEmailAddress: maria, ExternalStorefrontID: prefix + "21"}}
		design := designs[i%len(designs)].id
		if words.label == "" {
			sent.MonetaryGift = &client.MonetaryGift{Value: client.MustDecimal("25"), DeliveryMethodID: client.Email,
				RecipientDescription: words.to, RecipientContact: maria, Message: words.from, VoucherDesignID: design}
		} else {
			sent.ItemGift = &client.ItemGift{Label: words.label, Quantity: 10_000, DeliveryMethodID: client.Email,
				EquivalentValue: client.MustDecimal("25"), RecipientDescription: words.to, RecipientContact: maria,
				VoucherDesignID: design}
		}
		made, err := r.api.SendGift(r.ctx, sent)
		if err != nil {
			r.Fatal(err)
		}
		id := made.Gifts[0].VoucherID
		for status := client.StatusPending; status == client.StatusPending; time.Sleep(50 * time.Millisecond) {
			g, err := r.api.Gift(r.ctx, id)
			if err != nil {
				r.Fatal(err)
			}
			status = g.Status
		}
		if err := r.live(r.ctx, id, words.state); err != nil {
			r.Fatal(err)
		}
	}
}

var myLink = regexp.MustCompile(myPath + `/link/[A-Z2-7]{26}`)

// link asks for a link to Maria's gifts and gives the path that the mail brings.
func (r *reader) link() string {
	r.Helper()
	answer, err := http.PostForm(r.url+myPath, url.Values{"contact": {maria}})
	if err != nil {
		r.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		r.Fatalf("asking for a link: %s", answer.Status)
	}
	ctx, cancel := context.WithTimeout(r.ctx, timeout)
	defer cancel()
	mail, err := r.message(ctx, "Somebody")
	if err != nil {
		r.Fatal(err)
	}
	text, err := r.get(ctx, mail)
	if err != nil {
		r.Fatal(err)
	}
	return myLink.FindString(string(text))
}

// signIn has the browser use a link up.
func (r *reader) signIn(link string) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.ctx, timeout)
	defer cancel()
	if err := r.open(ctx, r.url+link, look{"light", 375, 1}); err != nil {
		r.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.Click("main button"), chromedp.WaitVisible(".gifts")); err != nil {
		r.Fatalf("signing in: %v", err)
	}
}

// wrong gives the complaints about the page that says that no address was typed.
func (r *reader) wrong(as look) []string {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.ctx, timeout)
	defer cancel()
	if err := r.open(ctx, r.url+myPath, as); err != nil {
		r.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.SendKeys("#contact", `<b>"maria`), chromedp.Click("main button"),
		chromedp.WaitVisible("#wrong")); err != nil {
		r.Fatalf("typing no address: %v", err)
	}
	return r.judge(ctx, "the form that was filled in wrongly")
}

// TestMyGiftsShowNoCode: what people typed is text in both lists, and leads to no element and no script; a gift opens,
// and its page leads back.
func TestMyGiftsShowNoCode(t *testing.T) {
	r := newReader(t)
	if r == nil {
		return
	}
	r.surprises()
	r.signIn(r.link())
	for _, path := range []string{myPath, myPath + "?list=bought"} {
		if complaints := r.see(path, look{"light", 320, 1}); len(complaints) > 0 {
			t.Errorf("%s: %q", path, complaints)
		}
		const said = `[document.querySelectorAll("main script, main [onerror]").length, document.title,
			[...document.querySelectorAll(".who bdi")].filter(e => /^<(script|img).*>$/.test(e.textContent)).length,
			[...document.querySelectorAll(".gifts li")].length].join(", ")`
		got, err := chromedp.Run(r.ctx, chromedp.Evaluate[string](said))
		if want := "0, Your gifts at Harbor Coffee, 1, 6"; err != nil || got != want {
			t.Errorf("%s has %q, want %q (%v)", path, got, want, err)
		}
	}
	if err := chromedp.Do(r.ctx, chromedp.Navigate(r.url+myPath), chromedp.Click(".gifts button"),
		chromedp.WaitVisible(".card")); err != nil {
		t.Fatal(err)
	}
	back, err := chromedp.Run(r.ctx, chromedp.Evaluate[string](`document.querySelector(".mine a").getAttribute("href")`))
	if err != nil || back != myPath+"?lang=en" {
		t.Errorf("the page of a gift leads to %q, %v", back, err)
	}
	r.quiet()
}
