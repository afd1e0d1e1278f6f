package signin

import (
	"context"
	"errors"
	"html/template"
	"slices"
	"strings"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/qr"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/staff"
)

// First is what the first account of an installation is made of.
type First struct {
	Name, Currency, Zone, Location, Till string

	Language merchant.Language
}

// FirstProblem is something that is wrong with a first account.
type FirstProblem struct {
	Field string // of the form: name, currency, zone or location; "": it is about no field alone
	Said  *phrase.Phrase
}

// Beginner makes the first account of an installation.
type Beginner interface {
	// CheckFirst says what is wrong with an account that is to be made; none: nothing.
	CheckFirst(First) []FirstProblem
	// BeginFirst makes it, and gives it with the link by which its first till is paired.
	BeginFirst(context.Context, First) (account guid.ID, pair string, err error)
}

// currencies are those of which the largest gift is known without being asked for.
var currencies = []string{"EUR", "USD", "GBP", "CHF", "CAD", "AUD", "NZD"}

// firstForm is what the page for the first account shows.
type firstForm struct {
	First

	Owner, Email string
	Currencies   []string
	Zones        []desk.Choice
	Wrong        []string // why the form was refused; nil: it was not
}

// isFirst reports whether an invitation is for whoever makes the first account.
func isFirst(i *staff.Invitation) bool { return i.AccountID.IsZero() }

// showFirst asks for the first account.
func showFirst(r *desk.Request, shown firstForm) desk.View {
	shown.Currencies, shown.Zones = currencies, r.Zones()
	v := desk.View{Template: "first.html", Title: "console.first", Data: shown}
	if len(shown.Wrong) > 0 {
		v.Status = refusal.ValidationFailure.Status()
	}
	return v
}

// begun is what the page after it shows.
type begun struct {
	Home, Pair string
	QR         template.HTML
}

// beginFirst makes the first account, and signs in whoever made it as its owner.
func (f *pages) beginFirst(r *desk.Request) (desk.View, error) {
	form := r.HTTP.PostForm
	asked := firstForm{First: First{Name: form.Get("name"), Currency: form.Get("currency"), Zone: form.Get("zone"),
		Location: form.Get("location"), Till: form.Get("till"), Language: r.Locale.Language()},
		Owner: form.Get("owner"), Email: form.Get("email")}
	_, err := staff.Hire(&merchant.Account{}, nil, staff.Member{Name: asked.Owner, Email: asked.Email, Role: staff.Owner},
		r.Real)
	if refused, is := errors.AsType[*refusal.Error](err); is {
		asked.Wrong = r.Said(refused)
	}
	for _, p := range f.Beginner.CheckFirst(asked.First) {
		text := r.Words(p.Said)
		if p.Field != "" {
			question := r.Locale.Text("console.first." + p.Field)
			if !strings.HasSuffix(question, "?") {
				question += ":"
			}
			text = question + " " + text
		}
		if !slices.Contains(asked.Wrong, text) { // the name is also the storefront's
			asked.Wrong = append(asked.Wrong, text)
		}
	}
	if len(asked.Wrong) > 0 {
		return showFirst(r, asked), nil
	}
	// What follows goes on when the browser goes away: half of it would be of use to nobody.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), firstWithin)
	defer cancel()
	r.Proceed(ctx)
	// The link is used up first, so that two who have it make one account. Should the store go away before the account is
	// made, the service prints another link at its next start.
	err = f.Store.ChangeStaff(r.Context(), guid.ID{}, func([]staff.Member) (staff.Changes, error) {
		return staff.Changes{Use: r.HTTP.PathValue("token")}, nil
	})
	if errors.Is(err, refusal.NotFound) {
		return desk.View{}, errInvitation
	}
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	id, pair, err := f.Beginner.BeginFirst(r.Context(), asked.First)
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	v, err := f.firstOwner(r, &asked, id, pair)
	if err != nil {
		return desk.View{}, withoutOwner(err)
	}
	return v, nil
}

// firstWithin is how long it may take to make the first account.
const firstWithin = time.Minute

// withoutOwner says what to do when the account was made and nobody could be let in to it.
func withoutOwner(err error) error {
	told := service.Told(service.Stored(err))
	return refusal.Join(refusal.New(told.Code, "The account is made, but nobody can come in yet. Whoever runs the "+
		"installation makes a link for its owner with boon staff invite."), told)
}

// firstOwner makes whoever made the account its owner, and signs them in.
func (f *pages) firstOwner(r *desk.Request, asked *firstForm, id guid.ID, pair string) (desk.View, error) {
	a := f.Directory().Accounts[id]
	if a == nil {
		return desk.View{}, desk.ErrNoPage
	}
	m, err := staff.Hire(a, nil, staff.Member{Name: asked.Owner, Email: asked.Email, Role: staff.Owner}, r.Real)
	if err != nil {
		return desk.View{}, err
	}
	m.JoinedAt = m.InvitedAt
	m.Language = r.Locale.Language()
	m.Remember(known(r), r.Real)
	session := m.Begin(device(r.HTTP.UserAgent()), r.Address(), r.Real)
	r.Member = m
	err = f.Store.ChangeStaff(r.Context(), id, func(members []staff.Member) (staff.Changes, error) {
		return staff.Changes{Save: append(slices.Clone(members), m), Begin: []staff.Begun{session},
			Trail: trail(r, phrase.Kept("%s made the account, as its owner").Say(m.Name))}, nil
	})
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	enter(r, &session)
	shown := begun{Home: desk.Home(id) + "you", Pair: pair}
	if code, err := qr.Encode(pair); err == nil { // a link that is too long is shown as a text alone
		shown.QR = template.HTML(code.SVG(r.Locale.Text("console.begun.scan"))) // of this service's making
	}
	return desk.View{Template: "begun.html", Title: "console.begun", Data: shown}, nil
}
