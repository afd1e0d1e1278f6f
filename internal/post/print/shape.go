package print

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/go-text/typesetting/bidi"
	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/segmenter"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/norm"
)

// setter sets texts with Fonts: it chooses the font of each character, and shapes what must be. One goroutine uses it
// at a time. What it remembers is bounded.
type setter struct {
	fonts   *Fonts
	checks  bool             // it draws nothing, and believes what fonts say that they have: no file is opened
	used    map[*source]bool // in this document
	limited bool             // it needed more fonts than that
	sources [2][]*source     // for regular and bold, in the order in which they are tried; nil: not asked for yet
	shaper  shaping.HarfbuzzShaper
	bidi    bidi.Paragraph
	segment segmenter.Segmenter
	letters segmenter.Segmenter // while segment is in use
	letter  []rune
	spaces  [2]piece
	line    []piece
	runes   []rune
	order   []bidi.Run
	faces   map[*source]*font.Face
	drawn   map[drawnKey]nominal
	known   [2]map[rune]nominal
	widths  [2]map[string]int
	shaped  [2]map[shapeKey]piece
}

// nominal is how a character looks by itself; without a source, no font has it.
type nominal struct {
	source  *source
	id      font.GID
	advance int // in thousandths of the size, as are all measures here
	text    string
}

type drawnKey struct {
	source *source
	r      rune
}

type shapeKey struct {
	text        string
	rightToLeft bool
}

// glyph is a drawing of a font, and how it stands in a line.
type glyph struct {
	source         *source
	id             font.GID
	advance, x, y  int
	text           string // what it stands for; "" where the glyph before stands for it too
	nominalAdvance int
}

// piece is a part of a line that is drawn in one go: a text that the library writes with a built-in font, or glyphs.
type piece struct {
	text   string
	glyphs []glyph
	width  int
}

// The bounds of what a setter remembers: words, characters of fonts, and fonts.
const (
	maxShaped = 4096
	maxDrawn  = 1 << 16
	maxFaces  = 24
	maxUsed   = 12 // fonts in one document: to open each takes time, and who writes a gift chooses the characters
)

func newSetter(f *Fonts) *setter {
	s := &setter{fonts: f, faces: map[*source]*font.Face{}, drawn: map[drawnKey]nominal{}}
	s.forget()
	return s
}

// forget empties what depends on the fonts that a document may use.
func (s *setter) forget() {
	for style := range s.known {
		s.known[style], s.widths[style], s.shaped[style] = map[rune]nominal{}, map[string]int{}, map[shapeKey]piece{}
	}
}

// begin is called before each document, so that none depends on those before it.
func (s *setter) begin() {
	if s.limited {
		s.forget()
	}
	s.used, s.limited = map[*source]bool{}, false
}

// may reports whether the document may use a font.
func (s *setter) may(from *source) bool {
	switch {
	case s.checks || from.content != nil || s.used[from]:
		return true
	case len(s.used) >= maxUsed:
		s.limited = true
		return false
	}
	s.used[from] = true
	return true
}

// each gives the fonts in the order in which they are tried: the built-in one, then those nearest in weight.
func (s *setter) each(style int) iter.Seq[*source] {
	return func(yield func(*source) bool) {
		if !yield(s.fonts.builtIns[style]) {
			return
		}
		if s.sources[style] == nil {
			weight := s.fonts.builtIns[style].weight
			s.sources[style] = slices.Clone(s.fonts.find())
			slices.SortStableFunc(s.sources[style], func(a, b *source) int {
				return cmp.Or(cmp.Compare(b2i(!a.plain), b2i(!b.plain)),
					cmp.Compare(max(a.weight-weight, weight-a.weight), max(b.weight-weight, weight-b.weight)))
			})
		}
		for _, from := range s.sources[style] {
			if !yield(from) {
				return
			}
		}
	}
}

// face opens a font for this setter; nil where it is damaged.
func (s *setter) face(from *source) *font.Face {
	if known := s.faces[from]; known != nil {
		return known
	}
	opened := s.fonts.open(from)
	if opened == nil {
		return nil
	}
	if len(s.faces) >= maxFaces {
		clear(s.faces)
		s.shaper = shaping.HarfbuzzShaper{}
	}
	s.faces[from] = font.NewFace(opened)
	return s.faces[from]
}

