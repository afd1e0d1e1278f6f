package imports

import (
	"hash/maphash"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"boon.example/internal/base/normalize"
	"boon.example/internal/base/phrase"
	"boon.example/internal/base/spreadsheet"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// read reads the fields of the line.
func (r *Reader) read() {
	r.readCode()
	r.readValue()
	r.readProgram()
	r.readPlace()
	r.readTimes()
	r.line.Recipient = r.readLine(Recipient, maxName)
	r.line.Reference = r.readLine(Reference, maxName)
	r.line.Customer = r.readLine(Customer, gift.MaxCustomerID)
	r.readContact()
	if r.line.PIN = apart.Replace(unquoted(r.text(PIN))); r.line.PIN != "" && !gift.IsVerificationCode(r.line.PIN) {
		r.wrong(PIN, "A PIN has %s.", gift.VerificationCodeForm)
	}
	if r.line.TillsOnly = says(r.text(TillsOnly)); r.line.TillsOnly && r.line.PIN != "" {
		r.wrong(TillsOnly, "A card with a PIN is not for tills only.")
	}
	if code := r.text(Currency); code != "" && !strings.EqualFold(code, r.account.Currency.Code) {
		r.wrong(Currency, "The account's currency is %s; a gift in another one cannot be taken.", r.account.Currency.Code)
	}
	r.readState()
	r.readKind()
}

// readKind refuses what is no gift: some systems list gifts among discounts.
func (r *Reader) readKind() {
	kind := r.text(Kind)
	isKind := func(is string) bool { return strings.EqualFold(is, kind) }
	if (kind != "" || r.among) && !slices.ContainsFunc(r.format.Gifts, isKind) {
		r.wrong(Kind, "This is a discount and no gift: nobody paid for it.")
	}
}

// readState refuses a gift that is not as good in the old system as it would be in Boon.
func (r *Reader) readState() {
	if state := r.text(State); state != "" && !slices.ContainsFunc(r.format.Good, func(good string) bool {
		return strings.EqualFold(good, state)
	}) {
		r.wrong(State, "The old system does not take this gift. It is taken in these states only: %s.",
			strings.Join(r.format.Good, ", "))
	}
	if says(r.text(Ended)) {
		r.wrong(Ended, "The old system does not take this gift any more: it was ended or blocked.")
	}
	if says(r.text(Promotional)) {
		r.wrong(Promotional, "Nobody paid for this gift: it is promotional. An import takes gifts that are owed; make this "+
			"one anew as a promotional gift.")
	}
	if held := r.text(Held); strings.Trim(held, "0.,") != "" {
		r.wrong(Held, "A part of this gift is held. Take or release what is held in the old system, and export again.")
	}
}

// says reports whether a text says more than no.
func says(text string) bool {
	return !slices.Contains([]string{"", "0", "no", "false", "null", "none"}, strings.ToLower(text))
}

// maxName is how long names and references are at most.
const maxName = 200

// apart takes away what parts the digits of a PIN, so that a spreadsheet makes no number of it.
var apart = strings.NewReplacer("-", "", " ", "")

// exponent is what spreadsheets make of a long number.
var exponent = regexp.MustCompile(`^[0-9]+([.,][0-9]+)?[eE]\+?[0-9]+$`)

// total is what the last line of a report says where the others have codes.
var total = regexp.MustCompile(`^(?i)((grand |sub)?totals?|sum|sums|summe|gesamt(summe)?|suma|total general|totale|totaal)` +
	`([ :=(].*)?$`)

// masked is a code that does not tell all its characters.
var masked = regexp.MustCompile(`(?i)[*•●…#]|\.\.\.|^xxxx|x{6}`)

// unquoted is a text without what exports put around digits so that a spreadsheet keeps them: ="0042" and '0042.
func unquoted(text string) string {
	if rest, ok := strings.CutPrefix(text, `="`); ok {
		return strings.TrimSuffix(rest, `"`)
	}
	return strings.TrimPrefix(text, "'")
}

func (r *Reader) readCode() {
	text := unquoted(r.text(Code))
	switch {
	case text == "":
		r.wrong(Code, "The code is missing. If this line is a total of the others, delete it.")
		return
	case total.MatchString(text):
		r.wrong(Code, "This line is a total of the others and no gift: delete it.")
		return
	case exponent.MatchString(text) && strings.ContainsAny(text, ".,+"):
		r.wrong(Code, "A spreadsheet has made a number of the code, and its last digits are lost. Take the file from the "+
			"old system again, and do not open it in a spreadsheet.")
		return
	case masked.MatchString(text):
		if lacks[r.format.System] == "" {
			r.wrong(Code, "The code is masked.")
		} else {
			r.wrong(Code, "The code is masked. %s", lacks[r.format.System])
		}
		return
	}
	code, err := codes.ParseImported(r.account, text)
	if err != nil {
		if longest := r.longestDigits(); strings.Trim(text, digits) == "" && len(text) < longest {
			r.wrong(Code, "The code has %d digits, and importedCodes in the set-up declares %d: a spreadsheet may have taken "+
				"the zeros at its beginning away.", len(text), longest)
			return
		}
		r.wrong(Code, "%s", err)
		return
	}
	key := maphash.String(r.seed, code.Spellings()[0].Domain+"\x00"+code.Spellings()[0].Text)
	if line, twice := r.seen[key]; twice {
		r.wrong(Code, "The code stands on line %d already.", line)
		return
	}
	r.seen[key] = int32(min(r.line.Number, math.MaxInt32))
	r.line.Code = code
}

// longestDigits is the number of digits of the longest codes of digits that the account declares; 0: it declares none.
func (r *Reader) longestDigits() (longest int) {
	for _, f := range r.account.ImportedCodes {
		longest = max(longest, f.Digits)
	}
	return longest
}

// readValue reads what is left: of money, or of pieces with their label.
func (r *Reader) readValue() {
	amount, pieces, label := unquoted(r.text(Balance)), unquoted(r.text(Quantity)), r.readLine(Label, maxName)
	switch {
	case amount == "" && pieces == "":
		r.wrong(Balance, "The balance is missing.")
	case amount != "" && pieces != "":
		r.wrong(Quantity, "A gift has a balance or a quantity, and this one has both.")
	case amount != "":
		r.line.Balance = r.readAmount(Balance, amount, r.account.Currency, r.account.MaxGiftValue)
	default:
		r.line.Item, r.line.Label = true, label
		r.line.Balance = r.readAmount(Quantity, pieces, money.Pieces, gift.MaxQuantity)
		if label == "" {
			r.wrong(Label, "The label of an item gift is missing.")
		}
	}
}

func (r *Reader) readAmount(field Field, text string, c money.Currency, most money.Amount) money.Amount {
	if exponent.MatchString(text) {
		r.wrong(field, "A spreadsheet has written the amount with an exponent, such as 1E+05; write all its digits.")
		return 0
	}
	if field == Balance && r.minor {
		return r.readMinor(text, c, most)
	}
	number, err := plainNumber(text, c.Decimals)
	if err == nil && field == Balance {
		err = r.isIn(text, c)
	}
	if err != nil {
		r.wrong(field, "%s", err)
		return 0
	}
	if strings.Trim(string(number), "0.") == "" {
		r.wrong(field, "Nothing is left of this gift.")
		return 0
	}
	amount, err := c.Read(number, most)
	if err != nil {
		r.wrong(field, "%s", err)
	}
	return amount
}

// readMinor reads an amount that counts the smallest unit of the currency. What has decimals does not.
func (r *Reader) readMinor(text string, c money.Currency, most money.Amount) money.Amount {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		r.wrong(Balance, "Amounts in this column count the smallest unit of the currency, such as cents, and this is no "+
			"whole number. If the amounts have decimals, name the column balance.")
		return 0
	case n < 0:
		r.wrong(Balance, "%s", errNegative)
		return 0
	case n == 0:
		r.wrong(Balance, "Nothing is left of this gift.")
		return 0
	}
	amount, err := c.Read(money.Number(c.Format(money.Amount(n))), most)
	if err != nil {
		r.wrong(Balance, "%s", err)
	}
	return amount
}

