package client_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"boon.example/client"
	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/server"
)

// world is a service on a folder of its own, with the example set-up, and a client for the shop and for the till.
func world(t *testing.T) (shop, till *client.Client) {
	t.Helper()
	all := clientsOf(t, examples.HarborWebShopKey, examples.HarborTillKey)
	return all[0], all[1]
}

// clientsOf are clients of such a service, each with a key.
func clientsOf(t *testing.T, keys ...string) (all []*client.Client) {
	t.Helper()
	transport := &http.Transport{}
	service := boontest.Example(t, server.Config{Outbox: true})
	t.Cleanup(transport.CloseIdleConnections)
	for _, key := range keys {
		c, err := client.New(service.URL, key, client.WithHTTPClient(&http.Client{Transport: transport}))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// known fails when an answer holds a member that the client does not know.
func known(t *testing.T, meta client.Meta, into any) {
	t.Helper()
	var body map[string]json.RawMessage
	if err := json.Unmarshal(meta.Body, &body); err != nil {
		t.Fatal(err)
	}
	delete(body, "requestID")
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Errorf("%s: %v", text, err)
	}
}

func purchase(value string, names ...string) client.SendGiftRequest {
	r := client.SendGiftRequest{
		MonetaryGift:    &client.MonetaryGift{Value: client.MustDecimal(value), DeliveryMethodID: client.Printed},
		PaymentMethodID: client.ExternalTransaction, ExternalPayment: client.ExternalPayment{
			ExternalTransactionReferenceNumber:      "WEB-1",
			ExternalTransactionCustomerFirstName:    "Carla",
			ExternalTransactionCustomerLastName:     "Diaz",
			ExternalTransactionCustomerEmailAddress: "carla@example.com",
			ExternalStorefrontID:                    examples.HarborStorefront,
		},
	}
	for _, name := range names {
		r.Recipients = append(r.Recipients, client.Recipient{RecipientDescription: name})
	}
	return r
}

func TestLifeOfAGift(t *testing.T) {
	t.Parallel()
	shop, till := world(t)
	ctx := t.Context()
	order, err := shop.SendGift(ctx, purchase("25", "Ana", "Ben"))
	if err != nil {
		t.Fatal(err)
	}
	known(t, order.Meta, &client.Order{})
	ana := order.Gifts[0]

	v, err := till.ValidateGift(ctx, client.ValidateGiftRequest{VoucherPublicToken: ana.GiftURL})
	if err != nil {
		t.Fatal(err)
	}
	known(t, v.Meta, &client.Voucher{})
	if v.VoucherID != ana.VoucherID || !v.IsRedeemable || v.CurrentBalance.String() != "25.00" {
		t.Errorf("the till sees %s", v.Meta.Body)
	}

	key := client.NewKey()
	redeem := client.RedeemGiftRequest{VoucherCode: v.VoucherCode, Amount: client.MustDecimal("9.50"),
		Reference: "check 1", IdempotencyKey: key}
	paid, err := till.RedeemSafely(ctx, redeem)
	if err != nil {
		t.Fatal(err)
	}
	known(t, paid.Meta, &client.Redemption{})
	again, err := till.RedeemGift(ctx, redeem)
	if err != nil || !again.Meta.Replayed || string(again.Meta.Body) != string(paid.Meta.Body) {
		t.Errorf("asked again: %+v, %v", again, err)
	}
	status, err := till.RequestStatus(ctx, key, client.OpRedeemGift)
	if err != nil || len(status) != 1 || status[0].State != client.RequestFinished || status[0].Status != 200 {
		t.Errorf("the call's state: %+v, %v", status, err)
	}
	_, err = till.RedeemSafely(ctx, client.RedeemGiftRequest{VoucherID: ana.VoucherID, Amount: client.Whole(20)})
	if !errors.Is(err, client.InsufficientBalance) || !client.Refused(err) {
		t.Errorf("20 of 15.50: %v", err)
	}
	back, err := till.ReverseRedemption(ctx, client.ReverseRedemptionRequest{OriginalKey: key, All: true,
		Reason: "wrong table"})
	if err != nil {
		t.Fatal(err)
	}
	known(t, back.Meta, &client.Reversal{})
	if back.RedemptionID != paid.RedemptionID || back.CurrentBalance.Cmp(client.Whole(25)) != 0 {
		t.Errorf("the reversal: %s", back.Meta.Body)
	}

	wantHistory(t, shop, ana.VoucherID, client.EntryIssued, client.EntryRedemption, client.EntryReversal)
	gone, err := shop.CancelGift(ctx, client.CancelGiftRequest{OrderID: order.OrderID, Cause: client.CauseCancelled})
	if err != nil || len(gone.Vouchers) != 2 || gone.Vouchers[1].Status != client.StatusCancelled {
		t.Fatalf("cancelled: %+v, %v", gone, err)
	}
	known(t, gone.Meta, &client.Cancellation{})
}

// wantHistory compares the kinds of a gift's entries.
func wantHistory(t *testing.T, shop *client.Client, voucherID string, want ...client.EntryKind) {
	t.Helper()
	var kinds []client.EntryKind
	for e, err := range shop.History(t.Context(), voucherID) {
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, e.Kind)
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("the history:\n%s", diff)
	}
}

