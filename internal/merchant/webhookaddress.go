package merchant

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"boon.example/internal/base/phrase"
	"boon.example/internal/contact"
)

// WebhookNetworks are those that the operator lets webhooks be in although they are not public, by http too. None:
// webhooks are called at public addresses, by https.
type WebhookNetworks []netip.Prefix

// notPublic are the networks that are nobody's on the internet, that lead back into other networks (mapped and
// translated addresses), and where clouds keep what only their machines may read.
var notPublic = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// globalIPv6 is all of IPv6 that is given out; what lies beside it (loopback, local, multicast, IPv4 in IPv6, the
// prefixes of NAT64) is refused as a whole.
var globalIPv6 = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, t := range texts {
		all = append(all, netip.MustParsePrefix(t))
	}
	return all
}

func (n WebhookNetworks) hold(a netip.Addr) bool {
	a = a.Unmap()
	return slices.ContainsFunc(n, func(p netip.Prefix) bool { return p.Contains(a) })
}

// May reports whether an address may be called at a port, over TLS or without.
func (n WebhookNetworks) May(at netip.AddrPort, secure bool) bool {
	a, port := at.Addr().Unmap(), at.Port()
	switch {
	case n.hold(a):
		return port > 0
	case !secure, !publicPort(port), !a.IsValid(), a.Zone() != "", a.Is6() && !globalIPv6.Contains(a):
		return false
	}
	return !slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(a) })
}

// publicPort reports whether webhooks are called at a port of public addresses.
func publicPort(port uint16) bool { return port == 443 || port >= 1024 }

// What is wrong with the address of an endpoint.
var (
	errPort         = phrase.New("The port of this address must be 443, or 1024 to 65535.")
	errNoWebhookURL = phrase.New("This must be an address such as https://example.com/hooks.")
	errNotHTTPS     = phrase.New("This address must begin with https://. Boon calls addresses by http only in networks " +
		"that the operator allows (boon serve --webhooks-allow).")
	errNotPublic = phrase.New("This host is not public: loopback, private, link-local and metadata addresses are not " +
		"called. Name a public host, or have the operator allow its network (boon serve --webhooks-allow). boon listen " +
		"sends events to your own machine.")
)

// CheckURL says what is wrong with the address of an endpoint. Which addresses the name of a host has is known only
// when it is called; they are checked then, with the port.
func (n WebhookNetworks) CheckURL(text string) error {
	if err := contact.CheckText(text, MaxWebhookURL, false); err != nil {
		return err
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "" || !isHost(u.Hostname()):
		return errNoWebhookURL
	case u.Scheme != "https" && (u.Scheme != "http" || len(n) == 0):
		return errNotHTTPS
	case u.User != nil:
		return phrase.New("This address may hold no user name or password: the messages are signed.")
	case u.Fragment != "" || strings.Contains(text, "#"):
		return phrase.New("This address may have no part after a #.")
	}
	secure, port := u.Scheme == "https", uint64(443)
	if !secure {
		port = 80
	}
	if u.Port() != "" || strings.HasSuffix(u.Host, ":") {
		if port, err = strconv.ParseUint(u.Port(), 10, 16); err != nil || port == 0 {
			return errPort
		}
	}
	if !publicPort(uint16(port)) && len(n) == 0 {
		return errPort
	}
	return n.checkHost(u.Hostname(), uint16(port), secure)
}

// checkHost refuses a host of which it is known before any call that it may not be called: an address, or a name that
// means this machine (RFC 6761) or has no meaning outside of a private network.
func (n WebhookNetworks) checkHost(host string, port uint16, secure bool) error {
	if a, err := netip.ParseAddr(host); err == nil {
		switch {
		case n.May(netip.AddrPortFrom(a, port), secure):
			return nil
		case !n.May(netip.AddrPortFrom(a, 443), true):
			return errNotPublic
		case !secure:
			return errNotHTTPS
		}
		return errPort
	}
	in := func(zone string) bool { return host == zone || strings.HasSuffix(host, "."+zone) }
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	switch last := host[strings.LastIndexByte(host, '.')+1:]; {
	case last == "" || last[0] >= '0' && last[0] <= '9': // 127.1 and 0x7f000001 are numbers to some resolvers
		return errNoWebhookURL
	case in("localhost") && !n.hold(netip.MustParseAddr("127.0.0.1")) && !n.hold(netip.IPv6Loopback()),
		(in("internal") || in("local")) && len(n) == 0:
		return errNotPublic
	}
	return nil
}

// isHost takes names and addresses in plain ASCII.
func isHost(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return len(host) <= 253 && !strings.ContainsFunc(host, func(r rune) bool {
		return r != '-' && r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}
