package codes_test

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"boon.example/internal/gift/codes"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// TestReadActivationCode: as scanners and people write it, and nothing else.
func TestReadActivationCode(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"4829135760248137", "4829 1357 6024 8137", "4829-1357-6024-8137", "]C14829135760248137\r\n",
		"４８２９１３５７６０２４８１３７", " 4829.1357.6024.8137\t"} {
		if c, err := codes.ReadActivationCode(s); err != nil || c.Reveal() != "4829135760248137" {
			t.Errorf("%q is %q: %v", s, c.Reveal(), err)
		}
	}
	for _, s := range []string{"", "482913576024", "482913576024813", "48291357602481370", "482913576024813x",
		";4829135760248137=99?", strings.Repeat(" ", 300) + "4829135760248137"} {
		if _, err := codes.ReadActivationCode(s); !errors.Is(err, refusal.InvalidCodeFormat) {
			t.Errorf("%q is read: %v", s, err)
		}
	}
}

// TestNewActivationCode: what is drawn is read as it was drawn, shows itself to no log, and is one of as many as there
// are said to be.
func TestNewActivationCode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		random := rapid.SliceOfN(rapid.Byte(), 4096, 4096).Draw(t, "random")
		c, err := codes.NewActivationCode(strings.NewReader(string(random)))
		if err != nil {
			t.Skip("no number was drawn of this")
		}
		text := c.Reveal()
		read, err := codes.ReadActivationCode(c.Grouped())
		if err != nil || read != c || !c.Is(read) || text[0] == '0' || len(text) != codes.ActivationDigits {
			t.Fatalf("%s was drawn, and read as %s: %v", text, read.Reveal(), err)
		}
		for _, shown := range []string{fmt.Sprint(c), fmt.Sprintf("%#v", struct{ C codes.ActivationCode }{c})} {
			if strings.Contains(shown, text) {
				t.Fatalf("it shows itself: %s", shown)
			}
		}
		if n, ok := new(big.Int).SetString(text, 10); !ok || n.Sub(n, big.NewInt(1e15)).Cmp(codes.ActivationSpace()) >= 0 {
			t.Fatalf("%s is beyond the space", text)
		}
	})
}

// TestActivationCodesCannotBeGuessed: a key that tries numbers for as long as it is answered hits none of ten million
// live ones within a year, as of no form of codes: see merchant.Guessable.
func TestActivationCodesCannotBeGuessed(t *testing.T) {
	t.Parallel()
	const live = 10_000_000
	if merchant.Guessable(codes.ActivationSpace(), live) {
		t.Error("activation codes are guessed within a year")
	}
	years := new(big.Int).Div(codes.ActivationSpace(), big.NewInt(live*merchant.GuessesInAYear))
	if years.Cmp(big.NewInt(20_000)) < 0 {
		t.Errorf("a key needs %v years to a hit", years)
	}
}
