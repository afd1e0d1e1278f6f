package setup_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"boon.example/internal/merchant"
	"boon.example/internal/setup"
	"boon.example/internal/setup/document"
)

// ofList are the fields of the records of lists that the edits below are about.
var ofList = map[string][]string{
	"promotions": {"id", "name", "validForDays", "terms"},
	"locations":  {"id", "name"},
	"people":     {"name", "may"},
	"providers":  {"id", "name", "platform", "secret", "nextSecret", "permissions", "sites"},
	"keys":       {"name", "role", "permissions", "locations", "expires", "networks"},
	"webhooks":   {"url", "description", "types", "enabled"},
}

// changing is an edit of a record as it is now, with some fields of it changed; "": without the field. Nothing: the
// record is taken out.
func changing(t *testing.T, w world, list, known string, to map[string]string) *setup.Edit {
	t.Helper()
	e := &setup.Edit{Account: harborID, List: list, Known: known, Of: ofList[list],
		By: merchant.Actor{Person: "Ana"}, RequestID: "r1"}
	was := e.Record(directory(t, w), noon)
	if e.Seen = was.Mark(); to == nil {
		return e
	}
	e.Is = document.Fields{document.KnownBy(list): known}
	maps.Copy(e.Is, was)
	for name, value := range to {
		if e.Is[name] = value; value == "" {
			delete(e.Is, name)
		}
	}
	return e
}

const (
	toast     = "00000000-0000-4000-8000-000000000071"
	bareLines = `    language: en
    promotions: [{id: ` + spring + `, name: Spring, validForDays: 30, terms: Once.}]
    people: [{name: Ben}, {name: Ana, pin: ` + quotedPIN + `}]
    keys: [{name: shop, role: shop}, {name: brief, role: shop, expires: "2030-01-01T00:00:00Z"}]
    webhooks: [{url: 'https://a.example/'}, {url: 'https://b.example/', enabled: false}]
    providers: [{id: ` + toast + `, name: Toast, platform: toast, secret: 5f0cda7e9b1c4d3280aa6f9e1b7c2d41,
      permissions: [redeem], sites: [{name: R-1, location: 00000000-0000-4000-8000-000000000011}]}]
`
)

// TestUndoRestores: an edit can be taken back where that makes the set-up what it was before, and only there.
func TestUndoRestores(t *testing.T) {
	t.Parallel()
	const secret = "0f0cda7e9b1c4d3280aa6f9e1b7c2d42"
	for name, c := range map[string]struct {
		list, known string
		to          map[string]string
		undo        bool
	}{
		"a promotion is changed":       {"promotions", spring, map[string]string{"name": "Summer"}, true},
		"a promotion is removed":       {"promotions", spring, nil, true},
		"a person is removed":          {"people", "Ben", nil, true},
		"a person is added":            {"people", "Cy", map[string]string{}, true},
		"a person with a PIN goes":     {"people", "Ana", nil, false},
		"a platform is renamed":        {"providers", toast, map[string]string{"name": "Till"}, true},
		"a platform is removed":        {"providers", toast, nil, false},
		"a secret is replaced":         {"providers", toast, map[string]string{"secret": secret}, false},
		"a secret is followed":         {"providers", toast, map[string]string{"nextSecret": secret}, false},
		"a key is to expire":           {"keys", "shop", map[string]string{"expires": "2031-01-01T00:00:00Z"}, true},
		"a key is not to expire":       {"keys", "brief", map[string]string{"expires": ""}, true},
		"a key is over":                {"keys", "shop", map[string]string{"expires": "2001-01-01T00:00:00Z"}, false},
		"a webhook is switched off":    {"webhooks", "https://a.example/", map[string]string{"enabled": "false"}, true},
		"a webhook is switched on":     {"webhooks", "https://b.example/", map[string]string{"enabled": "true"}, true},
		"a webhook is added":           {"webhooks", "https://c.example/", map[string]string{}, true},
		"a webhook is removed":         {"webhooks", "https://a.example/", nil, false},
		"a webhook is told more about": {"webhooks", "https://a.example/", map[string]string{"description": "x"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			apply(t, w, minimal+locationLines+bareLines)
			before, err := document.Export(directory(t, w), noon)
			if err != nil {
				t.Fatal(err)
			}
			edited := w.edit(t, changing(t, w, c.list, c.known, c.to))
			if len(edited.Changes) == 0 || (edited.Undo != nil) != c.undo {
				t.Fatalf("it did %q, and is taken back by %+v", edited.Changes, edited.Undo)
			}
			if !c.undo {
				return
			}
			w.edit(t, edited.Undo)
			if after, err := document.Export(directory(t, w), noon); err != nil || string(after) != string(before) {
				t.Errorf("taken back, the set-up is\n%s\n%v, want\n%s", after, err, before)
			}
		})
	}
}

