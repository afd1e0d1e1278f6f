package setup_test

import (
	"errors"
	"fmt"
	"image/color"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/setup"
	"boon.example/internal/setup/document"
)

const (
	spring      = "00000000-0000-4000-8000-000000000031"
	springLines = "    language: en\n" +
		"    promotions: [{id: " + spring + ", name: Spring, validForDays: 30, terms: Once.}]\n"
)

// edit is one of the promotion, by somebody who saw it as it is now.
func edit(t *testing.T, w world, is document.Fields) *setup.Edit {
	t.Helper()
	e := &setup.Edit{Account: harborID, List: "promotions", Known: spring, Of: []string{"id", "name", "validForDays",
		"terms", "vatRate", "vatTreatment"}, Is: is, By: merchant.Actor{Person: "Ana"}, RequestID: "r1"}
	e.Seen = e.Record(directory(t, w), noon).Mark()
	return e
}

func (w world) edit(t *testing.T, e *setup.Edit) *setup.Edited {
	t.Helper()
	edited, err := e.Apply(t.Context(), w, noon, chance(1))
	if err != nil {
		t.Fatal(err)
	}
	return edited
}

// TestEditOfARecord: an edit changes what it is about and nothing else, once; it can be taken back.
func TestEditOfARecord(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, minimal+locationLines+springLines+"    keys: [{name: till, role: till}]\n"+
		"    webhooks: [{url: 'https://a.example/'}]\n    people: [{name: Ben}]\n")
	before, err := document.Export(directory(t, w), noon)
	if err != nil {
		t.Fatal(err)
	}
	e := edit(t, w, document.Fields{"id": spring, "name": "Spring", "validForDays": "60", "terms": "Once."})
	edited := w.edit(t, e)
	const said = "account Harbor Coffee: changed promotion Spring: days of validity from 30 to 60"
	if got := strings.Join(edited.Changes, "\n"); got != said {
		t.Errorf("it says %q", got)
	}
	if again := w.edit(t, e); len(again.Changes) > 0 || again.Undo != nil {
		t.Errorf("sent twice, it did %v", again.Changes)
	}
	after, err := document.Export(directory(t, w), noon)
	if want := strings.Replace(string(before), "validForDays: 30", "validForDays: 60", 1); err != nil ||
		string(after) != want {
		t.Errorf("the set-up is\n%s\n%v, want\n%s", after, err, want)
	}
	w.edit(t, edited.Undo)
	if undone, err := document.Export(directory(t, w), noon); err != nil || string(undone) != string(before) {
		t.Errorf("taken back, the set-up is\n%s\n%v, want\n%s", undone, err, before)
	}
	gone := w.edit(t, edit(t, w, nil))
	if directory(t, w).Accounts[harborID].Promotions != nil {
		t.Error("the promotion was not taken out")
	}
	w.edit(t, gone.Undo)
	if back, err := document.Export(directory(t, w), noon); err != nil || string(back) != string(before) {
		t.Errorf("put back, the set-up is\n%s\n%v", back, err)
	}
}

// TestEditsThatMeet: what two people change at once in one promotion is changed by one of them, and the other is told
// how it is now; in different records, both are done.
func TestEditsThatMeet(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, minimal+locationLines+springLines)
	const owners = 8
	var edits [owners]*setup.Edit
	for n := range edits {
		edits[n] = edit(t, w, document.Fields{"id": spring, "name": "Spring", "validForDays": fmt.Sprint(31 + n)})
	}
	location := &setup.Edit{Account: harborID, List: "locations", Known: pierID.String(),
		Of: []string{"id", "name", "hours"}, Is: document.Fields{"id": pierID.String(), "name": "Pier", "hours": "9 to 5"}}
	location.Seen = location.Record(directory(t, w), noon).Mark()
	var done sync.WaitGroup
	var errs [owners + 1]error
	for n := range errs {
		e := location
		if n < owners {
			e = edits[n]
		}
		done.Go(func() { _, errs[n] = e.Apply(t.Context(), w, noon, chance(byte(n))) })
	}
	done.Wait()
	a := directory(t, w).Accounts[harborID]
	if errs[owners] != nil || a.Location(pierID).Hours != "9 to 5" {
		t.Errorf("the edit of the location: %v", errs[owners])
	}
	days, made := fmt.Sprint(a.Promotion(id(t, spring)).ValidForDays), 0
	for n, err := range errs[:owners] {
		if err == nil {
			made++
			if days != edits[n].Is["validForDays"] {
				t.Errorf("made was %v, and it is %s", edits[n].Is, days)
			}
			continue
		}
		conflict, is := errors.AsType[setup.Conflict](err)
		if !is || conflict.Is["validForDays"] != days || conflict.Is["terms"] != nil {
			t.Errorf("the other is told %v, %v", conflict.Is, err)
		}
	}
	if made != 1 {
		t.Errorf("%d edits were made", made)
	}
}

