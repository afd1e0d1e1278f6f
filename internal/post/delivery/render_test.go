package delivery

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/uuid"
	"golang.org/x/net/html"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/card"
	"boon.example/internal/post/message"
)

const publicURL = "https://gifts.example.com"

var anAccount = &merchant.Account{
	ID: testID(1), Name: "Harbor Coffee", Currency: money.Currency{Code: "USD", Decimals: 2}, Zone: time.UTC,
	Locations: []merchant.Location{{ID: testID(2), Name: "Pier 39"}, {ID: testID(3), Name: "Ferry Building"}},
	Designs:   []merchant.Design{{ID: testID(4), AccentColor: "#0b5fff", Headline: "Enjoy"}},
}

const aCode = "123456789012"

// aGift is a pending gift of $25 from Ben to Anna.
func aGift(m contact.Method) gift.Gift {
	code, err := codes.ParseVoucherCode(aCode)
	if err != nil {
		panic(err)
	}
	token, err := codes.ParseToken("7nB2cD9fGhJkLmNpQrStUv")
	if err != nil {
		panic(err)
	}
	contact := map[contact.Method]string{contact.Email: "anna@example.com", contact.SMS: "+14155550132"}[m]
	id, err := uuid.NewV7()
	if err != nil {
		panic(err)
	}
	return gift.Gift{
		Voucher: gift.Voucher{
			ID: guid.ID(id), AccountID: anAccount.ID, ProgramID: merchant.BusinessProgram.ID, Currency: anAccount.Currency,
			Funded: 2500, Balance: 2500, Status: gift.Pending, Seq: 1, CreatedAt: time.Now(),
		},
		Card: gift.Card{
			Code: code, Token: token, Sender: "Ben", Recipient: "Anna", Contact: contact, Method: m, DeliveryZone: "UTC",
			Message: "Happy birthday!\nSee you on Friday.", DesignID: testID(4),
		},
	}
}

func (w *world) outbox() *Gateways {
	return &Gateways{Email: OutboxCarrier{w.faulty}, SMS: OutboxCarrier{w.faulty}, PublicURL: publicURL,
		Directory: func() *merchant.Directory {
			return &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{anAccount.ID: anAccount}}
		}}
}

