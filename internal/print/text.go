package print

import (
	"bytes"
	_ "embed"
	"math"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"codeberg.org/go-pdf/fpdf"
	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/bidi"

	"boon.example/internal/card"
	"boon.example/internal/locale"
)

//go:embed fonts/DejaVuSans.ttf
var regularFont []byte

//go:embed fonts/DejaVuSans-Bold.ttf
var boldFont []byte

const family = "dejavu"

// missing stands for a character that a font lacks: a box, which both fonts have.
const missing = '\u25a1'

// coverage tells which characters of the basic plane a font has, and how wide they are. Those beyond have no place in
// the PDF's encoding.
type coverage struct {
	known  [0x10000]bool
	widths [0x10000]uint16 // thousandths of the size
}

// coverages are read once, so that a text is measured without asking the font, or writing into a document, for each of
// its characters.
var coverages = sync.OnceValue(func() map[string]*coverage {
	all := map[string]*coverage{}
	for style, file := range map[string][]byte{"": regularFont, "B": boldFont} {
		font, err := sfnt.Parse(file)
		if err != nil {
			panic(err) // it is embedded
		}
		all[style] = readCoverage(font)
	}
	return all
})

func readCoverage(font *sfnt.Font) *coverage {
	var c coverage
	var buffer sfnt.Buffer
	for r := ' '; r <= 0xfffd; r++ {
		glyph, err := font.GlyphIndex(&buffer, r)
		if err != nil || glyph == 0 {
			continue
		}
		advance, err := font.GlyphAdvance(&buffer, glyph, fixed.I(1000), xfont.HintingNone)
		if err != nil {
			continue
		}
		c.known[r], c.widths[r] = true, uint16(advance.Round())
	}
	return &c
}

// has reports whether the font can draw a character.
func (c *coverage) has(r rune) bool { return r >= 0 && int(r) < len(c.known) && c.known[r] }

// Writes reports whether the words of a language can be printed.
func Writes(l *locale.Locale) bool {
	for _, r := range l.Text("print.cash") {
		if !coverages()[""].has(r) {
			return false
		}
	}
	return true
}

// millimetresPerPoint is the size of a point.
const millimetresPerPoint = 25.4 / 72

// width is that of a character that the font has, at a size of one point, in millimetres.
func (c *coverage) width(r rune) float64 {
	if !c.has(r) {
		return 0
	}
	return float64(c.widths[r]) / 1000 * millimetresPerPoint
}

// face is a font in one document.
type face struct {
	pdf      *fpdf.Fpdf
	style    string
	coverage *coverage
}

func newFace(pdf *fpdf.Fpdf, style string) *face {
	file := regularFont
	if style == "B" {
		file = boldFont
	}
	pdf.AddUTF8FontFromBytes(family, style, bytes.Clone(file)) // the library pads tables in place
	return &face{pdf, style, coverages()[style]}
}

// drawable makes a line of what the font can draw. What is invisible anyway is left out; anything else that is lacking
// becomes a box, and a sequence that is one picture, such as a family of four, becomes one box.
func (f *face) drawable(s string) string {
	var b strings.Builder
	joined := false // the last character asked to be joined with the next
	for _, r := range s {
		switch {
		case r == '\u200d':
			joined = true
			continue
		case invisible(r):
		case f.coverage.has(r):
			b.WriteRune(r)
		case unicode.IsMark(r) || unicode.Is(unicode.Sk, r): // accents that a missing letter bears, skin tones
		case !joined:
			b.WriteRune(missing)
		}
		joined = false
	}
	return b.String()
}

func invisible(r rune) bool {
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || unicode.IsControl(r)
}

// width is that of a drawable text at a size of one point, in millimetres.
func (f *face) width(s string) (w float64) {
	for _, r := range s {
		w += f.coverage.width(r)
	}
	return w
}

// leading is the height of a line as a multiple of its size, in millimetres.
const leading = 1.3 * millimetresPerPoint

// word is a part of a line, and its width at a size of one point.
type word struct {
	text  string
	width float64
}

// words are drawable lines, measured once for all sizes that are tried.
func (f *face) words(lines []string) [][]word {
	measured := make([][]word, len(lines))
	for i, line := range lines {
		for text := range strings.FieldsSeq(line) {
			measured[i] = append(measured[i], word{text, f.width(text)})
		}
	}
	return measured
}

// wrap cuts drawable lines into lines no wider than width at a size. A word that is too long is cut where it must.
func (f *face) wrap(lines []string, width, size float64) []string {
	return f.wrapWords(f.words(lines), width, size)
}

