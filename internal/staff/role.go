package staff

import (
	"slices"

	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// Role is what a member of the staff may do.
type Role string

// The roles.
const (
	Owner      Role = "owner"
	Manager    Role = "manager"
	Bookkeeper Role = "bookkeeper"
	Cashier    Role = "cashier"
)

// AdjustLimit is up to how much a role that is not an owner's may add to a gift at once, in units of the account's
// currency. It catches slips. It is no limit for a day: who does it again and again is seen in the activity of the
// account, by name.
const AdjustLimit money.Amount = 100

// roles is the table of roles, from the one that may do most. The console shows it.
var roles = []struct {
	role Role
	may  merchant.Permissions
}{
	{Owner, merchant.AllPermissions},
	{Manager, merchant.MayLookUp | merchant.MaySend | merchant.MayResend | merchant.MayCancel | merchant.MayBlock |
		merchant.MayReplace | merchant.MayReverse | merchant.MayExtend | merchant.MayTransfer | merchant.MayStock |
		merchant.MayAdjust},
	// A bookkeeper takes lists along without codes: those need the permission for codes or, of a stock, for cards.
	{Bookkeeper, merchant.MayLookUp | merchant.MayReport | merchant.MayImport | merchant.MayExport},
	{Cashier, merchant.TillRole},
}

// Roles lists the roles, from the one that may do most.
func Roles() (all []Role) {
	for _, r := range roles {
		all = append(all, r.role)
	}
	return all
}

// RoleNames lists the names of the roles.
func RoleNames() (names []string) {
	for _, r := range Roles() {
		names = append(names, string(r))
	}
	return names
}

// Known reports whether there is such a role.
func (r Role) Known() bool { return slices.Contains(Roles(), r) }

// May is what the role may do; nothing for one that is not known.
func (r Role) May() merchant.Permissions {
	for _, row := range roles {
		if row.role == r {
			return row.may
		}
	}
	return 0
}
