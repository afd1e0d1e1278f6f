package print

import (
	"bytes"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"boon.example/examples"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
	"boon.example/internal/post/locale"
	"boon.example/internal/setup"
)

var system = sync.OnceValue(func() *Fonts { return NewFonts(slog.New(slog.DiscardHandler), "") })

// TestArabicJoins: letters take the shapes that they have beside each other, with the built-in font.
func TestArabicJoins(t *testing.T) {
	t.Parallel()
	s := newSetter(BuiltIn())
	shapes := func(text string) map[int]bool {
		ids := map[int]bool{}
		for _, p := range s.pieces(0, text, true) {
			for _, g := range p.glyphs {
				ids[int(g.id)] = true
			}
		}
		return ids
	}
	if alone, joined := shapes("ب"), shapes("ببب"); len(alone) != 1 || len(joined) != 3 {
		t.Errorf("three letters have %d shapes, not 3", len(joined))
	}
	if n := len(shapes("لا")); n != 1 {
		t.Errorf("lam and alef are %d glyphs, not one", n)
	}
}

// TestScriptsOfTheSystem: what the fonts of this machine have is printed, and the text can be read back from the file
// by a program that we did not write.
func TestScriptsOfTheSystem(t *testing.T) {
	t.Parallel()
	reader, missing := exec.LookPath("pdftotext")
	for name, text := range map[string]string{
		"Japanese": "お誕生日おめでとう", "Korean": "안녕하세요", "Hindi": "नमस्ते दुनिया क्षत्रिय", "Thai": "สวัสดีชาวโลก",
		"Tamil": "வணக்கம்", "Bengali": "বাংলা", "Emoji": "🎂🎉", "Greek": "Καλημέρα", "Vietnamese": "Tiếng Việt",
	} {
		if !system().Prints(text) {
			t.Logf("LEFT OUT: no font of this machine has %s", name)
			continue
		}
		c := aCard()
		c.View.Message = []string{text, text + "\u200b" + text}
		pdf, err := system().Gift(c, A4)
		if err != nil {
			t.Fatal(err)
		}
		p := open(t, pdf)
		checkEdges(t, p)
		if !strings.Contains(p.text(), text) {
			t.Errorf("%s: %q is not on the page: %s", name, text, p.text())
		}
		if missing != nil {
			t.Log("LEFT OUT: there is no pdftotext")
			continue
		}
		file := filepath.Join(t.TempDir(), "gift.pdf")
		if err := os.WriteFile(file, pdf, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), reader, file, "-").CombinedOutput()
		if err != nil || bytes.Contains(out, []byte("rror")) || !strings.Contains(string(out), text) {
			t.Errorf("%s: pdftotext reads no %q: %v\n%s", name, text, err, out)
		}
	}
}

// TestJapanese: a whole page is in Japanese, without a word in another language.
func TestJapanese(t *testing.T) {
	t.Parallel()
	l := locale.For(merchant.Japanese)
	if !system().Writes(l) {
		t.Skip("LEFT OUT: no font of this machine has Japanese")
	}
	if BuiltIn().Writes(l) || !BuiltIn().Writes(locale.For(merchant.Spanish)) {
		t.Error("the built-in fonts are said to have Japanese, or to lack Spanish")
	}
	c := aCard()
	c.View.Locale, c.View.Merchant, c.View.Recipient, c.View.Sender = l, "港珈琲店", "朝顔", "弁"
	c.View.Message = []string{strings.Repeat("お誕生日おめでとうございます。", 30)}
	pdf, err := system().Gift(c, A4)
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, pdf)
	checkEdges(t, p)
	for _, want := range []string{"朝顔様", "弁より", l.Text("card.terms"), l.Text("print.scan")} {
		if !strings.Contains(p.text(), want) {
			t.Errorf("%q is not on the page: %s", want, p.text())
		}
	}
	p.hasWhole(t, 0, c.View.Message[0])
	for _, line := range p.texts { // UAX #14: no line begins with a full stop
		if strings.HasPrefix(line, "。") {
			t.Errorf("a line begins so: %s", line)
		}
	}
	again, err := system().Gift(c, A4)
	if err != nil || !bytes.Equal(pdf, again) {
		t.Errorf("another file, %v", err)
	}
}

