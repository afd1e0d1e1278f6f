package delivery

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/card"
	"boon.example/internal/post/locale"
	"boon.example/internal/post/message"
)

// in is the merchant for whose recipients nothing but a language is known.
func in(l merchant.Language, c money.Currency) *merchant.Account {
	a := *anAccount
	a.Language, a.Currency = l, c
	return &a
}

var (
	dollar = money.Currency{Code: "USD", Decimals: 2}
	euro   = money.Currency{Code: "EUR", Decimals: 2}
	yen    = money.Currency{Code: "JPY"}
)

// taken is a redemption at Pier 39.
func taken(n money.Amount, at time.Time) []gift.Entry {
	return []gift.Entry{{Kind: gift.Redemption, Delta: -n, At: at, Actor: merchant.Actor{LocationID: testID(2)}}}
}

var march = time.Date(2026, 3, 1, 18, 30, 0, 0, time.UTC)

// TestMoneyInEachLanguage: amounts in subjects and text messages are written as people of the language write them.
func TestMoneyInEachLanguage(t *testing.T) {
	t.Parallel()
	const url = " https://gifts.example.com/g/7nB2cD9fGhJkLmNpQrStUv"
	for _, tt := range []struct {
		l                   merchant.Language
		c                   money.Currency
		subject, text, less string
	}{
		{merchant.English, dollar, "$25.00 left on your gift at Harbor Coffee",
			"Your gift from Ben: $25.00 at Harbor Coffee.",
			"$9.50 used at Pier 39, March 1. Left on your gift from Ben: $25.00 at Harbor Coffee."},
		{merchant.English, euro, "€25.00 left on your gift at Harbor Coffee", "Your gift from Ben: €25.00 at Harbor Coffee.",
			"€9.50 used at Pier 39, March 1. Left on your gift from Ben: €25.00 at Harbor Coffee."},
		{merchant.German, euro, "Dein Geschenk bei Harbor Coffee: noch 25,00 €",
			"Dein Geschenk von Ben: 25,00 € bei Harbor Coffee.",
			"9,50 € verwendet bei Pier 39, 1. März. Noch 25,00 € auf deinem Geschenk von Ben (Harbor Coffee)."},
		{merchant.German, dollar, "Dein Geschenk bei Harbor Coffee: noch 25,00 $",
			"Dein Geschenk von Ben: 25,00 $ bei Harbor Coffee.",
			"9,50 $ verwendet bei Pier 39, 1. März. Noch 25,00 $ auf deinem Geschenk von Ben (Harbor Coffee)."},
		{merchant.French, euro, "Votre cadeau chez Harbor Coffee : il reste 25,00 €",
			"Votre cadeau offert par Ben : 25,00 € chez Harbor Coffee.",
			"Utilisé : 9,50 € (Pier 39, 1er mars). Solde du cadeau offert par Ben : 25,00 € (Harbor Coffee)."},
		{merchant.Spanish, euro, "Tu regalo en Harbor Coffee: aún tienes 25,00 €",
			"Tu regalo de Ben: 25,00 € en Harbor Coffee.",
			"Usado: 9,50 € (Pier 39, 1 de marzo). Saldo de tu regalo de Ben: 25,00 € (Harbor Coffee)."},
		{merchant.Japanese, yen, "Harbor Coffeeのギフト：残り¥2,500", "Benよりギフト：¥2,500（Harbor Coffee）",
			"3月1日、Pier 39で¥950を利用。Benからのギフトの残り：¥2,500（Harbor Coffee）"},
	} {
		a := in(tt.l, tt.c)
		mail, sms := aGift(contact.Email), aGift(contact.SMS)
		mail.Currency, sms.Currency = tt.c, tt.c
		mail.Status, sms.Status = gift.Delivered, gift.Delivered
		left := must(t)(RenderBalance(&mail, a, nil, publicURL, testID(9), Pictures{}, time.Now()))
		text := must(t)(Render(&sms, a, publicURL, testID(9), Pictures{}, time.Now()))
		less := must(t)(RenderBalance(&sms, a, taken(950, march), publicURL, testID(9), Pictures{}, time.Now()))
		for got, want := range map[string]string{left.Subject: tt.subject, text.Text: tt.text + url,
			less.Text: tt.less + url} {
			if got != want {
				t.Errorf("%s: %q, want %q", tt.l, got, want)
			}
		}
		if parts(less.Text) > 1 && tt.l != merchant.Japanese {
			t.Errorf("%s: the notice is longer than one message: %q", tt.l, less.Text)
		}
		if left.Language != tt.l || text.Language != tt.l || !strings.Contains(left.HTML, `<html lang="`+string(tt.l)+
			`" dir="ltr"`) {
			t.Errorf("%s: the message does not say which language it is in", tt.l)
		}
	}
}

