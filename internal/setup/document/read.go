package document

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/language"

	"boon.example/internal/base/clientip"
	"boon.example/internal/base/normalize"
	"boon.example/internal/base/phrase"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/pin"
	"boon.example/internal/post/picture"
	"boon.example/internal/wire"
)

// Limits of a set-up.
const (
	maxName   = 200
	minSecret = 32
	maxSecret = 255
	maxItem   = 200
	firstYear = 2000 // of a promotion; a year outside is a slip of the finger
	lastYear  = 2999
)

// underway is an account that is being read.
type underway struct {
	account *merchant.Account
	texts   merchant.Language // the one that texts are in, "": it is not known
	assets  []merchant.Asset  // the pictures of its designs
	files   map[merchant.AssetHash]merchant.AssetHash
	lines   map[string]int // of what stands once in an account, by what it is
	later   []func()       // what is checked when all of the account is known

	unproven []Unproven
}

// currency is that of the account; nil: there is no account.
func (u *underway) currency() *money.Currency {
	if u == nil {
		return nil
	}
	return &u.account.Currency
}

// once gives the line on which the account has something already, if it does.
func (u *underway) once(what string, line int) (first int, double bool) {
	if first, double = u.lines[what]; !double {
		u.lines[what] = line
	}
	return first, double
}

// reader reads one set-up file and collects what is wrong with it.
type reader struct {
	file     string
	folder   fs.FS                     // where pictures lie; nil: nowhere
	allow    merchant.WebhookNetworks  // where webhooks may be beside public addresses
	demo     bool                      // the secrets of the published examples are taken
	typed    bool                      // no file is read, but what somebody typed
	pictures map[string]merchant.Asset // by written.PicturePath: those that need no file
	problems Problems
	ids      map[guid.ID]int          // every id given so far, with its line
	secrets  map[merchant.KeyHash]int // likewise
	lacking  []value                  // mappings without the id that they need
	in       *underway                // the account that is being read; nil: none is
}

func (r *reader) add(line int, path string, text phrase.Text, args ...any) {
	r.problems = append(r.problems, Problem{File: r.file, Line: line, Path: path, Said: phrase.New(text, args...)})
}

func (r *reader) problem(at value, text phrase.Text, args ...any) {
	r.add(at.Line, at.path, text, args...)
}

// refuse has a problem be what a rule says of a value.
func (r *reader) refuse(at value, err error) { r.problem(at, "%s", err) }

// file notes what only somebody who writes a file can do wrong. No page shows it, so that it is said in English.
func (r *reader) inFile(line int, path, format string, args ...any) {
	r.add(line, path, "%s", fmt.Sprintf(format, args...))
}

// onLine says where in the file something stands; where no file is read, nothing.
func (r *reader) onLine(line int) any {
	if r.typed {
		return phrase.Text("")
	}
	return phrase.New(" on line %d", line)
}

// ofFile are words about a file, said where one is read.
func (r *reader) ofFile(words phrase.Text) phrase.Text {
	if r.typed {
		return ""
	}
	return words
}

// id reads a GUID; zero: absent or refused.
func (f fields) id(name string) guid.ID {
	v, _, ok := f.scalar(name)
	if !ok {
		return guid.ID{}
	}
	return f.guid(v)
}

func (r *reader) guid(v value) guid.ID {
	id, err := guid.Parse(v.Value)
	if err != nil {
		r.problem(v, "This is not an id such as 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01 (hexadecimal digits, not all 0 or all "+
			"f). To name a record that exists, write its id, not its name.")
	}
	return id
}

// newID reads the id of a record. No other record of the file may have it.
func (f fields) newID() guid.ID {
	id := f.id("id")
	if id.IsZero() {
		return id
	}
	at := f.values["id"]
	if line, double := f.ids[id]; double {
		f.problem(at, "This id is used%s already; each names one thing only.", f.onLine(line))
		return id
	}
	f.ids[id] = at.Line
	return id
}

