package toast

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/face/provider"
	"boon.example/internal/gift"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// TestEveryCodeHasAStatus: each of our refusals is told by a word of Toast's, and what is undecided by none.
func TestEveryCodeHasAStatus(t *testing.T) {
	t.Parallel()
	for _, code := range refusal.Codes() {
		refused := refusal.New(code, "no")
		reply, failed := unavailable(refused)
		if failed != code.Undecided() || failed && (reply.Status != 500 || len(reply.Body) > 0) {
			t.Errorf("%s is a failure of ours: %v", code, failed)
		}
		if status := (&transaction{Call: new(provider.Call)}).statusOf(refused); !strings.HasPrefix(status, "ERROR_") {
			t.Errorf("%s is told as %q", code, status)
		}
	}
}

// TestCardsOfAnotherTime: a card that is not yet valid, or not yet sold, is not active; a promotion's is no card.
func TestCardsOfAnotherTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	refused := refusal.New(refusal.RedemptionNotAllowed, "no")
	for _, tt := range []struct {
		card gift.Voucher
		want string
	}{
		{gift.Voucher{Status: gift.Delivered, ValidFrom: now.Add(time.Hour)}, notActivated},
		{gift.Voucher{Status: gift.Delivered, ValidUntil: now}, invalidCard},
		{gift.Voucher{Status: gift.Pending}, notActivated},
		{gift.Voucher{Status: gift.NotActivated}, notActivated},
		{gift.Voucher{Status: gift.Pending, Promotional: true}, invalidCard},
		{gift.Voucher{Status: gift.Delivered}, invalidCard},
	} {
		x := &transaction{Call: &provider.Call{Call: service.Call{Now: now}}, card: gift.Gift{Voucher: tt.card}}
		if got := x.statusOf(refused); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.card, got, tt.want)
		}
	}
}

// FuzzInformation: whatever a body holds, what is read of it can be carried out or is refused.
func FuzzInformation(f *testing.F) {
	for _, text := range []string{`{"redeemTransactionInformation":{"giftCardIdentifier":"481516234299","redeemedValue":"5.0"}}`,
		`{"redeemTransactionInformation":null}`, `{"redeemTransactionInformation":{"giftCardIdentifier":"1","verificationCode":null}}`} {
		f.Add([]byte(text))
	}
	usd := money.Currency{Code: "USD", Decimals: 2}
	f.Fuzz(func(t *testing.T, body []byte) {
		x := &transaction{kind: kinds["GIFTCARD_REDEEM"]}
		if !x.read(body) {
			return
		}
		if x.asked.Card == "" {
			t.Error("no card is named")
		}
		if amount, err := x.asked.RedeemedValue.In(usd); err == nil && amount <= 0 {
			t.Errorf("%q is %d", x.asked.RedeemedValue, amount)
		}
	})
}

// TestAnsweredInTime: Toast waits half a second, and the answer has to travel.
func TestAnsweredInTime(t *testing.T) {
	t.Parallel()
	if Within >= 500*time.Millisecond {
		t.Errorf("a call may take %v", Within)
	}
}

// TestStatusesAreTold: the guide has a row for each status that is answered, and for no other; and for each there is a
// test that is answered it.
func TestStatusesAreTold(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	code, tests := read("status.go"), read("toast_test.go")+read("random_test.go")
	_, guide, _ := strings.Cut(read("../../../../docs/guides/platforms.md"), "\n`transactionStatus` | When\n")
	guide, _, _ = strings.Cut(guide, "\n\n")
	var answered, told []string
	for _, m := range regexp.MustCompile(`= "(ACCEPT|ERROR_[A-Z_]+)"`).FindAllStringSubmatch(code, -1) {
		answered = append(answered, m[1])
		if !strings.Contains(tests, `"`+m[1]+`"`) && !strings.Contains(tests, m[1]+":") {
			t.Errorf("no test is answered %s", m[1])
		}
	}
	for _, m := range regexp.MustCompile("(?m)^`([A-Z_]+)` \\| ").FindAllStringSubmatch(guide, -1) {
		told = append(told, m[1])
	}
	slices.Sort(answered)
	slices.Sort(told)
	if !slices.Equal(answered, told) || len(answered) < 10 {
		t.Errorf("answered are %q\nthe guide tells %q", answered, told)
	}
}
