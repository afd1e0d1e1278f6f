package setup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"boon.example/internal/base/publickey"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// maxSites is how many places of a platform one provider has: a chain calls with one secret from all of its own.
const maxSites = 10_000

// maxSiteName is how long a platform's name for a place may be.
const maxSiteName = 100

// providers reads as whose gift card provider an account acts.
func (r *reader) providers(f fields, known holdings, a *merchant.Account) []merchant.Provider {
	names := make(map[string]int)
	return each(f, "providers", func(v value) merchant.Provider {
		f := r.fields(v, "id", "name", "platform", "permissions", "limits", "storefront", "sites", "secret", "nextSecret",
			"app", "publicKey", "holdDays", "networks")
		f.require("id", "name", "platform", "permissions", "sites")
		p := merchant.Provider{ID: f.newID(), Name: f.label("name"), Platform: f.platform("platform"),
			Limits: f.limits(merchant.Limits{}, known.currency), Sites: f.sites("sites", known),
			Networks: f.networks("networks")}
		if line, double := names[p.Name]; double && p.Name != "" {
			r.problem(f.values["name"], "There is a provider of this name on line %d already; histories tell them apart by "+
				"their names.", line)
		}
		names[p.Name] = v.Line
		p.Permissions = f.providerMay("permissions")
		p.StorefrontID = f.soldAt("storefront", a, p.Sells())
		if p.HoldDays = f.days("holdDays"); p.HoldDays > 0 && p.Platform != merchant.VTEX {
			f.problem(f.values["holdDays"], "Only vtex settles later what it debits.")
		}
		f.proof(&p)
		return p
	})
}

// proofs are the fields by which each platform proves itself.
var proofs = map[merchant.Platform][]string{
	merchant.Toast: {"secret", "nextSecret"},
	merchant.Wix:   {"app", "publicKey"},
	merchant.VTEX:  {"app", "secret", "nextSecret"},
}

// proof reads by what a platform proves itself.
func (f fields) proof(p *merchant.Provider) {
	own, known := proofs[p.Platform]
	if !known {
		return
	}
	for _, name := range []string{"secret", "nextSecret", "app", "publicKey"} {
		if at, there := f.values[name]; there && at.Node != nil && !slices.Contains(own, name) {
			f.problem(at, "The platform %s has none; it proves itself by %s.", p.Platform, strings.Join(own, " and "))
		}
	}
	switch p.Platform {
	case merchant.Toast:
		p.Secrets = f.shown("secret", "nextSecret")
	case merchant.VTEX:
		f.require("app")
		p.App, p.Secrets = f.label("app"), f.shown("secret", "nextSecret")
		if len(p.Sites) > 1 {
			f.problem(f.values["sites"], "VTEX does not say at which of its places a gift is used: name one site.")
		}
	case merchant.Wix:
		f.require("app", "publicKey")
		p.App = f.label("app")
		if v, _, ok := f.scalar("publicKey"); ok {
			var err error
			if p.SignedBy, err = publickey.Read(v.Value); err != nil {
				f.problem(v, "%s", err)
			}
		}
	}
}

func (f fields) platform(name string) merchant.Platform {
	v, _, ok := f.scalar(name)
	if !ok {
		return ""
	}
	var names []string
	for _, p := range merchant.Platforms() {
		names = append(names, string(p))
	}
	if !slices.Contains(names, v.Value) {
		f.problem(v, "%s", noSuch("platform", v.Value, names))
	}
	return merchant.Platform(v.Value)
}

// providerMay reads what a platform may do.
func (f fields) providerMay(name string) (may merchant.Permissions) {
	members, ok := f.list(name)
	if ok && len(f.values[name].Content) == 0 {
		f.problem(f.values[name], "An empty list permits nothing; name permissions, or leave the provider out.")
	}
	for _, v := range members {
		one := f.permission(v, may)
		if one&^merchant.ProviderPermissions != 0 {
			f.problem(v, "A platform may be given %s.", strings.Join(merchant.ProviderPermissions.Names(), ", "))
		}
		may |= one & merchant.ProviderPermissions
	}
	return may
}

// soldAt reads the storefront of what a platform sells.
func (f fields) soldAt(name string, a *merchant.Account, sells bool) guid.ID {
	id := f.id(name)
	at := f.values[name]
	switch {
	case id.IsZero() && sells && at.Node == nil:
		f.add(f.at.Line, f.path(name), "Say in which storefront the platform sells: with activate or reload, it needs one.")
	case !id.IsZero() && a.Storefront(id) == nil:
		f.problem(at, "This account has no such storefront.")
	}
	return id
}

// shown reads what a platform shows: the secret that it must have, and the one that takes its place.
func (f fields) shown(name, next string) (hashes []merchant.KeyHash) {
	f.require(name)
	for _, field := range []string{name, next} {
		if hash, _, _, _ := f.secret(field); hash != (merchant.KeyHash{}) {
			hashes = append(hashes, hash)
		}
	}
	return hashes
}

// sites reads what a platform calls the account's locations. Each of its names means one.
func (f fields) sites(name string, known holdings) (sites []merchant.Site) {
	members, ok := f.list(name)
	switch {
	case ok && len(f.values[name].Content) == 0:
		f.problem(f.values[name], "An empty list means nowhere; name the platform's places, each with its location.")
	case len(members) > maxSites:
		f.problem(f.values[name], "A provider has at most %d sites; this one has %d.", maxSites, len(members))
		return nil
	}
	lines := make(map[string]int)
	for _, v := range members {
		m := f.fields(v, "name", "location")
		m.require("name", "location")
		site := merchant.Site{LocationID: m.id("location")}
		if at, _, ok := m.scalar("name"); ok {
			site.Name = f.line(at, maxSiteName)
		}
		folded := strings.ToLower(site.Name)
		if line, double := lines[folded]; double && folded != "" {
			f.problem(m.values["name"], "The site on line %d has this name already; the platform could mean either.", line)
		}
		lines[folded] = v.Line
		if !site.LocationID.IsZero() && !known.locations[site.LocationID] {
			f.problem(m.values["location"], "This account has no such location.")
		}
		sites = append(sites, site)
	}
	slices.SortFunc(sites, func(a, b merchant.Site) int { return strings.Compare(a.Name, b.Name) })
	return sites
}

// providerFields never shows a secret, nor its hash.
func providerFields(p merchant.Provider, a *merchant.Account) []field {
	storefront := plainField("storefront", "")
	if !p.StorefrontID.IsZero() {
		storefront = field{"storefront", p.StorefrontID.String(), a.StorefrontName(p.StorefrontID)}
	}
	sites := field{name: "sites"}
	var value strings.Builder
	var words []string
	for _, s := range p.Sites {
		fmt.Fprintf(&value, "%q %s ", s.Name, s.LocationID)
		at := s.LocationID.String()
		if l := a.Location(s.LocationID); l != nil {
			at = l.Name
		}
		words = append(words, s.Name+" at "+at)
	}
	sites.value, sites.words = value.String(), strings.Join(words, " and ")
	return []field{
		plainField("name", p.Name), plainField("platform", string(p.Platform)),
		{"secrets", fmt.Sprintf("%x", p.Secrets), ""}, plainField("app", p.App),
		{"public key", fmt.Sprintf("%x", p.SignedBy), ""},
		plainField("permissions", strings.Join(p.Permissions.Names(), ", ")), limitsField(p.Limits, a.Currency),
		storefront, plainField("days of a hold", strconv.Itoa(p.HoldDays)),
		plainField("networks", p.Networks.String()), sites,
	}
}
