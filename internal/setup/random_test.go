package setup_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"boon.example/examples"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/setup"
	"boon.example/internal/setup/document"
)

// snapshot is a set-up without a database. What is random here asks thousands of times what Apply decides, which is
// pure; that decisions are kept is for the tests on the real store.
type snapshot struct{ directory *merchant.Directory }

func blank(tb testing.TB) world {
	s := &snapshot{&merchant.Directory{Accounts: map[guid.ID]*merchant.Account{},
		Keys: map[merchant.KeyHash]*merchant.Key{}}}
	return world{Store: twice{s, tb}}
}

func (s *snapshot) Directory(context.Context) (*merchant.Directory, error) { return s.directory, nil }

func (s *snapshot) EventsEnd(context.Context, guid.ID) (end merchant.EventPlace, _ error) {
	return end, nil
}

func (s *snapshot) Configure(_ context.Context, change func(*merchant.Directory, setup.Uses) (setup.Changes,
	error)) error {
	changes, err := change(s.directory, func(guid.ID) (map[guid.ID]bool, error) { return nil, nil })
	if err != nil || len(changes.Accounts)+len(changes.Keys)+len(changes.Webhooks) == 0 {
		return err
	}
	d := merchant.Directory{Version: s.directory.Version + 1, Accounts: maps.Clone(s.directory.Accounts),
		Keys: maps.Clone(s.directory.Keys), Webhooks: map[guid.ID][]*merchant.Webhook{}}
	maps.Copy(d.Webhooks, s.directory.Webhooks)
	for _, w := range changes.Webhooks {
		is := slices.DeleteFunc(slices.Clone(d.Webhooks[w.AccountID]), func(o *merchant.Webhook) bool { return o.ID == w.ID })
		if !w.Deleted {
			is = append(is, w)
		}
		d.Webhooks[w.AccountID] = is
	}
	for _, a := range changes.Accounts {
		d.Accounts[a.ID] = a
	}
	for _, k := range changes.Keys {
		if old := d.Keys[k.Hash]; old != nil && old.ID != k.ID {
			return fmt.Errorf("key %s has the hash of key %s", k.ID, old.ID)
		}
		d.Keys[k.Hash] = k
	}
	s.directory = &d
	return nil
}

// FuzzSetup holds that no file makes Parse panic, that what it refuses it refuses with problems that name the file, and
// that what it accepts can be applied, once with effect and then without.
func FuzzSetup(f *testing.F) {
	everything, err := os.ReadFile("document/testdata/everything.yaml")
	if err != nil {
		f.Fatal(err)
	}
	everything = regexp.MustCompile("(?m)^ +(logo|picture):.*\n").ReplaceAll(everything, nil)
	f.Add(examples.HarborCoffee())
	f.Add(examples.AsagaoTea())
	for _, seed := range []string{
		minimal, minimal + locationLines + designLines, withKey(", secret: " + oldSecret + pierOnly),
		"systemKeys: [{name: partner}, {name: partner}]", "accounts: &a [*a]", "---\n---\n", "{}", "? [a]\n: b",
		"a: !!binary x",
		minimal + "    maxGiftValue: 1e18\n    <<: {}\n", minimal +
			"    promotions: [{terms: |\n  a\n }]\n", "\xef\xbb\xbf",
		minimal + "    webhooks: [{url: 'https://a.example/', types: [gift.*], enabled: false}, {url: 'https://[::1]'}]\n",
		minimal + "    webhooks: [{url: 'https://a.example/', description: a}]\n", "\xff\xfea\x00",
		strings.Replace(minimal, "USD", "JPY", 1) + "    maxGiftValue: 5\n    limits: 5\n", string(everything),
		"systemKeys: [{name: a, limits: 5}]\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := setup.ParseDemo("fuzz.yaml", data)
		if err != nil {
			problems, ok := errors.AsType[setup.Problems](err)
			if !ok || len(problems) == 0 {
				t.Fatalf("refused with %v", err)
			}
			for _, p := range problems {
				if !strings.HasPrefix(p.String(), "fuzz.yaml:") || strings.ContainsAny(p.String(), "\x00\x1b\n") {
					t.Errorf("a problem reads %q", p)
				}
			}
			return
		}
		w := blank(t)
		if _, err := file.Apply(t.Context(), w, noon, chance(1)); err != nil &&
			(strings.Contains(err.Error(), "would have expired already") ||
				strings.Contains(err.Error(), ".secret: This field is required.")) {
			return
		} else if err != nil {
			t.Fatalf("accepted, but not to be applied: %v", err)
		}
		again, err := file.Apply(t.Context(), w, noon, chance(2))
		if err != nil || len(again.Changes)+len(again.Keys)+len(again.Notes) > 0 {
			t.Errorf("the second application: %+v, %v", again, err)
		}
		consistent(t, directory(t, w))
		if told := exported(w); told != "" {
			t.Error(told)
		}
	})
}

// exported writes a set-up to a file and applies this, and tells what is wrong if that changes anything.
func exported(w world) string {
	d, err := w.Directory(context.Background())
	if err != nil {
		return err.Error()
	}
	text, err := document.Export(d, noon)
	if err != nil {
		return err.Error()
	}
	file, err := setup.Parse("exported.yaml", text)
	if err != nil {
		return fmt.Sprintf("%v, of\n%s", err, text)
	}
	report, err := file.Apply(context.Background(), w, noon, chance(4))
	if err != nil || len(report.Changes)+len(report.Keys)+len(report.Webhooks) > 0 {
		return fmt.Sprintf("%+v, %v, of\n%s", report, err, text)
	}
	return ""
}

