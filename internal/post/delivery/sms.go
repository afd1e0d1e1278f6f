package delivery

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"boon.example/internal/post/card"
)

// What a text message holds. Longer texts are cut into parts that are sent, and paid for, one by one.
const (
	oneGSM      = 160 // septets of the GSM 7-bit alphabet
	partGSM     = 153 // in each of several parts, which begin with their number (3GPP TS 23.040, section 9.2.3.24.1)
	oneUnicode  = 70  // UTF-16 units, when a character is beyond that alphabet
	partUnicode = 67
	minName     = 8 // characters that a name is shortened to at most
	maxNameSMS  = 40
)

// The GSM 7-bit default alphabet and its extension table (3GPP TS 23.038, section 6.2.1). Each of the latter takes two
// septets.
const (
	gsmBasic = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ " +
		"!\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	gsmMore = "\f^{}\\[~]|€"
)

// septets counts the length of a text in the GSM 7-bit alphabet; ok is false when a character is not in it.
func septets(s string) (n int, ok bool) {
	for _, r := range s {
		switch {
		case strings.ContainsRune(gsmBasic, r):
			n++
		case strings.ContainsRune(gsmMore, r):
			n += 2
		default:
			return 0, false
		}
	}
	return n, true
}

// parts counts the messages that a text is cut into. Each of several has less room than one alone, and no character is
// cut in two.
func parts(s string) int {
	whole, each, length := oneUnicode, partUnicode, utf16.RuneLen
	if _, ok := septets(s); ok {
		whole, each, length = oneGSM, partGSM, func(r rune) int { n, _ := septets(string(r)); return n }
	}
	total, n, used := 0, 1, 0
	for _, r := range s {
		more := max(length(r), 1)
		if total += more; used+more > each {
			n, used = n+1, 0
		}
		used += more
	}
	if total <= whole {
		return 1
	}
	return n
}

// alike replaces what word processors and typesetters write by what the GSM alphabet has, so that a typographic
// apostrophe or space does not halve the room.
var alike = strings.NewReplacer("’", "'", "‘", "'", "“", "\"", "”", "\"", "–", "-", "—", "-", "…", "...", "\u00a0", " ",
	"\u202f", " ", "`", "'")

// currencyCodes are those of the currencies whose signs the GSM alphabet lacks.
var currencyCodes = strings.NewReplacer("₹", "INR", "₪", "ILS", "₩", "KRW", "฿", "THB", "₫", "VND",
	"₡", "CRC", "GH₵", "GHS", "₦", "NGN", "₱", "PHP", "₲", "PYG", "₴", "UAH", "₺", "TRY", "₽", "RUB", "₾", "GEL",
	"₸", "KZT", "₭", "LAK", "₮", "MNT", "৳", "BDT", "៛", "KHR")

// shortText writes a message as SMS: in as few parts as can be, the names as long as those hold, the link always whole.
func shortText(kind string, c content) string {
	versions := []func(limit int) string{c.short(kind)}
	if c.Used != nil {
		without := c
		without.Used = nil
		versions = append(versions, without.short(kind))
	}
	best, fewest := "", 0
	for _, text := range versions {
		for limit := maxNameSMS; limit >= minName; limit-- {
			if s := text(limit); best == "" || parts(s) < fewest {
				best, fewest = s, parts(s)
			}
		}
	}
	return best
}

// neighbours writes letters that the GSM alphabet lacks as those without their marks, where it has these: one ë halves
// the room, and Zoe is read better than half a name.
func neighbours(s string) string {
	var b strings.Builder
	for _, r := range s {
		if _, ok := septets(string(r)); !ok {
			base, _ := utf8.DecodeRuneInString(norm.NFD.String(string(r)))
			if _, ok := septets(string(base)); ok {
				r = base
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// short gives the text of a message with names of at most so many characters.
func (c content) short(kind string) func(limit int) string {
	return func(limit int) string {
		name := func(s string) string { return card.Clip(neighbours(alike.Replace(s)), limit) }
		worth := func(w card.Worth) string {
			w.Number, w.Unit = currencyCodes.Replace(w.Number), name(w.Unit)
			return w.String()
		}
		if kind == "redirected" {
			return alike.Replace(c.Text("sms.moved", name(c.Sender), name(c.Merchant)))
		}
		left := worth(c.Balance)
		if c.Held != nil {
			left = c.Text("sms.held", left, worth(*c.Held))
		}
		text := c.Text("sms.gift", name(c.Sender), left, name(c.Merchant))
		if kind == "balance" {
			text = c.Text("sms.left", name(c.Sender), left, name(c.Merchant))
		}
		if u := c.Used; u != nil {
			day := strings.ReplaceAll(c.DayAndMonth(u.At), "û", "u") // aout, as French may write it, is in the GSM alphabet
			used := c.Text("sms.used", worth(u.Amount), day)
			if u.Place != "" {
				used = c.Text("sms.used.at", worth(u.Amount), name(u.Place), day)
			}
			text = c.Text("sms.after", used, text)
		}
		return alike.Replace(text) + " " + c.URL
	}
}
