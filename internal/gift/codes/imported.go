package codes

import (
	"crypto/subtle"
	"strings"

	"boon.example/internal/base/phrase"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// codeKind says who gave a code out, and which spellings of it are the same.
type codeKind byte

const (
	boonCode   codeKind = 0   // Boon: its digits are unique in the whole installation
	exactCode  codeKind = '=' // another system: unique in its account
	foldedCode codeKind = '~' // likewise, and so is what its characters are folded to
	typedCode  codeKind = '?' // whoever: it was typed or scanned at a till of the account
)

// Parse reads a code that a machine sends for an account. Where the account has codes of other systems, it is
// Read, else ParseVoucherCode.
func Parse(a *merchant.Account, s string) (VoucherCode, error) {
	if len(a.ImportedCodes) == 0 {
		return ParseVoucherCode(s)
	}
	return Read(a, s)
}

// Read reads a code as a person wrote, copied, scanned or swiped it at a till of an account. Where the account has
// codes of other systems, it may be one of them, or the track of a magnetic stripe with one of them on it. Whatever
// could be one in some account is read alike, so that nobody is told which forms this account has.
func Read(a *merchant.Account, s string) (VoucherCode, error) {
	if len(a.ImportedCodes) == 0 {
		return ReadVoucherCode(s)
	}
	text := tidied(swiped(s))
	if !isImported(text) {
		return VoucherCode{}, refusal.At(refusal.InvalidCodeFormat, refusal.FieldCode,
			"A voucher code is 12 digits, or the %d to %d letters and digits on a card from another system.",
			merchant.MinImportedCode, merchant.MaxImportedCode)
	}
	return VoucherCode{newSecret(text), typedCode, a.ID}, nil
}

// ReadOf is Read for staff of the account, who know its forms: a text is a code only if Boon's codes or the
// forms that the account declares are like it. A name is none, as each code has a digit.
func ReadOf(a *merchant.Account, s string) (VoucherCode, error) {
	code, err := Read(a, s)
	if err != nil || len(a.ImportedCodes) == 0 {
		return code, err
	}
	text := code.Reveal()
	if _, err := ParseVoucherCode(text); err == nil {
		return code, nil
	}
	if _, err := ParseImported(a, text); err != nil || !strings.ContainsAny(text, "0123456789") {
		return VoucherCode{}, refusal.At(refusal.InvalidCodeFormat, refusal.FieldCode, "This is no code of the account.")
	}
	return code, nil
}

// Written is a text as the code of some system, and false where it is none: what could be a code in some account, with
// a digit at least, as people write it, scan it or swipe it. Which forms an account has is for its service to say.
func Written(s string) (string, bool) {
	text := tidied(swiped(s))
	return text, isImported(text) && strings.ContainsAny(text, "0123456789")
}

// LastFourOf is what VoucherCode.LastFour gives of the code with a text.
func LastFourOf(text string) string {
	const shown, short = 4, 2
	if len(text) < 2*shown {
		return text[max(0, len(text)-short):]
	}
	return text[len(text)-shown:]
}

func isImported(text string) bool {
	return merchant.MinImportedCode <= len(text) && len(text) <= merchant.MaxImportedCode &&
		strings.Trim(text, base62) == ""
}

// IsLastFour reports whether a text can be what LastFour gives of a code.
func IsLastFour(s string) bool { return (len(s) == 4 || len(s) == 2) && strings.Trim(s, base62) == "" }

// swiped is the number on the track of a magnetic stripe: of ;NUMBER=…? what is before the =, of %BNUMBER^…? what is
// before the ^. Any other text stays as it is. Where both tracks were read, the number is on either.
func swiped(s string) string {
	track := strings.TrimFunc(s, isAround)
	number, first := strings.CutPrefix(track, "%B")
	if !first {
		var second bool
		if number, second = strings.CutPrefix(track, ";"); !second {
			return s
		}
	}
	if end := strings.IndexAny(number, "^=?"); end >= 0 {
		number = number[:end]
	}
	return number
}

// ParseImported reads a code that another system gave out to an account, as the file of an import has it. Spaces,
// dashes and dots in it make no difference. It must have one of the forms that the account declares. The error is a
// sentence.
func ParseImported(a *merchant.Account, s string) (VoucherCode, error) {
	text := tidied(s)
	form, declared := a.CodeForm(len(text))
	switch {
	case text == "":
		return VoucherCode{}, phrase.New("The code is missing.")
	case strings.Trim(text, base62) != "":
		return VoucherCode{}, phrase.New("A code has letters from A to Z and digits, and nothing else.")
	case !declared:
		return VoucherCode{}, phrase.New("The code has %d characters, and importedCodes in the set-up declares no such form.",
			len(text))
	case form.Digits > 0 && strings.Trim(text, "0123456789") != "":
		return VoucherCode{}, phrase.New("The code has a letter, and importedCodes in the set-up declares %d digits.",
			form.Digits)
	}
	return imported(a.ID, text, form.Fold), nil
}

func imported(account guid.ID, text string, fold bool) VoucherCode {
	kind := exactCode
	if fold {
		kind = foldedCode
	}
	return VoucherCode{newSecret(text), kind, account}
}

// Typed is what a till of an account would ask for that is shown the code: it finds a gift with this code, whether Boon
// gave it out or another system did.
func (c VoucherCode) Typed(account guid.ID) VoucherCode {
	return VoucherCode{c.secret, typedCode, account}
}

// IsImported reports whether another system gave the code out.
func (c VoucherCode) IsImported() bool { return c.kind == exactCode || c.kind == foldedCode }

// Account is in which account the code is to be found, or first of all; zero: in any.
func (c VoucherCode) Account() guid.ID { return c.account }

// Spelling is one of the ways in which gifts are found by a code. Domain tells the ways apart. Text is a secret.
type Spelling struct{ Domain, Text string }

// Spellings are the ways in which a gift is found by a code, one of Boon's first. Only what was typed has more than
// one. How many these are tells nothing but whether it has the form of Boon's codes.
func (c VoucherCode) Spellings() []Spelling {
	text := c.Reveal()
	switch c.kind {
	case exactCode:
		return []Spelling{c.exact(text)}
	case foldedCode:
		return []Spelling{c.folded(text)}
	case typedCode:
		if _, err := ParseVoucherCode(text); err != nil {
			return []Spelling{c.exact(text), c.folded(text)}
		}
		return []Spelling{{ofBoon, text}, c.exact(text), c.folded(text)}
	}
	return []Spelling{{ofBoon, text}}
}

const ofBoon = "code"

func (c VoucherCode) exact(text string) Spelling {
	return Spelling{"imported code", string(c.account[:]) + text}
}

func (c VoucherCode) folded(text string) Spelling {
	return Spelling{"folded code", string(c.account[:]) + fold.Replace(strings.ToUpper(text))}
}

// fold makes one character of those that people take for each other.
var fold = strings.NewReplacer("O", "0", "I", "1")

// Is reports whether a card with the code c is one that was asked for by a code. How long that takes does not tell how
// much of them is the same.
func (c VoucherCode) Is(asked VoucherCode) bool {
	if c.kind == boonCode && asked.kind == boonCode {
		return c == asked // of what is encrypted
	}
	same := 0
	for _, mine := range c.Spellings() {
		for _, s := range asked.Spellings() {
			if s.Domain == mine.Domain {
				same |= subtle.ConstantTimeCompare([]byte(s.Text), []byte(mine.Text))
			}
		}
	}
	return same == 1
}

// Kept is the code as it is stored, encrypted: one of another system has a mark before it.
func (c VoucherCode) Kept() string {
	if c.IsImported() {
		return string(rune(c.kind)) + c.Reveal()
	}
	return c.Reveal()
}

// ParseKept reads what Kept gave for a gift of an account.
func ParseKept(account guid.ID, s string) (VoucherCode, error) {
	for _, kind := range []codeKind{exactCode, foldedCode} {
		if text, ok := strings.CutPrefix(s, string(rune(kind))); ok && isImported(text) {
			return VoucherCode{newSecret(text), kind, account}, nil
		}
	}
	return ParseVoucherCode(s)
}
