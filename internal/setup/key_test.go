package setup_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/setup"
	"boon.example/internal/setup/document"
)

const (
	oldSecret = "old-secret-of-the-till-0123456789"
	newSecret = "new-secret-of-the-till-0123456789"

	tillMay  = merchant.MayValidate | merchant.MayRedeem | merchant.MayReverse
	pierOnly = ", locations: [00000000-0000-4000-8000-000000000011]"
)

var harborID = guid.ID{6: 0x40, 8: 0x80, 15: 0x01}
var pierID = guid.ID{6: 0x40, 8: 0x80, 15: 0x11}

// withKey is a file with one key and its fields.
func withKey(fields string) string {
	return minimal + locationLines + "    keys: [{name: till, role: till" + fields + "}]\n"
}

func authenticates(t *testing.T, w world, text string) bool {
	t.Helper()
	_, ok := directory(t, w).Authenticate(text, noon)
	return ok
}

func TestApplyMakesAKeyOnce(t *testing.T) {
	t.Parallel()
	w := open(t)
	const file = minimal + "    keys: [{name: till, role: till}]\nsystemKeys: [{name: partner}]\n"
	report := apply(t, w, file)
	if len(report.Keys) != 2 {
		t.Fatalf("made %+v", report.Keys)
	}
	till, partner := report.Keys[0], report.Keys[1]
	if !merchant.ValidKey(till.Text) || !strings.HasPrefix(till.Text, "boon_live_acct_") || !authenticates(t, w,
		till.Text) {
		t.Errorf("the till's key is %+v", till)
	}
	if !merchant.ValidKey(partner.Text) || !strings.HasPrefix(partner.Text, "boon_live_sys_") ||
		!authenticates(t, w, partner.Text) {
		t.Errorf("the partner's key is %+v", partner)
	}
	var out bytes.Buffer
	if err := report.Print(&out); err != nil {
		t.Fatal(err)
	}
	want := "account Harbor Coffee: added\naccount Harbor Coffee: added key till (till)\nsystem: added key partner\n\n" +
		"New keys. They are shown this once and kept nowhere; store them now.\n" +
		"account Harbor Coffee, key till: " + till.Text + "\nsystem, key partner: " + partner.Text + "\n"
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
	if again := apply(t, w, file); len(again.Changes)+len(again.Keys) > 0 {
		t.Errorf("the second application did %+v", again)
	}
	for _, k := range directory(t, w).Keys {
		if k.ID[6]>>4 != 7 || k.CreatedAt.Nanosecond()%1000 != 0 || len(k.Hint) != 4 ||
			!strings.HasSuffix(till.Text+partner.Text, k.Hint) &&
				!strings.HasSuffix(till.Text, k.Hint) {
			t.Errorf("stored %+v", k)
		}
	}
}

func TestANewSecretReplacesTheOld(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, withKey(", secret: "+oldSecret+pierOnly))
	report := apply(t, w, withKey(", secret: "+newSecret))
	wantLines(t, "changes", report.Changes, "account Harbor Coffee: replaced the secret of key till; the old one stops "+
		"working")
	if authenticates(t, w, oldSecret) || !authenticates(t, w, newSecret) {
		t.Error("the old secret works, or the new one does not")
	}
	old, young := directory(t, w).Keys[merchant.HashKey(oldSecret)], directory(t, w).Keys[merchant.HashKey(newSecret)]
	if old.RevokedAt != noon.Truncate(time.Microsecond) || old.ID == young.ID || len(young.Locations) != 0 {
		t.Errorf("old %+v, new %+v", old, young)
	}

	// Yesterday's file does not bring yesterday's secret back.
	report = apply(t, w, withKey(", secret: "+oldSecret))
	wantLines(t, "changes", report.Changes)
	wantLines(t, "notes", strings.Split(noted(report), "\n"),
		"account Harbor Coffee: key till has a secret here that was revoked at "+
			"2026-06-01T12:00:00Z; it stays so. "+
			"Give it a new secret, or take it out of the file.")
	if authenticates(t, w, oldSecret) || !authenticates(t, w, newSecret) {
		t.Error("the old file undid the replacement")
	}
}