// nominal finds the first font that can draw a character.
func (s *setter) nominal(style int, r rune) nominal {
	if known, ok := s.known[style][r]; ok && (known.source == nil || s.may(known.source)) {
		return known
	}
	var found nominal
	for from := range s.each(style) {
		if n, ok := s.draws(from, r); ok {
			found = n
			break
		}
	}
	s.known[style][r] = found
	return found
}

// draws reports whether a font has a drawing of a character, and which.
func (s *setter) draws(from *source, r rune) (n nominal, ok bool) {
	if !from.covers(r) || !s.may(from) {
		return n, false
	}
	if s.checks {
		return nominal{source: from}, true
	}
	n, known := s.drawn[drawnKey{from, r}]
	if !known {
		n, _ = s.look(from, r)
		if len(s.drawn) >= maxDrawn {
			clear(s.drawn)
		}
		s.drawn[drawnKey{from, r}] = n
	}
	return n, n.source != nil
}

func (s *setter) look(from *source, r rune) (n nominal, ok bool) {
	defer s.rejects(from, &ok)
	face := s.face(from)
	if face == nil {
		return n, false
	}
	id, ok := face.NominalGlyph(r)
	if !ok || id == 0 || len(outline(face, id)) == 0 && !unicode.IsSpace(r) && !invisible(r) {
		return n, false
	}
	return nominal{from, id, thousandths(face, face.HorizontalAdvance(id)), string(r)}, true
}

// rejects is deferred where a font is used: one at which the library fails is used no more.
func (s *setter) rejects(from *source, ok *bool) {
	if p := recover(); p != nil {
		s.fonts.opened.Lock()
		defer s.fonts.opened.Unlock()
		s.fonts.reject(from, fmt.Errorf("drawing with it: %v", p))
		from.font, *ok = nil, false
		delete(s.faces, from)
	}
}

// thousandths makes a measure of a font one of the size. What no letter has is cut off.
func thousandths(face *font.Face, units float32) int {
	n := float64(units) * 1000 / float64(max(face.Upem(), 1))
	return int(min(max(n, -10_000), 10_000))
}

// outline is the drawing of a glyph; none where a font has one that is no letter.
func outline(face *font.Face, id font.GID) []opentype.Segment {
	const most = 5_000
	drawn, ok := face.GlyphDataOutline(id)
	if !ok || len(drawn.Segments) > most {
		return nil
	}
	return drawn.Segments
}

// invisible characters take no room, and say at most how their neighbours look.
func invisible(r rune) bool {
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || unicode.IsControl(r)
}

// joins tells the two invisible characters on which the look of a script depends.
func joins(r rune) bool { return r == '\u200c' || r == '\u200d' }

// skinTone characters colour the emoji before them, which are not in colour here.
func skinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// drawable makes a text of what can be drawn: a letter with its accents, and an emoji, is there whole or not at all.
func (s *setter) drawable(style int, text string) (_ string, whole bool) {
	text = norm.NFC.String(strings.ToValidUTF8(text, ""))
	simple := coverages()[style]
	if simple.simpleText(text) {
		return text, true
	}
	whole = true
	var b strings.Builder
	s.segment.Init([]rune(text))
	for clusters := s.segment.GraphemeIterator(); clusters.Next(); {
		s.letter = append(s.letter[:0], clusters.Grapheme().Text...)
		cluster := slices.DeleteFunc(s.letter, func(r rune) bool { return invisible(r) && !joins(r) || skinTone(r) })
		if len(cluster) == 1 && simple.simple(cluster[0]) {
			b.WriteRune(cluster[0])
			continue
		}
		if visible := slices.IndexFunc(cluster, func(r rune) bool { return !invisible(r) }); visible < 0 {
			continue
		}
		if s.one(style, cluster) == nil {
			whole = false
			continue
		}
		for _, r := range cluster {
			b.WriteRune(r)
		}
	}
	return b.String(), whole
}

