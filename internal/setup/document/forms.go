package document

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
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
		return formed(wholeNumber(least, most), tellNumber, writeNumber)
	}
	return typedForms()[of]
}

// namedForms are those that the type of a Go field does not tell.
func namedForms() map[string]form {
	return map[string]form{
		"new id":       formed(func(f fields, _ string) guid.ID { return f.newID() }, tellID, writeID),
		"program":      formed(fields.id, tellID, writeID),
		"design":       formed(fields.design, designField, writeID),
		"storefront":   formed(fields.storefront, storefrontField, writeID),
		"location":     formed(fields.location, tellLocation, writeID),
		"color":        formed(fields.color, tellText, writeText),
		"country":      formed(fields.country, tellText, writeText),
		"jurisdiction": formed(fields.jurisdiction, tellText, writeText),
		"email":        formed(fields.email, tellText, writeText),
		"phone":        formed(fields.phone, tellText, writeText),
		"pin":          formed(fields.pin, tellSecret[string], nil),
		"days":         formed(fields.days, tellNumber, writeNumber),
		"retention":    formed(wholeNumber(1, maxRetention), retentionField, writeNumber),
		"mode":         formed(fields.mode, tellMode, writeMode),
		"not":          formed(fields.untruth, tellNot, writeNot),
		"countries":    formed(fields.countries, countriesField, writeTexts),
		"largest gift": formed(fields.largestGift, tellAmount, writeAmount),
		"account limits": formed(func(f fields, _ string) merchant.Limits {
			return f.limits(merchant.DefaultLimits, f.in.currency())
		}, tellLimits, writeLimitsBeyond(merchant.DefaultLimits)),
		"pass certificate":       formed(fields.passCertificate, tellSecret[string], writeText),
		"pass key":               formed(fields.passKey, tellSecret[string], nil),
		"issuer":                 formed(fields.issuer, tellText, writeText),
		"service account":        formed(fields.serviceAccount, tellSecret[string], nil),
		"person's permissions":   formed(fields.personMay, tellPermissions, writePersonMay),
		"platform's permissions": formed(fields.providerMay, tellPermissions, writePermissions),
	}
}

// typedForms are those of types that have only one.
func typedForms() map[reflect.Type]form {
	return map[reflect.Type]form{
		reflect.TypeFor[string]():                formed(fields.label, tellText, writeText),
		reflect.TypeFor[bool]():                  formed(fields.truth, tellSwitch, writeTrue),
		reflect.TypeFor[money.Currency]():        formed(fields.currency, tellCurrency, writeCurrency),
		reflect.TypeFor[*time.Location]():        formed(fields.zone, tellZone, writeZone),
		reflect.TypeFor[merchant.Language]():     namedForm(fields.language),
		reflect.TypeFor[merchant.Platform]():     namedForm(fields.platform),
		reflect.TypeFor[merchant.VATTreatment](): namedForm(either(merchant.MultiPurpose, merchant.SinglePurpose)),
		reflect.TypeFor[money.Number]():          formed(fields.percent, tellPercent, writePercent),
		reflect.TypeFor[time.Time]():             formed(fields.instant, tellTime, writeTime),
		reflect.TypeFor[time.Duration]():         formed(fields.timeOfDay, tellTimeOfDay, writeTimeOfDay),
		reflect.TypeFor[[]guid.ID]():             formed(fields.locations, tellLocations, writeIDs),
		reflect.TypeFor[merchant.Limits](): formed(func(f fields, _ string) merchant.Limits {
			return f.limits(merchant.Limits{}, f.in.currency())
		}, tellLimits, writeLimitsBeyond(merchant.Limits{})),
		reflect.TypeFor[merchant.Networks]():        formed(fields.networks, tellNetworks, writeNetworks),
		reflect.TypeFor[[]merchant.TicketReading](): formed(fields.tickets, tellTickets, writeTickets),
		reflect.TypeFor[[]merchant.Item]():          formed(fields.items, tellItems, writeItems),
		reflect.TypeFor[[]merchant.CodeForm]():      formed(fields.codeForms, tellCodeForms, writeCodeForms),
		reflect.TypeFor[[]merchant.Site]():          formed(fields.sites, tellSites, writeSites),
		reflect.TypeFor[[]merchant.KeyHash]():       formed(fields.shown, tellSecret[[]merchant.KeyHash], nil),
		reflect.TypeFor[[]byte]():                   formed(fields.publicKey, tellSecret[[]byte], writePublicKey),
	}
}