func render(t *testing.T, g gift.Gift) message.Message {
	t.Helper()
	m, err := Render(&g, anAccount, publicURL, testID(9), Pictures{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const wantMail = `Hello Anna,

Ben sent you a gift.
$25.00 at Harbor Coffee

> Happy birthday!
> See you on Friday.

Open your gift, with the QR code to show at the till:
https://gifts.example.com/g/7nB2cD9fGhJkLmNpQrStUv

Code: 1234 5678 9012

This gift does not expire.
Can be used at any of these locations:
- Pier 39
- Ferry Building

Whoever has the link or the code can use the gift. Keep it like cash.
`

func TestRenderMail(t *testing.T) {
	t.Parallel()
	m := render(t, aGift(contact.Email))
	if m.Subject != "A gift for you from Ben" {
		t.Errorf("subject %q", m.Subject)
	}
	if m.Text != wantMail {
		t.Errorf("text:\n%s\nwant:\n%s", m.Text, wantMail)
	}
	seen := visible(t, m.HTML)
	for _, want := range []string{"Enjoy", "$25.00", "Ben sent you a gift", "1234 5678 9012", "Pier 39",
		"This gift does not expire."} {
		if !strings.Contains(seen, want) {
			t.Errorf("the HTML does not show %q: %s", want, seen)
		}
	}
	if !strings.Contains(m.HTML, `href="https://gifts.example.com/g/7nB2cD9fGhJkLmNpQrStUv"`) ||
		!strings.Contains(m.HTML, `bgcolor="#0b5fff"`) {
		t.Error("the HTML has not the link or not the design's colour")
	}
	if strings.Contains(m.HTML, "ZgotmplZ") {
		t.Error("a value of ours was refused by the template")
	}
	if !strings.Contains(m.HTML, `<p dir="auto" style="margin:0;text-align:start;">Happy birthday!</p><p dir="auto"`) {
		t.Error("the HTML does not keep the line breaks of the message")
	}
}

// TestRenderPass: a mail leads to the pass where the merchant has a certificate and the gift can be used.
func TestRenderPass(t *testing.T) {
	t.Parallel()
	const link = "/pass.pkpass"
	for name, test := range map[string]struct {
		certificate string
		status      gift.Status
		offered     bool
	}{
		"with a certificate":    {"PEM", gift.Delivered, true},
		"without":               {"", gift.Delivered, false},
		"of a gift that is off": {"PEM", gift.Cancelled, false},
	} {
		a := *anAccount
		a.Wallet.Apple.Certificate = test.certificate
		g := aGift(contact.Email)
		g.Status = test.status
		m, err := Render(&g, &a, publicURL, testID(9), Pictures{}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(m.Text, link) != test.offered || strings.Contains(m.HTML, link) != test.offered {
			t.Errorf("%s: %s", name, m.Text)
		}
	}
}

func TestRenderItemWithTerms(t *testing.T) {
	t.Parallel()
	g := aGift(contact.Email)
	g.Item, g.Funded, g.Balance, g.Card.Label, g.Card.Terms = true, 2, 2, "Latte", "Any size.\nNo refills."
	m := render(t, g)
	if !strings.Contains(m.Text, "2 x Latte at Harbor Coffee") ||
		!strings.Contains(m.Text, "\nTerms\n\nAny size.\nNo refills.\n") {
		t.Errorf("text:\n%s", m.Text)
	}
	if seen := visible(t, m.HTML); !strings.Contains(seen, "2 × Latte") {
		t.Errorf("the HTML shows %s", seen)
	}
	g.Card.Language = "ja" // where the number stands after what is counted
	if m := render(t, g); !strings.Contains(m.Text, "Latte x 2") || !strings.Contains(visible(t, m.HTML), "Latte × 2") {
		t.Errorf("in Japanese: %s\n%s", m.Text, visible(t, m.HTML))
	}
}

func TestRenderSMS(t *testing.T) {
	t.Parallel()
	m := render(t, aGift(contact.SMS))
	const want = "Your gift from Ben: $25.00 at Harbor Coffee. https://gifts.example.com/g/7nB2cD9fGhJkLmNpQrStUv"
	if m.Text != want || m.Subject != "" || m.HTML != "" || m.To != "+14155550132" {
		t.Errorf("message %+v", m)
	}
	g := aGift(contact.SMS)
	g.Card.Sender, g.Card.Label, g.Item = strings.Repeat("Very long name ", 12), strings.Repeat("Cake ", 40), true
	if m = render(t, g); len(m.Text) > 160 || !strings.HasSuffix(m.Text, " "+card.GiftURL(publicURL, g.Card.Token)) {
		t.Errorf("%d characters: %q", len(m.Text), m.Text)
	}
}

func TestRenderPrinted(t *testing.T) {
	t.Parallel()
	g := aGift(contact.Printed)
	if _, err := Render(&g, anAccount, publicURL, testID(9), Pictures{}, time.Now()); err == nil {
		t.Error("a printed gift got a message")
	}
}

// hostile are texts that try to be more than text.
var hostile = []string{
	`<script>alert(1)</script>`, `</p></td></table><h1>You won</h1>`, `<img src=x onerror=alert(1)>`,
	`"><svg onload=alert(1)>`,
	`' onmouseover='alert(1)`, `" style="display:none`, `javascript:alert(1)`, `<a href="https://evil.example">here</a>`,
	`<!-- `, `--> x`, `<![CDATA[x]]>`, `<style>*{display:none}</style>`, `<iframe srcdoc="x">`,
	`<base href="//evil.example">`,
	`<meta http-equiv=refresh content=0>`, `</title><script>x</script>`, `{{.Code}}`, `{{template "mail.html" .}}`,
	`${7*7}`, `{{printf "%d" 1}}`,
	"Ben\r\nBcc: all@example.com", "Ben\nSubject: You won", "Ben\r\n\r\n<html>", "Ben\rTo: x@example.com",
	"=?utf-8?q?=0d=0aBcc:_x?=",
	"\u202egpj.exe", "a\u2066b\u2069\u2069c", "\u202aembedded", "שלום עולם", "مرحبا بالعالم", "\u200b\u200b\u200b",
	"zero\u200bwidth\u200djoin",
	"\ufeffBOM", "NUL\x00byte", "bell\x07 and \x1b[31mred", "line\u2028separator\u2029paragraph\u0085next",
	"Z̸̡̛a̵l̶g̷o̸" + strings.Repeat("\u0336", 60),
	strings.Repeat("W", 200), strings.Repeat("word ", 40), "👩‍👩‍👧‍👦 🏳️‍🌈", "&lt;b&gt; &amp; &#60;", "%0d%0aBcc:%20x",
	`\u003cscript\u003e`, "`${x}`", "\xff\xfe bad utf-8",
}

// TestGoodFor: a gift for certain items says so in the mail and in the notice of what is left.
func TestGoodFor(t *testing.T) {
	t.Parallel()
	g := aGift(contact.Email)
	g.Items = []merchant.Item{{ID: "LATTE", Name: "Latte & more"}, {ID: "MOCHA"}}
	notice := g
	notice.Status, notice.Balance = gift.Claimed, 1550
	left, err := RenderBalance(&notice, anAccount, nil, publicURL, testID(9), Pictures{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []message.Message{render(t, g), left} {
		if !strings.Contains(m.Text, "\nGood for: Latte & more, MOCHA\n") ||
			!strings.Contains(visible(t, m.HTML), "Good for: Latte & more, MOCHA") {
			t.Errorf("it does not say what it is good for: %s\n%s", m.Text, visible(t, m.HTML))
		}
	}
}

// TestHostileTexts puts each text into every place that a sender can write to: it is shown as text, and nothing else
// changes.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	for _, method := range []contact.Method{contact.Email, contact.SMS} {
		plain := aGift(method)
		plain.Item, plain.Card.Label, plain.Card.Terms, plain.Card.PromotionalTerms = true, "x", "x", "x"
		plain.Card.Message, plain.Card.Sender, plain.Card.Recipient = "x", "x", "x"
		plain.Items = []merchant.Item{{ID: "X", Name: "x"}}
		want := shape(t, render(t, plain).HTML)
		for _, text := range hostile {
			g := plain
			for _, field := range []*string{
				&g.Card.Sender, &g.Card.Recipient, &g.Card.Message, &g.Card.Label, &g.Card.Terms, &g.Card.PromotionalTerms,
			} {
				*field = text + "!" // so that there is something to see
			}
			g.Items = []merchant.Item{{ID: "X", Name: text + "!"}}
			m := render(t, g)
			checkLine(t, "subject", m.Subject)
			if method == contact.SMS {
				checkLine(t, "SMS", m.Text)
				if !strings.HasSuffix(m.Text, " "+card.GiftURL(publicURL, g.Card.Token)) {
					t.Errorf("%q: the link is not whole: %q", text, m.Text)
				}
				continue
			}
			if strings.Contains(m.Text, "\r") || strings.ContainsFunc(m.Text,
				func(r rune) bool { return unicode.IsControl(r) && r != '\n' }) {
				t.Errorf("%q: control characters in the text: %q", text, m.Text)
			}
			if !strings.Contains(m.Text, "\n"+card.GiftURL(publicURL, g.Card.Token)+"\n") {
				t.Errorf("%q: the link does not stand on a line of its own", text)
			}
			if got := shape(t, m.HTML); got != want && !strings.ContainsAny(text, "\r\n\u2028\u2029\u0085") {
				t.Errorf("%q changes the markup:\n%s\nwant:\n%s", text, got, want)
			}
		}
	}
	if len(hostile) < 30 {
		t.Errorf("only %d hostile texts", len(hostile))
	}
}

func checkLine(t *testing.T, what, s string) {
	t.Helper()
	if strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' &&
			r <= '\u2069'
	}) {
		t.Errorf("%s is not one plain line: %q", what, s)
	}
}

// FuzzSubject: in every language, a subject is one line of at most 150 characters, whatever the names are, and says
// what is left.
func FuzzSubject(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		subjects := []string{NewSubject(s).String()}
		for _, l := range merchant.Languages() {
			at := *anAccount
			at.Language, at.Name = l, s
			g := aGift(contact.Email)
			g.Funded, g.Balance, g.Card.Sender, g.Card.Label = 25, 25, s, s
			for _, g.Item = range []bool{false, true} {
				c := content{View: card.New(&g, &at, time.Now())}
				left := c.subject("balance").String()
				if !strings.Contains(left, "25") {
					t.Errorf("%s: the subject does not say what is left: %q", l, left)
				}
				subjects = append(subjects, left, c.subject("mail").String(), c.subject("redirected").String())
			}
		}
		for _, got := range subjects {
			checkLine(t, "subject", got)
			if n := len([]rune(got)); n > maxSubject {
				t.Errorf("%d characters", n)
			}
		}
	})
}

