package setup_test

import (
	"bytes"
	"crypto/rand"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"
	"testing"
	"testing/fstest"

	"boon.example/internal/merchant"
	"boon.example/internal/setup"
)

const designed = `accounts:
  - id: 3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a01
    name: Corner Bakery
    currency: EUR
    timeZone: Europe/Berlin
    voucherDesigns:
      - id: 3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a41
        name: Summer
        logo: LOGO
        picture: pictures/summer.png
        footer: |
          Corner Bakery
          Market square 1
`

func aPNG(t *testing.T, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// drawn is a square of a colour on a ground that is transparent.
func drawn(t *testing.T, c color.Color) *fstest.MapFile {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 30, 30))
	draw.Draw(img, image.Rect(5, 5, 25, 25), image.NewUniform(c), image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: b.Bytes()}
}

// TestLogoIsSeen: a logo that cannot be seen on white is applied, and noted each time; one that can is not.
func TestLogoIsSeen(t *testing.T) {
	t.Parallel()
	folder := fstest.MapFS{"white.png": drawn(t, color.White), "black.png": drawn(t, color.Black),
		"pictures/summer.png": {Data: aPNG(t, 20, 10)}}
	w := open(t)
	for _, tc := range []struct {
		logo  string
		notes int
	}{{"white.png", 1}, {"white.png", 1}, {"black.png", 0}} {
		f, err := setup.ParseBeside("setup.yaml", []byte(strings.Replace(designed, "LOGO", tc.logo, 1)), folder, nil)
		if err != nil {
			t.Fatal(err)
		}
		report, err := f.Apply(t.Context(), w, noon, rand.Reader)
		if err != nil || len(report.Notes) != tc.notes {
			t.Fatalf("%s: notes %q, %v", tc.logo, report.Notes, err)
		}
		if tc.notes > 0 && !strings.HasPrefix(report.Notes[0].String(), "account Corner Bakery: the logo of the voucher "+
			"design Summer can hardly be seen on the white ") {
			t.Errorf("notes %q", report.Notes)
		}
	}
}

func TestPictures(t *testing.T) {
	t.Parallel()
	folder := fstest.MapFS{
		"logo.png": {Data: aPNG(t, 30, 20)}, "pictures/summer.png": {Data: aPNG(t, 2000, 100)},
		"logo.svg": {Data: []byte("<svg/>")},
	}
	w := open(t)
	file := func(logo string) (*setup.File, error) {
		return setup.ParseBeside("setup.yaml", []byte(strings.Replace(designed, "LOGO", logo, 1)), folder, nil)
	}
	apply := func() *setup.Report {
		f, err := file("logo.png")
		if err != nil {
			t.Fatal(err)
		}
		report, err := f.Apply(t.Context(), w, noon, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	apply()
	if again := apply(); len(again.Changes) != 0 {
		t.Errorf("the second time: %v", again.Changes)
	}
	d, err := w.Directory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range d.Accounts {
		design := a.Designs[0]
		if design.Footer != "Corner Bakery\nMarket square 1" {
			t.Errorf("footer %q", design.Footer)
		}
		for hash, width := range map[merchant.AssetHash]int{design.Logo: 30, design.Picture: 1400} {
			asset, err := w.asset(t.Context(), hash)
			if err != nil || asset.AccountID != a.ID || asset.Kind != merchant.PNG || merchant.HashAsset(asset.Bytes) != hash {
				t.Fatalf("asset %+v, %v", asset.Kind, err)
			}
			img, err := png.Decode(bytes.NewReader(asset.Bytes))
			if err != nil || img.Bounds().Dx() != width {
				t.Errorf("a picture %v wide, want %d; %v", img.Bounds().Dx(), width, err)
			}
		}
	}
	folder["logo.png"] = &fstest.MapFile{Data: aPNG(t, 31, 20)}
	if changed := apply(); len(changed.Changes) != 1 || !strings.Contains(changed.Changes[0],
		"voucher design Summer: logo") {
		t.Errorf("another logo: %v", changed.Changes)
	}
	for logo, says := range map[string]string{
		"none.png": "there is no such file", "logo.svg": "SVG is not taken",
		"../logo.png": "in the set-up file's folder or below it",
		"/etc/passwd": "in the set-up file's folder or below it", "pictures": "cannot be read",
		"pictures//summer.png": "plain slashes",
	} {
		if _, err := file(logo); err == nil || !strings.Contains(err.Error(),
			"setup.yaml:9: accounts[0].voucherDesigns[0].logo: ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", logo, err, says)
		}
	}
	if _, err := setup.Parse("standard input", []byte(designed)); err == nil ||
		!strings.Contains(err.Error(), "this set-up is not a file") {
		t.Errorf("without a folder: %v", err)
	}
}
