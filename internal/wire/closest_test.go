package wire

import (
	"strings"
	"testing"
)

func TestClosest(t *testing.T) {
	t.Parallel()
	known := []string{"value", "voucherID", "voucherCode", "message", "to"}
	for name, want := range map[string]string{
		"value": "value", "VALUE": "value", "vale": "value", "valeu": "value", "voucherId": "voucherID",
		"vouchrCode": "voucherCode", "mesage": "message",
		"ot": "to", "": "", "x": "", "price": "", "voucher": "voucherID", strings.Repeat("value", 200_000): "", "ｖalue": "",
	} {
		if got := Closest(name, known); got != want {
			t.Errorf("%.20q: got %q, want %q", name, got, want)
		}
	}
	if got := Closest("value", nil); got != "" {
		t.Errorf("nothing is known, yet %q is close", got)
	}
}