// Sentences about amounts.
var (
	errNoAmount  = phrase.New("This is no amount; write it as 1234.50.")
	errNegative  = phrase.New("The amount is negative.")
	errAmbiguous = phrase.New("Whether the mark in this amount stands before decimals or between thousands cannot be " +
		"told; write it as 1234.50.")
)

// plainNumber is an amount as a person or a spreadsheet wrote it, with a currency sign or marks between thousands, as a
// plain number.
func plainNumber(text string, decimals int) (money.Number, error) {
	text, ok := unsigned(text)
	if !ok {
		return "", errNegative
	}
	if text == "" || strings.Trim(text, "0123456789.,") != "" || strings.Trim(text, ".,") == "" {
		return "", errNoAmount
	}
	last := strings.LastIndexAny(text, ".,")
	if last < 0 {
		return money.Number(text), nil
	}
	mark, whole, part := text[last:last+1], text[:last], text[last+1:]
	switch inWhole := strings.ContainsAny(whole, ".,"); {
	case inWhole && strings.Contains(whole, mark): // 1.234.567
		return ofThousands(text, mark)
	case len(part) == 3 && decimals != 3 && decimals > 0 && !inWhole,
		len(part) == 3 && decimals == 3 && mark == ",":
		return "", errAmbiguous
	case len(part) == 3 && decimals == 0:
		return ofThousands(text, mark)
	case inWhole:
		thousands, err := ofThousands(whole, string(".,"[1-strings.Index(".,", mark)]))
		return thousands + "." + money.Number(part), err
	case whole == "":
		whole = "0"
	}
	if part == "" {
		return money.Number(whole), nil
	}
	return money.Number(whole + "." + part), nil
}