// label reads a text of one line, 1 to 200 characters; "": absent or refused.
func (f fields) label(name string) string {
	v, _, ok := f.scalar(name)
	if !ok {
		return ""
	}
	return f.line(v, maxName)
}

func (r *reader) line(v value, limit int) string {
	s := normalize.String(v.Value)
	if err := checkLine(s, limit); err != nil {
		r.refuse(v, err)
	}
	return s
}

// CheckName judges the name of something. The error is a sentence.
func CheckName(name string) error { return checkLine(name, maxName) }

// checkLine judges a text of one line that must say something. The error is a sentence.
func checkLine(s string, limit int) error {
	if !utf8.ValidString(s) {
		return phrase.New("This text is not valid UTF-8.")
	}
	if s == "" || strings.TrimSpace(s) != s {
		return phrase.New("This text must not be empty, nor begin or end with a space or a line break.")
	}
	if contact.Blank(s) {
		return phrase.New("This text shows nothing: it has only marks that nobody sees.")
	}
	return contact.CheckText(s, limit, false)
}

// prose reads a text of any number of lines; "": absent or refused. The line breaks that YAML's blocks end in are left
// out.
func (f fields) prose(name string, limit int) string {
	v, _, ok := f.scalar(name)
	if !ok {
		return ""
	}
	s := strings.TrimSpace(normalize.String(v.Value))
	if err := contact.CheckText(s, limit, true); err != nil {
		f.refuse(v, err)
	} else if contact.Blank(s) {
		f.problem(v, "This text must not be empty; leave the field out instead.")
	}
	return s
}

// prose is fields.prose of at most limit characters.
func prose(limit int) func(fields, string) string {
	return func(f fields, name string) string { return f.prose(name, limit) }
}

// translated reads a text for guests: one in the account's language, or a mapping of languages, that one among them, to
// texts. Each is read by read. Where the account's language is not known, "", there is a problem already.
func (f fields) translated(name string, read func(fields, string) string) texts {
	v, ok := f.get(name)
	if !ok || v.kind() != mappingKind {
		return texts{read(f, name), nil}
	}
	of := f.in.texts
	var known []string
	for _, l := range merchant.Languages() {
		known = append(known, string(l))
	}
	m := f.fields(v, known...)
	if _, there := m.values[string(of)]; !there && of != "" {
		f.problem(v, "Write this in %s too: it is the account's language, which guests of other languages read.", of)
	}
	main, others := "", make(merchant.Translations)
	for _, l := range merchant.Languages() {
		switch text := read(m, string(l)); {
		case l == of:
			main = text
		case text != "":
			others[l] = text
		}
	}
	if len(others) == 0 {
		others = nil // as it is stored
	}
	return texts{main, others}
}

// truth reads a switch; absent is false.
func (f fields) truth(name string) bool {
	v, plain, ok := f.scalar(name)
	if ok && (!plain || v.Value != "true" && v.Value != "false") {
		f.problem(v, "This must be true or false%s.", f.ofFile(withoutQuotes))
	}
	return ok && v.Value == "true"
}

// untruth reads a switch whose absence is true, and tells whether it is false.
func (f fields) untruth(name string) bool {
	_, there := f.get(name)
	return there && !f.truth(name)
}

// mode reads whether this is for tests.
func (f fields) mode(name string) (test bool) {
	return either(merchant.LiveMode, merchant.TestMode)(f, name) == merchant.TestMode
}

// either reads one of two words; "" where there is none.
func either[T ~string](one, other T) func(fields, string) T {
	return func(f fields, name string) T {
		v, _, ok := f.scalar(name)
		switch {
		case !ok:
			return ""
		case v.Value == string(one):
			return one
		case v.Value == string(other):
			return other
		}
		f.problem(v, "This is %s or %s.", one, other)
		return ""
	}
}

func (f fields) currency(name string) money.Currency {
	v, _, ok := f.scalar(name)
	if !ok {
		return money.Currency{}
	}
	c, err := money.ParseCurrency(v.Value)
	if err != nil {
		f.refuse(v, err)
	}
	return c
}

