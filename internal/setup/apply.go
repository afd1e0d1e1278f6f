package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // as pictures are kept
	_ "image/png"
	"io"
	"slices"
	"strings"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
	"boon.example/internal/post/pass"
	"boon.example/internal/setup/document"
	"boon.example/internal/setup/told"
)

// Report is what an application of a set-up file did.
type Report struct {
	Changes []string // in words; none: nothing was changed
	Notes   []Note   // what the file asks for and did not get, such as a key that is revoked
	Keys    []NewKey // the keys that were made; their texts are kept nowhere

	Webhooks []NewWebhook // the endpoints that were made
	file     string
	dry      bool // nothing was changed
	made     Changes
}

// Note is something that a set-up asks for and does not get, or that whoever applies it has to know.
type Note struct {
	About string // whose it is, as in "account Harbor Coffee"; "": the sentence says it
	Said  *phrase.Phrase
}

// String is the note in English.
func (n Note) String() string { return strings.TrimPrefix(n.About+": "+n.Said.Error(), ": ") }

// Note adds what whoever applies the file has noticed, in English.
func (r *Report) Note(texts ...string) {
	for _, text := range texts {
		r.note("", "%s", text)
	}
}

// note adds a note.
func (r *Report) note(about string, text phrase.Text, args ...any) {
	r.Notes = append(r.Notes, Note{about, phrase.New(text, args...)})
}

// NewKey is a key that was made because the file gives it no secret.
type NewKey struct {
	Owner string // "account Harbor Coffee" or "system"
	Name  string
	Text  string // the key itself
}