// TestJapaneseExample: the example of the project in Japanese is printed whole, and Lacks tells where it would not be.
func TestJapaneseExample(t *testing.T) {
	t.Parallel()
	file, err := setup.Parse("asagao-tea.yaml", examples.AsagaoTea())
	if err != nil {
		t.Fatal(err)
	}
	a := file.Accounts[0].Record
	if lacks := BuiltIn().Lacks(a); len(lacks) != 5 || !strings.Contains(strings.Join(lacks, "\n"),
		"no font here has language ja") {
		t.Errorf("without a font it lacks %q", lacks)
	}
	if !system().Writes(locale.For(merchant.Japanese)) {
		t.Skip("LEFT OUT: no font of this machine has Japanese")
	}
	if lacks := system().Lacks(a); len(lacks) > 0 {
		t.Errorf("with fonts it lacks %q", lacks)
	}
	g := &gift.Gift{Voucher: gift.Voucher{AccountID: a.ID, Currency: a.Currency, Funded: 3000, Balance: 3000,
		Status: gift.Delivered}, Card: gift.Card{Sender: "弁", Recipient: "朝顔", Message: "お誕生日おめでとう。",
		DesignID: a.Designs[0].ID, Method: contact.Printed}}
	pdf, err := system().Gift(Card{View: card.New(g, a, made), URL: link, Made: made}, A4)
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, pdf)
	for _, want := range []string{a.Name, "いつもありがとう", "¥3,000", "朝顔様", "弁より", "お誕生日おめでとう。", "浅草店",
		"このギフトに有効期限はありません。"} {
		if !strings.Contains(p.text(), want) {
			t.Errorf("%q is not on the page: %s", want, p.text())
		}
	}
	if !bytes.Contains(pdf, []byte("/Lang (ja)")) {
		t.Error("the document is not said to be in Japanese")
	}
}

// TestManyGlyphs: more characters than one font of drawings holds are all there.
func TestManyGlyphs(t *testing.T) {
	t.Parallel()
	var text []rune
	for r := rune(0x1401); r < 0x1680; r++ { // of the Cree and Inuktitut
		if BuiltIn().Prints(string(r)) {
			text = append(text, r)
		}
	}
	if len(text) < slotsPerFont+10 {
		t.Fatalf("the font has %d such characters", len(text))
	}
	c := aCard()
	c.View.Terms = []string{string(text)}
	printGift(t, c, A4).hasWhole(t, 0, string(text))
}

// TestDamagedFonts: files that are no fonts, or damaged ones, do no harm: what is left is printed, and the log tells
// which are not used.
func TestDamagedFonts(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("junk.ttf", []byte("junk"))
	write("empty.otf", nil)
	write("short.ttf", regularFont[:5000])
	write("huge.ttc", []byte("ttcf\x00\x01\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"))
	random := rand.New(rand.NewPCG(1, 2))
	tries := 20
	if testing.Short() {
		tries = 3
	}
	for range tries {
		damaged := bytes.Clone(regularFont)
		for range 1 + random.IntN(200) {
			at := random.IntN(len(damaged))
			if random.IntN(2) == 0 {
				at = random.IntN(400) // where its tables are said to be
			}
			damaged[at] = byte(random.Uint32())
		}
		write("damaged.ttf", damaged)
		var log bytes.Buffer
		f := NewFonts(slog.New(slog.NewTextHandler(&log, nil)), folder)
		f.builtIns = [2]*source{{name: "none", weight: 400}, {name: "none", weight: 700}} // so that the damaged one is needed
		c := aCard()
		c.View.Recipient, c.View.Message = "שלום", []string{"السلام عليكم", "x̂ 朝顔 🎂"}
		pdf, err := f.Gift(c, A4)
		if err != nil {
			t.Fatal(err)
		}
		open(t, pdf)
		for _, name := range []string{"junk.ttf", "empty.otf", "short.ttf", "huge.ttc"} {
			if strings.Count(log.String(), name) != 1 {
				t.Errorf("%s is not told once:\n%s", name, log.String())
			}
		}
	}
}

