package setup

import (
	"encoding/hex"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

func storedProvider(p merchant.Provider) provider {
	d := provider{ID: storedID(p.ID), Platform: string(p.Platform), Name: p.Name, May: joinPermissions(p.Permissions),
		Storefront: storedID(p.StorefrontID), HoldDays: p.HoldDays, App: p.App, SignedBy: p.SignedBy, Networks: p.Networks,
		Secrets: mapped(p.Secrets, func(h merchant.KeyHash) string { return hex.EncodeToString(h[:]) }),
		Sites:   mapped(p.Sites, func(s merchant.Site) site { return site{s.Name, storedID(s.LocationID)} })}
	if p.Limits != (merchant.Limits{}) {
		d.Limits = limitsOf(p.Limits)
	}
	return d
}

func (d provider) provider() merchant.Provider {
	p := merchant.Provider{ID: guid.ID(d.ID), Platform: merchant.Platform(d.Platform), Name: d.Name,
		Permissions: splitPermissions(d.May), StorefrontID: guid.ID(d.Storefront), HoldDays: d.HoldDays,
		App: d.App, SignedBy: d.SignedBy, Networks: d.Networks,
		Secrets: mapped(d.Secrets, func(text string) (h merchant.KeyHash) {
			_, _ = hex.Decode(h[:], []byte(text)) // what is damaged is the hash of nothing
			return h
		}),
		Sites: mapped(d.Sites, func(s site) merchant.Site {
			return merchant.Site{Name: s.Name,
				LocationID: guid.ID(s.Location)}
		})}
	if d.Limits != nil {
		p.Limits = d.Limits.limits()
	}
	return p
}
