package setup_test

import (
	"fmt"
	"strings"
	"testing"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/setup"
)

// TestProviders: what is wrong with a provider is told with its place and its cure.
func TestProviders(t *testing.T) {
	t.Parallel()
	const good = `      - id: 3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a71
        name: Toast
        platform: toast
        secret: 5f0cda7e9b1c4d3280aa6f9e1b7c2d41
        permissions: [validate, redeem, reverse, activate]
        storefront: 3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a21
        sites: [{name: R-1, location: 3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a11}]
`
	parse := func(providers string) string {
		_, err := setup.Parse("f", []byte(`accounts:
  - id: 3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a01
    name: Corner Bakery
    currency: EUR
    timeZone: Europe/Berlin
    language: de
    locations: [{id: 3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a11, name: Market square}]
    storefronts: [{id: 3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a21, name: Shop}]
    providers:
`+providers))
		if err == nil {
			return ""
		}
		return err.Error()
	}
	if told := parse(good); told != "" {
		t.Fatal(told)
	}
	for _, c := range []struct{ from, to, want string }{
		{"toast\n", "tost\n", "accounts[0].providers[0].platform: There is no such platform; did you mean toast?"},
		{"5f0cda7e9b1c4d3280aa6f9e1b7c2d41", "short", "f:13: accounts[0].providers[0].secret: A secret has 32 to 255"},
		{", activate]", ", send]",
			"permissions[3]: A platform may be given validate, redeem, reverse, activate, reload, cash-out."},
		{"[validate, redeem, reverse, activate]", "[]", "permissions: An empty list permits nothing"},
		{"        storefront: 3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a21\n", "", "storefront: Say in which storefront"},
		{"7a21\n", "7a22\n", "storefront: This account has no such storefront."},
		{"7a11}", "7a12}", "sites[0].location: This account has no such location."},
		{"7a11}", "7a11}, {name: r-1, location: 3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a11}",
			"Another site on line 16 has this name already"},
		{"[{name: R-1, location: 3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a11}]", "[]", "sites: An empty list means nowhere"},
		{"        secret:", "        app: a\n        secret:",
			"app: The platform toast has none; it proves itself by secret and nextSecret."},
		{"        secret:", "        holdDays: 45\n        secret:",
			"holdDays: Only vtex and saleor settle later what they debit."},
		{"        secret:", "        holdDays: 0\n        secret:", "holdDays: This must be a whole number of days from 1"},
		{"        secret:", "        networks: [0.0.0.0/0]\n        secret:",
			"networks[0]: \"0.0.0.0/0\" is every address there is"},
		{"        secret:", "        networks: []\n        secret:", "networks: An empty list means nowhere"},
		{"toast\n", "vtex\n", "accounts[0].providers[0].app: This field is required."},
		{"toast\n", "wix\n", "secret: The platform wix has none; it proves itself by app and publicKey."},
		{"toast\n", "saleor\n        app: https://shop.example.com/graphql/\n",
			"app: For saleor, app is the address of the shop's API without a path"},
		{"toast\n", "saleor\n        app: ftp://shop.example.com\n", "app: For saleor, app is the address"},
		{"toast\n", "wix\n        publicKey: x\n", "publicKey: This is not a public key in PEM form"},
	} {
		if told := parse(strings.Replace(good, c.from, c.to, 1)); !strings.Contains(told, c.want) {
			t.Errorf("%s in place of %s: %s\nwant %s", c.to, c.from, told, c.want)
		}
		if told := parse(strings.Replace(good, c.from, c.to, 1)); strings.Contains(told, "5f0cda7e") {
			t.Errorf("a secret is told: %s", told)
		}
	}
	if told := parse(good + strings.Replace(good, "7a71", "7a72", 1)); !strings.Contains(told, "of this name on line 10") {
		t.Errorf("two of one name: %s", told)
	}
}

// TestAnEndedProviderKeepsItsName: what was taken out of the file serves no more, and histories name it still.
func TestAnEndedProviderKeepsItsName(t *testing.T) {
	t.Parallel()
	w := open(t)
	id := guid.ID{6: 0x40, 8: 0x80, 15: 0x71}
	providers := locationLines + "    providers: [{id: " + id.String() + ", name: Toast, platform: toast, " +
		"secret: 5f0cda7e9b1c4d3280aa6f9e1b7c2d41, permissions: [redeem], sites: [{name: R-1, location: " + pierID.String() +
		"}]}]\n"
	apply(t, w, minimal+providers)
	wantLines(t, "changes", apply(t, w, minimal+locationLines).Changes, "account Harbor Coffee: removed provider Toast")
	wantLines(t, "changes again", apply(t, w, minimal+locationLines).Changes)
	apply(t, w, minimal) // which saves the account once more
	d := directory(t, w)
	if a, p := d.Provider(merchant.Toast, id); a != nil || p != nil || d.KeyName(id) != "Toast" {
		t.Errorf("it serves %v as %v, and is called %q", a, p, d.KeyName(id))
	}
	said := refused(t, w, minimal+strings.Replace(locationLines, pierID.String(), id.String(), 1))
	if !strings.Contains(said, "is that of a provider of account Harbor Coffee already") {
		t.Error(said)
	}
	apply(t, w, minimal+strings.Replace(providers, "Toast", "Till", 1))
	d = directory(t, w)
	if _, p := d.Provider(merchant.Toast, id); p == nil || d.KeyName(id) != "Till" ||
		len(d.Accounts[harborID].EndedProviders) > 0 {
		t.Errorf("put back, it is %+v of %+v, and is called %q", p, d.Accounts[harborID], d.KeyName(id))
	}
}

// TestAChain: a platform calls with one secret from all places of a chain.
func TestAChain(t *testing.T) {
	t.Parallel()
	var locations, sites strings.Builder
	for n := range 3_000 {
		fmt.Fprintf(&locations, "      - {id: 3b0d1a6e-7c1f-4a57-9a43-%012d, name: Place %d}\n", n, n)
		fmt.Fprintf(&sites, "          - {name: R-%d, location: 3b0d1a6e-7c1f-4a57-9a43-%012d}\n", n, n)
	}
	_, err := setup.Parse("f", []byte(`accounts:
  - id: 3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a01
    name: Corner Bakery
    currency: EUR
    timeZone: Europe/Berlin
    locations:
`+locations.String()+`    providers:
      - id: 3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a71
        name: Toast
        platform: toast
        secret: 5f0cda7e9b1c4d3280aa6f9e1b7c2d41
        permissions: [validate, redeem, reverse]
        sites:
`+sites.String()))
	if err != nil {
		t.Error(err)
	}
}