func TestVoidOfWhatNeverArrived(t *testing.T) {
	t.Parallel()
	shop, till := world(t)
	order, err := shop.SendGift(t.Context(), purchase("25", "Ana"))
	if err != nil {
		t.Fatal(err)
	}
	key := client.NewKey()
	if _, err := till.ReverseRedemption(t.Context(), client.ReverseRedemptionRequest{OriginalKey: key,
		All: true}); !errors.Is(err, client.NotFound) {
		t.Errorf("voiding what never arrived: %v", err)
	}
	late := client.RedeemGiftRequest{VoucherID: order.Gifts[0].VoucherID, All: true, IdempotencyKey: key}
	if _, err := till.RedeemGift(t.Context(), late); !errors.Is(err, client.RedemptionNotAllowed) {
		t.Errorf("the late original: %v", err)
	}
	status, err := till.RequestStatus(t.Context(), key, "")
	if err != nil || len(status) == 0 || status[0].State != client.RequestSpent &&
		status[len(status)-1].State != client.RequestSpent {
		t.Errorf("the key's state: %+v, %v", status, err)
	}
}

func TestEligibleItems(t *testing.T) {
	t.Parallel()
	shop, till := world(t)
	order, err := shop.SendGift(t.Context(), client.SendGiftRequest{
		MonetaryGift:    &client.MonetaryGift{Value: client.Whole(20), DeliveryMethodID: client.Printed},
		PaymentMethodID: client.Promotional, PromotionID: examples.HarborSpring, ValidStarting: time.Now().Add(-time.Hour),
		ValidForDays: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	line := func(item, price string) client.LineItem {
		return client.LineItem{ItemID: item, Quantity: 1, ItemTotalPrice: client.MustDecimal(price)}
	}
	ticket := client.Ticket{LineItems: []client.LineItem{line("BAGEL", "4.00"), line("LATTE", "5.50")}}
	v, err := till.ValidateGift(t.Context(), client.ValidateGiftRequest{VoucherCode: order.Gifts[0].VoucherCode,
		TicketData: ticket.TicketData()})
	if err != nil {
		t.Fatal(err)
	}
	known(t, v.Meta, &client.Voucher{})
	if e := v.Eligibility; e == nil || e.MaximumAmount.String() != "5.50" || len(e.EligibleLines) != 1 ||
		e.EligibleLines[0].Index != 1 || len(e.ExcludedLines) != 1 {
		t.Errorf("eligibility: %s", v.Meta.Body)
	}
	none := client.Ticket{LineItems: []client.LineItem{line("BAGEL", "4.00")}}
	_, err = till.RedeemGift(t.Context(), client.RedeemGiftRequest{VoucherID: v.VoucherID, All: true,
		TicketData: none.TicketData()})
	if !errors.Is(err, client.ItemEligibilityFailure) {
		t.Errorf("a bagel: %v", err)
	}
}

func TestPagesOfGifts(t *testing.T) {
	t.Parallel()
	shop, _ := world(t)
	var want []string
	for range 3 {
		order, err := shop.SendGift(t.Context(), purchase("1", "a", "b", "c"))
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range order.Gifts {
			want = append(want, g.VoucherID)
		}
	}
	seen := map[string]bool{}
	for v, err := range shop.Gifts(t.Context(), client.GiftsFilter{PageSize: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		if seen[v.VoucherID] {
			t.Errorf("gift %s came twice", v.VoucherID)
		}
		seen[v.VoucherID] = true
	}
	for _, id := range want {
		if !seen[id] {
			t.Errorf("gift %s did not come", id)
		}
	}
	for _, err := range shop.Gifts(t.Context(), client.GiftsFilter{Status: "NO_SUCH"}) {
		if !errors.Is(err, client.ValidationFailure) {
			t.Errorf("a status that does not exist: %v", err)
		}
	}
}

// TestKeysOfOddCharacters: whatever an Idempotency-Key may hold, it is one and the same key in a header, a body and a
// path.
func TestKeysOfOddCharacters(t *testing.T) {
	t.Parallel()
	shop, till := world(t)
	order, err := shop.SendGift(t.Context(), purchase("25", "Ana"))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{".", "..", "...", "a/../b", "//", "%2F", "%", "?operation=x", "#", "a b", "a+b",
		"'; DROP TABLE request;--", "\"", "\\", "~!&=;,",
		strings.Repeat("k", 255)} {
		redeem := client.RedeemGiftRequest{VoucherID: order.Gifts[0].VoucherID, IdempotencyKey: key,
			Amount: client.MustDecimal("0.01")}
		first, err := till.RedeemGift(t.Context(), redeem)
		if err != nil {
			t.Errorf("%q: %v", key, err)
			continue
		}
		again, err := till.RedeemGift(t.Context(), redeem)
		if err != nil || !again.Meta.Replayed || again.RedemptionID != first.RedemptionID {
			t.Errorf("%q again: %+v %v, want the first answer", key, again, err)
		}
		status, err := till.RequestStatus(t.Context(), key, client.OpRedeemGift)
		if err != nil || len(status) != 1 || status[0].Key != key || status[0].State != client.RequestFinished {
			t.Errorf("what became of %q: %+v %v", key, status, err)
		}
		void, err := till.ReverseRedemption(t.Context(), client.ReverseRedemptionRequest{OriginalKey: key, All: true})
		if err != nil || void.RedemptionID != first.RedemptionID {
			t.Errorf("voiding %q: %+v %v", key, void, err)
		}
	}
	g, err := shop.Gift(t.Context(), order.Gifts[0].VoucherID)
	if err != nil || g.CurrentBalance.String() != "25.00" {
		t.Errorf("after everything was voided: %v %v, want 25.00", g.CurrentBalance, err)
	}
}
