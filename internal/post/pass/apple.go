// Package pass makes gifts passes for the wallets of phones.
//
// A pass of Apple Wallet is a ZIP archive of one JSON document and some pictures, with the digest of each file and a
// signature over the digests. It looks and says what package card has it say. What is in it for the same gift in the
// same state is the same; only the signature has the time of its making.
//
// The package is pure but for that time. It knows neither HTTP nor the store.
package pass

import (
	"archive/zip"
	"bytes"
	"crypto/sha1" //nolint:gosec // Apple's format asks for it; the signature over it is by SHA-256
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/money"
	"boon.example/internal/post/card"
)

// Kind is the media type of a pass of Apple Wallet.
const Kind = "application/vnd.apple.pkpass"

// Card is a gift of which a pass is made.
type Card struct {
	card.View

	ID       guid.ID        // of the gift
	URL      string         // of its page, which its QR code holds
	Left     money.Amount   // what can be used; of a gift of money
	Currency money.Currency // likewise
	Pictures Pictures

	// Where the phone asks for changes of the pass, and by what it proves that it has it; "": it never asks.
	Service, Proof string

	// Replaced: the gift has another card by now. The pass says so, and nothing of the gift.
	Replaced bool
}

// CardOf tells the card of a gift from those that the gift had: a card begins with a new token. A token has 128 random
// bits; 64 bits of its digest lead to no token.
func CardOf(g *gift.Gift) (c event.PassCard) {
	sum := sha256.Sum256([]byte("card of a pass\x00" + g.Card.Token.Reveal()))
	copy(c[:], sum[:])
	return c
}

// document is pass.json.
type document struct {
	FormatVersion       int       `json:"formatVersion"`
	PassType            string    `json:"passTypeIdentifier"`
	Team                string    `json:"teamIdentifier"`
	Serial              string    `json:"serialNumber"`
	Organization        string    `json:"organizationName"`
	Description         string    `json:"description"`
	LogoText            string    `json:"logoText"`
	Foreground          string    `json:"foregroundColor"`
	Background          string    `json:"backgroundColor"`
	LabelColor          string    `json:"labelColor"`
	Expires             string    `json:"expirationDate,omitempty"`
	Voided              bool      `json:"voided,omitempty"`
	SharingProhibited   bool      `json:"sharingProhibited"`
	Service             string    `json:"webServiceURL,omitempty"`
	AuthenticationToken string    `json:"authenticationToken,omitempty"`
	Barcodes            []barcode `json:"barcodes,omitempty"`
	StoreCard           fields    `json:"storeCard"`
}

type barcode struct {
	Format   string `json:"format"`
	Message  string `json:"message"`
	Encoding string `json:"messageEncoding"`
	Text     string `json:"altText,omitempty"`
}

type fields struct {
	Primary   []field `json:"primaryFields"`
	Secondary []field `json:"secondaryFields,omitempty"`
	Back      []field `json:"backFields,omitempty"`
}

// field is a value with a label. Value is a text, or a number with a currency.
type field struct {
	Key      string `json:"key"`
	Label    string `json:"label,omitempty"`
	Value    any    `json:"value"`
	Currency string `json:"currencyCode,omitempty"`
	Changed  string `json:"changeMessage,omitempty"`
	// of a time: how much of it is shown; and that it is shown by the clock that it is written in
	DateStyle string `json:"dateStyle,omitempty"`
	OwnZone   bool   `json:"ignoresTimeZone,omitempty"`
	// what phones make links of in a text of the back: nothing
	Detectors *[]string `json:"dataDetectorTypes,omitempty"`
}

// Apple makes the pass of a gift for Apple Wallet. Its QR code is that of the gift's page, so that a till scans it as
// it scans the page. Where the page shows no code, the pass has none either. A pass is voided where the gift will not
// be used any more, or not for now.
func (s *Signer) Apple(c *Card) ([]byte, error) {
	text, err := json.Marshal(s.document(c))
	if err != nil {
		return nil, fmt.Errorf("writing a pass: %w", err)
	}
	files, digests := map[string][]byte{"pass.json": text}, map[string]string{"pass.json": digestOf(text)}
	for name, p := range c.Pictures {
		files[name], digests[name] = p.File, p.digest
	}
	manifest, err := json.Marshal(digests)
	if err != nil {
		return nil, fmt.Errorf("writing a pass: %w", err)
	}
	signature, err := s.sign(manifest)
	if err != nil {
		return nil, err
	}
	files["manifest.json"], files["signature"] = manifest, signature
	return archive(files)
}

