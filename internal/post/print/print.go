// Package print makes PDFs of gifts: a page for one, and for an order sheets of ten cards with cut marks, on US Letter
// or A4; and statements that somebody signs.
//
// It draws what package card says and decides nothing about a gift: where the code is not to be shown, it is not
// printed. The QR code is drawn as vectors with its quiet zone. Texts are wrapped and shrunk until they fit, or go on
// on the next page, and are never clipped; what no font has is left out. The same input and fonts make the same bytes.
//
// It knows no HTTP and no database.
package print

import (
	"bytes"
	"fmt"
	"time"

	"codeberg.org/go-pdf/fpdf"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/bars"
	"boon.example/internal/post/card"
	"boon.example/internal/post/qr"
)

// Paper is a size of paper.
type Paper string

// The papers.
const (
	Letter Paper = "letter" // 8.5 by 11 inches
	A4     Paper = "a4"     // 210 by 297 millimetres
)

// ParsePaper reads letter or a4.
func ParsePaper(s string) (Paper, bool) {
	p := Paper(s)
	return p, p == Letter || p == A4
}

// letterCountries print on Letter; the rest of the world on A4.
const letterCountries = " US CA MX PR GU PH CO CL VE GT CR DO PA SV NI HN "

// letterCurrencies are the currencies of those countries.
const letterCurrencies = " USD CAD MXN PHP COP CLP VES GTQ CRC DOP PAB SVC NIO HNL "

// PaperFor is the paper that is usual where a gift is used: in the country of its location, else of the account's first
// location that has one, else of the account's currency.
func PaperFor(a *merchant.Account, location guid.ID) Paper {
	country := ""
	if l := a.Location(location); l != nil {
		country = l.Jurisdiction
	}
	for i := 0; i < len(a.Locations) && country == ""; i++ {
		country = a.Locations[i].Jurisdiction
	}
	among, word := letterCurrencies, a.Currency.Code
	if len(country) >= 2 {
		among, word = letterCountries, country[:2]
	}
	if word != "" && bytes.Contains([]byte(among), []byte(" "+word+" ")) {
		return Letter
	}
	return A4
}

// millimetres is the size of the paper.
func (p Paper) millimetres() (width, height float64) {
	if p == Letter {
		return 215.9, 279.4
	}
	return 210, 297
}

// Card is a gift to be printed.
type Card struct {
	View card.View
	URL  string    // of the gift's page, which the QR code holds
	Made time.Time // when the gift was made; the document's date, so that printing again makes the same file

	Logo    *Picture // nil: none
	Picture *Picture
}

// Picture is an image of a design: what package picture makes, a PNG or a JPEG.
type Picture struct {
	Name  string // tells it from others
	Bytes []byte
	JPEG  bool
}

// kind is what fpdf calls the format.
func (p *Picture) kind() string {
	if p.JPEG {
		return "JPEG"
	}
	return "PNG"
}

// document is a PDF in the making. Lengths are millimetres from the upper left corner, sizes of text are points.
type document struct {
	pdf           *fpdf.Fpdf
	width, height float64
	regular, bold *face
	set           *setter
	drawn         drawings
	content       []byte // what is written next
	failed        error
}

var (
	ink    = card.Color{R: 0x1d, G: 0x1d, B: 0x1b}
	pencil = card.Color{R: 0x55, G: 0x53, B: 0x4d}
	hair   = card.Color{R: 0xc8, G: 0xc4, B: 0xba}
)

// begin makes an empty document in the language of a gift.
func (f *Fonts) begin(p Paper, v card.View, title string, made time.Time) *document {
	return f.blank(p, v.Text(title, v.Merchant), string(v.Language()), made)
}

// blank makes an empty document in a language.
func (f *Fonts) blank(p Paper, title, language string, made time.Time) *document {
	d := &document{set: f.setters.Get().(*setter)}
	d.set.begin()
	if made.IsZero() {
		made = time.Unix(0, 0) // the library would take the present for it
	}
	d.width, d.height = p.millimetres()
	d.pdf = fpdf.NewCustom(&fpdf.InitType{UnitStr: "mm", Size: fpdf.SizeType{Wd: d.width, Ht: d.height}})
	d.pdf.SetCatalogSort(true)
	d.pdf.SetCreationDate(made.UTC())
	d.pdf.SetModificationDate(made.UTC())
	d.pdf.SetProducer("Boon", false)
	d.pdf.SetTitle(title, true)
	d.pdf.SetLang(language)
	d.pdf.SetMargins(0, 0, 0)
	d.pdf.SetAutoPageBreak(false, 0)
	d.regular, d.bold = newFace(d.pdf, 0, d.set), newFace(d.pdf, 1, d.set)
	return d
}

