// Package clientip tells which client a request comes from: its address, also behind reverse proxies that are trusted
// to name it, and the network that its address belongs to. Limits on guessing count by network, and log lines name it.
package clientip

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Peer is the address at the other end of the connection.
func Peer(r *http.Request) netip.Addr {
	if a, ok := parse(r.RemoteAddr); ok {
		return a
	}
	return netip.IPv6Unspecified()
}

// The prefixes of a client's network: what one provider gives to one customer, more or less. A client with one address
// of it may have the others too.
const (
	bits4 = 24
	bits6 = 56
)

// Network is the network of an address, as it is counted and logged: 203.0.113.0/24, or 2001:db8:1:200::/56.
func Network(a netip.Addr) string {
	bits := bits6
	if a = normal(a); a.Is4() {
		bits = bits4
	}
	p, err := a.Prefix(bits)
	if err != nil || !p.IsValid() {
		return "unknown"
	}
	return p.String()
}

// Proxies are the networks of reverse proxies whose X-Forwarded-For is believed. None are trusted by default.
type Proxies []netip.Prefix

// ParseProxies reads networks and addresses, separated by commas: "10.0.0.0/8, 2001:db8::7". It refuses a network of
// all addresses: with it, every client could say who it is.
func ParseProxies(text string) (Proxies, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var all Proxies
	for part := range strings.SplitSeq(text, ",") {
		p, err := ParseNetwork(strings.TrimSpace(part))
		if errors.Is(err, ErrEverywhere) {
			return nil, fmt.Errorf("%w: each client could say that it is another one", err)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// ErrEverywhere is what is wrong with a network of all addresses.
var ErrEverywhere = errors.New("is every address there is")

// ParseNetwork reads one network, or one address, and gives it as it is compared: IPv4 as IPv4, and without the bits
// behind the prefix. It refuses a network of all addresses.
func ParseNetwork(text string) (p netip.Prefix, err error) {
	if a, ok := strictAddr(text); ok {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err = netip.ParsePrefix(text)
	switch {
	case err != nil:
		return p, fmt.Errorf("%q is not a network such as 10.0.0.0/8, nor an address", text)
	case p.Addr().Is4In6() && p.Bits() >= 96:
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	if p.Bits() == 0 {
		return p, fmt.Errorf("%q %w", text, ErrEverywhere)
	}
	return p.Masked(), nil
}

// strictAddr reads an address without port, brackets or zone.
func strictAddr(text string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(text)
	return a.Unmap(), err == nil && a.Zone() == ""
}

// Trust reports whether an address is a trusted proxy's.
func (p Proxies) Trust(a netip.Addr) bool {
	a = normal(a)
	for _, prefix := range p {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}

// Client is the address of the client that made a request. Each trusted proxy has added the address that it was called
// from at the end of X-Forwarded-For, so the list is read from its end, for as long as the address that wrote an
// element is trusted: what stands further left could have been written by anybody. Where an element is no address, the
// client is the proxy that wrote it.
func (p Proxies) Client(r *http.Request) netip.Addr {
	client := Peer(r)
	if len(p) == 0 {
		return client
	}
	lists := r.Header.Values("X-Forwarded-For")
	for n := len(lists) - 1; n >= 0; n-- {
		for rest := lists[n]; ; {
			comma := strings.LastIndexByte(rest, ',')
			if !p.Trust(client) {
				return client
			}
			a, ok := parse(strings.TrimSpace(rest[comma+1:]))
			if !ok {
				return client
			}
			client = a
			if comma < 0 {
				break
			}
			rest = rest[:comma]
		}
	}
	return client
}

// maxElement is the length of the longest text that is read as an address: an IPv6 address in brackets with its port.
const maxElement = 64

// parse reads an address with or without a port: 203.0.113.9, 203.0.113.9:4711, 2001:db8::7, [2001:db8::7],
// [2001:db8::7]:4711.
func parse(text string) (netip.Addr, bool) {
	if len(text) > maxElement {
		return netip.Addr{}, false
	}
	host, _, err := net.SplitHostPort(text)
	if err != nil {
		host = text
		if inner, ok := strings.CutPrefix(host, "["); ok && strings.HasSuffix(inner, "]") {
			host = strings.TrimSuffix(inner, "]")
		}
	}
	a, err := netip.ParseAddr(host)
	return normal(a), err == nil
}

// normal writes an address in the one way in which it is compared: IPv4 as IPv4, and without a zone.
func normal(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }
