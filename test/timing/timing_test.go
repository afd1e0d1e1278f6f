package main

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/face/api"
	saleorcalls "boon.example/internal/face/provider/saleor"
	toastcalls "boon.example/internal/face/provider/toast"
	vtexcalls "boon.example/internal/face/provider/vtex"
	wixcalls "boon.example/internal/face/provider/wix"
	"boon.example/internal/merchant"
	"boon.example/test/rig"
)

// TestEveryQuestionIsAnswered makes a few of the calls of every comparison: each is answered as the comparison says.
func TestEveryQuestionIsAnswered(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "boon")
	if err := rig.Build(binary, rig.Boon); err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(dir, binary, "", 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.stop)
	w.activationCodesOpenNothing(t)
	if err := w.use(); err != nil {
		t.Fatal(err)
	}
	for _, c := range w.comparisons() {
		first, second, err := w.measure(c, 2, 1)
		if err != nil || len(first) != 2 || len(second) != 2 {
			t.Errorf("%s: %d and %d times, %v", c.name, len(first), len(second), err)
		}
	}
}

// activationCodesOpenNothing asks every call of a platform in which a code stands about an activation code: it is a
// code that nobody has. A good code is another thing to each of them, as long as nobody has guessed too often.
func (w *world) activationCodesOpenNothing(t *testing.T) {
	t.Helper()
	good, err := w.sell(shopKey, web, "") // who has had a gift may go on with it, whatever else they guess
	if err != nil {
		t.Fatal(err)
	}
	for _, ask := range w.platforms() {
		if _, err := w.ask(ask.of(w.number)); err != nil {
			t.Errorf("%s about an activation code: %v", ask.name, err)
		}
		if _, err := w.ask(ask.of(good.VoucherCode)); err == nil {
			t.Errorf("%s says the same about a good code", ask.name)
		}
	}
}

// TestEveryOperationWithACodeIsAWay: the OpenAPI file, which lists the table of routes, has no operation whose request
// takes a code and that is not asked here.
func TestEveryOperationWithACodeIsAWay(t *testing.T) {
	t.Parallel()
	var file struct {
		Paths map[string]struct {
			Post struct{ RequestBody any }
		}
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(api.OpenAPI("0", "https://gifts.example.com"), &file); err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for _, w := range (&world{}).ways() {
		asked[w.name] = true
	}
	found := 0
	for path, of := range file.Paths {
		if !takesCode(of.Post.RequestBody, file.Components.Schemas, map[string]bool{}) {
			continue
		}
		found++
		if operation := path[strings.LastIndex(path, "/")+1:]; !asked[operation] {
			t.Errorf("%s takes a code and is not asked: add it to ways", operation)
		}
	}
	if most := len(tillBodies) + len(undoings) + 1; found != most {
		t.Errorf("%d operations take a code, %d are asked", found, most)
	}
}

// TestEveryCallOfAPlatformIsAWay: each call in the table of a platform's package is asked here, or has the reason why
// no code stands in it. Each platform that a set-up may name has its table here.
func TestEveryCallOfAPlatformIsAWay(t *testing.T) {
	t.Parallel()
	served := map[merchant.Platform][]string{merchant.Toast: toastcalls.Calls(), merchant.Wix: wixcalls.Calls(),
		merchant.VTEX: vtexcalls.Calls(), merchant.Saleor: saleorcalls.Calls()}
	settled := map[call]string{}
	maps.Copy(settled, codeless)
	for _, w := range (&world{}).platforms() {
		if why := codeless[w.call]; why != "" {
			t.Errorf("%s is asked, though the list says that it has no code but %s", w.name, why)
		}
		settled[w.call] = w.name
	}
	for _, platform := range merchant.Platforms() {
		if len(served[platform]) == 0 {
			t.Errorf("of %s, no call is asked: add what its package serves", platform)
		}
		for _, name := range served[platform] {
			if settled[call{platform, name}] == "" {
				t.Errorf("%s of %s is not asked: add it to platforms, or to codeless", name, platform)
			}
			delete(settled, call{platform, name})
		}
	}
	for c := range settled {
		t.Errorf("%s of %s is not served", c.name, c.platform)
	}
}

// takesCode reports whether a request may have a code in it, at any depth. seen are the schemas that were looked at.
func takesCode(part any, schemas map[string]any, seen map[string]bool) bool {
	switch part := part.(type) {
	case []any:
		return slices.ContainsFunc(part, func(p any) bool { return takesCode(p, schemas, seen) })
	case map[string]any:
		if members, ok := part["properties"].(map[string]any); ok && members["voucherCode"] != nil {
			return true
		}
		if ref, ok := part["$ref"].(string); ok && !seen[ref] {
			seen[ref] = true
			return takesCode(schemas[ref[strings.LastIndex(ref, "/")+1:]], schemas, seen)
		}
		for name, p := range part {
			if name != "example" && name != "examples" && takesCode(p, schemas, seen) {
				return true
			}
		}
	}
	return false
}

// TestCompareNoticesADifference: times that differ by a tenth of their spread are told apart, and equal ones are not.
func TestCompareNoticesADifference(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(1, 1))
	times := func(longer float64) (all []float64) {
		for range 4000 {
			all = append(all, math.Exp(draw.NormFloat64()/2)+longer) // skewed, as times are
		}
		return all
	}
	if r := compare(times(0), times(0)); math.Abs(r.z) > 3 || math.Abs(r.slower-0.5) > 0.02 ||
		math.Abs(r.floor-0.5) > 0.03 {
		t.Errorf("two sets of one kind: %+v", r)
	}
	if r := compare(times(0.1), times(0)); r.z < 5 || r.slower < 0.53 {
		t.Errorf("two sets that differ: %+v", r)
	}
	if got := longer([]float64{1, 2, 2}, []float64{2, 3}); got != 1.0/6 {
		t.Errorf("ties: %f, want 1/6", got)
	}
}
