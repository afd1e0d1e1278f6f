package print

import (
	"context"
	"strings"
	"testing"

	"boon.example/internal/post/card"
)

// TestAtTheLimits: names of 200 characters, a message of 1,000 and terms of 4,000, in words and in one word that must
// be cut, are whole on the paper; on a small card a long message is announced instead, and names and code are whole.
func TestAtTheLimits(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"Mississippi ", "W", "Ωж"} {
		long := func(n int) string { return strings.TrimSpace(string([]rune(strings.Repeat(word, n))[:n])) }
		c := aCard()
		c.Logo = logo(t)
		c.View.Merchant, c.View.Headline, c.View.Sender, c.View.Recipient = long(200), long(200), long(200), long(200)
		c.View.Worth = card.Worth{Number: "10000", Unit: long(200), Item: true}
		c.View.Balance = c.View.Worth
		c.View.Message, c.View.Terms, c.View.Footer = []string{long(1000)}, []string{long(4000),
			long(4000)}, []string{long(500)}
		for _, paper := range []Paper{Letter, A4} {
			p := printGift(t, c, paper)
			checkEdges(t, p)
			for _, n := range []int{200, 500, 1000, 4000} {
				p.hasWhole(t, n, long(n))
			}
			pdf, err := BuiltIn().Order(context.Background(), []Card{c, c}, paper)
			if err != nil {
				t.Fatal(err)
			}
			sheet := open(t, pdf)
			checkEdges(t, sheet)
			sheet.hasWhole(t, 200, "10000 × "+long(200))
			sheet.hasWhole(t, 200, "For "+long(200))
			if text := sheet.text(); !strings.Contains(text, "There is a message for you: scan the code.") ||
				strings.Count(text, c.View.Code) != 2 {
				t.Errorf("%.2q: the sheet does not announce the message, or lacks the code", word)
			}
		}
	}
}
