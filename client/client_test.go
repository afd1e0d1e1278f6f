package client_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/client"
)

// TestMain fails when a goroutine of the client, or of a connection of its, is left over.
func TestMain(m *testing.M) {
	code := m.Run()
	var left bytes.Buffer
	for end := time.Now().Add(5 * time.Second); code == 0 && time.Now().Before(end); runtime.Gosched() {
		left.Reset()
		pprof.Lookup("goroutine").WriteTo(&left, 2)
		if !strings.Contains(left.String(), "boon.example/client.") && !strings.Contains(left.String(), "net/http.") {
			os.Exit(code)
		}
	}
	if code == 0 {
		fmt.Println("goroutines are left over:\n" + left.String())
		code = 1
	}
	os.Exit(code)
}

// differ tells how two values differ; "": they do not.
func differ(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return fmt.Sprintf("-%+v\n+%+v", want, got)
}

const key = "boon_test_acct_not-a-real-key"

// seen is what a server was asked.
type seen struct {
	mu   sync.Mutex
	reqs []ask
}

type ask struct{ method, uri, auth, key, body string }

func (s *seen) add(r *http.Request) int {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reqs = append(s.reqs, ask{r.Method, r.RequestURI, r.Header.Get("Authorization"), r.Header.Get("Idempotency-Key"),
		string(body)})
	return len(s.reqs)
}

func (s *seen) all() []ask {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reqs
}

