package form

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/setup/document"
	"boon.example/internal/ticket/format"
)

// Question is what a form asks for one field of a record. What is asked for follows from the tags of merchant, as
// everything else does: a new field of a form that there is needs no code.
type Question struct {
	Name     string // in a set-up file; books.datev.client is in two mappings
	Ask      Ask
	Required bool
	Options  []string   // of One and Some
	List     string     // of One and Some: the list of the account whose records are the options; "": Options are
	Columns  []Question // of Rows
	Most     int        // of a text, how many characters it has; of a Picture, pixels; 0: the set-up does not say
	By       string     // of Rows: the column by whose text the file names the rows; "": the file has a list
	Long     bool       // of a text: it has lines
	On       bool       // of a Switch: it is on if the file says nothing
	From     Offer      // of a Text: of what some are offered; "": of nothing
}

// Offer is what a text is one of. It may be one that is not offered.
type Offer string

// What texts are one of.
const (
	Zones         Offer = "zones"         // time zones
	Countries     Offer = "countries"     // ISO 3166-1
	Jurisdictions Offer = "jurisdictions" // ISO 3166-1 and ISO 3166-2
)

// Ask says how a field is asked for.
type Ask string

// The ways to ask for a field.
const (
	Known      Ask = "known" // what the record is known by, which nobody types
	Text       Ask = "text"
	Translated Ask = "translated" // a text, in several languages
	Number     Ask = "number"
	Amount     Ask = "amount" // of money, in the currency of the account
	Switch     Ask = "switch"
	Moment     Ask = "moment" // a day and a time
	Hour       Ask = "hour"   // a time of the day
	Color      Ask = "color"
	Picture    Ask = "picture"
	Secret     Ask = "secret" // it is never shown
	One        Ask = "one"    // one of some
	Some       Ask = "some"   // any number of some
	Lines      Ask = "lines"  // short texts
	Rows       Ask = "rows"
	never      Ask = "" // a form does not ask for it
)

// Questions are those for the records of a list of an account, for the account itself: "".
func Questions(list string) []Question {
	switch list {
	case "keys":
		return slices.Concat([]Question{{Name: "name", Ask: Text, Required: true},
			{Name: "role", Ask: One, Options: merchant.RoleNames()},
			{Name: "permissions", Ask: Some, Options: merchant.PermissionNames()},
			{Name: "locations", Ask: Some, List: "locations"}, {Name: "expires", Ask: Moment},
			{Name: "networks", Ask: Lines},
			{Name: "agent", Ask: One, Options: []string{string(merchant.AgentReads), string(merchant.AgentWrites)}}},
			questions(document.LimitMembers("limits.")))
	case "webhooks":
		return []Question{{Name: "url", Ask: Text, Required: true}, {Name: "description", Ask: Text},
			{Name: "types", Ask: Lines}, {Name: "enabled", Ask: One, Options: []string{"true", "false"}}}
	}
	return questions(document.Members(list))
}

func questions(members []document.Member) (all []Question) {
	for _, m := range members {
		q, named := questionsNamed[m.Is]
		if !named {
			q = questionsTyped[m.Of]
		}
		switch {
		case m.Translated:
			q = Question{Ask: Translated, Long: m.Is == "prose"}
		case q.Ask == never && named:
			continue
		case q.Ask == never:
			q.Ask = Text
		}
		if m.Also != "" && q.Ask == Secret {
			all = append(all, Question{Name: m.Also, Ask: Secret})
		} else if m.Also != "" {
			all = append(all, Question{Name: m.Also, Ask: One, Options: merchant.RoleNames()})
		}
		// A mapping may be left out, and so may each field of it: a browser would not send a form in which it is empty.
		// If only a part of a mapping is said, the reader of the set-up says what is missing.
		q.Name, q.Required, q.Most = m.Name, m.Required && !strings.Contains(m.Name, "."), m.Most
		all = append(all, q)
	}
	return all
}

