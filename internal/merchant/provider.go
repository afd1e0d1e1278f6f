package merchant

import (
	"crypto/subtle"
	"net/url"
	"slices"
	"strings"

	"boon.example/internal/guid"
)

// Platform is somebody else's system that takes an account's gifts, by a protocol of its own.
type Platform string

// The platforms.
const (
	Toast  Platform = "toast"
	Wix    Platform = "wix"
	VTEX   Platform = "vtex"
	Saleor Platform = "saleor"
)

// Platforms lists them all.
func Platforms() []Platform { return []Platform{Toast, Wix, VTEX, Saleor} }

// Provider makes an account the gift card provider of a platform. Its changes stand in histories under its ID, as
// those of a key do.
type Provider struct {
	ID       guid.ID  `json:"id" setup:",required" is:"new id"`
	Name     string   `json:"name" setup:",required"`
	Platform Platform `json:"platform" setup:",required"`
	// that the platform may show; two while one takes the other's place
	Secrets []KeyHash `json:"secrets,omitempty" setup:"secret" also:"nextSecret" told:"secrets"`
	// that the platform's tokens are for, by which it names itself, or where it is; "": none of these
	App string `json:"app,omitempty"`
	// the public key that verifies them, as PKIX has it
	SignedBy []byte `json:"signedBy,omitempty" setup:"publicKey"`
	// of ProviderPermissions
	Permissions Permissions `json:"may" setup:"permissions,required" is:"platform's permissions"`
	// beside the account's
	Limits Limits `json:"limits,omitzero"`
	// where what the platform sells is purchased; zero: it sells nothing
	StorefrontID guid.ID `json:"storefront,omitzero" is:"storefront"`
	// for which what it debits is held until it is settled; 0: as its protocol has it
	HoldDays int `json:"holdDays,omitempty" is:"days" told:"days of a hold"`
	// from which the platform calls
	Networks Networks `json:"networks,omitempty"`
	Sites    []Site   `json:"sites" setup:",required"`
}

// EndedProvider is one that was taken out of the set-up. Histories name it still.
type EndedProvider struct {
	ID   guid.ID `json:"id"`
	Name string  `json:"name"`
}

// ProvidersEnded are those that an account had before it became what it is, nil: it is new, and has no more.
func ProvidersEnded(before, after *Account) (all []EndedProvider) {
	if before == nil {
		return nil
	}
	all = slices.Clone(before.EndedProviders)
	for _, p := range before.Providers {
		all = append(all, EndedProvider{p.ID, p.Name})
	}
	return slices.DeleteFunc(all, func(ended EndedProvider) bool {
		return slices.ContainsFunc(after.Providers, func(p Provider) bool { return p.ID == ended.ID })
	})
}

// Site is a place as a platform calls it, and the location that it is.
type Site struct {
	Name       string  `json:"name"`
	LocationID guid.ID `json:"location"`
}

// ProviderPermissions are all that a platform may be given.
const ProviderPermissions = TillPermissions

// Sells reports whether value is put into gifts by the platform, which needs a storefront.
func (p *Provider) Sells() bool { return p.Permissions&(MayActivate|MayReload) != 0 }

// Verify reports whether a text is one of the provider's secrets, in a time that does not tell which part of it is not.
func (p *Provider) Verify(text string) bool {
	shown, found := HashKey(text), 0
	for i := range p.Secrets {
		found |= subtle.ConstantTimeCompare(shown[:], p.Secrets[i][:])
	}
	return found == 1
}

// IsAtOrigin reports whether the provider's App is an address of HTTP with a host, and nothing after it. Which hosts
// may be called is the operator's to say.
func (p *Provider) IsAtOrigin() bool {
	u, err := url.Parse(p.App)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" &&
		p.App == u.Scheme+"://"+u.Host
}

// Location is the location that the platform calls by this name; zero: there is none.
func (p *Provider) Location(name string) guid.ID {
	for _, s := range p.Sites {
		if strings.EqualFold(s.Name, name) {
			return s.LocationID
		}
	}
	return guid.ID{}
}

// Caller is the platform at one of its locations, which may undo only what it did there itself.
func (p *Provider) Caller(a *Account, at guid.ID) *Caller {
	return &Caller{KeyID: p.ID, Kind: AccountKey, Name: p.Name, Account: a, Locations: []guid.ID{at}, Sites: len(p.Sites),
		WebShop: p.Platform != Toast, Permissions: p.Permissions & ProviderPermissions, Limits: p.Limits}
}

// Provider finds a provider by its id, and its account; nil: the platform has none of it.
func (d *Directory) Provider(platform Platform, id guid.ID) (*Account, *Provider) {
	for _, a := range d.Accounts {
		for i := range a.Providers {
			if p := &a.Providers[i]; p.ID == id && p.Platform == platform {
				return a, p
			}
		}
	}
	return nil, nil
}