// serve starts a server that answers the nth request, from 1, with answer, and a client of it that hardly pauses.
func serve(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request),
	opts ...client.Option) (*client.Client, *seen) {
	t.Helper()
	s := &seen{}
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(s.add(r), w, r) }))
	transport := &http.Transport{}
	t.Cleanup(func() { transport.CloseIdleConnections(); ts.Close() })
	opts = append([]client.Option{
		client.WithHTTPClient(&http.Client{Transport: transport}), client.WithBackoff(time.Microsecond, time.Millisecond),
	}, opts...)
	c, err := client.New(ts.URL, key, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

func refuse(w http.ResponseWriter, status int, code client.Code, header ...string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("X-Request-ID", "req-1")
	for i := 0; i < len(header); i += 2 {
		w.Header().Set(header[i], header[i+1])
	}
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"type":"/docs/errors#%s","title":"…","status":%d,"code":%q,"messages":[{"path":"amount",`+
		`"text":"Because."}],"requestID":"req-1"}`,
		code, status, code)
}

func drop(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

const redeemed = `{"redemptionID":"r1","voucherID":"v1","organizationID":"o1","amount":5.10,
			"currentBalance":19.90,"currency":"USD",
 "status":"CLAIMED","statusID":5,"isRedeemable":true,"redeemedAt":"2026-03-01T10:00:00.123Z","reference":null,
			"requestID":"req-9","newer":[1]}`

// reversed is what is enough for every other call.
const reversed = `{"reversalID":"u1","requestID":"req-9"}`

func TestNew(t *testing.T) {
	t.Parallel()
	for _, bad := range []struct{ url, key string }{
		{"", key}, {"gifts.example.com", key}, {"ftp://x", key}, {"http://", key}, {"https://user:secret@host", key},
		{"https://host?key=1", key}, {"https://host#x", key}, {"https://host", ""}, {"https://host", "a b"},
		{"https://host", "a\r\nX: y"},
		{"https://host\x00", key},
	} {
		if _, err := client.New(bad.url, bad.key); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("New(%q, %q) = %v", bad.url, bad.key, err)
		}
	}
	if _, err := client.New("https://host", key, client.WithAttempts(0)); err == nil {
		t.Error("0 attempts are taken")
	}
	c, err := client.New("https://host/boon/", key)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if s := fmt.Sprintf(verb, c); strings.Contains(s, key) || !strings.Contains(s, "https://host/boon") {
			t.Errorf("%s prints %s", verb, s)
		}
	}
}

func TestRedeemAsksAndReads(t *testing.T) {
	t.Parallel()
	c, s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-ID", "req-10")
		w.Header().Set("Idempotent-Replayed", "true")
		w.Header().Set("RateLimit-Policy", `"key.redeemedPerDay";q=2000;qu="minor-units";w=90000, "account.x";q=many`)
		w.Header().Set("RateLimit", `"key.redeemedPerDay";r=750;t=60, "account.x";r=1;t=60, "other";r=1;t=1`)
		io.WriteString(w, redeemed)
	})
	no := false
	got, err := c.RedeemGift(t.Context(), client.RedeemGiftRequest{
		OrganizationID: "o1", VoucherID: "v1", Amount: client.MustDecimal("5.10"), Reference: "T-1",
		Expect: client.Expect{TargetTypeCode: client.TargetGift, ValidateTargetType: &no},
		TicketData: client.Ticket{LineItems: []client.LineItem{{ItemID: "LATTE", Quantity: 2}},
			Totals: &client.Totals{}}.TicketData(),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &client.Redemption{
		RedemptionID: "r1", OrganizationID: "o1", Changed: client.Changed{VoucherID: "v1",
			Amount: client.MustDecimal("5.10"), CurrentBalance: client.MustDecimal("19.90"), Currency: "USD",
			Status: client.StatusClaimed, StatusID: 5},
		IsRedeemable: true, RedeemedAt: time.Date(2026, 3, 1, 10, 0, 0, 123e6, time.UTC),
		Meta: client.Meta{RequestID: "req-10", IdempotencyKey: s.all()[0].key, Replayed: true, Body: []byte(redeemed),
			Quotas: []client.Quota{{Name: "key.redeemedPerDay", Unit: "minor-units", Limit: 2000, Left: 750,
				Resets: time.Minute, Window: 25 * time.Hour}}},
	}
	if diff := differ(want, got); diff != "" {
		t.Errorf("the answer (-want +got):\n%s", diff)
	}
	r := s.all()[0]
	const body = `{"organizationID":"o1","voucherID":"v1","amount":5.10,"reference":"T-1","targetTypeCode":"GIFT",` +
		`"validateTargetType":false,` +
		`"ticketData":{"data":{"lineItems":[{"itemID":"LATTE","itemUnitPrice":null,"quantity":2,"itemTotalPrice":null}],` +
		`"totals":{"subTotal":null,"taxTotal":null,"discountTotal":null,"serviceChargeTotal":null,"grandTotal":null}},` +
		`"format":"standard"}}`
	asked := ask{"POST", "/api/integration/redemption/redeem-gift", "Bearer " + key, r.key, body}
	if diff := differ(asked, r); diff != "" {
		t.Errorf("the request (-want +got):\n%s", diff)
	}
	if len(r.key) != 36 || r.key[14] != '7' {
		t.Errorf("the Idempotency-Key %q is not a UUIDv7", r.key)
	}
}

func TestRequestsGoWhereTheyShould(t *testing.T) {
	t.Parallel()
	c, s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { io.WriteString(w, reversed) })
	ctx := t.Context()
	at := time.Date(2026, 3, 1, 1, 0, 0, 0, time.FixedZone("", 3600))
	calls := []struct {
		call func() error
		want ask
	}{
		{func() error {
			_, err := c.SendGift(ctx, client.SendGiftRequest{
				MonetaryGift: &client.MonetaryGift{Value: client.Whole(25), DeliveryMethodID: client.Email,
					HasScheduledDelivery: true, DeliveryDate: at},
				Recipients:      []client.Recipient{{RecipientContact: "a@example.com"}},
				PaymentMethodID: client.Promotional, PromotionID: "p", ValidForDays: 30, IdempotencyKey: "mine"})
			return err
		}, ask{"POST", "/api/integration/gifting/send-gift", "", "mine",
			`{"recipients":[{"recipientContact":"a@example.com"}],"monetaryGift":{"value":25,` +
				`"deliveryMethodID":1,"hasScheduledDelivery":true,"deliveryDate":"2026-03-01T01:00:00+01:00"},` +
				`"paymentMethodID":4,"promotionID":"p","validForDays":30}`}},
		{func() error {
			_, err := c.ValidateGift(ctx, client.ValidateGiftRequest{VoucherCode: "123456789012"})
			return err
		},
			ask{"POST", "/api/integration/redemption/validate-gift", "", "", `{"voucherCode":"123456789012"}`}},
		{func() error {
			_, err := c.ReverseRedemption(ctx, client.ReverseRedemptionRequest{OriginalKey: "k1", All: true,
				IdempotencyKey: "k2"})
			return err
		}, ask{"POST", "/api/integration/redemption/reverse-redemption", "", "k2", `{"idempotencyKey":"k1"}`}},
		{func() error {
			_, err := c.CancelGift(ctx, client.CancelGiftRequest{OrderID: "o", Cause: client.CauseCancelled,
				IdempotencyKey: "k3"})
			return err
		}, ask{"POST", "/api/integration/gifting/cancel-gift", "", "k3", `{"orderID":"o","cause":"CANCELLED"}`}},
		{func() error {
			_, err := c.CancelGift(ctx, client.CancelGiftRequest{ExternalTransactionReferenceNumber: "r",
				ExternalStorefrontID: "s",
				Cause:                client.CausePurchaseFailed, SkipNotAllowed: true, IdempotencyKey: "k6"})
			return err
		}, ask{"POST", "/api/integration/gifting/cancel-gift", "", "k6",
			`{"externalTransactionReferenceNumber":"r","externalStorefrontID":"s","cause":"PURCHASE_FAILED",` +
				`"skipNotAllowed":true}`}},
		{func() error {
			_, err := c.ReinstateGift(ctx, client.ReinstateGiftRequest{OrderID: "o", Reason: "paid", IdempotencyKey: "k7"})
			return err
		}, ask{"POST", "/api/integration/gifting/reinstate-gift", "", "k7", `{"orderID":"o","reason":"paid"}`}},
		{func() error {
			_, err := c.ResendGift(ctx, client.ResendGiftRequest{VoucherID: "v", DeliveryMethodID: client.SMS,
				RecipientContact: "4155550132", IdempotencyKey: "k4"})
			return err
		}, ask{"POST", "/api/integration/gifting/resend-gift", "", "k4",
			`{"voucherID":"v","deliveryMethodID":2,"recipientContact":"4155550132"}`}},
		{func() error {
			_, err := c.RescheduleGift(ctx, client.RescheduleGiftRequest{VoucherID: "v", DeliveryDate: at,
				DeliveryTimezoneID: "UTC", IdempotencyKey: "k5"})
			return err
		}, ask{"POST", "/api/integration/gifting/reschedule-gift", "", "k5",
			`{"voucherID":"v","deliveryDate":"2026-03-01T01:00:00+01:00","deliveryTimezoneId":"UTC"}`}},
		{func() error {
			_, err := c.ReplaceGift(ctx, client.ReplaceGiftRequest{VoucherID: "v", Reason: "lost", Deliver: &client.Delivery{
				DeliveryMethodID: client.Email, RecipientContact: "a@example.com"}, IdempotencyKey: "k8"})
			return err
		}, ask{"POST", "/api/integration/gifting/replace-gift", "", "k8", `{"voucherID":"v","reason":"lost",` +
			`"deliver":{"deliveryMethodID":1,"recipientContact":"a@example.com"}}`}},
		{func() error {
			_, err := c.TransferBalance(ctx, client.TransferBalanceRequest{FromVoucherID: "a", ToVoucherID: "b", All: true,
				IdempotencyKey: "k9"})
			return err
		}, ask{"POST", "/api/integration/gifting/transfer-balance", "", "k9", `{"fromVoucherID":"a","toVoucherID":"b"}`}},
		{func() error {
			_, err := c.BlockGift(ctx, client.BlockGiftRequest{VoucherID: "v", ReasonCode: client.ReasonLost,
				IdempotencyKey: "k8"})
			return err
		}, ask{"POST", "/api/integration/gifting/block-gift", "", "k8", `{"voucherID":"v","reasonCode":"LOST"}`}},
		{func() error {
			_, err := c.UnblockGift(ctx, client.UnblockGiftRequest{VoucherID: "v", Reason: "found", IdempotencyKey: "k9"})
			return err
		}, ask{"POST", "/api/integration/gifting/unblock-gift", "", "k9", `{"voucherID":"v","reason":"found"}`}},
		{func() error {
			_, err := c.AdjustGift(ctx, client.AdjustGiftRequest{VoucherID: "v", Amount: client.MustDecimal("-2.50"),
				ReasonCode: client.ReasonMistake, Reason: "typed wrong", IdempotencyKey: "k10"})
			return err
		}, ask{"POST", "/api/integration/gifting/adjust-gift", "", "k10",
			`{"voucherID":"v","amount":-2.50,"reasonCode":"MISTAKE","reason":"typed wrong"}`}},
		{func() error {
			_, err := c.ExtendGift(ctx, client.ExtendGiftRequest{VoucherID: "v", ValidUntil: at, IdempotencyKey: "k11"})
			return err
		}, ask{"POST", "/api/integration/gifting/extend-gift", "", "k11",
			`{"voucherID":"v","validUntil":"2026-03-01T01:00:00+01:00"}`}},
		{func() error {
			_, err := c.AdvanceClock(ctx, client.AdvanceClockRequest{Advance: "P30D", IdempotencyKey: "k12"})
			return err
		}, ask{"POST", "/api/test/clock", "", "k12", `{"advance":"P30D"}`}},
		{func() error { _, err := c.Clock(ctx); return err }, ask{"GET", "/api/test/clock", "", "", ""}},
		{func() error {
			_, err := c.CreateWebhook(ctx, client.CreateWebhookRequest{URL: "https://example.com", Types: []string{"gift.*"},
				Description: "d", Enabled: new(bool)})
			return err
		}, ask{"POST", "/api/integration/webhooks", "", "",
			`{"url":"https://example.com","types":["gift.*"],"description":"d","enabled":false}`}},
		{func() error { _, err := c.Webhooks(ctx); return err }, ask{"GET", "/api/integration/webhooks", "", "", ""}},
		{func() error { _, err := c.Webhook(ctx, "a/b"); return err },
			ask{"GET", "/api/integration/webhooks/a%2Fb", "", "", ""}},
		{func() error {
			_, err := c.ChangeWebhook(ctx, client.ChangeWebhookRequest{WebhookID: "w", Types: []string{},
				Description: new(string)})
			return err
		}, ask{"PATCH", "/api/integration/webhooks/w", "", "", `{"types":[],"description":""}`}},
		{func() error { _, err := c.DeleteWebhook(ctx, "w"); return err },
			ask{"DELETE", "/api/integration/webhooks/w", "", "", ""}},
		{func() error { _, err := c.RotateWebhook(ctx, "w"); return err },
			ask{"POST", "/api/integration/webhooks/w/rotate-secret", "", "", `{}`}},
		{func() error {
			_, err := c.ReplayWebhook(ctx, client.ReplayWebhookRequest{WebhookID: "w", From: at, Types: []string{"key.*"}})
			return err
		}, ask{"POST", "/api/integration/webhooks/w/replay", "", "",
			`{"from":"2026-03-01T01:00:00+01:00","types":["key.*"]}`}},
		{func() error {
			for _, err := range c.Attempts(ctx, "w", 5) {
				return err
			}
			return nil
		}, ask{"GET", "/api/integration/webhooks/w/attempts?limit=5", "", "", ""}},
		{func() error {
			_, err := c.PairTill(ctx, client.PairTillRequest{Name: "Counter", OrganizationID: "o", May: []string{"reload"}})
			return err
		}, ask{"POST", "/api/integration/tills", "", "", `{"name":"Counter","organizationID":"o","may":["reload"]}`}},
		{func() error { _, err := c.Tills(ctx); return err }, ask{"GET", "/api/integration/tills", "", "", ""}},
		{func() error { _, err := c.RevokeTill(ctx, "a/b"); return err },
			ask{"DELETE", "/api/integration/tills/a%2Fb", "", "", ""}},
		{func() error {
			_, err := c.CheckImport(ctx, []byte("code"), client.ImportOptions{From: "square", TillsOnly: true})
			return err
		}, ask{"POST", "/api/integration/imports/check?from=square&tillsOnly=true", "", "", "code"}},
		{func() error {
			_, err := c.ImportGifts(ctx, []byte("code"), client.ImportOptions{ExpectCount: 3, ExpectTotal: "61.75"})
			return err
		}, ask{"POST", "/api/integration/imports?expectCount=3&expectTotal=61.75", "", "", "code"}},
		{func() error { _, err := c.Imports(ctx); return err }, ask{"GET", "/api/integration/imports", "", "", ""}},
		{func() error { _, err := c.Import(ctx, "a/b"); return err },
			ask{"GET", "/api/integration/imports/a%2Fb", "", "", ""}},
		{func() error { _, err := c.UndoImport(ctx, "i"); return err },
			ask{"DELETE", "/api/integration/imports/i", "", "", ""}},
		{func() error { _, err := c.People(ctx); return err }, ask{"GET", "/api/integration/people", "", "", ""}},
		{func() error { _, err := c.SetPIN(ctx, client.SetPINRequest{Name: "Ana"}); return err },
			ask{"POST", "/api/integration/people/set-pin", "", "", `{"name":"Ana"}`}},
		{func() error { _, err := c.Gift(ctx, "a/b?c"); return err }, ask{"GET", "/api/integration/gifting/gifts/a%2Fb%3Fc",
			"", "", ""}},
		{func() error { _, err := c.RequestStatus(ctx, "k 1", client.OpRedeemGift); return err },
			ask{"GET", "/api/integration/requests/k%201?operation=redeem-gift", "", "", ""}},
		{func() error {
			for _, err := range c.Gifts(ctx, client.GiftsFilter{Status: client.StatusPending, CreatedFrom: at, PageSize: 7}) {
				return err
			}
			return nil
		}, ask{"GET", "/api/integration/gifting/gifts?createdFrom=2026-03-01T00%3A00%3A00Z&limit=7&status=PENDING", "", "",
			""}},
		{func() error {
			for _, err := range c.Gifts(ctx, client.GiftsFilter{OrderID: "o", LastFour: "1234", Recipient: "ana lee",
				ExternalStorefrontID: "s"}) {
				return err
			}
			return nil
		}, ask{"GET", "/api/integration/gifting/gifts?externalStorefrontID=s&lastFour=1234&orderID=o&recipient=ana+lee", "",
			"", ""}},
		{func() error {
			for _, err := range c.Activity(ctx, client.ActivityFilter{From: at, KeyID: "k", OrganizationID: "l",
				Kind: client.EntryRedemption, PageSize: 3}) {
				return err
			}
			return nil
		}, ask{"GET", "/api/integration/gifting/activity?from=2026-03-01T00%3A00%3A00Z&keyID=k&kind=REDEMPTION&limit=3" +
			"&organizationID=l", "", "", ""}},
		{func() error {
			for _, err := range c.Audit(ctx, client.AuditFilter{From: at, PageSize: 3}) {
				return err
			}
			return nil
		}, ask{"GET", "/api/integration/audit?from=2026-03-01T00%3A00%3A00Z&limit=3", "", "", ""}},
	}
	for i, tt := range calls {
		if err := tt.call(); err != nil {
			t.Errorf("call %d: %v", i, err)
		}
		tt.want.auth = "Bearer " + key
		if diff := differ(tt.want, s.all()[i]); diff != "" {
			t.Errorf("call %d (-want +got):\n%s", i, diff)
		}
	}
}

// TestLookUpsForAnAccount: a system key that serves several accounts says which one its look-ups are about.
func TestLookUpsForAnAccount(t *testing.T) {
	t.Parallel()
	c, s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { io.WriteString(w, reversed) })
	of := c.ForAccount("a/1")
	_, _ = of.Gift(t.Context(), "g")
	_, _ = of.RequestStatus(t.Context(), "k", client.OpSendGift)
	for range of.History(t.Context(), "g") {
	}
	for range of.Gifts(t.Context(), client.GiftsFilter{AccountID: "other"}) {
	}
	_, _ = of.CancelGift(t.Context(), client.CancelGiftRequest{VoucherID: "g", Cause: client.CausePurchaseFailed})
	_, _ = c.Gift(t.Context(), "g")
	const gifts = "/api/integration/gifting/gifts"
	var got []string
	for _, r := range s.all() {
		got = append(got, r.uri)
	}
	want := []string{gifts + "/g?accountID=a%2F1", "/api/integration/requests/k?operation=send-gift&accountID=a%2F1",
		gifts + "/g/history?accountID=a%2F1", gifts + "?accountID=other", "/api/integration/gifting/cancel-gift", gifts +
			"/g"}
	if diff := differ(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestErrorTellsWhatTheServiceSaid(t *testing.T) {
	t.Parallel()
	c, s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		refuse(w, 429, client.RateLimited, "Retry-After", "3600")
	})
	_, err := c.RedeemGift(t.Context(), client.RedeemGiftRequest{VoucherID: "v1", All: true})
	want := &client.Error{
		Status: 429, Code: client.RateLimited, RequestID: "req-1", RetryAfter: time.Hour,
		Messages: []client.Message{{Path: "amount", Text: "Because."}},
	}
	got, _ := errors.AsType[*client.Error](err)
	if diff := differ(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !errors.Is(err, client.RateLimited) || errors.Is(err, client.NotFound) || !client.Refused(err) {
		t.Errorf("%v: errors.Is or Refused is wrong", err)
	}
	if s := err.Error(); s != "RATE_LIMITED (HTTP 429): amount: Because. [request req-1]" {
		t.Errorf("Error() = %q", s)
	}
	if n := len(s.all()); n != 1 {
		t.Errorf("an hour's pause was not worth waiting for, yet there were %d attempts", n)
	}
}

func TestRepeats(t *testing.T) {
	t.Parallel()
	misbehave := map[string]func(http.ResponseWriter, *http.Request){
		"connection dropped": drop,
		"answer cut short": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, redeemed[:20])
		},
		"overloaded": func(w http.ResponseWriter, _ *http.Request) {
			refuse(w, 503, client.Unavailable, "Retry-After",
				"0")
		},
		"internal error": func(w http.ResponseWriter, _ *http.Request) { refuse(w, 500, client.UnexpectedError) },
		"rate limited": func(w http.ResponseWriter, _ *http.Request) {
			refuse(w, 429, client.RateLimited, "Retry-After", "0")
		},
		"still running": func(w http.ResponseWriter, _ *http.Request) { refuse(w, 409, client.RequestInProgress) },
		"a proxy's answer": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "<h1>Bad gateway</h1>", http.StatusBadGateway)
		},
	}
	for name, wrong := range misbehave {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, s := serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
				if n < 3 {
					wrong(w, r)
					return
				}
				io.WriteString(w, redeemed)
			})
			if _, err := c.RedeemGift(t.Context(), client.RedeemGiftRequest{VoucherID: "v1", All: true}); err != nil {
				t.Fatal(err)
			}
			reqs := s.all()
			for _, r := range reqs {
				if r != reqs[0] || r.key == "" {
					t.Errorf("an attempt differs from the first, or has no key: %+v", r)
				}
			}
			if len(reqs) != 3 {
				t.Errorf("%d attempts, want 3", len(reqs))
			}
		})
	}
}

func TestDoesNotRepeat(t *testing.T) {
	t.Parallel()
	final := map[string]struct {
		wrong   func(http.ResponseWriter, *http.Request)
		refused bool
		says    string
	}{
		"refused": {func(w http.ResponseWriter, _ *http.Request) { refuse(w, 409, client.AlreadyRedeemed) }, true,
			"Because."},
		"unreadable": {func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"redemptionID":"r1","amount":"much","requestID":"req-9"}`)
		}, false, "could not be read"},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, false, "redirect"},
		"not ours": {func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }, false, "Check the base address"},
		"huge": {func(w http.ResponseWriter, _ *http.Request) {
			for block := make([]byte, 1<<20); ; {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}, false, "longer than"},
	}
	for name, tt := range final {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, s := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) { tt.wrong(w, r) })
			_, err := c.RedeemGift(t.Context(), client.RedeemGiftRequest{VoucherID: "v1", All: true})
			_, unknown := errors.AsType[*client.UnknownOutcome](err)
			if err == nil || client.Refused(err) != tt.refused || unknown == tt.refused || !strings.Contains(err.Error(),
				tt.says) {
				t.Errorf("Refused is %v, unknown is %v for %v", client.Refused(err), unknown, err)
			}
			if n := len(s.all()); n != 1 {
				t.Errorf("%d attempts, want 1", n)
			}
		})
	}
}

