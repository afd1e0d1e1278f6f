package setup

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// File is a set-up file that was read and found free of contradictions in itself. It holds no secrets, only their
// hashes.
type File struct {
	name       string
	accounts   []account
	systemKeys []key
}

// Accounts are those that the file describes.
func (f *File) Accounts() (all []*merchant.Account) {
	for i := range f.accounts {
		all = append(all, f.accounts[i].record)
	}
	return all
}

// Secrets reports whether secrets of keys or hashes of PINs stand in the file.
func (f *File) Secrets() bool {
	for k := range f.everyKey {
		if k.hash != (merchant.KeyHash{}) {
			return true
		}
	}
	return slices.ContainsFunc(f.Accounts(), func(a *merchant.Account) bool { return len(a.People) > 0 })
}

// account is what the file says of one account.
type account struct {
	at     value             // where
	record *merchant.Account // in canonical order
	assets []merchant.Asset  // the pictures of its designs
	keys   []key

	webhooks []webhook // nil: the file does not say

	namesPeople bool // the file says who works at its tills, if it says that nobody does
}

// key is what the file says of one API key.
type key struct {
	at        value // where
	owner     guid.ID
	test      bool // its mode
	name      string
	hash      merchant.KeyHash // of its secret; zero: one is to be made
	hint      string
	saysTest  bool      // its secret says that it is a test account's
	walked    bool      // its secret was typed along a keyboard
	locations []guid.ID // sorted; empty: all
	may       merchant.Permissions
	accounts  []guid.ID // of a system key, sorted: for which it may send; none: empty
	programs  []guid.ID // likewise
	expires   time.Time // zero: never, or what the key has already
	limits    merchant.Limits
	networks  merchant.Networks
}

func (k *key) kind() merchant.KeyKind {
	if k.owner.IsZero() {
		return merchant.SystemKey
	}
	return merchant.AccountKey
}

// Parse reads a set-up file that names no pictures. name is what it is called in messages. Every error is of type
// Problems: all that is wrong with the file, each with its line.
func Parse(name string, data []byte) (*File, error) { return ParseBeside(name, data, nil, nil) }

// ParseBeside is Parse for a file that may name pictures: by their paths in folder, which is the one that the file
// lies in; and webhooks in networks that the operator allows.
func ParseBeside(name string, data []byte, folder fs.FS, allow merchant.WebhookNetworks) (*File, error) {
	return parse(&reader{file: name, folder: folder, allow: allow}, data)
}

// ParseDemo is Parse for boon demo: it takes the secrets of the published examples, which are refused elsewhere.
func ParseDemo(name string, data []byte) (*File, error) {
	return parse(&reader{file: name, demo: true}, data)
}

func parse(r *reader, data []byte) (*File, error) {
	r.ids, r.secrets = make(map[guid.ID]int), make(map[merchant.KeyHash]int)
	f := &File{name: r.file}
	if root, ok := r.document(data); ok {
		r.setup(root, f)
	}
	if err := r.problems.err(r.file); err != nil {
		return nil, err
	}
	return f, nil
}

func (r *reader) setup(root value, file *File) {
	f := r.fields(root, "accounts", "systemKeys")
	if len(f.values) == 0 && len(r.problems) == 0 {
		r.add(0, "", empty)
	}
	accounts, _ := f.list("accounts")
	for _, v := range accounts {
		file.accounts = append(file.accounts, r.account(v))
	}
	file.systemKeys = r.keys(f, "systemKeys", nil)
}

func (r *reader) account(v value) account {
	f := r.fields(v, "id", "name", "mode", "currency", "timeZone", "language", "country",
		"maxGiftValue", "limits", "requireIdempotencyKey",
		"balanceNotice", "contact", "textCountries", "retention",
		"subscriptions", "locations",
		"storefronts", "promotions", "voucherDesigns", "defaultVoucherDesign", "people", "providers",
		"webhooks", "keys")
	f.require("id", "name", "currency", "timeZone")
	a := &merchant.Account{
		ID: f.newID(), Name: f.label("name"), Test: f.mode("mode"),
		Currency: f.currency("currency"), Zone: f.zone("timeZone"),
		Language:              f.language("language"),
		Country:               f.country("country"),
		RequireIdempotencyKey: f.truth("requireIdempotencyKey"),
		BalanceNotice:         f.truth("balanceNotice"),
		Contact:               f.email("contact"),
		TextCountries:         f.countries("textCountries"),
	}
	of := a.Language // the one that texts are in, "": it is not known
	if _, said := f.values["language"]; !said {
		of = merchant.English
	}
	a.MaxGiftValue = f.limit("maxGiftValue", a.Currency)
	a.Limits = f.limits(merchant.DefaultLimits, &a.Currency)
	a.PersonalDataDays = f.retention()
	var assets []merchant.Asset
	a.Designs = each(f, "voucherDesigns", func(v value) merchant.Design { return r.design(v, a.ID, of, &assets) })
	known := holdings{designs: make(map[guid.ID]bool), locations: make(map[guid.ID]bool),
		identifiers: make(map[string]int)}
	for _, d := range a.Designs {
		known.designs[d.ID] = true
	}
	a.DefaultDesign = f.defaultDesign(known)
	a.Locations = each(f, "locations", func(v value) merchant.Location { return r.location(v, known) })
	for _, l := range a.Locations {
		known.locations[l.ID] = true
	}
	a.Storefronts = each(f, "storefronts", r.storefront)
	a.Promotions = each(f, "promotions", func(v value) merchant.Promotion { return r.promotion(v, of) })
	a.Subscriptions = r.subscriptions(f, known)
	f.requireLanguage(a)
	a.People = r.people(f, known)
	known.currency = &a.Currency
	a.Providers = r.providers(f, known, a)
	keys := r.keys(f, "keys", &known)
	for i := range keys {
		keys[i].owner, keys[i].test = a.ID, a.Test
	}
	_, namesPeople := f.values["people"]
	return account{at: v, record: canonical(a), assets: assets, keys: keys, webhooks: r.webhooks(f),
		namesPeople: namesPeople}
}