// largestGift reads the largest value of one gift; absent is the currency's default, if it has one.
func (f fields) largestGift(name string) money.Amount {
	c := f.in.account.Currency
	if _, given := f.get(name); given || c.Code == "" {
		return f.amount(name, c)
	}
	limit, has := merchant.DefaultMaxGiftValue(c)
	if !has {
		f.add(f.values["currency"].Line, f.path(name),
			"Say the most that one gift may be worth: %s has no default. Write %s: and an amount in %s.", c.Code, name, c.Code)
	}
	return limit
}

// amount reads an amount of money; 0: absent or refused.
func (f fields) amount(name string, c money.Currency) money.Amount {
	v, plain, ok := f.scalar(name)
	if !ok || c.Code == "" { // the currency is refused already, and how many decimals an amount may have is not known
		return 0
	}
	amount, err := c.Parse(money.Number(v.Value))
	switch {
	case !plain:
		f.problem(v, "This must be a number%s.", f.ofFile(withoutQuotes))
	case errors.Is(err, money.ErrNotANumber):
		f.problem(v, "This is not a decimal number; write it without commas, such as 500.")
	case errors.Is(err, money.ErrTooPrecise):
		f.problem(v, "An amount in %s has at most %d decimals.", c.Code, c.Decimals)
	case errors.Is(err, money.ErrTooLong):
		f.problem(v, "This amount has too many digits.")
	case errors.Is(err, money.ErrNotPositive):
		f.problem(v, "The amount must be above zero.")
	case err != nil:
		f.problem(v, "The amount is too large.")
	}
	return amount
}

// limits reads the daily limits of an account or a key; what is absent is as in without. A key of several accounts has
// no currency.
func (f fields) limits(without merchant.Limits, c *money.Currency) merchant.Limits {
	l := without
	v, ok := f.get("limits")
	if !ok {
		return l
	}
	def := definitionOf(reflect.TypeFor[merchant.Limits]())
	m := f.fields(v, def.names()...)
	for _, d := range def {
		at, given := m.get(d.name)
		switch to := reflect.ValueOf(&l).Elem().FieldByIndex(d.index).Addr().Interface().(type) {
		case *money.Amount:
			if given && c == nil {
				f.problem(at, "A system key may send for accounts of several currencies; limit money in the account.")
			} else if given {
				*to = m.amount(d.name, *c)
			}
		case *int64:
			if given {
				*to = int64(wholeNumber(1, maxPerDay)(m, d.name))
			}
		}
	}
	return l
}

// maxPerDay is the largest count that a limit may have.
const maxPerDay = 1_000_000_000

// maxRetention is for how many days what gifts say of people is kept at most after their end, but for ever.
const maxRetention = 36_500

// wholeNumber reads a number within bounds; 0: absent or refused.
func wholeNumber(least, most int) func(fields, string) int {
	return func(f fields, name string) int {
		v, plain, ok := f.scalar(name)
		if !ok {
			return 0
		}
		n, err := strconv.Atoi(v.Value)
		if err != nil || !plain || n < least || n > most || strconv.Itoa(n) != v.Value {
			f.problem(v, "This must be a whole number from %d to %d%s.", least, most, f.ofFile(withoutQuotes))
			return 0
		}
		return n
	}
}

// percent reads a rate in one spelling: 19, 5.5; "": absent or refused.
func (f fields) percent(name string) money.Number {
	v, plain, ok := f.scalar(name)
	if !ok {
		return ""
	}
	hundredths := money.Currency{Decimals: 2}
	rate, err := hundredths.ParseSigned(money.Number(v.Value))
	if err != nil || !plain || rate < 0 || rate > 100_00 {
		f.problem(v, "This must be a rate in percent, from 0 to 100, with at most 2 decimals%s, such as 19.",
			f.ofFile(" and without quotes"))
		return ""
	}
	return money.Number(strings.TrimSuffix(strings.TrimRight(hundredths.Format(rate), "0"), "."))
}

func (f fields) zone(name string) *time.Location {
	v, _, ok := f.scalar(name)
	if !ok {
		return nil
	}
	_, zone, err := wire.ParseZone(v.Value)
	if err != nil {
		f.refuse(v, err)
	}
	return zone
}

// instant reads a date and time; zero: absent or refused. It is cut to the microseconds that a database keeps.
func (f fields) instant(name string) time.Time {
	v, _, ok := f.scalar(name)
	if !ok {
		return time.Time{}
	}
	var t time.Time
	if err := t.UnmarshalText([]byte(v.Value)); err != nil {
		f.problem(v, "This is not a date and time with Z or an offset at the end, such as 2026-03-01T00:00:00Z (RFC 3339).")
		return time.Time{}
	}
	t = t.UTC().Truncate(time.Microsecond)
	if y := t.Year(); y < firstYear || y > lastYear {
		f.problem(v, "The year must be from %d to %d.", firstYear, lastYear)
	}
	return t
}

// days reads the validity of a promotion; 0: absent or refused.
func (f fields) days(name string) int {
	v, plain, ok := f.scalar(name)
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(v.Value)
	if err != nil || !plain || n < 1 || n > gift.MaxValidForDays || strconv.Itoa(n) != v.Value {
		f.problem(v, "This must be a whole number of days from 1 to %d%s.", gift.MaxValidForDays, f.ofFile(withoutQuotes))
		return 0
	}
	return n
}

var (
	colorShape        = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)
	jurisdictionShape = regexp.MustCompile(`^[A-Z]{2}(-[A-Z0-9]{1,3})?$`) // ISO 3166-1 alpha-2 and ISO 3166-2
)

// language reads one of the languages in which guests are written to.
func (f fields) language(name string) merchant.Language {
	v, _, ok := f.scalar(name)
	if _, said := f.values[name]; !said {
		f.in.texts = merchant.English
	}
	if !ok {
		return ""
	}
	l := merchant.Language(v.Value)
	if !slices.Contains(merchant.Languages(), l) {
		f.problem(v, "This is none of the languages in which guests are written to. "+writeLanguage)
		return ""
	}
	f.in.texts = l
	return l
}

// withoutQuotes are words about a value that a file has to have bare.
const withoutQuotes phrase.Text = ", without quotes"

const writeLanguage = "Write language: en (English), de (German), fr (French), es (Spanish) or ja (Japanese)."

// requireLanguage refuses an account that sends gifts and does not say in which language.
func (f fields) requireLanguage(a *merchant.Account) {
	if _, there := f.values["language"]; !there && a.LacksLanguage() {
		f.add(f.at.Line, f.path("language"), "This account can send gifts: say in which language guests are written to. "+
			writeLanguage)
	}
}

func (f fields) color(name string) string {
	v, _, ok := f.scalar(name)
	if ok && !colorShape.MatchString(v.Value) {
		f.problem(v, `This is not a color of the form "#0b5fff"%s.`,
			f.ofFile("; mind the quotes, for YAML takes a bare # for a comment"))
	}
	if !ok {
		return ""
	}
	return strings.ToLower(v.Value)
}

