package setup

import (
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/sealed"
)

// whole is the account of testdata/account.json, in which every field of its time says something.
func whole(tb testing.TB) *merchant.Account {
	tb.Helper()
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		tb.Fatal(err)
	}
	exclusive := false
	limits := merchant.Limits{IssuedPerDay: 1, GiftsPerDay: 2, RedeemedPerDay: 3, MessagesPerDay: 4, TextsPerDay: 5,
		MessagesPerContactPerDay: 6}
	id := func(n byte) guid.ID { return guid.ID{n} }
	return &merchant.Account{
		ID: id(1), Name: "Harbor Coffee", Test: true, Currency: money.Currency{Code: "USD", Decimals: 2}, Zone: zone,
		Language: merchant.English, Country: "US", MaxGiftValue: 500_00, RequireIdempotencyKey: true,
		Limits:        limits,
		TextCountries: []string{"CA", "US"}, Contact: "a@example.com", PersonalDataDays: 90,
		BalanceNotice: true, ArrivalNotice: true,
		DefaultDesign: id(41),
		Subscriptions: []merchant.Subscription{{ProgramID: merchant.BusinessProgram.ID, Locations: []guid.ID{id(11), id(12)},
			Reloadable: true}},
		Locations: []merchant.Location{{ID: id(11), Name: "Pier 39", Jurisdiction: "US-CA", PointOfSale: "P39",
			POSRedemption: true, DefaultDesign: id(41), DayEnds: 4 * time.Hour, Address: "2 Beach Street",
			Phone: "+1 415 555 0100", Hours: "Mon–Fri 8:00–18:00",
			Tickets: []merchant.TicketReading{{Format: "lightspeed-x", ItemID: "sku", TaxInclusive: &exclusive,
				GiftCards: []string{"A", "B"}}}}, {ID: id(12), Name: "Ferry Building"}},
		Storefronts: []merchant.Storefront{{ID: id(21), Name: "Web"}},
		Promotions: []merchant.Promotion{{ID: id(31), Name: "Spring",
			ValidStarting: time.Date(2026, 3, 1, 5, 0, 0, 1000, time.UTC), ValidForDays: 30, Terms: "One each.\nNo cash.",
			TermsIn: merchant.Translations{merchant.German: "Eins."},
			EligibleItems: []merchant.Item{{ID: "LATTE", Name: "Latte"}, {ID: "MOCHA"}, {Group: "G", Name: "Cakes"},
				{Group: "H"}, {Name: "Scone"}}, TicketOptional: true}},
		Designs: []merchant.Design{{ID: id(41), Name: "Harbor", AccentColor: "#0b5fff", Headline: "Enjoy",
			HeadlineIn: merchant.Translations{merchant.German: "Viel Freude", merchant.Japanese: "どうぞ"}, Footer: "a\nb",
			FooterIn: merchant.Translations{merchant.French: "c"}, Logo: merchant.AssetHash{1}, Picture: merchant.AssetHash{2}}},
		People: []merchant.Person{{Name: "Ana", PIN: "$argon2id$", FirstPIN: true,
			May: merchant.MayReverse | merchant.MayReload, Locations: []guid.ID{id(11)}}},
		Providers: []merchant.Provider{{ID: id(51), Platform: merchant.VTEX, Name: "VTEX",
			Secrets: []merchant.KeyHash{{1}, {2}}, App: "app", SignedBy: []byte{1, 2}, Permissions: merchant.MayRedeem,
			Limits: limits, StorefrontID: id(21), HoldDays: 3,
			Sites:    []merchant.Site{{Name: "S", LocationID: id(11)}},
			Networks: merchant.Networks{netip.MustParsePrefix("10.0.0.0/8")}}},
		EndedProviders: []merchant.EndedProvider{{ID: id(52), Name: "Old"}},
	}
}

// A document that an earlier build wrote is read, and the same is written: another instance may be an earlier one.
func TestStoredAccount(t *testing.T) {
	t.Parallel()
	keys, err := sealed.Create(filepath.Join(t.TempDir(), "keys"))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := os.ReadFile("testdata/account.json") // with its PIN in the clear, as in 0.1.0
	if err != nil {
		t.Fatal(err)
	}
	want := whole(t)
	if is, err := parseAccount(stored, keys); err != nil || !reflect.DeepEqual(is, want) {
		t.Fatalf("the document is read as %+v, want %+v (%v)", is, want, err)
	}
	text, err := formatAccount(want, keys)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := parseAccount([]byte(text), keys); err != nil || !reflect.DeepEqual(again, want) {
		t.Errorf("%s is read as %+v, want %+v (%v)", text, again, want, err)
	}
	var before, after map[string]any
	if err := errors.Join(json.Unmarshal(stored, &before), json.Unmarshal([]byte(text), &after)); err != nil {
		t.Fatal(err)
	}
	ana := after["people"].([]any)[0].(map[string]any)
	if pin := ana["pin"].(string); !strings.HasPrefix(pin, sealedMark) {
		t.Errorf("a PIN's hash is stored as %q", pin)
	}
	ana["pin"] = "$argon2id$"
	if !reflect.DeepEqual(before, after) {
		t.Errorf("the document was %v, and is %v", before, after)
	}
}

// Every field of an account is stored: also one that will be added.
func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	keys, err := sealed.Create(filepath.Join(t.TempDir(), "keys"))
	if err != nil {
		t.Fatal(err)
	}
	a := new(merchant.Account)
	say(reflect.ValueOf(a).Elem())
	a.KeysLimitMoney = false // follows from the keys
	text, err := formatAccount(a, keys)
	if err != nil {
		t.Fatal(err)
	}
	if is, err := parseAccount([]byte(text), keys); err != nil || !reflect.DeepEqual(is, a) {
		t.Errorf("%s is read as %+v, want %+v (%v)", text, is, a, err)
	}
}

// say gives every field a value.
func say(v reflect.Value) {
	switch to := v.Addr().Interface().(type) {
	case *time.Time:
		*to = time.Date(2026, 3, 1, 5, 0, 0, 1000, time.UTC)
		return
	case **time.Location:
		*to = time.UTC
		return
	case *netip.Prefix:
		*to = netip.MustParsePrefix("10.0.0.0/8")
		return
	case *merchant.Item:
		*to = merchant.Item{ID: "LATTE", Name: "Latte"}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for n := range v.NumField() {
			say(v.Field(n))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		say(v.Index(0))
	case reflect.Array:
		say(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		say(key)
		say(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		say(v.Elem())
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(1)
	default:
		panic("no value is known for a " + v.Type().String())
	}
}
