package merchant

import (
	"slices"
	"strings"
	"testing"

	"boon.example/internal/refusal"
)

func TestRoles(t *testing.T) {
	t.Parallel()
	for role, want := range map[string]string{
		"till":   "validate redeem reverse",
		"shop":   "send cancel resend look-up link",
		"office": "reverse cancel resend look-up",
		"desk":   "reverse cancel resend look-up block extend replace link",
		"manager": "validate redeem reverse send cancel resend look-up transfer activate stock reload block extend " +
			"cash-out replace tills link",
		"bookkeeper": "look-up events audit reports import",
		"platform":   "look-up webhooks events",
		"owner": "validate redeem reverse send cancel resend look-up transfer activate stock reload adjust block extend " +
			"cash-out replace webhooks events audit tills reports import tills-only link",
		"all": "validate redeem reverse send cancel resend look-up codes transfer activate stock export reload adjust " +
			"block extend cash-out replace webhooks events audit tills reports import tills-only link",
	} {
		p, ok := RoleByName(role)
		if got := strings.Join(p.Names(), " "); !ok || got != want || p.String() != role {
			t.Errorf("%s is %q and calls itself %s, want %q", role, got, p, want)
		}
	}
	if p, ok := RoleByName("king"); ok || p != 0 {
		t.Errorf("an unknown role may %s", p)
	}
	if len(RoleNames()) != 9 {
		t.Errorf("the roles are %q", RoleNames())
	}
}

// TestAListIsKeptAsAList: a set of all names has no more in a later version; the role all has.
func TestAListIsKeptAsAList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set  Permissions
		kept string
	}{{Everything, "all"}, {AllPermissions, strings.Join(PermissionNames(), " ")}, {MayRedeem, "redeem"}, {0, ""}} {
		text, err := c.set.MarshalText()
		var again Permissions
		if err != nil || string(text) != c.kept || again.UnmarshalText(text) != nil || again != c.set {
			t.Errorf("%s is kept as %q, %v, and read as %s", c.set, text, err, again)
		}
	}
	if AllPermissions.String() == Everything.String() {
		t.Errorf("a list of all permissions calls itself %s", AllPermissions)
	}
}

// TestEveryPermissionIsInARole: a merchant who gives roles needs all only for what reads codes.
func TestEveryPermissionIsInARole(t *testing.T) {
	t.Parallel()
	for _, name := range PermissionNames() {
		p, _ := PermissionByName(name)
		roles := slices.DeleteFunc(RoleNames(), func(role string) bool {
			may, _ := RoleByName(role)
			return role == "all" || !may.Has(p)
		})
		if codes := p == MaySeeCodes || p == MayExport; codes != (len(roles) == 0) {
			t.Errorf("%s is in the roles %q", name, roles)
		}
	}
}

func TestPermissionNames(t *testing.T) {
	t.Parallel()
	var all Permissions
	for _, name := range PermissionNames() {
		p, ok := PermissionByName(name)
		if !ok || len(p.Names()) != 1 || p.Names()[0] != name || all.Has(p) {
			t.Errorf("%s is %d, named %q", name, p, p.Names())
		}
		all |= p
	}
	if all != AllPermissions {
		t.Errorf("together they are %s", all)
	}
	if p, ok := PermissionByName("fly"); ok {
		t.Errorf("there is a permission to fly: %s", p)
	}
	if got := (MayLookUp | MaySeeCodes).String(); got != "look-up, codes" {
		t.Errorf("a set without a role's name is %q", got)
	}
}

func TestPermit(t *testing.T) {
	t.Parallel()
	till := &Caller{Permissions: MayValidate | MayRedeem}
	if err := till.Permit(MayRedeem, false); err != nil || !till.May(MayRedeem) {
		t.Errorf("redeeming: %v", err)
	}
	if err := till.Permit(0, false); err != nil {
		t.Errorf("what needs no permission: %v", err)
	}
	err := till.Permit(MaySend, true)
	if codeOf(t, err) != refusal.NotAuthorized || !strings.Contains(err.Error(),
		"may not send gifts: it lacks the permission send.") || till.May(MaySend) {
		t.Errorf("sending: %v", err)
	}
	system := &Caller{Kind: SystemKey, Name: "site", Permissions: SystemPermissions}
	if err := system.Permit(MaySend, true); err != nil || !system.MayCall(true) {
		t.Errorf("a system key sends: %v", err)
	}
	if err := system.Permit(MayCancel, false); codeOf(t, err) != refusal.NotSupported || system.MayCall(false) {
		t.Errorf("a system key reinstates: %v", err)
	}
}