// picture reads the picture that a field names, by its path from the set-up file. It must lie in the file's folder or
// below. Zero: absent or refused.
func (f fields) picture(name string, side int) (none merchant.AssetHash) {
	v, _, ok := f.scalar(name)
	if a, there := f.pictures[v.asTyped()]; ok && there {
		if a.Bytes != nil {
			a.AccountID = f.in.account.ID
			f.in.assets = append(f.in.assets, a)
		}
		return a.Hash
	}
	switch {
	case !ok:
		return none
	case f.typed:
		f.problem(v, "This picture is not there any more; choose it again.")
		return none
	case f.folder == nil:
		f.inFile(v.Line, v.path, "Pictures are read from beside the set-up file, and this set-up is not a file; give boon "+
			"apply the file's name.")
		return none
	case !fs.ValidPath(v.Value):
		f.inFile(v.Line, v.path, "This must be the path of a picture in the set-up file's folder or below it, such as "+
			"pictures/logo.png, with plain slashes.")
		return none
	}
	file, err := readPicture(f.folder, v.Value)
	if err != nil {
		reason := "it cannot be read"
		if errors.Is(err, fs.ErrNotExist) {
			reason = "there is no such file"
		}
		f.inFile(v.Line, v.path, "The picture %s is looked for in the set-up file's folder: %s.", v.Value, reason)
		return none
	}
	clean, err := picture.Clean(file, side)
	if err != nil {
		f.refuse(v, err)
		return none
	}
	a := merchant.Asset{AccountID: f.in.account.ID, Hash: merchant.HashAsset(clean.Bytes), Kind: merchant.PNG,
		Bytes: clean.Bytes}
	if clean.JPEG {
		a.Kind = merchant.JPEG
	}
	f.in.assets = append(f.in.assets, a)
	f.in.files[a.Hash] = merchant.HashAsset(file)
	return a.Hash
}

// readPicture reads a file, and one byte more than a picture may have, so that a larger one is noticed.
func readPicture(folder fs.FS, path string) ([]byte, error) {
	file, err := folder.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, picture.MaxBytes+1))
}

// phone reads a telephone number for people to read; a phone dials its digits.
func (f fields) phone(name string) string {
	number := f.label(name)
	const digits = "0123456789"
	if number != "" && (strings.Trim(number, digits+"+ ()-./\u00a0") != "" || !strings.ContainsAny(number, digits)) {
		f.problem(f.values[name], "This is not a telephone number, such as +1 415 555 0100.")
	}
	return number
}

func (f fields) jurisdiction(name string) string {
	v, _, ok := f.scalar(name)
	if !ok {
		return ""
	}
	if !jurisdictionShape.MatchString(v.Value) {
		f.problem(v, "This is not an ISO 3166 code of a country or a part of one, such as JP or US-CA.")
	}
	return v.Value
}

func (f fields) country(name string) string {
	v, _, ok := f.scalar(name)
	if !ok {
		return ""
	}
	if _, err := language.ParseRegion(v.Value); err != nil || len(v.Value) != 2 || strings.ToUpper(v.Value) != v.Value {
		f.problem(v, "This is not the ISO 3166-1 code of a country, such as MX or CH.")
	}
	return v.Value
}

// countries reads which countries' numbers get SMS; nil: the default ones.
func (f fields) countries(name string) []string {
	members, ok := f.list(name)
	if ok && len(members) == 0 && len(f.values[name].Content) == 0 {
		f.problem(f.values[name], "An empty list means that nobody gets SMS; name countries, or leave the field out for "+
			"the United States and Canada.")
	}
	var countries []string
	for _, v := range members {
		switch {
		case v.kind() != scalarKind || !slices.Contains(contact.TextCountries(), v.Value):
			f.problem(v, "This is not the ISO 3166-1 code of a country that SMS can be sent to, such as US, CA or GB.")
		case slices.Contains(countries, v.Value):
			f.problem(v, "This country is in the list already.")
		default:
			countries = append(countries, v.Value)
		}
	}
	slices.Sort(countries)
	return countries
}

// design reads the id of one of the account's designs.
func (f fields) design(name string) guid.ID {
	return f.known(name, "This account has no such design under voucherDesigns.",
		func(id guid.ID) bool { return f.in.account.Design(id) != nil })
}

// storefront reads the id of one of the account's storefronts.
func (f fields) storefront(name string) guid.ID {
	return f.known(name, "This account has no such storefront.",
		func(id guid.ID) bool { return f.in.account.Storefront(id) != nil })
}

// known reads the id of something that the account has. Whether it has that is asked when the whole account is read.
func (f fields) known(name string, missing phrase.Text, has func(guid.ID) bool) guid.ID {
	id := f.id(name)
	f.in.later = append(f.in.later, func() {
		if !id.IsZero() && !has(id) {
			f.problem(f.values[name], missing)
		}
	})
	return id
}