// holdings is what an account has that other parts of it may name.
type holdings struct {
	designs     map[guid.ID]bool
	locations   map[guid.ID]bool
	identifiers map[string]int // point-of-sale identifiers, with their lines
	currency    *money.Currency
}

// each reads every member of a list.
func each[T any](f fields, name string, read func(value) T) []T {
	members, _ := f.list(name)
	var list []T
	for _, v := range members {
		list = append(list, read(v))
	}
	return list
}

func (r *reader) location(v value, known holdings) merchant.Location {
	f := r.fields(v, "id", "name", "jurisdiction", "address", "phone", "hours", "pointOfSale", "defaultVoucherDesign",
		"tickets", "dayEnds")
	f.require("id", "name")
	l := merchant.Location{
		ID: f.newID(), Name: f.label("name"), Jurisdiction: f.jurisdiction("jurisdiction"),
		DefaultDesign: f.defaultDesign(known), Tickets: f.tickets("tickets"), DayEnds: f.timeOfDay("dayEnds"),
		Address: f.label("address"), Phone: f.phone("phone"), Hours: f.label("hours"),
	}
	pos, ok := f.get("pointOfSale")
	if !ok {
		return l
	}
	p := r.fields(pos, "identifier", "redemptionEnabled")
	p.require("identifier")
	l.PointOfSale, l.POSRedemption = p.label("identifier"), p.truth("redemptionEnabled")
	if l.PointOfSale == "" {
		return l
	}
	at := p.values["identifier"]
	if line, double := known.identifiers[l.PointOfSale]; double {
		r.problem(at, "The location on line %d of this account has this identifier already; a till could mean either.", line)
		return l
	}
	known.identifiers[l.PointOfSale] = at.Line
	return l
}

func (r *reader) storefront(v value) merchant.Storefront {
	f := r.fields(v, "id", "name")
	f.require("id", "name")
	return merchant.Storefront{ID: f.newID(), Name: f.label("name")}
}

func (r *reader) promotion(v value, of merchant.Language) merchant.Promotion {
	f := r.fields(v, "id", "name", "validStarting", "validForDays", "terms", "eligibleItems", "ticketRequired")
	f.require("id", "name")
	p := merchant.Promotion{
		ID: f.newID(), Name: f.label("name"), ValidStarting: f.instant("validStarting"), ValidForDays: f.days("validForDays"),
	}
	p.Terms, p.TermsIn = f.translated("terms", of, prose(maxTerms))
	p.EligibleItems = f.items("eligibleItems")
	if at, ok := f.get("ticketRequired"); ok {
		p.TicketOptional = !f.truth("ticketRequired")
		if p.EligibleItems == nil {
			r.problem(at, "This says nothing without eligibleItems: only gifts for certain items need a ticket.")
		}
	}
	return p
}

func (r *reader) design(v value, account guid.ID, of merchant.Language, assets *[]merchant.Asset) merchant.Design {
	f := r.fields(v, "id", "name", "accentColor", "headline", "logo", "picture", "footer")
	f.require("id", "name")
	d := merchant.Design{
		ID: f.newID(), Name: f.label("name"), AccentColor: f.color("accentColor"),
	}
	d.Headline, d.HeadlineIn = f.translated("headline", of, fields.label)
	d.Footer, d.FooterIn = f.translated("footer", of, prose(maxFooter))
	for _, p := range []struct {
		field string
		side  int
		hash  *merchant.AssetHash
	}{{"logo", logoSide, &d.Logo}, {"picture", pictureSide, &d.Picture}} {
		if a, ok := f.picture(p.field, p.side); ok {
			a.AccountID, *p.hash = account, a.Hash
			*assets = append(*assets, a)
		}
	}
	return d
}