func TestARevokedKeyStaysRevoked(t *testing.T) {
	t.Parallel()
	for name, fields := range map[string]string{"made": "", "given": ", secret: " + oldSecret} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			text := oldSecret
			if report := apply(t, w, withKey(fields)); len(report.Keys) == 1 {
				text = report.Keys[0].Text
			}
			if _, err := setup.RevokeKey(t.Context(), w, "till", noon); err != nil {
				t.Fatal(err)
			}
			report := apply(t, w, withKey(fields))
			if len(report.Changes)+len(report.Keys) > 0 || len(report.Notes) != 1 ||
				!strings.Contains(report.Notes[0].String(), "was revoked at") {
				t.Errorf("the file did %+v", report)
			}
			var out bytes.Buffer
			if err := report.Print(&out); err != nil || !strings.Contains(out.String(),
				"\nnote: account Harbor Coffee: key till ") {
				t.Errorf("printed %q, %v", out.String(), err)
			}
			if authenticates(t, w, text) {
				t.Error("a revoked key works again")
			}
			report = apply(t, w, withKey(", secret: "+newSecret))
			wantLines(t, "changes", report.Changes, "account Harbor Coffee: added key till (till)")
			if !authenticates(t, w, newSecret) {
				t.Error("a new secret for the name of a revoked key does not work")
			}
		})
	}
}

func TestAnExpiredKeyStaysExpired(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, minimal+locationLines)
	q := setup.KeyRequest{Account: harborID, Name: "till", Permissions: tillMay, ExpiresAt: noon.Add(time.Hour)}
	if _, _, err := setup.CreateKey(t.Context(), w, q, noon, chance(1)); err != nil {
		t.Fatal(err)
	}
	report := apply(t, w, withKey(pierOnly))
	wantLines(t, "changes", report.Changes, "account Harbor Coffee: changed key till: locations from all to Pier 39")
	report = applyAt(t, w, withKey(""), noon.Add(time.Hour))
	wantLines(t, "changes", report.Changes)
	wantLines(t, "notes", strings.Split(noted(report), "\n"),
		"account Harbor Coffee: key till expired at 2026-06-01T13:00:00Z; it stays so. "+
			"Give it a new secret, or take it out of the file.")
}

func TestASecretBelongsToOneKey(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, withKey(", secret: "+oldSecret))
	said := refused(t, w, strings.Replace(withKey(", secret: "+oldSecret), "till", "counter", 1))
	if said != "setup.yaml:9: accounts[0].keys[0]: The secret of key counter is that of key till of account Harbor "+
		"Coffee already; "+
		"each key needs one of its own, and keys are not renamed." {
		t.Error(said)
	}
	said = refused(t, w, "systemKeys: [{name: till, secret: "+oldSecret+"}]\n")
	if !strings.HasPrefix(said, "setup.yaml:1: systemKeys[0]: The secret of key till is that of key till of account "+
		"Harbor Coffee") {
		t.Error(said)
	}
}

func TestALocationIsNotRemovedFromUnderAKey(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, withKey(", secret: "+oldSecret+pierOnly))
	said := refused(t, w, minimal)
	if said != "setup.yaml:2: accounts[0]: The location 00000000-0000-4000-8000-000000000011 cannot be removed: key "+
		"till is limited to it. "+
		"Revoke the key first (boon key revoke)." {
		t.Error(said)
	}
	if report := apply(t, w, minimal+"    keys: [{name: till, role: till}]\n"); len(report.Changes) != 2 {
		t.Errorf("with the key freed: %v", report.Changes)
	}
}

