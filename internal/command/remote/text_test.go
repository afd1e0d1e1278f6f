package remote

import (
	"errors"
	"strings"
	"testing"

	"boon.example/internal/command/terminal"
)

func TestWhatAPersonTypes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ typed, code, token string }{
		{"482913375026", "482913375026", ""}, {"4829 1337 5026", "482913375026", ""}, {"4829-1337-5026", "482913375026", ""},
		{"http://x/g/abc", "", "http://x/g/abc"}, {"４８２９１３３７５０２６", "482913375026", ""},
		{"00000000-0000-4000-8000-000000000001", "", "00000000-0000-4000-8000-000000000001"},
		{strings.Repeat("7", 22), "", strings.Repeat("7", 22)}, {"", "", ""},
		{" 482 913 375 026\n", "482913375026", ""}, {"4829\u00a01337\u20135026", "482913375026", ""},
		{" http://x/g/abc ", "", "http://x/g/abc"},
		{"6006 1234 5678 9012", "6006123456789012", ""}, {"0006-123-4", "00061234", ""}, {"GIFT-oI-0123", "GIFToI0123", ""},
		{";6006123456789012=991212345?", "6006123456789012", ""}, {"hello there", "", "hello there"},
	} {
		code, token, err := secret(strings.Split(tt.typed, " "))
		if code != tt.code || token != tt.token || err != nil {
			t.Errorf("secret(%q) = %q, %q, %v", tt.typed, code, token, err)
		}
	}
	for typed, want := range map[string]string{"482": "this code has 3.", strings.Repeat("48", 17): "this code has 34.",
		"48-13": "this code has 4.", "4829/1337/5026": "spaces, dashes and dots"} {
		_, _, err := secret(strings.Split(typed, " "))
		if _, usage := errors.AsType[terminal.UsageError](err); !usage || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), typed) {
			t.Errorf("secret(%q) is refused with %v, want %q and not the code", typed, err, want)
		}
	}
	for _, tt := range []struct{ typed, name, contact string }{
		{"ana@example.com", "", "ana@example.com"}, {"Ana Lima <ana@example.com>", "Ana Lima", "ana@example.com"},
		{"<415-555-0132>", "", "415-555-0132"}, {"Ana <ana@example.com", "", "Ana <ana@example.com"},
	} {
		if name, contact := named(tt.typed); name != tt.name || contact != tt.contact {
			t.Errorf("named(%q) = %q, %q", tt.typed, name, contact)
		}
	}
}
