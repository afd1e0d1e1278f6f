package print

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"codeberg.org/go-pdf/fpdf"
	"github.com/go-text/typesetting/language"
	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/bidi"

	"boon.example/internal/post/card"
	"boon.example/internal/post/locale"
)

const family = "dejavu"

// coverage tells which characters of the basic plane a built-in font has that the library can write one after the
// other, and how wide they are. Those that change with their neighbours are not among them.
type coverage struct {
	known  [0x10000]bool
	widths [0x10000]uint16 // thousandths of the size
}

// coverages are read once, so that a text is measured without asking the font, or writing into a document, for each of
// its characters.
var coverages = sync.OnceValue(func() [2]*coverage {
	var all [2]*coverage
	for style, file := range [][]byte{regularFont, boldFont} {
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
		if !stands(r) {
			continue
		}
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

// stands reports whether a character is of a script in which each looks the same everywhere.
func stands(r rune) bool {
	switch language.LookupScript(r) {
	case language.Latin, language.Greek, language.Cyrillic, language.Armenian, language.Georgian, language.Common:
		return !unicode.IsMark(r) && !invisible(r) && (r < 0x0590 || r > 0x08ff)
	}
	return false
}

// simple reports whether the library can write a character.
func (c *coverage) simple(r rune) bool { return r >= 0 && int(r) < len(c.known) && c.known[r] }

func (c *coverage) simpleText(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !c.simple(r) }) < 0
}

// thousandths is the width of a simple text in thousandths of its size.
func (c *coverage) thousandths(s string) (width int) {
	for _, r := range s {
		width += int(c.widths[r])
	}
	return width
}

// Writes reports whether the words of a language can be printed.
func (f *Fonts) Writes(l *locale.Locale) bool { return f.Prints(l.Text("print.cash")) }

// Prints reports whether all that can be seen of a text can be printed.
func (f *Fonts) Prints(text string) bool {
	if coverages()[0].simpleText(text) {
		return true
	}
	s := <-f.checkers
	defer func() { f.checkers <- s }()
	for line := range strings.Lines(text) {
		if _, whole := s.drawable(0, card.Line(line)); !whole {
			return false
		}
	}
	return true
}

// millimetresPerPoint is the size of a point.
const millimetresPerPoint = 25.4 / 72

// face is a font in one document, with those that stand in for it.
type face struct {
	style    string // as the library calls it
	number   int    // 0: regular, 1: bold
	coverage *coverage
	set      *setter
}

func newFace(pdf *fpdf.Fpdf, number int, set *setter) *face {
	file, style := regularFont, ""
	if number == 1 {
		file, style = boldFont, "B"
	}
	pdf.AddUTF8FontFromBytes(family, style, bytes.Clone(file)) // the library pads tables in place
	return &face{style, number, coverages()[number], set}
}

// drawable makes a line of what can be drawn.
func (f *face) drawable(s string) string {
	s, _ = f.set.drawable(f.number, s)
	return s
}

// width is that of a drawable text at a size of one point, in millimetres.
func (f *face) width(s string) float64 {
	width := 0
	if f.coverage.simpleText(s) {
		width = f.coverage.thousandths(s)
	} else {
		width = f.set.width(f.number, s)
	}
	return float64(width) / 1000 * millimetresPerPoint
}

// leading is the height of a line as a multiple of its size, in millimetres.
const leading = 1.3 * millimetresPerPoint

// word is a part of a line, and its width at a size of one point.
type word struct {
	text  string
	width float64
	glued bool // there is no space before it
}

// paragraph is a line that is to be wrapped.
type paragraph struct {
	words       []word
	rightToLeft bool
}

// wrapped is a line that has its width.
type wrapped struct {
	text        string
	width       float64 // at a size of one point
	rightToLeft bool
}

// words are drawable lines, measured once for all sizes that are tried.
func (f *face) words(lines []string) []paragraph {
	measured := make([]paragraph, len(lines))
	for i, line := range lines {
		measured[i].rightToLeft = startsRightToLeft(line)
		for text := range strings.FieldsSeq(line) {
			if f.coverage.simpleText(text) {
				measured[i].words = append(measured[i].words, word{text, f.width(text), false})
				continue
			}
			for n, part := range f.set.parts(text) {
				measured[i].words = append(measured[i].words, word{part, f.width(part), n > 0})
			}
		}
	}
	return measured
}

// parts cuts a word where a line may end within it (UAX #14), as between two words of a script without spaces, and
// where it is too long to be one.
func (s *setter) parts(text string) (all []string) {
	const most = 32 // letters
	if err := s.segment.InitWithString(text); err != nil {
		return []string{text} // it is no UTF-8, and a face draws none
	}
	for each := s.segment.LineIterator(); each.Next(); {
		line := each.Line()
		if len(line.Text) <= most {
			all = append(all, text[line.OffsetInBytes:line.OffsetInBytes+line.LengthInBytes])
			continue
		}
		for letters := range slices.Chunk(s.clusters(line.Text), most) {
			all = append(all, string(slices.Concat(letters...)))
		}
	}
	return all
}

// wrap cuts drawable lines into lines no wider than width at a size. A word that is too long is cut where it must.
func (f *face) wrap(lines []string, width, size float64) []wrapped {
	return f.wrapWords(f.words(lines), width, size)
}

func (f *face) wrapWords(paragraphs []paragraph, width, size float64) (all []wrapped) {
	limit := width / size
	space := f.width(" ")
	var line strings.Builder
	for _, p := range paragraphs {
		used := 0.0
		end := func() {
			all = append(all, wrapped{line.String(), used, p.rightToLeft})
			line.Reset()
			used = 0
		}
		for _, w := range p.words {
			gap := space
			if w.glued || line.Len() == 0 {
				gap = 0
			}
			if line.Len() > 0 && used+gap+w.width > limit {
				end()
				gap = 0
			}
			for line.Len() == 0 && w.width > limit {
				var head word
				head, w = f.cut(w, limit)
				if w.text == "" {
					w = head
					break
				}
				line.WriteString(head.text)
				used = head.width
				end()
			}
			if gap > 0 {
				line.WriteByte(' ')
			}
			line.WriteString(w.text)
			used += gap + w.width
		}
		end()
	}
	return all
}

// cut takes from a word as many letters as fit, one at least, accents with their letters.
func (f *face) cut(long word, limit float64) (head, tail word) {
	if f.coverage.simpleText(long.text) {
		end, used := 0, 0.0
		for at, r := range long.text {
			w := float64(f.coverage.widths[r]) / 1000 * millimetresPerPoint
			if at > 0 && used+w > limit {
				break
			}
			used += w
			end = at + utf8.RuneLen(r)
		}
		return word{long.text[:end], used, false}, word{long.text[end:], long.width - used, true}
	}
	end, used := 0, 0.0
	for n, letter := range f.set.clusters([]rune(long.text)) {
		letter := string(letter)
		w := f.width(letter)
		if n > 0 && used+w > limit {
			break
		}
		used += w
		end += len(letter)
	}
	head, tail = word{long.text[:end], used, false}, word{long.text[end:], 0, true}
	if tail.text != "" {
		tail.width = f.width(tail.text)
	}
	return head, tail
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
func (f *face) fit(lines []string, width, height, most, least float64) (all []wrapped, size float64, ok bool) {
	measured := f.words(f.prepared(lines))
	roomy := roomiest(measured, width, height)
	for size = most; ; size *= shrink {
		if size < least {
			size = least
		}
		if size > roomy && size > least {
			continue // there is more text than room
		}
		all = f.wrapWords(measured, width, size)
		if float64(len(all))*size*leading <= height && widest(all)*size <= width {
			return all, size, true
		}
		if size == least {
			return all, size, false
		}
	}
}

// shrink is how much smaller the next size is that is tried.
const shrink = 0.94

// roomiest is a size above which lines cannot fit a box, as all their words together take more room than it has.
func roomiest(lines []paragraph, width, height float64) float64 {
	total := 0.0
	for _, line := range lines {
		for _, w := range line.words {
			total += w.width
		}
	}
	return math.Sqrt(width * height / (max(total, 0.001) * leading))
}

func widest(lines []wrapped) (w float64) {
	for _, line := range lines {
		w = max(w, line.width)
	}
	return w
}

// smallest is below any size that a text of the interface's bounds needs in any box here.
const smallest = 0.5

// box writes lines into a box, shrunk until they fit, and gives the height that they take.
func (d *document) box(f *face, lines []string, x, y, width, height, most float64, c card.Color) float64 {
	all, size, _ := f.fit(lines, width, height, most, smallest)
	d.lines(f, all, x, y, width, size, c)
	return float64(len(all)) * size * leading
}

// lines writes wrapped lines below each other, those in a script that is written from right to left on the right.
func (d *document) lines(f *face, lines []wrapped, x, y, width, size float64, c card.Color) {
	d.pdf.SetTextColor(int(c.R), int(c.G), int(c.B))
	d.pdf.SetFont(family, f.style, size)
	for i, line := range lines {
		at := x
		if line.rightToLeft {
			at = x + width - line.width*size
		}
		const baseline = 0.76 // of the leading, from its top
		low := y + (float64(i)+baseline)*size*leading
		for pieces := d.set.pieces(f.number, line.text, line.rightToLeft); len(pieces) > 0; {
			n, width := 0, 0
			for n < len(pieces) && pieces[n].text == "" {
				width += pieces[n].width
				n++
			}
			if n > 0 {
				d.write(pieces[:n], at/millimetresPerPoint, (d.height-low)/millimetresPerPoint, size, c)
			} else {
				d.pdf.Text(at, low, pieces[0].text)
				n, width = 1, pieces[0].width
			}
			at += float64(width) / 1000 * millimetresPerPoint * size
			pieces = pieces[n:]
		}
	}
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

func isRightToLeft(r rune) bool {
	if r < 0x0590 {
		return false
	}
	p, _ := bidi.LookupRune(r)
	return p.Class() == bidi.R || p.Class() == bidi.AL
}
