package print

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"

	"boon.example/internal/post/card"
)

// drawings are the glyphs of a document beyond those that the library writes. Each is drawn once, in a Type 3 font
// (ISO 32000-1, 9.6.5), which holds outlines of any font alike and says what each glyph stands for, so that the text
// can be searched and copied.
type drawings struct {
	slots map[slot]int
	order []slot
	paths []string // of each slot, its drawing
}

// slot is a glyph that stands for a text.
type slot struct {
	source *source
	id     font.GID
	text   string
}

const slotsPerFont = 255 // a code is a byte, and 0 is left out

// add gives the place of a glyph.
func (d *drawings) add(s *setter, g *glyph) int {
	key := slot{g.source, g.id, g.text}
	n, known := d.slots[key]
	if !known {
		n = len(d.order)
		if d.slots == nil {
			d.slots = map[slot]int{}
		}
		d.slots[key] = n
		d.order, d.paths = append(d.order, key), append(d.paths, s.path(g))
	}
	return n
}

// path is the drawing of a glyph.
func (s *setter) path(g *glyph) (path string) {
	ok := true
	defer func() {
		if !ok {
			path = "0 0 0 0 0 0 d1"
		}
	}()
	defer s.rejects(g.source, &ok)
	face := s.face(g.source)
	if face == nil {
		return "0 0 0 0 0 0 d1"
	}
	var b strings.Builder
	box := [4]int{10_000, 10_000, -10_000, -10_000}
	point := func(p opentype.SegmentPoint) (x, y int) {
		x, y = thousandths(face, p.X), thousandths(face, p.Y)
		box = [4]int{min(box[0], x), min(box[1], y), max(box[2], x), max(box[3], y)}
		return x, y
	}
	var at opentype.SegmentPoint
	between := func(a, b opentype.SegmentPoint) opentype.SegmentPoint { // two thirds of the way
		return opentype.SegmentPoint{X: a.X + (b.X-a.X)*2/3, Y: a.Y + (b.Y-a.Y)*2/3}
	}
	for _, segment := range outline(face, g.id) {
		a := segment.ArgsSlice()
		end := a[len(a)-1]
		switch segment.Op {
		case opentype.SegmentOpQuadTo: // PDF knows cubic curves only
			a = []opentype.SegmentPoint{between(at, a[0]), between(end, a[0]), end}
		}
		for _, p := range a {
			x, y := point(p)
			fmt.Fprintf(&b, "%d %d ", x, y)
		}
		b.WriteString([]string{"m\n", "l\n", "c\n", "c\n"}[segment.Op])
		at = end
	}
	if b.Len() == 0 {
		return fmt.Sprintf("%d 0 0 0 0 0 d1", g.nominalAdvance)
	}
	return fmt.Sprintf("%d 0 %d %d %d %d d1\n%sf", g.nominalAdvance, box[0], box[1], box[2], box[3], b.String())
}

// write draws pieces of glyphs from a place on, in points from the lower left corner of the paper.
func (d *document) write(pieces []piece, x, y, size float64, c card.Color) {
	b := d.content[:0]
	point := func(n float64) { b = append(strconv.AppendFloat(b, n, 'f', 2, 64), ' ') }
	b = append(b, "q "...)
	for _, part := range []uint8{c.R, c.G, c.B} {
		b = append(strconv.AppendFloat(b, float64(part)/255, 'f', 3, 64), ' ')
	}
	b = append(b, "rg BT 1 0 0 1 "...)
	point(x)
	point(y)
	b = append(b, "Tm"...)
	font, rise, open := -1, 0, false
	end := func() {
		if open {
			b = append(b, "] TJ"...)
		}
		open = false
	}
	shift := 0 // of the pen, that is owed
	for i := range pieces {
		for _, g := range pieces[i].glyphs {
			n := d.drawn.add(d.set, &g)
			if n/slotsPerFont != font {
				end()
				font = n / slotsPerFont
				b = append(strconv.AppendInt(append(b, " /G"...), int64(font), 10), ' ')
				point(size)
				b = append(b, "Tf"...)
			}
			if g.y != rise {
				end()
				rise = g.y
				b = append(b, ' ')
				point(float64(rise) * size / 1000)
				b = append(b, "Ts"...)
			}
			if !open {
				b = append(b, " ["...)
				open = true
			}
			if shift += g.x; shift != 0 {
				b = strconv.AppendInt(b, int64(-shift), 10)
			}
			code := byte(n%slotsPerFont + 1)
			b = append(b, '<', hexDigits[code>>4], hexDigits[code&15], '>')
			shift = g.advance - g.x - g.nominalAdvance
		}
	}
	end()
	d.content = append(b, " ET Q"...)
	d.pdf.RawWriteStr(string(d.content))
}

const hexDigits = "0123456789abcdef"

var (
	errShape = errors.New("the library has written a PDF of another shape")
	trailer  = regexp.MustCompile(`(?s)trailer\n<<\n/Size (\d+)\n(.*?)>>\nstartxref\n(\d+)\n%%EOF\s*$`)
)

// resources is the object that all pages of the library share.
const resources = 2

