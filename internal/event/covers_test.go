package event

import (
	"strings"
	"testing"

	"boon.example/internal/merchant"
)

func TestWebhookTypes(t *testing.T) {
	t.Parallel()
	for types, wrong := range map[string]int{"gift.redeemed": -1, "gift.*": -1, "gift.* key.created": -1, "": -1,
		"*": 0, "gift": 0, "gift.redeemed gift.sold": 1, "till.*": -1, "tills.*": 0, "import.*": -1, "imports.*": 0,
		"gift.re*":                    0,
		"gift.redeemed gift.redeemed": 1,
		".*":                          0} {
		at, err := CheckTypes(strings.Fields(types))
		if (err == nil) != (wrong < 0) || err != nil && at != wrong {
			t.Errorf("%q: %d, %v", types, at, err)
		}
	}
	for types, want := range map[string]string{"": "", "gift.redeemed": "gift.redeemed",
		"key.*": "key.created key.revoked", "key.revoked guessing.*": "guessing.limited key.revoked"} {
		w := merchant.Webhook{Types: strings.Fields(types)}
		var covered []string
		for _, kind := range CoveredTypes(w.Types) {
			covered = append(covered, string(kind))
		}
		if got := strings.Join(covered, " "); got != want {
			t.Errorf("%q wants %q, want %q", types, got, want)
		}
	}
	all := merchant.Webhook{Types: []string{"gift.*"}}
	if n := len(CoveredTypes(all.Types)); n < 20 || n >= len(Types()) {
		t.Errorf("gift.* covers %d types", n)
	}
}
