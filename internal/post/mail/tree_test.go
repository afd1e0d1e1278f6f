package mail

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	stdmail "net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/delivery"
	"boon.example/internal/post/message"
	"boon.example/internal/refusal"
)

// keeper is an outbox, and the mails that would have left instead of coming to it.
type keeper struct{ messages []message.Message }

func (k *keeper) Carry(_ context.Context, m message.Message) error {
	k.messages = append(k.messages, m)
	return nil
}

// node is a part of a mail.
type node struct {
	kind, id, disposition string
	body                  []byte
	children              []node
}

// inWorld is what the Content-IDs of mailOf end with.
const inWorld = ".07000000-0000-0000-0000-000000000000@example.com"

// tree reads a mail with the standard library only.
func tree(t *testing.T, kind string, h func(string) string, r io.Reader) node {
	t.Helper()
	media, params, err := mime.ParseMediaType(kind)
	if err != nil {
		t.Fatal(err)
	}
	id := strings.Replace(h("Content-ID"), inWorld, "@gift", 1)
	n := node{kind: media, id: id, disposition: h("Content-Disposition")}
	if !strings.HasPrefix(media, "multipart/") {
		switch strings.ToLower(h("Content-Transfer-Encoding")) {
		case "base64":
			r = base64.NewDecoder(base64.StdEncoding, r)
		case "quoted-printable":
			r = quotedprintable.NewReader(r)
		}
		if n.body, err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		return n
	}
	parts := multipart.NewReader(r, params["boundary"])
	for {
		p, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		n.children = append(n.children, tree(t, p.Header.Get("Content-Type"), p.Header.Get, p))
	}
}

// shape writes the tree on one line.
func (n *node) shape() string {
	if len(n.children) == 0 {
		return n.kind
	}
	var inner []string
	for i := range n.children {
		inner = append(inner, n.children[i].shape())
	}
	return n.kind + "(" + strings.Join(inner, " ") + ")"
}

func (n *node) leaves() []node {
	if len(n.children) == 0 {
		return []node{*n}
	}
	var all []node
	for i := range n.children {
		all = append(all, n.children[i].leaves()...)
	}
	return all
}

// photo is a picture that does not shrink well.
func photo(t *testing.T) merchant.Asset {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 1400, 1400))
	noise := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = uint8(noise.Uint32()) | 3
	}
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 255
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 60}); err != nil {
		t.Fatal(err)
	}
	return merchant.Asset{Hash: merchant.HashAsset(b.Bytes()), Kind: merchant.JPEG, Bytes: b.Bytes()}
}