// ofThousands is a whole number with marks between its thousands.
func ofThousands(text, mark string) (money.Number, error) {
	groups := strings.Split(text, mark)
	for n, g := range groups {
		if n == 0 && (g == "" || len(g) > 3) || n > 0 && len(g) != 3 || strings.Trim(g, digits) != "" {
			return "", errNoAmount
		}
	}
	return money.Number(strings.Join(groups, "")), nil
}

// spaced is a number whose thousands are parted by spaces or apostrophes.
var spaced = regexp.MustCompile("^[0-9]{1,3}([" + apartThousands + "][0-9]{3})+([.,][0-9]*)?$")

// apartThousands are the marks between thousands that never stand before decimals.
const apartThousands = " '’\u00a0\u202f\u2009"

func isApart(r rune) bool { return strings.ContainsRune(apartThousands, r) }

// unsigned is an amount without a currency and marks that are no part of it; ok is false of one below zero. Such marks
// stand around the digits, or between thousands. Anywhere else they part two numbers, as in 25 + 5 and 12€50.
func unsigned(text string) (_ string, ok bool) {
	below := strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")")
	text = strings.TrimFunc(text, func(r rune) bool {
		below = below || r == '-' || r == '−'
		return strings.ContainsRune("()+-−", r) || isApart(r) || unicode.IsLetter(r) || unicode.IsSpace(r) ||
			unicode.Is(unicode.Sc, r)
	})
	if spaced.MatchString(text) {
		text = strings.Join(strings.FieldsFunc(text, isApart), "")
	}
	return text, !below
}

// maxMarks is how many different marks beside amounts a file has at most.
const maxMarks = 100

// isIn refuses an amount beside which another currency is written than c.
func (r *Reader) isIn(text string, c money.Currency) error {
	if strings.Trim(text, "0123456789.,") == "" {
		return nil
	}
	isNone := func(c rune) bool { return !unicode.IsLetter(c) && !unicode.Is(unicode.Sc, c) }
	for _, mark := range strings.FieldsFunc(text, isNone) {
		is, known := r.marks[mark]
		if !known && len(r.marks) < maxMarks {
			is = isMark(mark, c.Code)
			r.marks[mark] = is
		}
		if !is {
			return phrase.New("The currency beside this amount is not that of the account, which is %s; write the amount as "+
				"1234.50.", c.Code)
		}
	}
	return nil
}

