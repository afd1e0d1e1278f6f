package card

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/locale"
)

var newYork = mustZone("America/New_York")

func mustZone(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return zone
}

func day(d int) time.Time { return time.Date(2026, 3, d, 14, 0, 0, 0, time.UTC) }

func account() *merchant.Account {
	return &merchant.Account{
		ID: guid.ID{1}, Name: "Harbor Coffee", Currency: money.Currency{Code: "USD", Decimals: 2}, Zone: newYork,
		Locations: []merchant.Location{{ID: guid.ID{2}, Name: "Pier 39"}, {ID: guid.ID{3}, Name: "Ferry Building"}},
		Designs: []merchant.Design{{ID: guid.ID{4}, AccentColor: "#ffcc00", Headline: "Enjoy"},
			{ID: guid.ID{5}, AccentColor: "url(x)"}},
	}
}

func delivered() *gift.Gift {
	return &gift.Gift{
		Voucher: gift.Voucher{
			AccountID: guid.ID{1}, Currency: money.Currency{Code: "USD", Decimals: 2}, Funded: 2500, Balance: 2500,
			Status: gift.Delivered,
		},
		Card: gift.Card{Sender: "Ben", Recipient: "Anna", Message: "Hi\r\n\r\nyou\n", DeliveryZone: "Europe/Berlin"},
	}
}

// TestTheMarkOfATest: in every language, what is seen of a test account's gift says that it is one.
func TestTheMarkOfATest(t *testing.T) {
	t.Parallel()
	a := account()
	if v := New(delivered(), a, day(10)); v.Test != "" || strings.Contains(v.Merchant, TestMark) {
		t.Errorf("a live gift says %q, %q", v.Merchant, v.Test)
	}
	a.Test = true
	for _, l := range merchant.Languages() {
		v := In(locale.For(l), delivered(), a, day(10))
		if v.Test == "" || !strings.HasPrefix(v.Merchant, "TEST ") || strings.Contains(v.OnMap[0].Map, "TEST") {
			t.Errorf("%s: %q, %q, %+v", l, v.Merchant, v.Test, v.OnMap[0])
		}
	}
}

// TestUnsold: the page of a card that was not sold shows nothing that it could be taken for; the card itself says what
// it is going to be worth.
func TestUnsold(t *testing.T) {
	t.Parallel()
	g := delivered()
	g.Status, g.Funded, g.Balance, g.Fixed, g.Verification = gift.NotActivated, 0, 0, 2500, "0471"
	if v := New(g, account(), day(10)); v.Amount().Number != "$0.00" || v.Second != "" || v.Shown() || v.Over() {
		t.Errorf("the page shows %+v", v)
	}
	if v := Blank(locale.For(merchant.English), g, account(), day(10)); v.Amount().Number != "$25.00" ||
		v.Second != "0471" ||
		!v.Shown() ||
		v.Notice != "" {
		t.Errorf("in print it shows %+v", v)
	}
	g.Fixed = 0
	if v := Blank(locale.For(merchant.English), g, account(), day(10)); v.Amount().String() != "Gift card" {
		t.Errorf("a card of any worth shows %s", v.Amount())
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*gift.Gift)
		state  State
		shown  bool
		notice string
	}{
		"ready":           {func(*gift.Gift) {}, Ready, true, ""},
		"failed delivery": {func(g *gift.Gift) { g.Status = gift.FailedDelivery }, Ready, true, ""},
		"claimed":         {func(g *gift.Gift) { g.Status, g.Balance = gift.Claimed, 1 }, Ready, true, ""},
		"last instant":    {func(g *gift.Gift) { g.ValidUntil = day(10).Add(1) }, Ready, true, ""},
		"first instant":   {func(g *gift.Gift) { g.ValidFrom = day(10) }, Ready, true, ""},
		"pending": {func(g *gift.Gift) { g.Status = gift.Pending }, Pending, false,
			"as soon as it has been delivered"},
		"scheduled": {func(g *gift.Gift) { g.Status, g.Card.DeliveryDate = gift.Pending, day(20) }, Pending, false,
			"on March 20, 2026, 3:00 PM (Berlin time)"},
		"late": {func(g *gift.Gift) { g.Status, g.Card.DeliveryDate = gift.Pending, day(9) }, Pending, false,
			"as soon as it has been delivered"},
		"not yet": {func(g *gift.Gift) { g.ValidFrom = day(20) }, NotYet, true,
			"Valid from March 20, 2026, 3:00 PM (Berlin time)."},
		"expired": {func(g *gift.Gift) { g.ValidUntil = day(10) }, Expired, false,
			"It was valid until March 10, 2026, 3:00 PM (Berlin time)"},
		"pending and expired": {func(g *gift.Gift) { g.Status, g.ValidUntil = gift.Pending, day(1) }, Expired, false,
			"expired"},
		"redeemed":  {func(g *gift.Gift) { g.Status, g.Balance = gift.Redeemed, 0 }, Redeemed, false, "used in full"},
		"cancelled": {func(g *gift.Gift) { g.Status = gift.Cancelled }, Cancelled, false, "cancelled"},
		"not activated": {func(g *gift.Gift) { g.Status, g.Funded, g.Balance = gift.NotActivated, 0, 0 }, Unsold, false,
			"has no value"},
		"purchase failed": {func(g *gift.Gift) { g.Status = gift.PurchaseFailed }, Unpaid, false, "not completed"},
		"blocked": {func(g *gift.Gift) { g.Blocked = gift.ReasonStolen }, Blocked, false,
			"This gift is blocked and cannot be used now. Please ask "},
		"blocked while it waits": {func(g *gift.Gift) { g.Blocked, g.Status = "X", gift.Pending }, Blocked, false,
			"blocked"},
		"blocked before it begins": {func(g *gift.Gift) { g.Blocked, g.ValidFrom = "X", day(20) }, Blocked, false, "blocked"},
		"blocked and cancelled": {func(g *gift.Gift) { g.Blocked, g.Status = "X", gift.Cancelled }, Cancelled, false,
			"cancelled"},
		"blocked and expired": {func(g *gift.Gift) { g.Blocked, g.ValidUntil = "X", day(10) }, Expired, false,
			"expired"},
		"cancelled and expired": {func(g *gift.Gift) { g.Status, g.ValidUntil = gift.Cancelled, day(1) }, Cancelled, false,
			"cancelled"},
	} {
		g := delivered()
		tc.change(g)
		v := New(g, account(), day(10))
		if v.State != tc.state || v.Shown() != tc.shown || !strings.Contains(v.Notice, tc.notice) ||
			(tc.notice == "") != (v.Notice == "") {
			t.Errorf("%s: state %s, shown %t, notice %q", name, v.State, v.Shown(), v.Notice)
		}
	}
}

