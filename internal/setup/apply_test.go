package setup_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"boon.example/examples"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/setup"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 123_456_789, time.UTC)

// chance is a source of random bytes that is the same in every run.
func chance(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

func parse(tb testing.TB, file string) *setup.File {
	tb.Helper()
	f, err := setup.ParseDemo("setup.yaml", []byte(file))
	if err != nil {
		tb.Fatalf("%v\n%s", err, file)
	}
	return f
}

func apply(tb testing.TB, w world, file string) *setup.Report {
	tb.Helper()
	return applyAt(tb, w, file, noon)
}

func applyAt(tb testing.TB, w world, file string, now time.Time) *setup.Report {
	tb.Helper()
	report, err := parse(tb, file).Apply(context.Background(), w, now, chance(byte(len(file))))
	if err != nil {
		tb.Fatalf("%v\n%s", err, file)
	}
	return report
}

// refused applies a file that cannot be applied, checks that nothing was changed, and gives the problems.
func refused(t *testing.T, w world, file string) string {
	t.Helper()
	before := directory(t, w)
	report, err := parse(t, file).Apply(t.Context(), w, noon, chance(1))
	problems, ok := errors.AsType[setup.Problems](err)
	if !ok {
		t.Fatalf("got the report %+v and the error %v", report, err)
	}
	if !reflect.DeepEqual(before, directory(t, w)) {
		t.Error("a refused file changed something")
	}
	return problems.Error()
}

// noted are the notes of a report, one a line.
func noted(r *setup.Report) string {
	var lines []string
	for _, n := range r.Notes {
		lines = append(lines, n.String())
	}
	return strings.Join(lines, "\n")
}

func directory(tb testing.TB, w world) *merchant.Directory {
	tb.Helper()
	d, err := w.Directory(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func id(tb testing.TB, s string) guid.ID {
	tb.Helper()
	parsed, err := guid.Parse(s)
	if err != nil {
		tb.Fatal(err)
	}
	return parsed
}

func wantLines(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestApplyHarborCoffee(t *testing.T) {
	t.Parallel()
	w := open(t)
	report := apply(t, w, string(examples.HarborCoffee()))
	wantLines(t, "changes", report.Changes,
		"account Harbor Coffee: added",
		"account Harbor Coffee: added location Pier 39",
		"account Harbor Coffee: added location Long Wharf",
		"account Harbor Coffee: added subscription to Business gift cards",
		"account Harbor Coffee: added subscription to Promotional gift cards",
		"account Harbor Coffee: added subscription to Distribution network",
		"account Harbor Coffee: added storefront Web shop",
		"account Harbor Coffee: added voucher design Harbor",
		"account Harbor Coffee: added voucher design Winter",
		"account Harbor Coffee: added promotion Spring",
		"account Harbor Coffee: added promotion Welcome back",
		"account Harbor Coffee: added key web shop (shop)",
		"account Harbor Coffee: added key head office (all)",
		"account Harbor Coffee: added key till (till)",
		"system: added key partner site")

	d := directory(t, w)
	pier, wharf, harbor := id(t, examples.HarborPier39), id(t, examples.HarborLongWharf), id(t, examples.HarborDesign)
	winter := id(t, examples.HarborWinterDesign)
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	want := &merchant.Account{
		ID: id(t, examples.HarborAccount), Name: "Harbor Coffee", Currency: money.Currency{Code: "USD",
			Decimals: 2}, Zone: newYork, Language: merchant.English,
		MaxGiftValue: 500_00, DefaultDesign: winter, Limits: merchant.DefaultLimits,
		Subscriptions: []merchant.Subscription{
			{ProgramID: merchant.BusinessProgram.ID, Reloadable: true}, {ProgramID: merchant.PromotionalProgram.ID},
			{ProgramID: merchant.DistributionProgram.ID, Locations: []guid.ID{pier}},
		},
		Locations: []merchant.Location{
			{ID: pier, Name: "Pier 39", Jurisdiction: "US-CA", PointOfSale: examples.HarborPier39POS, POSRedemption: true,
				DefaultDesign: harbor},
			{ID: wharf, Name: "Long Wharf", Jurisdiction: "US-MA"},
		},
		Storefronts: []merchant.Storefront{{ID: id(t, examples.HarborStorefront), Name: "Web shop"}},
		Promotions: []merchant.Promotion{
			{ID: id(t, examples.HarborSpring), Name: "Spring", ValidForDays: 30,
				Terms: "One per guest.", EligibleItems: []merchant.Item{{ID: "LATTE", Name: "Latte"}, {ID: "MOCHA",
					Name: "Mocha"}}},
			{ID: id(t, examples.HarborWelcomeBack), Name: "Welcome back", ValidForDays: 60,
				Terms: "For one visit.\nNot to be exchanged for cash."},
		},
		Designs: []merchant.Design{
			{ID: harbor, Name: "Harbor", AccentColor: "#0b5fff", Headline: "Enjoy"},
			{ID: winter, Name: "Winter", AccentColor: "#7a1f3d", Headline: "Warm wishes"},
		},
	}
	if got := d.Accounts[want.ID]; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for text, locations := range map[string][]guid.ID{examples.HarborWebShopKey: nil, examples.HarborTillKey: {pier}} {
		c, ok := d.Authenticate(text, noon)
		if !ok || c.Kind != merchant.AccountKey || c.Account.ID != want.ID || !reflect.DeepEqual(c.Locations, locations) {
			t.Errorf("%s: %+v, %v", text, c, ok)
		}
	}
	if k := d.Keys[merchant.HashKey(examples.HarborTillKey)]; k.Hint != "till" || k.Name != "till" {
		t.Errorf("of the till's key is kept %+v", k)
	}
	if c, ok := d.Authenticate(examples.HarborPartnerSiteKey, noon); !ok || c.Kind != merchant.SystemKey ||
		c.Account != nil {
		t.Errorf("the partner's key: %+v, %v", c, ok)
	}
}

func TestApplyTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	w := open(t)
	for _, file := range []string{string(examples.HarborCoffee()), string(examples.AsagaoTea())} {
		first := apply(t, w, file)
		if len(first.Changes) == 0 {
			t.Error("the first application changed nothing")
		}
		before := directory(t, w)
		again := applyAt(t, w, file, noon.AddDate(0, 1, 0))
		if len(again.Changes)+len(again.Keys)+len(again.Notes) > 0 {
			t.Errorf("the second application did %+v", again)
		}
		if !reflect.DeepEqual(before, directory(t, w)) {
			t.Error("the second application changed something")
		}
		var out bytes.Buffer
		if err := again.Print(&out); err != nil || out.String() != "Nothing to change: everything is as setup.yaml says.\n" {
			t.Errorf("it said %q, %v", out.String(), err)
		}
	}
	if n := len(directory(t, w).Accounts); n != 2 {
		t.Errorf("there are %d accounts", n)
	}
}

// Everything that a file says of an account can be changed, is changed, and is said; see also
// TestEveryFieldIsCompared.
func TestApplyChanges(t *testing.T) {
	t.Parallel()
	const before = minimal + `    language: en
    subscriptions:
      - program: 22222222-2222-2222-2222-222222222222
      - program: 33333333-3333-3333-3333-333333333333
    storefronts: [{id: 00000000-0000-4000-8000-000000000021, name: Web}]
    promotions: [{id: 00000000-0000-4000-8000-000000000031, name: Spring, eligibleItems: [A, B], terms: Once.}]
    locations:
      - {id: 00000000-0000-4000-8000-000000000011, name: Pier 38}
      - {id: 00000000-0000-4000-8000-000000000012, name: Wharf, jurisdiction: US-MA, pointOfSale: {identifier: P1}}
    voucherDesigns:
      - {id: 00000000-0000-4000-8000-000000000041, name: Harbor}
    keys: [{name: till, role: till, secret: 1234567890123456789012345678901234567890}]
`
	const after = `accounts:
  - name: Harbor Coffee & Tea
    id: 00000000-0000-4000-8000-000000000001
    timeZone: Asia/Tokyo
    language: ja
    currency: JPY
    maxGiftValue: 500
    limits: {issuedPerDay: 9000, giftsPerDay: 7}
    requireIdempotencyKey: true
    defaultVoucherDesign: 00000000-0000-4000-8000-000000000042
    subscriptions:
      - program: 22222222-2222-2222-2222-222222222222
        locations: [00000000-0000-4000-8000-000000000012, 00000000-0000-4000-8000-000000000011]
    promotions: [{id: 00000000-0000-4000-8000-000000000031, name: Spring, eligibleItems: [B, C], terms: Twice., validForDays: 3,
      validStarting: "2026-03-01T00:00:00.0000019+09:00"}]
    locations:
      - {id: 00000000-0000-4000-8000-000000000012, name: Wharf, jurisdiction: JP-13,
         pointOfSale: {identifier: P2, redemptionEnabled: true}, defaultVoucherDesign: 00000000-0000-4000-8000-000000000041}
      - {id: 00000000-0000-4000-8000-000000000011, name: Pier 39}
    voucherDesigns:
      - {id: 00000000-0000-4000-8000-000000000042, name: Winter}
      - {id: 00000000-0000-4000-8000-000000000041, name: Harbor, accentColor: "#ABCDEF", headline: Enjoy}
    keys: [{name: till, role: till, secret: 1234567890123456789012345678901234567890, locations: [00000000-0000-4000-8000-000000000011], limits: {redeemedPerDay: 5},
      networks: [203.0.113.9/24, 198.51.100.7]}]
`
	w := open(t)
	apply(t, w, before)
	report := apply(t, w, after)
	wantLines(t, "changes", report.Changes,
		"account Harbor Coffee & Tea: changed name from Harbor Coffee to Harbor Coffee & Tea",
		"account Harbor Coffee & Tea: changed currency from USD to JPY",
		"account Harbor Coffee & Tea: changed time zone from America/New_York to Asia/Tokyo",
		"account Harbor Coffee & Tea: changed language from en to ja",
		"account Harbor Coffee & Tea: changed largest gift from 10000.00 USD to 500 JPY",
		"account Harbor Coffee & Tea: changed limits from giftsPerDay 100000, messagesPerDay 20000, textsPerDay 2000, "+
			"messagesPerContactPerDay 10 "+
			"to issuedPerDay 9000 JPY, giftsPerDay 7, messagesPerDay 20000, textsPerDay 2000, messagesPerContactPerDay 10",
		"account Harbor Coffee & Tea: changed required Idempotency-Key from off to on",
		"account Harbor Coffee & Tea: changed default voucher design from none to Winter",
		"account Harbor Coffee & Tea: changed location Pier 39: name from Pier 38 to Pier 39",
		"account Harbor Coffee & Tea: changed location Wharf: jurisdiction from US-MA to JP-13",
		"account Harbor Coffee & Tea: changed location Wharf: point-of-sale identifier from P1 to P2",
		"account Harbor Coffee & Tea: changed location Wharf: point-of-sale redemption from off to on",
		"account Harbor Coffee & Tea: changed location Wharf: default voucher design from none to Harbor",
		"account Harbor Coffee & Tea: changed subscription to Business gift cards: locations from all to Pier 39 and Wharf",
		"account Harbor Coffee & Tea: changed voucher design Harbor: accent color from none to #abcdef",
		"account Harbor Coffee & Tea: changed voucher design Harbor: headline from none to Enjoy",
		"account Harbor Coffee & Tea: added voucher design Winter",
		"account Harbor Coffee & Tea: changed promotion Spring: start of validity from none to 2026-02-28T15:00:00.000001Z",
		"account Harbor Coffee & Tea: changed promotion Spring: days of validity from none to 3",
		"account Harbor Coffee & Tea: changed promotion Spring: terms",
		"account Harbor Coffee & Tea: changed promotion Spring: eligible items from A and B to B and C",
		"account Harbor Coffee & Tea: removed subscription to Promotional gift cards",
		"account Harbor Coffee & Tea: removed storefront Web",
		"account Harbor Coffee & Tea: changed key till: locations from all to Pier 39",
		"account Harbor Coffee & Tea: changed key till: limits from none to redeemedPerDay 5 JPY",
		"account Harbor Coffee & Tea: changed key till: networks from everywhere to 198.51.100.7/32 203.0.113.0/24")
	if again := apply(t, w, after); len(again.Changes) > 0 {
		t.Errorf("again: %v", again.Changes)
	}
}

func TestOrderMeansNothing(t *testing.T) {
	t.Parallel()
	file := func(a, b, itemA, itemB string) string {
		two := func(list, last, more string) string {
			member := func(n string) string {
				return "{id: 00000000-0000-4000-8000-00000000" + n + last + ", name: N" + n + more + "}"
			}
			return "    " + list + ": [" + member(a) + ", " + member(b) + "]\n"
		}
		limited := ", locations: [00000000-0000-4000-8000-00000000" + a + "11, 00000000-0000-4000-8000-00000000" + b + "11]}"
		return minimal + spoken + two("locations", "11", "") + two("storefronts", "21", "") + two("voucherDesigns", "41",
			"") +
			two("promotions", "31", ", eligibleItems: ["+itemA+", "+itemB+"]") +
			"    subscriptions: [{program: 22222222-2222-2222-2222-222222222222" + limited + "]\n" +
			"    keys: [{name: till, role: till, secret: " + oldSecret + limited + "]\n"
	}
	one, other := file("01", "02", "X", "Y"), file("02", "01", "Y", "X")
	w, v := open(t), open(t)
	apply(t, w, one)
	if report := apply(t, w, other); len(report.Changes) > 0 {
		t.Errorf("another order changed %v", report.Changes)
	}
	apply(t, v, other)
	if got, want := directory(t, v).Accounts[harborID], directory(t, w).Accounts[harborID]; !reflect.DeepEqual(got, want) {
		t.Errorf("stored %+v, in another order %+v", want, got)
	}
}

func TestApplyLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, string(examples.HarborCoffee()))
	harbor := directory(t, w).Accounts[id(t, examples.HarborAccount)]
	report := apply(t, w, minimal+"    keys: [{name: till, role: till}]\n")
	wantLines(t, "changes", report.Changes, "account Harbor Coffee: added", "account Harbor Coffee: added key till (till)")
	if got := directory(t, w).Accounts[harbor.ID]; !reflect.DeepEqual(got, harbor) {
		t.Errorf("an account that the file does not mention became %+v", got)
	}
	apply(t, w, minimal)
	if n := len(directory(t, w).Keys); n != 5 {
		t.Errorf("there are %d keys; those that a file does not mention stay", n)
	}
}

func TestApplyKeepsWhatGiftsReferTo(t *testing.T) {
	t.Parallel()
	const (
		storefront = spoken + "    storefronts: [{id: 00000000-0000-4000-8000-000000000021, name: Web}]\n"
		promotion  = "    promotions: [{id: 00000000-0000-4000-8000-000000000031, name: Spring}]\n"
		comment    = "# one more line, so that the account begins elsewhere\n"
	)
	account := guid.ID{6: 0x40, 8: 0x80, 15: 1}
	of := func(last byte) guid.ID { return guid.ID{6: 0x40, 8: 0x80, 15: last} }
	w := open(t)
	apply(t, w, minimal+locationLines+storefront+promotion+designLines)
	w.issue(gift.Gift{Voucher: gift.Voucher{AccountID: account, LocationID: of(0x11)},
		Card: gift.Card{Purchase: gift.Purchase{StorefrontID: of(0x21)}}})
	w.issue(gift.Gift{Voucher: gift.Voucher{AccountID: account, PromotionID: of(0x31)},
		Card: gift.Card{DesignID: of(0x41)}})
	for gone, file := range map[string]string{
		"The location Pier 39 (00000000-0000-4000-8000-000000000011) cannot be removed": minimal + storefront +
			promotion + designLines,
		"The storefront Web (00000000-0000-4000-8000-000000000021) cannot be removed": minimal + locationLines + spoken +
			promotion + designLines,
		"The promotion Spring (00000000-0000-4000-8000-000000000031) cannot be removed": minimal + locationLines +
			storefront + designLines,
		"The voucher design Harbor (00000000-0000-4000-8000-000000000041) cannot be removed": minimal + locationLines +
			storefront + promotion,
		"The currency cannot change from USD to EUR: this account has gifts in USD. Make a new": strings.Replace(minimal,
			"USD", "EUR", 1) + locationLines + storefront + promotion + designLines,
	} {
		said := refused(t, w, comment+file)
		if !strings.HasPrefix(said, "setup.yaml:3: accounts[0]: "+gone) || strings.Contains(said, "\n") {
			t.Errorf("want %q, got %q", gone, said)
		}
	}
	if said := refused(t, w, minimal); strings.Count(said, "\n") != 3 {
		t.Errorf("not everything was said at once: %s", said)
	}
}

func TestApplyIsAllOrNothing(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, string(examples.AsagaoTea()))
	second := strings.Replace(strings.TrimPrefix(minimal, "accounts:\n"), "000000000001", "000000000002", 1)
	said := refused(t, w, minimal+"    keys: [{name: till, role: till}]\n"+second+"    locations: [{id: "+
		"0c5e7a10-93d4-4f0b-8a6e-5b1d2c3e4f11, name: Stolen}]\n")
	if said != "setup.yaml:7: accounts[1]: The id 0c5e7a10-93d4-4f0b-8a6e-5b1d2c3e4f11 of the location Stolen is that of "+
		"a location of account あさがお茶房 already; an id names one thing only." {
		t.Error(said)
	}
	said = refused(t, w, strings.Replace(minimal, "00000000-0000-4000-8000-000000000001",
		"0c5e7a10-93d4-4f0b-8a6e-5b1d2c3e4f31", 1))
	if !strings.Contains(said, "of the account Harbor Coffee is that of a promotion of account あさがお茶房") {
		t.Error(said)
	}
}

