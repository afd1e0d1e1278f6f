package normalize

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestLongRunsOfMarksStayAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ in, want string }{
		"one mark many times": {"a" + strings.Repeat("\u0308", 50), "\u00e4" + strings.Repeat("\u0308", 49)},
		"marks in the wrong order": {"a" + strings.Repeat("\u0302\u0323", 40), "\u1ead" + strings.Repeat("\u0323",
			39) + strings.Repeat("\u0302", 39)},
		"nothing before them": {strings.Repeat("\u0301", 40), strings.Repeat("\u0301", 40)},
		"a joiner that the sender wrote": {"e\u034f\u0301" + strings.Repeat("\u0301", 40), "e\u034f\u0301" +
			strings.Repeat("\u0301", 40)},
		"short": {"e\u0301", "\u00e9"},
	} {
		if got := String(tt.in); got != tt.want {
			t.Errorf("%s: %+q, want %+q", name, got, tt.want)
		}
		if got := String(tt.want); got != tt.want {
			t.Errorf("%s: the NFC of the NFC is another: %+q", name, got)
		}
	}
}

func TestDomainsHaveOneForm(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"anna@example.com": "anna@example.com", "Anna@EXAMPLE.com": "Anna@example.com", "415-555-0132": "415-555-0132",
		"Anna": "Anna", "": "", "@": "@", "a@ｅxample.com": "a@example.com", "a@example。com": "a@example.com",
		"a@𝐠mail.com": "a@gmail.com", "a@ℊmail.com": "a@gmail.com", "a@xn--mnchen-3ya.example": "a@münchen.example",
		"a@XN--MNCHEN-3YA.example": "a@münchen.example", "a@MU\u0308NCHEN.example": "a@münchen.example",
		"a@straße.example": "a@straße.example", "ｚoe\u0308@x.example": "ｚoë@x.example", `"a@B.C"@D.example`: `"a@B.C"@d.example`,
		"a@xn--gmail-.com": "a@xn--gmail-.com", "a@exa mple.com": "a@exa mple.com", "a@b_c.Example": "a@b_c.Example",
		"a@ｂ＠c.example": "a@ｂ＠c.example", "a@b\xff.example": "a@b\xff.example",
	} {
		if got := Address(given); got != want {
			t.Errorf("%+q: %+q, want %+q", given, got, want)
		}
		if again := Address(want); again != want {
			t.Errorf("%+q becomes %+q", want, again)
		}
	}
}

// TestSlowIsNFC: where package norm puts nothing in, both ways give the same.
func TestSlowIsNFC(t *testing.T) {
	t.Parallel()
	letters := []rune("aAeo가\u1100\u1161\u11a8\u0300\u0301\u0302\u0308\u0323\u0327\u0344" +
		"\u0958\u09c7\u09be\u0b47\u0b3e\u1ea1\u00e2\u212b\u2126\U0001d15e\uf900\u034f\u0f71\u0f72 ")
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(letters), rapid.Rune()), 0, 12).Draw(t, "text"))
		if got, want := slow(s), norm.NFC.String(s); got != want {
			t.Fatalf("%+q: %+q, want %+q", s, got, want)
		}
	})
}

// BenchmarkHostile is a body of marks and nothing else, in as many texts as one request may have.
func BenchmarkHostile(b *testing.B) {
	text := strings.Repeat("\u0302\u0323", 500)
	b.SetBytes(1000 * int64(len(text)))
	for b.Loop() {
		for range 1000 {
			String(text)
		}
	}
}