// TestAListOfAllPermissionsStaysAList: a key that was given every name has no more in a later version than these; only
// the role all has. The file that is exported says which it is.
func TestAListOfAllPermissionsStaysAList(t *testing.T) {
	t.Parallel()
	w := open(t)
	names := strings.Join(merchant.PermissionNames(), ", ")
	apply(t, w, minimal+locationLines+"    keys:\n      - {name: list, permissions: ["+names+"], secret: "+oldSecret+"}\n"+
		"      - {name: role, role: all, secret: "+newSecret+"}\n")
	for secret, want := range map[string]string{oldSecret: names, newSecret: "all"} {
		if k, _ := directory(t, w).Authenticate(secret, noon); k == nil || k.Permissions.String() != want {
			t.Errorf("a key that was given %s may %v", want, k)
		}
	}
	exported, err := document.Export(directory(t, w), noon)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"role: all", "- reports"} {
		if strings.Count(string(exported), want) != 1 {
			t.Errorf("the export has %q not once:\n%s", want, exported)
		}
	}
	wantLines(t, "changes", apply(t, w, minimal+locationLines+"    keys:\n      - {name: list, role: all, secret: "+
		oldSecret+"}\n      - {name: role, role: all, secret: "+newSecret+"}\n").Changes,
		"account Harbor Coffee: changed key list: permissions from "+names+" to all")
}

func TestPermissionsChange(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, withKey(", secret: "+oldSecret))
	if caller, _ := directory(t, w).Authenticate(oldSecret, noon); caller.Permissions != tillMay {
		t.Errorf("a till may %s", caller.Permissions)
	}
	file := minimal + locationLines + "    keys: [{name: till, permissions: [look-up, codes], secret: " + oldSecret +
		pierOnly + "}]\n"
	wantLines(t, "changes", apply(t, w, file).Changes,
		"account Harbor Coffee: changed key till: locations from all to Pier 39",
		"account Harbor Coffee: changed key till: permissions from till to look-up, codes")
	if caller, _ := directory(t, w).Authenticate(oldSecret,
		noon); caller.Permissions != merchant.MayLookUp|merchant.MaySeeCodes ||
		len(caller.Locations) != 1 {
		t.Errorf("it may %s now", caller.Permissions)
	}
	wantLines(t, "changes again", apply(t, w, file).Changes)
}

func TestSystemKeysServeWhatIsNamed(t *testing.T) {
	t.Parallel()
	w := open(t)
	file := func(fields string) string {
		return minimal + "systemKeys: [{name: partner, secret: " + oldSecret + fields + "}]\n"
	}
	caller := func() *merchant.Caller {
		c, _ := directory(t, w).Authenticate(oldSecret, noon)
		return c
	}
	apply(t, w, file(""))
	if c := caller(); len(c.Accounts) != 0 || len(c.Programs) != 1 || c.Programs[0] != merchant.DistributionProgram.ID {
		t.Errorf("unnamed, it serves %v in %v", c.Accounts, c.Programs)
	}
	wantLines(t, "changes again", apply(t, w, file("")).Changes)
	served := file(", accounts: [" + harborID.String() + "], programs: [" + merchant.BusinessProgram.ID.String() + "]")
	wantLines(t, "changes", apply(t, w, served).Changes,
		"system: changed key partner: accounts from none to Harbor Coffee ("+harborID.String()+")",
		"system: changed key partner: programs from Distribution network to Business gift cards")
	if c := caller(); len(c.Accounts) != 1 || c.Accounts[0] != harborID || c.Programs[0] != merchant.BusinessProgram.ID {
		t.Errorf("it serves %v in %v", c.Accounts, c.Programs)
	}
	if said := refused(t, w, file(", accounts: ["+pierID.String()+"]")); !strings.Contains(said,
		"There is no account "+pierID.String()) {
		t.Error(said)
	}
	// A second key of the integrator may work beside the first.
	if _, _, err := setup.CreateKey(t.Context(), w, setup.KeyRequest{Name: "partner", Accounts: []guid.ID{harborID}}, noon,
		chance(1)); err != nil {
		t.Error(err)
	}
}

