package till

import (
	"testing"

	"boon.example/client"
)

// TestWideReportsOnAPhone: on a phone, a row of a table with many columns is a list in which each line begins with what
// it is; for readers of the screen it stays a table. On a desk it is a table for everybody. Nothing scrolls sideways.
func TestWideReportsOnAPhone(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	for _, place := range []string{pier, wharf} {
		g := s.sell("1250")
		if _, err := s.api.RedeemGift(t.Context(), client.RedeemGiftRequest{VoucherID: g.VoucherID, OrganizationID: place,
			Amount: client.MustDecimal("1234.50")}); err != nil {
			t.Fatal(err)
		}
	}
	d := s.staffDevice("ann@example.com")
	const wide = "redemptions?groupBy=organization,day,program,key&"
	for language, titles := range map[string][2]string{"es": {"Quién debe a quién", "Canjes"},
		"de": {"Wer wem schuldet", "Einlösungen"}} {
		for n, report := range []string{"settlement?", wide} {
			d.open("/console/" + account + "/reports/" + report + "lang=" + language)
			d.shows("h1", titles[n])
			d.console("console-report-" + language + "-" + report[:10])
			d.look("light", 375, 800)
			const first = `getComputedStyle(document.querySelector(".rows tbody td"), "::before").content`
			if said := js[string](d, first); said == "none" {
				t.Errorf("%s in %s: a line does not say what it is", report, language)
			}
			if !js[bool](d, `[...document.querySelectorAll(".rows td")].every((e) => e.getAttribute("role") === "cell") &&
				document.querySelector(".rows th").checkVisibility()`) {
				t.Errorf("%s in %s is no table for readers of the screen", report, language)
			}
			d.look("light", 1280, 800)
			if said := js[string](d, first); said != "none" {
				t.Errorf("%s in %s: on a desk, a cell begins with %s", report, language, said)
			}
		}
	}
	d.calm()
}