func (f *face) wrapWords(lines [][]word, width, size float64) (wrapped []string) {
	limit := width / size
	space := f.width(" ")
	for _, line := range lines {
		var current []string
		used := 0.0
		for _, w := range line {
			if len(current) > 0 && used+space+w.width <= limit {
				current, used = append(current, w.text), used+space+w.width
				continue
			}
			if len(current) > 0 {
				wrapped = append(wrapped, strings.Join(current, " "))
			}
			for w.width > limit {
				var head string
				head, w = f.cut(w, limit)
				wrapped = append(wrapped, head)
			}
			current, used = append(current[:0], w.text), w.width
		}
		wrapped = append(wrapped, strings.Join(current, " "))
	}
	return wrapped
}

// cut takes from a word as many characters as fit, one at least, accents with their letters.
func (f *face) cut(long word, limit float64) (head string, tail word) {
	end, used := 0, 0.0
	for at, r := range long.text {
		w := f.coverage.width(r)
		if at > 0 && used+w > limit && !unicode.IsMark(r) {
			break
		}
		used += w
		end = at + utf8.RuneLen(r)
	}
	return long.text[:end], word{long.text[end:], long.width - used}
}

// prepared makes lines drawable and several empty lines one.
func (f *face) prepared(lines []string) []string {
	var kept []string
	for _, line := range lines {
		line = f.drawable(line)
		if line == "" && len(kept) > 0 && kept[len(kept)-1] == "" {
			continue
		}
		kept = append(kept, line)
	}
	return kept
}

// fit finds the largest size from most down to least, at which the lines fit a box, and their wrapping. ok is false
// when they do not fit even at the least.
func (f *face) fit(lines []string, width, height, most, least float64) (wrapped []string, size float64, ok bool) {
	measured := f.words(f.prepared(lines))
	roomy := roomiest(measured, width, height)
	for size = most; ; size *= shrink {
		if size < least {
			size = least
		}
		if size > roomy && size > least {
			continue // there is more text than room
		}
		wrapped = f.wrapWords(measured, width, size)
		if float64(len(wrapped))*size*leading <= height && f.widest(wrapped)*size <= width {
			return wrapped, size, true
		}
		if size == least {
			return wrapped, size, false
		}
	}
}

// shrink is how much smaller the next size is that is tried.
const shrink = 0.94

// roomiest is a size above which lines cannot fit a box, as all their words together take more room than it has.
func roomiest(lines [][]word, width, height float64) float64 {
	total := 0.0
	for _, line := range lines {
		for _, w := range line {
			total += w.width
		}
	}
	return math.Sqrt(width * height / (max(total, 0.001) * leading))
}

func (f *face) widest(lines []string) (w float64) {
	for _, line := range lines {
		w = max(w, f.width(line))
	}
	return w
}

// smallest is below any size that a text of the interface's bounds needs in any box here.
const smallest = 0.5

// box writes lines into a box, shrunk until they fit, and gives the height that they take.
func (d *document) box(f *face, lines []string, x, y, width, height, most float64, c card.Color) float64 {
	wrapped, size, _ := f.fit(lines, width, height, most, smallest)
	d.lines(f, wrapped, x, y, width, size, c)
	return float64(len(wrapped)) * size * leading
}

// lines writes wrapped lines below each other, those in a script that is written from right to left on the right.
func (d *document) lines(f *face, lines []string, x, y, width, size float64, c card.Color) {
	d.pdf.SetTextColor(int(c.R), int(c.G), int(c.B))
	for i, line := range lines {
		line, rightToLeft := visual(line)
		at := x
		if rightToLeft {
			at = x + width - f.width(line)*size
		}
		d.pdf.SetFont(family, f.style, size)
		const baseline = 0.76 // of the leading, from its top
		d.pdf.Text(at, y+(float64(i)+baseline)*size*leading, line)
	}
}

// visual puts the characters of a line in the order in which they are seen from left to right.
func visual(line string) (_ string, rightToLeft bool) {
	if strings.IndexFunc(line, isRightToLeft) < 0 {
		return line, false
	}
	var p bidi.Paragraph
	if _, err := p.SetString(line); err != nil {
		return line, false
	}
	order, err := p.Order()
	if err != nil {
		return line, false
	}
	rightToLeft = order.Direction() == bidi.RightToLeft || order.Direction() == bidi.Mixed && startsRightToLeft(line)
	var b strings.Builder
	for i := range order.NumRuns() {
		n := i
		if rightToLeft {
			n = order.NumRuns() - 1 - i
		}
		run := order.Run(n)
		if run.Direction() == bidi.RightToLeft {
			b.WriteString(bidi.ReverseString(run.String()))
		} else {
			b.WriteString(run.String())
		}
	}
	return b.String(), rightToLeft
}

func isRightToLeft(r rune) bool {
	p, _ := bidi.LookupRune(r)
	return p.Class() == bidi.R || p.Class() == bidi.AL
}

// startsRightToLeft tells from the first letter in which direction a line is read.
func startsRightToLeft(line string) bool {
	for _, r := range line {
		if p, _ := bidi.LookupRune(r); p.Class() == bidi.L {
			return false
		}
		if isRightToLeft(r) {
			return true
		}
	}
	return false
}
