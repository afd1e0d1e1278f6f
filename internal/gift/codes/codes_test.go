package codes

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/refusal/refusaltest"
)

func TestSecretsDoNotShow(t *testing.T) {
	t.Parallel()
	const digits, text = "123456789012", "0123456789ABCDEFGHIJkl"
	code, _ := ParseVoucherCode(digits)
	token, _ := ParseToken(text)
	type holder struct {
		Code   VoucherCode
		Token  *Token
		hidden VoucherCode
		inside map[VoucherCode]Token
	}
	held := holder{code, &token, code, map[VoucherCode]Token{code: token}}
	values := map[string]any{
		"code": code, "token": token, "pointer": &code, "holder": held, "holder pointer": &held,
		"list": []VoucherCode{code}, "map": map[VoucherCode]Token{code: token},
	}
	for name, v := range values {
		shown := map[string]string{}
		for _, verb := range "vsqxXdbocUteEfFgGpTw" {
			for _, flags := range []string{"", "+", "#", "-30", "030", "+#", " "} {
				format := "%" + flags + string(verb)
				shown[format] = fmt.Sprintf(format, v)
			}
		}
		shown["Sprint"] = fmt.Sprint(v)
		if b, err := json.Marshal(v); err == nil {
			shown["json"] = string(b)
		}
		if b, err := xml.Marshal(v); err == nil {
			shown["xml"] = string(b)
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "value", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "value", v)
		shown["slog"] = log.String()
		for how, s := range shown {
			for _, secret := range []string{digits, text} {
				if strings.Contains(s, secret) || strings.Contains(strings.ToLower(s), hex.EncodeToString([]byte(secret))) ||
					strings.Contains(s, secret[:8]) {
					t.Errorf("%s with %s shows %q", name, how, s)
				}
			}
		}
	}
	if got := fmt.Sprint(code, token); got != "••••••••••12 ••••••••••••••••••••kl" {
		t.Errorf("masked: %s", got)
	}
	if code.Reveal() != digits || token.Reveal() != text || code.Grouped() != "1234 5678 9012" {
		t.Error("a secret cannot be revealed")
	}
}

func TestZeroSecrets(t *testing.T) {
	t.Parallel()
	var code VoucherCode
	var token Token
	if code.Reveal() != "" || token.Reveal() != "" || code.Grouped() != "" || fmt.Sprintf("%v%#v", code, token) != "" {
		t.Error("a zero secret shows something")
	}
	one, _ := ParseVoucherCode("123456789012")
	same, _ := ParseVoucherCode(strings.Clone("123456789012"))
	other, _ := ParseVoucherCode("123456789013")
	if one != same || one == other || one == code {
		t.Error("codes are equal when their digits are")
	}
}

// TestSecretsCostLittle: every look-up makes three of them.
func TestSecretsCostLittle(t *testing.T) {
	codes := make([]string, 1_000)
	for n := range codes {
		codes[n] = strconv.Itoa(100_000_000_000 + n)
	}
	n := 0
	if objects := testing.AllocsPerRun(len(codes)-1, func() { // once more before it counts
		if _, err := ParseVoucherCode(codes[n]); err != nil {
			t.Fatal(err)
		}
		n++
	}); objects > 1 {
		t.Errorf("a code takes %v objects", objects)
	}
}

func TestNewSecrets(t *testing.T) {
	t.Parallel()
	random := rand.NewChaCha8([32]byte{1})
	codes, tokens, keys := map[VoucherCode]bool{}, map[Token]bool{}, map[string]bool{}
	for range 2_000 {
		code, err := NewVoucherCode(random)
		if again, err2 := ParseVoucherCode(code.Reveal()); err != nil || err2 != nil || again != code ||
			code.Reveal()[0] == '0' {
			t.Fatalf("made a code %q: %v, %v", code.Reveal(), err, err2)
		}
		token, err := NewToken(random)
		if again, err2 := ParseToken(token.Reveal()); err != nil || err2 != nil || again != token {
			t.Fatalf("made a token %q: %v, %v", token.Reveal(), err, err2)
		}
		key, err := merchant.NewKey(random, merchant.SystemKey, true)
		if err != nil || !merchant.ValidKey(key) || !strings.HasPrefix(key, "boon_test_sys_") {
			t.Fatalf("made a key %q: %v", key, err)
		}
		codes[code], tokens[token], keys[key] = true, true, true
	}
	if len(codes) != 2_000 || len(tokens) != 2_000 || len(keys) != 2_000 {
		t.Error("secrets repeat")
	}
	if key, _ := merchant.NewKey(random, merchant.AccountKey, false); !strings.HasPrefix(key, "boon_live_acct_") ||
		len(key) != len("boon_live_acct_")+43+8 ||
		merchant.KeyHint(key) != key[len(key)-4:] {
		t.Errorf("made a key %q", key)
	}
	// The extremes of what can be drawn.
	if got := encode62(bytes.Repeat([]byte{0xff}, 16), TokenLength); got != "7n42DGM5Tflk9n8mt7Fhc7" {
		t.Errorf("the largest token is %s", got)
	}
	if got := encode62(make([]byte, 16), TokenLength); got != strings.Repeat("0", TokenLength) {
		t.Errorf("the smallest token is %s", got)
	}
	for name, draw := range map[string]func(io.Reader) error{
		"code":  func(r io.Reader) error { _, err := NewVoucherCode(r); return err },
		"token": func(r io.Reader) error { _, err := NewToken(r); return err },
		"key":   func(r io.Reader) error { _, err := merchant.NewKey(r, merchant.AccountKey, false); return err },
	} {
		if draw(strings.NewReader("123")) == nil {
			t.Errorf("a %s was made without randomness", name)
		}
	}
}

