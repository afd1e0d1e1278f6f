package server

import (
	"context"
	"errors"
	"strings"
	"time"

	"boon.example/internal/face/console/signin"
	"boon.example/internal/guid"
	"boon.example/internal/setup"
	"boon.example/internal/staff"
)

// inviteFirst makes a link for whoever makes the first account of an installation that has none. It ends the link of an
// earlier start.
func (a *app) inviteFirst(ctx context.Context) error {
	if a.First == nil || len(a.directory.Load().Accounts) > 0 {
		return nil
	}
	token := staff.NewToken()
	err := a.store.ChangeStaff(ctx, guid.ID{}, func([]staff.Member) (staff.Changes, error) {
		nobody := staff.Member{}
		return staff.Changes{Invite: &staff.Invited{Invitation: nobody.Invite(time.Now()), Token: token}}, nil
	})
	if err == nil {
		a.First(signin.JoinLink(a.PublicURL, token))
	}
	return err
}

// beginner makes the first account.
type beginner struct{ *app }

func firstOf(q signin.First) *setup.First {
	return &setup.First{Name: q.Name, Currency: q.Currency, Zone: q.Zone, Language: q.Language, Location: q.Location,
		Till: q.Till}
}

// CheckFirst implements signin.Beginner.
func (b beginner) CheckFirst(q signin.First) (wrong []string) {
	err := firstOf(q).Check()
	problems, is := errors.AsType[setup.Problems](err)
	if err != nil && !is {
		return []string{err.Error()}
	}
	for _, p := range problems {
		wrong = append(wrong, p.Path[strings.LastIndexByte(p.Path, '.')+1:]+": "+p.Text)
	}
	return wrong
}

// BeginFirst implements signin.Beginner.
func (b beginner) BeginFirst(ctx context.Context, q signin.First) (account guid.ID, pair string, err error) {
	account, token, err := firstOf(q).Begin(ctx, b.store, time.Now())
	if err == nil {
		err = b.readSetup(ctx)
	}
	return account, strings.TrimRight(b.PublicURL, "/") + "/till/pair#" + token, err
}