// TestShownMeansUsable: the code is shown exactly when a till could take it, now or later.
func TestShownMeansUsable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g, now := delivered(), day(10)
		g.Status = rapid.SampledFrom(gift.Statuses()).Draw(t, "status")
		g.Balance = money.Amount(rapid.SampledFrom([]int64{0, 1, 2500}).Draw(t, "balance"))
		if rapid.Bool().Draw(t, "blocked") {
			g.Blocked = gift.ReasonLost
		}
		start := rapid.IntRange(1, 15).Draw(t, "from")
		if rapid.Bool().Draw(t, "has a start") {
			g.ValidFrom = day(start)
		}
		if rapid.Bool().Draw(t, "has an end") {
			g.ValidUntil = day(start + rapid.IntRange(1, 15).Draw(t, "days"))
			g.GraceDays = rapid.IntRange(0, 10).Draw(t, "days of grace, which no guest is told")
		}
		usable := len(g.NotRedeemable(guid.ID{}, now, nil)) == 0
		later := now
		if g.ValidFrom.After(now) {
			later = g.ValidFrom
		}
		v := New(g, account(), now)
		if (v.State == Ready) != usable {
			t.Fatalf("state %s, redeemable now: %t", v.State, usable)
		}
		if soon := len(g.NotRedeemable(guid.ID{}, later, nil)) == 0; soon != v.Shown() {
			t.Fatalf("state %s, shown %t, redeemable now or later: %t", v.State, v.Shown(), soon)
		}
	})
}

func TestWords(t *testing.T) {
	t.Parallel()
	a, g := account(), delivered()
	g.Card.DesignID, g.Card.Terms, g.Card.PromotionalTerms = guid.ID{4}, "One\nTwo", "Three"
	v := New(g, a, day(10))
	if v.Headline != "Enjoy" || v.Accent.String() != "#ffcc00" || v.Worth.String() != "$25.00" || v.Partly {
		t.Errorf("view %+v", v)
	}
	if strings.Join(v.Message, "|") != "Hi||you" || strings.Join(v.Terms, "|") != "One|Two|Three" {
		t.Errorf("message %q, terms %q", v.Message, v.Terms)
	}
	g.Card.DesignID, g.Card.Sender = guid.ID{5}, "\u200b"
	if v = New(g, a, day(10)); v.Headline != "A gift for you" || v.Accent != builtInAccent || v.Sender != "Harbor Coffee" {
		t.Errorf("fall-backs: headline %q, accent %v, sender %q", v.Headline, v.Accent, v.Sender)
	}
	g.Item, g.Card.Label, g.Funded, g.Balance = true, "Latte", 3, 2
	if v = New(g, a, day(10)); v.Worth.String() != "3 x Latte" || v.Balance.String() != "2 x Latte" || !v.Partly {
		t.Errorf("item: worth %v, balance %v", v.Worth, v.Balance)
	}
}

