package print

import (
	"time"
)

// Statement is a text of names and values that somebody signs by hand.
type Statement struct {
	Title string
	Lines [][2]string // a name, and its value
	Below []string    // paragraphs below them
	Signs []string    // what stands below each line for a signature, such as Date
	Made  time.Time   // the document's date
}

// Statement prints a statement, in English. It goes on on as many pages as it takes.
func (f *Fonts) Statement(s Statement, p Paper) (pdf []byte, err error) {
	defer noPanic(&err)
	const margin, name, gap = 22.0, 52.0, 2.2
	d := f.blank(p, s.Title, "en", s.Made)
	d.pdf.AddPage()
	width, y := d.width-2*margin, margin
	y += d.box(d.bold, []string{s.Title}, margin, y, width, 20, 18, ink) + 3*gap
	turn := func(height float64) {
		if y+height > d.height-margin {
			d.pdf.AddPage()
			y = margin
		}
	}
	for _, line := range s.Lines {
		const tallest = 30
		turn(tallest)
		height := d.box(d.regular, line[:1], margin, y, name-gap, tallest, 9, pencil)
		height = max(height, d.box(d.regular, line[1:], margin+name, y, width-name, tallest, 10, ink))
		y += height + gap
	}
	y += gap
	for _, paragraph := range s.Below {
		turn(30)
		y += d.box(d.regular, []string{paragraph}, margin, y, width, 30, 9, pencil) + gap
	}
	turn(45)
	y += 25
	each := width / float64(max(1, len(s.Signs)))
	d.stroke(ink, 0.3)
	for n, who := range s.Signs {
		x := margin + float64(n)*each
		d.pdf.Line(x, y, x+each-4*gap, y)
		d.box(d.regular, []string{who}, x, y+1, each-4*gap, 8, 8, pencil)
	}
	return d.bytes()
}
