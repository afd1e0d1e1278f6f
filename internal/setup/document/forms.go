package document

import (
	"reflect"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/setup/told"
	"boon.example/internal/setup/written"
)

// formOf finds a form by its name, which is the tag "is" of merchant; "": by the type of the Go field. A form without
// functions: there is none.
func formOf(is string, of reflect.Type, least, most int, translated bool) form {
	switch {
	case translated && is == "prose":
		return inLanguages(prose(most), true)
	case translated:
		return inLanguages(fields.label, false)
	case is != "":
		return namedForms()[is]
	case of == reflect.TypeFor[merchant.AssetHash]():
		return pictureForm(most)
	case of == reflect.TypeFor[int]():
		return formed(wholeNumber(least, most), told.Number, written.Number)
	}
	return typedForms()[of]
}

// namedForms are those that the type of a Go field does not tell.
func namedForms() map[string]form {
	return map[string]form{
		"new id":       formed(func(f fields, _ string) guid.ID { return f.newID() }, told.ID, written.ID),
		"program":      formed(fields.id, told.ID, written.ID),
		"design":       formed(fields.design, told.Design, written.ID),
		"storefront":   formed(fields.storefront, told.Storefront, written.ID),
		"location":     formed(fields.location, told.Location, written.ID),
		"color":        formed(fields.color, told.Text, written.Text),
		"country":      formed(fields.country, told.Text, written.Text),
		"jurisdiction": formed(fields.jurisdiction, told.Text, written.Text),
		"email":        formed(fields.email, told.Text, written.Text),
		"phone":        formed(fields.phone, told.Text, written.Text),
		"pin":          formed(fields.pin, told.Secret[string], nil),
		"days":         formed(fields.days, told.Number, written.Number),
		"retention":    formed(wholeNumber(1, maxRetention), told.Retention, written.Number),
		"mode":         formed(fields.mode, told.Mode, written.Mode),
		"not":          formed(fields.untruth, told.Not, written.Not),
		"countries":    formed(fields.countries, told.Countries, written.Texts),
		"largest gift": formed(fields.largestGift, told.Amount, written.Amount),
		"account limits": formed(func(f fields, _ string) merchant.Limits {
			return f.limits(merchant.DefaultLimits, f.in.currency())
		}, tellLimits, writeLimitsBeyond(merchant.DefaultLimits)),
		"pass certificate":       formed(fields.passCertificate, told.Secret[string], written.Text),
		"pass key":               formed(fields.passKey, told.Secret[string], nil),
		"issuer":                 formed(fields.issuer, told.Text, written.Text),
		"service account":        formed(fields.serviceAccount, told.Secret[string], nil),
		"person's permissions":   formed(fields.personMay, told.Permissions, written.PersonMay),
		"platform's permissions": formed(fields.providerMay, told.Permissions, written.Permissions),
	}
}

// typedForms are those of types that have only one.
func typedForms() map[reflect.Type]form {
	return map[reflect.Type]form{
		reflect.TypeFor[string]():                formed(fields.label, told.Text, written.Text),
		reflect.TypeFor[bool]():                  formed(fields.truth, told.Switch, written.True),
		reflect.TypeFor[money.Currency]():        formed(fields.currency, told.Currency, written.Currency),
		reflect.TypeFor[*time.Location]():        formed(fields.zone, told.Zone, written.Zone),
		reflect.TypeFor[merchant.Language]():     namedForm(fields.language),
		reflect.TypeFor[merchant.Platform]():     namedForm(fields.platform),
		reflect.TypeFor[merchant.VATTreatment](): namedForm(either(merchant.MultiPurpose, merchant.SinglePurpose)),
		reflect.TypeFor[money.Number]():          formed(fields.percent, told.Percent, written.Percent),
		reflect.TypeFor[time.Time]():             formed(fields.instant, told.Time, written.Time),
		reflect.TypeFor[time.Duration]():         formed(fields.timeOfDay, told.TimeOfDay, written.TimeOfDay),
		reflect.TypeFor[[]guid.ID]():             formed(fields.locations, told.Locations, written.IDs),
		reflect.TypeFor[merchant.Limits](): formed(func(f fields, _ string) merchant.Limits {
			return f.limits(merchant.Limits{}, f.in.currency())
		}, tellLimits, writeLimitsBeyond(merchant.Limits{})),
		reflect.TypeFor[merchant.Networks]():        formed(fields.networks, told.Networks, written.Networks),
		reflect.TypeFor[[]merchant.TicketReading](): formed(fields.tickets, told.Tickets, written.Tickets),
		reflect.TypeFor[[]merchant.Item]():          formed(fields.items, told.Items, written.Items),
		reflect.TypeFor[[]merchant.CodeForm]():      formed(fields.codeForms, told.CodeForms, written.CodeForms),
		reflect.TypeFor[[]merchant.Site]():          formed(fields.sites, told.Sites, written.Sites),
		reflect.TypeFor[[]merchant.KeyHash]():       formed(fields.shown, told.Secret[[]merchant.KeyHash], nil),
		reflect.TypeFor[[]byte]():                   formed(fields.publicKey, told.Secret[[]byte], written.PublicKey),
	}
}

// formed makes a form of functions for one type. write is nil for what no file is told.
func formed[T any](read func(fields, string) T, tell func(string, T, *merchant.Account) told.Field,
	write func(T, *merchant.Account) any) form {
	made := form{
		read:  func(f fields, name string) any { return read(f, name) },
		tell:  func(name string, v any, a *merchant.Account) told.Field { return tell(name, v.(T), a) },
		write: func(any, *merchant.Account) any { return nil },
	}
	if write != nil {
		made.write = func(v any, a *merchant.Account) any { return write(v.(T), a) }
	}
	return made
}

// namedForm is the form of one of some names.
func namedForm[T ~string](read func(fields, string) T) form {
	return formed(read, func(name string, v T, _ *merchant.Account) told.Field { return told.Plain(name, string(v)) },
		func(v T, a *merchant.Account) any { return written.Text(string(v), a) })
}

// inLanguages is the form of a text for guests. long: it is too long to be shown.
func inLanguages(read func(fields, string) string, long bool) form {
	return formed(func(f fields, name string) texts { return f.translated(name, read) },
		func(name string, t texts, _ *merchant.Account) told.Field {
			said := told.Translated(name, t.text, t.in)
			if long {
				said.Words = ""
			}
			return said
		}, func(t texts, a *merchant.Account) any { return written.Translated(t.text, t.in, a) })
}

// pictureForm is the form of a picture whose longer side has at most so many pixels.
func pictureForm(side int) form {
	return formed(func(f fields, name string) merchant.AssetHash { return f.picture(name, side) },
		func(name string, h merchant.AssetHash, _ *merchant.Account) told.Field {
			return told.Field{Name: name, Value: h.String()}
		}, written.Picture)
}

func tellLimits(_ string, l merchant.Limits, a *merchant.Account) told.Field {
	return LimitsField(l, a.Currency)
}