func TestGoodFor(t *testing.T) {
	t.Parallel()
	a, g := account(), delivered()
	a.Promotions = []merchant.Promotion{{ID: guid.ID{6}, EligibleItems: []merchant.Item{{ID: "CAKE"}}}}
	for want, change := range map[string]func(*gift.Gift){
		"":             func(*gift.Gift) {},
		"Latte, MOCHA": func(g *gift.Gift) { g.Items = []merchant.Item{{ID: "LATTE", Name: "Latte"}, {ID: "MOCHA"}} },
		"a b":          func(g *gift.Gift) { g.Items = []merchant.Item{{ID: "X", Name: "a\n\u202eb"}} },
		"CAKE":         func(g *gift.Gift) { g.PromotionID = guid.ID{6} }, // it was made before items were kept
	} {
		g := *g
		change(&g)
		if v := New(&g, a, day(10)); v.GoodFor != want {
			t.Errorf("good for %q, want %q", v.GoodFor, want)
		}
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	a, g := account(), delivered()
	if v := New(g, a, day(10)); len(v.Places) != 2 || v.More != 0 || !strings.Contains(v.Where, "any of these") {
		t.Errorf("everywhere: %q %q", v.Where, v.Places)
	}
	g.LocationID = guid.ID{3}
	if v := New(g, a, day(10)); len(v.Places) != 1 || v.Places[0] != "Ferry Building" ||
		!strings.Contains(v.Where, "this location") {
		t.Errorf("limited: %q %q", v.Where, v.Places)
	}
	g.LocationID, a.Locations = guid.ID{}, make([]merchant.Location, 40)
	if v := New(g, a, day(10)); len(v.Places) != maxPlaces || v.More != 28 {
		t.Errorf("many: %d and %d more", len(v.Places), v.More)
	}
	a.Locations = nil
	if v := New(g, a, day(10)); v.Where != "Ask Harbor Coffee where it can be used." {
		t.Errorf("none: %q", v.Where)
	}
}

func TestValidity(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		from, until time.Time
		zone        string
		want        string
	}{
		{want: "This gift does not expire."},
		// summer time has begun
		{until: day(30), zone: "Europe/Berlin", want: "Valid until March 30, 2026, 4:00 PM (Berlin time)."},
		{until: day(28), zone: "Europe/Berlin", want: "Valid until March 28, 2026, 3:00 PM (Berlin time)."},
		{until: time.Date(2026, 3, 31, 4, 0, 0, 0, time.UTC), want: "Valid until the end of March 30, 2026 (New York time)."},
		{from: day(1), want: "Valid from March 1, 2026, 9:00 AM (New York time); it does not expire."},
		{from: day(1), until: day(2), zone: "UTC",
			want: "Valid from March 1, 2026, 2:00 PM (UTC) until March 2, 2026, 2:00 PM (UTC)."},
		{until: day(1), zone: "Etc/GMT+5", want: "Valid until March 1, 2026, 9:00 AM (-05)."},
		{until: day(1), zone: "America/Argentina/Buenos_Aires",
			want: "Valid until March 1, 2026, 11:00 AM (Buenos Aires time)."},
		{until: day(1), zone: "No/Such", want: "Valid until March 1, 2026, 9:00 AM (New York time)."},
		{until: day(1), zone: "Local", want: "Valid until March 1, 2026, 9:00 AM (New York time)."},
	} {
		g := delivered()
		g.ValidFrom, g.ValidUntil, g.Card.DeliveryZone = tc.from, tc.until, tc.zone
		if got := New(g, account(), day(1)).Validity; got != tc.want {
			t.Errorf("%v to %v in %q: %q, want %q", tc.from, tc.until, tc.zone, got, tc.want)
		}
	}
}