// TestEditsAndFiles: an edit of what a file has changed since, or has taken out, is a conflict.
func TestEditsAndFiles(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, minimal+springLines)
	e := edit(t, w, document.Fields{"id": spring, "name": "Summer"})
	apply(t, w, minimal+strings.Replace(springLines, "30", "90", 1))
	_, err := e.Apply(t.Context(), w, noon, chance(1))
	if conflict, is := errors.AsType[setup.Conflict](err); !is || conflict.Is["validForDays"] != "90" {
		t.Errorf("after a change: %v", err)
	}
	e = edit(t, w, e.Is)
	apply(t, w, minimal)
	_, err = e.Apply(t.Context(), w, noon, chance(1))
	if conflict, is := errors.AsType[setup.Conflict](err); !is || conflict.Is != nil {
		t.Errorf("after it was taken out: %v", err)
	}
}

// TestEditsAreChecked: an edit is refused as a file would be, all at once, at its fields, and without a word of files.
func TestEditsAreChecked(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, minimal+locationLines+springLines)
	_, err := edit(t, w, document.Fields{"id": spring, "name": "", "validForDays": "0", "vatRate": "x",
		"terms": []any{"a"}}).Apply(t.Context(), w, noon, chance(1))
	problems, _ := errors.AsType[setup.Problems](err)
	var told []string
	for _, p := range problems {
		told = append(told, p.Path+": "+p.Said.Error())
	}
	want := "name: This text must not be empty, nor begin or end with a space or a line break.\n" +
		"validForDays: This must be a whole number of days from 1 to 3650.\n" +
		"terms: This must be a single value, not a list.\n" +
		"vatRate: This must be a rate in percent, from 0 to 100, with at most 2 decimals, such as 19."
	if got := strings.Join(told, "\n"); got != want {
		t.Errorf("it is told\n%s\nwant\n%s", got, want)
	}
	w.issue(gift.Gift{Voucher: gift.Voucher{AccountID: harborID, LocationID: pierID}})
	pier := &setup.Edit{Account: harborID, List: "locations", Known: pierID.String(), Of: []string{"id", "name"}}
	pier.Seen = pier.Record(directory(t, w), noon).Mark()
	if _, err := pier.Apply(t.Context(), w, noon, chance(1)); err == nil ||
		!strings.Contains(err.Error(), "cannot be removed: gifts refer to it") {
		t.Errorf("taking out what gifts refer to: %v", err)
	}
	if _, err := (&setup.Edit{Account: guid.ID{1}}).Apply(t.Context(), w, noon, chance(1)); err == nil {
		t.Error("an account that is not there was changed")
	}
}

// TestEditsTellWhatTheyBring: what is to be noted of a set-up is told by the edit that brings it, and by no other; and
// a new record does not take the place of one that has its name.
func TestEditsTellWhatTheyBring(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, minimal+locationLines+springLines+"    people: [{name: Ben, may: [reverse]}]\n")
	edited := w.edit(t, edit(t, w, document.Fields{"id": spring, "name": "Spring"}))
	if len(edited.Notes) != 1 || !strings.Contains(edited.Notes[0].String(), "has no terms") {
		t.Errorf("it notes %v", edited.Notes)
	}
	if again := w.edit(t, edit(t, w, document.Fields{"id": spring, "name": "Summer"})); len(again.Notes) != 1 {
		t.Errorf("under another name, it notes %v", again.Notes)
	}
	location := &setup.Edit{Account: harborID, List: "locations", Known: pierID.String(), Of: []string{"id", "name"},
		Is: document.Fields{"id": pierID.String(), "name": "Pier"}}
	location.Seen = location.Record(directory(t, w), noon).Mark()
	if other := w.edit(t, location); len(other.Changes) != 1 || len(other.Notes) > 0 {
		t.Errorf("an edit of the location says %v and notes %v", other.Changes, other.Notes)
	}
	ben := &setup.Edit{Account: harborID, List: "people", Known: "Ben", Of: []string{"name", "may"},
		Is: document.Fields{"name": "Ben"}}
	_, err := ben.Apply(t.Context(), w, noon, chance(1))
	if problems, is := errors.AsType[setup.Problems](err); !is || problems[0].Path != "name" {
		t.Errorf("a second Ben: %v", err)
	}
	gone := &setup.Edit{Account: harborID, List: "people", Known: "Ben", Of: []string{"name", "may"}}
	gone.Seen = gone.Record(directory(t, w), noon).Mark()
	wantLines(t, "taking the last person out", w.edit(t, gone).Changes, "account Harbor Coffee: removed person Ben",
		"account Harbor Coffee: nobody signs in at its tills any more: every till takes gifts without a PIN")
}

