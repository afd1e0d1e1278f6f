package setup_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/base/phrase"
	"boon.example/internal/merchant"
	"boon.example/internal/post/locale"
	"boon.example/internal/setup"
)

// minimal is a file with one account in which each line can be replaced: it is whole without any of the optional ones.
const minimal = `accounts:
  - id: 00000000-0000-4000-8000-000000000001
    name: Harbor Coffee
    currency: USD
    timeZone: America/New_York
`

// somePIN is the hash of one.
const somePIN = "$argon2id$v=19$m=19456,t=2,p=1$NuGdjI0FFSec/JdQbjvIeQ$JcSAfkgBvA1gn7Yt1QYPuYepxYUzMo7uEG71uUz2Zdg"

// quotedPIN is what a list in one line needs: a hash has commas.
const quotedPIN = `"` + somePIN + `"`

// with is the file with one more line about its account, the sixth of the file.
func with(line string) string { return minimal + "    " + line + "\n" }

const (
	spoken        = "    language: en\n"
	locationLines = `    locations:
      - id: 00000000-0000-4000-8000-000000000011
        name: Pier 39
`
	designLines = `    voucherDesigns:
      - id: 00000000-0000-4000-8000-000000000041
        name: Harbor
`
)

func TestParseTakesWhatIsRight(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"minimal":              minimal,
		"Harbor Coffee":        string(examples.HarborCoffee()),
		"Asagao Tea":           string(examples.AsagaoTea()),
		"no account":           "accounts: []\n",
		"system keys only":     "systemKeys: [{name: partner}]\n",
		"Windows time zone":    strings.Replace(minimal, "America/New_York", "Eastern Standard Time", 1),
		"JSON":                 `{"systemKeys":[{"name":"partner"}]}`,
		"Windows line ends":    strings.ReplaceAll(minimal, "\n", "\r\n"),
		"byte order mark":      "\ufeff" + minimal,
		"document marks":       "---\n" + minimal + "...\n",
		"whole amount":         with("maxGiftValue: 25"),
		"amount with decimals": with("maxGiftValue: 25.50"),
		"limits": with("limits: {issuedPerDay: 1000.50, giftsPerDay: 10, redeemedPerDay: 500, " +
			"messagesPerDay: 50000, textsPerDay: 1, messagesPerContactPerDay: 2}"),
		"limits of keys": with("keys: [{name: till, role: till, limits: {redeemedPerDay: 500}}]\nsystemKeys: " +
			"[{name: partner, limits: {giftsPerDay: 10}}]"),
		"networks of keys": with("keys: [{name: till, role: till, networks: [203.0.113.0/24, 2001:db8::/48, 198.51.100.7, " +
			"'::ffff:192.0.2.0/120']}]\nsystemKeys: [{name: partner, networks: [10.0.0.0/8]}]"),
		"people": with(`people: [{name: Ana, pin: `+quotedPIN+`, may: [reverse, reload], locations: [00000000-0000-4000-8000-000000000011]}, {name: "Ben", pin: `+
			quotedPIN+`}]`) + locationLines,
		"offset": with("promotions: [{id: 00000000-0000-4000-8000-000000000031, name: P, " +
			"validStarting: 2026-03-01T00:00:00+05:30}]\n    language: en"),
		"text that looks like other": with("storefronts: [{id: 00000000-0000-4000-8000-000000000021, name: 0042}]\n    " +
			"language: en"),
		"secret of digits": with("keys: [{name: till, role: till, secret: " +
			"1234567890123456789012345678901234567890}]"),
		"SMS to other countries": with("textCountries: [US, CA, GB, DE]"),
		"codes of other systems": with("importedCodes: [{digits: 16}, {alphanumeric: 10, fold: true, from: giftup}, " +
			"{digits: 6}]"),
		"items with names": with("promotions: [{id: 00000000-0000-4000-8000-000000000031, name: P, " +
			"eligibleItems: [A, {id: B}, {id: C, name: Latte}], ticketRequired: false}]\n    language: en"),
		"items by group and by name": with("promotions: [{id: 00000000-0000-4000-8000-000000000031, name: P, " +
			"eligibleItems: [{group: G, name: Cakes}, {group: H}, {name: Latte}, {name: Mocha}]}]\n    language: en"),
		"how tickets are read": with("locations: [{id: 00000000-0000-4000-8000-000000000012, name: B, " +
			"tickets: {toast: {itemID: plu, giftCards: [B, A, A]}, square: {}, lightspeed-x: {taxInclusive: false}, " +
			"standard: {giftCards: ['25']}}}]"),
		"texts in languages": with("language: de\n    voucherDesigns: [{id: 00000000-0000-4000-8000-000000000041, " +
			"name: D, headline: {de: Viel Freude, en: Enjoy}, footer: {de: Danke}}]"),
		"texts in languages of an account without one": with("voucherDesigns: [{id: " +
			"00000000-0000-4000-8000-000000000041, name: D, headline: {ja: いつもありがとう, en: Enjoy}}]"),
		"two keys of one name, of different owners": with("keys: [{name: till, role: till}]\nsystemKeys: [{name: till}]"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := setup.ParseDemo("setup.yaml", []byte(file)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	const key = "accounts[0].keys[0].secret"
	yen := strings.Replace(with("maxGiftValue: 10000"), "USD", "JPY", 1)
	promotion := func(line string) string {
		return minimal + "    promotions:\n      - id: 00000000-0000-4000-8000-000000000031\n        name: Spring\n        " +
			line + "\n    language: en\n"
	}
	for _, c := range []struct{ name, file, line, path, text string }{
		// YAML that is none, or more than a set-up needs.
		{"nothing", "", "", "", "empty"},
		{"only a comment", "# nothing\n", "", "", "empty"},
		{"null", "---\n", "", "", "empty"},
		{"no field", "{}\n", "", "", "empty"},
		{"not YAML", "accounts:\n\t- id: 1\n", "2", "", "This is not YAML"},
		{"open quote", "accounts: \"\n", "", "", "This is not YAML"},
		{"not UTF-8", "accounts: \xff\n", "", "", "This is not YAML"},
		{"NUL", "accounts: \x00\n", "", "", "This is not YAML"},
		{"two documents", "accounts: []\n---\naccounts: []\n", "2", "", "second YAML document"},
		{"anchor", "accounts: &a []\n", "1", "", "Anchors (&a)"},
		{"alias", "accounts: &a []\nsystemKeys: *a\n", "2", "", "Aliases (*a)"},
		{"alias in itself", "accounts: &a [*a]\n", "1", "", "Aliases (*a)"},
		{"tag", "accounts: !!set []\n", "1", "", "Tags (!!set)"},
		{"local tag on a field", "!x accounts: []\n", "1", "", "Tags (!x)"},
		{"binary", with("keys: [{name: till, role: till, secret: !!binary aGVsbG8=}]"), "6", "", "Tags (!!binary)"},
		{"merge key", with("<<: {}"), "6", "accounts[0].<<", "Merge keys"},
		{"deep list", "accounts: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "1", "", "nesting"},
		{"deeper list", "accounts: " + strings.Repeat("[", 2_000_000), "", "", "depth"},
		{"too large", "#" + strings.Repeat("x", 4<<20), "", "", "at most 4 MiB"},
		{"a list at the top", "- accounts\n", "1", "", "must be a mapping"},

		// Fields.
		{"unknown", with("nickname: H"), "6", "accounts[0].nickname", "There is no such field; there are id, name, " +
			"mode, currency"},
		{"near", with("location: []"), "6", "accounts[0].location", "did you mean locations?"},
		{"long", minimal + "    " + strings.Repeat("x", 100) + ": 1\n",
			"6", "accounts[0]." + strings.Repeat("x", 40) + "…", "no such field"},
		{"letter case", with("maxgiftvalue: 3"), "6", "accounts[0].maxgiftvalue", "did you mean maxGiftValue?"},
		{"near at the top", "acounts: []\n", "1", "acounts", "did you mean accounts?"},
		{"control characters in a field", "\"a\\e[2J\": 1\n", "1", `a\x1b[2J`, "no such field"},
		{"twice", with("name: Pier"), "6", "accounts[0].name", "stands on line 3 already"},
		{"a list for a field's name", "[accounts]: 1\n", "1", "", "plain word"},
		{"no value", with("locations:"), "6", "accounts[0].locations", "no value"},
		{"null value", with("maxGiftValue: ~"), "6", "accounts[0].maxGiftValue", "no value"},
		{"no member", "accounts:\n  -\n", "2", "accounts[0]", "no value"},
		{"a text for a list", with("locations: none"), "6", "accounts[0].locations", "must be a list, not a single value"},
		{"a text for a mapping", with("locations: [Pier]"), "6", "accounts[0].locations[0]",
			"must be a mapping of fields (id, name"},
		{"a list for a text", strings.Replace(minimal, "Harbor Coffee", "[]", 1),
			"3", "accounts[0].name", "must be a single value, not a list"},
		{"no id", strings.Replace(minimal, "- id:", "- ids:", 1), "2", "accounts[0].id", "required"},
		{"no name", strings.Replace(minimal, "    name: Harbor Coffee\n", "", 1), "2", "accounts[0].name", "required"},
		{"no currency", strings.Replace(minimal, "    currency: USD\n", "", 1), "2", "accounts[0].currency", "required"},
		{"no time zone", strings.Replace(minimal, "    timeZone: America/New_York\n", "", 1), "2", "accounts[0].timeZone",
			"required"},
		{"no key name", with("keys:\n      - {role: all}"), "7", "accounts[0].keys[0].name", "required"},

		// Values.
		{"short GUID", strings.Replace(minimal, "000000000001", "1", 1), "2", "accounts[0].id", "not an id such as"},
		{"zero GUID", strings.Replace(minimal, "00000000-0000-4000-8000-000000000001", "00000000-0000-0000-0000-000000000000",
			1),
			"2", "accounts[0].id", "not an id such as"},
		{"unknown currency", strings.Replace(minimal, "USD", "USX", 1), "4", "accounts[0].currency", "KWD."},
		{"lower-case currency", strings.Replace(minimal, "USD", "usd", 1), "4", "accounts[0].currency",
			"; did you mean USD?"},
		{"a city for a zone", strings.Replace(minimal, "timeZone: America/New_York", "timeZone: Berlin", 1), "5",
			"accounts[0].timeZone", "did you mean Europe/Berlin?"},
		{"unknown zone", strings.Replace(minimal, "New_York", "New_Amsterdam", 1), "5", "accounts[0].timeZone",
			"not a time zone"},
		{"zone of the machine", strings.Replace(minimal, "America/New_York", "Local", 1), "5", "accounts[0].timeZone",
			"not a time zone"},
		{"zone outside", strings.Replace(minimal, "America/New_York", "../../../etc/localtime", 1),
			"5", "accounts[0].timeZone", "not a time zone"},
		{"no language beside a storefront", with("storefronts: [{id: 00000000-0000-4000-8000-000000000021, name: Web}]"),
			"2", "accounts[0].language", "Write language: en (English), de (German), fr (French), es (Spanish) or ja " +
				"(Japanese)."},
		{"no language beside a promotion", with("promotions: [{id: 00000000-0000-4000-8000-000000000031, name: P}]"),
			"2", "accounts[0].language", "say in which language guests"},
		{"no form of codes", with("importedCodes: []"), "6", "accounts[0].importedCodes", "declares nothing"},
		{"a form without a length", with("importedCodes: [{from: toast}]"), "6", "accounts[0].importedCodes[0]",
			"Say how many characters"},
		{"a form of two kinds", with("importedCodes: [{digits: 16, alphanumeric: 16}]"), "6", "accounts[0].importedCodes[0]",
			"either as digits or as alphanumeric"},
		{"codes that are too short", with("importedCodes: [{digits: 4}]"), "6", "accounts[0].importedCodes[0].digits",
			"5 to 32"},
		{"codes that are too long", with("importedCodes: [{alphanumeric: 33}]"), "6",
			"accounts[0].importedCodes[0].alphanumeric", "5 to 32"},
		{"digits that are folded", with("importedCodes: [{digits: 16, fold: true}]"), "6",
			"accounts[0].importedCodes[0].fold", "leave it out"},
		{"two forms of one length", with("importedCodes: [{digits: 16}, {alphanumeric: 16}]"), "6",
			"accounts[0].importedCodes[1]", "has 16 characters too"},
		{"codes of an unknown system", with("importedCodes: [{digits: 16, from: ledgerly}]"), "6",
			"accounts[0].importedCodes[0].from", "square, shopify"},
		{"a language that is none of ours", with("language: pt"), "6", "accounts[0].language", "de (German)"},
		{"a language with a country", with("language: de-AT"), "6", "accounts[0].language", "de (German)"},
		{"a language in other letters", with("language: DE"), "6", "accounts[0].language", "de (German)"},
		{"a language without a value", with("language:"), "6", "accounts[0].language", "no value"},
		{"languages", with("language: [en, de]"), "6", "accounts[0].language", "not a list"},
		{"empty name", strings.Replace(minimal, "Harbor Coffee", `""`, 1), "3", "accounts[0].name", "must not be empty"},
		{"spaces about a name", strings.Replace(minimal, "Harbor Coffee", `"Harbor "`, 1), "3", "accounts[0].name", "space"},
		{"long name", strings.Replace(minimal, "Harbor Coffee", strings.Repeat("é", 201), 1),
			"3", "accounts[0].name", "at most 200 characters"},
		{"line break in a name", strings.Replace(minimal, "Harbor Coffee", `"Harbor\nCoffee"`, 1),
			"3", "accounts[0].name", "control character"},
		{"escape in a name", strings.Replace(minimal, "Harbor Coffee", `"\e[31mHarbor"`, 1), "3", "accounts[0].name",
			"control character"},
		{"SMS to nowhere", with("textCountries: []"), "6", "accounts[0].textCountries", "nobody gets SMS"},
		{"SMS to no country", with("textCountries: [US, usa]"), "6", "accounts[0].textCountries[1]",
			"not the ISO 3166-1 code"},
		{"SMS to a country twice", with("textCountries: [US, US]"), "6", "accounts[0].textCountries[1]", "already"},
		{"no limit in yen", strings.Replace(minimal, "USD", "JPY", 1), "4", "accounts[0].maxGiftValue", "JPY has no default"},
		{"limit of 0", with("maxGiftValue: 0"), "6", "accounts[0].maxGiftValue", "must be above zero"},
		{"limit below 0", with("maxGiftValue: -5"), "6", "accounts[0].maxGiftValue", "must be above zero"},
		{"limit too fine", with("maxGiftValue: 25.001"), "6", "accounts[0].maxGiftValue", "at most 2 decimals"},
		{"limit too fine for yen", strings.Replace(minimal, "USD", "JPY", 1) + "    maxGiftValue: 0.5\n",
			"6", "accounts[0].maxGiftValue", "at most 0 decimals"},
		{"limit too large", with("maxGiftValue: 1e400"), "6", "accounts[0].maxGiftValue", "is too large"},
		{"limit with a comma", with("maxGiftValue: 10,000"), "6", "accounts[0].maxGiftValue", "write it without commas"},
		{"limit with underscore", with("maxGiftValue: 10_000"), "6", "accounts[0].maxGiftValue", "not a decimal number"},
		{"hexadecimal limit", with("maxGiftValue: 0x10"), "6", "accounts[0].maxGiftValue", "not a decimal number"},
		{"infinite limit", with("maxGiftValue: .inf"), "6", "accounts[0].maxGiftValue", "not a decimal number"},
		{"limit in quotes", with("maxGiftValue: \"25\""), "6", "accounts[0].maxGiftValue", "without quotes"},
		{"limit of no gifts", with("limits: {giftsPerDay: 0}"), "6", "accounts[0].limits.giftsPerDay",
			"a whole number from 1 to"},
		{"half a message", with("limits: {messagesPerDay: 1.5}"), "6", "accounts[0].limits.messagesPerDay",
			"a whole number from 1 to"},
		{"texts in quotes", with("limits: {textsPerDay: '5'}"), "6", "accounts[0].limits.textsPerDay", "without quotes"},
		{"money too fine", with("limits: {issuedPerDay: 1.001}"), "6", "accounts[0].limits.issuedPerDay",
			"at most 2 decimals"},
		{"no money", with("limits: {redeemedPerDay: 0}"), "6", "accounts[0].limits.redeemedPerDay", "must be above zero"},
		{"a limit that there is not", with("limits: {giftPerDay: 5}"), "6", "accounts[0].limits.giftPerDay",
			"did you mean giftsPerDay?"},
		{"no networks", "systemKeys: [{name: partner, networks: []}]\n", "1", "systemKeys[0].networks", "means nowhere"},
		{"all networks", "systemKeys: [{name: partner, networks: [0.0.0.0/0]}]\n", "1", "systemKeys[0].networks[0]",
			"every address there is"},
		{"all networks of IPv6", "systemKeys: [{name: partner, networks: ['::/0']}]\n", "1", "systemKeys[0].networks[0]",
			"every address there is"},
		{"all IPv4 networks as IPv6", "systemKeys: [{name: partner, networks: ['::ffff:0.0.0.0/96']}]\n", "1",
			"systemKeys[0].networks[0]", "every address there is"},
		{"a name for a network", "systemKeys: [{name: partner, networks: [office.example]}]\n", "1",
			"systemKeys[0].networks[0]", "not a network such as"},
		{"a zone", "systemKeys: [{name: partner, networks: ['fe80::1%eth0']}]\n", "1", "systemKeys[0].networks[0]",
			"not a network such as"},
		{"too long a prefix", "systemKeys: [{name: partner, networks: [203.0.113.0/33]}]\n", "1",
			"systemKeys[0].networks[0]", "not a network such as"},
		{"a network twice", "systemKeys: [{name: partner, networks: [203.0.113.0/24, 203.0.113.9/24]}]\n", "1",
			"systemKeys[0].networks[1]", "in the list on line 1 already"},
		{"a network that is a list", "systemKeys: [{name: partner, networks: [[]]}]\n", "1", "systemKeys[0].networks[0]",
			"not a list"},
		{"networks that are none", "systemKeys: [{name: partner, networks: 203.0.113.0/24}]\n", "1",
			"systemKeys[0].networks", "list"},
		{"limits that are none", with("limits: 5"), "6", "accounts[0].limits", ""},
		{"limits of yen that are none", yen + "    limits: []\n", "7", "accounts[0].limits", "not a list"},
		{"a limit of yen without a value", yen + "    limits: {issuedPerDay: }\n", "7", "accounts[0].limits.issuedPerDay",
			"has no value"},
		{"limits of a system key that are none", "systemKeys: [{name: partner, limits: ''}]\n", "1", "systemKeys[0].limits",
			"not a single value"},
		{"a limit of a system key without a value", "systemKeys: [{name: partner, limits: {issuedPerDay: }}]\n", "1",
			"systemKeys[0].limits.issuedPerDay", "has no value"},
		{"money of a system key", "systemKeys: [{name: partner, limits: {issuedPerDay: 5}}]\n", "1",
			"systemKeys[0].limits.issuedPerDay", "several currencies"},
		{"switch in words", with("requireIdempotencyKey: yes"), "6", "accounts[0].requireIdempotencyKey", "true or false"},
		{"switch in quotes", with("requireIdempotencyKey: 'true'"), "6", "accounts[0].requireIdempotencyKey",
			"true or false"},
		{"date without zone", promotion("validStarting: 2026-03-01T00:00:00"),
			"9", "accounts[0].promotions[0].validStarting", "with Z or an offset"},
		{"date without time", promotion("validStarting: 2026-03-01"),
			"9", "accounts[0].promotions[0].validStarting", "with Z or an offset"},
		{"day that does not exist", promotion("validStarting: 2026-02-30T00:00:00Z"),
			"9", "accounts[0].promotions[0].validStarting", "not a date"},
		{"year that was meant otherwise", promotion("validStarting: 0226-03-01T00:00:00Z"),
			"9", "accounts[0].promotions[0].validStarting", "from 2000 to 2999"},
		{"no day", promotion("validForDays: 0"), "9", "accounts[0].promotions[0].validForDays", "from 1 to 3650"},
		{"too many days", promotion("validForDays: 3651"), "9", "accounts[0].promotions[0].validForDays", "from 1 to 3650"},
		{"half a day", promotion("validForDays: 1.0"), "9", "accounts[0].promotions[0].validForDays", "whole number"},
		{"octal days", promotion("validForDays: 030"), "9", "accounts[0].promotions[0].validForDays", "whole number"},
		{"empty terms", promotion("terms: ' '"), "9", "accounts[0].promotions[0].terms", "must not be empty"},
		{"long terms", promotion("terms: " + strings.Repeat("x", 4001)), "9", "accounts[0].promotions[0].terms",
			"at most 4000"},
		{"escape in terms", promotion(`terms: "a\x00b"`), "9", "accounts[0].promotions[0].terms", "control character"},
		{"nothing eligible", promotion("eligibleItems: []"), "9", "accounts[0].promotions[0].eligibleItems",
			"nothing is eligible"},
		{"item twice", promotion("eligibleItems: [A, B, A]"), "9", "accounts[0].promotions[0].eligibleItems[2]", "already"},
		{"item that is a list", promotion("eligibleItems: [[A]]"), "9", "accounts[0].promotions[0].eligibleItems[0]",
			"not a list"},
		{"item twice, named", promotion("eligibleItems: [A, {id: A, name: Latte}]"), "9",
			"accounts[0].promotions[0].eligibleItems[1]", "already"},
		{"item of nothing", promotion("eligibleItems: [{}]"), "9",
			"accounts[0].promotions[0].eligibleItems[0]", "needs an id, a group or a name"},
		{"item with an id and a group", promotion("eligibleItems: [{id: A, group: G}]"), "9",
			"accounts[0].promotions[0].eligibleItems[0].group", "not both"},
		{"group twice", promotion("eligibleItems: [{group: G}, {group: G, name: Cakes}]"), "9",
			"accounts[0].promotions[0].eligibleItems[1]", "already"},
		{"name twice", promotion("eligibleItems: [{name: Latte}, {name: Latte}]"), "9",
			"accounts[0].promotions[0].eligibleItems[1]", "already"},
		{"tickets of no format", with("locations: [{id: 00000000-0000-4000-8000-000000000012, name: B, " +
			"tickets: {Toast: {}}}]"), "6", "accounts[0].locations[0].tickets.Toast", "toast"},
		{"tickets with a gift card of no id", with("locations: [{id: 00000000-0000-4000-8000-000000000012, name: B, " +
			"tickets: {toast: {giftCards: [{id: A}]}}}]"), "6", "accounts[0].locations[0].tickets.toast.giftCards[0]",
			"the id of an item"},
		{"standard tickets by a member", with("locations: [{id: 00000000-0000-4000-8000-000000000012, name: B, " +
			"tickets: {standard: {itemID: sku}}}]"), "6", "accounts[0].locations[0].tickets.standard.itemID", "field"},
		{"tickets by another's member", with("locations: [{id: 00000000-0000-4000-8000-000000000012, name: B, " +
			"tickets: {toast: {itemID: sku}}}]"), "6", "accounts[0].locations[0].tickets.toast.itemID", "one of item.guid"},
		{"tickets with tax elsewhere", with("locations: [{id: 00000000-0000-4000-8000-000000000012, name: B, " +
			"tickets: {toast: {taxInclusive: true}}}]"), "6", "accounts[0].locations[0].tickets.toast.taxInclusive", "field"},
		{"item with an empty name", promotion("eligibleItems: [{id: A, name: ''}]"), "9",
			"accounts[0].promotions[0].eligibleItems[0].name", "must not be empty"},
		{"too many items", promotion("eligibleItems: [" + strings.Repeat("A, ", merchant.MaxItems) + "A]"), "9",
			"accounts[0].promotions[0].eligibleItems", "at most 200"},
		{"a ticket for nothing", promotion("ticketRequired: true"), "9", "accounts[0].promotions[0].ticketRequired",
			"without eligibleItems"},
		{"a ticket, perhaps", promotion("ticketRequired: maybe\n        eligibleItems: [A]"), "9",
			"accounts[0].promotions[0].ticketRequired", "true or false"},
		{"terms in no language", promotion("terms: {}"), "9", "accounts[0].promotions[0].terms", "Write this in en too"},
		{"terms without the account's language", promotion("terms: {de: Einmal.}"), "9", "accounts[0].promotions[0].terms",
			"Write this in en too: it is the account's language"},
		{"terms in a language by its name", promotion("terms: {en: Once., germna: Einmal.}"), "9",
			"accounts[0].promotions[0].terms.germna", "There is no such field; there are en, de, fr, es, ja."},
		{"terms in a language in other letters", promotion("terms: {en: Once., DE: Einmal.}"), "9",
			"accounts[0].promotions[0].terms.DE", "did you mean de?"},
		{"terms in a language of a country", promotion("terms: {en: Once., de-AT: Einmal.}"), "9",
			"accounts[0].promotions[0].terms.de-AT", "there are en, de, fr, es, ja."},
		{"terms in a language that is none of ours", promotion("terms: {en: Once., pt: Uma vez.}"), "9",
			"accounts[0].promotions[0].terms.pt", "There is no such field"},
		{"terms in a language twice", promotion("terms: {en: Once., de: Einmal., de: Nochmal.}"), "9",
			"accounts[0].promotions[0].terms.de", "on line 9 already"},
		{"terms in a language without a value", promotion("terms: {en: Once., de: }"), "9",
			"accounts[0].promotions[0].terms.de", "no value"},
		{"terms in languages of a language", promotion("terms: {en: {en: Once.}}"), "9",
			"accounts[0].promotions[0].terms.en", "must be a single value"},
		{"a list of terms", promotion("terms: [Once.]"), "9", "accounts[0].promotions[0].terms", "not a list"},
		{"empty terms in a language", promotion("terms: {en: Once., de: ' '}"), "9",
			"accounts[0].promotions[0].terms.de", "must not be empty"},
		{"long terms in a language", promotion("terms: {en: Once., de: " + strings.Repeat("x", 4001) + "}"), "9",
			"accounts[0].promotions[0].terms.de", "at most 4000"},
		{"escape in terms in a language", promotion(`terms: {en: Once., de: "a\x00b"}`), "9",
			"accounts[0].promotions[0].terms.de", "control character"},
		{"long headline in a language", minimal + designLines + "        headline: {en: A, de: " +
			strings.Repeat("x", 201) + "}\n", "9", "accounts[0].voucherDesigns[0].headline.de", "at most 200"},
		{"line break in a headline in a language", minimal + designLines + "        headline: {en: A, de: \"B\\nC\"}\n",
			"9", "accounts[0].voucherDesigns[0].headline.de", "control character"},
		{"long footer in a language", minimal + designLines + "        footer: {en: A, de: " + strings.Repeat("x", 1001) +
			"}\n", "9", "accounts[0].voucherDesigns[0].footer.de", "at most 1000"},
		{"headline without the account's language", minimal + designLines + "        headline: {en: A}\n    language: ja\n",
			"9", "accounts[0].voucherDesigns[0].headline", "Write this in ja too"},
		{"color by name", minimal + designLines + "        accentColor: blue\n",
			"9", "accounts[0].voucherDesigns[0].accentColor", "color of the form"},
		{"color without quotes", minimal + designLines + "        accentColor: #0b5fff\n",
			"9", "accounts[0].voucherDesigns[0].accentColor", "no value"},
		{"jurisdiction by name", minimal + locationLines + "        jurisdiction: California\n",
			"9", "accounts[0].locations[0].jurisdiction", "ISO 3166"},
		{"lower-case jurisdiction", minimal + locationLines + "        jurisdiction: us-ca\n",
			"9", "accounts[0].locations[0].jurisdiction", "ISO 3166"},
		{"short secret", with("keys: [{name: till, role: till, secret: 1234567890123456789012345678901}]"), "6", key,
			"32 to 255 characters; this one has 31"},
		{"secret of digits", with("keys: [{name: till, role: till, secret: 12345678901234567890123456789012}]"), "6", key,
			"could be guessed"},
		{"published secret", with("keys: [{name: till, role: till, secret: boon_test_demo_only_harbor_coffee_till}]"), "6",
			key, "published with Boon's examples"},
		{"long secret", minimal + "    keys: [{name: till, role: till, secret: " + strings.Repeat("s", 256) + "}]\n", "6",
			key, "this one has 256"},
		{"space in a secret", with("keys: [{name: till, role: till, secret: 1234567890 12345678901234567890123456789}]"), "6",
			key, "without spaces"},
		{"secret beyond ASCII", with("keys: [{name: till, role: till, secret: é12345678901234567890123456789012}]"), "6", key,
			"printable ASCII"},

		// Contradictions.
		{"id twice", with("storefronts: [{id: 00000000-0000-4000-8000-000000000001, name: Web}]\n    language: en"),
			"6", "accounts[0].storefronts[0].id", "is used on line 2 already"},
		{"id twice in another case",
			with("locations:\n      - {id: 0000000a-0000-4000-8000-000000000011, name: A}\n      - {id: " +
				"0000000A-0000-4000-8000-000000000011, name: B}"),
			"8", "accounts[0].locations[1].id", "is used on line 7 already"},
		{"default design of nobody", minimal + designLines +
			"    defaultVoucherDesign: 00000000-0000-4000-8000-000000000042\n",
			"9", "accounts[0].defaultVoucherDesign", "no such design"},
		{"location's default design of nobody",
			minimal + locationLines + "        defaultVoucherDesign: 00000000-0000-4000-8000-000000000042\n",
			"9", "accounts[0].locations[0].defaultVoucherDesign", "no such design"},
		{"no identifier", minimal + locationLines + "        pointOfSale: {redemptionEnabled: true}\n",
			"9", "accounts[0].locations[0].pointOfSale.identifier", "required"},
		{"identifier twice",
			minimal + locationLines + "        pointOfSale: {identifier: A}\n      - id: " +
				"00000000-0000-4000-8000-000000000012\n        name: B\n        pointOfSale: {identifier: A}\n",
			"12", "accounts[0].locations[1].pointOfSale.identifier", "location on line 9"},
		{"program of nobody", with("subscriptions:\n      - program: 44444444-4444-4444-4444-444444444444"),
			"7", "accounts[0].subscriptions[0].program", "no such program. The programs are 22222222-"},
		{"program twice",
			with("subscriptions:\n      - program: 22222222-2222-2222-2222-222222222222\n      - program: " +
				"22222222-2222-2222-2222-222222222222"),
			"8", "accounts[0].subscriptions[1].program", "on line 7 already"},
		{"subscription of a foreign location",
			with("subscriptions:\n      - program: 22222222-2222-2222-2222-222222222222\n        locations: " +
				"[00000000-0000-4000-8000-000000000011]"),
			"8", "accounts[0].subscriptions[0].locations[0]", "no such location"},
		{"key name twice", with("keys:\n      - {name: till, role: all}\n      - {name: till, role: all}"), "8",
			"accounts[0].keys[1].name", "on line 7 already"},
		{"key of a foreign location", with("keys: [{name: till, role: till, locations: " +
			"[00000000-0000-4000-8000-000000000011]}]"),
			"6", "accounts[0].keys[0].locations[0]", "no such location"},
		{"subscription of no location",
			with("subscriptions: [{program: 22222222-2222-2222-2222-222222222222, locations: []}]"),
			"6", "accounts[0].subscriptions[0].locations", "means nowhere"},
		{"reloadable promotions",
			with("subscriptions: [{program: 33333333-3333-3333-3333-333333333333, reloadable: true}]"),
			"6", "accounts[0].subscriptions[0].reloadable", "Promotional gifts cannot be reloaded"},
		{"perhaps reloadable",
			with("subscriptions: [{program: 22222222-2222-2222-2222-222222222222, reloadable: perhaps}]"),
			"6", "accounts[0].subscriptions[0].reloadable", "true or false"},
		{"a PIN itself", with("people: [{name: Ana, pin: 4711}]"), "6", "accounts[0].people[0].pin", "never the PIN itself"},
		{"a hash that costs much", with("people: [{name: Ana, pin: " + strings.Replace(quotedPIN, "m=19456", "m=999999", 1) +
			"}]"), "6", "accounts[0].people[0].pin", "boon till pin"},
		{"a person who may send", with("people: [{name: Ana, pin: " + quotedPIN + ", may: [send]}]"),
			"6", "accounts[0].people[0].may[0]", "may be given reverse, activate, reload, cash-out"},
		{"two people of one name", with("people: [{name: Ana, pin: " + quotedPIN + "}, {name: Ana, pin: " + quotedPIN + "}]"),
			"6", "accounts[0].people[1].name", "on line 6 already"},
		{"a person nowhere", with("people: [{name: Ana, pin: " + quotedPIN + ", locations: []}]"),
			"6", "accounts[0].people[0].locations", "means nowhere"},
		{"a day that ends in the afternoon", with(`locations: [{id: 00000000-0000-4000-8000-000000000011, name: P, dayEnds: "14:00"}]`),
			"6", "accounts[0].locations[0].dayEnds", "before noon"},
		{"a person of no role", with("people: [{name: Ana, role: boss}]"), "6", "accounts[0].people[0].role",
			"till, shop, office, desk, manager, bookkeeper, platform, owner, all"},
		{"a person with a role and permissions", with("people: [{name: Ana, role: desk, may: [reload]}]"), "6",
			"accounts[0].people[0].role", "not both"},
		{"a person without a name", with("people: [{role: desk}]"), "6", "accounts[0].people[0].name", "required"},
		{"key of a list of locations", with("keys: [{name: till, role: till, locations: [[a]]}]"),
			"6", "accounts[0].keys[0].locations[0]", "not a list"},
		{"key of a location by name", with("keys: [{name: till, role: till, locations: [Pier 39]}]"),
			"6", "accounts[0].keys[0].locations[0]", "not an id such as"},
		{"key of no location", with("keys: [{name: till, role: till, locations: []}]"), "6", "accounts[0].keys[0].locations",
			"means nowhere"},
		{"key of a location twice",
			minimal + locationLines + "    keys: [{name: till, role: till, locations: [00000000-0000-4000-8000-000000000011, " +
				"00000000-0000-4000-8000-000000000011]}]\n",
			"9", "accounts[0].keys[0].locations[1]", "already"},
		{"key that may nothing", with("keys:\n      - name: till"), "7", "accounts[0].keys[0].role",
			"Say what the key may do: give it a role (till, shop, office, desk, manager, bookkeeper, platform, owner, all)"},
		{"role and permissions", with("keys:\n      - name: till\n        role: till\n        permissions: [send]"), "9",
			"accounts[0].keys[0].permissions",
			"has a role on line 8 already"},
		{"unknown role", with("keys: [{name: till, role: cook}]"), "6", "accounts[0].keys[0].role",
			"no such role; there are till, shop, office, desk, manager, bookkeeper, platform, owner, all."},
		{"misspelt permission", with("keys: [{name: till, permissions: [redeem, lookup]}]"), "6",
			"accounts[0].keys[0].permissions[1]", "did you mean look-up?"},
		{"unknown permission", with("keys: [{name: till, permissions: [all]}]"), "6", "accounts[0].keys[0].permissions[0]",
			"no such permission; there are validate,"},
		{"end without an offset", with("keys: [{name: till, role: till, expires: 2027-01-31T00:00:00}]"), "6",
			"accounts[0].keys[0].expires", "with Z or an offset"},
		{"system key of no account", "systemKeys: [{name: partner, accounts: []}]\n", "1", "systemKeys[0].accounts",
			"An empty list means none"},
		{"system key of an unknown program", "systemKeys: [{name: partner, programs: " +
			"[00000000-0000-4000-8000-000000000011]}]\n", "1",
			"systemKeys[0].programs[0]", "There is no program"},
		{"system key with a role", "systemKeys: [{name: partner, role: all}]\n", "1", "systemKeys[0].role", "no such field"},
		{"permission twice", with("keys: [{name: till, permissions: [redeem, redeem]}]"), "6",
			"accounts[0].keys[0].permissions[1]", "in the list already"},
		{"permission of a list", with("keys: [{name: till, permissions: [[redeem]]}]"), "6",
			"accounts[0].keys[0].permissions[0]", "not a list"},
		{"no permissions", with("keys: [{name: till, permissions: []}]"), "6", "accounts[0].keys[0].permissions",
			"permits nothing"},
		{"role of a list", with("keys: [{name: till, role: [till]}]"), "6", "accounts[0].keys[0].role",
			"must be a single value"},
		{"role without a value", with("keys: [{name: till, role: }]"), "6", "accounts[0].keys[0].role", "has no value"},
		{"secret twice",
			with("keys: [{name: till, role: till, secret: 1234567890123456789012345678901234567890}]\nsystemKeys: [{name: " +
				"partner, secret: 1234567890123456789012345678901234567890}]"),
			"7", "systemKeys[0].secret", "key on line 6"},
		{"system key with locations", "systemKeys: [{name: partner, locations: []}]\n", "1", "systemKeys[0].locations",
			"no such field"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := setup.Parse("setup.yaml", []byte(c.file))
			problems, ok := errors.AsType[setup.Problems](err)
			if !ok {
				t.Fatalf("got the error %v", err)
			}
			for _, p := range problems {
				wantTranslated(t, p.Said)
				if (c.line == "" || c.line == fmt.Sprint(p.Line)) && p.Path == c.path &&
					strings.Contains(p.Said.Error(), c.text) {
					if len(problems) > 1 && c.name != "alias" && c.name != "alias in itself" && c.name != "no id" {
						t.Errorf("more is said than is wrong:\n%s", problems)
					}
					return
				}
			}
			t.Errorf("want line %q, path %q, text with %q; got\n%.2000s", c.line, c.path, c.text, problems)
		})
	}
}

// ofFilesOnly begin what is said in English alone: only whoever writes a file can do that wrong.
var ofFilesOnly = []string{"This is not YAML", "Aliases (", "Anchors (", "Tags (", "Merge keys (",
	"A second YAML document",
	"The file is empty", "The nesting is deeper", "The name of a field must be a plain word", "This field stands on line",
	"This must be the path of a", "The picture ", "Pictures are read from beside", "The file ", "A set-up file may have"}

// inEnglish are words that neither German nor Spanish has.
var inEnglish = regexp.MustCompile(`(?i)\b(the|and|of|is|are|this|that|with|from|which|you|by|not|has|must|there)\b`)

// wantTranslated demands that a sentence is said in each language, as far as the rules and not the values say it.
func wantTranslated(t *testing.T, said *phrase.Phrase) {
	t.Helper()
	english := said.Error()
	if slices.ContainsFunc(ofFilesOnly, func(begin string) bool { return strings.HasPrefix(english, begin) }) {
		return
	}
	for _, l := range []merchant.Language{merchant.German, merchant.Spanish} {
		if told := said.In(locale.Words(l)); told == english || inEnglish.MatchString(told) {
			t.Errorf("%q is told in %s: %s", english, l, told)
		}
	}
}

func TestParseTellsEverythingAtOnce(t *testing.T) {
	t.Parallel()
	const file = `accounts:
  - name: Harbor Coffee
    currency: DOLLAR
    timeZone: America/New_York
    locations:
      - id: 00000000-0000-4000-8000-000000000011
        nmae: Pier 39
    keys:
      - name: till
        role: tall
        secret: too short to be a secret
`
	const want = `setup.yaml:2: accounts[0].id: This field is required; boon id --into setup.yaml writes every id that is missing.
setup.yaml:3: accounts[0].currency: This is not an ISO 4217 currency code in use, such as USD, EUR, JPY or KWD; did you mean USD?
setup.yaml:6: accounts[0].locations[0].name: This field is required.
setup.yaml:7: accounts[0].locations[0].nmae: There is no such field; did you mean name?
setup.yaml:10: accounts[0].keys[0].role: There is no such role; did you mean till?
setup.yaml:11: accounts[0].keys[0].secret: A secret is made of printable ASCII characters without spaces.`
	_, err := setup.Parse("setup.yaml", []byte(file))
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestParseNeverShowsASecret(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"short-secret-value", strings.Repeat("secret-value-", 30), "[secret-value]",
		"{secret-value: 1}", "secret-value\x00"} {
		_, err := setup.Parse("setup.yaml", []byte(minimal+"    keys: [{name: till, role: till, secret: "+secret+"}]\n"))
		if err == nil || strings.Contains(strings.ReplaceAll(err.Error(), " ", ""), "secret-value") {
			t.Errorf("%s: %v", secret, err)
		}
	}
}

func TestParseIsBounded(t *testing.T) {
	t.Parallel()
	_, err := setup.Parse("setup.yaml", []byte("accounts:\n"+strings.Repeat("- 1\n", 100_000)))
	problems, ok := errors.AsType[setup.Problems](err)
	if !ok || len(problems) != 501 {
		t.Fatalf("got %d problems", len(problems))
	}
	if last := problems[500].String(); last != "setup.yaml: There are 100000 problems in all; these are the first 500." {
		t.Error(last)
	}
	lines := slices.IsSortedFunc(problems[:500], func(a, b setup.Problem) int { return a.Line - b.Line })
	if !lines {
		t.Error("not in the order of the lines")
	}
}
