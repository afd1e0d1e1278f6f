package signin

import (
	"errors"
	"slices"
	"strings"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/staff"
)

// teamPages are the pages about the staff of an account, for its owners.
func (f *pages) teamPages() []desk.Page {
	return []desk.Page{
		{Pattern: "GET /staff", Nav: "console.staff", Key: "f", Owner: true, Do: f.team},
		{Pattern: "POST /staff/invite", Owner: true, Fresh: true, Do: f.invite},
		{Pattern: "POST /staff/role", Owner: true, Fresh: true, Do: f.setRole},
		{Pattern: "POST /staff/end", Owner: true, Do: f.endAll},
		{Pattern: "POST /staff/remove", Owner: true, Fresh: true, Do: f.remove},
	}
}

// team is what the page of the staff shows.
type team struct {
	Members   []*teamMember
	Roles     []staff.Role
	Table     []right
	Locations []merchant.Location
	Wrong     []string // why a form was refused; nil: none was
	Confirm   string   // where the owner proves who they are first; "": they did
	Typed     staff.Member
	Link      string // an invitation that was made just now; "": none was
	For       staff.Member
}

// teamMember is a member with what the page tells of them.
type teamMember struct {
	staff.Member

	You      bool
	Works    string // where; "": at all locations
	Sessions int
	Seen     time.Time // zero: they are signed in nowhere
}

// At reports whether the member works at a location that is named.
func (m *teamMember) At(location guid.ID) bool { return slices.Contains(m.Locations, location) }

// right is a row of the table of roles: which of them may do it.
type right struct {
	Name string
	May  []bool
}

// team shows who may come in.
func (f *pages) team(r *desk.Request) (desk.View, error) { return f.teamAfter(r, team{}, nil) }

// teamAfter is team, after a form was refused or done.
func (f *pages) teamAfter(r *desk.Request, shown team, err error) (desk.View, error) {
	status := 0
	if refused, is := errors.AsType[*refusal.Error](err); is && refused.Code == refusal.ValidationFailure {
		shown.Wrong, status = r.Said(refused), refused.Code.Status()
	} else if err != nil {
		return desk.View{}, err
	}
	members, err := f.Store.Members(r.Context(), r.Account.ID)
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	sessions, err := f.Store.Sessions(r.Context(), r.Account.ID, r.Real)
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	for _, m := range members {
		row := teamMember{Member: m, You: m.ID == r.Member.ID, Works: strings.Join(placesOf(r, &m), ", ")}
		for _, s := range sessionsOf(r, sessions, m.ID) { // the one that was used last is first
			if row.Sessions++; row.Seen.IsZero() {
				row.Seen = s.Seen
			}
		}
		shown.Members = append(shown.Members, &row)
	}
	if shown.Typed.Role == "" {
		shown.Typed.Role = staff.Cashier // nobody becomes an owner by not looking
	}
	shown.Roles, shown.Table, shown.Locations = staff.Roles(), rights(), r.Account.Locations
	shown.Confirm = r.ConfirmFirst("staff")
	return desk.View{Template: "staff.html", Title: "console.staff", Status: status, Data: shown}, nil
}

// rights is the table of roles.
func rights() (all []right) {
	for _, name := range merchant.PermissionNames() {
		needed, _ := merchant.PermissionByName(name)
		row := right{Name: name}
		for _, role := range staff.Roles() {
			row.May = append(row.May, role.May().Has(needed))
		}
		all = append(all, row)
	}
	return all
}

// invite makes an invitation, whose link is shown this once: the owner passes it on.
func (f *pages) invite(r *desk.Request) (desk.View, error) {
	form := r.HTTP.PostForm
	typed := staff.Member{Email: form.Get("email"), Name: form.Get("name"), Role: staff.Role(form.Get("role"))}
	if typed.Role == staff.Cashier {
		typed.Locations = locations(r)
	}
	var m staff.Member
	var token string
	err := f.Store.ChangeStaff(r.Context(), r.Account.ID, func(members []staff.Member) (c staff.Changes, err error) {
		typed.ID, _ = guid.Parse(form.Get("member")) // of somebody who is invited anew
		if m, c, err = staff.Invite(r.Account, members, typed, r.Real); err != nil {
			return c, err
		}
		token = c.Invite.Token
		c.Trail = trail(r, phrase.Kept("%s invited %s to the console as %v").Say(r.Member.Name, m.Name, roleOf(r, &m)))
		return c, nil
	})
	if err != nil {
		return f.teamAfter(r, team{Typed: typed}, service.Stored(err))
	}
	return f.teamAfter(r, team{Link: JoinLink(f.PublicURL, token), For: m}, nil)
}