func TestGivesUpAndSaysSo(t *testing.T) {
	t.Parallel()
	c, s := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) { drop(w, r) }, client.WithAttempts(3))
	_, err := c.RedeemGift(t.Context(), client.RedeemGiftRequest{VoucherID: "v1", All: true, IdempotencyKey: "k-1"})
	unknown, ok := errors.AsType[*client.UnknownOutcome](err)
	if !ok || unknown.IdempotencyKey != "k-1" || unknown.Operation != client.OpRedeemGift || client.Refused(err) {
		t.Errorf("the error is %v", err)
	}
	if strings.Contains(err.Error(), "boon_test") {
		t.Errorf("the key stands in %v", err)
	}
	if n := len(s.all()); n != 3 {
		t.Errorf("%d attempts, want 3", n)
	}
	_, err = c.Gift(t.Context(), "v1")
	if _, ok := errors.AsType[*client.UnknownOutcome](err); ok || err == nil {
		t.Errorf("a look-up has no outcome to be unknown: %v", err)
	}
}

// A refusal that is about the key or the load, and not about the gift, does not tell what became of an earlier attempt.
func TestRefusalOfTheMomentAfterALostAnswer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status  int
		code    client.Code
		unknown bool
	}{
		{401, client.Unauthenticated, true}, {403, client.NotAuthorized, true}, {429, client.RateLimited, true},
		{409, client.AlreadyRedeemed, false}, {404, client.NotFound, false},
	} {
		c, _ := serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
			if n == 1 {
				drop(w, r)
			}
			refuse(w, tt.status, tt.code)
		})
		_, err := c.RedeemGift(t.Context(), client.RedeemGiftRequest{VoucherID: "v1", All: true})
		_, unknown := errors.AsType[*client.UnknownOutcome](err)
		if unknown != tt.unknown || client.Refused(err) == tt.unknown || !errors.Is(err, tt.code) {
			t.Errorf("%s after a lost answer: %v", tt.code, err)
		}
	}
}

