package merchant

import (
	"net/netip"
	"slices"
	"strings"

	"boon.example/internal/refusal"
)

// MaxNetworks is to how many networks a key can be limited.
const MaxNetworks = 100

// Networks are where a key may be used from; none: everywhere.
type Networks []netip.Prefix

// Admit refuses with NOT_AUTHORIZED a call that comes from an address outside, and names that address. It does not tell
// which networks there are.
func (n Networks) Admit(from netip.Addr) error {
	if len(n) == 0 {
		return nil
	}
	from = from.Unmap().WithZone("")
	for _, p := range n {
		if p.Contains(from) {
			return nil
		}
	}
	return refusal.New(refusal.NotAuthorized, "This key may not be used from %s.", from)
}

// Outside gives those of some networks that are not within these; nil: all are, or these are everywhere.
func (n Networks) Outside(some Networks) (outside Networks) {
	for _, p := range some {
		within := func(q netip.Prefix) bool { return q.Bits() <= p.Bits() && q.Contains(p.Addr()) }
		if len(n) > 0 && !slices.ContainsFunc(n, within) {
			outside = append(outside, p)
		}
	}
	return outside
}

// String lists them.
func (n Networks) String() string {
	if len(n) == 0 {
		return "everywhere"
	}
	all := make([]string, len(n))
	for i, p := range n {
		all[i] = p.String()
	}
	return strings.Join(all, " ")
}

// Sorted gives the networks in the one order in which they are stored.
func (n Networks) Sorted() Networks { return slices.SortedFunc(slices.Values(n), netip.Prefix.Compare) }