// questionsNamed are those for the forms that have a name, and questionsTyped those for the types of Go fields. What is
// in neither is a text.
var (
	questionsNamed = map[string]Question{
		"new id":                 {Ask: Known},
		"mode":                   {Ask: never},
		"pin":                    {Ask: never},
		"program":                {Ask: One, Options: programIDs()},
		"design":                 {Ask: One, List: "voucherDesigns"},
		"storefront":             {Ask: One, List: "storefronts"},
		"location":               {Ask: One, List: "locations"},
		"color":                  {Ask: Color},
		"days":                   {Ask: Number},
		"retention":              {Ask: Number},
		"not":                    {Ask: Switch, On: true},
		"country":                {Ask: Text, From: Countries},
		"jurisdiction":           {Ask: Text, From: Jurisdictions},
		"countries":              {Ask: Lines, From: Countries},
		"largest gift":           {Ask: Amount},
		"pass certificate":       {Ask: Text, Long: true},
		"pass key":               {Ask: Secret, Long: true},
		"service account":        {Ask: Secret, Long: true},
		"person's permissions":   {Ask: Some, Options: merchant.PersonPermissions.Names()},
		"platform's permissions": {Ask: Some, Options: merchant.ProviderPermissions.Names()},
	}
	questionsTyped = map[reflect.Type]Question{
		reflect.TypeFor[bool]():                  {Ask: Switch},
		reflect.TypeFor[int]():                   {Ask: Number},
		reflect.TypeFor[int64]():                 {Ask: Number},
		reflect.TypeFor[money.Amount]():          {Ask: Amount},
		reflect.TypeFor[money.Number]():          {Ask: Number},
		reflect.TypeFor[*time.Location]():        {Ask: Text, From: Zones},
		reflect.TypeFor[time.Time]():             {Ask: Moment},
		reflect.TypeFor[time.Duration]():         {Ask: Hour},
		reflect.TypeFor[merchant.AssetHash]():    {Ask: Picture},
		reflect.TypeFor[[]merchant.KeyHash]():    {Ask: Secret},
		reflect.TypeFor[[]byte]():                {Ask: Text, Long: true},
		reflect.TypeFor[[]guid.ID]():             {Ask: Some, List: "locations"},
		reflect.TypeFor[merchant.Networks]():     {Ask: Lines},
		reflect.TypeFor[merchant.Language]():     {Ask: One, Options: textsOf(merchant.Languages())},
		reflect.TypeFor[merchant.Platform]():     {Ask: One, Options: textsOf(merchant.Platforms())},
		reflect.TypeFor[merchant.VATTreatment](): {Ask: One, Options: textsOf(merchant.VATTreatments())},
		reflect.TypeFor[[]merchant.Item]():       rows("", text("id"), text("group"), text("name")),
		reflect.TypeFor[[]merchant.Site](): rows("", text("name"),
			Question{Name: "location", Ask: One, List: "locations"}),
		reflect.TypeFor[[]merchant.CodeForm](): rows("", Question{Name: "digits", Ask: Number},
			Question{Name: "alphanumeric", Ask: Number}, Question{Name: "fold", Ask: Switch},
			Question{Name: "from", Ask: One, Options: textsOf(merchant.Systems())}),
		reflect.TypeFor[[]merchant.TicketReading](): rows("format",
			Question{Name: "format", Ask: One, Options: format.Names()}, text("itemID"),
			Question{Name: "taxInclusive", Ask: One, Options: []string{"true", "false"}},
			Question{Name: "giftCards", Ask: Lines}),
	}
)

func text(name string) Question { return Question{Name: name, Ask: Text} }

func rows(by string, columns ...Question) Question {
	return Question{Ask: Rows, By: by, Columns: columns}
}

func textsOf[T ~string](all []T) (texts []string) {
	for _, one := range all {
		texts = append(texts, string(one))
	}
	return texts
}

func programIDs() (ids []string) {
	for _, id := range merchant.ProgramIDs() {
		ids = append(ids, id.String())
	}
	return ids
}
