package codes

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// withForms is an account that declares forms of codes of other systems.
func withForms(forms ...merchant.CodeForm) *merchant.Account {
	return &merchant.Account{ID: guid.ID{1}, ImportedCodes: forms}
}

func TestImportedCodesAreReadByTheFormsOfTheAccount(t *testing.T) {
	t.Parallel()
	a := withForms(merchant.CodeForm{Digits: 16}, merchant.CodeForm{Alphanumeric: 10, Fold: true},
		merchant.CodeForm{Alphanumeric: 32}, merchant.CodeForm{Digits: 12})
	for _, c := range []struct{ written, kept string }{
		{"0006 1234-5678.9012", "=0006123456789012"}, {"6006123456789012", "=6006123456789012"},
		{"gift-oI-0123", "~giftoI0123"}, {strings.Repeat("aB3d", 8), "=" + strings.Repeat("aB3d", 8)},
		{"012345678901", "=012345678901"},
	} {
		code, err := ParseImported(a, c.written)
		if err != nil || code.Kept() != c.kept || !code.IsImported() || code.Account() != a.ID {
			t.Errorf("%q: %q, %v", c.written, code.Kept(), err)
			continue
		}
		again, err := ParseKept(a.ID, code.Kept())
		if err != nil || again != code || strings.Contains(fmt.Sprintf("%+v %#v", code, code), c.kept[1:]) {
			t.Errorf("%q is kept as %q: %v", c.written, code.Kept(), err)
		}
	}
	for written, told := range map[string]string{
		"": "missing", " - ": "missing", "12345": "5 characters", "12345678901234567": "17 characters",
		"600612345678901x": "16 digits", "gift_oI_012": "nothing else", "éééééééééé": "nothing else",
		strings.Repeat("1", 33): "33 characters", strings.Repeat("1", 300): "missing",
	} {
		if code, err := ParseImported(a, written); err == nil || !strings.Contains(err.Error(), told) {
			t.Errorf("%.40q: %v, %v", written, code.Reveal(), err)
		}
	}
}

func TestWhatIsTypedFindsACardOfEitherSystem(t *testing.T) {
	t.Parallel()
	a := withForms(merchant.CodeForm{Digits: 16}, merchant.CodeForm{Alphanumeric: 10, Fold: true},
		merchant.CodeForm{Alphanumeric: 8}, merchant.CodeForm{Digits: 12})
	boon, err := ParseVoucherCode("482913576024")
	if err != nil {
		t.Fatal(err)
	}
	card := func(text string) VoucherCode {
		t.Helper()
		c, err := ParseImported(a, text)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, c := range []struct {
		card  VoucherCode
		typed string
		finds bool
	}{
		{boon, "4829 1357 6024", true}, {card("482913576024"), "4829-1357-6024", true}, {boon, "482913576025", false},
		{card("0006123456789012"), "0006123456789012", true}, {card("0006123456789012"), "6123456789012", false},
		{card("0006123456789012"), ";0006123456789012=99121200000?", true},
		{card("0006123456789012"), "%B0006123456789012^GIFT/CARD^9912120?;0006123456789012=9912?\r", true},
		{card("0006123456789012"), ";0006123456789012?", true}, {card("0006123456789012"), "%0006123456789012?", false},
		{card("GIFTOI0123"), "gift 0101 23", true}, {card("GIFTOI0123"), "GIFT010123", true},
		{card("GIFT010123"), "giftoi0123", true}, {card("GIFTOI0123"), "GIFTOL0123", false},
		{card("AbCdEfGh"), "AbCdEfGh", true}, {card("AbCdEfGh"), "ABCDEFGH", false},
	} {
		typed, err := Read(a, c.typed)
		if is := err == nil && c.card.Is(typed); is != c.finds {
			t.Errorf("%q finds %s: %t, %v", c.typed, c.card.Kept(), is, err)
		}
		if other := *a; err == nil {
			other.ID = guid.ID{2}
			if elsewhere, err := Read(&other, c.typed); err != nil || c.card.Is(elsewhere) && c.card.IsImported() {
				t.Errorf("%q finds %s of another account: %v", c.typed, c.card.Kept(), err)
			}
		}
	}
}

// TestFormsAreNoSecretOfTheReader: what could be a code in some account is read alike in each that has any, whatever
// forms it declares, and looked up under as many names.
func TestFormsAreNoSecretOfTheReader(t *testing.T) {
	t.Parallel()
	one, other := withForms(merchant.CodeForm{Digits: 16}), withForms(merchant.CodeForm{Alphanumeric: 7, Fold: true})
	for _, typed := range []string{"1234567890123456", "abcdefg", "482913576024", "", "12345", "a_bcdef",
		strings.Repeat("a", 33)} {
		a, errA := Read(one, typed)
		b, errB := Read(other, typed)
		if a != b || fmt.Sprint(errA) != fmt.Sprint(errB) || len(a.Spellings()) != len(b.Spellings()) {
			t.Errorf("%q: %v and %v", typed, errA, errB)
		}
	}
	for _, typed := range []string{"1234567890123456", "abcdefg"} {
		if _, err := Read(withForms(), typed); !errors.Is(err, refusal.InvalidCodeFormat) {
			t.Errorf("an account without forms takes %q: %v", typed, err)
		}
	}
}

func TestLastFourOfShortCodesTellsTwo(t *testing.T) {
	t.Parallel()
	a := withForms(merchant.CodeForm{Alphanumeric: 6}, merchant.CodeForm{Digits: 10}, merchant.CodeForm{Digits: 16})
	for written, want := range map[string][2]string{"abcdef": {"ef", "abcd ef"}, "1234567890": {"7890", "1234 5678 90"},
		"6006123456789012": {"9012", "6006 1234 5678 9012"}} {
		if c, err := ParseImported(a, written); err != nil || c.LastFour() != want[0] || c.Grouped() != want[1] {
			t.Errorf("%s: %q, %q, %v", written, c.LastFour(), c.Grouped(), err)
		}
	}
}

func FuzzImportedCode(f *testing.F) {
	for _, s := range []string{"6006123456789012", ";6006123456789012=9912?", "%B1^2", "gift-oI-0123", "\x00"} {
		f.Add(s)
	}
	a := withForms(merchant.CodeForm{Digits: 16}, merchant.CodeForm{Alphanumeric: 10, Fold: true})
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseImported(a, s)
		if err != nil {
			return
		}
		kept, err := ParseKept(a.ID, c.Kept())
		typed, err2 := Read(a, s)
		if err != nil || err2 != nil || kept != c || !c.Is(typed) || !c.Is(c.Typed(a.ID)) {
			t.Fatalf("%q becomes %q: %v, %v", s, c.Kept(), err, err2)
		}
	})
}
