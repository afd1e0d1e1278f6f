package card

import (
	"strings"
	"time"

	"github.com/rivo/uniseg"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/locale"
)

// The bounds of a receipt: the narrowest paper of tills has 32 columns.
const (
	ReceiptColumns  = 32
	MaxReceiptLines = 6
)

// Receipt is what a till prints of an entry that took something of a gift or put something into it, in the account's
// language: at most MaxReceiptLines lines of at most ReceiptColumns columns, as a terminal counts them: a letter of
// East Asia has two, an accent none. It tells the last four digits of the code, and no others.
func Receipt(a *merchant.Account, lastFour string, v *gift.Voucher, e *gift.Entry) []string {
	l := locale.For(a.Language).In(a.HomeCountry())
	lines := []string{fit(Line(a.Name), ReceiptColumns), "•••• " + lastFour,
		columns(l.Text(receiptText(e.Kind)), amountText(l, v, max(e.Delta, -e.Delta))),
		columns(l.Text("card.receipt.left"), amountText(l, v, v.Balance))}
	if end := v.End(); !end.IsZero() {
		last := end.In(a.TimeZone()).Add(-time.Second) // midnight is the end of the day before
		lines = append(lines, columns(l.Text("card.receipt.until"), l.Day(last)))
	}
	return lines
}

// NewCard is what a till prints for the guest whose card got another code when it was used: the merchant, the code, and
// what is left. Its lines are as those of a receipt.
func NewCard(a *merchant.Account, g *gift.Gift) []string {
	l := locale.For(a.Language).In(a.HomeCountry())
	return []string{fit(Line(a.Name), ReceiptColumns), fit(l.Text("card.receipt.new_card"), ReceiptColumns),
		g.Card.Code.Grouped(), columns(l.Text("card.receipt.left"), amountText(l, &g.Voucher, g.Balance)),
		fit(l.Text("card.receipt.old_card"), ReceiptColumns)}
}

// receiptText names the text that says what an entry did.
func receiptText(k gift.Kind) string {
	switch k {
	case gift.CashOut:
		return "till.sum.cashed_out"
	case gift.Reload, gift.Activation:
		return "till.sum.loaded"
	}
	return "till.sum.taken"
}

func amountText(l *locale.Locale, v *gift.Voucher, amount money.Amount) string {
	if v.Item {
		return l.Number(int64(amount)) + " x" // the × has two columns on printers of East Asia
	}
	return l.Money(amount, v.Currency)
}

// columns writes what something is to the left and how much to the right. A number is never cut.
func columns(what, value string) string {
	what = fit(what, ReceiptColumns-1-uniseg.StringWidth(value))
	gap := ReceiptColumns - uniseg.StringWidth(what) - uniseg.StringWidth(value)
	return what + strings.Repeat(" ", max(0, gap)) + value
}

// fit cuts a text to so many columns. It parts no letter from its accents, and no emoji from what it is joined to.
func fit(text string, most int) string {
	if uniseg.StringWidth(text) <= most {
		return text
	}
	const cut = "..." // one character for the three has two columns on printers of East Asia
	var b strings.Builder
	width := uniseg.StringWidth(cut)
	if width > most {
		return ""
	}
	for letters := uniseg.NewGraphemes(text); letters.Next() && width+letters.Width() <= most; {
		b.WriteString(letters.Str())
		width += letters.Width()
	}
	return strings.TrimRight(b.String(), " ") + cut
}