func mark(t *testing.T) merchant.Asset {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 300, 100)) // transparent, with a bar
	for x := 20; x < 280; x++ {
		for y := 40; y < 60; y++ {
			img.SetNRGBA(x, y, color.NRGBA{10, 20, 30, 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return merchant.Asset{Hash: merchant.HashAsset(b.Bytes()), Kind: merchant.PNG, Bytes: b.Bytes()}
}

// mailOf sends one gift by e-mail in a design and gives the mail as it would leave.
func mailOf(t *testing.T, d merchant.Design, assets ...merchant.Asset) (node, []byte) {
	t.Helper()
	code, err := codes.ParseVoucherCode("482915073364")
	if err != nil {
		t.Fatal(err)
	}
	token, err := codes.ParseToken("7nB2cD9fGhJkLmNpQrStUv")
	if err != nil {
		t.Fatal(err)
	}
	d.ID = guid.ID{4}
	account := &merchant.Account{ID: guid.ID{1}, Name: "Harbor <b>Coffee</b>",
		Currency: money.Currency{Code: "USD", Decimals: 2}, Zone: time.UTC,
		Locations: []merchant.Location{{ID: guid.ID{2}, Name: "Pier 39"}}, Designs: []merchant.Design{d}}
	g := gift.Gift{
		Voucher: gift.Voucher{ID: guid.ID{9}, AccountID: account.ID, Currency: account.Currency, Funded: 2500,
			Balance: 2500, Status: gift.Pending},
		Card: gift.Card{Code: code, Token: token, Sender: `"Ben" <ben@x>`, Recipient: "<script>Anna",
			Contact: "anna@example.com", Method: contact.Email,
			Message: "Happy birthday!\n<img src=x onerror=alert(1)>", Terms: "Not for cash.", DesignID: d.ID,
			DeliveryZone: "UTC"},
	}
	kept := &keeper{}
	gateways := &delivery.Gateways{Email: kept, PublicURL: "https://gifts.example.com",
		Directory: func() *merchant.Directory {
			return &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{account.ID: account}}
		},
		Asset: func(_ context.Context, hash merchant.AssetHash) (merchant.Asset, error) {
			for _, a := range assets {
				if a.Hash == hash {
					return a, nil
				}
			}
			return merchant.Asset{}, refusal.NotFound
		},
	}
	if err := gateways.Send(t.Context(), []gift.Gift{g}, ledger.Job{ID: guid.ID{7}}); err != nil {
		t.Fatal(err)
	}
	source, err := Source(&kept.messages[0], "gifts@example.com")
	if err != nil {
		t.Fatal(err)
	}
	m, err := stdmail.ReadMessage(bytes.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	return tree(t, m.Header.Get("Content-Type"), m.Header.Get, m.Body), source
}

// TestTree: text and HTML are alternatives of each other, what the HTML shows hangs beside it, every picture that it
// names is there and none that it does not name, nothing is loaded from elsewhere, and the whole is light.
func TestTree(t *testing.T) {
	t.Parallel()
	logo, picture := mark(t), photo(t)
	for name, tc := range map[string]struct {
		design merchant.Design
		kinds  []string
		ids    []string
	}{
		"plain": {merchant.Design{AccentColor: "#0b5fff"}, []string{"text/plain", "text/html", "image/png"},
			[]string{"qr@gift"}},
		"logo": {merchant.Design{AccentColor: "#ffd23f", Logo: logo.Hash},
			[]string{"text/plain", "text/html", "image/png", "image/png"}, []string{"qr@gift", "logo@gift"}},
		"all": {merchant.Design{Logo: logo.Hash, Picture: picture.Hash, Footer: "Pier 39\nhello@harbor.example"},
			[]string{"text/plain", "text/html", "image/png", "image/png", "image/jpeg"}, []string{"qr@gift", "logo@gift",
				"picture@gift"}},
		"lost": {merchant.Design{Logo: merchant.AssetHash{1}, Picture: merchant.AssetHash{2}},
			[]string{"text/plain", "text/html", "image/png"}, []string{"qr@gift"}},
	} {
		root, source := mailOf(t, tc.design, logo, picture)
		if want := "multipart/related(multipart/alternative(text/plain text/html) " + strings.Join(tc.kinds[2:], " ") +
			")"; root.shape() != want {
			t.Errorf("%s: %s, want %s", name, root.shape(), want)
		}
		leaves := root.leaves()
		text, page := string(leaves[0].body), string(leaves[1].body)
		checkPage(t, name, page, tc.ids)
		for i, leaf := range leaves[2:] {
			img, _, err := image.Decode(bytes.NewReader(leaf.body))
			if err != nil || leaf.id != "<"+tc.ids[i]+">" || !strings.HasPrefix(leaf.disposition, "inline") {
				t.Errorf("%s: picture %d is %s, %s, %v", name, i, leaf.id, leaf.disposition, err)
				continue
			}
			if leaf.id != "<qr@gift>" && len(leaf.body) > 120_000 || img.Bounds().Dx() > 1040 {
				t.Errorf("%s: %s has %d bytes and measures %v", name, leaf.id, len(leaf.body), img.Bounds())
			}
			if r, g, b, a := img.At(1, 1).RGBA(); leaf.id != "<picture@gift>" &&
				(r < 0xf000 || g < 0xf000 || b < 0xf000 || a != 0xffff) {
				t.Errorf("%s: %s has no white edge of its own, for dark grounds", name, leaf.id)
			}
		}
		if len(source) > 280_000 {
			t.Errorf("%s: a mail of %d bytes", name, len(source))
		}
		for _, want := range []string{
			"Hello <script>Anna,", `"Ben" <ben@x> sent you a gift.`, "$25.00 at Harbor <b>Coffee</b>",
			"> <img src=x onerror=alert(1)>", "4829 1507 3364",
			"https://gifts.example.com/g/7nB2cD9fGhJkLmNpQrStUv", "This gift does not expire.", "- Pier 39", "Not for cash.",
			tc.design.Footer,
		} {
			if !strings.Contains(strings.ReplaceAll(text, "\r\n", "\n"), want) {
				t.Errorf("%s: the plain text lacks %q:\n%s", name, want, text)
			}
		}
	}
}

// checkPage holds the HTML of a mail against what mail programs are known to take.
func checkPage(t *testing.T, name, page string, ids []string) {
	t.Helper()
	if len(page) > 90_000 { // Gmail cuts mails off at 102 KB
		t.Errorf("%s: the HTML has %d bytes", name, len(page))
	}
	for _, want := range []string{"prefers-color-scheme: dark", "[data-ogsc] .ink", "[data-ogsb] .sheet", "<!--[if mso]>",
		`name="color-scheme" content="light dark"`} {
		if !strings.Contains(page, want) {
			t.Errorf("%s: the HTML has no %s", name, want)
		}
	}
	for _, absent := range []string{"flex", "grid", "url(", "@import", "position:", "calc(", "var(", "float:", "ZgotmplZ",
		"rgba(", "data:image"} {
		if strings.Contains(page, absent) {
			t.Errorf("%s: the HTML has %s", name, absent)
		}
	}
	var shown []string
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		if picture := checkTag(t, name, z.Token()); picture != "" {
			shown = append(shown, picture)
		}
	}
	slices.Sort(shown)
	want := slices.Sorted(slices.Values(ids))
	if !slices.Equal(shown, want) {
		t.Errorf("%s: the HTML shows %v, the mail has %v", name, shown, want)
	}
	for _, text := range []string{"&lt;img src=x onerror=alert(1)&gt;", "&lt;script&gt;Anna"} {
		if !strings.Contains(page, text) {
			t.Errorf("%s: %s is not shown as text", name, text)
		}
	}
}

// checkTag holds a tag of a mail against what mail programs take, and gives the Content-ID of the picture that it
// shows.
func checkTag(t *testing.T, name string, tag html.Token) (picture string) {
	t.Helper()
	attrs := map[string]string{}
	for _, a := range tag.Attr {
		attrs[a.Key] = a.Val
	}
	switch tag.Data {
	case "script", "iframe", "link", "form", "svg", "video", "object", "div":
		if tag.Data != "div" || !strings.Contains(attrs["style"], "mso-hide:all") {
			t.Errorf("%s: the HTML has <%s>", name, tag.Data)
		}
	case "img":
		picture = strings.Replace(strings.TrimPrefix(attrs["src"], "cid:"), inWorld, "@gift", 1)
		if _, has := attrs["alt"]; !has || picture == "" || attrs["width"] == "" || attrs["height"] == "" {
			t.Errorf("%s: a picture without alt, src, width or height: %v", name, attrs)
		}
	case "table":
		if attrs["role"] != "presentation" || attrs["cellpadding"] != "0" || attrs["border"] != "0" {
			t.Errorf("%s: a table that is read out as one, or with gaps: %v", name, attrs)
		}
	case "a":
		if attrs["href"] != "https://gifts.example.com/g/7nB2cD9fGhJkLmNpQrStUv" {
			t.Errorf("%s: a link to %s", name, attrs["href"])
		}
	}
	for key := range attrs {
		if strings.HasPrefix(key, "on") {
			t.Errorf("%s: <%s %s>", name, tag.Data, key)
		}
	}
	return picture
}

// TestStoreTrouble: a store that cannot be asked for a picture holds the mail back; nothing is sent without it.
func TestStoreTrouble(t *testing.T) {
	t.Parallel()
	account := &merchant.Account{ID: guid.ID{1}, Designs: []merchant.Design{{ID: guid.ID{4}, Logo: merchant.AssetHash{1}}}}
	kept := &keeper{}
	gateways := &delivery.Gateways{Email: kept, Directory: func() *merchant.Directory {
		return &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{account.ID: account}}
	}, Asset: func(context.Context, merchant.AssetHash) (merchant.Asset, error) {
		return merchant.Asset{}, fmt.Errorf("away")
	}}
	g := gift.Gift{Voucher: gift.Voucher{AccountID: account.ID}, Card: gift.Card{Method: contact.Email,
		DesignID: guid.ID{4}}}
	if err := gateways.Send(t.Context(), []gift.Gift{g}, ledger.Job{}); err == nil || len(kept.messages) > 0 {
		t.Errorf("sent %d mails, %v", len(kept.messages), err)
	}
}

// TestFilesOfMails: a file stands beside the mail that brings it, whose pictures stay with its HTML; names of pictures
// and words that look like a header change neither.
func TestFilesOfMails(t *testing.T) {
	t.Parallel()
	file := message.Attachment{Name: "gift-cards.csv", Kind: "text/csv; charset=utf-8",
		Bytes: []byte("recipient,code\r\nZoë,1")}
	picture := message.Picture{ContentID: "logo@gift", Kind: "image/png", Bytes: []byte("png")}
	const words = "\r\nContent-Type: multipart/related;\r\n"
	for _, tt := range []struct {
		pictures []message.Picture
		want     string
	}{
		{nil, "multipart/mixed(multipart/alternative(text/plain text/html) text/csv)"},
		{[]message.Picture{picture},
			"multipart/mixed(multipart/related(multipart/alternative(text/plain text/html) image/png) text/csv)"},
	} {
		m := message.Message{ID: guid.ID{7}, To: "anna@example.com", Text: words, HTML: `<img src="cid:logo@gift">` + words,
			Pictures: tt.pictures, Attachments: []message.Attachment{file}}
		source, err := compose(&m, "gifts@example.com", m.To)
		if err != nil {
			t.Fatal(err)
		}
		read, err := stdmail.ReadMessage(bytes.NewReader(source))
		if err != nil {
			t.Fatal(err)
		}
		n := tree(t, read.Header.Get("Content-Type"), read.Header.Get, read.Body)
		leaves := n.leaves()
		last := leaves[len(leaves)-1]
		if n.shape() != tt.want || string(last.body) != string(file.Bytes) ||
			!strings.HasPrefix(last.disposition, "attachment") || string(leaves[0].body) != words {
			t.Errorf("the mail is %s, its file %q (%s), its text %q", n.shape(), last.body, last.disposition, leaves[0].body)
		}
		if types := bytes.Count(source, []byte(`type="multipart/alternative"`)); types != len(tt.pictures) {
			t.Errorf("with %d pictures, %d parts say the type of their root", len(tt.pictures), types)
		}
	}
}