// locations reads the locations that a subscription or a key is limited to; empty: all. An empty list is refused: it
// looks like "nowhere" and would mean "everywhere".
func (f fields) locations(name string) []guid.ID {
	const empty = "An empty list means nowhere; name locations, or leave the field out for all of them."
	return f.idList(name, empty, f.isLocation)
}

// location reads the id of one of the account's locations.
func (f fields) location(name string) guid.ID {
	id := f.id(name)
	f.isLocation(f.values[name], id)
	return id
}

// isLocation refuses an id that is none of the account's locations.
func (f fields) isLocation(v value, id guid.ID) {
	f.in.later = append(f.in.later, func() {
		if !id.IsZero() && f.in.account.Location(id) == nil {
			f.problem(v, "This account has no such location.")
		}
	})
}

// networks reads those that a key is limited to; none: it is used from everywhere. An empty list is refused, as is one
// of locations.
func (f fields) networks(name string) (all merchant.Networks) {
	members, ok := f.list(name)
	switch {
	case ok && len(members) == 0 && len(f.values[name].Content) == 0:
		f.problem(f.values[name], "An empty list means nowhere; name networks, or leave the field out for everywhere.")
	case len(members) > merchant.MaxNetworks:
		f.problem(f.values[name], "A key is limited to %d networks at most.", merchant.MaxNetworks)
		return nil
	}
	lines := make(map[netip.Prefix]int)
	for _, v := range members {
		if v.kind() != scalarKind {
			f.problem(v, "This must be a network such as 203.0.113.0/24, not %s.", v.kind())
			continue
		}
		p, err := clientip.ParseNetwork(v.Value)
		line, double := lines[p]
		switch {
		case errors.Is(err, clientip.ErrEverywhere):
			f.problem(v, "%q is every address there is.", v.Value)
		case err != nil:
			f.problem(v, "%q is not a network such as 10.0.0.0/8, nor an address.", v.Value)
		case double:
			f.problem(v, "This network stands in the list%s already.", f.onLine(line))
		default:
			lines[p] = v.Line
			all = append(all, p)
		}
	}
	return all.Sorted()
}

// idList reads a list of GUIDs, each once, and has each checked, which is at a place of the list.
func (f fields) idList(name string, ifEmpty phrase.Text, check func(value, guid.ID)) []guid.ID {
	members, ok := f.list(name)
	if ok && len(members) == 0 && len(f.values[name].Content) == 0 {
		f.problem(f.values[name], ifEmpty)
	}
	lines := make(map[guid.ID]int)
	for _, v := range members {
		if v.kind() != scalarKind {
			f.problem(v, "This must be an id, not %s.", v.kind())
			continue
		}
		id := f.guid(v)
		line, double := lines[id]
		switch {
		case id.IsZero():
		case double:
			f.problem(v, "This id stands in the list%s already.", f.onLine(line))
		default:
			check(v, id)
			lines[id] = v.Line
		}
	}
	return SortedIDs(slices.Collect(maps.Keys(lines)))
}

const noneNamed = "An empty list means none; name them, or leave the field out."

// programs reads in which programs a system key may send; absent: the distribution network.
func (f fields) programs(name string) []guid.ID {
	if _, named := f.values[name]; !named {
		return []guid.ID{merchant.DistributionProgram.ID}
	}
	return f.idList(name, noneNamed, func(v value, id guid.ID) {
		if _, exists := merchant.ProgramByID(id); !exists {
			f.problem(v, "There is no program %s.", id)
		}
	})
}