// noPanic makes an error of a panic: the library has them for pictures that are damaged.
func noPanic(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("making a PDF: %v", p)
	}
}

// bytes ends the document.
func (d *document) bytes() ([]byte, error) {
	var b bytes.Buffer
	if err := d.pdf.Output(&b); err != nil {
		return nil, fmt.Errorf("writing a PDF: %w", err)
	}
	if d.failed != nil {
		return nil, d.failed
	}
	d.set.fonts.setters.Put(d.set)
	return d.drawn.embed(b.Bytes())
}

func (d *document) fill(c card.Color) { d.pdf.SetFillColor(int(c.R), int(c.G), int(c.B)) }

func (d *document) stroke(c card.Color, width float64) {
	d.pdf.SetDrawColor(int(c.R), int(c.G), int(c.B))
	d.pdf.SetLineWidth(width)
}

// code draws a QR code with its quiet zone into a square, as filled rectangles on white, one for each run of dark
// modules.
func (d *document) code(text string, x, y, side float64) {
	code, err := qr.Encode(text)
	if err != nil {
		d.failed = fmt.Errorf("drawing a QR code: %w", err)
		return
	}
	d.fill(card.White)
	d.pdf.Rect(x, y, side, side, "F")
	const perMillimetre = 72 / 25.4
	module := side / float64(code.Size+2*qr.QuietZone) * perMillimetre
	var b bytes.Buffer
	fmt.Fprintf(&b, "q 0 0 0 rg %.4f 0 0 %.4f %.4f %.4f cm\n", module, -module, x*perMillimetre,
		(d.height-y)*perMillimetre)
	for row := range code.Size {
		for column := 0; column < code.Size; column++ {
			run := 0
			for code.Dark(column+run, row) {
				run++
			}
			if run > 0 {
				fmt.Fprintf(&b, "%d %d %d 1 re\n", column+qr.QuietZone, row+qr.QuietZone, run)
				column += run
			}
		}
	}
	b.WriteString("f Q")
	d.pdf.RawWriteBuf(&b)
	d.pdf.LinkString(x, y, side, side, text)
}

// barsHeight is how high a bar code is, in millimetres.
const barsHeight = 11.0

// bars draws a bar code with its quiet zones into the middle of a box, each module as wide as there is room for and no
// wider than scanners like. "": nothing is drawn.
func (d *document) bars(text string, x, y, width, height float64) {
	if text == "" {
		return
	}
	code, err := bars.Encode(text)
	if err != nil {
		d.failed = fmt.Errorf("drawing a bar code: %w", err)
		return
	}
	const widest = 0.5
	module := min(width/float64(code.Width()), widest)
	x += (width - module*float64(code.Width())) / 2
	d.fill(card.White)
	d.pdf.Rect(x, y, module*float64(code.Width()), height, "F")
	d.fill(card.Color{})
	for _, bar := range code.Bars() {
		d.pdf.Rect(x+module*float64(bar.At), y, module*float64(bar.Width), height, "F")
	}
}

// under is how much room a card needs below its QR code for the bar code.
func under(v *card.View) float64 {
	if v.Bars == "" {
		return 0
	}
	return barsHeight + 2
}

// extent is the size of a picture, in no unit that matters. A picture that cannot be read fails the document.
func (d *document) extent(p *Picture) (w, h float64) {
	info := d.pdf.RegisterImageOptionsReader(p.Name, fpdf.ImageOptions{ImageType: p.kind()}, bytes.NewReader(p.Bytes))
	if d.pdf.Err() {
		return 1, 1
	}
	return info.Extent()
}

// image draws a picture into a box of its own proportions.
func (d *document) image(p *Picture, x, y, w, h float64) {
	d.pdf.ImageOptions(p.Name, x, y, w, h, false, fpdf.ImageOptions{ImageType: p.kind()}, 0, "")
}

// cover draws a picture so that it fills a box with rounded corners, what stands out cut off evenly.
func (d *document) cover(p *Picture, x, y, width, height, radius float64) {
	w, h := d.extent(p)
	scale := max(width/w, height/h)
	w, h = w*scale, h*scale
	d.pdf.ClipRoundedRectExt(x, y, width, height, 0, radius, radius, 0, false)
	d.image(p, x+(width-w)/2, y+(height-h)/2, w, h)
	d.pdf.ClipEnd()
}