// A call that is still under way when the attempts run out has no outcome yet.
func TestStillRunningIsNotRefused(t *testing.T) {
	t.Parallel()
	c, s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { refuse(w, 409, client.RequestInProgress) },
		client.WithAttempts(2))
	_, err := c.RedeemGift(t.Context(), client.RedeemGiftRequest{VoucherID: "v1", All: true})
	if _, unknown := errors.AsType[*client.UnknownOutcome](err); !unknown || client.Refused(err) || len(s.all()) != 2 {
		t.Errorf("after %d attempts: %v", len(s.all()), err)
	}
	if refusal, _ := errors.AsType[*client.Error](err); refusal == nil || client.Refused(refusal) {
		t.Errorf("the answer alone counts as a refusal: %v", refusal)
	}
}

// What changes nothing is repeated without a key.
func TestLookUpsRepeat(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(*client.Client) error{
		"gift": func(c *client.Client) error { _, err := c.Gift(t.Context(), "v1"); return err },
		"validate": func(c *client.Client) error {
			_, err := c.ValidateGift(t.Context(), client.ValidateGiftRequest{})
			return err
		},
	} {
		c, s := serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
			if n == 1 {
				drop(w, r)
			}
			io.WriteString(w, reversed)
		})
		if err := ask(c); err != nil || len(s.all()) != 2 || s.all()[1].key != "" {
			t.Errorf("%s: %v, %+v", name, err, s.all())
		}
	}
}