func TestApplyMovesNoIDToAnotherKind(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, minimal+locationLines)
	said := refused(t, w, minimal+spoken+strings.Replace(locationLines, "locations", "storefronts", 1))
	if !strings.Contains(said, "of the storefront Pier 39 is that of a location of account Harbor Coffee already") {
		t.Error(said)
	}
}

// broken is a store that fails.
type broken struct{ setup.Store }

var errBroken = errors.New("the disk is on fire")

func (broken) Configure(context.Context, func(*merchant.Directory, setup.Uses) (setup.Changes, error)) error {
	return errBroken
}

func TestApplyPassesOnInternalErrors(t *testing.T) {
	t.Parallel()
	file := parse(t, minimal+"    keys: [{name: till, role: till}]\n")
	if report, err := file.Apply(t.Context(), broken{}, noon, chance(1)); !errors.Is(err, errBroken) || report != nil {
		t.Errorf("got %+v, %v", report, err)
	}
	if report, err := file.Apply(t.Context(), open(t), noon, strings.NewReader("too short")); err == nil || report != nil {
		t.Errorf("without chance: %+v, %v", report, err)
	}
}

// A promotion without terms is noted at each application: a gift of it is refused where its request gives none.
func TestAPromotionWithoutTermsIsNoted(t *testing.T) {
	t.Parallel()
	w := open(t)
	const note = "account Harbor Coffee: the promotion Spring has no terms; a gift of it is refused unless its request " +
		"gives promotionalTerms."
	for _, tt := range []struct{ terms, want string }{
		{"", note},
		{"", note},
		{", terms: One each.", ""},
	} {
		file := minimal + spoken + "    promotions: [{id: 00000000-0000-4000-8000-000000000031, name: Spring, " +
			"validForDays: 30" + tt.terms + "}]\n"
		if got := noted(apply(t, w, file)); got != tt.want {
			t.Errorf("%q: noted %q, want %q", tt.terms, got, tt.want)
		}
	}
}

