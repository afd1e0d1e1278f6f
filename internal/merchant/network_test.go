package merchant

import (
	"net/netip"
	"strings"
	"testing"

	"boon.example/internal/refusal"
)

func TestNetworksAdmit(t *testing.T) {
	t.Parallel()
	office := Networks{netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("198.51.100.7/32"),
		netip.MustParsePrefix("2001:db8:1::/48")}
	for from, want := range map[string]bool{
		"203.0.113.0": true, "203.0.113.255": true, "203.0.112.255": false, "203.0.114.0": false,
		"198.51.100.7": true, "198.51.100.6": false, "198.51.100.8": false,
		"::ffff:203.0.113.9": true, "::ffff:203.0.114.9": false, "::203.0.113.9": false, "64:ff9b::203.0.113.9": false,
		"2001:db8:1::": true, "2001:db8:1:ffff:ffff:ffff:ffff:ffff": true, "2001:db8:2::": false,
		"2001:db8:0:ffff::": false, "2001:db8:1::7%eth0": true, "::": false, "0.0.0.0": false,
	} {
		err := office.Admit(netip.MustParseAddr(from))
		if (err == nil) != want || err != nil && codeOf(t, err) != refusal.NotAuthorized {
			t.Errorf("from %s: %v", from, err)
		}
		if err := (Networks)(nil).Admit(netip.MustParseAddr(from)); err != nil {
			t.Errorf("without networks, from %s: %v", from, err)
		}
	}
	if err := office.Admit(netip.Addr{}); codeOf(t, err) != refusal.NotAuthorized {
		t.Errorf("from nowhere: %v", err)
	}
	const want = "This key may not be used from 203.0.114.9."
	err := office.Admit(netip.MustParseAddr("::ffff:203.0.114.9"))
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if got := office.String() + ", " + Networks(nil).String(); got != "203.0.113.0/24 198.51.100.7/32 2001:db8:1::/48, "+
		"everywhere" {
		t.Error(got)
	}
}
