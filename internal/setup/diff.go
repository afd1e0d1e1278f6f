package setup

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// record is one thing that an account consists of, in the form in which two set-ups are compared and told apart in
// words.
type record struct {
	kind   kind
	id     guid.ID
	name   string
	fields []field
}

// kind says what a record is.
type kind string

const (
	accountKind      kind = "account"
	subscriptionKind kind = "subscription"
	locationKind     kind = "location"
	storefrontKind   kind = "storefront"
	promotionKind    kind = "promotion"
	designKind       kind = "voucher design"
	personKind       kind = "person"
	providerKind     kind = "provider"
)

// field is one property of a record: values are compared, words are shown.
type field struct {
	name  string
	value string
	words string // "": too long to show
}

func plainField(name, value string) field {
	words := value
	if value == "" {
		words = "none"
	}
	return field{name, value, words}
}

// textField is a text for guests with its translations.
func textField(name, text string, in merchant.Translations) field {
	f := plainField(name, text)
	f.value = strconv.Quote(text)
	for _, l := range slices.Sorted(maps.Keys(in)) {
		f.value += fmt.Sprintf(" %s %q", l, in[l])
		f.words += fmt.Sprintf(" (%s: %s)", l, in[l])
	}
	return f
}

// unshown is a field that is too long to show.
func unshown(f field) field { return field{f.name, f.value, ""} }

func switchField(name string, on bool) field {
	if on {
		return field{name, "on", "on"}
	}
	return field{name, "off", "off"}
}

// limitsField says daily limits by the names that they have in the set-up file.
func limitsField(l merchant.Limits, c money.Currency) field {
	var words []string
	say := func(name string, limit int64, text string) {
		if limit > 0 {
			words = append(words, name+" "+text)
		}
	}
	say("issuedPerDay", int64(l.IssuedPerDay), c.Money(l.IssuedPerDay))
	say("giftsPerDay", l.GiftsPerDay, strconv.FormatInt(l.GiftsPerDay, 10))
	say("redeemedPerDay", int64(l.RedeemedPerDay), c.Money(l.RedeemedPerDay))
	say("messagesPerDay", l.MessagesPerDay, strconv.FormatInt(l.MessagesPerDay, 10))
	say("textsPerDay", l.TextsPerDay, strconv.FormatInt(l.TextsPerDay, 10))
	say("messagesPerContactPerDay", l.MessagesPerContactPerDay, strconv.FormatInt(l.MessagesPerContactPerDay, 10))
	return plainField("limits", strings.Join(words, ", "))
}

func retentionField(days int) field {
	if days == 0 {
		return field{"personal data", "", "kept"}
	}
	return field{"personal data", strconv.Itoa(days), "erased " + strconv.Itoa(days) + " days after a gift has ended"}
}

func countriesField(countries []string) field {
	value := strings.Join(countries, " ")
	if value == "" {
		countries = contact.DefaultTextCountries
	}
	return field{"countries of SMS", value, strings.Join(countries, " and ")}
}

func designField(name string, id guid.ID, a *merchant.Account) field {
	if d := a.Design(id); d != nil {
		return field{name, id.String(), d.Name}
	}
	return plainField(name, id.String())
}

func locationsField(ids []guid.ID, a *merchant.Account) field {
	if len(ids) == 0 {
		return field{"locations", "", "all"}
	}
	var values, words []string
	for _, id := range sortedIDs(ids) {
		word := id.String()
		if l := a.Location(id); l != nil {
			word = l.Name
		}
		values, words = append(values, id.String()), append(words, word)
	}
	return field{"locations", strings.Join(values, " "), strings.Join(words, " and ")}
}