// permissions reads what a key may do: its role, or a list of permissions.
func (f fields) permissions() (may merchant.Permissions) {
	role, hasRole := f.values["role"]
	list, hasList := f.values["permissions"]
	switch {
	case !hasRole && !hasList:
		f.add(f.at.Line, f.path("role"), "Say what the key may do: give it a role (%s), or a list of permissions (%s).",
			strings.Join(merchant.RoleNames(), ", "), strings.Join(merchant.PermissionNames(), ", "))
	case hasRole && hasList && role.Node != nil && list.Node != nil:
		f.problem(list, "The key has a role%s already; give it a role or permissions, not both.", f.onLine(role.Line))
	case hasRole:
		return f.role()
	default:
		members, ok := f.list("permissions")
		if ok && len(members) == 0 && len(list.Content) == 0 {
			f.problem(list, "An empty list permits nothing; name permissions, or leave the key out.")
		}
		for _, v := range members {
			may |= f.permission(v, may)
		}
	}
	return may
}

func (f fields) role() merchant.Permissions {
	v, _, ok := f.scalar("role")
	if !ok {
		return 0
	}
	may, known := merchant.RoleByName(v.Value)
	if !known {
		f.refuse(v, noSuch("There is no such role; did you mean %s?",
			"There is no such role; there are %s.", v.Value, merchant.RoleNames()))
	}
	return may
}

// permission reads one of a list, before which some were named.
func (f fields) permission(v value, before merchant.Permissions) merchant.Permissions {
	if v.kind() != scalarKind {
		f.problem(v, "This must be the name of a permission, not %s.", v.kind())
		return 0
	}
	one, known := merchant.PermissionByName(v.Value)
	switch {
	case !known:
		f.refuse(v, noSuch("There is no such permission; did you mean %s?",
			"There is no such permission; there are %s.", v.Value, merchant.PermissionNames()))
		return 0
	case before.Has(one):
		f.problem(v, "This permission stands in the list already.")
	}
	return one
}

// items reads the items of a promotion, each an id or an id with a name.
func (f fields) items(name string) []merchant.Item {
	members, ok := f.list(name)
	if ok && len(members) == 0 && len(f.values[name].Content) == 0 {
		f.problem(f.values[name], "An empty list means that nothing is eligible; name items, or leave the field out for "+
			"all of them.")
	}
	if len(members) > merchant.MaxItems {
		f.problem(f.values[name], "A promotion names at most %d items; this one names %d.", merchant.MaxItems, len(members))
		return nil
	}
	lines := make(map[merchant.Item]int)
	var items []merchant.Item
	for _, v := range members {
		item, ok := f.item(v)
		is := merchant.Item{ID: item.ID, Group: item.Group} // a name beside these is for people
		if is == (merchant.Item{}) {
			is = item
		}
		line, double := lines[is]
		switch {
		case !ok:
		case double:
			f.problem(v, "This item stands in the list%s already.", f.onLine(line))
		default:
			lines[is] = v.Line
			items = append(items, item)
		}
	}
	slices.SortFunc(items, func(a, b merchant.Item) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Name, b.Name))
	})
	return items
}

// item reads LATTE, {id: LATTE, name: Latte}, {group: …} or {name: Latte}.
func (r *reader) item(v value) (item merchant.Item, ok bool) {
	switch v.kind() {
	case scalarKind:
		return merchant.Item{ID: r.line(v, maxItem)}, true
	case mappingKind:
		f := r.fields(v, "id", "group", "name")
		id, _, hasID := f.scalar("id")
		group, _, hasGroup := f.scalar("group")
		_, _, hasName := f.scalar("name")
		switch {
		case hasID && hasGroup:
			r.problem(group, "An item has an id or a group, not both.")
		case hasID:
			return merchant.Item{ID: r.line(id, maxItem), Name: f.label("name")}, true
		case hasGroup:
			return merchant.Item{Group: r.line(group, maxItem), Name: f.label("name")}, true
		case hasName:
			return merchant.Item{Name: f.label("name")}, true
		default:
			r.problem(v, "An item needs an id, a group or a name.")
		}
		return merchant.Item{}, false
	}
	r.problem(v, "This must be an item's id, or its id and name, not %s.", v.kind())
	return merchant.Item{}, false
}