func TestNothingListening(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	c, err := client.New("http://"+addr, key, client.WithAttempts(2), client.WithBackoff(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.RedeemGift(t.Context(), client.RedeemGiftRequest{VoucherID: "v1", All: true})
	if _, unknown := errors.AsType[*client.UnknownOutcome](err); err == nil || unknown {
		t.Errorf("nothing was ever sent, so nothing is unknown: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = c.RedeemSafely(ctx, client.RedeemGiftRequest{VoucherID: "v1", All: true}); !errors.Is(err,
		context.Canceled) || errors.Is(err, client.ErrVoided) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	c, s := serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("cursor") {
		case "":
			io.WriteString(w, `{"entries":[{"entryID":"e1","seq":1,"amount":25.00},{"entryID":"e2","seq":2}],
			"nextCursor":"c/2","requestID":"req-9"}`)
		case "c/2":
			io.WriteString(w, `{"entries":[{"entryID":"e3","seq":3,"newer":true}],"nextCursor":null,"requestID":"req-10"}`)
		}
	})
	var ids []string
	var last client.Entry
	for e, err := range c.History(t.Context(), "v1") {
		if err != nil {
			t.Fatal(err)
		}
		ids, last = append(ids, e.EntryID), e
	}
	if diff := differ([]string{"e1", "e2", "e3"}, ids); diff != "" ||
		string(last.Meta.Body) != `{"entryID":"e3","seq":3,"newer":true}` {
		t.Errorf("%s, the last as %s", diff, last.Meta.Body)
	}
	for range c.History(t.Context(), "v1") {
		break
	}
	if n := len(s.all()); n != 3 {
		t.Errorf("%d calls; leaving the loop on the first page must not fetch the second", n)
	}
}

func TestPagesEndWithTheError(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			io.WriteString(w, `{"gifts":[{"voucherID":"v1"}],"nextCursor":"2","requestID":"req-9"}`)
			return
		}
		refuse(w, 400, client.ValidationFailure)
	})
	var got []string
	for v, err := range c.Gifts(t.Context(), client.GiftsFilter{}) {
		got = append(got, fmt.Sprint(v.VoucherID, errors.Is(err, client.ValidationFailure)))
	}
	if diff := differ([]string{"v1false", "true"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPagesEndWithWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"gifts":[{"voucherID":"v1"},{"currentBalance":"25"},{"voucherID":"v3"}],"nextCursor":null,
			"requestID":"req-9"}`)
	})
	var got []string
	for v, err := range c.Gifts(t.Context(), client.GiftsFilter{}) {
		got = append(got, fmt.Sprint(v.VoucherID, err != nil))
	}
	if diff := differ([]string{"v1false", "true"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestRequestStatus(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"requests":[{"key":"k","operation":"redeem-gift","state":"finished","status":200,
			"answer":{"a":1},"finishedAt":"2026-03-01T10:00:00.000Z"},
			{"key":"k","operation":"send-gift","state":"running","status":null,"answer":null,"finishedAt":null}],
			"requestID":"r"}`)
	})
	got, err := c.RequestStatus(t.Context(), "k", "")
	want := []client.RequestStatus{
		{Key: "k", Operation: client.OpRedeemGift, State: client.RequestFinished, Status: 200,
			Answer:     json.RawMessage(`{"a":1}`),
			FinishedAt: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)},
		{Key: "k", Operation: client.OpSendGift, State: client.RequestRunning, Answer: json.RawMessage("null")},
	}
	if diff := differ(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestRedeemSafely(t *testing.T) {
	t.Parallel()
	t.Run("one gift", func(t *testing.T) {
		t.Parallel()
		safely(t, `"operation":"redeem-gift","voucherID":"v1","voucherCode":"c","voucherPublicToken":"t"`,
			func(c *client.Client) error {
				_, err := c.RedeemSafely(t.Context(), client.RedeemGiftRequest{VoucherID: "v1", VoucherCode: "c",
					VoucherPublicToken: "t", All: true})
				return err
			})
	})
	t.Run("several gifts", func(t *testing.T) {
		t.Parallel()
		safely(t, `"operation":"redeem-gifts","reason":`, func(c *client.Client) error {
			_, err := c.RedeemGiftsSafely(t.Context(), client.RedeemGiftsRequest{
				Gifts: []client.Paying{{VoucherID: "v1"}, {VoucherID: "v2"}}, UpTo: client.Whole(20)})
			return err
		})
	})
}

// safely has a till redeem on lines of all kinds. of is what the reversal says beside the key.
func safely(t *testing.T, of string, redeem func(*client.Client) error) {
	lost := func(w http.ResponseWriter, r *http.Request) { drop(w, r) }
	answer := func(status int, code client.Code) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			if code == "" {
				if strings.HasSuffix(r.URL.Path, "reverse-redemption") {
					io.WriteString(w, reversed)
					return
				}
				io.WriteString(w, redeemed)
				return
			}
			refuse(w, status, code)
		}
	}
	for name, tt := range map[string]struct {
		redeem, reverse         func(http.ResponseWriter, *http.Request)
		refused, voided, unsure bool
		calls                   int
	}{
		"taken":            {redeem: answer(200, ""), calls: 1},
		"refused":          {redeem: answer(409, client.InsufficientBalance), refused: true, calls: 1},
		"lost, given back": {redeem: lost, reverse: answer(200, ""), voided: true, calls: 4},
		"never arrived":    {redeem: lost, reverse: answer(404, client.NotFound), voided: true, calls: 4},
		"already reversed": {redeem: lost, reverse: answer(409, client.AlreadyReversed), voided: true, calls: 4},
		"both lost":        {redeem: lost, reverse: lost, unsure: true, calls: 6},
		"void not allowed": {redeem: lost, reverse: answer(403, client.NotAuthorized), unsure: true, calls: 4},
		"another's key":    {redeem: lost, reverse: answer(422, client.IdempotencyMismatch), refused: true, calls: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, s := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "reverse-redemption") {
					tt.reverse(w, r)
					return
				}
				tt.redeem(w, r)
			})
			err := redeem(c)
			unknown, unsure := errors.AsType[*client.UnknownOutcome](err)
			if client.Refused(err) != tt.refused || errors.Is(err, client.ErrVoided) != tt.voided || unsure != tt.unsure {
				t.Errorf("refused %v, voided %v, unsure %v: %v", client.Refused(err), errors.Is(err, client.ErrVoided), unsure, err)
			}
			reqs := s.all()
			if len(reqs) != tt.calls {
				t.Fatalf("%d calls, want %d", len(reqs), tt.calls)
			}
			if unsure && unknown.IdempotencyKey != reqs[0].key {
				t.Errorf("the error names %q, the redemption's key was %q", unknown.IdempotencyKey, reqs[0].key)
			}
			if last := reqs[len(reqs)-1]; tt.reverse != nil && (!strings.Contains(last.body, `"idempotencyKey":"`+reqs[0].key+
				`"`) || !strings.Contains(last.body, of) ||
				last.key == reqs[0].key) {
				t.Errorf("the reversal does not name the redemption's key and gift, or runs under that key: %+v", last)
			}
		})
	}
}