// locations are those that are ticked in a form.
func locations(r *desk.Request) (all []guid.ID) {
	for _, text := range r.HTTP.PostForm["location"] {
		if id, err := guid.Parse(text); err == nil {
			all = append(all, id)
		}
	}
	return all
}

// placesOf are the names of the locations at which a cashier works; none: at all, as others do.
func placesOf(r *desk.Request, m *staff.Member) (names []string) {
	for _, id := range m.Locations {
		if at := r.Account.Location(id); at != nil {
			names = append(names, at.Name)
		}
	}
	return names
}

// roleOf is a member's role in words, for the audit trail.
func roleOf(r *desk.Request, m *staff.Member) string {
	if places := placesOf(r, m); places != nil {
		return phrase.Kept("%v at %s").Say(m.Role, strings.Join(places, ", "))
	}
	return string(m.Role)
}

// named is the member with an id; nil: there is none.
func named(members []staff.Member, id guid.ID) *staff.Member {
	at := slices.IndexFunc(members, func(m staff.Member) bool { return m.ID == id })
	if at < 0 {
		return nil
	}
	return &members[at]
}

// trail is what the audit trail says of what the member did.
func trail(r *desk.Request, what string) staff.TrailEntry {
	return staff.TrailEntry{What: what, By: r.By(), RequestID: r.RequestID}
}

// onMember changes the member that a form names.
func (f *pages) onMember(r *desk.Request,
	change func(m staff.Member, members []staff.Member) (staff.Changes, error)) (desk.View, error) {
	id, err := guid.Parse(r.HTTP.PostForm.Get("member"))
	if err != nil {
		return desk.View{}, desk.ErrNoPage
	}
	err = f.Store.ChangeStaff(r.Context(), r.Account.ID, func(members []staff.Member) (staff.Changes, error) {
		m := named(members, id)
		if m == nil {
			return staff.Changes{}, refusal.New(refusal.ValidationFailure, "This person is not of the staff any more.")
		}
		return change(*m, members)
	})
	if err != nil {
		return f.teamAfter(r, team{}, service.Stored(err))
	}
	return desk.View{To: desk.Home(r.Account.ID) + "staff"}, nil
}

// setRole gives a member another role, and a cashier the locations at which they work, at once.
func (f *pages) setRole(r *desk.Request) (desk.View, error) {
	return f.onMember(r, func(m staff.Member, members []staff.Member) (c staff.Changes, err error) {
		was := roleOf(r, &m)
		if m, err = m.WithRole(r.Account, staff.Role(r.HTTP.PostForm.Get("role")), locations(r)...); err != nil {
			return c, err
		}
		after := slices.Clone(members)
		*named(after, m.ID) = m
		c.Save = []staff.Member{m}
		c.Trail = trail(r, phrase.Kept("%s made %s, who was %v, %v").Say(r.Member.Name, m.Name, was, roleOf(r, &m)))
		return c, staff.Remain(members, after)
	})
}

// endAll ends all sessions of a member.
func (f *pages) endAll(r *desk.Request) (desk.View, error) {
	return f.onMember(r, func(m staff.Member, _ []staff.Member) (staff.Changes, error) {
		return staff.Changes{EndSessions: []guid.ID{m.ID},
			Trail: trail(r, phrase.Kept("%s ended all sessions of %s").Say(r.Member.Name, m.Name))}, nil
	})
}

// remove lets a member in no more.
func (f *pages) remove(r *desk.Request) (desk.View, error) {
	return f.onMember(r, func(m staff.Member, members []staff.Member) (staff.Changes, error) {
		left := slices.DeleteFunc(slices.Clone(members), func(is staff.Member) bool { return is.ID == m.ID })
		return staff.Changes{Remove: []guid.ID{m.ID},
			Trail: trail(r, phrase.Kept("%s removed %s from the staff").Say(r.Member.Name, m.Name))}, staff.Remain(members, left)
	})
}
