package merchant

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestItemNames(t *testing.T) {
	t.Parallel()
	var many []Item
	for n := range MaxItems {
		many = append(many, Item{ID: fmt.Sprint("I", n)})
	}
	for _, tt := range []struct {
		items []Item
		want  string
	}{
		{nil, ""},
		{[]Item{{ID: "LATTE", Name: ""}, {ID: "MOCHA", Name: "Mocha"}}, "LATTE, Mocha"},
		{[]Item{{ID: "L1", Name: "Latte"}, {ID: "L2", Name: "Latte"}, {ID: "M", Name: "Mocha"}}, "Latte, Mocha"},
		{many, "I0, I1, I2, I3, I4, I5, I6, I7, I8, I9 and 190 more"},
	} {
		if got := ItemNames(tt.items).String(); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.items, got, tt.want)
		}
	}
	for i := range many {
		many[i].Name = strings.Repeat("é", 195) + many[i].ID
	}
	if got := ItemNames(many).String(); utf8.RuneCountInString(got) > namedLetters ||
		!strings.HasSuffix(got, "and 199 more") {
		t.Errorf("long names: %q", got)
	}
}