// foreign has what portals, gateways and broken proxies answer in the service's place.
var foreign = map[string]func(http.ResponseWriter, *http.Request){
	"empty":            says("application/json", ""),
	"cut off":          cut(""),
	"cut within":       cut(redeemed[:40]),
	"no content":       func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
	"a list":           says("text/csv", "a,b\n1,2\n"),
	"a portal's page":  says("text/html", "<html>Sign in</html>"),
	"no members":       says("application/json", `{}`),
	"null":             says("application/json", `null`),
	"an array":         says("application/json", `[]`),
	"a health check":   says("application/json", `{"status":"ok"}`),
	"another's id":     says("application/json", `{"requestId":"x","redemptionId":"y","reversalId":"z"}`),
	"empty ids":        says("application/json", `{"requestID":"","redemptionID":"","reversalID":""}`),
	"no ids":           says("application/json", `{"requestID":1,"redemptionID":1,"reversalID":1}`),
	"null for an id":   says("application/json", `{"requestID":null,"redemptionID":"r1","reversalID":"u1"}`),
	"too deep":         says("application/json", strings.Repeat("[", 100_000)),
	"a refusal as 200": says("application/problem+json", `{"status":404,"code":"NOT_FOUND","requestID":"req-1"}`),
}

func says(kind, text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		io.WriteString(w, text)
	}
}

// cut answers as HTTP/1.0 does, where the end of the connection is that of the answer, wherever it comes.
func cut(text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n"+text)
	}
}

// TestForeignAnswers: a success that is not the service's own says nothing of what a call did.
func TestForeignAnswers(t *testing.T) {
	t.Parallel()
	another := says("application/json", `{"requestID":"req-9","voucherID":"v1"}`) // call's: no redemption, no reversal
	sale := client.RedeemGiftRequest{VoucherID: "v1", All: true, IdempotencyKey: "mine"}
	unknown := func(t *testing.T, s *seen, calls int, err error) {
		t.Helper()
		u, ok := errors.AsType[*client.UnknownOutcome](err)
		if !ok || u.IdempotencyKey != "mine" || client.Refused(err) || errors.Is(err, client.ErrVoided) ||
			len(s.all()) != calls {
			t.Errorf("after %d calls, want %d: %v", len(s.all()), calls, err)
		}
	}
	run := func(what, name string, test func(t *testing.T)) {
		t.Run(name+" to "+what, func(t *testing.T) { t.Parallel(); test(t) })
	}
	redemption := func(answer http.HandlerFunc) func(*testing.T) {
		return func(t *testing.T) {
			c, s := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) { answer(w, r) })
			_, err := c.RedeemGift(t.Context(), sale)
			unknown(t, s, 4, err)
			_, err = c.RedeemSafely(t.Context(), sale)
			unknown(t, s, 10, err)
			c, s = serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
				if n < 3 {
					answer(w, r)
					return
				}
				io.WriteString(w, redeemed)
			})
			if got, err := c.RedeemSafely(t.Context(), sale); err != nil || got.RedemptionID != "r1" || len(s.all()) != 3 ||
				s.all()[0] != s.all()[2] {
				t.Errorf("once the service answers: %v, %+v", err, s.all())
			}
		}
	}
	void := func(answer http.HandlerFunc) func(*testing.T) {
		return func(t *testing.T) {
			until := func(last int) func(int, http.ResponseWriter, *http.Request) {
				return func(n int, w http.ResponseWriter, r *http.Request) {
					switch {
					case n < 4:
						drop(w, r)
					case n <= last:
						answer(w, r)
					default:
						io.WriteString(w, reversed)
					}
				}
			}
			c, s := serve(t, until(6))
			_, err := c.RedeemSafely(t.Context(), sale)
			unknown(t, s, 6, err)
			c, s = serve(t, until(5))
			if _, err = c.RedeemSafely(t.Context(), sale); !errors.Is(err, client.ErrVoided) || len(s.all()) != 6 {
				t.Errorf("once the void is answered, after %d calls: %v", len(s.all()), err)
			}
		}
	}
	lookUp := func(answer http.HandlerFunc) func(*testing.T) {
		return func(t *testing.T) {
			c, s := serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
				if n < 5 {
					answer(w, r)
					return
				}
				another(w, r)
			})
			_, err := c.Gift(t.Context(), "v1")
			if e, ok := errors.AsType[*client.Error](err); !ok || e.Status > 299 || e.Code != "" || len(s.all()) != 4 {
				t.Errorf("after %d calls: %v", len(s.all()), err)
			}
			if g, err := c.Gift(t.Context(), "v1"); err != nil || g.VoucherID != "v1" {
				t.Errorf("the service's own: %v", err)
			}
			c, s = serve(t, func(_ int, w http.ResponseWriter, r *http.Request) { answer(w, r) })
			if _, err := c.DeleteWebhook(t.Context(), "w"); err == nil || len(s.all()) != 4 {
				t.Errorf("a webhook is deleted after %d calls: %v", len(s.all()), err)
			}
		}
	}
	for name, answer := range foreign {
		run("a redemption", name, redemption(answer))
		run("the void", name, void(answer))
		run("a look-up", name, lookUp(answer))
	}
	run("a redemption", "another call's", redemption(another))
	run("the void", "another call's", void(another))
	run("the void", "a redemption's", void(says("application/json", redeemed)))
}

