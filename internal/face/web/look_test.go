package web

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
)

// TestPreview: what a messenger shows of a link says that there is a gift and where it is from. It has no code, token,
// name, amount or words of the sender, and no address but that of the merchant's picture.
func TestPreview(t *testing.T) {
	t.Parallel()
	g, a := aGift(t), *account
	picture := merchant.HashAsset([]byte("picture"))
	a.Designs = []merchant.Design{{ID: guid.ID{4}, AccentColor: "#ffcc00", Headline: "Enjoy", Picture: picture}}
	_, body := newStoreOf(t, &a, g).as(t, "fr", "/g/"+token)
	got := properties(t, body)
	want := map[string]string{"og:type": "website", "og:title": "Un cadeau pour vous", "og:site_name": "Harbor Coffee",
		"og:description": "Ouvrez le lien pour découvrir votre cadeau de Harbor Coffee.",
		"og:image":       base + "/assets/" + picture.String()}
	if !maps.Equal(got, want) {
		t.Errorf("the preview says %v, want %v", got, want)
	}
	_, body = newFakeStore(t, g).as(t, "", "/g/"+token)
	if got := properties(t, body); len(got) != 4 || got["og:image"] != "" {
		t.Errorf("without a picture the preview says %v", got)
	}
	s := newFakeStore(t, g)
	s.replaced = time.Now()
	for _, path := range []string{"/", "/nowhere", "/outbox", "/g/" + token} {
		if _, body := s.as(t, "", path); len(properties(t, body)) > 0 {
			t.Errorf("%s has a preview of a gift", path)
		}
	}
}

// properties are those that messengers read.
func properties(t *testing.T, page string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, tag := range tags(t, page) {
		attr := attributes(tag)
		if name := attr["property"]; tag.Data == "meta" && name != "" {
			found[name] = attr["content"]
		}
	}
	return found
}

func attributes(tag html.Token) map[string]string {
	all := map[string]string{}
	for _, a := range tag.Attr {
		all[a.Key] = a.Val
	}
	return all
}

// TestMaps: each location that has an address is searched for on a map by address and region, in a link whose text
// names the place and that does not tell where the guest comes from; a gift that is over has none.
func TestMaps(t *testing.T) {
	t.Parallel()
	g, a := aGift(t), *account
	a.Name = "Bäcker & Söhne"
	a.Locations = []merchant.Location{{Name: "Pier 39", Address: "2 Beach St", Jurisdiction: "US-CA",
		Phone: "+1 (415) 555-0100", Hours: "8–18"},
		{Name: "浅草店", Address: "浅草1", Jurisdiction: "JP-13"}, {Name: "Mitte", Jurisdiction: "DE"}, {Name: "x", Address: "y"}}
	const search = "https://www.openstreetmap.org/search?query="
	want := []string{search + "2+Beach+St%2C+CA%2C+US", search + "%E6%B5%85%E8%8D%891%2C+JP", search + "y"}
	links := func() (found []string) {
		_, body := newStoreOf(t, &a, g).as(t, "", "/g/"+token)
		for _, tag := range tags(t, body) {
			attr := attributes(tag)
			if attr["class"] != "map" {
				continue
			}
			found = append(found, attr["href"])
			if attr["rel"] != "noopener noreferrer" || attr["referrerpolicy"] != "no-referrer" ||
				strings.Contains(attr["href"], token) {
				t.Errorf("a link to the map tells where it is: %v", tag)
			}
		}
		return found
	}
	if got := links(); !slices.Equal(got, want) {
		t.Errorf("maps %q, want %q", got, want)
	}
	_, body := newStoreOf(t, &a, g).as(t, "", "/g/"+token)
	body = html.UnescapeString(body)
	for _, part := range []string{">Pier 39 on the map</a>", "<bdi>2 Beach St</bdi>", "<bdi>8–18</bdi>",
		`<a class="tel" href="tel:+14155550100"><bdi>+1 (415) 555-0100</bdi></a>`, "<bdi>Mitte</bdi></li>"} {
		if !strings.Contains(body, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
	g.Status = gift.Cancelled
	if got := links(); len(got) > 0 {
		t.Errorf("a gift that is over has maps: %q", got)
	}
}

// TestFolded: a message is folded where it would push the code off the first screen; all of it is there.
func TestFolded(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]bool{
		"": false, "Happy birthday!\nSee you on Friday.": false, "a\nb\nc": false, "a\nb\n\nc": true,
		strings.Repeat("word ", 20): false, strings.Repeat("word ", 21): true, strings.Repeat("花", 51): false,
		strings.Repeat("花", 52): true, strings.Repeat("W", 1000): true,
	} {
		g := aGift(t)
		g.Card.Message = message
		status, _, body := newFakeStore(t, g).get(t, "/g/"+token)
		whole := !slices.ContainsFunc(card.Lines(message), func(line string) bool {
			return !strings.Contains(body, ">"+line+"<") &&
				line != ""
		})
		if status != http.StatusOK || strings.Contains(body, "<details") != want || !whole {
			t.Errorf("%.40q: folded %t, want %t; there as a whole: %t", message, !want, want, whole)
		}
	}
}

// TestThemeColor: the browser around the page has a colour of it, in both themes.
func TestThemeColor(t *testing.T) {
	t.Parallel()
	light, dark, _ := strings.Cut(string(sheet), "@media screen and (prefers-color-scheme: dark)")
	for css, grounds := range map[string][]card.Color{light: lightGrounds, dark: darkGrounds} {
		if !strings.Contains(css, "--ground: "+grounds[0].String()+";") ||
			!strings.Contains(css, "--surface: "+grounds[1].String()+";") {
			t.Errorf("the style sheet has not the grounds %v", grounds)
		}
	}
	for path, light := range map[string]string{"/": "#f5f3ee", "/g/" + token: "#ffcc00"} {
		_, _, body := newFakeStore(t, aGift(t)).get(t, path)
		for theme, want := range map[string]string{"light": light, "dark": "#141412"} {
			if !strings.Contains(body, `<meta name="theme-color" media="(prefers-color-scheme: `+theme+`)" content="`+want+`">`) {
				t.Errorf("%s has not the colour %s in the %s theme:\n%.900s", path, want, theme, body)
			}
		}
	}
}

// TestPageIsSmall: a page with texts of full length, many uses and many locations stays, with its style and script,
// below 100 KB.
func TestPageIsSmall(t *testing.T) {
	t.Parallel()
	g, a := aGift(t), *account
	g.Seq, g.Card.Message = 100, strings.Repeat("花", 1000)
	g.Card.Terms, g.Card.PromotionalTerms = strings.Repeat("条", 4000), strings.Repeat("条", 4000)
	a.Locations = make([]merchant.Location, 100)
	for i := range a.Locations {
		a.Locations[i] = merchant.Location{ID: guid.ID{byte(i)}, Name: strings.Repeat("店", 50)}
	}
	s := newStoreOf(t, &a, g)
	s.history = make([]gift.Entry, g.Seq)
	for i := range s.history {
		s.history[i] = gift.Entry{Kind: gift.Redemption, Delta: -1, Actor: merchant.Actor{LocationID: guid.ID{9}}}
	}
	_, body := s.as(t, "ja", "/g/"+token)
	if all := len(body) + len(sheet) + len(script); all >= 100_000 {
		t.Errorf("the page, its style and its script take %d bytes", all)
	} else {
		t.Logf("%d bytes", all)
	}
}
