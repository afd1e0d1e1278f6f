package server

import (
	"net"
	"strings"
	"testing"
)

// TestUnknownNames: whoever names a machine that there is not is told so, in no words of a library.
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]net.DNSError{
		"--listen: there is no machine of the name foo: give": {Err: "no such host", Name: "foo", IsNotFound: true},
		"--listen: whether there is a machine of the name foo cannot be found out (lookup foo: timeout)": {Err: "timeout",
			Name: "foo", IsTimeout: true},
	} {
		failed := &net.OpError{Op: "listen", Net: "tcp", Err: &err}
		if got := (wanted{"--listen", "foo:80"}).notListening(failed).Error(); !strings.HasPrefix(got, want) ||
			strings.Contains(got, "no such host") || strings.Contains(got, "listen tcp") {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}
