package delivery

import (
	"strings"

	"boon.example/internal/card"
)

// What a text message holds. Longer texts are cut into parts that are sent, and paid for, one by one.
const (
	oneGSM     = 160 // septets of the GSM 7-bit alphabet
	oneUnicode = 70  // UTF-16 units, when a character is beyond that alphabet
	minName    = 8   // characters that a name is shortened to at most
	maxNameSMS = 40
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

// fitsOne reports whether a text is sent as one message.
func fitsOne(s string) bool {
	if n, ok := septets(s); ok {
		return n <= oneGSM
	}
	units := 0
	for _, r := range s {
		if units++; r > 0xffff {
			units++
		}
	}
	return units <= oneUnicode
}

// alike replaces what word processors put into names by what the GSM alphabet has, so that a typographic apostrophe
// does not halve the room.
var alike = strings.NewReplacer("’", "'", "‘", "'", "“", "\"", "”", "\"", "–", "-", "—", "-", "…", "...", "\u00a0", " ",
	"`", "'")

// usedText says what was taken, where and when.
func usedText(u *card.Use, short func(string) string) string {
	if u == nil {
		return ""
	}
	amount, place := u.Amount, ""
	if amount.Item {
		amount.Unit = short(amount.Unit)
	}
	if u.Place != "" {
		place = " at " + short(u.Place)
	}
	return amount.String() + " used" + place + ", " + alike.Replace(u.When) + ". "
}

// shortRedirected tells that a gift went elsewhere.
func shortRedirected(c content) string {
	text := func(limit int) string {
		short := func(s string) string { return card.Clip(alike.Replace(s), limit) }
		return "The gift from " + short(c.Sender) + " at " + short(c.Merchant) +
			" was sent to somebody else. Its earlier link and code no longer work."
	}
	for limit := maxNameSMS; limit > minName; limit-- {
		if s := text(limit); fitsOne(s) {
			return s
		}
	}
	return text(minName)
}

// shortText writes a gift's text message: the names as long as they fit into one message, the link always whole.
func shortText(opening string, c content) string {
	text := func(limit int) string {
		short := func(s string) string { return card.Clip(alike.Replace(s), limit) }
		worth := c.Balance
		if worth.Item {
			worth.Unit = short(worth.Unit)
		}
		left := worth.String()
		if c.Held != nil {
			worth.Number = c.Held.Number
			left += " (" + worth.String() + " more is held)"
		}
		return usedText(c.Used, short) + opening + short(c.Sender) + ": " + left + " at " + short(c.Merchant) + ". " + c.URL
	}
	for limit := maxNameSMS; limit > minName; limit-- {
		if s := text(limit); fitsOne(s) {
			return s
		}
	}
	// Names beyond the GSM alphabet leave too little room for a link in one message: they are shown in a reasonable
	// length.
	if s := text(minName); fitsOne(s) {
		return s
	}
	return text(maxNameSMS / 2)
}