// TestThreeCurrencies: one amount in each of three currencies, as a mail's subject and a text message in each language
// write it.
func TestThreeCurrencies(t *testing.T) {
	t.Parallel()
	for l, want := range map[merchant.Language][3]string{
		merchant.English:  {"$25.00", "€25.00", "¥3,000"},
		merchant.German:   {"25,00 $", "25,00 €", "3.000 ¥"},
		merchant.French:   {"25,00 $US", "25,00 €", "3 000 ¥"},
		merchant.Spanish:  {"$25.00", "25,00 €", "3000 ¥"}, // dollars as in the United States
		merchant.Japanese: {"$25.00", "€25.00", "¥3,000"},
	} {
		for i, c := range []money.Currency{dollar, euro, yen} {
			mail, sms := aGift(contact.Email), aGift(contact.SMS)
			for _, g := range []*gift.Gift{&mail, &sms} {
				g.Currency, g.Status = c, gift.Delivered
				if c == yen {
					g.Funded, g.Balance = 3000, 3000
				}
			}
			left := must(t)(RenderBalance(&mail, in(l, c), nil, publicURL, testID(9), Pictures{}, time.Now()))
			text := must(t)(Render(&sms, in(l, c), publicURL, testID(9), Pictures{}, time.Now()))
			amount := regexp.QuoteMeta(want[i])
			alone := regexp.MustCompile(`(^|[^\d.,])` + amount + `($|[^\p{L}\d])`)
			if !alone.MatchString(left.Subject) || !alone.MatchString(text.Text) {
				t.Errorf("%s: %q and %q do not say %s", l, left.Subject, text.Text, want[i])
			}
		}
	}
}

