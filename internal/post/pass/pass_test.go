package pass

import (
	"archive/zip"
	"bytes"
	"crypto/sha1" //nolint:gosec // Apple's format asks for it
	"encoding/asn1"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/card"
	"boon.example/internal/post/locale"
	"boon.example/internal/post/pass/passtest"
)

var now = time.Date(2026, 3, 10, 14, 0, 0, 0, time.UTC)

func signer(t *testing.T, f passtest.Files) *Signer {
	t.Helper()
	chain, err := ReadCertificates(f.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ReadKey(f.Key)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSigner(chain, key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func account() *merchant.Account {
	return &merchant.Account{ID: guid.ID{1}, Name: "Harbor Coffee", Currency: money.Currency{Code: "USD", Decimals: 2},
		Zone: time.UTC, Locations: []merchant.Location{{ID: guid.ID{2}, Name: "Pier 39"}}}
}

// of makes a card of a gift as change makes it, for a reader of a language.
func of(l merchant.Language, change func(*gift.Gift)) *Card {
	a := account()
	code, err := codes.ParseVoucherCode("123456789012")
	if err != nil {
		panic(err)
	}
	g := &gift.Gift{
		Voucher: gift.Voucher{ID: guid.ID{7}, AccountID: a.ID, Currency: a.Currency, Funded: 2500, Balance: 1250,
			Status: gift.Delivered, ValidUntil: time.Date(2027, 3, 11, 0, 0, 0, 0, time.UTC)},
		Card: gift.Card{Sender: "Ben", Recipient: "Anna", Message: "Enjoy!", Terms: "No cash.", Code: code},
	}
	change(g)
	return &Card{View: card.In(locale.For(l), g, a, now), ID: g.ID, URL: "https://gifts.example.com/g/token",
		Left: g.Available(now), Currency: g.Currency}
}

// unpacked are the files of a pass; every digest of its manifest is checked.
func unpacked(t *testing.T, pkpass []byte) map[string][]byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(pkpass), int64(len(pkpass)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	var digests map[string]string
	if err := json.Unmarshal(files["manifest.json"], &digests); err != nil {
		t.Fatal(err)
	}
	signed := slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool {
		return name == "manifest.json" || name == "signature"
	})
	if named := slices.Sorted(maps.Keys(digests)); !slices.Equal(named, signed) {
		t.Errorf("the manifest names %q, the pass has %q", named, signed)
	}
	for name, digest := range digests {
		if sum := sha1.Sum(files[name]); hex.EncodeToString(sum[:]) != digest { //nolint:gosec // see the import
			t.Errorf("the digest of %s is another one", name)
		}
	}
	return files
}

func made(t *testing.T, s *Signer, c *Card) (map[string][]byte, document) {
	t.Helper()
	b, err := s.Apple(c)
	if err != nil {
		t.Fatal(err)
	}
	files := unpacked(t, b)
	var d document
	if err := json.Unmarshal(files["pass.json"], &d); err != nil {
		t.Fatal(err)
	}
	return files, d
}

// TestOpenSSLTakesTheSignature: another program checks it as a phone does, which knows the authority, and finds the
// time of the signing in it. With one byte more in the manifest, it refuses.
func TestOpenSSLTakesTheSignature(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("LEFT OUT: there is no openssl")
	}
	f := passtest.New(t, time.Now().AddDate(0, 1, 0))
	files, _ := made(t, signer(t, f), of(merchant.English, func(*gift.Gift) {}))
	folder := t.TempDir()
	for name, content := range map[string][]byte{"root.pem": f.Root, "manifest": files["manifest.json"],
		"signature": files["signature"], "changed": append(bytes.Clone(files["manifest.json"]), ' ')} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	openssl := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "openssl", args...)
		cmd.Dir = folder
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	verify := []string{"cms", "-verify", "-binary", "-inform", "der", "-in", "signature", "-purpose", "any", "-CAfile",
		"root.pem", "-content"}
	if out, err := openssl(append(verify, "manifest")...); err != nil {
		t.Errorf("openssl refuses the signature: %v\n%s", err, out)
	}
	if out, err := openssl(append(verify, "changed")...); err == nil {
		t.Errorf("openssl takes another manifest:\n%s", out)
	}
	if out, err := openssl("cms", "-cmsout", "-print", "-inform", "der", "-in", "signature"); err != nil ||
		!strings.Contains(out, "signingTime") || !strings.Contains(out, "sha256") {
		t.Errorf("the signature has no time: %v\n%s", err, out)
	}
}