func TestParseVoucherCode(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", "12345678901", "1234567890123", "1234 5678 9012", "1234-5678-9012", "12345678901a", " 12345678901",
		"12345678901\n",
		"１２３４５６７８９０１２", "١٢٣٤٥٦٧٨٩٠١٢", "1234567890１", "-12345678901", "+12345678901", "1.2345678901", "12345678e901",
		"12345678901\x00",
	} {
		if _, err := ParseVoucherCode(bad); refusaltest.CodeOf(t, err) != refusal.InvalidCodeFormat ||
			err.(*refusal.Error).Messages[0].Field != "code" {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if c, err := ParseVoucherCode("012345678901"); err != nil || c.Reveal() != "012345678901" {
		t.Errorf("a leading zero: %v", err) // such codes are not made, but may have been brought along
	}
}

func TestParseToken(t *testing.T) {
	t.Parallel()
	const token = "0123456789ABCDEFGHIJkl"
	for _, good := range []string{
		token, "/" + token, "g/" + token, "/g/" + token, "https://gifts.example.com/g/" + token, "http://localhost:8080/g/" +
			token,
		"HTTPS://GIFTS.EXAMPLE.COM/g/" + token, "https://other.example/" + token, "https://h/g/" + token +
			"?utm_source=x#top",
		"https://user:pw@h/g/" + token, "https://[::1]:8080/g/" + token,
	} {
		if got, err := ParseToken(good); err != nil || got.Reveal() != token {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "/", "g/", token[1:], token + "0", "//" + token, "g//" + token, "/g/g/" + token, "/x/" + token, token + "/",
		token + "?x=1", token + "\n" + token, "x" + token,
		"]" + token, "ftp://h/g/" + token, "javascript:" + token, "mailto:" + token, "https:" + token, "https:///g/" + token,
		"https:g/" + token,
		"https://h/x/g/" + token, "https://h/g/" + token + "/", "https://h/%67/" + token, "https://h//g/" + token,
		"https://h/?g=" + token,
		"h:8080/g/" + token, "https://h/g/" + token[1:] + "%30", token[:21] + "é", token[:21] + "-",
		strings.Repeat("0", 1<<20),
		"https://" + strings.Repeat("h", 1<<20) + "/g/" + token, "https://h/g/" + token + "?" + strings.Repeat("x", 2_048),
	} {
		if _, err := ParseToken(bad); refusaltest.CodeOf(t, err) != refusal.InvalidTokenFormat ||
			err.(*refusal.Error).Messages[0].Field != "token" {
			t.Errorf("%.60q: %v", bad, err)
		}
	}
}

// TestWhatScannersAdd: what a scanner sent before and behind a link does not matter.
func TestWhatScannersAdd(t *testing.T) {
	t.Parallel()
	const link = "https://gifts.example.com/g/0123456789ABCDEFGHIJkl"
	file, err := os.ReadFile("testdata/token-suffixes.txt")
	if err != nil {
		t.Fatal(err)
	}
	around := []string{"]Q1LINK", "]Q3LINK\r", "\x02LINK\x03", "\ufeffLINK\u200b", "\x1dLINK\t", "\u200eLINK\u202c"}
	for line := range strings.Lines(string(file)) {
		if want, sent, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok && want == "200" {
			around = append(around, strings.NewReplacer(`\r`, "\r", `\n`, "\n").Replace(sent))
		}
	}
	if len(around) < 9 {
		t.Fatalf("only %d cases", len(around))
	}
	for _, as := range around {
		for _, form := range []string{link, "/g/0123456789ABCDEFGHIJkl", "0123456789ABCDEFGHIJkl"} {
			sent := strings.Replace(as, "LINK", form, 1)
			if token, err := ParseToken(sent); err != nil || token.Reveal() != "0123456789ABCDEFGHIJkl" {
				t.Errorf("%q: %v", sent, err)
			}
		}
	}
}

func FuzzVoucherCode(f *testing.F) {
	for _, s := range []string{"123456789012", "1234 5678 9012", "１２３４５６７８９０１２", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseVoucherCode(s)
		if err == nil && (c.Reveal() != s || len(s) != 12 || strings.Trim(s, "0123456789") != "" ||
			strings.Contains(fmt.Sprintf("%#v", c), s[:3])) {
			t.Fatalf("%q was taken for a code", s)
		}
	})
}

func FuzzToken(f *testing.F) {
	for _, s := range []string{"0123456789ABCDEFGHIJkl", "/g/0123456789ABCDEFGHIJkl",
		"https://h/g/0123456789ABCDEFGHIJkl?x#y", "https://h:x/", "%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		token, err := ParseToken(s)
		if err != nil {
			return
		}
		if text := token.Reveal(); !strings.Contains(s, text) || len(text) != TokenLength ||
			strings.Trim(text, base62) != "" {
			t.Fatalf("%q became %q", s, text)
		}
		if again, err := ParseToken("https://gifts.example.com/g/" + token.Reveal()); err != nil || again != token {
			t.Fatalf("%q is not found again", token.Reveal())
		}
	})
}