// TestExportIsAFile: and nothing else is.
func TestExportIsAFile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind, text string
		good       bool
	}{{"text/csv; charset=utf-8", "code\r\n1\r\n", true}, {"application/pdf", "%PDF-1.7", true}, {"text/csv", "", false},
		{"text/html", "<html>", false}, {"application/json", `{"requestID":"req-9"}`, false}} {
		c, _ := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) { says(tt.kind, tt.text)(w, r) })
		file, err := c.ExportStock(t.Context(), "o", client.StockCSV)
		if tt.good != (err == nil) || tt.good && string(file) != tt.text {
			t.Errorf("%s %q: %q, %v", tt.kind, tt.text, file, err)
		}
	}
}

// TestJournalIsTheServices: a file is taken if it is what the service says that it sent, and asked for by its days.
func TestJournalIsTheServices(t *testing.T) {
	t.Parallel()
	for digest, good := range map[string]bool{"sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:": true,
		"sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:": false, "": false} {
		var asked string
		c, _ := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
			asked = r.URL.String()
			w.Header().Set("Content-Digest", digest)
			w.Header().Set("Boon-Proof", `{"reportID":"r-1","sha256":"5a"}`)
			says("application/zip", "abc")(w, r)
		})
		file, err := c.Journal(t.Context(), client.JournalFilter{From: "2026-09-01", To: "2026-09-30",
			Format: client.JournalDATEV})
		if good != (err == nil) || good && (string(file.Content) != "abc" ||
			file.ReportID != "r-1" || file.SHA256 != "5a") {
			t.Errorf("%q: %+v, %v", digest, file, err)
		}
		if want := "/api/integration/reports/journal?format=datev&from=2026-09-01&to=2026-09-30"; asked != want {
			t.Errorf("asked for %s, want %s", asked, want)
		}
	}
}

// The guest cancels at the till while the outcome is unknown: it must be undone all the same.
func TestVoidOutlivesTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c, s := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "redeem-gift") {
			cancel()
			drop(w, r)
		}
		io.WriteString(w, reversed)
	})
	if _, err := c.RedeemSafely(ctx, client.RedeemGiftRequest{VoucherID: "v1", All: true}); !errors.Is(err,
		client.ErrVoided) || len(s.all()) != 2 {
		t.Errorf("after %d calls: %v", len(s.all()), err)
	}
}

// pipes is a listener within the process, so that time can stand still around it.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p pipes) Close() error   { close(p.done); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// inBubble runs a server with handler inside a synctest bubble, where pauses take no time but can be measured.
func inBubble(t *testing.T, handler http.HandlerFunc, test func(t *testing.T, c *client.Client),
	opts ...client.Option) {
	synctest.Test(t, func(t *testing.T) {
		p := pipes{make(chan net.Conn), make(chan struct{})}
		server := &http.Server{Handler: handler}
		go server.Serve(p)
		transport := &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn,
			error) {
			here, there := net.Pipe()
			p.conns <- there
			return here, nil
		}}
		c, err := client.New("http://boon.test", key, append(opts,
			client.WithHTTPClient(&http.Client{Transport: transport}))...)
		if err != nil {
			t.Fatal(err)
		}
		test(t, c)
		server.Close()
	})
}

func TestWaitsAsLongAsTold(t *testing.T) {
	t.Parallel()
	var at []time.Time
	inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
		if at = append(at, time.Now()); len(at) == 1 {
			refuse(w, 503, client.Unavailable, "Retry-After", "7")
			return
		}
		io.WriteString(w, redeemed)
	}, func(t *testing.T, c *client.Client) {
		if _, err := c.RedeemGift(t.Context(), client.RedeemGiftRequest{VoucherID: "v1", All: true}); err != nil {
			t.Fatal(err)
		}
		if pause := at[1].Sub(at[0]); pause < 7*time.Second || pause > 8*time.Second {
			t.Errorf("came back after %v, was told 7 s", pause)
		}
	})
}

// A till waits for its limit as long as the service says, in its time for the sale; then it tells of the refusal.
func TestTillWaitsForItsLimit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		after    string
		attempts int
		most     time.Duration
	}{{"4", 3, 9 * time.Second}, {"8", 3, 18 * time.Second}, {"10", 2, 11 * time.Second}, {"11", 1, 0}} {
		n := 0
		inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
			n++
			refuse(w, 429, client.RateLimited, "Retry-After", tt.after)
		}, func(t *testing.T, c *client.Client) {
			start := time.Now()
			_, err := c.RedeemSafely(t.Context(), client.RedeemGiftRequest{VoucherID: "v1", All: true})
			if !errors.Is(err, client.RateLimited) || !client.Refused(err) || n != tt.attempts || time.Since(start) > tt.most {
				t.Errorf("told to come back in %s s: %d attempts, %v, %v", tt.after, n, time.Since(start), err)
			}
		})
	}
}

