package setup_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"boon.example/internal/merchant"
	"boon.example/internal/setup"
	"boon.example/internal/setup/document"
	"boon.example/internal/setup/written"
)

// TestExportChangesNothing: a set-up that is written to a file and applied again is what it was, with all secrets and
// pictures; the file has none of the secrets. What is applied elsewhere says what it needs.
func TestExportChangesNothing(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("document/testdata/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	photo := image.NewNRGBA(image.Rect(0, 0, 200, 150)) // which is kept as a JPEG
	noise := rand.New(rand.NewPCG(1, 2))
	for n := range photo.Pix {
		if photo.Pix[n] = byte(noise.Uint32()); n%4 == 3 {
			photo.Pix[n] = 255 // opaque
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, photo); err != nil {
		t.Fatal(err)
	}
	folder := fstest.MapFS{"logo.png": drawn(t, color.Black), "photo.png": {Data: b.Bytes()}}
	file, err := setup.ParseBeside("everything.yaml", text, folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := open(t)
	if _, err := file.Apply(t.Context(), w, noon, chance(1)); err != nil {
		t.Fatal(err)
	}

	before := directory(t, w)
	exported, err := document.Export(before, noon)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"5f0cda7e9b1c4d3280aa6f9e1b7c2d41", "argon2id", "boon_test_acct"} {
		if strings.Contains(string(exported), secret) {
			t.Errorf("the file has the secret %s", secret)
		}
	}
	folder = fstest.MapFS{}
	for _, a := range before.Accounts {
		for _, h := range []merchant.AssetHash{a.Designs[0].Logo, a.Designs[0].Picture} {
			asset, err := w.asset(t.Context(), h)
			if err != nil {
				t.Fatal(err)
			}
			if opaque := h == a.Designs[0].Picture; opaque != (asset.Kind == merchant.JPEG) {
				t.Errorf("a picture is kept as %s", asset.Kind)
			}
			folder[written.PicturePath(h)] = &fstest.MapFile{Data: asset.Bytes}
		}
	}
	again, err := setup.ParseBeside("exported.yaml", exported, folder, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, exported)
	}
	report, err := again.Apply(t.Context(), w, noon, chance(2))
	if err != nil || len(report.Changes)+len(report.Keys)+len(report.Notes)+len(report.Webhooks) > 0 {
		t.Errorf("%+v, %v, from\n%s", report, err, exported)
	}
	if twice, err := document.Export(directory(t, w), noon); err != nil || !bytes.Equal(exported, twice) {
		t.Errorf("%s is exported again as\n%s (%v)", exported, twice, err)
	}

	_, err = again.Apply(t.Context(), open(t), noon, chance(3))
	if err == nil || !strings.HasSuffix(err.Error(), "accounts[0].providers[0].secret: This field is required.") ||
		!strings.Contains(err.Error(), "wallet.apple.key: This field is required") ||
		!strings.Contains(err.Error(), "wallet.google.serviceAccount: This field is required") ||
		strings.Count(err.Error(), "\n") > 2 {
		t.Errorf("applied to an empty store: %v", err)
	}
}

// TestExportKeepsEveryText: whatever a text looks like to YAML, it is the same text afterwards.
func TestExportKeepsEveryText(t *testing.T) {
	t.Parallel()
	texts := []string{"null", "~", "true", "no", "0042", "1e3", "0x10", "1_000", "12:30", "2026-01-01", "- a", "a: b",
		"a #b", "#a", `"q"`, "'", "{a}", "[b]", "&a", "*a", "!a", "%a", "@a", "`a", "<<", "=", "?", "|", ">", "---", "...",
		"a\u00a0b", `\n`, "いつも", "🎁", ","}
	for n, text := range texts {
		block := text + "\n\n  " + text + " \n---\n" + text + ": " + text
		file := minimal + fmt.Sprintf("    language: en\n    locations: [{id: 00000000-0000-4000-8000-000000000011, "+
			"name: %[1]q, pointOfSale: {identifier: %[1]q}, legalEntity: %[1]q}]\n    books: {accounts: {liability: %[1]q}}\n"+
			"    promotions: [{id: 00000000-0000-4000-8000-000000000031, name: P, terms: {en: %[2]q, de: %[1]q}, "+
			"eligibleItems: [{id: %[1]q, name: %[1]q}]}]\n    keys: [{name: %[1]q, role: till}]\n", text, block)
		w := blank(t)
		f, err := setup.Parse("setup.yaml", []byte(file))
		if err != nil {
			t.Fatalf("%d, %q: %v", n, text, err)
		}
		if _, err := f.Apply(t.Context(), w, noon, chance(1)); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if told := exported(w); told != "" {
			t.Errorf("%q: %s", text, told)
		}
	}
}