// one finds the first font that draws all of a text; nil where none does.
func (s *setter) one(style int, text []rune) *source {
	has := func(from *source) bool {
		return !slices.ContainsFunc(text, func(r rune) bool {
			if invisible(r) {
				return false
			}
			_, ok := s.draws(from, r)
			return !ok
		})
	}
	first := s.nominal(style, text[0]).source
	if first != nil && has(first) {
		return first
	}
	for from := range s.each(style) {
		if from != first && from.covers(text[0]) && has(from) {
			return from
		}
	}
	return nil
}

// pieces sets a drawable line, from left to right as it is seen. rightToLeft is how its paragraph is read. They are
// good until the next call.
func (s *setter) pieces(style int, line string, rightToLeft bool) []piece {
	s.line, s.runes = s.line[:0], s.runes[:0]
	mark, direction := '\u200e', bidi.LeftToRight
	if rightToLeft {
		mark, direction = '\u200f', bidi.RightToLeft
	}
	s.runes = append(s.runes, mark) // which tells the direction even of a line of figures
	for _, r := range line {
		s.runes = append(s.runes, r)
	}
	switch {
	case rightToLeft || strings.IndexFunc(line, isRightToLeft) >= 0:
	case coverages()[style].simpleText(line):
		return append(s.line, piece{text: line, width: coverages()[style].thousandths(line)})
	default:
		s.run(style, s.runes[1:], false)
		return s.line
	}
	runs := s.bidi.Segment(s.runes, direction)
	s.order = s.order[:0]
	highest := bidi.Level(0)
	for i := range runs.NumRuns() {
		s.order = append(s.order, runs.Run(i))
		highest = max(highest, s.order[i].Level)
	}
	for level := highest; level > 0; level-- { // rule L2 of UAX #9
		for at := 0; at < len(s.order); at++ {
			end := at
			for end < len(s.order) && s.order[end].Level >= level {
				end++
			}
			slices.Reverse(s.order[at:end])
			at = max(at, end)
		}
	}
	for _, run := range s.order {
		s.run(style, s.runes[max(run.Start, 1):run.End], !run.IsLeftToRight())
	}
	return s.line
}

// width is that of a drawable word.
func (s *setter) width(style int, word string) (width int) {
	if known, ok := s.widths[style][word]; ok {
		return known
	}
	for _, p := range s.pieces(style, word, false) {
		width += p.width
	}
	if len(s.widths[style]) >= maxShaped {
		clear(s.widths[style])
	}
	s.widths[style][word] = width
	return width
}

// run sets a part of a line that is read in one direction: texts that the library writes, and glyphs.
func (s *setter) run(style int, text []rune, rightToLeft bool) {
	simple, begin := coverages()[style], len(s.line)
	plain := func(i int) bool { // an accent takes its letter with it
		return !rightToLeft && simple.simple(text[i]) && (i+1 == len(text) || !unicode.IsMark(text[i+1]))
	}
	for at := 0; at < len(text); {
		end := at + 1
		switch {
		case plain(at) && (text[at] != ' ' || at == 0):
			for end < len(text) && plain(end) {
				end++
			}
			part := string(text[at:end])
			s.line = append(s.line, piece{text: part, width: simple.thousandths(part)})
		case text[at] == ' ':
			s.line = append(s.line, s.space(style))
		default:
			for end < len(text) && text[end] != ' ' && !plain(end) {
				end++
			}
			s.scripts(style, text[at:end], rightToLeft)
		}
		at = end
	}
	if rightToLeft {
		slices.Reverse(s.line[begin:])
	}
}

// scripts sets a text without spaces, one script after the other.
func (s *setter) scripts(style int, text []rune, rightToLeft bool) {
	for len(text) > 0 {
		script, end := oneScript(text)
		part := text[:end]
		text = text[end:]
		switch from := s.one(style, part); {
		case side(script) && !slices.ContainsFunc(part, joined):
			s.line = append(s.line, s.sideBySide(style, part))
		case from != nil:
			s.line = append(s.line, s.shape(style, from, part, script, rightToLeft))
		default:
			for _, cluster := range s.clusters(part) {
				if from := s.one(style, cluster); from != nil {
					s.line = append(s.line, s.shape(style, from, cluster, script, rightToLeft))
				}
			}
		}
	}
}

