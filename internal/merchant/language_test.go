package merchant

import "testing"

func TestLacksLanguage(t *testing.T) {
	t.Parallel()
	shop, promotion := []Storefront{{}}, []Promotion{{}}
	for want, accounts := range map[bool][]Account{
		true:  {{Storefronts: shop}, {Promotions: promotion}, {Storefronts: shop, Promotions: promotion}},
		false: {{}, {Language: French, Storefronts: shop}, {Language: French, Promotions: promotion}},
	} {
		for n, a := range accounts {
			if a.LacksLanguage() != want {
				t.Errorf("%t, account %d", !want, n)
			}
		}
	}
}
