package order

import (
	"strings"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// TestCheckPurchase: what is missing is told, all of it; a paired till, and no other key, may leave out who buys.
func TestCheckPurchase(t *testing.T) {
	t.Parallel()
	a := &merchant.Account{Storefronts: []merchant.Storefront{{ID: id(0x41)}}}
	good := paid("order 7", "Ana", "Roe", "ana@example.com", id(0x41))
	counter := gift.Purchase{Reference: "order 7", StorefrontID: id(0x41)}
	wrong := paid(strings.Repeat("x", 201), "Ana", "Ro\ae", "ana@example.com", id(0x41))
	for _, tt := range []struct {
		name      string
		p         gift.Purchase
		key, till string // what is refused
	}{
		{"whole", good, "", ""},
		{"empty", gift.Purchase{}, "reference, firstName, lastName, emailAddress, storefront", "reference, storefront"},
		{"nobody's", counter, "firstName, lastName, emailAddress", ""},
		{"with blanks", paid("order 7", " ", " ", "", id(0x41)), "firstName, lastName, emailAddress", ""},
		{"with a name", paid("order 7", "Ana", "", "", id(0x41)), "lastName, emailAddress", ""},
		{"no reference", gift.Purchase{StorefrontID: id(0x41)}, "reference, firstName, lastName, emailAddress", "reference"},
		{"elsewhere", paid("order 7", "Ana", "Roe", "ana@example.com", id(3)), "storefront", "storefront"},
		{"no address", paid("order 7", "Ana", "Roe", "ana", id(0x41)), "emailAddress", "emailAddress"},
		{"wrong texts", wrong, "reference, lastName", "reference, lastName"},
	} {
		for kind, want := range map[merchant.TillKey]string{merchant.NoTill: tt.key, merchant.WaitingTill: tt.key,
			merchant.PairedTill: tt.till} {
			caller := &merchant.Caller{Kind: merchant.AccountKey, Account: a, Till: kind}
			var got []string
			err := CheckPurchase(caller, tt.p, nil)
			if refused, ok := err.(*refusal.Error); ok {
				for _, m := range refused.Messages {
					got = append(got, string(m.Field))
				}
				if refused.Code != refusal.ValidationFailure {
					t.Errorf("%s: %v", tt.name, refused)
				}
			}
			if strings.Join(got, ", ") != want || err == nil != (want == "") {
				t.Errorf("%s of a key of till kind %d: %v, want %q", tt.name, kind, err, want)
			}
		}
	}
}

func paid(reference, first, last, email string, storefront guid.ID) gift.Purchase {
	return gift.Purchase{Reference: reference, FirstName: first, LastName: last, EmailAddress: email,
		StorefrontID: storefront}
}
