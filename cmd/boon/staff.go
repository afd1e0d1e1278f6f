package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"boon.example/internal/command/access"
	"boon.example/internal/command/terminal"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
	"boon.example/internal/staff"
	"boon.example/internal/store"
)

type staffCmd struct {
	Invite staffInviteCmd `cmd:"" help:"Make a link by which somebody comes in to the console of an account."`
	List   staffListCmd   `cmd:"" help:"List who may come in to the console of an account."`
	Revoke staffRevokeCmd `cmd:"" help:"Shut somebody out of the console, and end their sessions."`
}

type staffInviteCmd struct {
	Email     string   `required:"" placeholder:"ADDRESS" help:"E-mail address of whom you invite. It names them at the sign-in."`
	Name      string   `placeholder:"NAME" help:"What they are called in histories and lists. Default: what stands before the @."`
	Role      string   `default:"owner" placeholder:"ROLE" help:"What they may do: ${staffRoles}. Default: ${default}."`
	Location  []string `placeholder:"ID" help:"For a cashier: a location where they work; may be repeated. Default: all of the account's."`
	Account   []string `placeholder:"ID" help:"Account of the console; may be left out when there is only one."`
	PublicURL string   `setting:"env" name:"public-url" default:"http://127.0.0.1:8080" placeholder:"URL" help:"How people reach the service, as boon serve has it. Default: ${default}."`
	database
}

func (staffInviteCmd) Help() string {
	return `The link alone is printed on standard output. It works once, for 72 hours, and whoever opens it is signed in: send it to nobody else.
Somebody who is of the staff already gets a new link, which ends the earlier one, all of their sessions, their password and their
authenticator: so does somebody come in again who lost what they sign in with. Name and role then stay as they are.

Example:

    boon staff invite --email owner@example.com --public-url https://gifts.example.com`
}

// Run makes the link.
func (c *staffInviteCmd) Run(t *terminal.Terminal) error {
	places, err := access.ParseIDs("--location", c.Location)
	if err != nil {
		return err
	}
	return c.with(t, true, func(s *store.Store) error {
		account, err := access.Account(t, s, c.Account, "")
		if err != nil {
			return err
		}
		m, token, err := invite(t, s, account, staff.Member{Name: c.Name, Email: c.Email, Role: staff.Role(c.Role),
			Locations: places})
		if err != nil {
			return err
		}
		fmt.Fprintf(t.Stderr, "Whoever opens this link first, within 72 hours, comes in as %s (%s, %s):\n",
			terminal.Cell(m.Name), terminal.Cell(m.Email), m.Role)
		_, err = fmt.Fprintln(t.Stdout, joinLink(c.PublicURL, token))
		return err
	})
}

// joinLink is where an invitation is used.
func joinLink(publicURL, token string) string {
	return strings.TrimRight(publicURL, "/") + "/console/join/" + token
}

// invite makes an invitation of a member whom an account has, or will have.
func invite(ctx context.Context, s *store.Store, account guid.ID, who staff.Member) (m staff.Member, token string,
	err error) {
	d, err := s.Directory(ctx)
	if err != nil {
		return m, "", err
	}
	a := d.Accounts[account]
	if a == nil {
		return m, "", terminal.UsageError("There is no account " + account.String() + ". There are " + access.Accounts(d) +
			".")
	}
	err = s.ChangeStaff(ctx, account, func(members []staff.Member) (c staff.Changes, err error) {
		if known := staff.Find(members, who.Email); known != nil {
			who.ID = known.ID
		}
		if m, c, err = staff.Invite(a, members, who, time.Now()); err != nil {
			return c, err
		}
		token = c.Invite.Token
		c.Trail.What = staff.SaidInvited.Say(m.Name, m.Role)
		return c, nil
	})
	return m, token, spokenStaff(err)
}

// spokenStaff names the flags in a refusal.
func spokenStaff(err error) error {
	refused, is := errors.AsType[*refusal.Error](err)
	if !is {
		return err
	}
	var sentences []string
	for _, m := range refused.Messages {
		text := m.Text(func(f refusal.Field) string { return "--" + string(f) })
		if m.Field != "" {
			text = "--" + string(m.Field) + ": " + text
		}
		sentences = append(sentences, text)
	}
	if refused.Code != refusal.ValidationFailure {
		return errors.New(strings.Join(sentences, "\n"))
	}
	return terminal.UsageError(strings.Join(sentences, "\n"))
}

type staffListCmd struct {
	Account []string `placeholder:"ID" help:"Account of the console; may be left out when there is only one."`
	database
}

func (staffListCmd) Help() string {
	return `Example:

    boon staff list`
}

// Run lists the staff.
func (c *staffListCmd) Run(t *terminal.Terminal) error {
	return c.with(t, true, func(s *store.Store) error {
		account, err := access.Account(t, s, c.Account, "")
		if err != nil {
			return err
		}
		members, err := s.Members(t, account)
		if err != nil {
			return err
		}
		sessions, err := s.Sessions(t, account, time.Now())
		if err != nil {
			return err
		}
		var rows [][]string
		for _, m := range members {
			state := "joined " + terminal.Moment(m.JoinedAt)
			if m.JoinedAt.IsZero() {
				state = "invited " + terminal.Moment(m.InvitedAt)
			}
			open := slices.DeleteFunc(slices.Clone(sessions), func(s staff.Session) bool { return s.StaffID != m.ID })
			rows = append(rows, []string{m.Name, m.Email, string(m.Role), fmt.Sprint(len(open)), state})
		}
		terminal.Table(t.Stdout, []string{"NAME", "E-MAIL", "ROLE", "SESSIONS", "STATE"}, rows)
		return nil
	})
}

type staffRevokeCmd struct {
	Email   string   `arg:"" help:"E-mail address of the person who may not come in any more."`
	Account []string `placeholder:"ID" help:"Account of the console; may be left out when there is only one."`
	database
}

func (staffRevokeCmd) Help() string {
	return `Deletes the member with everything that was kept of them, ends their sessions at once, and makes their invitation worthless. What they did
stays in histories and in the audit trail. The last owner who has come in cannot be revoked.

Example:

    boon staff revoke former@example.com`
}

// Run revokes.
func (c *staffRevokeCmd) Run(t *terminal.Terminal) error {
	return c.with(t, true, func(s *store.Store) error {
		account, err := access.Account(t, s, c.Account, "")
		if err != nil {
			return err
		}
		var gone staff.Member
		err = s.ChangeStaff(t, account, func(members []staff.Member) (c2 staff.Changes, err error) {
			found := staff.Find(members, c.Email)
			if found == nil {
				return c2, refusal.At(refusal.NotFound, "", "Nobody of the staff has the address %s.", c.Email)
			}
			gone = *found
			c2.Remove = []guid.ID{gone.ID}
			c2.Trail.What = staff.SaidRemoved.Say(gone.Name)
			left := slices.DeleteFunc(slices.Clone(members), func(m staff.Member) bool { return m.ID == gone.ID })
			return c2, staff.Remain(members, left)
		})
		if err != nil {
			return spokenStaff(err)
		}
		fmt.Fprintf(t.Stdout, "%s (%s) comes in no more.\n", terminal.Cell(gone.Name), terminal.Cell(gone.Email))
		return nil
	})
}