// TestOverlappingSystemKeys: while an integrator changes over it has two keys of one name, and a file is for both.
func TestOverlappingSystemKeys(t *testing.T) {
	t.Parallel()
	w := open(t)
	file := func(fields string) string { return minimal + "systemKeys: [{name: partner" + fields + "}]\n" }
	serving := ", accounts: [" + harborID.String() + "]"
	texts := []string{apply(t, w, file(serving)).Keys[0].Text, ""}
	second, text, err := setup.CreateKey(t.Context(), w, setup.KeyRequest{Name: "partner",
		Accounts: []guid.ID{harborID}, Programs: []guid.ID{merchant.DistributionProgram.ID}}, noon.Add(time.Second),
		chance(1))
	if err != nil {
		t.Fatal(err)
	}
	texts[1] = text
	first := directory(t, w).Keys[merchant.HashKey(texts[0])]
	both := func(format string) []string {
		return []string{fmt.Sprintf(format, first.ID), fmt.Sprintf(format, second.ID)}
	}
	wantLines(t, "changes of what is so", apply(t, w, file(serving)).Changes)
	wantLines(t, "accounts", apply(t, w, file("")).Changes, both("system: changed key partner (%s): accounts from Harbor "+
		"Coffee ("+harborID.String()+") to none")...)
	narrow := serving + ", networks: [10.0.0.0/8], limits: {giftsPerDay: 5}, expires: 2026-06-02T00:00:00Z"
	if changes := apply(t, w, file(narrow)).Changes; len(changes) != 8 {
		t.Errorf("narrower: %v", changes)
	}
	for _, text := range texts {
		c, ok := directory(t, w).Authenticate(text, noon)
		if !ok || len(c.Accounts) != 1 || len(c.Networks) != 1 || c.Limits.GiftsPerDay != 5 {
			t.Errorf("narrower, …%s is %+v", text[len(text)-4:], c)
		}
		if _, ok := directory(t, w).Authenticate(text, noon.AddDate(0, 0, 1)); ok {
			t.Errorf("…%s works after its end", text[len(text)-4:])
		}
	}
	replaced := apply(t, w, file(narrow+", secret: "+newSecret))
	wantLines(t, "changes by a new secret", replaced.Changes,
		both("system: replaced the secret of key partner (%s); the old one stops working")...)
	if authenticates(t, w, texts[0]) || authenticates(t, w, texts[1]) || !authenticates(t, w, newSecret) {
		t.Error("an old secret works, or the new one does not")
	}
}