// oneScript finds the script with which a text begins, and where it ends. What belongs to none, such as a comma, goes
// with what is before it.
func oneScript(text []rune) (script language.Script, end int) {
	script = language.Common
	for i, r := range text {
		next := language.LookupScript(r)
		switch {
		case next == language.Common || next == language.Inherited || next == language.Unknown:
		case script == language.Common:
			script = next
		case next != script && !(side(next) && side(script)):
			return script, i
		}
	}
	return script, len(text)
}

// side tells the scripts whose characters stand side by side and do not change each other's looks.
func side(script language.Script) bool {
	switch script {
	case language.Han, language.Hiragana, language.Katakana, language.Bopomofo, language.Hangul, language.Yi:
		return true
	}
	return false
}

func joined(r rune) bool { return unicode.IsMark(r) || invisible(r) || r >= 0x1100 && r <= 0x11ff }

// space is one between two words of glyphs.
func (s *setter) space(style int) piece {
	if s.spaces[style].glyphs == nil {
		s.spaces[style] = s.sideBySide(style, []rune{' '})
	}
	return s.spaces[style]
}

func (s *setter) sideBySide(style int, text []rune) piece {
	p := piece{glyphs: make([]glyph, 0, len(text))}
	for _, r := range text {
		if n := s.nominal(style, r); n.source != nil {
			p.glyphs = append(p.glyphs, glyph{source: n.source, id: n.id, advance: n.advance, nominalAdvance: n.advance,
				text: n.text})
			p.width += n.advance
		}
	}
	return p
}

// clusters cuts a text into its letters, each with its accents.
func (s *setter) clusters(text []rune) (all [][]rune) {
	s.letters.Init(text)
	for each := s.letters.GraphemeIterator(); each.Next(); {
		all = append(all, slices.Clone(each.Grapheme().Text))
	}
	return all
}

// shape lets the font say how a text looks: which letters join, in which order they stand, where accents sit.
func (s *setter) shape(style int, from *source, text []rune, script language.Script, rightToLeft bool) piece {
	key := shapeKey{string(text), rightToLeft}
	if known, ok := s.shaped[style][key]; ok {
		return known
	}
	p := s.shapeWith(from, text, script, rightToLeft)
	if len(s.shaped[style]) >= maxShaped {
		clear(s.shaped[style])
	}
	s.shaped[style][key] = p
	return p
}

func (s *setter) shapeWith(from *source, text []rune, script language.Script, rightToLeft bool) (p piece) {
	ok := true
	defer func() {
		if !ok {
			p = piece{}
		}
	}()
	defer s.rejects(from, &ok)
	face := s.face(from)
	if face == nil {
		return p
	}
	in := shaping.Input{Text: text, RunEnd: len(text), Face: face, Size: fixed.I(1000), Script: script,
		Direction: di.DirectionLTR}
	if rightToLeft {
		in.Direction = di.DirectionRTL
	}
	out := s.shaper.ShapeNoExtents(in)
	if len(out.Glyphs) > 8*len(text)+16 {
		return p
	}
	for _, g := range out.Glyphs {
		p.glyphs = append(p.glyphs, glyph{source: from, id: g.GlyphID, advance: rounded(g.Advance), x: rounded(g.XOffset),
			y: rounded(g.YOffset), nominalAdvance: thousandths(face, face.HorizontalAdvance(g.GlyphID))})
		p.width += rounded(g.Advance)
	}
	for i := 0; i < len(out.Glyphs); {
		from, n := out.Glyphs[i].TextIndex(), max(out.Glyphs[i].GlyphsCount(), 1)
		end := min(i+n, len(p.glyphs))
		meanings(p.glyphs[i:end], text[from:min(from+out.Glyphs[i].RunesCount(), len(text))], rightToLeft)
		i = end
	}
	return p
}

// meanings says what the glyphs of one letter stand for: together for its characters, in their order, so that who
// copies the text has them all.
func meanings(glyphs []glyph, text []rune, rightToLeft bool) {
	for i := range glyphs {
		n := min(1, len(text))
		if i == 0 {
			n = max(n, len(text)-len(glyphs)+1)
		}
		at := i
		if rightToLeft {
			at = len(glyphs) - 1 - i
		}
		glyphs[at].text, text = string(text[:n]), text[n:]
	}
}

// rounded is a measure of the shaper, which no letter exceeds.
func rounded(n fixed.Int26_6) int { return min(max(n.Round(), -10_000), 10_000) }