// isMark reports whether people write a mark for a currency: its code, or its sign, also behind letters of the code as
// in US$ and C$.
func isMark(mark, code string) bool {
	if strings.EqualFold(mark, code) {
		return true
	}
	unit, err := currency.ParseISO(code)
	if err != nil {
		return false
	}
	for _, written := range []language.Tag{language.Und, language.English, language.Japanese, language.Chinese} {
		print := message.NewPrinter(written)
		sign := print.Sprint(currency.NarrowSymbol(unit))
		of, signed := strings.CutSuffix(strings.ToUpper(mark), strings.ToUpper(sign))
		if signed && strings.HasPrefix(code, of) || mark == print.Sprint(currency.Symbol(unit)) {
			return true
		}
	}
	return false
}

// readProgram reads the program, by its id or its name.
func (r *Reader) readProgram() {
	text, id := r.text(Program), merchant.BusinessProgram.ID
	if text != "" {
		known := false
		for _, candidate := range merchant.ProgramIDs() {
			program, _ := merchant.ProgramByID(candidate)
			if strings.EqualFold(text, program.Name) || strings.EqualFold(text, candidate.String()) {
				id, known = candidate, true
			}
		}
		if !known {
			r.wrong(Program, "There is no such program.")
			return
		}
	}
	if r.account.Subscription(id) == nil {
		program, _ := merchant.ProgramByID(id)
		r.wrong(Program, "The account has no subscription to the program %s.", program.Name)
	}
	r.line.ProgramID = id
}

// readPlace reads the only location at which the gift is good: by its id, its name or its point-of-sale identifier.
func (r *Reader) readPlace() {
	text := spreadsheet.Original(r.text(Organization))
	if text == "" {
		return
	}
	id, _ := guid.Parse(text)
	var found []guid.ID
	for _, l := range r.account.Locations {
		if l.ID == id || strings.EqualFold(l.Name, text) || l.PointOfSale != "" && strings.EqualFold(l.PointOfSale, text) {
			found = append(found, l.ID)
		}
	}
	switch len(found) {
	case 0:
		r.wrong(Organization, "The account has no such location.")
	case 1:
		r.line.LocationID = found[0]
	default:
		r.wrong(Organization, "Several locations of the account are called so; write the location's id.")
	}
}

// lastYear is the last one in which a gift ends. Systems without a mark for gifts that do not end write a later one.
const lastYear = 9998

// readTimes reads from when and until when the gift is valid, and when it was issued.
func (r *Reader) readTimes() {
	if until, ok := r.readTime(ValidUntil, true); ok && until.Year() <= lastYear {
		if r.line.ValidUntil = until; !until.After(r.now) {
			r.wrong(ValidUntil, "The gift has expired.")
		}
	}
	if from, ok := r.readTime(ValidFrom, false); ok {
		if r.line.ValidFrom = from; !r.line.ValidUntil.IsZero() && !from.Before(r.line.ValidUntil) {
			r.wrong(ValidFrom, "The gift would be valid from then on, and it ends before.")
		}
	}
	if at, ok := r.readTime(IssuedAt, false); ok {
		if r.line.IssuedAt = at; at.After(r.now) {
			r.wrong(IssuedAt, "This is in the future.")
		}
	}
}

// readLine reads a text of one line. A formula is refused, unless it stands there as Boon exports a text that looks
// like one: with an apostrophe before it, no spreadsheet runs it, and Boon never writes it otherwise.
func (r *Reader) readLine(field Field, most int) string {
	written := r.text(field)
	original := spreadsheet.Original(written)
	text := normalize.String(original)
	exported := spreadsheet.Text(original) == written
	if !exported && spreadsheet.Text(text) != text && strings.ContainsAny(text, "(|!") {
		r.wrong(field, "This text is a formula of a spreadsheet.")
		return ""
	}
	if err := contact.CheckText(text, most, false); err != nil {
		r.wrong(field, "%s", err)
		return ""
	}
	return text
}

func (r *Reader) readContact() {
	text := spreadsheet.Original(r.text(Contact))
	if text == "" {
		return
	}
	method := contact.SMS
	if strings.Contains(text, "@") {
		method = contact.Email
	}
	to, err := contact.Parse(method, text, r.account.TextedCountries())
	if err != nil {
		r.wrong(Contact, "This is neither an e-mail address nor a mobile number to which the account sends SMS.")
		return
	}
	r.line.Contact = to
}
