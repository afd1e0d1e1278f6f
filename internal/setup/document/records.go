package document

import (
	"reflect"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/setup/told"
)

// recordTypeOf finds what is particular about the records of a list; nil: no list of records is made of these.
func recordTypeOf(t reflect.Type) *recordType {
	switch t {
	case reflect.TypeFor[merchant.Location]():
		return listed(told.LocationKind, func(l *merchant.Location) (guid.ID, string) { return l.ID, l.Name }, checkLocation)
	case reflect.TypeFor[merchant.Subscription]():
		return listed(told.SubscriptionKind, func(s *merchant.Subscription) (guid.ID, string) {
			program, _ := merchant.ProgramByID(s.ProgramID)
			return s.ProgramID, "to " + program.Name
		}, checkSubscription)
	case reflect.TypeFor[merchant.Storefront]():
		return listed(told.StorefrontKind, func(s *merchant.Storefront) (guid.ID, string) { return s.ID, s.Name }, nil)
	case reflect.TypeFor[merchant.Design]():
		return listed(told.DesignKind, func(d *merchant.Design) (guid.ID, string) { return d.ID, d.Name }, nil)
	case reflect.TypeFor[merchant.Promotion]():
		return listed(told.PromotionKind, func(p *merchant.Promotion) (guid.ID, string) { return p.ID, p.Name },
			checkPromotion)
	case reflect.TypeFor[merchant.Person]():
		return listed(told.PersonKind, func(p *merchant.Person) (guid.ID, string) {
			return new(merchant.Account).PINKey(p, guid.ID{}).KeyID, p.Name
		}, checkPerson)
	case reflect.TypeFor[merchant.Provider]():
		return listed(told.ProviderKind, func(p *merchant.Provider) (guid.ID, string) { return p.ID, p.Name }, checkProvider)
	}
	return nil
}

// listed makes a recordType of functions for one struct. check may be nil.
func listed[T any](is told.Kind, named func(*T) (guid.ID, string), check func(fields, *T)) *recordType {
	return &recordType{kind: is, of: definitionOf(reflect.TypeFor[T]()),
		named: func(record any) (guid.ID, string) { return named(record.(*T)) },
		check: func(f fields, record any) {
			if check != nil {
				check(f, record.(*T))
			}
		}}
}

// checkLocation refuses a point-of-sale identifier that the account has twice.
func checkLocation(f fields, l *merchant.Location) {
	at, ok := f.get("pointOfSale")
	if !ok || l.PointOfSale == "" {
		return
	}
	identifier := f.fieldOf(at, "identifier")
	if line, double := f.in.once("identifier "+l.PointOfSale, identifier.Line); double {
		f.problem(identifier,
			"Another location%s has this identifier already; a till could mean either.", f.onLine(line))
	}
}

func checkPromotion(f fields, p *merchant.Promotion) {
	if at, ok := f.get("ticketRequired"); ok && p.EligibleItems == nil {
		f.problem(at, "This says nothing without eligibleItems: only gifts for certain items need a ticket.")
	}
	checkVAT(f, p.VATTreatment, p.VATRate)
}

func checkSubscription(f fields, s *merchant.Subscription) {
	at := f.values["program"]
	program, exists := merchant.ProgramByID(s.ProgramID)
	switch {
	case s.ProgramID.IsZero():
	case !exists:
		f.problem(at, "There is no such program. The programs are %s (%s), %s (%s) and %s (%s).",
			merchant.BusinessProgram.ID, merchant.BusinessProgram.Name, merchant.PromotionalProgram.ID,
			merchant.PromotionalProgram.Name,
			merchant.DistributionProgram.ID, merchant.DistributionProgram.Name)
	default:
		if line, double := f.in.once("program "+s.ProgramID.String(), at.Line); double {
			f.problem(at, "The account subscribes to this program%s already; name all locations there.", f.onLine(line))
		}
	}
	if s.Reloadable && program.Promotional {
		f.problem(f.values["reloadable"], "Promotional gifts cannot be reloaded.")
	}
	checkVAT(f, s.VATTreatment, s.VATRate)
}

// checkVAT holds treatment and rate together: VAT is due when a gift is sold only if the rate is known by then.
func checkVAT(f fields, t merchant.VATTreatment, rate money.Number) {
	treatment, rated := f.values["vatTreatment"], f.values["vatRate"]
	switch {
	case t == merchant.SinglePurpose && rate == "" && rated.Node == nil:
		f.add(treatment.Line, f.path("vatRate"),
			"Say the rate: the VAT of a %s gift is due when the gift is sold. Write vatRate: and percent, such as 19.", t)
	case t != merchant.SinglePurpose && rate != "":
		f.problem(rated, "A rate belongs to vatTreatment: %s. The VAT of other gifts is due when they are redeemed, at the "+
			"rate of what is bought.", merchant.SinglePurpose)
	}
}

// checkBooks refuses accounts of a ledger that would be debited and credited at once.
func checkBooks(f fields, a *merchant.Account) {
	at, ok := f.get("books")
	if !ok {
		return
	}
	in := a.Books.Accounts
	accounts := f.fieldOf(at, "accounts")
	for name, other := range map[string]string{"promotion": in.Promotion, "clearing": in.Clearing, "cash": in.Cash,
		"breakage": in.Breakage} {
		if other != "" && other == in.Liability {
			f.problem(f.fieldOf(accounts, name),
				"This is the account of liability. A journal that debits and credits one account says nothing.")
		}
	}
}

func checkPerson(f fields, p *merchant.Person) {
	if line, double := f.in.once("person "+p.Name, f.at.Line); double && p.Name != "" {
		f.problem(f.values["name"], "There is a person of this name%s already; people sign in by their names.",
			f.onLine(line))
	}
}