// formed makes a form of functions for one type. write is nil for what no file is told.
func formed[T any](read func(fields, string) T, tell func(string, T, *merchant.Account) Field,
	write func(T, *merchant.Account) any) form {
	made := form{
		read:  func(f fields, name string) any { return read(f, name) },
		tell:  func(name string, v any, a *merchant.Account) Field { return tell(name, v.(T), a) },
		write: func(any, *merchant.Account) any { return nil },
	}
	if write != nil {
		made.write = func(v any, a *merchant.Account) any { return write(v.(T), a) }
	}
	return made
}

// namedForm is the form of one of some names.
func namedForm[T ~string](read func(fields, string) T) form {
	return formed(read, func(name string, v T, _ *merchant.Account) Field { return PlainField(name, string(v)) },
		func(v T, a *merchant.Account) any { return writeText(string(v), a) })
}

// inLanguages is the form of a text for guests. long: it is too long to be shown.
func inLanguages(read func(fields, string) string, long bool) form {
	return formed(func(f fields, name string) texts { return f.translated(name, read) },
		func(name string, t texts, _ *merchant.Account) Field {
			told := textField(name, t.text, t.in)
			if long {
				told.Words = ""
			}
			return told
		}, writeTranslated)
}

// pictureForm is the form of a picture whose longer side has at most so many pixels.
func pictureForm(side int) form {
	return formed(func(f fields, name string) merchant.AssetHash { return f.picture(name, side) },
		func(name string, h merchant.AssetHash, _ *merchant.Account) Field { return Field{name, h.String(), ""} },
		writePicture)
}

func tellText(name, text string, _ *merchant.Account) Field { return PlainField(name, text) }

// tellSecret never shows a secret, nor its hash.
func tellSecret[T any](name string, v T, _ *merchant.Account) Field {
	return Field{name, fmt.Sprintf("%x", any(v)), ""}
}

func tellID(name string, id guid.ID, _ *merchant.Account) Field { return PlainField(name, id.String()) }

func tellSwitch(name string, on bool, _ *merchant.Account) Field { return SwitchField(name, on) }

func tellNot(name string, off bool, _ *merchant.Account) Field { return SwitchField(name, !off) }

func tellMode(name string, test bool, _ *merchant.Account) Field {
	return PlainField(name, merchant.ModeName(test))
}

func tellCurrency(name string, c money.Currency, _ *merchant.Account) Field {
	return PlainField(name, c.Code)
}

func tellZone(name string, zone *time.Location, _ *merchant.Account) Field {
	return PlainField(name, zone.String())
}

func tellAmount(name string, amount money.Amount, a *merchant.Account) Field {
	return PlainField(name, a.Currency.Money(amount))
}

func tellLimits(_ string, l merchant.Limits, a *merchant.Account) Field {
	return LimitsField(l, a.Currency)
}

func tellNumber(name string, n int, _ *merchant.Account) Field {
	if n == 0 {
		return PlainField(name, "")
	}
	return PlainField(name, strconv.Itoa(n))
}

func tellTime(name string, t time.Time, _ *merchant.Account) Field {
	if t.IsZero() {
		return PlainField(name, "")
	}
	return PlainField(name, t.UTC().Format(time.RFC3339Nano))
}

func tellTimeOfDay(name string, after time.Duration, _ *merchant.Account) Field {
	return Field{name, after.String(), time.Time{}.Add(after).Format("15:04")}
}

func tellLocations(_ string, ids []guid.ID, a *merchant.Account) Field { return LocationsField(ids, a) }

func tellNetworks(name string, all merchant.Networks, _ *merchant.Account) Field {
	return Field{name, all.String(), all.String()}
}

func tellPermissions(name string, may merchant.Permissions, _ *merchant.Account) Field {
	return PlainField(name, strings.Join(may.Names(), ", "))
}

func tellLocation(name string, id guid.ID, a *merchant.Account) Field {
	if l := a.Location(id); l != nil {
		return Field{name, id.String(), l.Name}
	}
	return PlainField(name, id.String())
}

func tellPercent(name string, rate money.Number, _ *merchant.Account) Field {
	if rate == "" {
		return PlainField(name, "")
	}
	return Field{name, string(rate), string(rate) + " %"}
}

func tellTickets(_ string, all []merchant.TicketReading, _ *merchant.Account) Field {
	return ticketsField(all)
}
