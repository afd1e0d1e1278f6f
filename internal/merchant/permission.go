package merchant

import (
	"slices"
	"strings"

	"boon.example/internal/base/phrase"
	"boon.example/internal/refusal"
)

// Permissions is a set of things that an API key may do. The zero value is the empty set.
type Permissions uint32

// The permissions, each a set of one.
const (
	MayValidate  Permissions = 1 << iota // validate-gift
	MayRedeem                            // redeem-gift
	MayReverse                           // reverse-redemption
	MaySend                              // send-gift
	MayCancel                            // cancel-gift, and taking that back
	MayResend                            // resend-gift and reschedule-gift
	MayLookUp                            // gifts, their histories and lists
	MaySeeCodes                          // codes, tokens and links in what is looked up
	MayTransfer                          // transfer-balance
	MayActivate                          // activate-gift and reverse-activation
	MayStock                             // create-stock
	MayExport                            // the codes of a stock
	MayReload                            // reload-gift, and taking that back
	MayAdjust                            // adjust-gift
	MayBlock                             // block-gift and unblock-gift
	MayExtend                            // extend-gift
	MayCashOut                           // cash-out-gift
	MayReplace                           // replace-gift
	MayWebhooks                          // webhooks
	MaySeeEvents                         // the events of the account
	MayAudit                             // the audit trail of the account
	MayTills                             // pair tills and switch them off, and set PINs
	MayReport                            // the reports of the books
	MayImport                            // see imports of gifts of other systems; together with MaySeeCodes, import
	MayTillsOnly                         // take cards of other systems that are taken at tills only
	MayLink                              // link-customer and unlink-customer

	// AllPermissions are those of this version.
	AllPermissions = MayLink<<1 - 1
	// Everything is the role all: it has what a later version adds, too.
	Everything = AllPermissions | 1<<31
	// SystemPermissions are those of every system key; what it made itself is all that it may cancel and look up.
	SystemPermissions = MaySend | MayCancel | MayLookUp
)

// permissionNames has the permissions in the order of their bits, with what a key without one is told.
var permissionNames = []struct {
	name   string
	cannot phrase.Text
}{
	{"validate", "validate gifts"},
	{"redeem", "redeem gifts"},
	{"reverse", "reverse redemptions"},
	{"send", "send gifts"},
	{"cancel", "cancel gifts"},
	{"resend", "send gifts again"},
	{"look-up", "look gifts up"},
	{"codes", "see codes"},
	{"transfer", "move value between gifts"},
	{"activate", "activate cards"},
	{"stock", "make cards"},
	{"export", "export codes"},
	{"reload", "reload gifts"},
	{"adjust", "adjust gifts"},
	{"block", "block gifts"},
	{"extend", "extend gifts"},
	{"cash-out", "cash gifts out"},
	{"replace", "replace cards"},
	{"webhooks", "manage webhooks"},
	{"events", "read events"},
	{"audit", "read the audit trail"},
	{"tills", "manage tills and PINs"},
	{"reports", "read reports"},
	{"import", "import gifts"},
	{"tills-only", "take cards that are taken at tills only"},
	{"link", "link gifts to customers"},
}

// roles are the sets of permissions that have a name.
var roles = []struct {
	name string
	may  Permissions
}{
	{"till", TillRole},
	{"shop", MaySend | MayCancel | MayResend | MayLookUp | MayLink},
	{"office", MayLookUp | MayCancel | MayResend | MayReverse},
	{"desk", deskRole},
	{"manager", deskRole | TillPermissions | MaySend | MayTransfer | MayStock | MayTills},
	{"bookkeeper", MayLookUp | MaySeeEvents | MayAudit | MayReport | MayImport},
	{"platform", MayLookUp | MaySeeEvents | MayWebhooks},
	{"owner", AllPermissions &^ (MaySeeCodes | MayExport)}, // whoever reads codes can spend all gifts
	{"all", Everything},
}

// deskRole is for whoever hears of lost cards, wrong addresses and double charges.
const deskRole = MayLookUp | MayResend | MayCancel | MayBlock | MayReplace | MayReverse | MayExtend | MayLink

// RoleNames lists the roles.
func RoleNames() (names []string) {
	for _, r := range roles {
		names = append(names, r.name)
	}
	return names
}

// RoleByName gives what a role may do.
func RoleByName(name string) (_ Permissions, ok bool) {
	for _, r := range roles {
		if r.name == name {
			return r.may, true
		}
	}
	return 0, false
}

// PermissionNames lists the permissions.
func PermissionNames() []string { return AllPermissions.Names() }

// PermissionByName finds a permission.
func PermissionByName(name string) (_ Permissions, ok bool) {
	i := slices.Index(PermissionNames(), name)
	return 1 << max(i, 0), i >= 0
}

// Has reports whether all of some permissions are in the set.
func (p Permissions) Has(all Permissions) bool { return p&all == all }

// Names lists the permissions in the set.
func (p Permissions) Names() (names []string) {
	for i, n := range permissionNames {
		if p.Has(1 << i) {
			names = append(names, n.name)
		}
	}
	return names
}

// everyPermission is Everything as it is kept.
const everyPermission = "all"

// MarshalText writes the set for keeping: the names with spaces between them, or "all". A set of all names is kept as
// names, so that it has no more in a later version.
func (p Permissions) MarshalText() ([]byte, error) {
	if p == Everything {
		return []byte(everyPermission), nil
	}
	return []byte(strings.Join(p.Names(), " ")), nil
}

// UnmarshalText reads what MarshalText wrote. What a newer version named is nothing that this one could do.
func (p *Permissions) UnmarshalText(text []byte) error {
	if *p = 0; string(text) == everyPermission {
		*p = Everything
		return nil
	}
	for name := range strings.FieldsSeq(string(text)) {
		if one, known := PermissionByName(name); known {
			*p |= one
		}
	}
	return nil
}

// String names the set: by its role if it is one, else by its members.
func (p Permissions) String() string {
	for _, r := range roles {
		if r.may == p {
			return r.name
		}
	}
	return strings.Join(p.Names(), ", ")
}

// May reports whether the caller has a permission.
func (c *Caller) May(p Permissions) bool { return c.Permissions.Has(p) }

// MayCall reports whether an operation is there for the caller; open tells that it is for system keys too.
func (c *Caller) MayCall(open bool) bool { return open || c.Kind != SystemKey }

// Permit refuses a system key with NOT_SUPPORTED an operation that is not open to it, and any caller with
// NOT_AUTHORIZED what it has no permission for, and names the one that is missing.
func (c *Caller) Permit(needed Permissions, open bool) error {
	if !c.MayCall(open) {
		return refusal.New(refusal.NotSupported, "A system key sends gifts and looks after those that it made; this call "+
			"needs the key of an account.")
	}
	for i, n := range permissionNames {
		if missing := needed &^ c.Permissions; missing.Has(1 << i) {
			return c.lacks(n.cannot, n.name)
		}
	}
	return nil
}
