// Package signin is how staff come in to the console: invitations, passwords, authenticators and passkeys, the sessions
// that they begin, who is of the staff, and the first account of an installation.
package signin

import (
	"context"
	"embed"
	"log/slog"
	"slices"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"boon.example/internal/base/fair"
	"boon.example/internal/base/openid"
	"boon.example/internal/base/ratelimit"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/staff"
)

// Config is what signing in works with.
type Config struct {
	PublicURL string // how people reach the service
	Store     Store
	Directory func() *merchant.Directory // the newest set-up
	Keys      Keys
	Beginner  Beginner
	Email     bool             // the service sends e-mail
	Provider  *openid.Provider // of the installation; nil: there is none
	Log       *slog.Logger
}

// Store is what signing in needs of a database.
type Store interface {
	// Members are the staff of an account.
	Members(ctx context.Context, account guid.ID) ([]staff.Member, error)
	// ChangeStaff changes the staff of an account in one transaction: see package store/staff.
	ChangeStaff(ctx context.Context, account guid.ID, change func([]staff.Member) (staff.Changes, error)) error
	// Invitation and Session find by a token what works at an instant; refusal.NotFound where there is none.
	Invitation(ctx context.Context, token string, now time.Time) (staff.Invitation, error)
	Session(ctx context.Context, token string, now time.Time) (staff.Session, error)
	// Sessions are those of an account that work.
	Sessions(ctx context.Context, account guid.ID, now time.Time) ([]staff.Session, error)
	// SignInBucket reads an allowance of wrong sign-ins; CountSignIn takes n out of it, durably.
	SignInBucket(ctx context.Context, under string) (ratelimit.Bucket, error)
	CountSignIn(ctx context.Context, under string, rate ratelimit.Rate, now time.Time, n int) (ratelimit.Bucket, error)
}

//go:embed templates
var templates embed.FS

// pages are the pages of this part.
type pages struct {
	Config

	passkeys *webauthn.WebAuthn // nil: there are none

	limits *ratelimit.Limiter[string] // of wrong sign-ins
	busy   *fair.Places               // for checking passwords
}

// Part is signing in, and the pages about the member and the staff.
func Part(c Config) desk.Part {
	f := &pages{Config: c, busy: fair.New(passwordsAtOnce), passkeys: passkeysFor(c.PublicURL)}
	f.limits = ratelimit.NewLimiterBy(signInRate, ratelimit.Records[string](wrongSignIns{c.Store}), time.Now)
	return desk.Part{Pages: slices.Concat(f.openPages(), f.providerPages(),
		f.teamPages(), f.homePages()), Templates: templates}
}

// openPages are the pages for who is not signed in.
func (f *pages) openPages() []desk.Page {
	return []desk.Page{
		{Pattern: "GET " + desk.Path, Outside: true, Do: f.start},
		{Pattern: "GET " + joinPath + "{token}", Outside: true, Do: f.showInvitation},
		{Pattern: "POST " + joinPath + "{token}", Outside: true, Do: f.join},
		{Pattern: "GET " + desk.SignInPath, Open: true, Do: f.showSignIn},
		{Pattern: "POST " + desk.SignInPath, Open: true, Do: f.signIn},
		{Pattern: "POST /passkey/options", Open: true, Do: f.offerPasskeys},
		{Pattern: "POST /passkey", Open: true, Do: f.showPasskey},
		{Pattern: "POST /sign-out", Open: true, Do: f.signOut},
	}
}
