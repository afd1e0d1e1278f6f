package print

import (
	"context"
	"errors"
	"strings"

	"boon.example/internal/base/nice"
	"boon.example/internal/post/card"
)

// The sheet: ten cards of the size of a business card, as the paper's countries cut them, two in a row, nothing between
// them.
const (
	columns = 2
	rows    = 5
)

func (p Paper) cardSize() (width, height float64) {
	if p == Letter {
		return 88.9, 50.8 // 3.5 by 2 inches
	}
	return 85, 54
}

var errNoCards = errors.New("there is no gift to print")

// Order prints gifts as cards to be cut out, ten to a page, in the order given. It fails for none, and when ctx ends.
func (f *Fonts) Order(ctx context.Context, cards []Card, p Paper) (pdf []byte, err error) {
	defer noPanic(&err)
	if len(cards) == 0 {
		return nil, errNoCards
	}
	d := f.begin(p, cards[0].View, "print.titles", cards[0].Made)
	width, height := p.cardSize()
	left, top := (d.width-columns*width)/2, (d.height-rows*height)/2
	for i := range cards {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		nice.Rest(ctx)
		n := i % (columns * rows)
		if n == 0 {
			d.pdf.AddPage()
			d.cutMarks(left, top, width, height)
		}
		one := cards[i]
		d.readable(&one.View)
		d.small(&one, left+float64(n%columns)*width, top+float64(n/columns)*height, width, height)
	}
	return d.bytes()
}

// cutMarks draws short lines at the edge of the paper that show where to cut; none touches a card.
func (d *document) cutMarks(left, top, width, height float64) {
	const length, gap = 6.0, 2.0
	d.stroke(pencil, 0.15)
	for i := 0; i <= columns; i++ {
		x := left + float64(i)*width
		for _, y := range []float64{top - gap - length, top + rows*height + gap} {
			d.pdf.Line(x, y, x, y+length)
		}
	}
	for i := 0; i <= rows; i++ {
		y := top + float64(i)*height
		for _, x := range []float64{left - gap - length, left + columns*width + gap} {
			d.pdf.Line(x, y, x+length, y)
		}
	}
}

// small draws one card of a sheet: a band in the colour of the design with merchant and worth, the names, the code, and
// the QR code on the right.
func (d *document) small(c *Card, x, y, width, height float64) {
	const pad, band = 4.0, 20.0
	v := &c.View
	ground, text := v.Accent, v.Accent.Text()
	if v.Over() {
		ground, text = pencil, card.White
	}
	wide := height - 2*pad - 8
	column := width - wide - 3*pad
	d.fill(ground)
	d.pdf.RoundedRect(x+1.5, y+1.5, column+pad*1.5, band, 2, "1234", "F")
	d.discs(x+1.5, y+1.5, column+pad*1.5, band, 2, ground)
	inner := column + pad*1.5 - 2*(pad-1)
	at := x + 1.5 + pad - 1
	if c.Logo != nil {
		w := d.plate(c.Logo, at, y+3, 14, 7, 0.8)
		d.middle(d.bold, v.Merchant, at+w+1.5, y+3, inner-w-1.5, 7, 8.5, text)
	} else {
		d.label(d.bold, v.Merchant, at, y+3.5, inner, 6.5, 9.5, text)
	}
	d.amount(v, at, y+11, inner, 9, 17, text)
	d.test(v, x+1.5, y+1.5, column+pad*1.5, band)
	low := y + band + 3
	if v.Recipient != "" {
		whose := v.Text(v.Addressed("print.for", v.Recipient), v.Recipient)
		low += d.box(d.bold, []string{whose}, x+pad, low, column, 7, 8, ink)
	}
	low += d.box(d.regular, []string{v.Text("card.from", v.Sender)}, x+pad, low, column, 5, 7.5, pencil) + 0.5
	end, room := y+height-pad-8, 8.5
	if v.ToSell != "" { // which stands where a gift has its message
		end, room = low, y+height-pad-toSellHeight-low
		d.toSell(v, x+pad-1.5, y+height-pad-toSellHeight, column+3)
	}
	const legible = 5
	if lines, size, ok := d.regular.fit(v.Message, column, end-low, 7.5, legible); ok {
		d.lines(d.regular, lines, x+pad, low, column, size, ink)
	} else if v.Shown() {
		d.box(d.regular, []string{v.Text("print.message")}, x+pad, low, column, end-low, 6.5, ink)
	}
	facts := []string{v.Validity}
	if v.Shown() {
		facts = append(facts, v.Text("print.terms"))
	}
	if v.GoodFor != "" {
		facts = append([]string{v.Text("print.good-for", card.Clip(v.GoodFor, 60))}, facts...)
	}
	d.box(d.regular, facts, x+pad, end, column, room, 6, pencil)
	d.paying(c, x+width-pad-wide, y+pad, wide, height-2*pad)
}

// paying draws what a card pays with, each in as much of a box as it needs: the QR code, the bar code if there is one,
// and the code.
func (d *document) paying(c *Card, right, y, wide, height float64) {
	v, side := &c.View, wide
	if !v.Shown() {
		right, side = right+2, side-2
		d.box(d.bold, []string{v.StateTitle()}, right, y, side, 8, 10, ink)
		d.box(d.regular, []string{v.Notice}, right, y+9, side, side-9, 8, ink)
		return
	}
	if v.Bars != "" { // which take the QR code a part of its room
		const high = 7.0
		side -= high + 1
		beside := 2.0
		if v.ToSell != "" {
			beside = 0 // no line stands in the quiet zones
		}
		d.bars(v.Bars, right-beside, y+side, wide+2*beside, high)
	}
	d.code(c.URL, right+(wide-side)/2, y, side)
	d.centred(d.bold, v.Code, right, y+wide+0.5, wide, 6, 11)
	if v.Second != "" {
		d.centred(d.regular, v.Text("print.verification", v.Second), right, y+wide+5.5, wide, 3, 6.5)
	}
	if v.ToSell != "" {
		d.covered(v, right, y, wide, height)
	}
}

// toSellHeight is how much room the number takes by which a card is sold.
const toSellHeight = 13.5

// toSell draws the number by which a card is sold, as a bar code and as digits, outside of what is to be covered.
func (d *document) toSell(v *card.View, x, y, width float64) {
	const high = 9.0
	d.bars(strings.ReplaceAll(v.ToSell, " ", ""), x, y, width, high)
	d.centred(d.bold, v.Text("print.to-sell", v.ToSell), x+1.5, y+high, width-3, toSellHeight-high, 8)
}

// covered outlines the field of a card in which all stands that it pays with, for whoever covers it.
func (d *document) covered(v *card.View, x, y, width, height float64) {
	const around = 0.5
	d.stroke(pencil, 0.2)
	d.pdf.SetDashPattern([]float64{1, 1}, 0)
	d.pdf.Rect(x-around, y-around, width+2*around, height+2*around, "D")
	d.pdf.SetDashPattern(nil, 0)
	d.centred(d.regular, v.Text("print.cover"), x, y-around-2.2, width, 2, 5)
}
