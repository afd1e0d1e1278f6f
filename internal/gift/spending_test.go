package gift

import (
	"testing"

	"boon.example/internal/contact"
	"boon.example/internal/merchant"
)

func TestSpending(t *testing.T) {
	t.Parallel()
	sms, item := Gift{Card: Card{Method: contact.SMS}}, Gift{Card: Card{Method: contact.Printed, EquivalentValue: 7}}
	sms.Funded, item.Funded, item.Item = 500, 3, true
	if got := sms.Spending(); got != (merchant.Count{Amount: 500, Gifts: 1, Messages: 1, Texts: 1}) {
		t.Errorf("a gift by SMS: %+v", got)
	}
	if got := item.Spending(); got != (merchant.Count{Amount: 7, Gifts: 1}) {
		t.Errorf("three pieces in print: %+v", got)
	}
}