// shape is the markup of a page without its texts: every tag with its attributes.
func shape(t *testing.T, page string) string {
	t.Helper()
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
		default:
			b.WriteString(z.Token().String() + "\n")
		}
	}
}

// visible is what a reader sees of a page, spaces folded.
func visible(t *testing.T, page string) string {
	t.Helper()
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(b.String()), " ")
		case html.TextToken:
			b.WriteString(z.Token().Data)
		}
	}
}

func TestRenderBalance(t *testing.T) {
	t.Parallel()
	for _, method := range []contact.Method{contact.Email, contact.SMS} {
		g := aGift(method)
		g.Status, g.Balance = gift.Claimed, 1550
		taken := gift.Entry{Kind: gift.Redemption, Delta: -950, At: time.Date(2026, 3, 1, 18, 30, 0, 0, time.UTC),
			Actor: merchant.Actor{LocationID: testID(31)}}
		at := *anAccount
		at.Locations = []merchant.Location{{ID: testID(31), Name: "Pier 39"}}
		m, err := RenderBalance(&g, &at, []gift.Entry{taken}, publicURL, testID(9), Pictures{}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(m.Text, "$15.50") || !strings.Contains(m.Text, card.GiftURL(publicURL, g.Card.Token)) ||
			strings.Contains(m.Text+m.HTML, g.Card.Code.Grouped()) {
			t.Errorf("the notice is %q", m.Text)
		}
		for _, said := range []string{"$9.50", "Pier 39", "March"} {
			if !strings.Contains(m.Text, said) && (said != "March" || !strings.Contains(m.Text, "Mar")) ||
				method == contact.Email && !strings.Contains(visible(t, m.HTML), said) {
				t.Errorf("the notice does not say %q: %q", said, m.Text)
			}
		}
		if method == contact.SMS && parts(m.Text) > 1 {
			t.Errorf("the notice is longer than one message: %q", m.Text)
		}
		if m, err = RenderBalance(&g, anAccount, nil, publicURL, testID(9), Pictures{}, time.Now()); err != nil ||
			strings.Contains(m.Text, "9.50") {
			t.Errorf("a notice without its redemption: %q, %v", m.Text, err)
		}
		m, _ = RenderBalance(&g, &at, []gift.Entry{taken}, publicURL, testID(9), Pictures{}, time.Now())
		if method == contact.Email && (m.Subject != "$15.50 left on your gift at Harbor Coffee" ||
			!strings.Contains(visible(t, m.HTML), "$15.50")) {
			t.Errorf("subject %q, HTML %s", m.Subject, m.HTML)
		}
	}
}

// TestRenderHeld: what a guest is told is what can be used, and what is held beside it.
func TestRenderHeld(t *testing.T) {
	t.Parallel()
	for _, method := range []contact.Method{contact.Email, contact.SMS} {
		for _, item := range []bool{false, true} {
			g := aGift(method)
			g.Status, g.Balance, g.Item, g.Card.Label = gift.Claimed, 2000, item, "Latte"
			g.Holds = []gift.OpenHold{{Left: 450, Until: time.Now().Add(time.Hour)}, {Left: 100, Until: time.Now()}}
			free, held, all := "$15.50", "$4.50", "20.00"
			if item {
				free, held, all = "1,550 x Latte", "450 x Latte", "2000"
			}
			balance, err := RenderBalance(&g, anAccount, nil, publicURL, testID(9), Pictures{}, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range []message.Message{balance, render(t, g)} {
				texts := []string{m.Text}
				if method == contact.Email {
					texts = append(texts, strings.ReplaceAll(visible(t, m.HTML), "×", "x"))
				}
				for _, text := range texts {
					if !strings.Contains(text, free) || !strings.Contains(text, held) || !strings.Contains(text, "held") ||
						strings.Contains(text, all) {
						t.Errorf("it does not say %s and %s: %s", free, held, text)
					}
				}
				if method == contact.SMS && parts(m.Text) > 1 {
					t.Errorf("longer than one message: %q", m.Text)
				}
			}
		}
	}
}

func TestSeptets(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{"": 0, "abc @£": 6, "€": 2, "[x]": 5, "é\n": 2, "ê": -1, "’": -1, "王": -1,
		"a`": -1} {
		n, ok := septets(s)
		if !ok {
			n = -1
		}
		if n != want {
			t.Errorf("%q has %d septets, want %d", s, n, want)
		}
	}
	for _, tc := range []struct {
		s     string
		parts int
	}{
		{"", 1}, {strings.Repeat("a", 160), 1}, {strings.Repeat("a", 161), 2}, {strings.Repeat("€", 80), 1},
		{strings.Repeat("€", 81), 2}, {strings.Repeat("a", 306), 2}, {strings.Repeat("a", 307), 3},
		{strings.Repeat("a", 152) + "€" + strings.Repeat("a", 151), 2}, // the escape and its letter stay together:
		{strings.Repeat("a", 152) + "€" + strings.Repeat("a", 152), 3},
		{strings.Repeat("王", 70), 1}, {strings.Repeat("王", 71), 2}, {strings.Repeat("王", 134), 2},
		{strings.Repeat("王", 135), 3}, {strings.Repeat("👩", 35), 1}, {strings.Repeat("👩", 36), 2},
		{strings.Repeat("👩", 66), 2}, {strings.Repeat("👩", 67), 3},
	} {
		if got := parts(tc.s); got != tc.parts {
			t.Errorf("%.12q… of %d bytes has %d parts, want %d", tc.s, len(tc.s), got, tc.parts)
		}
	}
}

// TestOneTextMessage: whatever the names, the link is whole, and with names of the GSM alphabet the text is one
// message.
func TestOneTextMessage(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Ben", strings.Repeat("Very long name ", 12), strings.Repeat("[€]", 60),
		"Zoë’s “Café” – Nº", strings.Repeat("ü", 200)} {
		g := aGift(contact.SMS)
		g.Card.Sender = name
		m := render(t, g)
		if !strings.HasSuffix(m.Text, " "+card.GiftURL(publicURL, g.Card.Token)) {
			t.Errorf("%q: the link is not whole: %q", name, m.Text)
		}
		if _, gsm := septets(m.Text); gsm && parts(m.Text) > 1 {
			t.Errorf("%q: more than one message: %q", name, m.Text)
		}
	}
	g := aGift(contact.SMS)
	g.Card.Sender = "王小明"
	if m := render(t, g); !strings.Contains(m.Text, "王小明") {
		t.Errorf("the name is lost: %q", m.Text)
	}
}

// TestMailWithoutPictures: where a mail program shows no pictures, each has words in its place, on a ground that is not
// the white of the sheet.
func TestMailWithoutPictures(t *testing.T) {
	t.Parallel()
	g := aGift(contact.Email)
	pictures := Pictures{Logo: &message.Picture{ContentID: "logo", Width: 150, Height: 48},
		Banner: &message.Picture{ContentID: "banner", Width: 520, Height: 208}}
	m, err := Render(&g, anAccount, publicURL, testID(9), pictures, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	images := regexp.MustCompile(`(<td[^>]*>)<img [^>]*alt="([^"]*)"[^>]*>`).FindAllStringSubmatch(m.HTML, -1)
	if len(images) != 3 {
		t.Fatalf("%d pictures, want banner, logo and QR code", len(images))
	}
	for _, image := range images {
		ground := regexp.MustCompile(`background-color:(#[0-9a-f]{6})`).FindAllStringSubmatch(image[0], -1)
		if image[2] == "" || len(ground) == 0 || ground[len(ground)-1][1] == "#ffffff" {
			t.Errorf("without its picture this is a white hole: %s", image[0])
		}
	}
}
