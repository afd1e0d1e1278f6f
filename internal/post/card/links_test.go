package card

import (
	"regexp"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
)

// linkable is what mail clients, phones and browsers make links of, rather too much than too little. Invisible
// characters are taken out before, as browsers do.
var linkable = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\p{L}:[/\p{L}\d+]`),              // http://…, mailto:…, tel:…, javascript:…
	regexp.MustCompile(`(?i)[\p{L}\p{N}_-]\pM*[.．｡․﹒]\p{L}`), // evil.example, a@evil.example
	// the same with an ideographic dot, which ends sentences too
	regexp.MustCompile(`(?i)[\p{L}\p{N}_-]。[a-z\p{Cyrillic}]`),
	regexp.MustCompile(`(?i)\bwww[.。．｡․﹒][^\s]`),             // www.7
	regexp.MustCompile(`\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}`), // a host's number
}

var invisible = strings.NewReplacer("\u200b", "", "\u200c", "", "\u200d", "", "\u2060", "", "\ufeff", "", "\u00ad", "")

func links(s string) (found []string) {
	for _, pattern := range linkable {
		found = append(found, pattern.FindAllString(invisible.Replace(s), -1)...)
	}
	if m := regexp.MustCompile(`\d[ .()/-]{0,2}\d[ .()/-]{0,2}\d[ .()/-]{0,2}\d[ .()/-]{0,2}\d[ .()/-]{0,2}\d[ .()/-]{0,2}\d`).FindString(s); m != "" {
		found = append(found, m)
	}
	return found
}

var hostileLinks = []string{
	"http://evil.example", "https://evil.example/pay?x=1", "HTTP://EVIL.EXAMPLE", "www.x.com", "www.7eleven.com",
	"evil.example/pay", "evil.example",
	"a@evil.example", "mailto:a@evil.example", "tel:+14155550132", "sms:12345", "javascript:alert(1)", "ftp://x",
	"http:/evil", "data:text/html,x",
	"evil\u200b.example", "evil.\u200bexample", "evil\u2060.\u2060example", "evil。example", "evil．example", "evil｡com",
	"evil․com", "e\u0301vil.com",
	"xn--e1afmkfd.xn--p1ai", "пример.рф", "пример．рф", "пример。рф", "evil｡рф", "Pay at bank.example, now",
	"(evil.example)", "\"evil.example\"",
	"evil.example.", "..evil.example", "evil..example",
	"192.0.2.1/pay", "http://192.0.2.1", "415-555-0132", "+1 (415) 555-0132", "4155550132", "415.555.0132", "0900 123 456",
	"Hi.Visit evil.example",
	"evil.co.uk", "1.evil.com", "evil.example:8080/x", "user:pass@evil.example",
}

func TestSendersWriteNoLinks(t *testing.T) {
	t.Parallel()
	if len(links("http://evil.example 415-555-0132")) < 3 {
		t.Fatal("links are not found")
	}
	for _, text := range hostileLinks {
		got := unlinked(Line(text))
		if found := links(got); len(found) > 0 {
			t.Errorf("%q becomes %q, with %q", text, got, found)
		}
		if bare := strings.NewReplacer(" ", "", "\u2060", ""); bare.Replace(got) != bare.Replace(text) {
			t.Errorf("%q becomes %q, which is not the same text", text, got)
		}
		if again := unlinked(got); strings.ReplaceAll(again, "\u2060", "") != strings.ReplaceAll(got, "\u2060", "") {
			t.Errorf("%q becomes %q, then %q", text, got, again)
		}
		g, a := &gift.Gift{}, &merchant.Account{Name: "Harbor Coffee"}
		c := &g.Card
		c.Sender, c.Recipient, c.Message, c.Label, c.Terms, c.PromotionalTerms, g.Item = text, text, "Hello\n"+text, text,
			text, text, true
		v := New(g, a, time.Now())
		for _, shown := range append([]string{v.Sender, v.Recipient, v.Worth.String(), v.Balance.String(), v.Notice},
			append(v.Message, v.Terms...)...) {
			if found := links(shown); len(found) > 0 {
				t.Errorf("%q shows %q, with %q", text, shown, found)
			}
		}
	}
	if err := quick.Check(func(a, b string) bool {
		return len(links(unlinked(Line(a+".com"+b+"://x")))) == len(links(""))
	}, nil); err != nil {
		t.Error(err)
	}
}

// TestPlainWordsStay: what no program makes a link of is shown as it was written.
func TestPlainWordsStay(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Happy birthday, Ana!", "See you on Friday. Bring cake.", "$25.50", "at 12:30", "Mr. & Mrs. Lee", "wait ...",
		"お誕生日おめでとう。楽しんで。", "v1.2", ":-)", "Note: bring this", "{{.Code}}", ".NET", "3/4", "50 % off",
	} {
		if got := unlinked(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
