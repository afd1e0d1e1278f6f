package print

import (
	"codeberg.org/go-pdf/fpdf"

	"boon.example/internal/post/card"
)

// Fold says how a gift is printed: flat, or as a card to be folded. Everything of a folded card is printed on one side
// of one sheet.
type Fold string

// The folds. A card of A4 that is folded once is A5; that is folded twice, A6.
const (
	Flat    Fold = ""
	Half    Fold = "half"    // front and back are outside; inside is room to write
	Quarter Fold = "quarter" // the message and what is good to know are inside
)

// ParseFold reads half or quarter.
func ParseFold(s string) (Fold, bool) {
	f := Fold(s)
	return f, f == Half || f == Quarter
}

// Folded prints one gift as a card to be folded. A gift that cannot be used is printed flat, and so is one whose
// texts are too long for a card.
func (f *Fonts) Folded(c Card, p Paper, fold Fold) (pdf []byte, err error) {
	if fold == Flat || !c.View.Shown() {
		return f.Gift(c, p)
	}
	defer noPanic(&err)
	d := f.card(&c, p)
	fits := false
	if fold == Half {
		var front, back float64
		if front, back, fits = d.half(&c, 0, 0); fits { // written once to be measured, and then in the middle
			d.set.fonts.setters.Put(d.set)
			d = f.card(&c, p)
			_, _, fits = d.half(&c, front/2, back/2)
		}
	} else {
		fits = d.quarter(&c)
	}
	if !fits {
		d.set.fonts.setters.Put(d.set)
		return f.Gift(c, p)
	}
	return d.bytes()
}

// card begins a card to be folded.
func (f *Fonts) card(c *Card, p Paper) *document {
	d := f.begin(p, c.View, "print.title", c.Made)
	d.readable(&c.View)
	return d
}

// half lays the sheet across: its right half is the front, its left half the back. What is on them begins so far below
// their upper edges; it says how much room is left at their lower ones, and whether everything fits.
func (d *document) half(c *Card, front, back float64) (frontLeft, backLeft float64, fits bool) {
	const inset = 14.0
	d.addPage("L")
	d.creases(d.width/2, 0)
	right := d.panel(d.width/2, 0, d.width/2, d.height, inset)
	right.y += front
	right.head(c)
	right.greeting(&c.View)
	left := d.panel(0, 0, d.width/2, d.height, inset)
	left.y += back
	left.scan(c, 60)
	left.facts(&c.View)
	return right.low - right.y, left.low - left.y, !right.full && !left.full
}

// quarter has the front and the back below, and what comes inside above, upside down: the upper half is folded behind
// the lower one first, and the left half behind the right one then.
func (d *document) quarter(c *Card) bool {
	const inset = 9.0
	d.addPage("P")
	d.creases(d.width/2, d.height/2)
	w, h := d.width/2, d.height/2
	front := d.panel(w, h, w, h, inset)
	front.head(c)
	front.y += 6
	front.names(&c.View)
	back := d.panel(0, h, w, h, inset)
	back.y += 22
	back.scan(c, 66)
	d.pdf.TransformBegin()
	d.pdf.TransformRotate(180, w, h/2)
	left, right := d.panel(0, 0, w, h, inset), d.panel(w, 0, w, h, inset)
	left.facts(&c.View)
	right.y += 12
	right.greeting(&c.View)
	d.pdf.TransformEnd()
	return !front.full && !back.full && !left.full && !right.full
}

// addPage begins a page of the document's paper: P for portrait, L for landscape.
func (d *document) addPage(orientation string) {
	size := fpdf.SizeType{Wd: d.width, Ht: d.height}
	if orientation == "L" {
		d.width, d.height = d.height, d.width
	}
	d.pdf.AddPageFormat(orientation, size)
}

// creases draws short lines at the edges of the paper that show where to fold; 0: not there.
func (d *document) creases(x, y float64) {
	const length = 4.0
	d.stroke(hair, 0.2)
	if x > 0 {
		d.pdf.Line(x, 0, x, length)
		d.pdf.Line(x, d.height-length, x, d.height)
	}
	if y > 0 {
		d.pdf.Line(0, y, length, y)
		d.pdf.Line(d.width-length, y, d.width, y)
	}
}

// panel is a part of the sheet. It cannot be turned.
func (d *document) panel(x, y, width, height, inset float64) *page {
	return &page{document: d, left: x + inset, width: width - 2*inset, y: y + inset, low: y + height - inset, rigid: true}
}

// names says for whom the gift is, and from whom.
func (p *page) names(v *card.View) {
	if v.Recipient != "" {
		whose := v.Text(v.Addressed("print.for", v.Recipient), v.Recipient)
		p.y += p.box(p.bold, []string{whose}, p.left, p.y, p.width, 16, 16, ink) + 1
	}
	p.y += p.box(p.regular, []string{v.Text("card.from", v.Sender)}, p.left, p.y, p.width, 12, 12, pencil) + 4
}

// greeting is the names and the words of the sender.
func (p *page) greeting(v *card.View) {
	const legible = 7.5
	p.names(v)
	lines, size, ok := p.regular.fit(v.Message, p.width, p.low-p.y, 13, legible)
	p.lines(p.regular, lines, p.left, p.y, p.width, size, ink)
	p.y += float64(len(lines)) * size * leading
	p.full = p.full || !ok
}

// scan is the QR code in the middle, and the code below it.
func (p *page) scan(c *Card, side float64) {
	p.held(c, p.left+(p.width-side)/2, p.y, side)
	p.y += side + 17 + under(&c.View) + 6
}
