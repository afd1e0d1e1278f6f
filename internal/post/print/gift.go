package print

import (
	"strings"

	"boon.example/internal/post/card"
)

const margin = 18.0 // of a page, in millimetres

// Gift prints one gift: a page, and more where its terms are long.
func (f *Fonts) Gift(c Card, p Paper) (pdf []byte, err error) {
	defer noPanic(&err)
	d := f.begin(p, c.View, "print.title", c.Made)
	d.readable(&c.View)
	page := &page{document: d, left: margin, width: d.width - 2*margin, low: d.height - margin}
	page.turn()
	page.head(&c)
	page.body(&c)
	page.facts(&c.View)
	return d.bytes()
}

// readable leaves names out of which nothing can be printed.
func (d *document) readable(v *card.View) {
	v.Recipient, v.Sender = strings.TrimSpace(d.bold.drawable(v.Recipient)),
		strings.TrimSpace(d.regular.drawable(v.Sender))
	if v.Sender == "" {
		v.Sender = v.Merchant
	}
}

// page is where on the paper the next thing goes.
type page struct {
	*document
	left, width float64
	y, low      float64 // from where to where there is room
	rigid       bool    // it is a part of a folded card, and there is no next page
	full        bool    // there was not enough room on a rigid one
}

// turn begins a new page.
func (p *page) turn() {
	if p.rigid {
		p.full = true
		return
	}
	p.pdf.AddPage()
	p.y = margin
}

// head draws the card: in the colour of the design, with logo, headline and worth, and the picture beside them.
func (p *page) head(c *Card) {
	const height, pad, radius = 66.0, 8.0, 5.0
	v := &c.View
	x, y, width := p.left, p.y, p.width
	ground, text := v.Accent, v.Accent.Text()
	if v.Over() {
		ground, text = pencil, card.White
	}
	p.fill(ground)
	p.pdf.RoundedRect(x, y, width, height, radius, "1234", "F")
	p.discs(x, y, width, height, radius, ground)
	if c.Picture != nil {
		half := width * 0.42
		p.cover(c.Picture, x+width-half, y, half, height, radius)
		width -= half
	}
	top, room := y+pad, width-2*pad
	if c.Logo != nil {
		const plate, inner = 16.0, 2.0
		w := p.plate(c.Logo, x+pad, top, min(room, 60), plate, inner)
		if rest := room - w - 4; rest > 25 {
			p.middle(p.bold, v.Merchant, x+pad+w+4, top, rest, plate, 13, text)
		} else {
			p.label(p.bold, v.Merchant, x+pad, top+plate+1, room, 6, 11, text)
		}
	} else {
		p.label(p.bold, v.Merchant, x+pad, top, room, 12, 15, text)
	}
	worth := y + 44
	if v.Partly || v.Test != "" { // there is more below
		worth = y + 39
	}
	p.label(p.regular, v.Headline, x+pad, worth-9, room, 10, 15, text)
	p.amount(v, x+pad, worth, room, 15, 34, text)
	if v.Partly {
		left := v.Text("card.left", printed(v, v.Worth))
		if v.Held != nil {
			left = v.Text("print.held", printed(v, v.Worth), printed(v, *v.Held))
		}
		p.box(p.regular, []string{left}, x+pad, y+height-11, room, 6, 11, text)
	}
	p.test(v, x, y, p.width, height)
	p.y = y + height + 8
}

// discs draws two in a shade of the ground, as the page does, where text can be read on both.
func (d *document) discs(x, y, width, height, radius float64, ground card.Color) {
	d.fill(ground.Shade())
	d.pdf.ClipRoundedRect(x, y, width, height, radius, false)
	d.pdf.Circle(x+width-height*0.12, y-height*0.02, height*0.58, "F")
	d.pdf.Circle(x+width-height*0.2, y+height*1.08, height*0.27, "F")
	d.pdf.ClipEnd()
}

// test writes across a card that it is worth nothing.
func (d *document) test(v *card.View, x, y, width, height float64) {
	if v.Test == "" {
		return
	}
	band := height / 6
	d.fill(card.White)
	d.pdf.Rect(x, y+height-band, width, band, "F")
	d.centred(d.bold, v.Test, x+2, y+height-band, width-4, band, 14)
	d.pdf.SetAlpha(0.5, "Normal")
	d.pdf.TransformBegin()
	d.pdf.TransformRotate(20, x+width/2, y+height/2)
	d.centred(d.bold, strings.TrimSpace(card.TestMark), x+width*0.15, y+height*0.1, width*0.7, height*0.8, 200)
	d.pdf.TransformEnd()
	d.pdf.SetAlpha(1, "Normal")
}

// label writes one text of a card into a box. It stands on the left in every script, as the rest of the card does.
func (d *document) label(f *face, text string, x, y, width, height, most float64, c card.Color) {
	lines, size, _ := f.fit([]string{text}, width, height, most, smallest)
	d.left(f, lines, x, y, size, c)
}

// middle is label with the lines in the middle of the height.
func (d *document) middle(f *face, text string, x, y, width, height, most float64, c card.Color) {
	lines, size, _ := f.fit([]string{text}, width, height, most, smallest)
	d.left(f, lines, x, y+(height-float64(len(lines))*size*leading)/2, size, c)
}

func (d *document) left(f *face, lines []wrapped, x, y, size float64, c card.Color) {
	for n, line := range lines {
		d.lines(f, []wrapped{line}, x, y+float64(n)*size*leading, line.width*size, size, c)
	}
}

