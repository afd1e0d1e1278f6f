package journal

import (
	"bytes"
	"encoding/csv"
	"math/big"
	"slices"
	"strconv"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// csvHead names the columns of a journal as CSV. Those in capitals are names of DSFinV-K, by which German tills tell
// the tax office of their sales.
var csvHead = []string{"entry", "date", "line", "description", "debit", "credit", "currency", "amount", "count",
	"promotional", "program", "soldAt", "place", "vatTreatment", "GV_TYP", "UST_SATZ", "Z_UMS_NETTO",
	"Z_UST"}

// csv writes each posting as a line of RFC 4180.
func (j *Journal) csv() ([]File, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	_ = w.Write(csvHead) // a buffer takes everything
	for n := range j.Entries {
		e := &j.Entries[n]
		for _, p := range e.Postings {
			net, tax := e.taxed(&p)
			_ = w.Write([]string{e.Number, e.Day.Format(time.DateOnly), string(e.Line), e.says(&p),
				cell(p.Debit), cell(p.Credit), e.Currency.Code, e.Currency.Format(p.Amount),
				strconv.FormatInt(p.Count, 10), strconv.FormatBool(p.Promotional), cell(p.Program), cell(p.Sold),
				cell(p.Place), string(p.VAT), businessCase(e.Line, &p), rate(&p), net, tax})
		}
	}
	w.Flush()
	return j.file(".csv", "text/csv; charset=utf-8", &b), nil
}

// businessCase is what DSFinV-K calls the sale or the redemption of a voucher; what undoes one has the name of what it
// undoes. "": the VAT treatment is not known, or DSFinV-K has no name for it.
func businessCase(line books.Line, p *Posting) string {
	var name string
	switch p.VAT {
	case merchant.MultiPurpose:
		name = "Mehrzweckgutschein"
	case merchant.SinglePurpose:
		name = "Einzweckgutschein"
	default:
		return ""
	}
	switch {
	case sale(line):
		return name + "Kauf"
	case line == books.LineRedeemed, line == books.LineGivenBack:
		return name + "Einloesung"
	}
	return ""
}

// sale reports whether gifts are sold on a line, or a sale of them is taken back.
func sale(line books.Line) bool {
	return slices.Contains([]books.Line{books.LineIssued, books.LineActivated, books.LineReloaded, books.LineCancelled},
		line)
}

// hundredths is the rate of VAT in hundredths of a percent; ok is false where the sale of the gift is not taxed.
func (p *Posting) hundredths() (rate int64, ok bool) {
	amount, err := percent.ParseSigned(p.Rate)
	return int64(amount), p.VAT == merchant.SinglePurpose && err == nil
}

// percent has the decimals of a rate.
var percent = money.Currency{Decimals: 2}

// taxed parts the amount of a sale on which VAT is due at once: what is left without VAT, and the VAT. The VAT of a
// posting is rounded once, half of the smallest coin upwards. "": it is no such sale.
func (e *Entry) taxed(p *Posting) (net, tax string) {
	rate, ok := p.hundredths()
	if !ok || !sale(e.Line) {
		return "", ""
	}
	const whole = 100_00 // 100 percent
	of := new(big.Int).Mul(big.NewInt(2*rate), big.NewInt(int64(p.Amount)))
	of.Div(of.Add(of, big.NewInt(whole+rate)), big.NewInt(2*(whole+rate)))
	vat := money.Amount(of.Int64())
	return e.Currency.Format(p.Amount - vat), e.Currency.Format(vat)
}

// rate is the rate of VAT with two decimals, as in UST_SATZ: 19.00.
func rate(p *Posting) string {
	if hundredths, ok := p.hundredths(); ok {
		return percent.Format(money.Amount(hundredths))
	}
	return ""
}