// embed adds the fonts of the drawings to a PDF, as an update behind its end (ISO 32000-1, 7.5.6), for the library has
// no fonts of this kind.
func (d *drawings) embed(pdf []byte) ([]byte, error) {
	if len(d.order) == 0 {
		return pdf, nil
	}
	end := trailer.FindSubmatch(pdf[max(0, len(pdf)-400):])
	if end == nil {
		return nil, errShape
	}
	size, _ := strconv.Atoi(string(end[1]))     //nolint:errcheck // they are digits
	previous, _ := strconv.Atoi(string(end[3])) //nolint:errcheck // they are digits
	shared, err := object(pdf, previous, resources)
	if err != nil {
		return nil, err
	}
	w := &update{Buffer: bytes.NewBuffer(pdf), next: size}
	var names strings.Builder
	for first := 0; first < len(d.order); first += slotsPerFont {
		last := min(first+slotsPerFont, len(d.order))
		fmt.Fprintf(&names, "/G%d %d 0 R\n", first/slotsPerFont, w.type3(d.order[first:last], d.paths[first:last]))
	}
	before, after, ok := strings.Cut(shared, "/Font <<\n")
	if !ok {
		return nil, errShape
	}
	changed := w.Len()
	fmt.Fprintf(w, "%d 0 obj\n%s/Font <<\n%s%s", resources, before, names.String(), after)
	begin := w.Len()
	fmt.Fprintf(w, "xref\n%d 1\n%010d 00000 n \n%d %d\n", resources, changed, size, len(w.offsets))
	for _, offset := range w.offsets {
		fmt.Fprintf(w, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(w, "trailer\n<<\n/Size %d\n/Prev %d\n%s>>\nstartxref\n%d\n%%%%EOF\n", w.next, previous, end[2], begin)
	return w.Bytes(), nil
}

// object is the text of one that a table of references, which stands at a place, leads to, from behind its number on.
func object(pdf []byte, table, number int) (string, error) {
	const entry = 20
	head := []byte("xref\n0 ")
	if table < 0 || table >= len(pdf) || !bytes.HasPrefix(pdf[table:], head) {
		return "", errShape
	}
	_, entries, ok := bytes.Cut(pdf[table+len(head):], []byte("\n"))
	if !ok || len(entries) < entry*(number+1) {
		return "", errShape
	}
	offset, err := strconv.Atoi(string(entries[entry*number : entry*number+10]))
	if err != nil || offset >= len(pdf) {
		return "", errShape
	}
	begin := fmt.Sprintf("%d 0 obj\n", number)
	content, _, ok := bytes.Cut(pdf[offset:], []byte("endobj\n"))
	if !ok || !bytes.HasPrefix(content, []byte(begin)) {
		return "", errShape
	}
	return string(content[len(begin):]) + "endobj\n", nil
}

// update is what is written behind the end of a PDF.
type update struct {
	*bytes.Buffer
	next    int // the number of the next object
	offsets []int
}

// begin starts an object and gives its number.
func (w *update) begin() int {
	w.offsets = append(w.offsets, w.Len())
	fmt.Fprintf(w, "%d 0 obj\n", w.next)
	w.next++
	return w.next - 1
}

func (w *update) stream(content string) int {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write([]byte(content)) // into memory
	_ = z.Close()
	n := w.begin()
	fmt.Fprintf(w, "<</Filter /FlateDecode /Length %d>>\nstream\n", packed.Len())
	_, _ = packed.WriteTo(w)
	w.WriteString("\nendstream\nendobj\n")
	return n
}

// type3 writes a font and gives its number.
func (w *update) type3(slots []slot, paths []string) int {
	var widths, names, procedures, meanings strings.Builder
	numbers := map[string]int{}
	for i := range slots {
		number, known := numbers[paths[i]]
		if !known {
			number = w.stream(paths[i])
			numbers[paths[i]] = number
		}
		width, _, _ := strings.Cut(paths[i], " ")
		fmt.Fprintf(&widths, "%s ", width)
		fmt.Fprintf(&names, "/a%d ", i)
		fmt.Fprintf(&procedures, "/a%d %d 0 R ", i, number)
		fmt.Fprintf(&meanings, "1 beginbfchar\n<%02x> <", i+1)
		for _, unit := range utf16.Encode([]rune(slots[i].text)) {
			fmt.Fprintf(&meanings, "%04x", unit)
		}
		meanings.WriteString(">\nendbfchar\n")
	}
	unicode := w.stream("/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapName /Boon def\n" +
		"/CMapType 2 def\n1 begincodespacerange\n<00> <ff>\nendcodespacerange\n" + meanings.String() +
		"endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n")
	n := w.begin()
	fmt.Fprintf(w, "<</Type /Font /Subtype /Type3 /FontBBox [0 0 0 0] /FontMatrix [0.001 0 0 0.001 0 0] /Resources <<>>\n"+
		"/FirstChar 1 /LastChar %d /Widths [%s]\n/Encoding <</Type /Encoding /Differences [1 %s]>>\n"+
		"/CharProcs <<%s>>\n/ToUnicode %d 0 R>>\nendobj\n", len(slots), widths.String(), names.String(), procedures.String(),
		unicode)
	return n
}
