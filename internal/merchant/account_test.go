package merchant

import (
	"slices"
	"testing"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

func TestLocate(t *testing.T) {
	t.Parallel()
	const posField = refusal.FieldPointOfSale
	harbor, pier := id(0x23), id(0x24)
	locations := []Location{
		{ID: shop, PointOfSale: "POS-1", POSRedemption: true},
		{ID: kiosk, PointOfSale: "POS-2", POSRedemption: true},
		{ID: harbor, PointOfSale: "POS-3"},
		{ID: pier},
	}
	for _, tt := range []struct {
		name    string
		count   int // of the account's locations
		enabled []guid.ID
		place   Place
		want    guid.ID
		code    refusal.Code
		field   refusal.Field
	}{
		{"no location at all", 0, nil, Place{}, guid.ID{}, refusal.AccountMisconfigured, ""},
		{"no location at all, though one is named", 0, nil, Place{LocationID: shop}, guid.ID{}, refusal.AccountMisconfigured,
			""},
		{"by id", 4, nil, Place{LocationID: kiosk}, kiosk, "", ""},
		{"by point of sale", 4, nil, Place{PointOfSale: "POS-2"}, kiosk, "", ""},
		{"by both", 4, nil, Place{LocationID: kiosk, PointOfSale: "POS-2"}, kiosk, "", ""},
		{"by both, which differ", 4, nil, Place{LocationID: shop, PointOfSale: "POS-2"}, guid.ID{}, refusal.ValidationFailure,
			posField},
		{"unknown id", 4, nil, Place{LocationID: id(99)}, guid.ID{}, refusal.NotFound, "location"},
		{"unknown point of sale", 4, nil, Place{PointOfSale: "pos-1"}, guid.ID{}, refusal.NotFound, posField},
		{"known id, unknown point of sale", 4, nil, Place{LocationID: shop, PointOfSale: "X"}, guid.ID{}, refusal.NotFound,
			posField},
		{"point of sale not enabled", 4, nil, Place{PointOfSale: "POS-3"}, guid.ID{}, refusal.NotSupported, posField},
		{"no place, the account's only one", 1, nil, Place{}, shop, "", ""},
		{"no place, the key's only one", 4, []guid.ID{kiosk}, Place{}, kiosk, "", ""},
		{"no place, many", 4, nil, Place{}, guid.ID{}, refusal.ValidationFailure, "location"},
		{"no place, two of many", 4, []guid.ID{shop, kiosk}, Place{}, guid.ID{}, refusal.ValidationFailure, "location"},
		{"enabled", 4, []guid.ID{shop, kiosk}, Place{LocationID: shop}, shop, "", ""},
		{"not enabled, by id", 4, []guid.ID{shop, kiosk}, Place{LocationID: pier}, guid.ID{}, refusal.NotAuthorized, ""},
		{"not enabled, by point of sale", 4, []guid.ID{shop}, Place{PointOfSale: "POS-2"}, guid.ID{}, refusal.NotAuthorized,
			""},
		{"not enabled at the only one", 1, []guid.ID{kiosk, pier}, Place{}, guid.ID{}, refusal.NotAuthorized, ""},
		{"the key's only one is gone", 4, []guid.ID{id(99)}, Place{}, guid.ID{}, refusal.ValidationFailure, "location"},
	} {
		c := &Caller{Kind: AccountKey, Account: &Account{Locations: locations[:tt.count]}, Locations: tt.enabled}
		l, err := c.Locate(tt.place)
		if codeOf(t, err) != tt.code || err == nil && l.ID != tt.want || err != nil &&
			(l != nil || err.(*refusal.Error).Messages[0].Field != tt.field) {
			t.Errorf("%s: got %v, %v", tt.name, l, err)
		}
	}
	if _, err := (&Caller{Kind: SystemKey}).Locate(Place{LocationID: shop}); codeOf(t, err) != refusal.NotSupported {
		t.Errorf("a system key: %v", err)
	}
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	one, two := &Account{ID: id(1)}, &Account{ID: id(2)}
	d := &Directory{Accounts: map[guid.ID]*Account{one.ID: one, two.ID: two}, Keys: map[KeyHash]*Key{}}
	for text, k := range map[string]*Key{
		"good":     {ID: id(11), Kind: AccountKey, AccountID: one.ID, Locations: []guid.ID{shop}},
		"system":   {ID: id(12), Kind: SystemKey, Name: "site", Accounts: []guid.ID{id(2), id(99)}},
		"expiring": {Kind: AccountKey, AccountID: one.ID, ExpiresAt: now.Add(1)},
		"expired":  {Kind: AccountKey, AccountID: one.ID, ExpiresAt: now},
		"revoked":  {Kind: AccountKey, AccountID: one.ID, RevokedAt: now.Add(-time.Hour)},
		"orphan":   {Kind: AccountKey, AccountID: id(99)},
	} {
		d.Keys[HashKey(text)] = k
	}
	for text, want := range map[string]bool{
		"good": true, "system": true, "expiring": true, "expired": false, "revoked": false, "orphan": false,
		"": false, "Good": false, "good ": false,
	} {
		c, ok := d.Authenticate(text, now)
		if ok != want || ok != (c != nil) {
			t.Errorf("key %q: %v", text, ok)
		}
	}
	good, _ := d.Authenticate("good", now)
	system, _ := d.Authenticate("system", now)
	if good.Account != one || good.KeyID != id(11) || !good.Enabled(shop) || good.Enabled(kiosk) ||
		system.Account != nil || system.Kind != SystemKey {
		t.Errorf("%+v, %+v", good, system)
	}
	for _, tt := range []struct {
		name   string
		caller *Caller
		named  guid.ID
		want   *Account
		code   refusal.Code
	}{
		{"its own, unnamed", good, guid.ID{}, one, ""},
		{"its own, named", good, one.ID, one, ""},
		{"another", good, two.ID, nil, refusal.NotAuthorized},
		{"one that is not", good, id(99), nil, refusal.NotAuthorized},
		{"system, named", system, two.ID, two, ""},
		{"system, unnamed", system, guid.ID{}, nil, refusal.ValidationFailure},
		{"system, one that it does not serve", system, one.ID, nil, refusal.NotAuthorized},
		{"system, one that is not", system, id(99), nil, refusal.NotAuthorized},
	} {
		a, err := d.SendingAccount(tt.caller, tt.named, "monetary.account")
		if a != tt.want || codeOf(t, err) != tt.code || err != nil &&
			err.(*refusal.Error).Messages[0].Field != "monetary.account" {
			t.Errorf("%s: got %v, %v", tt.name, a, err)
		}
	}
	if _, err := d.AccountOf(system, guid.ID{}, "account"); codeOf(t, err) != refusal.ValidationFailure {
		t.Errorf("a look-up by a key that serves two accounts, and names none: %v", err)
	}
	system.Accounts = []guid.ID{two.ID}
	if a, err := d.AccountOf(system, guid.ID{}, "account"); a != two || err != nil {
		t.Errorf("a look-up by a key that serves one: %v, %v", a, err)
	}
	if _, err := d.AccountOf(good, two.ID, "account"); codeOf(t, err) != refusal.NotAuthorized {
		t.Errorf("a look-up in another account: %v", err)
	}
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	for text, promotional := range map[string]bool{
		"22222222-2222-2222-2222-222222222222": false, "33333333-3333-3333-3333-333333333333": true,
		"55555555-5555-5555-5555-555555555555": false,
	} {
		program, err := guid.Parse(text)
		if p, ok := ProgramByID(program); err != nil || !ok || p.Promotional != promotional || p.ID.String() != text {
			t.Errorf("%s: %+v, %v", text, p, err)
		}
	}
	for _, no := range []guid.ID{{}, programID(0x44)} {
		if _, ok := ProgramByID(no); ok {
			t.Errorf("%s is a program", no)
		}
	}
}

func TestMayBeTold(t *testing.T) {
	t.Parallel()
	everywhere, shopOnly := &Caller{}, &Caller{Locations: []guid.ID{shop}}
	for _, tt := range []struct {
		done []guid.ID
		shop bool
	}{{nil, false}, {[]guid.ID{{}}, false}, {[]guid.ID{shop}, true}, {[]guid.ID{shop, kiosk}, false}, {[]guid.ID{kiosk},
		false}} {
		if !everywhere.MayBeTold(tt.done) || shopOnly.MayBeTold(tt.done) != tt.shop {
			t.Errorf("of what was done at %v", tt.done)
		}
	}
}

func TestNeedKey(t *testing.T) {
	t.Parallel()
	none, careful := (*Account)(nil), &Account{RequireIdempotencyKey: true}
	for _, err := range []error{none.NeedKey(""), (&Account{}).NeedKey(""), careful.NeedKey("k")} {
		if err != nil {
			t.Errorf("a key is not needed: %v", err)
		}
	}
	if err := careful.NeedKey(""); codeOf(t, err) != refusal.ValidationFailure {
		t.Errorf("without a key: %v", err)
	}
}

func TestDefaultMaxGiftValue(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"USD", "EUR", "GBP", "CHF", "CAD", "AUD", "NZD", "JPY", "KWD", "IDR", "VND", "SEK"} {
		c, err := money.ParseCurrency(code)
		if err != nil {
			t.Fatal(err)
		}
		limit, ok := DefaultMaxGiftValue(c)
		if want := !slices.Contains([]string{"JPY", "KWD", "IDR", "VND", "SEK"}, code); ok != want || ok &&
			c.Format(limit) != "10000.00" {
			t.Errorf("%s: %s, %t", code, c.Format(limit), ok)
		}
	}
}