// records takes an account apart, the account itself first. Everything that the set-up file can say is in it.
func records(a *merchant.Account) []record {
	all := []record{{accountKind, a.ID, a.Name, []field{
		plainField("name", a.Name),
		plainField("mode", a.Mode()),
		plainField("currency", a.Currency.Code),
		plainField("time zone", a.Zone.String()),
		plainField("language", string(a.Language)),
		plainField("country", a.Country),
		plainField("largest gift", a.Currency.Money(a.MaxGiftValue)),
		limitsField(a.Limits, a.Currency),
		switchField("required Idempotency-Key", a.RequireIdempotencyKey),
		switchField("balance notice", a.BalanceNotice),
		plainField("contact", a.Contact),
		retentionField(a.PersonalDataDays),
		countriesField(a.TextCountries),
		designField("default voucher design", a.DefaultDesign, a),
	}}}
	for _, l := range a.Locations {
		all = append(all, record{locationKind, l.ID, l.Name, []field{
			plainField("name", l.Name), plainField("jurisdiction", l.Jurisdiction), plainField("address", l.Address),
			plainField("phone", l.Phone), plainField("hours", l.Hours),
			plainField("point-of-sale identifier", l.PointOfSale), switchField("point-of-sale redemption", l.POSRedemption),
			designField("default voucher design", l.DefaultDesign, a), ticketsField(l.Tickets),
			{"end of the day", l.DayEnds.String(), time.Time{}.Add(l.DayEnds).Format("15:04")},
		}})
	}
	for _, s := range a.Subscriptions {
		program, _ := merchant.ProgramByID(s.ProgramID)
		all = append(all, record{subscriptionKind, s.ProgramID, "to " + program.Name,
			[]field{locationsField(s.Locations, a), switchField("reloadable", s.Reloadable)}})
	}
	for _, s := range a.Storefronts {
		all = append(all, record{storefrontKind, s.ID, s.Name, []field{plainField("name", s.Name)}})
	}
	for _, d := range a.Designs {
		all = append(all, record{designKind, d.ID, d.Name, []field{
			plainField("name", d.Name), plainField("accent color", d.AccentColor),
			textField("headline", d.Headline, d.HeadlineIn), unshown(textField("footer", d.Footer, d.FooterIn)),
			{"logo", d.Logo.String(), ""}, {"picture", d.Picture.String(), ""},
		}})
	}
	for _, p := range a.Promotions {
		all = append(all, record{promotionKind, p.ID, p.Name, promotionFields(p)})
	}
	for n := range a.People {
		p := &a.People[n]
		all = append(all, record{personKind, a.RestKey(p, guid.ID{}).KeyID, p.Name, []field{
			{"PIN", fmt.Sprint(p.PIN, p.FirstPIN), ""},
			plainField("permissions", strings.Join(p.May.Names(), ", ")), locationsField(p.Locations, a),
		}})
	}
	for _, p := range a.Providers {
		all = append(all, record{providerKind, p.ID, p.Name, providerFields(p, a)})
	}
	return all
}

func itemWords(i merchant.Item) string {
	if i.Group != "" {
		return strings.TrimSpace("group " + i.Group + " " + i.Name)
	}
	return strings.TrimSpace(i.ID + " " + i.Name)
}

func promotionFields(p merchant.Promotion) []field {
	starting, days := "", ""
	if !p.ValidStarting.IsZero() {
		starting = p.ValidStarting.UTC().Format(time.RFC3339Nano)
	}
	if p.ValidForDays != 0 {
		days = strconv.Itoa(p.ValidForDays)
	}
	eligible := field{"eligible items", "", "any"}
	if len(p.EligibleItems) > 0 {
		eligible.value = fmt.Sprintf("%q", p.EligibleItems)
		var words []string
		for _, i := range p.EligibleItems {
			words = append(words, itemWords(i))
		}
		eligible.words = strings.Join(words, " and ")
	}
	return []field{
		plainField("name", p.Name), plainField("start of validity", starting), plainField("days of validity", days),
		unshown(textField("terms", p.Terms, p.TermsIn)), eligible, switchField("need of a ticket", !p.TicketOptional),
	}
}

// recordKey tells records apart: a program id is the same in every account, but it is one subscription in each.
type recordKey struct {
	kind kind
	id   guid.ID
}

// diff says in words what makes the second account of the first, nil: there was none, and which records are gone.
// No words: they are the same.
func diff(from, to *merchant.Account) (words []string, gone []record) {
	before := make(map[recordKey]record)
	if from != nil {
		for _, r := range records(from) {
			before[recordKey{r.kind, r.id}] = r
		}
	}
	for _, r := range records(to) {
		old, known := before[recordKey{r.kind, r.id}]
		delete(before, recordKey{r.kind, r.id})
		if !known {
			words = append(words, r.added())
			continue
		}
		words = append(words, r.changes(old)...)
	}
	if from != nil {
		for _, r := range records(from) {
			if _, left := before[recordKey{r.kind, r.id}]; left {
				gone = append(gone, r)
				words = append(words, "removed "+r.String())
			}
		}
	}
	return words, gone
}

// String names a record: location Pier 39.
func (r record) String() string { return string(r.kind) + " " + r.name }

func (r record) added() string {
	if r.kind == accountKind {
		return "added"
	}
	return "added " + r.String()
}

// changes says what became different, a sentence for each field.
func (r record) changes(old record) []string {
	var words []string
	for i, f := range r.fields {
		o := old.fields[i]
		if f.value == o.value {
			continue
		}
		what := "changed "
		if r.kind != accountKind {
			what += r.String() + ": "
		}
		what += f.name
		if f.words != "" && o.words != "" {
			what += " from " + o.words + " to " + f.words
		}
		words = append(words, what)
	}
	return words
}
