package mail

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/delivery"
	"boon.example/internal/post/message"
)

// parse reads mails with Python's parser and prints what it makes of each, a line of JSON.
const parse = `
import email, email.policy, json, re, sys
for name in sys.argv[1:]:
    with open(name, "rb") as f:
        mail = email.message_from_binary_file(f, policy=email.policy.default)
    parts = list(mail.walk())
    page = mail.get_body(("html",)).get_content()
    print(json.dumps({
        "Name": name.rsplit("/", 1)[-1],
        "Defects": [str(d) for p in parts for d in p.defects] + [str(d) for v in mail.values() for d in v.defects],
        "Type": mail.get_content_type(),
        "Root": mail["Content-Type"].params.get("type", ""),
        "First": next((p.get_content_type() for p in mail.iter_parts()), ""),
        "IDs": [p["Content-ID"].strip("<>") for p in parts if p["Content-ID"]],
        "Shown": re.findall('src="cid:([^"]*)"', page),
        "Text": mail.get_body(("plain",)).get_content(),
        "To": mail["To"].addresses[0].addr_spec,
    }))
`

// TestOtherParsers has a parser that is not ours read every kind of mail in every language. It finds no defect; the
// type of the root is named (RFC 2387, section 3.1); each picture that the HTML shows is there; and no two mails have a
// Content-ID in common (RFC 2392, section 2).
func TestOtherParsers(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("LEFT OUT: there is no python3, whose parser reads the mails")
	}
	folder := t.TempDir()
	args := []string{"-c", parse}
	texts := map[string]string{}
	for n, l := range merchant.Languages() {
		for kind, m := range everyMail(t, l, byte(n)) {
			source, err := Source(&m, "gifts@example.com")
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(folder, kind+"-"+string(l))
			if err := os.WriteFile(name, source, 0o600); err != nil {
				t.Fatal(err)
			}
			args, texts[filepath.Base(name)] = append(args, name), m.Text
		}
	}
	out, err := exec.CommandContext(t.Context(), "python3", args...).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	type reading struct {
		Name, Type, Root, First, Text, To string
		Defects, IDs, Shown               []string
	}
	seen, read := map[string]string{}, 0
	for line := range strings.Lines(string(out)) {
		var r reading
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		read++
		related := r.Type == "multipart/related"
		if len(r.Defects) > 0 || r.To != "anna@example.com" || related != (len(r.IDs) > 0) || related && r.Root != r.First {
			t.Errorf("%s: %+v", r.Name, r)
		}
		if strings.TrimSpace(r.Text) != strings.TrimSpace(texts[r.Name]) {
			t.Errorf("%s: the text is read as %q", r.Name, r.Text)
		}
		if strings.Join(r.Shown, " ") == "" && related || !sameSet(r.Shown, r.IDs) {
			t.Errorf("%s: the HTML shows %q, there are %q", r.Name, r.Shown, r.IDs)
		}
		for _, id := range r.IDs {
			if other := seen[id]; other != "" {
				t.Errorf("%s and %s both have %s", r.Name, other, id)
			}
			seen[id] = r.Name
		}
	}
	if want := 3 * len(merchant.Languages()); read != want || len(seen) < 3*len(merchant.Languages()) {
		t.Errorf("%d mails were read, want %d; they have %d pictures", read, want, len(seen))
	}
}

func sameSet(a, b []string) bool {
	in := func(a, b []string) bool {
		for _, s := range a {
			if !strings.Contains(" "+strings.Join(b, " ")+" ", " "+s+" ") {
				return false
			}
		}
		return true
	}
	return in(a, b) && in(b, a)
}

// everyMail is one of each kind, with names that are hard to write in a header; n makes its ids its own.
func everyMail(t *testing.T, l merchant.Language, n byte) map[string]message.Message {
	t.Helper()
	code, err := codes.ParseVoucherCode("482915073364")
	if err != nil {
		t.Fatal(err)
	}
	token, err := codes.ParseToken("7nB2cD9fGhJkLmNpQrStUv")
	if err != nil {
		t.Fatal(err)
	}
	a := &merchant.Account{ID: guid.ID{1}, Name: "Kaffee „Süß“, Müller & Söhne", Language: l, Zone: time.UTC,
		Currency: money.Currency{Code: "EUR", Decimals: 2}, Locations: []merchant.Location{{ID: guid.ID{2}, Name: "Café"}},
		Designs: []merchant.Design{{ID: guid.ID{4}}}}
	g := gift.Gift{
		Voucher: gift.Voucher{ID: guid.ID{9, n}, AccountID: a.ID, Currency: a.Currency, Funded: 2500, Balance: 2500,
			Status: gift.Delivered},
		Card: gift.Card{Code: code, Token: token, Sender: "贈り主 =?utf-8?q?x?=", Recipient: "Ånna, \"die\" <Grüße>",
			Contact: "anna@example.com", Method: contact.Email, Message: "Alles Gute!\n.\n🎁 " + strings.Repeat("lang ", 60),
			DesignID: guid.ID{4}, DeliveryZone: "UTC", Language: string(l)},
	}
	logo := delivery.Pictures{Logo: &message.Picture{ContentID: "logo@gift", Kind: "image/png", Bytes: []byte("png"),
		Width: 10, Height: 10}}
	const service = "https://gifts.example.com"
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	mails := map[string]message.Message{}
	note := func(kind string) func(message.Message, error) {
		return func(m message.Message, err error) {
			if err != nil {
				t.Fatal(err)
			}
			mails[kind] = m
		}
	}
	note("gift")(delivery.Render(&g, a, service, guid.ID{7, n, 1}, logo, now))
	note("balance")(delivery.RenderBalance(&g, a, nil, service, guid.ID{7, n, 2}, logo, now))
	note("redirected")(delivery.RenderRedirected(&g, a, guid.ID{7, n, 3}, logo, now))
	for kind, m := range mails {
		if m.Pictures == nil {
			t.Errorf("%s shows no logo", kind)
		}
	}
	return mails
}
