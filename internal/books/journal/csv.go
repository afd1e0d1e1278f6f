package journal

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// csvHead names the columns of a journal as CSV. GV_TYP and UST_SATZ are names of DSFinV-K, by which German tills tell
// the tax office of their sales.
var csvHead = []string{"entry", "date", "line", "description", "debit", "credit", "currency", "amount", "count",
	"promotional", "program", "soldAt", "place", "vatTreatment", "GV_TYP", "UST_SATZ"}

// csv writes each posting as a line of RFC 4180.
func (j *Journal) csv() ([]File, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	_ = w.Write(csvHead) // a buffer takes everything
	for n := range j.Entries {
		e := &j.Entries[n]
		for _, p := range e.Postings {
			_ = w.Write([]string{e.Number, e.Day.Format(time.DateOnly), string(e.Line), e.says(&p),
				cell(p.Debit), cell(p.Credit), e.Currency.Code, e.Currency.Format(p.Amount),
				strconv.FormatInt(p.Count, 10), strconv.FormatBool(p.Promotional), cell(p.Program), cell(p.Sold),
				cell(p.Place), string(p.VAT), businessCase(e.Line, &p), rate(&p)})
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
	switch line {
	case books.LineIssued, books.LineActivated, books.LineReloaded, books.LineCancelled:
		return name + "Kauf"
	case books.LineRedeemed, books.LineGivenBack:
		return name + "Einloesung"
	}
	return ""
}

// rate is the rate of VAT with two decimals, as in UST_SATZ: 19.00.
func rate(p *Posting) string {
	percent := money.Currency{Decimals: 2}
	if hundredths, err := percent.ParseSigned(p.Rate); p.VAT == merchant.SinglePurpose && err == nil {
		return percent.Format(hundredths)
	}
	return ""
}