// plate draws a logo on a white ground, on which any logo can be seen, and gives the ground's width.
func (d *document) plate(logo *Picture, x, y, width, height, inner float64) float64 {
	w, h := d.extent(logo)
	scale := min((width-2*inner)/w, (height-2*inner)/h)
	w, h = w*scale, h*scale
	d.fill(card.White)
	d.pdf.RoundedRect(x, y, w+2*inner, height, inner, "1234", "F")
	d.image(logo, x+inner, y+(height-h)/2, w, h)
	return w + 2*inner
}

// amount writes what a gift is worth into a box. It begins with a number: an item in a script that is written from
// right to left turns nothing around it.
func (d *document) amount(v *card.View, x, y, width, height, most float64, c card.Color) {
	lines, size, _ := d.bold.fit([]string{printed(v, v.Amount())}, width, height, most, smallest)
	for n := range lines {
		lines[n].rightToLeft = false
	}
	d.lines(d.bold, lines, x, y, width, size, c)
}

// printed writes an amount for paper.
func printed(v *card.View, w card.Worth) string {
	if w.Item {
		return v.Text("print.items", w.Number, w.Unit)
	}
	return w.Number
}

// held is what is held before a scanner: the QR code, the bar code if there is one, and the code.
func (p *page) held(c *Card, x, y, side float64) {
	v := &c.View
	p.code(c.URL, x, y, side)
	p.bars(v.Bars, x+2, y+side-1, side-4, barsHeight)
	low := y + side + under(v)
	p.stroke(hair, 0.2)
	p.pdf.RoundedRect(x, y, side, side+17+under(v), 3, "1234", "D")
	p.centred(p.bold, v.Code, x+3, low-1, side-6, 8, 18)
	p.centred(p.regular, v.Text("print.scan"), x+3, low+8, side-6, 6, 9)
}

// body sets the QR code and the code on the left and the words of the sender on the right.
func (p *page) body(c *Card) {
	const side = 66.0
	v := &c.View
	right, top := p.left+side+10, p.y
	width := p.left + p.width - right
	if v.Shown() {
		p.held(c, p.left, top, side)
	} else {
		right, width = p.left, p.width
	}
	y := top
	if v.Notice != "" {
		y += p.box(p.bold, []string{v.StateTitle()}, right, y, width, 8, 14, ink)
		y += p.box(p.regular, []string{v.Notice}, right, y, width, 30, 11, ink) + 4
	}
	if v.Recipient != "" {
		y += p.box(p.bold, []string{v.Text(v.Addressed("print.for", v.Recipient), v.Recipient)}, right, y, width, 14, 14, ink)
	}
	y += p.box(p.regular, []string{v.Text("card.from", v.Sender)}, right, y, width, 12, 12, pencil) + 3
	p.y = max(y, top) + 6
	if v.Shown() {
		p.y = max(p.y, top+side+17+under(v)+6)
	}
	const legible = 7.5
	if lines, size, ok := p.regular.fit(v.Message, width, top+side+17-y, 13, legible); ok {
		p.lines(p.regular, lines, right, y, width, size, ink)
		if end := y + float64(len(lines))*size*leading + 6; len(lines) > 0 {
			p.y = max(p.y, end)
		}
		return
	}
	p.flow(p.regular, v.Message, 10, ink)
	p.y += 5
}

// facts writes what is good to know below everything else, and goes on on further pages when it must. It is shrunk a
// little to stay on the page.
func (p *page) facts(v *card.View) {
	parts := []struct {
		heading string
		lines   []string
	}{{"good-for", goodFor(v)}, {"validity", []string{v.Validity}}, {"where", []string{places(v)}}, {"terms",
		v.Terms}, {"", v.Footer}}
	if v.Over() {
		parts = parts[3:]
	}
	last := v.Text("print.stood")
	if v.Shown() {
		last = v.Text("print.cash")
	}
	size := 10.0
	for need := p.height; size > 7 && need > p.low-p.y; size -= 0.25 {
		need = 0
		for _, part := range parts {
			if len(part.lines) > 0 {
				need += float64(len(p.regular.wrap(p.regular.prepared(part.lines), p.width, size))+1)*size*leading + 3
			}
		}
		need += size * leading
	}
	for _, part := range parts {
		if len(part.lines) == 0 {
			continue
		}
		if part.heading != "" {
			if p.y+3*size*leading > p.low {
				p.turn()
			}
			p.flow(p.bold, []string{v.Text("card." + part.heading)}, size, ink)
		}
		p.flow(p.regular, part.lines, size, ink)
		p.y += 3
	}
	p.flow(p.regular, []string{last}, size-1, pencil)
}

func places(v *card.View) string {
	named := strings.Join(v.Places, ", ")
	if v.More > 0 {
		named = v.Text("print.more", v.More, named)
	}
	return strings.TrimSpace(v.Where + " " + named)
}

// flow writes lines of any number over the width of the page, and turns it as often as needed.
func (p *page) flow(f *face, lines []string, size float64, c card.Color) {
	step := size * leading
	for _, line := range f.wrap(f.prepared(lines), p.width, size) {
		if p.y+step > p.low {
			p.turn()
		}
		p.lines(f, []wrapped{line}, p.left, p.y, p.width, size, c)
		p.y += step
	}
}

// centred writes one line into the middle of a box, shrunk to its width.
func (d *document) centred(f *face, line string, x, y, width, height, most float64) {
	line = f.drawable(line)
	one := wrapped{line, f.width(line), false}
	size := min(most, width/max(one.width, 0.01), height/leading)
	d.lines(f, []wrapped{one}, x+(width-one.width*size)/2, y+(height-size*leading)/2, width, size, ink)
}

// goodFor says what a gift for certain items is good for; nothing for one that is good for anything.
func goodFor(v *card.View) []string {
	if v.GoodFor == "" {
		return nil
	}
	return []string{v.GoodFor}
}