func digestOf(file []byte) string {
	digest := sha1.Sum(file) //nolint:gosec // see the import
	return hex.EncodeToString(digest[:])
}

// headers is how many bytes a file of an archive has more at most, but for its name and content.
const headers = 128

// archive packs files without times, so that the same files make the same bytes.
func archive(files map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	size := 0
	for name, file := range files {
		size += len(file) + 2*len(name) + headers
	}
	b.Grow(size) // of pictures of a megabyte, growing would copy several
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		if strings.HasSuffix(name, ".png") {
			h.Method = zip.Store // it is compressed
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(files[name])
		}
		if err != nil {
			return nil, fmt.Errorf("packing a pass: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("packing a pass: %w", err)
	}
	return b.Bytes(), nil
}

func (s *Signer) document(c *Card) *document {
	ink, ground := rgb(c.Accent.Text()), rgb(c.Accent)
	d := &document{
		FormatVersion: 1, PassType: s.PassType, Team: s.Team, Serial: c.ID.String(),
		Organization: c.Merchant, Description: c.Text("pass.description", c.Merchant), LogoText: c.Merchant,
		Foreground: ink, Background: ground, LabelColor: ink,
		Voided: !c.Shown() && c.State != card.Pending, Service: c.Service, AuthenticationToken: c.Proof,
	}
	if c.Replaced {
		d.Voided, d.StoreCard = true, c.replaced()
		return d
	}
	if !c.Ends.IsZero() {
		d.Expires = c.Ends.UTC().Format(time.RFC3339)
	}
	if c.Shown() {
		d.Barcodes = []barcode{{"PKBarcodeFormatQR", c.URL, "iso-8859-1", c.Code}}
	}
	d.StoreCard = fields{Primary: []field{c.balance()}, Secondary: c.front(), Back: c.back()}
	return d
}

func rgb(c card.Color) string { return fmt.Sprintf("rgb(%d, %d, %d)", c.R, c.G, c.B) }

// replaced is all that the pass of a card says that was replaced.
func (c *Card) replaced() fields {
	title := c.Text("page.replaced.title")
	return fields{Primary: []field{{Key: "state", Label: c.Text("pass.state"), Value: title, Changed: "%@"}},
		Back: []field{{Key: "notice", Label: title, Value: c.Text("page.replaced.ask"), Detectors: &[]string{}}}}
}

// balance is the big figure. A phone tells its owner when it changes.
func (c *Card) balance() field {
	f := field{Key: "balance", Label: c.Text("pass.balance"), Value: c.Amount().String(),
		Changed: c.Text("pass.changed", "%@")}
	if c.Shown() && !c.Worth.Item {
		f.Value, f.Currency = json.Number(c.Currency.Format(c.Left)), c.Currency.Code
	}
	return f
}

// front is what stands below the balance: why the card cannot be used, else until when it can; and who gave it.
func (c *Card) front() (all []field) {
	if title := c.StateTitle(); title != "" {
		all = append(all, field{Key: "state", Label: c.Text("pass.state"), Value: title, Changed: "%@"})
	} else if !c.Ends.IsZero() {
		all = append(all, field{Key: "until", Label: c.Text("pass.until"), DateStyle: "PKDateStyleMedium", OwnZone: true,
			Value: c.Ends.Add(-time.Second).Format(time.RFC3339)}) // midnight is the end of the day before
	}
	return append(all, field{Key: "from", Label: c.Text("pass.from"), Value: c.Sender})
}

// back is what a guest reads who turns the card over.
func (c *Card) back() (all []field) {
	none := &[]string{}
	add := func(key, label string, lines ...string) {
		lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
		if len(lines) > 0 {
			all = append(all, field{Key: key, Label: label, Value: strings.Join(lines, "\n"), Detectors: none})
		}
	}
	add("notice", c.StateTitle(), c.Notice)
	add("test", "", c.Test)
	add("message", c.Text("page.words"), c.Message...)
	if !c.Over() {
		add("good-for", c.Text("card.good-for"), c.GoodFor)
		add("validity", c.Text("card.validity"), c.Validity)
		where := append([]string{c.Where}, c.Places...)
		if c.More > 0 {
			where = append(where, c.Text("card.more", c.More))
		}
		add("where", c.Text("card.where"), where...)
	}
	add("terms", c.Text("card.terms"), c.Terms...)
	add("footer", c.Merchant, c.Footer...)
	return all
}