// rows reads a table of testdata, its last column unquoted.
func rows(t testing.TB, name string) (all [][2]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		first, quoted, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		second, err := strconv.Unquote(`"` + quoted + `"`)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, [2]string{first, second})
	}
	return all
}

// TestCodeSpellings: people, mails and copies write the 12 digits in many ways; near misses stay refused.
func TestCodeSpellings(t *testing.T) {
	t.Parallel()
	const code = "482913576024"
	spell := strings.NewReplacer("AAAA", "4829", "BBBB", "1357", "CCCC", "6024", "A A A A B B B B C C C C",
		"4 8 2 9 1 3 5 7 6 0 2 4")
	spellings := append(rows(t, "code-spellings.txt"), [2]string{"wide digits", "４８２９ １３５７ ６０２４"})
	for _, row := range spellings {
		if got, err := ReadVoucherCode(spell.Replace(row[1])); err != nil || got.Reveal() != code {
			t.Errorf("%s: %v, %v", row[0], got.Reveal(), err)
		}
		if _, err := ParseVoucherCode(spell.Replace(row[1])); (err == nil) != (row[0] == "plain") {
			t.Errorf("%s: the interface says %v", row[0], err)
		}
	}
	for _, miss := range []string{"", "48291357602", "4829135760244", "4829 1357 602O", "4829+1357+6024", "4829/1357/6024",
		"4829,135,76024", "#482913576024", "482913576024x", "٤٨٢٩١٣٥٧٦٠٢٤", "4.82913576024e11", "-", "4829 1357 6024 1",
		"]482913576024", strings.Repeat(" ", 200) + code} {
		if got, err := ReadVoucherCode(miss); !errors.Is(err, refusal.InvalidCodeFormat) {
			t.Errorf("%q: %q, %v", miss, got.Reveal(), err)
		}
	}
}

// FuzzReadVoucherCode: what is read has the 12 digits in their order, and nothing beside them that could be meant.
func FuzzReadVoucherCode(f *testing.F) {
	for _, s := range []string{"4829 1357 6024", "]C0482913576024\r\n", "４８２９-1357.6024", "\u202a482913576024"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		code, err := ReadVoucherCode(s)
		if err != nil {
			return
		}
		var digits strings.Builder
		for _, r := range strings.TrimPrefix(norm.NFKC.String(scanned(s)), "]") {
			if unicode.IsLetter(r) {
				t.Fatalf("%q has a letter", s)
			}
			if unicode.IsDigit(r) {
				digits.WriteRune(r)
			}
		}
		if digits.String() != code.Reveal() {
			t.Fatalf("%q became %s", s, code.Reveal())
		}
		if again, err := ReadVoucherCode(code.Grouped()); err != nil || again != code {
			t.Fatalf("%q: %v", code.Grouped(), err)
		}
	})
}