// TestFontsOfADocumentAreBounded: texts in all scripts at once open a bounded number of files, the same ones each time,
// and leave no trace in the next document.
func TestFontsOfADocumentAreBounded(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for i := range maxUsed + 3 { // each has one character of its own
		if err := os.WriteFile(filepath.Join(folder, string(rune('a'+i))+".ttf"), regularFont, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := NewFonts(slog.New(slog.DiscardHandler), folder)
	text := ""
	for i, s := range f.find()[2:] {
		s.ranges = [][2]rune{{rune(0x1409 + i), rune(0x1409 + i)}}
		text += string(rune(0x1409 + i))
	}
	for _, b := range f.builtIns {
		b.ranges = [][2]rune{{' ', '~'}}
	}
	c, last := aCard(), aCard()
	c.View.Message, last.View.Message = []string{text}, []string{text[len(text)-3:]}
	want, err := newFonts(slog.New(slog.DiscardHandler), folder).Gift(aCard(), A4)
	if err != nil {
		t.Fatal(err)
	}
	var first []byte
	for range 3 {
		pdf, err := f.Gift(c, A4)
		if err != nil {
			t.Fatal(err)
		}
		if got := open(t, pdf).text(); strings.Count(got, text[:3*maxUsed]) != 1 ||
			strings.Contains(got, text[:3*maxUsed+3]) {
			t.Errorf("the page has %s", got)
		}
		if first == nil {
			first = pdf
		}
		if !bytes.Equal(first, pdf) {
			t.Error("another file")
		}
		if p := printWith(t, f, last); !strings.Contains(p.text(), last.View.Message[0]) {
			t.Errorf("the next document lacks %q: %s", last.View.Message[0], p.text())
		}
	}
	if again, err := f.Gift(aCard(), A4); err != nil || !bytes.Equal(again, want) {
		t.Errorf("a document without them is another one, %v", err)
	}
	if !f.Prints(text) {
		t.Error("a check is bounded too")
	}
}

func printWith(t *testing.T, f *Fonts, c Card) *paper {
	t.Helper()
	pdf, err := f.Gift(c, A4)
	if err != nil {
		t.Fatal(err)
	}
	return open(t, pdf)
}

// TestFontsTogether: printers at the same time make the files that one alone makes.
func TestFontsTogether(t *testing.T) {
	t.Parallel()
	c := aCard()
	c.View.Message = []string{"السلام عليكم", "שלום x̂"}
	want, err := BuiltIn().Gift(c, A4)
	if err != nil {
		t.Fatal(err)
	}
	f := newFonts(slog.New(slog.DiscardHandler))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, err := f.Gift(c, A4); err != nil || !bytes.Equal(got, want) {
				t.Errorf("another file, %v", err)
			}
		})
	}
	all.Wait()
}

// FuzzGift: whatever is written, it is printed twice alike, in a file whose parts hold together.
func FuzzGift(f *testing.F) {
	for _, s := range []string{"", "السلام", "שלום (a) 12", "नमस्ते", "a\u0301\u0301\u0301", "👩‍👩‍👧‍👦", "\u202e\u2066x",
		"\x00\xff", "ﷺ",
		strings.Repeat("\u0647", 200)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := aCard()
		c.View.Recipient, c.View.Message = s, []string{s, s + s}
		pdf, err := BuiltIn().Gift(c, A4)
		if err != nil {
			t.Fatal(err)
		}
		checkEdges(t, open(t, pdf))
		if again, err := BuiltIn().Gift(c, A4); err != nil || !bytes.Equal(pdf, again) {
			t.Fatalf("another file, %v", err)
		}
	})
}
