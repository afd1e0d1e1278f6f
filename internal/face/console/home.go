package console

import (
	"fmt"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/service"
	"boon.example/internal/staff"
)

// homePages are the pages about the member.
func (f *console) homePages() []page {
	return []page{
		{pattern: "GET /{$}", nav: "console.home", do: f.home},
		{pattern: "POST /sessions/end", do: f.endSession},
	}
}

// you is what the first page shows.
type you struct {
	Sessions []listed
}

// listed is a session in a list.
type listed struct {
	staff.Session

	Here bool // it is the one that asks
	Seen time.Time
}

// home shows who is signed in, what they may do, and where else they are signed in.
func (f *console) home(r *request) (view, error) {
	all, err := f.Store.Sessions(r.Context(), r.account.ID, r.Now)
	if err != nil {
		return view{}, service.Stored(err)
	}
	return view{template: "home.html", title: "console.home", data: you{f.listed(r, all, r.member.ID)}}, nil
}

// listed are the sessions of a member, in the clock of the account.
func (f *console) listed(r *request, all []staff.Session, of guid.ID) (list []listed) {
	for _, s := range all {
		if s.StaffID == of {
			list = append(list, listed{s, s.ID == r.session.ID, s.SeenAt.In(r.account.Zone)})
		}
	}
	return list
}

// endSession ends one of the member's sessions.
func (f *console) endSession(r *request) (view, error) {
	id, err := guid.Parse(r.HTTP.PostForm.Get("session"))
	if err != nil {
		return view{}, errNoPage
	}
	all, err := f.Store.Sessions(r.Context(), r.account.ID, r.Now)
	if err != nil {
		return view{}, service.Stored(err)
	}
	c := staff.Changes{Trail: staff.TrailEntry{By: r.by(), RequestID: r.RequestID}}
	for _, s := range all {
		if s.ID == id && s.StaffID == r.member.ID {
			c.End = [][]byte{s.Key}
			c.Trail.What = fmt.Sprintf("%s ended the session in %s from %s", r.member.Name, s.Device, s.Address)
		}
	}
	err = f.Store.ChangeStaff(r.Context(), r.account.ID, func([]staff.Member) (staff.Changes, error) { return c, nil })
	if err != nil {
		return view{}, service.Stored(err)
	}
	return view{to: home(r.account.ID)}, nil
}