// TestANextSecretAlone: it stands beside the secret that there is, which keeps working.
func TestANextSecretAlone(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, minimal+locationLines+bareLines)
	const next = "0f0cda7e9b1c4d3280aa6f9e1b7c2d42"
	w.edit(t, changing(t, w, "providers", toast, map[string]string{"nextSecret": next}))
	_, p := directory(t, w).Provider(merchant.Toast, id(t, toast))
	if len(p.Secrets) != 2 || !p.Verify("5f0cda7e9b1c4d3280aa6f9e1b7c2d41") || !p.Verify(next) {
		t.Errorf("it shows one of %d secrets", len(p.Secrets))
	}
	const third = "1f0cda7e9b1c4d3280aa6f9e1b7c2d43"
	w.edit(t, changing(t, w, "providers", toast, map[string]string{"nextSecret": third}))
	_, p = directory(t, w).Provider(merchant.Toast, id(t, toast))
	if len(p.Secrets) != 2 || !p.Verify("5f0cda7e9b1c4d3280aa6f9e1b7c2d41") || p.Verify(next) || !p.Verify(third) {
		t.Errorf("after another one, it shows one of %d secrets", len(p.Secrets))
	}
}

// TestAKeyOfARevokedName: a new key under the name of one that was revoked is refused at its name.
func TestAKeyOfARevokedName(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, minimal+locationLines+bareLines)
	if _, err := setup.RevokeKey(t.Context(), w, "shop", noon); err != nil {
		t.Fatal(err)
	}
	_, err := changing(t, w, "keys", "shop", map[string]string{"role": "shop"}).Apply(t.Context(), w, noon, chance(1))
	problems, is := errors.AsType[setup.Problems](err)
	if !is || problems[0].Path != "name" || !strings.Contains(problems[0].Said.Error(), "Choose another name.") ||
		strings.Contains(problems[0].Said.Error(), "file") {
		t.Errorf("it is told %v", err)
	}
}

// TestIDsOfOthers: an edit with the id of another account's record tells nothing of that record.
func TestIDsOfOthers(t *testing.T) {
	t.Parallel()
	w := open(t)
	const other = "00000000-0000-4000-8000-0000000000a1"
	apply(t, w, minimal+locationLines+bareLines+"  - id: 00000000-0000-4000-8000-000000000002\n    name: Rival\n"+
		"    currency: USD\n    timeZone: America/New_York\n    language: en\n    promotions: [{id: "+other+
		", name: Fall, validForDays: 30, terms: Once.}]\n")
	for _, used := range []string{other, "00000000-0000-4000-8000-000000000002"} {
		_, err := changing(t, w, "locations", used, map[string]string{"name": "Quay"}).Apply(t.Context(), w, noon, chance(1))
		if err == nil || !strings.Contains(err.Error(), "This id is taken.") || strings.Contains(err.Error(), "Rival") ||
			strings.Contains(err.Error(), "promotion") {
			t.Errorf("it is told %v", err)
		}
	}
	_, err := changing(t, w, "locations", spring, map[string]string{"name": "Quay"}).Apply(t.Context(), w, noon, chance(1))
	if err == nil || !strings.Contains(err.Error(), "This id is used already") {
		t.Errorf("of an id of its own, it is told %v", err)
	}
}
