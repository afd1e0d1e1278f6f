package today

import (
	"boon.example/internal/face/console/desk"
	"boon.example/internal/merchant"
	"boon.example/internal/service"
	"boon.example/internal/staff"
)

// step is something that a new shop does next: the address of the page on which it is done, and what it is called.
type step struct{ To, Name, Text string }

// steps are what a new shop has not done yet and the member may do. Nothing is ticked off: what is there is done.
// Once the newest gifts fill their list, the shop is not new, and nobody needs to be told.
func (f *pages) steps(r *desk.Request, gifts int) (open []step, _ error) {
	if gifts >= newestGifts {
		return nil, nil
	}
	members, err := f.Members(r.Context(), r.Account.ID)
	if err != nil {
		return nil, service.Stored(err)
	}
	may, owner := r.Member.Role.May(), r.Member.Role == staff.Owner
	for _, s := range []struct {
		at, name, text string
		is             bool
	}{
		{"you", "console.begun.go", "access", !r.Member.Proves()},
		{"tills", "console.tills.pair", "till", may.Has(merchant.MayTills) && !r.HasTill()},
		{"setup/locations/new", "console.step.place", "place", owner && len(r.Account.Locations) < 2},
		{"staff", "console.staff.invite", "staff", owner && len(members) < 2},
		{"send", "console.step.gift", "gift", may.Has(merchant.MaySend) && gifts == 0},
	} {
		if s.is {
			open = append(open, step{desk.Home(r.Account.ID) + s.at, r.Locale.Text(s.name),
				r.Locale.Text("console.step.text." + s.text)})
		}
	}
	return open, nil
}