// email reads an e-mail address.
func (f fields) email(name string) string {
	v, _, ok := f.scalar(name)
	if !ok {
		return ""
	}
	address, err := contact.Parse(contact.Email, normalize.Address(v.Value), nil)
	if err != nil {
		f.refuse(v, err)
	}
	return address
}

// secret reads the text of a key, keeps its hash and hint, and tells whether it says that the key is a test account's,
// and whether it was typed along a keyboard. What is wrong with it is said without showing it.
func (f fields) secret(name string) (_ merchant.KeyHash, hint string, saysTest, walked bool) {
	v, _, ok := f.scalar(name)
	if !ok {
		return merchant.KeyHash{}, "", false, false
	}
	for i := range len(v.Value) {
		if c := v.Value[i]; c <= ' ' || c > '~' {
			f.problem(v, "A secret is made of printable ASCII characters without spaces.")
			return merchant.KeyHash{}, "", false, false
		}
	}
	if n := len(v.Value); n < minSecret || n > maxSecret {
		f.problem(v, "A secret has %d to %d characters; this one has %d.", minSecret, maxSecret, n)
		return merchant.KeyHash{}, "", false, false
	}
	switch {
	case merchant.PublishedSecret(v.Value):
		if !f.demo {
			f.problem(v, "This secret is published with Boon's examples, for boon demo only: whoever has read them could use "+
				"this key. Leave secret out, and boon apply makes one.")
		}
	case !merchant.ValidKey(v.Value) && !merchant.StrongSecret(v.Value):
		f.problem(v, "This secret could be guessed: it needs 128 random bits, such as 32 hexadecimal digits drawn at "+
			"random. Leave secret out, and boon apply makes one.")
	}
	hash := merchant.HashKey(v.Value)
	if line, double := f.secrets[hash]; double {
		f.problem(v, "Another key%s has this secret already; each key needs one of its own.", f.onLine(line))
	}
	f.secrets[hash] = v.Line
	saysTest = merchant.PublishedTestSecret(v.Value) || merchant.SaysTest(v.Value) && !merchant.PublishedSecret(v.Value)
	return hash, merchant.KeyHint(v.Value), saysTest, merchant.WalkedSecret(v.Value)
}

// timeOfDay reads an hour and minute before noon, such as "04:00", as what has passed since midnight.
func (f fields) timeOfDay(name string) time.Duration {
	v, _, ok := f.scalar(name)
	if !ok {
		return 0
	}
	at, err := time.Parse("15:04", v.Value)
	if err != nil || at.Hour() >= 12 || len(v.Value) != 5 {
		f.problem(v, `This must be a time before noon%s, such as "04:00".`, f.ofFile(", in quotes"))
		return 0
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
}

// pin reads the hash of a PIN.
func (f fields) pin(name string) string {
	v, _, ok := f.scalar(name)
	if !ok {
		return ""
	}
	if !pin.Valid(v.Value) {
		f.problem(v, "This must be the hash of a PIN, as boon till pin makes it, never the PIN itself.")
	}
	return v.Value
}

// personMay reads what a person may do beside validating and redeeming: a role, or permissions of those that a till
// has.
func (f fields) personMay(list string) (may merchant.Permissions) {
	members, _ := f.list(list)
	if v, _, ok := f.scalar("role"); ok {
		if len(members) > 0 {
			f.problem(v, "A person has a role, or permissions under may, not both.")
		}
		may, known := merchant.RoleByName(v.Value)
		if !known {
			f.problem(v, "There is no such role; there are %s.", strings.Join(merchant.RoleNames(), ", "))
		}
		return may
	}
	for _, v := range members {
		one := f.permission(v, may)
		if one&^merchant.PersonPermissions != 0 {
			f.problem(v, "A person may be given %s; whoever signs in may validate and redeem.",
				strings.Join(merchant.PersonPermissions.Names(), ", "))
		}
		may |= one & merchant.PersonPermissions
	}
	return may
}