// TestPassesOfEveryState: a code is on a pass just where the page shows it, and a pass is voided where its gift cannot
// be used.
func TestPassesOfEveryState(t *testing.T) {
	t.Parallel()
	s := signer(t, passtest.New(t, time.Now().AddDate(0, 1, 0)))
	tests := []struct {
		state  card.State
		change func(*gift.Gift)
		code   bool
		voided bool
	}{
		{card.Ready, func(*gift.Gift) {}, true, false},
		{card.NotYet, func(g *gift.Gift) { g.ValidFrom = now.AddDate(0, 1, 0) }, true, false},
		{card.Pending, func(g *gift.Gift) { g.Status = gift.Pending }, false, false},
		{card.Redeemed, func(g *gift.Gift) { g.Status, g.Balance = gift.Redeemed, 0 }, false, true},
		{card.Expired, func(g *gift.Gift) { g.ValidUntil = now.AddDate(0, -1, 0) }, false, true},
		{card.Cancelled, func(g *gift.Gift) { g.Status = gift.Cancelled }, false, true},
		{card.Blocked, func(g *gift.Gift) { g.Blocked = "lost" }, false, true},
		{card.Unpaid, func(g *gift.Gift) { g.Status = gift.PurchaseFailed }, false, true},
		{card.Unsold, func(g *gift.Gift) { g.Status = gift.NotActivated }, false, true},
	}
	for _, test := range tests {
		for _, l := range merchant.Languages() {
			c := of(l, test.change)
			if c.State != test.state {
				t.Fatalf("the gift is %s, want %s", c.State, test.state)
			}
			files, d := made(t, s, c)
			code := bytes.Contains(files["pass.json"], []byte("1234 5678 9012")) ||
				bytes.Contains(files["pass.json"], []byte(c.URL))
			if code != test.code || d.Voided != test.voided {
				t.Errorf("%s in %s: code %t, voided %t", test.state, l, code, d.Voided)
			}
			if balance := d.StoreCard.Primary[0]; test.code && (balance.Value != 12.5 || balance.Currency != "USD" ||
				!strings.Contains(balance.Changed, "%@")) {
				t.Errorf("%s in %s: the balance is %+v", test.state, l, balance)
			}
			if d.PassType != passtest.PassType || d.Team != passtest.Team || d.Serial != c.ID.String() {
				t.Errorf("%s: the pass is %+v", test.state, d)
			}
		}
	}
}

// TestWhatIsSaid: a card says the same whoever made it, and nothing that a sender wrote becomes a link.
func TestWhatIsSaid(t *testing.T) {
	t.Parallel()
	s := signer(t, passtest.New(t, time.Now().AddDate(0, 1, 0)))
	hostile := "Call +1 900 555 0199 or open http://thief.example\n<a href='x'>%@</a> \u202e\"}"
	c := of(merchant.English, func(g *gift.Gift) {
		g.Card.Message, g.Card.Terms, g.Card.Sender = hostile, hostile, hostile
	})
	files, d := made(t, s, c)
	again, _ := made(t, s, c)
	delete(files, "signature")
	delete(again, "signature")
	if !maps.EqualFunc(files, again, bytes.Equal) {
		t.Error("two passes of the same card differ by more than the signature")
	}
	var members map[string]any
	if err := json.Unmarshal(files["pass.json"], &members); err != nil {
		t.Fatal(err)
	}
	for _, tracks := range []string{"locations", "beacons", "maxDistance", "relevantDate", "relevantDates", "nfc",
		"userInfo", "appLaunchURL", "associatedStoreIdentifiers"} {
		if members[tracks] != nil {
			t.Errorf("the phone watches where the guest is, or opens something else: %s", tracks)
		}
	}
	for _, f := range d.StoreCard.Back {
		if f.Detectors == nil || len(*f.Detectors) > 0 {
			t.Errorf("phones look for links in %+v", f)
		}
	}
	for _, f := range slices.Concat(d.StoreCard.Primary, d.StoreCard.Secondary, d.StoreCard.Back) {
		if strings.Contains(f.Changed, "thief") {
			t.Errorf("what a sender wrote is in a notice: %+v", f)
		}
	}
	if d.Expires != "2027-03-11T00:00:00Z" || d.StoreCard.Secondary[0].Value != "2027-03-10T23:59:59Z" {
		t.Errorf("it ends %s, and says %+v", d.Expires, d.StoreCard.Secondary[0])
	}
	items := of(merchant.English, func(g *gift.Gift) { g.Item, g.Funded, g.Balance, g.Card.Label = true, 3, 2, "Latte" })
	if _, d := made(t, s, items); d.StoreCard.Primary[0].Value != "2 x Latte" || d.StoreCard.Primary[0].Currency != "" {
		t.Errorf("a gift of items says %+v", d.StoreCard.Primary[0])
	}
}