// Print writes the report for an operator, the texts of new keys included.
func (r *Report) Print(w io.Writer) error {
	var b strings.Builder
	for _, line := range r.Changes {
		b.WriteString(line + "\n")
	}
	if len(r.Changes) == 0 {
		fmt.Fprintf(&b, "Nothing to change: everything is as %s says.\n", r.file)
	}
	for _, n := range r.Notes {
		b.WriteString("note: " + n.String() + "\n")
	}
	if r.dry && len(r.Changes) > 0 {
		b.WriteString("\nThis was a dry run: nothing was changed.\n")
	}
	if len(r.Keys) > 0 {
		b.WriteString("\nNew keys. They are shown this once and kept nowhere; store them now.\n")
	}
	for _, k := range r.Keys {
		fmt.Fprintf(&b, "%s, key %s: %s\n", k.Owner, k.Name, k.Text)
	}
	if len(r.Webhooks) > 0 {
		b.WriteString("\nNew webhooks. Their secrets are shown this once; give them to the receivers now.\n")
	}
	for _, w := range r.Webhooks {
		fmt.Fprintf(&b, "%s, webhook %s: %s\n", w.Owner, w.URL, w.Secret.Reveal())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Apply makes the set-up what the file says, in one transaction, all or nothing. Accounts that the file does not
// mention stay as they are, and so do keys; of an account that it mentions, the file is the whole truth, of webhooks
// where it names some. Applying a file again changes nothing. Every error is of type Problems (what cannot be done to
// the records there are) or internal; after either nothing was changed. Keys without a secret are drawn from random.
func (f *File) Apply(ctx context.Context, store Store, now time.Time, random io.Reader) (*Report, error) {
	return f.apply(ctx, store, now, random, manner{})
}

// DryRun tells what Apply would do now, and the problems that Apply would have, and changes nothing. Its report has no
// keys and no secrets.
func (f *File) DryRun(ctx context.Context, store Store, now time.Time, random io.Reader) (*Report, error) {
	return f.apply(ctx, store, now, random, manner{dry: true})
}

// manner is how a set-up is applied, beside what it says.
type manner struct {
	dry       bool           // nothing is changed
	by        merchant.Actor // who asks for it; zero: somebody at the command line
	requestID string
	at        int64 // the version of the set-up that was looked at before; 0: none was
}

// errMoved tells that the set-up is not the one any more that was looked at before.
var errMoved = errors.New("the set-up was changed meanwhile")

func (f *File) apply(ctx context.Context, store Store, now time.Time, random io.Reader, m manner) (*Report, error) {
	drawn, err := f.draw(random)
	if err != nil {
		return nil, err
	}
	hooks, err := f.drawWebhooks(ctx, store, random)
	if err != nil {
		return nil, err
	}
	var report *Report
	err = store.Configure(ctx, func(current *merchant.Directory, uses Uses) (Changes, error) {
		if m.at != 0 && current.Version != m.at {
			return Changes{}, errMoved
		}
		// Everything is made anew, because this may run again.
		p := &plan{File: f, current: current, uses: uses, drawn: drawn, hooks: hooks, now: now,
			edits: m.by != (merchant.Actor{}), keys: byName(current), Report: Report{file: f.Name}}
		if err := p.make(); err != nil {
			return Changes{}, err
		}
		report = &p.Report
		if report.dry = m.dry; m.dry {
			report.Keys, report.Webhooks = nil, nil
			return Changes{}, nil
		}
		p.changes.What = strings.Join(p.Changes, "\n")
		p.changes.By, p.changes.RequestID = m.by, m.requestID
		report.made = p.changes
		return p.changes, nil
	})
	if err != nil {
		return nil, err
	}
	return report, nil
}

// plan is what is to be done to the current set-up so that it becomes what the file says.
type plan struct {
	*File
	current *merchant.Directory
	uses    Uses
	drawn   map[keyName]draft
	hooks   map[webhookName]merchant.Webhook
	now     time.Time
	edits   bool // it is an edit of an owner, who learns nothing of other accounts
	keys    map[keyName][]*merchant.Key

	Report
	changes  Changes
	problems document.Problems
}

func (p *plan) make() error {
	owners := owners(p.current)
	p.changes.Of = map[guid.ID]string{}
	for i := range p.Accounts {
		before := len(p.Changes)
		if err := p.account(&p.Accounts[i], owners); err != nil {
			return err
		}
		if own := p.Changes[before:]; len(own) > 0 {
			p.changes.Of[p.Accounts[i].Record.ID] = strings.Join(own, "\n")
		}
	}
	for i := range p.SystemKeys {
		p.served(&p.SystemKeys[i])
		p.key(&p.SystemKeys[i], ofSystem, nil)
	}
	return p.problems.Err(p.Name)
}

// ofSystem is the label of what belongs to no account.
const ofSystem = "system"

// labelOf is what a change begins with that is of an account.
func labelOf(a *merchant.Account) string { return "account " + a.Name }

// of is a change under a label.
func of(label, what string) string {
	if name, is := strings.CutPrefix(label, "account "); is {
		return phrase.Kept("account %s: %v").Say(name, what)
	}
	return phrase.Kept("%v: %v").Say(label, what)
}

// owner is whose an id is, and what it names.
type owner struct {
	account *merchant.Account
	kind    told.Kind
}

// owners tells of every id in use what it names. Programs are nobody's, and people have names only.
func owners(d *merchant.Directory) map[guid.ID]owner {
	ids := make(map[guid.ID]owner)
	for _, a := range d.Accounts {
		for _, r := range document.Records(a) {
			if r.Kind != told.SubscriptionKind && r.Kind != told.PersonKind {
				ids[r.ID] = owner{a, r.Kind}
			}
		}
		for _, p := range a.EndedProviders {
			ids[p.ID] = owner{a, told.ProviderKind}
		}
	}
	return ids
}

func (p *plan) account(a *document.Account, owners map[guid.ID]owner) error {
	for _, r := range document.Records(a.Record) {
		o, used := owners[r.ID]
		named := r.Kind != told.SubscriptionKind && r.Kind != told.PersonKind
		switch {
		case !used || !named || o.account.ID == a.Record.ID && o.kind == r.Kind:
		case p.edits:
			p.problem(a.At, "This id is taken.")
		default: // only a file says this, to whoever reads English
			p.problem(a.At, "%s", fmt.Sprintf("The id %s of the %s is that of a %s of account %s already; an id names one "+
				"thing only.", r.ID, r, o.kind, o.account.Name))
		}
	}
	old := p.current.Accounts[a.Record.ID]
	record := p.kept(a, old)
	words, gone := document.Diff(old, record)
	if err := p.keep(a, old, gone); err != nil {
		return err
	}
	label := labelOf(a.Record)
	for _, w := range words {
		p.Changes = append(p.Changes, of(label, w))
	}
	if len(words) > 0 {
		saved := *record
		saved.EndedProviders = merchant.ProvidersEnded(old, record)
		p.changes.Accounts = append(p.changes.Accounts, &saved)
		for _, picture := range a.Assets {
			if shows(record, picture.Hash) {
				p.changes.Assets = append(p.changes.Assets, picture)
			}
		}
	}
	for i := range a.Keys {
		p.key(&a.Keys[i], label, a.Record)
	}
	p.webhooks(a, label)
	p.over(a.Record, label)
	p.withoutTerms(a.Record, label)
	p.unseen(a, label)
	p.stranded(a)
	p.unstaffed(a.Record, label)
	p.lastPerson(a, old, label)
	return nil
}

// kept is an account of a file with what the file leaves as it is: PINs, secrets of providers, and pictures that are
// those of the account already.
func (p *plan) kept(a *document.Account, old *merchant.Account) *merchant.Account {
	if old == nil {
		old = new(merchant.Account)
	}
	kept := *a.Record
	kept.People, kept.Providers, kept.Designs = slices.Clone(a.Record.People), slices.Clone(a.Record.Providers),
		slices.Clone(a.Record.Designs)
	for n := range kept.People {
		p := &kept.People[n]
		at := slices.IndexFunc(old.People, func(was merchant.Person) bool { return was.Name == p.Name })
		if at >= 0 && p.PIN == "" {
			p.PIN, p.FirstPIN = old.People[at].PIN, old.People[at].FirstPIN
		}
	}
	for _, u := range a.Unproven {
		is := func(p merchant.Provider) bool { return p.ID == u.ID }
		at, before := slices.IndexFunc(kept.Providers, is), slices.IndexFunc(old.Providers, is)
		if before < 0 || len(old.Providers[before].Secrets) == 0 {
			p.problem(u.At, "This field is required.")
			continue
		}
		was, next := old.Providers[before].Secrets, kept.Providers[at].Secrets
		if kept.Providers[at].Secrets = was; len(next) > 0 {
			kept.Providers[at].Secrets = slices.Concat(was[:1], next)
		}
	}
	if w := &kept.Wallet.Apple; w.Certificate != "" && w.Key == "" {
		at := a.At
		at.Path += ".wallet.apple.key"
		if w.Key = old.Wallet.Apple.Key; w.Key == "" {
			p.problem(at, "This field is required: it is the private key of the certificate.")
		} else if _, err := pass.NewSigner(w.Certificate, w.Key); err != nil {
			p.problem(at, "The account keeps the private key that it has. %s", err)
		}
	}
	if w := &kept.Wallet.Google; w.Issuer != "" && w.Key == "" {
		if w.Key = old.Wallet.Google.Key; w.Key == "" {
			at := a.At
			at.Path += ".wallet.google.serviceAccount"
			p.problem(at, "This field is required: it is the file of a service account that Google gave you.")
		}
	}
	for n := range kept.Designs {
		for _, h := range []*merchant.AssetHash{&kept.Designs[n].Logo, &kept.Designs[n].Picture} {
			if file := a.Files[*h]; shows(old, file) { // to make it anew would make it worse
				*h = file
			}
		}
	}
	return &kept
}

// shows reports whether a design of an account has a picture.
func shows(a *merchant.Account, h merchant.AssetHash) bool {
	return !h.IsZero() && slices.ContainsFunc(a.Designs, func(d merchant.Design) bool {
		return d.Logo == h || d.Picture == h
	})
}

// lastPerson refuses to take the last people away by silence, for then every till moves value without a PIN, and says
// so where the file says it in so many words.
func (p *plan) lastPerson(a *document.Account, old *merchant.Account, label string) {
	if old == nil || len(old.People) == 0 || len(a.Record.People) > 0 {
		return
	}
	if !a.NamesPeople {
		p.problem(a.At, "The account has people who sign in at its tills, and this file names none. Without people "+
			"every till takes gifts without a PIN. If that is meant, write people: [].")
		return
	}
	p.Changes = append(p.Changes,
		of(label, phrase.Kept("nobody signs in at its tills any more: every till takes gifts without a PIN").Say()))
}

// unstaffed notes the locations at which nobody may sign in: their tills take nothing.
func (p *plan) unstaffed(a *merchant.Account, label string) {
	if names := a.Unstaffed(); len(names) > 0 {
		p.note(label, "none of its people works at %s; tills there show what gifts are worth, and do no more.",
			strings.Join(names, ", "))
	}
}

// over notes the promotions whose time is over: a gift by their dates would be refused.
func (p *plan) over(a *merchant.Account, label string) {
	for i := range a.Promotions {
		if end := a.Promotions[i].End(a.Zone); !end.IsZero() && !p.now.Before(end) {
			p.note(label, "the promotion %s was over at %s; its gifts are refused unless a request gives other dates.",
				a.Promotions[i].Name, gift.LocalTime(end, a.Zone))
		}
	}
}

// withoutTerms notes the promotions that no gift can be sent of unless a request brings the terms.
func (p *plan) withoutTerms(a *merchant.Account, label string) {
	for i := range a.Promotions {
		if strings.TrimSpace(a.Promotions[i].Terms) == "" {
			p.note(label, "the promotion %s has no terms; a gift of it is refused unless its request gives promotionalTerms.",
				a.Promotions[i].Name)
		}
	}
}

// unseen notes the logos that cannot be seen where guests look for them.
func (p *plan) unseen(a *document.Account, label string) {
	for i := range a.Record.Designs {
		d := &a.Record.Designs[i]
		at := slices.IndexFunc(a.Assets, func(b merchant.Asset) bool { return b.Hash == d.Logo })
		if at < 0 {
			continue
		}
		logo, _, err := image.Decode(bytes.NewReader(a.Assets[at].Bytes))
		if err == nil && !card.LogoSeen(logo) {
			p.note(label, "the logo of the voucher design %s can hardly be seen on the white that pages, mails and paper have "+
				"below it; give it darker colours, or a ground of its own.", d.Name)
		}
	}
}

// keep refuses to take away what gifts refer to.
func (p *plan) keep(a *document.Account, old *merchant.Account, gone []told.Record) error {
	if old != nil && old.Test != a.Record.Test {
		p.problem(a.At, "The mode cannot change from %s to %s: this account's keys and gifts are of its mode. Make a new "+
			"account for %[2]s.", old.Mode(), a.Record.Mode())
	}
	otherCurrency := old != nil && old.Currency.Code != a.Record.Currency.Code
	if len(gone) == 0 && !otherCurrency {
		return nil
	}
	used, err := p.uses(a.Record.ID)
	if err != nil {
		return fmt.Errorf("finding what the gifts of account %s refer to: %w", a.Record.ID, err)
	}
	for _, r := range gone {
		if r.Kind != told.SubscriptionKind && used[r.ID] {
			back := phrase.Text("Put it back into the file.")
			if p.edits {
				back = "It stays."
			}
			p.problem(a.At, "The %s %s (%s) cannot be removed: gifts refer to it. %s", r.Kind, r.Name, r.ID, back)
		}
	}
	if otherCurrency && len(used) > 0 {
		p.problem(a.At, "The currency cannot change from %s to %s: this account has gifts in %s. Make a new account for %s.",
			old.Currency.Code, a.Record.Currency.Code, old.Currency.Code, a.Record.Currency.Code)
	}
	return nil
}

func (p *plan) problem(at document.Place, text phrase.Text, args ...any) {
	p.problems = append(p.problems, document.Problem{File: p.Name, Line: at.Line, Path: at.Path,
		Said: phrase.New(text, args...)})
}