// A promotion whose time is over is noted at each application: gifts by its dates are refused.
func TestAPromotionThatIsOverIsNoted(t *testing.T) {
	t.Parallel()
	w := open(t)
	file := func(starting string) string {
		return minimal + spoken + "    promotions: [{id: 00000000-0000-4000-8000-000000000031, name: Spring, " +
			"terms: One each." + starting + "}]\n"
	}
	const note = "account Harbor Coffee: the promotion Spring was over at 2026-06-01 08:00 (America/New_York); its " +
		"gifts are refused unless a request gives other dates."
	for _, tt := range []struct{ dates, want string }{
		{", validStarting: 2026-05-02T12:00:00Z, validForDays: 30", note},
		{", validStarting: 2026-05-02T12:00:00Z, validForDays: 30", note},
		{", validStarting: 2026-05-02T12:00:01Z, validForDays: 30", ""},
		{", validStarting: 2020-05-02T12:00:00Z", ""},
		{", validForDays: 30", ""},
	} {
		if got := noted(apply(t, w, file(tt.dates))); got != tt.want {
			t.Errorf("%s: noted %q, want %q", tt.dates, got, tt.want)
		}
	}
}

// Locations at which nobody may sign in, while the account has people, are noted at each application.
func TestLocationsWithoutPeopleAreNoted(t *testing.T) {
	t.Parallel()
	w := open(t)
	file := func(people string) string {
		return minimal + spoken + locationLines +
			"      - {id: 00000000-0000-4000-8000-000000000012, name: Long Wharf}\n" + people
	}
	const at = ", locations: [00000000-0000-4000-8000-000000000012]}]\n"
	const note = "account Harbor Coffee: none of its people works at Pier 39; tills there show what gifts are worth, " +
		"and do no more."
	for _, tt := range []struct{ people, want string }{
		{"", ""},
		{"    people: [{name: Ana, pin: " + quotedPIN + at, note},
		{"    people: [{name: Ana, pin: " + quotedPIN + at, note},
		{"    people: [{name: Ana, pin: " + quotedPIN + "}]\n", ""},
	} {
		if got := noted(apply(t, w, file(tt.people))); got != tt.want {
			t.Errorf("%s: noted %q, want %q", tt.people, got, tt.want)
		}
	}
}

