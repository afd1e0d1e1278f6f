package gift

import "testing"

func TestReads(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		gift    string
		account Language
		want    Language
	}{
		{"", "", English}, // an account of version 0.1.0
		{"", German, German},
		{"fr", German, French},
		{"fr-CA", German, French},
		{"JA-jp", German, Japanese},
		{"pt-BR", German, German},
		{"pt-BR", "", English},
		{"deu", Spanish, Spanish},
		{"x-de", Spanish, Spanish},
	} {
		g := Gift{Card: Card{Language: tt.gift}}
		if got := g.Reads(&Account{Language: tt.account}); got != tt.want {
			t.Errorf("%q of an account in %q is read in %q, not %q", tt.gift, tt.account, got, tt.want)
		}
	}
}

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
