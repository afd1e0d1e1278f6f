package document

import (
	"slices"
	"strings"

	"boon.example/internal/base/phrase"
	"boon.example/internal/base/publickey"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// maxSites is how many places of a platform one provider has: a chain calls with one secret from all of its own.
const maxSites = 10_000

// maxSiteName is how long a platform's name for a place may be.
const maxSiteName = 100

// checkProvider judges what no single field of a provider tells.
func checkProvider(f fields, p *merchant.Provider) {
	if line, double := f.in.once("provider "+p.Name, f.at.Line); double && p.Name != "" {
		f.problem(f.values["name"], "There is a provider of this name%s already; histories tell them apart by "+
			"their names.", f.onLine(line))
	}
	if at := f.values["storefront"]; p.StorefrontID.IsZero() && p.Sells() && at.Node == nil {
		f.add(f.at.Line, f.path("storefront"),
			"Say in which storefront the platform sells: with activate or reload, it needs one.")
	}
	if p.HoldDays > 0 && p.Platform != merchant.VTEX && p.Platform != merchant.Saleor {
		f.problem(f.values["holdDays"], "Only vtex and saleor settle later what they debit.")
	}
	checkProof(f, p)
}

// proofs are the fields by which each platform proves itself.
var proofs = map[merchant.Platform][]string{
	merchant.Toast:  {"secret", "nextSecret"},
	merchant.Wix:    {"app", "publicKey"},
	merchant.VTEX:   {"app", "secret", "nextSecret"},
	merchant.Saleor: {"app"},
}

// Unproven is a provider whose secret the file does not say. It keeps those that it has.
type Unproven struct {
	ID guid.ID
	At Place // of its secret
}

// checkProof judges by what a platform proves itself.
func checkProof(f fields, p *merchant.Provider) {
	own, known := proofs[p.Platform]
	if !known {
		return
	}
	for _, name := range []string{"secret", "nextSecret", "app", "publicKey"} {
		if at, there := f.values[name]; there && at.Node != nil && !slices.Contains(own, name) {
			f.problem(at, "The platform %s has none; it proves itself by %s.", p.Platform, phrase.AllOf(own))
		}
	}
	for _, name := range own {
		switch _, there := f.values[name]; {
		case name == "nextSecret":
		case name == "secret" && !there:
			f.in.unproven = append(f.in.unproven, Unproven{p.ID, Place{f.at.Line, f.path(name)}})
		default:
			f.require(name)
		}
	}
	if p.Platform == merchant.Saleor && p.App != "" && !p.IsAtOrigin() {
		f.problem(f.values["app"], "For saleor, app is the address of the shop's API without a path.")
	}
	if p.Platform == merchant.VTEX && len(p.Sites) > 1 {
		f.problem(f.values["sites"], "VTEX does not say at which of its places a gift is used: name one site.")
	}
}

// publicKey reads the key that verifies a platform's tokens.
func (f fields) publicKey(name string) []byte {
	v, _, ok := f.scalar(name)
	if !ok {
		return nil
	}
	key, err := publickey.Read(v.Value)
	if err != nil {
		f.refuse(v, err)
	}
	return key
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
		f.refuse(v, noSuch("There is no such platform; did you mean %s?",
			"There is no such platform; there are %s.", v.Value, names))
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

// shown reads what a platform shows: its secret, and the one that takes its place.
func (f fields) shown(name string) (hashes []merchant.KeyHash) {
	for _, field := range []string{name, "nextSecret"} {
		if hash, _, _, _ := f.secret(field); hash != (merchant.KeyHash{}) {
			hashes = append(hashes, hash)
		}
	}
	return hashes
}

// sites reads what a platform calls the account's locations. Each of its names means one.
func (f fields) sites(name string) (sites []merchant.Site) {
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
			f.problem(m.values["name"], "Another site%s has this name already; the platform could mean either.", f.onLine(line))
		}
		lines[folded] = v.Line
		f.isLocation(m.values["location"], site.LocationID)
		sites = append(sites, site)
	}
	slices.SortFunc(sites, func(a, b merchant.Site) int { return strings.Compare(a.Name, b.Name) })
	return sites
}
