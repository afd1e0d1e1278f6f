package server

import (
	"context"
	"errors"
	"strings"
	"time"

	"boon.example/internal/base/phrase"
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
func (b beginner) CheckFirst(q signin.First) (wrong []signin.FirstProblem) {
	err := firstOf(q).Check()
	problems, is := errors.AsType[setup.Problems](err)
	if err != nil && !is {
		return []signin.FirstProblem{{Said: phrase.New("%s", err)}}
	}
	fields := map[string]string{"name": "name", "storefronts[0].name": "name", "currency": "currency", "timeZone": "zone",
		"locations[0].name": "location"}
	for _, p := range problems {
		wrong = append(wrong, signin.FirstProblem{Field: fields[strings.TrimPrefix(p.Path, "accounts[0].")], Said: p.Said})
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