// TestAccountsWithoutALanguage: those that version 0.1.0 stored go on, and get a language with their next file.
func TestAccountsWithoutALanguage(t *testing.T) {
	t.Parallel()
	w := open(t)
	old := &merchant.Account{ID: harborID, Name: "Harbor Coffee", Currency: money.Currency{Code: "USD", Decimals: 2},
		Zone: time.UTC, MaxGiftValue: 10000_00, Limits: merchant.DefaultLimits,
		Storefronts: []merchant.Storefront{{ID: guid.ID{6: 0x40, 8: 0x80, 15: 0x21}, Name: "Web"}}}
	err := w.Configure(t.Context(), func(*merchant.Directory, setup.Uses) (setup.Changes, error) {
		return setup.Changes{Accounts: []*merchant.Account{old}, What: "as 0.1.0 did"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, w, string(examples.AsagaoTea()))
	kept := directory(t, w).Accounts[harborID]
	if !reflect.DeepEqual(kept, old) || new(gift.Gift).Reads(kept) != merchant.English {
		t.Errorf("beside another account's file it became %+v", kept)
	}
	file := strings.Replace(minimal, "America/New_York", "UTC", 1) +
		"    storefronts: [{id: 00000000-0000-4000-8000-000000000021, name: Web}]\n"
	if _, err := setup.Parse("setup.yaml", []byte(file)); err == nil {
		t.Error("a file without a language is taken")
	}
	wantLines(t, "changes", apply(t, w, file+"    language: de\n").Changes,
		"account Harbor Coffee: changed language from none to de")
}

// TestTheLastPersonIsNotTakenAwayBySilence: a file that leaves the people out of an account that has some is
// refused, for its tills would ask for no PIN. One that says people: [] takes them away, and the report says what
// that means.
func TestTheLastPersonIsNotTakenAwayBySilence(t *testing.T) {
	t.Parallel()
	w := open(t)
	const none = minimal + locationLines
	apply(t, w, none+"    people: [{name: Ana, pin: "+quotedPIN+"}]\n")
	got := refused(t, w, none)
	if !strings.Contains(got, "takes gifts without a PIN. If that is meant, write people: [].") {
		t.Errorf("a file without people is refused with %s", got)
	}
	wantLines(t, "the report", apply(t, w, none+"    people: []\n").Changes, "account Harbor Coffee: removed person Ana",
		"account Harbor Coffee: nobody signs in at its tills any more: every till takes gifts without a PIN")
	wantLines(t, "the second report", apply(t, w, none).Changes)
}

// TestPeople: people are kept, and what changes of them is told, but never the hash of a PIN.
func TestPeople(t *testing.T) {
	t.Parallel()
	w := open(t)
	file := minimal + locationLines + "    people: [{name: Ben, pin: " + quotedPIN + "}, {name: Ana, pin: " + quotedPIN +
		", may: [reverse, cash-out], locations: [00000000-0000-4000-8000-000000000011]}]\n"
	apply(t, w, file)
	var kept []merchant.Person
	for _, a := range directory(t, w).Accounts {
		kept = a.People
	}
	pier, _ := guid.Parse("00000000-0000-4000-8000-000000000011")
	want := []merchant.Person{{Name: "Ana", PIN: somePIN, May: merchant.MayReverse | merchant.MayCashOut,
		Locations: []guid.ID{pier}},
		{Name: "Ben", PIN: somePIN}}
	if !reflect.DeepEqual(kept, want) {
		t.Errorf("kept is %+v", kept)
	}
	if again := apply(t, w, file); len(again.Changes) > 0 {
		t.Errorf("the same file changed %q", again.Changes)
	}
	changed := strings.Replace(strings.Replace(file, "NuGdjI0", "AuGdjI0", 1), "[reverse, cash-out]", "[reload]", 1)
	report := strings.Join(apply(t, w, changed).Changes, "\n")
	if report != "account Harbor Coffee: changed person Ana: permissions from reverse, cash-out to reload\n"+
		"account Harbor Coffee: changed person Ben: PIN" {
		t.Errorf("told is %s", report)
	}
	report = strings.Join(apply(t, w, minimal+locationLines+"    people: []\n").Changes, "\n")
	if !strings.Contains(report, "removed person Ana") || strings.Contains(report, "argon2") {
		t.Errorf("told is %s", report)
	}
	other := strings.NewReplacer("000000000001\n", "000000000002\n", "000000000011", "000000000012").Replace(file)
	apply(t, w, file+strings.TrimPrefix(other, "accounts:\n")) // people of one name in two accounts
}

// TestTillsAndFiles: a file leaves a till alone, and neither takes its name nor its location away.
func TestTillsAndFiles(t *testing.T) {
	t.Parallel()
	w := open(t)
	file := minimal + locationLines
	apply(t, w, file)
	account, _ := guid.Parse("00000000-0000-4000-8000-000000000001")
	pier, _ := guid.Parse("00000000-0000-4000-8000-000000000011")
	role, _ := merchant.RoleByName("till")
	q := setup.KeyRequest{Account: account, Name: "Counter 1", Locations: []guid.ID{pier}, Permissions: role, Till: true}
	k, token, err := setup.CreateKey(t.Context(), w, q, noon, chance(1))
	if err != nil || k.Till != merchant.WaitingTill || k.Hash != merchant.HashKey(token) ||
		!k.ExpiresAt.Equal(k.CreatedAt.Add(merchant.PairWithin)) {
		t.Fatalf("%+v, %v", k, err)
	}
	for name, change := range map[string]func(*setup.KeyRequest){
		"a till that sends":     func(q *setup.KeyRequest) { q.Permissions |= merchant.MaySend },
		"a till everywhere":     func(q *setup.KeyRequest) { q.Locations = nil },
		"a till of no account":  func(q *setup.KeyRequest) { q.Account = guid.ID{} },
		"a till of that name":   func(*setup.KeyRequest) {},
		"a till at two places":  func(q *setup.KeyRequest) { q.Locations = []guid.ID{pier, account} },
		"a till somewhere else": func(q *setup.KeyRequest) { q.Locations = []guid.ID{account} },
	} {
		asked := q
		if change(&asked); name != "a till of that name" {
			asked.Name = name
		}
		if _, _, err := setup.CreateKey(t.Context(), w, asked, noon, chance(2)); err == nil {
			t.Errorf("%s is made", name)
		}
	}
	if report := apply(t, w, file); len(report.Changes)+len(report.Notes) > 0 {
		t.Errorf("a file changed a till: %+v", report)
	}
	if said := refused(t, w, file+"    keys: [{name: Counter 1, role: all}]\n"); !strings.Contains(said,
		"that of a till") {
		t.Error(said)
	}
	if said := refused(t, w, minimal); !strings.Contains(said, "key Counter 1 is limited to it") {
		t.Error(said)
	}
}

// TestTextsInLanguages: they are stored, applied once, told apart, and read in the guest's language.
func TestTextsInLanguages(t *testing.T) {
	t.Parallel()
	file := func(headline, footer, terms string) string {
		return minimal + "    language: de\n" + designLines + "        headline: " + headline + "\n        footer: " +
			footer +
			"\n    promotions: [{id: 00000000-0000-4000-8000-000000000031, name: Spring, terms: " + terms + "}]\n"
	}
	w := open(t)
	whole := file("{en: Enjoy, de: Viel Freude, ja: \"Ka\u0301\"}", "{de: Danke, fr: Merci}",
		"{de: Einmal., en: ' Once. '}")
	apply(t, w, whole)
	if again := apply(t, w, whole); len(again.Changes) > 0 {
		t.Errorf("again: %v", again.Changes)
	}
	a := directory(t, w).Accounts[harborID]
	d, p := a.Designs[0], a.Promotions[0]
	if d.Headline != "Viel Freude" || d.Footer != "Danke" || p.Terms != "Einmal." ||
		!reflect.DeepEqual(d.HeadlineIn, merchant.Translations{merchant.English: "Enjoy", merchant.Japanese: "K\u00e1"}) ||
		!reflect.DeepEqual(d.FooterIn, merchant.Translations{merchant.French: "Merci"}) ||
		!reflect.DeepEqual(p.TermsIn, merchant.Translations{merchant.English: "Once."}) {
		t.Errorf("stored %+v and %+v", d, p)
	}
	wantLines(t, "changes", apply(t, w, file("{en: Have fun, de: Viel Freude}", "Danke",
		"{de: Einmal., en: Twice.}")).Changes,
		"account Harbor Coffee: changed voucher design Harbor: headline from Viel Freude (en: Enjoy) (ja: K\u00e1) to "+
			"Viel Freude (en: Have fun)",
		"account Harbor Coffee: changed voucher design Harbor: footer",
		"account Harbor Coffee: changed promotion Spring: terms")
	wantLines(t, "changes", apply(t, w, file("Viel Freude", "{de: Danke}", "{de: Einmal., en: Twice.}")).Changes,
		"account Harbor Coffee: changed voucher design Harbor: headline from Viel Freude (en: Have fun) to Viel Freude")
}

// TestGooglesIssuerIsMissing: a wallet of Google without its issuer, or with another kind of value, is told.
func TestGooglesIssuerIsMissing(t *testing.T) {
	t.Parallel()
	for _, google := range []string{"{}", "{serviceAccount: account.json}", "{issuerID: [1]}", "{issuerID: }", "[]", "x"} {
		_, err := setup.ParseBeside("shop.yaml", []byte("accounts:\n- name: Shop\n  wallet: {google: "+google+"}\n"),
			fstest.MapFS{}, nil)
		if err == nil || !strings.Contains(err.Error(), "wallet.google") {
			t.Errorf("google: %s is answered %v", google, err)
		}
	}
}