func must(t *testing.T) func(message.Message, error) message.Message {
	return func(m message.Message, err error) message.Message {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
}

// TestRecipientsLanguage: the language of a gift goes before that of its account, if it is one of ours.
func TestRecipientsLanguage(t *testing.T) {
	t.Parallel()
	g := aGift(contact.Email)
	for tag, want := range map[string]string{"fr-CA": "Bonjour Anna,", "": "Hallo Anna!", "ar": "Hallo Anna!"} {
		g.Card.Language = tag
		m := must(t)(Render(&g, in(merchant.German, euro), publicURL, testID(9), Pictures{}, time.Now()))
		if !strings.HasPrefix(m.Text, want) {
			t.Errorf("%q: %s", tag, m.Text)
		}
	}
}

// TestArabicInAGermanMail: what a sender wrote runs in its own direction, line by line, and is not said to be German.
func TestArabicInAGermanMail(t *testing.T) {
	t.Parallel()
	g := aGift(contact.Email)
	g.Card.Message, g.Card.Terms, g.Card.Sender = "مرحبا!\nHello.", "شروط", "علي"
	m := must(t)(Render(&g, in(merchant.German, euro), publicURL, testID(9), Pictures{}, time.Now()))
	const line = `<p dir="auto" style="margin:0;text-align:start;">`
	for _, want := range []string{`<html lang="de" dir="ltr"`, line + "مرحبا!</p>" + line + "Hello.</p></td>",
		line + "شروط</p></td>", "<strong><bdi>علي</bdi></strong>"} {
		if !strings.Contains(m.HTML, want) {
			t.Errorf("the HTML lacks %s", want)
		}
	}
	if n := strings.Count(m.HTML, `lang=""`); n != 2 {
		t.Errorf("%d places are of unknown language, want message and terms", n)
	}
}

// full is a gift of which a message has something to say in every place.
func full(m contact.Method) gift.Gift {
	g := aGift(m)
	g.Status, g.Balance = gift.Claimed, 1550
	g.Holds = []gift.OpenHold{{Left: 450, Until: time.Now().Add(time.Hour)}}
	g.Items = []merchant.Item{{ID: "LATTE", Name: "Latte"}}
	g.Card.Terms, g.ValidUntil = "Not for cash.", time.Now().Add(1000*time.Hour)
	return g
}

// all renders every kind of message.
func all(t *testing.T, g *gift.Gift, a *merchant.Account) map[string]message.Message {
	t.Helper()
	return map[string]message.Message{
		"gift":    must(t)(Render(g, a, publicURL, testID(9), Pictures{}, time.Now())),
		"balance": must(t)(RenderBalance(g, a, taken(950, march), publicURL, testID(9), Pictures{}, time.Now())),
		"moved":   must(t)(RenderRedirected(g, a, testID(9), Pictures{}, time.Now())),
	}
}

// body is what a reader sees of a mail's HTML.
func body(t *testing.T, m message.Message) string {
	t.Helper()
	_, after, _ := strings.Cut(m.HTML, "</head>")
	return visible(t, after)
}

// TestTextAndHTMLSayTheSame: every line of the plain text stands in the HTML, word for word, but for those that the
// HTML has a button, a picture or a big figure for. Names are set apart there, so that none turns the words around it.
func TestTextAndHTMLSayTheSame(t *testing.T) {
	t.Parallel()
	tight := func(s string) string { return strings.ReplaceAll(strings.Join(strings.Fields(s), ""), "×", "x") }
	for _, l := range merchant.Languages() {
		for _, item := range []bool{false, true} {
			g, a := full(contact.Email), in(l, euro)
			g.Currency, g.Item, g.Card.Label = euro, item, "Latte"
			for len(a.Locations) < 15 { // more than are listed
				a.Locations = append(a.Locations, merchant.Location{ID: testID(30), Name: "Pier 39"})
			}
			for kind, m := range all(t, &g, a) {
				seen := tight(body(t, m))
				lines := 0
				for line := range strings.Lines(m.Text) {
					line = strings.TrimLeft(strings.TrimSpace(line), "-> ")
					if strings.Contains(line, publicURL) || strings.Contains(line, "QR") || strings.Contains(line, "1234 5678") ||
						kind == "balance" && strings.HasPrefix(line, locale.For(l).Text("mail.left")) {
						continue
					}
					if lines++; !strings.Contains(seen, tight(line)) {
						t.Errorf("%s, %s: the HTML does not say %q: %s", l, kind, line, seen)
					}
				}
				if lines < 4 {
					t.Errorf("%s, %s: only %d lines: %s", l, kind, lines, m.Text)
				}
				_, page, _ := strings.Cut(m.HTML, "mso-hide:all") // the title and the preview are no markup
				_, page, _ = strings.Cut(page, "</div>")
				for _, apart := range regexp.MustCompile(`[^>]*(?:Ben|Pier 39|Latte)[^<]*`).FindAllString(page, -1) {
					if !slices.Contains([]string{"Ben", "Pier 39", "Latte"}, apart) {
						t.Errorf("%s, %s: a name is not set apart: %q", l, kind, apart)
					}
				}
			}
		}
	}
}

// TestNothingIsEnglish: but for what people wrote, no message in another language has a word of the English one.
func TestNothingIsEnglish(t *testing.T) {
	t.Parallel()
	words := func(m message.Message) map[string]bool {
		found := map[string]bool{}
		text := m.Subject + " " + m.Text
		if m.HTML != "" {
			text += body(t, m)
		}
		for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
			if len(w) > 3 {
				found[w] = true
			}
		}
		return found
	}
	for _, method := range []contact.Method{contact.Email, contact.SMS} {
		g := full(method)
		english := all(t, &g, in(merchant.English, dollar))
		for _, l := range merchant.Languages()[1:] {
			for kind, m := range all(t, &g, in(l, dollar)) {
				both := words(m)
				for w := range both {
					if words(english[kind])[w] && !slices.Contains(written, w) {
						t.Errorf("%s, %s: %q is English", l, kind, w)
					}
				}
				if len(both) < 3 {
					t.Errorf("%s, %s has the words %v", l, kind, both)
				}
			}
		}
	}
}

// written are words that people wrote, and those of more than one language.
var written = []string{"Anna", "Harbor", "Coffee", "Pier", "Ferry", "Building", "Happy", "birthday", "Friday", "Enjoy",
	"Latte", "cash", "https", "gifts", "example", "fGhJkLmNpQrStUv", "Code", "code"}