// drawFile draws a set-up file from a small world, so that two of them have much in common. Its members stand in random
// order.
func drawFile(t *rapid.T) string {
	shuffled := func(label string, all []string) string {
		kept := rapid.SliceOfNDistinct(rapid.SampledFrom(all), 0, len(all), rapid.ID).Draw(t, label)
		return "[" + strings.Join(kept, ", ") + "]"
	}
	pick := func(label string, options ...string) string { return rapid.SampledFrom(options).Draw(t, label) }
	account := func(n int) string {
		id := func(last int) string { return fmt.Sprintf("00000000-0000-4000-8000-00000000%02d%02d", n, last) }
		b := "{id: " + id(12) + ", name: B" + pick("pos", "", ", pointOfSale: {identifier: X}") + "}"
		d := "{id: " + id(13) + ", name: D" + pick("tickets", "",
			", tickets: {toast: {itemID: plu, giftCards: [A]}, square: {}}",
			", tickets: {lightspeed-x: {taxInclusive: false}}", ", tickets: {lightspeed-x: {taxInclusive: true}}") + "}"
		limited := ", locations: [" + id(rapid.SampledFrom([]int{12, 13}).Draw(t, "limit")) + "]"
		given := fmt.Sprintf("{name: given, permissions: [redeem, codes], secret: "+
			"secret-of-account-%d-numbered-%s-0123456789}", n, pick("secret", "1", "2", "3"))
		return "{" + strings.Join([]string{
			"id: " + id(1), "currency: USD", "name: " + pick("name", "Harbor", "Pier"), "timeZone: " +
				pick("zone", "UTC", "Asia/Tokyo"), "language: " + pick("language", "en", "de"),
			"maxGiftValue: " + pick("limit", "7", "8"), "requireIdempotencyKey: " + pick("required", "true", "false"),
			"balanceNotice: " + pick("notice", "true", "false"),
			"retention: {personalDataDays: " + pick("kept", "1", "90") + "}",
			"subscriptions: " + shuffled("subscriptions", []string{
				"{program: 22222222-2222-2222-2222-222222222222" + pick("open", "", limited) +
					pick("reloadable", "", ", reloadable: true") + "}",
				"{program: 33333333-3333-3333-3333-333333333333}",
			}),
			"locations: " + pick("locations", "["+b+"]", "["+b+", "+d+"]", "["+d+", "+b+"]"),
			"promotions: " + shuffled("promotions", []string{
				"{id: " + id(31) + ", name: P, eligibleItems: " + pick("items", "[A, B]", "[B, A]", "[C]", "[{id: C, name: Latte}]",
					"[{group: C, name: Latte}]", "[{group: C}]", "[{name: Latte}, C]",
					"[C], ticketRequired: false") + "}",
				"{id: " + id(32) + ", name: Q, validForDays: " + pick("days", "1", "3650") + "}",
			}),
			"voucherDesigns: " + shuffled("designs", []string{"{id: " + id(41) + ", name: E}", "{id: " + id(42) +
				", name: F, headline: " + pick("headline", "H", "{en: H, de: J}", "{de: H, en: J}") + "}"}),
			"keys: " + shuffled("keys", []string{"{name: made, role: " + pick("role", "till", "shop") + pick("at", "", limited) +
				"}", given}),
		}, ", ") + "}"
	}
	return "accounts: " + shuffled("accounts", []string{account(1), account(2)}) +
		"\nsystemKeys: " + shuffled("system", []string{"{name: made}", "{name: other}"})
}

// Any sequence of files: each is either refused and changes nothing, or it is what the accounts that it mentions are
// afterwards, and applying it again changes nothing. No secret that was ever replaced works again.
func TestAnySequenceOfFiles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := blank(t)
		revoked := make(map[merchant.KeyHash]bool)
		var last *setup.File
		for range rapid.IntRange(1, 6).Draw(rt, "files") {
			file, err := setup.Parse("setup.yaml", []byte(drawFile(rt)))
			if err != nil {
				continue // a limit to a location that is not in it
			}
			before := directory(t, w)
			if _, err := file.Apply(context.Background(), w, noon, rand.Reader); err != nil {
				if _, ok := errors.AsType[setup.Problems](err); !ok || !reflect.DeepEqual(before, directory(t, w)) {
					rt.Fatalf("refused with %v, or changed something", err)
				}
				continue
			}
			if again, err := file.Apply(context.Background(), w, noon, rand.Reader); err != nil ||
				len(again.Changes)+len(again.Keys) > 0 {
				rt.Fatalf("the second application: %+v, %v", again, err)
			}
			after := directory(t, w)
			consistent(t, after)
			if told := exported(w); told != "" {
				rt.Fatal(told)
			}
			for hash, k := range after.Keys {
				if revoked[hash] && k.RevokedAt.IsZero() {
					rt.Fatalf("key %s works again", k.Name)
				}
				revoked[hash] = !k.RevokedAt.IsZero()
			}
			last = file
		}
		if last == nil {
			return
		}
		fresh := blank(t)
		if _, err := last.Apply(context.Background(), fresh, noon, rand.Reader); err != nil {
			rt.Fatal(err)
		}
		for id, a := range directory(t, fresh).Accounts {
			if got := directory(t, w).Accounts[id]; !reflect.DeepEqual(a, got) {
				rt.Fatalf("account %s is %+v, the file says %+v", id, got, a)
			}
		}
	})
}
