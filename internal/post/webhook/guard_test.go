package webhook

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"testing"
)

// TestAddressesThatMayBeCalled: public addresses and no others, however they are written.
func TestAddressesThatMayBeCalled(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		address string
		may     bool
	}{
		{"93.184.215.14", true}, {"8.8.8.8", true}, {"2606:2800:220:1::1", true}, {"::ffff:8.8.8.8", true},
		{"172.15.255.255", true}, {"172.32.0.1", true}, {"100.63.255.255", true}, {"100.128.0.1", true},
		{"127.0.0.1", false}, {"127.8.8.8", false}, {"0.0.0.0", false}, {"0.1.2.3", false}, {"10.0.0.1", false},
		{"172.16.0.1", false}, {"172.31.255.255", false}, {"192.168.1.1", false}, {"169.254.169.254", false},
		{"169.254.170.2", false}, {"100.64.0.1", false}, {"100.100.100.200", false}, {"192.0.0.192", false},
		{"168.63.129.16", false}, {"192.0.2.1", false}, {"198.18.0.1", false}, {"198.51.100.1", false},
		{"203.0.113.1", false}, {"192.88.99.1", false}, {"224.0.0.1", false}, {"239.255.255.250", false},
		{"240.0.0.1", false}, {"255.255.255.255", false},
		{"::", false}, {"::1", false}, {"::ffff:127.0.0.1", false}, {"::ffff:169.254.169.254", false},
		{"::ffff:10.0.0.1", false}, {"::127.0.0.1", false}, {"64:ff9b::7f00:1", false}, {"64:ff9b::a9fe:a9fe", false},
		{"64:ff9b:1::1", false}, {"2002:7f00:1::", false}, {"2002:a9fe:a9fe::1", false}, {"2001::1", false},
		{"2001:db8::1", false}, {"3fff::1", false}, {"fe80::1", false}, {"fe80::1%eth0", false}, {"fec0::1", false},
		{"fd00:ec2::254", false}, {"fc00::1", false}, {"ff02::1", false}, {"100::1", false}, {"5f00::1", false},
		{"4000::1", false},
	} {
		a := netip.AddrPortFrom(netip.MustParseAddr(tt.address), 443)
		var g Guard
		if got := g.May(a, true); got != tt.may {
			t.Errorf("%s may be called: %t", tt.address, got)
		}
		if g.May(a, false) {
			t.Errorf("%s may be called without TLS", tt.address)
		}
	}
}

func TestExceptions(t *testing.T) {
	t.Parallel()
	allowed, err := ParseAllow("10.1.0.0/16, fd00:1::/32,")
	if err != nil {
		t.Fatal(err)
	}
	g := Guard{Allow: allowed}
	for address, may := range map[string]bool{"10.1.2.3": true, "::ffff:10.1.2.3": true, "fd00:1::5": true,
		"10.2.0.1": false, "127.0.0.1": false, "fd00:2::1": false} {
		for _, secure := range []bool{true, false} {
			if got := g.May(netip.AddrPortFrom(netip.MustParseAddr(address), 80), secure); got != may {
				t.Errorf("%s, TLS %t: %t", address, secure, got)
			}
		}
	}
	for _, other := range []string{"127.0.0.1", "8.8.8.8"} { // beside an allowed address of the same name
		var dialled []string
		g.Resolve = func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr(other), netip.MustParseAddr("10.1.2.3")}, nil
		}
		g.Dial = func(_ context.Context, _, address string) (net.Conn, error) {
			dialled = append(dialled, address)
			return nil, errors.New("away")
		}
		for _, port := range []string{"22", "0", "65536"} {
			_, err := g.connect(t.Context(), "tcp", "hooks.example:"+port, true)
			if err == nil {
				t.Errorf("port %s: connected", port)
			}
		}
		if !slices.Equal(dialled, []string{"10.1.2.3:22"}) {
			t.Errorf("beside %s: dialled %v", other, dialled)
		}
	}
	for _, wrong := range []string{"10.1.0.0", "10.1.2.3/16", "x/8", "10.0.0.0/33"} {
		if _, err := ParseAllow(wrong); err == nil {
			t.Errorf("%q was taken", wrong)
		}
	}
}

// TestANameIsResolvedOnce: what is dialled is an address that was checked, also when the name says something else the
// next time it is asked; a private address beside a public one is not tried.
func TestANameIsResolvedOnce(t *testing.T) {
	t.Parallel()
	asked := 0
	var dialled []string
	g := Guard{
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			if asked++; asked > 1 {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("8.8.8.8"),
				netip.MustParseAddr("::ffff:9.9.9.9")}, nil
		},
		Dial: func(_ context.Context, _, address string) (net.Conn, error) {
			dialled = append(dialled, address)
			return nil, errors.New("away")
		},
	}
	if _, err := g.connect(t.Context(), "tcp", "rebind.example:443", true); err == nil || errors.Is(err, errNoAddress) {
		t.Error(err)
	}
	if asked != 1 || len(dialled) != 2 || dialled[0] != "8.8.8.8:443" || dialled[1] != "9.9.9.9:443" {
		t.Errorf("asked %d times, dialled %v", asked, dialled)
	}
	if _, err := g.connect(t.Context(), "tcp", "rebind.example:443", true); !errors.Is(err, errNoAddress) {
		t.Error(err)
	}
	for _, literal := range []string{"127.0.0.1:443", "[::1]:443", "[::ffff:10.0.0.1]:443", "[64:ff9b::a00:1]:443"} {
		if _, err := g.connect(t.Context(), "tcp", literal, true); !errors.Is(err, errNoAddress) {
			t.Errorf("%s: %v", literal, err)
		}
	}
	if len(dialled) != 2 {
		t.Errorf("dialled %v", dialled)
	}
}