// A certificate that is not trusted is a definite end: nothing has left, and another attempt would meet it again.
func TestUntrustedGetNothing(t *testing.T) {
	t.Parallel()
	met := 0
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		met++
		io.WriteString(w, redeemed)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	sale := client.RedeemGiftRequest{VoucherID: "v1", All: true}
	for _, pool := range []*x509.CertPool{nil, s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs} {
		address := s.URL
		if pool != nil { // the certificate is known, and not of this name
			address = strings.Replace(address, "127.0.0.1", "localhost", 1)
		}
		c, err := client.New(address, key, client.WithHTTPClient(&http.Client{
			Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}})) //nolint:gosec // TLS 1.2 is the least
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.RedeemSafely(t.Context(), sale)
		_, unknown := errors.AsType[*client.UnknownOutcome](err)
		if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); !untrusted || unknown ||
			errors.Is(err, client.ErrVoided) {
			t.Errorf("an untrusted service is met with %v", err)
		}
	}
	if met != 0 {
		t.Errorf("%d requests went to one", met)
	}
	c, err := client.New(s.URL, key, client.WithHTTPClient(s.Client()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.RedeemSafely(t.Context(), sale); err != nil || met != 1 {
		t.Error(err)
	}
}

func TestPausesGrowWithinBounds(t *testing.T) {
	t.Parallel()
	var at []time.Time
	inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
		at = append(at, time.Now())
		refuse(w, 500, client.UnexpectedError)
	}, func(t *testing.T, c *client.Client) {
		c.RedeemGift(t.Context(), client.RedeemGiftRequest{VoucherID: "v1", All: true})
		if len(at) != 6 {
			t.Fatalf("%d attempts, want 6", len(at))
		}
		for i, most := range []time.Duration{1, 2, 4, 5, 5} {
			pause := at[i+1].Sub(at[i])
			if most *= time.Second; pause < most/2 || pause > most {
				t.Errorf("pause %d is %v, want at most %v and at least half of it", i+1, pause, most)
			}
		}
	}, client.WithAttempts(6), client.WithBackoff(time.Second, 5*time.Second))
}

func TestDeadlineBoundsTheWholeCall(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, 503, client.Unavailable, "Retry-After", "5")
	}, func(t *testing.T, c *client.Client) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		_, err := c.RedeemGift(ctx, client.RedeemGiftRequest{VoucherID: "v1", All: true})
		if !errors.Is(err, client.Unavailable) || time.Since(start) > 0 {
			t.Errorf("waiting 5 s when only 3 are left helps nobody: %v after %v", err, time.Since(start))
		}
	})
}

func TestTillTimeout(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w http.ResponseWriter, r *http.Request) {
		io.ReadAll(r.Body)
		<-r.Context().Done() // a service that hangs
	}, func(t *testing.T, c *client.Client) {
		start := time.Now()
		_, err := c.RedeemSafely(t.Context(), client.RedeemGiftRequest{VoucherID: "v1", All: true})
		if _, unknown := errors.AsType[*client.UnknownOutcome](err); !unknown || errors.Is(err, client.ErrVoided) {
			t.Errorf("nobody answered, but the error is %v", err)
		}
		if d := time.Since(start); d < 30*time.Second || d > 32*time.Second {
			t.Errorf("it took %v, want six times 5 s and the pauses", d)
		}
	})
}

// TestAnAmountIsNeverForgotten: an amount that was not worked out does not become all of a gift.
func TestAnAmountIsNeverForgotten(t *testing.T) {
	t.Parallel()
	c, s := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { io.WriteString(w, redeemed) })
	one := client.Whole(1)
	for what, err := range map[string]error{
		"RedeemGift without":   second(c.RedeemGift(t.Context(), client.RedeemGiftRequest{VoucherID: "v1"})),
		"RedeemSafely without": second(c.RedeemSafely(t.Context(), client.RedeemGiftRequest{VoucherID: "v1"})),
		"ReverseRedemption without": second(c.ReverseRedemption(t.Context(),
			client.ReverseRedemptionRequest{RedemptionID: "r1"})),
		"RedeemGift with both": second(c.RedeemGift(t.Context(), client.RedeemGiftRequest{VoucherID: "v1", Amount: one,
			All: true})),
		"ReverseRedemption with both": second(c.ReverseRedemption(t.Context(),
			client.ReverseRedemptionRequest{RedemptionID: "r1", Amount: one, All: true})),
	} {
		if _, unknown := errors.AsType[*client.UnknownOutcome](err); err == nil || unknown || !strings.Contains(err.Error(),
			"nothing was sent") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if n := len(s.all()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	if _, err := c.RedeemGift(t.Context(), client.RedeemGiftRequest{VoucherID: "v1",
		Amount: client.Whole(0)}); err != nil || !strings.Contains(s.all()[0].body, `"amount":0`) {
		t.Errorf("a zero must reach the service, which refuses it: %v %+v", err, s.all())
	}
}

func second[T any](_ T, err error) error { return err }

// TestDryRun: every call of a client of dry runs but look-ups asks for one, and an answer in earnest is an error.
func TestDryRun(t *testing.T) {
	t.Parallel()
	answers := []string{`{"reversalID":"x","dryRun":true,"requestID":"r"}`, `{"reversalID":"x","requestID":"r"}`}
	c, s := serve(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-ID", "r")
		io.WriteString(w, answers[min(n-1, 1)])
	})
	ask := client.ReverseRedemptionRequest{RedemptionID: "x", All: true}
	if _, err := c.DryRun().ReverseRedemption(t.Context(), ask); err != nil {
		t.Error(err)
	}
	if _, err := c.DryRun().ReverseRedemption(t.Context(), ask); !errors.Is(err, client.ErrNotDry) {
		t.Errorf("an answer in earnest: %v", err)
	}
	if _, err := c.ReverseRedemption(t.Context(), ask); err != nil {
		t.Error(err)
	}
	_, _ = c.Receipts().DryRun().CashOutGift(t.Context(), client.CashOutGiftRequest{VoucherID: "v"})
	if got := s.all()[3].uri; got != "/api/integration/redemption/cash-out-gift?dryRun=true&receipt=true" {
		t.Errorf("a receipt was asked for at %s", got)
	}
	const path = "/api/integration/redemption/reverse-redemption"
	for n, want := range []string{path + "?dryRun=true", path + "?dryRun=true", path} {
		if got := s.all()[n].uri; got != want {
			t.Errorf("call %d went to %s, want %s", n, got, want)
		}
	}
}
