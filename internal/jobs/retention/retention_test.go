package retention_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/guid"
	"boon.example/internal/jobs/retention"
	"boon.example/internal/merchant"
	"boon.example/internal/server"
)

// TestAnAccountIsLookedThroughOnceADay: what ended is erased in the first round, what ended since a day later, and
// after a round that failed in the next.
func TestAnAccountIsLookedThroughOnceADay(t *testing.T) {
	t.Parallel()
	s := boontest.Example(t, server.Config{})
	account, err := guid.Parse(examples.HarborAccount)
	if err != nil {
		t.Fatal(err)
	}
	job := &retention.Job{Store: s.Open(t),
		Directory: func() *merchant.Directory {
			return &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{account: {ID: account, PersonalDataDays: 1}}}
		}}
	from := time.Now().Add(48 * time.Hour)
	failing, fail := context.WithCancel(t.Context())
	fail()
	for n, tt := range []struct {
		after  time.Duration
		ctx    context.Context
		erased bool
	}{
		{0, t.Context(), true}, {time.Hour, t.Context(), false}, {24 * time.Hour, t.Context(), true},
		{48 * time.Hour, failing, false}, {49 * time.Hour, t.Context(), true},
	} {
		id := usedGift(t, s.URL, n)
		if _, err := job.Round(tt.ctx, from.Add(tt.after)); err != nil && tt.ctx.Err() == nil {
			t.Error(err)
		}
		var shown struct{ RecipientDescription string }
		call(t, s.URL, "GET", "gifting/gifts/"+id, "", &shown)
		if erased := shown.RecipientDescription == ""; erased != tt.erased {
			t.Errorf("after %s erased: %v, want %v", tt.after, erased, tt.erased)
		}
	}
}

// usedGift is one for Ana that nothing is left of.
func usedGift(t *testing.T, url string, n int) string {
	t.Helper()
	var order struct{ Gifts []struct{ VoucherID string } }
	call(t, url, "POST", "gifting/send-gift", fmt.Sprintf(`{"monetaryGift":{"value":5,"deliveryMethodID":3,
		"recipientDescription":"Ana"},"paymentMethodID":2,"externalTransactionReferenceNumber":"R-%d",
		"externalTransactionCustomerFirstName":"Carla","externalTransactionCustomerLastName":"Diaz",
		"externalTransactionCustomerEmailAddress":"carla@example.com","externalStorefrontID":%q}`, n,
		examples.HarborStorefront), &order)
	id := order.Gifts[0].VoucherID
	call(t, url, "POST", "redemption/redeem-gift", fmt.Sprintf(`{"voucherID":%q,"organizationID":%q}`, id,
		examples.HarborPier39), nil)
	return id
}

// call makes one that has to succeed, as the head office.
func call(t *testing.T, url, method, path, body string, into any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url+"/api/integration/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", examples.HarborOfficeKey)
	r.Header.Set("Idempotency-Key", rand.Text())
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		said, _ := io.ReadAll(answer.Body)
		t.Fatalf("%s %s: %s", method, path, said)
	}
	if into != nil {
		if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
			t.Fatal(err)
		}
	}
}
