package print

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"pgregory.net/rapid"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/card"
	"boon.example/internal/post/locale"
	"boon.example/internal/post/qr"
	"boon.example/internal/racetest"
)

const link = "https://gifts.example.com/g/7nB2cD9fGhJkLmNpQrStUv"

var made = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func aCard() Card {
	return Card{
		View: card.View{Locale: locale.For(merchant.English),
			Merchant: "Harbor Coffee", Headline: "Enjoy", Accent: card.Color{R: 0x0b, G: 0x5f,
				B: 0xff}, Sender: "Ben", Recipient: "Anna",
			Message: []string{"Happy birthday!", "", "See you on Friday."}, Worth: card.Worth{Number: "$25.00"},
			Balance: card.Worth{Number: "$25.00"}, Code: "4829 1507 3364", Terms: []string{"Not for cash."},
			Validity: "This gift does not expire.", Where: "Can be used at any of these locations:", Places: []string{"Pier 39",
				"Ferry Building"},
			State: card.Ready,
		},
		URL: link, Made: made,
	}
}

// logo is a small picture with transparent parts.
func logo(t testing.TB) *Picture {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 60, 20))
	for x := range 60 {
		for y := range 20 {
			img.SetNRGBA(x, y, color.NRGBA{uint8(x * 4), 90, uint8(y * 12), uint8(255 - 4*x)})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return &Picture{Name: "logo", Bytes: b.Bytes()}
}

// paper is a PDF that was taken apart.
type paper struct {
	boxes [][2]float64 // the size of each page, in points
	texts []string     // what is written, piece by piece
	spots [][2]float64 // where
	codes []string     // the drawing of each QR code
	raw   []byte
}

var (
	streamShape = regexp.MustCompile(`(?s)<</Filter /FlateDecode /Length (\d+)>>\s+stream\n`)
	boxShape    = regexp.MustCompile(`/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]`)
	textShape   = regexp.MustCompile(`(?s)BT ([-0-9.]+) ([-0-9.]+) Td \((.*?)\) Tj ET|BT 1 0 0 1 ([-0-9.]+) ([-0-9.]+) Tm(.*?) ET Q`)
	glyphShape  = regexp.MustCompile(`/G(\d+) |<([0-9a-f]{2})>`)
	fontShape   = regexp.MustCompile(`/G(\d+) (\d+) 0 R\n`)
	meanShape   = regexp.MustCompile(`beginbfchar\n<([0-9a-f]{2})> <([0-9a-f]*)>`)
	unicodeAt   = regexp.MustCompile(`/ToUnicode (\d+) 0 R`)
	codeShape   = regexp.MustCompile(`(?s)q 0 0 0 rg ([-0-9. ]+) cm\n(.*?)f Q`)
	rectShape   = regexp.MustCompile(`(?m)^(\d+) (\d+) (\d+) 1 re$`)
	escapes     = regexp.MustCompile(`(?s)\\(.)`)
)

// open reads a PDF as this package writes them, with nothing of the library that wrote it.
func open(t testing.TB, pdf []byte) *paper {
	t.Helper()
	p := &paper{raw: pdf}
	if !bytes.HasPrefix(pdf, []byte("%PDF-1.")) || !bytes.HasSuffix(bytes.TrimSpace(pdf), []byte("%%EOF")) {
		t.Fatalf("this is no PDF: %.40q", pdf)
	}
	pages := bytes.Count(pdf, []byte("/Type /Page\n"))
	box := boxShape.FindSubmatch(pdf)
	if pages == 0 || box == nil {
		t.Fatalf("%d pages, MediaBox %q", pages, box)
	}
	for range pages {
		p.boxes = append(p.boxes, [2]float64{number(t, string(box[1])), number(t, string(box[2]))})
	}
	meanings := glyphMeanings(t, pdf)
	for _, at := range streamShape.FindAllSubmatchIndex(pdf, -1) {
		content := unpacked(t, pdf, at)
		for _, m := range textShape.FindAllSubmatch(content, -1) {
			if m[1] != nil {
				p.texts = append(p.texts, decode(t, m[3]))
				p.spots = append(p.spots, [2]float64{number(t, string(m[1])), number(t, string(m[2]))})
				continue
			}
			font, text := "", ""
			for _, g := range glyphShape.FindAllSubmatch(m[6], -1) {
				if g[1] != nil {
					font = string(g[1])
					continue
				}
				text += meanings[font+" "+string(g[2])]
			}
			p.texts = append(p.texts, text)
			p.spots = append(p.spots, [2]float64{number(t, string(m[4])), number(t, string(m[5]))})
		}
		for _, m := range codeShape.FindAllSubmatch(content, -1) {
			p.codes = append(p.codes, string(m[2]))
		}
	}
	return p
}

func unpacked(t testing.TB, pdf []byte, at []int) []byte {
	t.Helper()
	length := int(number(t, string(pdf[at[2]:at[3]])))
	r, err := zlib.NewReader(bytes.NewReader(pdf[at[1] : at[1]+length]))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// glyphMeanings tells what each code of each font of drawings stands for, as a program that searches the text reads it:
// from the last table of references on.
func glyphMeanings(t testing.TB, pdf []byte) map[string]string {
	t.Helper()
	find := func(number string) []byte {
		at := bytes.LastIndex(pdf, []byte("\n"+number+" 0 obj\n"))
		if at < 0 {
			t.Fatalf("there is no object %s", number)
		}
		return pdf[at:]
	}
	all := map[string]string{}
	for _, font := range fontShape.FindAllSubmatch(find("2"), -1) {
		table := find(string(unicodeAt.FindSubmatch(find(string(font[2])))[1]))
		for _, m := range meanShape.FindAllSubmatch(unpacked(t, table, streamShape.FindSubmatchIndex(table)), -1) {
			var units []uint16
			for i := 0; i < len(m[2]); i += 4 {
				unit, err := strconv.ParseUint(string(m[2][i:i+4]), 16, 16)
				if err != nil {
					t.Fatal(err)
				}
				units = append(units, uint16(unit))
			}
			all[string(font[1])+" "+string(m[1])] = string(utf16.Decode(units))
		}
	}
	return all
}

// decode reads a text operand: two bytes to a character, with backslashes before what would end it.
func decode(t testing.TB, s []byte) string {
	t.Helper()
	s = escapes.ReplaceAllFunc(s, func(m []byte) []byte {
		if m[1] == 'r' {
			return []byte{'\r'}
		}
		return m[1:]
	})
	if len(s)%2 != 0 {
		t.Fatalf("a text of %d bytes", len(s))
	}
	var units []uint16
	for i := 0; i < len(s); i += 2 {
		units = append(units, uint16(s[i])<<8|uint16(s[i+1]))
	}
	return string(utf16.Decode(units))
}

func number(t testing.TB, s string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// text is everything that is written, spaces folded.
func (p *paper) text() string { return strings.Join(strings.Fields(strings.Join(p.texts, " ")), " ") }

// holds reports whether a drawing of a QR code is module by module that of a text.
func holds(t testing.TB, drawing, text string) bool {
	t.Helper()
	code, err := qr.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	dark := map[[2]int]bool{}
	for _, m := range rectShape.FindAllStringSubmatch(drawing, -1) {
		x, y, run := int(number(t, m[1])), int(number(t, m[2])), int(number(t, m[3]))
		for i := range run {
			dark[[2]int{x + i - qr.QuietZone, y - qr.QuietZone}] = true
		}
	}
	for y := -qr.QuietZone; y < code.Size+qr.QuietZone; y++ {
		for x := -qr.QuietZone; x < code.Size+qr.QuietZone; x++ {
			if dark[[2]int{x, y}] != code.Dark(x, y) {
				return false
			}
			delete(dark, [2]int{x, y})
		}
	}
	return len(dark) == 0
}

func printGift(t testing.TB, c Card, p Paper) *paper {
	t.Helper()
	pdf, err := BuiltIn().Gift(c, p)
	if err != nil {
		t.Fatal(err)
	}
	return open(t, pdf)
}

func TestGift(t *testing.T) {
	t.Parallel()
	for paper, size := range map[Paper][2]float64{Letter: {612, 792}, A4: {595.28, 841.89}} {
		p := printGift(t, aCard(), paper)
		if len(p.boxes) != 1 || p.boxes[0] != size {
			t.Errorf("%s: pages of %v, want one of %v", paper, p.boxes, size)
		}
		for _, want := range []string{
			"Harbor Coffee", "Enjoy", "$25.00", "For Anna", "From Ben", "Happy birthday!", "See you on Friday.",
			"4829 1507 3364",
			"This gift does not expire.", "Pier 39, Ferry Building", "Not for cash.", "Keep it like cash",
		} {
			if !strings.Contains(p.text(), want) {
				t.Errorf("%s: %q is not on the page: %s", paper, want, p.text())
			}
		}
		if len(p.codes) != 1 || !holds(t, p.codes[0], link) {
			t.Errorf("%s: the QR code is not that of the address", paper)
		}
		if bytes.Contains(p.raw, []byte("482915073364")) || bytes.Contains(p.raw, []byte("/JavaScript")) {
			t.Errorf("%s: the code or a script stands in the clear", paper)
		}
	}
}

func printFolded(t testing.TB, c Card, fold Fold) *paper {
	t.Helper()
	pdf, err := BuiltIn().Folded(c, A4, fold)
	if err != nil {
		t.Fatal(err)
	}
	return open(t, pdf)
}

// TestFolded: a card to be folded is one sheet with all that a page has. What is too long for it, or cannot be used, is
// printed on a page.
func TestFolded(t *testing.T) {
	t.Parallel()
	upright, across := [2]float64{595.28, 841.89}, [2]float64{841.89, 595.28}
	long, over := aCard(), aCard()
	long.View.Terms = []string{strings.Repeat("Not for cash. ", 500)}
	over.View.State = card.Cancelled
	for _, tt := range []struct {
		name string
		card Card
		fold Fold
		size [2]float64
	}{
		{"half", aCard(), Half, across}, {"quarter", aCard(), Quarter, upright}, {"flat", aCard(), Flat, upright},
		{"too long", long, Half, upright}, {"over", over, Half, upright},
	} {
		p := printFolded(t, tt.card, tt.fold)
		if p.boxes[0] != tt.size {
			t.Errorf("%s: pages of %v, want %v", tt.name, p.boxes, tt.size)
		}
		checkEdges(t, p)
		if tt.card.View.State != card.Ready {
			if len(p.codes) > 0 {
				t.Errorf("%s: it has a code", tt.name)
			}
			continue
		}
		for _, want := range []string{"Harbor Coffee", "Enjoy", "$25.00", "For Anna", "From Ben", "Happy birthday!",
			"See you on Friday.", "4829 1507 3364", "This gift does not expire.", "Pier 39, Ferry Building", "Not for cash.",
			"Keep it like cash"} {
			if !strings.Contains(p.text(), want) {
				t.Errorf("%s: %q is not on the card: %s", tt.name, want, p.text())
			}
		}
		if len(p.codes) != 1 || !holds(t, p.codes[0], link) {
			t.Errorf("%s: the QR code is not that of the address", tt.name)
		}
	}
}

// TestFoldedStandsInTheMiddle: what is on the front and on the back of a card that is folded once stands in the middle
// of it; texts that just fit without that still fit.
func TestFoldedStandsInTheMiddle(t *testing.T) {
	t.Parallel()
	const millimetre, near = 72 / 25.4, 57 // points; the texts begin 5 to 20 mm below the upper edge of a card
	p := printFolded(t, aCard(), Half)
	height := p.boxes[0][1]
	for _, side := range []struct {
		name, highest, lowest string
		above                 float64 // what is above the highest text
	}{
		{"front", "Harbor Coffee", "See you on Friday.", 0},
		{"back", "4829 1507 3364", "Keep it like cash", 60 * millimetre},
	} {
		top := height - p.spots[p.index(t, side.highest)][1] - side.above
		if low := p.spots[p.index(t, side.lowest)][1]; math.Abs(top-low) > near {
			t.Errorf("%s: %.0f points above, and %.0f below", side.name, top, low)
		}
	}
	for name, most := range map[string]int{"terms": 154, "message": 130} {
		for n, fits := range map[int]bool{most: true, most + 1: false} {
			c := aCard()
			if name == "terms" {
				c.View.Terms = []string{strings.TrimSpace(strings.Repeat("Not for cash. ", n))}
			} else {
				c.View.Message = []string{strings.TrimSpace(strings.Repeat("Happy birthday! ", n))}
			}
			p := printFolded(t, c, Half)
			checkEdges(t, p)
			if folded := p.boxes[0][0] > p.boxes[0][1]; folded != fits {
				t.Errorf("%s of %d sentences: folded is %v, want %v", name, n, folded, fits)
			}
		}
	}
}

// index finds a text on the paper.
func (p *paper) index(t *testing.T, text string) int {
	t.Helper()
	i := slices.IndexFunc(p.texts, func(piece string) bool { return strings.Contains(piece, text) })
	if i < 0 {
		t.Fatalf("%q is not on the paper: %s", text, p.text())
	}
	return i
}

// TestLanguages: the page and the sheet are in the language of the gift, and the document says which that is.
func TestLanguages(t *testing.T) {
	t.Parallel()
	for l, want := range map[merchant.Language]string{
		merchant.English: "Whoever has this page", merchant.German: "Wer diese Seite",
		merchant.French:  "Toute personne disposant",
		merchant.Spanish: "Quien tenga esta página",
	} {
		c := aCard()
		c.View.Locale = locale.For(l)
		c.View.Message = []string{strings.Repeat("long ", 200)}
		c.View.Second = "0471"
		p := printGift(t, c, A4)
		for _, text := range []string{want, c.View.Text("print.for", "Anna"), c.View.Text("card.where")} {
			if !strings.Contains(p.text(), text) {
				t.Errorf("%s: %q is not on the page: %s", l, text, p.text())
			}
		}
		sheet, err := BuiltIn().Order(context.Background(), []Card{c}, A4)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{c.View.Text("print.message"), c.View.Text("print.verification", "0471"),
			c.View.Text("card.from", "Ben")} {
			if got := strings.ReplaceAll(open(t, sheet).text(), "\u00a0", " "); !strings.Contains(got,
				strings.ReplaceAll(text, "\u00a0", " ")) {
				t.Errorf("%s: %q is not on the sheet: %s", l, text, got)
			}
		}
		for _, pdf := range [][]byte{p.raw, sheet} {
			if !bytes.Contains(pdf, []byte("/Lang ("+string(l)+")")) {
				t.Errorf("%s: the document is said to be in another language", l)
			}
		}
	}
}

// A gift for certain items says so on its page and on its card of a sheet, the longest list too.
func TestGoodFor(t *testing.T) {
	t.Parallel()
	c := aCard()
	c.View.GoodFor = "Latte, Mocha"
	if p := printGift(t, c, A4); !strings.Contains(p.text(), "Good for") || !strings.Contains(p.text(), "Latte, Mocha") {
		t.Errorf("the page does not say it: %s", p.text())
	}
	for _, names := range []string{"Latte, Mocha", strings.Repeat("Latte ", 50)} {
		c.View.GoodFor = names
		sheet, err := BuiltIn().Order(context.Background(), []Card{c}, A4)
		if err != nil {
			t.Fatal(err)
		}
		if p := open(t, sheet); !strings.Contains(p.text(), "Good for: Latte") ||
			!strings.Contains(p.text(), "Terms and places") {
			t.Errorf("the sheet does not say it: %s", p.text())
		}
	}
}

func TestGiftStates(t *testing.T) {
	t.Parallel()
	for _, state := range []card.State{card.Ready, card.NotYet, card.Pending, card.Redeemed, card.Expired, card.Cancelled,
		card.Unpaid, card.Blocked} {
		c := aCard()
		c.View.State, c.View.Notice = state, "What this means."
		p := printGift(t, c, A4)
		shown := state == card.Ready || state == card.NotYet
		if strings.Contains(p.text(), "4829 1507 3364") != shown || (len(p.codes) == 1) != shown ||
			bytes.Contains(p.raw, []byte(link)) != shown {
			t.Errorf("%s: the code is not shown exactly when it may be: %s", state, p.text())
		}
		if !strings.Contains(p.text(), strings.TrimSpace(c.View.StateTitle()+" What this means.")) {
			t.Errorf("%s is not said: %s", state, p.text())
		}
		sheet, err := BuiltIn().Order(context.Background(), []Card{c}, A4)
		if err != nil {
			t.Fatal(err)
		}
		if s := open(t, sheet); strings.Contains(s.text(), "4829 1507 3364") != shown || (len(s.codes) == 1) != shown {
			t.Errorf("%s on a sheet: %s", state, s.text())
		}
	}
}

// TestGiftHeld: on paper stands what can be used, and what is held beside it.
func TestGiftHeld(t *testing.T) {
	t.Parallel()
	c := aCard()
	c.View.Partly, c.View.Balance, c.View.Held = true, card.Worth{Number: "$15.50"},
		&card.Worth{Number: "$4.50"}
	if p := printGift(t, c, A4); !strings.Contains(p.text(), "$15.50") ||
		!strings.Contains(p.text(), "left of $25.00, $4.50 is held for a purchase") {
		t.Errorf("the page does not say it: %s", p.text())
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	for _, paper := range []Paper{Letter, A4} {
		var cards []Card
		for i := range 23 {
			c := aCard()
			c.URL = fmt.Sprintf("https://gifts.example.com/g/%022d", i)
			c.View.Code = fmt.Sprintf("4829 1507 %04d", i)
			cards = append(cards, c)
		}
		cards[0].Logo = logo(t)
		pdf, err := BuiltIn().Order(context.Background(), cards, paper)
		if err != nil {
			t.Fatal(err)
		}
		p := open(t, pdf)
		if len(p.boxes) != 3 || len(p.codes) != len(cards) {
			t.Fatalf("%s: %d pages, %d QR codes", paper, len(p.boxes), len(p.codes))
		}
		for i := range cards {
			if !holds(t, p.codes[i], cards[i].URL) || !strings.Contains(p.text(), cards[i].View.Code) {
				t.Errorf("%s: card %d is not there", paper, i)
			}
		}
	}
	if _, err := BuiltIn().Order(context.Background(), nil, A4); err == nil {
		t.Error("a sheet of nothing was printed")
	}
}

func TestTheSameInputMakesTheSameBytes(t *testing.T) {
	t.Parallel()
	c := aCard()
	c.Made = time.Time{} // the library would take the present for it
	c.Logo, c.Picture = logo(t), &Picture{Name: "picture", Bytes: logo(t).Bytes}
	first, err := BuiltIn().Gift(c, A4)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(first, []byte("/CreationDate (D:19700101000000")) {
		t.Error("a gift made at no known time is not dated 1970")
	}
	for range 3 {
		if again, err := BuiltIn().Gift(c, A4); err != nil || !bytes.Equal(first, again) {
			t.Fatalf("another file, %v", err)
		}
	}
}

// TestBadPicture: what is no picture is an error, not a panic and not a page without it.
func TestBadPicture(t *testing.T) {
	t.Parallel()
	for _, junk := range [][]byte{nil, []byte("junk"), logo(t).Bytes[:40]} {
		c := aCard()
		c.Logo = &Picture{Name: "logo", Bytes: junk}
		if _, err := BuiltIn().Gift(c, A4); err == nil {
			t.Errorf("%.8q was printed", junk)
		}
	}
}

// TestScripts: Latin, Greek and Cyrillic are written as they are; what no font has is left out, a letter with its
// accents and an emoji whole or not at all; what is written from right to left stands in the order in which it is seen.
func TestScripts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Žluťoučký kůň":         "Žluťoučký kůň",
		"Zlu\u030cty\u0301":     "Zlǔtý",
		"Καλημέρα κόσμε":        "Καλημέρα κόσμε",
		"Съешь ещё этих":        "Съешь ещё этих",
		"Tiếng Việt":            "Tiếng Việt",
		"x\u0302 y":             "x\u0302 y",
		"朝顔 a":                  "a",
		"a👩‍👩‍👧‍👦b":             "ab",
		"hi 👍🏽!":                "hi !",
		"❤️":                    "❤",
		"zero\u200bwidth\u00ad": "zerowidth",
		"שלום":                  "םולש",
		"Dear שלום":             "Dear םולש",
		"a אב 12 גד b":          "a דג 12 בא b",
		"אב (a) 12":             "בא (a) 12",
		"אב (גד)":               ")דג( בא",
		"\U0010ffffx\ufffe":     "x",
		"(a) \\ )":              "(a) \\ )",
	} {
		c := aCard()
		c.View.Recipient, c.View.Locale = text, locale.For(merchant.Spanish)
		if got := printGift(t, c, A4).text(); !strings.Contains(got, "Para "+want+" De Ben") &&
			!strings.Contains(got, want+" Para De Ben") {
			t.Errorf("%q is not printed as %q: %s", text, want, got)
		}
	}
	c := aCard()
	c.View.Recipient, c.View.Sender = "朝顔", "朝顔"
	if got := printGift(t, c, A4).text(); strings.Contains(got, "For ") || !strings.Contains(got, "From Harbor Coffee") {
		t.Errorf("names that cannot be printed are announced: %s", got)
	}
}

// TestItemsTurnNothing: the number of items stands before them, as on the page, in whatever script they are.
func TestItemsTurnNothing(t *testing.T) {
	t.Parallel()
	c := aCard()
	c.View.Worth = card.Worth{Number: "3", Unit: "אבג", Item: true}
	c.View.Balance = c.View.Worth
	sheet, err := BuiltIn().Order(t.Context(), []Card{c}, A4)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"page": printGift(t, c, A4).text(), "sheet": open(t, sheet).text()} {
		if !strings.Contains(text, "3 × גבא") {
			t.Errorf("on the %s stands %s", name, text)
		}
	}
}

// TestACardStandsOnTheLeft: merchant and headline begin where the amount does, whatever script they are in; a message
// begins on the side of its own.
func TestACardStandsOnTheLeft(t *testing.T) {
	t.Parallel()
	c := aCard()
	c.Logo, c.View.Merchant, c.View.Headline, c.View.Message = nil, "אבג", "דהו", []string{"זחט"}
	begins := map[string]float64{}
	p := printGift(t, c, A4)
	for n, text := range p.texts {
		begins[text] = p.spots[n][0]
	}
	const points = 1 / millimetresPerPoint
	for _, text := range []string{"גבא", "והד", c.View.Worth.Number} {
		if x, there := begins[text]; !there || math.Abs(x-(margin+8)*points) > 1 {
			t.Errorf("%q begins at %.1f in %q", text, x, p.texts)
		}
	}
	if x := begins["טחז"]; x < 300 {
		t.Errorf("the message begins at %.1f", x)
	}
}

// wordy draws a card of texts as long as the interface allows.
func wordy(t *rapid.T) Card {
	word := rapid.SampledFrom([]string{"a", "Wort", "WWWWWWWWWWWWWWWWWWWWWWWWW", "ж", "ω", "é", "\n", "\n\n",
		strings.Repeat("m", 120)})
	text := func(name string, words int) string {
		return strings.Join(rapid.SliceOfN(word, 0, words).Draw(t, name),
			rapid.SampledFrom([]string{" ", ""}).Draw(t, "space"))
	}
	name := func(label string) string { return "x" + clip(card.Line(text(label, 40)), 199) }
	c := aCard()
	c.View.Merchant, c.View.Headline, c.View.Sender, c.View.Recipient = name("merchant"), name("headline"), name("sender"),
		name("recipient")
	c.View.Worth = card.Worth{Number: "10000", Unit: name("label"), Item: true}
	c.View.Balance = c.View.Worth
	c.View.Bars = rapid.SampledFrom([]string{"", "482915073364"}).Draw(t, "bars")
	c.View.Message, c.View.Terms = card.Lines(clip(text("message", 300), 1000)), card.Lines(clip(text("terms", 1500),
		8000))
	return c
}

// TestNothingIsClipped: whatever the texts, every character of them is on the paper, and no piece of text begins or
// ends beyond its edges.
func TestNothingIsClipped(t *testing.T) {
	t.Parallel()
	tries := 40
	if testing.Short() {
		tries = 5 // each reads two fonts and writes two documents
	}
	for seed := range tries {
		c := rapid.Custom(wordy).Example(seed)
		for _, fold := range []Fold{Flat, Half, Quarter} {
			p := printFolded(t, c, fold)
			checkEdges(t, p)
			for _, lines := range [][]string{
				{c.View.Merchant}, {c.View.Headline}, {c.View.Sender}, {c.View.Recipient}, {c.View.Worth.Unit},
				c.View.Message, c.View.Terms,
			} {
				p.hasWhole(t, seed, strings.Join(lines, ""))
			}
		}
		pdf, err := BuiltIn().Order(context.Background(), []Card{c}, Letter)
		if err != nil {
			t.Fatal(err)
		}
		sheet := open(t, pdf)
		checkEdges(t, sheet)
		for _, name := range []string{c.View.Merchant, c.View.Sender, c.View.Recipient, c.View.Worth.Unit} {
			sheet.hasWhole(t, seed, name)
		}
	}
}

// hasWhole holds that a text is on the paper, whatever its line breaks.
func (p *paper) hasWhole(t *testing.T, seed int, text string) {
	t.Helper()
	if want := strings.Map(dropSpace, text); !strings.Contains(strings.Map(dropSpace, p.text()), want) {
		t.Fatalf("seed %d: %q is not whole on the paper:\n%s", seed, want, p.text())
	}
}

func checkEdges(t *testing.T, p *paper) {
	t.Helper()
	for i, at := range p.spots {
		if at[0] < 0 || at[1] < 0 || at[0] > p.boxes[0][0] || at[1] > p.boxes[0][1] {
			t.Fatalf("%q stands at %v, beyond the paper", p.texts[i], at)
		}
	}
}

func clip(s string, n int) string {
	r := []rune(s)
	return string(r[:min(n, len(r))])
}

func dropSpace(r rune) rune {
	if r == ' ' {
		return -1
	}
	return r
}

// TestFit: a text that was fitted is in its box, and every character of it is there.
func TestFit(t *testing.T) {
	t.Parallel()
	d := BuiltIn().begin(A4, aCard().View, "print.title", made)
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[ -~Ж-яα-ω]{0,90}`), 1, 12).Draw(t, "lines")
		width, height := rapid.Float64Range(5, 150).Draw(t, "width"), rapid.Float64Range(3, 80).Draw(t, "height")
		wrapped, size, ok := d.regular.fit(lines, width, height, 20, smallest)
		if !ok && size > smallest {
			t.Fatalf("size %f does not fit, and smaller ones were not tried", size)
		}
		if ok && (float64(len(wrapped))*size*leading > height+1e-9 || widest(wrapped)*size > width+1e-9) {
			t.Fatalf("%d lines at %f do not fit %f by %f", len(wrapped), size, width, height)
		}
		if got, want := strings.Map(dropSpace, joinLines(wrapped)), strings.Map(dropSpace,
			strings.Join(lines, "")); got != want {
			t.Fatalf("wrapping made %q of %q", got, want)
		}
	})
}

func joinLines(lines []wrapped) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line.text)
	}
	return b.String()
}

func TestPaperFor(t *testing.T) {
	t.Parallel()
	us, de := merchant.Location{ID: guid.ID{1}, Jurisdiction: "US-CA"}, merchant.Location{ID: guid.ID{2},
		Jurisdiction: "DE"}
	for _, tc := range []struct {
		locations []merchant.Location
		currency  string
		at        guid.ID
		want      Paper
	}{
		{nil, "USD", guid.ID{}, Letter}, {nil, "CAD", guid.ID{}, Letter}, {nil, "EUR", guid.ID{}, A4},
		{nil, "", guid.ID{}, A4},
		{[]merchant.Location{us, de}, "EUR", guid.ID{}, Letter}, {[]merchant.Location{us, de}, "USD", de.ID, A4},
		{[]merchant.Location{{ID: guid.ID{3}}, de}, "USD", guid.ID{3}, A4},
		{[]merchant.Location{{ID: guid.ID{3}}}, "USD", guid.ID{3}, Letter},
	} {
		a := &merchant.Account{Currency: money.Currency{Code: tc.currency}, Locations: tc.locations}
		if got := PaperFor(a, tc.at); got != tc.want {
			t.Errorf("%v in %s: %s, want %s", tc.locations, tc.currency, got, tc.want)
		}
	}
	if _, ok := ParsePaper("A4"); ok {
		t.Error("A4 is written a4")
	}
}

// TestScan has programs that we did not write look at the paper, where they are installed: the QR codes are read from a
// picture of it, and the text is found in it. Where they are not, the drawing is compared module by module with the
// code of the address, as above.
func TestScan(t *testing.T) {
	racetest.SkipShort(t, "programs of others scan what one goroutine draws")
	t.Parallel()
	var cards []Card
	var links []string
	for i := range 10 {
		c := aCard()
		c.URL = fmt.Sprintf("https://gifts.example.com/g/%022d", i)
		cards, links = append(cards, c), append(links, c.URL)
	}
	for _, paper := range []Paper{Letter, A4} {
		single, err := BuiltIn().Gift(aCard(), paper)
		if err != nil {
			t.Fatal(err)
		}
		sheet, err := BuiltIn().Order(context.Background(), cards, paper)
		if err != nil {
			t.Fatal(err)
		}
		for _, tc := range []struct {
			pdf  []byte
			want []string
		}{{single, []string{link}}, {sheet, links}} {
			got := scan(t, tc.pdf)
			slices.Sort(got)
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s: read %q, want %q", paper, got, tc.want)
			}
		}
	}
}

// scan reads the QR codes of a PDF's first page.
func scan(t *testing.T, pdf []byte) (read []string) {
	t.Helper()
	render, err := exec.LookPath("pdftoppm")
	scanner, missing := exec.LookPath("zbarimg")
	if err != nil || missing != nil {
		for i, drawing := range open(t, pdf).codes {
			for _, text := range []string{link, fmt.Sprintf("https://gifts.example.com/g/%022d", i)} {
				if holds(t, drawing, text) {
					read = append(read, text)
				}
			}
		}
		return read
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "gift")
	if err := os.WriteFile(file+".pdf", pdf, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), render, "-png", "-r", "150", "-singlefile", file+".pdf",
		file).CombinedOutput(); err != nil {
		t.Fatalf("pdftoppm: %v\n%s", err, out)
	}
	args := []string{"--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", file + ".png"}
	if len(open(t, pdf).codes) > 1 { // a scanner is held before one card
		args = append(args[:len(args)-1], cut(t, file+".png", dir)...)
	}
	out, err := exec.CommandContext(t.Context(), scanner, args...).Output()
	if err != nil {
		t.Fatalf("zbarimg: %v", err)
	}
	return strings.Fields(string(out))
}

// cut makes ten pictures of that of a sheet.
func cut(t *testing.T, file, dir string) (names []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	size := sheet.Bounds().Size()
	edge := size.Y / 20 // the margins of both papers are near it
	for i := range columns * rows {
		x, y := i%columns*size.X/columns, edge+i/columns*(size.Y-2*edge)/rows
		one := sheet.(interface {
			SubImage(image.Rectangle) image.Image
		}).SubImage(image.Rect(x, y, x+size.X/columns, y+(size.Y-2*edge)/rows))
		var card bytes.Buffer
		if err := png.Encode(&card, one); err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.Join(dir, fmt.Sprintf("card-%d.png", i)))
		if err := os.WriteFile(names[i], card.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

func BenchmarkGift(b *testing.B) {
	c := aCard()
	for b.Loop() {
		if _, err := BuiltIn().Gift(c, Letter); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOrderOf100(b *testing.B) {
	cards := make([]Card, 100)
	for i := range cards {
		cards[i] = aCard()
		cards[i].URL = fmt.Sprintf("https://gifts.example.com/g/%022d", i)
	}
	for b.Loop() {
		if _, err := BuiltIn().Order(context.Background(), cards, Letter); err != nil {
			b.Fatal(err)
		}
	}
}

// TestTheMarkOfATestOnPaper: a printed test gift says across its card, in every language, that it is worth nothing.
func TestTheMarkOfATestOnPaper(t *testing.T) {
	t.Parallel()
	a := &merchant.Account{Name: "Harbor Coffee", Test: true, Currency: money.Currency{Code: "USD", Decimals: 2}}
	g := &gift.Gift{Voucher: gift.Voucher{Currency: a.Currency, Funded: 2500, Balance: 2500, Status: gift.Delivered}}
	for _, l := range merchant.Languages() {
		if !BuiltIn().Writes(locale.For(l)) {
			continue // it is printed in English
		}
		c := aCard()
		c.View = card.In(locale.For(l), g, a, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		sheet, err := BuiltIn().Order(t.Context(), []Card{c}, A4)
		if err != nil {
			t.Fatal(err)
		}
		for what, p := range map[string]*paper{"gift": printGift(t, c, A4), "sheet": open(t, sheet)} {
			text := p.text()
			if !strings.Contains(text, "TEST Harbor Coffee") || !slices.Contains(p.texts, "TEST") ||
				!strings.Contains(strings.ReplaceAll(text, " ", ""), strings.ReplaceAll(c.View.Test, " ", "")) {
				t.Errorf("%s in %s: %s", what, l, text)
			}
		}
	}
}

// TestScanBars has a scanner's program read the bar codes of a card, of cards to be folded, and of a sheet.
func TestScanBars(t *testing.T) {
	racetest.SkipShort(t, "programs of others scan what one goroutine draws")
	t.Parallel()
	render, err := exec.LookPath("pdftoppm")
	scanner, missing := exec.LookPath("zbarimg")
	if err != nil || missing != nil {
		t.Skip("LEFT OUT: there is no pdftoppm or no zbarimg")
	}
	const code = "482915073364"
	c := aCard()
	c.View.Bars = code
	for _, paper := range []Paper{Letter, A4} {
		toSell := c
		toSell.View.Bars, toSell.View.ToSell, toSell.View.Message = "", "4829 1507 3364 8137", nil
		drawn := map[string]func() ([]byte, error){
			"to sell":    func() ([]byte, error) { return BuiltIn().Order(t.Context(), []Card{toSell}, paper) },
			"a card":     func() ([]byte, error) { return BuiltIn().Gift(c, paper) },
			"a half":     func() ([]byte, error) { return BuiltIn().Folded(c, paper, Half) },
			"a quarter":  func() ([]byte, error) { return BuiltIn().Folded(c, paper, Quarter) },
			"on a sheet": func() ([]byte, error) { return BuiltIn().Order(t.Context(), []Card{c}, paper) },
		}
		for name, draw := range drawn {
			pdf, err := draw()
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "bars")
			if err := os.WriteFile(file+".pdf", pdf, 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.CommandContext(t.Context(), render, "-png", "-r", "300", "-singlefile", file+".pdf",
				file).CombinedOutput(); err != nil {
				t.Fatalf("pdftoppm: %v\n%s", err, out)
			}
			out, err := exec.CommandContext(t.Context(), scanner, "--quiet", "--raw", "-Sdisable", "-Scode128.enable",
				file+".png").Output()
			want := code
			if name == "to sell" {
				want = strings.ReplaceAll(toSell.View.ToSell, " ", "")
			}
			if strings.TrimSpace(string(out)) != want {
				t.Errorf("%s on %s: zbarimg read %q, %v", name, paper, out, err)
			}
		}
	}
}

// TestToSell: what a card pays with stands within the field that is to be covered, and the number by which it is sold
// outside of it.
func TestToSell(t *testing.T) {
	t.Parallel()
	for _, paper := range []Paper{Letter, A4} {
		c := aCard()
		c.View.ToSell, c.View.Second, c.View.Message, c.View.Recipient = "4829 1507 3364 8137", "0471", nil, ""
		c.View.Code = "9911 2233 4455"
		pdf, err := BuiltIn().Order(t.Context(), []Card{c}, paper)
		if err != nil {
			t.Fatal(err)
		}
		p := open(t, pdf)
		if text := p.text(); !strings.Contains(text, "For the till 4829 1507 3364 8137") ||
			!strings.Contains(text, "Cover this field") || !strings.Contains(text, "0471") {
			t.Errorf("%s says %q", paper, text)
		}
		const millimetre = 72 / 25.4
		width, high := paper.cardSize()
		field := p.boxes[0][0]/2 - (4+high-8-8+0.5)*millimetre // where it begins, in the left one of two cards
		for n, text := range p.texts {
			inside := strings.Contains(text, "9911") || strings.Contains(text, "0471")
			if at := p.spots[n][0]; inside != (at > field) && (inside || strings.Contains(text, "4829")) {
				t.Errorf("%s: %q stands at %.0f, and the field of a card of %.0f mm begins at %.0f", paper, text, at, width, field)
			}
		}
		checkEdges(t, p)
	}
}