// TestTextIsReadable: on every accent colour and on its shade, text has the contrast that WCAG asks for.
func TestTextIsReadable(t *testing.T) {
	t.Parallel()
	for r := 0; r < 256; r += 5 {
		for g := 0; g < 256; g += 5 {
			for b := 0; b < 256; b += 5 {
				c := Color{uint8(r), uint8(g), uint8(b)}
				if Contrast(c, c.Text()) < 4.5 || Contrast(c.Shade(), c.Text()) < Contrast(c, c.Text()) {
					t.Fatalf("%v: %.2f on it, %.2f on its shade", c, Contrast(c, c.Text()), Contrast(c.Shade(), c.Text()))
				}
			}
		}
	}
	if got := Contrast(Black, White); got != 21 {
		t.Errorf("black on white is %v, want 21", got)
	}
}

// TestOn: a colour becomes readable on its grounds, and changes no more than it must.
func TestOn(t *testing.T) {
	t.Parallel()
	day, night := []Color{{0xf5, 0xf3, 0xee}, White}, []Color{{0x14, 0x14, 0x12}, {0x1f, 0x1f, 0x1c}}
	for i := range 256 * 256 * 256 / 997 {
		c := Color{uint8(i * 997 >> 16), uint8(i * 997 >> 8), uint8(i * 997)}
		for _, grounds := range [][]Color{day, night, {White}} {
			on, readsAlready := c.On(grounds...), true
			for _, g := range grounds {
				readsAlready = readsAlready && Contrast(c, g) >= 4.5
				if Contrast(on, g) < 4.5 {
					t.Fatalf("%v on %v becomes %v: %.2f", c, g, on, Contrast(on, g))
				}
			}
			if readsAlready && on != c {
				t.Fatalf("%v on %v becomes %v", c, grounds, on)
			}
		}
	}
}

func TestParseColor(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "#fff", "0b5fff", "#0b5ff", "#0b5ffg", "#0b5fff0", "#-b5fff", "red", "#0b5ff;",
		"#１２３４５６"} {
		if c, ok := ParseColor(bad); ok {
			t.Errorf("ParseColor(%q) = %v, want a refusal", bad, c)
		}
	}
	if c, ok := ParseColor("#0B5fFf"); !ok || c.String() != "#0b5fff" {
		t.Errorf("ParseColor(#0B5fFf) = %v, %t", c, ok)
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		s     string
		limit int
		want  string
	}{
		{"short", 5, "short"}, {"longer", 5, "lo..."}, {"ab cdefg", 6, "ab..."}, {"to: them all", 7, "to..."},
		{"abe\u0301\u0301\u0301\u0301\u0301", 6, "ab..."},
		{"👩\u200d👩\u200d👧 and more", 6, "..."},
	} {
		if got := Clip(tc.s, tc.limit); got != tc.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", tc.s, tc.limit, got, tc.want)
		}
	}
}

func FuzzLine(f *testing.F) {
	for _, s := range []string{"", " a  b ", "a\r\nb", "\u202ex", "\u200b", "שלום", "\x00\x1b[31m", "\xff", "a\u2028b",
		"👩‍👩‍👧"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line := Line(s)
		if strings.ContainsFunc(line, func(r rune) bool {
			return unicode.IsControl(r) || reorders(r) || unicode.Is(unicode.Z, r) && r != ' '
		}) {
			t.Errorf("Line(%q) = %q", s, line)
		}
		if Line(line) != line {
			t.Errorf("Line(%q) = %q, but Line of that is %q", s, line, Line(line))
		}
		if strings.Contains(Clip(line, 20), "\n") || len([]rune(Clip(line, 20))) > 20 {
			t.Errorf("Clip(%q, 20) = %q", line, Clip(line, 20))
		}
	})
}

// TestTextsOfTheMerchant are in the reader's language where the set-up has them, else in the account's.
func TestTextsOfTheMerchant(t *testing.T) {
	t.Parallel()
	a := account()
	d := &a.Designs[0]
	d.HeadlineIn = merchant.Translations{merchant.German: "Viel\u202e Freude", merchant.Japanese: ""}
	d.Footer, d.FooterIn = "Thank you", merchant.Translations{merchant.French: "Merci\nbeaucoup"}
	g := delivered()
	g.Card.DesignID = d.ID
	for l, want := range map[merchant.Language][2]string{
		merchant.English: {"Enjoy", "Thank you"}, merchant.German: {"Viel Freude", "Thank you"},
		merchant.French: {"Enjoy", "Merci|beaucoup"}, merchant.Japanese: {"Enjoy", "Thank you"},
	} {
		v := In(locale.For(l), g, a, day(10))
		if got := [2]string{v.Headline, strings.Join(v.Footer, "|")}; got != want {
			t.Errorf("%s: %q, want %q", l, got, want)
		}
	}
}