// TestAccountsAreToldWhoServesThem: that a partner may send for an account, and how, stands in the account's trail.
func TestAccountsAreToldWhoServesThem(t *testing.T) {
	t.Parallel()
	w := open(t)
	file := func(fields string) string { return minimal + "systemKeys: [{name: partner" + fields + "}]\n" }
	serving := ", accounts: [" + harborID.String() + "]"
	for _, fields := range []string{serving, "", serving, serving + ", networks: [10.0.0.0/8]",
		serving + ", networks: [10.0.0.0/8], secret: " + newSecret} {
		apply(t, w, file(fields))
	}
	if _, err := setup.RevokeKey(t.Context(), w, "partner", noon); err != nil {
		t.Fatal(err)
	}
	k, _, err := setup.CreateKey(t.Context(), w, setup.KeyRequest{Name: "site", Accounts: []guid.ID{harborID}}, noon,
		chance(1))
	if err != nil {
		t.Fatal(err)
	}
	apply(t, w, "systemKeys: [{name: alone}]\n") // of no account, and in no trail
	page, err := w.trail(t.Context(), event.TrailFilter{AccountID: harborID, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, e := range slices.Backward(page.Entries) {
		told = append(told, e.What)
	}
	old := directory(t, w).Keys[merchant.HashKey(newSecret)]
	wantLines(t, "trail", told, "account Harbor Coffee: added\nsystem: added key partner\n"+
		"system: key partner: sending for this account from off to on",
		"system: key partner: sending for this account from on to off",
		"system: key partner: sending for this account from off to on",
		"system: changed key partner: networks from everywhere to 10.0.0.0/8",
		"system: replaced the secret of key partner; the old one stops working",
		"the system: revoked key partner ("+old.ID.String()+")",
		"the system: added key site ("+k.ID.String()+")")
}

func TestKeysExpire(t *testing.T) {
	t.Parallel()
	w := open(t)
	end := time.Date(2026, 6, 1, 13, 0, 0, 0, time.UTC)
	file := withKey(", secret: "+oldSecret+", expires: 2026-06-01T15:00:00+02:00") +
		"systemKeys: [{name: partner, expires: 2026-06-02T00:00:00Z}]\n"
	wantLines(t, "changes", apply(t, w, file).Changes[2:], "account Harbor Coffee: added key till (till)",
		"system: added key partner")
	if k := directory(t, w).Keys[merchant.HashKey(oldSecret)]; !k.ExpiresAt.Equal(end) {
		t.Errorf("it expires at %s", k.ExpiresAt)
	}
	if _, ok := directory(t, w).Authenticate(oldSecret, end.Add(-1)); !ok {
		t.Error("it does not work until its end")
	}
	if _, ok := directory(t, w).Authenticate(oldSecret, end); ok {
		t.Error("it works at its end")
	}
	wantLines(t, "changes again", apply(t, w, file).Changes)
	wantLines(t, "changes without it", apply(t, w, withKey(", secret: "+oldSecret)).Changes) // what it has it keeps
	longer := withKey(", secret: " + oldSecret + ", expires: 2026-06-01T14:00:00Z")
	wantLines(t, "changes", apply(t, w, longer).Changes,
		"account Harbor Coffee: changed key till: expires from 2026-06-01T13:00:00Z to 2026-06-01T14:00:00Z")
	late := applyAt(t, w, longer, end.Add(time.Hour))
	wantLines(t, "notes", strings.Split(noted(late), "\n"),
		"account Harbor Coffee: key till has a secret here that expired at "+
			"2026-06-01T14:00:00Z; it stays so. "+
			"Give it a new secret, or take it out of the file.")
	if said := refused(t, w, withKey(", secret: "+newSecret+", expires: 2026-06-01T12:00:00Z")); !strings.Contains(said,
		"Key till would have expired already") {
		t.Error(said)
	}
}

func TestCreateKey(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, minimal+locationLines+sandbox)
	for _, c := range []struct {
		q    setup.KeyRequest
		text string
	}{
		{setup.KeyRequest{Account: harborID, Name: "live", Permissions: merchant.AllPermissions},
			`^boon_live_acct_[0-9A-Za-z]{43}[0-9a-f]{8}$`},
		{setup.KeyRequest{Account: sandboxID, Name: "test", Permissions: tillMay},
			`^boon_test_acct_[0-9A-Za-z]{43}[0-9a-f]{8}$`},
		{setup.KeyRequest{Account: sandboxID, Name: "asked", Permissions: tillMay, Test: true}, `^boon_test_acct_`},
		{setup.KeyRequest{Name: "live"}, `^boon_live_sys_`},
		{setup.KeyRequest{Name: "test", Test: true}, `^boon_test_sys_`},
		{setup.KeyRequest{Account: harborID, Name: "pier", Permissions: tillMay, Locations: []guid.ID{pierID, pierID},
			ExpiresAt: noon.Add(time.Second)}, `^boon_live_acct_`},
		{setup.KeyRequest{Account: harborID, Name: "agent", Permissions: tillMay, Agent: merchant.AgentReads},
			`^boon_live_acct_`},
	} {
		k, text, err := setup.CreateKey(t.Context(), w, c.q, noon, chance(byte(len(c.text)+len(c.q.Name))))
		if err != nil {
			t.Fatalf("%+v: %v", c.q, err)
		}
		if !regexp.MustCompile(c.text).MatchString(text) || !merchant.ValidKey(text) {
			t.Errorf("%+v: %s", c.q, text)
		}
		if stored := directory(t, w).Keys[merchant.HashKey(text)]; stored == nil || stored.ID != k.ID ||
			len(stored.Locations) > 1 || stored.Permissions != c.q.Permissions || stored.Agent != c.q.Agent {
			t.Errorf("%+v: stored %+v, given %+v", c.q, stored, k)
		}
	}
}

func TestCreateKeyRefuses(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, withKey("")+"systemKeys: [{name: partner}]\n")
	for _, c := range []struct {
		q    setup.KeyRequest
		text string
	}{
		{setup.KeyRequest{Account: harborID, Name: "till", Permissions: tillMay},
			"There is a working key named till already"},
		{setup.KeyRequest{Name: "x", Accounts: []guid.ID{pierID}}, "There is no account"},
		{setup.KeyRequest{Name: "x", Programs: []guid.ID{pierID}}, "There is no program"},
		{setup.KeyRequest{Account: harborID, Name: ""}, "must not be empty"},
		{setup.KeyRequest{Account: harborID, Name: "a\x1b[2J"}, "control character"},
		{setup.KeyRequest{Account: harborID, Name: "\xff"}, "not valid UTF-8"},
		{setup.KeyRequest{Account: pierID, Name: "x"}, "There is no account 00000000-0000-4000-8000-000000000011."},
		{setup.KeyRequest{Account: harborID, Name: "x"}, "Say what the key may do"},
		{setup.KeyRequest{Name: "x", Permissions: tillMay}, "What a system key may do is always the same"},
		{setup.KeyRequest{Account: harborID, Name: "x", Permissions: tillMay, Locations: []guid.ID{harborID}},
			"has no location"},
		{setup.KeyRequest{Name: "x", Locations: []guid.ID{pierID}}, "A system key"},
		{setup.KeyRequest{Name: "x", ExpiresAt: noon}, "expired already"},
	} {
		before := len(directory(t, w).Keys)
		_, text, err := setup.CreateKey(t.Context(), w, c.q, noon, chance(2))
		if _, ok := errors.AsType[setup.Refused](err); !ok || !strings.Contains(err.Error(), c.text) || text != "" {
			t.Errorf("%+v: %v", c.q, err)
		}
		if len(directory(t, w).Keys) != before {
			t.Errorf("%+v made a key", c.q)
		}
	}
}