func (r *reader) subscriptions(f fields, known holdings) []merchant.Subscription {
	lines := make(map[guid.ID]int)
	return each(f, "subscriptions", func(v value) merchant.Subscription {
		f := r.fields(v, "program", "locations", "reloadable")
		f.require("program")
		s := merchant.Subscription{ProgramID: f.id("program"), Locations: f.locations("locations", known),
			Reloadable: f.truth("reloadable")}
		at := f.values["program"]
		program, exists := merchant.ProgramByID(s.ProgramID)
		line, double := lines[s.ProgramID]
		switch {
		case s.ProgramID.IsZero():
		case !exists:
			r.problem(at, "There is no such program. The programs are %s (%s), %s (%s) and %s (%s).",
				merchant.BusinessProgram.ID, merchant.BusinessProgram.Name, merchant.PromotionalProgram.ID,
				merchant.PromotionalProgram.Name,
				merchant.DistributionProgram.ID, merchant.DistributionProgram.Name)
		case double:
			r.problem(at, "The account subscribes to this program on line %d already; name all locations there.", line)
		default:
			lines[s.ProgramID] = at.Line
		}
		if s.Reloadable && program.Promotional {
			r.problem(f.values["reloadable"], "Promotional gifts cannot be reloaded.")
		}
		return s
	})
}

// people reads who works at the tills.
func (r *reader) people(f fields, known holdings) []merchant.Person {
	names := make(map[string]int)
	return each(f, "people", func(v value) merchant.Person {
		f := r.fields(v, "name", "pin", "role", "may", "locations")
		f.require("name")
		p := merchant.Person{Name: f.label("name"), PIN: f.pin("pin"), May: f.personMay("role", "may"),
			Locations: f.locations("locations", known)}
		if line, double := names[p.Name]; double && p.Name != "" {
			r.problem(f.values["name"], "There is a person of this name on line %d already; people sign in by their names.",
				line)
		}
		names[p.Name] = v.Line
		return p
	})
}

// keys reads a list of API keys: of an account with what it has, or system keys, which have no locations.
func (r *reader) keys(f fields, list string, known *holdings) []key {
	names := make(map[string]int)
	return each(f, list, func(v value) key {
		allowed := []string{"name", "secret", "expires", "limits", "networks", "locations", "role", "permissions"}
		if known == nil {
			allowed = append(allowed[:5], "mode", "accounts", "programs")
		}
		f := r.fields(v, allowed...)
		f.require("name")
		k := key{at: v, name: f.label("name")}
		if line, double := names[k.name]; double && k.name != "" {
			r.problem(f.values["name"], "There is a key of this name on line %d already; keys are told apart by their names.",
				line)
		}
		names[k.name] = v.Line
		k.hash, k.hint, k.saysTest, k.walked = f.secret("secret")
		k.expires = f.instant("expires")
		k.networks = f.networks("networks")
		if known != nil {
			k.locations = f.locations("locations", *known)
			k.may = f.permissions()
			k.limits = f.limits(merchant.Limits{}, known.currency)
		} else {
			k.limits = f.limits(merchant.Limits{}, nil)
			k.accounts = f.idList("accounts", noneNamed, func(value, guid.ID) {}) // the set-up tells whether they exist
			k.programs, k.test = f.programs("programs"), f.mode("mode")
		}
		return k
	})
}

// canonical gives a copy of an account in which all records stand in the one order in which they are stored: the
// order in a file means nothing. The lists within a record are put in order as they are read.
func canonical(a *merchant.Account) *merchant.Account {
	c := *a
	c.Subscriptions = sorted(a.Subscriptions, func(s merchant.Subscription) guid.ID { return s.ProgramID })
	c.Locations = sorted(a.Locations, func(l merchant.Location) guid.ID { return l.ID })
	c.Storefronts = sorted(a.Storefronts, func(s merchant.Storefront) guid.ID { return s.ID })
	c.Promotions = sorted(a.Promotions, func(p merchant.Promotion) guid.ID { return p.ID })
	c.Designs = sorted(a.Designs, func(d merchant.Design) guid.ID { return d.ID })
	c.Providers = sorted(a.Providers, func(p merchant.Provider) guid.ID { return p.ID })
	c.People = slices.SortedFunc(slices.Values(a.People),
		func(a, b merchant.Person) int { return strings.Compare(a.Name, b.Name) })
	return &c
}

func sorted[T any](list []T, id func(T) guid.ID) []T {
	return slices.SortedFunc(slices.Values(list), func(a, b T) int { return compareIDs(id(a), id(b)) })
}

func sortedIDs(ids []guid.ID) []guid.ID { return slices.SortedFunc(slices.Values(ids), compareIDs) }

func compareIDs(a, b guid.ID) int { return bytes.Compare(a[:], b[:]) }