// everything is an account in which every field says something, as somebody would type it.
func everything(t *testing.T) (document.Fields, []merchant.Asset) {
	t.Helper()
	text, err := os.ReadFile("document/testdata/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	folder := fstest.MapFS{"logo.png": drawn(t, color.Black), "photo.png": drawn(t, color.White)}
	file, err := setup.ParseBeside("everything.yaml", text, folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := blank(t)
	if _, err := file.Apply(t.Context(), w, noon, chance(1)); err != nil {
		t.Fatal(err)
	}
	account := document.Written(directory(t, w), file.Accounts[0].Record, noon)
	vtex := account["providers"].([]any)[0].(document.Fields)
	vtex["secret"] = "5f0cda7e9b1c4d3280aa6f9e1b7c2d41" // which no file says that was exported
	apple := account["wallet"].(document.Fields)["apple"].(document.Fields)
	apple["key"] = file.Accounts[0].Record.Wallet.Apple.Key
	google := account["wallet"].(document.Fields)["google"].(document.Fields)
	google["serviceAccount"] = file.Accounts[0].Record.Wallet.Google.Key
	return account, file.Accounts[0].Assets
}

// changed is an account with some fields left out; where there are others, with these in the place of some fields, and
// with members of lists that stand twice.
func changed(chance *rand.Rand, v any, others []any) any {
	switch v := v.(type) {
	case document.Fields:
		all := document.Fields{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			switch n := chance.IntN(80); {
			case n == 0:
			case n < 8 && len(others) > 0:
				all[name] = others[chance.IntN(len(others))]
			default:
				all[name] = changed(chance, v[name], others)
			}
		}
		return all
	case []any:
		all := []any{}
		for _, one := range v {
			all = append(all, changed(chance, one, others))
			if len(others) > 0 && chance.IntN(10) == 0 {
				all = append(all, one)
			}
		}
		return all
	}
	return v
}

// seeded draws a source of chance.
func seeded(t *rapid.T) *rand.Rand { return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)) }

// TestExportOfAnySetUp: of any account, a file with all that it is changes nothing.
func TestExportOfAnySetUp(t *testing.T) {
	t.Parallel()
	account, pictures := everything(t)
	if _, err := document.ReadTyped(account, pictures, nil); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		if told := exported(appliedOf(t, rt, account, pictures)); told != "" {
			rt.Fatal(told)
		}
	})
}

// appliedOf is a store with an account that lacks some fields, none of which it needs: every second draw lacks one that
// it does.
func appliedOf(t *testing.T, rt *rapid.T, account document.Fields, pictures []merchant.Asset) (w world) {
	t.Helper()
	seed, last := seeded(rt), error(nil)
	for range 200 {
		file, err := document.ReadTyped(changed(seed, account, nil).(document.Fields), pictures, nil)
		if last = err; err != nil {
			continue
		}
		for n := range file.Accounts[0].Record.Designs { // whose pictures lie beside a file
			d := &file.Accounts[0].Record.Designs[n]
			d.Logo, d.Picture = merchant.AssetHash{}, merchant.AssetHash{}
		}
		w = blank(t)
		if _, last = (&setup.File{File: file}).Apply(t.Context(), w, noon, chance(1)); last == nil {
			return w
		}
	}
	rt.Fatalf("no account was applied: %v", last)
	return w
}

// TestWhatIsTypedReadsNoFile: a path that somebody types leads to no file of the service's machine, be it there or not.
func TestWhatIsTypedReadsNoFile(t *testing.T) {
	t.Parallel()
	const there = "document/testdata/everything.yaml"
	if _, err := os.Stat(there); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{there, "../setup/" + there, "/etc/passwd", "none.pem"} {
		account, pictures := everything(t)
		apple := account["wallet"].(document.Fields)["apple"].(document.Fields)
		apple["certificate"], apple["key"] = path, path
		account["wallet"].(document.Fields)["google"].(document.Fields)["serviceAccount"] = path
		account["voucherDesigns"].([]any)[0].(document.Fields)["logo"] = path
		_, err := document.ReadTyped(account, pictures, nil)
		problems, _ := errors.AsType[setup.Problems](err)
		var at []string
		for _, p := range problems {
			if at = append(at, p.Path); !strings.Contains(p.Said.Error(), "No file is read") &&
				!strings.Contains(p.Said.Error(), "This picture is not there any more") {
				t.Errorf("%s, %s: %s", path, p.Path, p.Said.Error())
			}
		}
		if len(at) != 4 {
			t.Errorf("with %s, problems stand at %q", path, at)
		}
	}
}

// TestSentencesSayNothingOfFiles: no sentence that an edit may be refused with speaks of lines or quotes.
func TestSentencesSayNothingOfFiles(t *testing.T) {
	t.Parallel()
	account, pictures := everything(t)
	others := []any{"", "x", "0", []any{}, []any{"x", "x"}, document.Fields{"x": "x"}}
	rapid.Check(t, func(rt *rapid.T) {
		_, err := document.ReadTyped(changed(seeded(rt), account, others).(document.Fields), pictures, nil)
		problems, _ := errors.AsType[setup.Problems](err)
		for _, p := range problems {
			if regexp.MustCompile(`(?i)\bon line|\bquotes|\bYAML|boon id`).MatchString(p.Said.Error()) || p.Line != 0 {
				rt.Errorf("%s: %s", p.Path, p.Said.Error())
			}
		}
	})
}