func TestRevokeKey(t *testing.T) {
	t.Parallel()
	w := open(t)
	report := apply(t, w, withKey("")+"systemKeys: [{name: till}]\n")
	_, err := setup.RevokeKey(t.Context(), w, "till", noon)
	if _, ok := errors.AsType[setup.Refused](err); !ok || !strings.Contains(err.Error(), "There are 2 keys named") {
		t.Errorf("two keys of one name: %v", err)
	}
	text := report.Keys[0].Text
	first := directory(t, w).Keys[merchant.HashKey(text)]
	revoked, err := setup.RevokeKey(t.Context(), w, first.ID.String(), noon)
	if err != nil || revoked.ID != first.ID || revoked.RevokedAt.IsZero() || authenticates(t, w, text) {
		t.Errorf("by id: %+v, %v", revoked, err)
	}
	again, err := setup.RevokeKey(t.Context(), w, first.ID.String(), noon.Add(time.Hour))
	if err != nil || again.RevokedAt != revoked.RevokedAt {
		t.Errorf("again: %+v, %v", again, err)
	}
	if second, err := setup.RevokeKey(t.Context(), w, "till", noon); err != nil || second.Kind != merchant.SystemKey {
		t.Errorf("by name, once it is the only one: %+v, %v", second, err)
	}
	for _, name := range []string{"till", "nobody", ""} {
		if _, err := setup.RevokeKey(t.Context(), w, name, noon); err == nil ||
			!strings.Contains(err.Error(), "There is no key") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
