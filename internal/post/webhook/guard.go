package webhook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"boon.example/internal/merchant"
)

// Guard says which addresses may be called. The zero value lets public ones through, at ports that are not other
// services', and no other.
type Guard struct {
	// Allow lists networks that may be called all the same, by http too.
	Allow []netip.Prefix
	// Resolve finds the addresses of a host; nil: the system's resolver.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Dial connects to an address that may be called; nil: the system does.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// ParseAllow reads a list of networks such as 10.1.0.0/16,fd00::/8.
func ParseAllow(list string) (allowed []netip.Prefix, _ error) {
	for text := range strings.SplitSeq(list, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%q is no network such as 10.1.0.0/16", text)
		}
		if p.Masked() != p {
			return nil, fmt.Errorf("%s has bits beyond its length; the network is %s", p, p.Masked())
		}
		allowed = append(allowed, p)
	}
	return allowed, nil
}

// May reports whether an address may be called at a port, over TLS or without.
func (g *Guard) May(at netip.AddrPort, secure bool) bool {
	return merchant.WebhookNetworks(g.Allow).May(at, secure)
}

// errNoAddress says nothing about which addresses a name has, nor whether it has one: names of a private network are
// nobody's business.
var errNoAddress = errors.New("The host has no address that may be called.")

// maxAddresses is how many addresses of a host are tried.
const maxAddresses = 3

// connect resolves the host of an address once and connects to the first of its addresses that may be called and
// answers. No name is resolved after the check.
func (g *Guard) connect(ctx context.Context, network, address string, secure bool) (net.Conn, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, errNoAddress
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, errNoAddress
	}
	found, err := g.resolve(ctx, host)
	if err != nil {
		return nil, errNoAddress
	}
	found = slices.DeleteFunc(found, func(a netip.Addr) bool {
		return !g.May(netip.AddrPortFrom(a, uint16(port)), secure)
	})
	if len(found) == 0 {
		return nil, errNoAddress
	}
	dial := g.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	for _, a := range found[:min(len(found), maxAddresses)] {
		var c net.Conn
		if c, err = dial(ctx, network, net.JoinHostPort(a.Unmap().String(), text)); err == nil {
			return c, nil
		}
	}
	return nil, err
}

func (g *Guard) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	if g.Resolve != nil {
		return g.Resolve(ctx, host)
	}
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}