// TestPictures: each picture has the sizes that phones show, is never blown up, and the icon is never missing.
func TestPictures(t *testing.T) {
	t.Parallel()
	photo := func(w, h int) []byte {
		img := image.NewNRGBA(image.Rect(0, 0, w, h))
		for x := range w {
			for y := range h {
				img.Set(x, y, color.NRGBA{uint8(x), uint8(y), 90, 255}) //nolint:gosec // a pattern
			}
		}
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	accent, _ := card.ParseColor("#144f46")
	sizes := func(p Pictures) map[string]image.Point {
		all := map[string]image.Point{}
		for name, file := range p {
			c, err := png.DecodeConfig(bytes.NewReader(file.File))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all[name] = image.Pt(c.Width, c.Height)
		}
		return all
	}
	icons := map[string]image.Point{"icon.png": {29, 29}, "icon@2x.png": {58, 58}, "icon@3x.png": {87, 87}}
	bare, err := Draw(nil, nil, accent)
	if got := sizes(bare); err != nil || !maps.Equal(got, icons) {
		t.Errorf("without pictures there are %v, %v", got, err)
	}
	full, err := Draw(photo(600, 100), photo(800, 800), accent)
	want := maps.Clone(icons)
	maps.Copy(want, map[string]image.Point{"logo.png": {160, 27}, "logo@2x.png": {320, 53}, "logo@3x.png": {480, 80},
		"strip.png": {375, 144}, "strip@2x.png": {750, 288}, "strip@3x.png": {800, 307}})
	if got := sizes(full); err != nil || !maps.Equal(got, want) {
		t.Errorf("the pictures are %v, want %v; %v", got, want, err)
	}
	if _, err := Draw([]byte("no picture"), nil, accent); err == nil {
		t.Error("what is no picture is drawn")
	}
}

// TestAllocations: of a pass with pictures of a megabyte, one copy is made.
func TestAllocations(t *testing.T) {
	t.Parallel()
	s, c := signer(t, passtest.New(t, time.Now().AddDate(0, 1, 0))), of(merchant.English, func(*gift.Gift) {})
	c.Pictures = Pictures{}
	for n := range 9 {
		c.Pictures[fmt.Sprint(n, ".png")] = pictureOf(make([]byte, 100_000<<(n%3)))
	}
	b, err := s.Apple(c)
	if err != nil || cap(b) > len(b)+64<<10 {
		t.Errorf("a pass of %d bytes takes %d, %v", len(b), cap(b), err)
	}
}

// TestWrongFiles: what is wrong with a merchant's files is told in a sentence, and a key never is.
func TestWrongFiles(t *testing.T) {
	t.Parallel()
	f := passtest.New(t, now)
	leaf, rest := pem.Decode(f.Certificate)
	one := pem.EncodeToMemory(leaf)
	for name, file := range map[string][]byte{
		"is no text":  {0, 1, 2},
		"is a key":    f.Key,
		"has a key":   append(bytes.Clone(f.Certificate), f.Key...),
		"is alone":    one,
		"is a crowd":  bytes.Repeat(f.Certificate, 3),
		"is cut":      pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Bytes[:100]}),
		"is an issue": rest,
	} {
		_, err := ReadCertificates(file)
		if err == nil || !strings.HasSuffix(err.Error(), ".") || strings.Contains(err.Error(), "MII") {
			t.Errorf("a certificate that %s: %v", name, err)
		}
	}
	for name, file := range map[string][]byte{
		"is no text":       {0, 1, 2},
		"is a certificate": one,
		"is a giant":       pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: giant(t)}),
		"is encrypted":     pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("x")}),
		"is cut":           pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")}),
	} {
		if _, err := ReadKey(file); err == nil || !strings.HasSuffix(err.Error(), ".") {
			t.Errorf("a key that %s: %v", name, err)
		}
	}
	// in another order, with an old form of the key
	turned, err := ReadCertificates(append(bytes.Clone(rest), one...))
	if err != nil {
		t.Fatal(err)
	}
	key, err := ReadKey(f.Key)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSigner(turned, key)
	if err != nil || s.PassType != passtest.PassType || !s.Ends().Equal(now) {
		t.Errorf("the signer is %+v, %v", s, err)
	}
	if again, err := ReadCertificates([]byte(turned)); err != nil || again != turned {
		t.Errorf("certificates do not survive being written: %v", err)
	}
	other := passtest.Other(t)
	if _, err := NewSigner(turned, other); err == nil || !strings.Contains(err.Error(), "not that of the certificate") {
		t.Errorf("another key signs: %v", err)
	}
}

// giant is an RSA key in PKCS #1 form of 400,000 bits, whose check would take minutes.
func giant(t *testing.T) []byte {
	t.Helper()
	n := new(big.Int).Lsh(big.NewInt(1), 400_000)
	n.SetBit(n, 0, 1)
	half := new(big.Int).Lsh(big.NewInt(1), 200_000)
	half.SetBit(half, 0, 1)
	der, err := asn1.Marshal(struct {
		Version                      int
		N                            *big.Int
		E                            int
		D, P, Q, Dp, Dq, Coefficient *big.Int
	}{0, n, 65537, n, half, half, half, half, half})
	if err != nil {
		t.Fatal(err)
	}
	return der
}