// TestOurWordsAreGSM: in the languages of Latin letters, no word or date of ours takes a text message beyond the GSM
// alphabet, whatever the month.
func TestOurWordsAreGSM(t *testing.T) {
	t.Parallel()
	for _, l := range []merchant.Language{merchant.English, merchant.German, merchant.French, merchant.Spanish} {
		for month := range 12 {
			g, a := full(contact.SMS), in(l, euro)
			g.Currency = euro
			for held := range 2 {
				g.Holds = g.Holds[:held]
				g.Balance = 123_456_00
				for kind, m := range all(t, &g, a) {
					if _, ok := septets(m.Text); !ok || kind == "gift" && parts(m.Text) != 1 {
						t.Errorf("%s, %s is not in the GSM alphabet: %q", l, kind, m.Text)
					}
				}
				used := must(t)(RenderBalance(&g, a, taken(950, march.AddDate(0, month, 0)), publicURL, testID(9),
					Pictures{}, time.Now()))
				if _, ok := septets(used.Text); !ok {
					t.Errorf("%s: not in the GSM alphabet: %q", l, used.Text)
				}
				g.Holds = full(contact.SMS).Holds
			}
		}
	}
}

// TestCurrenciesAreGSM: no currency's sign takes a text message beyond the GSM alphabet.
func TestCurrenciesAreGSM(t *testing.T) {
	t.Parallel()
	known := 0
	for a := range 26 * 26 * 26 {
		c, err := money.ParseCurrency(string([]byte{byte('A' + a/676), byte('A' + a/26%26), byte('A' + a%26)}))
		if err != nil {
			continue
		}
		known++
		for _, l := range []merchant.Language{merchant.English, merchant.German, merchant.French, merchant.Spanish} {
			g := aGift(contact.SMS)
			g.Currency = c
			if m := must(t)(Render(&g, in(l, c), publicURL, testID(9), Pictures{}, time.Now())); parts(m.Text) != 1 {
				t.Errorf("%s: %q", l, m.Text)
			}
		}
	}
	if known < 150 {
		t.Errorf("only %d currencies", known)
	}
}

// TestTextMessages: in every language and whatever the names, the link is whole, there are no more parts than the
// shortest form of the text has, one if that can be, and no name is longer than is useful.
func TestTextMessages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.OneOf(rapid.StringN(0, 60, -1), rapid.StringMatching(`[A-Za-z '.€\[\]]{0,90}`),
			rapid.StringMatching(`[A-Zäéñö ’–]{0,60}`), rapid.StringMatching(`[\x{4e00}-\x{4eff}\x{3040}-\x{30ff}]{0,50}`),
			rapid.SampledFrom(hostile))
		g := aGift(contact.SMS)
		g.Status, g.Balance = gift.Claimed, money.Amount(rapid.Int64Range(1, 1_000_000_00).Draw(rt, "balance"))
		g.Item, g.Card.Label = rapid.Bool().Draw(rt, "item"), name.Draw(rt, "label")
		g.Card.Sender = name.Draw(rt, "sender")
		a := in(rapid.SampledFrom(merchant.Languages()).Draw(rt, "language"), rapid.SampledFrom([]money.Currency{dollar, euro,
			yen}).Draw(rt, "currency"))
		g.Currency, a.Name = a.Currency, name.Draw(rt, "merchant")
		a.Locations = []merchant.Location{{ID: testID(2), Name: name.Draw(rt, "place")}}
		if rapid.Bool().Draw(rt, "held") {
			g.Holds = []gift.OpenHold{{Left: g.Balance / 2, Until: time.Now().Add(time.Hour)}}
		}
		url := "https://" + rapid.StringMatching(`[a-z]{1,60}`).Draw(rt, "host") + ".example"
		at := march.AddDate(0, rapid.IntRange(0, 11).Draw(rt, "month"), 0)
		kinds := map[string]message.Message{
			"mail":       must(t)(Render(&g, a, url, testID(9), Pictures{}, time.Now())),
			"balance":    must(t)(RenderBalance(&g, a, taken(950, at), url, testID(9), Pictures{}, time.Now())),
			"redirected": must(t)(RenderRedirected(&g, a, testID(9), Pictures{}, time.Now())),
		}
		for kind, m := range kinds {
			checkLine(t, kind, m.Text)
			c := content{View: card.New(&g, a, time.Now()), URL: card.GiftURL(url, g.Card.Token)}
			if kind != "redirected" && !strings.HasSuffix(m.Text, " "+c.URL) {
				rt.Errorf("%s: the link is not whole: %q", kind, m.Text)
			}
			if shortest := c.short(kind)(minName); parts(m.Text) > parts(shortest) {
				rt.Errorf("%s: %d parts, where %d do: %q, %q", kind, parts(m.Text), parts(shortest), m.Text, shortest)
			}
			for _, long := range []string{c.Sender, c.Merchant} {
				if len([]rune(long)) > maxNameSMS && strings.Contains(m.Text, long) {
					rt.Errorf("%s: a name is not shortened: %q", kind, m.Text)
				}
			}
		}
	})
}
