// Package staff is who comes in to the console of an account: members of the staff and their roles, invitations,
// sessions, and by what somebody proves who they are. It knows neither HTTP nor SQL.
//
// # Invariants
//
//  1. Every member is of one account, and has an e-mail address that no other member of the account has.
//  2. An account that had an owner keeps one: see Remain.
//  3. A token is good for one thing, and lies nowhere but with whom it was given to: the store has its keyed hash.
package staff

import (
	"crypto/rand"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/base/phrase"
	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// Member is somebody of the staff of an account. It is stored as JSON: members may be added, and none may be renamed.
type Member struct {
	ID        guid.ID   `json:"id"`
	AccountID guid.ID   `json:"accountID"`
	Name      string    `json:"name"`
	Email     string    `json:"email"`
	Role      Role      `json:"role"`
	Locations []guid.ID `json:"locations,omitempty"` // of a cashier; empty: all of the account's
	InvitedAt time.Time `json:"invitedAt"`
	JoinedAt  time.Time `json:"joinedAt,omitzero"` // zero: the invitation was not used yet

	Password string    `json:"password,omitempty"` // its hash; "": none
	Long     bool      `json:"long,omitempty"`     // the password is long enough alone
	TOTP     *TOTP     `json:"totp,omitempty"`
	Passkeys []Passkey `json:"passkeys,omitempty"`
	Devices  []Device  `json:"devices,omitempty"` // from which they signed in, the last one first

	// OpenID is the issuer and the subject by which an OpenID Connect provider knows the member; "": none does yet.
	OpenID string `json:"openID,omitempty"`
	// Language is that of the console when the member signed in last on a device that they had used before; "": never.
	Language merchant.Language `json:"language,omitempty"`
}

// The lengths of what people type.
const (
	maxName = 60
	// MaxMembers is how many members an account may have.
	MaxMembers = 500
)

// Hire makes a member of an account who is to be invited. It refuses an address that another member has, an address
// that is none, a role that is none, and locations that the account does not have.
func Hire(a *merchant.Account, others []Member, m Member, now time.Time) (Member, error) {
	var refused *refusal.Error
	email, err := contact.Parse(contact.Email, m.Email, nil)
	if err != nil {
		refused = refusal.Join(refused, refusal.At(refusal.ValidationFailure, "email", "%q is no e-mail address.", m.Email))
	}
	m.Email = email
	if m.Name = strings.TrimSpace(m.Name); m.Name == "" {
		m.Name, _, _ = strings.Cut(email, "@")
	}
	if err := contact.CheckText(m.Name, maxName, false); err != nil {
		refused = refusal.Join(refused, refusal.At(refusal.ValidationFailure, "name", "The name will not do: %v.", err))
	}
	refused = refusal.Join(refused, m.fits(a))
	switch {
	case refused == nil && Find(others, email) != nil:
		refused = refusal.At(refusal.ValidationFailure, "email", "%s belongs to the staff of %s already.", email, a.Name)
	case len(others) >= MaxMembers:
		refused = refusal.New(refusal.ValidationFailure, "An account has at most %d members of staff.", MaxMembers)
	}
	if refused != nil {
		return Member{}, refused
	}
	m.ID, m.AccountID, m.JoinedAt = guid.ID(uuid.Must(uuid.NewV7())), a.ID, time.Time{}
	m.InvitedAt = now.UTC().Truncate(time.Second)
	return m, nil
}

// Invite invites somebody to an account: a member, named by their ID, who lost what they sign in with or lets somebody
// else use it; or somebody new, whom Hire takes. It gives the member, and what changes: the invitation is in it. What
// is said of it is the caller's.
func Invite(a *merchant.Account, members []Member, who Member, now time.Time) (m Member, c Changes, err error) {
	at := slices.IndexFunc(members, func(is Member) bool { return is.ID == who.ID })
	if at >= 0 {
		m, c.EndSessions = members[at], []guid.ID{who.ID}
		m.Forget()
		m.InvitedAt = now.UTC().Truncate(time.Second)
	} else if m, err = Hire(a, members, who, now); err != nil {
		return m, c, err
	}
	c.Save, c.Invite = []Member{m}, &Invited{Invitation: m.Invite(now), Token: NewToken()}
	return m, c, nil
}

// fits refuses a role that is none, and locations that are not the account's.
func (m *Member) fits(a *merchant.Account) error {
	var refused *refusal.Error
	if !m.Role.Known() {
		refused = refusal.Join(refused, refusal.At(refusal.ValidationFailure, "role", "There is no role %q; there are %s.",
			string(m.Role), strings.Join(RoleNames(), ", ")))
	}
	if m.Role != Cashier && len(m.Locations) > 0 {
		refused = refusal.Join(refused, refusal.At(refusal.ValidationFailure, "location",
			"Only a cashier is limited to locations."))
	}
	for _, id := range m.Locations {
		if a.Location(id) == nil {
			refused = refusal.Join(refused, refusal.At(refusal.ValidationFailure, "location",
				"Account %s has no location %s.", a.Name, id))
		}
	}
	if refused != nil {
		return refused
	}
	return nil
}

// WithRole is the member in another role. A cashier works at some locations; none: at all. Others work everywhere.
func (m Member) WithRole(a *merchant.Account, role Role, locations ...guid.ID) (Member, error) {
	m.Role, m.Locations = role, nil
	if role == Cashier {
		m.Locations = locations
	}
	return m, m.fits(a)
}

// Forget takes away by what the member signed in: whoever needs a new invitation has lost it, or somebody else has it.
func (m *Member) Forget() {
	m.Password, m.Long, m.TOTP, m.Passkeys, m.Devices, m.OpenID = "", false, nil, nil, nil, ""
}

// MayBe reports whether the member may be whom an OpenID Connect provider knows by an issuer and a subject, and whose
// e-mail address is the member's. An address may be given to somebody else. So the first who comes is the member only
// while the invitation is good and the member signs in by nothing else yet, or if they connect: they are signed in as
// the member, and proved it. From then on nobody else is.
func (m *Member) MayBe(openID string, connects bool, now time.Time) bool {
	if m.OpenID != "" {
		return m.OpenID == openID
	}
	return connects || !m.Proves() && now.Before(m.InvitedAt.Add(InvitationLasts))
}

// Remain refuses a change that takes the last owner away who has joined: nobody could let others in any more.
func Remain(before, after []Member) error {
	owners := func(all []Member) bool {
		return slices.ContainsFunc(all, func(m Member) bool { return m.Role == Owner && !m.JoinedAt.IsZero() })
	}
	if owners(before) && !owners(after) {
		return refusal.New(refusal.ValidationFailure,
			"This account would be without an owner. Make somebody else an owner first.")
	}
	return nil
}

// Find is the member with an e-mail address, in whatever letter case; nil: there is none.
func Find(members []Member, email string) *Member {
	folded := contact.FoldEmail(strings.TrimSpace(email))
	at := slices.IndexFunc(members, func(m Member) bool { return contact.FoldEmail(m.Email) == folded })
	if at < 0 {
		return nil
	}
	return &members[at]
}

// Caller is the member as whoever makes a call: rules, limits and histories take the member's name as they take that of
// a person at a till.
func (m *Member) Caller(a *merchant.Account) *merchant.Caller {
	return &merchant.Caller{KeyID: m.ID, Kind: merchant.AccountKey, Name: m.Name, Account: a, Locations: m.Locations,
		Permissions: m.Role.May(), Person: m.Name}
}

// NewToken draws the token of an invitation or a session: 256 random bits.
func NewToken() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// InvitationLasts is how long an invitation is good.
const InvitationLasts = 72 * time.Hour

// Invitation lets whoever has its token in, once. That of no member is for the first account of an installation.
type Invitation struct {
	AccountID guid.ID   `json:"accountID,omitzero"`
	StaffID   guid.ID   `json:"staffID,omitzero"`
	Until     time.Time `json:"until"`
}

// Invite makes an invitation of a member. Earlier ones end, and so do all of the member's sessions: see Changes.
func (m *Member) Invite(now time.Time) Invitation {
	return Invitation{AccountID: m.AccountID, StaffID: m.ID, Until: now.UTC().Add(InvitationLasts).Truncate(time.Second)}
}

// How long sessions last.
const (
	idleFor  = 12 * time.Hour
	longest  = 7 * 24 * time.Hour
	provenIn = 5 * time.Minute
)

// Session is a browser in which a member is signed in.
type Session struct {
	ID        guid.ID   `json:"id"` // names it in lists, and opens nothing
	AccountID guid.ID   `json:"accountID"`
	StaffID   guid.ID   `json:"staffID"`
	BegunAt   time.Time `json:"begunAt"`
	ProvenAt  time.Time `json:"provenAt"` // when the member proved last who they are
	Device    string    `json:"device"`   // what the browser says that it is
	Address   string    `json:"address"`  // where it was when it signed in
	SeenAt    time.Time `json:"-"`        // when it was used last
	Key       []byte    `json:"-"`        // what the store finds it by
}

// Begin begins a session of the member. Its token is new.
func (m *Member) Begin(device, address string, now time.Time) Begun {
	now = now.UTC().Truncate(time.Second)
	return Begun{Session{ID: guid.ID(uuid.Must(uuid.NewV7())), AccountID: m.AccountID, StaffID: m.ID, BegunAt: now,
		SeenAt: now, ProvenAt: now, Device: device, Address: address}, NewToken()}
}

// Works reports whether the session has neither been idle for too long nor lasted for too long.
func (s *Session) Works(now time.Time) bool {
	return now.Before(s.SeenAt.Add(idleFor)) && now.Before(s.Ends())
}

// Ends is when the session is over, however much it is used.
func (s *Session) Ends() time.Time { return s.BegunAt.Add(longest) }

// Proven reports whether the member proved lately enough who they are for what asks for it again.
func (s *Session) Proven(now time.Time) bool { return now.Before(s.ProvenAt.Add(provenIn)) }

// Changes is a change of the staff of an account: what is to be saved, and said.
type Changes struct {
	Save        []Member   // new or changed
	Remove      []guid.ID  // members; their sessions and invitations end
	EndSessions []guid.ID  // of members: all of them, but for the one whose key is Keep
	Keep        []byte     // nil: none goes on
	End         [][]byte   // sessions, by their keys
	Begin       []Begun    // sessions
	Invite      *Invited   // ends earlier invitations of the member
	Notices     []Notice   // mails to members
	Uninvite    []guid.ID  // members whose invitations end
	Use         string     // the token of an invitation that is used up; it must still be good
	Trail       TrailEntry // What "": nothing is said
}

// Begun is a session that begins, with its token.
type Begun struct {
	Session Session
	Token   string
}

// Invited is an invitation with its token.
type Invited struct {
	Invitation Invitation
	Token      string
}

// What an audit trail says of what is done at the command line.
const (
	SaidInvited phrase.Kept = "invited %s to the console as %v"
	SaidRemoved phrase.Kept = "removed %s from the staff"
)

// TrailEntry is what is said of a change in the account's audit trail.
type TrailEntry struct {
	What      string // in words, never a secret or an address: it is kept for ever
	SignIn    bool   // somebody came in; else who may come in was changed, which the log of the set-up says too
	By        merchant.Actor
	RequestID string
}
